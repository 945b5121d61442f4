// Other views of the same bytes: what permuting, dropping, inserting and reshaping do to a layout,
// and when they move nothing. Where a table says `bitcast`, every element is walked as well.
#include <gtest/gtest.h>

#include "restride/index.hpp"
#include "restride/shape.hpp"

namespace restride {
namespace {

using List = std::vector<int64_t>;

Shape shape_of(const char* text) {
  const auto shape = parse_shape(text);
  EXPECT_TRUE(shape) << text << ": " << shape.error().message;
  return shape ? *shape : Shape{};
}

/// The places of all elements in row-major order of their indices.
List places(const Shape& shape) {
  List out;
  if (is_zero_element(shape)) return out;
  List index(shape.dimensions.size());
  do {
    out.push_back(multidimensional_index_to_linear_index(shape, index));
  } while (bump_indices(shape, index));
  return out;
}

/// Where the input's elements lie when they are visited in row-major order of the transposed array.
List transposed_places(const Shape& input, const List& permutation) {
  Shape visited = input;
  for (size_t i = 0; i < permutation.size(); ++i) {
    visited.dimensions[i] = input.dimensions[permutation[i]];
  }
  List out, index(permutation.size()), source(permutation.size());
  do {
    for (size_t i = 0; i < permutation.size(); ++i) source[permutation[i]] = index[i];
    out.push_back(multidimensional_index_to_linear_index(input, source));
  } while (bump_indices(visited, index));
  return out;
}

TEST(PermuteDimensions, MovesTheLayoutAlong) {
  const struct {
    const char* shape;
    List permutation;
    const char* permuted;
  } cases[] = {
      {"f32[2,3]", {1, 0}, "f32[3,2]{0,1}"},
      {"f32[2,3]{0,1}", {1, 0}, "f32[3,2]"},
      {"f32[2,3,4]", {2, 0, 1}, "f32[4,2,3]{0,2,1}"},
      {"f32[2,3]{0,1:PAD(3,5;zero)}", {1, 0}, "f32[3,2]{1,0:PAD(5,3;zero)}"},
      {"f32[3,5]{1,0:T(2,2)}", {1, 0}, "f32[5,3]{0,1:T(2,2)}"},
      {"f32[]", {}, "f32[]"},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.shape);
    const Shape shape = shape_of(row.shape);
    const auto permuted = permute_dimensions(shape, row.permutation);
    ASSERT_TRUE(permuted);
    EXPECT_EQ(to_string(*permuted), row.permuted);
    EXPECT_EQ(places(*permuted), transposed_places(shape, row.permutation));
    EXPECT_TRUE(transpose_is_bitcast(shape, *permuted, row.permutation));
  }
}

TEST(PermuteDimensions, RefusesWhatIsNoPermutation) {
  const Shape shape = shape_of("f32[2,3]");
  EXPECT_EQ(permute_dimensions(shape, {0}).error().message,
            "permutation: has 1 entries: must have 2, one per dimension");
  EXPECT_EQ(permute_dimensions(shape, {0, 2}).error().message, "permutation[1] = 2: must be 0..1");
  EXPECT_EQ(permute_dimensions(shape, {-1, 0}).error().message,
            "permutation[0] = -1: must be 0..1");
  EXPECT_EQ(permute_dimensions(shape, {1, 1}).error().message,
            "permutation[1] = 1: stands there twice");
}

TEST(DropDegenerateDimensions, LeavesEveryElementInPlace) {
  const struct {
    const char *shape, *dropped;
  } cases[] = {
      {"f32[1,2,1,3]", "f32[2,3]"},
      {"f32[1,2,1,3]{1,3,0,2}", "f32[2,3]{0,1}"},
      {"f32[1,1]", "f32[]"},
      {"f32[2,3]{0,1}", "f32[2,3]{0,1}"},
      {"f32[1,2,3]{2,1,0:PAD(1,2,5;one)}", "f32[2,3]{1,0:PAD(2,5;one)}"},
      {"f32[1,3,5]{2,1,0:T(2,2)}", "f32[3,5]{1,0:T(2,2)}"},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.shape);
    const Shape shape = shape_of(row.shape);
    const auto dropped = drop_degenerate_dimensions(shape);
    ASSERT_TRUE(dropped);
    EXPECT_EQ(to_string(*dropped), row.dropped);
    EXPECT_EQ(places(*dropped), places(shape));
  }
}

