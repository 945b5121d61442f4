// Which problems go around the caches. None of this changes what arrives.
#include <gtest/gtest.h>

#include <vector>

#include "schedule/scheduling.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"
#include "target/target.hpp"

namespace restride::testing {
namespace {

struct Row {
  const char* text;
  bool nontemporal;
};

void expect_streaming(const std::vector<Row>& rows, const Target& target) {
  for (const Row& row : rows)
    EXPECT_EQ(scheduled(row.text, target).nontemporal, row.nontemporal) << row.text;
}

TEST(Streaming, GoesAroundTheCachesLaterWhereHardlyAnythingIsRead) {
  Target target = *find_target("avx512_vbmi");
  target.streaming_bytes = 1 << 20;
  target.streaming_fill_bytes = 1 << 23;
  expect_streaming({{"f32[1024,256] -> f32[1024,256]{1,0:PAD(1024,257;zero)}", true},
                    {"f32[64,256] -> f32[16,64,256] dims={1,2}", false},
                    {"f32[256] -> f32[7000,256] dims={1}", false},
                    {"f32[256] -> f32[9000,256] dims={1}", true},
                    {"f32[1024,256] -> f32[2,1024,256] dims={1,2}", true}},
                   target);
}

TEST(Streaming, BeginsEarlierWhereWhatRepeatsIsWrittenPagesApart) {
  Target target = *find_target("avx512_vbmi");
  target.l1_bytes = 32 * 1024;
  target.l3_bytes = 32 << 20;
  target.streaming_fill_bytes = 1 << 23;
  target.streaming_page_repeat_bytes = 1 << 22;
  target.streaming_repeat_bytes = 1 << 21;
  expect_streaming(
      {// By chunks; less than that.
       {"f32[10000] -> f32[60,10000] dims={1}", true},
       {"f32[10000]{0} -> f32[10000,60]{0,1} dims={0}", true},
       {"f32[10000] -> f32[50,10000] dims={1}", false},
       // Rows that stay in L1; nearer ones; elements.
       {"f32[2000] -> f32[600,2000] dims={1}", true},
       {"f32[2000] -> f32[500,2000] dims={1}", false},
       {"f32[1000] -> f32[1200,1000] dims={1}", false},
       {"f32[40,1000] -> f32[40,30,1000] dims={0,2}", false},
       {"f32[10000] -> f32[10000,100] dims={0}", false}},
      target);
}

TEST(Streaming, BeginsEarlierWhereNeighboursInTheTargetAreNoneInTheSource) {
  Target target = *find_target("avx512_vbmi");
  target.l1_bytes = 32 * 1024;
  target.streaming_bytes = 1 << 22;
  target.transposed_streaming_bytes = 1 << 20;
  expect_streaming({{"f32[320,600] -> f32[320,600]{0,1}", true},
                    {"f32[320,400] -> f32[320,400]{0,1}", false},  // less than that
                    {"u8[200000,3] -> u8[200000,3]{0,1}", true},
                    {"u8[7,100000] -> u8[7,100000]{0,1}", true},
                    // Rows stay whole.
                    {"f32[20,30,400] -> f32[20,30,400]{2,0,1}", false},
                    {"f32[300,600]{1,0:PAD(300,640;unknown)} -> f32[300,600]", false}},
                   target);
}

TEST(Streaming, BeginsLaterWhereRowsOfNarrowElementsBeginBetweenLines) {
  Target target = *find_target("avx512_vbmi");
  target.l1_bytes = 32 * 1024;
  target.translated_pages = 1792;
  target.transposed_streaming_bytes = target.crowded_streaming_bytes = 1 << 18;
  target.imaging_bytes = target.gathered_streaming_bytes = 1 << 18;
  target.narrow_streaming_bytes = 1 << 22;
  expect_streaming({{"u8[700,1900] -> u8[700,1900]{0,1}", false},
                    {"u16[500,1900] -> u16[500,1900]{0,1}", false},
                    {"u8[2000,3,300] -> u8[2000,3,300]{0,2,1}", false},
                    {"u8[700,3100] -> u8[700,3100]{0,1}", true},  // more than that
                    {"u8[704,1900] -> u8[704,1900]{0,1}", true},  // on lines
                    {"u8[190,5000] -> u8[190,5000]{0,1}", true},  // few rows
                    {"u8[193,5000] -> u8[193,5000]{0,1}", false},
                    {"u8[3077,500] -> u8[3077,500]{0,1}", true},    // many
                    {"u16[513,1000] -> u16[513,1000]{0,1}", true},  // near each other
                    {"u16[510,1000] -> u16[510,1000]{0,1}", false},
                    {"u8[1025,1900] -> u8[1025,1900]{0,1}", true},  // crowding sets
                    {"f32[300,1700] -> f32[300,1700]{0,1}", true}},
                   target);
  target.narrow_streaming_bytes = 1 << 24;
  expect_streaming({{"u8[3077,1027] -> u8[3077,1027]{0,1}", false},  // many, but apart
                    {"u8[3077,1024] -> u8[3077,1024]{0,1}", true}},
                   target);
  target.narrow_streaming_bytes = 1 << 22;
  target.translated_pages = 324;
  expect_streaming({{"u8[700,1900] -> u8[700,1900]{0,1}", true},  // of 324.7 pages
                    {"u8[690,1900] -> u8[690,1900]{0,1}", false}},
                   target);
}

TEST(Streaming, BeginsLaterWhereRowsTouchOthersAndColumnsAreNarrow) {
  Target target = *find_target("avx512_vbmi");
  target.l1_bytes = 32 * 1024;
  target.transposed_streaming_bytes = target.imaging_bytes = 1 << 18;
  target.narrow_streaming_bytes = 1 << 22;
  expect_streaming({{"f32[102,130,36] -> f32[102,130,36]{0,1,2}", false},
                    {"u16[102,130,36] -> u16[102,130,36]{0,1,2}", false},
                    {"f64[50,67,23] -> f64[50,67,23]{0,1,2}", false},
                    {"f32[102,330,36] -> f32[102,330,36]{0,1,2}", true},  // more than that
                    {"f32[46,130,36] -> f32[46,130,36]{0,1,2}", true},    // short rows
                    {"f32[102,130,16] -> f32[102,130,16]{0,1,2}", true},  // a line of columns
                    {"f32[102,50,66] -> f32[102,50,66]{0,1,2}", true},    // more than four
                    {"f64[50,67,33] -> f64[50,67,33]{0,1,2}", true},
                    {"u16[102,50,66] -> u16[102,50,66]{0,1,2}", true},    // more than 64
                    {"f32[96,130,36] -> f32[96,130,36]{0,1,2}", true},    // on lines
                    {"f32[102,35,130] -> f32[102,35,130]{0,2,1}", true},  // columns follow rows
                    {"f32[70,102,36] -> f32[70,102,36]{1,2,0}", true},
                    {"c128[13,51,13] -> c128[13,51,13]{0,1,2}", true},
                    // Longer rows.
                    {"f32[1801,36] -> f32[1801,36]{0,1}", false},
                    {"u16[4,901,36] -> u16[4,901,36]{1,2,0}", false},
                    {"f32[1801,66] -> f32[1801,66]{0,1}", true},
                    {"f32[1808,36] -> f32[1808,36]{0,1}", true},
                    {"f64[17003,3] -> f64[17003,3]{0,1}", true}},
                   target);
  // Those that no images would be made of stay as they are.
  target.imaging_bytes = 1 << 22;
  const char* const text = "f32[1801,36] -> f32[1801,36]{0,1}";
  const int64_t run = target_run_elements(scheduled(text, target));
  target.narrow_streaming_bytes = 0;
  EXPECT_EQ(target_run_elements(scheduled(text, target)), run);
}

TEST(Streaming, BeginsEarlierWhereColumnsThatCrowdSetsBeginBetweenLines) {
  Target target = *find_target("avx512_vbmi");
  target.l1_bytes = 32 * 1024;
  target.rereads_crowded_rows = true;
  target.crowded_between_lines_bytes = 7 << 18;
  target.crowded_streaming_bytes = target.transposed_streaming_bytes = 1 << 23;
  expect_streaming({{"u16[1025,256] -> u16[1025,256]{0,1}", true},
                    {"u16[3,2049,64] -> u16[3,2049,64]{1,2,0}", true},
                    {"u8[1025,1024] -> u8[1025,1024]{0,1}", true},
                    {"f32[1023,256] -> f32[1023,256]{0,1}", true},
                    {"u8[1025,512] -> u8[1025,512]{0,1}", false},        // less than that
                    {"u16[9,1025,32] -> u16[9,1025,32]{1,2,0}", false},  // near each other
                    {"u16[1025,250] -> u16[1025,250]{0,1}", false},      // between lines
                    {"u16[1024,256] -> u16[1024,256]{0,1}", false},      // on lines
                    {"u16[1100,256] -> u16[1100,256]{0,1}", false},      // crowding none
                    {"f64[1025,128] -> f64[1025,128]{0,1}", false}},
                   target);
}

TEST(Streaming, CountsLinesThatColumnsShareOnce) {
  // Columns 5 to 8 bytes apart: nine to thirteen of them, or eight, in a line.
  Target target = *find_target("avx512_vbmi");
  target.l1_bytes = 32 * 1024;
  target.crowded_streaming_bytes = 1 << 16;
  for (const char* text :
       {"u8[5,100000] -> u8[5,100000]{0,1}", "u8[7,100000] -> u8[7,100000]{0,1}",
        "u8[8,100000] -> u8[8,100000]{0,1}", "u16[3,100000] -> u16[3,100000]{0,1}"}) {
    EXPECT_FALSE(scheduled(text, target).nontemporal) << text;
  }
}

TEST(Streaming, BeginsEarlierWhereRowsOfTheSourceCrowdSetsOfTheCaches) {
  Target target = streaming_target();
  target.transposed_streaming_bytes = int64_t{1} << 30;
  target.gathered_streaming_bytes = int64_t{1} << 23;
  expect_streaming({{"f32[1200,1024] -> f32[1200,1024]{0,1}", true},
                    {"u8[1200,4096] -> u8[1200,4096]{0,1}", true},
                    {"f32[1000,1000] -> f32[1000,1000]{0,1}", false},
                    // In all sets; less than that.
                    {"f32[1200,1040] -> f32[1200,1040]{0,1}", false},
                    {"f32[800,1024] -> f32[800,1024]{0,1}", false},
                    // Columns crowd sets, too: in two, in one; wide ones, narrow ones.
                    {"f32[512,512] -> f32[512,512]{0,1}", false},
                    {"f32[1024,512] -> f32[1024,512]{0,1}", true},
                    {"f64[512,512] -> f64[512,512]{0,1}", true},
                    {"u16[1024,1024] -> u16[1024,1024]{0,1}", true}},
                   target);
}

TEST(Streaming, LeavesColumnsThatCrowdSetsInTheCachesWhereRowsDoNot) {
  Target target = *find_target("avx512_vbmi");
  target.l1_bytes = 32 * 1024;
  target.crowded_streaming_bytes = 1 << 20;
  target.gathered_streaming_bytes = target.streaming_bytes = 1 << 23;
  expect_streaming({{"f32[1024,300] -> f32[1024,300]{0,1}", false},
                    {"f32[1024,1100] -> f32[1024,1100]{0,1}", true},      // too large
                    {"f32[1024,256] -> f32[1024,256]{0,1}", true},        // rows do, too
                    {"f32[2,1025,300] -> f32[2,1025,300]{1,2,0}", true},  // between lines
                    {"u8[4096,300] -> u8[4096,300]{0,1}", false},
                    {"u16[2048,300] -> u16[2048,300]{0,1}", true}},
                   target);
}

/// What vectors of half a line write well through the caches though it crowds sets.
TEST(Streaming, KeepsWhatCrowdsSetsWhereHalvesOfLinesWait) {
  Target target = *find_target("avx2");
  target.l1_bytes = 32 * 1024;
  target.crowded_streaming_bytes = target.gathered_streaming_bytes = 1 << 16;
  target.kept_crowded_streaming_bytes = 1 << 23;
  expect_streaming({{"f32[512,1024] -> f32[512,1024]{0,1}", false},
                    {"f64[512,512] -> f64[512,512]{0,1}", false},
                    {"f32[2048,1024] -> f32[2048,1024]{0,1}", true},  // too large
                    // Columns or rows pages apart.
                    {"u16[2048,512] -> u16[2048,512]{0,1}", false},
                    {"u16[512,2048] -> u16[512,2048]{0,1}", false},
                    {"u16[1024,1024] -> u16[1024,1024]{0,1}", true},
                    // Rows that crowd sets.
                    {"u8[1024,2048] -> u8[1024,2048]{0,1}", false},
                    {"u8[2048,1024] -> u8[2048,1024]{0,1}", true}},
                   target);
  target.kept_crowded_streaming_bytes = 0;
  expect_streaming({{"f32[512,1024] -> f32[512,1024]{0,1}", true},
                    {"u8[1024,2048] -> u8[1024,2048]{0,1}", true}},
                   target);
}

TEST(Streaming, CountsLinesThatHoldSomething) {
  Target target = *find_target("avx512_vbmi");
  target.streaming_bytes = target.streaming_fill_bytes = 1 << 20;
  // A megabyte and more between the first and the last byte of either array.
  expect_streaming({{"f32[128,4,4]{2,1,0:T(16,128)} -> f32[128,4,4]", false},
                    {"f32[128,4,4] -> f32[128,4,4]{2,1,0:PAD(128,16,128;unknown)}", false},
                    // Few bytes of every line.
                    {"u8[9000,4]{1,0:T(1,64)} -> u8[9000,4]", false},
                    {"u8[18000,4]{1,0:T(1,64)} -> u8[18000,4]", true},
                    // Half of them, and padding that is written.
                    {"f32[256,8,64]{2,1,0:T(8,128)} -> f32[256,8,64]", false},
                    {"f32[128,4,4] -> f32[128,4,4]{2,1,0:T(16,128)}", true}},
                   target);
}

TEST(Streaming, LeavesUnevenElementsInCachesThatAreNear) {
  Target target = *find_target("avx512_vbmi");
  target.streaming_bytes = target.l2_bytes = 1 << 18;
  target.l1_bytes = 48 * 1024;
  expect_streaming({{"u8[600,600,3] -> u8[600,600,3]{2,0,1}", false},
                    {"u8[900,900,3] -> u8[900,900,3]{2,0,1}", true},   // too large
                    {"u8[640,600,3] -> u8[640,600,3]{2,0,1}", true},   // rows of lines
                    {"u8[683,600,3] -> u8[683,600,3]{2,0,1}", true},   // one set of L1
                    {"u8[600,683,3] -> u8[600,683,3]{2,0,1}", true}},  // of the source
                   target);
}

TEST(Streaming, BeginsEarlierWhereColumnsCrowdSetsOfTheCaches) {
  Target target = streaming_target();
  target.streaming_bytes = target.transposed_streaming_bytes = target.gathered_streaming_bytes =
      int64_t{1} << 30;
  target.l1_bytes = 48 * 1024;
  expect_streaming({{"f32[1024,1024] -> f32[1024,1024]{0,1}", true},
                    {"f32[128,96,128] -> f32[128,96,128]{0,1,2}", true},
                    {"f16[32,2048,7,7] -> f16[32,2048,7,7]{1,3,2,0}", true},
                    {"u8[2048,2048] -> u8[2048,2048]{0,1}", true},
                    {"s4[4096,4096]{1,0:E(4)} -> s4[4096,4096]{0,1:E(4)}", true},
                    // Rows of the source, too.
                    {"f32[512,512] -> f32[512,512]{0,1}", true},
                    {"f64[512,512] -> f64[512,512]{0,1}", true},
                    // Spread over all sets; half of a set's ways.
                    {"f32[1000,1024] -> f32[1000,1024]{0,1}", false},
                    {"f32[512,1000] -> f32[512,1000]{0,1}", false},
                    {"f64[512,1000] -> f64[512,1000]{0,1}", false},
                    {"c128[256,256] -> c128[256,256]{0,1}", false},
                    {"s4[4160,4160]{1,0:E(4)} -> s4[4160,4160]{0,1:E(4)}", false},
                    // Few columns; none.
                    {"f32[1024,1024,4] -> f32[1024,1024,4]{1,0,2}", false},
                    {"f32[1024,1024] -> f32[1024,1024]", false}},
                   target);
}

}  // namespace
}  // namespace restride::testing
