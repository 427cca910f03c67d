//===- GraphCosts.h - what a graph's kernels and tensors cost -------------===//
//
// The model's answers for the values that are taken for a graph's dims. No
// question is put to the model twice.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_GRAPHCOSTS_H
#define TILE_IR_FUSION_GRAPHCOSTS_H

#include "ir/fusion/CostModel.h"
#include "ir/fusion/FuseOptions.h"
#include "ir/fusion/GraphShapes.h"

#include <map>

namespace tile::ir {

class GraphCosts {
public:
  GraphCosts(GraphOp graph, CostModel &model, const FuseOptions &options, GraphShapes &shapes);

  int64_t valueOf(mlir::AffineExpr expr);
  llvm::SmallVector<int64_t> valuesOf(llvm::ArrayRef<mlir::AffineExpr> exprs);
  double bytesOf(mlir::Value tensor);
  /// The operand that became this result in place; null if it is no `inout`.
  mlir::Value changedBy(mlir::OpResult result);
  bool isNamed(KernelOp kernel) const { return model.isNamed(kernel); }
  double bandwidth() const { return model.bandwidth(); }
  /// Of a launch; nothing for graphs.
  const KernelCost &costOf(CallOp call);
  /// The same, and of the copies of what an `inout` changes and somebody else needs as it was.
  KernelCost costWithCopies(CallOp call);
  /// Seconds that are saved at most where two calls become one that does all that both do, but for
  /// moving so many bytes of what the first gives the second, and reading twice what both read.
  double mostSaved(CallOp a, CallOp b, double bytesBetween = 0);
  /// The same where a call computes what it reads of another one, so many bytes, and that stays.
  double mostSavedAnew(CallOp consumer, double bytesBetween);
  /// The same where all consumers of a call compute what it gives, and it goes.
  double mostSavedByAll(CallOp producer, llvm::ArrayRef<CallOp> consumers);
  /// Whether a call reads every element of all its inputs.
  bool readsAll(CallOp call);
  /// What is known of a call's kernel already.
  void remember(CallOp call, const KernelCost &cost);
  /// Of a kernel that is not in the module.
  KernelCost costOf(KernelOp kernel, llvm::ArrayRef<int64_t> dims) {
    return model.costOf(kernel, dims);
  }

private:
  double readAgain(const KernelCost &cost) const;

  CostModel &model;
  GraphShapes &shapes;
  int64_t usualExtent;
  std::vector<int64_t> symbols;
  /// Of kernels in the module, by the values of their dims.
  std::map<std::pair<mlir::Operation *, llvm::SmallVector<int64_t>>, KernelCost> known;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_GRAPHCOSTS_H
