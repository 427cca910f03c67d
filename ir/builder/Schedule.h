//===- Schedule.h - whether a schedule says what some target can do -------===//
//
// Which values the entries of a schedule may have is decided here alone, for
// every front end and every target: KernelBuilder asks for each kernel that is
// built, so that `check`, `compile`, `run` and the C++ API say the same, whatever
// they are for. A value is refused that no target takes. What one kernel has no
// room for on one target, or makes no use of, its backend says.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_BUILDER_SCHEDULE_H
#define TILE_IR_BUILDER_SCHEDULE_H

#include "ir/dialect/TileOps.h"
#include "ir/dialect/UserError.h"

#include <optional>

namespace tile::ir {

/// The most that any target has: warps of a program, blocks of a cluster, rows of programs that go
/// together. A turn of a pipeline has some hundred bytes at least, and shared memory 228 KiB at
/// most.
inline constexpr int64_t mostWarps = 32, mostBlocks = 16, mostGroupedRows = 65535, mostStages = 512;

/// Reports what is wrong with a kernel's schedule, each entry at its place in the source: values,
/// and names of what has no tile size.
mlir::LogicalResult checkSchedule(KernelOp kernel);
/// The same of the settings alone: for IR that is no front end's.
mlir::LogicalResult checkSettings(KernelOp kernel);

/// What is wrong with a number for a tile size or one of `countSettings` that stands beside the
/// source; nothing if some target takes it.
std::optional<UserError> refuseNumber(llvm::StringRef name, bool isSetting, int64_t number);

/// The rows of the order `grouped(rows)`; none where it is no such text.
std::optional<int64_t> groupedRowsOf(llvm::StringRef order);

/// Whether `name` is a setting of this kernel's schedule, and no binder that is called so.
bool isSetting(KernelOp kernel, llvm::StringRef name);

} // namespace tile::ir

#endif // TILE_IR_BUILDER_SCHEDULE_H
