//===- Translate.cpp - from lowered kernels to LLVM IR --------------------===//

#include "codegen/Translate.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"

#include "llvm/IR/Module.h"

using namespace mlir;
using namespace tile::ir;

void tile::codegen::loadLoweringDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<arith::ArithDialect, math::MathDialect, LLVM::LLVMDialect>();
}

static LogicalResult convertToLlvmDialect(ModuleOp module) {
  MLIRContext *context = module.getContext();
  LLVMConversionTarget target(*context);
  LLVMTypeConverter types(context);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  target.addLegalOp<ModuleOp>();
  ConversionConfig config;
  config.allowPatternRollback = false;
  return applyFullConversion(module, target, std::move(patterns), config);
}

std::unique_ptr<llvm::Module>
tile::codegen::translateToLlvm(ModuleOp module, llvm::LLVMContext &context, llvm::StringRef name) {
  if (failed(convertToLlvmDialect(module)))
    return nullptr;
  std::unique_ptr<llvm::Module> result =
      translateModuleToLLVMIR(module, context, name, /*disableVerification=*/true);
  if (!result)
    module.emitError("cannot be translated to LLVM IR");
  return result;
}

LogicalResult tile::codegen::checkIsSpecialized(KernelOp kernel) {
  WalkResult result = kernel.walk([&](Operation *op) {
    bool isOpen = false;
    if (auto parallel = dyn_cast<ParallelOp>(op))
      isOpen = llvm::any_of(parallel.getSizes(), ShapedType::isDynamic);
    else if (auto loop = dyn_cast<ForOp>(op))
      isOpen = ShapedType::isDynamic(loop.getSize());
    if (!isOpen)
      return WalkResult::advance();
    op->emitError("tile sizes are open: specialize the kernel first");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
