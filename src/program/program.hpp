// Program: the seam between planning and code. Loops, address streams, straight-line vector
// operations.
//
//     LoopNest ── select ──► Program ──► {interpreter │ xbyak │ LLVM}
//
// A backend translates a Program one to one and decides nothing. All blocking, register networks,
// staging, prefetching and non-temporal stores are in the Program already.
//
// Vocabulary
//   stream    a moving address into one operand. Streams are scoped: after a loop each stands where
//   it
//             stood before the loop, so a position is a pure function of the loop counters.
//   register  a virtual vector register: defined once, lives inside one Block.
//   unit      an item of the root that can run alone: an iteration of a root loop, or a root block.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "restride/problem.hpp"
#include "restride/result.hpp"
#include "target/target.hpp"

namespace restride {
namespace program {

using Reg = int16_t;
constexpr Reg none = -1;

/// Limits that let every walk over a Program use memory of fixed size and recurse without fear.
constexpr int max_operands = 8;
constexpr int max_streams = 32;
constexpr int max_depth = 24;  ///< loops in loops
constexpr int max_wraps = 8;   ///< of one Step

/// All scratch of a Program: execute() has it on its stack.
constexpr int64_t max_scratch_bytes = 48 * 1024;
/// So much of it L1 holds beside the lines that pass.
constexpr int64_t scratch_in_l1_bytes = 32 * 1024;

/// Unpacks and shuffles work within lanes of so many bytes.
constexpr int lane_bytes = 16;

/// Lines that operations ask for their place in: of targets whose lines are others they are none.
constexpr int64_t line_bytes = 64;

/// What store_run repeats.
constexpr int run_pattern_bytes = 8;

/// In a table: the element may hold anything.
constexpr uint8_t undefined = 255;

/// Vectors are Program::vector_bytes (V) wide. Lane l is bytes [16 l, 16 l + 16).
enum class Code : uint8_t {
  load,   ///< to = `bytes` bytes at `stream + offset` placed at byte `at`; other bytes: of a, or 0
          ///< without a
  splat,  ///< to = the element of `width` bytes at `stream + offset`, in every place
  shift,  ///< to = the last p bytes of a, then b up to byte V - p, p = (stream + offset) mod V: b
          ///< as it lies in the lines of memory from there on, behind a. p is a multiple of `width`
  load_for_line,  ///< to = V bytes from `stream + offset - p` on, p = (stream `select` + at) mod
                  ///< 64: of a source, what goes into the line that begins p bytes before that
  constant,       ///< to = tables[table], V bytes
  unpack_low,   ///< per lane: elements of `width` bytes from the low halves of a and b alternating,
                ///< a first
  unpack_high,  ///< the same of the high halves
  lanes,    ///< to = low half: lanes of a, high half: lanes of b, chosen by `select`, log2(V / 16)
            ///< bits each
  insert,   ///< to = a, with lane `at / 16` replaced by lane 0 of b
  extract,  ///< to = lane 0: lane `at / 16` of a; other lanes undefined
  permute,  ///< to = elements of `width` bytes chosen by tables[table] from a (0..n-1) and, if
            ///< given, b (n..2n-1), n = V / width; by a table of 16 / width entries in every lane
            ///< from the same lane of both, n = 16 / width
  shuffle,  ///< to = bytes of a chosen by tables[table], each from its own lane (V entries,
            ///< lane-relative 0..15)
  convert,  ///< to = n elements of a, from type `from` to type `type`, n = V / the wider of both.
            ///< The narrower ones lie at bytes [at, at + n * width) of their register; what else
            ///< a narrower result's register holds comes from b, or is 0 without b
  compute,  ///< to = a `operation` b, element by element of type `type`; a comparison gives the
            ///< unsigned integer 1 or 0 of that width, or the complex number 1 or 0; one of
            ///< `width` 1 gives bytes, at the low end, and 0 above
  round,    ///< to = a rounded to an integral value, to nearest even; `type` is f32 or f64
  spread,  ///< to = V bytes, each the next `width` bits of the packed bytes of a from byte `at` on;
           ///< the bits above are 0
  pack,    ///< to = V * width / 8 bytes at `at` made of the low `width` bits of each byte of a;
           ///< other bytes: of b, or 0 without b
  mix_low,   ///< to = the even fields of `width` bits of a, each followed by b's, or by 0 without b
  mix_high,  ///< the same of the odd fields
  store,     ///< bytes [at, at + bytes) of a to `stream + offset`
  store_nontemporal,  ///< whole vectors at V-aligned addresses, around the caches
  store_line,   ///< a to the line that holds byte `stream + offset`, from its byte `at` on, around
                ///< the caches; unless `width` is 0, not if it holds the byte `width` before that
  store_begin,  ///< to what that line has from `stream + offset` on: the same bytes of a
  store_end,    ///< to what it has before that: the same bytes of a
  copy_begin,   ///< to the same as store_begin, unless it is all of the line: as many bytes from
                ///< `copied` of stream `select` on, a multiple of `width`; not of the target
  copy_end,     ///< to the same as store_end: as many bytes before that
  store_run,    ///< bytes [0, 8) of a, over and over, to `run` bytes at `stream + offset`
  prefetch,     ///< the line at `stream + offset` towards cache level `width` (1, 2, 3), or to be
                ///< written, towards the first (0); may lie anywhere
};

struct Op {
  Code code;
  uint8_t stream = 0;
  uint8_t width = 0;   ///< bytes of an element, of compute those of the result; of what works on
                       ///< packed elements: bits; of store_line: see there
  uint8_t bytes = 0;   ///< bytes loaded or stored
  uint8_t at = 0;      ///< first byte within the register
  uint8_t select = 0;  ///< of lanes: the choice; of load_for_line and copies: a stream; of compute:
                       ///< the Operation; of spread and pack: the PackingOrder
  ElementType type = ElementType::u8, from = ElementType::u8;  ///< of convert, compute and round
  int16_t table = 0;
  Reg to = none, a = none, b = none;
  int64_t offset = 0;  ///< bytes
  int64_t run = 0;     ///< of store_run: bytes
  int64_t copied = 0;  ///< of copies: the offset in stream `select`, bytes

