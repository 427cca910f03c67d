//===- Shortage.h - kernels that need more than their target has ----------===//
//
// How much shared memory a kernel needs, and how many elements a thread holds, is
// known once it is lowered. Where that is too much, sizes that somebody asked for
// are refused; others become smaller, and the kernel is lowered anew.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_PLAN_SHORTAGE_H
#define TILE_CODEGEN_GPU_PLAN_SHORTAGE_H

#include "ir/dialect/TileOps.h"

#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <vector>

namespace tile::codegen {

/// What a kernel lacks on its target, of which there is more with smaller tiles.
struct GpuShortage {
  /// The op that takes most of it; null: the kernel.
  mlir::Operation *op = nullptr;
  /// "needs 524288 bytes of shared memory a program; sm_90a has 232448"
  std::string what;
  /// The binders and loops with blocks, and their sizes: first those that the op's tiles are cut
  /// by, of each kind the largest first.
  llvm::SmallVector<std::pair<std::string, int64_t>> blocks;
  /// It would only be slow: a remark where no size can be smaller.
  bool isSoft = false;
  /// If it is soft: remarks on products tell it.
  bool isTold = false;
  /// Set by who asks for code a last time, and wants to have the shortage reported: sizes that are
  /// known to fit, for a hint.
  std::optional<llvm::SmallVector<std::pair<std::string, int64_t>>> fitting = {};

  explicit operator bool() const { return !what.empty(); }
  /// An error, or a remark, where the schedule says the size, or at the op. Fails in either case.
  mlir::LogicalResult
  report(llvm::ArrayRef<std::pair<std::string, int64_t>> fittingSizes = {}) const;
};

namespace gpu {

/// What one op takes of shared memory at most, if it can do with less: any device has so much.
inline constexpr int64_t mostSharedOfOp = 99 << 10;

/// Registers of a thread, so that all of a block have as many.
int64_t registersOfThread(ir::KernelOp kernel);

/// How many of them tiles take; of numbers below 32 bits each takes one.
int64_t wordsOf(mlir::ValueRange tiles);

/// A program whose threads hold more elements than any has registers for would only be slow; one
/// with far more would take minutes to compile. For a kernel with layouts.
GpuShortage findElementShortage(ir::KernelOp kernel, int64_t most);

/// A scan has all of its states in registers at once: where they are more than half of what a
/// thread has, some go to memory. Soft.
GpuShortage findScanShortage(ir::KernelOp kernel);

/// What a loop carries is in registers in all of its turns: where that is more than threads have,
/// some goes to memory in each. Soft.
GpuShortage findCarriedShortage(ir::KernelOp kernel);

/// A contraction whose types tensor cores have, but not as its tiles are.
struct PlainDot {
  ir::DotOp dot;
  std::string reason;
  /// Where its operands take more shared memory than there is: how much they take, and with the
  /// smallest blocks of rows and columns.
  int64_t bytes = 0, leastBytes = 0;
};

/// Smaller blocks bring one of these to the tensor cores. Soft, and told.
GpuShortage findStagingShortage(ir::KernelOp kernel, llvm::ArrayRef<PlainDot> dots);

/// These, and others whose types no tensor core has, hold both operands in registers at once, of
/// which there may be too few. Soft.
GpuShortage findPlainShortage(ir::KernelOp kernel, llvm::ArrayRef<PlainDot> dots);

/// Of a kernel that takes so many bytes, most of them at `op`.
GpuShortage findSharedShortage(ir::KernelOp kernel, int64_t bytes, mlir::Operation *op,
                               llvm::StringRef target);

/// The binders of a template whose sizes nobody has asked for on a GPU: those that have none in
/// `given`, nor exactly one in `schedule cuda`. (A schedule for all targets was written for none.)
std::vector<std::string> openBinders(ir::KernelOp kernel, const llvm::StringMap<int64_t> &given);

/// The binder that is best made smaller, and its next smaller size: a power of two, or one of the
/// candidates of `schedule cuda`. Only binders in `open` are taken; none: there is no smaller size.
/// `kernel` is the template.
std::optional<std::pair<std::string, int64_t>>
smallerTile(ir::KernelOp kernel, const GpuShortage &shortage, llvm::ArrayRef<std::string> open);

} // namespace gpu
} // namespace tile::codegen

#endif // TILE_CODEGEN_GPU_PLAN_SHORTAGE_H
