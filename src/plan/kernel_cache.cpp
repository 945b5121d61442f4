// KernelCache: kernels by signature, plans by problem. kernel_cache_state.hpp draws how the two
// tables hang together.
//
// It knows nothing of planning: what makes a kernel is a function it is handed.
#include <algorithm>
#include <mutex>
#include <utility>

#include "plan/kernel_cache_state.hpp"

namespace restride {
namespace {

/// Spellings of one signature that are kept: what bounds the table of problems by the number of
/// entries.
constexpr size_t problems_per_entry = 8;

/// What is kept of a limit that was passed: a sixteenth less, so that the search for the oldest
/// entries is paid once for many evictions. Limits under 16 are met exactly.
int64_t after_eviction(int64_t limit) {
  limit = std::max<int64_t>(limit, 0);
  return limit - limit / 16;
}

}  // namespace

std::shared_ptr<const Plan::State> KernelCache::State::find(const ProblemView& view) {
  ProblemShard& shard = shard_of(view.hash);
  const std::shared_lock lock(shard.mutex);
  const auto found = shard.problems.find(view);
  if (found == shard.problems.end()) return nullptr;
  shard.hits.fetch_add(1, std::memory_order_relaxed);
  touch(*found->second.entry);
  return found->second.plan;
}

std::shared_ptr<KernelCache::State::Entry> KernelCache::State::find_or_make(
    std::string key, const std::function<Outcome()>& make) {
  std::shared_ptr<Entry> entry = find_entry(key);
  if (entry == nullptr) {
    const auto fresh = std::make_shared<Entry>();
    fresh->key = std::move(key);
    entry = insert(fresh);
    if (entry == fresh) {
      finish(*entry, make());
      return entry;
    }
  }
  if (entry->ready.load(std::memory_order_acquire)) {
    hits_.fetch_add(1, std::memory_order_relaxed);
  } else {
    misses_.fetch_add(1, std::memory_order_relaxed);
    entry->ready.wait(false, std::memory_order_acquire);
  }
  touch(*entry);
  return entry;
}

void KernelCache::State::remember(const std::shared_ptr<Entry>& entry, const ProblemView& view,
                                  std::shared_ptr<const Plan::State> plan) {
  ProblemKey key(view);
  const std::unique_lock lock(mutex_);
  if (!entry->held) return;
  if (entry->problems.size() == problems_per_entry) {
    forget(*entry->problems.front());
    entry->problems.erase(entry->problems.begin());
  }
  ProblemShard& shard = shard_of(key.hash);
  const std::unique_lock shard_lock(shard.mutex);
  const auto [place, inserted] =
      shard.problems.try_emplace(std::move(key), Remembered{std::move(plan), entry});
  if (inserted) entry->problems.push_back(&place->first);
}

KernelCacheStatistics KernelCache::State::statistics() const {
  KernelCacheStatistics result;
  result.hits = hits_;
  for (const ProblemShard& shard : shards_) result.hits += shard.hits;
  result.misses = misses_;
  result.compiles = compiles_;
  result.failures = failures_;
  result.evictions = evictions_;
  const std::shared_lock lock(mutex_);
  result.entries = static_cast<int64_t>(entries_.size());
  result.code_bytes = code_bytes_;
  return result;
}

void KernelCache::State::clear() {
  const std::unique_lock lock(mutex_);
  while (!entries_.empty()) drop(*entries_.begin()->second);
}

std::shared_ptr<KernelCache::State::Entry> KernelCache::State::find_entry(
    std::string_view key) const {
  const std::shared_lock lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second;
}

std::shared_ptr<KernelCache::State::Entry> KernelCache::State::insert(
    const std::shared_ptr<Entry>& fresh) {
  const std::unique_lock lock(mutex_);
  // Two steps, so that what is used from now on counts as used later than this entry.
  fresh->last_use = clock_.fetch_add(2, std::memory_order_relaxed) + 1;
  return entries_.try_emplace(fresh->key, fresh).first->second;
}

void KernelCache::State::touch(Entry& entry) {
  const int64_t now = clock_.load(std::memory_order_relaxed);
  if (entry.last_use.load(std::memory_order_relaxed) != now) {
    entry.last_use.store(now, std::memory_order_relaxed);
  }
}

void KernelCache::State::finish(Entry& entry, Outcome outcome) {
  misses_.fetch_add(1, std::memory_order_relaxed);
  compiles_.fetch_add(1, std::memory_order_relaxed);
  if (!outcome) failures_.fetch_add(1, std::memory_order_relaxed);
  // Memory or code space may be there again next time; every other error would only be found again.
  const bool worth_keeping = outcome || outcome.error().code != ErrorCode::resource_exhausted;
  entry.outcome = std::move(outcome);
  entry.ready.store(true, std::memory_order_release);
  entry.ready.notify_all();

  const std::unique_lock lock(mutex_);
  if (!entry.held) return;  // cleared meanwhile
  entry.code_bytes = entry.outcome ? (*entry.outcome)->code_bytes : 0;
  code_bytes_ += entry.code_bytes;
  if (!worth_keeping) return drop(entry);
  evict();
}

void KernelCache::State::add_code(std::string_view key, int64_t code_bytes) {
  const std::unique_lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  found->second->code_bytes += code_bytes;
  code_bytes_ += code_bytes;
  evict();
}

void KernelCache::State::evict() {
  const int64_t max_entries = std::max<int64_t>(options_.max_entries, 0);
  const int64_t max_code_bytes = std::max<int64_t>(options_.max_code_bytes, 0);
  const auto count = [this] { return static_cast<int64_t>(entries_.size()); };
  if (count() <= max_entries && code_bytes_ <= max_code_bytes) return;

  const int64_t entries_left = count() <= max_entries ? max_entries : after_eviction(max_entries);
  const int64_t code_left =
      code_bytes_ <= max_code_bytes ? max_code_bytes : after_eviction(max_code_bytes);
  std::vector<std::pair<int64_t, Entry*>> oldest;
  oldest.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) {
    if (entry->ready) oldest.emplace_back(entry->last_use, entry.get());
  }
  std::sort(oldest.begin(), oldest.end());
  for (const auto& [last_use, entry] : oldest) {
    if (count() <= entries_left && code_bytes_ <= code_left) break;
    drop(*entry);
    evictions_.fetch_add(1, std::memory_order_relaxed);
  }
}

void KernelCache::State::drop(Entry& entry) {
  for (const ProblemKey* key : entry.problems) forget(*key);
  entry.problems.clear();
  entry.held = false;
  code_bytes_ -= entry.code_bytes;
  entries_.erase(entries_.find(entry.key));  // may end the entry
}

void KernelCache::State::forget(const ProblemKey& key) {
  ProblemShard& shard = shard_of(key.hash);
  const std::unique_lock lock(shard.mutex);
  shard.problems.erase(shard.problems.find(key));
}

KernelCache::KernelCache(const KernelCacheOptions& options)
    : state_(std::make_shared<State>(options)) {}

KernelCache::~KernelCache() = default;

KernelCacheStatistics KernelCache::statistics() const { return state_->statistics(); }

void KernelCache::clear() { state_->clear(); }

KernelCache& KernelCache::process_wide() {
  // Never destroyed: plans may be made and run while other threads or static objects are being
  // taken down.
  static KernelCache& cache = *new KernelCache;
  return cache;
}

}  // namespace restride
