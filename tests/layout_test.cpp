// Layout: orders, and the questions asked about them.
#include "restride/layout.hpp"

#include <gtest/gtest.h>

#include "restride/shape.hpp"

namespace restride {
namespace {

using List = std::vector<int64_t>;

TEST(Layout, IsMadeFromEitherEnd) {
  EXPECT_EQ(make_layout({1, 0, 2}).minor_to_major, (List{1, 0, 2}));
  EXPECT_EQ(make_layout_from_major_to_minor({1, 0, 2}).minor_to_major, (List{2, 0, 1}));
}

TEST(Layout, DefaultIsRowMajor) {
  EXPECT_EQ(default_layout(0).minor_to_major, List{});
  EXPECT_EQ(default_layout(1).minor_to_major, List{0});
  EXPECT_EQ(default_layout(4).minor_to_major, (List{3, 2, 1, 0}));
  EXPECT_EQ(default_layout(-1).minor_to_major, List{});
}

TEST(Layout, IsDefaultOnlyWithoutAnyAttribute) {
  EXPECT_TRUE(is_default(default_layout(3)));
  EXPECT_TRUE(is_default(default_layout(0)));
  EXPECT_FALSE(is_default(make_layout({0, 1})));
  const auto changed = [](auto change) {
    Layout layout = default_layout(2);
    change(layout);
    return is_default(layout);
  };
  EXPECT_FALSE(changed([](Layout& l) { l.padded_dimensions = {2, 2}; }));
  EXPECT_FALSE(changed([](Layout& l) { l.padding_value = PaddingValue::one; }));
  EXPECT_FALSE(changed([](Layout& l) { l.tiles = {{2}}; }));
  EXPECT_FALSE(changed([](Layout& l) { l.tail_padding_alignment_in_elements = 2; }));
  EXPECT_FALSE(changed([](Layout& l) { l.element_size_in_bits = 4; }));
  EXPECT_FALSE(changed([](Layout& l) { l.packing_order = PackingOrder::most_significant_first; }));
  EXPECT_FALSE(changed([](Layout& l) { l.memory_space = 1; }));
}

TEST(Layout, EqualityIsWholeOrOfTheOrderAlone) {
  const Layout plain = make_layout({0, 1});
  Layout tiled = plain;
  tiled.tiles = {{2, 2}};
  EXPECT_TRUE(plain == make_layout({0, 1}));
  EXPECT_FALSE(plain == tiled);
  EXPECT_TRUE(minor_to_major_equal(plain, tiled));
  EXPECT_FALSE(minor_to_major_equal(plain, make_layout({1, 0})));
}

TEST(Layout, KnowsItsMajorDimension) {
  const struct {
    List order;
    bool major, minor;
  } cases[] = {
      {{}, true, true},          {{0}, true, true},         {{1, 0}, true, false},
      {{0, 1}, false, true},     {{2, 1, 0}, true, false},  {{0, 1, 2}, false, true},
      {{1, 0, 2}, false, false}, {{0, 2, 1}, false, false},
  };
  for (const auto& row : cases) {
    const Layout layout = make_layout(row.order);
    SCOPED_TRACE(to_string(layout));
    EXPECT_EQ(is_dim0_major(layout), row.major);
    EXPECT_EQ(is_dim0_minor(layout), row.minor);
  }
}

TEST(Layout, CountsDimensionsFromBothEnds) {
  const Layout layout = make_layout({1, 0, 2});
  EXPECT_EQ(minor_dimension(layout, 0), 1);
  EXPECT_EQ(minor_dimension(layout, 2), 2);
  EXPECT_EQ(major_dimension(layout, 0), 2);
  EXPECT_EQ(major_dimension(layout, 2), 1);
}

TEST(Layout, KnowsThePlaceOfEachDimension) {
  // Memory order, slowest first: 2, 0, 1.
  EXPECT_EQ(logical_to_physical(make_layout({1, 0, 2})), (List{1, 2, 0}));
  EXPECT_EQ(logical_to_physical(default_layout(3)), (List{0, 1, 2}));
}

TEST(Layout, MovesADimensionToMajor) {
  EXPECT_EQ(move_dimension_to_major(make_layout({2, 1, 0}), 2)->minor_to_major, (List{1, 0, 2}));
  EXPECT_EQ(move_dimension_to_major(make_layout({2, 1, 0}), -2)->minor_to_major, (List{2, 0, 1}));
  EXPECT_EQ(move_dimension_to_major(make_layout({2, 1, 0}), 0)->minor_to_major, (List{2, 1, 0}));
  EXPECT_EQ(move_dimension_to_major(make_layout({1, 0}), 2).error().message,
            "dimension = 2: must be -2..1");
  EXPECT_EQ(move_dimension_to_major(Layout{}, 0).error().message,
            "dimension = 0: a scalar has no dimensions");
}

TEST(Layout, PrintsEveryAttributeInOrder) {
  Layout layout = make_layout({1, 0});
  EXPECT_EQ(to_string(layout), "{1,0}");
  layout.tiles = {{8, 128}, {Layout::combine, 1}};
  layout.tail_padding_alignment_in_elements = 1024;
  layout.element_size_in_bits = 4;
  layout.memory_space = 5;
  layout.padding_value = PaddingValue::unknown;
  EXPECT_EQ(to_string(layout), "{1,0:T(8,128)(*,1)L(1024)E(4)S(5)PAD(;unknown)}");
  EXPECT_EQ(to_string(Layout{}), "{}");
}

}  // namespace
}  // namespace restride
