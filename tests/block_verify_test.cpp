// What verify refuses within a Block: bytes that are not defined, registers that do not fit,
// operations that the target lacks.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "program/program.hpp"
#include "support/sample_programs.hpp"

namespace restride {
namespace {

using namespace program;
using testing::block_program;
using testing::load;
using testing::store;

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
    int64_t end = 64;     ///< of the operand, which begins at 0
  };
  const Op shift{.code = Code::shift, .width = 2, .to = 1, .a = 0, .b = 0, .offset = 62};
  Op odd = shift, bytes = shift;
  odd.offset = 63;
  bytes.width = 1;
  // It reads up to 63 bytes before its own byte of the source.
  const Op for_line{.code = Code::load_for_line, .stream = 1, .bytes = 64, .to = 1, .offset = 63};
  Op half = for_line, early_load = for_line, late_load = for_line, nowhere = for_line;
  half.bytes = 32;
  early_load.offset = 62;
  late_load.offset = 65;
  nowhere.select = 9;
  Op line{.code = Code::store_line, .bytes = 64, .a = 0, .offset = 63}, next = line, part = line;
  next.offset = 64;
  part.bytes = 32;
  Op second = part, quarter = part, behind = part;
  second.at = 32;
  quarter.at = 16;
  behind.at = 64;
  Op last = part, before_line = part;
  last.width = 63;
  before_line.width = 64;
  const Op copy{.code = Code::copy_begin, .width = 4, .select = 1, .offset = 60, .copied = 3};
  Op copy_odd = copy, copy_between = copy, copy_nowhere = copy, copy_target = copy;
  copy_odd.width = 3;
  copy_between.offset = 62;
  copy_nowhere.select = 9;
  copy_target.select = 0;
  Op copy_far = copy, copy_beyond = copy;
  copy_far.copied = 128 - 63;
  copy_beyond.copied = 128 - 62;
  Op copy_end = copy, copy_early = copy, copy_end_early = copy;
  copy_end.code = copy_early.code = copy_end_early.code = Code::copy_end;
  copy_end.copied = copy_end_early.copied = 63;
  copy_end.offset = 64;
  copy_early.copied = 62;
  Op begin = line, end = line, end_of_all = line, beyond = line;
  begin.code = Code::store_begin;
  end.code = end_of_all.code = beyond.code = Code::store_end;
  end_of_all.offset = 64;
  beyond.offset = 65;
  Op early = line, early_end = end, whole = begin;
  early.offset = early_end.offset = 62;
  whole.offset = 0;
  const Row rows[] = {
      {"avx512_vbmi", 64, 64, shift, ""},
      {"avx512_vbmi", 64, 64, bytes, ""},
      {"avx512", 64, 64, shift, ""},
      {"avx512", 64, 64, bytes, "no such permute"},
      {"avx512_vbmi", 64, 64, odd, "parts of elements"},
      {"avx512_vbmi", 64, 2, shift, ""},
      {"avx512_vbmi", 64, 1, shift, "parts of elements"},
      {"avx512_vbmi", 64, 1, bytes, ""},
      {"avx512_vbmi", 32, 64, shift, "no lines"},
      {"avx512_vbmi", 64, 64, for_line, ""},
      {"avx512", 64, 1, for_line, ""},
      {"avx2", 32, 64, for_line, "not a whole vector"},
      {"avx2", 32, 1, half, ""},
      {"avx512", 64, 1, half, "not a whole vector"},
      {"avx512", 64, 1, early_load, "outside its operand"},
      {"avx512", 64, 1, late_load, "outside its operand"},
      {"avx512", 64, 1, nowhere, "no such stream"},
      {"avx512_vbmi", 64, 64, line, ""},
      {"avx512_vbmi", 64, 64, next, "outside its operand"},
      {"avx512_vbmi", 64, 64, part, "not a whole vector"},
      {"avx512_vbmi", 64, 64, begin, ""},
      {"avx512_vbmi", 64, 64, end, ""},
      {"avx512_vbmi", 64, 64, end_of_all, ""},
      {"avx512_vbmi", 64, 64, beyond, "outside its operand"},
      {"avx2", 32, 64, line, "not a whole vector"},
      {"avx2", 32, 64, part, ""},
      {"avx2", 32, 64, second, ""},
      {"avx2", 32, 64, quarter, "not a whole vector"},
      {"avx2", 32, 64, behind, "not a whole vector"},
      {"avx2", 32, 64, last, ""},
      {"avx2", 32, 64, before_line, "no byte of the same line"},
      {"avx2", 32, 64, begin, "no lines"},
      {"avx2", 32, 64, end, "no lines"},
      // Copies: of up to 63 bytes of the source.
      {"avx2", 32, 64, copy, ""},
      {"sse2", 16, 64, copy, ""},
      {"avx512", 32, 64, copy, "byte masks"},
      {"avx2", 32, 64, copy_odd, "no such element"},
      {"avx2", 32, 64, copy_between, "parts of elements"},
      {"avx2", 32, 2, copy, "parts of elements"},
      {"avx2", 32, 64, copy_nowhere, "no such stream"},
      {"avx2", 32, 64, copy_target, "copies from the target"},
      {"avx2", 32, 64, copy_far, ""},
      {"avx2", 32, 64, copy_beyond, "outside its operand"},
      {"avx2", 32, 64, copy_end, ""},
      {"avx2", 32, 64, copy_early, "outside its operand"},
      {"avx2", 32, 4, copy, "outside its operand", 122},
      {"avx2", 32, 4, copy, "", 123},
      {"avx2", 32, 4, copy_end, ""},
      {"avx2", 32, 4, copy_end_early, "outside its operand"},
      // The target begins anywhere in a line.
      {"avx512_vbmi", 64, 32, line, "outside its operand"},
      {"avx512_vbmi", 64, 32, line, "", 127},
      {"avx512_vbmi", 64, 32, early, "outside its operand", 127},
      {"avx512_vbmi", 64, 1, whole, ""},
      {"avx512_vbmi", 64, 1, begin, "outside its operand", 126},
      {"avx512_vbmi", 64, 1, begin, "", 127},
      {"avx512_vbmi", 64, 1, end, ""},
      {"avx512_vbmi", 64, 1, early_end, "outside its operand"},
      {"avx512_vbmi", 64, 1, end_of_all, ""},
  };
  for (const Row& row : rows) {
    Program program = block_program(row.vector_bytes, {load(0, row.vector_bytes), row.op});
    program.operands[0].alignment = row.alignment;
    program.operands[0].end = row.end;
    program.operands[1].end = 128;
    const Result<void> verified = verify(program, *find_target(row.target));
    const std::string message = verified ? "" : verified.error().message;
    EXPECT_EQ(bool(verified), *row.refused == 0) << row.target << to_string(row.op) << message;
    EXPECT_NE(message.find(row.refused), std::string::npos) << to_string(row.op) << message;
  }
}

