// OpenCV: cv::transpose for the two dimensions that are fastest on either side, loops around it.
#include <opencv2/core.hpp>

#include "permutation.hpp"

namespace {

using namespace restride::bench;  // NOLINT: a module of one file

int type_of(int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return CV_8UC1;
    case 2:
      return CV_16UC1;
    case 4:
      return CV_32SC1;
    case 8:
      return CV_64FC1;
    default:
      return CV_64FC2;
  }
}

restride::Result<Move> prepare(const Work& work) {
  const auto transpose = batched_transpose(work);
  if (!transpose) return does_not_apply("no matrix transpose");
  cv::setNumThreads(work.threads);
  return Move([t = *transpose, type = type_of(work.element_bytes)](const std::byte* source,
                                                                   std::byte* target) {
    const auto rows = static_cast<int>(t.row.extent), columns = static_cast<int>(t.column.extent);
    for_each(t.outer, source, target, [&](const std::byte* from, std::byte* to) {
      const cv::Mat in(rows, columns, type, const_cast<std::byte*>(from),
                       static_cast<size_t>(t.row.source_stride));
      cv::Mat out(columns, rows, type, to, static_cast<size_t>(t.column.target_stride));
      cv::transpose(in, out);
    });
  });
}

constexpr Peer peer = {"OpenCV", CV_VERSION, prepare};

}  // namespace

const Peer* restride_peer() { return &peer; }
