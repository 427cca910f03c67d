//===- FinishReduction.h - what follows a sum, where the sum is complete --===//
//
// A `reduce` output is complete only when all programs of its kernel have ended,
// so no program can use it. But what a consumer makes of each element by itself
// can be said at the end of the kernel: the consumer's work becomes the region of
// a tile.finish, and its output takes the place of the sum, which nobody sees.
//
// The consumer must be a map of the sum, whatever it is called: its one store
// and all its loads are of the same elements, what is between them is computed
// element by element from those and from scalars, and the types are the same, so
// that the element is rounded where the buffer was, unless more precision is
// asked for.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_FINISHREDUCTION_H
#define TILE_IR_FUSION_FINISHREDUCTION_H

#include "ir/fusion/InlineProducer.h"

namespace tile::ir {

/// Whether a result of a call is a `reduce` output of its kernel.
bool isReduced(mlir::Value tensor, GraphShapes &shapes);

/// What the new call gives besides the consumer's output: all other results of the producer's,
/// whose call goes.
llvm::SmallVector<mlir::Value> besides(CallOp producer, mlir::Value tensor);

/// Whether nobody but the consumer reads the tensor, which will not be there any more.
bool mayFinish(CallOp consumer, mlir::Value tensor, GraphShapes &shapes, FusionRefusal &refusal);

/// The producer's kernel with the consumer's work at its end, to take the place of both calls.
/// Null, and why, if there is no such kernel. Nothing changes before it is committed.
std::unique_ptr<FusedKernel> proposeFinishing(CallOp producer, CallOp consumer, mlir::Value tensor,
                                              const InlineOptions &options, GraphShapes &shapes,
                                              FusionRefusal &refusal);

} // namespace tile::ir

#endif // TILE_IR_FUSION_FINISHREDUCTION_H
