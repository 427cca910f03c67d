//===- tile-translate.cpp - IR text to the code of a target, for tests ----===//

#include "codegen/gpu/GpuCompiler.h"
#include "codegen/gpu/TileGpuOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;
using namespace tile::codegen;

static llvm::cl::opt<std::string> target("target", llvm::cl::desc("The GPU to make code for"),
                                         llvm::cl::init("sm_90a"));

/// Of all kernels, one after the other.
static LogicalResult translate(ModuleOp module, llvm::raw_ostream &out, bool toLlvm) {
  GpuCompiler compiler({target});
  for (auto kernel : module.getOps<tile::ir::KernelOp>()) {
    FailureOr<std::string> text;
    if (toLlvm)
      text = compiler.compileToLlvmIr(kernel);
    else if (FailureOr<GpuCode> code = compiler.compileToPtx(kernel); succeeded(code))
      text = code->ptx;
    if (failed(text))
      return failure();
    out << *text;
  }
  return success();
}

static void registerDialects(DialectRegistry &registry) {
  registry.insert<tile::ir::TileDialect, gpu::TileGpuDialect, arith::ArithDialect,
                  math::MathDialect, scf::SCFDialect, func::FuncDialect>();
}

int main(int argc, char **argv) {
  TranslateFromMLIRRegistration toPtx(
      "tile-gpu-to-ptx", "Kernels of the tile or tile_gpu level to PTX",
      [](ModuleOp module, llvm::raw_ostream &out) { return translate(module, out, false); },
      registerDialects);
  TranslateFromMLIRRegistration toLlvm(
      "tile-gpu-to-llvm", "Kernels of the tile or tile_gpu level to LLVM IR",
      [](ModuleOp module, llvm::raw_ostream &out) { return translate(module, out, true); },
      registerDialects);
  return failed(mlirTranslateMain(argc, argv, "Translates kernels to code"));
}
