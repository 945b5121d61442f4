// Plan::create: the only file that sees the whole road. It calls every arrow of the picture and
// does none of their work; running a plan is in execute.cpp.
#include "restride/plan.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "compile.hpp"
#include "formula.hpp"
#include "iteration_space.hpp"
#include "kernel_cache_state.hpp"
#include "plan_state.hpp"
#include "planner.hpp"
#include "target.hpp"

namespace restride {
namespace {

bool empty(const ByteRange& range) { return range.begin == range.end; }

bool within(const ByteRange& inner, const ByteRange& outer) {
  return empty(inner) || (inner.begin >= outer.begin && inner.end <= outer.end);
}

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
      operand.end > scratch_limit_bytes - offset) {
    return unplannable("scratch of " + std::to_string(operand.end) + " bytes behind " +
                       std::to_string(offset) + " does not fit " +
                       std::to_string(scratch_limit_bytes) + " bytes aligned to " +
                       std::to_string(scratch_alignment));
  }
  variant.arguments.push_back({operand.role, offset});
  variant.scratch_bytes = offset + operand.end;
  return {};
}

/// What execute() has to know of a program besides its kernel.
Result<KernelVariant> make_variant(const Program& program, Kernel kernel, KernelSet& kernels) {
  KernelVariant variant;
  variant.kernel = std::move(kernel);
  variant.units = unit_count(program);
  if (program.operands.size() > max_arguments) {
    return unplannable(std::to_string(program.operands.size()) + " operands, at most " +
                       std::to_string(max_arguments) + " can be passed");
  }
  int64_t source = 0;
  for (const program::Operand& operand : program.operands) {
    if (operand.role == program::Role::scratch) {
      if (Result<void> placed = place_scratch(operand, variant); !placed) return placed.error();
      continue;
    }
    if (operand.role == program::Role::target) {
      extend(kernels.target_range, operand);
      variant.target_mask |= static_cast<uintptr_t>(operand.alignment - 1);
      variant.arguments.push_back({operand.role});
      continue;
    }
    if (source == max_sources) return unplannable("more sources than a problem has");
    extend(kernels.source_ranges[static_cast<size_t>(source)], operand);
    variant.source_mask |= static_cast<uintptr_t>(operand.alignment - 1);
    variant.arguments.push_back({operand.role, source++});
  }
  return variant;
}

/// IterationSpace -> Kernels. A space that touches nothing needs none.
Outcome make_kernels(const IterationSpace& space, const std::string& signature,
                     const Target& target, BackendChoice choice) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Program> programs;
  if (!empty(touched_bytes(space, 0))) {
    programs = plan_programs(space, target);
    if (programs.empty()) return unplannable("none was planned for " + signature);
  }
  Result<Compiled> compiled = compile(programs, target, choice);
  if (!compiled) return compiled.error();

  auto kernels = std::make_shared<KernelSet>();
  kernels->signature = signature;
  kernels->target = target.name;
  kernels->backend = compiled->backend;
  kernels->computes_floats = computes_floats(space.op);
  for (size_t i = 0; i < programs.size(); ++i) {
    Result<KernelVariant> variant =
        make_variant(programs[i], std::move(compiled->kernels[i]), *kernels);
    if (!variant) return variant.error();
    kernels->code_bytes += static_cast<int64_t>(variant->kernel.machine_code.size());
    kernels->variants.push_back(*std::move(variant));
  }
  if (!programs.empty() &&
      (kernels->variants.back().source_mask | kernels->variants.back().target_mask)) {
    return unplannable("the last one demands aligned pointers");
  }
  kernels->compile_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::shared_ptr<const KernelSet>(std::move(kernels));
}

/// A target that was named has to run on this machine.
Result<Target> usable_target(std::string_view name) {
  Result<Target> target = find_target(name);
  if (target && !runs_here(*target)) {
    return Error{
        ErrorCode::unsupported,
        "target " + target->name + " does not run on this machine (" + host_target().name + ")"};
  }
  return target;
}

/// The identity of an entry of the cache.
std::string cache_key(const std::string& signature, const Target& target, BackendChoice backend) {
  return signature + '\n' + target.name + '\n' + std::string(to_string(backend));
}

/// The bytes of all elements, also of those that an empty target leaves unread. validate() has
/// shown that the sums fit.
ByteRange strided_buffer(const Shape& shape, const std::vector<int64_t>& byte_strides) {
  ByteRange buffer{0, storage_bytes(shape.element_type)};
  for (size_t d = 0; d < byte_strides.size(); ++d) {
    if (shape.dimensions[d] == 0) return {};
    const int64_t reach = (shape.dimensions[d] - 1) * byte_strides[d];
    (reach < 0 ? buffer.begin : buffer.end) += reach;
  }
  return buffer;
}

