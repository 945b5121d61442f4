// Transposes whose rows of the target touch along the columns, are made of several digits or
// padded, or a line each: how they are scheduled, what is asked for ahead, and what they move over
// their tails. See support/microkernel_tails.hpp.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "plan/planner.hpp"
#include "support/asked_lines.hpp"
#include "support/microkernel_tails.hpp"
#include "support/scheduled.hpp"

namespace restride::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Every, Microkernel, ::testing::ValuesIn(setups()),
                         [](const auto& info) { return name_of(info.param); });

TEST(TouchingDigits, AreTakenWholeWithSomeColumns) {
  struct Row {
    const char* text;
    int64_t rows, columns;
    Staging staging;
  };
  for (const Row& row :
       {Row{"f16[15,144,16,1000] -> f16[15,144,16,1000]{0,2,3,1}", 240, 256, Staging::panels},
        Row{"f32[40,40,5,7,500] -> f32[40,40,5,7,500]{3,0,2,4,1}", 1400, 128, Staging::images},
        Row{"f32[10,40,5,7,500] -> f32[10,40,5,7,500]{3,0,2,4,1}", 350, 128, Staging::panels},
        // Fewer columns than a box has.
        Row{"u8[11,600,20,200] -> u8[11,600,20,200]{0,2,3,1}", 220, 200, Staging::panels},
        // Whole lines.
        Row{"f16[7,144,32,768] -> f16[7,144,32,768]{0,2,3,1}", 224, 256, Staging::panels},
        Row{"f32[9,144,32,256] -> f32[9,144,32,256]{0,2,3,1}", 288, 128, Staging::panels},
        // Of which no images can be made otherwise.
        Row{"f16[30,48,16,512] -> f16[30,48,16,512]{0,2,3,1}", 480, 256, Staging::panels},
        // Columns that do not touch.
        Row{"f32[15,200,8,1000] -> f32[15,200,8,1000]{0,2,1,3}", 120, 128, Staging::images}}) {
    const Schedule schedule = scheduled(row.text, streaming_target());
    EXPECT_EQ(schedule.movement, Movement::transpose) << row.text;
    EXPECT_EQ(schedule.staging, row.staging) << row.text;
    const bool whole =
        target_run_elements(schedule) == row.rows && source_run_elements(schedule) == row.columns;
    EXPECT_EQ(whole, row.staging == Staging::panels) << row.text;
  }
}

TEST(TouchingDigits, LeaveInLinesOnlyWhereAllRunsOfColumnsBeginOnThem) {
  // Seven columns of 160 bytes make half lines, twice as many whole ones.
  const char* const text = "f16[80,2,6,17,7] -> f16[80,2,6,17,7]{0,4,2,3,1}";
  Target target = streaming_target();
  stream_beyond(target, int64_t{1} << 14);
  EXPECT_EQ(target_run_elements(scheduled(text, target)), 80);
  EXPECT_EQ(source_run_elements(scheduled(text, target)), 17 * 2 * 7);
  const Report report = run_for(target, text);
  EXPECT_EQ(report.outcome, Outcome::passed) << report.text;
}

TEST(TouchingDigits, AreNotTakenWhereTheyWouldBeWrittenOverTheNextColumn) {
  // Two bytes are all that looks alike of 2 x 101.
  const char* const text = "u8[2,600,101,200] -> u8[2,600,101,200]{0,2,3,1}";
  const Schedule schedule = scheduled(text, streaming_target());
  const bool whole = target_run_elements(schedule) == 202 && source_run_elements(schedule) == 200;
  EXPECT_FALSE(whole && schedule.staging == Staging::panels);
}

TEST(TouchingRows, ComeToImagesWithTheirPadding) {
  struct Row {
    const char* text;
    bool fills;
  };
  for (const Row& row : {Row{"u8[322,65000] -> u8[322,65000]{0,1:PAD(336,65000;zero)}", true},
                         Row{"f32[40,165000] -> f32[40,165000]{0,1:PAD(44,165000;zero)}", true},
                         Row{"f32[40,165000] -> f32[40,165000]{0,1}", false},
                         // Whole lines; more than scratch has room for.
                         Row{"u8[322,65000] -> u8[322,65000]{0,1:PAD(384,65000;zero)}", false},
                         Row{"u8[500,65000] -> u8[500,65000]{0,1:PAD(520,65000;zero)}", false}}) {
    const Schedule schedule = scheduled(row.text, streaming_target());
    EXPECT_EQ(schedule.fills_images, row.fills) << row.text;
    EXPECT_TRUE(!row.fills || schedule.fills_within != 0) << row.text;
  }
}

