//===- Fuser.h - which kernels of a graph become one ----------------------===//
//
// The search. Transforms (InlineProducer.h, MergeSiblings.h) are tried where two
// calls meet, by what they may save at most; one is taken if the model says that
// the new kernel costs less than those in whose place it comes. The result
// depends on the graph, the model and the options alone.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_FUSER_H
#define TILE_IR_FUSION_FUSER_H

#include "ir/fusion/Ledger.h"

#include "llvm/ADT/StringMap.h"

namespace tile::ir {

struct FuseOptions {
  /// Values of the graph's dims, as far as they are known: they decide what is worth it, never what
  /// is right.
  llvm::StringMap<int64_t> dims;
  /// What is taken for the others.
  int64_t usualExtent = 4096;
  /// A kernel is not made larger than this: operations in its body, and parameters.
  unsigned mostOperations = 1000, mostParameters = 100;
  /// What crosses from one kernel to another is not rounded where the two become one, and
  /// multiply-adds form there.
  bool keepsPrecision = false;
  /// Nothing becomes one: the ledger has the calls as they are, and their costs.
  bool isOff = false;
  /// Done in place of a search, on calls that are told apart (CallOrigins.h). They are those of a
  /// ledger for the same graph.
  const std::vector<FusionStep> *steps = nullptr;
  /// What code generation has shown of kernels that a search found before. Calls have the numbers
  /// of the ledger.
  llvm::ArrayRef<FusionVeto> vetoes;
  /// Whether tensors between the fused calls may take more memory at a time than those between the
  /// written ones.
  bool mayGrow = false;
  /// Calls that give what others give, or that nobody needs, stay.
  bool keepsCalls = false;
};

/// Has the multiply-adds of all kernels that a graph calls formed, each as it stands alone, so that
/// none forms across what was a buffer: what a graph computes is the same before and after fusion.
void prepareForFusion(GraphOp graph);

/// Fuses calls of kernels in a graph, in place; new kernels are inserted into its module. The graph
/// is prepared. Before that, calls of graphs become those graphs' calls (FlattenGraph.h), and calls
/// go that give what others give (EqualCalls.h) or that nobody needs (DeadCalls.h).
FusionLedger fuse(GraphOp graph, CostModel &model, const FuseOptions &options);

} // namespace tile::ir

#endif // TILE_IR_FUSION_FUSER_H
