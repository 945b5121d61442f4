// What a Plan holds: the kernels of a signature, shared by all problems that have it, and the
// buffers of one problem.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend.hpp"
#include "iteration_space.hpp"
#include "program.hpp"
#include "restride/plan.hpp"

namespace restride {

/// Scratch that execute() has on its stack, in one piece aligned to `scratch_alignment`.
constexpr int64_t scratch_limit_bytes = 32 * 1024;
constexpr int64_t scratch_alignment = 64;

/// The most pointers one kernel takes.
constexpr int max_arguments = 8;

/// One pointer that a kernel takes.
struct Argument {
  program::Role role;
  int64_t scratch_offset = 0;  ///< of scratch: bytes from the begin of the plan's scratch
};

/// One of the kernels of a signature, and the pointers it demands.
struct KernelVariant {
  Kernel kernel;
  std::vector<Argument> arguments;  ///< in the order of Program::operands
  int64_t units = 0;
  uintptr_t source_mask = 0, target_mask = 0;  ///< pointer bits that have to be 0
  int64_t scratch_bytes = 0;
};

/// Immutable. Everything about a problem that its signature, the target and the choice of backend
/// decide.
struct KernelSet {
  std::string signature;
  std::string target;        ///< name of the machine planned for
  std::string_view backend;  ///< lives as long as the process
  std::vector<KernelVariant>
      variants;  ///< best first, the last takes any pointer; none: nothing to do
  ByteRange source_range, target_range;  ///< what the variants touch, relative to the pointers
  int64_t code_bytes = 0;
  double compile_seconds = 0;
};

/// Immutable: the kernels, and the buffers of one problem relative to the pointers that execute()
/// takes.
class Plan::State {
 public:
  std::shared_ptr<const KernelSet> kernels;
  ByteRange source, target;
};

}  // namespace restride
