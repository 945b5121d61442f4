#include "support/run_kernel.hpp"

#include <algorithm>

#include "support/guarded_buffer.hpp"

namespace restride::testing {
namespace {

void fill(const GuardedBuffer& buffer, uint8_t value) {
  std::fill(buffer.bytes().begin(), buffer.bytes().end(), std::byte{value});
}

/// Units from the last to the first, one at a time.
void run_backwards(const Kernel& kernel, void* const* operands, int64_t units) {
  for (int64_t unit = units; unit-- > 0;) {
    kernel.entry(kernel.code.get(), operands, unit, unit + 1);
  }
}

}  // namespace

::testing::AssertionResult writes_what_it_must(const ProgramCase& test, const Backend& backend,
                                               const Target& target) {
  const auto report = [&](const std::string& what) {
    return ::testing::AssertionFailure()
           << test.name << " on " << target.name << " by " << backend.name() << ": " << what << "\n"
           << to_string(test.program);
  };
  const Result<Kernel> kernel = backend.compile(test.program, target);
  if (!kernel) return report(kernel.error().message);
  const auto& operands = test.program.operands;
  for (const auto placement :
       {GuardedBuffer::Placement::at_begin, GuardedBuffer::Placement::at_end}) {
    GuardedBuffer written(int64_t(test.expected.size()), placement, operands[0].alignment);
    GuardedBuffer read(int64_t(test.source.size()), placement);
    GuardedBuffer scratch(operands.size() > 2 ? operands[2].end : 0, placement);
    std::transform(test.source.begin(), test.source.end(), read.data(),
                   [](uint8_t value) { return std::byte{value}; });
    fill(written, untouched);
    fill(scratch, 0xdd);
    void* const pointers[] = {written.data(), read.data(), scratch.data()};
    run_backwards(*kernel, pointers, unit_count(test.program));
    for (size_t k = 0; k < test.expected.size(); ++k) {
      if (uint8_t(written.data()[k]) == test.expected[k]) continue;
      return report("byte " + std::to_string(k) + " is " + std::to_string(int(written.data()[k])) +
                    ", not " + std::to_string(test.expected[k]));
    }
    if (!written.canary_intact() || !read.canary_intact()) return report("wrote beside an operand");
  }
  return ::testing::AssertionSuccess();
}

}  // namespace restride::testing
