// Random Programs, and mutants of them that verify, on every target that runs here: the interpreter
// and generated code must write the same bytes, and nothing outside of their operands (guard pages
// and canaries see that).
//
// A failure prints the seed; RandomProgramOf(seed) in a debugger is the reproducer.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "backend/backend.hpp"
#include "backend/interpreter.hpp"
#include "support/guarded_buffer.hpp"
#include "support/random_program.hpp"
#include "support/sampling.hpp"

namespace restride {
namespace {

using testing::GuardedBuffer;
using testing::Random;

/// Puts some numbers at the edges of formats among bytes: NaNs with and without payload,
/// infinities, denormals, limits, halves.
void sprinkle(std::span<std::byte> bytes, Random& random) {
  constexpr uint64_t edges[] = {
      0x7f800000,         0xff800000,         0x7f800001,         0xffc12345,
      0x7fc00000,         0x80000000,         0x00000001,         0x807fffff,
      0x3f000000,         0x4b000001,         0x4f000000,         0xcf000000,
      0x4f800000,         0x42fe8000,         0x3f808000,         0x477ff000,
      0x7ff0000000000000, 0xfff0000000000001, 0x7ff8000000000000, 0x8000000000000000,
      0x0000000000000001, 0x41e0000000000000, 0xc1e0000000200000, 0x43e0000000000000,
      0x7fffffffffffffff, 0x000fffffffffffff, 0x7fff7fff80008000, 0x7c007c01fc00fe01};
  for (size_t at = size_t(random.between(0, 63)); at + 8 <= bytes.size();
       at += size_t(random.between(8, 64))) {
    const uint64_t edge = random.choose(std::span<const uint64_t>(edges));
    for (size_t k = 0; k < 8; ++k) bytes[at + k] = std::byte(edge >> (8 * k));
  }
}

/// The operands of a Program in guarded memory.
class Operands {
 public:
  Operands(const Program& program, Random& random) {
    for (const program::Operand& operand : program.operands) {
      const auto placement = operand.alignment == 1 && random.one_in(2)
                                 ? GuardedBuffer::Placement::at_end
                                 : GuardedBuffer::Placement::at_begin;
      const int64_t alignment = std::max<int64_t>(operand.alignment, 1);
      // The pointer is aligned, not the first byte.
      const int64_t misalignment = ((operand.begin % alignment) + alignment) % alignment;
      buffers_.push_back(std::make_unique<GuardedBuffer>(operand.end - operand.begin, placement,
                                                         alignment, misalignment));
      random.fill(buffers_.back()->bytes());
      sprinkle(buffers_.back()->bytes(), random);
      pointers_.push_back(buffers_.back()->data() - operand.begin);
    }
  }

  void* const* pointers() const { return pointers_.data(); }
  std::vector<std::vector<std::byte>> contents() const {
    std::vector<std::vector<std::byte>> all;
    for (const auto& buffer : buffers_)
      all.emplace_back(buffer->bytes().begin(), buffer->bytes().end());
    return all;
  }
  void restore(const std::vector<std::vector<std::byte>>& contents) {
    for (size_t k = 0; k < buffers_.size(); ++k) {
      std::copy(contents[k].begin(), contents[k].end(), buffers_[k]->data());
    }
  }
  bool canaries_intact() const {
    return std::all_of(buffers_.begin(), buffers_.end(),
                       [](const auto& buffer) { return buffer->canary_intact(); });
  }

