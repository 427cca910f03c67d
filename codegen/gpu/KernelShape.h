//===- KernelShape.h - what a kernel becomes on a GPU ---------------------===//
//
// One answer, before any code is made, to what else would be guessed in several
// places: the tile sizes, how many programs there are, how many CTAs run at a time,
// and which instructions each contraction gets. The compiler's own decisions give it
// (TileSizes.h, Products.h, WarpMma.h, PlanProgram.h), on a copy of the kernel that is
// specialized as the one that code is made of; nothing is estimated a second time.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_KERNELSHAPE_H
#define TILE_CODEGEN_GPU_KERNELSHAPE_H

#include "codegen/gpu/plan/AsCompiled.h"
#include "codegen/gpu/target/Target.h"
#include "ir/fusion/CostModel.h"

namespace tile::codegen::gpu {

/// How a contraction is made.
struct ContractionShape {
  ir::ContractionPath path = ir::ContractionPath::Scalar;
  /// By plain threads: the sums of one, and the elements of operands that it reads for a
  /// multiply-add; with R × C sums it reads R + C for R · C.
  double sums = 1, reads = 2;
  /// Threads that compute the same sum, where there are fewer than threads.
  double copies = 1;
  /// How far a turn of its loop goes, and the multiply-adds of a block in it; and whether it is the
  /// first in that loop, whose turns wait for memory once.
  double depth = 1, ofTurn = 1;
  bool isFirst = true;
  /// By instructions of warps: whether an operand is computed, from what no copy can bring to where
  /// they read it; and whether such a one comes element by element, as its rows begin anywhere.
  bool isComputed = false, isOneByOne = false;
  /// By a pipeline: how many boxes its left operand is computed from, in registers, and the columns
  /// of a program, each of which computes it anew.
  double boxes = 0, columns = 1;
};

/// What `reduce` outputs make of a launch (ReduceOutputs.cpp).
struct OutputCopies {
  /// How many, and the bytes of each; 0: none.
  double count = 0, bytes = 0;
  /// Blocks that run all programs, one after the other.
  double blocks = 0;
  /// Whether threads meet in each program, for more than what they update.
  bool meets = false;
  /// Launches before and after that fill outputs and fold copies.
  unsigned launches = 0;
};

struct KernelShape {
  /// CTAs that share a program, the warps of each, and how many a multiprocessor has at a time.
  unsigned ctas = 1, warps = 4, ctasAtATime = 1;
  /// Whether a multiprocessor has fewer than registers would let it, for want of shared memory.
  bool lacksShared = false;
  /// Whether a whole axis is gone through more than once, chunk by chunk: then each chunk is waited
  /// for.
  bool isPhased = false;
  /// In the order in which they stand in the kernel.
  llvm::SmallVector<ContractionShape> contractions;
  /// Whether tiles are read behind a loop that contracts: programs wait for memory once more.
  bool readsBehind = false;
  /// The most elements of a tile that a thread has, which the compiler may have to make fewer by
  /// smaller blocks (Shortage.h); of pipelines 0.
  int64_t elementsOfThread = 0;
  /// Contractions by plain threads whose sums are whole rows: blocks have no shape of their own.
  unsigned wholeScalars = 0;
  OutputCopies copies = {};
};

/// The tile sizes of a kernel's template in a launch with these dims, of all binders: those that
/// are given, else chosen, else the schedule's first, else the default.
llvm::StringMap<int64_t> sizesInCode(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims,
                                     const llvm::StringMap<int64_t> &given,
                                     const GpuTarget &target);

/// The shape of a kernel's template with these sizes, in a launch with these dims. Reports nothing;
/// of a kernel that can't be specialized so nothing is known.
KernelShape kernelShape(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims,
                        const llvm::StringMap<int64_t> &sizes, const GpuTarget &target);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_KERNELSHAPE_H
