// Arrays behind the header of an allocator whose runs are short: the end of a run leaves with the
// begin of the next one. How such runs are walked, what is taken apart, and that all of it arrives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "loop_nest/loop_nest.hpp"
#include "microkernel/tile_run.hpp"
#include "program/program.hpp"
#include "schedule/scheduling.hpp"
#include "select/select.hpp"
#include "support/microkernel_tails.hpp"
#include "support/nest_moves.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

using nest::Side;
using program::Step;

constexpr int64_t header = 16;

INSTANTIATE_TEST_SUITE_P(Streaming, Microkernel, ::testing::ValuesIn(streaming_setups()),
                         [](const auto& info) { return name_of(info.param); });

// ---- runs

struct SplicedRun {
  const char* what;
  std::vector<Side> sides;
};

const std::vector<SplicedRun>& spliced_runs() {
  static const std::vector<SplicedRun> runs = {
      {"all of a run", {{48, {4, 1000}, {{1, 48, 7}}, 12}}},
      {"its last elements", {{32, {4, 1000}, {{1, 96, 7}}, 76}}},
      {"with others around", {{3, {192, 5}}, {48, {4, 1000}, {{1, 48, 7}}, 12}}},
      {"of two digits", {{160, {4, 1000}, {{1, 32, 70000}, {1, 5, 9}}, 12}}},
      {"with own digits of the target", {{64, {1000, 4}, {{0, 32, 7}, {0, 2, 99}}, 12}}},
  };
  return runs;
}

/// Where element `i` stands, by the definition of sides.
Strides place(const std::vector<Side>& sides, int64_t i) {
  Strides at{};
  for (auto side = sides.rbegin(); side != sides.rend(); ++side) {
    const Strides here = side->at(i % side->extent), first = side->at(0);
    for (size_t k = 0; k < at.size(); ++k) at[k] += here[k] - first[k];
    i /= side->extent;
  }
  return at;
}

TEST(SplicedRun, StandsWhereItsDigitsSay) {
  for (const SplicedRun& one : spliced_runs()) {
    const TileRun run(one.sides);
    EXPECT_TRUE(run.is_spliced()) << one.what;
    for (int64_t i = 0; i < run.extent(); ++i) {
      const Strides expected = place(one.sides, i);
      ASSERT_EQ(run.at(0, i), expected[0]) << one.what << ", element " << i;
      ASSERT_EQ(run.at(1, i), expected[1]) << one.what << ", element " << i;
    }
  }
}

TEST(SplicedRun, FallsIntoChunksThatLookAlike) {
  for (const SplicedRun& one : spliced_runs()) {
    const TileRun run(one.sides);
    int64_t divided = 0;
    for (int64_t count = 1; count < run.extent(); ++count) {
      if (!run.divides(count)) continue;
      ++divided;
      for (int64_t i = 0; i < run.extent(); ++i) {
        for (const size_t operand : {size_t{0}, size_t{1}}) {
          const int64_t chunk = i / count * count;
          ASSERT_EQ(run.at(operand, i) - run.at(operand, chunk), run.at(operand, i - chunk))
              << one.what << ", chunks of " << count << ", element " << i;
        }
      }
    }
    EXPECT_GT(divided, 1) << one.what;
  }
}

TEST(SplicedRun, IsWalkedByStepsThatAddUp) {
  constexpr int64_t moved = 64;
  for (const SplicedRun& one : spliced_runs()) {
    const TileRun run(one.sides);
    for (int64_t count = 1; count < run.extent(); ++count) {
      if (!run.divides(count)) continue;
      const int64_t chunks = run.extent() / count;
      for (const size_t operand : {size_t{0}, size_t{1}}) {
        for (const int64_t before : {int64_t{0}, int64_t{1}, chunks}) {
          const std::vector<Step> steps = run.steps(3, operand, count, {3, moved}, before);
          for (int64_t i = 0; i < 3 * chunks; ++i) {
            int64_t at = 0;
            for (const Step& step : steps) at += step(i);
            const int64_t round = (i + before) / chunks, chunk = (i + before) % chunks;
            ASSERT_EQ(at, round * moved + run.at(operand, chunk * count))
                << one.what << ", chunks of " << count << ", iteration " << i << " behind "
                << before;
          }
        }
      }
    }
  }
}

