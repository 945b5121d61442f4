// Transposes over their tails: extents around the sizes of networks and blocks, runs of one loop
// and of several, rows that begin anywhere in a line. See support/microkernel_tails.hpp.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/arithmetic.hpp"
#include "microkernel/transpose/column_places.hpp"
#include "microkernel/transpose/shifted_lines.hpp"
#include "support/microkernel_tails.hpp"

namespace restride::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Every, Microkernel, ::testing::ValuesIn(setups()),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(Microkernel, TransposesEveryTail) {
  for (const char* type : {"u8", "u16", "f32", "f64", "c128"}) {
    for (const int rows : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 67}) {
      for (const int columns : {1, 2, 3, 4, 5, 8, 11, 15, 16, 17, 20, 31}) {
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
                                               {129, 257}, {300, 130}, {512, 64},  {260, 320},
                                               {321, 576}, {513, 70},  {128, 49},  {448, 128}};
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
    for (int rest = 0; rest < 128 / size.bytes; rest += 1 + rest / 16) {
      // One chunk of rows or several, and less than one; what is left of columns.
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

TEST(Transposes, LetBoxesLeaveByThemselvesBetweenLines) {
  const restride::testing::Setup setup{"avx512_vbmi", Caches::hold_nothing, true};
  for (const Element& element : every_width) {
    for (const int run_bytes : {128, 384, 576, 1408}) {
      const int run = run_bytes / element.bytes;
      const int apart = run_bytes < 512 ? 23 : 5;
      // Whole panels of columns, what is left of them, and none; rows of the source lie apart.
      for (const int column_bytes : {64, 200, 56}) {
        const int columns = column_bytes / element.bytes;
        const std::string three = array(element.type, {run, apart, columns});
        expect_conforms(three + " -> " + three + "{0,2,1}", setup);
        const std::string four = array(element.type, {2, run, apart, columns});
        expect_conforms(four + " -> " + four + "{1,0,3,2}", setup);
        if (HasFatalFailure()) return;
      }
      const std::string digits = array(element.type, {run, 5, 4, 64 / element.bytes});
      expect_conforms(digits + " -> " + digits + "{0,2,3,1}", setup);
      expect_conforms(digits + " -> " + digits + "{0,1,2,3}", setup);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Microkernel, TransposesElementsOfAnyWidth) {
  struct Unit {
    const char* type;
    int count;
  };
  for (const Unit& unit :
       {Unit{"u8", 3}, Unit{"u8", 5}, Unit{"u16", 3}, Unit{"u8", 7}, Unit{"u8", 9}, Unit{"u16", 5},
        Unit{"u8", 11}, Unit{"f32", 3}, Unit{"u8", 13}, Unit{"u16", 7}, Unit{"u8", 15}}) {
    const std::vector<std::vector<int>> sizes = {{16, 16},  {17, 23},  {64, 64},   {128, 64},
                                                 {131, 66}, {200, 91}, {256, 192}, {260, 130},
                                                 {100, 11}, {9, 130},  {70, 5},    {6, 200}};
    for (const std::vector<int>& size : sizes) {
      const std::string from = array(unit.type, {size[0], size[1], unit.count});
      expect_conforms(from + " -> " + from + "{2,0,1}", GetParam());
      if (HasFatalFailure()) return;
    }
    const std::string batch = array(unit.type, {2, 130, 67, unit.count});
    expect_conforms(batch + "{3,2,1,0:PAD(2,130,70,20;zero)} -> " + batch + "{3,1,2,0}",
                    GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, TransposesIntoShortRowsThatTouch) {
  for (const Element& size : every_width) {
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

TEST(Transposes, MakeImagesOfTwoPages) {
  for (const char* features : {"avx512", "avx512_vbmi"}) {
    const restride::testing::Setup setup{features, Caches::hold_nothing};
    for (const Element& size : every_width) {
      for (const int rows : {64, 65, 66, 71, 97, 100, 125, 126, 129}) {
        // Blocks, and what is left of columns; matrices that begin between lines, too.
        const int columns = 1024 / size.bytes + rows % 3 * 40 / size.bytes;
        const std::string from = array(size.type, {rows, columns});
        expect_conforms(from + " -> " + from + "{0,1}", setup);
        const std::string batch = array(size.type, {2, rows, columns});
        expect_conforms(batch + " -> " + batch + "{1,2,0}", setup);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ColumnPlaces, KeepColumnsAndVectorsOfThemWithinAPage) {
  constexpr int64_t page = 4096, line = 64;
  for (const int64_t columns : {4, 8, 16, 32, 64}) {
    for (int64_t run = 65; run * columns < 3 * page; run += 1 + run / 16) {
      const int64_t together = run % 2 == 0 ? 1 : columns / 4;
      const ColumnPlaces places = ColumnPlaces::in_pages(run, columns, together, line, page);
      const int64_t in_page = (page - line) / run / together * together;
      const bool evenly = run * columns <= page || in_page == 0 || 2 * in_page < columns;
      ASSERT_EQ(places.evenly(), evenly) << run << " x " << columns;
      if (!evenly) EXPECT_EQ(places.columns_of_page(), in_page) << run << " x " << columns;
      for (int64_t k = 0; k < columns; ++k) {
        const int64_t begin = places.at(k), last = begin + run - 1;
        if (evenly) {
          EXPECT_EQ(begin, k * run);
        } else {
          EXPECT_EQ(begin / page, last / page) << run << " x " << columns << ": " << k;
        }
        // As it lies in lines of the run, and behind the columns before.
        EXPECT_EQ(begin % line, k * run % line) << run << " x " << columns << ": " << k;
        EXPECT_GE(begin, k * run);
        const ColumnPlaces::Stretch stretch = places.stretch(k * run);
        EXPECT_EQ(k * run + stretch.moved, begin);
        EXPECT_GE(stretch.end, (k + 1) * run);
      }
    }
  }
}

TEST_P(Microkernel, TransposesRowsShorterThanALaneThatTouch) {
  struct Row {
    const char* type;
    int elements;
  };
  for (const Row& row : {Row{"u8", 6}, Row{"u8", 7}, Row{"u8", 8}, Row{"u8", 9}, Row{"u8", 12},
                         Row{"u8", 15}, Row{"u16", 6}, Row{"u16", 7}, Row{"u16", 8}}) {
    for (const int rows : {16, 17, 25, 31, 40, 47, 49, 56, 57, 63, 64, 65, 100, 130, 200}) {
      for (const std::vector<int>& size :
           {std::vector{2, rows, row.elements}, {2, row.elements, rows}}) {
        const std::string from = array(row.type, size);
        expect_conforms(from + " -> " + from + "{1,2,0}", GetParam());
        if (HasFatalFailure()) return;
      }
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

TEST_P(Microkernel, TransposesIntoRunsOfSeveralLoopsThatBeginAnywhereInALine) {
  for (const Element& element : every_width) {
    for (const int inner : {3, 5, 8, 17, 28, 70}) {
      // Runs of an image and of some, what is left of them, and of columns.
      const int outer = 700 / (inner * element.bytes) + inner % 3 * 500 / inner;
      for (const int column_bytes : {16, 40, 64, 76, 130, 170, 260}) {
        const int columns = column_bytes / element.bytes + inner % 2;
        const std::string from = array(element.type, {inner, outer, 2, columns});
        expect_conforms(from + " -> " + from + "{0,1,2,3}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
    // Three loops; rows of one that are short; padding between columns.
    const std::string three = array(element.type, {9, 5, 7, 4, 3, 24});
    expect_conforms(three + " -> " + three + "{0,2,1,3,5,4}", GetParam());
    const std::string rows = array(element.type, {610 / element.bytes, 3, 33});
    expect_conforms(rows + " -> " + rows + "{0,2,1}", GetParam());
    expect_conforms(rows + " -> " + rows + "{0,2,1:PAD(615,4,33;one)}", GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, TransposesLongRunsOfSeveralLoopsPieceByPiece) {
  if (!shifts_lines(target_of(GetParam()), 8)) return;
  for (const Element& element : every_width) {
    const int columns = 40 / element.bytes;
    // Pieces that end wherever in a line; enough of all else for threads to share.
    for (const int piece_bytes : {512, 528, 584, 632, 656, 1016}) {
      for (const int pieces : {2, 3, 8}) {
        if (pieces == 8 && piece_bytes != 584) continue;
        const std::string from =
            array(element.type, {16, 2, piece_bytes / element.bytes / 2, pieces, columns});
        expect_conforms(from + " -> " + from + "{1,2,3,0,4}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
    // Of one loop.
    const std::string one = array(element.type, {3, 700 / element.bytes * 4, 16, columns});
    expect_conforms(one + " -> " + one + "{1,0,2,3}", GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, StagesRowsOfSeveralDigitsThatMakeLines) {
  for (const Element& element : every_width) {
    struct Box {
      int digit_lanes, column_bytes;
    };
    // Rows that are asked for whole, in halves, several at once; columns that are left.
    for (const Box& box : {Box{1, 64}, Box{3, 520}, Box{5, 192}, Box{7, 1280}}) {
      const int digit = box.digit_lanes * 16 / element.bytes;
      const int columns = box.column_bytes / element.bytes;
      const std::string two = array(element.type, {digit, 8, 2, columns});
      expect_conforms(two + " -> " + two + "{0,1,3,2}", GetParam());
      const std::string three = array(element.type, {digit, 2, 8, columns});
      expect_conforms(three + " -> " + three + "{0,1,2,3}", GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Microkernel, PutsRowsOfBothOperandsTogetherThatBeginBetweenLines) {
  for (const Element& element : every_width) {
    for (const int row_bytes : {20, 40, 72, 136, 300}) {
      const int row = row_bytes / element.bytes + row_bytes % 3;
      // Runs of an image and of some, what is left of them, and of panels of columns.
      const int rows = 1100 / (row * element.bytes) + 1;
      const std::string two = array(element.type, {rows, 19, row});
      expect_conforms(two + " -> " + two + "{2,0,1}", GetParam());
      const std::string three = array(element.type, {2, rows, 7, 3, row});
      expect_conforms(three + " -> " + three + "{4,1,0,2,3}", GetParam());
      expect_conforms(three + " -> " + three + "{4,1,3,2,0:PAD(2," + std::to_string(rows) +
                          ",7,4," + std::to_string(row) + ";one)}",
                      GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Microkernel, MovesTilesThatManyBoundsCut) {
  for (const char* text :
       {"u8[63,33,29,20]{3,2,1,0:T(4)} -> u8[63,33,29,20]{1,0,3,2:T(32,8)}",
        "f32[25,60,255]{2,0,1:T(16,128)} -> f32[25,60,255]{2,1,0:T(8,8,1)}",
        "f32[44,3,7,30]{0,2,3,1:T(4,32)(2,1)} -> f32[44,3,7,30]{3,2,1,0:T(4,8)(2,1)}",
        "f32[24,1055]{0,1:T(2,1)} -> f32[24,1055]{1,0:PAD(24,1055;zero)}",
        "u8[8,16,39,45]{3,2,1,0:T(8,4)(4,1)} -> u8[8,16,39,45]{3,2,1,0:T(16,4,1,1)}",
        "u8[3,19,31,39]{1,3,0,2:T(16,64)(4,1)} -> u8[3,19,31,39]",
        "u8[2,90,24,88] -> u8[2,90,24,88]{1,2,3,0}", "u8[100,15,257] -> u8[100,15,257]{0,1,2}",
        "u8[65,3,25,88]{0,3,1,2:T(2,1,1,1)} -> u8[65,3,25,88]{3,2,1,0:T(2)}"}) {
    expect_conforms(text, GetParam());
    if (HasFatalFailure()) return;
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

}  // namespace
}  // namespace restride::testing
