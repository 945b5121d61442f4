// Calls of the C interface with what they answer.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "restride/restride.h"

namespace restride::testing {

/// Status and message of a call.
struct Answer {
  restride_status status;
  std::string message;
};

template <class Call>
Answer ask(Call call) {
  char message[300] = "untouched";
  const restride_status status = call(message, sizeof message);
  return {status, message};
}

/// Owns a plan made by a call that has to succeed.
class OwnedPlan {
 public:
  template <class Call>
  explicit OwnedPlan(Call call) {
    const Answer answer =
        ask([&](char* message, size_t bytes) { return call(&plan_, message, bytes); });
    EXPECT_EQ(answer.status, RESTRIDE_OK) << answer.message;
  }
  ~OwnedPlan() { restride_plan_destroy(plan_); }
  operator const restride_plan*() const { return plan_; }

 private:
  restride_plan* plan_ = nullptr;
};

inline OwnedPlan plan_of(const char* text) {
  return OwnedPlan([&](restride_plan** out, char* message, size_t bytes) {
    return restride_plan_create(text, nullptr, out, message, bytes);
  });
}

/// An array with what every array has.
inline restride_array array_of(const std::vector<int64_t>& dimensions) {
  restride_array array = {};
  array.struct_size = sizeof array;
  array.element_type = RESTRIDE_F32;
  array.rank = static_cast<int64_t>(dimensions.size());
  array.dimensions = dimensions.data();
  array.padding_value = RESTRIDE_ZERO_PAD;
  return array;
}

}  // namespace restride::testing