TEST(DropDegenerateDimensions, RefusesWhatWouldMoveElements) {
  EXPECT_EQ(drop_degenerate_dimensions(shape_of("f32[1,3]{1,0:PAD(2,3;zero)}")).error().message,
            "dimension = 0: is padded");
  EXPECT_EQ(drop_degenerate_dimensions(shape_of("f32[1,3]{1,0:T(2,2)}")).error().message,
            "dimension = 0: is cut by a tile");
  EXPECT_FALSE(drop_degenerate_dimensions(shape_of("f32[1,3]{1,0:T(2,2)(2)}")));
  // The second tile reaches beyond the first one.
  EXPECT_FALSE(drop_degenerate_dimensions(shape_of("f32[1,3,5]{2,1,0:T(2,2)(2,1,1,1,1)}")));
}

TEST(DeleteDimension, TakesAnySizeAndNegativeNumbers) {
  EXPECT_EQ(to_string(*delete_dimension(shape_of("f32[2,3,4]{0,1,2}"), 1)), "f32[2,4]{0,1}");
  EXPECT_EQ(to_string(*delete_dimension(shape_of("f32[2,3,4]"), -1)), "f32[2,3]");
  EXPECT_EQ(delete_dimension(shape_of("f32[2]"), 1).error().message,
            "dimension = 1: must be -1..0");
  EXPECT_FALSE(delete_dimension(shape_of("f32[3,5]{1,0:T(2,2)}"), 0));
}

TEST(InsertDimension, StandsOutsideTheDimensionItStandsBefore) {
  const struct {
    const char* shape;
    int64_t dimension, size;
    const char* inserted;
  } cases[] = {
      {"f32[2,3]", 0, 4, "f32[4,2,3]"},
      {"f32[2,3]", 1, 4, "f32[2,4,3]"},
      {"f32[2,3]", 2, 4, "f32[2,3,4]"},
      {"f32[2,3]", -1, 4, "f32[2,3,4]"},
      {"f32[2,3]", -3, 4, "f32[4,2,3]"},
      {"f32[2,3]{0,1}", 0, 4, "f32[4,2,3]{1,0,2}"},
      {"f32[2,3]{1,0:PAD(2,5;zero)}", 0, 1, "f32[1,2,3]{2,1,0:PAD(1,2,5;zero)}"},
      {"f32[3,5]{1,0:T(2,2)}", 0, 7, "f32[7,3,5]{2,1,0:T(2,2)}"},
      {"f32[]", 0, 4, "f32[4]"},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.shape);
    const auto inserted = insert_dimension(shape_of(row.shape), row.dimension, row.size);
    ASSERT_TRUE(inserted) << inserted.error().message;
    EXPECT_EQ(to_string(*inserted), row.inserted);
  }
}

TEST(InsertDimension, RefusesWhatCannotBe) {
  EXPECT_EQ(insert_dimension(shape_of("f32[2]"), 2, 1).error().message,
            "dimension = 2: must be -2..1");
  EXPECT_EQ(insert_dimension(shape_of("f32[2]"), 0, -1).error().message,
            "dimensions[0] = -1: must be at least 0");
  EXPECT_EQ(insert_dimension(shape_of("f32[3,5]{1,0:T(2,2)}"), 1, 1).error().message,
            "dimension = 1: is cut by a tile");
  EXPECT_FALSE(insert_dimension(shape_of("f32[2]"), 0, int64_t{1} << 62));
}

