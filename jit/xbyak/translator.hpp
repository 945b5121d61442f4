// The translator: a verified Program to x86-64, operation by operation. It decides nothing but
// registers.
//
//   frame_and_loops   prologue, units, loops, epilogue
//   streams           moving addresses in registers or in the frame; masks; tables behind the code
//   blocks            vector registers: a linear scan within each Block
//   instruction       those that most kernels are made of; all others are xbyak's
//   lines             what asks where in a line it stands, in every family
//   memory_ops_avx, register_ops_avx, permute_vex, vector_ops_sse   what an operation is in each
//   family
//   convert_*, arithmetic_*, packing, temporaries      what computes: AVX2 and AVX-512
//
// Frame, from rsp up: [operands, first, last if there are several root items] [spilled streams]
// [loop counters without a register] [digit counters of wraps].
#pragma once

#define XBYAK_NO_EXCEPTION
#include <xbyak/xbyak.h>

#include <array>
#include <optional>
#include <vector>

#include "program/program.hpp"
#include "xbyak/byte_choice.hpp"
#include "xbyak/instruction.hpp"
#include "xbyak/survey.hpp"

namespace restride::xbyak {

class Translator : private Xbyak::CodeGenerator {
 public:
  /// Writes into [memory, memory + bytes) and nowhere else.
  Translator(const Program& program, const Target& target, const Survey& survey, void* memory,
             size_t bytes);

  /// Returns the bytes written, 0 where they did not fit.
  size_t run();

 private:
  using Op = program::Op;
  using Register = Xbyak::Xmm;  ///< of 16, 32 or 64 bytes: xbyak looks at its kind

  enum class Family : uint8_t { sse, vex, evex };

  /// A use of a table: where a displacement in the code waits for its address.
  struct TableUse {
    size_t end;  ///< of the instruction
    int place;   ///< which copy behind the code
    int behind;  ///< bytes of the instruction behind the four of the displacement
  };
  struct TableCopy {
    int16_t table;                   ///< of the program; or one of these
    uint8_t width;                   ///< bytes of an index
    std::array<uint8_t, 16> lane{};  ///< of a constant, the same in every lane; of indices in
                                     ///< order the first one; of the places of bytes what
                                     ///< Translator::widened and put_narrowed say

    static constexpr int16_t constant = -1, in_order = -2, widening = -3, narrowing = -4;

    bool operator==(const TableCopy&) const = default;
  };

  /// A constant behind the code as the last operand of an instruction: a place in a table of V
  /// bytes. The use is noted when the statement ends.
  class Constant : public Xbyak::Address {
   public:
    Constant(Translator& translator, int place, int behind)
        : Address(translator.ptr[translator.rip + 0]),
          translator_(translator),
          place_(place),
          behind_(behind) {}
    ~Constant() { translator_.table_uses_.push_back({translator_.getSize(), place_, behind_}); }
    Constant(const Constant&) = delete;
    Constant& operator=(const Constant&) = delete;

   private:
    Translator& translator_;
    const int place_, behind_;
  };

  /// What is known of the NaNs of a virtual register.
  struct NansOf {
    bool canonical;  ///< all are the positive quiet one
    bool computed;   ///< nobody but arithmetic looks at them
  };

  /// One step of a conversion, between the low ends of two registers, which may be the same one.
  struct Hop {
    ElementType from, type;
    int count;               ///< elements
    int to, a;               ///< numbers of machine registers
    bool to_odd = false;     ///< rounded so that it can be rounded once more
    bool stays_raw = false;  ///< of a NaN it makes no difference whether it is quiet
  };

  /// A result that stands in the elements of a wider type, from a byte of each on.
  struct Narrowed {
    int first_byte, from, to, count;
    int number;  ///< of the register
  };

