// Operands of a kernel -> what execute() passes: which pointer comes where, where scratch lies on
// the stack, and which bits of a pointer have to be 0.
#include "plan/kernel_variant.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace restride {
namespace {

bool empty(const ByteRange& range) { return range.begin == range.end; }

void extend(ByteRange& range, const program::Operand& operand) {
  if (operand.begin == operand.end) return;
  if (empty(range)) range = {operand.begin, operand.end};
  range = {std::min(range.begin, operand.begin), std::max(range.end, operand.end)};
}

Error unplannable(const std::string& what) {
  return Error{ErrorCode::unsupported, "program: " + what};
}

/// Gives a scratch operand its place behind those that have one.
Result<void> place_scratch(const program::Operand& operand, KernelVariant& variant) {
  const int64_t offset =
      (variant.scratch_bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
  if (operand.begin < 0 || operand.alignment > scratch_alignment ||
      operand.end > program::max_scratch_bytes - offset) {
    return unplannable("scratch of " + std::to_string(operand.end) + " bytes behind " +
                       std::to_string(offset) + " does not fit " +
                       std::to_string(program::max_scratch_bytes) + " bytes aligned to " +
                       std::to_string(scratch_alignment));
  }
  variant.arguments.push_back({operand.role, offset});
  variant.scratch_bytes = offset + operand.end;
  return {};
}

/// Whether these are the target, the first source, the second and so on.
bool in_order(const std::vector<Argument>& arguments) {
  int64_t place = 0;
  for (const Argument& argument : arguments) {
    if (argument.role == program::Role::scratch || argument.place != place++) return false;
  }
  return true;
}

}  // namespace

Result<KernelVariant> make_variant(std::span<const program::Operand> operands, int64_t units,
                                   Kernel kernel, KernelSet& kernels) {
  KernelVariant variant;
  variant.kernel = std::move(kernel);
  variant.units = units;
  if (operands.size() > max_arguments) {
    return unplannable(std::to_string(operands.size()) + " operands, at most " +
                       std::to_string(max_arguments) + " can be passed");
  }
  int64_t source = 0;
  for (const program::Operand& operand : operands) {
    if (operand.role == program::Role::scratch) {
      if (Result<void> placed = place_scratch(operand, variant); !placed) return placed.error();
      continue;
    }
    if (operand.role == program::Role::target) {
      extend(kernels.target_range, operand);
      variant.target_mask |= static_cast<uintptr_t>(operand.alignment - 1);
      variant.target_bits |= static_cast<uintptr_t>(operand.phase);
      variant.arguments.push_back({operand.role});
      continue;
    }
    if (source == max_sources) return unplannable("more sources than a problem has");
    extend(kernels.source_ranges[static_cast<size_t>(source)], operand);
    variant.source_mask |= static_cast<uintptr_t>(operand.alignment - 1);
    variant.source_bits |= static_cast<uintptr_t>(operand.phase);
    variant.arguments.push_back({operand.role, ++source});
  }
  if (source > 1 && variant.source_bits != 0) return unplannable("a phase of several sources");
  variant.takes_buffers = !kernels.computes_floats && in_order(variant.arguments);
  return variant;
}

}  // namespace restride
