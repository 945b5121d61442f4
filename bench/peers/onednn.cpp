// oneDNN: a reorder between two memory descriptors with strides. Built once for each version found.
#include <omp.h>

#include <dnnl.hpp>

#include "peer.hpp"

namespace {

using namespace restride::bench;  // NOLINT: a module of one file
using dnnl::memory;

/// Types that are moved and not converted. Elements of 8 bytes and more are rows of 4.
memory::data_type type_of(int64_t bytes) {
  if (bytes == 1) return memory::data_type::u8;
  return bytes == 2 ? memory::data_type::bf16 : memory::data_type::s32;
}

struct Descriptors {
  memory::desc source, target;
};

Descriptors describe(const Work& work) {
  const int64_t unit_bytes = std::min<int64_t>(work.element_bytes, 4);
  memory::dims extents, source_strides, target_strides;
  const auto add = [&](int64_t extent, int64_t source_stride, int64_t target_stride) {
    extents.push_back(extent);
    source_strides.push_back(source_stride / unit_bytes);
    target_strides.push_back(target_stride / unit_bytes);
  };
  for (const Dimension& dimension : work.dimensions)
    add(dimension.extent, dimension.source_stride, dimension.target_stride);
  if (work.element_bytes > unit_bytes || extents.empty())
    add(work.element_bytes / unit_bytes, unit_bytes, unit_bytes);
  const memory::data_type type = type_of(unit_bytes);
  return {memory::desc(extents, type, source_strides), memory::desc(extents, type, target_strides)};
}

restride::Result<Move> prepare(const Work& work) {
  for (const Dimension& dimension : work.dimensions)
    if (dimension.source_stride == 0) return does_not_apply("no broadcasts");
  omp_set_num_threads(work.threads);
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const Descriptors descriptors = describe(work);
    const dnnl::reorder reorder(
        dnnl::reorder::primitive_desc(engine, descriptors.source, engine, descriptors.target));
    memory source(descriptors.source, engine, nullptr), target(descriptors.target, engine, nullptr);
    dnnl::stream stream(engine);
    return Move([=](const std::byte* from, std::byte* to) mutable {
      source.set_data_handle(const_cast<std::byte*>(from));
      target.set_data_handle(to);
      reorder.execute(stream, source, target);
      stream.wait();
    });
  } catch (const dnnl::error& error) {
    return does_not_apply(error.what());
  }
}

#define RESTRIDE_TEXT_OF(number) #number
#define RESTRIDE_TEXT_OF_VALUE(macro) RESTRIDE_TEXT_OF(macro)
#define RESTRIDE_VERSION_TEXT(major, minor, patch) \
  RESTRIDE_TEXT_OF(major) "." RESTRIDE_TEXT_OF(minor) "." RESTRIDE_TEXT_OF(patch)

constexpr Peer peer = {
    "oneDNN" RESTRIDE_TEXT_OF_VALUE(DNNL_VERSION_MAJOR),
    RESTRIDE_VERSION_TEXT(DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH), prepare};

}  // namespace

const Peer* restride_peer() { return &peer; }
