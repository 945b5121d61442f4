// Elements that share bytes over their tails: blocks of transposes, and rows that begin within a
// byte. See support/microkernel_tails.hpp.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/planner.hpp"
#include "program/program.hpp"
#include "schedule/scheduling.hpp"
#include "support/microkernel_tails.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

struct PackedType {
  const char* type;
  int bits;
};
constexpr PackedType packed_types[] = {{"u4", 4}, {"u2", 2}, {"u1", 1}};

INSTANTIATE_TEST_SUITE_P(Every, Microkernel, ::testing::ValuesIn(setups()),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(Microkernel, MixesBlocksOfPackedElementsAndWhatIsLeftOfThem) {
  // One panel, several of them, several blocks; columns, rows and lines that are left; the same
  // with rows of several loops; only one side packed.
  for (const char* text :
       {"u4[256,128]{1,0:E(4)} -> u4[256,128]{0,1:E(4)}",
        "u4[512,384]{1,0:E(4)} -> u4[512,384]{0,1:E(4)}",
        "s4[384,1200]{1,0:E(4)} -> s4[384,1200]{0,1:E(4)}",
        "u2[256,512]{1,0:E(2)} -> u2[256,512]{0,1:E(2)}",
        "u2[512,300]{1,0:E(2)} -> u2[512,300]{0,1:E(2)}",
        "u1[512,520]{1,0:E(1)} -> u1[512,520]{0,1:E(1)}",
        "u4[352,1024]{1,0:E(4)} -> u4[352,1024]{0,1:E(4)PAD(384,1026;one)}",
        "u2[64,64]{1,0:E(2)} -> u2[64,64]{0,1:L(9)E(2)PAD(68,65;one)}",
        "u4[2,256,256]{2,1,0:E(4)} -> u4[2,256,256]{1,2,0:E(4)}",
        "u4[16,64,256]{2,1,0:E(4)} -> u4[16,64,256]{1,0,2:E(4)}",
        "u4[256,192] -> u4[256,192]{0,1:E(4)}", "u2[512,130] -> u2[512,130]{0,1:E(2)}",
        "u4[256,256]{1,0:E(4)} -> u4[256,256]{0,1}", "u2[192,512]{1,0:E(2)} -> u2[192,512]{0,1}",
        "pred[128,512]{1,0:E(1)} -> pred[128,512]{0,1}"}) {
    expect_conforms(text, GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, ShiftsMixedRowsThatBeginBetweenLines) {
  const auto expect = [](const std::string& from, const std::string& to) {
    expect_conforms(from + " -> " + to, GetParam());
  };
  // Of a chunk and more, with every kind of rest; two panels, several boxes, columns that are
  // left.
  for (const int run :
       {128, 129, 191, 193, 255, 256, 257, 263, 272, 319, 320, 321, 383, 384, 385, 511}) {
    const std::string array = "u4[" + std::to_string(2 * run) + ",256]";
    expect(array + "{1,0:E(4)}", array + "{0,1:E(4)}");
    if (HasFatalFailure()) return;
  }
  expect("s4[630,820]{1,0:E(4)}", "s4[630,820]{0,1:E(4)}");
  expect("s4[2,514,258]{2,1,0:E(4)}", "s4[2,514,258]{1,2,0:E(4)}");
  // The other way round within a byte; only the target is packed; padding; too many in a byte.
  expect("u4[630,256]{1,0:L(9)E(4)}", "u4[630,256]{0,1:E(4)}");
  expect("u4[630,140]", "u4[630,140]{0,1:E(4)}");
  expect("u4[630,256]{1,0:E(4)}", "u4[630,256]{0,1:E(4)PAD(640,258;one)}");
  expect("u2[1260,520]{1,0:E(2)}", "u2[1260,520]{0,1:E(2)}");
}

TEST(MixedRows, AreTakenWholeWhereTheyAreShifted) {
  Target target = streaming_target();
  for (const bool shifts : {false, true}) {
    target.shifts_mixed_rows = shifts;
    const auto expect = [&](const char* text, int64_t rows) {
      const Schedule schedule = scheduled(text, target);
      EXPECT_EQ(schedule.movement, Movement::mix) << text;
      EXPECT_EQ(target_run_elements(schedule) == rows, shifts) << text << shifts;
    };
    expect("s4[3000,2048]{1,0:E(4)} -> s4[3000,2048]{0,1:E(4)}", 3000);
    expect("u4[3000,1024] -> u4[3000,1024]{0,1:E(4)}", 3000);
    const auto expect_not = [&](const char* text, int64_t rows) {
      EXPECT_NE(target_run_elements(scheduled(text, target)), rows) << text << shifts;
    };
    expect_not("s4[3072,2048]{1,0:E(4)} -> s4[3072,2048]{0,1:E(4)}", 3072);   // on lines
    expect_not("s4[254,26048]{1,0:E(4)} -> s4[254,26048]{0,1:E(4)}", 254);    // short rows
    expect_not("s4[13000,254]{1,0:E(4)} -> s4[13000,254]{0,1:E(4)}", 13000);  // one panel
    expect_not("u2[6008,2048]{1,0:E(2)} -> u2[6008,2048]{0,1:E(2)}", 6008);   // four in a byte
    expect_not("s4[3000,2048]{1,0:E(4)} -> s4[3000,2048]{0,1}", 3000);        // only unpacks
  }
}

/// Columns that are left begin on a line here, the others of them do not.
TEST(MixedRows, OfColumnsThatAreLeftAreNotTakenForLines) {
  Target target = streaming_target();
  target.shifts_mixed_rows = true;
  for (const char* const text : {"s4[15144,264]{1,0:E(4)} -> s4[15144,264]{0,1:E(4)}",
                                 "s4[9096,1800]{1,0:E(4)} -> s4[9096,1800]{0,1:E(4)}"}) {
    for (const Program& program : plan_programs(simplified_space(text), target))
      EXPECT_TRUE(verify(program, target)) << text;
  }
}

TEST_P(Microkernel, TransposesPackedRowsThatBeginAnywhereInAByte) {
  for (const PackedType& element : packed_types) {
    const std::string packing = "E(" + std::to_string(element.bits) + ")}";
    const int line = 512 / element.bits, least = 320 / element.bits;
    // Rows of source and target that begin in a byte or between two; blocks, parts of some.
    for (const std::vector<int>& size :
         {std::vector<int>{least, 81}, {least + 1, 80}, {line, 129}, {line + 3, 130}}) {
      const std::string from = array(element.type, size);
      expect_conforms(from + "{1,0:" + packing + " -> " + from + "{0,1:" + packing, GetParam());
      if (HasFatalFailure()) return;
    }
    const std::string stack = array(element.type, {3, least + 1, 83});
    expect_conforms(stack + "{2,1,0:" + packing + " -> " + stack + "{1,2,0:" + packing, GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, CopiesPackedRowsThatBeginElsewhereInAByte) {
  for (const PackedType& element : packed_types) {
    const std::string packing = "E(" + std::to_string(element.bits) + ")";
    const int line = 512 / element.bits, in_byte = 8 / element.bits;
    // Rows of half a line to several, of every number of elements in their last byte.
    for (const int bytes : {32, 63, 64, 257}) {
      for (int rest = 0; rest < in_byte; rest += 1 + rest / 3) {
        const int columns = bytes * in_byte + rest;
        const std::string rows = array(element.type, {9, columns});
        const std::string padded =
            "{1,0:" + packing + "PAD(9," + std::to_string(columns + line) + ";one)}";
        expect_conforms(rows + "{1,0:" + packing + "} -> " + rows + padded, GetParam());
        expect_conforms(rows + padded + " -> " + rows + "{1,0:" + packing + "}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
    const std::string stack = array(element.type, {3, 5, line + 3});
    expect_conforms(stack + "{2,1,0:" + packing + "} -> " + stack + "{2,0,1:" + packing + "}",
                    GetParam());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace restride::testing
