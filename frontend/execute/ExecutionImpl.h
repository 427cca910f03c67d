//===- ExecutionImpl.h - what running kernels and graphs share ------------===//
#ifndef TILE_FRONTEND_EXECUTE_EXECUTIONIMPL_H
#define TILE_FRONTEND_EXECUTE_EXECUTIONIMPL_H

#include "frontend/execute/CudaExecution.h"
#include "frontend/execute/Execution.h"
#include "frontend/execute/Rules.h"

namespace tile::frontend {

struct Executor::Compiled {
  ir::KernelOp source;
  /// What it is specialized to.
  ir::Bindings bindings;
  /// Specialized; on a GPU only once `Executor::specialized` has made it.
  mlir::OwningOpRef<ir::KernelOp> kernel;
  /// On the CPU only.
  std::optional<codegen::CpuCode> code;
  /// On the CPU: what to say where an access goes to no memory that there is, in a kernel whose
  /// author answers for that (CrashReport::Promise).
  std::string brokenPromise;
  /// On a GPU only.
  std::optional<CudaKernel> cuda;
};

/// A launch that is checked, with memory for all it writes; everything by parameter.
struct Executor::RawLaunch {
  llvm::ArrayRef<const void *> params;
  llvm::ArrayRef<int64_t> elements;
  /// Null for scalars.
  llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes;
  llvm::ArrayRef<int64_t> dims;
  /// Of a call in a graph: where it stands, and the calls of the graphs around it.
  llvm::ArrayRef<mlir::Location> callers = {};
};

/// Checked, compiled, with memory for all it writes; everything by parameter.
struct Executor::Prepared {
  Compiled *code = nullptr;
  llvm::SmallVector<int64_t> dims;
  llvm::SmallVector<uint64_t> scalars;
  /// Null for scalars.
  std::vector<std::shared_ptr<runtime::Tensor>> tensors;
  /// Positions of the parameters that come back.
  llvm::SmallVector<unsigned> outputs;
  /// As RawLaunch has them; they point to the above.
  llvm::SmallVector<const void *> params;
  llvm::SmallVector<int64_t> elements;
  llvm::SmallVector<llvm::ArrayRef<int64_t>> shapes;

  Outputs takeOutputs();
};

struct Executor::Plan {
  runtime::GraphPlan plan;
  PlanSource source;
  /// By the numbers that its calls name them with.
  KernelNumbers kernels;
  std::vector<runtime::Signature> signatures;
};

/// Whether each argument is a tensor or scalar of the type its input has.
Outcome<std::monostate> checkArguments(const Interface &interface, const Arguments &arguments);

} // namespace tile::frontend

#endif // TILE_FRONTEND_EXECUTE_EXECUTIONIMPL_H
