//===- Programs.h - which program runs ------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_PROGRAMS_H
#define TILE_CODEGEN_GPU_LOWER_PROGRAMS_H

#include "codegen/gpu/lower/Types.h"

#include "llvm/ADT/MapVector.h"

#include <functional>
#include <utility>

namespace tile::codegen::gpu {

/// Knows which program runs.
class Programs : public Emitter {
public:
  Programs(LoweringContext &context, CodeBuilder &builder);

  /// The programs of this block of threads, by this body.
  void emitPrograms(ir::ParallelOp op, mlir::Block &body);
  /// Binds what a program has to the one of this number, an i32.
  void bindProgram(ir::ParallelOp op, Value number);
  /// Binds some of the binders to the place of this number among their places alone.
  void bindBinders(ir::ParallelOp op, Value number, llvm::ArrayRef<unsigned> binders);
  /// How many programs there are, as i64.
  Value programCount(ir::ParallelOp op);
  /// How many blocks there are of `size` coordinates each.
  static Value blockCount(CodeBuilder &b, Value lower, Value upper, Value size);
  /// The first coordinate that a binder has in this program.
  Value coordinateOf(unsigned binder);

  /// Has what follows know which program runs.
  void bindNow() {
    if (bindLater)
      std::exchange(bindLater, nullptr)();
  }
  bool isBound() const { return !bindLater; }

  /// Programs in runs, one after the other in a block; null: they run by themselves.
  std::function<void(ir::ParallelOp)> emitRuns;
  /// Binders whose place a block has for all of its programs (OutputCopies.h): the numbers of
  /// these programs are among the other binders' places.
  llvm::SmallVector<unsigned, 1> keptBinders;

private:
  void emitParallel(ir::ParallelOp op);

  /// Finds out which program runs, where that is still to do; null: it is done.
  std::function<void()> bindLater;
  /// How many programs this block has had before.
  Value turn;
  /// Numbers of the items that the program's role puts or gets next, by channel.
  llvm::MapVector<Value, Value> positions;
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_PROGRAMS_H
