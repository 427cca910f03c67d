//===- Folds.h - reductions over the blocks of a loop ---------------------===//
//
//   for n in tiles(N) { s += sum(x[i, n], n) }
//
// Threads add what they have themselves, block after block; only after the loop do
// they add up what others have. So a block costs neither shuffles nor barriers. Sums of
// floats are two numbers, the sum and what roundings take from it: however many blocks
// there are, their number costs no digits. Other values that a loop only adds to are such
// pairs, too.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_FOLDS_H
#define TILE_CODEGEN_GPU_LOWER_FOLDS_H

#include "codegen/gpu/lower/Types.h"

#include <optional>

namespace tile::codegen::gpu {

/// What is carried from block to block of a loop, or from program to program for an update, and
/// does nothing but fold a reduction over these.
struct Fold {
  ir::ReduceOp reduce;
  mlir::Operation *combine;
  llvm::SmallVector<unsigned> kept; // axes of the reduction's input
  bool isLongSum = false;
};

/// The registers of a loop's carried values.
struct Carried {
  struct Part {
    size_t count;
    bool isLongSum;
  };
  llvm::SmallVector<Part> parts;
  void append(Values &registers, mlir::ValueRange more, bool isLongSum);
  llvm::SmallVector<mlir::ValueRange> split(mlir::ValueRange registers) const;
  bool hasLongSums() const;
};

/// Folds reductions over the blocks of loops.
class Folds : public Emitter {
public:
  using Emitter::Emitter;

  /// What can wait until the loop is done: the folds between threads. By carried value; null
  /// reductions where nothing waits.
  llvm::SmallVector<Fold> foldsOf(ir::ForOp op) const;
  /// States of the thread's own registers, for a start and after a block.
  Values startOf(const Fold &fold);
  Values stepOf(const Fold &fold, mlir::ValueRange before);
  Values finish(const Fold &fold, mlir::ValueRange states, Value init);
  /// What all threads have together.
  Values joined(const Fold &fold, mlir::ValueRange states);

  /// A long sum is two values a register: all sums, then what they have lost. A round begins with
  /// zeros in place of the sums and gives its terms, of which those count that hold.
  Values startOfSum(mlir::ValueRange init);
  Values zerosOf(mlir::ValueRange numbers);
  Values addTerms(mlir::ValueRange before, mlir::ValueRange terms,
                  llvm::ArrayRef<mlir::Value> holds = {});
  Values totalOf(mlir::ValueRange states);

  /// CodeBuilder::loop, for a loop that may be one of several runs. Where it is known how far it
  /// goes it counts from 0: assemblers see how often a loop runs, and unroll it by that, only
  /// between constants. With `mostWritten` rounds that are no more are written out.
  Values loopBetween(Value lower, Value upper, Value step, mlir::ValueRange inits,
                     CodeBuilder::LoopBody body, bool mayUnroll = true, int64_t mostWritten = 0);
  /// A loop, given its carried values' registers.
  using Loop = llvm::function_ref<Values(Value lower, Value upper, mlir::ValueRange registers)>;
  /// Rounds of a loop in runs of so many, each a loop for itself. `run` gets registers that follow
  /// the carried values' as they are, and gives them. With `copies` its code is there more than
  /// once: so many stand in one round of the loop over whole runs, and what is left behind these is
  /// one of its own, so that assemblers see how long the whole ones are.
  Values loopInRuns(Value lower, Value upper, int64_t step, int64_t rounds, mlir::ValueRange inits,
                    Loop run, int64_t copies = 0);
  /// The loop by runs, where it has or may have more rounds than sums of two numbers bear. They
  /// settle behind each run.
  Values loopOfSums(std::optional<int64_t> rounds, Value lower, Value upper, int64_t step,
                    const Carried &carried, mlir::ValueRange inits, Loop loop);

private:
  /// Gives the same sums, with as much of what they have lost in them as they can hold.
  Values settle(mlir::ValueRange states);
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_FOLDS_H
