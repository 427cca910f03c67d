//===- SortKey.h - numbers that compare as elements do --------------------===//
#ifndef TILE_CODEGEN_SORTKEY_H
#define TILE_CODEGEN_SORTKEY_H

#include "codegen/Elementwise.h"

namespace tile::codegen {

/// Bits of the key of an element: 64 where the element has them, else 32.
unsigned sortKeyBits(mlir::Type element);

/// A key of an element, a scalar or lanes: keys compare without a sign as `op` orders the elements.
/// Both zeros have one key, and so do all NaN, which come behind every number, or before where the
/// order descends.
mlir::Value emitSortKey(CodeBuilder &b, const TargetInfo &target, ir::SortOp op, mlir::Value value);

} // namespace tile::codegen

#endif // TILE_CODEGEN_SORTKEY_H
