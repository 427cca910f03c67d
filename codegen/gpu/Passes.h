//===- Passes.h - from a kernel to its form on a GPU, pass by pass --------===//
//
// The one list of passes that take a specialized kernel to the tile_gpu level. The compiler and
// tile-opt (`--tile-gpu-pipeline`) run it; --print-after, --stop-after and --timing know its names.
//
// A pass may find that what was planned can't be had: that what follows sums needs them in another
// layout, or that CTAs of a cluster would exchange elements in a loop. That becomes a limit, and
// the list is run anew, on the kernel as it was; observers see each run. tile-opt has some of the
// passes by themselves, too, for the usual target.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_PASSES_H
#define TILE_CODEGEN_GPU_PASSES_H

#include "codegen/gpu/plan/PlanProgram.h"
#include "codegen/gpu/plan/Products.h"
#include "codegen/gpu/target/Target.h"

#include <functional>
#include <optional>
#include <string>

namespace tile::codegen::gpu {

/// What plans may not have, as passes have found.
struct PlanLimits {
  /// The most CTAs of a cluster.
  unsigned clusterSize = 0;
  /// Why a loop of products doesn't become a pipeline; empty: it may.
  std::string noPipeline;
};

/// What the passes of one run share.
struct PassState {
  const GpuTarget &target;
  bool sanitizes = false;
  PlanLimits limits;
  /// Set by a pass that has found a limit: the run is over.
  bool isRefused = false;
  /// The plan: a loop of products that becomes a pipeline, or how a program has its axes.
  std::optional<Product> product;
  ProgramPlan program;
};

/// A pass of the list. It fails with an error reported.
struct GpuPass {
  llvm::StringLiteral name, description;
  mlir::LogicalResult (*run)(ir::KernelOp kernel, PassState &state);
};

/// The list, in order.
llvm::ArrayRef<GpuPass> gpuPasses();

/// What a run of the list is asked for.
struct PassOptions {
  bool sanitizes = false;
  /// Whether only pipelines are wanted: there is no kernel where none comes of it.
  bool pipelinesOnly = false;
  /// The last pass to run; empty: all.
  std::string stopAfter;
  /// The observer is told after each pass, with the seconds that it took.
  std::function<void(llvm::StringRef name, double seconds, ir::KernelOp kernel)> observer;
};

/// What a run has made.
struct PassResult {
  /// Null where only pipelines are wanted, and none comes of it.
  mlir::OwningOpRef<ir::KernelOp> kernel;
  PlanLimits limits;
};

/// Runs the list on a copy of a specialized kernel. One that is on the tile_gpu level already is
/// checked for what the target has.
mlir::FailureOr<PassResult> runPasses(ir::KernelOp kernel, const GpuTarget &target,
                                      const PassOptions &options = {});

/// Registers the passes that tile-opt runs: the list as `tile-gpu-pipeline`, and its steps.
void registerGpuPasses();

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_PASSES_H
