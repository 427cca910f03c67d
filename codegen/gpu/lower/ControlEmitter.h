//===- ControlEmitter.h - loops and conditions ----------------------------===//
//
// Carried tiles are carried register by register. All threads of a program take
// the same way, since conditions have no axes.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_CONTROLEMITTER_H
#define TILE_CODEGEN_GPU_LOWER_CONTROLEMITTER_H

#include "codegen/gpu/lower/Context.h"

namespace tile::codegen::gpu {

/// Emits loops and conditions.
class ControlEmitter : public Emitter {
public:
  explicit ControlEmitter(LoweringContext &context);

private:
  void emitFor(ir::ForOp op);
  void emitCount(mlir::scf::ForOp op);
  void emitIf(mlir::scf::IfOp op);
  void emitWhile(mlir::scf::WhileOp op);
  /// Where a carried value has an element in a loop's block; empty: everywhere.
  Values keepMask(ir::ForOp op, Value carried);
  /// Binds a loop's axis to its block from here on.
  void bindBlock(ir::ForOp op, Value origin);

  /// Loads of a loop that are made a turn ahead (LoadsAhead.cpp), and which of their elements, in
  /// order, are carried together: null for one by itself.
  struct AheadLoads {
    llvm::SmallVector<ir::LoadOp> loads;
    llvm::SmallVector<mlir::VectorType> vectors;
  };
  llvm::SmallVector<ir::LoadOp> loadsAhead(ir::ForOp op);
  /// Whether a load of a loop can be made in another turn than its own.
  bool isReadAhead(ir::LoadOp load);
  /// Reads the block from `origin` on, if there is one; gives what the loop carries.
  Values fetchAhead(AheadLoads &ahead, ir::ForOp op, Value origin);
  void bindAhead(const AheadLoads &ahead, mlir::ValueRange packed);

  /// Operands of a loop's turns to come, in a ring of slots (Stages.cpp).
  struct Stages {
    llvm::SmallVector<StagedLoad> loads;
    int64_t depth = 0, bytes = 0; // slots; of one
    Value base;
  };
  Stages stagesOf(ir::ForOp op);
  std::optional<StagedLoad> stagedLoad(ir::LoadOp load, int64_t start);
  Value slotOf(const Stages &stages, Value number);
  void startCopies(const StagedLoad &staged, Value slot);
  void startTurn(const Stages &stages, ir::ForOp op, Value origin, Value slot);
  void startFirstTurns(const Stages &stages, ir::ForOp op);
  /// The turn's operands are there, in its slot; those of a later one are on their way.
  void beginTurn(const Stages &stages, ir::ForOp op, Value origin, Value slot);
  Value nextSlot(const Stages &stages, Value slot);
  void finishStages(const Stages &stages);

  /// A maximum and the sum that it scales, among a loop's carried values, which each thread folds
  /// by itself (RescaledSums.h).
  struct Rescaled {
    size_t maximumNumber, sumNumber;
    ir::ReduceOp maximum, added;
    mlir::Operation *scale;
  };
  llvm::SmallVector<Rescaled> rescaledOf(ir::ForOp loop);
  /// Joins what all threads have of them after the loop.
  std::pair<Values, Values> joinRescaled(const Rescaled &pair, mlir::ValueRange maxima,
                                         mlir::ValueRange sums);
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_CONTROLEMITTER_H
