//===- GraphMemory.h - what a graph's tensors take at a time --------------===//
//
// Inputs and outputs are there all the time; tensors between calls share memory
// where one is over before the other begins. To fuse two calls takes such tensors
// away, but what the first one reads lives on until the second one has run: so a
// fused graph may need more memory than the device has where the graph as it
// stands doesn't.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_GRAPHMEMORY_H
#define TILE_IR_FUSION_GRAPHMEMORY_H

#include "ir/fusion/FusionSteps.h"

namespace tile::ir {

/// Bytes of the tensors between a graph's calls at a time, for the values that are taken for its
/// dims.
double bytesBetweenCalls(GraphOp graph, CostModel &model, const FuseOptions &options);

/// Keeps a graph that fits into the device's memory from growing out of it; or, if it is asked for,
/// any graph from growing at all.
class MemoryLimit {
public:
  MemoryLimit(GraphOp graph, CostModel &model, GraphCosts &costs, bool mayGrow)
      : graph(graph), model(model), costs(costs), mayGrow(mayGrow) {}

  /// Looks at the graph as it is before anything is fused. What may grow and doesn't fit then isn't
  /// held to anything, nor is what fits however its tensors lie.
  void begin();
  /// Whether the graph fits after this step, which is to be done if it does.
  bool allows(const FusionStep &step, CallOp first, CallOp second, FusionRefusal &refusal);

private:
  GraphOp graph;
  CostModel &model;
  GraphCosts &costs;
  bool mayGrow;
  bool isTight = false;
  double limit = 0;
  /// Of inputs and outputs.
  double lasting = 0;
  /// The graph takes no more now.
  double most = 0;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_GRAPHMEMORY_H