// ---- schedules

TEST(Splices, TakeWhatMakesWholeBlocks) {
  const Target target = target_of_long_runs();
  struct Row {
    const char* text;
    Peel rows, columns;
  };
  for (const Row& row :
       {Row{"f32[48,28,28,28,48] -> f32[48,28,28,28,48]{0,1,2,3,4}",
            {4, 12, 36, 3},
            {0, 12, 36, 1}},
        // Blocks of 64, then 32; of 128, then 96.
        Row{"f32[96,75,12,608] -> f32[96,75,12,608]{0,1,2,3}", {3, 12, 20, 2}, {0, 12, 84, 1}},
        // Not 32, of which groups go in that the splice would cut.
        Row{"f64[64,28,28,64] -> f64[64,28,28,64]{0,1,2,3}", {3, 6, 18, 2}, {0, 6, 58, 1}},
        // Few runs of the source: all of them.
        Row{"f32[96,28,28,4,48] -> f32[96,28,28,4,48]{0,1,2,3,4}",
            {4, 12, 84, 3},
            {0, 12, 180, 2, 1}},
        // The target goes on where the source has its runs: nothing along those.
        Row{"f32[28,28,28,48,48] -> f32[28,28,28,48,48]{3,1,4,0,2}", {4, 12, 36, 3}, {}}}) {
    const IterationSpace space = simplified_space(row.text);
    const std::optional<Schedule> spliced =
        restride::spliced(schedule(space, target), target, header);
    ASSERT_TRUE(spliced.has_value()) << row.text;
    EXPECT_EQ(spliced->peels[0], row.rows) << row.text << '\n' << to_string(*spliced);
    EXPECT_EQ(spliced->peels[1], row.columns) << row.text << '\n' << to_string(*spliced);
  }
}

TEST(Splices, AreOfRunsThatOthersOfWholeLinesFollow) {
  const Target target = target_of_long_runs();
  for (const char* text :
       {// Runs of the target end where those of the source go on; begin between lines; are few.
        "f32[4096,4096] -> f32[4096,4096]{0,1}", "f32[47,48,28,48] -> f32[47,48,28,48]{0,1,2,3}",
        "f32[48,7,96,48] -> f32[48,7,96,48]{0,1,2,3}",
        // Rows of the source begin between lines; images.
        "f32[48,40,28,47] -> f32[48,40,28,47]{0,1,2,3}",
        // No panels.
        "c128[16,28,28,16] -> c128[16,28,28,16]{0,1,2,3}",
        "c128[16,64,64,16] -> c128[16,64,64,16]{0,1,2,3}",
        "f32[15,15,32,15,10,48] -> f32[15,15,32,15,10,48]{5,2,3,0,1,4}"}) {
    const IterationSpace space = simplified_space(text);
    const std::optional<Schedule> spliced =
        restride::spliced(schedule(space, target), target, header);
    EXPECT_FALSE(spliced.has_value()) << text;
  }
}

TEST(Splices, LeaveNoElementOutAndTakeNoneTwice) {
  const Target target = target_of_long_runs();
  for (const char* text :
       {"f32[48,8,2,5,48] -> f32[48,8,2,5,48]{0,1,2,3,4}",
        "f32[96,9,7,32] -> f32[96,9,7,32]{0,1,2,3}",
        "f32[32,17,2,2,112] -> f32[32,17,2,2,112]{0,1,2,3,4}",
        "u16[64,8,2,3,128] -> u16[64,8,2,3,128]{0,1,2,3,4}",
        "u16[64,5,8,32] -> u16[64,5,8,32]{0,2,3,1}", "f64[3,64,8,96] -> f64[3,64,8,96]{1,2,0,3}"}) {
    const IterationSpace space = simplified_space(text);
    Target streams = target;
    stream_beyond(streams, 0);
    const Schedule plain = schedule(space, streams);
    const std::optional<Schedule> spliced = restride::spliced(plain, streams, header);
    ASSERT_TRUE(spliced.has_value()) << text << '\n' << to_string(plain);
    Moves expected, moves;
    expected.add(lower(plain).root, {});
    moves.add(lower(*spliced).root, {});
    EXPECT_TRUE(moves.to == expected.to) << text << '\n' << to_string(lower(*spliced));
  }
}

