//===- LowerKernel.h - from the tile_gpu level to LLVM's ------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_LOWERKERNEL_H
#define TILE_CODEGEN_GPU_LOWER_LOWERKERNEL_H

#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/plan/Shortage.h"
#include "codegen/gpu/target/GpuCode.h"
#include "codegen/gpu/target/Target.h"

namespace tile::codegen::gpu {

/// What a lowered kernel needs of its launch.
struct LoweredKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::LLVM::LLVMFuncOp function; // in the module
  unsigned threads = 0;
  /// Of a program: more than one are a cluster, and follow each other in the grid.
  unsigned blocks = 1;
  /// Of dynamic shared memory, a block.
  int64_t sharedBytes = 0;
  llvm::SmallVector<TensorBox> tensorMaps;
  /// The op that takes most of that, of the kernel that was lowered.
  mlir::Operation *largestOfShared = nullptr;
  /// Contractions whose types tensor cores have, but not as their tiles are, and why.
  llvm::SmallVector<PlainDot> plainDots;
  /// What the lowering has decided of loops.
  llvm::SmallVector<StagedLoop> stagedLoops;
  /// Whether there is a function with this suffix (GpuCode::start, finish).
  bool hasStart = false, hasFinish = false;
  /// Whether the function folds copies itself where the launch gives it a counter.
  bool foldsItself = false;
  static constexpr llvm::StringLiteral startSuffix = ".start", finishSuffix = ".finish";
  llvm::SmallVector<ReduceCopies, 1> copies;
  /// See GpuCode.
  llvm::SmallVector<unsigned, 1> keptBinders;
  bool storesAlone = false;
};

/// A kernel on the tile_gpu level as a module of the LLVM dialect and arith and math on scalars.
/// The function has the kernel's name; its parameters are the tensors' addresses and the scalars in
/// order (bool as i8), then the dims as i64, then what GpuCode says. Program n is block n of the
/// grid, or cluster n, the last binder fastest; there are fewer than 2^31. Fails, with an error at
/// the op, where the backend lacks it. `room` is the shared memory that blocks of turns to come may
/// have; 0: there are none.
mlir::FailureOr<LoweredKernel> lowerKernel(ir::KernelOp kernel, const GpuTarget &gpuTarget,
                                           int64_t room = mostSharedOfOp);

/// A function's name in the module, which no function that kernels call has.
inline constexpr llvm::StringLiteral symbolPrefix = "kernel.";
inline std::string symbolOf(llvm::StringRef name) { return (symbolPrefix + name).str(); }

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_LOWERKERNEL_H
