// Operations one after another, each on what those before it have left in registers.
#include "support/random_program.hpp"

#include <algorithm>
#include <vector>

#include "element/element_math.hpp"
#include "support/walked_bounds.hpp"

namespace restride::testing {
namespace {

using namespace restride::program;

/// A register that may be used, and whether all its bytes are defined; else the first 16 are.
struct Value {
  Reg reg;
  bool whole;
};

class Generator {
 public:
  Generator(Random& random, const Target& target) : random_(random), target_(target) {}

  Program run() {
    do {
      program_.vector_bytes = int(16 << random_.between(0, 2));
    } while (program_.vector_bytes > target_.vector_bytes);
    computes_ = random_.one_in(2);
    const int64_t aligned = random_.one_in(2) ? program_.vector_bytes : line_bytes;
    alignment_ = target_.nontemporal && random_.one_in(3) ? aligned : 1;
    program_.operands = {
        {Role::target, 0, 0, alignment_}, {Role::source}, {Role::source}, {Role::scratch}};
    const int64_t streams =
        random_.one_in(4) ? random_.between(5, max_streams) : random_.between(2, 6);
    for (int64_t s = 0; s < streams; ++s) {
      program_.streams.push_back(s < 4 ? int(s) : int(random_.between(0, 3)));
    }
    const int64_t items = random_.between(1, 3);
    for (int64_t k = 0; k < items; ++k) add_item(program_.root, 0);
    find_bounds(program_);
    return std::move(program_);
  }

 private:
  void add_item(Body& body, int depth) {
    if (depth < 3 && !random_.one_in(depth + 2)) {
      For loop{random_.between(1, 4), {}, {}};
      for (int s = 0; s < int(program_.streams.size()); ++s) {
        // Several steps of a stream add up.
        for (int k = 0; k < 3 && random_.one_in(2); ++k) loop.steps.push_back(step(s, depth == 0));
      }
      const int64_t items = random_.between(1, 2);
      for (int64_t k = 0; k < items; ++k) add_item(loop.body, depth + 1);
      body.push_back(std::move(loop));
    } else {
      body.push_back(block());
    }
  }

  int64_t distance() { return random_.between(-4, 12) * (alignment_ > 1 ? alignment_ : 7); }

  Step step(int stream, bool of_units) {
    Step step{stream, distance(), distance()};
    if (of_units) return step;
    step.phase = random_.one_in(3) ? random_.between(1, 5) : 0;
    for (int64_t k = random_.one_in(2) ? random_.between(0, 3) : 0; k > 0; --k) {
      step.wraps.push_back({random_.between(1, 3), distance()});
    }
    return step;
  }

  Block block() {
    Block ops;
    next_ = 0;
    values_.clear();
    const int64_t count = random_.between(3, random_.one_in(3) ? 120 : 24);
    for (int64_t k = 0; k < count; ++k) add_op(ops);
    return ops;
  }

  void add_op(Block& ops) {
    const int64_t kind = random_.between(0, computes_ ? 16 : 12);
    if (values_.size() < 3 || kind <= 2) return add_load(ops);
    if (kind == 3) return add_splat(ops);
    if (kind <= 5) return add_store(ops);
    if (kind == 6) return add_prefetch(ops);
    if (kind == 7) return add_scratch(ops);
    if (kind == 13) {
      if (random_.one_in(3)) return add_round(ops);
      return random_.one_in(2) ? add_packing(ops) : add_mix(ops);
    }
    if (kind == 14) return add_compute(ops);
    if (kind >= 15) return add_convert(ops);
    add_between_registers(ops);
  }

  Value pick() { return values_[size_t(random_.between(0, int64_t(values_.size()) - 1))]; }

  /// Values leave in the order they came, so that no more live at once than the target has
  /// registers.
  Reg define(bool whole) {
    if (int(values_.size()) == target_.registers) values_.erase(values_.begin());
    values_.push_back({next_, whole});
    return next_++;
  }

  uint8_t stream_of(bool sources) {
    for (;;) {
      const int64_t s = random_.between(0, int64_t(program_.streams.size()) - 1);
      const Role role = program_.operands[size_t(program_.streams[size_t(s)])].role;
      if (role == (sources ? Role::source : Role::target)) return uint8_t(s);
    }
  }

