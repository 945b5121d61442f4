// IterationSpace: the canonical form of every problem.
//
//     Problem ── iteration_space ──► IterationSpace ── simplify ──► IterationSpace ── signature ──►
//     text
//
// A layout is a mixed-radix numeral with a stride per digit. A problem is two or three numerals
// over the same index: every axis is cut wherever a digit of any operand begins, which leaves one
// list of loops with one stride per operand, and two bounds per axis. Partial tiles, padding and
// the remainders of blocking are one thing: a loop that overhangs its axis.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "restride/problem.hpp"
#include "restride/result.hpp"
#include "space/own_digits.hpp"

namespace restride {

/// What an affine conversion adds to the product with its scale.
enum class AffineOffset : uint8_t { none, zero_point, bias };

/// How an operand's elements lie in bytes.
struct Packing {
  uint8_t bits = 0;  ///< of a packed element, its neighbours' distance: 1, 2 or 4; 0: whole bytes
  PackingOrder order = PackingOrder::least_significant_first;

  bool operator==(const Packing&) const = default;
};

/// What happens to one element. A move knows only its width: f32, s32 and u32 share kernels.
struct ElementOp {
  int64_t bytes = 1;                 ///< of the target's element: 1, 2, 4, 8 or 16
  std::array<std::byte, 16> fill{};  ///< the padding element, repeated to 16 bytes
  Operation operation = Operation::copy;
  /// Of anything but a move: the types of the target and of the sources. A move has u8 here.
  ElementType target_type = ElementType::u8, source_type = ElementType::u8;
  bool affine = false;  ///< a conversion with a scale
  AffineOffset offset = AffineOffset::none;
  /// By operand. Packed elements are computed with, each in the low bits of a byte; what only moves
  /// is converted from u8 to u8.
  std::array<Packing, max_operands> packing{};

  bool operator==(const ElementOp&) const = default;
};

/// Whether elements pass through untouched.
inline bool is_move(const ElementOp& op) { return op.operation == Operation::copy; }

/// Whether any operand is packed.
bool is_packed(const ElementOp& op);

/// Whether what is packed, or unpacked, is not computed with besides.
bool only_packs(const ElementOp& op);

/// The sources of an element: operands 1 to this one.
int source_count(const ElementOp& op);

/// What operand `operand` of a computation is made of. Precondition: not a move.
ElementType operand_type(const ElementOp& op, int operand);

/// Bytes of an element of an operand.
int64_t element_bytes(const ElementOp& op, int operand);

/// The stride between neighbours that lie side by side: bytes, or bits of a packed operand.
int64_t element_stride(const ElementOp& op, int operand);

/// Strides or offsets, all in bytes; those of a packed operand round down.
Strides in_bytes(Strides strides, const ElementOp& op);

/// The type in which an affine conversion multiplies and adds: f64 where either side is f64, else
/// f32.
ElementType affine_type(const ElementOp& op);

///     0              valid          padded
///     |--- computed ---|--- filled ---|        nothing beyond `padded` is visited
struct Axis {
  int64_t valid, padded;  ///< elements

  bool operator==(const Axis&) const = default;
};

/// One loop over an axis. The index along an axis is the sum of iteration * step over its loops.
struct Loop {
  int axis;
  int64_t step;    ///< elements of the axis per iteration
  int64_t extent;  ///< iterations
  Strides stride;
  OwnDigits own{};  ///< of operands whose digits do not nest with those of others along this loop

  /// What an iteration adds to the strides of all operands.
  Strides at(int64_t iteration) const { return positions(stride, own, iteration); }

  bool operator==(const Loop&) const = default;
};

/// Invariants
///   1. the finest loop of an axis has step 1; every loop covers at least one iteration of the next
///   coarser loop of
///      its axis: step * extent >= coarser.step;
///   2. a coarser loop of an axis stands outside the finer ones;
///   3. no two visited iterations write the same byte of the target;
///   4. own digits stand by operand, count at least two, at most eight of one operand.
struct IterationSpace {
  ElementOp op;
  std::vector<Axis> axes;
  std::vector<Loop> loops;  ///< outermost first
  /// Bytes [tail_begin, tail_end) of the target, bits of a packed one, are filled besides: the tail
  /// alignment of a layout.
  int64_t tail_begin = 0, tail_end = 0;

  bool operator==(const IterationSpace&) const = default;
};

/// The bytes of an operand that an iteration space touches: [begin, end) relative to its pointer.
struct ByteRange {
  int64_t begin = 0, end = 0;

  bool operator==(const ByteRange&) const = default;
};

/// The canonical form of a valid problem. Errors: `unsupported` for tiles that no numeral
/// describes, and for ones that do not nest and cut packed elements within a byte.
Result<IterationSpace> iteration_space(const Problem& problem);

/// Brings a space to the one form that all equal problems share. The visited (source bytes, target
/// bytes) pairs stay.
void simplify(IterationSpace& space);

/// The identity of a problem: equal signatures mean equal kernels.
std::string signature(const IterationSpace& simplified);

/// Whether any byte is filled rather than computed.
bool has_padding(const IterationSpace& space);

/// Invariants 1, 2 and 4.
Result<void> verify(const IterationSpace& space);

/// The bytes of operand `operand` that the space touches (the target: filled ones included).
ByteRange touched_bytes(const IterationSpace& space, int operand);

/// How an operand walks a loop: `4`, or `4 (every 3: 60)` with digits of its own.
std::string walk_text(const Strides& stride, const OwnDigits& own, int operand);

std::string to_string(const ElementOp& op);
std::string to_string(const IterationSpace& space);

}  // namespace restride
