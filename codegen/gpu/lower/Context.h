//===- Context.h - what all parts of a lowering share ---------------------===//
//
// One kernel becomes one function that each thread runs: a tile is the list of
// the registers that its layout gives the thread, an elementwise op one operation
// a register. Control flow is the same for all threads of a program, so barriers
// may stand anywhere.
//
// The context has the values, and what makes code of places, masks, memory and
// exchanges. Ops are emitted by families, which register what is theirs; none
// knows another: an op that one needs another to emit goes through `emitOp`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_CONTEXT_H
#define TILE_CODEGEN_GPU_LOWER_CONTEXT_H

#include "codegen/Elementwise.h"
#include "codegen/gpu/lower/Barriers.h"
#include "codegen/gpu/lower/DotOperands.h"
#include "codegen/gpu/lower/Exchange.h"
#include "codegen/gpu/lower/Folds.h"
#include "codegen/gpu/lower/Places.h"
#include "codegen/gpu/lower/Programs.h"
#include "codegen/gpu/lower/Records.h"
#include "codegen/gpu/lower/SharedMemory.h"
#include "codegen/gpu/lower/TensorAccess.h"
#include "codegen/gpu/plan/Divisors.h"
#include "codegen/gpu/plan/Shortage.h"
#include "codegen/gpu/target/GpuCode.h"
#include "codegen/gpu/target/Target.h"
#include "ir/proofs/Domain.h"
#include "runtime/artifact/GpuTarget.h"

namespace tile::codegen::gpu {

/// What the parts and the families of a lowering share. It lives as long as one function is made.
class LoweringContext {
public:
  /// `room`: the shared memory that a block may have.
  LoweringContext(CodeBuilder &b, ir::KernelOp kernel, mlir::LLVM::LLVMFuncOp function,
                  const runtime::GpuTarget &gpuTarget, int64_t room = mostSharedOfOp);
  LoweringContext(const LoweringContext &) = delete;

  CodeBuilder &b;
  ir::KernelOp kernel;
  mlir::LLVM::LLVMFuncOp function;
  TargetInfo target;
  ir::Domains domains;
  Divisors divisors;
  int64_t room; // of shared memory
  bool watches = false;

private:
  // Before the parts below, which register ops when they are made.
  llvm::DenseMap<mlir::TypeID, std::function<void(mlir::Operation *)>> emitters;

public:
  //===-- Ops ---------------------------------------------------------------===//
  /// Has ops of a kind emitted so.
  template <typename Op>
  void onOp(std::function<void(Op)> emit) {
    bool isNew = emitters
                     .try_emplace(mlir::TypeID::get<Op>(),
                                  [emit](mlir::Operation *op) { emit(llvm::cast<Op>(op)); })
                     .second;
    assert(isNew && "an op is of one family");
    (void)isNew;
  }
  /// Ops that nobody has registered.
  std::function<void(mlir::Operation *)> onOther;
  /// Ops of a block, in order.
  std::function<void(mlir::Block &)> onBlock;
  /// Emits an op by who has registered its kind.
  void emitOp(mlir::Operation *op);
  void emitBlock(mlir::Block &block) { onBlock(block); }
  /// Reports an error, the first one only; no code will be used.
  void fail(mlir::Operation *op, const llvm::Twine &what);
  bool failed = false;
  /// The op of the kernel's, or of a region's, that is emitted.
  mlir::Operation *currentOp = nullptr;
  llvm::SmallPtrSet<mlir::Operation *, 4> waiting; // not emitted where they stand
  llvm::SmallPtrSet<mlir::Operation *, 4> apart;   // reductions of each thread's own elements
  /// Contractions whose types tensor cores have, but not as their tiles are, and why.
  llvm::SmallVector<PlainDot> plainDots;
  llvm::SmallVector<StagedLoop> stagedLoops;

  //===-- Values ------------------------------------------------------------===//
  /// What was emitted for a value without axes, and for one with axes.
  mlir::Value scalar(mlir::Value value) const;
  Tile tile(mlir::Value value) const;
  /// All registers of values one after the other, and back.
  Values flatten(mlir::ValueRange values) const;
  void bind(mlir::ValueRange values, mlir::ValueRange registers);
  /// One element, of which all threads have a copy.
  Layout layoutOfScalar() const;
  /// A tile's own, or that of a scalar.
  Layout layoutOfValue(mlir::Value value) const;
  /// Binds the kernel's parameters; gives those of the function that are behind its dims and
  /// report.
  mlir::ValueRange bindParameters();
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, Tile> tiles;
  llvm::DenseMap<mlir::Value, Tensor> tensors;
  Values dims;
  llvm::DenseMap<mlir::StringAttr, Range> ranges;

  /// Columns that are emitted, from 0 on in turn; none: all.
  struct Slice {
    mlir::StringAttr axis;
    int64_t begin = 0, end = 0;
  };
  std::optional<Slice> slice;
  /// Whether a register of a tile is made now.
  bool isInSlice(Axes axes, const Layout &layout, int64_t reg) const;

  //===-- Threads -----------------------------------------------------------===//
  mlir::Block *prologue;
  mlir::Value lane, warp, thread, blockRank; // i32; the block's number in its cluster
  unsigned warps, blocks;
  mlir::Value program; // its number, i64

  Places places{*this, b};
  SharedMemory shared{*this, b};
  Barriers barriers{*this, b};
  Exchange exchange{*this, b};
  TensorAccess memory{*this, b};
  Folds folds{*this, b};
  Records records{*this, b};
  DotOperands operands{*this, b};
  Programs programs{*this, b};
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_CONTEXT_H
