// What a Plan holds: the kernels of a signature, shared by all problems that have it, and the
// buffers of one problem.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "plan/later_kernels.hpp"
#include "program/program.hpp"
#include "restride/plan.hpp"
#include "space/iteration_space.hpp"

namespace restride {

/// Of the scratch that execute() has on its stack, in one piece of program::max_scratch_bytes.
constexpr int64_t scratch_alignment = 64;

/// The most pointers one kernel takes.
constexpr int max_arguments = 8;

/// The most sources a problem has, the factors of an affine conversion included.
constexpr int max_sources = max_operands - 1;

/// One pointer that a kernel takes.
struct Argument {
  program::Role role;
  /// Of scratch: bytes from its begin. Else: which operand of the problem, 0 is the target.
  int64_t place = 0;
};

/// One of the kernels of a signature, and the pointers it demands.
struct KernelVariant {
  Kernel kernel;
  std::vector<Argument> arguments;  ///< in the order of Program::operands
  int64_t units = 0;
  /// Bits of pointers that are asked for, and what they have to be.
  uintptr_t source_mask = 0, source_bits = 0, target_mask = 0, target_bits = 0;
  int64_t scratch_bytes = 0;
  /// `arguments` are the operands of the problem in their order, and nothing has to be set up.
  bool takes_buffers = false;
};

/// Immutable. Everything about a problem that its signature, the target and the choice of backend
/// decide.
struct KernelSet {
  std::string signature;
  std::string target;        ///< name of the machine planned for
  std::string_view backend;  ///< lives as long as the process
  std::vector<KernelVariant>
      variants;  ///< best first, the last takes any pointer; none: nothing to do
  /// What the variants touch, relative to the pointers.
  std::array<ByteRange, max_sources> source_ranges;
  ByteRange target_range;
  bool computes_floats = false;  ///< results depend on the floating-point environment
  int64_t code_bytes = 0;
  double compile_seconds = 0;
  std::shared_ptr<LaterKernels> later;  ///< null: these are the best there are
};

/// The best kernels that are ready.
inline const KernelSet& serving(const KernelSet& kernels) {
  if (kernels.later == nullptr) return kernels;
  const KernelSet* const better = kernels.later->ready();
  return better != nullptr ? *better : kernels;
}

/// Immutable: the kernels, the buffers of one problem relative to the pointers that execute()
/// takes, and the numbers that the problem brings along.
class Plan::State {
 public:
  std::shared_ptr<const KernelSet> kernels;
  int source_count = 1;                        ///< that execute() takes
  std::array<ByteRange, max_sources> sources;  ///< factors included
  ByteRange target;
  /// The sources behind those that execute() takes: the factors of an affine conversion.
  std::vector<std::vector<std::byte>> factors;
};

/// Runs a plan, handed out or not. Precondition: as many sources as it takes.
void run_plan(const Plan::State& plan, std::span<const void* const> sources, void* target) noexcept;

}  // namespace restride
