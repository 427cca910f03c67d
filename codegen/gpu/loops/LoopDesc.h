//===- LoopDesc.h - what the loops around contractions do -----------------===//
//
// A kernel's time on a GPU is made in its loops around contractions. What such a loop has to do
// is described in one place, of templates and specialized kernels alike, and without a target:
//
//   loop k in 0..K tiles, fold
//     carry acc: f32[i, j] = 0
//     contract acc: M i, N j, K k
//       lhs computed bf16(max(x, 0)): bf16[i, k] of box x = a[i, k]
//       rhs box b[k, j]
//     split by sum
//   after: c[i, j] = bf16(acc)
//
// docs/loops.md explains the text, and has nine loops. Plans are made of descriptions: what a
// description can say and no plan has yet is a reason (plan/Products.h).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOOPS_LOOPDESC_H
#define TILE_CODEGEN_GPU_LOOPS_LOOPDESC_H

#include "ir/dialect/TileOps.h"

#include <optional>
#include <string>
#include <vector>

namespace tile::codegen::gpu {

/// Where an operand of a contraction comes from.
struct OperandDesc {
  enum class Source {
    /// A dense box of a tensor, of as many axes as there are: each goes along one dimension, in
    /// steps of one, or many
    /// neighbours to an element (`k / 2`). f32 may be rounded to tf32 on the way.
    Box,
    /// Rows of a tensor; which ones is data.
    Rows,
    /// Elements of a tensor that are neither.
    Elements,
    /// What each element is computed from: boxes, rows and elements of tensors, coordinates and
    /// numbers.
    Computed,
    /// What comes of another contraction, or of elements that meet along an axis.
    Result,
  };
  Source source = Source::Result;
  /// What is multiplied.
  mlir::Value value;
  /// What is read for it, in order; of a result none.
  llvm::SmallVector<ir::LoadOp> loads;
  /// Whether the operand is the same in all iterations.
  bool isResident = false;
};

/// One contraction of a loop: over K, of operands with M and K, N and K, and batch axes that both
/// have and the result keeps.
struct ContractionDesc {
  ir::DotOp dot;
  llvm::SmallVector<mlir::StringAttr> batch, m, n, k;
  /// Whether an iteration contracts all of K: a value of the iteration comes of it, or an addition
  /// to what is carried. Otherwise K is what the loop goes along.
  bool isWhole = false;
  /// The carried value that it adds to; none: its result is one of the iteration.
  std::optional<unsigned> carried;
  OperandDesc lhs, rhs;
};

/// A range that a loop goes along.
struct LoopRange {
  mlir::StringAttr name;
  mlir::Value lower, upper;
  /// One by one, not by tiles.
  bool isEach = false;
};

/// A value that a loop carries.
struct CarriedDesc {
  /// In the body, before the loop, at an iteration's end, and behind the loop.
  mlir::BlockArgument value;
  mlir::Value init, next, result;
  /// How an iteration's part is joined with what was there; none: in some other way.
  std::optional<ir::CombineKind> fold;
  /// The carried maximum whose growth it is scaled by before something is added (an online
  /// softmax); itself for that maximum.
  std::optional<unsigned> rescaledBy;
};

/// How programs may share a loop: parts of it are joined by adding up, by another fold, or by what
/// the carried values say (a maximum, and sums that it scales; or a `merge` of the source).
enum class LoopSplit { none, sum, fold, merge };

/// A loop, or a nest of loops of which each has nothing but the next one in it, with a contraction
/// in the innermost one; or, without ranges, contractions that no loop is around.
struct LoopDesc {
  /// From the outermost on.
  llvm::SmallVector<mlir::Operation *> loops;
  llvm::SmallVector<LoopRange> ranges;
  ir::LoopKind kind = ir::LoopKind::fold;
  /// `scf.if`s in which the loop is, or the contractions are in it.
  llvm::SmallVector<mlir::Operation *> conditions;
  std::vector<CarriedDesc> carried;
  /// In the order of the body.
  std::vector<ContractionDesc> contractions;
  /// Outputs that an iteration adds to or stores to.
  llvm::SmallVector<mlir::Operation *> updates;
  LoopSplit split = LoopSplit::none;

  /// Where the contractions are: the innermost loop's body, or that of the programs, or of a
  /// condition there.
  mlir::Block *body() const {
    ir::DotOp dot = contractions.front().dot;
    return dot->getBlock();
  }
};

/// The loops of a kernel that have contractions, in their order.
std::vector<LoopDesc> describeLoops(ir::KernelOp kernel);

/// Where the elements of one load lie: Box, Rows or Elements.
OperandDesc::Source sourceOf(ir::LoadOp load);

/// What an operand reads as it is, or as tf32; null for one that is computed.
ir::LoadOp loadedAs(const OperandDesc &operand);

/// The descriptions of a kernel as text, empty where it has no contraction.
std::string loopText(ir::KernelOp kernel);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOOPS_LOOPDESC_H