TEST(TouchingRows, StayInTheCachesNoLongerWhereVectorsArePartsOfLines) {
  const char* const text = "u8[152,1809,34] -> u8[152,1809,34]{0,2,1}";
  for (const bool halves : {true, false}) {
    Target target = target_of({halves ? "avx2" : "avx512", Caches::hold_everything});
    stream_beyond(target, int64_t{14} << 20);
    target.imaging_bytes = target.far_imaging_bytes = int64_t{20} << 20;
    const auto leave = [&] {
      const Schedule schedule = scheduled(text, target);
      return schedule.nontemporal && schedule.staging != Staging::images;
    };
    EXPECT_EQ(leave(), halves);
    target.transposed_streaming_bytes = target.imaging_bytes;
    EXPECT_FALSE(leave());
  }
}

TEST(TouchingRows, AreShiftedWhereImagesOfThemWouldBeLarge) {
  struct Row {
    const char* text;
    bool shifted;
  };
  Target target = streaming_target();
  target.shifted_touching_image_bytes = 16 * 1024;
  for (const Row& row : {Row{"f32[257,7001] -> f32[257,7001]{0,1}", true},
                         Row{"f32[255,7001] -> f32[255,7001]{0,1}", false},
                         // However near they are in the source.
                         Row{"c128[5,257,203] -> c128[5,257,203]{1,2,0}", true},
                         Row{"u16[257,7001] -> u16[257,7001]{0,1}", false}}) {
    EXPECT_EQ(scheduled(row.text, target).staging == Staging::shifted_panels, row.shifted)
        << row.text;
  }
}

TEST(TouchingRows, AreJoinedInBoxesThatAreWidened) {
  struct Row {
    const char* text;
    int64_t rows, columns;  // 0: they are not
  };
  for (const Row& row :
       {// By a prime number of columns, with a rest where that is large.
        Row{"f32[29,16,11,56,17,9] -> f32[29,16,11,56,17,9]{3,5,0,4,1,2}", 56, 9 * 17},
        Row{"f32[29,16,11,56,59,9] -> f32[29,16,11,56,59,9]{3,5,0,4,1,2}", 56, 9 * 12},
        // Short columns, of small matrices and of others.
        Row{"f32[96,4,35,18,20,3] -> f32[96,4,35,18,20,3]{3,5,0,4,2,1}", 0, 0},
        Row{"f32[96,4,35,22,20,3] -> f32[96,4,35,22,20,3]{3,5,0,4,2,1}", 22, 3 * 20},
        Row{"f32[7,46,35,50,21,3] -> f32[7,46,35,50,21,3]{3,5,0,1,4,2}", 50, 3 * 21},
        // Few rows; where columns fill boxes they are permuted.
        Row{"f32[7,80,29,17,5,30] -> f32[7,80,29,17,5,30]{0,5,2,4,3,1}", 7, 30},
        Row{"f32[7,80,29,17,5,130] -> f32[7,80,29,17,5,130]{0,5,2,4,3,1}", 0, 0}}) {
    const Schedule schedule = scheduled(row.text, streaming_target());
    const bool joined = schedule.movement == Movement::transpose && schedule.nontemporal &&
                        schedule.staging != Staging::images;
    EXPECT_EQ(joined, row.rows != 0) << row.text;
    if (!joined) continue;
    EXPECT_EQ(target_run_elements(schedule), row.rows) << row.text;
    EXPECT_EQ(source_run_elements(schedule), row.columns) << row.text;
  }
}

