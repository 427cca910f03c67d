//===- WidenBinder.h - one program for all blocks of a binder -------------===//
//
// A binder of the program space becomes a whole axis: the tiles that had its
// blocks hold all of it. Tile sizes are schedule, so the kernel means the same;
// there are fewer programs, and a row that another kernel needs whole is there.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_WIDENBINDER_H
#define TILE_IR_FUSION_WIDENBINDER_H

#include "ir/dialect/TileOps.h"

namespace tile::ir {

/// Makes a `tiles` binder of the kernel's program space a whole axis of the same name. Its place in
/// the schedule goes.
void widenBinder(KernelOp kernel, mlir::StringAttr binder);

} // namespace tile::ir

#endif // TILE_IR_FUSION_WIDENBINDER_H
