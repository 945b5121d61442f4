// The source of every operation case is 1, 2, 3, ...: argument a is its first bytes, argument b
// those from 64 on.
#include "support/program_cases.hpp"

#include <algorithm>
#include <functional>

namespace restride::testing {
namespace {

using namespace program;

constexpr int64_t b_offset = 64;

/// Byte k of arguments a and b.
uint8_t a(int k) { return uint8_t(k + 1); }
uint8_t b(int k) { return uint8_t(k + b_offset + 1); }

Program program_of(int vector_bytes, std::vector<std::vector<uint8_t>> tables, Block block) {
  Program program{.vector_bytes = vector_bytes};
  program.operands = {{Role::target, 0, vector_bytes, 64}, {Role::source, 0, 128}};
  program.streams = {0, 1};
  program.tables = std::move(tables);
  program.root.push_back(std::move(block));
  return program;
}

class Cases {
 public:
  explicit Cases(int vector_bytes) : v_(vector_bytes) {}

  std::vector<ProgramCase> run() {
    add_unpacks();
    if (v_ > 16) add_lanes();
    if (v_ > 16) add_lane_moves();
    for (const int width : {1, 2, 4, 8}) {
      add_permutes(width, v_);
      if (v_ == 2 * lane_bytes) add_permutes(width, lane_bytes);  // as AVX2 does
    }
    add_shuffle();
    add_constants();
    add_splats();
    for (int bytes = 1; bytes <= v_; ++bytes) {
      for (int at = 0; at + bytes <= v_; ++at) add_pieces(bytes, at);
    }
    add_nontemporal();
    add_runs();
    add_places();
    return std::move(cases_);
  }

 private:
  Op load(int64_t offset, Reg to) const {
    return {.code = Code::load, .stream = 1, .bytes = uint8_t(v_), .to = to, .offset = offset};
  }

  /// v0 = a, v1 = b, v2 = op; stores `stored` bytes of v2.
  void add(const std::string& name, Op op, std::vector<uint8_t> expected,
           std::vector<std::vector<uint8_t>> tables = {}) {
    op.to = 2;
    Op store{.code = Code::store, .stream = 0, .bytes = uint8_t(expected.size()), .a = 2};
    expected.resize(size_t(v_), untouched);
    Block block;
    if (op.a == 0 || op.b == 0) block.push_back(load(0, 0));
    if (op.a == 1 || op.b == 1) block.push_back(load(b_offset, 1));
    block.push_back(op);
    block.push_back(store);
    add_case(name, program_of(v_, std::move(tables), std::move(block)), std::move(expected));
  }

  void add_case(const std::string& name, Program program, std::vector<uint8_t> expected) {
    cases_.push_back({name + " of " + std::to_string(v_) + "-byte vectors", std::move(program),
                      counting(128), std::move(expected)});
  }

  void add_unpacks() {
    for (const int width : {1, 2, 4, 8}) {
      for (const int half : {0, 8}) {
        std::vector<uint8_t> expected;
        for (int lane = 0; lane < v_; lane += 16) {
          for (int k = 0; k < 8; k += width) {
            for (int i = 0; i < width; ++i) expected.push_back(a(lane + half + k + i));
            for (int i = 0; i < width; ++i) expected.push_back(b(lane + half + k + i));
          }
        }
        add((half ? "unpack_high " : "unpack_low ") + std::to_string(width),
            {.code = half ? Code::unpack_high : Code::unpack_low,
             .width = uint8_t(width),
             .a = 0,
             .b = 1},
            expected);
      }
    }
  }

  void add_lanes() {
    for (int select = 0; select < (v_ == 64 ? 256 : 4); ++select) {
      std::vector<uint8_t> expected;
      for (int lane = 0; lane < v_ / 16; ++lane) {
        const int from = v_ == 64 ? (select >> (2 * lane)) % 4 : (select >> lane) % 2;
        for (int k = 0; k < 16; ++k) {
          expected.push_back(lane < v_ / 32 ? a(16 * from + k) : b(16 * from + k));
        }
      }
      add("lanes " + std::to_string(select),
          {.code = Code::lanes, .select = uint8_t(select), .a = 0, .b = 1}, expected);
    }
  }

  void add_lane_moves() {
    for (int at = 0; at < v_; at += 16) {
      std::vector<uint8_t> inserted, extracted;
      for (int k = 0; k < v_; ++k) inserted.push_back(k >= at && k < at + 16 ? b(k - at) : a(k));
      for (int k = 0; k < 16; ++k) extracted.push_back(a(at + k));
      add("insert at " + std::to_string(at),
          {.code = Code::insert, .at = uint8_t(at), .a = 0, .b = 1}, inserted);
      add("extract at " + std::to_string(at), {.code = Code::extract, .at = uint8_t(at), .a = 0},
          extracted);
    }
  }

