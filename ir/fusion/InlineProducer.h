//===- InlineProducer.h - a producer's values in its consumer -------------===//
//
// The transform that most of fusion is: the loads by which one call reads
// results of another become the computation of what they load, at the consumer's
// coordinates (Transplant.h). A plain output of a kernel holds, for each element,
// exactly one program's value (which `prove` has shown), so the store's index map
// can be turned around, and the producer's coordinates follow from the element.
//
// Elementwise producers follow any index: broadcast, transposed, sliced, shifted,
// gathered. A loop of the producer runs where the consumer loads, outside of the
// consumer's own loops where it can. What a producer reduces over a whole axis is
// reduced over an axis of its own, unless the consumer has the same axis whole.
//
// The result is a kernel like one that a person writes: `prove` has to accept it,
// sizes are as free as before, and each element has the same value, rounded to
// the buffer's type where the buffer was, unless more precision is asked for.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_INLINEPRODUCER_H
#define TILE_IR_FUSION_INLINEPRODUCER_H

#include "ir/fusion/FusedKernel.h"

#include <string>

namespace tile::ir {

/// Whether a call needs, itself or through others, what another gives. The graph is in order.
bool reaches(CallOp from, CallOp to);

/// The results of the producer's call that the consumer's call reads, in the producer's order.
llvm::SmallVector<mlir::Value> tensorsBetween(CallOp producer, CallOp consumer);

struct InlineOptions {
  /// Make blocks of the consumer whole axes where the producer needs all of the axis, or where each
  /// would store what is kept: so it is computed once and stays; else the producer reads it again.
  bool widens = false;
  /// The new kernel stores all that others read of the producer, and those take it from there; the
  /// call of the producer goes. Only where the consumer's programs compute each element once, and
  /// where the consumer itself reads nothing else of the producer.
  bool keeps = false;
  /// The one tensor is a `reduce` output, and the consumer's work is done when it is complete
  /// (FinishReduction.h).
  bool finishes = false;
  /// What widens the tensors' elements has them as they were before they were rounded
  /// (KeepPrecision.h), and multiply-adds form with them.
  bool keepsPrecision = false;
};

/// Whether a consumer may store tensors for all others: not if it needs one of those.
bool mayKeep(CallOp producer, CallOp consumer, llvm::ArrayRef<mlir::Value> tensors,
             FusionRefusal &refusal);

/// Those of the tensors that others than the consumer read: it would have to keep them.
llvm::SmallVector<mlir::Value> readByOthers(CallOp consumer, llvm::ArrayRef<mlir::Value> tensors);

/// The kernel that would take the consumer's place, and compute what that reads of `tensors`,
/// results of the producer's call, itself. Unless it keeps them, other users of the producer
/// keep its call. Null, and why, if there is no such kernel. Nothing changes before it is
/// committed.
std::unique_ptr<FusedKernel> proposeInlining(CallOp producer, CallOp consumer,
                                             llvm::ArrayRef<mlir::Value> tensors,
                                             const InlineOptions &options, GraphShapes &shapes,
                                             FusionRefusal &refusal);

} // namespace tile::ir

#endif // TILE_IR_FUSION_INLINEPRODUCER_H
