// The file between emit_corpus, which runs on the machine that builds, and run_corpus, which runs
// on Arm: for every kernel the bytes it gets and those it must leave, as the oracle says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "support/oracle.hpp"

namespace restride::testing {

/// One kernel and one run of it.
struct CorpusCase {
  std::string reproducer;  ///< problem, target and seed
  uint64_t seed = 0;
  std::vector<std::vector<std::byte>> sources;  ///< all that a kernel takes, in its order
  Expectation expectation;
};

inline void write_number(std::FILE* file, uint64_t number) {
  std::fwrite(&number, sizeof number, 1, file);
}

template <class Bytes>
void write_bytes(std::FILE* file, const Bytes& bytes) {
  write_number(file, bytes.size());
  std::fwrite(bytes.data(), 1, bytes.size(), file);
}

inline void write_case(std::FILE* file, const CorpusCase& test) {
  write_bytes(file, test.reproducer);
  write_number(file, test.seed);
  write_number(file, test.sources.size());
  for (const auto& source : test.sources) write_bytes(file, source);
  write_bytes(file, test.expectation.bytes);
  write_bytes(file, test.expectation.written);
  write_bytes(file, test.expectation.free);
}

/// Reads what the functions above wrote. A file cut short leaves zeros; good() tells.
class CorpusReader {
 public:
  explicit CorpusReader(std::FILE* file) : file_(file) {}

  bool good() const { return good_; }
  CorpusCase next() {
    CorpusCase test;
    const std::vector<std::byte> text = bytes();
    test.reproducer.assign(reinterpret_cast<const char*>(text.data()), text.size());
    test.seed = number();
    test.sources.resize(number());
    for (auto& source : test.sources) source = bytes();
    test.expectation.bytes = bytes();
    test.expectation.written = bytes();
    test.expectation.free = bytes();
    return test;
  }

 private:
  uint64_t number() {
    uint64_t value = 0;
    good_ = good_ && std::fread(&value, sizeof value, 1, file_) == 1;
    return good_ ? value : 0;
  }
  std::vector<std::byte> bytes() {
    std::vector<std::byte> result(number());
    good_ = good_ && std::fread(result.data(), 1, result.size(), file_) == result.size();
    return result;
  }

  std::FILE* file_;
  bool good_ = true;
};

}  // namespace restride::testing