 private:
  std::vector<std::unique_ptr<GuardedBuffer>> buffers_;
  std::vector<void*> pointers_;
};

/// The units of a Program in pieces, in any order.
std::vector<std::pair<int64_t, int64_t>> random_ranges(Random& random, int64_t units) {
  const int64_t cut = random.between(0, units);
  std::vector<std::pair<int64_t, int64_t>> ranges = {{0, cut}, {cut, units}};
  if (random.one_in(2)) std::swap(ranges[0], ranges[1]);
  return ranges;
}

std::vector<Target> targets_here() {
  std::vector<Target> targets;
  for (const Target& target : known_targets()) {
    if (runs_here(target)) targets.push_back(target);
  }
  // Vectors narrower than the machine's with all of its registers and masks.
  for (Target target : std::vector<Target>(targets)) {
    if (target.vector_bytes == 64) {
      target.vector_bytes = 32;
      target.name += " with 32-byte vectors";
      targets.push_back(target);
      target.vector_bytes = 16;
      target.name += ", 16";
      targets.push_back(target);
    }
  }
  return targets;
}

/// Runs a verified Program on a backend and on the interpreter; false with a report where they
/// differ.
::testing::AssertionResult same_on_both(const Backend& backend, const Program& program,
                                        const Target& target, uint64_t seed) {
  Random random(seed);
  const Result<Kernel> generated = backend.compile(program, target);
  const Result<Kernel> literal = interpreter_backend().compile(program, target);
  const auto report = [&](const std::string& what) {
    return ::testing::AssertionFailure()
           << what << ", seed " << seed << " on " << target.name << "\n"
           << to_string(program);
  };
  if (!generated) return report(generated.error().message);
  if (!literal) return report(literal.error().message);
  Operands operands(program, random);
  const auto before = operands.contents();
  const auto ranges = random_ranges(random, unit_count(program));
  for (const auto& [first, last] : ranges)
    literal->entry(literal->code.get(), operands.pointers(), first, last);
  const auto expected = operands.contents();
  operands.restore(before);
  for (const auto& [first, last] : ranges)
    generated->entry(generated->code.get(), operands.pointers(), first, last);
  if (operands.contents() != expected) return report("the backends differ");
  if (!operands.canaries_intact()) return report("a byte beside an operand was written");
  return ::testing::AssertionSuccess();
}

/// Whether a mutant is small enough to run: nothing bounds its loops or operands.
int64_t iterations(const program::Body& body) {
  int64_t total = 0;
  for (const auto& item : body) {
    const program::For* loop = std::get_if<program::For>(&item);
    int64_t here = loop ? 0 : int64_t(std::get<program::Block>(item).size());
    if (loop && __builtin_mul_overflow(loop->extent, iterations(loop->body), &here))
      return INT64_MAX;
    if (__builtin_add_overflow(total, here, &total)) return INT64_MAX;
  }
  return total;
}

/// Whether anything converts or computes, which a backend may refuse.
bool computes(const program::Body& body) {
  return std::any_of(body.begin(), body.end(), [](const auto& item) {
    if (const program::For* loop = std::get_if<program::For>(&item)) return computes(loop->body);
    const program::Block& block = std::get<program::Block>(item);
    return std::any_of(block.begin(), block.end(),
                       [](const program::Op& op) { return program::is_computation(op.code); });
  });
}

/// Whether a backend answers that it has no translation. Only for what computes it may.
bool is_refused(const Backend& backend, const Program& program, const Target& target) {
  if (!computes(program.root)) return false;
  const Result<Kernel> kernel = backend.compile(program, target);
  return !kernel && kernel.error().code == ErrorCode::unsupported;
}

class Differential : public ::testing::TestWithParam<const Backend*> {};

INSTANTIATE_TEST_SUITE_P(Every, Differential,
                         ::testing::ValuesIn(backends().begin(), backends().end() - 1),
                         [](const auto& info) { return std::string(info.param->name()); });

TEST_P(Differential, RandomProgramsVerifyAndRunAsInterpreted) {
  const std::vector<Target> targets = targets_here();
  int64_t translated = 0;
  for (uint64_t seed = 1; seed <= 12000; ++seed) {
    if (!testing::takes_part(*GetParam(), int64_t(seed), 30)) continue;
    Random random(seed);
    const Target& target = targets[seed % targets.size()];
    const Program program = testing::random_program(random, target);
    const Result<void> verified = verify(program, target);
    ASSERT_TRUE(verified) << verified.error().message << ", seed " << seed << "\n"
                          << to_string(program);
    if (is_refused(*GetParam(), program, target)) continue;
    ++translated;
    ASSERT_TRUE(same_on_both(*GetParam(), program, target, seed));
  }
  // Were nothing translated, nothing would have been tested.
  EXPECT_GT(translated, GetParam()->name() == "llvm" ? 50 : 2000);
}

TEST_P(Differential, MutantsThatVerifyRunAsInterpreted) {
  const std::vector<Target> targets = targets_here();
  int64_t accepted = 0;
  for (uint64_t seed = 1; seed <= 20000; ++seed) {
    if (!testing::takes_part(*GetParam(), int64_t(seed), 10)) continue;
    Random random(seed);
    const Target& target = targets[seed % targets.size()];
    const Program mutant = testing::mutated(random, testing::random_program(random, target));
    if (!verify(mutant, target) || iterations(mutant.root) > 1000000) continue;
    if (is_refused(*GetParam(), mutant, target)) continue;
    ++accepted;
    ASSERT_TRUE(same_on_both(*GetParam(), mutant, target, seed));
  }
  // Were nothing accepted, nothing would have been tested.
  EXPECT_GT(accepted, GetParam()->name() == "llvm" ? 100 : 1000);
}

}  // namespace
}  // namespace restride
