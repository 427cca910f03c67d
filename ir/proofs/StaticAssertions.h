//===- StaticAssertions.h - assertions that need no launch ----------------===//
//
// An assertion that each program comes to and that is known to fail is an error,
// at its place. One under a condition or in a loop, as in
// `if n > 4 { assert(false, "…") }`, is left to the launch.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_PROOFS_STATICASSERTIONS_H
#define TILE_IR_PROOFS_STATICASSERTIONS_H

#include "ir/dialect/TileOps.h"

namespace tile::ir {

mlir::LogicalResult checkStaticAssertions(KernelOp kernel);
/// Drops those that are known to hold.
void dropAssertionsThatHold(KernelOp kernel);

} // namespace tile::ir

#endif // TILE_IR_PROOFS_STATICASSERTIONS_H
