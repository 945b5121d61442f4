// A case past the public face: every program of every target, units in any order. What Plan does
// not show.
#include <algorithm>
#include <utility>

#include "backend/float_environment.hpp"
#include "plan/planner.hpp"
#include "space/iteration_space.hpp"
#include "support/random.hpp"
#include "support/run_buffers.hpp"
#include "support/run_case.hpp"

namespace restride::testing {
namespace {

std::string reproducer(const PreparedCase& prepared, const Target& target) {
  return to_string(prepared.problem()) + " | direct | target " + target.name + " | seed " +
         std::to_string(prepared.seed());
}

std::string text(int64_t begin, int64_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

/// Whether the bytes that an operand declares are those of the buffer.
std::optional<std::string> outside(const program::Operand& operand, const std::string& name,
                                   const Extent& extent) {
  if (operand.begin == operand.end) return {};
  if (operand.begin >= extent.begin && operand.end <= extent.end) return {};
  return name + " bytes " + text(operand.begin, operand.end) + " are outside of its buffer " +
         text(extent.begin, extent.end);
}

std::optional<std::string> find_outside(const PreparedCase& prepared, const Program& program) {
  int source = 0;
  for (const program::Operand& operand : program.operands) {
    std::optional<std::string> wrong;
    if (operand.role == program::Role::target) {
      wrong = outside(operand, "target", prepared.target_extent());
    } else if (operand.role == program::Role::source && source < prepared.sources()) {
      wrong = outside(operand, "source", prepared.source_extent(source++));
    }
    if (wrong) return wrong;
  }
  return {};
}

std::optional<std::string> check(const PreparedCase& prepared, const Program& program,
                                 const Target& target) {
  if (Result<void> verified = verify(program, target); !verified) {
    return "verify: " + verified.error().message;
  }
  if (auto wrong = find_outside(prepared, program)) return wrong;
  const Expectation& expectation = prepared.expectation();
  // Bytes that have none of the array's bits may be read and put back.
  const Layout& layout = prepared.problem().target.layout;
  const bool keeps_bits =
      layout.element_size_in_bits != 0 && layout.padding_value == PaddingValue::unknown;
  if (expectation.has_holes || keeps_bits) return {};
  if (Result<void> once = written_once(program, expectation.written_bytes); !once) {
    return "written_once: " + once.error().message;
  }
  return {};
}

/// Pointers for every operand, with scratch of their own.
class Operands {
 public:
  Operands(const Program& program, const PreparedCase& prepared, const RunBuffers& buffers) {
    std::vector<const void*> sources = buffers.sources();
    for (const auto& factors : prepared.factors()) sources.push_back(factors.data());
    size_t source = 0;
    for (const program::Operand& operand : program.operands) {
      if (operand.role == program::Role::target) pointers_.push_back(buffers.target());
      if (operand.role == program::Role::source)
        pointers_.push_back(const_cast<void*>(sources[source++]));
      if (operand.role != program::Role::scratch) continue;
      scratch_.push_back(std::make_unique<GuardedBuffer>(
          operand.end - operand.begin, GuardedBuffer::Placement::at_end, operand.alignment));
      pointers_.push_back(scratch_.back()->at(-operand.begin));
    }
  }

  void* const* pointers() const { return pointers_.data(); }
  void poison_scratch(Random& random) {
    for (auto& buffer : scratch_) random.fill(buffer->bytes());
  }
  bool scratch_intact() const {
    return std::ranges::all_of(scratch_, [](auto& buffer) { return buffer->canary_intact(); });
  }

 private:
  std::vector<std::unique_ptr<GuardedBuffer>> scratch_;
  std::vector<void*> pointers_;
};

/// Cuts [0, units) into at most 40 ranges and returns them in random order.
std::vector<std::pair<int64_t, int64_t>> random_ranges(Random& random, int64_t units) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  const int64_t most = std::max<int64_t>(units / 20, 2);
  for (int64_t first = 0; first < units;) {
    const int64_t last = std::min(units, first + random.between(1, most));
    ranges.emplace_back(first, last);
    first = last;
  }
  random.shuffle(ranges);
  return ranges;
}

std::optional<std::string> run(const Kernel& kernel, const PreparedCase& prepared,
                               const Program& program, const Setting& setting) {
  Random random(prepared.seed() + 3);
  RunBuffers buffers(prepared, setting);
  Operands operands(program, prepared, buffers);
  const FloatEnvironment environment;
  const int64_t units = unit_count(program);
  operands.poison_scratch(random);
  kernel.entry(kernel.code.get(), operands.pointers(), 0, units);
  if (!operands.scratch_intact()) return "bytes around the scratch were written";
  if (auto wrong = buffers.difference()) return "all units: " + *wrong;
  buffers.reset();
  for (const auto& [first, last] : random_ranges(random, units)) {
    operands.poison_scratch(random);
    kernel.entry(kernel.code.get(), operands.pointers(), first, last);
  }
  if (!operands.scratch_intact()) return "bytes around the scratch were written";
  if (auto wrong = buffers.difference()) return "units in random order: " + *wrong;
  return {};
}

/// Aligned as demanded.
Setting demanded_alignment(const Program& program) {
  Setting setting;
  for (const program::Operand& operand : program.operands) {
    if (operand.role == program::Role::source) {
      setting.source_alignment = std::max(setting.source_alignment, operand.alignment);
      setting.source_misalignment = std::max(setting.source_misalignment, operand.phase);
    } else if (operand.role == program::Role::target) {
      setting.target_alignment = operand.alignment;
      setting.target_misalignment = operand.phase;
    }
  }
  return setting;
}

/// Where a program looks for lines of the target, also aligned as demanded and no better.
std::vector<Setting> settings_of(const Program& program, uint64_t seed) {
  Setting setting = demanded_alignment(program);
  setting.poison_seed = seed;
  std::vector<Setting> settings = both_ends(setting);
  const int64_t line = program.vector_bytes, demanded = setting.target_alignment;
  if (demanded < line && uses_nontemporal_stores(program)) {
    Random random(seed);
    setting.target_misalignment = (2 * random.between(0, line / demanded / 2 - 1) + 1) * demanded;
    setting.target_alignment = line;
    settings.push_back(setting);
  }
  return settings;
}

}  // namespace

Programs plan_directly(const PreparedCase& prepared, const Target& target) {
  const std::string who = reproducer(prepared, target) + " | ";
  Result<IterationSpace> space = iteration_space(prepared.problem());
  if (!space) {
    const bool refused = space.error().code == ErrorCode::unsupported;
    return {{refused ? Outcome::unsupported : Outcome::failed, who + space.error().message}, {}};
  }
  if (Result<void> valid = verify(*space); !valid) {
    return {{Outcome::failed, who + "verify(space): " + valid.error().message}, {}};
  }
  simplify(*space);
  if (Result<void> valid = verify(*space); !valid) {
    return {{Outcome::failed, who + "verify(simplified): " + valid.error().message}, {}};
  }
  Programs result;
  result.programs = plan_programs(*space, target);
  for (const Program& program : result.programs) {
    if (auto wrong = check(prepared, program, target)) {
      return {{Outcome::failed, who + *wrong}, {}};
    }
  }
  const bool nothing_to_do = prepared.expectation().written_bytes == 0;
  if (result.programs.empty() && !nothing_to_do) {
    return {{Outcome::failed, who + "plan_programs returned nothing"}, {}};
  }
  return result;
}

Report run_program(const PreparedCase& prepared, const Program& program, const Backend& backend,
                   const Target& target) {
  const std::string who =
      reproducer(prepared, target) + " | backend " + std::string(backend.name()) + " | ";
  const Result<Kernel> kernel = backend.compile(program, target);
  if (!kernel) {
    const bool refused = kernel.error().code == ErrorCode::unsupported;
    return {refused ? Outcome::unsupported : Outcome::failed, who + kernel.error().message};
  }
  for (const Setting& setting : settings_of(program, prepared.seed() + 4)) {
    if (auto wrong = run(*kernel, prepared, program, setting)) {
      return {Outcome::failed, who + *wrong};
    }
  }
  return {};
}

}  // namespace restride::testing
