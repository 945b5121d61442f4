// Transposes whose rows of the source are made of short digits, over their tails. See
// support/microkernel_tails.hpp.
#include <gtest/gtest.h>

#include <string>

#include "support/microkernel_tails.hpp"

namespace restride::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Every, Microkernel, ::testing::ValuesIn(setups()),
                         [](const auto& info) { return name_of(info.param); });

TEST_P(Microkernel, TransposesRowsOfTheSourceMadeOfDigitsThatPartPanels) {
  for (const char* type : {"u8", "u16", "f32"}) {
    // Of one line and more, an odd number of them, and between lines.
    for (const int rows : {64, 176, 131}) {
      // A part of the second digit, and none.
      for (const int second : {24, 17}) {
        for (const int digit : {20, 28}) {
          const std::string from = array(type, {rows, second, digit});
          expect_conforms(from + " -> " + from + "{0,1,2}", GetParam());
          if (HasFatalFailure()) return;
        }
      }
    }
    const std::string from = array(type, {64, 3, 16, 28});
    expect_conforms(from + " -> " + from + "{0,2,1,3}", GetParam());
    if (HasFatalFailure()) return;
  }
}

TEST_P(Microkernel, TransposesRowsOfTheSourceMadeOfShortDigits) {
  for (const char* type : {"u8", "u16", "f32"}) {
    for (const int digit : {3, 6, 9, 12}) {
      // Rests of the second digit and of the rows; rows between lines; other loops around.
      for (const int rows : {64, 83}) {
        const std::string from = array(type, {rows, 17, digit});
        expect_conforms(from + " -> " + from + "{0,1,2}", GetParam());
        if (HasFatalFailure()) return;
      }
      const std::string from = array(type, {3, 64, 8, digit});
      expect_conforms(from + " -> " + from + "{1,2,3,0}", GetParam());
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace restride::testing
