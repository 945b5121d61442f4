// The bounds are generous: they size a buffer that lives for microseconds.
#include "xbyak/survey.hpp"

#include <algorithm>

#include "element/float_format.hpp"
#include "xbyak/coverage.hpp"

namespace restride::xbyak {

using namespace program;

namespace {

// What computes takes at most some two hundred instructions of eleven bytes and two dozen constants
// of 64: a conversion between floats of 8 bits, in four pieces.
constexpr size_t bytes_per_computation = 4096;
constexpr size_t bytes_per_op = 96, bytes_per_loop = 64, bytes_per_step = 64, bytes_per_wrap = 64;
// The places of elements in two vectors, behind the code.
constexpr size_t places_bytes = 128;
constexpr size_t bytes_per_copy = 256;
constexpr size_t bytes_of_frame = 1024, bytes_per_item = 128 + 32 * max_streams;

class Walk {
 public:
  Walk(const Program& program, const Target& target)
      : program_(program),
        vector_bytes_(program.vector_bytes),
        byte_masks_(target.byte_masks),
        set_(instruction_set(target)) {
    survey_.code_bound =
        bytes_of_frame + 64 + program.root.size() * bytes_per_item + 4 * 64 * program.tables.size();
    survey_.height = walk(program.root, 0);
    if (byte_masks_) survey_.held = hold_tables(program, set_);
  }

  const Survey& result() const { return survey_; }

 private:
  int walk(const Body& body, int depth) {
    int height = 0;
    for (const auto& item : body) {
      if (const For* loop = std::get_if<For>(&item)) {
        survey_.code_bound += bytes_per_loop + bytes_per_step * size_t(max_streams);
        for (const Step& step : loop->steps) {
          survey_.digits += int(step.wraps.size());
          survey_.code_bound += bytes_per_step + bytes_per_wrap * step.wraps.size();
        }
        height = std::max(height, 1 + walk(loop->body, depth + 1));
      } else {
        visit(std::get<Block>(item), depth);
      }
    }
    return height;
  }

  void visit(const Block& block, int depth) {
    const int64_t weight = int64_t{1} << (3 * std::min(depth, 10));
    survey_.code_bound += block.size() * bytes_per_op;
    for (const Op& op : block) {
      if (is_computation(op.code)) visit_computation(op);
      if (op.code == Code::permute && byte_masks_) add_blend(op);
      if (op.code == Code::shift) survey_.code_bound += places_bytes;
      if (!names_memory(op.code)) continue;
      survey_.uses[op.stream] += weight;
      if (op.code == Code::load_for_line || is_copy(op.code)) survey_.uses[op.select] += weight;
      if (is_copy(op.code)) survey_.code_bound += bytes_per_copy;
      survey_.nontemporal |= goes_around_caches(op.code);
      if (byte_masks_ && (op.code == Code::load || op.code == Code::store)) add_mask(op);
    }
  }

  void add_blend(const Op& op) {
    if (const std::optional<uint64_t> mask = blend_mask(program_, op)) survey_.masks.add(*mask);
  }

  void visit_computation(const Op& op) {
    survey_.code_bound += bytes_per_computation;
    if (set_ == InstructionSet::avx512_vbmi && vector_bytes_ == 64 && op.code == Code::convert &&
        op.from != op.type && translates(op, set_))
      add_converted(op);
    survey_.takes_many_temporaries |= is_byte_float(op.from) || is_byte_float(op.type);
    if (survey_.refused == nullptr && !translates(op, set_)) survey_.refused = &op;
  }

  /// Of the bytes that conversions permute (convert_by_permute).
  void add_converted(const Op& op) {
    survey_.takes_many_temporaries = true;
    const int from = int(storage_bytes(op.from)), to = int(storage_bytes(op.type));
    const int widest = widest_bytes(op.from, op.type), count = vector_bytes_ / widest;
    const int total = vector_bytes_ / std::max(from, to);
    if (widens_by_permute(op.from, op.type)) {
      const int next = int(storage_bytes(next_type(op.from, op.type)));
      const bool high = op.from == ElementType::bf16;
      if (high || op.at > 0 || total > count)
        survey_.masks.add(widened_bytes(from, next, high ? next - from : 0));
    }
    const int at = from > to ? op.at : 0;
    for (int k = 0; narrows_last(op.type) && widest > to && k < total; k += count)
      survey_.masks.add(byte_mask(at + k * to, count * to));
  }

