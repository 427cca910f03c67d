//===- NormalizeKernel.h - one spelling for what has several --------------===//
//
// The first step of every compilation, before anything is looked for or planned.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOOPS_NORMALIZEKERNEL_H
#define TILE_CODEGEN_GPU_LOOPS_NORMALIZEKERNEL_H

#include "ir/dialect/TileOps.h"

namespace tile::codegen::gpu {

/// Moves behind loops that contract, out of the registers that those need, what is made and read
/// before them but used only after them.
void sinkBehindProducts(ir::KernelOp kernel);

/// Has one spelling for what can be spelled in several, before anything is looked for or planned:
/// counts of whole axes are their lengths; where the order of sums isn't fixed, nested reductions
/// are one and whole axes that are contracted loop; loops over the same blocks are one
/// (MergeLoops.h); what is used behind products is made there, their integers are narrow, numbers
/// stand before them, and tensors that all turns of a loop contract are read in each.
void normalizeKernel(ir::KernelOp kernel);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOOPS_NORMALIZEKERNEL_H
