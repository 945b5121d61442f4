// Runs one problem on one backend for one target, between guard pages, and compares every byte with
// the oracle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "program/program.hpp"
#include "restride/plan.hpp"
#include "support/guarded_buffer.hpp"
#include "support/oracle.hpp"

namespace restride::testing {

/// A problem with contents: random sources and what must come out. The same for the same seed.
class PreparedCase {
 public:
  /// Precondition: the problem is valid.
  PreparedCase(Problem problem, uint64_t seed);

  const Problem& problem() const { return problem_; }
  uint64_t seed() const { return seed_; }
  int sources() const { return static_cast<int>(sources_.size()); }
  std::span<const std::byte> source(int number) const {
    return sources_[static_cast<size_t>(number)];
  }
  /// The numbers of an affine conversion, list by list, as a kernel takes them.
  const std::vector<std::vector<std::byte>>& factors() const { return factors_; }
  const Expectation& expectation() const { return expectation_; }
  Extent source_extent(int number) const { return source_extents_[static_cast<size_t>(number)]; }
  Extent target_extent() const { return target_extent_; }

 private:
  Problem problem_;
  uint64_t seed_;
  std::vector<Extent> source_extents_;
  Extent target_extent_;
  std::vector<std::vector<std::byte>> sources_, factors_;
  Expectation expectation_;
};

enum class Outcome { passed, unsupported, failed };

/// `text` is empty for what passed; otherwise one line that says what went wrong and how to see it
/// again.
struct Report {
  Outcome outcome = Outcome::passed;
  std::string text;
};

/// Through Plan::create with a cache of its own: whole, with sizes, on shuffled tasks of an
/// executor, misaligned.
Report run_plan(const PreparedCase& prepared, BackendChoice backend, std::string_view target,
                PlanEffort effort = PlanEffort::estimate);

/// The programs of a problem for a target, verified, their operands inside the buffers, and every
/// byte written once. `report` tells whether there are any.
struct Programs {
  Report report;
  std::vector<Program> programs;
};
Programs plan_directly(const PreparedCase& prepared, const Target& target);

/// Compiles one of the programs and runs it: all units at once, then units in random order on
/// poisoned scratch, with pointers aligned as the program demands and no better.
Report run_program(const PreparedCase& prepared, const Program& program, const Backend& backend,
                   const Target& target);

}  // namespace restride::testing
