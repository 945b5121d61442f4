// Prologue, units, loops and epilogue.
//
// A loop costs its advances, one `dec` and one jump. Streams are not taken back behind a loop:
// ahead_ remembers at translation time how far the register has run, and the next advance or
// displacement takes it into account.
//
//     entry(code, operands, first, last):  rdi unused, rsi, rdx, rcx
#include <algorithm>
#include <bit>
#include <cstring>

#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;

namespace {

// The order in which registers are given away: those that need no saving and encode shortest come
// first.
constexpr std::array<int8_t, 13> general_registers = {2, 6, 7, 8, 9, 10, 11, 3, 5, 14, 15, 12, 13};
constexpr std::array<int, 6> callee_saved = {3, 5, 12, 13, 14, 15};
constexpr uint8_t jump_if_not_zero = 0x5, jump_if_less_or_equal = 0xe;

// Positions are proved to fit, but not every stride of a digit that is never reached: such sums may
// wrap.
int64_t plus(int64_t x, int64_t y) { return int64_t(uint64_t(x) + uint64_t(y)); }
int64_t minus(int64_t x, int64_t y) { return int64_t(uint64_t(x) - uint64_t(y)); }
int64_t times(int64_t x, int64_t y) { return int64_t(uint64_t(x) * uint64_t(y)); }

int height_of(const Body& body) {
  int height = 0;
  for (const auto& item : body) {
    if (const For* loop = std::get_if<For>(&item)) {
      height = std::max(height, 1 + height_of(loop->body));
    }
  }
  return height;
}

}  // namespace

Translator::Translator(const Program& program, const Target& target, const Survey& survey,
                       void* memory, size_t bytes)
    : CodeGenerator(bytes, memory),
      program_(program),
      survey_(survey),
      set_(instruction_set(target)),
      family_(set_ == InstructionSet::sse2   ? Family::sse
              : set_ == InstructionSet::avx2 ? Family::vex
                                             : Family::evex),
      memory_(static_cast<uint8_t*>(memory)),
      capacity_(bytes) {}

size_t Translator::run() {
  Xbyak::ClearError();
  assign_general_registers();
  enter();
  const bool alone = program_.root.size() == 1;
  int64_t units = 0;
  for (const auto& item : program_.root) {
    const For* loop = std::get_if<For>(&item);
    if (alone) {
      single_item(loop);
    } else {
      several_units(units, loop ? loop->extent : 1);
    }
    const size_t skip = jump_forward(jump_if_less_or_equal);
    start_streams(loop);
    if (loop) {
      root_loop(*loop);
    } else {
      block(std::get<Block>(item));
    }
    land(skip);
    units += loop ? loop->extent : 1;
  }
  leave();
  append_tables();
  return Xbyak::GetError() == Xbyak::ERR_NONE && !failed_ ? getSize() : 0;
}

void Translator::assign_general_registers() {
  std::array<int, max_streams> order;
  int streams = 0;
  for (int s = 0; s < int(program_.streams.size()); ++s) {
    if (survey_.uses[size_t(s)] > 0) order[size_t(streams++)] = s;
  }
  std::stable_sort(order.begin(), order.begin() + streams,
                   [&](int x, int y) { return survey_.uses[size_t(x)] > survey_.uses[size_t(y)]; });
  const int total = int(general_registers.size());
  const int for_streams = std::min(streams, total - std::min(survey_.height, 2));
  stream_register_.fill(-1);
  counter_register_.fill(-1);
  frame_slots_ = program_.root.size() > 1 ? several_items_slots : 0;
  int next = 0;
  const auto take_register = [&] {
    const int r = general_registers[size_t(next++)];
    saved_ |= uint32_t{1} << r;
    return int8_t(r);
  };
  for (int k = 0; k < streams; ++k) {
    const size_t s = size_t(order[size_t(k)]);
    if (k < for_streams) {
      stream_register_[s] = take_register();
    } else {
      stream_slot_[s] = int16_t(frame_slots_++);
    }
  }
  for (int h = 0; h < survey_.height; ++h) {
    if (next < total) {
      counter_register_[size_t(h)] = take_register();
    } else {
      counter_slot_[size_t(h)] = int16_t(frame_slots_++);
    }
  }
  digit_slots_ = frame_slots_;
  frame_slots_ += survey_.digits;
  temporaries_slot_ = frame_slots_;
  if (survey_.takes_many_temporaries) frame_slots_ += temporaries_bytes / 8;
}

