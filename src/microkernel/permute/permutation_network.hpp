// The registers of a permuted block: from windows of the source to windows of the target.
//
//     source  R G B R G B R G B ...   3 windows
//     target  R R R ...               window 0: the R of all three by blends, then one permute
//             G G G ...               window 1
//
// Elements go through slots in the middle (permutation_route), so that windows are joined by
// blends. Where there is no such way, or a shorter one, a target window that needs k source windows
// takes k - 1 permutes of two sources. Where many windows are joined in many, they share blends, if
// all take as much of each other (permutation_ring), or permutes of two (permutation_merge).
//
// Vectors wider than what is permuted hold a window in every lane: that of a block, and that of its
// sibling, which is permuted by the same operations.
//
//     source  R G B R ... | R G B R ...   lanes of one register
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "microkernel/emitter.hpp"
#include "microkernel/microkernel.hpp"
#include "microkernel/permute/permutation_merge.hpp"
#include "microkernel/permute/permutation_ring.hpp"
#include "microkernel/permute/permutation_route.hpp"
#include "microkernel/permute/permuted_windows.hpp"

namespace restride {

/// What is permuted at once: a vector, or a lane of it.
int64_t permuted_bytes(const Machine& machine);

/// Whether all windows of a ring have registers at once.
bool fits_registers(int64_t places, const Target& target);
bool fits_registers(const RingRoute& route, const Target& target);

/// How windows of a later block are asked for, if they are.
struct AskedWindows {
  int stream;
  int64_t ahead;    ///< bytes from where this block's are
  int level;        ///< of the caches
  bool both_lines;  ///< that windows between lines lie in, or the first one alone
};

/// Where windows are loaded from.
struct WindowSource {
  int64_t at = 0;                    ///< the block, bytes
  std::optional<int64_t> sibling{};  ///< how far from it the block of the other lane is
  std::optional<AskedWindows> asked{};
};

/// Puts the windows of the target together, one after the other.
class PermutationNetwork {
 public:
  using Leave = std::function<void(size_t window, program::Reg value)>;

  PermutationNetwork(const WindowMoves& windows, const WindowSource& source, const Machine& machine,
                     Tables& tables, Emitter& emitter);

  /// `leave` gets each window of the target as soon as it is there; in order, where lanes are
  /// permuted.
  void emit(const Leave& leave);

 private:
  size_t moves_to(size_t window, size_t first) const;
  program::Reg filled(size_t window, program::Reg moved, size_t first, size_t count);
  bool windows_fit() const;
  void ask(int64_t from, int64_t bytes);
  program::Reg load(size_t window);
  std::vector<size_t> needed(size_t first, size_t count) const;

  // ---- what a way costs

  struct Costs;
  Costs costs() const;
  bool is_shorter(const Route& route) const;
  std::optional<RingRoute> shorter_rings(size_t most) const;
  size_t cost(const RingRoute& rings) const;
  std::vector<Merge> shorter_merges(size_t most) const;
  size_t expected_merges() const;
  size_t cost_of_chains() const;
  size_t cost(const Route& route) const;

  // ---- by slots in the middle

  program::Reg spread(const std::vector<size_t>& middle, size_t window);
  program::Reg joined(const Route& route, size_t first, size_t count);
  program::Reg gathered(const std::vector<size_t>& middle, program::Reg value, size_t first,
                        size_t count);
  program::Reg permute(program::Reg value, std::vector<uint8_t> table);

  // ---- by rings

  void emit_ring(const RingRoute& route, const Ring& ring, std::vector<uint64_t> held,
                 const Leave& leave);

  // ---- by merges

  void emit_merges(const std::vector<Merge>& merges, const Leave& leave);
  size_t first_move_to(size_t window) const;

  // ---- one target window after the other

  program::Reg chained(size_t first, size_t count);

  const WindowMoves& windows_;
  const WindowSource source_;
  const Machine& machine_;
  Tables& tables_;
  Emitter& emitter_;
  const int64_t element_;
  const int64_t vector_;                             ///< what is permuted at once, bytes
  const size_t slots_;                               ///< of that
  std::vector<program::Reg> loaded_, spread_;        ///< by window of the source
  std::vector<std::vector<uint8_t>> spread_tables_;  ///< the same; of any that is not spread yet
  const std::vector<size_t> joined_;                 ///< by window of the target
  bool stay_;                                        ///< windows of the source, once loaded
};

}  // namespace restride