// ---- programs

TEST(Splices, AreBlocksThatAskForTheNextOneAndLeaveAroundTheCaches) {
  const Target target = target_of_long_runs();
  for (const char* text : {"f32[48,28,28,28,48] -> f32[48,28,28,28,48]{0,1,2,3,4}",
                           "f32[96,28,28,4,48] -> f32[96,28,28,4,48]{0,1,2,3,4}",
                           "u16[128,28,28,128] -> u16[128,28,28,128]{0,1,2,3}",
                           "f64[48,28,28,28,48] -> f64[48,28,28,28,48]{0,1,2,3,4}"}) {
    const std::optional<Program> behind = behind_header(text, target);
    ASSERT_TRUE(behind.has_value()) << text;
    EXPECT_TRUE(uses_nontemporal_stores(*behind)) << text;
    EXPECT_TRUE(verify(*behind, target)) << text;
    const IterationSpace space = simplified_space(text);
    const auto spliced = restride::spliced(schedule(space, target), target, header);
    EXPECT_EQ(behind->root, select(lower(*spliced), *spliced, target, {64, header}).root) << text;
  }
}

int prefetches(const program::Body& body) {
  int count = 0;
  for (const auto& item : body) {
    if (const program::For* loop = std::get_if<program::For>(&item)) {
      count += prefetches(loop->body);
      continue;
    }
    for (const program::Op& op : std::get<program::Block>(item))
      count += op.code == program::Code::prefetch ? 1 : 0;
  }
  return count;
}

bool is_of_ends(const nest::Block& block) {
  return std::all_of(block.begin(), block.end(), [](const nest::Node& node) {
    const nest::For* loop = std::get_if<nest::For>(&node.statement);
    return loop != nullptr ? is_of_ends(loop->body) : std::get<nest::Tile>(node.statement).is_end;
  });
}

TEST(Splices, LeaveEndsThatAskForTheirRowsAndNeedNoPanels) {
  Target target = target_of_long_runs();
  target.reads_ahead_of_masks = false;
  const IterationSpace space =
      simplified_space("f32[48,28,28,28,48] -> f32[48,28,28,28,48]{0,1,2,3,4}");
  const auto spliced = restride::spliced(schedule(space, target), target, header);
  ASSERT_TRUE(spliced.has_value());
  int ends = 0;
  for (const nest::Node& node : lower(*spliced).root) {
    if (!is_of_ends({node})) continue;
    ++ends;
    const Program program = select({space.op, {node}}, *spliced, target, {64, header});
    EXPECT_GT(prefetches(program.root), 0) << to_string(program);
    EXPECT_EQ(program.operands.size(), 2U) << to_string(program);
  }
  EXPECT_EQ(ends, 4);
}

TEST_P(Microkernel, MovesSplicedRuns) {
  for (const Element& element : every_width) {
    for (const int run_bytes : {128, 192, 320, 448}) {
      const int run = run_bytes / element.bytes;
      for (const int column_bytes : {64, 192, 256}) {
        const int columns = column_bytes / element.bytes;
        const std::string four = array(element.type, {run, 8, 2, columns});
        expect_conforms(four + " -> " + four + "{0,1,2,3}", GetParam());
        const std::string five = array(element.type, {run, 8, 2, 3, columns});
        expect_conforms(five + " -> " + five + "{0,1,2,3,4}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace restride::testing
