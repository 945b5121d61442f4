// written_once: invariant 7 of a Program, by walking every access of every iteration. For tests.
//
// A number per byte of target and scratch says which unit wrote it last. That costs four bytes a
// byte and the time of moving the array once, one byte at a time: not for the road of a plan.
#include <vector>

#include "program/program.hpp"

namespace restride {
namespace program {
namespace {

/// The bytes of one operand; 0: not written, else 1 + the unit that wrote last.
struct Bytes {
  Role role;
  int64_t begin;
  std::vector<int32_t> writer;
  std::vector<int32_t> reader{};  ///< of the target: the unit that has read it
};

class Walk {
 public:
  /// Of a target that begins at byte `place` of a line.
  Walk(const Program& program, int64_t place)
      : program_(program), place_(place), at_(program.streams.size(), 0) {
    for (const Operand& operand : program.operands) {
      const bool stored = operand.role != Role::source;
      const size_t bytes = stored ? size_t(operand.end - operand.begin) : 0;
      bytes_.push_back({operand.role, operand.begin, std::vector<int32_t>(bytes, 0)});
      if (operand.role == Role::target) bytes_.back().reader.assign(bytes, 0);
    }
  }

  void run() {
    for (const auto& item : program_.root) {
      if (const For* loop = std::get_if<For>(&item)) {
        for (int64_t i = 0; i < loop->extent; ++i) iterate(*loop, i), ++unit_;
      } else {
        run(std::get<Block>(item)), ++unit_;
      }
    }
  }

  int64_t total() const { return total_; }
  int64_t again() const { return again_; }
  /// Empty: nothing is wrong.
  const std::string& error() const { return error_; }

 private:
  void iterate(const For& loop, int64_t i) {
    for (const Step& step : loop.steps) at_[size_t(step.stream)] += step(i);
    for (const auto& item : loop.body) {
      if (const For* inner = std::get_if<For>(&item)) {
        for (int64_t k = 0; k < inner->extent && error_.empty(); ++k) iterate(*inner, k);
      } else {
        run(std::get<Block>(item));
      }
    }
    for (const Step& step : loop.steps) at_[size_t(step.stream)] -= step(i);
  }

  /// Where in a line the operand of a stream begins.
  int64_t place_of(int stream) const {
    const Role role = bytes_[size_t(program_.streams[size_t(stream)])].role;
    return role == Role::target ? place_ : 0;
  }

  void run(const Block& block) {
    for (const Op& op : block) {
      const bool reads = op.code <= Code::splat || op.code == Code::load_for_line;
      const bool writes = op.code >= Code::store && op.code < Code::prefetch;
      if (!reads && !writes) continue;
      Bytes& bytes = bytes_[size_t(program_.streams[op.stream])];
      if (bytes.role == Role::source) continue;
      const int64_t place = place_of(op.stream);
      Access access = accessed(op, at_[op.stream] + op.offset + place, program_.vector_bytes);
      if (op.code == Code::load_for_line) {
        const int64_t line = at_[op.select] + op.at + place_of(op.select);
        access.last -= line & (line_bytes - 1);
        access.first = access.last - program_.vector_bytes;
      }
      if (is_copy(op.code)) copied(op, access.last - access.first);
      for (int64_t k = access.first - place; k < access.last - place; ++k) {
        if (reads) read(bytes, k, op);
        if (writes) write(bytes, k, op);
      }
    }
  }

  /// What a copy reads.
  void copied(const Op& op, int64_t count) {
    Bytes& bytes = bytes_[size_t(program_.streams[op.select])];
    if (bytes.role == Role::source) return;
    const int64_t at = at_[op.select] + op.copied,
                  first = op.code == Code::copy_end ? at - count : at;
    for (int64_t k = first; k < first + count; ++k) read(bytes, k, op);
  }

  void read(Bytes& bytes, int64_t byte, const Op& op) {
    const auto at = size_t(byte - bytes.begin);
    const int32_t writer = bytes.writer[at], unit = unit_ + 1;
    if (bytes.role != Role::target) {
      if (writer != unit) fail("is read but not written before by its unit", byte, op);
      return;
    }
    int32_t& reader = bytes.reader[at];
    if ((writer != 0 && writer != unit) || (reader != 0 && reader != unit)) {
      fail("is read by a unit and touched by another", byte, op);
    }
    reader = unit;
  }

  void write(Bytes& bytes, int64_t byte, const Op& op) {
    const auto at = size_t(byte - bytes.begin);
    int32_t& writer = bytes.writer[at];
    const int32_t unit = unit_ + 1;
    if (bytes.role == Role::target) {
      const int32_t reader = bytes.reader[at];
      if (reader != 0 && reader != unit) fail("is written after another unit read it", byte, op);
      if (writer != 0 && writer != unit) fail("is written twice", byte, op);
      if (writer == unit && reader != unit) ++again_;
      if (writer == 0) ++total_;
    }
    writer = unit;
  }

  void fail(const char* what, int64_t byte, const Op& op) {
    if (!error_.empty()) return;
    error_ = "program: invariant 7: byte " + std::to_string(byte) + " " + what + ", unit " +
             std::to_string(unit_) + ": " + to_string(op);
  }

  const Program& program_;
  int64_t place_;
  std::vector<int64_t> at_;  ///< of each stream, relative to its operand
  std::vector<Bytes> bytes_;
  int32_t unit_ = 0;
  int64_t total_ = 0;  ///< bytes of the target written
  int64_t again_ = 0;  ///< of which this often one was written once more, unread
  std::string error_;
};

}  // namespace
}  // namespace program

namespace {

/// The same of a target that begins at byte `place` of a line.
Result<void> written_once_from(int64_t place, const Program& program, int64_t expected_bytes) {
  program::Walk walk(program, place);
  walk.run();
  if (!walk.error().empty()) return Error{ErrorCode::invalid_argument, walk.error()};
  if (2 * walk.again() > expected_bytes) {
    return Error{ErrorCode::invalid_argument, "program: invariant 7: writes " +
                                                  std::to_string(walk.again()) + " bytes of " +
                                                  std::to_string(expected_bytes) + " again"};
  }
  if (walk.total() != expected_bytes) {
    return Error{ErrorCode::invalid_argument, "program: invariant 7: writes " +
                                                  std::to_string(walk.total()) + " bytes of " +
                                                  std::to_string(expected_bytes)};
  }
  return {};
}

}  // namespace

Result<void> written_once(const Program& program, int64_t expected_bytes) {
  constexpr int64_t limit = int64_t{1} << 30;
  for (const program::Operand& operand : program.operands) {
    if (operand.role != program::Role::source && operand.end - operand.begin > limit) {
      return Error{ErrorCode::resource_exhausted, "written_once: more than 2^30 bytes to watch"};
    }
  }
  const int64_t alignment = program.operands[0].alignment;
  Result<void> once = written_once_from(0, program, expected_bytes);
  if (once && alignment < program.vector_bytes && uses_nontemporal_stores(program))
    once = written_once_from(alignment, program, expected_bytes);
  return once;
}

}  // namespace restride
