// Streams in registers or in the frame; byte masks; tables behind the code, addressed from rip.
#include <algorithm>
#include <cstring>

#include "xbyak/translator.hpp"

namespace restride::xbyak {

using namespace program;

namespace {

bool is_short(int64_t n) { return n == int32_t(n); }

}  // namespace

void Translator::add_far(const Xbyak::Reg64& r, int64_t n) {
  if (n == 0) return;
  if (n == 128) return sub(r, -128);  // one byte instead of four
  if (is_short(n)) return append(Instruction::add(r.getIdx(), int32_t(n)));
  mov(rax, n);
  add(r, rax);
}

void Translator::advance(int s, int64_t bytes) {
  if (bytes == 0) return;
  address_in_rax_ = -1;
  if (in_register(s)) return add_far(stream(s), bytes);
  if (is_short(bytes)) {
    add(stream_slot(s), int32_t(bytes));
  } else {
    mov(rax, bytes);
    add(stream_slot(s), rax);
  }
}

/// Makes the register stand where the stream stands.
void Translator::materialize(int s) {
  if (survey_.uses[size_t(s)] > 0) advance(s, -ahead_[size_t(s)]);
  ahead_[size_t(s)] = 0;
}

/// The address an operation names, less `back` bytes. Good until rax is written again.
Place Translator::place(const Op& op, int64_t back) {
  constexpr int in_rax = 0;
  const int64_t offset =
      int64_t(uint64_t(op.offset) - uint64_t(ahead_[op.stream]) - uint64_t(back));
  if (in_register(op.stream)) {
    const int base = stream_register_[op.stream];
    if (is_short(offset)) return {base, int32_t(offset)};
    address_in_rax_ = -1;
    mov(rax, offset);
    return {.base = base, .plus_rax = true};
  }
  if (is_short(offset)) {
    if (address_in_rax_ != op.stream) mov(rax, stream_slot(op.stream));
    address_in_rax_ = op.stream;
    return {in_rax, int32_t(offset)};
  }
  address_in_rax_ = -1;
  mov(rax, offset);
  add(rax, stream_slot(op.stream));
  return {in_rax};
}

Xbyak::Address Translator::address(const Place& place) {
  if (place.base == Place::rip) return ptr[rip + place.displacement];
  const Xbyak::Reg64 base(place.base);
  return place.plus_rax ? ptr[base + rax] : ptr[base + place.displacement];
}

/// The mask register that holds `bits`, loaded now if it has none of its own.
Xbyak::Opmask Translator::mask(uint64_t bits) {
  const int held = survey_.masks.find(bits);
  if (held) return Xbyak::Opmask(held);
  mov(rcx, bits);
  kmovq(k7, rcx);
  return k7;
}

/// The memory of an operation's table as indices of its width. The instruction that uses it must
/// end with the displacement and be followed by table_was_used().
Xbyak::Address Translator::table(const Op& op) {
  const uint8_t width = op.code == Code::permute ? op.width : 1;
  table_place_ = place_of({op.table, width});
  return address({Place::rip});
}

void Translator::load_table(const IndexTable& table, int to) {
  table_place_ = place_of({table.table, table.width});
  load_vector(to, program_.vector_bytes, {Place::rip});
  table_was_used();
}

/// The register that has the indices of a permute: one that holds them, or that of the result.
int Translator::table_register(const Op& op) {
  const IndexTable table{op.table, op.width};
  const int held = survey_.held.find(table);
  if (held < 0) load_table(table, number(op.to));
  return held < 0 ? number(op.to) : held;
}

void Translator::table_was_used() { table_uses_.push_back({getSize(), table_place_, 0}); }

int Translator::place_of(const TableCopy& copy) {
  const auto found = std::find(tables_.begin(), tables_.end(), copy);
  const int place = int(found - tables_.begin());
  if (found == tables_.end()) tables_.push_back(copy);
  return place;
}

void Translator::append_table(const TableCopy& copy) {
  const size_t width = copy.width, entries = size_t(program_.vector_bytes) / width;
  std::array<uint8_t, 64> bytes{};
  if (copy.table == TableCopy::widening || copy.table == TableCopy::narrowing) {
    bytes = places_of_bytes(copy);
    return append(bytes.data(), bytes.size());
  }
  for (size_t k = 0; k < entries; ++k) {
    bytes[k * width] = copy.table >= 0                     ? program_.tables[size_t(copy.table)][k]
                       : copy.table == TableCopy::constant ? copy.lane[k % 16]
                                                           : uint8_t(copy.lane[0] + k);
  }
  append(bytes.data(), size_t(program_.vector_bytes));
}

void Translator::append_tables() {
  if (tables_.empty() || Xbyak::GetError() != Xbyak::ERR_NONE) return;
  for (size_t padding = (64 - getSize() % 64) % 64; padding > 0; --padding) db(0xcc);
  const size_t first = getSize();
  for (const TableCopy& copy : tables_) append_table(copy);
  if (Xbyak::GetError() != Xbyak::ERR_NONE || failed_) return;
  for (const TableUse& use : table_uses_) {
    const size_t address = first + size_t(use.place) * size_t(program_.vector_bytes);
    rewrite(use.end - 4 - size_t(use.behind), address - use.end, 4);
  }
}

}  // namespace restride::xbyak
