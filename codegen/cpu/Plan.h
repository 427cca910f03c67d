//===- Plan.h - which tiles are kept in scratch memory --------------------===//
//
// A tile is computed where it is used, unless that would repeat dear work: then
// it is kept. Results of roots and carried values are always kept.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_CPU_PLAN_H
#define TILE_CODEGEN_CPU_PLAN_H

#include "ir/dialect/TileOps.h"
#include "ir/proofs/Domain.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tile::codegen {

/// What an axis has: as a constant, or as its dim is likely to be (`likelyDimsAttrName`); dynamic
/// if neither is known.
int64_t likelyExtentOf(ir::KernelOp kernel, const ir::Domains &domains, mlir::StringAttr axis);

/// The axis along which elements are neighbours in memory; null if that is none of a block's own.
mlir::StringAttr innermostAxis(mlir::AffineMap map, mlir::ValueRange dims);

/// The most elements of a row of which several rows are read or written together, as many vectors.
inline constexpr int64_t mostOfFew = 4;

class Plan {
public:
  explicit Plan(ir::KernelOp kernel);

  /// True for the result of an elementwise op or load that is to be kept.
  bool keeps(mlir::Value value) const { return kept.contains(value); }
  /// True for a value at which a long chain of steps in one nest is cut, of a tile that is too long
  /// to be kept for that. A nest that can't do so computes it as what else it pulls.
  bool cuts(mlir::Value value) const { return cut.contains(value); }
  /// True for the result of a load that several nests read row by row: it is copied where rows
  /// collide (CollidingRows.cpp).
  bool mayCopy(mlir::Value value) const { return copied.contains(value); }
  /// An axis along which nests read a load that is kept, where its rows go along another; else
  /// null.
  mlir::StringAttr readAcrossAlong(mlir::Value value) const { return turned.lookup(value); }
  /// True for what is computed at its uses.
  bool isPulled(mlir::Value value) const;
  /// Calls `leaf` for each kept tile and load that computing `value` reads.
  void forEachLeaf(mlir::Value value, llvm::function_ref<void(mlir::Value)> leaf) const;
  /// Calls `visit` for these, and for what is computed of them on the way to `value`.
  void forEachPulled(mlir::Value value, llvm::function_ref<void(mlir::Value)> visit) const;

  /// Whether all that a value is computed of is there where `place` stands, as it will be later.
  bool isReadyAt(mlir::Value value, mlir::Operation *place) const;

  /// Cost of an element with what it pulls, in rough additions.
  int costOf(mlir::Value value) const { return costs.lookup_or(value, 1); }

  /// Whether blocks are loaded along one axis and stored along another.
  bool transposes() const { return rowsReadAcross() != nullptr; }
  /// The axis along which such a block, that of the first load, has its rows in the tensor that it
  /// is loaded from; else null.
  mlir::StringAttr rowsReadAcross() const { return rowsAcross; }

  /// How many stores a nest has at most: streams at a time.
  static constexpr size_t mostStores = 4;
  /// The stores behind another one that may come in its nest: nothing that writes, or may leave,
  /// stands between, nothing there reads what they overwrite, and all that they need is ready; as
  /// long as `goesOn` says so.
  void forEachStoreBehind(ir::StoreOp op, llvm::function_ref<bool(ir::StoreOp)> goesOn) const;
  /// Whether no store may come before it that stands behind it.
  static bool mayWriteOrLeave(mlir::Operation *op);

  /// An op whose results are a nest of its own.
  static bool isRoot(mlir::Operation *op);

private:
  bool isReadAgain(llvm::ArrayRef<mlir::Operation *> users) const;

  llvm::DenseSet<mlir::Value> kept, cut, copied;
  llvm::DenseMap<mlir::Value, int> costs;
  llvm::DenseMap<mlir::Value, mlir::StringAttr> turned;
  mlir::StringAttr rowsAcross;
};

} // namespace tile::codegen

#endif // TILE_CODEGEN_CPU_PLAN_H
