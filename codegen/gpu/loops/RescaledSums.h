//===- RescaledSums.h - sums of exponentials in one pass ------------------===//
//
//   m = max(t)                for n in tiles(N) {
//   s = sum(exp(t - m))           m' = max(m, max(t[n]))
//                                 s = s * exp(m - m') + sum(exp(t[n] - m')), m = m'
//                             }
//
// Where an axis is walked along in chunks (LoopAxis.h), the sum need not wait for
// the maximum: what was summed so far is rescaled when it grows. (M. Milakov and
// N. Gimelshein, "Online normalizer calculation for softmax", 2018.) Each thread
// does so with its own elements; only after the loop they meet.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOOPS_RESCALEDSUMS_H
#define TILE_CODEGEN_GPU_LOOPS_RESCALEDSUMS_H

#include "ir/dialect/TileOps.h"

namespace tile::codegen::gpu {

/// Of a loop: pairs of carried values, each a maximum and the sum that it scales.
inline constexpr llvm::StringLiteral rescaledAttrName = "tile_gpu.rescaled";

/// The maximum m of sum(exp(t − m)), both along the same axes of the same t; null for other sums.
ir::ReduceOp maximumOf(ir::ReduceOp sum);

/// What is subtracted in place of a maximum so far: 0 where that is −inf, so that −inf − it is
/// −inf.
mlir::Value subtractedFor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value maximum);

/// A sum by a maximum so far, and what is added to it by the next one.
mlir::Value rescaledSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value before,
                        mlir::Value maximumBefore, mlir::Value maximum, mlir::Value added);

/// The sum when all is done: NaN where there are elements and the maximum is −inf, as −inf − −inf
/// is.
mlir::Value finishedSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sum,
                        mlir::Value maximum, mlir::Value hasElements);

/// The op exp of a rescaled sum.
mlir::Operation *scaleOf(mlir::Value rescaled);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOOPS_RESCALEDSUMS_H
