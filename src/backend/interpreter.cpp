// The interpreter: executes a Program literally, one operation at a time.
//
//     Program ── prepare ──► the same Program, registers renumbered ──► run
//
// A Block defines each virtual register once, so a long Block has hundreds of them, but only as
// many live at once as the target has. Preparing renames them into that many slots, so that a run
// needs 4 KiB of stack and nothing else (register_slots).
//
// It optimises nothing: what it computes is what the operations mean, one case of a switch each.
#include "backend/interpreter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "backend/register_slots.hpp"
#include "element/element_math.hpp"

namespace restride {
namespace program {
namespace {

/// memcpy with the sizes that occur spelled out, so that they become moves.
inline void copy(void* to, const void* from, int64_t bytes) {
  switch (bytes) {
    case 1:
      std::memcpy(to, from, 1);
      return;
    case 2:
      std::memcpy(to, from, 2);
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    case 32:
      std::memcpy(to, from, 32);
      return;
    case 64:
      std::memcpy(to, from, 64);
      return;
    default:
      std::memcpy(to, from, size_t(bytes));
  }
}

struct alignas(64) Vector {
  std::array<uint8_t, 64> bytes;

  uint8_t* operator+(int64_t offset) { return bytes.data() + offset; }
  const uint8_t* operator+(int64_t offset) const { return bytes.data() + offset; }
};

/// Elements of `width` bytes from a and b alternating, from byte `half` of each lane on.
template <int width>
void unpack(Vector& to, const Vector& a, const Vector& b, int vector_bytes, int half) {
  for (int lane = 0; lane < vector_bytes; lane += 16) {
    for (int k = 0; k < 8; k += width) {
      std::memcpy(to + lane + 2 * k, a + lane + half + k, width);
      std::memcpy(to + lane + 2 * k + width, b + lane + half + k, width);
    }
  }
}

template <int width>
void permute(Vector& to, const Vector& a, const Vector& b, int vector_bytes,
             const std::vector<uint8_t>& table) {
  const int entries = int(table.size());
  for (int k = 0; k < vector_bytes / width; ++k) {
    const int at = k & (entries - 1);
    const int from = table[size_t(at)] & (2 * entries - 1);  // an undefined entry takes something
    const Vector& source = from < entries ? a : b;
    std::memcpy(to + k * width, source + (k - at + (from & (entries - 1))) * width, width);
  }
}

template <class Float>
void round_element(const uint8_t* from, uint8_t* to) {
  Float value;
  std::memcpy(&value, from, sizeof value);
  value = std::nearbyint(value);
  std::memcpy(to, &value, sizeof value);
}

/// The state of one run. Addresses are integers: a prefetched one may lie anywhere.
class Machine {
 public:
  Machine(const Program& program, void* const* operands) : program_(program) {
    for (size_t s = 0; s < program.streams.size(); ++s) {
      at_[s] = reinterpret_cast<uintptr_t>(operands[program.streams[s]]);
    }
  }

  void run(const For& loop, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      for (const Step& step : loop.steps) at_[size_t(step.stream)] += uintptr_t(step(i));
      for (const auto& item : loop.body) {
        if (const For* inner = std::get_if<For>(&item)) {
          run(*inner, 0, inner->extent);
        } else {
          run(std::get<Block>(item));
        }
      }
      for (const Step& step : loop.steps) at_[size_t(step.stream)] -= uintptr_t(step(i));
    }
  }

  void run(const Block& block) {
    for (const Op& op : block) run(op);
  }

 private:
  void run(const Op& op) {
    const int vector = program_.vector_bytes;
    const auto memory = [&] {
      return reinterpret_cast<uint8_t*>(at_[op.stream] + uintptr_t(op.offset));
    };
    // Without a register the first slot stands in; it is not used then.
    Vector& to = file_[size_t(std::max<Reg>(op.to, 0))];
    const Vector& a = file_[size_t(std::max<Reg>(op.a, 0))];
    const Vector& b = file_[size_t(std::max<Reg>(op.b, 0))];
    switch (op.code) {
      case Code::load:
        if (op.bytes != vector) to = op.a == none ? Vector{} : a;
        return copy(to + op.at, memory(), op.bytes);
      case Code::splat:
        for (int k = 0; k < vector; k += op.width) copy(to + k, memory(), op.width);
        return;
      case Code::shift:
        return run_shift(to, a, b, int(at_[op.stream] + uintptr_t(op.offset)) & (vector - 1));
      case Code::load_for_line:
        return copy(to + 0, memory() - (int(at_[op.select] + op.at) & int(line_bytes - 1)), vector);
      case Code::constant:
        return copy(to + 0, program_.tables[size_t(op.table)].data(), vector);
      case Code::unpack_low:
        return run_unpack(op, to, a, b, 0);
      case Code::unpack_high:
        return run_unpack(op, to, a, b, 8);
      case Code::lanes:
        return run_lanes(op, to, a, b);
      case Code::insert:
        to = a;
        return copy(to + op.at, b + 0, 16);
      case Code::extract:
        return copy(to + 0, a + op.at, 16);
      case Code::permute:
        return run_permute(op, to, a, b);
      case Code::shuffle:
        return run_shuffle(op, to, a);
      case Code::convert:
        return run_convert(op, to, a, b);
      case Code::compute:
        return run_compute(op, to, a, b);
      case Code::round:
        return run_round(op, to, a);
      case Code::spread:
        return run_spread(op, to, a);
      case Code::pack:
        return run_pack(op, to, a, b);
      case Code::mix_low:
      case Code::mix_high:
        return run_mix(op, to, a, b);
      case Code::store:
      case Code::store_nontemporal:
        return copy(memory(), a + op.at, op.bytes);
      case Code::store_line:
      case Code::store_begin:
      case Code::store_end:
        return run_store_in_line(op, a, at_[op.stream] + uintptr_t(op.offset));
      case Code::copy_begin:
      case Code::copy_end:
        return run_copy(op, at_[op.stream] + uintptr_t(op.offset));
      case Code::store_run:
        for (int64_t k = 0; k < op.run; k += op.bytes) copy(memory() + k, a + 0, op.bytes);
        return;
      case Code::prefetch:
        return;
    }
  }

