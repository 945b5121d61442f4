// The C interface: turns every call into one of the C++ interface. No logic of its own but checking
// pointers.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "c_api/c_interface.hpp"
#include "restride/kernel_cache.hpp"
#include "restride/plan.hpp"

struct restride_cache {
  restride::KernelCache cache;
};

struct restride_plan {
  restride::Plan plan;
  restride::Problem problem;
};

namespace restride {
namespace {

/// Where a message goes; both may be null.
struct Message {
  char* text;
  size_t bytes;

  restride_status put(ErrorCode code, std::string_view line) const {
    if (text != nullptr && bytes != 0) {
      const size_t length = std::min(line.size(), bytes - 1);
      std::memcpy(text, line.data(), length);
      text[length] = '\0';
    }
    return static_cast<restride_status>(code);
  }
  restride_status put(const Error& error) const { return put(error.code, error.message); }
  restride_status ok() const { return put(ErrorCode{}, ""); }
  restride_status report(const Result<void>& result) const {
    return result ? ok() : put(result.error());
  }
};

/// The threads of a C runtime.
class CallbackExecutor final : public Executor {
 public:
  explicit CallbackExecutor(const restride_executor& callbacks) : callbacks_(callbacks) {}

  int concurrency() const noexcept override { return callbacks_.concurrency(callbacks_.context); }
  void parallel_for(int64_t n, Task task, void* context) noexcept override {
    callbacks_.parallel_for(callbacks_.context, n, task, context);
  }

