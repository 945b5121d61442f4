// Bytes count once as read and once as written. The target is poisoned before each check. The first
// result that the oracle finds right stands for it afterwards.
#include "case_run.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

#include "candidates.hpp"
#include "oracle.hpp"
#include "restride/thread_pool.hpp"
#include "source_places.hpp"
#include "work.hpp"
#include "yardstick.hpp"

namespace restride::tools {
namespace {

/// Random but ordinary numbers in every float type of 16 bits and more, below 4 and none of them
/// tiny: some peers copy by multiplying with one, which changes NaNs, and a vector in which a
/// product is denormal takes a hundred times as long.
void fill_randomly(std::span<std::byte> bytes) {
  constexpr uint64_t without_top_exponent_bits = 0xbfffbfffbfffbfff;
  constexpr uint64_t next_exponent_bits = 0x3800380038003800;
  std::mt19937_64 random(42);
  for (size_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t value = (random() & without_top_exponent_bits) | next_exponent_bits;
    std::memcpy(bytes.data() + i, &value, std::min<size_t>(8, bytes.size() - i));
  }
}

/// Checks results against the specification.
class Verifier {
 public:
  Verifier(const Problem& problem, std::vector<std::span<const std::byte>> sources,
           std::span<std::byte> target, Memory copy)
      : problem_(problem), sources_(std::move(sources)), target_(target), copy_(std::move(copy)) {}

  /// Runs the candidate into a poisoned target, and says so in its result where that is not right.
  void check(Candidate& candidate) {
    std::memset(target_.data(), 0xcc, target_.size());
    candidate.move(sources_.front().data(), target_.data());
    if (has_right_ && std::memcmp(target_.data(), copy_.bytes().data(), target_.size()) == 0)
      return;
    const Result<Comparison> comparison = compare_with_oracle(problem_, sources_, target_);
    if (!comparison) {
      candidate.result.status = Status::not_applicable;
      candidate.result.reason = "cannot be verified: " + comparison.error().message;
    } else if (!comparison->difference.empty()) {
      candidate.result.status = Status::wrong;
      candidate.result.reason = comparison->difference;
    } else if (!has_right_) {
      std::memcpy(copy_.bytes().data(), target_.data(), target_.size());
      has_right_ = true;
    }
  }

 private:
  const Problem& problem_;
  std::vector<std::span<const std::byte>> sources_;
  std::span<std::byte> target_;
  Memory copy_;  ///< of the first right result
  bool has_right_ = false;
};

/// What the calls of a case use.
struct Resources {
  std::optional<ThreadPool> pool;
  std::vector<Candidate> candidates;
  Yardstick yardstick;
  std::vector<Memory> memory;  ///< of the sources in one, and of the target; references may use
                               ///< more than the problem
  int64_t offset = 0;          ///< where in it they begin

  std::span<std::byte> sources() const { return begun(memory[0]); }
  std::span<std::byte> target() const { return begun(memory[1]); }
  Executor* executor() { return pool ? &*pool : nullptr; }

