// Plan::execute: runs the kernels of a plan. Picks the kernel by the pointers, splits its units
// into tasks.
//
// Nothing here allocates, locks or calls the system. Scratch lies on the stack of the thread that
// runs a task.
#include <algorithm>
#include <string>

#include "backend/float_environment.hpp"
#include "plan/plan_state.hpp"
#include "restride/plan.hpp"

namespace restride {
namespace {

/// Bytes read and written below which a task is not worth handing to another thread. About ten
/// times what waking a thread costs at 10 GB/s of memory traffic; a stand-in until measured on more
/// machines.
constexpr int64_t task_bytes = 256 * 1024;

/// Tasks per thread, so that a thread that comes late finds less to do.
constexpr int64_t tasks_per_thread = 4;

/// Pointers of one run, in the order of a problem's operands: the target, then the sources.
struct Buffers {
  void* pointers[1 + max_sources];
};

const KernelVariant& pick(const KernelSet& kernels, const Buffers& buffers) {
  uintptr_t source = 0;
  for (int k = 1; k <= max_sources; ++k) source |= reinterpret_cast<uintptr_t>(buffers.pointers[k]);
  const auto target = reinterpret_cast<uintptr_t>(buffers.pointers[0]);
  for (const KernelVariant& variant : kernels.variants) {
    if ((source & variant.source_mask) == variant.source_bits &&
        (target & variant.target_mask) == variant.target_bits)
      return variant;
  }
  return kernels.variants.back();
}

void call(const KernelVariant& variant, const Buffers& buffers, std::byte* scratch, int64_t first,
          int64_t last) {
  void* pointers[max_arguments];
  size_t count = 0;
  for (const Argument& argument : variant.arguments) {
    pointers[count++] = argument.role == program::Role::scratch ? scratch + argument.place
                                                                : buffers.pointers[argument.place];
  }
  variant.kernel.entry(variant.kernel.code.get(), pointers, first, last);
}

/// Scratch begins with a page, whatever less its kernels demand: where it crosses into another one,
/// a vector that is stored across has to wait on some processors until all stores before it are in
/// memory. (Zen 4: f32[32,49,2064]{1,2,0}, whose images in scratch are of 3 KB, .97 of the ceiling
/// for .45.)
constexpr size_t scratch_place = 4096;

/// A function of its own, so that a plan without scratch does not pay for a large frame.
[[gnu::noinline]] void call_with_scratch(const KernelVariant& variant, const Buffers& buffers,
                                         int64_t first, int64_t last) {
  alignas(scratch_place) std::byte scratch[program::max_scratch_bytes];
  call(variant, buffers, scratch, first, last);
}

void run_moves(const KernelVariant& variant, const Buffers& buffers, int64_t first, int64_t last) {
  if (variant.scratch_bytes != 0) {
    call_with_scratch(variant, buffers, first, last);
  } else {
    call(variant, buffers, nullptr, first, last);
  }
}

void run(const KernelSet& kernels, const KernelVariant& variant, Buffers& buffers, int64_t first,
         int64_t last) {
  // Tiny arrays: a list of pointers costs more than moving them.
  if (variant.takes_buffers) {
    return variant.kernel.entry(variant.kernel.code.get(), buffers.pointers, first, last);
  }
  if (!kernels.computes_floats) return run_moves(variant, buffers, first, last);
  const FloatEnvironment environment;
  run_moves(variant, buffers, first, last);
}

/// Units [0, units) in `tasks` ranges whose sizes differ by at most one.
struct Split {
  const KernelSet& kernels;
  const KernelVariant& variant;
  Buffers buffers;
  int64_t tasks;

