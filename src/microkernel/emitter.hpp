// Emitter: appends operations to a Block and knows which sizes of loads and stores a target has.
#pragma once

#include <cstdint>

#include "program/program.hpp"
#include "space/iteration_space.hpp"
#include "target/target.hpp"

namespace restride {

/// Streams of every program the planner makes.
constexpr int target_stream = 0;
constexpr int source_stream = 1;
constexpr int scratch_stream = 2;  ///< only of programs with a scratch operand
constexpr int panel_stream = 3;    ///< reads scratch while scratch_stream writes it
constexpr int prefetch_stream =
    4;  ///< walks the source ahead of source_stream; only of programs with scratch
constexpr int left_over_stream = 5;  ///< walks what was left over in scratch
constexpr int gathered_stream = 6;   ///< walks rows of the source that were copied to scratch

/// Some bytes of an aligned vector in memory: how many, and how far from its begin.
struct VectorPart {
  int64_t bytes, at;
};

/// Builds one Block. Registers are numbered from 0.
class Emitter {
 public:
  Emitter(const Target& target, int vector_bytes) : target_(target), vector_bytes_(vector_bytes) {
    constexpr size_t most_blocks = 40;  // have no more operations
    ops_.reserve(most_blocks);
  }

  int vector_bytes() const { return vector_bytes_; }
  int lanes() const { return vector_bytes_ / 16; }
  int registers() const { return target_.registers; }

