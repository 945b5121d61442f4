// Loads, stores and prefetches.
//
// Whole vectors and pieces of a power of two become plain accesses; everything else, where the
// target has byte masks, a masked access with a constant mask. A masked access touches only the
// bytes of its mask, so its address may start before them. Alignment is claimed only where the
// verifier has proved it: at non-temporal stores.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <tuple>

#include "llvm/block_translation.hpp"

namespace restride::llvm_jit {

using namespace program;

namespace {

const llvm::Align anywhere;  // of one byte

/// A piece that is one element of the lowest lane: 1, 2, 4 or 8 bytes.
bool is_element(const Op& op) {
  return (op.bytes & (op.bytes - 1)) == 0 && op.at % op.bytes == 0 && op.at + op.bytes <= 16 &&
         op.bytes < 16;
}

/// A piece of whole lanes: 16 or 32 bytes of a longer vector.
bool is_lanes(const Op& op) { return (op.bytes == 16 || op.bytes == 32) && op.at % op.bytes == 0; }

/// The widest element whose multiples the piece begins and ends at.
int mask_width(const Op& op) {
  int width = 8;
  while ((op.at | op.bytes) % width != 0) width /= 2;
  return width;
}

}  // namespace

llvm::Value* BlockTranslator::address(const Op& op, int64_t before) {
  return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), (*at_)[op.stream],
                                     uint64_t(op.offset) - uint64_t(before));
}

llvm::Value* BlockTranslator::load(const Op& op) {
  const int whole = program_.vector_bytes;
  if (op.bytes == whole) return builder_.CreateAlignedLoad(vector(1), address(op), anywhere);
  const bool narrow = op.at + op.bytes <= 16 && (op.a == none || is_narrow(op.a));
  const int bytes = narrow ? 16 : whole;
  if (op.bytes == bytes) return builder_.CreateAlignedLoad(vector(8, 16), address(op), anywhere);
  const bool element = is_element(op), merges_by_mask = target_.byte_masks && op.a != none;
  if (!is_lanes(op) && (!element || (merges_by_mask && bytes > 16))) return masked_load(op, bytes);
  const int width = element ? op.bytes : 8;
  llvm::Type* const type = element
                               ? static_cast<llvm::Type*>(builder_.getIntNTy(unsigned(8 * width)))
                               : vector(8, op.bytes);
  llvm::Value* const piece = builder_.CreateAlignedLoad(type, address(op), anywhere);
  llvm::Value* const into = argument(op.a, width, bytes);
  const uint64_t place = uint64_t(op.at / width);
  return element ? builder_.CreateInsertElement(into, piece, place)
                 : builder_.CreateInsertVector(into->getType(), into, piece, place);
}

/// What a load leaves as it is: `a`, or zeros without one.
llvm::Value* BlockTranslator::argument(Reg a, int width, int bytes) {
  if (a == none) return llvm::Constant::getNullValue(vector(width, bytes));
  return bytes == 16 ? as_it_is(a, width) : as(a, width);
}

static llvm::Constant* mask(llvm::IRBuilder<>& builder, const Op& op, int width, int bytes) {
  llvm::SmallVector<llvm::Constant*, 64> bits;
  for (int byte = 0; byte < bytes; byte += width) {
    bits.push_back(builder.getInt1(byte >= op.at && byte < op.at + op.bytes));
  }
  return llvm::ConstantVector::get(bits);
}

llvm::Value* BlockTranslator::masked_load(const Op& op, int bytes) {
  const int width = mask_width(op);
  return builder_.CreateMaskedLoad(vector(width, bytes), address(op, op.at), anywhere,
                                   mask(builder_, op, width, bytes), argument(op.a, width, bytes));
}

llvm::Value* BlockTranslator::splat(const Op& op) {
  const int whole = program_.vector_bytes;
  if (op.width < 16) {
    llvm::Value* const element = builder_.CreateAlignedLoad(
        builder_.getIntNTy(unsigned(8 * op.width)), address(op), anywhere);
    return builder_.CreateVectorSplat(unsigned(whole / op.width), element);
  }
  llvm::Value* const lane = builder_.CreateAlignedLoad(vector(8, 16), address(op), anywhere);
  Indices indices;
  for (int k = 0; k < whole / 8; ++k) indices.push_back(k % 2);
  return builder_.CreateShuffleVector(lane, indices);
}

