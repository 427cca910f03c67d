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

#include "ir/fusion/FuseOptions.h"

namespace tile::ir {

/// Has the multiply-adds of all kernels that a graph calls formed, each as it stands alone, so that
/// none forms across what was a buffer: what a graph computes is the same before and after fusion.
void prepareForFusion(GraphOp graph);

/// Fuses calls of kernels in a graph, in place; new kernels are inserted into its module. The graph
/// is prepared. Before that, calls of graphs become those graphs' calls (FlattenGraph.h), and calls
/// go that give what others give (EqualCalls.h) or that nobody needs (DeadCalls.h).
FusionLedger fuse(GraphOp graph, CostModel &model, const FuseOptions &options);

} // namespace tile::ir

#endif // TILE_IR_FUSION_FUSER_H
