// Copied, repeated and filled rows over their tails: every length, wherever in a line they begin.
// See support/microkernel_tails.hpp.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/microkernel_tails.hpp"

namespace restride::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Every, Microkernel, ::testing::ValuesIn(setups()),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(Microkernel, JoinsRowsThatBeginBetweenLines) {
  for (const int row : {33, 50, 100, 127, 200, 1000}) {
    for (const int rows : {7, 64, 150}) {
      const std::string narrow = array("u8", {rows, row}), wide = array("u16", {rows, row});
      const std::string pitch = std::to_string(row + 5);
      const std::string padded = "{1,0:PAD(" + std::to_string(rows) + "," + pitch + ";zero)}";
      expect_conforms(narrow + padded + " -> " + narrow, GetParam());
      expect_conforms(wide + padded + " -> " + wide, GetParam());
      expect_conforms(narrow + " -> " + narrow + padded, GetParam());
      const std::string stack = array("u8", {3, rows, row});
      expect_conforms(stack + " -> " + stack + "{2,0,1}", GetParam());
      if (HasFatalFailure()) return;
    }
    expect_conforms(array("u8", {row}) + " -> " + array("u8", {700, row}) + " dims={1}",
                    GetParam());
    expect_conforms(array("f32", {row}) + " -> " + array("f32", {131, row}) + " dims={1}",
                    GetParam());
    expect_conforms(array("u8", {2, row}) + " -> " + array("u8", {2, 300, row}) + " dims={0,2}",
                    GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, RepeatsRowsInSeveralPlaces) {
  for (const char* type : {"u8", "f32"}) {
    for (const int columns : {60, 64, 1000, 5000}) {
      const std::string from = array(type, {5, columns});
      const std::string to = array(type, {2, 3, 5, columns});
      expect_conforms(from + " -> " + to + " dims={2,3}", GetParam());
      expect_conforms(from + " -> " + to + "{3,0,2,1} dims={2,3}", GetParam());
      expect_conforms(from + " -> " + to + "{3,2,1,0:PAD(2,3,6," + std::to_string(columns + 9) +
                          ";one)} dims={2,3}",
                      GetParam());
      expect_conforms(
          from + "{1,0:PAD(5," + std::to_string(columns + 4) + ";zero)} -> " + to + " dims={2,3}",
          GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Microkernel, CopiesShortRowsThatGoOnElsewhereInTheSource) {
  for (const int bytes : {32, 48, 64, 100, 192, 650, 1024}) {
    for (const std::vector<int>& size :
         {std::vector<int>{2, 5, 2, 37, bytes}, {2, 19, 3, 5, bytes}, {1, 5, 4, 4, bytes}}) {
      const std::string from = array("u8", size);
      expect_conforms(from + " -> " + from + "{4,2,0,1,3}", GetParam());
      expect_conforms(from + " -> " + from + "{4,1,2,3,0}", GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Microkernel, CopiesSplatsAndFillsRowsOfEveryLength) {
  for (const int bytes :
       {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 511, 1025}) {
    const std::string row = array("u8", {5, bytes}), rows = array("u8", {5, 3, bytes});
    expect_conforms(rows + " -> " + rows + "{2,0,1}", GetParam());
    expect_conforms(row + " -> " + rows + " dims={0,2}", GetParam());
    expect_conforms("u8[5] -> " + row + " dims={0}", GetParam());
    expect_conforms(row + " -> " + row + "{1,0:PAD(6," + std::to_string(bytes + 3) + ";one)}",
                    GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, FillsWhatIsPaddingOfARow) {
  for (const char* type : {"u8", "u16", "f32", "c128"}) {
    for (const int elements : {1, 3, 5, 15, 16, 17, 31, 40, 63, 64, 100, 250}) {
      const std::string from = array(type, {20, elements});
      for (const int more : {1, 3, 16, 65}) {
        const std::string length = std::to_string(elements + more);
        expect_conforms(from + " -> " + from + "{1,0:PAD(21," + length + ";one)}", GetParam());
        expect_conforms(from + " -> " + from + "{0,1:PAD(22," + length + ";one)}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Microkernel, MovesRowsAlongWhichTilesDoNotNest) {
  struct Tiles {
    const char *from, *to;
  };
  for (const char* type : {"u8", "u16", "f32", "c128"}) {
    for (const Tiles& tiles :
         {Tiles{"T(8,128)", "T(7,9)"}, Tiles{"T(7,9)", "T(8,128)"}, Tiles{"T(6,100)", "T(8,128)"},
          Tiles{"T(30)", "T(32)"}, Tiles{"T(12,20)", "T(8,16)"}, Tiles{"T(5,48)", "T(5,64)"}}) {
      for (const std::vector<int>& size :
           {std::vector{56, 1152}, {61, 130}, {7, 1300}, {130, 99}}) {
        const std::string plain = array(type, size);
        expect_conforms(plain + "{1,0:" + tiles.from + "} -> " + plain + "{1,0:" + tiles.to + "}",
                        GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Microkernel, CopiesRowsOfTilesOfWhichTheLastOnesAreCut) {
  for (const char* text :
       {"u8[27,640] -> u8[27,640]{1,0:T(8,128)}", "u8[27,700] -> u8[27,700]{1,0:T(8,128)}",
        "u16[19,512] -> u16[19,512]{1,0:T(8,128)}",
        "u16[3,17,900] -> u16[3,17,900]{2,1,0:T(8,128)}", "f32[39,99] -> f32[39,99]{1,0:T(16,16)}",
        "f32[35,200]{1,0:T(4,16)} -> f32[35,200]{1,0:T(8,32)}",
        "f64[43,64] -> f64[43,64]{1,0:T(8,8)}", "c128[20,35] -> c128[20,35]{1,0:T(16,8)}"}) {
    expect_conforms(text, GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, CopiesLongRowsThatBeginAnywhereInALine) {
  for (const char* type : {"u16", "f32", "f64", "c128"}) {
    // Rows of one and of several turns of the loop, and of more than a unit.
    for (const int elements : {513, 514, 519, 520, 767, 1030, 4101, 8209}) {
      const std::string rows = array(type, {19, 2, elements});
      expect_conforms(rows + " -> " + rows + "{2,0,1}", GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Microkernel, MovesRowsThatBeginAnywhereInALine) {
  for (const Element& row : every_width) {
    for (int rest = 0; rest < 64 / row.bytes; rest += 1 + rest / 8) {
      // Shorter than a turn of the loop, and longer.
      for (const int bytes : {320, 512, 1100}) {
        const int elements = bytes / row.bytes + rest;
        const std::string rows = array(row.type, {33, 2, elements});
        expect_conforms(rows + " -> " + rows + "{2,0,1}", GetParam());
        expect_conforms(
            array(row.type, {40}) + " -> " + array(row.type, {40, elements}) + " dims={0}",
            GetParam());
        const std::string padded = "{1,0:PAD(11," + std::to_string(elements) + ";one)}";
        const std::string few = array(row.type, {9, elements});
        expect_conforms(few + " -> " + few + padded, GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace restride::testing
