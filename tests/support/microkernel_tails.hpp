// What tests of microkernels over their tails share: each problem runs for arrays that stay in the
// caches and for arrays that are streamed past them, on every backend and target that runs here.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/sampling.hpp"
#include "support/setups.hpp"

namespace restride::testing {

class Microkernel : public ::testing::TestWithParam<Setup> {};

inline void expect_conforms(const std::string& text, const Setup& setup) {
  if (!in_sample(name_of(setup) + text)) return;
  const Report report = run_in(setup, text);
  ASSERT_EQ(report.outcome, Outcome::passed) << report.text;
}

struct Element {
  const char* type;
  int bytes;
};
constexpr Element every_width[] = {{"u8", 1}, {"u16", 2}, {"f32", 4}, {"f64", 8}};

}  // namespace restride::testing
