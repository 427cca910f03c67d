//===- LoopAxis.h - a whole axis in chunks --------------------------------===//
//
// A tile with a whole axis of a million elements fits into no registers. Its
// kernel reads the axis as often as it has to, chunk by chunk:
//
//   let t = x[i, :]             for n in tiles(N) { m = max(m, max(x[i, n], n)) }
//   let m = max(t, N)
//   let e = exp(t - m)          for n in tiles(N) { s += sum(exp(x[i, n] - m), n) }
//   let s = sum(e, N)
//   y[i, :] = e / s             for n in tiles(N) { y[i, n] = exp(x[i, n] - m) / s }
//
// Each loop is a *phase*: all reductions that need no result but those of earlier
// phases, and all stores likewise. What an element is computed from is computed
// again in each phase. Reductions associate by chunks, otherwise nothing changes; a
// search for the greatest or least carries where it is, and what is there;
// a scan goes on from chunk to chunk, in each phase that needs it, and the chunks
// of that phase come in its order. The axis may be of any length, known or not. What
// follows an assertion or a print is in no earlier phase than it.
//
// What a phase reads again may be kept by the program: loads have the attribute
// `tile_gpu.keep` with a number where they are first, and `tile_gpu.kept` where
// the same is read again (lower/EmitMemory.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOOPS_LOOPAXIS_H
#define TILE_CODEGEN_GPU_LOOPS_LOOPAXIS_H

#include "ir/dialect/TileOps.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tile::codegen::gpu {

/// More than any program holds, and far from overflow.
inline constexpr int64_t unboundedElements = int64_t(1) << 40;
/// The product of extents; of one that isn't known, unboundedElements.
inline int64_t productOf(int64_t product, int64_t extent) {
  int64_t result = 0;
  bool isKnown =
      !mlir::ShapedType::isDynamic(extent) && !llvm::MulOverflow(product, extent, result);
  return isKnown ? std::min(result, unboundedElements) : unboundedElements;
}

/// Attributes of loads in the loops: the number of what is kept, where it is read first and where
/// again; and of the kernel: how many chunks are kept, from the first one on.
inline constexpr llvm::StringLiteral keepAttrName = "tile_gpu.keep";
inline constexpr llvm::StringLiteral keptAttrName = "tile_gpu.kept";
inline constexpr llvm::StringLiteral keptChunksAttrName = "tile_gpu.kept_chunks";

/// What chunking an axis comes to.
struct LoopedAxis {
  /// How often the axis is walked along.
  unsigned phases = 0;
  /// Bytes that are read in more than one phase, for each element of the axis in one program.
  int64_t keptBytes = 0;
};

/// Whether the axis can be cut: all that has it stands in the body of the program space itself, and
/// is a load, a store, an update, an elementwise op, a contraction of it, a scan along it, a search
/// for the best along it, or a reduction with an op that joins two; and the scans of a phase go in
/// one order, in increasing order if it has contractions or searches.
std::optional<LoopedAxis> canLoop(ir::AxisOp axis);

/// Cuts the axis into chunks of so many elements. `canLoop` has said that it can be.
void loopAxis(ir::AxisOp axis, int64_t chunk);

/// Cuts all axes that can be cut and are there to be contracted and for nothing else,
/// `dot(a[i, :], b[:, j], K)`, of whatever length: what a loop over its tiles would be. Gives the
/// loops' names and the sizes of their blocks, in which a row has 128 bytes. Contractions that
/// nothing uses go, and axes that nothing has.
llvm::StringMap<int64_t> loopContractions(ir::KernelOp kernel);

/// Replaces counts of whole axes without conditions by their lengths.
void foldCounts(ir::KernelOp kernel);
/// Makes a reduction of what a reduction of the same kind gives, and nothing else needs, one along
/// all their axes: threads then join what they have once. Where orders are fixed nothing changes.
void joinReductions(ir::KernelOp kernel);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOOPS_LOOPAXIS_H
