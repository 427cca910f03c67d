//===- ArtifactBuilder.h - kernels and graphs to an artifact --------------===//
#ifndef TILE_FRONTEND_ARTIFACTBUILDER_H
#define TILE_FRONTEND_ARTIFACTBUILDER_H

#include "frontend/Compiler.h"
#include "frontend/Rules.h"

namespace tile::frontend {

/// Compiles kernels and graphs of one module, and all that they call, for one processor.
class ArtifactBuilder {
public:
  using Specialize = std::function<ir::Bindings(ir::KernelOp)>;

  /// `bindings` says what each kernel is specialized to.
  ArtifactBuilder(Compiler &compiler, mlir::ModuleOp module, codegen::CpuOptions options,
                  Specialize bindings)
      : compiler(compiler), module(module), options(std::move(options)),
        bindings(std::move(bindings)) {}

  using Types = std::vector<std::pair<std::string, std::string>>;
  /// Makes a symbol of the module callable by `name` for these types of its generics.
  Outcome<Done> add(const std::string &name, llvm::StringRef symbol, Types types);

  /// Compiles all that was added. The same sources, sizes and processor give the same artifact.
  Outcome<runtime::ArtifactData> finish();

private:
  Outcome<runtime::KernelData> compile(ir::KernelOp kernel);
  Outcome<runtime::ImageData> link();

  Compiler &compiler;
  mlir::ModuleOp module;
  codegen::CpuOptions options;
  Specialize bindings;
  KernelNumbers kernels;
  std::vector<std::string> objects;
  runtime::ArtifactData artifact;
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_ARTIFACTBUILDER_H
