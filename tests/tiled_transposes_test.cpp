// Transposes of tiles, of the source or of both, that do not stay in the caches: where images are
// made of them rather than lines permuted or small panels, and in which order they are permuted.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/microkernel_tails.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Streaming, Microkernel, ::testing::ValuesIn(streaming_setups()),
                         [](const auto& info) { return name_of(info.param); });

Target tiled_target() {
  Target target = streaming_target();
  target.l3_bytes = int64_t{32} << 20;
  return target;
}

struct Row {
  const char* text;
  int64_t run_bytes;  // 0: no images
};

void expect_images(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Schedule schedule = scheduled(row.text, tiled_target());
    const bool images = schedule.staging == Staging::images;
    EXPECT_EQ(images, row.run_bytes != 0) << row.text;
    if (!images || !row.run_bytes) continue;
    EXPECT_EQ(target_run_elements(schedule) * schedule.space.op.bytes, row.run_bytes) << row.text;
  }
}

TEST(ImagedTiles, AreMadeWhereRunsBeginBetweenLines) {
  expect_images({// The last tile has 17 rows.
                 {"f32[5809,3650]{1,0:T(32,32)} -> f32[5809,3650]{0,1}", 7 * 32 * 4},
                 {"u8[17356,6700]{1,0:T(8,128)} -> u8[17356,6700]{0,1}", 109 * 8},
                 {"f16[44041,700]{1,0:T(8,8)} -> f16[44041,700]{0,1}", 64 * 8 * 2},
                 {"f32[112,104,19,28,8] -> f32[112,104,19,28,8]{1,3,0,2,4}", 2 * 104 * 4},
                 {"f32[45,32,714,32] -> f32[45,32,714,32]{2,3,1,0}", 714 * 4},
                 // Few rows or columns; columns of eight bytes.
                 {"f32[3352,8800]{1,0:T(2,16)} -> f32[3352,8800]{0,1}", 0},
                 {"f32[968,8808]{1,0:T(4,4)} -> f32[968,8808]{0,1}", 0},
                 {"u8[4700,11176]{1,0:T(32,8)} -> u8[4700,11176]{0,1}", 0},
                 // Runs of one loop, of more than a page, and of few columns.
                 {"f32[937244,32] -> f32[937244,32]{0,1}", 0},
                 {"f32[5,229,8,321,8] -> f32[5,229,8,321,8]{3,1,0,4,2}", 0}});
}

TEST(ImagedTiles, AreMadeOfSmallOnesWhereRunsAreLines) {
  expect_images({{"f32[1280,8064]{1,0:T(8,8)} -> f32[1280,8064]{0,1}", 1024},
                 {"f32[48,32,40,16,8] -> f32[48,32,40,16,8]{3,1,4,0,2}", 1024},
                 {"u8[9600,9600]{1,0:T(16,16)} -> u8[9600,9600]{0,1}", 960},
                 // Columns of a line, of narrow elements more than a lane.
                 {"f32[4096,4096]{1,0:T(16,16)} -> f32[4096,4096]{0,1}", 0},
                 {"f16[3712,9984]{1,0:T(16,16)} -> f16[3712,9984]{0,1}", 0},
                 // Two rows; rows of two lines; rows that do not follow the columns.
                 {"u8[17408,5696]{1,0:T(2,16)} -> u8[17408,5696]{0,1}", 0},
                 {"f32[60,3,16,146,32,4] -> f32[60,3,16,146,32,4]{4,1,3,0,5,2}", 0},
                 {"f32[8,256,256,6,8] -> f32[8,256,256,6,8]{0,2,3,1,4}", 0}});
}

TEST(ImagedRuns, MayBeShorterBeyondTheThirdLevel) {
  expect_images({{"f32[80,31,25,6,19,5] -> f32[80,31,25,6,19,5]{3,4,5,0,1,2}", 114 * 4},
                 {"f32[80,31,25,6,15,5] -> f32[80,31,25,6,15,5]{3,4,5,0,1,2}", 0},
                 {"u8[900,123900]{1,0:T(32,32)} -> u8[900,123900]{0,1}", 15 * 32},
                 {"u8[900,12390]{1,0:T(32,32)} -> u8[900,12390]{0,1}", 0}});
}

TEST(PermutedTiles, AreTakenTogetherWhereBothOperandsGoOnWithThem) {
  const auto source = [](const char* text) {
    return source_strides(scheduled(text, tiled_target()));
  };
  using Strides = std::vector<int64_t>;
  // Two of 128 bytes make half a tile of the target, around which a page of the source comes.
  EXPECT_EQ(source("f16[4096,4096]{1,0:T(8,8)} -> f16[4096,4096]{0,1:T(16,16)}"),
            (Strides{4096, 131072, 256, 131072, 128}));
  // A block holds both of 32 bytes.
  EXPECT_EQ(source("f16[4096,4096]{1,0:T(4,4)} -> f16[4096,4096]{0,1:T(8,8)}"),
            (Strides{4096, 65536, 64, 65536}));
  // The tile of the target is no page.
  EXPECT_EQ(source("bf16[4096,4096] -> bf16[4096,4096]{1,0:T(8,128)(2,1)}"),
            (Strides{65536, 256, 16384, 64}));
}

TEST_P(Microkernel, MakesImagesOfTiles) {
  for (const char* const tiles : {"T(8,128)", "T(32,32)", "T(16,16)", "T(8,8)", "T(4,4)"}) {
    for (const char* const type : {"u8", "f16", "f32", "f64"}) {
      for (const char* const extents : {"[512,160]", "[515,133]", "[1033,47]"}) {
        const std::string array = std::string(type) + extents;
        expect_conforms(array + "{1,0:" + tiles + "} -> " + array + "{0,1}", GetParam());
      }
    }
  }
}

TEST_P(Microkernel, PermutesTilesIntoLargerOnes) {
  for (const char* const array : {"u8[160,176]", "f16[131,96]", "f32[96,75]", "f64[64,40]"}) {
    const std::string text = array;
    expect_conforms(text + "{1,0:T(8,8)} -> " + text + "{0,1:T(16,16)}", GetParam());
    expect_conforms(text + "{1,0:T(4,4)} -> " + text + "{0,1:T(8,8)}", GetParam());
    expect_conforms(text + "{1,0:T(16,16)} -> " + text + "{0,1:T(8,8)}", GetParam());
  }
}

}  // namespace
}  // namespace restride::testing
