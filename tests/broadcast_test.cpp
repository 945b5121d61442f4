// Broadcasting: every row of the table of the specification, and every error in its order.
#include "restride/broadcast.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restride {
namespace {

using List = std::vector<int64_t>;

struct Row {
  List lhs, rhs, dims, result;
};

// M×N×P×Q = 2×3×4×5.
const Row rows[] = {
    {{2, 3}, {}, {}, {2, 3}},
    {{}, {}, {}, {}},
    {{2, 3}, {3}, {1}, {2, 3}},
    {{3, 3}, {3}, {1}, {3, 3}},
    {{3, 3}, {3}, {0}, {3, 3}},
    {{2, 3, 4}, {3, 4}, {1, 2}, {2, 3, 4}},
    {{2, 3, 4, 5}, {2}, {0}, {2, 3, 4, 5}},
    {{2, 3, 4, 5}, {3}, {1}, {2, 3, 4, 5}},
    {{2, 3, 4, 5}, {4}, {2}, {2, 3, 4, 5}},
    {{2, 3, 4, 5}, {5}, {3}, {2, 3, 4, 5}},
    {{2, 3, 4, 5}, {4, 5}, {2, 3}, {2, 3, 4, 5}},
    {{2, 3, 4, 5}, {3, 4}, {1, 2}, {2, 3, 4, 5}},
    {{2, 3, 4, 5}, {2, 5}, {0, 3}, {2, 3, 4, 5}},
    {{2, 1}, {2, 3}, {}, {2, 3}},
    {{1, 2, 5}, {7, 2, 5}, {}, {7, 2, 5}},
    {{7, 2, 5}, {7, 1, 5}, {}, {7, 2, 5}},
    {{2, 1}, {1, 3}, {}, {2, 3}},
    {{4}, {1, 2}, {0}, {4, 2}},
    {{1, 2}, {4, 3, 1}, {1, 2}, {4, 3, 2}},
    // Zero against one gives zero.
    {{0}, {1}, {}, {0}},
    {{2, 0}, {1, 1}, {}, {2, 0}},
    {{0}, {1, 2}, {0}, {0, 2}},
    {{1}, {0, 2}, {0}, {0, 2}},
    // The identity says nothing new.
    {{2, 1}, {2, 3}, {0, 1}, {2, 3}},
};

TEST(InferBroadcast, GivesTheResultsOfTheSpecification) {
  for (const Row& row : rows) {
    for (const bool swapped : {false, true}) {
      const auto result = swapped ? infer_broadcast(row.rhs, row.lhs, row.dims)
                                  : infer_broadcast(row.lhs, row.rhs, row.dims);
      ASSERT_TRUE(result) << result.error().message;
      EXPECT_EQ(*result, row.result);
    }
  }
}

struct Wrong {
  List lhs, rhs, dims;
  const char* message;
};

const Wrong wrong[] = {
    {{7, 2, 5}, {7, 2, 6}, {}, "dimensions: size mismatch in dimension 2: [7,2,5] against [7,2,6]"},
    {{0}, {2}, {}, "dimensions: size mismatch in dimension 0: [0] against [2]"},
    {{2, 3},
     {3},
     {0},
     "broadcast_dimensions[0] = 0: size mismatch: operand dimension 0 has size 3, dimension 0 of "
     "the result 2"},
    {{2, 3},
     {3},
     {},
     "broadcast_dimensions: is missing: [3] in [2,3] needs an entry for each dimension"},
    {{2, 3},
     {3},
     {0, 1},
     "broadcast_dimensions: has 2 entries: must have 1, the rank of the operand"},
    {{2, 3}, {}, {0}, "broadcast_dimensions: has 1 entries: must have 0, the rank of the operand"},
    // T×V into M×N×P×Q = 2×3×4×5: V to N with T to P, and V to both.
    {{2, 3, 4, 5},
     {4, 3},
     {2, 1},
     "broadcast_dimensions[1] = 1: not strictly increasing: stands behind 2"},
    {{2, 3, 3, 5},
     {3, 3},
     {1, 1},
     "broadcast_dimensions[1] = 1: not strictly increasing: stands behind 1"},
    // The order of the checks: size before order ...
    {{2, 3, 4},
     {3, 4},
     {2, 1},
     "broadcast_dimensions[0] = 2: size mismatch: operand dimension 0 has size 3, dimension 2 of "
     "the result 4"},
    {{5, 5, 5},
     {5, 5},
     {2, 1},
     "broadcast_dimensions[1] = 1: not strictly increasing: stands behind 2"},
    // ... range before size, sign before range, and entry by entry.
    {{2, 3, 4}, {3, 4}, {-1, 7}, "broadcast_dimensions[0] = -1: must not be negative"},
    {{2, 3, 4}, {3, 4}, {3, -1}, "broadcast_dimensions[0] = 3: is out of range: must be 0..2"},
    {{2, 3, 4}, {3, 4}, {1, -1}, "broadcast_dimensions[1] = -1: must not be negative"},
    {{2, 3, 4},
     {3, 4},
     {0, -1},
     "broadcast_dimensions[0] = 0: size mismatch: operand dimension 0 has size 3, dimension 0 of "
     "the result 2"},
    // Equal rank: the identity or nothing.
    {{2, 2},
     {2, 2},
     {1, 0},
     "broadcast_dimensions[0] = 1: must be 0: operands of equal rank map in order"},
    {{2, 2},
     {2, 2},
     {0},
     "broadcast_dimensions: has 1 entries: must have 2, the rank of the operand"},
};

TEST(InferBroadcast, RefusesWhatTheSpecificationRefuses) {
  for (const Wrong& row : wrong) {
    const auto result = infer_broadcast(row.lhs, row.rhs, row.dims);
    ASSERT_FALSE(result) << row.message;
    EXPECT_EQ(result.error().message, row.message);
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  }
}

TEST(InferBroadcast, NamesTheOwnerOfTheField) {
  EXPECT_EQ(infer_broadcast({2, 3}, {3}, {9}, "sources[1]").error().message,
            "sources[1].broadcast_dimensions[0] = 9: is out of range: must be 0..1");
}

TEST(BroadcastInDim, TakesDistinctEntriesInAnyOrder) {
  EXPECT_TRUE(check_broadcast_in_dim({1, 3}, {2, 3, 2}, {2, 1}));
  EXPECT_TRUE(check_broadcast_in_dim({3}, {2, 3}, {1}));
  EXPECT_TRUE(check_broadcast_in_dim({}, {2, 3}, {}));
  EXPECT_TRUE(check_broadcast_in_dim({256, 1, 256}, {256, 64, 256}, {0, 1, 2}));
  EXPECT_TRUE(check_broadcast_in_dim({2, 3}, {3, 2}, {1, 0}));
  EXPECT_TRUE(check_broadcast_in_dim({1}, {0, 2}, {0}));
}

TEST(BroadcastInDim, RefusesTheRest) {
  const struct {
    List source, result, dims;
    const char* message;
  } cases[] = {
      {{3},
       {2, 3},
       {},
       "broadcast_dimensions: is missing: [3] in [2,3] needs an entry for each dimension"},
      {{3},
       {2, 3},
       {1, 0},
       "broadcast_dimensions: has 2 entries: must have 1, the rank of the operand"},
      {{3}, {2, 3}, {-1}, "broadcast_dimensions[0] = -1: must not be negative"},
      {{3}, {2, 3}, {2}, "broadcast_dimensions[0] = 2: is out of range: must be 0..1"},
      {{3},
       {2, 3},
       {0},
       "broadcast_dimensions[0] = 0: size mismatch: operand dimension 0 has size 3, dimension 0 of "
       "the result 2"},
      // Only the operand stretches, not the result.
      {{3},
       {2, 1},
       {1},
       "broadcast_dimensions[0] = 1: size mismatch: operand dimension 0 has size 3, dimension 1 of "
       "the result 1"},
      {{2, 2}, {2, 2}, {1, 1}, "broadcast_dimensions[1] = 1: stands there twice"},
      {{2, 3},
       {2},
       {0, 0},
       "broadcast_dimensions[1] = 0: size mismatch: operand dimension 1 has size 3, dimension 0 of "
       "the result 2"},
  };
  for (const auto& row : cases) {
    const auto valid = check_broadcast_in_dim(row.source, row.result, row.dims);
    ASSERT_FALSE(valid) << row.message;
    EXPECT_EQ(valid.error().message, row.message);
  }
}

}  // namespace
}  // namespace restride
