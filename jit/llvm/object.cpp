// IR goes to the code generator as it is: a pipeline of IR passes costs milliseconds and changes
// nothing about loop nests that a planner made.
#include "llvm/object.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

#include "llvm/machine.hpp"
#include "llvm/translation.hpp"

namespace restride::llvm_jit {
namespace {

/// Keeps what the code generator has to say, where LLVM would print it and end the process.
class Diagnostics final : public llvm::DiagnosticHandler {
 public:
  explicit Diagnostics(std::string& errors) : errors_(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(errors_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }

 private:
  std::string& errors_;
};

llvm::StringRef name_of(std::string_view symbol) { return {symbol.data(), symbol.size()}; }

/// Puts a constant that describes a function beside it: the description, then its address.
void describe(llvm::Function& function, std::span<const uint8_t> description) {
  llvm::LLVMContext& context = function.getContext();
  llvm::Constant* const bytes = llvm::ConstantDataArray::get(
      context, llvm::ArrayRef<uint8_t>(description.data(), description.size()));
  llvm::Constant* const both = llvm::ConstantStruct::getAnon({bytes, &function});
  auto* const constant = new llvm::GlobalVariable(*function.getParent(), both->getType(), true,
                                                  llvm::GlobalValue::ExternalLinkage, both,
                                                  function.getName() + "_object");
  constant->setAlignment(llvm::Align(sizeof(void*)));
}

}  // namespace

Result<llvm::SmallVector<char, 0>> emit(const Program& program, const Target& target,
                                        std::string_view symbol, Form form,
                                        std::span<const uint8_t> description) {
  Result<std::unique_ptr<llvm::TargetMachine>> machine = make_machine(program, target);
  if (!machine) return machine.error();
  llvm::LLVMContext context;
  context.setDiscardValueNames(true);
  std::string errors;
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(errors));
  llvm::Module module("restride", context);
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  const Result<void> translated = translate(program, target, symbol, module);
  if (!translated) return translated.error();
  if (!description.empty()) describe(*module.getFunction(name_of(symbol)), description);

  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  constexpr bool without_verifier = true;
  const auto type = form == Form::object ? llvm::CodeGenFileType::ObjectFile
                                         : llvm::CodeGenFileType::AssemblyFile;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, type, without_verifier)) {
    return Error{ErrorCode::unsupported, "this LLVM writes no such files"};
  }
  passes.run(module);
  if (!errors.empty()) return Error{ErrorCode::compile_failed, errors};
  return bytes;
}

}  // namespace restride::llvm_jit
