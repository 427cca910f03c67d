//===- tile-translate.cpp - IR text to the code of a target, for tests ----===//

#include "codegen/cpu/CpuCompiler.h"
#include "codegen/gpu/GpuCompiler.h"
#include "codegen/gpu/dialect/TileGpuOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;
using namespace tile::codegen;

static llvm::cl::opt<std::string> target("target", llvm::cl::desc("The GPU to make code for"),
                                         llvm::cl::init("sm_90a"));
static llvm::cl::opt<std::string> cpu("cpu", llvm::cl::desc("The CPU to make code for"),
                                      llvm::cl::init("x86-64-v4"));

/// Of all kernels, one after the other.
static LogicalResult translate(ModuleOp module, llvm::raw_ostream &out, bool toLlvm) {
  if (!GpuTarget::find(target))
    return module.emitError("there is no target ") << target.getValue();
  GpuCompiler compiler({GpuTarget::of(target.getValue())});
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

/// As the CPU backend makes it; `toAsm`: with LLVM's code generator.
static LogicalResult translateForCpu(ModuleOp module, llvm::raw_ostream &out, bool toAsm) {
  CpuCompiler compiler({.cpu = cpu});
  for (auto kernel : module.getOps<tile::ir::KernelOp>()) {
    FailureOr<std::string> text =
        toAsm ? compiler.emitAssembly(kernel) : compiler.compileToLlvmIr(kernel);
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
  TranslateFromMLIRRegistration toCpuLlvm(
      "tile-cpu-to-llvm", "Kernels with their tile sizes to LLVM IR for a CPU",
      [](ModuleOp module, llvm::raw_ostream &out) { return translateForCpu(module, out, false); },
      registerDialects);
  TranslateFromMLIRRegistration toAsm(
      "tile-cpu-to-asm", "The same to a CPU's assembly",
      [](ModuleOp module, llvm::raw_ostream &out) { return translateForCpu(module, out, true); },
      registerDialects);
  return failed(mlirTranslateMain(argc, argv, "Translates kernels to code"));
}