TEST(Bitcast, TransposesAreFoundOut) {
  const struct {
    const char *input, *output;
    List permutation;
    bool is_bitcast;
  } cases[] = {
      {"f32[2,3]", "f32[3,2]{0,1}", {1, 0}, true},
      {"f32[2,3]", "f32[3,2]", {1, 0}, false},
      {"f32[2,3]", "f32[2,3]", {0, 1}, true},
      {"f32[2,3]", "s32[3,2]{0,1}", {1, 0}, false},
      {"f32[2,3]", "f32[2,3]{0,1}", {1, 0}, false},     // not the transposed sizes
      {"f32[10,1,5]", "f32[1,10,5]", {1, 0, 2}, true},  // a dimension of one element lies anywhere
      {"f32[2,3]{0,1:PAD(3,5;zero)}", "f32[3,2]{1,0:PAD(5,3;zero)}", {1, 0}, true},
      {"f32[2,3]{0,1:PAD(3,5;zero)}", "f32[3,2]{1,0:PAD(6,3;zero)}", {1, 0}, false},
      {"f32[3,5]{1,0:T(2,2)}", "f32[5,3]{0,1:T(2,2)}", {1, 0}, true},
      {"f32[3,5]{1,0:T(2,2)}", "f32[5,3]{1,0:T(2,2)}", {1, 0}, false},
      {"f32[0,3]", "f32[3,0]", {1, 0}, true},
      {"f32[2,3]", "f32[3,2]{0,1}", {1, 1}, false},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(std::string(row.input) + " as " + row.output);
    const Shape input = shape_of(row.input), output = shape_of(row.output);
    EXPECT_EQ(transpose_is_bitcast(input, output, row.permutation), row.is_bitcast);
    if (row.is_bitcast && !is_zero_element(input)) {
      EXPECT_EQ(transposed_places(input, row.permutation), places(output));
    }
  }
}

TEST(Bitcast, ReshapesAreFoundOut) {
  const struct {
    const char *input, *output;
    bool is_bitcast;
  } cases[] = {
      {"f32[2,3]", "f32[6]", true},
      {"f32[2,3]{0,1}", "f32[6]", false},
      {"f32[2,3,4]", "f32[6,4]", true},
      {"f32[2,3,4]{2,1,0}", "f32[4,6]", true},
      {"f32[2,3,4]{1,0,2}", "f32[6,4]{0,1}", true},
      {"f32[2,3,4]{0,1,2}", "f32[6,4]{0,1}", false},
      {"f32[6,4]{0,1}", "f32[2,3,4]{1,0,2}", true},
      {"f32[2,1,3]{0,1,2}", "f32[2,3]{0,1}", true},
      {"f32[2,3]{0,1}", "f32[3,2]{0,1}", false},
      {"f32[2,3]", "f32[2,4]", false},
      {"f32[]", "f32[1,1]", true},
      {"f32[2,3]{1,0:PAD(2,4;zero)}", "f32[2,3,1]{2,1,0:PAD(2,4,1;zero)}", true},
      {"f32[2,3]{1,0:PAD(3,3;zero)}", "f32[6]{0:PAD(9;zero)}", true},
      {"f32[2,3]{1,0:PAD(3,3;zero)}", "f32[6]", false},  // the buffers differ
      {"f32[2,3]{1,0:PAD(2,4;zero)}", "f32[6]{0:PAD(8;zero)}", false},
      {"f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0:T(2,2)}", true},
      {"f32[3,5]{1,0:T(2,2)}", "f32[15]{0:T(2)}", false},
      {"f32[0,3]", "f32[5,0]", true},
      {"s4[4]{0:E(4)}", "s4[4]", false},
      {"s4[4]{0:E(4)}", "s4[2,2]{1,0:E(4)}", true},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(std::string(row.input) + " as " + row.output);
    const Shape input = shape_of(row.input), output = shape_of(row.output);
    EXPECT_EQ(reshape_is_bitcast(input, output), row.is_bitcast);
    EXPECT_EQ(reshape_is_bitcast(output, input), row.is_bitcast);
    if (row.is_bitcast) {
      EXPECT_EQ(places(input), places(output));
    }
  }
}

TEST(Bitcast, ThePermutationIsDeduced) {
  const auto deduced = [](const char* input, const char* output) {
    return transpose_dimensions_for_bitcast(shape_of(input), shape_of(output));
  };
  EXPECT_EQ(deduced("f32[2,3]", "f32[3,2]{0,1}"), (List{1, 0}));
  EXPECT_EQ(deduced("f32[2,3]", "f32[2,3]"), (List{0, 1}));
  EXPECT_EQ(deduced("f32[2,3,4]{1,0,2}", "f32[4,2,3]"), (List{2, 0, 1}));
  EXPECT_EQ(deduced("f32[3,5]{1,0:T(2,2)}", "f32[5,3]{0,1:T(2,2)}"), (List{1, 0}));
  EXPECT_EQ(deduced("f32[2,3]", "f32[3,2]"), std::nullopt);
  EXPECT_EQ(deduced("f32[2,3]", "f32[6]"), std::nullopt);
}

}  // namespace
}  // namespace restride
