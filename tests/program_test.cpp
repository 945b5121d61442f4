// Programs as text, and what verify and written_once refuse: one broken Program per
// invariant.
#include "program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace restride {
namespace {

using namespace program;

/// Four vectors of 16 bytes from source to target by way of scratch, a unit each.
Program valid_program() {
  Program program{.vector_bytes = 16};
  program.operands = {{Role::target, 0, 64, 16}, {Role::source, 0, 64}, {Role::scratch, 0, 16}};
  program.streams = {0, 1, 2};
  program.tables = {std::vector<uint8_t>(16, 7)};
  program.root.push_back(
      For{4,
          {{0, 16}, {1, 16}},
          {Block{{.code = Code::load, .stream = 1, .bytes = 16, .to = 0},
                 {.code = Code::store, .stream = 2, .bytes = 16, .a = 0},
                 {.code = Code::load, .stream = 2, .bytes = 16, .to = 1},
                 {.code = Code::store_nontemporal, .stream = 0, .bytes = 16, .a = 1}}}});
  return program;
}

For& root_loop(Program& program) { return std::get<For>(program.root[0]); }
Block& block_of(Program& program) { return std::get<Block>(root_loop(program).body[0]); }

/// A Program of one root block over 64 bytes of target and source.
Program block_program(int vector_bytes, Block block,
                      std::vector<std::vector<uint8_t>> tables = {}) {
  Program program{.vector_bytes = vector_bytes};
  program.operands = {{Role::target, 0, 64}, {Role::source, 0, 64}};
  program.streams = {0, 1};
  program.tables = std::move(tables);
  program.root.push_back(std::move(block));
  return program;
}

Op load(Reg to, int bytes = 16, int at = 0) {
  return {.code = Code::load, .stream = 1, .bytes = uint8_t(bytes), .at = uint8_t(at), .to = to};
}
Op store(Reg from, int bytes = 16, int at = 0) {
  return {.code = Code::store, .stream = 0, .bytes = uint8_t(bytes), .at = uint8_t(at), .a = from};
}

TEST(Program, PrintsOneOperationALine) {
  EXPECT_EQ(to_string(valid_program()),
            "program of 16-byte vectors\n"
            "operand 0: target [0, 64) aligned 16\n"
            "operand 1: source [0, 64) aligned 1\n"
            "operand 2: scratch [0, 16) aligned 1\n"
            "s0: operand 0\n"
            "s1: operand 1\n"
            "s2: operand 2\n"
            "table 0: 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7\n"
            "for 4  s0+16  s1+16\n"
            "  v0 = load 16 [s1 + 0]\n"
            "  store 16 [s2 + 0] v0\n"
            "  v1 = load 16 [s2 + 0]\n"
            "  store_nontemporal 16 [s0 + 0] v1\n");
}

TEST(Program, PrintsSteps) {
  EXPECT_EQ(to_string(Step{3, 64, 128, 1, {{2, 0}, {5, -8}}}), "s3:128+64%2+0%5-8@1");
  EXPECT_EQ(to_string(Step{0, -4}), "s0-4");
  EXPECT_EQ(to_string(Step{0, INT64_MIN}), "s0-9223372036854775808");
}

TEST(Program, PrintsEveryPartOfAnOperation) {
  EXPECT_EQ(to_string(Op{.code = Code::lanes, .select = 136, .to = 2, .a = 0, .b = 1}),
            "v2 = lanes v0 v1 select 136");
  EXPECT_EQ(to_string(Op{.code = Code::permute, .width = 2, .table = 3, .to = 2, .a = 0}),
            "v2 = permute.2 v0 table 3");
  EXPECT_EQ(
      to_string(
          Op{.code = Code::load, .stream = 4, .bytes = 4, .at = 8, .to = 2, .a = 1, .offset = -12}),
      "v2 = load 4 [s4 - 12] v1 at 8");
  EXPECT_EQ(to_string(Op{.code = Code(99)}), "unknown 99");
}

TEST(Program, CountsUnits) {
  Program program = valid_program();
  EXPECT_EQ(unit_count(program), 4);
  program.root.push_back(Block{});
  EXPECT_EQ(unit_count(program), 5);
  EXPECT_EQ(unit_count(Program{}), 0);
}

TEST(Program, KnowsItsNontemporalStores) {
  Program program = valid_program();
  EXPECT_TRUE(uses_nontemporal_stores(program));
  block_of(program)[3].code = Code::store;
  EXPECT_FALSE(uses_nontemporal_stores(program));
}

TEST(Verify, AcceptsAValidProgramOnEveryTarget) {
  for (const Target& target : known_targets()) {
    Program program = valid_program();
    if (!target.nontemporal) block_of(program)[3].code = Code::store;
    const Result<void> verified = verify(program, target);
    EXPECT_TRUE(verified) << target.name << ": " << verified.error().message;
  }
  EXPECT_TRUE(verify(Program{}, *find_target("sse2")));
}

TEST(Verify, AdmitsComparisonsIntoBytesOnlyOfWiderNumbersAndWithByteMasks) {
  struct Row {
    const char* target;
    Operation operation;
    ElementType type;
    uint8_t width;
    bool admitted;
  };
  for (const Row& row : {Row{"avx512", Operation::less, ElementType::f32, 1, true},
                         Row{"avx512", Operation::equal, ElementType::u16, 1, true},
                         Row{"avx512", Operation::less, ElementType::f32, 0, true},
                         Row{"avx512", Operation::less, ElementType::f32, 2, false},
                         Row{"avx512", Operation::less, ElementType::f32, 4, false},
                         Row{"avx512", Operation::less, ElementType::u8, 1, false},
                         Row{"avx512", Operation::equal, ElementType::c64, 1, false},
                         Row{"avx512", Operation::add, ElementType::f32, 1, false},
                         Row{"avx2", Operation::less, ElementType::f32, 1, false},
                         Row{"avx2", Operation::less, ElementType::f32, 0, true}}) {
    const Op compute{.code = Code::compute,
                     .width = row.width,
                     .select = uint8_t(row.operation),
                     .type = row.type,
                     .to = 1,
                     .a = 0,
                     .b = 0};
    const Program program = block_program(16, {load(0), compute, store(1)});
    EXPECT_EQ(verify(program, *find_target(row.target)).has_value(), row.admitted)
        << row.target << ' ' << to_string(compute);
  }
}

/// A change to valid_program() and the start of the message it must lead to.
struct Broken {
  const char* what;
  int invariant;
  std::function<void(Program&)> change;
};

TEST(Verify, RefusesProgramsWithOneFault) {
  const std::vector<Broken> table = {
      {"used before it is defined", 1, [](Program& p) { block_of(p)[1].a = 9; }},
      {"used before it is defined", 1, [](Program& p) { block_of(p)[1].a = -5; }},
      {"defined twice", 1, [](Program& p) { block_of(p)[2].to = 0; }},
      {"defined twice", 1, [](Program& p) { block_of(p)[2].to = -7; }},
      {"names a register", 1, [](Program& p) { block_of(p)[0].b = 0; }},
      {"names a register", 1, [](Program& p) { block_of(p)[0].to = none; }},
      {"names a register", 1, [](Program& p) { block_of(p)[3].a = none; }},
      {"outside its operand", 2, [](Program& p) { block_of(p)[0].offset = 1; }},
      {"outside its operand", 2, [](Program& p) { block_of(p)[0].offset = -1; }},
      {"outside its operand", 2, [](Program& p) { block_of(p)[0].offset = INT64_MAX; }},
      {"outside its operand", 2, [](Program& p) { root_loop(p).extent = 5; }},
      {"outside its operand", 2, [](Program& p) { root_loop(p).steps[1].stride = 17; }},
      {"outside its operand", 2, [](Program& p) { p.operands[1].end = 63; }},
      {"outside its operand", 2, [](Program& p) { p.operands[1].begin = 1; }},
      {"stores to a source", 2, [](Program& p) { block_of(p)[1].stream = 1; }},
      {"has not written", 2,
       [](Program& p) {
         std::swap(block_of(p)[1], block_of(p)[2]);
         block_of(p)[2].a = 1;
         block_of(p)[1].to = 1;
       }},
      {"has not written", 2, [](Program& p) { block_of(p)[1].bytes = 8; }},
      {"not a whole vector", 3, [](Program& p) { block_of(p)[3].bytes = 8; }},
      {"not proved aligned", 3, [](Program& p) { p.operands[0].alignment = 8; }},
      {"not proved aligned", 3, [](Program& p) { root_loop(p).steps[0].stride = 8; }},
      {"not proved aligned", 3,
       [](Program& p) {
         block_of(p)[3].offset = 8;
         root_loop(p).extent = 3;
       }},
      {"no such vector", 4, [](Program& p) { p.vector_bytes = 24; }},
      {"wider than", 4, [](Program& p) { p.vector_bytes = 32; }},
      {"no such operation", 4,
       [](Program& p) { block_of(p)[0].code = Code(int(Code::prefetch) + 1); }},
      {"bytes outside", 4, [](Program& p) { block_of(p)[0].bytes = 0; }},
      {"bytes outside", 4, [](Program& p) { block_of(p)[0].at = 1; }},
      {"no byte masks", 4, [](Program& p) { block_of(p)[0].bytes = 3; }},
      {"a multiple of its size", 4,
       [](Program& p) {
         block_of(p)[0].bytes = 4;
         block_of(p)[0].at = 2;
       }},
      {"only walks", 5, [](Program& p) { root_loop(p).steps[0].phase = 1; }},
      {"only walks", 5,
       [](Program& p) {
         root_loop(p).steps[0].wraps = {{1, 0}};
       }},
      {"one root loop", 5,
       [](Program& p) {
         p.open = true;
         p.root.push_back(Block{});
       }},
      {"one root loop", 5,
       [](Program& p) {
         p.open = true;
         p.root = {Block{}};
       }},
      {"never runs", 6, [](Program& p) { root_loop(p).extent = 0; }},
      {"never runs", 6, [](Program& p) { root_loop(p).extent = -1; }},
      {"do not fit", 6, [](Program& p) { root_loop(p).steps[0].stride = INT64_MAX; }},
      {"moves a stream twice", 6, [](Program& p) { root_loop(p).steps[1].stream = 0; }},
      {"stream that is not there", 6, [](Program& p) { root_loop(p).steps[1].stream = 3; }},
      {"stream that is not there", 6, [](Program& p) { root_loop(p).steps[1].stream = -1; }},
      {"no such stream", 6, [](Program& p) { block_of(p)[0].stream = 3; }},
      {"operand that is not there", 6, [](Program& p) { p.streams[0] = 3; }},
      {"an operand's bytes", 6, [](Program& p) { p.operands[2].end = -1; }},
      {"no power of two", 6, [](Program& p) { p.operands[0].alignment = 48; }},
      {"no power of two", 6, [](Program& p) { p.operands[0].alignment = 0; }},
      {"the order target", 6, [](Program& p) { p.operands[2].role = Role::target; }},
      {"too many streams", 6, [](Program& p) { p.streams.resize(max_streams + 1); }},
      {"too many operands", 6, [](Program& p) { p.operands.resize(max_operands + 1); }},
      {"too deep", 6,
       [](Program& p) {
         for (int k = 0; k < max_depth; ++k) {
           For outer{1, {}, std::move(p.root)};
           p.root.clear();
           p.root.push_back(std::move(outer));
         }
       }},
      {"too many units", 6,
       [](Program& p) {
         root_loop(p).steps.clear();
         root_loop(p).extent = INT64_MAX;
         p.root.push_back(Block{});
       }},
  };
  const Target target = *find_target("sse2");
  for (const Broken& broken : table) {
    Program program = valid_program();
    broken.change(program);
    const Result<void> verified = verify(program, target);
    ASSERT_FALSE(verified) << broken.what << "\n" << to_string(program);
    const std::string& message = verified.error().message;
    const std::string start = "program: invariant " + std::to_string(broken.invariant) + ": ";
    EXPECT_EQ(message.substr(0, start.size()), start) << broken.what << ": " << message;
    EXPECT_NE(message.find(broken.what), std::string::npos) << broken.what << ": " << message;
  }
}

TEST(Verify, ChecksStepsOfInnerLoops) {
  const Target target = *find_target("sse2");
  const auto with = [&](Step step, int64_t extent) {
    Program program = valid_program();
    For inner{extent, {std::move(step)}, std::move(root_loop(program).body)};
    root_loop(program).body.clear();
    root_loop(program).body.push_back(std::move(inner));
    return verify(program, target);
  };
  EXPECT_TRUE(with({2, 0}, 1000000000));
  EXPECT_FALSE(with({2, 0, 0, -1}, 2));
  EXPECT_FALSE(with({2, 0, 0, 0, {{0, 0}}}, 2));
  EXPECT_FALSE(with({2, 0, 0, 0, std::vector<Wrap>(max_wraps + 1, {2, 0})}, 2));
}

TEST(Verify, FollowsDefinedBytes) {
  const Target target = *find_target("avx512_vbmi");
  std::vector<uint8_t> half(32, 0), lower(32, 0);
  for (size_t k = 16; k < 32; ++k) half[k] = undefined;
  const Op extract{.code = Code::extract, .at = 16, .to = 1, .a = 0};
  struct Row {
    const char* what;
    Program program;
    bool valid;
  };
  const auto with = [&](std::vector<Op> ops, std::vector<std::vector<uint8_t>> tables = {}) {
    Block block = {load(0, 32), extract};
    block.insert(block.end(), ops.begin(), ops.end());
    return block_program(32, std::move(block), std::move(tables));
  };
  const Op unpack{.code = Code::unpack_low, .width = 4, .to = 2, .a = 0, .b = 1};
  const Op lanes{.code = Code::lanes, .select = 1, .to = 2, .a = 0, .b = 1};
  const Op wrong_lanes{.code = Code::lanes, .select = 2, .to = 2, .a = 0, .b = 1};
  const Op insert{.code = Code::insert, .at = 16, .to = 2, .a = 1, .b = 0};
  const Op merge{.code = Code::load, .stream = 1, .bytes = 16, .at = 16, .to = 2, .a = 1};
  const Op shuffle{.code = Code::shuffle, .table = 0, .to = 2, .a = 0};
  const Op permute{.code = Code::permute, .width = 1, .table = 0, .to = 2, .a = 1};
  const Row rows[] = {
      {"the lane that extract defines", with({store(1, 16)}), true},
      {"beyond it", with({store(1, 32)}), false},
      {"one byte beyond it", with({store(1, 1, 16)}), false},
      {"the first lane of an unpack", with({unpack, store(2, 16)}), true},
      {"its second", with({unpack, store(2, 16, 16)}), false},
      {"lanes of the defined", with({lanes, store(2, 32)}), true},
      {"lanes of the undefined", with({wrong_lanes, store(2, 32)}), false},
      {"the undefined lane replaced", with({insert, store(2, 32)}), true},
      {"the undefined lane loaded", with({merge, store(2, 32)}), true},
      {"a table's defined half", with({shuffle, store(2, 16)}, {half}), true},
      {"a table's undefined half", with({shuffle, store(2, 32)}, {half}), false},
      {"a permute of the defined", with({permute, store(2, 32)}, {lower}), true},
      {"a permute into the undefined",
       with({permute, store(2, 32)}, {std::vector<uint8_t>(32, 16)}), false},
  };
  for (const Row& row : rows) {
    const Result<void> verified = verify(row.program, target);
    EXPECT_EQ(bool(verified), row.valid) << row.what << (verified ? "" : verified.error().message);
  }
}

TEST(Verify, KnowsPlacesInLines) {
  struct Row {
    const char* target;
    int vector_bytes;
    int64_t alignment;
    Op op;
    const char* refused;  ///< empty: it is not
  };
  const Op shift{.code = Code::shift, .width = 2, .to = 1, .a = 0, .b = 0, .offset = 62};
  Op odd = shift, bytes = shift;
  odd.offset = 63;
  bytes.width = 1;
  Op line{.code = Code::store_line, .bytes = 64, .a = 0, .offset = 63}, next = line, part = line;
  next.offset = 64;
  part.bytes = 32;
  Op begin = line, end = line, end_of_all = line, beyond = line;
  begin.code = Code::store_begin;
  end.code = end_of_all.code = beyond.code = Code::store_end;
  end_of_all.offset = 64;
  beyond.offset = 65;
  const Row rows[] = {
      {"avx512_vbmi", 64, 64, shift, ""},
      {"avx512_vbmi", 64, 64, bytes, ""},
      {"avx512", 64, 64, shift, ""},
      {"avx512", 64, 64, bytes, "no such permute"},
      {"avx512_vbmi", 64, 64, odd, "parts of elements"},
      {"avx512_vbmi", 64, 32, shift, "not proved aligned"},
      {"avx512_vbmi", 32, 64, shift, "no lines"},
      {"avx512_vbmi", 64, 64, line, ""},
      {"avx512_vbmi", 64, 32, line, "not proved aligned"},
      {"avx512_vbmi", 64, 64, next, "outside its operand"},
      {"avx512_vbmi", 64, 64, part, "not a whole vector"},
      {"avx512_vbmi", 64, 64, begin, ""},
      {"avx512_vbmi", 64, 64, end, ""},
      {"avx512_vbmi", 64, 64, end_of_all, ""},
      {"avx512_vbmi", 64, 64, beyond, "outside its operand"},
      {"avx2", 32, 64, line, "no lines"},
  };
  for (const Row& row : rows) {
    Program program = block_program(row.vector_bytes, {load(0, row.vector_bytes), row.op});
    program.operands[0].alignment = row.alignment;
    const Result<void> verified = verify(program, *find_target(row.target));
    const std::string message = verified ? "" : verified.error().message;
    EXPECT_EQ(bool(verified), *row.refused == 0) << row.target << to_string(row.op) << message;
    EXPECT_NE(message.find(row.refused), std::string::npos) << to_string(row.op) << message;
  }
}

TEST(Verify, CountsLiveRegisters) {
  const Target target = *find_target("sse2");
  const auto with = [&](int registers) {
    Block block;
    for (Reg r = 0; r < registers; ++r) block.push_back(load(r));
    for (Reg r = 0; r < registers; ++r) block.push_back(store(r));
    return verify(block_program(16, std::move(block)), target);
  };
  EXPECT_TRUE(with(target.registers));
  EXPECT_FALSE(with(target.registers + 1));
  // A result that nobody reads needs a place too, for a moment.
  const auto with_unread = [&](int registers) {
    Block block;
    for (Reg r = 0; r < registers; ++r) block.push_back(load(r));
    block.push_back(load(Reg(registers)));
    for (Reg r = 0; r < registers; ++r) block.push_back(store(r));
    return verify(block_program(16, std::move(block)), target);
  };
  EXPECT_TRUE(with_unread(target.registers - 1));
  EXPECT_FALSE(with_unread(target.registers));
  // A thousand registers are fine if each dies before the next is born, also where nobody reads it.
  Block chain;
  for (Reg r = 0; r < 1000; ++r) chain.push_back(load(r));
  EXPECT_TRUE(verify(block_program(16, std::move(chain)), target));
}

TEST(Verify, AsksTheTargetForEveryOperation) {
  const Op shuffle{.code = Code::shuffle, .to = 1, .a = 0};
  const Op permute{.code = Code::permute, .width = 1, .to = 1, .a = 0};
  const Op permute2{.code = Code::permute, .width = 2, .to = 1, .a = 0};
  const std::vector<uint8_t> sixteen(16, 0), eight(8, 0);
  struct Row {
    Op op;
    std::vector<uint8_t> table;
    std::vector<std::string> targets;
  };
  const Row rows[] = {
      {shuffle, sixteen, {"avx2", "avx512", "avx512_vbmi", "neon", "sve128", "sve256"}},
      {permute, sixteen, {"avx2", "avx512_vbmi", "neon", "sve128"}},
      {permute2, eight, {"avx2", "avx512", "avx512_vbmi", "neon", "sve128"}},
      {load(1, 5), sixteen, {"avx512", "avx512_vbmi", "sve128", "sve256"}}};
  for (const Row& row : rows) {
    std::vector<std::string> accepted;
    for (const Target& target : known_targets()) {
      if (verify(block_program(16, {load(0), row.op, store(1)}, {row.table}), target)) {
        accepted.push_back(target.name);
      }
    }
    EXPECT_EQ(accepted, row.targets) << to_string(row.op);
  }
}

TEST(Verify, PermutesWithinLanesWhereTheTargetDoesNotGoAcross) {
  const Op permute{.code = Code::permute, .width = 1, .to = 1, .a = 0};
  const std::vector<uint8_t> lane(16, 15), vector(32, 15), beyond_lane(16, 16);
  const auto accepts = [&](const char* target, const std::vector<uint8_t>& table) {
    const Program program = block_program(32, {load(0, 32), permute, store(1, 32)}, {table});
    return bool(verify(program, *find_target(target)));
  };
  EXPECT_TRUE(accepts("avx2", lane));
  EXPECT_FALSE(accepts("avx2", vector));
  EXPECT_FALSE(accepts("avx2", beyond_lane));
  EXPECT_FALSE(accepts("avx512_vbmi", lane));
  EXPECT_TRUE(accepts("avx512_vbmi", vector));
}

TEST(Verify, ChecksTables) {
  const Target target = *find_target("avx512_vbmi");
  const auto with = [&](Op op, std::vector<uint8_t> table) {
    return bool(verify(block_program(16, {load(0), op, store(1)}, {std::move(table)}), target));
  };
  const Op shuffle{.code = Code::shuffle, .to = 1, .a = 0};
  EXPECT_TRUE(with(shuffle, std::vector<uint8_t>(16, 15)));
  EXPECT_FALSE(with(shuffle, std::vector<uint8_t>(16, 16)));
  EXPECT_FALSE(with(shuffle, std::vector<uint8_t>(15, 0)));
  const Op one{.code = Code::permute, .width = 4, .to = 1, .a = 0};
  Op two = one;
  two.b = 0;
  EXPECT_TRUE(with(one, std::vector<uint8_t>(4, 3)));
  EXPECT_FALSE(with(one, std::vector<uint8_t>(4, 4)));
  EXPECT_TRUE(with(two, std::vector<uint8_t>(4, 7)));
  EXPECT_FALSE(with(two, std::vector<uint8_t>(4, 8)));
  EXPECT_FALSE(with(two, std::vector<uint8_t>(65, 0)));
  Op missing = one;
  for (const int16_t table : {int16_t(-1), int16_t(1)}) {
    missing.table = table;
    EXPECT_FALSE(with(missing, std::vector<uint8_t>(4, 3)));
  }
}

TEST(Verify, KnowsPackedElements) {
  const Target target = *find_target("avx2");
  const auto with = [&](Op op, int stored = 32) {
    op.to = 1;
    op.a = 0;
    return bool(verify(block_program(32, {load(0, 32), op, store(1, stored)}), target));
  };
  const Op spread{.code = Code::spread, .width = 4, .at = 16, .select = 1};
  const Op pack{.code = Code::pack, .width = 1, .at = 4};
  EXPECT_TRUE(with(spread));
  EXPECT_TRUE(with(pack));
  for (Op wrong : {spread, pack}) {
    const Op right = wrong;
    for (const int width : {0, 3, 8}) {
      wrong.width = uint8_t(width);
      EXPECT_FALSE(with(wrong)) << width;
    }
    wrong = right;
    for (const int at : {1, 32}) {
      wrong.at = uint8_t(at);
      EXPECT_FALSE(with(wrong)) << at;
    }
    wrong = right;
    wrong.select = 2;
    EXPECT_FALSE(with(wrong));
  }
  Op merged = spread;
  merged.b = 0;
  EXPECT_FALSE(with(merged));
  merged = pack;
  merged.b = 0;
  EXPECT_TRUE(with(merged));
}

TEST(Verify, FollowsDefinedBytesOfPackedElements) {
  const Target target = *find_target("avx512_vbmi");
  const Op extract{.code = Code::extract, .at = 16, .to = 1, .a = 0};  // defines 16 of 32 bytes
  const auto with = [&](Op op, int bytes, int at) {
    op.to = 2;
    op.a = 1;
    return bool(verify(block_program(32, {load(0, 32), extract, op, store(2, bytes, at)}), target));
  };
  const Op spread{.code = Code::spread, .width = 4}, pack{.code = Code::pack, .width = 4};
  Op high = spread, merged = pack;
  high.at = 16;
  merged.b = 0;
  EXPECT_TRUE(with(spread, 32, 0));
  EXPECT_FALSE(with(high, 1, 0));
  EXPECT_TRUE(with(pack, 8, 0));
  EXPECT_FALSE(with(pack, 9, 0));
  EXPECT_TRUE(with(pack, 16, 16));  // zeros
  EXPECT_TRUE(with(merged, 16, 16));
}

TEST(Verify, LetsAUnitReadItsTarget) {
  const Op read{.code = Code::load, .bytes = 4, .to = 0};
  EXPECT_TRUE(verify(block_program(16, {read, store(0, 4)}), *find_target("sse2")));
}

TEST(WrittenOnce, LetsAUnitPutBackWhatItHasRead) {
  const Op read{.code = Code::load, .bytes = 4, .to = 0};
  EXPECT_TRUE(written_once(block_program(16, {read, store(0, 4), store(0, 4)}), 4));
  EXPECT_FALSE(written_once(block_program(16, {load(0, 4), store(0, 4), store(0, 4)}), 4));
  // Not in the bytes of another unit.
  Program two = block_program(16, {read, store(0, 4)});
  two.root.push_back(Block{read});
  EXPECT_FALSE(written_once(two, 4));
}

TEST(WrittenOnce, LetsStoresOfAUnitOverlapByHalf) {
  Op behind = store(0, 8);
  behind.offset = 4;
  EXPECT_TRUE(written_once(block_program(16, {load(0, 8), store(0, 8), behind}), 12));
  behind.offset = 1;
  EXPECT_FALSE(written_once(block_program(16, {load(0, 8), store(0, 8), behind}), 9));
}

TEST(WrittenOnce, CountsTheTarget) {
  EXPECT_TRUE(written_once(valid_program(), 64));
  EXPECT_FALSE(written_once(valid_program(), 63));
}

TEST(WrittenOnce, RefusesWhatIsWrittenTwiceOrReadUnwritten) {
  Program twice = valid_program();
  root_loop(twice).steps[0].stride = 0;
  EXPECT_FALSE(written_once(twice, 64));
  // Inside the hull of what was written, but not written: only the walk sees it.
  Program gap =
      block_program(16, {load(0, 8),
                         {.code = Code::store, .stream = 2, .bytes = 4, .a = 0},
                         {.code = Code::store, .stream = 2, .bytes = 4, .a = 0, .offset = 8},
                         {.code = Code::load, .stream = 2, .bytes = 4, .to = 1, .offset = 4},
                         store(1, 4)});
  gap.operands.push_back({Role::scratch, 0, 12});
  gap.streams.push_back(2);
  EXPECT_TRUE(verify(gap, *find_target("sse2")));
  const Result<void> walked = written_once(gap, 4);
  ASSERT_FALSE(walked);
  EXPECT_NE(walked.error().message.find("byte 4 is read but not written"), std::string::npos)
      << walked.error().message;
}

}  // namespace
}  // namespace restride
