//===- KernelLowering.h - a kernel's function, op by op -------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_KERNELLOWERING_H
#define TILE_CODEGEN_GPU_LOWER_KERNELLOWERING_H

#include "codegen/gpu/lower/AlongEmitter.h"
#include "codegen/gpu/lower/AtomicEmitter.h"
#include "codegen/gpu/lower/ControlEmitter.h"
#include "codegen/gpu/lower/DotEmitter.h"
#include "codegen/gpu/lower/ElementwiseEmitter.h"
#include "codegen/gpu/lower/MemoryEmitter.h"
#include "codegen/gpu/lower/OutputEmitter.h"
#include "codegen/gpu/lower/PipelineEmitter.h"
#include "codegen/gpu/lower/ReduceEmitter.h"
#include "codegen/gpu/lower/ReportEmitter.h"

namespace tile::codegen::gpu {

/// The families together, and the order in which a kernel's ops are emitted (LowerKernel.cpp,
/// Slices.cpp).
class KernelLowering {
public:
  KernelLowering(CodeBuilder &b, ir::KernelOp kernel, mlir::LLVM::LLVMFuncOp function,
                 const GpuTarget &gpuTarget, int64_t room = mostSharedOfOp);
  /// Emits the function that computes; fails with an error at an op that the backend lacks.
  mlir::LogicalResult run();

  CodeBuilder &b;
  LoweringContext ctx;
  OutputEmitter outputs{ctx};

private:
  void emitBlock(mlir::Block &block);
  /// Ops that are read where they matter, and those that only name a value.
  void registerOwnOps();

  //===-- What follows a pipeline's sums (Slices.cpp) -----------------------===//
  /// What follows is emitted some columns at a time, so that few registers hold what is made of
  /// the sums, but for what an op needs that takes all of a tile.
  void planSlices(mlir::Operation *sums);
  /// Whether what two slices have of them at a time isn't too much.
  bool haveRoomAhead(llvm::ArrayRef<mlir::Operation *> loads);
  void emitNext(mlir::Operation *op);
  void emitSlice(mlir::ArrayRef<mlir::Operation *> ops, int64_t begin, int64_t end);
  void emitFirstLoads();
  /// All of them but the first one's loads, and before them what is emitted as a whole.
  void emitSlices();
  /// What follows the sums is in two parts: the first is emitted as a whole, the rest `step`
  /// columns at a time. Its loads are emitted for `width` columns, so many ahead. Where there are
  /// no columns, all is emitted as a whole.
  struct Slices {
    mlir::StringAttr axis;
    int64_t columns = 0, width = 0, step = 0;
    llvm::SmallVector<mlir::Operation *> whole, loads, rest;
  } slices;

  ElementwiseEmitter elementwise{ctx};
  MemoryEmitter memory{ctx};
  ControlEmitter control{ctx};
  ReduceEmitter reductions{ctx};
  AlongEmitter along{ctx};
  DotEmitter dots{ctx};
  AtomicEmitter atomics{ctx};
  ReportEmitter reports{ctx};
  PipelineEmitter pipeline{ctx};
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_KERNELLOWERING_H
