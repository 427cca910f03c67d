//===- Compiler.cpp - from a kernel's template to what runs ---------------===//

#include "frontend/Compiler.h"

#include "codegen/cpu/ChooseTiles.h"
#include "frontend/CrashReport.h"
#include "ir/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

llvm::ArrayRef<PipelinePass> tile::frontend::tilePipeline() {
  using ir::Bindings;
  static const PipelinePass passes[] = {
      {"specialize", "binds tile sizes and the dimensions that are given",
       [](const Bindings &bindings) { return ir::createSpecializePass(bindings); }},
      {"canonicalize", "folds and simplifies",
       [](const Bindings &) { return createCanonicalizerPass(); }},
      {"cse", "computes equal values once", [](const Bindings &) { return createCSEPass(); }},
      {"form-fma", "forms multiply-adds, for every target the same way",
       [](const Bindings &) { return ir::createFormFmaPass(); }},
  };
  return passes;
}

OwningOpRef<ir::KernelOp> Compiler::compile(ir::KernelOp source, const ir::Bindings &bindings) {
  CrashReport::Scope scope("compiling kernel " + source.getSymName().str(), source);
  OwningOpRef<ir::KernelOp> kernel(source.clone());
  for (const PipelinePass &pass : tilePipeline()) {
    PassManager manager(source.getContext(), ir::KernelOp::getOperationName());
    manager.addPass(pass.create(bindings));
    {
      StageTimer timer(times, pass.name);
      if (failed(manager.run(kernel.get())))
        return {};
    }
    if (observer)
      observer(pass.name, kernel.get());
    if (pass.name == stopAfter)
      break;
  }
  return kernel;
}

void Compiler::chooseTiles(ir::KernelOp kernel, ir::Bindings &bindings, ArrayRef<int64_t> dims,
                           int threads) {
  auto chosen =
      codegen::chooseTiles(kernel, dims, bindings.sizes, codegen::CpuMachine::native(threads));
  for (const auto &[binder, size] : chosen)
    bindings.sizes.try_emplace(binder, size);
}

FailureOr<codegen::CpuCode> Compiler::jit(ir::KernelOp kernel) {
  CrashReport::Scope scope("generating code for kernel " + kernel.getSymName().str(), kernel);
  StageTimer timer(times, "cpu code");
  return codegen::CpuCompiler().jit(kernel);
}