  /// Bytes and place of a load or store that the target can do.
  void choose_piece(Op& op, int limit) {
    const int vector = std::min(program_.vector_bytes, limit);
    if (target_.byte_masks && random_.one_in(2)) {
      op.bytes = uint8_t(random_.between(1, vector));
      op.at = uint8_t(random_.between(0, vector - op.bytes));
      return;
    }
    const uint8_t sizes[] = {1, 2, 4, 8, 16, uint8_t(vector), uint8_t(vector)};
    op.bytes = random_.choose(std::span<const uint8_t>(sizes));
    const int room = op.bytes < 16 ? 16 : vector;
    op.at = uint8_t(random_.between(0, room / op.bytes - 1) * op.bytes);
  }

  void add_load(Block& ops) {
    Op op{.code = Code::load, .stream = stream_of(true), .offset = random_.between(0, 200)};
    if (knows_places() && random_.one_in(4)) {
      op.code = Code::load_for_line;
      op.bytes = uint8_t(program_.vector_bytes);
      op.at = uint8_t(random_.between(0, line_bytes - 1));
      op.select = stream_of(false);
      op.to = define(true);
      return ops.push_back(op);
    }
    choose_piece(op, 64);
    bool whole = true;
    if (!values_.empty() && random_.one_in(2)) {
      const Value a = pick();
      op.a = a.reg;
      whole = a.whole || op.bytes == program_.vector_bytes;
    }
    op.to = define(whole);
    ops.push_back(op);
  }

  void add_splat(Block& ops) {
    const uint8_t width = uint8_t(1 << random_.between(0, 4));
    ops.push_back({.code = Code::splat,
                   .stream = stream_of(true),
                   .width = width,
                   .to = define(true),
                   .offset = random_.between(0, 50)});
  }

  void add_store(Block& ops) {
    const Value value = pick();
    Op op{.code = Code::store,
          .stream = stream_of(false),
          .a = value.reg,
          .offset = random_.between(-100, 300)};
    choose_piece(op, value.whole ? 64 : 16);
    if (!value.whole && op.at + op.bytes > 16) return;
    if (value.whole && alignment_ > 1 && random_.one_in(2)) {
      op.code = Code::store_nontemporal;
      op.bytes = uint8_t(program_.vector_bytes);
      op.at = 0;
      op.offset = op.offset / alignment_ * alignment_;
    }
    if (random_.one_in(6)) {
      op.code = Code::store_run;
      op.bytes = run_pattern_bytes;
      op.at = 0;
      op.run = random_.between(1, 6) * program_.vector_bytes;
    } else if (value.whole && knows_places() && random_.one_in(3)) {
      return add_store_in_line(ops, op);
    }
    ops.push_back(op);
  }

  /// Whether operations may ask where a stream of the target stands in a line.
  bool knows_places() const { return alignment_ == target_.line_bytes; }
  bool shifts() const {
    return target_.byte_masks && target_.permute_width > 0 && program_.vector_bytes == line_bytes;
  }

  void add_store_in_line(Block& ops, Op op) {
    const int vector = program_.vector_bytes;
    const bool masks = target_.byte_masks && vector == line_bytes;
    const Code last = masks ? Code::store_end : Code::store_line;
    op.code = Code(random_.between(int64_t(Code::store_line), int64_t(last)));
    op.bytes = uint8_t(vector);
    op.at = uint8_t(random_.between(0, line_bytes / vector - 1) * vector);
    if (op.code == Code::store_line && random_.one_in(3))
      op.width = uint8_t(random_.between(1, line_bytes - 1));
    if (!target_.byte_masks && random_.one_in(2)) {
      op.code = random_.one_in(2) ? Code::copy_begin : Code::copy_end;
      op.bytes = op.at = 0;
      op.width = 1;
      op.select = stream_of(true);
      op.copied = random_.between(0, 200);
      op.a = none;
    }
    ops.push_back(op);
  }

