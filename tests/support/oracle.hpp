// The oracle: what a problem must leave in its target, by the text of the specification and nothing
// of the library but its plain structs, storage_bytes and padding_bytes. What becomes of an element
// is the reference's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "restride/problem.hpp"

namespace restride::testing {

/// Bytes [begin, end) relative to the pointer of an operand; begin is negative with negative
/// strides.
struct Extent {
  int64_t begin = 0, end = 0;

  int64_t bytes() const { return end - begin; }
};

/// The buffer of an operand with all padding; with byte strides (may be empty) the bytes of all
/// elements.
Extent operand_extent(const Shape& shape, std::span<const int64_t> byte_strides);
Extent target_extent(const Problem& problem);
Extent source_extent(const Problem& problem, int source);

/// What must stand in the bytes of target_extent(). A bit that is neither written nor free stays as
/// it was.
struct Expectation {
  std::vector<std::byte> bytes;
  std::vector<std::byte> written;  ///< bits that are as in `bytes`
  std::vector<std::byte> free;     ///< bits that may be anything
  bool has_holes = false;          ///< any free bit
  int64_t written_bytes = 0;       ///< bytes with any written bit
};

/// `sources[k]` are the bytes of source_extent(problem, k). Precondition: the problem is valid.
Expectation expect(const Problem& problem, std::span<const std::span<const std::byte>> sources);

/// The first byte of `after` that is wrong, as text; nothing where all are right.
std::optional<std::string> find_difference(const Expectation& expectation,
                                           std::span<const std::byte> before,
                                           std::span<const std::byte> after);

}  // namespace restride::testing
