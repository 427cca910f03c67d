//===- OutputEmitter.h - `reduce` outputs, their updates and copies -------===//
//
// Sums of floats depend on their order, and a grid has none. So each of a number
// of blocks, which the shapes alone decide, runs a run of programs one after the
// other, and folds their updates into a copy of the output; a second function folds
// the copies, in their order. Halves are f32 in the copies.
//
// Where some binders decide which elements a program updates,
//
//   parallel i in tiles(M), j in tiles(N) { s[j] += sum(x[i, j], i) }
//
// blocks with different j share a copy: each has the elements of its j in registers until
// its programs, which are a run of the i, are done. Such binders are *kept*. Where the
// kept ones alone make blocks enough there is one copy, and blocks store what they have.
//
// Where the outputs have few elements, as the kernel knows, that function would take
// longer to begin than to run. Then the launch gives a counter, and the last block that
// is done folds the copies, combining them in the very order of the second function.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_OUTPUTEMITTER_H
#define TILE_CODEGEN_GPU_LOWER_OUTPUTEMITTER_H

#include "codegen/gpu/lower/Context.h"
#include "codegen/gpu/plan/OutputCopies.h"

namespace tile::codegen::gpu {

/// Emits updates of `reduce` outputs, and the functions that fill and fold them.
class OutputEmitter : public Emitter {
public:
  explicit OutputEmitter(LoweringContext &context);

  /// Binds what a launch gives for copies: the first parameters behind the report.
  void bindLaunch(mlir::ValueRange parameters);
  /// Puts this block's copies in the place of the outputs.
  void bindCopies();
  /// Emits another function of the kernel, which fills `reduce` outputs with their identities, or
  /// folds the copies of those that have some.
  void runStart();
  void runFinish();
  /// See GpuCode.
  bool storesAlone = false;

private:
  //===-- Updates (EmitUpdate.cpp) ------------------------------------------===//
  void emitUpdate(ir::UpdateOp op);
  void updateAtomically(ir::UpdateOp op, const Access &access, Value address, Value number,
                        Value mask);
  /// Where accesses are watched, `allowed` are their masks.
  void updateInTurn(ir::UpdateOp op, const Access &access, mlir::ValueRange numbers,
                    mlir::ValueRange allowed);
  /// The mask of a register, and its number as the target takes it.
  Value updateMask(ir::UpdateOp op, const Access &access, llvm::ArrayRef<Index> indices,
                   int64_t reg);
  /// Updates of the same elements by every program of a block (`combine`), in all threads'
  /// registers until these programs are done. Where they fold a reduction, threads join what they
  /// have then.
  llvm::SmallVector<Fold> accumulatedUpdates();
  Values startOfUpdate(const Fold &fold);
  /// The binders that decide alone which elements the updates are of, where all elements of the
  /// outputs are some program's; none: blocks have copies of whole outputs.
  llvm::SmallVector<unsigned, 1> findKeptBinders();
  void writeAccumulated(const Fold &fold, mlir::ValueRange states);

  //===-- Copies (ReduceOutputs.cpp) ----------------------------------------===//
  /// A run of programs for each copy, so that they are combined in order.
  void emitRuns(ir::ParallelOp op);
  /// Elements of the target as numbers that combine.
  mlir::Type combinedType(mlir::Type element);
  Value identityFor(unsigned param);
  void fillCopies();
  void fill(unsigned param, Value first, Value step, Value count);
  Value elementsOf(const Tensor &tensor);
  void finishOutput(const ReduceCopies &copies, const Tensor &output, Value block);
  void finishFewCopies(const ReduceCopies &copies, const Tensor &output, Value block);
  /// An element of the copies from number `begin` on, each `step` further, as one number.
  Value foldRun(unsigned param, const Tensor &first, Value element, Value length, Value begin,
                int64_t step);
  /// With a counter: the last of the blocks to come here folds all copies.
  void foldByLast();
  void foldFew(unsigned param, const Tensor &first, const Tensor &output);
  void writeFolded(unsigned param, const Tensor &output, Value element, Value folded);
  /// What an output's element is of what its updates made, as it is stored.
  Value finished(unsigned param, const Tensor &output, Value folded);

  /// `reduce` outputs with copies, as GpuCode has them; the tensors are then those of the block.
  llvm::SmallVector<ReduceCopies, 1> copies;
  Value placeOfCopies, counter; // of u32; null: another function folds
  Value numCopies, numPrograms; // i64
  /// This block has the copy of this number, and its kept binders have this one of so many places.
  Value copyNumber, keptPlace, keptPlaces; // i32
  /// The tensors themselves, in the order of `copies`.
  llvm::SmallVector<Tensor, 1> copiedOutputs;
  llvm::DenseMap<mlir::Operation *, Values> accumulated;
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_OUTPUTEMITTER_H
