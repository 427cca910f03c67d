//===- LaunchChecks.h - what launches check, as requirements of a graph ---===//
//
// A call that goes, or that becomes others, leaves behind what its launch would
// have checked: a graph refuses the same inputs before and after.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_LAUNCHCHECKS_H
#define TILE_IR_FUSION_LAUNCHCHECKS_H

#include "ir/fusion/GraphShapes.h"

namespace tile::ir {

/// An extent as a number in the graph, before the builder's place; null where no number is known
/// that gives it.
mlir::Value materializeExtent(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr extent,
                              GraphShapes &shapes);

/// Has the graph require that extents are what they are declared as, where that isn't known, with
/// this message. False if it can't be said.
bool requireExtents(mlir::OpBuilder &builder, mlir::Location loc,
                    llvm::ArrayRef<mlir::AffineExpr> extents,
                    llvm::ArrayRef<mlir::AffineExpr> declared, const llvm::Twine &message,
                    GraphShapes &shapes);

/// Before a call: that its inputs have the extents that its callee declares. False as above.
bool requireInputs(CallOp call, GraphShapes &shapes);

/// Before a call of a kernel: all that the kernel requires. False as above.
bool requireConditions(CallOp call, GraphShapes &shapes);

} // namespace tile::ir

#endif // TILE_IR_FUSION_LAUNCHCHECKS_H
