// validate(Shape): every way in which a shape can be wrong, with the message that says so.
#include <gtest/gtest.h>

#include <limits>

#include "restride/shape.hpp"

namespace restride {
namespace {

using List = std::vector<int64_t>;
constexpr int64_t combine = Layout::combine;
constexpr int64_t largest = std::numeric_limits<int64_t>::max();
constexpr int64_t smallest = std::numeric_limits<int64_t>::min();

Shape plain(ElementType type, List dimensions) {
  const auto rank = static_cast<int>(dimensions.size());
  return {type, std::move(dimensions), default_layout(rank)};
}

Shape plain(List dimensions) { return plain(ElementType::f32, std::move(dimensions)); }

struct Wrong {
  const char* message;
  Shape shape;
  void (*change)(Shape&) = [](Shape&) {};
  ErrorCode code = ErrorCode::invalid_argument;
};

void expect_refused(const std::vector<Wrong>& cases) {
  for (Wrong row : cases) {
    row.change(row.shape);
    SCOPED_TRACE(row.message);
    const auto valid = validate(row.shape);
    ASSERT_FALSE(valid);
    EXPECT_EQ(valid.error().message, row.message);
    EXPECT_EQ(valid.error().code, row.code);
  }
}

TEST(Validate, TakesWhatTheSpecificationAllows) {
  const auto with = [](Shape shape, void (*change)(Layout&)) {
    change(shape.layout);
    return validate(shape);
  };
  EXPECT_TRUE(validate(plain({})));
  EXPECT_TRUE(validate(plain({0})));
  EXPECT_TRUE(validate(plain({2, 0, 3})));
  EXPECT_TRUE(validate(Shape{}));
  EXPECT_TRUE(with(plain({2, 3}), [](Layout& l) { l.padded_dimensions = {2, 5}; }));
  EXPECT_TRUE(with(plain({0, 3}), [](Layout& l) { l.padded_dimensions = {4, 4}; }));
  EXPECT_TRUE(with(plain({2, 3}), [](Layout& l) { l.tiles = {{combine, 4}, {2, 1}}; }));
  EXPECT_TRUE(with(plain({2, 3}), [](Layout& l) { l.tiles = {{2, 2}, {2, 1, 1, 1}}; }));
  EXPECT_TRUE(with(plain(ElementType::s4, {3}), [](Layout& l) { l.element_size_in_bits = 4; }));
  EXPECT_TRUE(with(plain(ElementType::s2, {3}), [](Layout& l) { l.element_size_in_bits = 4; }));
  EXPECT_TRUE(with(plain(ElementType::pred, {3}), [](Layout& l) { l.element_size_in_bits = 1; }));
  EXPECT_TRUE(validate(plain(ElementType::u8, {largest})));
}

TEST(Validate, RefusesWrongTypesAndSizes) {
  expect_refused({
      {"element_type = 0: is no element type", plain(static_cast<ElementType>(0), {2})},
      {"element_type = 31: is no element type", plain(static_cast<ElementType>(31), {2})},
      {"dimensions[1] = -3: must be at least 0", plain({2, -3})},
      {"dimensions[0] = -9223372036854775808: must be at least 0", plain({smallest})},
  });
}

TEST(Validate, RefusesWrongOrders) {
  expect_refused({
      {"minor_to_major: has 1 entries: must have 2, one per dimension", plain({2, 3}),
       [](Shape& s) { s.layout.minor_to_major = {0}; }},
      {"minor_to_major: has 0 entries: must have 2, one per dimension", plain({2, 3}),
       [](Shape& s) { s.layout.minor_to_major = {}; }},
      {"minor_to_major: has 1 entries: must have 0, one per dimension", plain({}),
       [](Shape& s) { s.layout.minor_to_major = {0}; }},
      {"minor_to_major[0] = 5: must be 0..2", plain({2, 3, 4}),
       [](Shape& s) {
         s.layout.minor_to_major = {5, 1, 0};
       }},
      {"minor_to_major[1] = -1: must be 0..1", plain({2, 3}),
       [](Shape& s) {
         s.layout.minor_to_major = {0, -1};
       }},
      {"minor_to_major[2] = 1: stands there twice", plain({2, 3, 4}),
       [](Shape& s) {
         s.layout.minor_to_major = {1, 0, 1};
       }},
      {"minor_to_major[99] = 99: stands there twice", plain(List(100, 1)),
       [](Shape& s) { s.layout.minor_to_major[99] = 99; }},
  });
}

TEST(Validate, RefusesWrongPadding) {
  expect_refused({
      {"padding_value = 0: must be 1..5", plain({2}),
       [](Shape& s) { s.layout.padding_value = static_cast<PaddingValue>(0); }},
      {"padding_value = 6: must be 1..5", plain({2}),
       [](Shape& s) { s.layout.padding_value = static_cast<PaddingValue>(6); }},
      {"padded_dimensions: has 1 entries: must have 2, one per dimension", plain({2, 3}),
       [](Shape& s) { s.layout.padded_dimensions = {2}; }},
      {"padded_dimensions: has 1 entries: must have 0, one per dimension", plain({}),
       [](Shape& s) { s.layout.padded_dimensions = {2}; }},
      {"padded_dimensions[1] = 2: must be at least 3, the size without padding", plain({2, 3}),
       [](Shape& s) {
         s.layout.padded_dimensions = {2, 2};
       }},
      {"padded_dimensions[0] = -1: must be at least 0, the size without padding", plain({0}),
       [](Shape& s) { s.layout.padded_dimensions = {-1}; }},
      {"padded_dimensions together with tiles: not supported", plain({2, 3}),
       [](Shape& s) {
         s.layout.padded_dimensions = {2, 4};
         s.layout.tiles = {{2, 2}};
       },
       ErrorCode::unsupported},
  });
}

TEST(Validate, RefusesWrongTiles) {
  expect_refused({
      {"tiles[0]: is empty: must have at least one entry", plain({2}),
       [](Shape& s) { s.layout.tiles = {{}}; }},
      {"tiles[0][1] = 0: must be at least 1, or *", plain({2, 3}),
       [](Shape& s) {
         s.layout.tiles = {{2, 0}};
       }},
      {"tiles[1][0] = -1: must be at least 1, or *", plain({2, 3}),
       [](Shape& s) {
         s.layout.tiles = {{2, 2}, {-1}};
       }},
      {"tiles[0]: has 3 entries: is applied to only 2 dimensions", plain({2, 3}),
       [](Shape& s) {
         s.layout.tiles = {{1, 2, 2}};
       }},
      {"tiles[0]: has 1 entries: is applied to only 0 dimensions", plain({}),
       [](Shape& s) { s.layout.tiles = {{128}}; }},
      {"tiles[1]: has 5 entries: is applied to only 4 dimensions", plain({2, 3}),
       [](Shape& s) {
         s.layout.tiles = {{2, 2}, {1, 1, 1, 1, 1}};
       }},
      // A `*` leaves one dimension less: 2 - 1 merged, then cut in two.
      {"tiles[1]: has 3 entries: is applied to only 2 dimensions", plain({2, 3}),
       [](Shape& s) {
         s.layout.tiles = {{combine, 2}, {1, 1, 1}};
       }},
      {"tiles[0]: ends in *: there is no more minor dimension to merge into", plain({2, 3}),
       [](Shape& s) {
         s.layout.tiles = {{2, combine}};
       }},
  });
}

TEST(Validate, RefusesWrongStorage) {
  expect_refused({
      {"tail_padding_alignment_in_elements = 0: must be at least 1", plain({2}),
       [](Shape& s) { s.layout.tail_padding_alignment_in_elements = 0; }},
      {"packing_order = 2: must be least_significant_first or most_significant_first", plain({2}),
       [](Shape& s) { s.layout.packing_order = static_cast<PackingOrder>(2); }},
      {"element_size_in_bits = 4: must be 0: f32 fills its bytes", plain({2}),
       [](Shape& s) { s.layout.element_size_in_bits = 4; }},
      {"element_size_in_bits = 8: must be 0, 1, 2 or 4", plain(ElementType::s4, {2}),
       [](Shape& s) { s.layout.element_size_in_bits = 8; }},
      {"element_size_in_bits = 3: must be 0, 1, 2 or 4", plain(ElementType::s2, {2}),
       [](Shape& s) { s.layout.element_size_in_bits = 3; }},
      {"element_size_in_bits = -1: must be 0, 1, 2 or 4", plain(ElementType::s2, {2}),
       [](Shape& s) { s.layout.element_size_in_bits = -1; }},
      {"element_size_in_bits = 2: must be at least 4, the bits of s4", plain(ElementType::s4, {2}),
       [](Shape& s) { s.layout.element_size_in_bits = 2; }},
  });
}

TEST(Validate, RefusesWhatOverflows) {
  expect_refused({
      {"dimensions = [4611686018427387904,2]: the elements of the buffer overflow 64 bits",
       plain(ElementType::u8, {int64_t{1} << 62, 2})},
      {"dimensions = [2305843009213693952]: the bytes of the buffer overflow 64 bits",
       plain({int64_t{1} << 61})},
      // No element, yet a stride that does not fit.
      {"dimensions = [0,4611686018427387904,2]: the elements of the buffer overflow 64 bits",
       plain({0, int64_t{1} << 62, 2})},
      {"dimensions = [2,2]: the elements of the buffer overflow 64 bits", plain({2, 2}),
       [](Shape& s) {
         s.layout.padded_dimensions = {largest, 2};
       }},
      {"dimensions = [2]: the elements of the buffer overflow 64 bits", plain({2}),
       [](Shape& s) {
         s.layout.padded_dimensions = {(int64_t{1} << 62) + 1};
         s.layout.tail_padding_alignment_in_elements = int64_t{1} << 62;
       }},
      {"dimensions = [3,3]: the elements of the buffer overflow 64 bits", plain({3, 3}),
       [](Shape& s) {
         s.layout.tiles = {{largest, largest}};
       }},
      {"dimensions = [3,3]: the bytes of the buffer overflow 64 bits", plain({3, 3}),
       [](Shape& s) {
         s.layout.tiles = {{1, int64_t{1} << 61}};
       }},
  });
  Shape packed = plain(ElementType::u4, {largest});
  packed.layout.element_size_in_bits = 4;
  EXPECT_TRUE(validate(packed)) << "half a byte per element fits";
}

TEST(Validate, NamesWhoseFieldItIs) {
  Shape shape = plain({2, 3, 4});
  shape.layout.minor_to_major = {5, 1, 0};
  EXPECT_EQ(validate(shape, "target").error().message,
            "target.minor_to_major[0] = 5: must be 0..2");
}

TEST(Validate, ChecksALayoutForAShape) {
  const Shape shape = plain({2, 3});
  EXPECT_TRUE(validate_layout_for_shape(make_layout({0, 1}), shape));
  EXPECT_EQ(validate_layout_for_shape(make_layout({0}), shape).error().message,
            "minor_to_major: has 1 entries: must have 2, one per dimension");
}

TEST(Validate, CutsLongLists) {
  const auto valid = validate(plain(List(100, 2)));
  ASSERT_FALSE(valid);
  EXPECT_EQ(valid.error().message,
            "dimensions = [2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,...]: "
            "the elements of the buffer overflow 64 bits");
}

}  // namespace
}  // namespace restride
