// A buffer between two pages that fault: what finds a read or write outside of an array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace restride::testing {

/// Memory whose first or last byte touches a page without access.
///
///     at_begin   |no access|[misalignment]  data ............ canary ...|no access|
///     at_end     |no access|... canary ... data .............. [slack] |no access|
///
/// Every accessible byte around the data holds a canary. The slack is empty unless alignment asks
/// for it.
class GuardedBuffer {
 public:
  enum class Placement { at_begin, at_end };

  /// `bytes` may be 0. `alignment` is a power of two up to a page. data() modulo `alignment` is
  /// `misalignment`, which must be less than `alignment`. Aborts where the system gives no memory.
  explicit GuardedBuffer(int64_t bytes, Placement placement = Placement::at_end,
                         int64_t alignment = 1, int64_t misalignment = 0);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  /// Never null, also with 0 bytes; then the pointer must not be read.
  std::byte* data() const { return data_; }
  std::span<std::byte> bytes() const { return {data_, static_cast<size_t>(bytes_)}; }
  /// The address `offset` bytes behind the first: the element with index 0 of an operand with
  /// negative strides.
  std::byte* at(int64_t offset) const { return data_ + offset; }

  /// Whether the accessible bytes around the data are untouched.
  bool canary_intact() const;

 private:
  std::byte* mapping_;
  int64_t mapping_bytes_;
  std::byte* data_;
  int64_t bytes_;
};

}  // namespace restride::testing
