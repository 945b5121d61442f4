// Setups: every known target, with caches that hold everything and with caches that hold nothing,
// so that small problems are planned as large ones are; or with others, where a test asks for them.
// Problems as text run in one of them, past Plan.
#pragma once

#include <string>
#include <vector>

#include "support/run_case.hpp"
#include "target/target.hpp"

namespace restride::testing {

/// How large the planner takes the caches to be.
enum class Caches {
  hold_everything,
  hold_nothing,
  leave_l1,  ///< nothing in the first level, everything in the others
  crowd_l1,  ///< two lines in each set of the first level, everything in the others
};

struct Setup {
  std::string target;
  Caches caches;
  bool shifts_boxes = false;  ///< boxes of transposes leave by themselves between lines
};

std::vector<Setup> setups();

/// Those with caches that hold nothing.
std::vector<Setup> streaming_setups();

/// `avx2_streamed`.
std::string name_of(const Setup& setup);

Target target_of(const Setup& setup);

/// AVX-512 with permutes of bytes and caches of one size on any machine, which arrays of a megabyte
/// go around.
Target streaming_target();
/// The same, which takes runs of some lines and no pages.
Target target_of_long_runs();

/// Every program of the problem `text`, on every backend that runs it; of slow ones on a share of
/// the problems.
Report run_in(const Setup& setup, const std::string& text);

/// The same for any target.
Report run_for(const Target& target, const std::string& text);

/// `f32[2,3]`.
std::string array(const char* type, const std::vector<int>& dimensions);

}  // namespace restride::testing