 private:
  const restride_executor callbacks_;
};

Result<PlanOptions> read_options(const restride_plan_options* given) {
  if (given == nullptr) return PlanOptions{};
  const Result<restride_plan_options> options = read_struct(given, "options");
  if (!options) return options.error();
  if (options->backend < RESTRIDE_BACKEND_AUTOMATIC || options->backend > RESTRIDE_BACKEND_LLVM) {
    return Error{ErrorCode::invalid_argument,
                 "options.backend = " + std::to_string(options->backend) + ": must be 0..3"};
  }
  PlanOptions result;
  result.backend = static_cast<BackendChoice>(options->backend);
  if (options->target != nullptr) result.target = options->target;
  if (options->cache != nullptr) result.cache = &options->cache->cache;
  result.background = {options->background_run, options->background_context};
  if (options->measure != 0) result.effort = PlanEffort::measure;
  if (options->measure_seconds != 0) result.measure_seconds = options->measure_seconds;
  return result;
}

Result<restride_plan*> make_plan(Result<Problem> problem, const restride_plan_options* given) {
  if (!problem) return problem.error();
  const Result<PlanOptions> options = read_options(given);
  if (!options) return options.error();
  Result<Plan> plan = Plan::create(*problem, *options);
  if (!plan) return plan.error();
  return new restride_plan{*std::move(plan), *std::move(problem)};
}

/// `out` is NULL or what was made.
restride_status hand_out(Result<Problem> problem, const restride_plan_options* options,
                         restride_plan** out, const Message& message) {
  if (out == nullptr) return message.put(null_argument("out"));
  *out = nullptr;
  const Result<restride_plan*> plan = make_plan(std::move(problem), options);
  if (!plan) return message.put(plan.error());
  *out = *plan;
  return message.ok();
}

Result<Problem> problem_from_text(const char* text) {
  if (text == nullptr) return null_argument("problem");
  return parse_problem(text);
}

Result<Problem> problem_from_operands(Result<Operand> source, Result<Operand> target) {
  if (!source) return source.error();
  if (!target) return target.error();
  if (!target->broadcast_dimensions.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "target.broadcast_rank = " + std::to_string(target->broadcast_dimensions.size()) +
                     ": only a source is broadcast"};
  }
  Problem problem;
  problem.sources.push_back(*std::move(source));
  problem.target = std::move(target->shape);
  problem.target_byte_strides = std::move(target->byte_strides);
  return problem;
}

/// Two tensors as a problem, and their data.
struct Tensors {
  Problem problem;
  std::byte *source, *target;
};

Result<Tensors> read_tensors(const void* source, const void* target) {
  Result<Tensor> from = operand_from_dlpack(source, "source");
  if (!from) return from.error();
  Result<Tensor> to = operand_from_dlpack(target, "target");
  if (!to) return to.error();
  Result<Problem> problem = problem_from_operands(from->operand, to->operand);
  if (!problem) return problem.error();
  return Tensors{*std::move(problem), from->data, to->data};
}

Result<Problem> problem_from_tensors(const void* source, const void* target) {
  Result<Tensors> tensors = read_tensors(source, target);
  if (!tensors) return tensors.error();
  return std::move(tensors->problem);
}

using Sources = std::span<const std::span<const std::byte>>;

Result<void> run(const Plan& plan, Sources sources, std::span<std::byte> target,
                 const restride_executor* given) {
  for (size_t k = 0; k < sources.size(); ++k) {
    if (sources[k].data() != nullptr || sources[k].empty()) continue;
    return null_argument(plan.source_count() == 1 ? "source"
                                                  : "sources[" + std::to_string(k) + "].data");
  }
  if (target.data() == nullptr && !target.empty()) return null_argument("target");
  if (given == nullptr) return plan.execute_sources(sources, target);
  const Result<restride_executor> callbacks = read_struct(given, "executor");
  if (!callbacks) return callbacks.error();
  if (callbacks->concurrency == nullptr) return null_argument("executor.concurrency");
  if (callbacks->parallel_for == nullptr) return null_argument("executor.parallel_for");
  CallbackExecutor executor(*callbacks);
  return plan.execute_sources(sources, target, executor);
}

Result<void> run(const Plan& plan, std::span<const std::byte> source, std::span<std::byte> target,
                 const restride_executor* given) {
  return run(plan, Sources(&source, 1), target, given);
}

/// Sources as a C caller describes them.
Result<void> run(const Plan& plan, const restride_source* given, int64_t count,
                 std::span<std::byte> target, const restride_executor* executor) {
  if (count != plan.source_count()) {
    return Error{ErrorCode::invalid_argument, "source_count = " + std::to_string(count) +
                                                  ": the plan takes " +
                                                  std::to_string(plan.source_count())};
  }
  if (given == nullptr) return null_argument("sources");
  std::vector<std::span<const std::byte>> sources;
  for (int64_t k = 0; k < count; ++k) {
    sources.emplace_back(static_cast<const std::byte*>(given[k].data), given[k].bytes);
  }
  return run(plan, sources, target, executor);
}

/// From the address of index 0 to the lowest address, which spans begin at. The sizes and strides
/// are those of a valid problem, so no product overflows.
int64_t lowest_offset(const Shape& shape, const std::vector<int64_t>& byte_strides) {
  int64_t offset = 0;
  if (is_zero_element(shape)) return offset;
  for (size_t i = 0; i < byte_strides.size(); ++i) {
    if (byte_strides[i] < 0) offset += byte_strides[i] * (shape.dimensions[i] - 1);
  }
  return offset;
}

Result<void> run_tensors(const restride_plan& plan, const void* source, const void* target,
                         const restride_executor* executor) {
  const Result<Tensors> tensors = read_tensors(source, target);
  if (!tensors) return tensors.error();
  const Problem& problem = plan.problem;
  if (problem.sources.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "the plan was loaded from an object: it takes buffers"};
  }
  if (tensors->problem != problem) {
    return Error{ErrorCode::invalid_argument, "the tensors are " + to_string(tensors->problem) +
                                                  ", the plan is for " + to_string(problem)};
  }
  const auto source_bytes = static_cast<size_t>(plan.plan.source_bytes());
  const auto target_bytes = static_cast<size_t>(plan.plan.target_bytes());
  if (tensors->source == nullptr && source_bytes != 0) return null_argument("source.data");
  if (tensors->target == nullptr && target_bytes != 0) return null_argument("target.data");
  const Source& from = problem.sources.front();
  return run(
      plan.plan, {tensors->source + lowest_offset(from.shape, from.byte_strides), source_bytes},
      {tensors->target + lowest_offset(problem.target, problem.target_byte_strides), target_bytes},
      executor);
}

KernelCache& cache_of(const restride_cache* cache) {
  return cache == nullptr ? KernelCache::process_wide()
                          : const_cast<KernelCache&>(cache->cache);  // safe from any thread
}

}  // namespace
}  // namespace restride

using restride::Message;
using restride::null_argument;
using restride::Result;

restride_status restride_cache_create(const restride_cache_options* given, restride_cache** out,
                                      char* message, size_t message_bytes) {
  const Message report{message, message_bytes};
  if (out == nullptr) return report.put(null_argument("out"));
  *out = nullptr;
  restride::KernelCacheOptions options;
  if (given != nullptr) {
    const Result<restride_cache_options> read = restride::read_struct(given, "options");
    if (!read) return report.put(read.error());
    if (read->max_entries != 0) options.max_entries = read->max_entries;
    if (read->max_code_bytes != 0) options.max_code_bytes = read->max_code_bytes;
  }
  *out = new restride_cache{restride::KernelCache(options)};
  return report.ok();
}