/// The buffer of an operand, relative to the pointer execute() takes.
Result<ByteRange> buffer_of(const Shape& shape, const std::vector<int64_t>& byte_strides) {
  if (!byte_strides.empty()) return strided_buffer(shape, byte_strides);
  const Result<int64_t> bytes = buffer_bytes(shape);
  if (!bytes) return bytes.error();
  return ByteRange{0, *bytes};
}

/// Numbers as the array that a kernel reads.
template <class Float>
std::vector<std::byte> as_bytes(const std::vector<double>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(Float));
  for (size_t k = 0; k < numbers.size(); ++k) {
    const Float number = static_cast<Float>(numbers[k]);
    std::memcpy(bytes.data() + k * sizeof number, &number, sizeof number);
  }
  return bytes;
}

/// What a plan holds besides its kernels.
Result<Plan::State> describe_buffers(const Problem& problem, const ElementOp& op) {
  Plan::State plan;
  plan.source_count = static_cast<int>(problem.sources.size());
  size_t source = 0;
  for (const Source& from : problem.sources) {
    const Result<ByteRange> bytes = buffer_of(from.shape, from.byte_strides);
    if (!bytes) return bytes.error();
    plan.sources[source++] = *bytes;
  }
  for (const std::vector<double>* factors :
       {&problem.affine.scale, &problem.affine.zero_point, &problem.affine.bias}) {
    if (factors->empty()) continue;
    const bool wide = affine_type(op) == ElementType::f64;
    plan.factors.push_back(wide ? as_bytes<double>(*factors) : as_bytes<float>(*factors));
    plan.sources[source++] = {0, static_cast<int64_t>(plan.factors.back().size())};
  }
  const Result<ByteRange> target = buffer_of(problem.target, problem.target_byte_strides);
  if (!target) return target.error();
  plan.target = *target;
  return plan;
}

/// The last of the proofs: verify() has shown that the kernels stay within their operands; here the
/// operands stay within the buffers of this problem.
Result<void> check_bounds(const KernelSet& kernels, const Plan::State& plan) {
  bool inside = within(kernels.target_range, plan.target);
  for (size_t k = 0; k < max_sources; ++k) {
    inside = inside && within(kernels.source_ranges[k], plan.sources[k]);
  }
  if (inside) return {};
  return unplannable("reaches beyond the buffers of the problem: " + kernels.signature);
}

/// The whole road, for a problem that has not been seen before.
Result<std::shared_ptr<const Plan::State>> make_plan(const ProblemView& view,
                                                     KernelCache::State& cache) {
  const Problem& problem = view.problem;
  if (Result<void> valid = validate(problem); !valid) return valid.error();
  const Result<Target> target = usable_target(view.target);
  if (!target) return target.error();
  Result<IterationSpace> space = iteration_space(problem);
  if (!space) return space.error();
  simplify(*space);
  const std::string name = signature(*space);
  const std::shared_ptr<KernelCache::State::Entry> entry =
      cache.find_or_make(cache_key(name, *target, view.backend),
                         [&] { return make_kernels(*space, name, *target, view.backend); });
  if (!entry->outcome) return entry->outcome.error();

  Result<Plan::State> described = describe_buffers(problem, space->op);
  if (!described) return described.error();
  described->kernels = *entry->outcome;
  auto plan = std::make_shared<Plan::State>(*std::move(described));
  if (Result<void> bound = check_bounds(*plan->kernels, *plan); !bound) return bound.error();
  cache.remember(entry, view, plan);
  return std::shared_ptr<const Plan::State>(std::move(plan));
}

}  // namespace

Result<Plan> Plan::create(const Problem& problem, const PlanOptions& options) {
  const Result<BackendChoice> backend = effective_backend(options.backend);
  if (!backend) return backend.error();
  KernelCache::State& cache =
      (options.cache != nullptr ? *options.cache : KernelCache::process_wide()).state();
  const ProblemView view(problem, *backend, options.target.empty() ? "host" : options.target);
  if (std::shared_ptr<const State> known = cache.find(view)) return Plan(std::move(known));
  Result<std::shared_ptr<const State>> made = make_plan(view, cache);
  if (!made) return made.error();
  return Plan(*std::move(made));
}

int Plan::source_count() const { return state_->source_count; }

int64_t Plan::source_bytes(int source) const {
  if (source < 0 || source >= state_->source_count) return 0;
  const ByteRange& bytes = state_->sources[static_cast<size_t>(source)];
  return bytes.end - bytes.begin;
}

int64_t Plan::target_bytes() const { return state_->target.end - state_->target.begin; }
std::string_view Plan::signature() const { return state_->kernels->signature; }
std::string_view Plan::backend() const { return state_->kernels->backend; }
std::string_view Plan::target() const { return state_->kernels->target; }
int64_t Plan::code_bytes() const { return state_->kernels->code_bytes; }
double Plan::compile_seconds() const { return state_->kernels->compile_seconds; }

int64_t Plan::unit_count() const {
  const std::vector<KernelVariant>& variants = state_->kernels->variants;
  return variants.empty() ? 0 : variants.front().units;
}

}  // namespace restride
