// The inside of KernelCache: two tables.
//
//     problem ── ProblemKey ──► Plan::State ──┐       sharded; what a repeated Plan::create finds
//                                             ▼
//     signature ── text ──► Entry ──► KernelSet        one entry per signature, target and backend
//     choice
//
// An entry is put into its table before its kernels are made: whoever puts it there makes them,
// everybody else who finds it waits on the entry, with no lock held. Problems point at an entry and
// go when it goes.
//
// Use is recorded by stamps: a clock that only insertions advance, so that hits write shared memory
// seldom. Among entries last used between the same two insertions the order of eviction is open.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "plan/plan_state.hpp"
#include "plan/problem_key.hpp"
#include "restride/kernel_cache.hpp"

namespace restride {

using Outcome = Result<std::shared_ptr<const KernelSet>>;

class KernelCache::State {
 public:
  /// A signature and what became of it. `outcome` may be read after find_or_make has returned the
  /// entry.
  struct Entry {
    std::string key;
    Outcome outcome = Error{};
    std::atomic<bool> ready = false;
    std::atomic<int64_t> last_use = 0;
    bool held = true;        ///< in the table; guarded by mutex_, as all below
    int64_t code_bytes = 0;  ///< counted in State::code_bytes_
    std::vector<const ProblemKey*>
        problems;  ///< that point here, oldest first; they live in the problem table
  };

  explicit State(const KernelCacheOptions& options) : options_(options) {}

  /// The plan of a problem seen before, or null. Allocates nothing.
  std::shared_ptr<const Plan::State> find(const ProblemView& view);

  /// The entry of `key`, ready. Calls `make` unless another thread has or does.
  std::shared_ptr<Entry> find_or_make(std::string key, const std::function<Outcome()>& make);

  /// Lets find() find `plan`, for as long as the entry stays.
  void remember(const std::shared_ptr<Entry>& entry, const ProblemView& view,
                std::shared_ptr<const Plan::State> plan);

  /// Counts code that was made for `key` later, if the entry is still there.
  void add_code(std::string_view key, int64_t code_bytes);

  KernelCacheStatistics statistics() const;
  void clear();

 private:
  struct Remembered {
    std::shared_ptr<const Plan::State> plan;
    std::shared_ptr<Entry> entry;
  };

  /// On a cache line of its own, so that unrelated problems do not slow each other down.
  struct alignas(64) ProblemShard {
    mutable std::shared_mutex mutex;
    std::unordered_map<ProblemKey, Remembered, ProblemKeyHash, ProblemKeyEqual> problems;
    std::atomic<int64_t> hits = 0;
  };

  ProblemShard& shard_of(uint64_t hash) { return shards_[hash % shards_.size()]; }
  std::shared_ptr<Entry> find_entry(std::string_view key) const;
  /// The entry now in the table: `fresh`, or one that was faster.
  std::shared_ptr<Entry> insert(const std::shared_ptr<Entry>& fresh);
  void touch(Entry& entry);
  void finish(Entry& entry, Outcome outcome);
  // Precondition of these: mutex_ is held exclusively.
  void evict();
  void drop(Entry& entry);
  void forget(const ProblemKey& key);

  const KernelCacheOptions options_;
  mutable std::shared_mutex mutex_;  ///< taken before that of a shard
  std::unordered_map<std::string_view, std::shared_ptr<Entry>> entries_;  ///< keys are Entry::key
  int64_t code_bytes_ = 0;  ///< of entries_; guarded by mutex_
  std::array<ProblemShard, 16> shards_;
  std::atomic<int64_t> clock_ = 0, hits_ = 0, misses_ = 0, compiles_ = 0, failures_ = 0,
                       evictions_ = 0;
};

}  // namespace restride