TEST(TouchingRows, HaveColumnsOfSomeBytes) {
  const auto joins = [](const char* text) {
    const Schedule schedule = scheduled(text, streaming_target());
    return schedule.movement == Movement::transpose && target_run_elements(schedule) == 48 &&
           schedule.nontemporal;
  };
  EXPECT_TRUE(joins("u8[256,48,320,12] -> u8[256,48,320,12]{1,3,0,2}"));
  EXPECT_TRUE(joins("f16[256,48,320,7] -> f16[256,48,320,7]{1,3,0,2}"));
  EXPECT_FALSE(joins("u8[256,48,320,8] -> u8[256,48,320,8]{1,3,0,2}"));
  EXPECT_FALSE(joins("f32[256,48,320,3] -> f32[256,48,320,3]{1,3,0,2}"));
}

TEST(TouchingRows, GoOnBesideTheColumnsWhereBoxesWouldBeSmall) {
  struct Row {
    const char* text;
    int64_t columns;
  };
  for (const Row& row : {Row{"f32[136,7,27,16,15] -> f32[136,7,27,16,15]{2,4,0,1,3}", 8 * 15},
                         Row{"f32[136,7,27,5,3,15] -> f32[136,7,27,5,3,15]{2,5,0,1,3,4}", 3 * 15},
                         Row{"f32[20,10,5,336,4,13] -> f32[20,10,5,336,4,13]{1,0,5,2,4,3}", 8 * 13},
                         // 256 bytes are enough; few rows of a line and more.
                         Row{"f32[136,7,27,16,64] -> f32[136,7,27,16,64]{2,4,0,1,3}", 64},
                         Row{"f32[13,80,12,80,40] -> f32[13,80,12,80,40]{2,4,0,3,1}", 40},
                         Row{"f32[13,80,12,80,15] -> f32[13,80,12,80,15]{2,4,0,3,1}", 8 * 15}}) {
    const Schedule schedule = scheduled(row.text, streaming_target());
    EXPECT_EQ(schedule.staging, Staging::panels) << row.text;
    EXPECT_EQ(source_run_elements(schedule), row.columns) << row.text;
  }
}

TEST(TouchingRows, OfLinesAreJoinedWhereTheyBeginBehindOnes) {
  struct Row {
    const char* text;
    bool begins_line, joined;
  };
  const char* const halves = "f16[6144,9888]{1,0} -> f16[6144,9888]{0,1:T(8,128)}";
  for (const Row& row : {Row{halves, false, true}, Row{halves, true, false},
                         Row{"u8[4096,8000]{1,0} -> u8[4096,8000]{0,1:T(32,128)}", false, true}}) {
    const Schedule schedule = restride::schedule(simplified_space(row.text), streaming_target(),
                                                 CodeGoal::fast, row.begins_line);
    const bool whole = target_run_elements(schedule) == 128 && source_run_elements(schedule) > 32;
    EXPECT_EQ(schedule.nontemporal && whole, row.joined) << row.text;
  }
}

TEST(TouchingRows, OfShiftedBoxesAreNotJoinedAlongSomeOfTheColumns) {
  const char* const text = "f32[4096,1024]{0,1} -> f32[4096,1024]{1,0:T(8,128)}";
  const IterationSpace space = simplified_space(text);
  Target target = streaming_target();
  target.shifted_box_bytes = 256;
  ASSERT_TRUE(restride::schedule(space, target, CodeGoal::fast, false).shifts_runs);
  const std::vector<Program> programs = plan_programs(space, target);
  // Two panels of 128 rows of a line, one of which comes in while the other leaves.
  EXPECT_GE(programs.back().operands.back().end, 2 * 128 * 64);
}

TEST(TouchingRows, AreAskedForWithAllColumnsOfTheBox) {
  const char* const text = "f32[36,7,27,16,15] -> f32[36,7,27,16,15]{2,4,0,1,3}";
  const Program program = on_lines(plan_programs(simplified_space(text), streaming_target()));
  const AskedLines asked(program);
  const int64_t lines = program.operands[1].end / 64;
  EXPECT_GE(asked.in_time() * 100, lines * 90);
  EXPECT_GT(asked.side_by_side() * 2, lines);
}

