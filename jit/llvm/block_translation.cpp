// Operations on registers, as shuffles. The code generator finds the instruction that the planner
// had in mind, or a better one.
#include "llvm/block_translation.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace restride::llvm_jit {

using namespace program;

void BlockTranslator::translate(const Block& block, const Addresses& at) {
  at_ = &at;
  for (const Op& op : block) {
    if (op.to == none) {
      effect(op);
      continue;
    }
    llvm::Value* value = result(op);
    if (value == nullptr) {
      if (untranslated_ == nullptr) untranslated_ = &op;
      value = llvm::PoisonValue::get(vector(1));
    }
    if (size_t(op.to) >= registers_.size()) registers_.resize(2 * size_t(op.to) + 64);
    registers_[size_t(op.to)] = value;
  }
}

llvm::Value* BlockTranslator::result(const Op& op) {
  switch (op.code) {
    case Code::load:
      return load(op);
    case Code::splat:
      return splat(op);
    case Code::shift:
      return shift(op);
    case Code::load_for_line:
      return load_for_line(op);
    case Code::constant:
      return constant(op);
    case Code::unpack_low:
    case Code::unpack_high:
      return unpack(op);
    case Code::lanes:
      return lanes(op);
    case Code::insert:
      return insert(op);
    case Code::extract:
      return extract(op);
    case Code::permute:
      return permute(op);
    case Code::shuffle:
      return shuffle(op);
    case Code::convert:
      return convert(op);
    case Code::compute:
      return compute(op);
    case Code::round:
      return round(op);
    case Code::spread:
      return spread(op);
    case Code::pack:
      return pack(op);
    case Code::mix_low:
    case Code::mix_high:
      return mix(op);
    default:
      return nullptr;
  }
}

void BlockTranslator::effect(const Op& op) {
  switch (op.code) {
    case Code::store:
      return store(op);
    case Code::store_nontemporal:
      return store_nontemporal(op);
    case Code::store_line:
      return store_line(op);
    case Code::store_begin:
    case Code::store_end:
      return store_in_line(op);
    case Code::copy_begin:
    case Code::copy_end:
      return copy_in_line(op);
    case Code::store_run:
      return store_run(op);
    case Code::prefetch:
      return prefetch(op);
    default:
      return;
  }
}

llvm::FixedVectorType* BlockTranslator::vector(int width, int bytes) const {
  return llvm::FixedVectorType::get(builder_.getIntNTy(unsigned(8 * width)),
                                    unsigned(bytes / width));
}

bool BlockTranslator::is_narrow(Reg r) const {
  return registers_[size_t(r)]->getType()->getPrimitiveSizeInBits() <
         unsigned(8 * program_.vector_bytes);
}

llvm::Value* BlockTranslator::as(Reg r, int width) {
  if (!is_narrow(r)) return builder_.CreateBitCast(registers_[size_t(r)], vector(width));
  llvm::Value* const lane = as_it_is(r, width);
  return builder_.CreateInsertVector(vector(width), llvm::Constant::getNullValue(vector(width)),
                                     lane, uint64_t{0});
}

llvm::Value* BlockTranslator::as_it_is(Reg r, int width) {
  const int bytes = is_narrow(r) ? 16 : program_.vector_bytes;
  return builder_.CreateBitCast(registers_[size_t(r)], vector(width, bytes));
}

llvm::Value* BlockTranslator::shuffled(int width, Reg a, Reg b, const Indices& indices) {
  return builder_.CreateShuffleVector(as(a, width), as(b == none ? a : b, width), indices);
}

llvm::Value* BlockTranslator::constant(const Op& op) {
  const std::vector<uint8_t>& table = program_.tables[size_t(op.table)];
  return llvm::ConstantDataVector::get(builder_.getContext(),
                                       llvm::ArrayRef<uint8_t>(table.data(), table.size()));
}

