// What a peer is: another program that moves arrays, measured beside ours.
//
// A peer is one file that defines restride_peer() and becomes a loadable module. It needs this
// header and its own library, nothing else of ours. See the README of this folder's parent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "restride/result.hpp"

namespace restride::bench {

/// One loop of the move. Both strides are bytes; a source stride of 0 repeats the source.
struct Dimension {
  int64_t extent, source_stride, target_stride;

  bool operator==(const Dimension&) const = default;
};

/// A problem as plain loops: target[sum of i * target_stride] = source[sum of i * source_stride]
/// for all i, one element each. Extents of 1 are gone, and neighbours that advance alike are one
/// dimension, so peers get the easiest form there is. Tiles that come out whole are dimensions.
struct Work {
  int64_t element_bytes = 1;          ///< 1, 2, 4, 8 or 16
  std::vector<Dimension> dimensions;  ///< by descending target stride
  int64_t source_bytes = 0, target_bytes = 0;
  int threads = 1;
};

/// Moves the array once. Both pointers are aligned to 64 bytes and always the same two buffers.
using Move = std::function<void(const std::byte* source, std::byte* target)>;

/// Plain data of static lifetime.
struct Peer {
  const char* name;     ///< `OpenBLAS`, one word
  const char* version;  ///< of its library; may be empty
  /// Everything that is done once per problem; its time is reported. Errors: `unsupported` says in
  /// a few words why the peer cannot do the work, threads included.
  Result<Move> (*prepare)(const Work& work);
};

/// Says that a peer does not apply.
inline Error does_not_apply(std::string reason) {
  return Error{ErrorCode::unsupported, std::move(reason)};
}

}  // namespace restride::bench

/// The one function a module exports.
extern "C" [[gnu::visibility("default")]] const restride::bench::Peer* restride_peer();
