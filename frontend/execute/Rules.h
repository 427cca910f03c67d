//===- Rules.h - what the runtime has to know of kernels and graphs -------===//
//
// From the IR to the plain data of runtime/artifact: signatures with the rules
// of their launches, and the plans of graphs. Afterwards a launch needs no IR.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EXECUTE_RULES_H
#define TILE_FRONTEND_EXECUTE_RULES_H

#include "frontend/base/Outcome.h"
#include "ir/dialect/TileOps.h"
#include "runtime/artifact/ArtifactData.h"

#include "llvm/ADT/DenseMap.h"

namespace tile::frontend {

/// Numbers computed from dimensions and scalars, as a program grows.
class ProgramBuilder {
public:
  /// `dims` are the names that tile.dim may have.
  explicit ProgramBuilder(mlir::ArrayAttr dims) : dims(dims) {}

  runtime::Program program;

  /// A scalar parameter.
  void addScalar(mlir::Value value, unsigned param);
  /// What an op on scalars computes. Failure if no instruction does.
  mlir::LogicalResult add(mlir::Operation *op);
  /// An expression over the dimensions as its symbols.
  uint32_t add(mlir::AffineExpr expr);
  /// ⌈(upper − lower) / size⌉ of values that were added, as the program's value.
  void addBlockCount(mlir::Value lower, mlir::Value upper, int64_t size);
  bool has(mlir::Value value) const { return positions.contains(value); }
  /// The position of a value that was added.
  uint32_t at(mlir::Value value) const { return positions.at(value); }

private:
  uint32_t push(runtime::Instruction instruction);
  mlir::LogicalResult addProduct(mlir::Operation *op, runtime::Opcode high);

  mlir::ArrayAttr dims;
  llvm::DenseMap<mlir::Value, uint32_t> positions;
};

/// The same mode, as the runtime calls it.
runtime::ParamMode modeOf(ir::ParamMode mode);

/// The signature of a kernel. Fails, with the reason, on a `requires` that computes what programs
/// have no instruction for.
Outcome<runtime::Signature> signatureOf(ir::KernelOp kernel);
/// The parameters of a graph, then its results. Requirements are in its plan.
runtime::Signature signatureOf(ir::GraphOp graph);

/// Gives kernels numbers as calls name them.
class KernelNumbers {
public:
  uint32_t of(ir::KernelOp kernel) {
    auto [known, isNew] = numbers.try_emplace(kernel, static_cast<uint32_t>(kernels.size()));
    if (isNew)
      kernels.push_back(kernel);
    return known->second;
  }
  llvm::ArrayRef<ir::KernelOp> list() const { return kernels; }

private:
  llvm::DenseMap<mlir::Operation *, uint32_t> numbers;
  llvm::SmallVector<ir::KernelOp> kernels;
};

/// What a plan came from: the op of each call and frame; null for frame 0.
struct PlanSource {
  llvm::SmallVector<ir::CallOp> calls, frames;
};

/// The plan of a graph; the graphs that it calls are laid open.
Outcome<runtime::GraphPlan> planOf(ir::GraphOp graph, KernelNumbers &numbers,
                                   PlanSource *source = nullptr);

} // namespace tile::frontend

#endif // TILE_FRONTEND_EXECUTE_RULES_H
