// Plan::load: from the description of a linked kernel to a plan. The machine must have every
// feature that the code needs; what the description says is checked before anything relies on it.
// That its code does what it says is for the linker and the user to know.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "model/strides.hpp"
#include "plan/kernel_variant.hpp"
#include "plan/plan_state.hpp"
#include "restride/object.h"
#include "restride/plan.hpp"
#include "target/features.hpp"

namespace restride {
namespace {

Error not_an_object(const std::string& field) {
  return Error{ErrorCode::invalid_argument, "object: describes no kernel: " + field};
}

Result<program::Operand> read(const restride_object_operand& operand, int64_t index) {
  const std::string name = "operands[" + std::to_string(index) + "]";
  if (operand.role < RESTRIDE_OPERAND_TARGET || operand.role > RESTRIDE_OPERAND_SCRATCH ||
      (operand.role == RESTRIDE_OPERAND_TARGET) != (index == 0)) {
    return not_an_object(name + ".role = " + std::to_string(operand.role));
  }
  const bool ordered = operand.begin <= operand.end && operand.begin >= -max_buffer_bytes &&
                       operand.end <= max_buffer_bytes;
  if (!ordered) {
    return not_an_object(name + " = [" + std::to_string(operand.begin) + ", " +
                         std::to_string(operand.end) + ")");
  }
  constexpr int64_t most_alignment = 4096;
  const bool power_of_two =
      operand.alignment > 0 && (operand.alignment & (operand.alignment - 1)) == 0;
  if (!power_of_two || operand.alignment > most_alignment) {
    return not_an_object(name + ".alignment = " + std::to_string(operand.alignment));
  }
  return program::Operand{static_cast<program::Role>(operand.role), operand.begin, operand.end,
                          operand.alignment};
}

Result<std::vector<program::Operand>> read_operands(const restride_object& object) {
  if (object.operand_count < 1 || object.operand_count > RESTRIDE_OBJECT_OPERANDS) {
    return not_an_object("operand_count = " + std::to_string(object.operand_count));
  }
  std::vector<program::Operand> operands;
  for (int64_t k = 0; k < object.operand_count; ++k) {
    const Result<program::Operand> operand = read(object.operands[k], k);
    if (!operand) return operand.error();
    operands.push_back(*operand);
  }
  return operands;
}

template <size_t n>
std::string text(const char (&from)[n]) {
  return std::string(from, std::find(from, from + n, '\0'));
}

Result<void> check(const restride_object& object) {
  if (std::memcmp(object.magic, RESTRIDE_OBJECT_MAGIC, sizeof object.magic) != 0) {
    return not_an_object("magic");
  }
  if (object.version != RESTRIDE_OBJECT_VERSION) {
    return Error{ErrorCode::unsupported, "object: version = " + std::to_string(object.version) +
                                             ": this library reads " +
                                             std::to_string(RESTRIDE_OBJECT_VERSION)};
  }
  const Features missing = object.required_features & ~host_features();
  if (missing != 0) {
    return Error{ErrorCode::unsupported, "object: compiled for " + text(object.target) +
                                             ": this machine lacks " +
                                             to_string_of_features(missing)};
  }
  if (object.entry == nullptr) return not_an_object("entry = NULL");
  if (object.unit_count < 1) {
    return not_an_object("unit_count = " + std::to_string(object.unit_count));
  }
  return {};
}

}  // namespace

Result<Plan> Plan::load(const restride_object& object) {
  if (Result<void> valid = check(object); !valid) return valid.error();
  const Result<std::vector<program::Operand>> operands = read_operands(object);
  if (!operands) return operands.error();
  auto kernels = std::make_shared<KernelSet>();
  kernels->signature = text(object.signature);
  kernels->target = text(object.target);
  kernels->backend = "object";
  kernels->computes_floats = object.computes_floats != 0;
  Result<KernelVariant> variant =
      make_variant(*operands, object.unit_count, {object.entry, nullptr, {}}, *kernels);
  if (!variant) return variant.error();
  if ((variant->source_mask | variant->target_mask) != 0) {
    return Error{ErrorCode::unsupported, "object: demands aligned pointers"};
  }
  kernels->variants.push_back(*std::move(variant));

  auto plan = std::make_shared<State>();
  plan->source_count = 0;
  for (const program::Operand& operand : *operands) {
    const ByteRange bytes{operand.begin, operand.end};
    if (operand.role == program::Role::target) plan->target = bytes;
    if (operand.role == program::Role::source) {
      plan->sources[static_cast<size_t>(plan->source_count++)] = bytes;
    }
  }
  plan->kernels = std::move(kernels);
  return Plan(std::move(plan));
}

}  // namespace restride
