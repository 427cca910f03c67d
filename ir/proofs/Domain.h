//===- Domain.h - axes and domains of one kernel --------------------------===//
//
// Where each axis of a kernel comes from and which conditions restrict it.
// Axis names are unique in a kernel, and a `tile.restrict` stands where its
// last span is bound, so both are plain tables: a tile's domain is
//
//   { coordinates | lower ≤ c < upper for each axis,
//                   and every restrict whose spans are all among its axes }.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_PROOFS_DOMAIN_H
#define TILE_IR_PROOFS_DOMAIN_H

#include "ir/dialect/TileOps.h"

#include "llvm/ADT/MapVector.h"

namespace tile::ir {

class Domains {
public:
  explicit Domains(KernelOp kernel);

  /// The !tile.span value that binds the axis: an argument of tile.parallel or
  /// tile.for, or the result of a tile.axis. Null for an unknown name.
  mlir::Value spanOf(mlir::StringRef axis) const { return spans.lookup(axis); }

  /// The bounds [lower, upper) of an axis, as i64 values. For a `sequential` or
  /// block span these bound the whole dimension range, not one block.
  std::pair<mlir::Value, mlir::Value> boundsOf(mlir::StringRef axis) const;

  /// The restricts that apply to a tile with these axes.
  llvm::SmallVector<RestrictOp> restrictsOn(mlir::ArrayRef<mlir::StringAttr> axes) const;

  /// The restricts of a loop's own binder: those of its body that name its span.
  llvm::SmallVector<RestrictOp> restrictsOf(ForOp loop) const;

  /// True if the axis is a block span: of tile.parallel or tile.for.
  bool isBlock(mlir::StringRef axis) const;

private:
  llvm::StringMap<mlir::Value> spans;
  llvm::SmallVector<RestrictOp> restricts;
};

/// The name of a span value's axis.
inline mlir::StringAttr axisOf(mlir::Value span) {
  return mlir::cast<SpanType>(span.getType()).getName();
}

} // namespace tile::ir

#endif // TILE_IR_PROOFS_DOMAIN_H
