// Which lines of the target a program stores around the caches, and which through them.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "program/program.hpp"

namespace restride::testing {

/// Collects them by walking all iterations, for a target that begins on a line.
class StoredLines {
 public:
  explicit StoredLines(const Program& program) : program_(program), at_(program.streams.size(), 0) {
    walk(program.root);
  }

  const std::set<int64_t>& around() const { return around_; }
  const std::set<int64_t>& through() const { return through_; }
  /// How many lines are stored both ways.
  int64_t both() const {
    int64_t count = 0;
    for (const int64_t line : around_) count += through_.count(line) ? 1 : 0;
    return count;
  }

 private:
  void walk(const program::Body& body) {
    for (const auto& item : body) {
      if (const auto* block = std::get_if<program::Block>(&item)) {
        for (const program::Op& op : *block) store(op);
        continue;
      }
      const auto& loop = std::get<program::For>(item);
      const std::vector<int64_t> begin = at_;
      for (int64_t i = 0; i < loop.extent; ++i) {
        at_ = begin;
        for (const program::Step& step : loop.steps) at_[size_t(step.stream)] += step(i);
        walk(loop.body);
      }
      at_ = begin;
    }
  }

  void store(const program::Op& op) {
    if (op.code < program::Code::store || program_.streams[op.stream] != 0) return;
    const int64_t begin = at_[op.stream] + op.offset, place = begin % 64;
    switch (op.code) {
      case program::Code::store:
      case program::Code::store_nontemporal: {
        std::set<int64_t>& lines = op.code == program::Code::store ? through_ : around_;
        for (int64_t k = begin / 64; k <= (begin + op.bytes - 1) / 64; ++k) lines.insert(k);
        return;
      }
      case program::Code::store_line:
        if (op.width == 0 || place < op.width) around_.insert(begin / 64);
        return;
      case program::Code::store_begin:
        through_.insert(begin / 64);
        return;
      case program::Code::store_end:
        if (place > 0) through_.insert(begin / 64);
        return;
      default:
        return;
    }
  }

  const Program& program_;
  std::vector<int64_t> at_;
  std::set<int64_t> around_, through_;
};

}  // namespace restride::testing