  int64_t begin(int64_t task) const {
    return variant.units / tasks * task + std::min(task, variant.units % tasks);
  }
  static void run_task(void* split, int64_t task) {
    const Split& self = *static_cast<const Split*>(split);
    Buffers buffers = self.buffers;
    run(self.kernels, self.variant, buffers, self.begin(task), self.begin(task + 1));
  }
};

bool overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return a_bytes != 0 && b_bytes != 0 && first < second + static_cast<uintptr_t>(b_bytes) &&
         second < first + static_cast<uintptr_t>(a_bytes);
}

Error wrong_size(const std::string& operand, size_t given, int64_t wanted) {
  return Error{ErrorCode::invalid_argument, operand + " is " + std::to_string(given) +
                                                " bytes, the plan's " + operand + " buffer has " +
                                                std::to_string(wanted)};
}

/// The pointers that a plan with these sources takes; of factors the plan's own.
Buffers buffers_of(const Plan::State& plan, std::span<const void* const> sources, void* target) {
  Buffers buffers{{target}};
  // Kernels never write to sources. Up to a number that is known: a loop to where they end becomes
  // a call of memcpy, which takes longer than a tiny kernel.
  for (size_t k = 0; k < max_sources; ++k) {
    if (k < sources.size()) buffers.pointers[1 + k] = const_cast<void*>(sources[k]);
  }
  size_t count = 1 + sources.size();
  for (const std::vector<std::byte>& factors : plan.factors) {
    buffers.pointers[count++] = const_cast<std::byte*>(factors.data());
  }
  return buffers;
}

void run_all(const Plan::State& plan, Buffers& buffers) {
  const KernelSet& kernels = serving(*plan.kernels);
  if (kernels.variants.empty()) return;
  const KernelVariant& variant = pick(kernels, buffers);
  run(kernels, variant, buffers, 0, variant.units);
}

void run_all(const Plan::State& plan, Buffers& buffers, Executor& executor) {
  const KernelSet& kernels = serving(*plan.kernels);
  if (kernels.variants.empty()) return;
  const KernelVariant& variant = pick(kernels, buffers);
  int64_t pays = (plan.target.end - plan.target.begin) / task_bytes;
  for (const ByteRange& source : plan.sources) pays += (source.end - source.begin) / task_bytes;
  const int64_t threads = executor.concurrency();
  const int64_t tasks = std::min({threads * tasks_per_thread, variant.units, pays});
  if (threads <= 1 || tasks <= 1) return run(kernels, variant, buffers, 0, variant.units);
  Split split{kernels, variant, buffers, tasks};
  executor.parallel_for(tasks, &Split::run_task, &split);
}

/// The name of a source in messages.
std::string source_name(const Plan::State& plan, size_t source) {
  return plan.source_count == 1 ? "source" : "sources[" + std::to_string(source) + "]";
}

/// The pointers of index 0 in spans that a plan may run on.
Result<Buffers> checked(const Plan::State& plan,
                        std::span<const std::span<const std::byte>> sources,
                        std::span<std::byte> target) {
  if (sources.size() != static_cast<size_t>(plan.source_count)) {
    return Error{ErrorCode::invalid_argument, "sources has " + std::to_string(sources.size()) +
                                                  " entries, the plan takes " +
                                                  std::to_string(plan.source_count)};
  }
  const int64_t target_bytes = plan.target.end - plan.target.begin;
  const void* pointers[max_sources];
  for (size_t k = 0; k < sources.size(); ++k) {
    const int64_t bytes = plan.sources[k].end - plan.sources[k].begin;
    if (sources[k].size() != static_cast<size_t>(bytes)) {
      return wrong_size(source_name(plan, k), sources[k].size(), bytes);
    }
    if (overlap(sources[k].data(), bytes, target.data(), target_bytes)) {
      return Error{ErrorCode::invalid_argument, source_name(plan, k) + " and target overlap"};
    }
    pointers[k] = sources[k].data() - plan.sources[k].begin;
  }
  if (target.size() != static_cast<size_t>(target_bytes)) {
    return wrong_size("target", target.size(), target_bytes);
  }
  return buffers_of(plan, {pointers, sources.size()}, target.data() - plan.target.begin);
}

}  // namespace

void Plan::execute(const void* source, void* target) const noexcept {
  execute_sources(std::span<const void* const>(&source, 1), target);
}

void Plan::execute(const void* source, void* target, Executor& executor) const noexcept {
  execute_sources(std::span<const void* const>(&source, 1), target, executor);
}

Result<void> Plan::execute(std::span<const std::byte> source,
                           std::span<std::byte> target) const noexcept {
  return execute_sources(std::span<const std::span<const std::byte>>(&source, 1), target);
}

Result<void> Plan::execute(std::span<const std::byte> source, std::span<std::byte> target,
                           Executor& executor) const noexcept {
  return execute_sources(std::span<const std::span<const std::byte>>(&source, 1), target, executor);
}

void run_plan(const Plan::State& plan, std::span<const void* const> sources,
              void* target) noexcept {
  Buffers buffers = buffers_of(plan, sources, target);
  run_all(plan, buffers);
}

void Plan::execute_sources(std::span<const void* const> sources, void* target) const noexcept {
  if (sources.size() != static_cast<size_t>(state_->source_count)) return;
  run_plan(*state_, sources, target);
}

void Plan::execute_sources(std::span<const void* const> sources, void* target,
                           Executor& executor) const noexcept {
  if (sources.size() != static_cast<size_t>(state_->source_count)) return;
  Buffers buffers = buffers_of(*state_, sources, target);
  run_all(*state_, buffers, executor);
}

Result<void> Plan::execute_sources(std::span<const std::span<const std::byte>> sources,
                                   std::span<std::byte> target) const noexcept {
  Result<Buffers> buffers = checked(*state_, sources, target);
  if (!buffers) return buffers.error();
  run_all(*state_, *buffers);
  return {};
}

Result<void> Plan::execute_sources(std::span<const std::span<const std::byte>> sources,
                                   std::span<std::byte> target, Executor& executor) const noexcept {
  Result<Buffers> buffers = checked(*state_, sources, target);
  if (!buffers) return buffers.error();
  run_all(*state_, *buffers, executor);
  return {};
}

}  // namespace restride
