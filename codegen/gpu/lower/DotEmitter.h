//===- DotEmitter.h - contractions by threads and by single warps ---------===//
#ifndef TILE_CODEGEN_GPU_LOWER_DOTEMITTER_H
#define TILE_CODEGEN_GPU_LOWER_DOTEMITTER_H

#include "codegen/gpu/lower/Context.h"

namespace tile::codegen::gpu {

/// Where a register's row or column of an operand of a dot begins; registers with one key share it.
struct DotRow {
  Index place;
  llvm::SmallVector<int64_t, 2> key;
};

/// Emits contractions outside pipelines.
class DotEmitter : public Emitter {
public:
  explicit DotEmitter(LoweringContext &context);

private:
  void emitDot(ir::DotOp op);
  /// By each thread's multiply-adds: the sums.
  Values multiplyByThreads(ir::DotOp op, llvm::MutableArrayRef<DotOperand> operands);
  llvm::SmallVector<DotRow> rowsOf(const DotOperand &operand, Axes axes, const Layout &layout);
  /// Adds so many products to each register.
  Values multiplyRows(llvm::ArrayRef<DotOperand> operands,
                      llvm::ArrayRef<llvm::SmallVector<DotRow>> rows, mlir::Type type, Value count,
                      mlir::ValueRange acc);

  /// By instructions of warps (EmitWarpMma.cpp); false where there are none for it.
  bool emitWarpDot(ir::DotOp op, llvm::MutableArrayRef<DotOperand> operands);
  void storeFragments(const DotFragments &operand);
  void clearFragments(const DotFragments &operand);
  Value numberOf(const DotFragments &operand, int64_t reg);
  Value wordOf(DotFragments &operand, int64_t reg);
  Value hasNonFinite(const DotFragments &operand);
  Values multiplyFragments(DotFragments &rows, DotFragments &columns, const WarpMma &mma, Axes axes,
                           const Layout &sums, Values acc);
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_DOTEMITTER_H
