// FFTW: its guru interface with transforms of rank 0, which are copies by strides. It measures its
// ways to do so on buffers of its own, for about a second; where one try takes long, it guesses.
#include <fftw3.h>

#include <memory>

#include "permutation.hpp"

namespace {

using namespace restride::bench;  // NOLINT: a module of one file

constexpr double planning_seconds = 1;
/// Beyond this its planner takes several seconds whatever the limit: 4.5 s for arrays of 200 MB.
constexpr int64_t largest_measured_bytes = 64 << 20;

/// Loops in units of `Real`; wider elements are one more loop.
template <class GuruDimension>
std::vector<GuruDimension> dimensions_of(const Work& work, int64_t real_bytes) {
  std::vector<GuruDimension> dimensions;
  for (const Dimension& dimension : work.dimensions) {
    dimensions.push_back({dimension.extent, dimension.source_stride / real_bytes,
                          dimension.target_stride / real_bytes});
  }
  if (work.element_bytes > real_bytes)
    dimensions.push_back({work.element_bytes / real_bytes, 1, 1});
  return dimensions;
}

template <class Real, class GuruDimension, auto allocate, auto release, auto make_plan,
          auto execute, auto destroy, auto limit>
restride::Result<Move> prepare_with(const Work& work) {
  const auto dimensions = dimensions_of<GuruDimension>(work, sizeof(Real));
  const auto buffer = [](int64_t bytes) {
    return std::unique_ptr<Real, decltype(release)>(
        allocate(static_cast<size_t>(bytes) / sizeof(Real)), release);
  };
  const auto source = buffer(work.source_bytes), target = buffer(work.target_bytes);
  if (!source || !target) return does_not_apply("no memory to plan in");
  const bool measures = std::max(work.source_bytes, work.target_bytes) <= largest_measured_bytes;
  if (measures) {
    std::fill_n(source.get(), static_cast<size_t>(work.source_bytes) / sizeof(Real), Real{0});
    std::fill_n(target.get(), static_cast<size_t>(work.target_bytes) / sizeof(Real), Real{0});
  }
  limit(planning_seconds);
  auto* plan =
      make_plan(0, nullptr, static_cast<int>(dimensions.size()), dimensions.data(), source.get(),
                target.get(), nullptr, measures ? FFTW_MEASURE : FFTW_ESTIMATE);
  if (plan == nullptr) return does_not_apply("no plan");
  const std::shared_ptr<std::remove_pointer_t<decltype(plan)>> owner(plan, destroy);
  return Move([owner](const std::byte* from, std::byte* to) {
    execute(owner.get(), reinterpret_cast<Real*>(const_cast<std::byte*>(from)),
            reinterpret_cast<Real*>(to));
  });
}

restride::Result<Move> prepare(const Work& work) {
  if (work.threads > 1) return does_not_apply("one thread only");
  if (work.element_bytes < 4) return does_not_apply("elements of 4 bytes at least");
  if (work.element_bytes == 4) {
    return prepare_with<float, fftwf_iodim64, fftwf_alloc_real, fftwf_free, fftwf_plan_guru64_r2r,
                        fftwf_execute_r2r, fftwf_destroy_plan, fftwf_set_timelimit>(work);
  }
  return prepare_with<double, fftw_iodim64, fftw_alloc_real, fftw_free, fftw_plan_guru64_r2r,
                      fftw_execute_r2r, fftw_destroy_plan, fftw_set_timelimit>(work);
}

const Peer peer = {"FFTW", fftw_version, prepare};

}  // namespace

const Peer* restride_peer() { return &peer; }
