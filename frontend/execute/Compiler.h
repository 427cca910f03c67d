//===- Compiler.h - from a kernel's template to what runs -----------------===//
//
// The passes that every target shares, in one list: afterwards a kernel has
// static tile sizes, is simplified, and has its multiply-adds formed. Its
// dimensions stay open where the bindings leave them open.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EXECUTE_COMPILER_H
#define TILE_FRONTEND_EXECUTE_COMPILER_H

#include "codegen/cpu/CpuCompiler.h"
#include "codegen/gpu/GpuCompiler.h"
#include "frontend/execute/TunedSchedules.h"
#include "ir/transforms/Specialize.h"
#include "runtime/load/Cache.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/MapVector.h"

#include <chrono>
#include <functional>
#include <memory>

namespace mlir {
class Pass;
}

namespace tile::frontend {

struct PipelinePass {
  llvm::StringLiteral name;
  llvm::StringLiteral description;
  std::unique_ptr<mlir::Pass> (*create)(const ir::Bindings &bindings);
};

/// The pipeline. `elaborate`, which makes the template, goes before it.
llvm::ArrayRef<PipelinePass> tilePipeline();

/// What makes the template.
inline constexpr llvm::StringLiteral elaborateStage = "elaborate";

/// Names of passes on the command line, in order: `elaborate`, those that every target shares, and
/// those of GPUs.
std::vector<std::string> passNames();

/// Seconds by stage, in the order in which stages first ran.
using StageTimes = llvm::MapVector<llvm::StringRef, double>;

/// Adds the seconds it lives to a stage.
class StageTimer {
public:
  StageTimer(StageTimes &times, llvm::StringRef stage)
      : times(times), stage(stage), start(std::chrono::steady_clock::now()) {}
  ~StageTimer() {
    times[stage] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

private:
  StageTimes &times;
  llvm::StringRef stage;
  std::chrono::steady_clock::time_point start;
};

class Compiler {
public:
  /// Called after each pass, with what prints what it has made.
  using Observer = std::function<void(llvm::StringRef pass,
                                      llvm::function_ref<void(llvm::raw_ostream &)> print)>;
  Observer observer;
  /// What tells of the passes of a compiler for GPUs: their times, and to the observer.
  codegen::GpuOptions::Observer gpuObserver();
  /// The last pass to run; empty: all.
  std::string stopAfter;
  StageTimes times;
  /// Where objects are kept from one process to the next; null: nowhere.
  std::shared_ptr<runtime::Cache> cache;
  /// What was measured beside the sources.
  TunedSchedules tuned;
  /// Why the cache could not be written, the first time.
  std::optional<runtime::Error> cacheProblem;

  /// A copy of the template after the pipeline; null after reported errors.
  mlir::OwningOpRef<ir::KernelOp> compile(ir::KernelOp kernel, const ir::Bindings &bindings);
  /// Sizes for the CPU where the bindings have none: those of the `tuned` schedule, which may be
  /// null, else by the model. `dims` are those of a launch, negative or missing where they are not
  /// known.
  static void chooseTiles(ir::KernelOp kernel, ir::Bindings &bindings, llvm::ArrayRef<int64_t> dims,
                          int threads, const Schedule *tuned = nullptr);
  /// Chooses sizes for GPUs of a target; for dims that are `fixed`, blocks are no longer than their
  /// axes need. Returns the binders whose sizes nobody asked for: `compileForGpu` may choose
  /// smaller ones.
  static std::vector<std::string> chooseGpuTiles(ir::KernelOp kernel, ir::Bindings &bindings,
                                                 llvm::ArrayRef<int64_t> dims,
                                                 const runtime::GpuTarget &target,
                                                 bool fixed = false,
                                                 const Schedule *tuned = nullptr);
  /// Makes code of a specialized kernel. Where that needs more than the GPU has, it fails and fills
  /// the shortage; without one, that is an error.
  using MakeGpuCode = llvm::function_ref<mlir::LogicalResult(ir::KernelOp, codegen::GpuShortage *)>;
  /// Compiles a template, and makes code of it. As long as that needs too much, one of the `open`
  /// binders gets a smaller size, in `bindings`; a remark tells. What comes out depends on the
  /// arguments alone. Null after reported errors.
  mlir::OwningOpRef<ir::KernelOp> compileForGpu(ir::KernelOp kernel, ir::Bindings &bindings,
                                                llvm::ArrayRef<std::string> open, MakeGpuCode make);
  /// Smaller sizes with which a template lacks nothing any more, of binders and of what else the
  /// shortage names; empty where there are none.
  llvm::SmallVector<std::pair<std::string, int64_t>> fittingSizes(ir::KernelOp kernel,
                                                                  ir::Bindings bindings,
                                                                  codegen::GpuShortage shortage,
                                                                  MakeGpuCode make);
  /// The object of what `compile` gave: from the cache, or generated and stored there; none after
  /// reported errors.
  mlir::FailureOr<std::string> object(ir::KernelOp kernel, const codegen::CpuOptions &options = {});
  /// Machine code for this process from what `compile` gave; none after reported errors.
  mlir::FailureOr<codegen::CpuCode> jit(ir::KernelOp kernel,
                                        const codegen::CpuOptions &options = {});
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_EXECUTE_COMPILER_H
