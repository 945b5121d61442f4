// See column_places.hpp.
#include "microkernel/transpose/column_places.hpp"

#include <limits>

#include "base/arithmetic.hpp"

namespace restride {

namespace {

// Images of three pages and more take as long one column behind the other (f32, 200 to 443 rows,
// .99 of the time; in two pages f32[32,66,2064]{1,2,0} .57 -> .94 of the ceiling, 75 rows .75 of
// the time, f64 71 rows .59, 100 rows of f32, u16 and u8 .95 to 1.0).
constexpr int64_t most_pages = 2;

}  // namespace

ColumnPlaces ColumnPlaces::in_pages(int64_t run, int64_t columns, int64_t together,
                                    int64_t line_bytes, int64_t page_bytes) {
  ColumnPlaces places(run);
  // The first one of a page may begin anywhere in its first line.
  const int64_t in_page = (page_bytes - line_bytes) / run / together * together;
  const bool one = run * columns <= page_bytes;
  if (one || in_page == 0 || ceil_div(columns, in_page) > most_pages) return places;
  places.in_page_ = in_page;
  places.line_bytes_ = line_bytes;
  places.page_bytes_ = page_bytes;
  return places;
}

int64_t ColumnPlaces::moved(int64_t page) const {
  const int64_t begin = page * in_page_ * pitch_;
  return page * page_bytes_ - begin / line_bytes_ * line_bytes_;
}

int64_t ColumnPlaces::at(int64_t k) const {
  return k * pitch_ + (evenly() ? 0 : moved(k / in_page_));
}

ColumnPlaces::Stretch ColumnPlaces::stretch(int64_t at) const {
  if (evenly()) return {0, std::numeric_limits<int64_t>::max()};
  const int64_t page = at / (in_page_ * pitch_);
  return {moved(page), (page + 1) * in_page_ * pitch_};
}

}  // namespace restride
