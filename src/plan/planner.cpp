// The planner's stages in a row.
#include "plan/planner.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/arithmetic.hpp"
#include "loop_nest/loop_nest.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/transpose/copied_run.hpp"
#include "program/code_size.hpp"
#include "schedule/scheduling.hpp"
#include "select/select.hpp"

namespace restride {
namespace {

void describe_tiles(const nest::Block& block, const Schedule& schedule,
                    std::vector<std::string>& kernels) {
  for (const nest::Node& node : block) {
    if (const nest::For* loop = std::get_if<nest::For>(&node.statement)) {
      describe_tiles(loop->body, schedule, kernels);
      continue;
    }
    std::string text = describe(std::get<nest::Tile>(node.statement), schedule.movement,
                                schedule.target_run, schedule.space.op.bytes);
    if (std::find(kernels.begin(), kernels.end(), text) == kernels.end())
      kernels.push_back(std::move(text));
  }
}

// Of longer code most is rests of several axes, each with all that is inside of them. Of 1085
// random problems 7 had 17 to 29 KB: smaller blocks take half of the code and 1.1 times the time;
// narrower vectors a third of the code, and are faster where blocks are permuted, but transposes
// around the caches would write half lines: .17 times as fast.
constexpr int64_t most_code_bytes = 16 * 1024;
constexpr int least_narrowed_bytes = 32;
// Left for targets that begin anywhere, by the program for those behind a header: these are what
// allocators give.
constexpr int64_t least_elsewhere_bytes = 4 * 1024;

struct Planned {
  Schedule schedule;
  Program program;
  int64_t code_bytes = 0;
};

/// What is promised of the target's pointer.
struct Promise {
  TargetPointer pointer;
  bool begins_line = false;  ///< it stands on a line
};

// What allocators put before the large arrays that they give.
constexpr int64_t header_bytes = 16;

/// A schedule with stores around the caches, if they can use the promise. `element_bytes`: of the
/// problem, of which the schedule may take halves or several at once.
Planned plan_with(Schedule schedule, int64_t element_bytes, const Target& target,
                  const Promise& promise) {
  Planned plan{std::move(schedule), {}};
  const LoopNest nest = lower(plan.schedule);
  if (plan.schedule.nontemporal)
    plan.program = select(nest, plan.schedule, target, promise.pointer);
  if (!uses_nontemporal_stores(plan.program)) {
    plan.program = select(nest, plan.schedule, target, {});
  } else if (promise.begins_line && !stores_known_lines(plan.program)) {
    // Whatever looks where lines begin is content with elements in their places.
    Program anywhere = select(nest, plan.schedule, target, {power_of_two_divisor(element_bytes)});
    if (uses_nontemporal_stores(anywhere)) plan.program = std::move(anywhere);
  }
  plan.code_bytes = estimated_code_bytes(plan.program);
  return plan;
}

/// The same of the schedule for a goal.
Planned plan_for(const IterationSpace& simplified, const Target& target, const Promise& promise,
                 CodeGoal goal) {
  return plan_with(schedule(simplified, target, goal, promise.begins_line), simplified.op.bytes,
                   target, promise);
}

/// Transposes around the caches of which only blocks that are permuted would be short, and leave
/// single lines: in images of smaller steps (f16[52,82,362] reversed .14 -> .44 of the ceiling), or
/// through the caches (f16[4639,152,9] reversed .12 -> .69, [52,7,13,1383]{1,2,3,0} .34 -> .66).
std::optional<Planned> instead_of_permuted(const IterationSpace& simplified, Schedule images,
                                           const Target& target, const Promise& promise,
                                           CodeGoal goal, int64_t most_bytes) {
  images.short_images = true;
  Planned plan = plan_with(std::move(images), simplified.op.bytes, target, promise);
  if (plan.code_bytes > most_bytes) {
    Target cached = target;
    stream_beyond(cached, std::numeric_limits<int64_t>::max());
    plan = plan_for(simplified, cached, promise, goal);
  }
  return plan.code_bytes <= most_bytes ? std::optional(std::move(plan)) : std::nullopt;
}

/// The same, but what is long is made of smaller blocks, or else of narrower vectors.
Planned plan_shortly(const IterationSpace& simplified, const Target& target, const Promise& promise,
                     CodeGoal goal, int64_t most_bytes = most_code_bytes) {
  Planned plan = plan_for(simplified, target, promise, goal);
  const Movement movement = plan.schedule.movement;
  if (movement != Movement::transpose && movement != Movement::permute &&
      movement != Movement::row && movement != Movement::gather)
    return plan;
  const bool streams = plan.schedule.nontemporal && movement == Movement::transpose;
  const auto rather = [&](const Target& other, CodeGoal other_goal) {
    if (plan.code_bytes <= most_bytes) return;
    Planned shorter = plan_for(simplified, other, promise, other_goal);
    if (shorter.code_bytes < plan.code_bytes) plan = std::move(shorter);
  };
  if (streams) {
    Target shorter_chunks = target;
    shorter_chunks.shifted_chunk_lines = Make{}.shifted_chunk_lines;
    if (shorter_chunks != target) rather(shorter_chunks, goal);
  }
  // Networks of a lane before blocks of one network, which leave few columns: u8 1023 x 127 .013 of
  // the ceiling.
  if (!plan.schedule.nontemporal) rather(target, CodeGoal::compact);
  Schedule in_steps;
  if (streams && plan.code_bytes > most_bytes) in_steps = plan.schedule;
  rather(target, CodeGoal::small);
  if (streams && plan.schedule.movement == Movement::permute) {
    std::optional<Planned> other =
        instead_of_permuted(simplified, std::move(in_steps), target, promise, goal, most_bytes);
    if (other) plan = *std::move(other);
  }
  const bool half_lines = plan.schedule.nontemporal && movement == Movement::transpose;
  Target narrower = target;
  narrower.vector_bytes = target.vector_bytes / 2;
  if (!half_lines && narrower.vector_bytes >= least_narrowed_bytes) rather(narrower, goal);
  return plan;
}

// What is computed by few operations is worth code of its own behind a header: s32 to f32 .70 of
// the time, an outer product .63; quantised, a little more code, .96, and the median kernel of the
// suites would exceed 3 KB.
constexpr int64_t most_computed_behind_bytes = 512;

/// With a schedule as it is.
Planned plan_of(Schedule schedule, const Target& target, const TargetPointer& pointer) {
  Planned plan{std::move(schedule), {}};
  plan.program = select(lower(plan.schedule), plan.schedule, target, pointer);
  plan.code_bytes = estimated_code_bytes(plan.program);
  return plan;
}

/// Rows that are computed around the caches, whole lines behind the header.
std::optional<Planned> computed_behind(const Schedule& on_line, const Target& target,
                                       const TargetPointer& behind, int64_t most_bytes) {
  Planned plan = plan_of(on_line, target, behind);
  const int64_t most = std::min(most_bytes, most_computed_behind_bytes);
  const bool streams = uses_nontemporal_stores(plan.program);
  return streams && plan.code_bytes <= most ? std::optional(std::move(plan)) : std::nullopt;
}

/// The blocks of a target on lines for one behind the header of an allocator; no program where that
/// cannot be or would be much code.
std::optional<Planned> plan_behind_header(const IterationSpace& simplified, const Schedule& on_line,
                                          const Target& target, int64_t most_bytes) {
  const TargetPointer behind{target.vector_bytes, header_bytes % target.vector_bytes};
  if (behind.phase == 0 || on_line.joined_elements > 1) return std::nullopt;
  if (on_line.movement == Movement::compute) {
    std::optional<Planned> rows = computed_behind(on_line, target, behind, most_bytes);
    if (rows) return rows;
  }
  const auto planned = [&](std::optional<Schedule> schedule) -> std::optional<Planned> {
    if (!schedule) return std::nullopt;
    Planned plan = plan_of(*std::move(schedule), target, behind);
    return plan.code_bytes <= most_bytes ? std::optional(std::move(plan)) : std::nullopt;
  };
  std::optional<Schedule> with_splices = spliced(on_line, target, header_bytes);
  std::optional<Planned> plan = planned(with_splices);
  if (!plan && with_splices) {
    with_splices->peels[1] = {};
    plan = planned(std::move(with_splices));
  }
  for (const CodeGoal goal : {CodeGoal::fast, CodeGoal::compact}) {
    if (!plan) plan = planned(spliced_columns(simplified, on_line, target, header_bytes, goal));
  }
  if (!plan) plan = planned(peeled_twice(simplified, on_line, target, header_bytes));
  for (const PeeledRest rest : {PeeledRest::block, PeeledRest::apart}) {
    if (!plan) plan = planned(peeled(on_line, target, header_bytes, rest));
  }
  return plan;
}

/// The same of a schedule whose boxes take digits of the source together: not behind a header,
/// where they read parts of lines all the same. Zen 4, f32[320,1000,12] reversed .46 -> .7 of the
/// ceiling, [320,1000,20] .42 -> .7.
std::optional<Planned> plan_digits_behind_header(const IterationSpace& simplified,
                                                 const Target& target, int64_t most_bytes) {
  Target apart = target;
  apart.joined_digits_bytes = 0;
  return plan_behind_header(simplified, schedule(simplified, apart), apart, most_bytes);
}

Promise on_line(const Target& target) { return {{target.line_bytes}, true}; }

/// Nothing but what stores of lines that begin elsewhere need: allocators put a header before the
/// arrays that they give.
Promise between_lines(const Target& target) {
  return {{std::max<int64_t>(target.permute_width, 1)}, false};
}

// What would be much code is done by blocks of one network: five of six .8 of the time, but u8 512
// x 8192 2.2 times as long.
constexpr int64_t narrowest_small_bytes = 2;

/// The blocks of a target between lines for a source behind the header of an allocator; no program
/// where that cannot be or would be much code.
std::optional<Planned> plan_source_behind_header(const IterationSpace& simplified,
                                                 const Target& target, int64_t most_bytes) {
  for (const CodeGoal goal : {CodeGoal::fast, CodeGoal::small}) {
    if (goal == CodeGoal::small && simplified.op.bytes < narrowest_small_bytes) break;
    std::optional<Schedule> schedule = peeled_source(simplified, target, header_bytes, goal);
    if (!schedule) return std::nullopt;
    Planned plan = plan_of(*std::move(schedule), target, between_lines(target).pointer);
    if (!uses_nontemporal_stores(plan.program)) return std::nullopt;
    if (plan.code_bytes > most_bytes) continue;
    plan.program.operands[1].alignment = target.line_bytes;
    plan.program.operands[1].phase = header_bytes;
    return plan;
  }
  return std::nullopt;
}

/// Whether rows are moved that stay in the caches.
bool moves_cached_rows(const Schedule& schedule) {
  const bool rows = schedule.movement == Movement::row || schedule.movement == Movement::splat ||
                    schedule.movement == Movement::compute;
  return rows && !schedule.nontemporal && !schedule.stores_runs && !is_packed(schedule.space.op);
}

/// Such rows, stored by vectors that lie in one line each, wherever an allocator lets the target
/// begin, if that is other code; computed ones, whose code is longer, behind the header of a large
/// array alone.
std::vector<Planned> plan_cached_rows(const Planned& on_line, const Target& target,
                                      int64_t most_bytes) {
  std::vector<Planned> plans;
  const bool computes = on_line.schedule.movement == Movement::compute;
  const int64_t within = target.vector_bytes - header_bytes;
  const int64_t most = computes ? std::min(header_bytes, within) : within;
  for (int64_t phase = header_bytes; phase <= most; phase += header_bytes) {
    Planned plan = plan_of(on_line.schedule, target, {target.vector_bytes, phase});
    most_bytes -= plan.code_bytes;
    if (most_bytes < 0 || plan.program.root == on_line.program.root) break;
    plan.program.operands[0].alignment = target.vector_bytes;
    plan.program.operands[0].phase = phase;
    plans.push_back(std::move(plan));
  }
  return plans;
}

/// Programs for arrays that stay in the caches, but do not begin on lines.
std::vector<Planned> plan_cached_between_lines(const Planned& on_line, const Target& target,
                                               int64_t most_bytes) {
  if (moves_cached_rows(on_line.schedule)) return plan_cached_rows(on_line, target, most_bytes);
  std::optional<Schedule> schedule = peeled_in_caches(on_line.schedule, target, header_bytes);
  if (!schedule) return {};
  Planned plan = plan_of(*std::move(schedule), target, {});
  for (size_t k = 0; k < plan.schedule.peels.size(); ++k) {
    if (plan.schedule.peels[k].axis < 0) continue;
    plan.program.operands[k].alignment = target.line_bytes;
    plan.program.operands[k].phase = header_bytes;
  }
  std::vector<Planned> plans;
  if (plan.code_bytes <= most_bytes) plans.push_back(std::move(plan));
  return plans;
}

/// What stays in the caches: where no store can be proved aligned, the promise of an aligned target
/// buys nothing, but blocks may want it.
std::vector<Program> cached_programs(Planned fast, const IterationSpace& simplified,
                                     const Target& target) {
  const int64_t left = most_code_bytes - fast.code_bytes;
  std::vector<Program> programs;
  if (fast.schedule.wants_lines) {
    Planned anywhere = plan_shortly(simplified, target, {}, CodeGoal::fast, left);
    fast.program.operands[0].alignment = target.line_bytes;
    programs.push_back(std::move(fast.program));
    programs.push_back(std::move(anywhere.program));
    return programs;
  }
  for (Planned& plan : plan_cached_between_lines(fast, target, left))
    programs.push_back(std::move(plan.program));
  programs.push_back(std::move(fast.program));
  return programs;
}

}  // namespace

std::vector<Program> plan_programs(const IterationSpace& simplified, const Target& target) {
  std::vector<Program> programs;
  int64_t code_bytes = 0;
  const auto add = [&](Planned& plan) {
    code_bytes += plan.code_bytes;
    programs.push_back(std::move(plan.program));
  };
  Planned fast = plan_shortly(simplified, target, on_line(target), CodeGoal::fast);
  if (fast.program.operands[0].alignment == 1)
    return cached_programs(std::move(fast), simplified, target);
  // No other program is longer than those before leave room for, if that can be.
  int64_t left = most_code_bytes - fast.code_bytes;
  const bool knows_lines = stores_known_lines(fast.program);
  std::optional<Planned> behind;
  if (knows_lines) {
    const int64_t most = left - least_elsewhere_bytes;
    behind = fast.schedule.joins_digits
                 ? plan_digits_behind_header(simplified, target, most)
                 : plan_behind_header(simplified, fast.schedule, target, most);
  }
  if (!behind) behind = plan_source_behind_header(simplified, target, left - least_elsewhere_bytes);
  if (behind) left -= behind->code_bytes;
  add(fast);
  bool elsewhere = true;
  const bool leaves = is_move(simplified.op) && leaves_in_lines(target, simplified.op.bytes);
  if (leaves && knows_lines) {
    Planned between = plan_shortly(simplified, target, between_lines(target), CodeGoal::fast, left);
    if (uses_nontemporal_stores(between.program)) {
      elsewhere = between.program.operands[0].alignment > 1;
      add(between);
    }
  }
  if (elsewhere) {
    // The program for arrays that stay in the caches, made in a third of the time. Blocks that
    // leave by images have no other: u8 256 x 256 x 256 reversed .07 of the ceiling.
    Target caching = target;
    caching.nontemporal = false;
    const CodeGoal goal = fast.schedule.images_blocks ? CodeGoal::fast : CodeGoal::compact;
    Planned cached = plan_shortly(simplified, caching, {}, goal, left);
    add(cached);
  }
  if (behind && code_bytes + behind->code_bytes <= most_code_bytes)
    programs.insert(programs.begin() + (behind->program.operands[1].phase == 0 ? 1 : 0),
                    std::move(behind->program));
  return programs;
}

const Program& on_lines(std::span<const Program> programs) {
  return *std::find_if(programs.begin(), programs.end(), [](const Program& program) {
    return std::all_of(program.operands.begin(), program.operands.end(),
                       [](const program::Operand& operand) { return operand.phase == 0; });
  });
}

std::vector<Target> rivals(const IterationSpace& simplified, const Target& target) {
  std::vector<Target> result;
  if (target.nontemporal) {
    const bool streams = schedule(simplified, target).nontemporal;
    Target other = target;
    stream_beyond(other, streams ? std::numeric_limits<int64_t>::max() : 0);
    result.push_back(other);
  }
  if (target.vector_bytes == 64) {
    Target narrower = target;
    narrower.vector_bytes = 32;
    result.push_back(narrower);
  }
  return result;
}

StageTexts explain_stages(const IterationSpace& simplified, const Target& target) {
  const Schedule scheduled =
      plan_shortly(simplified, target, on_line(target), CodeGoal::fast).schedule;
  const LoopNest nest = lower(scheduled);
  StageTexts texts{to_string(scheduled), to_string(nest), {}};
  describe_tiles(nest.root, scheduled, texts.microkernels);
  return texts;
}

}  // namespace restride
