#include "source_places.hpp"

namespace restride::tools {

constexpr int64_t page_bytes = 4096;

Result<std::vector<SourcePlace>> place_sources(const Problem& problem) {
  std::vector<SourcePlace> places;
  int64_t begin = 0;
  for (const Source& source : problem.sources) {
    const Result<int64_t> bytes = buffer_bytes(source.shape);
    if (!bytes) return bytes.error();
    places.push_back({begin, begin + *bytes});
    begin = (places.back().end + page_bytes - 1) / page_bytes * page_bytes;
  }
  return places;
}

std::vector<std::span<const std::byte>> sources_in(std::span<const std::byte> block,
                                                   const std::vector<SourcePlace>& places) {
  std::vector<std::span<const std::byte>> sources;
  for (const SourcePlace& place : places) {
    sources.push_back(block.subspan(static_cast<size_t>(place.begin),
                                    static_cast<size_t>(place.end - place.begin)));
  }
  return sources;
}

}  // namespace restride::tools
