// Transposes that stay in the caches, of arrays behind the header of an allocator: which operand is
// peeled, that nothing is left out, and that all of it arrives.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/kernel_variant.hpp"
#include "plan/planner.hpp"
#include "program/code_size.hpp"
#include "schedule/scheduling.hpp"
#include "support/microkernel_tails.hpp"
#include "support/nest_moves.hpp"
#include "support/scheduled.hpp"
#include "support/setups.hpp"

namespace restride::testing {
namespace {

constexpr int64_t header = 16;

std::vector<Setup> cached_setups() {
  std::vector<Setup> result;
  for (const Target& target : known_targets()) {
    result.push_back({target.name, Caches::leave_l1});
    if (target.vector_bytes > program::lane_bytes)
      result.push_back({target.name, Caches::hold_everything});
  }
  return result;
}

std::string name_of_caches(const ::testing::TestParamInfo<Setup>& info) {
  return info.param.target + (info.param.caches == Caches::leave_l1 ? "_beyond_l1" : "_in_l1");
}

INSTANTIATE_TEST_SUITE_P(Caches, Microkernel, ::testing::ValuesIn(cached_setups()), name_of_caches);

/// The phases of the target and the source that the first program asks for.
struct Phases {
  int64_t target, source;

  bool operator==(const Phases&) const = default;
};

struct Row {
  const char* target;
  const char* text;
  Caches caches;
  Phases phases;
};

TEST(CachedPeels, AreOfTheOperandThatIsBetterMovedByWholeLines) {
  constexpr Caches beyond_l1 = Caches::leave_l1, in_l1 = Caches::hold_everything;
  for (const Row& row :
       {Row{"avx512_vbmi", "f32[256,256] -> f32[256,256]{0,1}", beyond_l1, {0, header}},
        Row{"avx512_vbmi", "f64[96,32] -> f64[96,32]{0,1}", beyond_l1, {0, header}},
        Row{"avx512_vbmi", "c128[16,9,40] -> c128[16,9,40]{1,2,0}", beyond_l1, {0, 0}},
        Row{"avx512_vbmi", "c128[16,9,40] -> c128[16,9,40]{0,1,2}", beyond_l1, {0, header}},
        Row{"avx2", "f32[3,96,80] -> f32[3,96,80]{1,0,2}", beyond_l1, {0, header}},
        Row{"sse2", "f32[256,256] -> f32[256,256]{0,1}", beyond_l1, {0, header}},
        Row{"neon", "f32[80,96] -> f32[80,96]{0,1}", beyond_l1, {0, header}},
        // In L1 stores are what lines matter to, unless these are of a lane.
        Row{"avx512_vbmi", "f32[64,64] -> f32[64,64]{0,1}", in_l1, {header, 0}},
        Row{"avx2", "f64[32,24] -> f64[32,24]{0,1}", in_l1, {header, 0}},
        Row{"sse2", "f32[64,64] -> f32[64,64]{0,1}", in_l1, {0, 0}},
        Row{"avx512_vbmi", "u16[256,256] -> u16[256,256]{0,1}", beyond_l1, {0, header}},
        Row{"avx512_vbmi", "u8[256,256] -> u8[256,256]{0,1}", beyond_l1, {0, header}},
        // Narrow elements whose source has no runs that begin alike.
        Row{"avx512_vbmi", "u16[256,196] -> u16[256,196]{0,1}", beyond_l1, {header, 0}},
        Row{"avx512_vbmi", "u8[512,8,49] -> u8[512,8,49]{0,2,1}", beyond_l1, {header, 0}},
        Row{"sse2", "u16[256,196] -> u16[256,196]{0,1}", beyond_l1, {0, 0}},
        Row{"avx512_vbmi", "f32[256,196] -> f32[256,196]{0,1}", beyond_l1, {0, 0}},
        // Single bytes in L1; short runs; ones that begin at several places in a line; padding.
        Row{"avx512_vbmi", "u8[64,256] -> u8[64,256]{0,1}", in_l1, {0, 0}},
        Row{"avx512_vbmi", "f32[256,48] -> f32[256,48]{0,1}", beyond_l1, {0, 0}},
        Row{"avx512_vbmi", "f32[250,250] -> f32[250,250]{0,1}", beyond_l1, {0, 0}},
        Row{"avx512_vbmi",
            "f32[250,256] -> f32[250,256]{0,1:PAD(256,256;zero)}",
            beyond_l1,
            {0, 0}}}) {
    const IterationSpace space = simplified_space(row.text);
    Target target = target_of({row.target, row.caches});
    if (row.caches == in_l1) target.l1_bytes = 32 * 1024;
    const std::vector<Program> programs = plan_programs(space, target);
    const Program& first = programs.front();
    EXPECT_EQ((Phases{first.operands[0].phase, first.operands[1].phase}), row.phases)
        << row.target << ' ' << row.text;
    for (const program::Operand& operand : programs.back().operands)
      EXPECT_EQ(operand.alignment, 1) << row.text;
    EXPECT_EQ(on_lines(programs).operands[1].phase, 0) << row.text;
  }
}

TEST(CachedPeels, LeaveNoElementOutAndTakeNoneTwice) {
  const Target target = target_of({"avx512_vbmi", Caches::leave_l1});
  for (const char* text :
       {"f32[96,256] -> f32[96,256]{0,1}", "f32[3,40,128] -> f32[3,40,128]{1,0,2}",
        "f64[100,72] -> f64[100,72]{0,1}", "c128[17,6,32] -> c128[17,6,32]{0,1,2}",
        "f32[64,80]{1,0:PAD(64,96;zero)} -> f32[64,80]{0,1}"}) {
    const Schedule plain = schedule(simplified_space(text), target);
    const std::optional<Schedule> peeled = peeled_in_caches(plain, target, header);
    ASSERT_TRUE(peeled.has_value()) << text << '\n' << to_string(plain);
    EXPECT_TRUE(peeled->peels[1].ring) << text;
    Moves expected, moves;
    expected.add(lower(plain).root, {});
    moves.add(lower(*peeled).root, {});
    EXPECT_TRUE(moves.to == expected.to) << text << '\n' << to_string(lower(*peeled));
  }
}

TEST(CachedPeels, TakeCodeForOneBlockAndTheEnds) {
  const Target target = target_of({"avx512_vbmi", Caches::leave_l1});
  // Numbers of networks that blocks divide, and prime ones; rows that left a rest.
  for (const char* text :
       {"f32[256,256] -> f32[256,256]{0,1}", "f32[8,128,768] -> f32[8,128,768]{1,2,0}",
        "f32[784,512] -> f32[784,512]{0,1}", "f64[1000,1000] -> f64[1000,1000]{0,1}"}) {
    const std::vector<Program> programs = plan_programs(simplified_space(text), target);
    ASSERT_EQ(programs.size(), 2U) << text;
    EXPECT_LE(2 * estimated_code_bytes(programs.front()), 7 * estimated_code_bytes(programs.back()))
        << text;
  }
}

TEST(CachedPeels, AreChosenByThePhaseOfTheirSource) {
  const program::Operand any{program::Role::target, 0, 64};
  program::Operand behind{program::Role::source, 0, 64, 64, header};
  KernelSet kernels;
  const Result<KernelVariant> one = make_variant(std::vector{any, behind}, 1, {}, kernels);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->source_mask, 63U);
  EXPECT_EQ(one->source_bits, uintptr_t{header});
  EXPECT_EQ(one->target_mask, 0U);
  const Result<KernelVariant> two = make_variant(std::vector{any, behind, behind}, 1, {}, kernels);
  ASSERT_FALSE(two);
  EXPECT_NE(two.error().message.find("a phase of several sources"), std::string::npos);
}

TEST_P(Microkernel, MovesPeeledRuns) {
  const bool in_l1 = GetParam().caches == Caches::hold_everything;
  std::vector<Element> elements(std::begin(every_width), std::end(every_width));
  elements.push_back({"c128", 16});
  for (const Element& element : elements) {
    for (const int run_bytes : {256, 320, 448, 1088}) {
      for (const int other_bytes : {64, 192, 272, 400}) {
        const int run = run_bytes / element.bytes, other = other_bytes / element.bytes;
        const std::vector<int> sides =
            in_l1 ? std::vector<int>{run, other} : std::vector<int>{other, run};
        expect_conforms(array(element.type, sides) + " -> " + array(element.type, sides) + "{0,1}",
                        GetParam());
        const std::string three = array(element.type, {sides[0], 3, sides[1]});
        expect_conforms(three + " -> " + three + "{0,1,2}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
  if (in_l1) return;
  // Runs that are no whole lines, but whose rows begin alike.
  for (const int run : {65, 68, 77, 79})
    expect_conforms("f32[48," + std::to_string(run) + "]{1,0:PAD(48,80;zero)} -> f32[48," +
                        std::to_string(run) + "]{0,1}",
                    GetParam());
  // Narrow elements, along the target.
  for (const Element& element : {Element{"u8", 1}, Element{"u16", 2}}) {
    for (const int run_bytes : {256, 448}) {
      for (const int columns : {49, 100, 261}) {
        const std::string text = array(element.type, {2, run_bytes / element.bytes, columns});
        expect_conforms(text + " -> " + text + "{1,2,0}", GetParam());
      }
    }
  }
}

}  // namespace
}  // namespace restride::testing
