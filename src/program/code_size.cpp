// Bytes an operation, fitted to the code of 800 random problems with AVX-512: the mean error of
// kernels of 6 KB and more is a tenth.
#include "program/code_size.hpp"

#include <variant>

namespace restride {

using program::Block;
using program::Body;
using program::Code;
using program::For;
using program::Op;

namespace {

// What asks where it stands in a line has to compute that.
constexpr int64_t load_bytes = 11, store_bytes = 9, place_bytes = 28;
// A copy asks for every piece that there may be.
constexpr int64_t copy_bytes = 14, copied_piece_bytes = 23;
// Other parts than lanes have a mask, or are put together.
constexpr int64_t part_bytes = 18, lane_part_bytes = 16;
// A blend has a mask, the widest permutes an index.
constexpr int64_t permute_bytes = 14, unpack_bytes = 7;
// Digits of a stream count: programs that have many of them were up to a fifth longer.
constexpr int64_t loop_bytes = 24, step_bytes = 8, digit_bytes = 6;

/// Tables that are masks are in no memory.
constexpr int64_t in_memory(int64_t table_bytes) { return table_bytes * 3 / 4; }

int64_t bytes_of(const Op& op, int vector_bytes) {
  if (is_copy(op.code)) {
    int64_t bytes = copy_bytes;
    for (int64_t piece = op.width; piece < program::line_bytes; piece *= 2)
      bytes += copied_piece_bytes;
    return bytes;
  }
  if (asks_place(op.code)) return place_bytes;
  if (op.code == Code::load) {
    const bool part = op.bytes != vector_bytes && op.bytes % lane_part_bytes != 0;
    return part ? part_bytes : load_bytes;
  }
  if (names_memory(op.code)) return store_bytes;
  return op.code == Code::permute ? permute_bytes : unpack_bytes;
}

int64_t bytes_of(const program::Step& step) {
  return step_bytes + static_cast<int64_t>(step.wraps.size()) * digit_bytes;
}

int64_t bytes_of(const Body& body, int vector_bytes) {
  int64_t bytes = 0;
  for (const auto& item : body) {
    if (const For* const loop = std::get_if<For>(&item)) {
      bytes += loop_bytes + bytes_of(loop->body, vector_bytes);
      for (const program::Step& step : loop->steps) bytes += bytes_of(step);
      continue;
    }
    for (const Op& op : std::get<Block>(item)) bytes += bytes_of(op, vector_bytes);
  }
  return bytes;
}

}  // namespace

int64_t estimated_code_bytes(const Program& program) {
  const auto tables = static_cast<int64_t>(program.tables.size());
  return bytes_of(program.root, program.vector_bytes) + in_memory(tables * program.vector_bytes);
}

}  // namespace restride
