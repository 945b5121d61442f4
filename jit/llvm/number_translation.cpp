// Operations on numbers, packed ones too: which elements of a register they are, and where the
// results go. What is computed of them is in ElementTranslator.
#include <llvm/IR/Constants.h>

#include <algorithm>

#include "element/float_format.hpp"
#include "llvm/block_translation.hpp"

namespace restride::llvm_jit {

using namespace program;

namespace {

int part_bytes(ElementType type) { return int(storage_bytes(part_type(type))); }

}  // namespace

/// The elements that are converted, then the register that the results are put into.
llvm::Value* BlockTranslator::convert(const Op& op) {
  const int whole = program_.vector_bytes;
  const int from = int(storage_bytes(op.from)), to = int(storage_bytes(op.type));
  const int count = whole / std::max(from, to), width = part_bytes(op.from);
  llvm::Value* elements = as(op.a, width);
  if (from < to) {
    elements = builder_.CreateExtractVector(vector(width, count * from), elements,
                                            uint64_t(op.at / width));
  }
  llvm::Value* const result = converted(op, elements);
  if (to >= from) return result;
  const int result_width = part_bytes(op.type);
  llvm::Value* const into = argument(op.b, result_width, whole);
  return builder_.CreateInsertVector(into->getType(), into, result, uint64_t(op.at / result_width));
}

llvm::Value* BlockTranslator::converted(const Op& op, llvm::Value* elements) {
  const ElementType from = part_type(op.from), to = part_type(op.type);
  if (is_complex(op.from) && op.type == ElementType::pred) {
    return builder_.CreateOr(elements_.nonzero(from, elements_.every_other(elements, 0)),
                             elements_.nonzero(from, elements_.every_other(elements, 1)));
  }
  llvm::Value* const result = elements_.convert(elements, from, to);
  if (!is_complex(op.type) || is_complex(op.from)) return result;
  return elements_.interleaved(result, llvm::Constant::getNullValue(result->getType()));
}

llvm::Value* BlockTranslator::compute(const Op& op) {
  const int width = part_bytes(op.type);
  llvm::Value* const result =
      elements_.compute(op.operation(), op.type, as(op.a, width), as(op.b, width));
  if (op.width != 1 || result == nullptr) return result;
  llvm::FixedVectorType* const all = vector(1);
  llvm::Value* const bytes = builder_.CreateTrunc(result, vector(1, program_.vector_bytes / width));
  return builder_.CreateInsertVector(all, llvm::Constant::getNullValue(all), bytes, uint64_t{0});
}

/// Every step makes of each byte two with half of its bits.
llvm::Value* BlockTranslator::spread(const Op& op) {
  const bool least_first = op.packing_order() == PackingOrder::least_significant_first;
  int bytes = program_.vector_bytes * op.width / 8;
  llvm::Value* fields =
      builder_.CreateExtractVector(vector(1, bytes), as(op.a, 1), uint64_t(op.at));
  for (unsigned half = 4; half >= op.width; half /= 2) {
    llvm::FixedVectorType* const pairs = vector(2, 2 * bytes);
    const uint64_t ones = (1u << half) - 1;
    llvm::Value* const both = builder_.CreateZExt(fields, pairs);
    llvm::Value* const first = least_first ? both : builder_.CreateLShr(both, half);
    llvm::Value* const second = builder_.CreateShl(both, least_first ? 8 - half : 8);
    fields = builder_.CreateAnd(builder_.CreateOr(first, second),
                                llvm::ConstantInt::get(pairs, ones << 8 | ones));
    bytes *= 2;
    fields = builder_.CreateBitCast(fields, vector(1, bytes));
  }
  return fields;
}

/// Every step makes one byte of two.
llvm::Value* BlockTranslator::pack(const Op& op) {
  const bool least_first = op.packing_order() == PackingOrder::least_significant_first;
  int bytes = program_.vector_bytes;
  // What is undefined must not spread to its neighbours.
  llvm::Value* fields =
      builder_.CreateAnd(builder_.CreateFreeze(as(op.a, 1)),
                         llvm::ConstantInt::get(vector(1, bytes), (1u << op.width) - 1));
  for (unsigned bits = op.width; bits < 8; bits *= 2) {
    llvm::Value* const pairs = builder_.CreateBitCast(fields, vector(2, bytes));
    llvm::Value* const first = least_first ? pairs : builder_.CreateShl(pairs, bits);
    llvm::Value* const second = builder_.CreateLShr(pairs, least_first ? 8 - bits : 8);
    bytes /= 2;
    fields = builder_.CreateTrunc(builder_.CreateOr(first, second), vector(1, bytes));
  }
  llvm::Value* const into = argument(op.b, 1, program_.vector_bytes);
  return builder_.CreateInsertVector(into->getType(), into, fields, uint64_t(op.at));
}

llvm::Value* BlockTranslator::mix(const Op& op) {
  const bool high = op.code == Code::mix_high;
  llvm::Constant* const even = llvm::ConstantInt::get(vector(1), 0xff / ((1u << op.width) + 1));
  llvm::Value* const a = as(op.a, 1);
  llvm::Value* const first = builder_.CreateAnd(high ? builder_.CreateLShr(a, op.width) : a, even);
  if (op.b == none) return first;
  llvm::Value* const b = as(op.b, 1);
  return builder_.CreateOr(first, builder_.CreateAnd(high ? b : builder_.CreateShl(b, op.width),
                                                     builder_.CreateNot(even)));
}

llvm::Value* BlockTranslator::round(const Op& op) {
  return elements_.round(op.type, as(op.a, part_bytes(op.type)));
}

}  // namespace restride::llvm_jit
