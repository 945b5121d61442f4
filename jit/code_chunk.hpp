// CodeChunk: one stretch of address space for code and the list of its free ranges.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "code_arena.hpp"

namespace restride {

/// Not safe from several threads: the arena locks.
class CodeChunk {
 public:
  /// Maps `bytes`, a multiple of the page size. Null where the system refuses, or the mapping does
  /// not work for code here. Precondition: dual or flipped.
  static std::unique_ptr<CodeChunk> map(CodeMapping mapping, int64_t bytes);
  ~CodeChunk();
  CodeChunk(const CodeChunk&) = delete;
  CodeChunk& operator=(const CodeChunk&) = delete;

  /// What a block of `bytes` occupies.
  int64_t rounded(int64_t bytes) const;

  /// Takes a free range. Null where none is long enough.
  const uint8_t* reserve(int64_t bytes);

  /// Copies code to what reserve returned, for `bytes`, and makes it executable. False where the
  /// system refuses.
  bool fill(const uint8_t* address, int64_t bytes, std::span<const uint8_t> code);

  /// Whether reserve returned this address.
  bool holds(const uint8_t* address) const {
    return address >= execute_ && address < execute_ + bytes_;
  }

  /// Takes back what reserve returned, and overwrites it.
  void free(const uint8_t* code, int64_t bytes);

  /// Whether the process has forked since: then the memory is shared and must not be written.
  bool is_shared_by_fork() const;
  bool is_empty() const { return used_bytes_ == 0; }
  int64_t bytes() const { return bytes_; }

 private:
  struct Range {
    int64_t offset, bytes;
  };

  CodeChunk(CodeMapping mapping, uint8_t* write, uint8_t* execute, int64_t bytes);
  bool make_writable(int64_t offset, int64_t bytes) const;
  bool make_executable(int64_t offset, int64_t bytes) const;
  void add_free(Range range);

  const CodeMapping mapping_;
  uint8_t* const write_;  ///< the same as execute_ where pages are flipped
  uint8_t* const execute_;
  const int64_t bytes_;
  const int64_t forks_;  ///< how often the process had forked when this was mapped
  int64_t used_bytes_ = 0;
  std::vector<Range> free_;  ///< by offset; no two touch
};

}  // namespace restride
