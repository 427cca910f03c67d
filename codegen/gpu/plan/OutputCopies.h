//===- OutputCopies.h - `reduce` outputs that have copies -----------------===//
#ifndef TILE_CODEGEN_GPU_PLAN_OUTPUTCOPIES_H
#define TILE_CODEGEN_GPU_PLAN_OUTPUTCOPIES_H

#include "codegen/gpu/target/GpuCode.h"
#include "ir/dialect/TileOps.h"

namespace tile::codegen::gpu {

/// The `reduce` outputs of a kernel that have copies; the others are updated atomically.
llvm::SmallVector<ReduceCopies, 1> copiesOf(ir::KernelOp kernel);
/// With more registers of a thread for the updates of all programs of a block, programs have fewer
/// for what they are about.
inline constexpr int64_t mostOfUpdates = 32;
/// The binders that decide which elements of all outputs with copies a program updates, if each of
/// these is updated once, in all its elements: blocks that differ in them may share a copy, where
/// threads have room for `mostOfUpdates` (lower/OutputEmitter.h).
llvm::SmallVector<unsigned, 1> keptBindersOf(ir::KernelOp kernel);
/// Whether what follows complete sums is little.
bool hasSmallFinishes(ir::KernelOp kernel);
/// Whether a kernel with copies has so few elements of them that its last block may fold them, and
/// all blocks come to the end.
bool foldsItself(ir::KernelOp kernel);
/// What is computed of an output's complete sums; null: nothing.
ir::FinishOp finishOf(ir::KernelOp kernel, unsigned param);

/// Whether it is the integer of a binder that has just one value, in all programs.
bool isOnlyOne(mlir::Value value);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_PLAN_OUTPUTCOPIES_H