  // ---- frame_and_loops.cpp
  void assign_general_registers();
  void enter();
  void leave();
  void load_masks();
  void load_held_tables();
  void root_item(int64_t units_before, const std::variant<program::Block, program::For>& item);
  void several_units(int64_t units_before, int64_t units);
  void single_item(const program::For* loop);
  void start_streams(const program::For* loop);
  void root_loop(const program::For& loop);
  void body(const program::Body& body);
  void loop(const program::For& loop);
  void iterate(const program::For& loop, int height);
  void set_digits(const program::For& loop, int first_digit);
  void advance_streams(const program::For& loop, int first_digit,
                       const std::array<int64_t, program::max_streams>& at_head);
  int wrap(const program::Step& step, int digit);
  void count_down(int height, const uint8_t* head);
  size_t jump_forward(uint8_t condition);
  void land(size_t jump);
  void append(const Instruction& instruction);
  void append(const uint8_t* bytes, size_t size);

  // ---- streams.cpp
  Xbyak::Address slot(int k) { return qword[rsp + 8 * k]; }
  bool in_register(int stream) const { return stream_register_[size_t(stream)] >= 0; }
  Xbyak::Reg64 stream(int s) const { return Xbyak::Reg64(stream_register_[size_t(s)]); }
  Xbyak::Address stream_slot(int s) { return slot(stream_slot_[size_t(s)]); }
  void add_far(const Xbyak::Reg64& r, int64_t n);
  void advance(int stream, int64_t bytes);
  void materialize(int stream);
  Place place(const Op& op, int64_t back = 0);
  Xbyak::Address at(const Op& op, int64_t back = 0) { return address(place(op, back)); }
  Xbyak::Address address(const Place& place);
  Xbyak::Opmask mask(uint64_t bits);
  Xbyak::Address table(const Op& op);
  void table_was_used();
  void load_table(const IndexTable& table, int to);
  int table_register(const Op& op);
  int place_of(const TableCopy& copy);
  void append_tables();
  void append_table(const TableCopy& copy);
  static std::array<uint8_t, 64> places_of_bytes(const TableCopy& copy);

  // ---- blocks.cpp
  void block(const program::Block& block);
  void find_last_uses(const program::Block& block);
  void note_nans(const Op& op);
  void step(const Op& op, int k);
  void release(program::Reg r);
  void take(program::Reg r);
  bool writes_early(const Op& op) const;
  const Register& vector(program::Reg r) const { return sized(r, program_.vector_bytes); }
  static const Register& numbered(int number, int bytes);
  const Register& sized(program::Reg r, int bytes) const {
    return numbered(physical_[size_t(r)], bytes);
  }
  int number(program::Reg r) const { return physical_[size_t(r)]; }
  const Register& low(program::Reg r) const { return sized(r, 16); }
  bool same(program::Reg x, program::Reg y) const {
    return physical_[size_t(x)] == physical_[size_t(y)];
  }
  bool takes_zmm() const { return program_.vector_bytes == 64; }
  bool is_narrow(program::Reg r) const { return narrow_ >> physical_[size_t(r)] & 1; }
  void note_narrow(const Op& op);

  // ---- memory_ops_avx.cpp
  void avx(const Op& op);
  void load_vector(int to, int bytes, const Place& place);
  void store_vector(const Place& place, int from, int bytes);
  void avx_load(const Op& op);
  void avx_load_piece(const Op& op);
  void avx_merge(const Op& op);
  void avx_merge_lane(const Op& op);
  void avx_insert_piece(const Register& to, const Register& a, const Op& op);
  void avx_masked_load(const Op& op);
  void avx_splat(const Op& op);
  void avx_store(const Op& op);
  void avx_store_piece(const Op& op);
  void avx_store_nontemporal(const Op& op);
  void avx_store_lane(const Op& op);
  void avx_store_in_line(const Op& op);
  void avx_move(const Register& to, const Xbyak::Operand& from);
  void avx_move(const Xbyak::Address& to, const Register& from);
  void avx_zero(const Register& to);

  // ---- register_ops_avx.cpp
  Instruction between(const std::array<EvexForm, 4>& forms, const Op& op, program::Reg first,
                      program::Reg second) const;
  void avx_constant(const Op& op);
  void avx_unpack(const Op& op);
  void unpack(const Register& to, const Register& a, const Register& b, int width,
              program::Code code);
  void avx_lanes(const Op& op);
  void avx_insert(const Op& op);
  void avx_extract(const Op& op);
  void avx_shuffle(const Op& op);
  void avx_permute(const Op& op);
  void avx_shift(const Op& op);
  void avx_permute_one(const Op& op, int indices);
  void avx_permute_two(const Op& op, program::Reg b);
  void avx_funnel(const Op& op);

