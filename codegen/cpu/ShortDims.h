//===- ShortDims.h - dims that code for any length would waste lanes on ---===//
#ifndef TILE_CODEGEN_CPU_SHORTDIMS_H
#define TILE_CODEGEN_CPU_SHORTDIMS_H

#include "ir/transforms/Specialize.h"

namespace tile::codegen {

/// Half of what a vector has at most: axes that are no longer waste lanes.
inline constexpr int64_t fewLanes = 8;

/// A kernel has this attribute if its sums are made in orders that a plan knows, in one kernel as
/// in several. These kernels have different dims: code of loops, whose sums hang on how often they
/// are known to run, must not hang on them.
inline constexpr llvm::StringLiteral pinnedAttrName = "tile.pinned";

/// Binds those dims, known as for `chooseTiles`, of which code for any length would waste lanes, or
/// loop over few rows: a whole axis, a tensor's innermost one, or one that programs take parts of,
/// that is at most a vector long; and those of one element.
void bindShortDims(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims, ir::Bindings &bindings);

/// Gives the same dims of a pinned kernel with loops, with their values: code that knows them might
/// make other sums. As the attribute `likelyDimsAttrName` they only tell which way lanes are many.
mlir::DictionaryAttr likelyDims(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims);
inline constexpr llvm::StringLiteral likelyDimsAttrName = "tile.likely";

} // namespace tile::codegen

#endif // TILE_CODEGEN_CPU_SHORTDIMS_H