 private:
  std::span<std::byte> begun(const Memory& of) const {
    return of.bytes().subspan(static_cast<size_t>(offset));
  }
};

bool has_byte_strides(const Problem& problem) {
  return !problem.target_byte_strides.empty() ||
         std::any_of(problem.sources.begin(), problem.sources.end(),
                     [](const Source& source) { return !source.byte_strides.empty(); });
}

/// The head of the result. Errors: what cannot be timed at all.
Result<CaseResult> describe(const Case& measured, int threads) {
  const Problem& problem = measured.problem;
  const std::string text = to_string(problem);
  if (has_byte_strides(problem)) {
    return Error{ErrorCode::unsupported,
                 "byte strides are not timed: write them as padding: " + text};
  }
  const Result<int64_t> target_bytes = buffer_bytes(problem.target);
  if (!target_bytes) return target_bytes.error();
  CaseResult result = {
      .name = measured.name, .problem = text, .traffic = traffic_of(problem, *target_bytes)};
  if (result.traffic.total() == 0)
    return Error{ErrorCode::invalid_argument, "nothing to time: " + text + " moves no bytes"};
  if (Result<bench::Work> work = make_work(problem, threads)) result.work = *std::move(work);
  return result;
}

/// Gives the case its buffers and checks each candidate in them.
Result<void> verify(const Problem& problem, const RunSettings& settings, Resources& resources) {
  const Result<std::vector<SourcePlace>> places = place_sources(problem);
  const Result<int64_t> target_bytes = buffer_bytes(problem.target);
  if (!places) return places.error();
  if (!target_bytes) return target_bytes.error();
  const Yardstick& yardstick = resources.yardstick;
  for (const int64_t bytes : {std::max(places->back().end, yardstick.source_bytes),
                              std::max(*target_bytes, yardstick.target_bytes)}) {
    Result<Memory> memory = Memory::allocate(settings.offset + bytes, settings.pages);
    if (!memory) return memory.error();
    resources.memory.push_back(*std::move(memory));
  }
  resources.offset = settings.offset;
  Result<Memory> copy = Memory::allocate(*target_bytes);
  if (!copy) return copy.error();
  const auto source = resources.sources(), target = resources.target();
  fill_randomly(source);
  Verifier verifier(problem, sources_in(source, *places),
                    target.first(static_cast<size_t>(*target_bytes)), *std::move(copy));
  for (Candidate& candidate : resources.candidates) {
    if (candidate.result.status == Status::timed) verifier.check(candidate);
  }
  return {};
}

/// The calls of those that may be timed, and of the ceilings.
void add_calls(const Resources& resources, PreparedCase& prepared) {
  const std::byte* source = resources.sources().data();
  std::byte* target = resources.target().data();
  std::vector<CandidateResult>& results = prepared.result.candidates;
  for (const Candidate& candidate : resources.candidates) {
    results.push_back(candidate.result);
    if (candidate.result.status != Status::timed) continue;
    prepared.calls.push_back(
        {results.size() - 1, [&move = candidate.move, source, target] { move(source, target); }});
  }
  for (const Ceiling& ceiling : resources.yardstick.ceilings) {
    results.push_back({.name = ceiling.name, .role = Role::reference});
    prepared.calls.push_back(
        {results.size() - 1, [&run = ceiling.run, source, target] { run(source, target); }});
  }
}

}  // namespace

Result<PreparedCase> prepare_case(const Case& measured, const RunSettings& settings) {
  const Problem& problem = measured.problem;
  Result<CaseResult> described = describe(measured, settings.threads);
  if (!described) return described.error();
  PreparedCase prepared = {.result = *std::move(described)};
  const auto resources = std::make_shared<Resources>();
  if (settings.threads > 1) resources->pool.emplace(settings.threads);
  resources->candidates = our_candidates(problem, settings, resources->executor());
  for (Candidate& peer : peer_candidates(make_work(problem, settings.threads), settings))
    resources->candidates.push_back(std::move(peer));
  const bool somebody_does =
      std::any_of(resources->candidates.begin(), resources->candidates.end(),
                  [](const Candidate& c) { return c.result.status == Status::timed; });
  if (!somebody_does) {
    for (const Candidate& candidate : resources->candidates)
      prepared.result.candidates.push_back(candidate.result);
    return prepared;
  }
  resources->yardstick = make_yardstick(problem, prepared.result.traffic, resources->executor());
  if (Result<void> verified = verify(problem, settings, *resources); !verified)
    return verified.error();
  add_calls(*resources, prepared);
  prepared.resources = resources;
  return prepared;
}

Result<CaseResult> run_case(const Case& measured, const RunSettings& settings) {
  Result<PreparedCase> prepared = prepare_case(measured, settings);
  if (!prepared) return prepared.error();
  std::vector<std::function<void()>> calls;
  for (const Call& call : prepared->calls) calls.push_back(call.run);
  const Clock clock = settings.threads == 1 ? Clock::processor : Clock::wall;
  const std::vector<Timing> timings = contest(calls, settings.budget, clock);
  for (size_t i = 0; i < timings.size(); ++i)
    prepared->result.candidates[prepared->calls[i].candidate].timing = timings[i];
  return std::move(prepared->result);
}

}  // namespace restride::tools
