//===- Witness.h - elements that keep kernels apart -----------------------===//
//
// Where kernels stay apart because programs share elements, a reader wants to see
// one: an element, the programs that write it and those that read it, in a launch
// with the dims and blocks that the plan is made for. Only exact accesses count,
// at coordinates around the edges of blocks; what is found is true, and something
// may be there that is not found.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_WITNESS_H
#define TILE_IR_FUSION_WITNESS_H

#include "ir/fusion/FuseOptions.h"

namespace tile::ir {

/// Gives the ledger's boundaries their witnesses. The graph is the one that the fuser left: its
/// calls are the ledger's kernels.
void addWitnesses(FusionLedger &ledger, GraphOp graph, CostModel &model,
                  const FuseOptions &options);

} // namespace tile::ir

#endif // TILE_IR_FUSION_WITNESS_H
