//===- WrittenCalls.h - the calls of a graph as it is written -------------===//
#ifndef TILE_IR_FUSION_WRITTENCALLS_H
#define TILE_IR_FUSION_WRITTENCALLS_H

#include "ir/fusion/GraphCosts.h"

namespace tile::ir {

/// Puts all calls as they are written into the ledger. Calls of equal kernels call the same one
/// afterwards. Unless calls are to stay, those that give what others give go, then those that
/// nobody needs. Those that are left have these numbers.
llvm::DenseMap<mlir::Operation *, unsigned> noteCalls(GraphOp graph, GraphShapes &shapes,
                                                      GraphCosts &costs, bool keepsCalls,
                                                      FusionLedger &ledger);

} // namespace tile::ir

#endif // TILE_IR_FUSION_WRITTENCALLS_H
