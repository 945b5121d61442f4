// What is decided where columns of a target, or rows of a source, share their places in pages.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "plan/planner.hpp"
#include "schedule/scheduling.hpp"
#include "space/iteration_space.hpp"
#include "support/sampling.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

/// Everything streams, by runs of two lines.
Target streaming(const char* features) {
  Target target = target_of({features, Caches::hold_nothing});
  target.l1_bytes = 32 * 1024;
  target.long_run_bytes = 0;
  target.far_long_run_bytes = 0;
  target.touching_rows_run_bytes = 0;
  target.shifted_touching_run_bytes = 512;
  target.streamed_column_bytes = 512;
  target.uncut_run_bytes = 2048;
  target.spreads_runs = true;
  return target;
}

int64_t run_bytes(const Schedule& schedule) {
  return target_run_elements(schedule) * schedule.space.op.bytes;
}

struct Row {
  const char* text;
  int64_t run;  ///< of the target, bytes
};

constexpr int64_t as_others = 128;

TEST(SharedPlaces, MakeRunsOfTheTargetLonger) {
  for (const Row& row : {Row{"f32[4096,4096] -> f32[4096,4096]{0,1}", 512},
                         Row{"f64[2048,2560] -> f64[2048,2560]{0,1}", 512},
                         // Columns of which each begins a line behind the one before.
                         Row{"f32[4112,4096] -> f32[4112,4096]{0,1}", 512},
                         Row{"f32[4080,4096] -> f32[4080,4096]{0,1}", 512},
                         Row{"f32[4128,4096] -> f32[4128,4096]{0,1}", as_others},
                         // Half a page, less than that.
                         Row{"f32[1536,4096] -> f32[1536,4096]{0,1}", 512},
                         Row{"f32[256,4096] -> f32[256,4096]{0,1}", as_others},
                         Row{"f32[496,4096] -> f32[496,4096]{0,1}", as_others},
                         // Without rests: of one digit, of two.
                         Row{"f32[352,28,28,4,48] -> f32[352,28,28,4,48]{0,1,2,3,4}", 704},
                         Row{"f32[96,28,28,48] -> f32[96,28,28,48]{0,1,2,3}", 384},
                         Row{"f32[48,28,28,28,48] -> f32[48,28,28,28,48]{0,1,2,3,4}", 384},
                         Row{"f32[160,28,28,48] -> f32[160,28,28,48]{0,1,2,3}", 640},
                         // Narrow elements: of pages, of halves.
                         Row{"f16[4096,4096] -> f16[4096,4096]{0,1}", 256},
                         Row{"u8[4096,4160] -> u8[4096,4160]{0,1}", 512},
                         Row{"u8[384,32,320] -> u8[384,32,320]{0,1,2}", 384},
                         Row{"u8[2304,4096] -> u8[2304,4096]{0,1}", 384},  // strips
                         Row{"u8[2048,192,80] -> u8[2048,192,80]{0,2,1}", 256}}) {
    const IterationSpace space = simplified_space(row.text);
    Target target = streaming("avx2");
    EXPECT_EQ(run_bytes(schedule(space, target)), row.run) << row.text;
    EXPECT_LE(run_bytes(schedule(space, target, CodeGoal::small)), as_others) << row.text;
    target.spreads_runs = false;
    EXPECT_EQ(run_bytes(schedule(space, target)), as_others) << row.text;
  }
}

TEST(SharedPlaces, MakeBoxesReadFewerLinesOfMoreRows) {
  const char* const text = "f32[4096,4096] -> f32[4096,4096]{0,1}";
  Target target = streaming("avx2");
  EXPECT_EQ(source_run_elements(scheduled(text, target)) * 4, 256);
  target.spreads_runs = false;
  EXPECT_EQ(source_run_elements(scheduled(text, target)) * 4, 512);
}

