// Rows of arrays behind the header of an allocator: which get a program of their own, that no
// vector of theirs is stored in two lines, and that all of it arrives.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "plan/planner.hpp"
#include "support/microkernel_tails.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

constexpr int64_t header = 16;

INSTANTIATE_TEST_SUITE_P(Every, Microkernel, ::testing::ValuesIn(setups()),
                         [](const auto& info) { return name_of(info.param); });

/// The program for targets behind a header; null: none.
const Program* behind_header(const std::vector<Program>& programs) {
  for (const Program& program : programs) {
    if (program.operands[0].phase == header) return &program;
  }
  return nullptr;
}

struct Row {
  const char* text;
  bool own_program;
};

void expect_own_programs(const std::vector<Row>& rows, const Target& target) {
  for (const Row& row : rows) {
    const std::vector<Program> programs = plan_programs(simplified_space(row.text), target);
    EXPECT_EQ(behind_header(programs) != nullptr, row.own_program) << row.text;
    EXPECT_EQ(programs.back().operands[0].alignment, 1) << row.text;
  }
}

TEST(RowsBehindAHeader, GetAProgramOfTheirOwnInTheCaches) {
  const Target target = target_of({"avx512_vbmi", Caches::hold_everything});
  expect_own_programs({{"f32[64] -> f32[64]", true},
                       {"f32[50] -> f32[50]", true},
                       {"f32[] -> f32[1000]", true},
                       {"f32[256,1,256] -> f32[256,64,256] dims={0,1,2}", true},
                       {"f16[8,128,12,64] -> f16[8,128,12,64]{3,1,2,0}", true},
                       {"convert(s32[9,64]) -> f32[9,64]", true},
                       {"f32[64,64]{1,0:PAD(64,70;unknown)} -> f32[64,64]", true},
                       // Short rows; rows that begin at several places in a line.
                       {"f32[30] -> f32[30]", false},
                       {"f32[64,8,16] -> f32[64,8,16]{2,0,1}", false},
                       {"f32[64,8,40] -> f32[64,8,40]{2,0,1}", false},
                       {"f32[2,40] -> f32[2,40]{1,0:PAD(2,44;unknown)}", false}},
                      target);
  // Lanes never lie in two lines there.
  for (const char* name : {"sse2", "neon"}) {
    expect_own_programs({{"f32[1000] -> f32[1000]", false}},
                        target_of({name, Caches::hold_everything}));
  }
}

TEST(RowsBehindAHeader, GetOneForEveryPlaceThatAnAllocatorGives) {
  struct Case {
    const char* target;
    std::vector<int64_t> phases;
  };
  for (const Case& row : {Case{"avx512", {16, 32, 48, 0}}, Case{"avx2", {16, 0}}}) {
    const Target target = target_of({row.target, Caches::hold_everything});
    std::vector<int64_t> phases;
    const std::vector<Program> programs =
        plan_programs(simplified_space("f32[4,1,96] -> f32[4,9,96] dims={0,1,2}"), target);
    for (const Program& program : programs) {
      phases.push_back(program.operands[0].phase);
      if (phases.back() != 0) {
        EXPECT_EQ(program.operands[0].alignment, target.vector_bytes) << row.target;
      }
    }
    EXPECT_EQ(phases, row.phases) << row.target;
  }
}

TEST(RowsBehindAHeader, GetOneAroundTheCachesWhereLongRowsAreComputed) {
  const Target target = target_of({"avx512_vbmi", Caches::hold_nothing});
  expect_own_programs({{"convert(s32[8,2048]) -> f32[8,2048]", true},
                       {"multiply(f32[8,1], f32[1,4096]) -> f32[8,4096]", true}},
                      target);
}

TEST(RowsBehindAHeader, GetOneAroundTheCachesWhereTheyAreComputedInBlocks) {
  const Target target = target_of({"avx512_vbmi", Caches::hold_nothing});
  expect_own_programs({{"add(f32[8,512], f32[8,512]{0,1}) -> f32[8,512]", true},
                       {"convert(f32[1024,100]) -> bf16[1024,100]{0,1}", true},
                       {"convert(f32[96,256,56]) -> f16[96,256,56]{1,2,0}", false},  // short
                       {"convert(f32[1000,96]) -> f16[1000,96]{0,1}", false},        // no lines
                       // A source whose tiles lie across the blocks.
                       {"add(f32[16,528]{0,1}, f32[16,528]{1,0:T(8,64)}) -> f32[16,528]", false}},
                      target);
}