void restride_cache_destroy(restride_cache* cache) { delete cache; }

void restride_cache_clear(restride_cache* cache) { restride::cache_of(cache).clear(); }

restride_status restride_cache_get_statistics(const restride_cache* cache,
                                              restride_cache_statistics* out, char* message,
                                              size_t message_bytes) {
  const restride::KernelCacheStatistics now = restride::cache_of(cache).statistics();
  const restride_cache_statistics value = {sizeof value, now.hits,      now.misses,
                                           now.compiles, now.failures,  now.evictions,
                                           now.entries,  now.code_bytes};
  return Message{message, message_bytes}.report(restride::write_struct(value, out, "out"));
}

restride_status restride_plan_create(const char* problem, const restride_plan_options* options,
                                     restride_plan** out, char* message, size_t message_bytes) {
  return restride::hand_out(restride::problem_from_text(problem), options, out,
                            {message, message_bytes});
}

restride_status restride_plan_create_from_arrays(const restride_array* source,
                                                 const restride_array* target,
                                                 const restride_plan_options* options,
                                                 restride_plan** out, char* message,
                                                 size_t message_bytes) {
  return restride::hand_out(
      restride::problem_from_operands(restride::operand_from_array(source, "source"),
                                      restride::operand_from_array(target, "target")),
      options, out, {message, message_bytes});
}

restride_status restride_plan_create_from_dlpack(const void* source_tensor,
                                                 const void* target_tensor,
                                                 const restride_plan_options* options,
                                                 restride_plan** out, char* message,
                                                 size_t message_bytes) {
  return restride::hand_out(restride::problem_from_tensors(source_tensor, target_tensor), options,
                            out, {message, message_bytes});
}

restride_status restride_plan_load(const restride_object* object, restride_plan** out,
                                   char* message, size_t message_bytes) {
  const Message report{message, message_bytes};
  if (out == nullptr) return report.put(null_argument("out"));
  *out = nullptr;
  if (object == nullptr) return report.put(null_argument("object"));
  Result<restride::Plan> plan = restride::Plan::load(*object);
  if (!plan) return report.put(plan.error());
  *out = new restride_plan{*std::move(plan), {}};
  return report.ok();
}

void restride_plan_destroy(restride_plan* plan) { delete plan; }

restride_status restride_plan_get_info(const restride_plan* plan, restride_plan_info* out,
                                       char* message, size_t message_bytes) {
  const Message report{message, message_bytes};
  if (plan == nullptr) return report.put(null_argument("plan"));
  const restride::Plan& of = plan->plan;
  // All three views end in a NUL: they are whole strings or literals.
  const restride_plan_info value = {
      sizeof value,       of.source_bytes(),    of.target_bytes(),     of.unit_count(),
      of.code_bytes(),    of.compile_seconds(), of.signature().data(), of.backend().data(),
      of.target().data(), of.source_count()};
  return report.report(restride::write_struct(value, out, "out"));
}

restride_status restride_plan_execute(const restride_plan* plan, const void* source,
                                      size_t source_bytes, void* target, size_t target_bytes,
                                      const restride_executor* executor, char* message,
                                      size_t message_bytes) {
  const Message report{message, message_bytes};
  if (plan == nullptr) return report.put(null_argument("plan"));
  return report.report(restride::run(plan->plan,
                                     {static_cast<const std::byte*>(source), source_bytes},
                                     {static_cast<std::byte*>(target), target_bytes}, executor));
}

int64_t restride_plan_source_bytes(const restride_plan* plan, int64_t source) {
  if (plan == nullptr || source < 0 || source >= plan->plan.source_count()) return 0;
  return plan->plan.source_bytes(static_cast<int>(source));
}

restride_status restride_plan_execute_sources(const restride_plan* plan,
                                              const restride_source* sources, int64_t source_count,
                                              void* target, size_t target_bytes,
                                              const restride_executor* executor, char* message,
                                              size_t message_bytes) {
  const Message report{message, message_bytes};
  if (plan == nullptr) return report.put(null_argument("plan"));
  return report.report(restride::run(plan->plan, sources, source_count,
                                     {static_cast<std::byte*>(target), target_bytes}, executor));
}

restride_status restride_plan_execute_dlpack(const restride_plan* plan, const void* source_tensor,
                                             const void* target_tensor,
                                             const restride_executor* executor, char* message,
                                             size_t message_bytes) {
  const Message report{message, message_bytes};
  if (plan == nullptr) return report.put(null_argument("plan"));
  return report.report(restride::run_tensors(*plan, source_tensor, target_tensor, executor));
}
