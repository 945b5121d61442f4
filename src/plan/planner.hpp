// The planner: from the simplified space to Programs. The picture in four lines.
//
//     IterationSpace ── schedule ──► Schedule ── lower ──► LoopNest ── select ──► Program
#pragma once

#include <span>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "space/iteration_space.hpp"
#include "target/target.hpp"

namespace restride {

/// The programs of a space for a target, best first. Each demands the alignments of its operands;
/// the last demands nothing and always runs. All write the same bytes and agree on the operands but
/// for their alignment.
std::vector<Program> plan_programs(const IterationSpace& simplified, const Target& target);

/// The one for pointers that stand on lines. Precondition: not empty.
const Program& on_lines(std::span<const Program> programs);

/// Targets to plan for instead, where it takes a measurement to tell what is faster: with the other
/// answer to whether stores go around the caches, with narrower vectors. All run where `target`
/// does.
std::vector<Target> rivals(const IterationSpace& simplified, const Target& target);

/// The stages on the way to the program for pointers on lines, as text.
struct StageTexts {
  std::string schedule, nest;
  std::vector<std::string> microkernels;
};
StageTexts explain_stages(const IterationSpace& simplified, const Target& target);

}  // namespace restride