  void run_shift(Vector& to, const Vector& a, const Vector& b, int place) {
    const int behind = program_.vector_bytes - place;
    std::memcpy(to + 0, a + behind, size_t(place));
    std::memcpy(to + place, b + 0, size_t(behind));
  }

  void run_store_in_line(const Op& op, const Vector& a, uintptr_t address) {
    const int64_t place = int64_t(address) & (line_bytes - 1);
    const Access access = accessed(op, place, program_.vector_bytes);
    uint8_t* const line = reinterpret_cast<uint8_t*>(address - uintptr_t(place));
    std::memcpy(line + access.first, a + (access.first - op.at),
                size_t(access.last - access.first));
  }

  void run_copy(const Op& op, uintptr_t address) {
    const int64_t place = int64_t(address) & (line_bytes - 1);
    const Access access = accessed(op, place, program_.vector_bytes);
    const int64_t count = access.last - access.first;
    const uintptr_t from = at_[op.select] + uintptr_t(op.copied);
    const uintptr_t first = op.code == Code::copy_end ? from - uintptr_t(count) : from;
    std::memcpy(reinterpret_cast<void*>(address + uintptr_t(access.first - place)),
                reinterpret_cast<const void*>(first), size_t(count));
  }

  void run_unpack(const Op& op, Vector& to, const Vector& a, const Vector& b, int half) {
    const int vector = program_.vector_bytes;
    switch (op.width) {
      case 1:
        return unpack<1>(to, a, b, vector, half);
      case 2:
        return unpack<2>(to, a, b, vector, half);
      case 4:
        return unpack<4>(to, a, b, vector, half);
      default:
        return unpack<8>(to, a, b, vector, half);
    }
  }

  void run_lanes(const Op& op, Vector& to, const Vector& a, const Vector& b) {
    const int count = program_.vector_bytes / 16, bits = count == 4 ? 2 : 1;
    for (int lane = 0; lane < count; ++lane) {
      const int from = op.select >> (lane * bits) & (count - 1);
      copy(to + 16 * lane, (lane < count / 2 ? a : b) + 16 * from, 16);
    }
  }

  void run_permute(const Op& op, Vector& to, const Vector& a, const Vector& b) {
    const std::vector<uint8_t>& table = program_.tables[size_t(op.table)];
    const int vector = program_.vector_bytes;
    switch (op.width) {
      case 1:
        return permute<1>(to, a, b, vector, table);
      case 2:
        return permute<2>(to, a, b, vector, table);
      case 4:
        return permute<4>(to, a, b, vector, table);
      default:
        return permute<8>(to, a, b, vector, table);
    }
  }

  void run_shuffle(const Op& op, Vector& to, const Vector& a) {
    const uint8_t* table = program_.tables[size_t(op.table)].data();
    for (int k = 0; k < program_.vector_bytes; ++k) {
      to.bytes[size_t(k)] = a.bytes[size_t((k & ~15) + (table[k] & 15))];
    }
  }

  void run_convert(const Op& op, Vector& to, const Vector& a, const Vector& b) {
    const int64_t from_width = storage_bytes(op.from), to_width = storage_bytes(op.type);
    const int64_t from = from_width < to_width ? op.at : 0, at = to_width < from_width ? op.at : 0;
    const ConvertElement convert = element_converter(op.from, op.type);
    to = op.b == none ? Vector{} : b;
    for (int64_t k = 0; k < program_.vector_bytes / std::max(from_width, to_width); ++k) {
      convert(a + from + k * from_width, to + at + k * to_width);
    }
  }

