// Compiles the corpus and random problems ahead of time for a target, on any machine:
//
//     emit_corpus FOLDER TARGET RANDOM [FIRST_SEED]
//
// writes FOLDER/k0.o, k1.o, ..., the table of kernels as FOLDER/kernels.c, and FOLDER/cases with
// what each must do. Problems that the library may refuse are left out. RANDOM problems are those
// that are not refused.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "corpus_file.hpp"
#include "restride/object.hpp"
#include "support/cases.hpp"
#include "support/run_case.hpp"

namespace restride::testing {
namespace {

std::string symbol(size_t number) { return "k" + std::to_string(number); }

/// Nothing where the problem may be refused or writes nothing; ends the process at an error.
std::optional<Object> compiled(const PreparedCase& prepared, const std::string& target,
                               size_t number) {
  if (prepared.expectation().written_bytes == 0) return {};
  Result<Object> object = emit_object(prepared.problem(), {target, symbol(number)});
  if (object) return *std::move(object);
  // LLVM does not know all arithmetic.
  const bool may_refuse =
      may_be_unsupported(prepared.problem()) || prepared.problem().operation != Operation::copy;
  if (object.error().code == ErrorCode::unsupported && may_refuse) return {};
  std::fprintf(stderr, "emit_corpus: %s | seed %llu | %s\n", to_string(prepared.problem()).c_str(),
               static_cast<unsigned long long>(prepared.seed()), object.error().message.c_str());
  std::exit(1);
}

CorpusCase case_of(const PreparedCase& prepared, const std::string& target) {
  CorpusCase test;
  test.reproducer = to_string(prepared.problem()) + " | target " + target + " | seed " +
                    std::to_string(prepared.seed());
  test.seed = prepared.seed();
  for (int k = 0; k < prepared.sources(); ++k) {
    test.sources.emplace_back(prepared.source(k).begin(), prepared.source(k).end());
  }
  for (const auto& factors : prepared.factors()) test.sources.push_back(factors);
  // Without elements there is nothing to compute: the kernel is that of a copy, with one source.
  if (is_zero_element(prepared.problem().target)) test.sources.resize(1);
  test.expectation = prepared.expectation();
  return test;
}

/// Writes kernels one after the other.
class Output {
 public:
  explicit Output(std::string folder)
      : folder_(std::move(folder)),
        table_(folder_ + "/kernels.c"),
        cases_(std::fopen((folder_ + "/cases").c_str(), "wb")) {
    if (cases_ == nullptr) std::perror("emit_corpus"), std::exit(1);
  }
  void add(const CorpusCase& test, const Object& object) {
    std::ofstream file(folder_ + "/" + symbol(count_) + ".o", std::ios::binary);
    file.write(reinterpret_cast<const char*>(object.bytes.data()),
               static_cast<std::streamsize>(object.bytes.size()));
    write_case(cases_, test);
    ++count_;
  }
  size_t count() const { return count_; }
  bool close() {
    table_ << "#include <restride/object.h>\n";
    for (size_t k = 0; k < count_; ++k) {
      table_ << "extern const restride_object " << symbol(k) << "_object;\n";
    }
    table_ << "const restride_object* const corpus_kernels[] = {";
    for (size_t k = 0; k < count_; ++k) table_ << '&' << symbol(k) << "_object, ";
    table_ << "0};\n";
    table_.close();
    return table_.good() && std::fclose(cases_) == 0;
  }

 private:
  std::string folder_;
  std::ofstream table_;
  std::FILE* cases_;
  size_t count_ = 0;
};

int run(const std::string& folder, const std::string& target, int64_t random, uint64_t seed) {
  Output output(folder);
  const auto add = [&](const Problem& problem, uint64_t contents) {
    const PreparedCase prepared(problem, contents);
    const std::optional<Object> object = compiled(prepared, target, output.count());
    if (object) output.add(case_of(prepared, target), *object);
    return object.has_value();
  };
  for (const std::string_view text : text_cases()) add(*parse_problem(text), output.count());
  for (const Problem& problem : built_cases()) add(problem, output.count());
  const size_t corpus = output.count();
  for (int64_t made = 0; made < random; ++seed) {
    // Every fifth computes.
    const bool computes = seed % 5 == 0;
    made += add(computes ? random_arithmetic_problem(seed) : random_problem(seed), seed);
  }
  std::printf("emit_corpus: %zu of the corpus and %zu random problems for %s\n", corpus,
              output.count() - corpus, target.c_str());
  return output.close() ? 0 : 1;
}

}  // namespace
}  // namespace restride::testing

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: emit_corpus FOLDER TARGET RANDOM [FIRST_SEED]\n", stderr);
    return 2;
  }
  const uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1;
  return restride::testing::run(argv[1], argv[2], std::atoll(argv[3]), seed);
}
