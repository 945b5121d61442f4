// Problems and plans that have to succeed, and ones that have not.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "restride/plan.hpp"

namespace restride::testing {

inline Problem parsed(const std::string& text) {
  Result<Problem> problem = parse_problem(text);
  EXPECT_TRUE(problem) << text << ": " << problem.error().message;
  return *std::move(problem);
}

inline Plan planned(const std::string& text, const PlanOptions& options = {}) {
  Result<Plan> plan = Plan::create(parsed(text), options);
  EXPECT_TRUE(plan) << text << ": " << plan.error().message;
  return *std::move(plan);
}

inline Error error_of(const std::string& text, const PlanOptions& options = {}) {
  const Result<Plan> plan = Plan::create(parsed(text), options);
  EXPECT_FALSE(plan) << text;
  return plan ? Error{} : plan.error();
}

}  // namespace restride::testing
