// Plan::execute: runs the kernels of a plan. Picks the kernel by the pointers, splits its units
// into tasks.
//
// Nothing here allocates, locks or calls the system. Scratch lies on the stack of the thread that
// runs a task.
#include <algorithm>
#include <string>

#include "plan_state.hpp"
#include "restride/plan.hpp"

namespace restride {
namespace {

/// Bytes read and written below which a task is not worth handing to another thread. About ten
/// times what waking a thread costs at 10 GB/s of memory traffic; a stand-in until measured on more
/// machines.
constexpr int64_t task_bytes = 256 * 1024;

/// Tasks per thread, so that a thread that comes late finds less to do.
constexpr int64_t tasks_per_thread = 4;

/// Pointers of one run.
struct Buffers {
  const void* source;
  void* target;
};

const KernelVariant& pick(const KernelSet& kernels, const Buffers& buffers) {
  const auto source = reinterpret_cast<uintptr_t>(buffers.source);
  const auto target = reinterpret_cast<uintptr_t>(buffers.target);
  for (const KernelVariant& variant : kernels.variants) {
    if (((source & variant.source_mask) | (target & variant.target_mask)) == 0) return variant;
  }
  return kernels.variants.back();
}

void call(const KernelVariant& variant, const Buffers& buffers, std::byte* scratch, int64_t first,
          int64_t last) {
  void* pointers[max_arguments];
  size_t count = 0;
  for (const Argument& argument : variant.arguments) {
    switch (argument.role) {
      case program::Role::target:
        pointers[count++] = buffers.target;
        break;
      case program::Role::source:
        pointers[count++] = const_cast<void*>(buffers.source);  // kernels never write to it
        break;
      case program::Role::scratch:
        pointers[count++] = scratch + argument.scratch_offset;
        break;
    }
  }
  variant.kernel.entry(variant.kernel.code.get(), pointers, first, last);
}

/// A function of its own, so that a plan without scratch does not pay for a large frame.
[[gnu::noinline]] void call_with_scratch(const KernelVariant& variant, const Buffers& buffers,
                                         int64_t first, int64_t last) {
  alignas(scratch_alignment) std::byte scratch[scratch_limit_bytes];
  call(variant, buffers, scratch, first, last);
}

void run(const KernelVariant& variant, const Buffers& buffers, int64_t first, int64_t last) {
  if (variant.scratch_bytes != 0) {
    call_with_scratch(variant, buffers, first, last);
  } else {
    call(variant, buffers, nullptr, first, last);
  }
}

/// Units [0, units) in `tasks` ranges whose sizes differ by at most one.
struct Split {
  const KernelVariant& variant;
  Buffers buffers;
  int64_t tasks;

  int64_t begin(int64_t task) const {
    return variant.units / tasks * task + std::min(task, variant.units % tasks);
  }
  static void run_task(void* split, int64_t task) {
    const Split& self = *static_cast<const Split*>(split);
    run(self.variant, self.buffers, self.begin(task), self.begin(task + 1));
  }
};

bool overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return a_bytes != 0 && b_bytes != 0 && first < second + static_cast<uintptr_t>(b_bytes) &&
         second < first + static_cast<uintptr_t>(a_bytes);
}

Error wrong_size(const char* operand, size_t given, int64_t wanted) {
  return Error{ErrorCode::invalid_argument, std::string(operand) + " is " + std::to_string(given) +
                                                " bytes, the plan's " + operand + " buffer has " +
                                                std::to_string(wanted)};
}

/// The pointers of index 0 in two spans that a plan may run on.
Result<Buffers> checked(const ByteRange& source_range, std::span<const std::byte> source,
                        const ByteRange& target_range, std::span<std::byte> target) {
  const int64_t source_bytes = source_range.end - source_range.begin;
  const int64_t target_bytes = target_range.end - target_range.begin;
  if (source.size() != static_cast<size_t>(source_bytes)) {
    return wrong_size("source", source.size(), source_bytes);
  }
  if (target.size() != static_cast<size_t>(target_bytes)) {
    return wrong_size("target", target.size(), target_bytes);
  }
  if (overlap(source.data(), source_bytes, target.data(), target_bytes)) {
    return Error{ErrorCode::invalid_argument, "source and target overlap"};
  }
  return Buffers{source.data() - source_range.begin, target.data() - target_range.begin};
}

}  // namespace

void Plan::execute(const void* source, void* target) const noexcept {
  const KernelSet& kernels = *state_->kernels;
  if (kernels.variants.empty()) return;
  const Buffers buffers{source, target};
  const KernelVariant& variant = pick(kernels, buffers);
  run(variant, buffers, 0, variant.units);
}

void Plan::execute(const void* source, void* target, Executor& executor) const noexcept {
  const KernelSet& kernels = *state_->kernels;
  if (kernels.variants.empty()) return;
  const Buffers buffers{source, target};
  const KernelVariant& variant = pick(kernels, buffers);
  const int64_t threads = executor.concurrency();
  const int64_t tasks = std::min({threads * tasks_per_thread, variant.units,
                                  source_bytes() / task_bytes + target_bytes() / task_bytes});
  if (threads <= 1 || tasks <= 1) return run(variant, buffers, 0, variant.units);
  Split split{variant, buffers, tasks};
  executor.parallel_for(tasks, &Split::run_task, &split);
}

Result<void> Plan::execute(std::span<const std::byte> source,
                           std::span<std::byte> target) const noexcept {
  const Result<Buffers> buffers = checked(state_->source, source, state_->target, target);
  if (!buffers) return buffers.error();
  execute(buffers->source, buffers->target);
  return {};
}

Result<void> Plan::execute(std::span<const std::byte> source, std::span<std::byte> target,
                           Executor& executor) const noexcept {
  const Result<Buffers> buffers = checked(state_->source, source, state_->target, target);
  if (!buffers) return buffers.error();
  execute(buffers->source, buffers->target, executor);
  return {};
}

}  // namespace restride