/// Each line once, by however many digits the columns have.
TEST(TouchingRows, AreAskedForByEachDigitWhereThereAreMoreOfThemThanRows) {
  struct Row {
    const char* features;
    const char* text;
  };
  for (const Row& row : {Row{"avx2", "f32[896,128]{0,1} -> f32[896,128]{1,0:T(4,8)}"},
                         Row{"avx2", "f32[896,128]{0,1} -> f32[896,128]{1,0:T(8,8)}"},
                         Row{"avx2", "f64[448,64]{0,1} -> f64[448,64]{1,0:T(4,4)}"},
                         Row{"avx512", "f32[896,240]{0,1} -> f32[896,240]{1,0:T(16,24)}"}}) {
    const Target target = target_of({row.features, Caches::hold_nothing});
    const Program program = on_lines(plan_programs(simplified_space(row.text), target));
    const AskedLines asked(program);
    const int64_t lines = program.operands[1].end / 64;
    EXPECT_GE(asked.count() * 100, lines * 90) << row.features << ' ' << row.text;
    EXPECT_LE(asked.asks() * 100, lines * 130) << row.features << ' ' << row.text;
    EXPECT_GT(asked.side_by_side() * 2, lines) << row.features << ' ' << row.text;
  }
}

/// Halves of lines would leave by themselves.
TEST(TouchingRows, OfHalfLinesLeaveTogether) {
  for (const auto& [text, joined] :
       {std::pair{"f32[24,4000] -> f32[24,4000]{0,1}", true},
        std::pair{"f64[12,4000] -> f64[12,4000]{0,1}", true},
        std::pair{"u16[48,4000] -> u16[48,4000]{0,1}", true},
        std::pair{"f32[896,128]{0,1} -> f32[896,128]{1,0:T(8,8)}", true}}) {
    const Program program =
        on_lines(plan_programs(simplified_space(text), target_of({"avx2", Caches::hold_nothing})));
    EXPECT_TRUE(stores_known_lines(program)) << text;
    EXPECT_EQ(program.operands.back().role == program::Role::scratch, joined) << text;
  }
}

TEST(Images, GoOnBesideTheColumnsWhereBoxesWouldBeSmall) {
  struct Row {
    const char* text;
    int64_t rows, columns;
  };
  for (const Row& row :
       {Row{"f32[53,45,11,13,3,39] -> f32[53,45,11,13,3,39]{1,2,4,0,5,3}", 180, 117},
        // Of which the rows then come in pieces.
        Row{"f64[327,50,16,16] -> f64[327,50,16,16]{1,0,2,3}", 15 * 109, 64},
        // Not where the rows go on, too: that is the next piece.
        Row{"f64[71,8192,16] -> f64[71,8192,16]{0,1,2}", 71 * 64, 16}}) {
    const Schedule schedule = scheduled(row.text, streaming_target());
    EXPECT_EQ(schedule.staging, Staging::images) << row.text;
    EXPECT_EQ(target_run_elements(schedule), row.rows) << row.text;
    EXPECT_EQ(source_run_elements(schedule), row.columns) << row.text;
  }
}

TEST(RowsOfALine, AreStagedUnlessTheProcessorReadsAheadOfAll) {
  struct Row {
    const char* text;
    bool staged;
  };
  for (const Row& row : {Row{"f32[4096,16,128] -> f32[4096,16,128]{1,2,0}", true},
                         Row{"f64[4096,8,512] -> f64[4096,8,512]{1,2,0}", true},
                         Row{"u8[64,100000] -> u8[64,100000]{0,1}", true},
                         // Few rows of more than a page.
                         Row{"f64[4096,8,520] -> f64[4096,8,520]{1,2,0}", false},
                         Row{"f32[16,4096,64] -> f32[16,4096,64]{0,2,1}", false},
                         // What is left of 7 lines, and of 63.
                         Row{"f32[15,112,15,32] -> f32[15,112,15,32]{1,3,0,2}", true},
                         Row{"f32[15,1008,15,32] -> f32[15,1008,15,32]{1,3,0,2}", false}}) {
    EXPECT_EQ(scheduled(row.text, streaming_target()).stages_lines, row.staged) << row.text;
  }
}

TEST(RowsOfALine, AreAskedForWhileTheBoxBeforeLeaves) {
  for (const char* text :
       {"f32[128,16,128] -> f32[128,16,128]{1,2,0}", "u8[128,64,128] -> u8[128,64,128]{1,2,0}",
        "f64[256,8,64] -> f64[256,8,64]{1,2,0}"}) {
    const Program program = on_lines(plan_programs(simplified_space(text), streaming_target()));
    EXPECT_GE(AskedLines(program).count() * 100, program.operands[1].end / 64 * 90) << text;
  }
}