  /// Some tables that backends may have an instruction for, and some that they have none for.
  void add_permutes(int width, int permuted_bytes) {
    const int n = permuted_bytes / width;
    struct Choice {
      const char* what;
      bool two;
      std::function<int(int)> of;  ///< an element of a, or from n on of b
    };
    const Choice choices[] = {
        {"of one", false, [&](int k) { return n - 1 - k; }},
        {"of two", true, [&](int k) { return (3 * k + n - 1) % (2 * n); }},
        {"that blends", true, [&](int k) { return k % 3 == 1 ? n + k : k; }},
        {"that blends pairs", true, [&](int k) { return k / 2 % 2 == 1 ? n + k : k; }},
        {"that blends quads", true, [&](int k) { return k / 4 % 2 == 0 ? n + k : k; }},
        {"that shifts funnels", true, [&](int k) { return k % 2 * n + (k ^ 1); }},
        {"that shifts funnels of b", true, [&](int k) { return (k + 1) % 2 * n + (k ^ 1); }},
        {"that keeps those of a", true, [&](int k) { return k % 3 == 1 ? n + k / 2 : k; }},
        {"that unpacks", true, [&](int k) { return k % 2 * n + k / 2; }},
        {"that unpacks b first", true, [&](int k) { return (k + 1) % 2 * n + k / 2; }},
        {"that unpacks high halves", true, [&](int k) { return k % 2 * n + n / 2 + k / 2; }},
        {"that unpacks pairs", true, [&](int k) { return k / 2 % 2 * n + k / 4 * 2 + k % 2; }},
        {"of halves", true, [&](int k) { return 2 * k < n ? n / 2 + k : n + (n - 1 - k); }},
        {"of halves, b first", true, [&](int k) { return 2 * k < n ? n + k : n - 1 - k; }},
        {"that goes on in b", true, [&](int k) { return k + 1; }},
        {"that goes on in a", true, [&](int k) { return (2 * n - 1 + k) % (2 * n); }},
    };
    for (const Choice& choice : choices) {
      std::vector<uint8_t> table, expected;
      for (int k = 0; k < n; ++k) table.push_back(uint8_t(choice.of(k)));
      for (int k = 0; k < v_; ++k) {
        const int part = k / permuted_bytes * permuted_bytes,
                  chosen = table[size_t((k - part) / width)];
        const int at = part + chosen % n * width + k % width;
        expected.push_back(chosen < n ? a(at) : b(at));
      }
      Op op{.code = Code::permute, .width = uint8_t(width), .a = 0};
      if (choice.two) op.b = 1;
      const char* const where = permuted_bytes < v_ ? " in lanes" : "";
      add("permute " + std::to_string(width) + ' ' + choice.what + where, op, expected, {table});
    }
  }

  void add_shuffle() {
    std::vector<uint8_t> table, expected;
    for (int k = 0; k < v_; ++k) {
      table.push_back(uint8_t((15 - k % 16 + k / 16) % 16));
      expected.push_back(a(k / 16 * 16 + table.back()));
    }
    add("shuffle", {.code = Code::shuffle, .a = 0}, expected, {table});
  }

  void add_constants() {
    const std::vector<uint8_t> table = counting(v_), zero(size_t(v_), 0);
    add("constant", {.code = Code::constant}, table, {table});
    add("constant zero", {.code = Code::constant}, zero, {zero});
  }

  void add_splats() {
    for (const int width : {1, 2, 4, 8, 16}) {
      std::vector<uint8_t> expected;
      for (int k = 0; k < v_; ++k) expected.push_back(uint8_t(20 + k % width + 1));
      add("splat " + std::to_string(width),
          {.code = Code::splat, .stream = 1, .width = uint8_t(width), .offset = 20}, expected);
    }
  }

  void add_pieces(int bytes, int at) {
    std::vector<uint8_t> alone, merged, stored(size_t(v_), untouched);
    for (int k = 0; k < v_; ++k) {
      const bool inside = k >= at && k < at + bytes;
      alone.push_back(inside ? uint8_t(30 + k - at + 1) : 0);
      merged.push_back(inside ? uint8_t(30 + k - at + 1) : a(k));
      if (inside) stored[size_t(k - at)] = a(k);
    }
    const std::string name = std::to_string(bytes) + " at " + std::to_string(at);
    Op piece{
        .code = Code::load, .stream = 1, .bytes = uint8_t(bytes), .at = uint8_t(at), .offset = 30};
    add("load " + name, piece, alone);
    piece.a = 0;
    add("merge " + name, piece, merged);
    add_merge_beside(piece, name, merged);
    const Op store{.code = Code::store, .bytes = uint8_t(bytes), .at = uint8_t(at), .a = 0};
    add_case("store " + name, program_of(v_, {}, {load(0, 0), store}), stored);
  }

  /// As merge, but the argument is still wanted afterwards.
  void add_merge_beside(Op piece, const std::string& name, std::vector<uint8_t> merged) {
    piece.to = 1;
    Program program =
        program_of(v_, {},
                   {load(0, 0),
                    piece,
                    {.code = Code::store, .bytes = uint8_t(v_), .a = 1},
                    {.code = Code::store, .bytes = uint8_t(v_), .a = 0, .offset = v_}});
    program.operands[0].end = 2 * v_;
    for (int k = 0; k < v_; ++k) merged.push_back(a(k));
    add_case("merge beside " + name, std::move(program), std::move(merged));
  }

