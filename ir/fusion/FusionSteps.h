//===- FusionSteps.h - how a step makes one call of two -------------------===//
//
// Steps are what a search decides, and what a plan has in its place. Here is what
// a step means for two calls, and whether it can be done with them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_FUSIONSTEPS_H
#define TILE_IR_FUSION_FUSIONSTEPS_H

#include "ir/fusion/Proposals.h"

namespace tile::ir {

/// The calls that a step of these two makes anew: one, or all that read what the first one gives.
llvm::SmallVector<CallOp> hostsOf(const FusionStep &step, CallOp first, CallOp second);

/// What becomes one where a step makes such a call anew.
Pairing pairingOf(const FusionStep &step, CallOp first, CallOp host);

/// Whether the guest's call is needed afterwards: for the tensors by others, for what else it gives
/// by the new kernel, too.
bool isNeededAfter(const Pairing &pairing);

/// Whether a step that was given, and not found by a search, can be done with these two.
bool mayPerform(const FusionStep &step, CallOp first, CallOp second, Proposals &proposals,
                FusionRefusal &refusal);

} // namespace tile::ir

#endif // TILE_IR_FUSION_FUSIONSTEPS_H