TEST_P(Microkernel, StagesRowsOfALine) {
  for (const Element& element : every_width) {
    const int rows = 64 / element.bytes;
    // Of one panel, of some, and a part of one.
    for (const int column_bytes : {40, 64, 128, 200, 584}) {
      const int columns = column_bytes / element.bytes;
      const std::string touching = array(element.type, {3, rows, columns});
      expect_conforms(touching + " -> " + touching + "{1,2,0}", GetParam());
      const std::string apart = array(element.type, {rows, 3, columns});
      expect_conforms(apart + " -> " + apart + "{0,1,2}", GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Microkernel, JoinsRowsThatTouchAlongSomeOfTheColumns) {
  for (const Element& element : every_width) {
    for (const int row_bytes : {24, 72, 104, 128, 488}) {
      const int rows = row_bytes / element.bytes;
      // Less than a panel, one, and some with a part of one.
      for (const int column_bytes : {16, 24, 56, 64, 72, 136}) {
        const int columns = column_bytes / element.bytes;
        const std::string one = array(element.type, {2, rows, 6, columns});
        expect_conforms(one + " -> " + one + "{1,3,0,2}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
    // Boxes widened by what lies beside short columns: all of it, and with a rest.
    for (const int beside : {13, 59}) {
      for (const int row_bytes : {24, 56, 152}) {
        const std::string few =
            array(element.type, {2, row_bytes / element.bytes, beside, 16 / element.bytes + 2});
        expect_conforms(few + " -> " + few + "{1,3,0,2}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
    const std::string digits = array(element.type, {3, 17, 2, 3, 48 / element.bytes + 1});
    expect_conforms(digits + " -> " + digits + "{1,4,0,2,3}", GetParam());
    const std::string rows = array(element.type, {5, 2, 21, 4, 48 / element.bytes});
    expect_conforms(rows + " -> " + rows + "{0,2,4,1,3}", GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, JoinsRowsOfFewColumnsThatTouch) {
  for (const char* text :
       {"u8[3,48,5,12] -> u8[3,48,5,12]{1,3,0,2}", "u8[2,301,3,9] -> u8[2,301,3,9]{1,3,0,2}",
        "u16[3,148,5,5] -> u16[3,148,5,5]{1,3,0,2}", "f32[3,70,5,3] -> f32[3,70,5,3]{1,3,0,2}"}) {
    expect_conforms(text, GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, JoinsRowsThatTouchWithTheirPadding) {
  struct Run {
    int valid_bytes, padded_bytes;
  };
  for (const Element& element : every_width) {
    // Less than a lane of the last vector; more than a line of padding.
    for (const Run& run : {Run{24, 32}, {40, 48}, {104, 280}, {328, 336}}) {
      const int rows = run.valid_bytes / element.bytes, padded = run.padded_bytes / element.bytes;
      // One column is left in a box of its own.
      for (const int column_bytes : {64, 200, 584, 512 + element.bytes}) {
        const int columns = column_bytes / element.bytes;
        const std::string from = array(element.type, {2, rows, columns});
        const int padded_columns = columns + (column_bytes == 200 ? 2 : 0);
        expect_conforms(from + " -> " + from + "{1,2,0:PAD(2," + std::to_string(padded) + "," +
                            std::to_string(padded_columns) + ";one)}",
                        GetParam());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Microkernel, JoinsRowsOfSeveralDigitsThatTouch) {
  for (const Element& element : every_width) {
    for (const std::vector<int>& digits :
         {std::vector<int>{3, 10}, {7, 11}, {15, 16}, {17, 5}, {7, 32}, {2, 101}}) {
      // Of one panel, of some and a part of one, of more than a box.
      for (const int column_bytes : {64, 200, 584}) {
        const int columns = column_bytes / element.bytes;
        const std::string from = array(element.type, {digits[0], 3, digits[1], columns});
        expect_conforms(from + " -> " + from + "{0,2,3,1}", GetParam());
        if (HasFatalFailure()) return;
      }
    }
    const std::string three = array(element.type, {2, 5, 3, 4, 137});
    expect_conforms(three + " -> " + three + "{3,1,2,4,0}", GetParam());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace restride::testing
