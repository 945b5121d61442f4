// Runs kernels that emit_corpus compiled and that are linked into this program:
//
//     run_corpus CASES [KERNEL]
//
// Every kernel runs between guard pages on poisoned buffers: as a plan, whole; then its units in
// random order, on scratch that is poisoned anew before each range; and every byte is compared with
// what the oracle said. A failure is one line. Where this machine lacks features that the kernels
// need, nothing runs, the message says which, and the exit code is 3.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "corpus_file.hpp"
#include "restride/plan.hpp"
#include "support/guarded_buffer.hpp"
#include "support/random.hpp"

extern "C" const restride_object* const corpus_kernels[];

namespace restride::testing {
namespace {

using Placement = GuardedBuffer::Placement;

/// The buffers of one run.
class Buffers {
 public:
  Buffers(const CorpusCase& test, const restride_object& object, Placement placement, bool inverted)
      : test_(test), before_(test.expectation.bytes.size()) {
    Random(test.seed + 4).fill(before_);
    if (inverted) {
      for (std::byte& byte : before_) byte = ~byte;
    }
    for (int64_t k = 0; k < object.operand_count; ++k) {
      const restride_object_operand& operand = object.operands[k];
      buffers_.push_back(std::make_unique<GuardedBuffer>(operand.end - operand.begin, placement,
                                                         operand.alignment));
      roles_.push_back(operand.role);
      pointers_.push_back(buffers_.back()->at(-operand.begin));
    }
  }

  /// Whether the description fits the case.
  bool fits() const {
    size_t source = 0;
    for (size_t k = 0; k < buffers_.size(); ++k) {
      const size_t bytes = buffers_[k]->bytes().size();
      if (roles_[k] == RESTRIDE_OPERAND_TARGET && bytes != before_.size()) return false;
      if (roles_[k] != RESTRIDE_OPERAND_SOURCE) continue;
      if (source == test_.sources.size() || bytes != test_.sources[source++].size()) return false;
    }
    return source == test_.sources.size();
  }
  void reset() {
    size_t source = 0;
    for (size_t k = 0; k < buffers_.size(); ++k) {
      if (roles_[k] == RESTRIDE_OPERAND_TARGET) {
        std::ranges::copy(before_, buffers_[k]->bytes().begin());
      } else if (roles_[k] == RESTRIDE_OPERAND_SOURCE) {
        std::ranges::copy(test_.sources[source++], buffers_[k]->bytes().begin());
      }
    }
  }
  void poison_scratch(Random& random) {
    for (size_t k = 0; k < buffers_.size(); ++k) {
      if (roles_[k] == RESTRIDE_OPERAND_SCRATCH) random.fill(buffers_[k]->bytes());
    }
  }
  std::optional<std::string> difference() const {
    size_t source = 0;
    for (size_t k = 0; k < buffers_.size(); ++k) {
      if (!buffers_[k]->canary_intact()) return "bytes around an operand were written";
      const bool is_source = roles_[k] == RESTRIDE_OPERAND_SOURCE;
      if (is_source && !std::ranges::equal(buffers_[k]->bytes(), test_.sources[source++])) {
        return "a source was written";
      }
    }
    return find_difference(test_.expectation, before_, buffers_[0]->bytes());
  }
  void* const* pointers() const { return pointers_.data(); }
  std::span<std::byte> target() const { return buffers_[0]->bytes(); }
  std::vector<std::span<const std::byte>> sources() const {
    std::vector<std::span<const std::byte>> spans;
    for (size_t k = 0; k < buffers_.size(); ++k) {
      if (roles_[k] == RESTRIDE_OPERAND_SOURCE) spans.push_back(buffers_[k]->bytes());
    }
    return spans;
  }

 private:
  const CorpusCase& test_;
  std::vector<std::byte> before_;
  std::vector<std::unique_ptr<GuardedBuffer>> buffers_;
  std::vector<int64_t> roles_;
  std::vector<void*> pointers_;
};

void run_units_in_random_order(const restride_object& object, Buffers& buffers, Random& random) {
  const int64_t most = std::max<int64_t>(object.unit_count / 20, 2);
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (int64_t first = 0; first < object.unit_count;) {
    const int64_t last = std::min(object.unit_count, first + random.between(1, most));
    ranges.emplace_back(first, last);
    first = last;
  }
  random.shuffle(ranges);
  for (const auto& [first, last] : ranges) {
    buffers.poison_scratch(random);
    object.entry(nullptr, buffers.pointers(), first, last);
  }
}

std::optional<std::string> run(const CorpusCase& test, const restride_object& object,
                               const Plan& plan) {
  bool inverted = false;
  for (const Placement placement : {Placement::at_end, Placement::at_begin}) {
    Random random(test.seed + 3);
    Buffers buffers(test, object, placement, inverted);
    inverted = true;
    if (!buffers.fits()) return "the description has other buffers than the problem";
    buffers.reset();
    const Result<void> executed = plan.execute_sources(buffers.sources(), buffers.target());
    if (!executed) return executed.error().message;
    if (auto wrong = buffers.difference()) return "as a plan: " + *wrong;
    buffers.reset();
    run_units_in_random_order(object, buffers, random);
    if (auto wrong = buffers.difference()) return "units in random order: " + *wrong;
  }
  return {};
}

int run_all(const char* path, int64_t only) {
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) return std::perror(path), 2;
  CorpusReader reader(file);
  int64_t failures = 0, count = 0;
  for (; corpus_kernels[count] != nullptr; ++count) {
    const CorpusCase test = reader.next();
    if (!reader.good()) return std::fprintf(stderr, "run_corpus: %s is cut short\n", path), 2;
    if (only >= 0 && count != only) continue;
    const restride_object& object = *corpus_kernels[count];
    const Result<Plan> plan = Plan::load(object);
    if (!plan) return std::fprintf(stderr, "run_corpus: %s\n", plan.error().message.c_str()), 3;
    if (const auto wrong = run(test, object, *plan)) {
      std::fprintf(stderr, "%s | kernel %lld | %s\n", test.reproducer.c_str(),
                   static_cast<long long>(count), wrong->c_str());
      if (++failures == 10) break;
    }
  }
  std::fclose(file);
  std::printf("run_corpus: %lld kernels, %lld failures\n", static_cast<long long>(count),
              static_cast<long long>(failures));
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace restride::testing

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("usage: run_corpus CASES [KERNEL]\n", stderr), 2;
  return restride::testing::run_all(argv[1], argc > 2 ? std::atoll(argv[2]) : -1);
}