  /// `bytes` bytes from byte 0 of a new register on; the rest is 0.
  program::Reg load(int stream, int64_t offset, int bytes);
  /// `into` with the bytes from `at` on replaced by `bytes` bytes of memory; `into` may be none.
  /// `at` is a multiple of 16 and the bytes lie in one lane.
  program::Reg load_lane(program::Reg into, int stream, int64_t offset, int bytes, int at);
  /// `into`, which may be none, with some bytes replaced by memory; the target has byte masks.
  program::Reg load_part(program::Reg into, int stream, int64_t offset, VectorPart part);
  /// Less than a vector over the first bytes of a register whose lanes are all alike.
  program::Reg load_over(program::Reg pattern, int stream, int64_t offset, int64_t bytes);
  program::Reg splat(int stream, int64_t offset, int width);
  program::Reg constant(int table);
  /// A register that is not there may hold anything; two make none.
  program::Reg unpack_low(int width, program::Reg a, program::Reg b);
  program::Reg unpack_high(int width, program::Reg a, program::Reg b);
  /// The low half: lanes of a; the high half: lanes of b. See Code::lanes.
  program::Reg lanes(program::Reg a, program::Reg b, int select);
  /// Bytes of a, each from its own lane, chosen by a table.
  program::Reg shuffle(program::Reg a, int table);
  /// Elements of `width` bytes of a, and of b if there is one, chosen by a table.
  program::Reg permute(int width, program::Reg a, program::Reg b, int table);
  /// Elements of a from type `from` to type `type`; the narrower ones stand at byte `at` of theirs.
  /// What else a narrower result holds comes from `into`, which may be none.
  program::Reg convert(ElementType from, ElementType type, program::Reg a, int at,
                       program::Reg into = program::none);
  program::Reg compute(Operation operation, ElementType type, program::Reg a, program::Reg b);
  /// Bytes that are 1 or 0, at the low end, 0 above. Precondition: compares_into_bytes().
  program::Reg compare(Operation comparison, ElementType type, program::Reg a, program::Reg b);
  bool compares_into_bytes() const { return target_.byte_masks; }
  /// The low `bytes` bytes of a, then those of b, which may be none.
  program::Reg join(int bytes, program::Reg a, program::Reg b);
  program::Reg round(ElementType type, program::Reg a);
  /// A vector of bytes from the packed elements of a that begin at byte `at`.
  program::Reg spread(Packing packing, program::Reg a, int at);
  /// The elements of a, packed, from byte `at` on; other bytes come from `into`, which may be none.
  program::Reg pack(Packing packing, program::Reg a, int at, program::Reg into);
  /// The even or odd fields of a, each followed by b's. A register that is not there is 0; two make
  /// none.
  program::Reg mix_low(int bits, program::Reg a, program::Reg b);
  program::Reg mix_high(int bits, program::Reg a, program::Reg b);
  void store(program::Reg value, int stream, int64_t offset, int bytes);
  /// `bytes` bytes of a register from byte `at` on; the target has byte masks.
  void store_part(program::Reg value, int stream, int64_t offset, int bytes, int at) {
    store_piece(value, stream, offset, bytes, at);
  }
  /// Up to 16 bytes of a register from byte `at` on, a multiple of 16.
  void store_lane(program::Reg value, int stream, int64_t offset, int bytes, int at);
  void store_nontemporal(program::Reg value, int stream, int64_t offset);
  /// The low 8 bytes of a register, over and over, to whole vectors: `run` bytes.
  void store_run(program::Reg value, int stream, int64_t offset, int64_t run);
  /// The end of a and the begin of b, so that b begins in the register as `stream + offset` does in
  /// its line.
  program::Reg shift(int width, program::Reg a, program::Reg b, int stream, int64_t offset);
  /// What goes into the line that holds byte `target_stream + target`, if byte `stream + from` goes
  /// there: a vector from where that line begins on, wherever in it the target stands.
  program::Reg load_for_line(int stream, int64_t from, int64_t target);
  /// The same from byte `stream + from` on to the rest of the line in which the target begins, if
  /// it begins between lines; and from what is before that byte to what is before the target. Both
  /// are multiples of `width` bytes.
  void copy_begin(int width, int stream, int64_t from, int64_t target);
  void copy_end(int width, int stream, int64_t from, int64_t target);
  /// To the line that holds byte `stream + offset`: to a vector of it from byte `at` on, around the
  /// caches, unless it holds the byte `behind` bytes before that, too, and that is not 0; to the
  /// part from that byte on; to the part before it.
  void store_line(program::Reg value, int stream, int64_t offset, int at = 0, int64_t behind = 0);
  void store_begin(program::Reg value, int stream, int64_t offset);
  void store_end(program::Reg value, int stream, int64_t offset);
  /// Copies part of a vector's worth of memory that begins on a vector: no access leaves that.
  void copy_part(int from_stream, int64_t from, int to_stream, int64_t to, VectorPart part);
  void prefetch(int stream, int64_t offset, int level);
  /// Asks for a line of a source that the box behind this one reads.
  void ask(int stream, int64_t offset);
  /// Asks for lines of a stream that will be read some time after these bytes: one for each that
  /// begins in them.
  void ask_ahead(int stream, int64_t offset, int64_t bytes);
  /// Asks for what lies so far ahead of a row of the source: its first line, or the lines that
  /// begin in it where rows touch.
  void ask_for_row(int64_t offset, int64_t bytes, bool touch, int64_t ahead_bytes);
  /// Asks for a line of the target that will be written.
  void claim(int64_t offset);
  /// Asks for the lines so far ahead of these bytes of the target: one for each that begins in
  /// them.
  void claim_ahead(int64_t offset, int64_t bytes, int64_t ahead_bytes);

  /// The operations whose results somebody uses.
  program::Block take();

 private:
  program::Op& store_in_line(program::Code code, program::Reg value, int stream, int64_t offset,
                             int at);
  void copy_in_line(program::Code code, int width, int stream, int64_t from, int64_t target);
  void lines_ahead(int stream, VectorPart from, int64_t ahead_bytes, int level);
  program::Reg append(program::Op op);
  program::Reg mix(program::Code code, int bits, program::Reg a, program::Reg b);
  program::Reg unpack(program::Code code, int width, program::Reg a, program::Reg b);
  bool one_access(int bytes) const;
  program::Reg load_pieces(program::Reg into, int stream, int64_t offset, int bytes);
  void store_piece(program::Reg value, int stream, int64_t offset, int bytes, int at);

  const Target& target_;
  int vector_bytes_;
  program::Block ops_;
  program::Reg next_ = 0;
};

/// A body of one block, which is moved there: a list of initial values would copy it.
program::Body body_of(program::Block block);

/// The operations of both, spread evenly among each other; each keeps its order.
program::Block interleaved(program::Block a, const program::Block& b);

}  // namespace restride
