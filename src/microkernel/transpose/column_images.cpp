// See column_images.hpp.
#include "microkernel/transpose/column_images.hpp"

#include <numeric>
#include <utility>

#include "base/arithmetic.hpp"
#include "microkernel/emitter.hpp"

namespace restride {

int64_t image_pitch(int64_t bytes, int64_t line_bytes) {
  return (ceil_div(bytes, line_bytes) | 1) * line_bytes;
}

Machine for_columns(std::span<const nest::Side> digits, Machine machine) {
  for (const nest::Side& digit : digits)
    machine.alignment = std::gcd(machine.alignment, digit.stride[0]);
  machine.nontemporal = false;
  return machine;
}

program::Body each_column(const TileRun& columns, int64_t count, program::Body body,
                          std::vector<program::Step> steps) {
  if (body.empty()) return body;
  steps.push_back(columns.step(target_stream, 0, 1));
  return loop_always(count, std::move(steps), std::move(body));
}

}  // namespace restride