  Operation operation() const { return static_cast<Operation>(select); }
  PackingOrder packing_order() const { return static_cast<PackingOrder>(select); }

  bool operator==(const Op&) const = default;
};

/// Whether operations of this kind name a stream.
constexpr bool names_memory(Code code) {
  return code <= Code::load_for_line || (code >= Code::store && code <= Code::prefetch);
}

/// Whether what they do depends on where a stream stands in a line.
constexpr bool asks_place(Code code) {
  return code == Code::shift || code == Code::load_for_line ||
         (code >= Code::store_line && code <= Code::copy_end);
}

/// Whether they copy from another stream.
constexpr bool is_copy(Code code) { return code == Code::copy_begin || code == Code::copy_end; }

/// Whether they are between bytes and the packed elements of a byte.
constexpr bool is_packing(Code code) { return code == Code::spread || code == Code::pack; }

/// Whether they compute: what a backend may refuse.
constexpr bool is_computation(Code code) { return code >= Code::convert && code < Code::store; }

/// Whether they store around the caches.
constexpr bool goes_around_caches(Code code) {
  return code == Code::store_nontemporal || code == Code::store_line;
}

/// Whether they name a table.
constexpr bool names_table(Code code) {
  return code == Code::constant || code == Code::permute || code == Code::shuffle;
}

/// Bytes [first, last) of an operand.
struct Access {
  int64_t first, last;
};

/// What an operation other than prefetch reads or writes of memory where `stream + offset` is byte
/// `place`. Both ends never fall as `place` rises.
inline Access accessed(const Op& op, int64_t place, int64_t vector_bytes) {
  const int64_t line = place & -line_bytes;
  switch (op.code) {
    case Code::splat:
      return {place, place + op.width};
    case Code::load_for_line:
      return {place - (line_bytes - 1), place + vector_bytes};
    case Code::store_line: {
      const bool stores = op.width == 0 || place - line < op.width;
      return {line + op.at + (stores ? 0 : vector_bytes), line + op.at + vector_bytes};
    }
    case Code::store_begin:
      return {place, line + line_bytes};
    case Code::copy_begin:
      return {place, (place + line_bytes - 1) & -line_bytes};
    case Code::store_end:
    case Code::copy_end:
      return {line, place};
    case Code::store_run:
      return {place, place + op.run};
    default:
      return {place, place + op.bytes};
  }
}

/// The same wherever in a line `place` is: all that may be touched.
inline Access accessed_anywhere(const Op& op, int64_t place, int64_t vector_bytes) {
  switch (op.code) {
    case Code::load_for_line:
      return accessed(op, place, vector_bytes);
    case Code::store_line:
      return {place + op.at - (line_bytes - 1), place + op.at + vector_bytes};
    case Code::store_begin:
      return {place, place + line_bytes};
    case Code::copy_begin:
      return {place, place + line_bytes - 1};
    default:
      return {place - (line_bytes - 1), place};
  }
}

/// Of a load_for_line: a load at the place whose position in a line it goes by.
inline Op line_of(const Op& op) {
  Op place = op;
  place.code = Code::load;
  place.stream = op.select;
  place.offset = op.at;
  return place;
}

/// Of a copy: a load of what it copies, without its size.
inline Op copied_by(const Op& op) {
  return {.code = Code::load, .stream = op.select, .offset = op.copied};
}

/// A digit of a Step: after `every` counts the digit before it starts again and this one advances.
struct Wrap {
  int64_t every;   ///< counts
  int64_t stride;  ///< bytes

  bool operator==(const Wrap&) const = default;
};

/// How a stream moves in a loop: a numeral with a stride per digit.
///
///     {S, 64}                            iteration i stands 64 i bytes on
///     {W, half, wraps {{2, 0}}}          0, half, 0, half, ...: a pair of ping-pong panels
///     {S, 64, phase 1} with {D, 64}      S runs one iteration ahead of D: a software pipeline
///     {P, 64, wraps {{8, row}}}          walks 8 lines, then goes to the next row
struct Step {
  int stream;
  int64_t stride = 0, start = 0;  ///< bytes
  int64_t phase = 0;              ///< iterations ahead, >= 0
  std::vector<Wrap> wraps{};

