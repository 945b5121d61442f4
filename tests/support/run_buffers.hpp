// The memory of one run: sources and a poisoned target between guard pages, and the comparison
// afterwards.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/run_case.hpp"

namespace restride::testing {

/// Where the buffers of a run lie, and what stands in the target before.
struct Setting {
  GuardedBuffer::Placement placement = GuardedBuffer::Placement::at_end;
  int64_t source_alignment = 1, source_misalignment = 0;  ///< of the pointer, as in GuardedBuffer
  int64_t target_alignment = 1, target_misalignment = 0;
  uint64_t poison_seed = 0;  ///< the target starts as random bytes, the same for the same seed
  bool inverted = false;     ///< of their complement: a byte left alone cannot be right in both
};

/// Two settings that show every byte not written and touch both ends of both buffers.
std::vector<Setting> both_ends(Setting setting);

class RunBuffers {
 public:
  RunBuffers(const PreparedCase& prepared, const Setting& setting);

  /// The addresses of the elements with index 0 everywhere.
  const void* source(int number) const {
    return sources_[static_cast<size_t>(number)]->at(-prepared_.source_extent(number).begin);
  }
  std::vector<const void*> sources() const;
  void* target() const { return target_->at(-prepared_.target_extent().begin); }
  std::vector<std::span<const std::byte>> source_bytes() const;
  std::span<std::byte> target_bytes() const { return target_->bytes(); }

  /// The first thing that is wrong; nothing where all is right.
  std::optional<std::string> difference() const;
  /// Puts the poison back.
  void reset();

 private:
  const PreparedCase& prepared_;
  std::vector<std::byte> before_;
  std::vector<std::unique_ptr<GuardedBuffer>> sources_;
  std::unique_ptr<GuardedBuffer> target_;
};

}  // namespace restride::testing