TEST(SharedPlaces, BringRowsOfBytesByStrips) {
  struct Strips {
    const char* features;
    const char* text;
    bool strips;
  };
  for (const Strips& row : {Strips{"avx2", "u8[512,4096] -> u8[512,4096]{0,1}", true},
                            Strips{"sse2", "u8[512,4096] -> u8[512,4096]{0,1}", true},
                            Strips{"avx2", "u8[2,512,8192] -> u8[2,512,8192]{1,2,0}", true},
                            // Rows of less than a line;
                            Strips{"avx2", "u8[512,128,32] -> u8[512,128,32]{0,1,2}", false},
                            // As many rows as a set holds; rows in all sets; pairs; whole lines.
                            Strips{"avx2", "u8[512,2048] -> u8[512,2048]{0,1}", false},
                            Strips{"avx2", "u8[512,4160] -> u8[512,4160]{0,1}", false},
                            Strips{"avx2", "u16[512,4096] -> u16[512,4096]{0,1}", false},
                            Strips{"avx512", "u8[512,4096] -> u8[512,4096]{0,1}", false}}) {
    Target target = streaming(row.features);
    EXPECT_EQ(scheduled(row.text, target).strips_rows, row.strips) << row.features << row.text;
    target.spreads_runs = false;
    EXPECT_FALSE(scheduled(row.text, target).strips_rows) << row.features << row.text;
  }
}

/// How many bytes of the source a program loads.
int64_t loaded_bytes(const Program& program, const program::Body& body) {
  int64_t bytes = 0;
  for (const auto& item : body) {
    if (const auto* block = std::get_if<program::Block>(&item)) {
      for (const program::Op& op : *block) {
        const bool loads =
            op.code == program::Code::load && program.streams[size_t(op.stream)] == 1;
        bytes += loads ? op.bytes : 0;
      }
      continue;
    }
    const auto& loop = std::get<program::For>(item);
    bytes += loop.extent * loaded_bytes(program, loop.body);
  }
  return bytes;
}

TEST(SharedPlaces, LoadLinesThatShareSetsOnce) {
  struct Network {
    const char* features;
    int64_t loads;  // of 16 rows
  };
  for (const auto& [features, loads] : {Network{"sse2", 24}, Network{"avx2", 22}}) {
    const Target target = streaming(features);
    for (const char* text :
         {"u8[512,4096] -> u8[512,4096]{0,1}", "u8[384,8192] -> u8[384,8192]{0,1}",
          "u8[512,4,1024] -> u8[512,4,1024]{0,1,2}"}) {
      const IterationSpace space = simplified_space(text);
      const Program program = on_lines(plan_programs(space, target));
      EXPECT_EQ(loaded_bytes(program, program.root), program.operands[1].end) << features << text;
    }
    // The last pairs of rows come in once more for their high halves.
    const Program beside =
        on_lines(plan_programs(simplified_space("u8[512,4160] -> u8[512,4160]{0,1}"), target));
    EXPECT_EQ(loaded_bytes(beside, beside.root), loads * beside.operands[1].end / 16) << features;
  }
}

TEST(SharedPlaces, ChangeNothingOfWhatArrives) {
  for (const char* features : {"sse2", "avx2", "avx512", "neon"}) {
    const Target target = streaming(features);
    for (const char* text :
         {"f32[512,48] -> f32[512,48]{0,1}", "f32[528,40] -> f32[528,40]{0,1}",
          "f32[1500,40] -> f32[1500,40]{0,1}", "f64[512,24] -> f64[512,24]{0,1}",
          "f32[176,4,3,16] -> f32[176,4,3,16]{0,1,2,3}", "u16[2048,32] -> u16[2048,32]{0,1}",
          "f32[48,8,8,20] -> f32[48,8,8,20]{0,1,2,3}", "u8[2048,64] -> u8[2048,64]{0,1}",
          // Strips; columns and rows that are left.
          "u8[512,4096] -> u8[512,4096]{0,1}", "u8[384,4096] -> u8[384,4096]{0,1}",
          "u8[300,4096] -> u8[300,4096]{0,1}", "u8[256,128,96] -> u8[256,128,96]{0,1,2}",
          "u8[2,384,4096] -> u8[2,384,4096]{1,2,0}", "u8[16,32,4096] -> u8[16,32,4096]{1,0,2}",
          "u8[256,2,4100] -> u8[256,2,4100]{0,1,2}"}) {
      if (std::string(text).find("4096") != std::string::npos &&
          !in_sample(features + std::string(text)))
        continue;
      const Report report = run_for(target, text);
      EXPECT_EQ(report.outcome, Outcome::passed) << features << ' ' << report.text;
    }
  }
}

}  // namespace
}  // namespace restride::testing
