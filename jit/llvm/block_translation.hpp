// Block -> straight-line IR: one case for each Code.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "llvm/element_translation.hpp"
#include "program/program.hpp"
#include "target/target.hpp"

namespace restride::llvm_jit {

/// Where each stream stands.
using Addresses = llvm::SmallVector<llvm::Value*, 8>;

/// A value per virtual register, of any vector type of Program::vector_bytes; or of 16 bytes where
/// the bytes above are zero or undefined: a narrow one. Pieces go into narrow registers without a
/// detour.
///
/// Bytes that the Program leaves undefined are poison only where all of an aligned 8-byte group is:
/// poison spreads over the elements of whatever type a value is looked at as, and no operation
/// looks at wider ones.
class BlockTranslator {
 public:
  /// Nothing is owned.
  BlockTranslator(const Program& program, const Target& target, llvm::IRBuilder<>& builder)
      : program_(program), target_(target), builder_(builder), elements_(target, builder) {}

  void translate(const program::Block& block, const Addresses& at);

  /// The first operation that has no translation, if any was met.
  const program::Op* untranslated() const { return untranslated_; }

 private:
  using Op = program::Op;
  using Indices = llvm::SmallVector<int, 64>;

  llvm::Value* result(const Op& op);
  void effect(const Op& op);

  // memory (memory_translation.cpp)
  llvm::Value* load(const Op& op);
  llvm::Value* masked_load(const Op& op, int bytes);
  llvm::Value* splat(const Op& op);
  void store(const Op& op);
  void masked_store(const Op& op, int bytes);
  void store_nontemporal(const Op& op);
  void store_line(const Op& op);
  llvm::BasicBlock* unless_behind(const Op& op);
  void copy_in_line(const Op& op);
  std::pair<llvm::Value*, llvm::Value*> copy_piece(llvm::Value* to, llvm::Value* from, int bytes,
                                                   bool before);
  void store_in_line(const Op& op);
  void mark_nontemporal(llvm::StoreInst* store);
  llvm::Value* load_for_line(const Op& op);
  void store_run(const Op& op);
  void prefetch(const Op& op);

  // registers
  llvm::Value* constant(const Op& op);
  llvm::Value* unpack(const Op& op);
  llvm::Value* lanes(const Op& op);
  llvm::Value* insert(const Op& op);
  llvm::Value* extract(const Op& op);
  llvm::Value* permute(const Op& op);
  llvm::Value* shift(const Op& op);
  llvm::Value* shuffle(const Op& op);

  // numbers (number_translation.cpp)
  llvm::Value* convert(const Op& op);
  llvm::Value* converted(const Op& op, llvm::Value* elements);
  llvm::Value* compute(const Op& op);
  llvm::Value* round(const Op& op);
  llvm::Value* spread(const Op& op);
  llvm::Value* pack(const Op& op);
  llvm::Value* mix(const Op& op);

  llvm::Value* address(const Op& op, int64_t before = 0);
  /// Where an operation's stream stands in its line, and where that line begins.
  llvm::Value* place_in_line(const Op& op);
  llvm::Value* line(const Op& op);
  llvm::Value* argument(program::Reg a, int width, int bytes);
  llvm::FixedVectorType* vector(int width, int bytes) const;
  llvm::FixedVectorType* vector(int width) const { return vector(width, program_.vector_bytes); }
  bool is_narrow(program::Reg r) const;
  /// All bytes of a register, as elements of `width` bytes.
  llvm::Value* as(program::Reg r, int width);
  /// The 16 bytes of a narrow register, all bytes of another.
  llvm::Value* as_it_is(program::Reg r, int width);
  llvm::Value* shuffled(int width, program::Reg a, program::Reg b, const Indices& indices);

  const Program& program_;
  const Target& target_;
  llvm::IRBuilder<>& builder_;
  ElementTranslator elements_;
  const Op* untranslated_ = nullptr;
  const Addresses* at_ = nullptr;        ///< of the block under translation
  std::vector<llvm::Value*> registers_;  ///< of it; an entry of an earlier block is never read
};

}  // namespace restride::llvm_jit
