//===- NarrowBinder.h - a program for each coordinate of a binder ---------===//
#ifndef TILE_IR_FUSION_NARROWBINDER_H
#define TILE_IR_FUSION_NARROWBINDER_H

#include "ir/dialect/TileOps.h"

#include <string>

namespace tile::ir {

/// Makes `tiles` binders of the kernel's program space `each` binders: what was a tile along their
/// axes is computed for one coordinate. Fails, with the reason, where the kernel does more than to
/// store values at the end of its programs; it is half done then.
mlir::LogicalResult narrowBinders(KernelOp kernel, llvm::ArrayRef<mlir::StringAttr> binders,
                                  std::string &reason);

} // namespace tile::ir

#endif // TILE_IR_FUSION_NARROWBINDER_H