  void run_compute(const Op& op, Vector& to, const Vector& a, const Vector& b) {
    const BinaryElement operate = element_operation(op.operation(), op.type);
    const int64_t width = storage_bytes(op.type);
    if (is_comparison(op.operation())) return run_comparison(op, to, a, b);
    for (int64_t at = 0; at < program_.vector_bytes; at += width) operate(a + at, b + at, to + at);
  }

  void run_comparison(const Op& op, Vector& to, const Vector& a, const Vector& b) {
    const BinaryElement compare = element_operation(op.operation(), op.type);
    const int64_t width = storage_bytes(op.type), apart = op.width == 1 ? 1 : width;
    to = {};
    for (int64_t at = 0; at < program_.vector_bytes; at += width) {
      compare(a + at, b + at, to + at / width * apart);
      if (is_complex(op.type)) element_converter(ElementType::pred, op.type)(to + at, to + at);
    }
  }

  void run_round(const Op& op, Vector& to, const Vector& a) {
    for (int64_t at = 0; at < program_.vector_bytes; at += storage_bytes(op.type)) {
      if (op.type == ElementType::f32) {
        round_element<float>(a + at, to + at);
      } else {
        round_element<double>(a + at, to + at);
      }
    }
  }

  /// Where element `k` of a packed byte begins, bits.
  static int first_bit(const Op& op, int k) {
    const bool least_first = op.packing_order() == PackingOrder::least_significant_first;
    return least_first ? k * op.width : 8 - (k + 1) * op.width;
  }

  void run_spread(const Op& op, Vector& to, const Vector& a) {
    const int in_byte = 8 / op.width, ones = (1 << op.width) - 1;
    for (int k = 0; k < program_.vector_bytes; ++k) {
      const int packed = a.bytes[size_t(op.at + k / in_byte)];
      to.bytes[size_t(k)] = uint8_t(packed >> first_bit(op, k % in_byte) & ones);
    }
  }

  void run_mix(const Op& op, Vector& to, const Vector& a, const Vector& b) {
    const int high = op.code == Code::mix_high ? op.width : 0;
    const int ones = (1 << op.width) - 1;
    for (size_t k = 0; k < size_t(program_.vector_bytes); ++k) {
      const int x = a.bytes[k] >> high, y = op.b == none ? 0 : b.bytes[k] >> high;
      int mixed = 0;
      for (int at = 0; at < 8; at += 2 * op.width) {
        mixed |= (x >> at & ones) << at | (y >> at & ones) << (at + op.width);
      }
      to.bytes[k] = uint8_t(mixed);
    }
  }

  void run_pack(const Op& op, Vector& to, const Vector& a, const Vector& b) {
    const int in_byte = 8 / op.width, ones = (1 << op.width) - 1;
    to = op.b == none ? Vector{} : b;
    for (int k = 0; k < program_.vector_bytes / in_byte; ++k) {
      int packed = 0;
      for (int j = 0; j < in_byte; ++j) {
        packed |= (a.bytes[size_t(k * in_byte + j)] & ones) << first_bit(op, j);
      }
      to.bytes[size_t(op.at + k)] = uint8_t(packed);
    }
  }

  const Program& program_;
  std::array<uintptr_t, max_streams> at_{};
  std::array<Vector, slots> file_;
};

/// Precondition: prepared.
void run_units(const Program& program, void* const* operands, int64_t first, int64_t last) {
  Machine machine(program, operands);
  for (const auto& item : program.root) {
    const For* loop = std::get_if<For>(&item);
    const int64_t units = program.open ? last : loop ? loop->extent : 1;
    const int64_t begin = std::clamp<int64_t>(first, 0, units);
    const int64_t end = std::clamp<int64_t>(last, 0, units);
    if (loop) {
      machine.run(*loop, begin, end);
    } else if (begin < end) {
      machine.run(std::get<Block>(item));
    }
    first -= units;
    last -= units;
  }
}

void run_kernel(const void* code, void* const* operands, int64_t first, int64_t last) {
  run_units(*static_cast<const Program*>(code), operands, first, last);
}

class Interpreter final : public Backend {
 public:
  std::string_view name() const override { return "interpreter"; }

  Result<Kernel> compile(const Program& program, const Target&) const override {
    auto prepared = std::make_shared<Program>(program);
    if (!Renaming().apply(prepared->root)) {
      return Error{ErrorCode::unsupported,
                   "interpreter: more than " + std::to_string(slots) + " live registers"};
    }
    return Kernel{run_kernel, std::move(prepared), {}};
  }
};

}  // namespace
}  // namespace program

void interpret(const Program& program, void* const* operands, int64_t first_unit,
               int64_t last_unit) {
  Program prepared = program;
  if (program::Renaming().apply(prepared.root)) {
    program::run_units(prepared, operands, first_unit, last_unit);
  }
}

const Backend& interpreter_backend() {
  static const program::Interpreter interpreter;
  return interpreter;
}

}  // namespace restride
