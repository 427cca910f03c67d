//===- FoldOrder.h - in which order a reduction adds up -------------------===//
//
// Sums of floats depend on the order of their elements. Which one is fastest
// hangs on what is computed around a reduction, so two kernels with the same
// sum may choose differently. An order that is known can be asked for instead.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_CPU_FOLDORDER_H
#define TILE_CODEGEN_CPU_FOLDORDER_H

#include "ir/dialect/TileOps.h"

#include "llvm/ADT/MapVector.h"

namespace tile::codegen {

/// Of a block's elements along the axes that go, by their position there; a dot has one.
struct FoldOrder {
  /// The axis whose lanes add up apart and meet at the end; -1: lanes are other sums.
  int64_t lanes = -1;
  /// So many rounds of the innermost axis add up apart, too; 0: it is a chain that begins with what
  /// a dot adds to, one element after the other.
  int64_t copies = 1;
  /// So many rounds of it are a chain, if it is a sum of more (Cascade.cpp); 0: all are one.
  int64_t chain = 0;

  bool operator==(const FoldOrder &) const = default;
};

/// By reduction and dot.
using FoldOrders = llvm::MapVector<mlir::Operation *, FoldOrder>;

/// The order that is asked for; none: the fastest.
std::optional<FoldOrder> pinnedOrder(mlir::Operation *op);
/// Asks for an order.
void pinOrder(mlir::Operation *op, const FoldOrder &order);

} // namespace tile::codegen

#endif // TILE_CODEGEN_CPU_FOLDORDER_H
