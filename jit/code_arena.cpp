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

  Result<CodeBlock> place(std::span<const uint8_t> code) {
    if (code.empty()) return Error{ErrorCode::invalid_argument, "code arena: no code to place"};
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& chunk : chunks_) {
      if (chunk->is_shared_by_fork()) continue;
      if (const uint8_t* placed = chunk->place(code)) return own(*chunk, placed, code.size());
    }
    return place_in_new_chunk(code);
  }

  CodeArenaStatistics statistics() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return statistics_;
  }

 private:
  Result<CodeBlock> place_in_new_chunk(std::span<const uint8_t> code) {
    const int64_t page = sysconf(_SC_PAGESIZE);
    const int64_t needed = (int64_t(code.size()) + page - 1) / page * page;
    const int64_t left = (options_.budget_bytes - statistics_.reserved_bytes) / page * page;
    if (needed > left) {
      return Error{ErrorCode::resource_exhausted, "code arena: " + std::to_string(needed) +
                                                      " bytes asked, " + std::to_string(left) +
                                                      " left of its budget of " +
                                                      std::to_string(options_.budget_bytes)};
    }
    const int64_t bytes = std::clamp(chunk_bytes, needed, left);
    for (const CodeMapping mapping : {CodeMapping::dual, CodeMapping::flipped}) {
      if (options_.mapping != mapping && options_.mapping != CodeMapping::automatic) continue;
      std::unique_ptr<CodeChunk> chunk = CodeChunk::map(mapping, bytes);
      const uint8_t* const placed = chunk ? chunk->place(code) : nullptr;
      if (!placed) continue;
      chunks_.push_back(std::move(chunk));
      statistics_.reserved_bytes += bytes;
      return own(*chunks_.back(), placed, code.size());
    }
    return Error{ErrorCode::resource_exhausted, "code arena: the system refuses executable memory"};
  }

  /// Precondition: locked.
  CodeBlock own(CodeChunk& chunk, const uint8_t* placed, size_t bytes) {
    statistics_.used_bytes += chunk.rounded(int64_t(bytes));
    const auto release = [state = shared_from_this(), &chunk, bytes](const uint8_t* code) {
      state->free(chunk, code, int64_t(bytes));
    };
    return {std::shared_ptr<const uint8_t>(placed, release), {placed, bytes}};
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

Result<CodeBlock> CodeArena::place(std::span<const uint8_t> code) { return state_->place(code); }

CodeArenaStatistics CodeArena::statistics() const { return state_->statistics(); }

CodeArena& CodeArena::process_wide() {
  static CodeArena& arena = *new CodeArena;
  return arena;
}

}  // namespace restride
