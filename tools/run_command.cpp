// restride run: files in, file out. The inputs are mapped, the result is made in memory, checked
// where asked, timed, and only then written.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "array_file.hpp"
#include "atomic_file.hpp"
#include "commands.hpp"
#include "mapped_file.hpp"
#include "memory.hpp"
#include "npy.hpp"
#include "oracle.hpp"
#include "restride/thread_pool.hpp"
#include "stopwatch.hpp"
#include "traffic.hpp"

namespace restride::tools {
namespace {

constexpr std::chrono::duration<double> timing_budget{0.3};

Error refusal(const std::string& message) { return {ErrorCode::invalid_argument, message}; }

Result<void> check_files(const RunRequest& request, const Problem& problem) {
  if (request.inputs.size() != problem.sources.size()) {
    return refusal(std::to_string(request.inputs.size()) + " input files: the problem has " +
                   std::to_string(problem.sources.size()) + " sources");
  }
  for (const std::string& input : request.inputs) {
    std::error_code missing;
    if (std::filesystem::equivalent(input, request.output, missing)) {
      return refusal(request.output + ": is an input too; the result needs a file of its own");
    }
  }
  return {};
}

/// The files of the sources, and the buffers within them.
struct Inputs {
  std::vector<MappedFile> files;
  std::vector<std::span<const std::byte>> sources;
};

Result<Inputs> open_inputs(const RunRequest& request, const Problem& problem, const Plan& plan) {
  Inputs inputs;
  for (size_t k = 0; k < request.inputs.size(); ++k) {
    Result<MappedFile> file = MappedFile::open(request.inputs[k]);
    if (!file) return file.error();
    const Result<std::span<const std::byte>> source =
        find_buffer(request.inputs[k], file->bytes(), problem.sources[k].shape,
                    plan.source_bytes(static_cast<int>(k)));
    if (!source) return source.error();
    inputs.files.push_back(*std::move(file));
    inputs.sources.push_back(*source);
  }
  return inputs;
}

Result<void> write_result(const RunRequest& request, const Shape& target,
                          std::span<const std::byte> bytes) {
  if (request.output.ends_with(".bin")) return write_atomically(request.output, {}, bytes);
  const std::vector<int64_t> dimensions = file_dimensions(target, std::ssize(bytes));
  if (dimensions.size() > 64) {
    return refusal(request.output + ": the target has " + std::to_string(dimensions.size()) +
                   " physical dimensions: an .npy file holds at most 64; name the output .bin");
  }
  const std::string preamble = npy_preamble(npy_type(target), dimensions);
  return write_atomically(request.output, std::as_bytes(std::span(preamble)), bytes);
}

/// Seconds that memcpy takes for the same traffic; none where there is no memory for it.
std::optional<double> memcpy_seconds(int64_t traffic_bytes) {
  const int64_t size = traffic_bytes / 2;
  const Result<Memory> source = Memory::allocate(size);
  const Result<Memory> target = Memory::allocate(size);
  if (!source || !target || size == 0) return std::nullopt;
  // Untouched pages are all one page of zeros, which would stay in the cache.
  std::memset(source->bytes().data(), 1, source->bytes().size());
  const auto copy = [&] {
    std::memcpy(target->bytes().data(), source->bytes().data(), target->bytes().size());
  };
  return median_wall_seconds(copy, timing_budget);
}

void print_speed(int64_t bytes, double seconds) {
  std::printf("time        %.1f us for %lld bytes read and written\n", seconds * 1e6,
              static_cast<long long>(bytes));
  std::printf("speed       %.2f GB/s", gigabytes_per_second(bytes, seconds));
  if (const std::optional<double> copy = memcpy_seconds(bytes)) {
    std::printf(", %.0f %% of memcpy", 100 * *copy / seconds);
  }
  std::printf("\n");
}

void print_plan(const Problem& problem, const Plan& plan, int threads) {
  const std::string text = to_string(problem);
  const auto width = [](std::string_view view) { return static_cast<int>(view.size()); };
  std::printf("problem     %s\n", text.c_str());
  std::printf("signature   %.*s\n", width(plan.signature()), plan.signature().data());
  std::printf("backend     %.*s for %.*s, %d thread%s\n", width(plan.backend()),
              plan.backend().data(), width(plan.target()), plan.target().data(), threads,
              threads == 1 ? "" : "s");
  std::printf("compile     %.1f us, %lld bytes of code\n", plan.compile_seconds() * 1e6,
              static_cast<long long>(plan.code_bytes()));
}

/// Runs the plan, and prints what ran. The result may be wrong: `comparison` says so.
Result<Comparison> run_plan(const RunRequest& request, const Problem& problem, const Plan& plan,
                            std::span<const std::span<const std::byte>> sources,
                            std::span<std::byte> target) {
  ThreadPool threads(request.threads);
  std::vector<const void*> pointers;
  for (const auto& source : sources) pointers.push_back(source.data());
  const auto execute = [&] { plan.execute_sources(pointers, target.data(), threads); };
  execute();
  Comparison comparison;
  if (request.check == RunRequest::Check::verify) {
    Result<Comparison> checked = compare_with_oracle(problem, sources, target);
    if (!checked) return checked;
    comparison = *std::move(checked);
  }
  print_plan(problem, plan, threads.concurrency());
  print_speed(traffic_of(problem, plan.target_bytes()).total(),
              median_wall_seconds(execute, timing_budget));
  return comparison;
}

}  // namespace

ExitCode run_command(const RunRequest& request) {
  const Result<Problem> problem = parse_problem(request.problem);
  if (!problem) return refuse(problem.error().message);
  if (const Result<void> files = check_files(request, *problem); !files)
    return refuse(files.error().message);
  const Result<Plan> plan = Plan::create(*problem, {.backend = request.backend});
  if (!plan) return refuse(plan.error().message);
  const Result<Inputs> inputs = open_inputs(request, *problem, *plan);
  if (!inputs) return refuse(inputs.error().message);
  const Result<Memory> target = Memory::allocate(plan->target_bytes());
  if (!target) return refuse(target.error().message);

  const Result<Comparison> comparison =
      run_plan(request, *problem, *plan, inputs->sources, target->bytes());
  if (!comparison) return refuse(comparison.error().message);
  if (!comparison->difference.empty()) {
    std::printf("%s\n", comparison->difference.c_str());
    return ExitCode::wrong_result;
  }
  const Result<void> written = write_result(request, problem->target, target->bytes());
  if (!written) return refuse(written.error().message);
  if (request.check == RunRequest::Check::verify) {
    std::printf("verified %lld elements\n", static_cast<long long>(comparison->elements));
  }
  return ExitCode::success;
}

}  // namespace restride::tools