  // ---- permute_vex.cpp
  void vex_permute(const Op& op);
  bool vex_permute_at_once(const Op& op, const ByteChoice& choice);
  void vex_join(const Op& op, const ByteChoice& choice);
  void vex_choose(const Register& to, const Register& from, const ByteChoice& choice, int number);

  // ---- temporaries.cpp
  void begin_temporaries(const Op& op);
  int temporary();
  Xbyak::Address saved_place();
  void done_with(const Register& temporary) { spare_ |= uint32_t{1} << temporary.getIdx(); }
  void end_temporaries();
  Constant constant(uint64_t value, int width, int behind = 0);
  Constant constant(const std::array<uint8_t, 16>& lane, int behind = 0);

  // ---- convert_pieces.cpp
  void avx_convert(const Op& op);
  void convert_in_pieces(const Op& op, int count);
  void convert_piece(Hop hop);
  void convert_once(const Hop& hop);
  bool nobody_sees_nans(ElementType type, ElementType end) const;
  int taken_piece(int into, int a, int at);
  void put_piece(int to, int into, int piece, int at, int bytes);
  void put_small_piece(int to, int into, int piece, int at, int bytes);
  void convert_and_put(const Hop& hop, int from_at, int to, int into, int to_at);
  static const Register& source(const Hop& hop);
  static const Register& result(const Hop& hop);

  // ---- convert_by_permute.cpp
  bool permutes_into(uint64_t bytes) const;
  std::optional<Hop> widened(Hop hop, int at);
  void put_narrowed(int to, int into, int at, const Narrowed& narrowed);

  // ---- packing.cpp
  void avx_spread(const Op& op);
  void avx_pack(const Op& op);
  void avx_mix(const Op& op);
  void choose_bits(int to, int a, int b, uint64_t ones);

  // ---- convert_integers.cpp
  void extend(const Hop& hop);
  void cut(const Hop& hop);
  void resize(const Hop& hop);
  void narrow(const Hop& hop, int first_byte);
  void to_pred(const Hop& hop);
  void integer_to_float(const Hop& hop);
  void u32_to_float(const Hop& hop);
  void wide_integer_to_f64(const Hop& hop);

  // ---- convert_floats.cpp
  void float_to_float(const Hop& hop);
  void f4_to_f16(const Hop& hop);
  void f32_to_bf16(const Hop& hop);
  void quieten(const Register& floats);
  void float_to_integer(const Hop& hop);
  void float_to_small(const Hop& hop);
  void float_to_unsigned(const Hop& hop);
  void f32_to_u32(const Hop& hop);
  void float_to_signed(const Hop& hop);
  void clamp(const Hop& hop, uint64_t lowest, uint64_t highest);
  void avx_round(const Op& op);

  // ---- choices.cpp
  const Register& chosen_register(const Hop& hop);
  void choose_greater(const Register& chosen, const Register& a, uint32_t than);
  void choose_equal(const Register& chosen, const Register& a, uint32_t value);
  void choose_nans(const Register& chosen, const Register& a);
  void take_chosen(const Register& to, const Register& from, const Register& chosen);
  void take_chosen(const Register& to, uint32_t value, const Register& chosen);

  // ---- divide_integers.cpp
  void divide_integers(const Op& op);
  void divide_piece(const Hop& hop);

  // ---- complex_numbers.cpp
  void swap_parts(const Register& to, const Register& a, ElementType part);
  void compute_complex(const Op& op);
  void multiply_complex(const Op& op, ElementType part);
  void compare_complex(const Op& op, ElementType part);
  void convert_complex(const Hop& hop);
  void complex_to_pred(const Hop& hop);

  // ---- convert_narrow_floats.cpp
  void narrow_float_to_f32(const Hop& hop);
  void power_to_f32(const Hop& hop);
  void f32_to_narrow_float(const Hop& hop);
  void sign_and_nans(const Hop& hop, const Register& a, const Register& other,
                     const Register& chosen);
  void f32_to_power(const Hop& hop, const Register& a, const Register& other);
  void f64_to_odd_f32(const Hop& hop);

