//===- ArtifactBuilder.h - kernels and graphs to an artifact --------------===//
#ifndef TILE_FRONTEND_ARTIFACT_ARTIFACTBUILDER_H
#define TILE_FRONTEND_ARTIFACT_ARTIFACTBUILDER_H

#include "frontend/artifact/ArtifactCuda.h"
#include "frontend/execute/Rules.h"

namespace tile::frontend {

/// What an artifact is compiled for.
struct ArtifactTargets {
  /// Processors; a machine takes the first that it is one of.
  std::vector<codegen::CpuOptions> cpus;
  CudaTargets gpus;
};

/// Compiles kernels and graphs of one module, and all that they call.
class ArtifactBuilder {
public:
  using Specialize = std::function<ir::Bindings(ir::KernelOp)>;

  /// `bindings` says what each kernel is specialized to.
  ArtifactBuilder(Compiler &compiler, mlir::ModuleOp module, ArtifactTargets targets,
                  Specialize bindings)
      : compiler(compiler), module(module), targets(std::move(targets)),
        bindings(std::move(bindings)), objects(this->targets.cpus.size()) {}

  using Types = std::vector<std::pair<std::string, std::string>>;
  /// Makes a symbol of the module callable by `name` for these types of its generics.
  Outcome<Done> add(const std::string &name, llvm::StringRef symbol, Types types);

  /// Compiles all that was added. The same sources, sizes and targets give the same artifact, but
  /// for machine code of GPUs, which depends on what makes it.
  Outcome<runtime::ArtifactData> finish();

private:
  Outcome<runtime::KernelData> compile(ir::KernelOp kernel);
  Outcome<Done> compileForCpus(ir::KernelOp kernel, ir::Bindings bound, runtime::KernelData &data);
  Outcome<runtime::ImageData> link(size_t cpu);

  Compiler &compiler;
  mlir::ModuleOp module;
  ArtifactTargets targets;
  Specialize bindings;
  KernelNumbers kernels;
  /// By processor.
  std::vector<std::vector<std::string>> objects;
  runtime::ArtifactData artifact;
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_ARTIFACT_ARTIFACTBUILDER_H
