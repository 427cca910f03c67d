//===- SaturateIndices.h - keeps data out of 64-bit overflow --------------===//
//
// Afterwards every bound of a span or counter, and every symbol of a
// tile.restrict, that may be any 64-bit number is clamped to ±2^55. Coordinates
// stay far below, so the kernel computes the same, but no difference of a bound
// and a coordinate wraps.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_TRANSFORMS_SATURATEINDICES_H
#define TILE_IR_TRANSFORMS_SATURATEINDICES_H

#include "ir/dialect/TileOps.h"

namespace tile::ir {

void saturateIndices(KernelOp kernel);

} // namespace tile::ir

#endif // TILE_IR_TRANSFORMS_SATURATEINDICES_H
