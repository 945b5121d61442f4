// Which lines of a source a program asks for ahead, and in which order.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "program/program.hpp"

namespace restride::testing {

/// Collects the lines of the first source that a program asks for, by walking all iterations.
class AskedLines {
 public:
  /// `phase`: by how many bytes the source begins behind a line.
  explicit AskedLines(const Program& program, int64_t phase = 0)
      : program_(program), at_(program.streams.size(), 0), phase_(phase) {
    walk(program.root);
  }

  int64_t count() const { return static_cast<int64_t>(lines_.size()); }
  /// How often any are asked for.
  int64_t asks() const { return asks_; }
  /// Those that had not been read before.
  int64_t in_time() const { return in_time_; }
  /// How often the next one asked for lies right behind.
  int64_t side_by_side() const { return side_by_side_; }

 private:
  void walk(const program::Body& body) {
    for (const auto& item : body) {
      const program::For* loop = std::get_if<program::For>(&item);
      for (int64_t i = 0; loop && i < loop->extent; ++i) {
        for (const program::Step& step : loop->steps) at_[size_t(step.stream)] += step(i);
        walk(loop->body);
        for (const program::Step& step : loop->steps) at_[size_t(step.stream)] -= step(i);
      }
      if (loop) continue;
      for (const program::Op& op : std::get<program::Block>(item)) look(op);
    }
  }

  void look(const program::Op& op) {
    if (op.code != program::Code::prefetch && op.code != program::Code::load) return;
    const program::Operand& operand = program_.operands[size_t(program_.streams[op.stream])];
    const int64_t byte = at_[op.stream] + op.offset;
    if (operand.role != program::Role::source) return;
    if (op.code == program::Code::load) {
      read_.insert({(byte + phase_) / 64, (byte + op.bytes - 1 + phase_) / 64});
    } else if (byte >= operand.begin && byte < operand.end) {
      ask((byte + phase_) / 64);
    }
  }

  void ask(int64_t line) {
    ++asks_;
    side_by_side_ += line == last_ + 1 ? 1 : 0;
    last_ = line;
    in_time_ += lines_.insert(line).second && !read_.contains(line) ? 1 : 0;
  }

  const Program& program_;
  std::vector<int64_t> at_;
  std::set<int64_t> lines_, read_;
  int64_t phase_;
  int64_t in_time_ = 0, asks_ = 0;
  int64_t last_ = -1, side_by_side_ = 0;
};

}  // namespace restride::testing
