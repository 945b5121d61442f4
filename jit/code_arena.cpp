// Chunks of address space under one lock, bounded by a budget.
#include "code_arena.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "code_chunk.hpp"

namespace restride {
namespace {

// A kernel has 0.2 to 20 KiB: a chunk holds a hundred or so, and its unused pages cost nothing.
constexpr int64_t chunk_bytes = int64_t{1} << 20;

}  // namespace

class CodeArena::State : public std::enable_shared_from_this<State> {
 public:
  explicit State(const CodeArenaOptions& options) : options_(options) {}

  Result<CodeBlock> reserve(int64_t bytes) {
    if (bytes <= 0) return Error{ErrorCode::invalid_argument, "code arena: no code to place"};
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& chunk : chunks_) {
      if (chunk->is_shared_by_fork()) continue;
      if (const uint8_t* reserved = chunk->reserve(bytes)) return own(*chunk, reserved, bytes);
    }
    return reserve_in_new_chunk(bytes);
  }

  Result<void> fill(const CodeBlock& block, std::span<const uint8_t> code) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto holds = [&](const auto& chunk) { return chunk->holds(block.bytes.data()); };
    const auto chunk = std::find_if(chunks_.begin(), chunks_.end(), holds);
    const bool filled = chunk != chunks_.end() && !(*chunk)->is_shared_by_fork() &&
                        (*chunk)->fill(block.bytes.data(), int64_t(block.bytes.size()), code);
    return filled ? Result<void>() : refused();
  }

  CodeArenaStatistics statistics() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return statistics_;
  }

 private:
  static Error refused() {
    return {ErrorCode::resource_exhausted, "code arena: the system refuses executable memory"};
  }

  Result<CodeBlock> reserve_in_new_chunk(int64_t code_bytes) {
    const int64_t page = sysconf(_SC_PAGESIZE);
    const int64_t left = (options_.budget_bytes - statistics_.reserved_bytes) / page * page;
    if (code_bytes > left) {
      return Error{ErrorCode::resource_exhausted, "code arena: " + std::to_string(code_bytes) +
                                                      " bytes asked, " + std::to_string(left) +
                                                      " left of its budget of " +
                                                      std::to_string(options_.budget_bytes)};
    }
    const int64_t needed = (code_bytes + page - 1) / page * page;
    const int64_t bytes = std::clamp(chunk_bytes, needed, left);
    for (const CodeMapping mapping : {CodeMapping::dual, CodeMapping::flipped}) {
      if (options_.mapping != mapping && options_.mapping != CodeMapping::automatic) continue;
      std::unique_ptr<CodeChunk> chunk = CodeChunk::map(mapping, bytes);
      if (!chunk) continue;
      chunks_.push_back(std::move(chunk));
      statistics_.reserved_bytes += bytes;
      return own(*chunks_.back(), chunks_.back()->reserve(code_bytes), code_bytes);
    }
    return refused();
  }

  /// Precondition: locked.
  CodeBlock own(CodeChunk& chunk, const uint8_t* reserved, int64_t bytes) {
    statistics_.used_bytes += chunk.rounded(bytes);
    const auto release = [state = shared_from_this(), &chunk, bytes](const uint8_t* code) {
      state->free(chunk, code, bytes);
    };
    return {std::shared_ptr<const uint8_t>(reserved, release), {reserved, size_t(bytes)}};
  }

  void free(CodeChunk& chunk, const uint8_t* code, int64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    statistics_.used_bytes -= chunk.rounded(bytes);
    chunk.free(code, bytes);
    // One ordinary chunk is enough to keep for the next code.
    const bool spare = chunks_.size() > 1 || chunk.bytes() > chunk_bytes;
    if (!chunk.is_empty() || !(spare || chunk.is_shared_by_fork())) return;
    statistics_.reserved_bytes -= chunk.bytes();
    std::erase_if(chunks_, [&](const auto& owned) { return owned.get() == &chunk; });
  }

  const CodeArenaOptions options_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<CodeChunk>> chunks_;
  CodeArenaStatistics statistics_;
};

CodeArena::CodeArena(const CodeArenaOptions& options) : state_(std::make_shared<State>(options)) {}

CodeArena::~CodeArena() = default;

Result<CodeBlock> CodeArena::place(std::span<const uint8_t> code) {
  Result<CodeBlock> block = reserve(int64_t(code.size()));
  if (!block) return block;
  if (const Result<void> filled = fill(*block, code); !filled) return filled.error();
  return block;
}

Result<CodeBlock> CodeArena::reserve(int64_t bytes) { return state_->reserve(bytes); }

Result<void> CodeArena::fill(const CodeBlock& block, std::span<const uint8_t> code) {
  return state_->fill(block, code);
}

CodeArenaStatistics CodeArena::statistics() const { return state_->statistics(); }

CodeArena& CodeArena::process_wide() {
  static CodeArena& arena = *new CodeArena;
  return arena;
}

}  // namespace restride