  void add_prefetch(Block& ops) {
    const int64_t far = int64_t{1} << random_.between(0, 40);
    ops.push_back({.code = Code::prefetch,
                   .stream = uint8_t(random_.between(0, int64_t(program_.streams.size()) - 1)),
                   .width = uint8_t(random_.between(0, 3)),
                   .offset = random_.between(-far, far)});
  }

  /// A store to scratch and a load of the same bytes.
  void add_scratch(Block& ops) {
    const Value value = pick();
    const int scratch = 3;
    const auto found = std::find(program_.streams.begin(), program_.streams.end(), scratch);
    if (!value.whole || found == program_.streams.end()) return;
    const uint8_t stream = uint8_t(found - program_.streams.begin());
    const uint8_t bytes = uint8_t(program_.vector_bytes);
    const int64_t offset = random_.between(-64, 64);
    ops.push_back(
        {.code = Code::store, .stream = stream, .bytes = bytes, .a = value.reg, .offset = offset});
    ops.push_back({.code = Code::load,
                   .stream = stream,
                   .bytes = bytes,
                   .to = define(true),
                   .offset = offset});
  }

  void add_compute(Block& ops) {
    const Value a = pick(), b = random_.one_in(8) ? a : pick();
    Op op{.code = Code::compute, .a = a.reg, .b = b.reg};
    do {
      op.select =
          uint8_t(random_.between(int64_t(Operation::add), int64_t(Operation::greater_equal)));
      op.type = type();
    } while (element_operation(op.operation(), op.type) == nullptr);
    if (!a.whole || !b.whole) return;
    const bool wide = storage_bytes(op.type) > 1 && !is_complex(op.type);
    if (target_.byte_masks && is_comparison(op.operation()) && wide) {
      op.width = uint8_t(random_.between(0, 1));
    }
    op.to = define(true);
    ops.push_back(op);
  }

  void add_round(Block& ops) {
    const Value a = pick();
    if (!a.whole) return;
    const ElementType type = random_.one_in(2) ? ElementType::f32 : ElementType::f64;
    ops.push_back({.code = Code::round, .type = type, .to = define(true), .a = a.reg});
  }

  /// Of a pack, the rest comes from another value.
  void add_packing(Block& ops) {
    const Value a = pick(), b = pick();
    if (!a.whole || !b.whole) return;
    const bool packs = random_.one_in(2);
    Op op{.code = packs ? Code::pack : Code::spread,
          .width = uint8_t(1 << random_.between(0, 2)),
          .select = uint8_t(random_.between(0, 1)),
          .a = a.reg};
    op.at = uint8_t(random_.between(0, 8 / op.width - 1) * program_.vector_bytes * op.width / 8);
    if (packs && random_.one_in(2)) op.b = b.reg;
    op.to = define(true);
    ops.push_back(op);
  }

  void add_mix(Block& ops) {
    const Value a = pick(), b = pick();
    if (!a.whole || !b.whole) return;
    Op op{.code = random_.one_in(2) ? Code::mix_low : Code::mix_high,
          .width = uint8_t(1 << random_.between(0, 2)),
          .a = a.reg};
    if (random_.one_in(2)) op.b = b.reg;
    op.to = define(true);
    ops.push_back(op);
  }

  /// A narrower result is merged into another value, or stored and forgotten.
  void add_convert(Block& ops) {
    const Value a = pick(), b = pick();
    Op op{.code = Code::convert, .a = a.reg};
    do {
      op.from = type();
      op.type = type();
    } while (element_converter(op.from, op.type) == nullptr);
    if (!a.whole) return;
    const int from = int(storage_bytes(op.from)), to = int(storage_bytes(op.type));
    const int piece = program_.vector_bytes / std::max(from, to) * std::min(from, to);
    if (from != to) {
      op.at = uint8_t(random_.between(0, program_.vector_bytes / piece - 1) * piece);
    }
    const bool merges = from > to && b.whole && random_.one_in(2);
    if (merges) op.b = b.reg;
    op.to = define(from <= to || merges);
    ops.push_back(op);
    if (from <= to || merges) return;
    values_.pop_back();
    const bool storable = target_.byte_masks || (piece <= 16 && (piece == 16 || op.at < 16));
    if (!storable) return;
    ops.push_back({.code = Code::store,
                   .stream = stream_of(false),
                   .bytes = uint8_t(piece),
                   .at = op.at,
                   .a = op.to,
                   .offset = random_.between(-100, 300)});
  }

