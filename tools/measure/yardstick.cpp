#include "yardstick.hpp"

#include <algorithm>

#include "reference_copies.hpp"

namespace restride::tools {
namespace {

/// Copies the first bytes and fills those behind them. References must start on 64 bytes.
struct Mixture {
  ReferenceFunction copy, fill;
  int64_t copied_bytes, filled_bytes;

  /// The part of one thread of several.
  void run(const std::byte* source, std::byte* target, int64_t part, int64_t parts) const {
    const auto boundary = [&](int64_t bytes, int64_t i) {
      return i == parts ? bytes : bytes / parts * i / 64 * 64;
    };
    const auto apply = [&](ReferenceFunction function, int64_t start, int64_t bytes) {
      const int64_t begin = boundary(bytes, part), end = boundary(bytes, part + 1);
      if (begin < end) function(target + start + begin, source + begin, end - begin);
    };
    apply(copy, 0, copied_bytes);
    apply(fill, (copied_bytes + 63) / 64 * 64, filled_bytes);
  }
};

/// Data pointers on their way through an executor.
struct Job {
  const Mixture& mixture;
  const std::byte* source;
  std::byte* target;
  int64_t parts;
};

void run_on(Executor& executor, const Mixture& mixture, const std::byte* source,
            std::byte* target) {
  Job job = {mixture, source, target, executor.concurrency()};
  executor.parallel_for(
      job.parts,
      [](void* context, int64_t part) {
        const Job& job = *static_cast<const Job*>(context);
        job.mixture.run(job.source, job.target, part, job.parts);
      },
      &job);
}

struct Amounts {
  int64_t copied_bytes, filled_bytes;
};

Amounts amounts_of(const Problem& problem, const Traffic& traffic) {
  const bool mostly_writes = traffic.read_bytes * 2 < traffic.written_bytes;
  if (problem.operation == Operation::copy && mostly_writes) return {0, traffic.written_bytes};
  if (traffic.read_bytes > traffic.written_bytes) return {traffic.total() / 2, 0};
  return {traffic.read_bytes, traffic.written_bytes - traffic.read_bytes};
}

}  // namespace

Yardstick make_yardstick(const Problem& problem, const Traffic& traffic, Executor* executor) {
  const Amounts amounts = amounts_of(problem, traffic);
  Yardstick yardstick = {
      .source_bytes = amounts.copied_bytes,
      .target_bytes = (amounts.copied_bytes + 63) / 64 * 64 + amounts.filled_bytes};
  const auto copies = reference_copies(), fills = reference_fills();
  for (size_t i = 0; i < copies.size(); ++i) {
    const Mixture mixture = {copies[i].run, fills[i].run, amounts.copied_bytes,
                             amounts.filled_bytes};
    const auto run = [mixture, executor](const std::byte* source, std::byte* target) {
      if (executor == nullptr) return mixture.run(source, target, 0, 1);
      run_on(*executor, mixture, source, target);
    };
    const auto& named = amounts.copied_bytes > 0 ? copies[i] : fills[i];
    yardstick.ceilings.push_back({std::string(named.name), run});
  }
  return yardstick;
}

}  // namespace restride::tools
