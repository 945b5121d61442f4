#include "cliff_map.hpp"

#include <iterator>
#include <vector>

namespace restride::tools {
namespace {

/// Every extent to here: beyond the widest register of bytes and the tiles around it.
constexpr int64_t dense_extents = 70;
/// Then powers of two and their neighbours.
constexpr int64_t sparse_grid[] = {127, 128,  129,  255,  256,  257,  511, 512,
                                   513, 1023, 1024, 1025, 2047, 2048, 2049};
constexpr int64_t coarse_grid[] = {1,  3,  4,   8,   15,  16,   17,   33,
                                   64, 65, 127, 256, 257, 1023, 1024, 1025};

/// Permutations of the source's dimensions by the target's order, fastest dimension first. Rank 3
/// has a slow dimension of fixed extent besides.
struct Order {
  const char* name;
  int rank;
  int64_t minor_to_major[3];
};
constexpr Order orders[] = {{"p10", 2, {0, 1}},     {"p021", 3, {1, 2, 0}}, {"p102", 3, {2, 0, 1}},
                            {"p120", 3, {0, 2, 1}}, {"p201", 3, {1, 0, 2}}, {"p210", 3, {0, 1, 2}}};
constexpr int64_t slow_extent = 24;

constexpr ElementType element_types[] = {ElementType::u8, ElementType::u16, ElementType::u32,
                                         ElementType::u64, ElementType::c128};

/// Beyond this a map takes hours and shows memory, not kernels.
constexpr int64_t largest_bytes = 32 << 20;

std::vector<int64_t> fine_grid() {
  std::vector<int64_t> grid;
  for (int64_t extent = 1; extent <= dense_extents; ++extent) grid.push_back(extent);
  grid.insert(grid.end(), std::begin(sparse_grid), std::end(sparse_grid));
  return grid;
}

void add_case(Suite& suite, const Order& order, ElementType type, int64_t rows, int64_t columns) {
  Shape source = {.element_type = type, .dimensions = {rows, columns}};
  if (order.rank == 3) source.dimensions.insert(source.dimensions.begin(), slow_extent);
  source.layout = default_layout(rank(source));
  Shape target = source;
  target.layout = make_layout({order.minor_to_major, order.minor_to_major + order.rank});
  const int64_t width = storage_bytes(type);
  if (*buffer_bytes(source) > largest_bytes) return;
  const std::string name = std::string(order.name) + "_" + std::to_string(width) + "x" +
                           std::to_string(rows) + "x" + std::to_string(columns);
  suite.cases.push_back({name, {.sources = {{.shape = source}}, .target = target}});
}

}  // namespace

Suite cliff_map_suite(BenchRequest::Length length) {
  Suite suite = {.name = "cliff_map",
                 .about = "permutations over a grid of extents and element widths"};
  const std::vector<int64_t> coarse(std::begin(coarse_grid), std::end(coarse_grid));
  for (const Order& order : orders) {
    const bool is_fine = length == BenchRequest::Length::usual && order.rank == 2;
    const std::vector<int64_t> grid = is_fine ? fine_grid() : coarse;
    for (const ElementType type : element_types)
      for (const int64_t rows : grid)
        for (const int64_t columns : grid) add_case(suite, order, type, rows, columns);
  }
  return suite;
}

}  // namespace restride::tools
