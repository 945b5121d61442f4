// Conversions and binary operations of one element against the reference: all bit patterns of types
// up to 16 bits, all pairs of those up to 8 bits, random and awkward values of wider ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "element/element_math.hpp"
#include "support/random.hpp"
#include "support/reference_math.hpp"

namespace restride::testing {
namespace {

constexpr int first_type = static_cast<int>(ElementType::pred);
constexpr int last_type = static_cast<int>(ElementType::c128);

std::vector<ElementType> all_types() {
  std::vector<ElementType> types;
  for (int t = first_type; t <= last_type; ++t) types.push_back(static_cast<ElementType>(t));
  return types;
}

ElementType part_type(ElementType type) {
  if (!is_complex(type)) return type;
  return type == ElementType::c64 ? ElementType::f32 : ElementType::f64;
}

/// One, and what lies between numbers of few bits.
constexpr double factors[] = {1.0, 1.5, 1 + 0x1p-8, 1 + 0x3p-8, 1 + 0x1p-11, 1 + 0x3p-11};

/// Patterns of a real type of 32 or 64 bits where something changes: small integers, limits, powers
/// of two and what lies between them and next to them, in both signs, infinities, NaNs.
std::vector<uint64_t> awkward_patterns(ElementType type) {
  std::vector<uint64_t> patterns;
  const auto add_around = [&](uint64_t pattern) {
    for (const uint64_t step : {0, 1, 2}) {
      patterns.push_back(pattern + step);
      patterns.push_back(pattern - step);
    }
  };
  for (int bit = 0; bit < bits(type); ++bit) {
    for (const double factor : factors) {
      const auto integer = static_cast<uint64_t>(std::ldexp(factor, bit));
      add_around(integer);
      add_around(0 - integer);
    }
  }
  if (!is_float(type)) return patterns;
  for (int exponent = -160; exponent <= 160; ++exponent) {
    for (const long double factor : factors) {
      const long double value = std::ldexp(factor, exponent);
      add_around(bits_of(write_float(type, {value})));
      add_around(bits_of(write_float(type, {-value})));
    }
  }
  return patterns;
}

/// All patterns of an element of up to 16 bits in storage; else awkward and random ones.
std::vector<Element> elements_of(ElementType type, int random_count) {
  std::vector<Element> elements;
  if (storage_bytes(type) <= 2) {
    const uint64_t count = uint64_t{1} << (8 * storage_bytes(type));
    for (uint64_t pattern = 0; pattern < count; ++pattern) elements.push_back(element_of(pattern));
    return elements;
  }
  const uint64_t mask = ~uint64_t{0} >> (64 - bits(part_type(type)));
  std::vector<uint64_t> patterns = awkward_patterns(part_type(type));
  Random random(static_cast<uint64_t>(type));
  for (int i = 0; i < random_count; ++i) {
    patterns.push_back(random.next());
  }
  for (uint64_t& pattern : patterns) pattern &= mask;
  if (!is_complex(type)) {
    for (const uint64_t pattern : patterns) elements.push_back(element_of(pattern));
    return elements;
  }
  const auto part_bytes = static_cast<size_t>(storage_bytes(part_type(type)));
  std::vector<uint64_t> others = patterns;
  random.shuffle(others);
  for (size_t i = 0; i < patterns.size(); ++i) {
    Element element = element_of(patterns[i]);
    const Element im = element_of(others[i]);
    std::copy_n(im.begin(), part_bytes, element.begin() + static_cast<int64_t>(part_bytes));
    elements.push_back(element);
  }
  return elements;
}

std::string text(ElementType type, const Element& element) {
  std::string out = "0x";
  for (auto i = static_cast<size_t>(storage_bytes(type)); i-- > 0;) {
    constexpr char digits[] = "0123456789abcdef";
    out += digits[std::to_integer<int>(element[i]) >> 4];
    out += digits[std::to_integer<int>(element[i]) & 15];
  }
  return out;
}

class OfEveryType : public ::testing::TestWithParam<ElementType> {};

TEST_P(OfEveryType, ConversionsAreThoseOfTheReference) {
  const ElementType from = GetParam();
  const std::vector<Element> elements = elements_of(from, 5000);
  for (const ElementType to : all_types()) {
    for (const ToInteger how : {ToInteger::truncated, ToInteger::nearest_even}) {
      const Rounding rounding =
          how == ToInteger::truncated ? Rounding::toward_zero : Rounding::nearest_even;
      const ConvertElement convert = element_converter(from, to, rounding);
      ASSERT_EQ(convert != nullptr, reference_converts(from, to)) << to_string(to);
      if (convert == nullptr) continue;
      for (const Element& element : elements) {
        Element found{};
        convert(element.data(), found.data());
        const Element wanted = reference_convert(from, to, element, how);
        ASSERT_EQ(text(to, found), text(to, wanted))
            << to_string(from) << " -> " << to_string(to) << " of " << text(from, element);
      }
    }
  }
}

/// All pairs of up to 8 bits; of wider types each element with some others.
std::vector<std::pair<Element, Element>> pairs_of(ElementType type) {
  std::vector<std::pair<Element, Element>> pairs;
  std::vector<Element> elements = elements_of(type, 3000);
  if (storage_bytes(type) == 1) {
    for (const Element& a : elements) {
      for (const Element& b : elements) pairs.emplace_back(a, b);
    }
    return pairs;
  }
  Random random(static_cast<uint64_t>(type) + 100);
  for (int round = 0; round < (storage_bytes(type) == 2 ? 2 : 4); ++round) {
    std::vector<Element> others = elements;
    random.shuffle(others);
    for (size_t i = 0; i < elements.size(); ++i) pairs.emplace_back(elements[i], others[i]);
  }
  for (const Element& a : elements) pairs.emplace_back(a, a);
  return pairs;
}

TEST_P(OfEveryType, BinaryOperationsAreThoseOfTheReference) {
  const ElementType type = GetParam();
  const auto pairs = pairs_of(type);
  for (int number = 0; number <= static_cast<int>(Operation::greater_equal); ++number) {
    const auto operation = static_cast<Operation>(number);
    const BinaryElement compute = element_operation(operation, type);
    ASSERT_EQ(compute != nullptr, reference_computes(operation, type)) << to_string(operation);
    if (compute == nullptr) continue;
    const ElementType to = operation >= Operation::equal ? ElementType::pred : type;
    for (const auto& [a, b] : pairs) {
      Element found{};
      compute(a.data(), b.data(), found.data());
      const Element wanted = reference_compute(operation, type, a, b);
      if (found == wanted) continue;
      ASSERT_EQ(text(to, found), text(to, wanted)) << to_string(operation) << ' ' << to_string(type)
                                                   << ' ' << text(type, a) << ", " << text(type, b);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Elements, OfEveryType, ::testing::ValuesIn(all_types()),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace restride::testing
