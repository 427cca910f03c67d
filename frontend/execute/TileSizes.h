//===- TileSizes.h - tile sizes given beside the source -------------------===//
//
// From a command line, a file or a search: sizes for every kernel that has such
// a binder, and sizes for one kernel.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EXECUTE_TILESIZES_H
#define TILE_FRONTEND_EXECUTE_TILESIZES_H

#include "frontend/base/Outcome.h"
#include "ir/transforms/Specialize.h"

#include <map>
#include <string>
#include <vector>

namespace tile::frontend {

struct TileSizes {
  using ByBinder = std::map<std::string, int64_t>;
  ByBinder everywhere;
  /// By the kernel's name in the source (`matmul`) or its symbol (`matmul.f16`).
  std::map<std::string, ByBinder> byKernel;
  /// The files that sizes are from, by kernel (none of those for all) and binder.
  std::map<std::pair<std::string, std::string>, std::string> files;

  bool operator==(const TileSizes &) const = default;

  /// Adds `i=64` or `matmul.i=64`, a size that is not there yet.
  Outcome<std::monostate> parse(llvm::StringRef text);
  /// Adds {"i": 64, "matmul": {"j": 32}}.
  Outcome<std::monostate> readFile(const std::string &path);
  /// Takes all sizes of `other`, in the place of its own where both have one.
  void overrideWith(const TileSizes &other);

  /// Whether each name means something among these kernels, and each number can be what it is for.
  Outcome<std::monostate> check(llvm::ArrayRef<ir::KernelOp> kernels) const;
  /// Whether sizes are given by a name that means this kernel.
  bool isNamed(ir::KernelOp kernel) const;
  /// Those of one kernel.
  ir::Bindings of(ir::KernelOp kernel) const;

private:
  Failure refused(ir::KernelOp kernel, const std::string &name, ir::UserError error) const;
};

/// Fails on a number that is no tile size and no setting, whatever the kernel.
Outcome<std::monostate> checkSize(llvm::StringRef binder, int64_t size);

/// The kernels that running a symbol runs, in order of their first call.
llvm::SmallVector<ir::KernelOp> kernelsOf(mlir::ModuleOp module, llvm::StringRef symbol);

} // namespace tile::frontend

#endif // TILE_FRONTEND_EXECUTE_TILESIZES_H
