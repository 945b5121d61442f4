// Plan: a problem ready to run. Planned, compiled, or found by signature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "restride/executor.hpp"
#include "restride/kernel_cache.hpp"
#include "restride/object.h"
#include "restride/problem.hpp"
#include "restride/result.hpp"

namespace restride {

enum class BackendChoice : uint8_t { automatic, interpreter, xbyak, llvm };

std::string_view to_string(BackendChoice backend);
/// The inverse of to_string. The error lists the names.
Result<BackendChoice> parse_backend(std::string_view text);

/// How a runtime lends a thread for work that nobody waits for.
struct Background {
  /// Has task(argument) called once, now or later, on any thread. Null: there is no such thread.
  void (*run)(void* context, void (*task)(void* argument), void* argument) = nullptr;
  void* context = nullptr;  ///< passed to `run`; not owned
};

/// How the planner chooses where it is not sure what is faster: around the caches or not, wide
/// vectors or narrower ones.
enum class PlanEffort : uint8_t {
  estimate,  ///< by what it knows of the target
  measure,   ///< by trying
};

struct PlanOptions {
  /// A named backend that cannot do the problem is an error; `automatic` asks them in order of
  /// preference (or takes the one that the environment variable RESTRIDE_BACKEND names).
  BackendChoice backend = BackendChoice::automatic;
  /// The machine planned for: empty or "host", or a known name (`sse2`, `avx2`, `avx512`, ...) that
  /// runs here.
  std::string_view target = {};
  /// Not owned; null: KernelCache::process_wide().
  KernelCache* cache = nullptr;
  /// Some backends take milliseconds to compile. With a background, `automatic` does not wait for
  /// those: the next backend serves, at last the interpreter, and the better kernels take over in
  /// all plans of the signature once the background has made them. Results are the same. Without a
  /// background Plan::create waits.
  Background background = {};
  /// `measure` runs the few likely plans on buffers of its own, never the caller's, and keeps the
  /// fastest in the cache, for problems that ask for the same. It waits for every backend, and
  /// takes what `estimate` would where there is no memory for the buffers or no time to run twice.
  PlanEffort effort = PlanEffort::estimate;
  /// What `measure` may take beyond compiling, in seconds; the runs under way are finished.
  double measure_seconds = 0.1;
};

/// A cheap handle to immutable shared state: copy it freely, use it from any thread.
class Plan {
 public:
  /// Errors: everything validate(problem) says; `unsupported` for what cannot be planned or
  /// compiled.
  static Result<Plan> create(const Problem& problem, const PlanOptions& options = {});

  /// A plan that runs a kernel which was compiled ahead of time and linked into this program.
  /// Errors: `unsupported` where this machine lacks features that it needs, which are named, or the
  /// object is of another version of this library; `invalid_argument` where `object` describes no
  /// kernel.
  static Result<Plan> load(const restride_object& object);

  /// Runs the plan of a problem with one source; of another it runs nothing. Allocates nothing,
  /// takes no lock, makes no system call. Needs up to 53 KiB of stack. Precondition: the pointers
  /// are those of buffers of at least source_bytes() and target_bytes() bytes that do not overlap
  /// (with byte strides: of the element with index 0 everywhere). What is computed with
  /// floating-point numbers does not depend on the caller's rounding mode or on how it treats
  /// denormals, and leaves its floating-point state as it was.
  void execute(const void* source, void* target) const noexcept;
  /// The same on the threads of an executor, as many as the size of the work pays for.
  void execute(const void* source, void* target, Executor& executor) const noexcept;
  /// The same with sizes: a size other than source_bytes() or target_bytes() or an overlap is an
  /// error, and nothing is written. With byte strides a span is the memory from the lowest to the
  /// highest byte of any element, wherever in it index 0 lies.
  Result<void> execute(std::span<const std::byte> source,
                       std::span<std::byte> target) const noexcept;
  Result<void> execute(std::span<const std::byte> source, std::span<std::byte> target,
                       Executor& executor) const noexcept;

  /// The same for any number of sources: source_count() pointers or spans, in the order of
  /// Problem::sources. Another number of pointers runs nothing; of spans it is an error.
  void execute_sources(std::span<const void* const> sources, void* target) const noexcept;
  void execute_sources(std::span<const void* const> sources, void* target,
                       Executor& executor) const noexcept;
  Result<void> execute_sources(std::span<const std::span<const std::byte>> sources,
                               std::span<std::byte> target) const noexcept;
  Result<void> execute_sources(std::span<const std::span<const std::byte>> sources,
                               std::span<std::byte> target, Executor& executor) const noexcept;

  int source_count() const;  ///< 2 for a binary operation, else 1
  /// A source's buffer with all padding; with byte strides the bytes in reach. 0 for no source.
  int64_t source_bytes(int source = 0) const;
  int64_t target_bytes() const;        ///< the same of the target
  std::string_view signature() const;  ///< the identity of the kernel
  std::string_view backend() const;    ///< the name of the backend that made the kernels
  std::string_view target() const;     ///< the name of the machine planned for
  int64_t code_bytes() const;          ///< generated code, 0 for the interpreter
  double compile_seconds()
      const;  ///< planning and compiling when the kernel was made; not this look-up
  /// Independent pieces of work, where all pointers stand on lines.
  int64_t unit_count() const;

  class State;  ///< private to the library

 private:
  explicit Plan(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace restride
