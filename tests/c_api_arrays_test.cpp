// The C interface: arrays as numbers.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "restride/restride.h"
#include "support/c_api_calls.hpp"

namespace {

using restride::testing::Answer;
using restride::testing::array_of;
using restride::testing::ask;
using restride::testing::OwnedPlan;

Answer create(const restride_array* source, const restride_array* target) {
  restride_plan* plan = nullptr;
  const Answer answer = ask([&](char* message, size_t bytes) {
    return restride_plan_create_from_arrays(source, target, nullptr, &plan, message, bytes);
  });
  EXPECT_EQ(plan == nullptr, answer.status != RESTRIDE_OK);
  restride_plan_destroy(plan);
  return answer;
}

std::vector<float> moved(const restride_array& source, const restride_array& target,
                         const std::vector<float>& values, size_t target_elements) {
  const OwnedPlan plan([&](restride_plan** out, char* message, size_t bytes) {
    return restride_plan_create_from_arrays(&source, &target, nullptr, out, message, bytes);
  });
  std::vector<float> result(target_elements, -1.0f);
  const Answer answer = ask([&](char* message, size_t bytes) {
    return restride_plan_execute(plan, values.data(), values.size() * sizeof(float), result.data(),
                                 result.size() * sizeof(float), nullptr, message, bytes);
  });
  EXPECT_EQ(answer.status, RESTRIDE_OK) << answer.message;
  return result;
}

const std::vector<float> abc = {1, 2, 3, 4, 5, 6};

TEST(CApiArrays, TakesLayoutsAsNumbers) {
  const std::vector<int64_t> dimensions = {2, 3}, column_major = {0, 1}, padded = {3, 5};
  const restride_array source = array_of(dimensions);
  restride_array target = array_of(dimensions);
  EXPECT_EQ(moved(source, target, abc, 6), abc);
  target.minor_to_major = column_major.data();
  EXPECT_EQ(moved(source, target, abc, 6), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  target.padded_dimensions = padded.data();
  EXPECT_EQ(moved(source, target, abc, 15),
            (std::vector<float>{1, 4, 0, 2, 5, 0, 3, 6, 0, 0, 0, 0, 0, 0, 0}));
  target.padding_value = RESTRIDE_ONE_PAD;
  EXPECT_EQ(moved(source, target, abc, 15),
            (std::vector<float>{1, 4, 1, 2, 5, 1, 3, 6, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(CApiArrays, TakesTiles) {
  // The image of f32[3,5]{1,0:T(2,2)} in the specification; the fill is 0.
  const std::vector<int64_t> dimensions = {3, 5}, ranks = {2}, tile = {2, 2};
  const restride_array source = array_of(dimensions);
  restride_array target = array_of(dimensions);
  target.tile_count = 1;
  target.tile_ranks = ranks.data();
  target.tile_dimensions = tile.data();
  std::vector<float> values(15);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(10 * (i / 5) + i % 5);
  EXPECT_EQ(moved(source, target, values, 24),
            (std::vector<float>{0,  1,  10, 11, 2,  3,  12, 13, 4,  0, 14, 0,
                                20, 21, 0,  0,  22, 23, 0,  0,  24, 0, 0,  0}));
}

TEST(CApiArrays, TakesTilesThatMergeDimensions) {
  // f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)} has 12432 places in the specification.
  const std::vector<int64_t> dimensions = {2, 7, 8, 11, 10}, ranks = {5}, tile = {-1, -7, 2, -1, 3};
  const restride_array source = array_of(dimensions);
  restride_array target = array_of(dimensions);
  target.tile_count = 1;
  target.tile_ranks = ranks.data();
  target.tile_dimensions = tile.data();
  const OwnedPlan plan([&](restride_plan** out, char* message, size_t bytes) {
    return restride_plan_create_from_arrays(&source, &target, nullptr, out, message, bytes);
  });
  restride_plan_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(restride_plan_get_info(plan, &info, nullptr, 0), RESTRIDE_OK);
  EXPECT_EQ(info.target_bytes, 12432 * 4);
}

TEST(CApiArrays, TakesByteStridesAndBroadcasts) {
  const std::vector<int64_t> dimensions = {2, 3}, strides = {4, 8}, row = {3}, along = {1};
  const restride_array target = array_of(dimensions);
  restride_array source = array_of(dimensions);
  source.byte_strides = strides.data();
  EXPECT_EQ(moved(source, target, abc, 6), (std::vector<float>{1, 3, 5, 2, 4, 6}));
  source = array_of(row);
  source.broadcast_rank = 1;
  source.broadcast_dimensions = along.data();
  EXPECT_EQ(moved(source, target, {7, 8, 9}, 6), (std::vector<float>{7, 8, 9, 7, 8, 9}));
}

TEST(CApiArrays, NamesTheFieldThatIsWrong) {
  static const std::vector<int64_t> dimensions = {2, 3}, ranks = {65}, tile = {2, 2};
  struct Row {
    std::function<void(restride_array&)> change;
    const char* message;
  };
  for (const Row& row : std::vector<Row>{
           {[](restride_array& a) { a.element_type = 0; },
            "target.element_type = 0: must be 1..30"},
           {[](restride_array& a) { a.element_type = 31; },
            "target.element_type = 31: must be 1..30"},
           {[](restride_array& a) { a.padding_value = RESTRIDE_INVALID_PAD; },
            "target.padding_value = 0: must be 1..5"},
           {[](restride_array& a) { a.padding_value = 6; },
            "target.padding_value = 6: must be 1..5"},
           {[](restride_array& a) { a.rank = -1; }, "target.rank = -1: must be 0..64"},
           {[](restride_array& a) { a.rank = INT64_MAX; },
            "target.rank = 9223372036854775807: must be 0..64"},
           {[](restride_array& a) { a.dimensions = nullptr; },
            "target.dimensions = NULL: must not be"},
           {[](restride_array& a) { a.tile_count = -1; }, "target.tile_count = -1: must be 0..64"},
           {[](restride_array& a) { a.tile_count = 1; }, "target.tile_ranks = NULL: must not be"},
           {[](restride_array& a) {
              a.tile_count = 1;
              a.tile_ranks = ranks.data();
            },
            "target.tile_dimensions = NULL: must not be"},
           {[](restride_array& a) {
              a.tile_count = 1;
              a.tile_ranks = ranks.data();
              a.tile_dimensions = tile.data();
            },
            "target.tile_ranks[0] = 65: must be 0..64"},
           {[](restride_array& a) { a.broadcast_rank = 2; },
            "target.broadcast_dimensions = NULL: must not be"},
           {[](restride_array& a) {
              a.broadcast_rank = 2;
              a.broadcast_dimensions = tile.data();
            },
            "target.broadcast_rank = 2: only a source is broadcast"},
       }) {
    const restride_array source = array_of(dimensions);
    restride_array target = source;
    row.change(target);
    const Answer answer = create(&source, &target);
    EXPECT_EQ(answer.status, RESTRIDE_INVALID_ARGUMENT);
    EXPECT_EQ(answer.message, row.message);
  }
}

}  // namespace
