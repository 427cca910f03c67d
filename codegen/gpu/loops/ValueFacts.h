//===- ValueFacts.h - what can be said of single values and ops -----------===//
//
// What a value is made of, and where an op may stand, by the IR alone: no plan and no layout is
// asked.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOOPS_VALUEFACTS_H
#define TILE_CODEGEN_GPU_LOOPS_VALUEFACTS_H

#include "ir/dialect/TileOps.h"

#include "llvm/ADT/SetVector.h"

namespace tile::codegen::gpu {

/// Whether each element of an op's results comes of one element of each tile that it takes.
bool isElementwise(mlir::Operation *op);

/// Whether another role can compute a number of a program, too: from the program's place, the
/// dimensions, and elements of tensors that nobody changes.
bool isRepeatable(mlir::Value number);

/// Whether sums begin with zeros, to which the first product needn't be added.
bool isZero(mlir::Value init);

/// Whether something that a value is computed from is a contraction, as far as no loop is between.
bool isOfDot(mlir::Value value);

/// Whether all that a kernel reads of a tensor is read before anything is written there, and the
/// latter behind the loop: of an `inout`, such as what the product is added to.
bool isReadFirst(mlir::Value tensor, mlir::Operation *loop);

/// Whether an op of a kernel gives the same before and behind a loop of its block.
bool isMovable(mlir::Operation *op, mlir::Operation *loop, ir::KernelOp kernel);

/// What a value is where the loads of which `isZero` says so give 0; null where that isn't known,
/// as it hangs on others. A number, or elements that are all the same.
mlir::Attribute valueOfZeros(mlir::Value value, llvm::function_ref<bool(ir::LoadOp)> isZero);
/// Whether such a value is known to be a finite number, which adds nothing to products with zeros;
/// and whether it is known to be 0.
bool isFiniteOfZeros(mlir::Value value, llvm::function_ref<bool(ir::LoadOp)> isZero);
bool isZeroOfZeros(mlir::Value value, llvm::function_ref<bool(ir::LoadOp)> isZero);

/// Adds the dimensions that a value is computed from.
void collectDims(mlir::Value value, llvm::SetVector<llvm::StringRef> &names);

/// Whether a contraction's sums have an axis of more than an element that no tile size cuts.
bool hasWholeRows(ir::DotOp dot);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOOPS_VALUEFACTS_H
