#include "traffic.hpp"

#include <algorithm>

namespace restride::tools {
namespace {

/// Without padding. Precondition: the shape is that of a plan, so it is valid.
int64_t element_bytes(const Shape& shape) {
  const int64_t elements = *element_count(shape);
  const int64_t packed_bits = shape.layout.element_size_in_bits;
  if (packed_bits == 0) return elements * storage_bytes(shape.element_type);
  const int64_t per_byte = 8 / packed_bits;
  return elements / per_byte + (elements % per_byte != 0);
}

}  // namespace

Traffic traffic_of(const Problem& problem, int64_t target_bytes) {
  Traffic traffic = {.written_bytes = target_bytes};
  for (const Source& source : problem.sources) traffic.read_bytes += element_bytes(source.shape);
  return traffic;
}

double gigabytes_per_second(int64_t bytes, double seconds) {
  return bytes == 0 ? 0 : static_cast<double>(bytes) / std::max(seconds, 1e-12) * 1e-9;
}

}  // namespace restride::tools
