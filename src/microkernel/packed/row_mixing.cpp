// See row_mixing.hpp.
#include "microkernel/packed/row_mixing.hpp"

namespace restride {
namespace {

using program::none;
using program::Reg;

/// Which field of a byte the elements of a row are.
size_t place(const RowGroup& group, int64_t row) {
  return static_cast<size_t>(group.last_first ? group.rows - 1 - row : row);
}

}  // namespace

std::vector<Reg> mixed_rows(Emitter& emitter, const RowMixing& mixing,
                            const std::function<Reg(int64_t)>& load) {
  if (!mixing.mixes()) return {load(0)};
  std::vector<Reg> fields(static_cast<size_t>(8 / mixing.bits), none);
  for (int64_t row = 0; row < mixing.from.rows; ++row) fields[place(mixing.from, row)] = load(row);
  for (size_t apart = 1; apart < fields.size(); apart *= 2) {
    const int width = mixing.bits * static_cast<int>(apart);
    for (size_t field = 0; field < fields.size(); ++field) {
      if ((field & apart) != 0) continue;
      const Reg even = fields[field], odd = fields[field + apart];
      fields[field] = emitter.mix_low(width, even, odd);
      fields[field + apart] = emitter.mix_high(width, even, odd);
    }
  }
  std::vector<Reg> rows;
  rows.reserve(static_cast<size_t>(mixing.to.rows));
  for (int64_t row = 0; row < mixing.to.rows; ++row) {
    rows.push_back(fields[place(mixing.to, row)]);
  }
  return rows;
}

}  // namespace restride
