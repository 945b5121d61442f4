// Families of cases made by loops, and those with byte strides, which have no canonical text.
#include <array>
#include <numeric>

#include "support/cases.hpp"

namespace restride::testing {
namespace {

using Sizes = std::vector<int64_t>;

Layout row_major(size_t rank) {
  Layout layout;
  layout.minor_to_major.resize(rank);
  std::iota(layout.minor_to_major.rbegin(), layout.minor_to_major.rend(), 0);
  return layout;
}

Shape row_major_shape(ElementType type, const Sizes& sizes) {
  return {type, sizes, row_major(sizes.size())};
}

Shape transposed(ElementType type, const Sizes& sizes) {
  Shape shape = row_major_shape(type, sizes);
  std::iota(shape.layout.minor_to_major.begin(), shape.layout.minor_to_major.end(), 0);
  return shape;
}

/// Section 3: lowest and highest of complex types and zero of f8e8m0fnu are errors.
bool has_padding_value(ElementType type, PaddingValue value) {
  const bool complex = type == ElementType::c64 || type == ElementType::c128;
  if (value == PaddingValue::lowest || value == PaddingValue::highest) return !complex;
  return !(type == ElementType::f8e8m0fnu && value == PaddingValue::zero);
}

Problem relayout(Source source, Shape target, Sizes target_byte_strides = {}) {
  return {Operation::copy, {std::move(source)}, std::move(target), std::move(target_byte_strides)};
}

void add_cases_of_type(ElementType type, std::vector<Problem>& cases) {
  const Sizes sizes{5, 7};
  cases.push_back(relayout({row_major_shape(type, sizes)}, row_major_shape(type, sizes)));
  cases.push_back(relayout({row_major_shape(type, sizes)}, transposed(type, sizes)));
  cases.push_back(relayout({row_major_shape(type, {33, 18})}, transposed(type, {33, 18})));
  cases.push_back(relayout({row_major_shape(type, {})}, row_major_shape(type, sizes)));
  cases.push_back(relayout({row_major_shape(type, {5}), {0}}, row_major_shape(type, sizes)));
  for (const PaddingValue value : {PaddingValue::zero, PaddingValue::one, PaddingValue::lowest,
                                   PaddingValue::highest, PaddingValue::unknown}) {
    if (!has_padding_value(type, value)) continue;
    Shape padded = transposed(type, sizes);
    padded.layout.padded_dimensions = {6, 9};
    padded.layout.padding_value = value;
    cases.push_back(relayout({row_major_shape(type, sizes)}, padded));
    Shape aligned = row_major_shape(type, sizes);
    aligned.layout.tail_padding_alignment_in_elements = 16;
    aligned.layout.padding_value = value;
    cases.push_back(relayout({row_major_shape(type, sizes)}, aligned));
  }
}

Source strided_source(ElementType type, const Sizes& sizes, const Sizes& strides) {
  return {row_major_shape(type, sizes), {}, strides};
}

void add_strided_sources(std::vector<Problem>& cases) {
  struct Row {
    ElementType type;
    Sizes sizes, strides;
  };
  using enum ElementType;
  const Row rows[] = {
      {f32, {2, 3}, {12, 4}},     // the layout in other words
      {f32, {2, 3}, {4, 8}},      // columns
      {f32, {2, 3}, {0, 4}},      // one row for all
      {f32, {2, 3}, {4, 0}},      // one column for all
      {f32, {2, 3}, {0, 0}},      // one element for all
      {f32, {2, 3}, {-12, -4}},   // backwards
      {f32, {33, 17}, {-68, 4}},  // upside down
      {f32, {33, 17}, {68, -4}},  // mirrored
      {u8, {100}, {-1}},
      {u8, {33, 65}, {65, -1}},
      {u8, {33, 65}, {-1, 33}},
      {u16, {31, 33}, {-2, -62}},
      {f64, {9, 17}, {8, -72}},
      {c128, {5, 7}, {-16, 80}},
      {f32, {7, 9}, {37, 4}},  // rows at odd addresses
      {f32, {7, 9}, {5, 41}},  // every element at an odd address
      {f32, {9, 9}, {4, 4}},   // overlapping: a Hankel matrix
      {f32, {9, 9}, {4, -4}},  // a Toeplitz matrix
      {u8, {16, 5}, {1, 1}},
      {f64, {20, 3}, {8, 8}},     // a sliding window
      {f32, {16, 16}, {256, 4}},  // a corner of a bigger array
      {f32, {16, 16}, {4, 256}},
      {f32, {16, 16}, {512, 8}},    // every other element
      {f32, {2, 2}, {1 << 20, 4}},  // far apart
      {u8, {3, 4}, {100000, -70000}},
      {f32, {0, 3}, {-12, 4}},
      {f32, {1, 3}, {-1000000, 4}},  // the stride of a size of 1 is never used
      {f32, {2, 3, 4, 5}, {4, 40, -8, 0}},
  };
  for (const Row& row : rows) {
    const Source source = strided_source(row.type, row.sizes, row.strides);
    cases.push_back(relayout(source, row_major_shape(row.type, row.sizes)));
    cases.push_back(relayout(source, transposed(row.type, row.sizes)));
    Shape padded = row_major_shape(row.type, row.sizes);
    for (const int64_t size : row.sizes) padded.layout.padded_dimensions.push_back(size + 2);
    cases.push_back(relayout(source, padded));
  }
  cases.push_back(relayout({row_major_shape(f32, {3}), {1}, {-4}}, row_major_shape(f32, {2, 3})));
  cases.push_back(
      relayout({row_major_shape(u8, {4, 3}), {1, 2}, {59, 1}}, row_major_shape(u8, {0, 4, 3})));
  cases.push_back(relayout({row_major_shape(f32, {}), {}, {}}, row_major_shape(f32, {2, 3})));
}

void add_strided_targets(std::vector<Problem>& cases) {
  struct Row {
    ElementType type;
    Sizes sizes, strides;
  };
  using enum ElementType;
  const Row rows[] = {
      {f32, {2, 3}, {12, 4}},    {f32, {2, 3}, {4, 8}},
      {f32, {2, 3}, {-12, -4}},  {f32, {2, 3}, {64, 8}},     // scattered: the bytes between stay
      {f32, {17, 33}, {4, 100}}, {f32, {17, 33}, {133, 4}},  // rows at odd addresses
      {u8, {33, 65}, {-1, 33}},  {u8, {33, 65}, {1, -40}},
      {u8, {100}, {2}},          {u8, {100}, {3}},
      {u16, {31, 33}, {70, 2}},  {f64, {9, 17}, {16, 160}},
      {c128, {5, 7}, {17, 85}},  {f32, {2, 2}, {4, 1 << 20}},
      {f32, {1, 3}, {0, 4}},  // the stride of a size of 1 is never used
      {f32, {0, 3}, {0, 0}},     {f32, {2, 3, 4, 5}, {4, 160, -40, 8}},
  };
  for (const Row& row : rows) {
    const Shape shape = row_major_shape(row.type, row.sizes);
    cases.push_back(relayout({shape}, shape, row.strides));
    cases.push_back(relayout({transposed(row.type, row.sizes)}, shape, row.strides));
    cases.push_back(relayout({row_major_shape(row.type, {})}, shape, row.strides));
  }
  cases.push_back(
      relayout(strided_source(f32, {9, 7}, {-4, 36}), row_major_shape(f32, {9, 7}), {32, -4}));
}

/// The order of elements in a byte is no part of the notation.
void add_packing_orders(std::vector<Problem>& cases) {
  constexpr auto other = PackingOrder::most_significant_first;
  constexpr std::array types{ElementType::u1, ElementType::u2, ElementType::u4};
  const Sizes sizes{136, 152};
  for (size_t k = 0; k < types.size(); ++k) {
    Shape source = row_major_shape(types[k], sizes), target = transposed(types[k], sizes);
    const Shape bytes = source, transposed_bytes = target;
    source.layout.element_size_in_bits = target.layout.element_size_in_bits = int64_t{1} << k;
    cases.push_back(relayout({source}, target));
    target.layout.packing_order = other;
    cases.push_back(relayout({source}, target));
    cases.push_back(relayout({bytes}, target));
    source.layout.packing_order = other;
    cases.push_back(relayout({source}, target));
    cases.push_back(relayout({source}, transposed_bytes));
    // Rows that begin elsewhere in a byte of the target.
    Shape rows = row_major_shape(types[k], {3, 5, 519});
    rows.layout.element_size_in_bits = int64_t{1} << k;
    rows.layout.packing_order = other;
    Shape planes = rows;
    planes.layout.minor_to_major = {2, 0, 1};
    cases.push_back(relayout({rows}, planes));
    Shape odd = row_major_shape(types[k], {327, 85}), odd_target = transposed(types[k], {327, 85});
    odd.layout.element_size_in_bits = odd_target.layout.element_size_in_bits = int64_t{1} << k;
    odd.layout.packing_order = other;
    cases.push_back(relayout({odd}, odd_target));
    std::swap(odd.layout.packing_order, odd_target.layout.packing_order);
    cases.push_back(relayout({odd}, odd_target));
  }
}

}  // namespace

std::vector<Problem> built_cases() {
  std::vector<Problem> cases;
  for (auto type = static_cast<int>(ElementType::pred); type <= static_cast<int>(ElementType::c128);
       ++type) {
    add_cases_of_type(static_cast<ElementType>(type), cases);
  }
  add_strided_sources(cases);
  add_strided_targets(cases);
  add_packing_orders(cases);
  return cases;
}

}  // namespace restride::testing