  /// Mostly a type that vectors compute in.
  ElementType type() {
    using enum ElementType;
    constexpr ElementType common[] = {pred, s8,  s16, s32,  s64, u8, u16,
                                      u32,  u64, f16, bf16, f32, f64};
    if (!random_.one_in(20)) return random_.choose(std::span<const ElementType>(common));
    return ElementType(random_.between(int64_t(pred), int64_t(c128)));
  }

  /// `entries` numbers below `choices`; sometimes one is undefined.
  int16_t table(int entries, int choices, bool& defined) {
    std::vector<uint8_t> table;
    for (int k = 0; k < entries; ++k) table.push_back(uint8_t(random_.between(0, choices - 1)));
    if (random_.one_in(5)) {
      table[size_t(random_.between(0, entries - 1))] = undefined;
      defined = false;
    }
    program_.tables.push_back(std::move(table));
    return int16_t(program_.tables.size() - 1);
  }

  void add_between_registers(Block& ops) {
    const int vector = program_.vector_bytes;
    const Value a = pick(), b = pick();
    const bool both = a.whole && b.whole;
    Op op{.code = Code::unpack_low, .a = a.reg, .b = b.reg};
    op.width = uint8_t(1 << random_.between(0, 3));
    const int64_t kind = random_.between(0, 6);
    if (kind >= 2 && kind <= 4 && vector == 16) return;
    // What is not whole has its first 16 bytes defined: only what keeps that is made of it.
    if (!both) return;
    bool whole = true;
    if (kind <= 1) {
      op.code = kind == 0 ? Code::unpack_low : Code::unpack_high;
    } else if (kind == 2) {
      op.code = Code::lanes;
      op.select = uint8_t(random_.between(0, vector == 64 ? 255 : 3));
    } else if (kind == 3) {
      op.code = Code::insert;
      op.at = uint8_t(16 * random_.between(0, vector / 16 - 1));
    } else if (kind == 4) {
      op.code = Code::extract;
      op.b = none;
      op.at = uint8_t(16 * random_.between(0, vector / 16 - 1));
      whole = false;
    } else if (kind == 5 && target_.permute_width > 0) {
      op.code = Code::permute;
      op.width = uint8_t(std::max<int>(op.width, target_.permute_width));
      if (random_.one_in(3)) op.b = none;
      const int entries = std::min(vector, target_.permute_bytes) / op.width;
      bool defined = true;
      op.table = table(entries, op.b == none ? entries : 2 * entries, defined);
      if (!defined) return;
    } else if (kind == 6 && knows_places() && shifts() && random_.one_in(2)) {
      op.code = Code::shift;
      op.stream = stream_of(false);
      op.width = uint8_t(std::max<int>(op.width, target_.permute_width));
      op.offset = random_.between(-100, 300) * op.width;
    } else if (kind == 6 && target_.shuffle_bytes) {
      op.code = Code::shuffle;
      op.b = none;
      bool defined = true;
      op.table = table(vector, 16, defined);
      if (!defined) return;
    } else {
      op = {.code = Code::constant};
      op.table = constant();
    }
    op.to = define(whole);
    ops.push_back(op);
  }

  int16_t constant() {
    std::vector<uint8_t> table;
    const bool zero = random_.one_in(3);
    for (int k = 0; k < program_.vector_bytes; ++k) {
      table.push_back(zero ? 0 : uint8_t(random_.between(0, 255)));
    }
    program_.tables.push_back(std::move(table));
    return int16_t(program_.tables.size() - 1);
  }

  Random& random_;
  const Target& target_;
  Program program_;
  int64_t alignment_ = 1;
  bool computes_ = false;
  Reg next_ = 0;
  std::vector<Value> values_;
};

}  // namespace

Program random_program(Random& random, const Target& target) {
  return Generator(random, target).run();
}

}  // namespace restride::testing
