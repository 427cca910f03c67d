//===- Specialize.h - binds dimensions and tile sizes of a kernel ---------===//
//
// A kernel is a template: its tile sizes and dimensions are open. Afterwards
// every block span has a static size, every dimension that was bound is a
// constant, all types that follow from these are static, scalar arithmetic is
// folded, index maps have no symbols that are constants, and the kernel
// verifies. What it computes has not changed.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_TRANSFORMS_SPECIALIZE_H
#define TILE_IR_TRANSFORMS_SPECIALIZE_H

#include "ir/dialect/TileOps.h"

#include "llvm/ADT/StringMap.h"

namespace tile::ir {

struct Bindings {
  /// Values of dimensions and constants; the others stay symbolic.
  llvm::StringMap<int64_t> dims;
  /// Tile sizes by binder; and what `countSettings` has, which comes before the schedule's own.
  llvm::StringMap<int64_t> sizes;
};

/// Sizes of binders that neither bindings nor schedule say anything about.
inline constexpr int64_t defaultParallelSize = 16;
inline constexpr int64_t defaultLoopSize = 64;
/// The greatest tile size; extents of tiles then stay far from overflow.
inline constexpr int64_t maxTileSize = int64_t(1) << 24;

/// The words that a schedule knows besides binders, and the targets that it may be for.
inline constexpr llvm::StringLiteral scheduleSettings[] = {
    "stages", "warps", "cluster", "order", "split", "persistent", "specialize"};
/// Those that are numbers, which bindings may give as they give tile sizes.
inline constexpr llvm::StringLiteral countSettings[] = {"stages", "warps", "cluster", "split"};
inline constexpr llvm::StringLiteral scheduleTargets[] = {"cpu", "cuda"};

/// The binders whose tile sizes are a matter of schedule, outermost first:
/// `tiles` of the program space and loops that are not `sequential`.
llvm::SmallVector<mlir::StringAttr> sizableBinders(KernelOp kernel);

/// The candidates that the kernel's schedule has for a binder, in their order: those of `schedule
/// TARGET` if there are any, else those for all targets. No target: those for all.
llvm::SmallVector<int64_t> scheduledSizes(KernelOp kernel, llvm::StringRef binder,
                                          llvm::StringRef target = {});

/// Where the source has each entry of a kernel's schedule: a dictionary of the same form, of
/// locations. It is a part of the kernel's own, so that passes and caches don't see it.
void setPlacesOfSchedule(KernelOp kernel, mlir::DictionaryAttr places);
/// Where the source has an entry of the schedule: that of `schedule TARGET` if there is one, else
/// the one for all targets. The kernel's own place where that is not known, as after fusion.
mlir::Location placeOfEntry(KernelOp kernel, llvm::StringRef key, llvm::StringRef target);
/// Whether `name` is one of `countSettings` here, and not a binder that has such a name.
bool isCountSetting(KernelOp kernel, llvm::StringRef name);
/// Whether several kernels have become this one.
bool isFused(KernelOp kernel);

/// The size that each of a kernel's sizable binders gets, which is the first of: its size in the
/// IR, `bindings.sizes`, the first candidate in the kernel's `schedule`, the default. Bad bindings
/// are reported.
mlir::FailureOr<llvm::StringMap<int64_t>> tileSizes(KernelOp kernel, const Bindings &bindings);

/// Whether the values of dims are those of some launch: bad ones are reported.
mlir::LogicalResult checkDims(KernelOp kernel, const Bindings &bindings);

/// Specializes in place, with these sizes. The values of dims are kept in the attribute
/// `tile.bound`, so that a launch can check them. Bad bindings are reported at the kernel's
/// location with notes "hint: …", and leave the kernel unchanged.
mlir::LogicalResult specialize(KernelOp kernel, const Bindings &bindings);

/// The dimensions that whole axes of unknown length are as long as, by name and in the order of the
/// kernel; only those of axes that begin at 0.
llvm::SmallVector<mlir::StringAttr> dimsOfOpenAxes(KernelOp kernel);

/// Gives the open axes of these dimensions a static extent: room for so many coordinates. Their
/// bounds stay as they are, so that they may be shorter; longer they must not be.
void limitAxes(KernelOp kernel, const llvm::StringMap<int64_t> &dims);

/// Gives spans of these names, and all tiles along them, these extents.
void retypeSpans(KernelOp kernel, const llvm::StringMap<int64_t> &extents);

/// Folds and simplifies what stands in the kernel with the canonicalization
/// patterns of its dialects.
void simplify(KernelOp kernel);

/// The dims that `specialize` has bound, or null.
mlir::DictionaryAttr boundDims(KernelOp kernel);

} // namespace tile::ir

#endif // TILE_IR_TRANSFORMS_SPECIALIZE_H
