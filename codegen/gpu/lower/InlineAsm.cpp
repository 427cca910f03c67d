//===- InlineAsm.cpp - instructions that LLVM has no name for -------------===//

#include "codegen/gpu/lower/InlineAsm.h"

using namespace mlir;
using namespace tile::codegen;

Value gpu::inlineAsm(CodeBuilder &b, Type result, ValueRange operands, const std::string &text,
                     const std::string &constraints, bool hasSideEffects) {
  auto dialect = LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
  auto op = LLVM::InlineAsmOp::create(
      b, TypeRange(result ? TypeRange(result) : TypeRange()), operands, text, constraints,
      hasSideEffects, /*is_align_stack=*/false, LLVM::TailCallKind::None, dialect, ArrayAttr());
  return result ? op->getResult(0) : Value();
}

bool gpu::isConvergent(StringRef text) {
  return llvm::any_of(ArrayRef<StringRef>{".sync", ".aligned", "bar.", "barrier."},
                      [&](StringRef part) { return text.contains(part); });
}

std::string gpu::operandList(unsigned first, unsigned count) {
  std::string list;
  for (unsigned n = 0; n < count; ++n)
    list += (n ? ", $" : "$") + std::to_string(first + n);
  return count == 1 ? list : "{" + list + "}";
}

CodeBuilder::Values gpu::emitTiedAsm(CodeBuilder &b, ValueRange inputs, ValueRange others,
                                     const std::string &otherConstraints, const std::string &text) {
  size_t count = inputs.size();
  Type type = inputs[0].getType();
  std::string results, ties, letter = type.isF32() ? "=f" : "=r";
  for (size_t n = 0; n < count; ++n) {
    results += (n ? "," : "") + letter;
    ties += "," + std::to_string(n);
  }
  SmallVector<Type> types(count, type);
  Type result = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  SmallVector<Value> operands(inputs);
  llvm::append_range(operands, others);
  std::string constraints = results + ties + otherConstraints + ",~{memory}";
  Value all = inlineAsm(b, result, operands, text, constraints, /*hasSideEffects=*/true);
  CodeBuilder::Values values;
  for (size_t n = 0; n < count; ++n)
    values.push_back(LLVM::ExtractValueOp::create(b, all, n));
  return values;
}
