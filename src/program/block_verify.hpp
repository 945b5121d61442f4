// The part of verify that looks at one Block: registers, their defined bytes, and whether the
// target has each operation. It knows nothing of loops; accesses are handed back to the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "program/program.hpp"

namespace restride::program {

/// A broken invariant, as a value without text until somebody wants to read it.
struct Violation {
  int invariant;
  const char* what;
  const Op* op = nullptr;  ///< of the Program under verification
};

/// The lowest n bits, n in 0..64.
inline uint64_t low_bits(int n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

/// Checks Blocks of one Program one after another. Memory is that of the largest Block.
class BlockVerifier {
 public:
  BlockVerifier(const Program& program, const Target& target);

  /// The tables, before any Block.
  std::optional<Violation> check_tables();

  /// What can be said of one operation without where its stream stands. Operations of a Block in
  /// order.
  std::optional<Violation> check(const Op& op);

  /// Begins a Block: forgets all registers.
  void begin() { ++block_; }

  /// After the last operation of a Block: how many registers are live at once must fit.
  std::optional<Violation> check_live_registers(const Block& block);

 private:
  struct Register {
    uint64_t defined;  ///< a bit per byte
    uint32_t block;    ///< in which it was defined last
    uint32_t live;     ///< the Block in whose backward walk it is live
  };
  /// What is known of a table once and for all.
  struct Table {
    int entries;
    int largest;       ///< -1: all undefined
    uint64_t defined;  ///< a bit per entry
  };

  std::optional<Violation> check_fields(const Op& op) const;
  std::optional<Violation> check_piece(const Op& op) const;
  std::optional<Violation> check_table(const Op& op) const;
  bool compares_into_bytes(const program::Op& op) const;
  std::optional<Violation> check_types(const Op& op) const;
  std::optional<Violation> check_packing(const Op& op) const;
  std::optional<Violation> check_place(const Op& op) const;
  bool defined_here(Reg r) const {
    return r >= 0 && size_t(r) < registers_.size() && registers_[size_t(r)].block == block_;
  }
  uint64_t defined_bytes(Reg r) const { return r == none ? all_ : registers_[size_t(r)].defined; }
  uint64_t result_bytes(const Op& op) const;
  uint64_t permuted_bytes(const Op& op, uint64_t a, uint64_t b) const;

  const Program& program_;
  const Target& target_;
  const uint64_t all_;  ///< every byte of a vector
  uint32_t block_ = 0;
  std::vector<Register> registers_;
  std::vector<Table> tables_;
};

}  // namespace restride::program
