//===- KeepPrecision.h - values as they are before they are rounded -------===//
//
// What `--fuse=fast` does where a buffer was (docs/fusion.md). A kernel rounds
// what it stores to the type of the tensor, and its consumer widens what it
// loads again. Where the two have become one, what is widened is the value
// before it was rounded. All else has the rounded one: what is stored, for others,
// and operands of the narrow type, as those of tile.dot are.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_KEEPPRECISION_H
#define TILE_IR_FUSION_KEEPPRECISION_H

#include "ir/dialect/TileOps.h"

namespace tile::ir {

/// Has all that widens a value, which a kernel stored and another one loaded, use what was rounded
/// to it. No other rounding changes, and those that ask for a direction stay.
void keepPrecision(mlir::Value seam);

} // namespace tile::ir

#endif // TILE_IR_FUSION_KEEPPRECISION_H
