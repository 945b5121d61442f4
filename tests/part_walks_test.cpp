// Whether transposes that stream go from box to box along the target or along the source, and those
// whose columns are more pages of the target than have their translations at hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

Target with_translations(int64_t pages) {
  Target target = streaming_target();
  target.translated_pages = pages;
  target.long_run_bytes = 256;
  target.page_element_bytes = 16;
  return target;
}

TEST(Walks, ArePartedWhereColumnsAreMorePagesThanHaveTranslations) {
  // Sixteen pieces of rows, parts of up to 1344 columns, the rows of a piece, boxes.
  const Target target = with_translations(2688);
  EXPECT_EQ(target_strides(scheduled("f64[8192,8192] -> f64[8192,8192]{0,1}", target)),
            (std::vector<int64_t>{4096, 1024 * 65536, 256, 64 * 65536}));
  // Parts that divide 50 boxes, of which one of three columns is left.
  EXPECT_EQ(target_strides(scheduled("f32[8192,6403] -> f32[8192,6403]{0,1}", target)),
            (std::vector<int64_t>{2048, 10 * 128 * 32768, 256, 128 * 32768}));
}

TEST(Walks, StayWholeWhereThatSavesLittle) {
  const Target target = with_translations(2688);
  for (const char* text :
       {// All columns have translations; narrow elements; rows of which there are few.
        "f64[8192,2048] -> f64[8192,2048]{0,1}", "u16[8192,8192] -> u16[8192,8192]{0,1}",
        "f64[512,65536] -> f64[512,65536]{0,1}"}) {
    EXPECT_EQ(target_strides(scheduled(text, target)).size(), 2U) << text;
  }
}

TEST(Walks, GoAlongSourcesUpToSoManyBytesThoughTheTargetWouldGoOn) {
  Target target = with_translations(2688);
  const char* const text = "f32[1024,2048] -> f32[1024,2048]{0,1}";
  constexpr int64_t bytes = 2 * 1024 * 2048 * 4;
  for (const bool along_source : {false, true}) {
    target.follows_source_bytes = along_source ? bytes : bytes - 1;
    EXPECT_EQ(tiles_between(scheduled(text, target)), along_source ? 1 : 16) << along_source;
  }
}

TEST(Walks, ThatArePartedGetEverywhere) {
  const Target target = with_translations(512);
  for (const char* text :
       {"f64[2048,640] -> f64[2048,640]{0,1}", "f64[2064,773] -> f64[2064,773]{0,1}"}) {
    EXPECT_EQ(target_strides(scheduled(text, target)).size(), 4U) << text;
    const Report report = run_for(target, text);
    EXPECT_EQ(report.outcome, Outcome::passed) << report.text;
  }
}

}  // namespace
}  // namespace restride::testing
