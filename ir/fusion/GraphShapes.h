//===- GraphShapes.h - extents of a graph's tensors, as symbols -----------===//
//
// What extents are over a graph's dims, and what each call binds the dims of
// its callee to. Extents that no dim gives, such as those of a constant that
// a scalar computes, are symbols of their own. Equalities that a launch checks
// hold for what comes after the check, so they are taken as given: dims that
// the graph requires to be equal are one.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_GRAPHSHAPES_H
#define TILE_IR_FUSION_GRAPHSHAPES_H

#include "ir/dialect/TileOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace tile::ir {

/// The parameters of a kernel or graph that take a call's inputs, and that which is one of its
/// results, in their order.
llvm::SmallVector<unsigned> inputPositions(mlir::FunctionOpInterface callee);
unsigned outputPosition(KernelOp kernel, unsigned result);

class GraphShapes {
public:
  explicit GraphShapes(GraphOp graph);

  /// The extents of a tensor of the graph; empty for scalars.
  llvm::ArrayRef<mlir::AffineExpr> shapeOf(mlir::Value tensor) const;
  /// What the call binds its callee's dims to, by their position.
  llvm::ArrayRef<mlir::AffineExpr> dimsOf(CallOp call) const;
  /// What a call of a kernel or graph with these inputs would bind its dims to.
  llvm::SmallVector<mlir::AffineExpr> bind(mlir::FunctionOpInterface callee,
                                           mlir::ValueRange inputs, mlir::ArrayAttr constNames,
                                           mlir::ValueRange constValues);
  /// Of the graph's module; new kernels are inserted by it.
  mlir::SymbolTable &symbolTable() { return symbols; }
  /// The kernel that is called; null if it is a graph.
  KernelOp kernelOf(CallOp call) { return symbols.lookup<KernelOp>(call.getCallee()); }
  /// The symbols of all extents so far: the graph's dims come first.
  unsigned numSymbols() const { return symbolCount; }
  /// The number of the graph that a symbol stands for; null if it is none.
  mlir::Value valueOf(mlir::OpBuilder &builder, mlir::Location loc, unsigned symbol);
  /// Where the graph requires dims to be equal, and one of them has a value here, so have the
  /// others afterwards.
  void addEqual(llvm::StringMap<int64_t> &values);
  /// Adds a call that took the place of others.
  void add(CallOp call);

private:
  /// Makes dims one that are equal where a condition holds.
  void unite(mlir::Value condition);
  mlir::AffineExpr integer(mlir::Value value);
  mlir::AffineExpr unknown(mlir::Value value);

  GraphOp graph;
  mlir::SymbolTable symbols;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::AffineExpr>> shapes;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::AffineExpr>> bound;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> numbers;
  /// Each dim of the graph has here the first that is equal to it.
  llvm::SmallVector<mlir::AffineExpr> dims;
  unsigned symbolCount;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_GRAPHSHAPES_H
