//===- UniteAxes.h - whole axes that are the same -------------------------===//
//
// Kernels that become one bring axes of their own over the same coordinates.
// Two whole axes without conditions and with equal bounds are one, unless some
// op has both: a name is all that tells them apart. What is loaded along both
// is then loaded once.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_UNITEAXES_H
#define TILE_IR_FUSION_UNITEAXES_H

#include "ir/dialect/TileOps.h"

namespace tile::ir {

/// An integer of a kernel as an expression over its dims as symbols, or none.
mlir::AffineExpr traceDims(mlir::Value value);

/// Whether some condition restricts tiles along the axis.
bool isRestricted(KernelOp kernel, mlir::StringAttr axis);

/// The coordinates between two bounds, if both are numbers; else dynamic.
int64_t knownExtent(mlir::Value lower, mlir::Value upper);

/// Gives whole axes between numbers static extents, as those have that are written so.
void fixAxes(KernelOp kernel);

/// Calls the axis as another one is called, everywhere.
void renameAxis(KernelOp kernel, mlir::StringAttr from, mlir::StringAttr to);

void uniteAxes(KernelOp kernel);

} // namespace tile::ir

#endif // TILE_IR_FUSION_UNITEAXES_H
