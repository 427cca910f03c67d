//===- MergeSiblings.h - kernels side by side as one ----------------------===//
//
// Two calls of which neither needs the other become one kernel whose programs
// do the work of both. Their program spaces have to be the same: each binder of
// the one is a binder, or a whole axis, of the other, over the same range. What
// both load is loaded once. All outputs stay.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_MERGESIBLINGS_H
#define TILE_IR_FUSION_MERGESIBLINGS_H

#include "ir/fusion/InlineProducer.h"

namespace tile::ir {

/// The kernel that would take the place of two calls; its results are the host's and then the
/// guest's. The programs are the host's, its binders whole axes where the guest has those. Null,
/// and why, if there is no such kernel. Nothing changes before it is committed.
std::unique_ptr<FusedKernel> proposeMerging(CallOp guest, CallOp host, GraphShapes &shapes,
                                            FusionRefusal &refusal);

} // namespace tile::ir

#endif // TILE_IR_FUSION_MERGESIBLINGS_H