void Translator::enter() {
  for (const int r : callee_saved) {
    if (saved_ >> r & 1) push(Xbyak::Reg64(r));
  }
  if (frame_slots_) sub(rsp, 8 * frame_slots_);
  if (program_.root.size() > 1) {
    mov(slot(0), rsi);
    mov(slot(1), rdx);
    mov(slot(2), rcx);
  }
  load_masks();
  load_held_tables();
}

void Translator::leave() {
  if (survey_.nontemporal) sfence();
  if (program_.vector_bytes > 16) vzeroupper();
  if (frame_slots_) add(rsp, 8 * frame_slots_);
  for (size_t k = callee_saved.size(); k-- > 0;) {
    if (saved_ >> callee_saved[k] & 1) pop(Xbyak::Reg64(callee_saved[k]));
  }
  ret();
}

void Translator::load_masks() {
  if (family_ != Family::evex) return;
  for (int k = 0; k < survey_.masks.size; ++k) {
    mov(rax, survey_.masks.bits[size_t(k)]);
    kmovq(Xbyak::Opmask(k + 1), rax);
  }
}

void Translator::load_held_tables() {
  for (int k = 0; k < survey_.held.size; ++k)
    load_table(survey_.held.tables[size_t(k)], HeldTables::first_register - k);
}

/// rax = operands, rcx = the first unit, rdx = how many; flags for `nothing to do`.
void Translator::single_item(const For* loop) {
  mov(rax, rsi);
  if (!loop) {
    cmp(rcx, rdx);
    return;
  }
  xchg(rcx, rdx);
  sub(rdx, rcx);
}

/// The same for an item behind `before` units: begin = max(first - before, 0), end = min(last -
/// before, units).
void Translator::several_units(int64_t before, int64_t units) {
  mov(rcx, slot(1));
  mov(rdx, slot(2));
  if (before) {
    mov(rax, before);
    sub(rcx, rax);
    sub(rdx, rax);
  }
  xor_(eax, eax);
  test(rcx, rcx);
  cmovs(rcx, rax);
  mov(rax, units);
  cmp(rdx, rax);
  cmovg(rdx, rax);
  mov(rax, slot(0));
  sub(rdx, rcx);
}

/// Streams start where the unit in rcx starts; the counter of the root loop is set first, as rdx is
/// given away.
void Translator::start_streams(const For* loop) {
  const int height = loop ? height_of(loop->body) : 0;
  if (loop && counter_register_[size_t(height)] >= 0) {
    const Xbyak::Reg64 counter(counter_register_[size_t(height)]);
    if (counter != rdx) mov(counter, rdx);
  } else if (loop) {
    mov(slot(counter_slot_[size_t(height)]), rdx);
  }
  ahead_.fill(0);
  address_in_rax_ = -1;
  std::array<int64_t, max_streams> strides{};
  if (loop) {
    for (const Step& step : loop->steps) {
      const size_t s = size_t(step.stream);
      strides[s] = plus(strides[s], step.stride);
      ahead_[s] = minus(ahead_[s], step.start);
    }
  }
  const auto start = [&](const Xbyak::Reg64& r, size_t s) {
    const Xbyak::Address base = qword[rax + 8 * program_.streams[s]];
    if (strides[s] == 0) return mov(r, base);
    if (strides[s] == int32_t(strides[s])) {
      imul(r, rcx, int32_t(strides[s]));
    } else {
      mov(r, strides[s]);
      imul(r, rcx);
    }
    add(r, base);
  };
  // Spilled streams go through a register that its own stream takes afterwards: there is one if any
  // is spilled.
  const Xbyak::Reg64 through(general_registers[0]);
  for (size_t s = 0; s < program_.streams.size(); ++s) {
    if (survey_.uses[s] == 0 || in_register(int(s))) continue;
    start(through, s);
    mov(stream_slot(int(s)), through);
  }
  for (size_t s = 0; s < program_.streams.size(); ++s) {
    if (in_register(int(s))) start(stream(int(s)), s);
  }
}

void Translator::root_loop(const For& loop) {
  for (const Step& step : loop.steps) materialize(step.stream);
  iterate(loop, height_of(loop.body));
}

void Translator::body(const Body& body) {
  for (const auto& item : body) {
    if (const For* inner = std::get_if<For>(&item)) {
      loop(*inner);
    } else {
      block(std::get<Block>(item));
    }
  }
}

