//===- Launch.h - binds dimensions to the shapes of a call ----------------===//
//
// What every launch has to know before it starts: the value of each dimension
// and constant, the shape of each parameter, and that the author's
// requirements hold.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_INTERPRETER_LAUNCH_H
#define TILE_IR_INTERPRETER_LAUNCH_H

#include "ir/dialect/TileOps.h"
#include "ir/dialect/UserError.h"

#include "llvm/ADT/StringMap.h"

namespace tile::ir {

struct LaunchBinding {
  /// In the order of the kernel's `dims`.
  llvm::SmallVector<int64_t> dims;
  /// By parameter; empty for scalars. Of a graph: parameters, then results.
  llvm::SmallVector<llvm::SmallVector<int64_t>> shapes;
};

/// Binds each dimension where it stands bare in the shape of an input, each
/// constant from `explicitDims` or its default, and checks that all shapes
/// agree. `inputShapes[p]` is the shape of parameter p (empty for scalars);
/// only those of `in` and `inout` parameters are read, so the list may end
/// after the inputs. On success every extent is ≥ 0, and dimensions and the
/// bytes of every tensor stay within 2^47 (IndexLimits.h).
mlir::FailureOr<LaunchBinding> bindLaunch(KernelOp kernel,
                                          llvm::ArrayRef<llvm::ArrayRef<int64_t>> inputShapes,
                                          const llvm::StringMap<int64_t> &explicitDims,
                                          UserError &error);
mlir::FailureOr<LaunchBinding> bindLaunch(GraphOp graph,
                                          llvm::ArrayRef<llvm::ArrayRef<int64_t>> inputShapes,
                                          const llvm::StringMap<int64_t> &explicitDims,
                                          UserError &error);

/// Evaluates the kernel's tile.require conditions in unbounded integers, and
/// holds scalars that take part in indices within 2^47. `scalars[p]` are the bits
/// of scalar parameter p; entries of tensors are not read. Reports the message
/// of the first condition that does not hold, with the dimensions it speaks of.
mlir::LogicalResult checkRequires(KernelOp kernel, llvm::ArrayRef<int64_t> dims,
                                  llvm::ArrayRef<uint64_t> scalars, UserError &error);

/// Whether a scalar parameter is an integer of 64 bits that takes part in an index, a bound or a
/// condition: those are held within 2^47.
bool reachesIndex(mlir::BlockArgument parameter);

} // namespace tile::ir

#endif // TILE_IR_INTERPRETER_LAUNCH_H