llvm::Value* BlockTranslator::unpack(const Op& op) {
  const int count = program_.vector_bytes / op.width, in_lane = 16 / op.width;
  const int half = op.code == Code::unpack_high ? in_lane / 2 : 0;
  Indices indices;
  for (int k = 0; k < count; ++k) {
    indices.push_back(k % 2 * count + k / in_lane * in_lane + half + k % in_lane / 2);
  }
  return shuffled(op.width, op.a, op.b, indices);
}

llvm::Value* BlockTranslator::lanes(const Op& op) {
  const int count = program_.vector_bytes / 16, bits = count == 4 ? 2 : 1;
  Indices indices;
  for (int lane = 0; lane < count; ++lane) {
    const int from = op.select >> (lane * bits) & (count - 1);
    const int first = 2 * ((lane < count / 2 ? 0 : count) + from);
    indices.append({first, first + 1});
  }
  return shuffled(8, op.a, op.b, indices);
}

llvm::Value* BlockTranslator::insert(const Op& op) {
  llvm::Value* lane = as_it_is(op.b, 8);
  if (!is_narrow(op.b)) lane = builder_.CreateExtractVector(vector(8, 16), lane, uint64_t{0});
  return builder_.CreateInsertVector(vector(8), as(op.a, 8), lane, uint64_t(op.at / 8));
}

llvm::Value* BlockTranslator::extract(const Op& op) {
  return builder_.CreateExtractVector(vector(8, 16), as(op.a, 8), uint64_t(op.at / 8));
}

/// An entry that may choose anything keeps its own place.
llvm::Value* BlockTranslator::permute(const Op& op) {
  const std::vector<uint8_t>& table = program_.tables[size_t(op.table)];
  Indices indices;
  const int count = program_.vector_bytes / op.width, entries = int(table.size());
  for (int k = 0; k < count; ++k) {
    const int at = k % entries, from = table[size_t(at)];
    const int second = from < entries ? 0 : count - entries;
    indices.push_back(from == undefined ? k : k - at + from + second);
  }
  return shuffled(op.width, op.a, op.b, indices);
}

/// Only processors with AVX-512 have vectors that are lines, with masks.
llvm::Value* BlockTranslator::shift(const Op& op) {
  const llvm::Intrinsic::ID permutes =
      op.width == 1   ? llvm::Intrinsic::x86_avx512_vpermi2var_qi_512
      : op.width == 2 ? llvm::Intrinsic::x86_avx512_vpermi2var_hi_512
      : op.width == 4 ? llvm::Intrinsic::x86_avx512_vpermi2var_d_512
                      : llvm::Intrinsic::x86_avx512_vpermi2var_q_512;
  const unsigned count = unsigned(program_.vector_bytes / op.width);
  llvm::IntegerType* const index = builder_.getIntNTy(unsigned(8 * op.width));
  llvm::SmallVector<llvm::Constant*, 64> places;
  for (unsigned k = 0; k < count; ++k) places.push_back(llvm::ConstantInt::get(index, count + k));
  llvm::Value* const by = builder_.CreateUDiv(place_in_line(op), builder_.getInt64(op.width));
  llvm::Value* const chosen =
      builder_.CreateSub(llvm::ConstantVector::get(places),
                         builder_.CreateVectorSplat(count, builder_.CreateTrunc(by, index)));
  return builder_.CreateIntrinsic(permutes, {}, {as(op.a, op.width), chosen, as(op.b, op.width)});
}

llvm::Value* BlockTranslator::shuffle(const Op& op) {
  const std::vector<uint8_t>& table = program_.tables[size_t(op.table)];
  Indices indices;
  for (int k = 0; k < program_.vector_bytes; ++k) {
    const int from = table[size_t(k)] == undefined ? k % 16 : table[size_t(k)];
    indices.push_back(k / 16 * 16 + from);
  }
  return shuffled(1, op.a, none, indices);
}

}  // namespace restride::llvm_jit