TEST(Verify, TakesRunsOfWholeVectors) {
  struct Row {
    Op load;
    int64_t offset, run;
    const char* refused;  ///< empty: it is not
    uint8_t bytes = run_pattern_bytes, at = 0;
  };
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  const Row rows[] = {
      {load(0), 0, 64, ""},
      {load(0), 0, 16, ""},
      {load(0), 48, 16, ""},
      {load(0, 8), 0, 64, ""},
      {load(0), 49, 16, "outside its operand"},
      {load(0), 0, 80, "outside its operand"},
      {load(0), 16, most / 16 * 16, "outside its operand"},
      {load(0), -16, 32, "outside its operand"},
      {load(0), 0, 0, "not of whole vectors"},
      {load(0), 0, -16, "not of whole vectors"},
      {load(0), 0, 24, "not of whole vectors"},
      {load(0), 0, 64, "not of whole vectors", 16},
      {load(0), 0, 64, "not of whole vectors", 8, 8},
  };
  for (const Row& row : rows) {
    const Op run{.code = Code::store_run,
                 .bytes = row.bytes,
                 .at = row.at,
                 .a = 0,
                 .offset = row.offset,
                 .run = row.run};
    Program program = block_program(16, {row.load, run});
    program.operands[0].end = 64;
    const Result<void> verified = verify(program, *find_target("sse2"));
    const std::string message = verified ? "" : verified.error().message;
    EXPECT_EQ(bool(verified), *row.refused == 0) << to_string(run) << message;
    EXPECT_NE(message.find(row.refused), std::string::npos) << to_string(run) << message;
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

}  // namespace
}  // namespace restride
