// Bytes count once as read and once as written. Inputs are random bytes; the target is poisoned
// before each check. The first result that the oracle finds right stands for it afterwards.
#include "case_run.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

#include "candidates.hpp"
#include "oracle.hpp"
#include "restride/thread_pool.hpp"
#include "work.hpp"
#include "yardstick.hpp"

namespace restride::tools {
namespace {

void fill_randomly(std::span<std::byte> bytes) {
  std::mt19937_64 random(42);
  for (size_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t value = random();
    std::memcpy(bytes.data() + i, &value, std::min<size_t>(8, bytes.size() - i));
  }
}

/// Checks results against the specification.
class Verifier {
 public:
  Verifier(const Problem& problem, std::span<const std::byte> source, std::span<std::byte> target,
           Memory copy)
      : problem_(problem), source_(source), target_(target), copy_(std::move(copy)) {}

  /// Runs the candidate into a poisoned target. The difference in words; empty: right.
  std::string check(const bench::Move& move) {
    std::memset(target_.data(), 0xcc, target_.size());
    move(source_.data(), target_.data());
    if (has_right_ && std::memcmp(target_.data(), copy_.bytes().data(), target_.size()) == 0)
      return {};
    const Result<Comparison> comparison = compare_with_oracle(problem_, source_, target_);
    if (!comparison) return "cannot be verified: " + comparison.error().message;
    if (comparison->difference.empty() && !has_right_) {
      std::memcpy(copy_.bytes().data(), target_.data(), target_.size());
      has_right_ = true;
    }
    return comparison->difference;
  }

 private:
  const Problem& problem_;
  std::span<const std::byte> source_;
  std::span<std::byte> target_;
  Memory copy_;  ///< of the first right result
  bool has_right_ = false;
};

/// The buffers of a case. The first bytes are the problem's; references may use more.
struct Buffers {
  Memory source, target, copy;
};

Result<Buffers> make_buffers(int64_t source_bytes, int64_t target_bytes, const Yardstick& yardstick,
                             Pages pages) {
  Result<Memory> source = Memory::allocate(std::max(source_bytes, yardstick.source_bytes), pages);
  if (!source) return source.error();
  Result<Memory> target = Memory::allocate(std::max(target_bytes, yardstick.target_bytes), pages);
  if (!target) return target.error();
  Result<Memory> copy = Memory::allocate(target_bytes, pages);
  if (!copy) return copy.error();
  fill_randomly(source->bytes());
  return Buffers{*std::move(source), *std::move(target), *std::move(copy)};
}

/// Times those that may be timed, and the ceilings, into `results`.
void time_all(const std::vector<Candidate>& candidates, const Yardstick& yardstick,
              const Buffers& buffers, const RunSettings& settings,
              std::vector<CandidateResult>& results) {
  std::vector<std::function<void()>> calls;
  std::vector<size_t> places;
  const std::byte* source = buffers.source.bytes().data();
  std::byte* target = buffers.target.bytes().data();
  for (const Candidate& candidate : candidates) {
    results.push_back(candidate.result);
    if (candidate.result.status != Status::timed) continue;
    places.push_back(results.size() - 1);
    calls.push_back([&move = candidate.move, source, target] { move(source, target); });
  }
  for (const Ceiling& ceiling : yardstick.ceilings) {
    results.push_back({.name = ceiling.name, .role = Role::reference});
    places.push_back(results.size() - 1);
    calls.push_back([&run = ceiling.run, source, target] { run(source, target); });
  }
  const Clock clock = settings.threads == 1 ? Clock::processor : Clock::wall;
  const std::vector<Timing> timings = contest(calls, settings.budget, clock);
  for (size_t i = 0; i < places.size(); ++i) results[places[i]].timing = timings[i];
}

bool has_byte_strides(const Problem& problem) {
  return !problem.target_byte_strides.empty() ||
         std::any_of(problem.sources.begin(), problem.sources.end(),
                     [](const Source& source) { return !source.byte_strides.empty(); });
}

/// What nobody does needs no buffers.
Result<CaseResult> untimed(CaseResult result, std::vector<Candidate> candidates) {
  for (Candidate& candidate : candidates) result.candidates.push_back(std::move(candidate.result));
  return result;
}

}  // namespace

Result<CaseResult> run_case(const Case& measured, const RunSettings& settings) {
  const Problem& problem = measured.problem;
  if (has_byte_strides(problem)) {
    return Error{ErrorCode::unsupported,
                 "byte strides are not timed: write them as padding: " + to_string(problem)};
  }
  std::optional<ThreadPool> pool;
  if (settings.threads > 1) pool.emplace(settings.threads);
  Executor* executor = pool ? &*pool : nullptr;

  const Result<int64_t> target_bytes = buffer_bytes(problem.target);
  if (!target_bytes) return target_bytes.error();
  const Result<int64_t> source_bytes = buffer_bytes(problem.sources.front().shape);
  if (!source_bytes) return source_bytes.error();
  CaseResult result = {.name = measured.name,
                       .problem = to_string(problem),
                       .traffic = traffic_of(problem, *target_bytes)};
  if (result.traffic.total() == 0) {
    return Error{ErrorCode::invalid_argument,
                 "nothing to time: " + result.problem + " moves no bytes"};
  }
  const Result<bench::Work> work = make_work(problem, settings.threads);
  if (work) result.work = *work;

  std::vector<Candidate> candidates = our_candidates(problem, settings, executor);
  if (!work && candidates.front().result.status != Status::timed)
    return untimed(std::move(result), std::move(candidates));
  for (Candidate& peer : peer_candidates(work, settings)) candidates.push_back(std::move(peer));

  const Yardstick yardstick = make_yardstick(problem, result.traffic, executor);
  Result<Buffers> buffers = make_buffers(*source_bytes, *target_bytes, yardstick, settings.pages);
  if (!buffers) return buffers.error();
  const auto first = [](const Memory& memory, int64_t bytes) {
    return memory.bytes().first(static_cast<size_t>(bytes));
  };
  Verifier verifier(problem, first(buffers->source, *source_bytes),
                    first(buffers->target, *target_bytes), std::move(buffers->copy));
  for (Candidate& candidate : candidates) {
    if (candidate.result.status != Status::timed) continue;
    candidate.result.reason = verifier.check(candidate.move);
    if (!candidate.result.reason.empty()) candidate.result.status = Status::wrong;
  }
  time_all(candidates, yardstick, *buffers, settings, result.candidates);
  return result;
}

}  // namespace restride::tools
