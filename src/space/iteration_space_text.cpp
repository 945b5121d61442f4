// What an iteration space says of itself: its text, its signature, its invariants and the bytes it
// touches.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/arithmetic.hpp"
#include "program/program.hpp"
#include "space/iteration_space.hpp"

namespace restride {
namespace {

void append(std::string& text, int64_t number) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

/// Of operands 1 to 3.
constexpr std::array<std::string_view, max_operands> source_names = {"", "source", "second",
                                                                     "third"};

void append_axis(std::string& text, int axis) {
  constexpr int letters = 'z' - 'i' + 1;
  if (axis < letters) {
    text += static_cast<char>('i' + axis);
  } else {
    text += 'a';
    append(text, axis);
  }
}

void append_fill(std::string& text, const ElementOp& op) {
  constexpr char digits[] = "0123456789abcdef";
  text += " fill ";
  for (int64_t k = 0; k < std::min<int64_t>(op.bytes, 16); ++k) {
    const auto byte = static_cast<unsigned>(op.fill[static_cast<size_t>(k)]);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
}

/// `source E(4)`; `target E(4) reversed` with the first element in the most significant bits.
void append_packing(std::string& text, const Packing& packing, size_t operand) {
  if (packing.bits == 0) return;
  text += ' ';
  text += operand == 0 ? "target" : source_names[operand];
  text += " E(";
  append(text, packing.bits);
  text += packing.order == PackingOrder::least_significant_first ? ")" : ") reversed";
}

/// `b4` for a move of 4 bytes, `add f32>f32`, `convert u8>f32 affine bias`.
void append_op(std::string& text, const ElementOp& op) {
  if (is_move(op)) {
    text += 'b';
    append(text, op.bytes);
    return;
  }
  text += to_string(op.operation);
  text += ' ';
  text += to_string(op.source_type);
  text += '>';
  text += to_string(op.target_type);
  if (op.affine) text += " affine";
  if (op.offset == AffineOffset::zero_point) text += " zero_point";
  if (op.offset == AffineOffset::bias) text += " bias";
  for (size_t k = 0; k < op.packing.size(); ++k) append_packing(text, op.packing[k], k);
}

/// `:4` for a stride, `:4(3:60)` for one where every three make a digit of 60.
void append_walk(std::string& text, const Loop& loop, int operand) {
  text += ':';
  append(text, loop.stride[static_cast<size_t>(operand)]);
  for (const OwnDigit& digit : loop.own) {
    if (digit.operand != operand) continue;
    text += '(';
    append(text, digit.every);
    text += ':';
    append(text, digit.stride);
    text += ')';
  }
}

/// A digit of one operand; `weight` is in elements of the axis.
using Numeral = std::vector<WeightedDigit>;

/// The numeral of an operand on an axis, coarsest first, in memory that holds one for each axis.
void make_numeral(const IterationSpace& space, int axis, size_t operand, Numeral& numeral) {
  numeral.clear();
  for (const Loop& loop : space.loops) {
    if (loop.axis != axis) continue;
    if (loop.own.empty()) {
      numeral.push_back({loop.step, loop.extent, loop.stride[operand]});
      continue;
    }
    for (WeightedDigit digit : numeral_of(loop.stride, loop.own, operand, loop.extent)) {
      digit.weight *= loop.step;
      numeral.push_back(digit);
    }
  }
}

/// The offsets of indices [0, count) of the digits from `k` on.
ByteRange numeral_range(const Numeral& numeral, size_t k, int64_t count) {
  if (k == numeral.size() || count <= 0) return {};
  const auto [weight, extent, stride] = numeral[k];
  const int64_t last = std::min((count - 1) / weight, extent - 1);
  const int64_t rest = std::min(count - last * weight, weight);
  const ByteRange begun = numeral_range(numeral, k + 1, rest);
  const ByteRange range = {begun.begin + last * stride, begun.end + last * stride};
  if (last == 0) return range;
  // Offsets are linear in this digit over whole steps, so the first and the last whole one are
  // enough.
  const ByteRange whole = rest == weight ? begun : numeral_range(numeral, k + 1, weight);
  const int64_t far = (last - 1) * stride;
  return {std::min({range.begin, whole.begin, whole.begin + far}),
          std::max({range.end, whole.end, whole.end + far})};
}

/// The bytes around a range that is in bits for a packed operand.
ByteRange bytes_of(const ByteRange& range, const ElementOp& op, int operand) {
  if (op.packing[static_cast<size_t>(operand)].bits == 0) return range;
  return {range.begin / 8, ceil_div(range.end, 8)};
}

/// Invariant 4.
bool are_sorted(const OwnDigits& own) {
  std::array<int, max_operands> digits{};
  int before = 0;
  for (const OwnDigit& digit : own) {
    const bool known = digit.operand >= before && digit.operand < max_operands && digit.every > 1;
    if (!known || ++digits[static_cast<size_t>(digit.operand)] > program::max_wraps) return false;
    before = digit.operand;
  }
  return true;
}

}  // namespace

int source_count(const ElementOp& op) {
  if (op.affine) return op.offset == AffineOffset::none ? 2 : 3;
  return is_binary(op.operation) ? 2 : 1;
}

ElementType operand_type(const ElementOp& op, int operand) {
  if (operand == 0) return op.target_type;
  return operand > 1 && op.affine ? affine_type(op) : op.source_type;
}

int64_t element_bytes(const ElementOp& op, int operand) {
  return is_move(op) ? op.bytes : storage_bytes(operand_type(op, operand));
}

bool is_packed(const ElementOp& op) {
  return std::any_of(op.packing.begin(), op.packing.end(),
                     [](const Packing& packing) { return packing.bits != 0; });
}

bool only_packs(const ElementOp& op) {
  return is_packed(op) && op.operation == Operation::convert && op.source_type == op.target_type &&
         !op.affine;
}

int64_t element_stride(const ElementOp& op, int operand) {
  const int64_t bits = op.packing[static_cast<size_t>(operand)].bits;
  return bits != 0 ? bits : element_bytes(op, operand);
}

Strides in_bytes(Strides strides, const ElementOp& op) {
  for (size_t k = 0; k < strides.size(); ++k) {
    if (op.packing[k].bits != 0) strides[k] /= 8;
  }
  return strides;
}

ElementType affine_type(const ElementOp& op) {
  const bool wide = op.source_type == ElementType::f64 || op.target_type == ElementType::f64;
  return wide ? ElementType::f64 : ElementType::f32;
}

bool has_padding(const IterationSpace& space) {
  return space.tail_end > space.tail_begin ||
         std::any_of(space.axes.begin(), space.axes.end(),
                     [](const Axis& axis) { return axis.padded > axis.valid; });
}

std::string signature(const IterationSpace& simplified) {
  std::string text;
  text.reserve(32 + 40 * simplified.loops.size());
  append_op(text, simplified.op);
  const int sources = source_count(simplified.op);
  for (const Loop& loop : simplified.loops) {
    text += ' ';
    append_axis(text, loop.axis);
    if (loop.step != 1) {
      text += '*';
      append(text, loop.step);
    }
    text += ':';
    append(text, loop.extent);
    for (int operand = 1; operand <= sources; ++operand) append_walk(text, loop, operand);
    append_walk(text, loop, 0);
  }
  for (size_t a = 0; a < simplified.axes.size(); ++a) {
    const Axis& axis = simplified.axes[a];
    const auto walks_alone = [&](const Loop& loop) {
      return loop.axis == static_cast<int>(a) && loop.extent == axis.valid &&
             loop.extent == axis.padded;
    };
    if (std::any_of(simplified.loops.begin(), simplified.loops.end(), walks_alone)) continue;
    text += ' ';
    append_axis(text, static_cast<int>(a));
    text += '<';
    append(text, axis.valid);
    if (axis.padded != axis.valid) {
      text += '/';
      append(text, axis.padded);
    }
  }
  if (simplified.tail_end > simplified.tail_begin) {
    text += " tail ";
    append(text, simplified.tail_begin);
    text += "..";
    append(text, simplified.tail_end);
  }
  if (has_padding(simplified)) append_fill(text, simplified.op);
  return text;
}

std::string walk_text(const Strides& stride, const OwnDigits& own, int operand) {
  std::string text = std::to_string(stride[static_cast<size_t>(operand)]);
  for (const OwnDigit& digit : own) {
    if (digit.operand != operand) continue;
    text += " (every " + std::to_string(digit.every) + ": " + std::to_string(digit.stride) + ")";
  }
  return text;
}

std::string to_string(const ElementOp& op) {
  if (is_move(op))
    return "element " + std::to_string(op.bytes) + (op.bytes == 1 ? " byte" : " bytes");
  std::string text;
  append_op(text, op);
  return text;
}

std::string to_string(const IterationSpace& space) {
  std::string text = to_string(space.op);
  if (has_padding(space)) append_fill(text, space.op);
  text += '\n';
  for (size_t a = 0; a < space.axes.size(); ++a) {
    text += "axis " + std::to_string(a) + ": valid " + std::to_string(space.axes[a].valid) +
            ", padded " + std::to_string(space.axes[a].padded) + '\n';
  }
  for (const Loop& loop : space.loops) {
    text += "for axis " + std::to_string(loop.axis) + " step " + std::to_string(loop.step) +
            " extent " + std::to_string(loop.extent) + ": ";
    for (int operand = 1; operand <= source_count(space.op); ++operand) {
      text += source_names[static_cast<size_t>(operand)];
      text += ' ' + walk_text(loop.stride, loop.own, operand) + ", ";
    }
    text += "target " + walk_text(loop.stride, loop.own, 0) + '\n';
  }
  if (space.tail_end > space.tail_begin) {
    const bool packed = space.op.packing[0].bits != 0;
    text += (packed ? "fill bits " : "fill bytes ") + std::to_string(space.tail_begin) + ".." +
            std::to_string(space.tail_end) + '\n';
  }
  return text;
}

Result<void> verify(const IterationSpace& space) {
  const auto broken = [](size_t loop, const std::string& what) {
    return Error{ErrorCode::invalid_argument, "loops[" + std::to_string(loop) + "]: " + what};
  };
  for (size_t k = 0; k < space.loops.size(); ++k) {
    const Loop& loop = space.loops[k];
    if (loop.axis < 0 || loop.axis >= static_cast<int>(space.axes.size()))
      return broken(k, "names no axis");
    if (loop.step < 1 || loop.extent < 1) return broken(k, "step and extent have to be positive");
    const Loop* finer = nullptr;  // the next finer loop of the axis
    for (size_t j = 0; j < space.loops.size(); ++j) {
      const Loop& other = space.loops[j];
      if (j == k || other.axis != loop.axis || other.step > loop.step) continue;
      if (other.step == loop.step)
        return broken(k, "shares its step with another loop of its axis");
      if (j < k) return broken(k, "stands inside a finer loop of its axis");
      if (finer == nullptr || other.step > finer->step) finer = &other;
    }
    if (finer == nullptr && loop.step != 1)
      return broken(k, "is the finest of its axis but has a step above 1");
    if (finer != nullptr && finer->step * finer->extent < loop.step)
      return broken(k, "leaves gaps between its steps");
    if (!are_sorted(loop.own)) return broken(k, "has own digits that are none");
  }
  return {};
}

ByteRange touched_bytes(const IterationSpace& space, int operand) {
  const bool target = operand == 0;
  ByteRange range;
  Numeral numeral;
  numeral.reserve(space.loops.size());
  for (size_t a = 0; a < space.axes.size(); ++a) {
    const int64_t count = target ? space.axes[a].padded : space.axes[a].valid;
    if (count == 0) {
      const ByteRange tail{space.tail_begin, space.tail_end};
      return target ? bytes_of(tail, space.op, operand) : ByteRange{};
    }
    make_numeral(space, static_cast<int>(a), static_cast<size_t>(operand), numeral);
    const ByteRange axis = numeral_range(numeral, 0, count);
    range = {range.begin + axis.begin, range.end + axis.end};
  }
  range.end += element_stride(space.op, operand);
  if (target && space.tail_end > 0) range.end = std::max(range.end, space.tail_end);
  return bytes_of(range, space.op, operand);
}

}  // namespace restride