void BlockTranslator::store(const Op& op) {
  const int bytes = is_narrow(op.a) && op.at + op.bytes <= 16 ? 16 : program_.vector_bytes;
  llvm::Value* piece = nullptr;
  if (op.bytes == bytes) {
    piece = argument(op.a, 8, bytes);
  } else if (is_element(op)) {
    piece = builder_.CreateExtractElement(as_it_is(op.a, op.bytes), uint64_t(op.at / op.bytes));
  } else if (is_lanes(op)) {
    piece = builder_.CreateExtractVector(vector(8, op.bytes), as(op.a, 8), uint64_t(op.at / 8));
  } else {
    return masked_store(op, bytes);
  }
  builder_.CreateAlignedStore(piece, address(op), anywhere);
}

void BlockTranslator::masked_store(const Op& op, int bytes) {
  const int width = mask_width(op);
  builder_.CreateMaskedStore(argument(op.a, width, bytes), address(op, op.at), anywhere,
                             mask(builder_, op, width, bytes));
}

void BlockTranslator::store_nontemporal(const Op& op) {
  mark_nontemporal(builder_.CreateAlignedStore(as(op.a, 8), address(op),
                                               llvm::Align(uint64_t(program_.vector_bytes))));
}

void BlockTranslator::mark_nontemporal(llvm::StoreInst* store) {
  llvm::Metadata* const one = llvm::ConstantAsMetadata::get(builder_.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                     llvm::MDNode::get(builder_.getContext(), one));
}

llvm::Value* BlockTranslator::place_in_line(const Op& op) {
  llvm::Value* const place = builder_.CreatePtrToInt(address(op), builder_.getInt64Ty());
  return builder_.CreateAnd(place, uint64_t(line_bytes - 1));
}

llvm::Value* BlockTranslator::line(const Op& op) {
  return builder_.CreateGEP(builder_.getInt8Ty(), address(op),
                            builder_.CreateNeg(place_in_line(op)));
}

llvm::Value* BlockTranslator::load_for_line(const Op& op) {
  llvm::Value* const place = place_in_line(line_of(op));
  llvm::Value* const from =
      builder_.CreateGEP(builder_.getInt8Ty(), address(op), builder_.CreateNeg(place));
  return builder_.CreateAlignedLoad(vector(8), from, anywhere);
}

