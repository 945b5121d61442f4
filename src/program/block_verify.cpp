// Straight-line checks: a forward walk that carries one bit per byte of every register, and a
// backward walk that counts live registers. Both cost a few nanoseconds an operation: verify runs
// on every cold plan.
#include "program/block_verify.hpp"

#include <algorithm>
#include <array>

#include "element/element_math.hpp"

namespace restride::program {
namespace {

enum class Need : uint8_t { forbidden, optional, required };

/// Which registers an operation names.
struct Form {
  Need to, a, b;
};

constexpr Need never = Need::forbidden, maybe = Need::optional, always = Need::required;

constexpr std::array<Form, 28> forms = {{
    {always, maybe, never},    // load
    {always, never, never},    // splat
    {always, always, always},  // shift
    {always, never, never},    // load_for_line
    {always, never, never},    // constant
    {always, always, always},  // unpack_low
    {always, always, always},  // unpack_high
    {always, always, always},  // lanes
    {always, always, always},  // insert
    {always, always, never},   // extract
    {always, always, maybe},   // permute
    {always, always, never},   // shuffle
    {always, always, maybe},   // convert
    {always, always, always},  // compute
    {always, always, never},   // round
    {always, always, never},   // spread
    {always, always, maybe},   // pack
    {always, always, maybe},   // mix_low
    {always, always, maybe},   // mix_high
    {never, always, never},    // store
    {never, always, never},    // store_nontemporal
    {never, always, never},    // store_line
    {never, always, never},    // store_begin
    {never, always, never},    // store_end
    {never, never, never},     // copy_begin
    {never, never, never},     // copy_end
    {never, always, never},    // store_run
    {never, never, never},     // prefetch
}};

constexpr bool fits(Need need, bool there) { return need == maybe || (need == always) == there; }

/// Which of an operation's registers are there, `to` in bit 0, a in bit 1, b in bit 2.
constexpr unsigned registers_there(const Op& op) {
  return unsigned{op.to != none} | unsigned{op.a != none} << 1 | unsigned{op.b != none} << 2;
}

/// The same as a bit of the code's entry, for every form.
constexpr auto admitted_registers = [] {
  std::array<uint8_t, forms.size()> admitted{};
  for (size_t code = 0; code < forms.size(); ++code) {
    const Form form = forms[code];
    for (unsigned there = 0; there < 8; ++there) {
      const bool fit =
          fits(form.to, there & 1) && fits(form.a, there >> 1 & 1) && fits(form.b, there >> 2 & 1);
      if (fit) admitted[code] |= uint8_t(1 << there);
    }
  }
  return admitted;
}();

bool is_element(int width, int widest) {
  return width > 0 && width <= widest && (width & (width - 1)) == 0;
}

}  // namespace

BlockVerifier::BlockVerifier(const Program& program, const Target& target)
    : program_(program), target_(target), all_(low_bits(program.vector_bytes)) {
  registers_.resize(64);
}

std::optional<Violation> BlockVerifier::check_tables() {
  tables_.reserve(program_.tables.size());
  for (const std::vector<uint8_t>& table : program_.tables) {
    if (table.size() > size_t(program_.vector_bytes)) {
      return Violation{4, "a table has more entries than a vector has bytes"};
    }
    Table facts{int(table.size()), -1, 0};
    for (size_t k = 0; k < table.size(); ++k) {
      if (table[k] == undefined) continue;
      facts.largest = std::max<int>(facts.largest, table[k]);
      facts.defined |= uint64_t{1} << k;
    }
    tables_.push_back(facts);
  }
  return std::nullopt;
}

/// Bytes of a load or store that the target can move in one operation.
std::optional<Violation> BlockVerifier::check_piece(const Op& op) const {
  const int vector = program_.vector_bytes, bytes = op.bytes, at = op.at;
  if (bytes == 0 || at + bytes > vector) return Violation{4, "bytes outside the vector", &op};
  if (target_.byte_masks || bytes == vector) return std::nullopt;
  if (!is_element(bytes, 16)) return Violation{4, "the target has no byte masks", &op};
  if (at % bytes != 0 || (bytes < 16 && at >= 16)) {
    return Violation{4, "a piece lies at a multiple of its size, under 16 bytes in lane 0", &op};
  }
  return std::nullopt;
}

std::optional<Violation> BlockVerifier::check_table(const Op& op) const {
  if (op.table < 0 || size_t(op.table) >= tables_.size()) {
    return Violation{4, "no such table", &op};
  }
  const Table& table = tables_[size_t(op.table)];
  const int permuted = std::min(program_.vector_bytes, target_.permute_bytes);
  const int entries = op.code == Code::permute ? permuted / op.width : program_.vector_bytes;
  if (table.entries != entries) return Violation{4, "the table has another size", &op};
  const int choices = op.code == Code::shuffle ? 16 : op.b == none ? entries : 2 * entries;
  if (op.code != Code::constant && table.largest >= choices) {
    return Violation{4, "the table chooses what is not there", &op};
  }
  return std::nullopt;
}

bool BlockVerifier::compares_into_bytes(const Op& op) const {
  return op.width == 1 && is_comparison(op.operation()) && target_.byte_masks &&
         !is_complex(op.type) && storage_bytes(op.type) > 1;
}

std::optional<Violation> BlockVerifier::check_types(const Op& op) const {
  const auto admitted = [&] {
    switch (op.code) {
      case Code::convert:
        return element_converter(op.from, op.type) != nullptr;
      case Code::compute:
        return element_operation(op.operation(), op.type) != nullptr &&
               (op.width == 0 || compares_into_bytes(op));
      default:
        return op.type == ElementType::f32 || op.type == ElementType::f64;
    }
  };
  if (!is_element_type(op.type) || (op.code == Code::convert && !is_element_type(op.from)) ||
      !admitted()) {
    return Violation{4, "no such types", &op};
  }
  if (op.code != Code::convert) return std::nullopt;
  const int vector = program_.vector_bytes;
  const int from = int(storage_bytes(op.from)), to = int(storage_bytes(op.type));
  const int narrow = vector / std::max(from, to) * std::min(from, to);
  const bool placed = from == to ? op.at == 0 : op.at % narrow == 0 && op.at + narrow <= vector;
  if (!placed) return Violation{4, "converts elements beyond the vector", &op};
  if (op.b != none && from <= to) return Violation{1, "merges into a whole vector", &op};
  return std::nullopt;
}

std::optional<Violation> BlockVerifier::check_packing(const Op& op) const {
  if (!is_element(op.width, 4)) return Violation{4, "no such packed element", &op};
  if (op.packing_order() > PackingOrder::most_significant_first) {
    return Violation{4, "no such order", &op};
  }
  const int vector = program_.vector_bytes, part = vector * op.width / 8;
  if (op.at % part == 0 && op.at < vector) return std::nullopt;
  return Violation{4, "packed elements beyond the vector", &op};
}

std::optional<Violation> BlockVerifier::check_place(const Op& op) const {
  const int vector = program_.vector_bytes;
  if (target_.line_bytes != line_bytes) return Violation{4, "no such lines", &op};
  if (is_copy(op.code)) {
    if (target_.byte_masks) return Violation{4, "a copy where there are byte masks", &op};
    if (!is_element(op.width, lane_bytes)) return Violation{4, "no such element", &op};
    return std::nullopt;
  }
  const bool masks =
      op.code == Code::shift || op.code == Code::store_begin || op.code == Code::store_end;
  if (masks && (!target_.byte_masks || vector != line_bytes)) {
    return Violation{4, "vectors that are no lines", &op};
  }
  if (op.code == Code::shift) {
    const bool permutes = target_.permute_width != 0 && op.width >= target_.permute_width;
    if (is_element(op.width, 8) && permutes) return std::nullopt;
    return Violation{4, "the target has no such permute", &op};
  }
  if (op.code == Code::load_for_line) {
    if (op.select >= program_.streams.size()) return Violation{6, "no such stream", &op};
    if (op.bytes != vector || op.at >= line_bytes) return Violation{4, "not a whole vector", &op};
    return std::nullopt;
  }
  if (op.code == Code::store_line && !target_.nontemporal) {
    return Violation{4, "the target has no such store", &op};
  }
  if (op.code == Code::store_line && op.width >= line_bytes) {
    return Violation{4, "no byte of the same line", &op};
  }
  const bool in_line = op.at % vector == 0 && op.at + vector <= line_bytes;
  if (op.bytes != vector || !in_line) return Violation{3, "not a whole vector", &op};
  return std::nullopt;
}

std::optional<Violation> BlockVerifier::check_fields(const Op& op) const {
  const int vector = program_.vector_bytes;
  const bool lane = op.at % 16 == 0 && op.at < vector;
  switch (op.code) {
    case Code::load:
    case Code::store:
      return check_piece(op);
    case Code::store_nontemporal:
      if (!target_.nontemporal) return Violation{4, "the target has no such store", &op};
      if (op.bytes != vector || op.at != 0) return Violation{3, "not a whole vector", &op};
      return std::nullopt;
    case Code::shift:
    case Code::load_for_line:
    case Code::store_line:
    case Code::store_begin:
    case Code::store_end:
    case Code::copy_begin:
    case Code::copy_end:
      return check_place(op);
    case Code::store_run:
      if (op.bytes != run_pattern_bytes || op.at != 0 || op.run <= 0 || op.run % vector != 0)
        return Violation{4, "a run that is not of whole vectors", &op};
      return std::nullopt;
    case Code::splat:
      if (!is_element(op.width, 16)) return Violation{4, "no such element", &op};
      return std::nullopt;
    case Code::unpack_low:
    case Code::unpack_high:
      if (!is_element(op.width, 8)) return Violation{4, "no such element", &op};
      return std::nullopt;
    case Code::lanes:
      if (vector < 32) return Violation{4, "a vector of one lane", &op};
      return std::nullopt;
    case Code::insert:
    case Code::extract:
      if (vector < 32) return Violation{4, "a vector of one lane", &op};
      if (!lane) return Violation{4, "no such lane", &op};
      return std::nullopt;
    case Code::permute:
      if (!is_element(op.width, 8)) return Violation{4, "no such element", &op};
      if (target_.permute_width == 0 || op.width < target_.permute_width) {
        return Violation{4, "the target has no such permute", &op};
      }
      return check_table(op);
    case Code::shuffle:
      if (!target_.shuffle_bytes) return Violation{4, "the target has no byte shuffle", &op};
      return check_table(op);
    case Code::constant:
      return check_table(op);
    case Code::convert:
    case Code::compute:
    case Code::round:
      return check_types(op);
    case Code::spread:
    case Code::pack:
      return check_packing(op);
    case Code::mix_low:
    case Code::mix_high:
      if (!is_element(op.width, 4)) return Violation{4, "no such packed element", &op};
      return std::nullopt;
    case Code::prefetch:
      if (op.width > 3) return Violation{4, "no such cache", &op};
      return std::nullopt;
  }
  return Violation{4, "no such operation", &op};
}

std::optional<Violation> BlockVerifier::check(const Op& op) {
  if (size_t(op.code) >= forms.size()) return Violation{4, "no such operation", &op};
  if ((admitted_registers[size_t(op.code)] >> registers_there(op) & 1) == 0) {
    return Violation{1, "names a register too many or too few", &op};
  }
  if ((op.a != none && !defined_here(op.a)) || (op.b != none && !defined_here(op.b))) {
    return Violation{1, "used before it is defined", &op};
  }
  if (const auto violation = check_fields(op)) return violation;
  if (op.to == none) {
    if (op.a == none) return std::nullopt;
    const uint64_t stored = low_bits(op.bytes) << (op.code == Code::store_line ? 0 : op.at);
    if ((defined_bytes(op.a) & stored) == stored) return std::nullopt;
    return Violation{2, "stores undefined bytes", &op};
  }
  if (op.to < 0 || defined_here(op.to)) return Violation{1, "defined twice", &op};
  const uint64_t defined = result_bytes(op);
  if (size_t(op.to) >= registers_.size()) registers_.resize(2 * (size_t(op.to) + 1));
  registers_[size_t(op.to)] = {defined, block_, 0};
  return std::nullopt;
}

std::optional<Violation> BlockVerifier::check_live_registers(const Block& block) {
  // A register is free for the result of its last use, so the count is taken between operations.
  int live = 0;
  const auto use = [&](Reg r) {
    if (r == none || registers_[size_t(r)].live == block_) return;
    registers_[size_t(r)].live = block_;
    ++live;
  };
  for (size_t k = block.size(); k-- > 0;) {
    const Op& op = block[k];
    if (op.to != none) {
      Register& to = registers_[size_t(op.to)];
      if (to.live != block_) ++live;  // a result nobody uses still needs a place
      if (live > target_.registers) return Violation{1, "needs too many registers", &op};
      to.live = 0;
      --live;
    }
    use(op.a);
    use(op.b);
    if (live > target_.registers) return Violation{1, "needs too many registers", &op};
  }
  return std::nullopt;
}

}  // namespace restride::program
