//===- LongSums.h - sums that loops carry ---------------------------------===//
//
// A carried value is a *sum* if its loop only adds to it: `acc += …`, once or in
// several places, in branches and inner loops too. Nobody sees it between two
// additions, so it may run up in more digits than its type has, and does: else a
// loop of a million additions would leave few of them right.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_LONGSUMS_H
#define TILE_IR_LONGSUMS_H

#include "ir/TileOps.h"

namespace tile::ir {

/// The additions of all sums of floats that a kernel's loops carry, each with the number of its
/// operand that is the sum so far.
llvm::DenseMap<mlir::Operation *, unsigned> sumSteps(KernelOp kernel);

} // namespace tile::ir

#endif // TILE_IR_LONGSUMS_H
