// Units, loops and streams; what a Block says is in block_translation.
#include "llvm/translation.hpp"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "llvm/block_translation.hpp"

namespace restride::llvm_jit {

using namespace program;

namespace {

/// Arguments of the function, as in Entry.
enum Argument : unsigned { code, operands, first_unit, last_unit };

class Translator {
 public:
  Translator(const Program& program, const Target& target, llvm::Function& function)
      : program_(program),
        target_(target),
        function_(function),
        builder_(function.getContext()),
        block_(program, target, builder_) {}

  Result<void> run() {
    builder_.SetInsertPoint(new_block("entry"));
    const Addresses bases = load_operands();
    int64_t before = 0;
    for (const auto& item : program_.root) {
      const For* loop = std::get_if<For>(&item);
      const int64_t units = loop ? loop->extent : 1;
      const Range range = units_of(before, units);
      llvm::BasicBlock* const run = new_block("units");
      llvm::BasicBlock* const next = new_block("next");
      builder_.CreateCondBr(builder_.CreateICmpSLT(range.begin, range.end), run, next);
      builder_.SetInsertPoint(run);
      if (loop) {
        this->loop(*loop, range, bases);
      } else {
        block_.translate(std::get<Block>(item), bases);
      }
      builder_.CreateBr(next);
      builder_.SetInsertPoint(next);
      before += units;
    }
    store_fence();
    builder_.CreateRetVoid();
    if (block_.untranslated() == nullptr) return {};
    return Error{ErrorCode::unsupported, "no translation of " + to_string(*block_.untranslated())};
  }

 private:
  /// Iterations [begin, end).
  struct Range {
    llvm::Value *begin, *end;
  };

  llvm::BasicBlock* new_block(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, &function_);
  }
  llvm::Value* number(int64_t n) { return builder_.getInt64(uint64_t(n)); }

  Addresses load_operands() {
    Addresses bases;
    llvm::Type* const pointer = builder_.getPtrTy();
    for (const int operand : program_.streams) {
      llvm::Value* const where =
          builder_.CreateConstGEP1_64(pointer, function_.getArg(operands), uint64_t(operand));
      bases.push_back(builder_.CreateLoad(pointer, where));
    }
    return bases;
  }

  /// The part of an item behind `before` units that is asked for.
  Range units_of(int64_t before, int64_t units) {
    llvm::Value* const first = function_.getArg(first_unit);
    llvm::Value* const last = function_.getArg(last_unit);
    if (program_.root.size() == 1) return {first, last};
    const auto within = [&](llvm::Value* n) {
      llvm::Value* const own = builder_.CreateSub(n, number(before));
      llvm::Value* const least =
          builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, own, number(0));
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, least, number(units));
    };
    return {within(first), within(last)};
  }

  /// The position of Step in iteration i, relative to where the stream stood before the loop.
  llvm::Value* position(const Step& step, llvm::Value* i) {
    llvm::Value* at = number(step.start);
    llvm::Value* count = step.phase ? builder_.CreateAdd(i, number(step.phase)) : i;
    int64_t stride = step.stride;
    const auto add = [&](llvm::Value* digit) {
      at = builder_.CreateAdd(at, builder_.CreateMul(digit, number(stride)));
    };
    for (const Wrap& wrap : step.wraps) {
      add(builder_.CreateURem(count, number(wrap.every)));
      count = builder_.CreateUDiv(count, number(wrap.every));
      stride = wrap.stride;
    }
    add(count);
    return at;
  }

  void loop(const For& loop, const Range& range, const Addresses& outside) {
    llvm::BasicBlock* const before = builder_.GetInsertBlock();
    llvm::BasicBlock* const head = new_block("loop");
    llvm::BasicBlock* const after = new_block("after");
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    llvm::PHINode* const i = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    i->addIncoming(range.begin, before);
    Addresses inside = outside;
    for (const Step& step : loop.steps) {
      llvm::Value*& stream = inside[size_t(step.stream)];
      stream = builder_.CreateGEP(builder_.getInt8Ty(), stream, position(step, i));
    }
    body(loop.body, inside);
    llvm::Value* const next = builder_.CreateNSWAdd(i, number(1));
    i->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, range.end), head, after);
    builder_.SetInsertPoint(after);
  }

  /// A loop of one iteration is none.
  void once(const For& loop, const Addresses& outside) {
    Addresses inside = outside;
    for (const Step& step : loop.steps) {
      llvm::Value*& stream = inside[size_t(step.stream)];
      stream = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), stream, uint64_t(step(0)));
    }
    body(loop.body, inside);
  }

  void body(const Body& body, const Addresses& at) {
    for (const auto& item : body) {
      const For* inner = std::get_if<For>(&item);
      if (!inner) {
        block_.translate(std::get<Block>(item), at);
      } else if (inner->extent == 1) {
        once(*inner, at);
      } else {
        loop(*inner, {number(0), number(inner->extent)}, at);
      }
    }
  }

  void store_fence() {
    if (!uses_nontemporal_stores(program_)) return;
    if (target_.architecture == Architecture::x86_64) {
      builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
    } else {
      builder_.CreateFence(llvm::AtomicOrdering::Release);
    }
  }

  const Program& program_;
  const Target& target_;
  llvm::Function& function_;
  llvm::IRBuilder<> builder_;
  BlockTranslator block_;
};

/// 16-byte lanes of an SVE register of the target; 0 where it has none.
unsigned sve_lanes(const Target& target) {
  switch (instruction_set(target)) {
    case InstructionSet::sve128:
      return 1;
    case InstructionSet::sve256:
      return 2;
    default:
      return 0;
  }
}

llvm::Function& declare(const Program& program, const Target& target, std::string_view symbol,
                        llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* const pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* const count = llvm::Type::getInt64Ty(context);
  llvm::FunctionType* const type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                                           {pointer, pointer, count, count}, false);
  llvm::Function* const function = llvm::Function::Create(
      type, llvm::Function::ExternalLinkage, llvm::StringRef(symbol.data(), symbol.size()), module);
  // Without these, some tunings split vectors of 64 bytes.
  const std::string bits = std::to_string(8 * program.vector_bytes);
  function->addFnAttr("min-legal-vector-width", bits);
  function->addFnAttr("prefer-vector-width", bits);
  // SVE registers have the length of the target's, no more and no less.
  if (const unsigned length = sve_lanes(target); length > 0) {
    function->addFnAttr(llvm::Attribute::getWithVScaleRangeArgs(context, length, length));
  }
  // Nothing unwinds through generated code: it makes no calls.
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return *function;
}

}  // namespace

Result<void> translate(const Program& program, const Target& target, std::string_view symbol,
                       llvm::Module& module) {
  return Translator(program, target, declare(program, target, symbol, module)).run();
}

}  // namespace restride::llvm_jit
