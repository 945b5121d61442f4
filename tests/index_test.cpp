// Indices against the images and the table of the specification, and against each other.
#include "restride/index.hpp"

#include <gtest/gtest.h>

#include <string>

namespace restride {
namespace {

using List = std::vector<int64_t>;

Shape shape_of(const char* text) {
  const auto shape = parse_shape(text);
  EXPECT_TRUE(shape) << text << ": " << shape.error().message;
  return shape ? *shape : Shape{};
}

/// The buffer from its first place to its last: `letters` in row-major order of their indices, `.`
/// where no element stands.
std::string image(const Shape& shape, const std::string& letters) {
  std::string out(static_cast<size_t>(*buffer_elements(shape)), '.');
  List index(shape.dimensions.size());
  size_t next = 0;
  if (is_zero_element(shape)) return out;
  do {
    out[multidimensional_index_to_linear_index(shape, index)] = letters[next++];
  } while (bump_indices(shape, index));
  return out;
}

TEST(Index, ImagesAreThoseOfTheSpecification) {
  const struct {
    const char *shape, *letters, *image;
  } cases[] = {
      {"f32[2,3]{0,1}", "abcdef", "adbecf"},
      {"f32[2,3]{1,0}", "abcdef", "abcdef"},
      {"f32[2,3]{0,1:PAD(3,5;zero)}", "abcdef", "ad.be.cf......."},
      {"f32[2,3]{1,0:PAD(3,5;zero)}", "abcdef", "abc..def......."},
      // 00 01 10 11 | 02 03 12 13 | 04 . 14 . | 20 21 . . | 22 23 . . | 24 . . .
      {"f32[3,5]{1,0:T(2,2)}", "abcdefghijklmno", "abfgcdhie.j.kl..mn..o..."},
      {"f32[]", "a", "a"},
      {"f32[3]{0:L(4)}", "abc", "abc."},
      {"f32[0,3]{1,0:PAD(2,3;zero)}", "", "......"},
  };
  for (const auto& row : cases) {
    EXPECT_EQ(image(shape_of(row.shape), row.letters), row.image) << row.shape;
  }
}

TEST(Index, TheTableOfTheSpecificationHolds) {
  const struct {
    const char* shape;
    List index;
    int64_t linear, buffer;
  } cases[] = {
      {"f32[3,5]{1,0:T(2,2)}", {2, 3}, 17, 24},
      {"f32[3,5]{0,1:T(2,2)}", {2, 3}, 14, 24},
      {"f32[8,8]{1,0:T(2,4)(2,1,1,1)}", {6, 5}, 51, 64},
      {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", {1, 6, 7, 10, 9}, 12430, 12432},
      {"bf16[3,5]{1,0:T(8,128)(2,1)}", {2, 3}, 262, 1024},
      {"s8[5,6]{1,0:T(8,128)(4,1)}", {4, 5}, 532, 1024},
      {"f32[4,3,5]{2,1,0:T(2,4)}", {3, 2, 4}, 120, 128},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.shape);
    const Shape shape = shape_of(row.shape);
    EXPECT_EQ(multidimensional_index_to_linear_index(shape, row.index), row.linear);
    EXPECT_EQ(linear_index_to_multidimensional_index(shape, row.linear), row.index);
    EXPECT_EQ(*buffer_elements(shape), row.buffer);
  }
}

TEST(Index, ATileAcrossTilesInterleavesRows) {
  const Shape shape = shape_of("f32[4,8]{1,0:T(2,4)(2,1)}");
  const int64_t first_of_row[] = {0, 1, 16, 17};
  for (int64_t row = 0; row < 4; ++row) {
    for (int64_t column = 0; column < 8; ++column) {
      EXPECT_EQ(multidimensional_index_to_linear_index(shape, List{row, column}),
                first_of_row[row] + 2 * column);
    }
  }
}

TEST(Index, BlockedFormatsAreTiles) {
  // nChw16c: 20 channels in 2 blocks of 16, a block behind the image.
  const Shape shape = shape_of("f32[2,20,7,7]{3,2,1,0:T(16,1,1)}");
  EXPECT_EQ(*buffer_elements(shape), 2 * 2 * 7 * 7 * 16);
  EXPECT_EQ(multidimensional_index_to_linear_index(shape, List{1, 17, 2, 3}),
            (((1 * 2 + 1) * 7 + 2) * 7 + 3) * 16 + 1);
}

/// Every element comes back from its place, every place holds one element or none.
void expect_bijective(const char* text) {
  SCOPED_TRACE(text);
  const Shape shape = shape_of(text);
  int64_t found = 0;
  for (int64_t linear = 0; linear < *buffer_elements(shape); ++linear) {
    const auto index = linear_index_to_multidimensional_index(shape, linear);
    if (!index) continue;
    ++found;
    ASSERT_TRUE(index_in_bounds(shape, *index));
    ASSERT_EQ(multidimensional_index_to_linear_index(shape, *index), linear);
  }
  EXPECT_EQ(found, *element_count(shape));
}

TEST(Index, TheWayThereIsTheWayBack) {
  for (const char* text : {
           "f32[]",
           "f32[7]",
           "f32[0]",
           "f32[2,3,4]{1,2,0}",
           "f32[2,3]{0,1:PAD(3,5;zero)}",
           "f32[0,3]{1,0:PAD(2,3;zero)}",
           "f32[7]{0:L(16)}",
           "f32[3,5]{1,0:T(2,2)}",
           "f32[3,5]{0,1:T(2,2)L(32)}",
           "f32[5,7,3]{0,2,1:T(3)}",
           "f32[5,7,3]{0,2,1:T(*,4)}",
           "f32[5,7,3]{2,1,0:T(*,*,4)}",
           "f32[5,7,3]{2,1,0:T(2,3)(3,2,1)}",
           "f32[5,7]{1,0:T(3,4)(5)(2)}",
           "f32[5,7]{1,0:T(2,4)(*,*,3)}",
           "f32[5,7]{1,0:T(2,4)(2,1,1,1)(*,2)}",
           "bf16[3,5]{1,0:T(8,128)(2,1)}",
           "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
       }) {
    expect_bijective(text);
  }
}

TEST(Index, PlacesOutsideTheBufferHoldNothing) {
  const Shape shape = shape_of("f32[2,3]");
  EXPECT_EQ(linear_index_to_multidimensional_index(shape, -1), std::nullopt);
  EXPECT_EQ(linear_index_to_multidimensional_index(shape, 6), std::nullopt);
  EXPECT_EQ(linear_index_to_multidimensional_index(shape, 5), (List{1, 2}));
}

TEST(Index, BumpRunsTheLastDimensionFastest) {
  const Shape shape = shape_of("f32[2,1,2]{0,1,2}");
  List index(3);
  std::vector<List> seen;
  do {
    seen.push_back(index);
  } while (bump_indices(shape, index));
  EXPECT_EQ(seen, (std::vector<List>{{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {1, 0, 1}}));
  EXPECT_EQ(index, (List{0, 0, 0})) << "back at the start";
  List scalar;
  EXPECT_FALSE(bump_indices(shape_of("f32[]"), scalar));
}

TEST(Index, BoundsAreTheLogicalOnes) {
  const Shape shape = shape_of("f32[2,3]{1,0:PAD(4,4;zero)}");
  EXPECT_TRUE(index_in_bounds(shape, List{0, 0}));
  EXPECT_TRUE(index_in_bounds(shape, List{1, 2}));
  EXPECT_FALSE(index_in_bounds(shape, List{2, 0}));
  EXPECT_FALSE(index_in_bounds(shape, List{0, 3}));
  EXPECT_FALSE(index_in_bounds(shape, List{-1, 0}));
  EXPECT_FALSE(index_in_bounds(shape, List{0}));
  EXPECT_TRUE(index_in_bounds(shape_of("f32[]"), List{}));
  EXPECT_FALSE(index_in_bounds(shape_of("f32[0]"), List{0}));
}

TEST(Index, StridesCountElementsWithPadding) {
  EXPECT_EQ(*dimension_stride(shape_of("f32[2,3,4]"), 0), 12);
  EXPECT_EQ(*dimension_stride(shape_of("f32[2,3,4]"), -1), 1);
  EXPECT_EQ(*dimension_stride(shape_of("f32[2,3,4]{0,1,2}"), 2), 6);
  EXPECT_EQ(*dimension_stride(shape_of("f32[2,3]{0,1:PAD(3,5;zero)}"), 1), 3);
  EXPECT_EQ(dimension_stride(shape_of("f32[2,3]"), 2).error().message,
            "dimension = 2: must be -2..1");
  EXPECT_EQ(dimension_stride(shape_of("f32[2,3]{1,0:T(2)}"), 0).error().code,
            ErrorCode::unsupported);
  EXPECT_FALSE(dimension_stride(Shape{ElementType::f32, {2}, {}}, 0));
}

}  // namespace
}  // namespace restride
