//===- CallOrigins.h - which call an op of a fused kernel comes from ------===//
//
// What decides the bits of a result besides what is computed, tile sizes and the
// order of sums, is chosen for a kernel as a whole. To have a call make the same
// choices alone, its loops and sums are found again in the kernel that it has
// become a part of.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_CALLORIGINS_H
#define TILE_IR_FUSION_CALLORIGINS_H

#include "ir/dialect/TileOps.h"

#include "mlir/IR/PatternMatch.h"

namespace tile::ir {

/// The op of a call's kernel: both by number.
struct CallOrigin {
  unsigned call, op;
  auto operator<=>(const CallOrigin &) const = default;
};

/// A kernel's loops over blocks, reductions, dots and updates, in their order: they have numbers.
llvm::SmallVector<mlir::Operation *> numberedOps(KernelOp kernel);

/// Gives each call of a kernel in a graph a kernel of its own, whose numbered ops know by their
/// places where they come from, through all that fusion and the compiler make of them.
void tellCallsApart(GraphOp graph, mlir::SymbolTable &symbols,
                    llvm::function_ref<unsigned(CallOp)> numberOf);

/// Several where equal ops of calls have become one; none if it is no numbered op.
llvm::SmallVector<CallOrigin, 1> originsOf(mlir::Operation *op);

/// While ops are replaced by equal ones: these come from where those did, too.
struct KeepOrigins : mlir::RewriterBase::Listener {
  void notifyOperationReplaced(mlir::Operation *op, mlir::Operation *same) override;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_CALLORIGINS_H
