//===- LoopOrder.h - the order of a loop's blocks -------------------------===//
//
// In the language blocks of a loop come in increasing order. Code generation makes
// loops over whole axes, and some of those go the other way: a scan in reverse is
// carried from the last block to the first.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_DIALECT_LOOPORDER_H
#define TILE_IR_DIALECT_LOOPORDER_H

#include "ir/dialect/TileOps.h"

namespace tile::ir {

/// A unit attribute of loops whose blocks come in decreasing order. They are the same blocks: the
/// one that may be shorter is that of the greatest coordinates, and comes first.
inline constexpr llvm::StringLiteral decreasingAttrName = "tile.decreasing";

inline bool isDecreasing(ForOp loop) { return loop->hasAttr(decreasingAttrName); }

} // namespace tile::ir

#endif // TILE_IR_DIALECT_LOOPORDER_H
