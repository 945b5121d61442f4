// Eigen: a tensor shuffle, on a thread pool where several threads are asked for.
#define EIGEN_USE_THREADS
#include <complex>
#include <memory>
#include <unsupported/Eigen/CXX11/Tensor>

#include "permutation.hpp"

namespace {

using namespace restride::bench;  // NOLINT: a module of one file

/// The threads of Eigen and the device that uses them.
struct Threads {
  explicit Threads(int count) : pool(count), device(&pool, count) {}
  Eigen::ThreadPool pool;
  Eigen::ThreadPoolDevice device;
};

template <class Element, int rank>
Move make_move(const Permutation& permutation, int threads) {
  std::array<Eigen::Index, rank> extents, shuffled;
  std::array<int, rank> order;
  for (size_t i = 0; i < rank; ++i) {
    extents[i] = permutation.extents[i];
    order[i] = permutation.source_position[i];
    shuffled[i] = permutation.extents[static_cast<size_t>(order[i])];
  }
  const auto pool = threads > 1 ? std::make_shared<Threads>(threads) : nullptr;
  return [=](const std::byte* source, std::byte* target) {
    using Array = Eigen::Tensor<Element, rank, Eigen::RowMajor, Eigen::Index>;
    const Eigen::TensorMap<const Array> in(reinterpret_cast<const Element*>(source), extents);
    Eigen::TensorMap<Array> out(reinterpret_cast<Element*>(target), shuffled);
    if (pool) {
      out.device(pool->device) = in.shuffle(order);
    } else {
      out = in.shuffle(order);
    }
  };
}

template <class Element>
restride::Result<Move> make_move(const Permutation& permutation, int threads) {
  switch (permutation.extents.size()) {
    case 2:
      return make_move<Element, 2>(permutation, threads);
    case 3:
      return make_move<Element, 3>(permutation, threads);
    case 4:
      return make_move<Element, 4>(permutation, threads);
    case 5:
      return make_move<Element, 5>(permutation, threads);
    case 6:
      return make_move<Element, 6>(permutation, threads);
    default:
      return does_not_apply("not of rank 2 to 6");
  }
}

restride::Result<Move> prepare(const Work& work) {
  const auto permutation = dense_permutation(work);
  if (!permutation) return does_not_apply("no permutation of a dense array");
  switch (work.element_bytes) {
    case 1:
      return make_move<uint8_t>(*permutation, work.threads);
    case 2:
      return make_move<uint16_t>(*permutation, work.threads);
    case 4:
      return make_move<float>(*permutation, work.threads);
    case 8:
      return make_move<double>(*permutation, work.threads);
    default:
      return make_move<std::complex<double>>(*permutation, work.threads);
  }
}

#define RESTRIDE_TEXT_OF(number) #number
#define RESTRIDE_VERSION_TEXT(world, major, minor) \
  RESTRIDE_TEXT_OF(world) "." RESTRIDE_TEXT_OF(major) "." RESTRIDE_TEXT_OF(minor)

constexpr Peer peer = {
    "Eigen", RESTRIDE_VERSION_TEXT(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION),
    prepare};

}  // namespace

const Peer* restride_peer() { return &peer; }
