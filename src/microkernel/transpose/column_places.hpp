// Column places: where the columns of a panel stand in an image that leaves as one run of the
// target. They touch there; in the image they do, too, but for pages:
//
//     run of the target   |line |line |line |line |line |line |
//                         aaaaaaaabbbbbbbbccccccccddddddddeeeeee
//
//     page 0 of scratch   aaaaaaaabbbbbbbb......   as many columns as a page holds
//     page 1              ....ccccccccdddddddd..   the next ones, as they lie in lines of the run
//
// A vector that is stored across two pages waits on some processors until all stores before it are
// in memory, those around the caches, too, and columns of a panel begin between lines.
#pragma once

#include <cstdint>

namespace restride {

class ColumnPlaces {
 public:
  /// All of them `pitch` bytes apart.
  explicit ColumnPlaces(int64_t pitch) : pitch_(pitch) {}

  /// Columns of `run` bytes, `together` of which come in at a time, in two pages of scratch, if
  /// they need and fit those; else one behind the other.
  static ColumnPlaces in_pages(int64_t run, int64_t columns, int64_t together, int64_t line_bytes,
                               int64_t page_bytes);

  /// Where column `k` begins, bytes.
  int64_t at(int64_t k) const;

  /// Whether all are alike far apart.
  bool evenly() const { return in_page_ == 0; }
  /// Else how many are.
  int64_t columns_of_page() const { return in_page_; }
  /// How far apart those are, bytes.
  int64_t pitch() const { return pitch_; }

  /// Of byte `at` of the run: how much further back its place is than if all columns touched, and
  /// the first byte of the run that is in the next page.
  struct Stretch {
    int64_t moved, end;
  };
  Stretch stretch(int64_t at) const;

 private:
  /// Bytes by which columns of a page are moved from where they are in the run.
  int64_t moved(int64_t page) const;

  int64_t pitch_;
  int64_t in_page_ = 0;  ///< columns; 0: all of them
  int64_t line_bytes_ = 1, page_bytes_ = 1;
};

}  // namespace restride
