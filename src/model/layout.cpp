// Layout: makes and reads orders of dimensions. What fits a shape is said in validate.cpp, the text
// in notation/.
#include "restride/layout.hpp"

#include <algorithm>
#include <utility>

#include "restride/shape.hpp"

namespace restride {
namespace {

/// Whether entry k of the order is first + k * step.
bool counts(const std::vector<int64_t>& order, int64_t first, int64_t step) {
  for (const int64_t entry : order) {
    if (entry != first) return false;
    first += step;
  }
  return true;
}

}  // namespace

Layout make_layout(std::vector<int64_t> minor_to_major) {
  Layout layout;
  layout.minor_to_major = std::move(minor_to_major);
  return layout;
}

Layout make_layout_from_major_to_minor(std::vector<int64_t> major_to_minor) {
  std::reverse(major_to_minor.begin(), major_to_minor.end());
  return make_layout(std::move(major_to_minor));
}

Layout default_layout(int rank) {
  Layout layout;
  layout.minor_to_major.resize(std::max(rank, 0));
  int64_t next = rank;
  for (int64_t& dimension : layout.minor_to_major) dimension = --next;
  return layout;
}

bool is_default(const Layout& layout) {
  return is_dim0_major(layout) && layout.padded_dimensions.empty() &&
         layout.padding_value == PaddingValue::zero && layout.tiles.empty() &&
         layout.tail_padding_alignment_in_elements == 1 && layout.element_size_in_bits == 0 &&
         layout.packing_order == PackingOrder::least_significant_first && layout.memory_space == 0;
}

bool minor_to_major_equal(const Layout& a, const Layout& b) {
  return a.minor_to_major == b.minor_to_major;
}

bool is_dim0_major(const Layout& layout) {
  return counts(layout.minor_to_major, static_cast<int64_t>(layout.minor_to_major.size()) - 1, -1);
}

bool is_dim0_minor(const Layout& layout) { return counts(layout.minor_to_major, 0, 1); }

int64_t minor_dimension(const Layout& layout, int k) { return layout.minor_to_major[k]; }

int64_t major_dimension(const Layout& layout, int k) {
  return layout.minor_to_major[layout.minor_to_major.size() - 1 - k];
}

std::vector<int64_t> logical_to_physical(const Layout& layout) {
  auto place = static_cast<int64_t>(layout.minor_to_major.size());
  std::vector<int64_t> out(layout.minor_to_major.size());
  for (const int64_t dimension : layout.minor_to_major) out[dimension] = --place;
  return out;
}

Result<Layout> move_dimension_to_major(Layout layout, int64_t dimension) {
  auto& order = layout.minor_to_major;
  const auto number = dimension_number(dimension, static_cast<int>(order.size()));
  if (!number) return number.error();
  const auto place = std::find(order.begin(), order.end(), *number);
  if (place != order.end()) std::rotate(place, place + 1, order.end());
  return layout;
}

}  // namespace restride
