#include "microkernel/formula.hpp"

#include <algorithm>

namespace restride {

using program::none;
using program::Reg;

namespace {

/// The type of a comparison's result in a register.
ElementType mask_type(ElementType type) {
  if (is_complex(type)) return type;
  switch (storage_bytes(type)) {
    case 1:
      return ElementType::u8;
    case 2:
      return ElementType::u16;
    case 4:
      return ElementType::u32;
    default:
      return ElementType::u64;
  }
}

ElementType result_type(const ElementOp& op) {
  const ElementType type = computing_type(op);
  return is_comparison(op.operation) ? mask_type(type) : type;
}

}  // namespace

ElementType computing_type(const ElementOp& op) {
  if (op.affine) return affine_type(op);
  const bool narrow_float = is_float(op.source_type) && storage_bytes(op.source_type) < 4;
  return narrow_float && is_binary(op.operation) ? ElementType::f32 : op.source_type;
}

bool computes_floats(const ElementOp& op) {
  if (is_move(op)) return false;
  const auto floats = [](ElementType type) { return is_float(type) || is_complex(type); };
  return op.affine || floats(op.source_type) || floats(op.target_type);
}

FormulaOperands operands_of(const Strides& stride, uint32_t asked) {
  FormulaOperands operands{};
  for (size_t k = 0; k < operands.size(); ++k) {
    operands[k].repeats = stride[k] == 0;
    operands[k].asked = (asked >> k & 1) != 0;
  }
  return operands;
}

/// Register `index` of type `to` from the registers of type `from` that `get` makes. One that
/// repeats an element is made once.
template <class Get>
Reg Formula::converted(ElementType from, ElementType to, int64_t index, bool repeats,
                       const Get& get) {
  if (from == to) return get(index);
  const int64_t vector = emitter_.vector_bytes();
  const int64_t from_bytes = storage_bytes(from), to_bytes = storage_bytes(to);
  if (from_bytes <= to_bytes) {
    const int64_t ratio = to_bytes / from_bytes;
    const int64_t at = repeats ? 0 : index % ratio * (vector / ratio);
    return emitter_.convert(from, to, get(index / ratio), static_cast<int>(at));
  }
  const int64_t ratio = from_bytes / to_bytes, part = vector / ratio;
  Reg made = none;
  for (int64_t k = 0; k < ratio; ++k) {
    const int64_t first = (index * ratio + k) * (vector / from_bytes);
    if (!repeats && first >= elements_) break;
    made = emitter_.convert(from, to, get(index * ratio + k), static_cast<int>(k * part), made);
  }
  return made;
}

/// Register `index` of an operand as it lies in memory.
Reg Formula::loaded(int operand, int64_t index) {
  const FormulaOperand& from = operands_[static_cast<size_t>(operand)];
  Made& last = loaded_[static_cast<size_t>(operand)];
  if (from.repeats) index = 0;
  if (last.index == index) return last.reg;
  const int64_t width = element_bytes(op_, operand), vector = emitter_.vector_bytes();
  if (from.repeats) {
    last = {0, emitter_.splat(operand, from.at, static_cast<int>(width))};
  } else {
    const int64_t bytes = std::min(vector, elements_ * width - index * vector);
    const int64_t at = from.at + index * vector;
    if (from.asked) emitter_.ask_ahead(operand, at, bytes);
    last = {index, emitter_.load(operand, at, static_cast<int>(bytes))};
  }
  return last.reg;
}

/// Register `index` of an operand in the computing type.
Reg Formula::argument(int operand, int64_t index) {
  const bool repeats = operands_[static_cast<size_t>(operand)].repeats;
  Made& last = arguments_[static_cast<size_t>(operand)];
  if (repeats) index = 0;
  if (last.index == index) return last.reg;
  last = {index, converted(operand_type(op_, operand), computing_type(op_), index, repeats,
                           [&](int64_t k) { return loaded(operand, k); })};
  return last.reg;
}

/// (x - zero point) * scale + bias, or round(x / scale) + zero point where the target is an
/// integer.
Reg Formula::affine(int64_t index) {
  const ElementType type = computing_type(op_);
  Reg x = argument(1, index);
  if (is_integer(op_.target_type)) {
    x = emitter_.round(type, emitter_.compute(Operation::divide, type, x, argument(2, index)));
    if (op_.offset == AffineOffset::none) return x;
    return emitter_.compute(Operation::add, type, x, argument(3, index));
  }
  if (op_.offset == AffineOffset::zero_point)
    x = emitter_.compute(Operation::subtract, type, x, argument(3, index));
  x = emitter_.compute(Operation::multiply, type, x, argument(2, index));
  if (op_.offset != AffineOffset::bias) return x;
  return emitter_.compute(Operation::add, type, x, argument(3, index));
}

/// Register `index` of the result, before it is brought to the target's type.
Reg Formula::computed(int64_t index) {
  if (op_.affine) return affine(index);
  if (op_.operation == Operation::convert) return argument(1, index);
  const Reg a = argument(1, index), b = argument(2, index);
  return emitter_.compute(op_.operation, computing_type(op_), a, b);
}

/// The results of `count` elements from `first` on as bytes at the low end of a register.
Reg Formula::compared(int64_t first, int64_t count) {
  const ElementType type = computing_type(op_);
  const int64_t piece = emitter_.vector_bytes() / storage_bytes(type);
  if (first >= elements_) return none;
  if (count > piece) {
    const Reg low = compared(first, count / 2), high = compared(first + count / 2, count / 2);
    return emitter_.join(static_cast<int>(count / 2), low, high);
  }
  const Reg a = argument(1, first / piece), b = argument(2, first / piece);
  return emitter_.compare(op_.operation, type, a, b);
}

Reg Formula::target(int64_t index) {
  const ElementType type = computing_type(op_);
  const bool into_bytes =
      is_comparison(op_.operation) && !is_complex(type) && storage_bytes(type) > 1;
  if (into_bytes && emitter_.compares_into_bytes()) {
    return compared(index * emitter_.vector_bytes(), emitter_.vector_bytes());
  }
  return converted(result_type(op_), op_.target_type, index, false,
                   [&](int64_t k) { return computed(k); });
}

}  // namespace restride