void BlockTranslator::store_line(const Op& op) {
  llvm::Value* const value = as(op.a, 8);
  llvm::BasicBlock* const after = op.width == 0 ? nullptr : unless_behind(op);
  llvm::Value* const place =
      builder_.CreateConstGEP1_64(builder_.getInt8Ty(), line(op), uint64_t(op.at));
  mark_nontemporal(
      builder_.CreateAlignedStore(value, place, llvm::Align(uint64_t(program_.vector_bytes))));
  if (after == nullptr) return;
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

/// What follows is done if the line does not hold the byte `width` before, too. Returns where all
/// goes on.
llvm::BasicBlock* BlockTranslator::unless_behind(const Op& op) {
  llvm::LLVMContext& context = builder_.getContext();
  llvm::Function* const function = builder_.GetInsertBlock()->getParent();
  llvm::BasicBlock* const store = llvm::BasicBlock::Create(context, "line", function);
  llvm::BasicBlock* const after = llvm::BasicBlock::Create(context, "left", function);
  llvm::Value* const begins =
      builder_.CreateICmpULT(place_in_line(op), builder_.getInt64(op.width));
  builder_.CreateCondBr(begins, store, after);
  builder_.SetInsertPoint(store);
  return after;
}

void BlockTranslator::store_in_line(const Op& op) {
  const int whole = program_.vector_bytes;
  llvm::SmallVector<llvm::Constant*, 64> bytes;
  for (int k = 0; k < whole; ++k) bytes.push_back(builder_.getInt8(uint8_t(k)));
  llvm::Value* const place = builder_.CreateVectorSplat(
      unsigned(whole), builder_.CreateTrunc(place_in_line(op), builder_.getInt8Ty()));
  llvm::Value* const before = builder_.CreateICmpULT(llvm::ConstantVector::get(bytes), place);
  builder_.CreateMaskedStore(as(op.a, 1), line(op), llvm::Align(uint64_t(whole)),
                             op.code == Code::store_end ? before : builder_.CreateNot(before));
}

/// Piece by piece, the smallest first: what is left is then a multiple of twice as many bytes, so
/// that the address itself says which pieces there are.
void BlockTranslator::copy_in_line(const Op& op) {
  const bool before = op.code == Code::copy_end;
  llvm::Value* to = address(op);
  llvm::Value* from = address(copied_by(op));
  for (int bytes = op.width; bytes < line_bytes; bytes *= 2)
    std::tie(to, from) = copy_piece(to, from, bytes, before);
}

/// Bytes from `from` to `to` on, or before them, if the place of `to` in its line is odd in them.
/// Returns where both stand then.
std::pair<llvm::Value*, llvm::Value*> BlockTranslator::copy_piece(llvm::Value* to,
                                                                  llvm::Value* from, int bytes,
                                                                  bool before) {
  llvm::LLVMContext& context = builder_.getContext();
  llvm::BasicBlock* const head = builder_.GetInsertBlock();
  llvm::BasicBlock* const copy = llvm::BasicBlock::Create(context, "piece", head->getParent());
  llvm::BasicBlock* const after = llvm::BasicBlock::Create(context, "copied", head->getParent());
  llvm::Value* const place = builder_.CreatePtrToInt(to, builder_.getInt64Ty());
  llvm::Value* const there = builder_.CreateAnd(place, uint64_t(bytes));
  builder_.CreateCondBr(builder_.CreateIsNotNull(there), copy, after);
  builder_.SetInsertPoint(copy);
  const auto moved = [&](llvm::Value* at) {
    return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), at,
                                       before ? -uint64_t(bytes) : uint64_t(bytes));
  };
  llvm::Value* const next_to = moved(to);
  llvm::Value* const next_from = moved(from);
  builder_.CreateAlignedStore(builder_.CreateAlignedLoad(builder_.getIntNTy(unsigned(8 * bytes)),
                                                         before ? next_from : from, anywhere),
                              before ? next_to : to, anywhere);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  const auto joined = [&](llvm::Value* without, llvm::Value* with) {
    llvm::PHINode* const at = builder_.CreatePHI(builder_.getPtrTy(), 2);
    at->addIncoming(without, head);
    at->addIncoming(with, copy);
    return at;
  };
  llvm::PHINode* const at = joined(to, next_to);
  return {at, joined(from, next_from)};
}

/// A loop of its own within the Block, a vector at a time.
void BlockTranslator::store_run(const Op& op) {
  const auto bytes = [&](int64_t n) { return builder_.getInt64(uint64_t(n)); };
  llvm::Value* const pattern = builder_.CreateVectorSplat(
      unsigned(program_.vector_bytes / run_pattern_bytes),
      builder_.CreateExtractElement(as_it_is(op.a, run_pattern_bytes), uint64_t{0}));
  llvm::Value* const first = address(op);
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::Function* const function = before->getParent();
  llvm::BasicBlock* const head = llvm::BasicBlock::Create(builder_.getContext(), "run", function);
  llvm::BasicBlock* const after =
      llvm::BasicBlock::Create(builder_.getContext(), "stored", function);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  llvm::PHINode* const at = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  at->addIncoming(bytes(0), before);
  builder_.CreateAlignedStore(pattern, builder_.CreateGEP(builder_.getInt8Ty(), first, at),
                              anywhere);
  llvm::Value* const next = builder_.CreateNSWAdd(at, bytes(program_.vector_bytes));
  at->addIncoming(next, head);
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, bytes(op.run)), head, after);
  builder_.SetInsertPoint(after);
}

void BlockTranslator::prefetch(const Op& op) {
  // Locality 3 is the first cache; the last argument: data, not instructions.
  constexpr uint32_t data = 1;
  const bool writes = op.width == 0;
  const uint32_t locality = writes ? 3 : uint32_t(4 - op.width);
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
                           {address(op), builder_.getInt32(writes ? 1 : 0),
                            builder_.getInt32(locality), builder_.getInt32(data)});
}

}  // namespace restride::llvm_jit