/// No store of a body crosses a multiple of whole vectors, if the target begins `phase` bytes
/// behind one.
void expect_within_lines(const program::Body& body, int64_t phase, int vector_bytes) {
  for (const auto& item : body) {
    if (const auto* loop = std::get_if<program::For>(&item)) {
      for (const program::Step& step : loop->steps) {
        if (step.stream == 0) {
          EXPECT_EQ(step.stride % vector_bytes, 0);
        }
      }
      expect_within_lines(loop->body, phase, vector_bytes);
      continue;
    }
    for (const program::Op& op : std::get<program::Block>(item)) {
      if (op.code != program::Code::store || op.stream != 0) continue;
      const int64_t from = phase + op.offset, last = from + op.bytes - 1;
      EXPECT_EQ(from / vector_bytes, last / vector_bytes) << op.offset << ' ' << op.bytes;
    }
  }
}

TEST(RowsBehindAHeader, AreStoredWithinLines) {
  for (const char* name : {"avx512_vbmi", "avx512", "avx2"}) {
    const Target target = target_of({name, Caches::hold_everything});
    for (const char* text :
         {"f32[5000] -> f32[5000]", "f32[] -> f32[900]",
          "f32[32,1,256] -> f32[32,8,256] dims={0,1,2}", "convert(s32[9,128]) -> f32[9,128]",
          "f32[16,9,96] -> f32[16,9,96]{2,0,1}", "convert(s8[64,1024]) -> f32[64,1024]"}) {
      const std::vector<Program> programs = plan_programs(simplified_space(text), target);
      ASSERT_NE(behind_header(programs), nullptr) << name << ' ' << text;
      for (const Program& program : programs) {
        const int64_t phase = program.operands[0].phase;
        if (phase == 0) continue;
        SCOPED_TRACE(to_string(program));
        expect_within_lines(program.root, phase, program.vector_bytes);
      }
    }
  }
}

TEST_P(Microkernel, StoresRowsOfEveryLengthLineByLine) {
  for (int elements : {31, 32, 33, 36, 47, 48, 64, 200, 256, 257, 1000, 1024, 2048, 5000}) {
    const std::string row = array("f32", {elements});
    expect_conforms(row + " -> " + row, GetParam());
    expect_conforms("f32[] -> " + row, GetParam());
    expect_conforms(row + " -> " + array("f32", {3, elements}) + " dims={1}", GetParam());
    expect_conforms("convert(" + array("s8", {elements}) + ") -> " + row, GetParam());
    expect_conforms("convert(" + row + ") -> " + array("s8", {elements}), GetParam());
    const std::string matrix = array("f32", {5, elements});
    expect_conforms("add(" + matrix + ", " + row + " dims={1}) -> " + matrix, GetParam());
    const std::string pitch = std::to_string((elements + 31) / 16 * 16);
    expect_conforms(matrix + " -> " + matrix + "{1,0:PAD(5," + pitch + ";zero)}", GetParam());
    const std::string bytes = array("u8", {3, 4 * elements, 2});
    expect_conforms(bytes + " -> " + bytes + "{2,1,0}", GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, ComputesBlocksOfRowsOfWholeLines) {
  for (const char* text :
       {"convert(f32[512,70]) -> bf16[512,70]{0,1}", "convert(f32[1024,66]) -> s8[1024,66]{0,1}",
        "convert(bf16[3,20,256]) -> f32[3,20,256]{2,0,1}",
        "convert(bf16[320,33]) -> f32[320,33]{0,1}",
        "convert(f32[640,9,12]) -> f64[640,9,12]{0,2,1}",
        "add(f32[9,320], f32[9,320]{0,1}) -> f32[9,320]",
        "add(f32[320,70], f32[70] dims={1}) -> f32[320,70]{0,1}",
        "add(f32[16,528]{0,1}, f32[16,528]{1,0:T(8,64)}) -> f32[16,528]",
        "multiply(f64[17,192]{0,1}, f64[17,192]) -> f64[17,192]"}) {
    expect_conforms(text, GetParam());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace restride::testing
