//===- FusedDims.h - the dims of two kernels that become one --------------===//
//
// Which dims of two kernels are one and the same is said by the tensors that
// both have, dimension by dimension: what one gives and the other reads, and
// what both read. That two extents are equal numbers says nothing of that, and
// never makes two dims of one kernel the same unless a tensor's declaration
// does. Only what no such tensor binds goes by its value in the graph: each dim
// of the consumer that is left gets at most one of the producer's, and each of
// the producer's is given once. So a graph has the same kernels whether its
// extents are equal or not.
//
// Where a dim meets a number in a declaration it is that number in the new
// kernel.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_FUSEDDIMS_H
#define TILE_IR_FUSION_FUSEDDIMS_H

#include "ir/fusion/GraphShapes.h"

#include <string>

namespace tile::ir {

class FusedDims {
public:
  /// `tensors` are results of the producer's call that the consumer reads and that disappear.
  FusedDims(CallOp producer, CallOp consumer, llvm::ArrayRef<mlir::Value> tensors,
            GraphShapes &shapes);

  /// The new kernel's, in their order.
  llvm::SmallVector<mlir::Attribute> names;
  /// The dims of either kernel over the new ones as symbols.
  llvm::SmallVector<mlir::AffineExpr> ofGuest, ofOrigin;
  /// Why there is no such kernel; empty if there is.
  std::string conflict;

private:
  mlir::AffineExpr resolve(mlir::AffineExpr expr) const;
  void unite(mlir::AffineExpr a, mlir::AffineExpr b);
  void meet(mlir::AffineExpr ofConsumer, mlir::AffineExpr ofProducer);
  bool agree(llvm::ArrayRef<mlir::AffineExpr> ofConsumer,
             llvm::ArrayRef<mlir::AffineExpr> ofProducer) const;
  void bindTensors();
  void bindSharedInputs();
  void bindByValue();
  void nameDims();
  void checkExtents();
  unsigned addName(llvm::StringRef wanted);

  KernelOp guest, origin;
  CallOp producer, consumer;
  llvm::ArrayRef<mlir::Value> tensors;
  /// What the calls bind the dims to, over the graph's symbols.
  llvm::SmallVector<mlir::AffineExpr> guestValues, originValues;
  /// Over the guest's dims until they are named: what a dim of the guest is the same as, itself if
  /// nothing else; and what a dim of the origin is, null if nothing says so.
  llvm::SmallVector<mlir::AffineExpr> same, bound;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_FUSEDDIMS_H
