// Shape: what is counted, asked and viewed differently. What is wrong with shapes: validate_test.
#include "restride/shape.hpp"

#include <gtest/gtest.h>

namespace restride {
namespace {

using List = std::vector<int64_t>;

Shape shape_of(const char* text) {
  const auto shape = parse_shape(text);
  EXPECT_TRUE(shape) << text << ": " << shape.error().message;
  return shape ? *shape : Shape{};
}

TEST(Shape, IsMade) {
  EXPECT_EQ(to_string(*make_shape(ElementType::f32, {2, 3})), "f32[2,3]");
  EXPECT_EQ(make_shape(ElementType::f32, {2, 3})->layout, default_layout(2));
  EXPECT_EQ(to_string(*make_shape_with_layout(ElementType::s8, {2, 3}, make_layout({0, 1}))),
            "s8[2,3]{0,1}");
  EXPECT_EQ(make_shape(ElementType::f32, {2, -3}).error().message,
            "dimensions[1] = -3: must be at least 0");
  EXPECT_FALSE(make_shape(ElementType::f32, {int64_t{1} << 62, 4}));
  EXPECT_FALSE(make_shape_with_layout(ElementType::s8, {2, 3}, make_layout({0, 0})));
}

TEST(Shape, HasADescendingViewOfTheSameBytes) {
  const struct {
    const char *shape, *descending;
  } cases[] = {
      {"f32[2,3]", "f32[2,3]"},
      {"f32[2,3]{0,1}", "f32[3,2]"},
      {"f32[128,24,4,48]{2,3,1,0}", "f32[128,24,48,4]"},
      {"f32[2,3]{0,1:PAD(3,5;zero)}", "f32[3,2]{1,0:PAD(5,3;zero)}"},
      {"f32[2,3,4]{1,0,2:T(2,2)}", "f32[4,2,3]{2,1,0:T(2,2)}"},
      {"f32[]", "f32[]"},
  };
  for (const auto& row : cases) {
    const auto view =
        make_shape_with_descending_layout_and_same_physical_layout(shape_of(row.shape));
    ASSERT_TRUE(view);
    EXPECT_EQ(to_string(*view), row.descending);
  }
}

struct Counts {
  const char* text;
  int64_t elements, buffer_elements, buffer_bytes;
};

constexpr Counts counts[] = {
    {"f32[2,3]", 6, 6, 24},
    {"f32[]", 1, 1, 4},
    {"f32[0]", 0, 0, 0},
    {"f32[2,0,3]", 0, 0, 0},
    {"f32[2,3]{0,1:PAD(3,5;zero)}", 6, 15, 60},
    {"f32[0,3]{1,0:PAD(2,3;zero)}", 0, 6, 24},  // nothing but padding
    {"c128[3]", 3, 3, 48},
    {"pred[3]", 3, 3, 3},
    {"s4[3]", 3, 3, 3},
    {"s4[3]{0:E(4)}", 3, 3, 2},
    {"u1[17]{0:E(1)}", 17, 17, 3},
    {"s2[5]{0:E(2)}", 5, 5, 2},
    {"f32[3]{0:L(4)}", 3, 4, 16},
    {"f32[4]{0:L(4)}", 4, 4, 16},
    {"f32[0]{0:L(4)}", 0, 0, 0},
    {"s4[3]{0:L(8)E(4)}", 3, 8, 4},
    // The buffers of the specification.
    {"f32[3,5]{1,0:T(2,2)}", 15, 24, 96},
    {"f32[3,5]{0,1:T(2,2)}", 15, 24, 96},
    {"f32[4,8]{1,0:T(2,4)(2,1)}", 32, 32, 128},
    {"f32[8,8]{1,0:T(2,4)(2,1,1,1)}", 64, 64, 256},
    {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", 12320, 12432, 49728},
    {"bf16[3,5]{1,0:T(8,128)(2,1)}", 15, 1024, 2048},
    {"s8[5,6]{1,0:T(8,128)(4,1)}", 30, 1024, 1024},
    {"f32[4,3,5]{2,1,0:T(2,4)}", 60, 128, 512},
    {"f32[0,5]{1,0:T(2,2)}", 0, 0, 0},
};

TEST(Shape, CountsElementsAndBytes) {
  for (const Counts& row : counts) {
    SCOPED_TRACE(row.text);
    const Shape shape = shape_of(row.text);
    EXPECT_EQ(*element_count(shape), row.elements);
    EXPECT_EQ(*buffer_elements(shape), row.buffer_elements);
    EXPECT_EQ(*buffer_bytes(shape), row.buffer_bytes);
  }
}

TEST(Shape, CountsNothingThatIsWrong) {
  const Shape wrong{ElementType::f32, {int64_t{1} << 61}, default_layout(1)};
  EXPECT_FALSE(element_count(wrong));
  EXPECT_FALSE(buffer_elements(wrong));
  EXPECT_FALSE(buffer_bytes(wrong));
  EXPECT_FALSE(byte_strides(wrong));
}

TEST(Shape, HasByteStrides) {
  EXPECT_EQ(*byte_strides(shape_of("f32[2,3]")), (List{12, 4}));
  EXPECT_EQ(*byte_strides(shape_of("f32[2,3]{0,1}")), (List{4, 8}));
  EXPECT_EQ(*byte_strides(shape_of("f32[2,3]{0,1:PAD(3,5;zero)}")), (List{4, 12}));
  EXPECT_EQ(*byte_strides(shape_of("f64[0,3]")), (List{24, 8}));
  EXPECT_EQ(*byte_strides(shape_of("f64[]")), List{});
  EXPECT_EQ(byte_strides(shape_of("f32[2,3]{1,0:T(2,2)}")).error().code, ErrorCode::unsupported);
  EXPECT_EQ(byte_strides(shape_of("s4[2]{0:E(4)}")).error().code, ErrorCode::unsupported);
}

TEST(Shape, KnowsItsRankAndScalars) {
  const struct {
    const char* text;
    int rank, true_rank;
    bool scalar, effective_scalar, zero_element;
  } cases[] = {
      {"f32[]", 0, 0, true, true, false},        {"f32[1]", 1, 0, false, true, false},
      {"f32[1,1]", 2, 0, false, true, false},    {"f32[1,3]", 2, 1, false, false, false},
      {"f32[2,1,3]", 3, 2, false, false, false}, {"f32[0]", 1, 0, false, false, true},
      {"f32[2,0]", 2, 1, false, false, true},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.text);
    const Shape shape = shape_of(row.text);
    EXPECT_EQ(rank(shape), row.rank);
    EXPECT_EQ(true_rank(shape), row.true_rank);
    EXPECT_EQ(is_scalar(shape), row.scalar);
    EXPECT_EQ(is_effective_scalar(shape), row.effective_scalar);
    EXPECT_EQ(is_zero_element(shape), row.zero_element);
  }
}

TEST(Shape, CountsDimensionsFromTheEndToo) {
  const Shape shape = shape_of("f32[2,3,4]{2,1,0:PAD(2,5,4;zero)}");
  EXPECT_EQ(*dimension_size(shape, 0), 2);
  EXPECT_EQ(*dimension_size(shape, -1), 4);
  EXPECT_EQ(*dimension_size(shape, -3), 2);
  EXPECT_EQ(*padded_dimension(shape, 1), 5);
  EXPECT_EQ(*padded_dimension(shape, -2), 5);
  EXPECT_EQ(padded_dimensions(shape), (List{2, 5, 4}));
  EXPECT_EQ(padded_dimensions(shape_of("f32[2,3]")), (List{2, 3}));
  EXPECT_EQ(dimension_size(shape, 3).error().message, "dimension = 3: must be -3..2");
  EXPECT_EQ(dimension_size(shape, -4).error().message, "dimension = -4: must be -3..2");
  EXPECT_FALSE(padded_dimension(shape, 3));
  EXPECT_EQ(dimension_number(0, 0).error().message, "dimension = 0: a scalar has no dimensions");
  EXPECT_EQ(*dimension_number(-1, 4), 3);
}

TEST(Shape, ComparesWithAndWithoutLayout) {
  EXPECT_TRUE(compatible(shape_of("f32[2,3]"), shape_of("f32[2,3]{0,1}")));
  EXPECT_FALSE(compatible(shape_of("f32[2,3]"), shape_of("s32[2,3]")));
  EXPECT_FALSE(compatible(shape_of("f32[2,3]"), shape_of("f32[3,2]")));
  EXPECT_TRUE(shape_of("f32[2,3]") == shape_of("f32[2,3]{1,0}"));
  EXPECT_FALSE(shape_of("f32[2,3]") == shape_of("f32[2,3]{0,1}"));
}

}  // namespace
}  // namespace restride