  /// Where the stream stands in iteration i, relative to where it stood before the loop.
  int64_t operator()(int64_t i) const;

  bool operator==(const Step&) const = default;
};

/// Straight-line operations.
using Block = std::vector<Op>;

struct For;
using Body = std::vector<std::variant<Block, For>>;

/// After the loop every stream stands where it stood before. Several Steps of a stream add up.
struct For {
  int64_t extent;
  std::vector<Step> steps;
  Body body;

  bool operator==(const For&) const = default;
};

enum class Role : uint8_t { target, source, scratch };

/// A buffer the caller passes. Accesses lie in bytes [begin, end) relative to the pointer given;
/// begin is negative only where a source or target is walked backwards.
struct Operand {
  Role role;
  int64_t begin = 0, end = 0;
  int64_t alignment =
      1;  ///< of the pointer, bytes: the caller's promise, which makes non-temporal stores legal
  int64_t phase = 0;  ///< bytes that the pointer stands behind a multiple of that, less than it

  bool operator==(const Operand&) const = default;
};

}  // namespace program

/// Invariants, checked by verify:
///   1. every register is defined once and before its uses, in one Block; live registers fit the
///   target;
///   2. every access but a prefetch lies inside its operand; only defined bytes are stored;
///      sources are never stored to; scratch is read only where the same unit has written it;
///   3. non-temporal stores are whole vectors, aligned by proof: gcd(operand alignment, strides,
///   offset); shifts and copies move by multiples of `width`;
///   4. every operation is one the target has;
///   5. the items of `root` are units; a root loop only walks (no phase, no wraps);
///   6. every loop runs at least once; the limits above hold; positions fit int64_t.
/// What the target has (4), besides what its fields say:
///   - load and store without byte masks: 1, 2, 4, 8, 16 or V bytes, `at` a multiple of `bytes`,
///   and below 16
///     for less than 16 bytes; with byte masks any `bytes` at any `at`;
///   - elements of 1, 2, 4 or 8 bytes; splat also of 16;
///   - lanes, insert and extract where V is at least 32;
///   - shift, store_begin and store_end with byte masks, where V is a line; of a shift the width is
///   one of a permute; copy_begin and copy_end without byte masks; those, load_for_line and
///   store_line where lines have 64 bytes, `at` of a store_line a multiple of V, `width` less than
///   a line;
///   - store_run of whole vectors;
///   - tables of V / width entries (permute; 16 / width where V is more than is permuted at once)
///   or V entries (constant, shuffle);
///   - spread and pack of 1, 2 and 4 bits, in either order, `at` a multiple of V * width / 8;
///     mix_low and mix_high of 1, 2 and 4 bits. A
///     backend may refuse them;
///   - with byte masks comparisons of `width` 1, but of complex numbers and of bytes; `width` of
///   any other compute is 0;
///   - convert, compute and round of every pair of types and operation that element_math knows. A
///     backend may refuse a program for one that it lacks; elements are those of memory, one to 16
///     bytes wide, and mean what element_math computes, bit for bit.
/// Scratch (2): a read must lie within the hull of what the unit has stored to that operand before,
/// in text order; byte by byte it is checked by written_once. The target may be read anywhere:
/// a unit keeps bits that share a byte with those it writes.
/// Checked by written_once (walks everything, for tests):
///   7. no byte of the target is touched by two units. What a unit writes once more without having
///      read it, where stores overlap, is at most half of the target. Every byte read of scratch
///      was written before by the same unit.
/// A program with non-temporal stores ends with a store fence, whichever units are run.
struct Program {
  int vector_bytes = 16;
  std::vector<program::Operand> operands;    ///< target first, then sources, then scratch
  std::vector<int> streams;                  ///< the operand each stream starts at
  std::vector<std::vector<uint8_t>> tables;  ///< of constant, permute and shuffle
  program::Body root;
  /// The extent of the only root loop is `last_unit` at run time; For::extent is then only what
  /// verification assumes.
  bool open = false;

  bool operator==(const Program&) const = default;
};

/// Units of work: iterations of root loops plus root blocks.
int64_t unit_count(const Program& program);

/// Whether any operation is a non-temporal store.
bool uses_nontemporal_stores(const Program& program);

/// Whether any of them has to know that it stores a line; others look where lines begin.
bool stores_known_lines(const Program& program);

/// The text of a program, one operation a line.
std::string to_string(const Program& program);
std::string to_string(const program::Op& op);
std::string to_string(const program::Step& step);

/// Invariants 1 to 6. The error names the invariant that is broken and the operation. Linear in the
/// size of the program text, whatever the extents.
Result<void> verify(const Program& program, const Target& target);

/// Invariant 7 by walking every access: linear in the bytes moved. Also the bytes of the target
/// written in all must be `expected_bytes`. Precondition: verify, on some target.
Result<void> written_once(const Program& program, int64_t expected_bytes);

}  // namespace restride
