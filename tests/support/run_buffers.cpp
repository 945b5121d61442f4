// Fills, places and checks the buffers of one run.
#include "support/run_buffers.hpp"

#include <algorithm>
#include <cstring>

#include "support/random.hpp"

namespace restride::testing {
namespace {

/// The pointer, not the first byte of the extent, is what has to be aligned.
std::unique_ptr<GuardedBuffer> make_buffer(const Extent& extent, GuardedBuffer::Placement placement,
                                           int64_t alignment, int64_t misalignment) {
  const int64_t first = ((misalignment + extent.begin) % alignment + alignment) % alignment;
  return std::make_unique<GuardedBuffer>(extent.bytes(), placement, alignment, first);
}

std::vector<std::byte> poison(int64_t bytes, const Setting& setting) {
  std::vector<std::byte> result(static_cast<size_t>(bytes));
  Random(setting.poison_seed).fill(result);
  if (setting.inverted) {
    for (std::byte& byte : result) byte = ~byte;
  }
  return result;
}

}  // namespace

std::vector<Setting> both_ends(Setting setting) {
  setting.placement = GuardedBuffer::Placement::at_end;
  Setting other = setting;
  other.placement = GuardedBuffer::Placement::at_begin;
  other.inverted = !setting.inverted;
  return {setting, other};
}

RunBuffers::RunBuffers(const PreparedCase& prepared, const Setting& setting)
    : prepared_(prepared),
      before_(poison(prepared.target_extent().bytes(), setting)),
      target_(make_buffer(prepared.target_extent(), setting.placement, setting.target_alignment,
                          setting.target_misalignment)) {
  for (int k = 0; k < prepared.sources(); ++k) {
    sources_.push_back(make_buffer(prepared.source_extent(k), setting.placement,
                                   setting.source_alignment, setting.source_misalignment));
    std::ranges::copy(prepared.source(k), sources_.back()->bytes().begin());
  }
  reset();
}

std::vector<const void*> RunBuffers::sources() const {
  std::vector<const void*> pointers;
  for (int k = 0; k < prepared_.sources(); ++k) pointers.push_back(source(k));
  return pointers;
}

std::vector<std::span<const std::byte>> RunBuffers::source_bytes() const {
  std::vector<std::span<const std::byte>> spans;
  for (const auto& source : sources_) spans.emplace_back(source->bytes());
  return spans;
}

void RunBuffers::reset() { std::ranges::copy(before_, target_->bytes().begin()); }

std::optional<std::string> RunBuffers::difference() const {
  for (int k = 0; k < prepared_.sources(); ++k) {
    const GuardedBuffer& source = *sources_[static_cast<size_t>(k)];
    if (!source.canary_intact()) return "bytes around a source were written";
    const std::span<const std::byte> before = prepared_.source(k);
    if (!before.empty() && std::memcmp(source.bytes().data(), before.data(), before.size()) != 0) {
      return "a source was written";
    }
  }
  if (!target_->canary_intact()) return "bytes around the target were written";
  return find_difference(prepared_.expectation(), before_, target_->bytes());
}

}  // namespace restride::testing