  /// Whether the last step to a type takes some bytes of wider elements.
  static bool narrows_last(ElementType type) {
    return type == ElementType::bf16 || is_byte_float(type) ||
           (!is_float(type) && !is_complex(type) && !is_small_integer(type));
  }

  void add_mask(const Op& op) {
    if (op.at == 0 && op.a != none && op.code == Code::store &&
        is_whole_piece(op.bytes, vector_bytes_)) {
      return;
    }
    if (op.code == Code::load && op.a == none && op.at == 0 &&
        is_whole_piece(op.bytes, vector_bytes_)) {
      return;
    }
    const bool lane = op.bytes == 16 && op.at % 16 == 0;
    if (lane && op.code == Code::load && op.a != none) return survey_.masks.add(lane_mask(op.at));
    if (lane || (op.bytes == 32 && op.at % 32 == 0)) return;
    const bool piece = op.bytes <= 8 && (op.bytes & (op.bytes - 1)) == 0;
    if (piece && op.at % op.bytes == 0 && op.at < 16 && (vector_bytes_ == 16 || op.to == none)) {
      return;
    }
    survey_.masks.add(byte_mask(op.at, op.bytes));
  }

  const Program& program_;
  const int vector_bytes_;
  const bool byte_masks_;
  const InstructionSet set_;
  Survey survey_;
};

}  // namespace

int Masks::find(uint64_t mask) const {
  for (int k = 0; k < size; ++k) {
    if (bits[size_t(k)] == mask) return k + 1;
  }
  return 0;
}

void Masks::add(uint64_t mask) {
  if (size < most && find(mask) == 0) bits[size_t(size++)] = mask;
}

uint64_t byte_mask(int at, int bytes) {
  const uint64_t ones = bytes >= 64 ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1;
  return ones << at;
}

bool widens_by_permute(ElementType from, ElementType to) {
  if (from != ElementType::u8 && from != ElementType::u16 && from != ElementType::bf16)
    return false;
  return storage_bytes(next_type(from, to)) > storage_bytes(from);
}

uint64_t widened_bytes(int from_bytes, int to_bytes, int first_byte) {
  uint64_t mask = 0;
  for (int at = first_byte; at < 64; at += to_bytes) mask |= byte_mask(at, from_bytes);
  return mask;
}

std::optional<uint64_t> blend_mask(const Program& program, const Op& op) {
  if (op.code != Code::permute || op.b == none) return std::nullopt;
  const std::vector<uint8_t>& table = program.tables[size_t(op.table)];
  uint64_t mask = 0;
  for (size_t k = 0; k < table.size(); ++k) {
    if (table[k] == table.size() + k) {
      mask |= byte_mask(int(k) * op.width, op.width);
    } else if (table[k] != k && table[k] != undefined) {
      return std::nullopt;
    }
  }
  return mask;
}

bool is_funnel(const Program& program, const Op& op, InstructionSet set) {
  constexpr int widest = 4;
  const bool shifts = set == InstructionSet::avx512_vbmi && op.width <= widest;
  if (op.code != Code::permute || op.b == none || !shifts) return false;
  const std::vector<uint8_t>& table = program.tables[size_t(op.table)];
  for (size_t k = 0; k < table.size(); ++k) {
    const size_t place = k % 2 == 0 ? k + 1 : table.size() + k - 1;
    if (table[k] != place && table[k] != undefined) return false;
  }
  return true;
}

uint64_t lane_mask(int at) { return uint64_t{0xf} << (at / 4); }

bool is_whole_piece(int bytes, int vector_bytes) {
  return bytes == vector_bytes || (bytes <= 32 && (bytes & (bytes - 1)) == 0);
}

Survey survey(const Program& program, const Target& target) {
  return Walk(program, target).result();
}

}  // namespace restride::xbyak
