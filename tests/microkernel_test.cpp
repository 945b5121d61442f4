// Every family of microkernels over its tails: extents around the sizes of its networks, blocks and
// windows, for arrays that stay in the caches and for arrays that are streamed past them, on every
// backend and target that runs here.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/setups.hpp"

namespace restride::testing {
namespace {

void expect_conforms(const std::string& text, const Setup& setup) {
  const Report report = run_in(setup, text);
  ASSERT_EQ(report.outcome, Outcome::passed) << report.text;
}

class Microkernel : public ::testing::TestWithParam<Setup> {};

INSTANTIATE_TEST_SUITE_P(Every, Microkernel, ::testing::ValuesIn(setups()),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(Microkernel, TransposesEveryTail) {
  for (const char* type : {"u8", "u16", "f32", "f64", "c128"}) {
    for (const int rows : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 67}) {
      for (const int columns : {1, 2, 3, 4, 5, 8, 11, 15, 16, 17, 20}) {
        const std::string from = array(type, {rows, columns});
        expect_conforms(from + " -> " + from + "{0,1}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Microkernel, TransposesIntoRunsOfALane) {
  struct Run {
    const char* type;
    int elements;
  };
  for (const Run& run : {Run{"u8", 16}, Run{"u16", 8}, Run{"f32", 4}, Run{"f64", 2}}) {
    for (const int columns : {16, 31, 32, 33, 48, 63, 64, 65, 80, 100, 200}) {
      const std::string from = array(run.type, {3, run.elements, columns});
      expect_conforms(from + " -> " + from + "{1,2,0}", GetParam());
      const std::string cut = array(run.type, {2, run.elements + 1, columns});
      const std::string tile = std::to_string(run.elements);
      expect_conforms(cut + " -> " + cut + "{2,1,0:T(" + tile + ",1)}", GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Microkernel, TransposesBlocksAndWhatIsLeftOfThem) {
  const std::vector<std::vector<int>> sizes = {{64, 64},   {128, 128}, {128, 512}, {256, 128},
                                               {192, 640}, {129, 257}, {300, 130}, {512, 64},
                                               {260, 320}, {321, 576}, {513, 70},  {257, 133}};
  for (const char* type : {"u8", "u16", "f32", "f64", "c128"}) {
    for (const std::vector<int>& size : sizes) {
      const std::string from = array(type, size);
      expect_conforms(from + " -> " + from + "{0,1}", GetParam());
      if (HasFatalFailure()) return;
    }
    // Several blocks both ways with a loop around them, the source rows further apart than they are
    // long.
    const std::string batch = array(type, {2, 256, 128});
    expect_conforms(batch + "{2,1,0:PAD(2,256,160;zero)} -> " + batch + "{1,2,0}", GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, TransposesIntoRowsThatBeginAnywhereInALine) {
  struct Size {
    const char* type;
    int bytes, rows, columns;
  };
  for (const Size& size :
       {Size{"u8", 1, 256, 128}, Size{"u16", 2, 256, 64}, Size{"f32", 4, 128, 64},
        Size{"f64", 8, 64, 32}, Size{"c128", 16, 64, 16}}) {
    for (int rest = 0; rest < 64 / size.bytes; rest += 1 + rest / 16) {
      // One chunk of rows or several; what is left of rows and of columns.
      const int rows = size.rows + rest % 4 * 128 / size.bytes + rest;
      const std::string from = array(size.type, {rows, size.columns + rest % 3});
      expect_conforms(from + " -> " + from + "{0,1}", GetParam());
      if (HasFatalFailure()) return;
    }
    // Matrices that begin anywhere, too.
    const std::string from = array(size.type, {3, size.rows + 1, size.columns + 1});
    expect_conforms(from + " -> " + from + "{1,2,0}", GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, TransposesElementsOfAnyWidth) {
  struct Element {
    const char* type;
    int count;
  };
  for (const Element& element :
       {Element{"u8", 3}, Element{"u8", 5}, Element{"u16", 3}, Element{"u8", 7}, Element{"u8", 9},
        Element{"u16", 5}, Element{"u8", 11}, Element{"f32", 3}, Element{"u8", 13},
        Element{"u16", 7}, Element{"u8", 15}}) {
    const std::vector<std::vector<int>> sizes = {{16, 16},  {17, 23},  {64, 64},   {128, 64},
                                                 {131, 66}, {200, 91}, {256, 192}, {260, 130}};
    for (const std::vector<int>& size : sizes) {
      const std::string from = array(element.type, {size[0], size[1], element.count});
      expect_conforms(from + " -> " + from + "{2,0,1}", GetParam());
      if (HasFatalFailure()) return;
    }
    const std::string batch = array(element.type, {2, 130, 67, element.count});
    expect_conforms(batch + "{3,2,1,0:PAD(2,130,70,20;zero)} -> " + batch + "{3,1,2,0}",
                    GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, TransposesIntoShortRowsThatTouch) {
  struct Size {
    const char* type;
    int bytes;
  };
  for (const Size& size : {Size{"u8", 1}, Size{"u16", 2}, Size{"f32", 4}, Size{"f64", 8}}) {
    // Blocks have eight lines of the source. Shorter rows than lines, and longer ones.
    for (int rows = 2; rows < 192 / size.bytes; rows += 1 + rows / 16) {
      const int columns = 512 / size.bytes + rows % 3 * 40 / size.bytes;
      const std::string from = array(size.type, {rows, columns});
      expect_conforms(from + " -> " + from + "{0,1}", GetParam());
      // Matrices that begin between lines, too.
      const std::string batch = array(size.type, {2, rows, columns});
      expect_conforms(batch + " -> " + batch + "{1,2,0}", GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

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

TEST_P(Microkernel, TransposesPackedRowsThatBeginAnywhereInAByte) {
  struct Element {
    const char* type;
    int bits;
  };
  for (const Element& element : {Element{"u4", 4}, Element{"u2", 2}, Element{"u1", 1}}) {
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
  struct Element {
    const char* type;
    int bits;
  };
  for (const Element& element : {Element{"u4", 4}, Element{"u2", 2}, Element{"u1", 1}}) {
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

TEST_P(Microkernel, TransposesRowsShorterThanALaneThatTouch) {
  struct Row {
    const char* type;
    int elements;
  };
  for (const Row& row : {Row{"u8", 7}, Row{"u8", 8}, Row{"u8", 9}, Row{"u8", 12}, Row{"u8", 15},
                         Row{"u16", 6}, Row{"u16", 7}}) {
    for (const int rows : {16, 17, 31, 63, 64, 65, 100, 130, 200}) {
      for (const std::vector<int>& size :
           {std::vector{2, rows, row.elements}, {2, row.elements, rows}}) {
        const std::string from = array(row.type, size);
        expect_conforms(from + " -> " + from + "{1,2,0}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Microkernel, RepeatsBlocksThatLieAcrossTheTarget) {
  for (const char* type : {"u8", "u16", "f32", "f64", "c128"}) {
    for (const int rows : {3, 17, 64}) {
      for (const int columns : {16, 67, 130}) {
        const std::string from = array(type, {columns, rows});
        expect_conforms(from + " -> " + array(type, {3, rows, columns}) + " dims={2,1}",
                        GetParam());
        expect_conforms(from + " -> " + array(type, {rows, 2, columns}) + " dims={2,0}",
                        GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

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

TEST_P(Microkernel, TransposesRunsMadeOfSeveralLoops) {
  for (const char* type : {"u8", "u16", "f32", "f64"}) {
    for (const char* sizes : {"[4,4,4,4]", "[8,8,8,8]", "[4,8,16,2]", "[5,3,7,4]", "[2,2,16,16]"}) {
      const std::string from = std::string(type) + sizes;
      expect_conforms(from + " -> " + from + "{0,1,2,3}", GetParam());
      expect_conforms(from + " -> " + from + "{1,0,3,2}", GetParam());
      if (HasFatalFailure()) return;
    }
    // Either operand could go on with the loop in the middle.
    for (const char* sizes : {"[24,17,8]", "[24,16,3]", "[3,33,24]", "[8,65,7]"}) {
      const std::string from = std::string(type) + sizes;
      expect_conforms(from + " -> " + from + "{0,1,2}", GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Microkernel, ComputesBlocksOfSourcesThatDoNotFollowTheTarget) {
  for (const std::vector<int>& size :
       {std::vector<int>{64, 64}, {192, 256}, {129, 320}, {70, 65}}) {
    const std::string sizes = array("", size);
    const std::string across = "[" + std::to_string(size[1]) + "]";
    for (const std::string& text :
         {"convert(f32" + sizes + ") -> s8" + sizes + "{0,1}",
          "convert(bf16" + sizes + ") -> f32" + sizes + "{0,1}",
          "convert(u8" + sizes + ") -> f64" + sizes + "{0,1}",
          "add(f32" + sizes + ", f32" + across + " dims={1}) -> f32" + sizes + "{0,1}",
          "multiply(f32" + sizes + "{0,1}, f32" + sizes + ") -> f32" + sizes + "{0,1}",
          "less(s32" + sizes + ", s32" + sizes + ") -> pred" + sizes + "{0,1}"}) {
      expect_conforms(text, GetParam());
      if (HasFatalFailure()) return;
    }
  }
  // Rows of a line and a half and of half a line, between loops of the source.
  for (const char* channels : {"24", "16", "8", "3"}) {
    const std::string sizes = "[2," + std::string(channels) + ",12,16]";
    expect_conforms("convert(f32" + sizes + ") -> bf16" + sizes + "{1,3,2,0}", GetParam());
    expect_conforms("convert(u8" + sizes + "{1,3,2,0}) -> f32" + sizes, GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, TransposesBlocksOfRunsMadeOfSeveralLoops) {
  // Runs of one loop and of two on either side; their lengths no powers of two; cut blocks.
  const std::vector<std::vector<int>> sizes = {
      {64, 3, 2, 48}, {96, 2, 2, 112}, {32, 2, 4, 32}, {70, 2, 2, 80}};
  for (const char* type : {"u8", "f32", "f64"}) {
    for (const std::vector<int>& size : sizes) {
      const std::string from = array(type, size);
      for (const char* order : {"{0,1,2,3}", "{1,0,3,2}"}) {
        expect_conforms(from + " -> " + from + order, GetParam());
        if (HasFatalFailure()) return;
      }
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

TEST_P(Microkernel, FillsWhatIsPaddingOfATile) {
  for (const char* type : {"u8", "u16", "f32", "f64"}) {
    for (const char* tile : {"T(8,1,1)", "T(16,1,1)", "T(32,1,1)", "T(4,3,1)", "T(3,1,5)"}) {
      for (const int channels : {1, 3, 4, 7, 16, 20, 33}) {
        const std::string from = array(type, {2, channels, 9, 7});
        expect_conforms(from + " -> " + from + "{3,2,1,0:" + tile + "}", GetParam());
        expect_conforms(from + " -> " + from + "{1,3,2,0:" + tile + "}", GetParam());
        expect_conforms(from + "{3,2,1,0:" + tile + "} -> " + from + "{1,3,2,0}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
    for (const int channels : {1, 2, 3, 5}) {
      const std::string from = array(type, {7, 33, channels});
      for (const char* sizes : {"(7,33,8;one)", "(7,34,6;zero)", "(9,35,16;one)"}) {
        const std::string padded = from + "{2,1,0:PAD" + sizes + "}";
        expect_conforms(from + " -> " + padded, GetParam());
        expect_conforms(padded + " -> " + from, GetParam());
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

TEST_P(Microkernel, CopiesLongRowsThatBeginAnywhereInALine) {
  for (const char* type : {"u16", "f32", "f64", "c128"}) {
    // Rows of one and of several turns of the loop, and of more than a unit.
    for (const int elements : {513, 514, 519, 520, 767, 1030, 4101, 8209}) {
      const std::string rows = array(type, {37, 2, elements});
      expect_conforms(rows + " -> " + rows + "{2,0,1}", GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Microkernel, MovesRowsThatBeginAnywhereInALine) {
  struct Row {
    const char* type;
    int bytes;
  };
  for (const Row& row : {Row{"u8", 1}, Row{"u16", 2}, Row{"f32", 4}, Row{"f64", 8}}) {
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

TEST_P(Microkernel, PermutesSmallInnerDimensions) {
  for (const char* type : {"u8", "u16", "f32", "f64", "c128"}) {
    for (const int inner : {2, 3, 4, 5, 7, 12}) {
      for (const int outer : {1, 2, 3, 5, 16, 21, 22, 63, 64, 65, 130, 293}) {
        const std::string from = array(type, {outer, inner}), to = array(type, {inner, outer});
        expect_conforms(from + " -> " + from + "{0,1}", GetParam());
        expect_conforms(to + " -> " + to + "{0,1}", GetParam());
        expect_conforms(array(type, {outer}) + " -> " + from + " dims={0}", GetParam());
        expect_conforms(array(type, {inner}) + " -> " + from + " dims={1}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Microkernel, MovesBetweenColumnsAndSmallTiles) {
  for (const char* type : {"u8", "u16", "f32", "f64"}) {
    for (const char* tile : {"T(2,2)", "T(4,4)", "T(8,8)", "T(16,16)", "T(4,8)", "T(3,5)"}) {
      for (const std::vector<int>& size : {std::vector{64, 64}, {130, 48}, {67, 141}}) {
        const std::string plain = array(type, size), tiled = plain + "{1,0:" + tile + "}";
        expect_conforms(plain + "{0,1} -> " + tiled, GetParam());
        expect_conforms(tiled + " -> " + plain + "{0,1}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Microkernel, LetsRunsLeaveWhereverInALineTheyBegin) {
  struct Element {
    const char* type;
    int bytes;
  };
  for (const Element& element :
       {Element{"u8", 1}, Element{"u16", 2}, Element{"f32", 4}, Element{"f64", 8}}) {
    // Images of several blocks or panels, parts of some, and columns that are left.
    const int line = 64 / element.bytes;
    for (const int rows : {2, 3, 5, 7, 9, 13, 20, 35, 70, 127}) {
      for (const int columns : {9 * line + 1, 22 * line, 40 * line + line / 2 + 1}) {
        if (rows > 20 && columns > 9 * line + 1) continue;
        for (const std::vector<int>& size :
             {std::vector<int>{3, rows, columns}, {3, columns, rows}}) {
          const std::string from = array(element.type, size);
          expect_conforms(from + " -> " + from + "{1,2,0}", GetParam());
          if (HasFatalFailure()) return;
        }
      }
    }
    // Every place in a line.
    for (const char* size : {"[64,3,353]", "[64,353,3]", "[64,9,577]"}) {
      const std::string from = std::string(element.type) + size;
      expect_conforms(from + " -> " + from + "{1,2,0}", GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Microkernel, LetsBatchesOfSmallMatricesLeaveTogether) {
  for (const char* type : {"u8", "u16", "f32", "f64"}) {
    for (const char* size :
         {"[200,7,7]", "[129,13,13]", "[64,5,9]", "[131,3,19]", "[70,19,19]", "[3,150,5,5]",
          "[40,3,7,7]", "[40,24,49]", "[40,49,24]", "[30,100,25]", "[30,25,101]"}) {
      const std::string from = std::string(type) + size;
      const bool four = std::count(from.begin(), from.end(), ',') == 3;
      const std::string order = four ? "{2,3,1,0" : "{1,2,0";
      expect_conforms(from + " -> " + from + order + "}", GetParam());
      if (HasFatalFailure()) return;
    }
    // Matrices that lie apart, or are cut.
    for (const char* text : {"[3,150,5,5] -> [3,150,5,5]{2,3,1,0:PAD(3,151,5,5;zero)}",
                             "[2,3,1400] -> [2,3,1400]{1,2,0:PAD(2,3,1403;one)}",
                             "[2,3,1400] -> [2,3,1400]{1,2,0:PAD(2,4,1400;one)}",
                             "[2,1400,3] -> [2,1400,3]{1,2,0:PAD(2,1400,4;zero)}"}) {
      std::string typed = std::string(type) + text;
      typed.insert(typed.find("-> ") + 3, type);
      expect_conforms(typed, GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Microkernel, MovesBetweenTilesOfFewElements) {
  for (const char* type : {"u8", "u16", "f32"}) {
    for (const char* tiles : {"T(2,1)", "T(4,1)", "T(8,128)(2,1)", "T(8,128)(4,1)", "T(4,4)"}) {
      for (const char* sizes : {"[16,256]", "[17,130]"}) {
        const std::string plain = std::string(type) + sizes, tiled = plain + "{1,0:" + tiles + "}";
        expect_conforms(plain + " -> " + tiled, GetParam());
        expect_conforms(tiled + " -> " + plain, GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace restride::testing
