//===- ArtifactCuda.h - a kernel's code for GPUs in an artifact -----------===//
//
// What a launch would be compiled for is not known yet, so there are variants:
// for whole axes up to some lengths and for any, and for tensors whose rows begin
// at multiples of 16 bytes and for any. Each has a guard over the dimensions.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_ARTIFACT_ARTIFACTCUDA_H
#define TILE_FRONTEND_ARTIFACT_ARTIFACTCUDA_H

#include "frontend/base/Outcome.h"
#include "frontend/execute/CodeFacts.h"
#include "frontend/execute/Compiler.h"
#include "runtime/artifact/CudaCode.h"

namespace tile::frontend {

struct CudaTargets {
  /// Names of runtime::GpuTargets, each once.
  std::vector<std::string> names;
  /// Machine code beside PTX, by ptxas or the driver of a device that is here.
  bool cubins = false;
};

/// The variants of a kernel for each target, the newest first; of a target, a launch takes the
/// first whose guard holds. What can only be compiled for axes of limited length has none for
/// longer ones, which a remark tells. Errors: what can't be compiled at all.
Outcome<std::vector<runtime::CudaVariant>> cudaVariants(Compiler &compiler, ir::KernelOp kernel,
                                                        const ir::Bindings &bindings,
                                                        const CudaTargets &targets);

/// The look at code for a target, ahead of time: each kernel is compiled for the dims and by what
/// `bindings` has for it. Where nothing assembles it here, nothing is known of spills.
SeeCode codeFor(Compiler &compiler, const runtime::GpuTarget &target,
                std::function<ir::Bindings(ir::KernelOp)> bindings);

/// The tile sizes that a specialized kernel has.
std::vector<std::pair<std::string, int64_t>> scheduleOf(ir::KernelOp kernel);

} // namespace tile::frontend

#endif // TILE_FRONTEND_ARTIFACT_ARTIFACTCUDA_H
