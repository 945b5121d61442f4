// See skewed_network.hpp.
#include "microkernel/transpose/skewed_network.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

namespace restride {
namespace {

using program::lane_bytes;
using program::none;
using program::Reg;

/// The tables of networks, by what they permute.
struct SkewTables {
  std::array<int, 8> skewed{};  ///< by how far
  struct Merge {
    int blend, funnel;
  };
  std::array<Merge, 3> merges{};  ///< of elements of 1, 2 and 4 bytes
};

/// Lanes 1 and 2 change places, and elements do with those `skew` bytes before or behind.
std::vector<uint8_t> skew_table(size_t skew) {
  constexpr std::array<size_t, 4> lanes{0, 2, 1, 3};
  std::vector<uint8_t> table;
  table.reserve(lanes.size() * lane_bytes);
  for (const size_t lane : lanes) {
    for (size_t k = 0; k < lane_bytes; ++k)
      table.push_back(static_cast<uint8_t>(lane * lane_bytes + (k ^ skew)));
  }
  return table;
}

/// The even elements of the first register and the odd ones of the second: where they are, or, with
/// `flip` 1, those next to these.
std::vector<uint8_t> merge_table(size_t count, size_t flip) {
  std::vector<uint8_t> table(count);
  for (size_t k = 0; k < count; ++k) table[k] = static_cast<uint8_t>(k % 2 * count + (k ^ flip));
  return table;
}

SkewTables make_tables(int element_bytes, int vector_bytes, Tables& tables) {
  constexpr int skewed_bytes = 8;
  SkewTables result;
  const auto element = static_cast<size_t>(element_bytes);
  for (size_t row = 0; row * element < skewed_bytes; ++row)
    result.skewed[row] = tables.add(skew_table(row * element));
  for (int bytes = element_bytes; bytes < skewed_bytes; bytes *= 2) {
    const auto count = static_cast<size_t>(vector_bytes / bytes);
    result.merges[static_cast<size_t>(std::countr_zero(unsigned(bytes)))] = {
        tables.add(merge_table(count, 0)), tables.add(merge_table(count, 1))};
  }
  return result;
}

class SkewedNetwork {
 public:
  SkewedNetwork(Emitter& emitter, const std::vector<Position>& rows,
                const std::vector<Position>& columns, const Machine& machine, Tables& tables)
      : emitter_(emitter),
        rows_(rows),
        columns_(columns),
        element_bytes_(static_cast<int>(machine.element_bytes)),
        tables_(make_tables(element_bytes_, emitter.vector_bytes(), tables)) {
    const auto filled = [](const Position& row) { return row.filled; };
    if (std::any_of(rows.begin(), rows.end(), filled)) fill_ = emitter.constant(machine.fill_table);
  }

  /// Half a line of rows. Precondition: more than a lane of columns, and as many as rows at most.
  void emit(size_t first_row, const PositionRun& columns) {
    for (size_t row = 0; row < group(); ++row) {
      registers_[row] = skewed_rows(first_row + row, columns, row);
      for (size_t size = 2; (row + 1) % size == 0 && size <= group(); size *= 2)
        merge_halves(row + 1 - size, size);
    }
    for (size_t column = 0; column < group(); ++column) {
      store(registers_[column], 0, first_row, columns, column);
      store(registers_[column], skewed_row_bytes, first_row, columns, column + group());
    }
  }

 private:
  size_t group() const { return static_cast<size_t>(lane_bytes / element_bytes_); }

  /// A row and the one that is group() rows on, by the skew of the former's number in its network.
  Reg skewed_rows(size_t row, const PositionRun& columns, size_t number) const {
    const size_t eights = 8 / static_cast<size_t>(element_bytes_);
    const Reg first = with_row(fill_, rows_[row], columns, 0);
    const Reg both = with_row(first, rows_[row + group()], columns, skewed_row_bytes);
    return emitter_.permute(1, both, none, tables_.skewed[number % eights]);
  }

  Reg with_row(Reg into, const Position& row, const PositionRun& columns, int at) const {
    if (row.filled) return into;
    const auto bytes = static_cast<int64_t>(columns.count) * element_bytes_;
    return emitter_.load_part(into, source_stream, row.source + columns_[columns.first].source,
                              {bytes, at});
  }

  void merge_halves(size_t base, size_t size) {
    const size_t half = size / 2;
    const int bytes = element_bytes_ * static_cast<int>(half);
    for (size_t i = base; i < base + half; ++i) {
      const auto [low, high] = merged(bytes, registers_[i], registers_[i + half]);
      registers_[i] = low;
      registers_[i + half] = high;
    }
  }

  std::pair<Reg, Reg> merged(int bytes, Reg a, Reg b) const {
    const auto number = static_cast<size_t>(std::countr_zero(unsigned(bytes)));
    if (number >= tables_.merges.size())
      return {emitter_.unpack_low(bytes, a, b), emitter_.unpack_high(bytes, a, b)};
    const SkewTables::Merge& merge = tables_.merges[number];
    return {emitter_.permute(bytes, a, b, merge.blend),
            emitter_.permute(bytes, a, b, merge.funnel)};
  }

  void store(Reg value, int at, size_t first_row, const PositionRun& columns, size_t column) const {
    if (column >= columns.count) return;
    const int64_t offset = rows_[first_row].target + columns_[columns.first + column].target;
    emitter_.store_part(value, target_stream, offset, skewed_row_bytes, at);
  }

  Emitter& emitter_;
  const std::vector<Position>& rows_;
  const std::vector<Position>& columns_;
  int element_bytes_;
  SkewTables tables_;
  Reg fill_ = none;
  std::array<Reg, 16> registers_{};
};

std::vector<Position> part(const std::vector<Position>& positions, const PositionRun& run) {
  const auto first = positions.begin() + static_cast<std::ptrdiff_t>(run.first);
  return {first, first + static_cast<std::ptrdiff_t>(run.count)};
}

}  // namespace

bool has_skewed_networks(const Machine& machine) {
  return machine.skews_rows && machine.vector_bytes == 2 * skewed_row_bytes;
}

void emit_skewed_networks(Emitter& emitter, const std::vector<Position>& rows,
                          const std::vector<Position>& columns, const Machine& machine,
                          Tables& tables, int64_t before) {
  std::optional<SkewedNetwork> network;
  const int64_t bytes = machine.element_bytes, half = skewed_row_bytes / bytes;
  const auto whole = static_cast<size_t>(half);
  for (const PositionRun& column : contiguous_runs(columns, &Position::source, bytes, half)) {
    for (const PositionRun& row : contiguous_runs(rows, &Position::target, bytes, 2 * half)) {
      // Parts of halves leave through masks: of 115 in L1 .895 of the time for .875.
      if (row.count % whole != 0 || column.count <= whole / 2) {
        emit_network(emitter, part(rows, row), part(columns, column), machine, target_stream,
                     before);
        continue;
      }
      if (!network) network.emplace(emitter, rows, columns, machine, tables);
      for (size_t first = 0; first < row.count; first += whole)
        network->emit(row.first + first, column);
    }
  }
}

}  // namespace restride
