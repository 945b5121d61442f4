#include "select/relaid_ahead.hpp"

#include "microkernel/emitter.hpp"

namespace restride {

using program::Step;

namespace {

constexpr uint8_t second_level = 2;

}  // namespace

RelaidAhead::RelaidAhead(const RelaidTile& relaid, int operand, int64_t at, int64_t ahead,
                         const Target& target)
    : operand_(operand), first_(at + ahead), line_bytes_(target.line_bytes) {
  const Relayout* relayout = relaid.relayout(operand);
  if (relayout == nullptr || ahead == 0 || relaid.rows().sides.size() != 2) return;
  const std::vector<Loop>& loops = relayout->space.loops;
  if (loops.size() != 2) return;
  const int64_t bytes = relayout->space.op.bytes;
  const Loop& run = loops[0].stride[1] == bytes ? loops[0] : loops[1];
  const Loop& row = loops[0].stride[1] == bytes ? loops[1] : loops[0];
  const int64_t computed = relaid.rows().sides.front().extent, run_bytes = run.extent * bytes;
  if (run.stride[1] != bytes || run_bytes % line_bytes_ != 0) return;
  const int64_t lines = run_bytes / line_bytes_;
  row_stride_ = row.stride[1];
  if (row.extent % computed == 0) {
    rows_ = row.extent / computed;
    lines_ = lines;
  } else if (computed % row.extent == 0 && lines % (computed / row.extent) == 0) {
    shared_by_ = computed / row.extent;
    lines_ = lines / shared_by_;
  }
}

void RelaidAhead::add(program::Block& block, std::vector<Step>& steps) const {
  for (int64_t row = 0; row < rows_; ++row) {
    for (int64_t line = 0; line < lines_; ++line) {
      block.push_back({.code = program::Code::prefetch,
                       .stream = static_cast<uint8_t>(operand_),
                       .width = second_level,
                       .offset = first_ + row * row_stride_ + line * line_bytes_});
    }
  }
  Step step{operand_, rows_ * row_stride_};
  if (shared_by_ > 1) step = {operand_, lines_ * line_bytes_, 0, 0, {{shared_by_, row_stride_}}};
  steps.push_back(std::move(step));
}

void ask_row_ahead(program::Block& block, int64_t at, int64_t bytes) {
  constexpr uint8_t first_level = 1;
  for (int64_t offset = 0; offset < bytes; offset += program::line_bytes) {
    block.push_back({.code = program::Code::prefetch,
                     .stream = source_stream,
                     .width = first_level,
                     .offset = at + offset});
  }
}

void claim_row_ahead(program::Block& block, int64_t at, int64_t bytes, bool only_ends) {
  constexpr uint8_t to_write = 0;
  const auto claim = [&](int64_t offset) {
    block.push_back({.code = program::Code::prefetch,
                     .stream = target_stream,
                     .width = to_write,
                     .offset = at + offset});
  };
  const int64_t lines = only_ends ? program::line_bytes : bytes;
  for (int64_t offset = 0; offset < lines; offset += program::line_bytes) claim(offset);
  claim(bytes - 1);
}

}  // namespace restride