  // ---- arithmetic_floats.cpp, arithmetic_integers.cpp
  void avx_compute(const Op& op);
  void compute_floats(const Op& op);
  void choose_floats(const Op& op);
  void canonical_nans(const Op& op, ElementType type);
  void replace_nans(const Register& to, const Register& nans, ElementType type);
  void compare_floats(const Op& op);
  void ones_of_mask(const Op& op);
  void compute_pred(const Op& op);
  void compute_integers(const Op& op);
  void multiply_integers(const Op& op);
  void multiply_bytes(const Op& op);
  void multiply_wide(const Op& op);
  void choose_wide(const Op& op);
  void compare_integers(const Op& op, int x, int y);
  void compare_integers_vex(const Op& op, int x, int y);

  // ---- vector_ops_sse.cpp
  void sse(const Op& op);
  void sse_load(const Op& op);
  void sse_merge(const Op& op);
  void sse_insert_byte(const Op& op);
  void sse_splat(const Op& op);
  void sse_store(const Op& op);
  void sse_store_piece(const Op& op);
  void sse_unpack(const Op& op);
  void sse_prepare(const Op& op);

  // ---- lines.cpp
  void load_for_line(const Op& op);
  void store_line(const Op& op);
  void copy_in_line(const Op& op);
  void copy_bytes(const Xbyak::RegExp& from, const Xbyak::RegExp& to, int bytes);
  bool in_use(const Xbyak::Reg64& general) const;

  void store_run(const Op& op);
  void prefetch(const Op& op);

  static constexpr int several_items_slots = 3;
  static constexpr int temporaries_bytes = 128;

  const Program& program_;
  const Survey& survey_;
  const InstructionSet set_;
  const Family family_;
  uint8_t* const memory_;  ///< where the code goes
  const size_t capacity_;

  // General registers: rax holds addresses and rcx data for one operation; all others are streams
  // and counters.
  std::array<int8_t, program::max_streams> stream_register_;  ///< -1: in the frame, or unused
  std::array<int16_t, program::max_streams> stream_slot_{};
  std::array<int8_t, program::max_depth + 1> counter_register_;
  std::array<int16_t, program::max_depth + 1> counter_slot_{};
  uint32_t saved_ = 0;  ///< the callee's registers in use, a bit each
  int frame_slots_ = 0;
  int temporaries_slot_ = 0;  ///< the first slot of temporaries_bytes, if there are any
  int digit_slots_ = 0;       ///< the first slot of a digit counter
  int used_digits_ = 0;
  /// Generated code never takes a stream back after a loop: how far its register is ahead of where
  /// the stream stands is known here, and goes into displacements and into the next advance.
  std::array<int64_t, program::max_streams> ahead_{};
  int address_in_rax_ = -1;  ///< the spilled stream whose address is in rax

  // Vector registers of the Block at hand.
  std::vector<int> last_use_;           ///< by virtual register
  std::vector<uint8_t> physical_;       ///< by virtual register
  std::vector<NansOf> nans_;            ///< by virtual register
  uint32_t free_ = 0;                   ///< a bit per machine register
  std::array<uint16_t, 16> cleared_{};  ///< by machine register: bytes that are 0 in every lane,
                                        ///< a bit each, as permutes with AVX2 leave them
  uint32_t narrow_ = 0;                 ///< whose bytes from 16 on are zero or undefined
  uint32_t busy_ = 0;                   ///< those of the operation at hand
  uint32_t spare_ = 0;                  ///< temporaries among them that are done with
  int saved_vectors_ = 0;               ///< temporaries that something lives in
  std::array<uint8_t, 16> victims_{};
  bool nans_are_computed_ = false;   ///< of the result of the conversion at hand (NansOf)
  bool nans_are_canonical_ = false;  ///< of its argument
  bool may_stay_wide_ = false;       ///< its last step may leave its result to put_narrowed
  bool is_last_step_ = false;
  std::optional<Narrowed> narrowed_;
  bool failed_ = false;

  std::vector<TableCopy> tables_;
  std::vector<TableUse> table_uses_;
  int table_place_ = 0;
};

}  // namespace restride::xbyak