  void add_nontemporal() {
    std::vector<uint8_t> expected = counting(v_);
    Op store{.code = Code::store_nontemporal, .bytes = uint8_t(v_), .a = 0};
    add_case("store_nontemporal", program_of(v_, {}, {load(0, 0), store}), expected);
  }

  /// Before and behind which other stores must still be seen.
  void add_runs() {
    for (const int vectors : {1, 2, 5}) {
      const int64_t run = vectors * v_;
      std::vector<uint8_t> expected;
      for (int k = 0; k < run; ++k) expected.push_back(a(k % run_pattern_bytes));
      Program program = program_of(
          v_, {},
          {load(0, 0),
           {.code = Code::store_run, .bytes = run_pattern_bytes, .a = 0, .offset = v_, .run = run},
           {.code = Code::store, .bytes = 1, .a = 0, .offset = v_ + run},
           {.code = Code::store, .bytes = 1, .a = 0}});
      expected.insert(expected.begin(), size_t(v_), untouched);
      expected.front() = a(0);
      expected.push_back(a(0));
      program.operands[0].end = int64_t(expected.size());
      add_case("store_run of " + std::to_string(run), std::move(program), std::move(expected));
    }
  }

  /// What asks where its stream stands in a line, at every place.
  void add_places() {
    for (int place = 0; place < line; ++place) {
      for (const int width : {1, 2, 4, 8}) {
        if (place % width == 0 && v_ == line) add_shift(width, place);
        if (place % width == 0 && v_ < line) add_copies(width, place);
      }
      add_load_for_line(place);
      for (int at = 0; at < line; at += v_) {
        for (const int behind : {0, 1, 17, 63}) add_store_line(place, at, behind);
      }
      if (v_ < line) continue;
      add_store_in_line("store_begin", Code::store_begin, place, place, line);
      add_store_in_line("store_end", Code::store_end, place, 0, place);
    }
  }

  void add_shift(int width, int place) {
    std::vector<uint8_t> expected;
    for (int k = 0; k < v_; ++k) expected.push_back(k < place ? a(v_ - place + k) : b(k - place));
    add("shift." + std::to_string(width) + " to " + std::to_string(place),
        {.code = Code::shift, .width = uint8_t(width), .a = 0, .b = 1, .offset = place - 3 * v_},
        expected);
  }

  void add_load_for_line(int place) {
    std::vector<uint8_t> expected;
    for (int k = 0; k < v_; ++k) expected.push_back(a(line - place + k));
    add("load_for_line at " + std::to_string(place),
        {.code = Code::load_for_line,
         .stream = 1,
         .bytes = uint8_t(v_),
         .at = uint8_t(place),
         .select = 0,
         .offset = line},
        expected);
  }

  void add_store_line(int place, int at, int behind) {
    const Op op{.code = Code::store_line,
                .width = uint8_t(behind),
                .bytes = uint8_t(v_),
                .at = uint8_t(at),
                .a = 0,
                .offset = place};
    const bool stores = behind == 0 || place < behind;
    add_in_line("store_line." + std::to_string(behind) + " " + std::to_string(at), op, at,
                stores ? at + v_ : at, [at](int k) { return a(k - at); });
  }

  void add_store_in_line(const std::string& name, Code code, int place, int first, int last) {
    const Op op{.code = code, .bytes = uint8_t(v_), .a = 0, .offset = place};
    add_in_line(name, op, first, last, a);
  }

  /// From byte 5 on, and what is before byte 105.
  void add_copies(int width, int place) {
    constexpr int begin = 5, end = 105;
    Op op{.code = Code::copy_begin, .width = uint8_t(width), .select = 1, .offset = place};
    op.copied = begin;
    add_in_line("copy_begin " + std::to_string(width), op, place, place == 0 ? 0 : line,
                [place](int k) { return a(begin + k - place); });
    op.code = Code::copy_end;
    op.copied = end;
    add_in_line("copy_end " + std::to_string(width), op, 0, place,
                [place](int k) { return a(end - place + k); });
  }

  /// Bytes [first, last) of the second line of three are written.
  void add_in_line(const std::string& name, Op op, int first, int last,
                   const std::function<uint8_t(int)>& byte) {
    std::vector<uint8_t> expected(size_t(3 * line), untouched);
    for (int k = first; k < last; ++k) expected[size_t(line + k)] = byte(k);
    const std::string place = std::to_string(op.offset);
    op.offset += line;
    Block block{load(0, 0), op};
    Program program = program_of(v_, {}, std::move(block));
    program.operands[0].end = 3 * line;
    add_case(name + " at " + place, std::move(program), std::move(expected));
  }

  static constexpr int line = 64;
  const int v_;
  std::vector<ProgramCase> cases_;
};

}  // namespace

std::vector<ProgramCase> operation_cases(int vector_bytes) { return Cases(vector_bytes).run(); }

}  // namespace restride::testing