void Translator::loop(const For& loop) {
  for (const Step& step : loop.steps) ahead_[size_t(step.stream)] -= step(0);
  if (loop.extent == 1) {
    body(loop.body);
    for (const Step& step : loop.steps) ahead_[size_t(step.stream)] += step(0);
    return;
  }
  for (const Step& step : loop.steps) materialize(step.stream);
  const int height = height_of(loop.body);
  if (counter_register_[size_t(height)] >= 0) {
    mov(Xbyak::Reg64(counter_register_[size_t(height)]), loop.extent);
  } else {
    mov(rax, loop.extent);
    mov(slot(counter_slot_[size_t(height)]), rax);
  }
  iterate(loop, height);
  for (const Step& step : loop.steps) ahead_[size_t(step.stream)] += step(loop.extent);
}

/// The loop itself; afterwards ahead_ is what it was at the head.
void Translator::iterate(const For& loop, int height) {
  const int first_digit = used_digits_;
  set_digits(loop, first_digit);
  const std::array<int64_t, max_streams> at_head = ahead_;
  address_in_rax_ = -1;
  const uint8_t* const head = getCurr();
  body(loop.body);
  advance_streams(loop, first_digit, at_head);
  count_down(height, head);
  ahead_ = at_head;
  address_in_rax_ = -1;
}

/// Every digit but the coarsest counts down to its wrap.
void Translator::set_digits(const For& loop, int first_digit) {
  int digit = first_digit;
  for (const Step& step : loop.steps) {
    int64_t count = step.phase;
    for (const Wrap& wrap : step.wraps) {
      mov(rax, wrap.every - count % wrap.every);
      mov(slot(digit_slots_ + digit++), rax);
      count /= wrap.every;
    }
  }
  used_digits_ = digit;
}

/// From where the body left the registers to where the next iteration wants them.
void Translator::advance_streams(const For& loop, int first_digit,
                                 const std::array<int64_t, max_streams>& at_head) {
  std::array<int64_t, max_streams> stride{};
  for (const Step& step : loop.steps) {
    stride[size_t(step.stream)] = plus(stride[size_t(step.stream)], step.stride);
  }
  for (size_t s = 0; s < program_.streams.size(); ++s) {
    if (survey_.uses[s] > 0) advance(int(s), plus(stride[s], minus(at_head[s], ahead_[s])));
  }
  int digit = first_digit;
  for (const Step& step : loop.steps) {
    if (survey_.uses[size_t(step.stream)] > 0) wrap(step, digit);
    digit += int(step.wraps.size());
  }
}

/// Carries from digit to digit, innermost first; each carry skips the rest where it does not
/// happen.
int Translator::wrap(const Step& step, int digit) {
  std::array<size_t, max_wraps> skips;
  int64_t stride = step.stride;
  size_t n = 0;
  for (const Wrap& wrap : step.wraps) {
    dec(slot(digit_slots_ + digit));
    skips[n++] = jump_forward(jump_if_not_zero);
    mov(rax, wrap.every);
    mov(slot(digit_slots_ + digit++), rax);
    advance(step.stream, minus(wrap.stride, times(wrap.every, stride)));
    stride = wrap.stride;
  }
  while (n > 0) land(skips[--n]);
  return digit;
}

void Translator::count_down(int height, const uint8_t* head) {
  if (counter_register_[size_t(height)] >= 0) {
    dec(Xbyak::Reg64(counter_register_[size_t(height)]));
  } else {
    dec(slot(counter_slot_[size_t(height)]));
  }
  const int64_t near = head - (getCurr() + 2);
  if (near >= -128) {
    db(0x70 | jump_if_not_zero);
    db(uint8_t(near));
  } else {
    const int64_t far = head - (getCurr() + 6);
    db(0x0f);
    db(0x80 | jump_if_not_zero);
    dd(uint32_t(far));
  }
}

/// A conditional jump to where land() will be called with the result.
size_t Translator::jump_forward(uint8_t condition) {
  db(0x0f);
  db(0x80 | condition);
  dd(0);
  return getSize();
}

void Translator::land(size_t jump) {
  if (Xbyak::GetError() != Xbyak::ERR_NONE) return;
  rewrite(jump - 4, getSize() - jump, 4);
}

void Translator::append(const Instruction& instruction) {
  const size_t at = getSize();
  if (capacity_ - at < Instruction::most_bytes) {
    return append(instruction.bytes().data(), instruction.size());
  }
  // As many bytes always: that is faster.
  std::memcpy(memory_ + at, instruction.bytes().data(), Instruction::most_bytes);
  setSize(at + instruction.size());
}

void Translator::append(const uint8_t* bytes, size_t size) {
  const size_t at = getSize();
  failed_ |= capacity_ - at < size;
  if (failed_) return;
  std::memcpy(memory_ + at, bytes, size);
  setSize(at + size);
}

}  // namespace restride::xbyak
