// What an access of any size becomes: one operation where the target has it, else pieces of 8, 4, 2
// and 1 bytes.
#include "microkernel/emitter.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"

namespace restride {

using program::Block;
using program::Code;
using program::none;
using program::Op;
using program::Reg;

Reg Emitter::append(Op op) {
  op.to = next_++;
  ops_.push_back(op);
  return op.to;
}

bool Emitter::one_access(int bytes) const {
  const bool piece = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
  return target_.byte_masks || piece || bytes == vector_bytes_;
}

Reg Emitter::load(int stream, int64_t offset, int bytes) {
  if (one_access(bytes)) {
    return append({.code = Code::load,
                   .stream = static_cast<uint8_t>(stream),
                   .bytes = static_cast<uint8_t>(bytes),
                   .offset = offset});
  }
  Reg value = none;
  for (int at = 0; at < bytes; at += 16)
    value = load_lane(value, stream, offset + at, std::min(16, bytes - at), at);
  return value;
}

Reg Emitter::load_pieces(Reg into, int stream, int64_t offset, int bytes) {
  int at = 0;
  for (int piece = 8; piece > 0; piece /= 2) {
    if ((bytes & piece) == 0) continue;
    into = append({.code = Code::load,
                   .stream = static_cast<uint8_t>(stream),
                   .bytes = static_cast<uint8_t>(piece),
                   .at = static_cast<uint8_t>(at),
                   .a = into,
                   .offset = offset + at});
    at += piece;
  }
  return into;
}

Reg Emitter::load_lane(Reg into, int stream, int64_t offset, int bytes, int at) {
  if (bytes == 16 || target_.byte_masks) {
    return append({.code = Code::load,
                   .stream = static_cast<uint8_t>(stream),
                   .bytes = static_cast<uint8_t>(bytes),
                   .at = static_cast<uint8_t>(at),
                   .a = into,
                   .offset = offset});
  }
  if (at == 0 && into == none) return load_pieces(none, stream, offset, bytes);
  const Reg lane = load_pieces(none, stream, offset, bytes);
  // A register whose lower lanes hold nothing yet may as well hold this one.
  if (into == none) into = lane;
  return append({.code = Code::insert, .at = static_cast<uint8_t>(at), .a = into, .b = lane});
}

Reg Emitter::load_part(Reg into, int stream, int64_t offset, VectorPart part) {
  return append({.code = Code::load,
                 .stream = static_cast<uint8_t>(stream),
                 .bytes = static_cast<uint8_t>(part.bytes),
                 .at = static_cast<uint8_t>(part.at),
                 .a = into,
                 .offset = offset});
}

Reg Emitter::load_over(Reg pattern, int stream, int64_t offset, int64_t bytes) {
  if (target_.byte_masks) return load_part(pattern, stream, offset, {bytes, 0});
  Reg value = pattern;
  int at = 0;
  for (; at + 16 <= bytes; at += 16) value = load_lane(value, stream, offset + at, 16, at);
  if (at == bytes) return value;
  const Reg lane = load_pieces(pattern, stream, offset + at, static_cast<int>(bytes) - at);
  if (vector_bytes_ == program::lane_bytes) return lane;
  return append({.code = Code::insert, .at = static_cast<uint8_t>(at), .a = value, .b = lane});
}

Reg Emitter::splat(int stream, int64_t offset, int width) {
  return append({.code = Code::splat,
                 .stream = static_cast<uint8_t>(stream),
                 .width = static_cast<uint8_t>(width),
                 .offset = offset});
}

Reg Emitter::constant(int table) {
  return append({.code = Code::constant, .table = static_cast<int16_t>(table)});
}

Reg Emitter::unpack(Code code, int width, Reg a, Reg b) {
  if (a == none && b == none) return none;
  return append({.code = code,
                 .width = static_cast<uint8_t>(width),
                 .a = a == none ? b : a,
                 .b = b == none ? a : b});
}

Reg Emitter::unpack_low(int width, Reg a, Reg b) { return unpack(Code::unpack_low, width, a, b); }
Reg Emitter::unpack_high(int width, Reg a, Reg b) { return unpack(Code::unpack_high, width, a, b); }

Reg Emitter::lanes(Reg a, Reg b, int select) {
  return append({.code = Code::lanes, .select = static_cast<uint8_t>(select), .a = a, .b = b});
}

Reg Emitter::shuffle(Reg a, int table) {
  return append({.code = Code::shuffle, .table = static_cast<int16_t>(table), .a = a});
}

Reg Emitter::permute(int width, Reg a, Reg b, int table) {
  return append({.code = Code::permute,
                 .width = static_cast<uint8_t>(width),
                 .table = static_cast<int16_t>(table),
                 .a = a,
                 .b = b});
}

Reg Emitter::convert(ElementType from, ElementType type, Reg a, int at, Reg into) {
  return append({.code = Code::convert,
                 .at = static_cast<uint8_t>(at),
                 .type = type,
                 .from = from,
                 .a = a,
                 .b = into});
}

Reg Emitter::compute(Operation operation, ElementType type, Reg a, Reg b) {
  return append({.code = Code::compute,
                 .select = static_cast<uint8_t>(operation),
                 .type = type,
                 .a = a,
                 .b = b});
}

Reg Emitter::compare(Operation comparison, ElementType type, Reg a, Reg b) {
  return append({.code = Code::compute,
                 .width = 1,
                 .select = static_cast<uint8_t>(comparison),
                 .type = type,
                 .a = a,
                 .b = b});
}

Reg Emitter::join(int bytes, Reg a, Reg b) {
  // Lanes 0 and 1 of each.
  constexpr uint8_t low_halves = 0x44;
  if (b == none) return a;
  if (bytes < 16) return unpack_low(bytes, a, b);
  if (bytes == 16) {
    return append({.code = Code::insert, .at = 16, .a = a, .b = b});
  }
  return lanes(a, b, low_halves);
}

Reg Emitter::round(ElementType type, Reg a) {
  return append({.code = Code::round, .type = type, .a = a});
}

Reg Emitter::spread(Packing packing, Reg a, int at) {
  return append({.code = Code::spread,
                 .width = packing.bits,
                 .at = static_cast<uint8_t>(at),
                 .select = static_cast<uint8_t>(packing.order),
                 .a = a});
}

Reg Emitter::pack(Packing packing, Reg a, int at, Reg into) {
  return append({.code = Code::pack,
                 .width = packing.bits,
                 .at = static_cast<uint8_t>(at),
                 .select = static_cast<uint8_t>(packing.order),
                 .a = a,
                 .b = into});
}

Reg Emitter::mix(Code code, int bits, Reg a, Reg b) {
  if (a == none && b == none) return none;
  return append({.code = code, .width = static_cast<uint8_t>(bits), .a = a, .b = b});
}

Reg Emitter::mix_low(int bits, Reg a, Reg b) { return mix(Code::mix_low, bits, a, b); }

Reg Emitter::mix_high(int bits, Reg a, Reg b) { return mix(Code::mix_high, bits, a, b); }

void Emitter::store_piece(Reg value, int stream, int64_t offset, int bytes, int at) {
  ops_.push_back({.code = Code::store,
                  .stream = static_cast<uint8_t>(stream),
                  .bytes = static_cast<uint8_t>(bytes),
                  .at = static_cast<uint8_t>(at),
                  .a = value,
                  .offset = offset});
}

void Emitter::store(Reg value, int stream, int64_t offset, int bytes) {
  if (one_access(bytes)) return store_piece(value, stream, offset, bytes, 0);
  for (int lane = 0; lane < bytes; lane += 16) {
    store_lane(value, stream, offset + lane, std::min(16, bytes - lane), lane);
  }
}

void Emitter::store_lane(Reg value, int stream, int64_t offset, int bytes, int at) {
  if (bytes == 16 || target_.byte_masks) return store_piece(value, stream, offset, bytes, at);
  const Reg lane =
      at == 0 ? value : append({.code = Code::extract, .at = static_cast<uint8_t>(at), .a = value});
  int done = 0;
  for (int piece = 8; piece > 0; piece /= 2) {
    if ((bytes & piece) == 0) continue;
    store_piece(lane, stream, offset + done, piece, done);
    done += piece;
  }
}

void Emitter::store_nontemporal(Reg value, int stream, int64_t offset) {
  ops_.push_back({.code = Code::store_nontemporal,
                  .stream = static_cast<uint8_t>(stream),
                  .bytes = static_cast<uint8_t>(vector_bytes_),
                  .a = value,
                  .offset = offset});
}

void Emitter::store_run(Reg value, int stream, int64_t offset, int64_t run) {
  ops_.push_back({.code = Code::store_run,
                  .stream = static_cast<uint8_t>(stream),
                  .bytes = program::run_pattern_bytes,
                  .a = value,
                  .offset = offset,
                  .run = run});
}

Reg Emitter::shift(int width, Reg a, Reg b, int stream, int64_t offset) {
  return append({.code = Code::shift,
                 .stream = static_cast<uint8_t>(stream),
                 .width = static_cast<uint8_t>(width),
                 .a = a,
                 .b = b,
                 .offset = offset});
}

Reg Emitter::load_for_line(int stream, int64_t from, int64_t target) {
  return append({.code = Code::load_for_line,
                 .stream = static_cast<uint8_t>(stream),
                 .bytes = static_cast<uint8_t>(vector_bytes_),
                 .at = static_cast<uint8_t>(remainder_above(target, program::line_bytes)),
                 .select = target_stream,
                 .offset = from});
}

void Emitter::copy_in_line(Code code, int width, int stream, int64_t from, int64_t target) {
  ops_.push_back({.code = code,
                  .stream = target_stream,
                  .width = static_cast<uint8_t>(width),
                  .select = static_cast<uint8_t>(stream),
                  .offset = target,
                  .copied = from});
}

void Emitter::copy_begin(int width, int stream, int64_t from, int64_t target) {
  copy_in_line(Code::copy_begin, width, stream, from, target);
}

void Emitter::copy_end(int width, int stream, int64_t from, int64_t target) {
  copy_in_line(Code::copy_end, width, stream, from, target);
}

program::Op& Emitter::store_in_line(Code code, Reg value, int stream, int64_t offset, int at) {
  ops_.push_back({.code = code,
                  .stream = static_cast<uint8_t>(stream),
                  .bytes = static_cast<uint8_t>(vector_bytes_),
                  .at = static_cast<uint8_t>(at),
                  .a = value,
                  .offset = offset});
  return ops_.back();
}

void Emitter::store_line(Reg value, int stream, int64_t offset, int at, int64_t behind) {
  store_in_line(Code::store_line, value, stream, offset, at).width = static_cast<uint8_t>(behind);
}

void Emitter::store_begin(Reg value, int stream, int64_t offset) {
  store_in_line(Code::store_begin, value, stream, offset, 0);
}

void Emitter::store_end(Reg value, int stream, int64_t offset) {
  store_in_line(Code::store_end, value, stream, offset, 0);
}

void Emitter::copy_part(int from_stream, int64_t from, int to_stream, int64_t to, VectorPart part) {
  if (part.bytes == 0) return;
  const int bytes = static_cast<int>(part.bytes), at = static_cast<int>(part.at);
  if (target_.byte_masks) {
    store_piece(load_lane(none, from_stream, from, bytes, at), to_stream, to, bytes, at);
  } else {
    store(load(from_stream, from, bytes), to_stream, to, bytes);
  }
}

void Emitter::prefetch(int stream, int64_t offset, int level) {
  ops_.push_back({.code = Code::prefetch,
                  .stream = static_cast<uint8_t>(stream),
                  .width = static_cast<uint8_t>(level),
                  .offset = offset});
}

void Emitter::ask(int stream, int64_t offset) { prefetch(stream, offset, target_.asked_level); }

void Emitter::claim(int64_t offset) {
  constexpr int to_write = 0;
  prefetch(target_stream, offset, to_write);
}

void Emitter::claim_ahead(int64_t offset, int64_t bytes, int64_t ahead_bytes) {
  constexpr int to_write = 0;
  lines_ahead(target_stream, {bytes, offset}, ahead_bytes, to_write);
}

void Emitter::ask_ahead(int stream, int64_t offset, int64_t bytes) {
  // A page: the processor itself does not look beyond one.
  lines_ahead(stream, {bytes, offset}, target_.page_bytes, 1);
}

void Emitter::ask_for_row(int64_t offset, int64_t bytes, bool touch, int64_t ahead_bytes) {
  if (!touch) return ask(source_stream, offset + ahead_bytes);
  lines_ahead(source_stream, {bytes, offset}, ahead_bytes, target_.asked_level);
}

void Emitter::lines_ahead(int stream, VectorPart from, int64_t ahead_bytes, int level) {
  const int64_t line_bytes = target_.line_bytes, end = from.at + from.bytes;
  for (int64_t line = ceil_div(from.at, line_bytes) * line_bytes; line < end; line += line_bytes) {
    prefetch(stream, line + ahead_bytes, level);
  }
}

Block Emitter::take() {
  std::vector<uint8_t> used(static_cast<size_t>(next_), false);
  const auto mark = [&](Reg reg) {
    if (reg != none) used[static_cast<size_t>(reg)] = true;
  };
  // What lives moves to the end.
  auto live = ops_.end();
  for (auto op = ops_.end(); op != ops_.begin();) {
    --op;
    if (op->to != none && !used[static_cast<size_t>(op->to)]) continue;
    mark(op->a);
    mark(op->b);
    if (--live != op) *live = *op;
  }
  ops_.erase(ops_.begin(), live);
  next_ = 0;
  return std::exchange(ops_, {});
}

program::Body body_of(Block block) {
  program::Body body;
  body.push_back(std::move(block));
  return body;
}

Block interleaved(Block a, const Block& b) {
  Reg first = 0;  // the registers of b come behind those of a
  for (const Op& op : a) first = std::max(first, static_cast<Reg>(op.to + 1));
  const auto renamed = [&](Reg reg) { return reg == none ? none : static_cast<Reg>(reg + first); };
  Block result;
  result.reserve(a.size() + b.size());
  size_t taken = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    result.push_back(a[k]);
    for (; taken < (k + 1) * b.size() / a.size(); ++taken) {
      Op op = b[taken];
      op.to = renamed(op.to);
      op.a = renamed(op.a);
      op.b = renamed(op.b);
      result.push_back(op);
    }
  }
  return result;
}

}  // namespace restride
