// restride bench: one table a problem. Ours by every backend, against plain copies of the same
// bytes.
//
// Bytes count once as read and once as written. All candidates run in one contest (stopwatch.hpp)
// on one thread, on inputs of random bytes, into one target buffer; every result of ours is checked
// before it is timed.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>

#include "commands.hpp"
#include "memory.hpp"
#include "oracle.hpp"
#include "reference_copies.hpp"
#include "stopwatch.hpp"
#include "traffic.hpp"

namespace restride::tools {
namespace {

constexpr std::chrono::duration<double> contest_budget{2.0};
/// Beyond this the interpreter, an operation at a time, would take up the whole contest.
constexpr int64_t interpreter_limit_bytes = 1 << 20;

struct Contestant {
  std::string name;
  Plan plan;
};

void fill_randomly(std::span<std::byte> bytes) {
  std::mt19937_64 random(42);
  for (size_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t value = random();
    std::memcpy(bytes.data() + i, &value, std::min<size_t>(8, bytes.size() - i));
  }
}

/// One plan for each backend that does the problem. `failure` is the last error, where none does.
std::vector<Contestant> find_contestants(const Problem& problem, Error& failure) {
  std::vector<Contestant> contestants;
  for (const BackendChoice backend :
       {BackendChoice::xbyak, BackendChoice::llvm, BackendChoice::interpreter}) {
    Result<Plan> plan = Plan::create(problem, {.backend = backend});
    if (!plan) {
      failure = plan.error();
      continue;
    }
    const bool too_slow = backend == BackendChoice::interpreter &&
                          traffic_of(problem, *plan).total() > interpreter_limit_bytes;
    if (!too_slow || contestants.empty())
      contestants.push_back({std::string(to_string(backend)), *std::move(plan)});
  }
  return contestants;
}

/// Every result is compared with the specification. Returns the first difference in words, or
/// nothing.
Result<std::string> check(const Problem& problem, const std::vector<Contestant>& contestants,
                          std::span<const std::byte> source, std::span<std::byte> target) {
  for (const Contestant& contestant : contestants) {
    std::memset(target.data(), 0xcc, target.size());
    contestant.plan.execute(source.data(), target.data());
    const Result<Comparison> comparison = compare_with_oracle(problem, source, target);
    if (!comparison) return comparison.error();
    if (!comparison->difference.empty()) return contestant.name + ": " + comparison->difference;
  }
  return std::string();
}

void print_row(const std::string& name, int64_t bytes, double seconds, double ceiling,
               double library, const std::string& compile) {
  std::printf("  %-20s %10.3f %12.3f %9.2f %11.2f %10.2f %11s\n", name.c_str(),
              static_cast<double>(bytes) * 1e-6, seconds * 1e6,
              gigabytes_per_second(bytes, seconds), ceiling / seconds, library / seconds,
              compile.c_str());
}

/// Our candidates come first in `seconds`, the references behind them, the C library's first.
void print_table(const Problem& problem, const std::vector<Contestant>& contestants,
                 std::span<const Reference> references, int64_t bytes,
                 const std::vector<double>& seconds) {
  const auto first_reference = seconds.begin() + std::ssize(contestants);
  const double ceiling = *std::min_element(first_reference, seconds.end());
  const double library = *first_reference;
  std::printf("%s\n  %-20s %10s %12s %9s %11s %10s %11s\n", to_string(problem).c_str(), "case",
              "MB", "us", "GB/s", "of ceiling",
              ("of " + std::string(references.front().name)).c_str(), "compile us");
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (i < contestants.size()) {
      char compile[32];
      std::snprintf(compile, sizeof compile, "%.1f", contestants[i].plan.compile_seconds() * 1e6);
      print_row("restride " + contestants[i].name, bytes, seconds[i], ceiling, library, compile);
    } else {
      print_row(std::string(references[i - contestants.size()].name), bytes, seconds[i], ceiling,
                library, "");
    }
  }
}

/// What ours is held against, and how many bytes of it make the same traffic.
struct Yardstick {
  std::span<const Reference> references;
  int64_t reference_bytes;
  int64_t counted_bytes;
};

/// A broadcast is bound by what it writes: fills are what it is held against.
Yardstick yardstick_of(const Traffic& traffic) {
  if (traffic.read_bytes * 2 < traffic.written_bytes) {
    return {reference_fills(), traffic.written_bytes, traffic.written_bytes};
  }
  return {reference_copies(), traffic.total() / 2, traffic.total()};
}

std::vector<double> time_all(const std::vector<Contestant>& contestants, const Yardstick& yardstick,
                             std::span<const std::byte> source, std::span<std::byte> target) {
  std::vector<std::function<void()>> candidates;
  for (const Contestant& contestant : contestants) {
    candidates.push_back(
        [&plan = contestant.plan, source, target] { plan.execute(source.data(), target.data()); });
  }
  for (const Reference& reference : yardstick.references) {
    candidates.push_back([run = reference.run, bytes = yardstick.reference_bytes, source, target] {
      run(target.data(), source.data(), bytes);
    });
  }
  return contest(candidates, contest_budget);
}

ExitCode bench(const Problem& problem) {
  Error failure{};
  const std::vector<Contestant> contestants = find_contestants(problem, failure);
  if (contestants.empty()) return refuse(failure.message);
  const Plan& plan = contestants.front().plan;
  const Traffic traffic = traffic_of(problem, plan);
  if (traffic.total() == 0)
    return refuse("nothing to time: " + to_string(problem) + " moves no bytes");
  const Yardstick yardstick = yardstick_of(traffic);
  const Result<Memory> source =
      Memory::allocate(std::max(plan.source_bytes(), yardstick.reference_bytes));
  if (!source) return refuse(source.error().message);
  const Result<Memory> target =
      Memory::allocate(std::max(plan.target_bytes(), yardstick.reference_bytes));
  if (!target) return refuse(target.error().message);
  fill_randomly(source->bytes());
  const Result<std::string> difference =
      check(problem, contestants, source->bytes(),
            target->bytes().first(static_cast<size_t>(plan.target_bytes())));
  if (!difference) return refuse(difference.error().message);
  if (!difference->empty()) {
    std::printf("%s\n", difference->c_str());
    return ExitCode::wrong_result;
  }
  const std::vector<double> seconds =
      time_all(contestants, yardstick, source->bytes(), target->bytes());
  print_table(problem, contestants, yardstick.references, yardstick.counted_bytes, seconds);
  return ExitCode::success;
}

}  // namespace

ExitCode bench_command(const BenchRequest& request) {
  std::vector<Problem> problems;
  for (const std::string& text : request.problems) {
    Result<Problem> problem = parse_problem(text);
    if (!problem) return refuse(problem.error().message);
    if (problem->sources.size() != 1) return refuse("problems with two sources do not run yet");
    problems.push_back(*std::move(problem));
  }
  for (const Problem& problem : problems) {
    if (const ExitCode code = bench(problem); code != ExitCode::success) return code;
  }
  return ExitCode::success;
}

}  // namespace restride::tools
