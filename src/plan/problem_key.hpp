// ProblemKey: the identity of a call of Plan::create, for finding a plan again without planning.
//
// Cheaper than a signature (no canonical form, no text, no allocation) and finer: many problems
// share a signature.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "restride/plan.hpp"
#include "restride/problem.hpp"

namespace restride {

/// A 64-bit hash of integers, an order of magnitude faster than hashing their text: one rotate, one
/// exclusive or and one multiplication a word.
class WordHash {
 public:
  void add(int64_t word) {
    state_ = (std::rotl(state_, 5) ^ static_cast<uint64_t>(word)) * 0x9e3779b97f4a7c15u;
  }
  void add(const std::vector<int64_t>& words) {
    add(static_cast<int64_t>(words.size()));
    for (const int64_t word : words) add(word);
  }
  void add(const std::vector<double>& numbers) {
    add(static_cast<int64_t>(numbers.size()));
    for (const double number : numbers) add(std::bit_cast<int64_t>(number));
  }
  /// The high bits are the well mixed ones: fold them down.
  uint64_t value() const { return state_ ^ (state_ >> 32); }

 private:
  uint64_t state_ = 0x2545f4914f6cdd1du;
};

inline void add(WordHash& hash, const Shape& shape) {
  const Layout& layout = shape.layout;
  hash.add(static_cast<int64_t>(shape.element_type));
  hash.add(shape.dimensions);
  hash.add(layout.minor_to_major);
  hash.add(layout.padded_dimensions);
  hash.add(static_cast<int64_t>(layout.padding_value));
  hash.add(static_cast<int64_t>(layout.tiles.size()));
  for (const std::vector<int64_t>& tile : layout.tiles) hash.add(tile);
  hash.add(layout.tail_padding_alignment_in_elements);
  hash.add(layout.element_size_in_bits);
}

inline uint64_t hash_of(const Problem& problem, BackendChoice backend, PlanEffort effort,
                        std::string_view target) {
  WordHash hash;
  hash.add(static_cast<int64_t>(problem.operation));
  for (const Source& source : problem.sources) {
    add(hash, source.shape);
    hash.add(source.broadcast_dimensions);
    hash.add(source.byte_strides);
  }
  add(hash, problem.target);
  hash.add(problem.target_byte_strides);
  const Affine& affine = problem.affine;
  for (const auto* list : {&affine.scale, &affine.zero_point, &affine.bias}) hash.add(*list);
  hash.add(affine.dimension);
  hash.add(static_cast<int64_t>(backend));
  hash.add(static_cast<int64_t>(effort));
  for (const char letter : target) hash.add(letter);
  return hash.value();
}

/// What is asked for; refers to the caller's objects.
struct ProblemView {
  const Problem& problem;
  BackendChoice backend;
  PlanEffort effort;
  std::string_view target;
  uint64_t hash;

  ProblemView(const Problem& problem, BackendChoice backend, PlanEffort effort,
              std::string_view target)
      : problem(problem),
        backend(backend),
        effort(effort),
        target(target),
        hash(hash_of(problem, backend, effort, target)) {}
};

/// The same, kept.
struct ProblemKey {
  Problem problem;
  BackendChoice backend;
  PlanEffort effort;
  std::string target;
  uint64_t hash;

  explicit ProblemKey(const ProblemView& view)
      : problem(view.problem),
        backend(view.backend),
        effort(view.effort),
        target(view.target),
        hash(view.hash) {}
};

/// For unordered containers of ProblemKey that are searched with a ProblemView.
struct ProblemKeyHash {
  using is_transparent = void;
  size_t operator()(const ProblemKey& key) const { return key.hash; }
  size_t operator()(const ProblemView& view) const { return view.hash; }
};

struct ProblemKeyEqual {
  using is_transparent = void;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return a.hash == b.hash && a.backend == b.backend && a.effort == b.effort &&
           a.target == b.target && a.problem == b.problem;
  }
};

}  // namespace restride
