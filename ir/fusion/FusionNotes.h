//===- FusionNotes.h - what the search tells of itself --------------------===//
#ifndef TILE_IR_FUSION_FUSIONNOTES_H
#define TILE_IR_FUSION_FUSIONNOTES_H

#include "ir/fusion/GraphCosts.h"
#include "ir/fusion/InlineProducer.h"

namespace tile::ir {

/// A call that is there, by a number of its own.
struct LiveCall {
  CallOp call; // null once it is gone
  /// The calls of the graph as it was that it does.
  std::vector<unsigned> calls;
  KernelCost cost;
  /// Of its kernel, all that are nested, too.
  unsigned operations = 0;
};

/// Keeps a ledger's entries, in the words of the graph.
class FusionNotes {
public:
  FusionNotes(GraphOp graph, GraphShapes &shapes, GraphCosts &costs,
              const std::vector<LiveCall> &live, FusionLedger &ledger)
      : graph(graph), shapes(shapes), costs(costs), live(live), ledger(ledger) {}

  /// What was found about two live calls and a tensor that is between them, or that both read.
  /// `entry` has the verdict, the transform and costs.
  void add(FusionEntry entry, unsigned first, unsigned second, mlir::Value tensor,
           const FusionRefusal &refusal);
  /// Says what is there in the end.
  void finish();

private:
  void noteSharedReads(const llvm::DenseMap<mlir::Operation *, unsigned> &numbers,
                       const llvm::DenseMap<mlir::Operation *, const LiveCall *> &entries);
  std::string nameOf(mlir::Value tensor);
  std::string nameOf(unsigned id);
  std::string told(llvm::StringRef reason, unsigned first, unsigned second);

  GraphOp graph;
  GraphShapes &shapes;
  GraphCosts &costs;
  const std::vector<LiveCall> &live;
  FusionLedger &ledger;
  /// The calls on either side, and whether they are siblings.
  using Pair = std::tuple<std::vector<unsigned>, std::vector<unsigned>, bool>;
  /// The last entry of a pair, and of a tensor between the two.
  std::map<Pair, unsigned> lastEntry;
  std::map<std::pair<Pair, std::string>, unsigned> lastOfTensor;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_FUSIONNOTES_H
