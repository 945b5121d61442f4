// Problem -> IterationSpace: every axis is cut wherever a digit of any operand begins. Works in
// bits until the end, where packed elements that move together in whole bytes become those bytes.
#include "space/iteration_space.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/arithmetic.hpp"
#include "space/axis_loops.hpp"
#include "space/digits.hpp"
#include "space/nesting.hpp"
#include "space/rewrites.hpp"

namespace restride {
namespace {

/// One operand on its way into the space.
struct Operand {
  const Shape& shape;
  const std::vector<int64_t>& byte_strides;
  std::vector<Placement> placements;
  Digits digits{};
};

int64_t element_bits(const Shape& shape) {
  const int64_t packed = shape.layout.element_size_in_bits;
  return packed != 0 ? packed : 8 * storage_bytes(shape.element_type);
}

/// Gives the dimensions of `run` one axis: the most major one's, weights from the minor end.
void merge_axes(const std::vector<int>& run, const Operand& merging, const Shape& target,
                std::vector<Axis>& axes, std::vector<Placement>& of_target) {
  std::vector<int> dims;  // of the target
  for (int dim : run) {
    const int axis = merging.placements[static_cast<size_t>(dim)].axis;
    if (axis < 0) continue;
    // Dimensions that share an axis already come together, in the order that they have there.
    const auto known = static_cast<std::ptrdiff_t>(dims.size());
    for (size_t d = 0; d < of_target.size(); ++d) {
      const int to = static_cast<int>(d);
      if (of_target[d].axis != axis || std::find(dims.begin(), dims.end(), to) != dims.end())
        continue;
      dims.push_back(to);
    }
    std::stable_sort(dims.begin() + known, dims.end(), [&](int a, int b) {
      return of_target[static_cast<size_t>(a)].weight > of_target[static_cast<size_t>(b)].weight;
    });
  }
  int64_t weight = 1;
  const int axis = of_target[static_cast<size_t>(dims.front())].axis;
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    of_target[static_cast<size_t>(*dim)] = {axis, weight};
    weight *= target.dimensions[static_cast<size_t>(*dim)];
  }
  axes[static_cast<size_t>(axis)] = {weight, weight};
}

/// The placement of a source's dimensions, through the broadcast, into the target's.
std::vector<Placement> placements(const Source& source, const Shape& target,
                                  const std::vector<Placement>& of_target) {
  std::vector<Placement> result;
  for (size_t d = 0; d < source.shape.dimensions.size(); ++d) {
    const size_t to = source.broadcast_dimensions.empty()
                          ? d
                          : static_cast<size_t>(source.broadcast_dimensions[d]);
    const bool repeats = source.shape.dimensions[d] != target.dimensions[to];
    result.push_back(repeats ? Placement{-1, 1} : of_target[to]);
  }
  return result;
}

/// A target dimension that the source does not follow repeats it: a digit of stride 0, so that the
/// numeral of an axis with several dimensions has no gap.
void add_repetitions(Operand& source, const Shape& target,
                     const std::vector<Placement>& of_target) {
  for (size_t d = 0; d < of_target.size(); ++d) {
    const auto& placed = source.placements;
    const bool follows = std::find(placed.begin(), placed.end(), of_target[d]) != placed.end();
    if (follows || target.dimensions[d] == 1) continue;
    source.digits.digits.push_back(
        {of_target[d].axis, of_target[d].weight, target.dimensions[d], 0});
  }
}

/// Digits of one operand; a merge that is still needed shows in Digits::merges.
Result<void> find_digits(Operand& operand) {
  if (!operand.byte_strides.empty()) {
    operand.digits = digits(operand.shape, operand.byte_strides, operand.placements);
    return {};
  }
  Result<Digits> found = digits(operand.shape, operand.placements, element_bits(operand.shape));
  if (!found) return found.error();
  operand.digits = *std::move(found);
  return {};
}

/// Joins digits of one axis that count on and lie on: 11 x 10 row-major on a merged axis is one
/// digit of 110.
void join(std::vector<Digit>& digits) {
  for (size_t k = 0; k + 1 < digits.size();) {
    Digit& outer = digits[k];
    const Digit& inner = digits[k + 1];
    if (outer.axis == inner.axis && outer.step == inner.step * inner.extent &&
        outer.stride_bits == inner.stride_bits * inner.extent) {
      outer = {outer.axis, inner.step, outer.extent * inner.extent, inner.stride_bits};
      digits.erase(digits.begin() + static_cast<std::ptrdiff_t>(k) + 1);
      k = 0;
    } else {
      ++k;
    }
  }
}

/// Whether packed elements move together in whole bytes, or nothing is packed: then the space is in
/// bytes.
bool gather_bytes(IterationSpace& space) {
  IterationSpace gathered = space;
  while (gathered.op.bytes < 8 && widen(gathered, 8)) {
  }
  bool whole = gathered.op.bytes % 8 == 0;
  for (Loop& loop : gathered.loops) {
    for (int64_t& stride : loop.stride) {
      whole = whole && stride % 8 == 0;
      stride /= 8;
    }
    for (OwnDigit& digit : loop.own) {
      whole = whole && digit.stride % 8 == 0;
      digit.stride /= 8;
    }
  }
  if (!whole) return false;
  gathered.op.bytes /= 8;
  space = std::move(gathered);
  return true;
}

Packing packing_of(const Shape& shape) {
  const auto bits = static_cast<uint8_t>(shape.layout.element_size_in_bits);
  return bits == 0 ? Packing{} : Packing{bits, shape.layout.packing_order};
}

/// From bits to bytes, but for operands that stay packed.
void to_bytes(IterationSpace& space, const Problem& problem) {
  std::array<Packing, max_operands> packing{packing_of(problem.target)};
  bool is_alike = true;
  for (size_t k = 1; k < packing.size() && k <= problem.sources.size(); ++k) {
    packing[k] = packing_of(problem.sources[k - 1].shape);
    is_alike = is_alike && packing[k] == packing[0];
  }
  const bool is_bytewise = packing == std::array<Packing, max_operands>{};
  if ((is_bytewise || (is_alike && is_move(space.op))) && gather_bytes(space)) return;
  space.op.packing = packing;
  space.op.bytes = std::max<int64_t>(space.op.bytes / 8, 1);
  // What moves is taken for bytes, whatever it is.
  if (is_move(space.op)) space.op.operation = Operation::convert;
  for (Loop& loop : space.loops) {
    for (size_t k = 0; k < packing.size(); ++k) {
      if (packing[k].bits == 0) loop.stride[k] /= 8;
    }
    for (OwnDigit& digit : loop.own) {
      if (packing[static_cast<size_t>(digit.operand)].bits == 0) digit.stride /= 8;
    }
  }
}

/// Packed elements: code is made for a place within a byte, so digits that do not nest have to walk
/// whole bytes.
Result<void> check_own_digits(const IterationSpace& space) {
  for (const Loop& loop : space.loops) {
    const auto cuts_bytes = [&](size_t operand, int64_t stride) {
      return space.op.packing[operand].bits != 0 && stride % 8 != 0;
    };
    bool cuts = false;
    for (size_t k = 0; k < loop.stride.size() && !loop.own.empty(); ++k) {
      cuts = cuts || cuts_bytes(k, loop.stride[k]);
    }
    for (const OwnDigit& digit : loop.own) {
      cuts = cuts || cuts_bytes(static_cast<size_t>(digit.operand), digit.stride);
    }
    if (cuts) {
      return Error{ErrorCode::unsupported, "tiles of source and target do not nest, and " +
                                               std::to_string(loop.step) +
                                               " elements between their cuts are no whole bytes"};
    }
  }
  return {};
}

/// The tail alignment of the target's layout.
void add_tail(IterationSpace& space, const Shape& target, int64_t total_bits) {
  const int64_t unit = target.layout.tail_padding_alignment_in_elements * element_bits(target);
  const int64_t end_bits = ceil_div(total_bits, unit) * unit;
  if (end_bits == total_bits) return;
  if (space.op.packing[0].bits != 0) {
    space.tail_begin = total_bits;
    space.tail_end = end_bits;
  } else {
    space.tail_begin = ceil_div(total_bits, 8);
    space.tail_end = ceil_div(end_bits, 8);
  }
}

/// The padding element, repeated; packed elements are repeated within the byte.
Result<void> set_fill(IterationSpace& space, const Shape& target) {
  Result<std::array<std::byte, 16>> value =
      padding_bytes(target.element_type, target.layout.padding_value);
  if (!value) return value.error();
  int64_t bytes = storage_bytes(target.element_type);
  std::array<std::byte, 16> element = *value;
  if (const int64_t packed = target.layout.element_size_in_bits; packed != 0) {
    const std::byte unit = element[0] & static_cast<std::byte>((1 << packed) - 1);
    for (int64_t at = packed; at < 8; at += packed) element[0] |= unit << at;
    element[0] |= unit;
    bytes = 1;
  }
  for (int64_t at = 0; at < 16; at += bytes) {
    std::memcpy(space.op.fill.data() + at, element.data(), static_cast<size_t>(bytes));
  }
  return {};
}

/// Bounds of the axes with all that the target's layout adds: padding, and the fill of incomplete
/// tiles.
void pad_axes(IterationSpace& space, const Shape& target, const std::vector<Digit>& digits) {
  for (const Digit& digit : digits) {
    Axis& axis = space.axes[static_cast<size_t>(digit.axis)];
    axis.padded = std::max(axis.padded, digit.step * digit.extent);
  }
  // A dimension padded from 0 to 1 has no digit.
  const std::vector<int64_t>& padded = target.layout.padded_dimensions;
  for (size_t d = 0; d < padded.size(); ++d) {
    if (target.dimensions[d] == 0) space.axes[d].padded = std::max(space.axes[d].padded, padded[d]);
  }
}

/// Whether a conversion changes no bit: integers of one width wrap into each other.
bool converts_nothing(ElementType from, ElementType to) {
  const bool whole_bytes = bits(from) >= 8 && bits(to) >= 8;
  return from == to ||
         (is_integer(from) && is_integer(to) && whole_bytes && bits(from) == bits(to));
}

/// What happens to an element, apart from its padding.
ElementOp element_op(const Problem& problem) {
  ElementOp op;
  op.bytes = element_bits(problem.target);
  const ElementType from = problem.sources[0].shape.element_type, to = problem.target.element_type;
  if (problem.operation == Operation::copy) return op;
  const bool affine = !problem.affine.scale.empty();
  if (problem.operation == Operation::convert && !affine && converts_nothing(from, to)) return op;
  op.operation = problem.operation;
  op.source_type = from;
  op.target_type = to;
  op.affine = affine;
  if (!problem.affine.zero_point.empty()) op.offset = AffineOffset::zero_point;
  if (!problem.affine.bias.empty()) op.offset = AffineOffset::bias;
  return op;
}

/// The sources of a problem, then the factors of an affine conversion as arrays of their own, which
/// the target repeats.
std::vector<Source> all_sources(const Problem& problem, const ElementOp& op) {
  std::vector<Source> sources = problem.sources;
  for (const std::vector<double>* factors :
       {&problem.affine.scale, &problem.affine.zero_point, &problem.affine.bias}) {
    if (factors->empty()) continue;
    Source source{.shape = {.element_type = affine_type(op)}};
    if (factors->size() > 1) {
      source.shape.dimensions = {static_cast<int64_t>(factors->size())};
      source.shape.layout.minor_to_major = {0};
      source.broadcast_dimensions = {problem.affine.dimension};
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

/// Digits of all operands over axes that every merge agrees with.
Result<std::vector<Operand>> place(const Problem& problem, const std::vector<Source>& sources,
                                   std::vector<Axis>& axes) {
  std::vector<Placement> of_target;
  for (size_t d = 0; d < problem.target.dimensions.size(); ++d) {
    of_target.push_back({static_cast<int>(d), 1});
    axes.push_back({problem.target.dimensions[d], problem.target.dimensions[d]});
  }
  // Each round merges at least one axis away, so there are at most as many as dimensions.
  for (size_t round = 0; round <= problem.target.dimensions.size(); ++round) {
    std::vector<Operand> operands;
    operands.push_back({problem.target, problem.target_byte_strides, of_target});
    for (const Source& source : sources) {
      operands.push_back(
          {source.shape, source.byte_strides, placements(source, problem.target, of_target)});
    }
    bool merged = false;
    for (Operand& operand : operands) {
      if (merged) break;
      if (Result<void> found = find_digits(operand); !found) return found.error();
      for (const std::vector<int>& run : operand.digits.merges) {
        merge_axes(run, operand, problem.target, axes, of_target);
        merged = true;
      }
      if (&operand != &operands.front()) add_repetitions(operand, problem.target, of_target);
      join(operand.digits.digits);
    }
    if (!merged) return operands;
  }
  return Error{ErrorCode::unsupported, "source and target merge dimensions in different orders"};
}

}  // namespace

Result<IterationSpace> iteration_space(const Problem& problem) {
  IterationSpace space;
  space.op = element_op(problem);
  const std::vector<Source> sources = all_sources(problem, space.op);
  Result<std::vector<Operand>> placed = place(problem, sources, space.axes);
  if (!placed) return placed.error();
  std::vector<Operand>& operands = *placed;
  const bool fills = problem.target.layout.padding_value != PaddingValue::unknown;
  std::vector<Digits*> numerals;
  for (Operand& operand : operands) numerals.push_back(&operand.digits);
  const std::vector<const Digits*> nested_numerals(numerals.begin(), numerals.end());
  if (Result<void> nested = nest(numerals, space.axes, fills); !nested) return nested.error();

  if (fills) pad_axes(space, problem.target, operands[0].digits.digits);
  for (int axis = 0; axis < static_cast<int>(space.axes.size()); ++axis) {
    Result<std::vector<Loop>> loops =
        axis_loops(nested_numerals, axis, space.axes[static_cast<size_t>(axis)]);
    if (!loops) return loops.error();
    space.loops.insert(space.loops.end(), loops->begin(), loops->end());
  }
  to_bytes(space, problem);
  if (Result<void> whole = check_own_digits(space); !whole) return whole.error();
  if (fills) add_tail(space, problem.target, operands[0].digits.total_bits);
  if (has_padding(space)) {
    if (Result<void> filled = set_fill(space, problem.target); !filled) return filled.error();
  }
  return space;
}

}  // namespace restride
