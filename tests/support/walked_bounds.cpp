// Nothing of verify is used: this iterates.
#include "support/walked_bounds.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace restride::testing {
namespace {

using namespace restride::program;

/// Where the operands of a Program begin and end, by walking all iterations.
class Bounds {
 public:
  explicit Bounds(Program& program)
      : program_(program),
        at_(program.streams.size(), 0),
        low_(program.operands.size(), std::numeric_limits<int64_t>::max()),
        high_(program.operands.size(), std::numeric_limits<int64_t>::min()) {}

  void find() {
    walk(program_.root);
    for (size_t k = 0; k < program_.operands.size(); ++k) {
      if (low_[k] > high_[k]) continue;
      program_.operands[k].begin = low_[k];
      program_.operands[k].end = high_[k];
    }
  }

 private:
  void walk(const Body& body) {
    for (const auto& item : body) {
      const For* loop = std::get_if<For>(&item);
      for (int64_t i = 0; loop && i < loop->extent; ++i) {
        for (const Step& step : loop->steps) at_[size_t(step.stream)] += step(i);
        walk(loop->body);
        for (const Step& step : loop->steps) at_[size_t(step.stream)] -= step(i);
      }
      if (loop) continue;
      for (const Op& op : std::get<Block>(item)) reach(op);
    }
  }

  void reach(const Op& op) {
    const bool loads = op.code <= Code::splat || op.code == Code::load_for_line;
    if (op.code == Code::prefetch || (!loads && op.to != none)) return;
    const size_t operand = size_t(program_.streams[op.stream]);
    const int64_t at = at_[op.stream] + op.offset;
    Access access = accessed(op, at, program_.vector_bytes);
    if (asks_place(op.code) && !loads) {
      access.first = at & -line_bytes;
      access.last = access.first + line_bytes;
    }
    reach(operand, access);
    if (!is_copy(op.code)) return;
    const int64_t copied = at_[op.select] + op.copied;
    reach(size_t(program_.streams[op.select]), {copied - line_bytes, copied + line_bytes});
  }

  void reach(size_t operand, Access access) {
    low_[operand] = std::min(low_[operand], access.first);
    high_[operand] = std::max(high_[operand], access.last);
  }

  Program& program_;
  std::vector<int64_t> at_, low_, high_;
};

}  // namespace

void find_bounds(Program& program) { Bounds(program).find(); }

}  // namespace restride::testing
