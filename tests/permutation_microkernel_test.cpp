// Permuted blocks over their tails: small inner dimensions, tiles of few elements, batches of small
// matrices. See support/microkernel_tails.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/microkernel_tails.hpp"

namespace restride::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Every, Microkernel, ::testing::ValuesIn(setups()),
                         [](const auto& info) { return name_of(info.param); });

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

TEST_P(Microkernel, RepeatsElementsOfASourceThatLiesAcross) {
  for (const char* type : {"u8", "u16", "f32", "f64"}) {
    for (const int times : {2, 3, 5}) {
      for (const std::vector<int>& size : {std::vector{7, 40}, {65, 33}, {130, 67}}) {
        const int rows = size[0], columns = size[1];
        expect_conforms(
            array(type, size) + " -> " + array(type, {columns, rows, times}) + " dims={1,0}",
            GetParam());
        // Pixels of planes, each of them so often.
        expect_conforms(array(type, {3, rows, columns}) + " -> " +
                            array(type, {rows, columns, times, 3}) + " dims={3,0,1}",
                        GetParam());
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

TEST_P(Microkernel, SharesBlendsBetweenManyWindows) {
  for (const char* text :
       {// Windows of lines, of halves, of one and the other.
        "u8[48,40,8]{2,1,0:T(16,4,1)} -> u8[48,40,8]",
        "u8[70,131]{0,1:PAD(70,136;zero)} -> u8[70,131]{1,0:T(2,2)}",
        "u8[10,48,64]{2,1,0:T(4,1,1)} -> u8[10,48,64]{1,2,0:T(2,2)}",
        "u8[80,85]{0,1:T(2,4)} -> u8[80,85]{1,0:T(2)}",
        // Rows of a few bytes that are cut, and others with padding.
        "u8[70,139] -> u8[70,139]{1,0:T(32,4)}", "u8[67,139]{1,0:T(32,4)} -> u8[67,139]",
        "u8[91,57]{0,1:T(2,128)(2,1)} -> u8[91,57]{1,0:T(8,128)}",
        "bf16[7,10,68,1] -> bf16[7,10,68,1]{1,0,2,3:T(2,1,1,1)}",
        "bf16[57,17,20]{2,0,1:T(2,128)(2,1)} -> bf16[57,17,20]{0,2,1}",
        "bf16[40,70]{1,0:PAD(48,72;zero)} -> bf16[40,70]{0,1:T(2,4)}",
        // Rows of lanes, and short ones that touch for less than a vector.
        "u8[45,90]{1,0:T(16,1)} -> u8[45,90]{1,0:T(2,16)}",
        "bf16[40,70]{0,1} -> bf16[40,70]{1,0:T(4,8)}",
        "u8[77,141]{0,1:PAD(80,141;zero)} -> u8[77,141]{1,0:T(32,8)}",
        "u8[64,6,31,8]{3,1,0,2:T(32,32,1,1)} -> u8[64,6,31,8]{3,0,2,1:PAD(64,6,32,8;zero)}",
        "u8[8,20,20,6]{2,0,3,1} -> u8[8,20,20,6]{3,2,1,0:T(2,1,1,1)}",
        // Windows merged two by two: dense, spread, with padding, with elements twice.
        "u8[3,48,10] -> u8[3,48,10]{1,2,0}", "u8[12,60] -> u8[12,60]{0,1}",
        "u8[4,5,8,4,3] -> u8[4,5,8,4,3]{2,0,3,1,4}", "u16[2,20,9] -> u16[2,20,9]{1,2,0}",
        "u8[2,15,39] -> u8[2,15,39]{1,2,0:PAD(2,16,40;one)}", "u16[9,20] -> u16[20,2,9] dims={2,0}",
        "f32[3,8,7] -> f32[3,8,7]{1,2,0}",
        // Other numbers of windows than powers of two.
        "u8[3,62,48]{2,1,0:T(4,1,1)} -> u8[3,62,48]{2,1,0:T(32)}",
        "f32[46,8,5]{2,1,0:PAD(46,16,16;zero)} -> f32[46,8,5]{0,1,2:T(16,64)}",
        "f32[3,5,32,17]{1,3,2,0:PAD(16,16,32,32;zero)} -> f32[3,5,32,17]"}) {
    expect_conforms(text, GetParam());
    if (HasFatalFailure()) return;
  }
}

// In the second level, where blocks of whole pixels share blends.
TEST(Pixels, AreTurnedOverTailsOfTheirBlocks) {
  struct Pixel {
    const char* type;
    int numbers, in_block;
  };
  for (const Target& target : known_targets()) {
    for (const Pixel& pixel :
         {Pixel{"u8", 3, 16}, Pixel{"u8", 5, 12}, Pixel{"u16", 3, 10}, Pixel{"u8", 7, 9},
          Pixel{"u8", 9, 7}, Pixel{"u16", 5, 6}, Pixel{"u8", 11, 5}, Pixel{"f32", 3, 5},
          Pixel{"u8", 13, 4}, Pixel{"u16", 7, 4}, Pixel{"u8", 15, 4}, Pixel{"u8", 17, 3},
          Pixel{"f32", 5, 3}, Pixel{"u8", 21, 3}, Pixel{"u8", 23, 2}}) {
      const int block = pixel.in_block;
      for (int rows = 2 * block - 1; rows <= 3 * block; ++rows) {
        for (const int columns : {2 * block, 5 * block - 1}) {
          const std::string image = array(pixel.type, {rows, columns, pixel.numbers});
          expect_conforms(image + " -> " + image + "{2,0,1}", {target.name, Caches::leave_l1});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(Microkernel, PermutesWithinPiecesThatLieApart) {
  struct Row {
    const char* type;
    std::vector<int> piece;
  };
  for (const Row& row : {Row{"u8", {6, 6}},
                         {"u8", {4, 10}},
                         {"u16", {3, 7}},
                         {"u16", {2, 9}},
                         {"f32", {2, 5}},
                         {"f32", {5, 2}},
                         {"f32", {3, 5}},
                         {"f64", {2, 3}}}) {
    for (const std::vector<int>& outer : {std::vector{9, 3, 8}, {16, 1, 21}, {33, 2, 17}}) {
      std::vector<int> size = outer;
      size.insert(size.end(), row.piece.begin(), row.piece.end());
      const std::string from = array(row.type, size);
      expect_conforms(from + " -> " + from + "{3,4,0,1,2}", GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Microkernel, LetsRunsLeaveWhereverInALineTheyBegin) {
  for (const Element& element : every_width) {
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

TEST_P(Microkernel, LetsTilesThatFollowEachOtherLeaveTogether) {
  for (const char* text : {"bf16[24,640] -> bf16[24,640]{1,0:T(8,128)(2,1)}",
                           "bf16[26,900] -> bf16[26,900]{1,0:T(8,128)(2,1)}",
                           "u8[32,1152] -> u8[32,1152]{1,0:T(8,128)(4,1)}",
                           "u8[33,1100] -> u8[33,1100]{1,0:T(8,128)(4,1)}",
                           "bf16[3,16,7,256] -> bf16[3,16,7,256]{3,1,2,0:T(4,64)(2,1)}"}) {
    expect_conforms(text, GetParam());
    if (HasFatalFailure()) return;
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

/// Where transposes around the caches would write few lines of elements that fill a lane.
TEST_P(Microkernel, PermutesElementsThatFillALaneByHalves) {
  for (const char* text :
       {"c128[33,27] -> c128[33,27]{0,1}", "c128[64,48] -> c128[64,48]{0,1}",
        "c128[5,7,12] -> c128[5,7,12]{0,1,2}", "c128[3,100] -> c128[3,100]{0,1}",
        "c128[33,20] -> c128[33,20]{0,1:PAD(35,24;zero)}",
        "c128[33,20] -> c128[33,20]{0,1:PAD(35,24;one)}", "f32[43,60] -> f32[43,60]{1,0:T(8,4)}",
        "f64[40,66] -> f64[40,66]{1,0:T(8,2)}", "u8[40,160] -> u8[40,160]{1,0:T(16,16)}"}) {
    expect_conforms(text, GetParam());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace restride::testing
