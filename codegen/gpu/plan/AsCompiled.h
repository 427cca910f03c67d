//===- AsCompiled.h - a template as the compiler has it for a launch ------===//
//
// What is bound, and what divides the rest, of a kernel that code is made of.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_PLAN_ASCOMPILED_H
#define TILE_CODEGEN_GPU_PLAN_ASCOMPILED_H

#include "ir/transforms/Specialize.h"

namespace tile::codegen::gpu {

/// Binds the dims that code for a GPU depends on: those that the extents of whole axes are computed
/// from, and those of one element. `dims` are the values of all, in their order; negative: not
/// known.
void bindDims(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims, ir::Bindings &bindings);

/// The powers of two, up to 16, that divide these dims, for `divisorsAttrName`.
mlir::DictionaryAttr divisorsOf(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims);

/// A copy of a kernel's template as the compiler has it before layouts: with these sizes, the dims
/// that code depends on, and what divides the others, contractions of whole axes as loops. Null
/// where it can't be specialized so; reports nothing.
mlir::OwningOpRef<ir::KernelOp> asCompiled(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims,
                                           const llvm::StringMap<int64_t> &sizes);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_PLAN_ASCOMPILED_H
