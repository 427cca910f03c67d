//===- ElementwiseEmitter.h - ops of each element by itself ---------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_ELEMENTWISEEMITTER_H
#define TILE_CODEGEN_GPU_LOWER_ELEMENTWISEEMITTER_H

#include "codegen/gpu/lower/Context.h"

#include <array>

namespace tile::codegen::gpu {

/// Emits ops of each element by itself; what nobody else has registered, too.
class ElementwiseEmitter : public Emitter {
public:
  explicit ElementwiseEmitter(LoweringContext &context);

private:
  void emitElementwiseOp(mlir::Operation *op);
  bool emitPairsOfHalves(mlir::Operation *op);
  /// Sines, cosines and tangents of f32: all threads compute those of moderate arguments, and where
  /// one has others, those in a branch.
  void emitAngles(mlir::Operation *op);
  /// A division of rows by one number each; false where it is none.
  bool emitRowDivision(mlir::Operation *op);
  Values divideAll(mlir::ValueRange numerators, Value divisor);
  void emitBroadcast(ir::BroadcastOp op);
  void emitCoords(ir::CoordsOp op);

  /// Random bits: a block for four neighbours (EmitRandom.cpp).
  void emitPhiloxOp(ir::PhiloxOp op);
  struct Draws;
  Value drawOperand(const Draws &draws, unsigned number, int64_t reg);
  /// The block of the draw that is so far ahead of a register's. Of several registers conditions
  /// number one, the first by its lowest bit.
  std::array<Value, 4> blockOf(const Draws &draws, llvm::ArrayRef<int64_t> registers,
                               llvm::ArrayRef<Value> which, int64_t ahead);
  Value selectNumber(llvm::ArrayRef<Value> values, llvm::ArrayRef<Value> bits);
  /// Where blocks begin is known.
  void drawAligned(const Draws &draws, llvm::ArrayRef<int64_t> registers);
  void drawTogether(const Draws &draws, llvm::ArrayRef<llvm::SmallVector<int64_t>> groups,
                    llvm::ArrayRef<unsigned> bits,
                    llvm::function_ref<Value(llvm::ArrayRef<Value>, unsigned)> pick);
  void drawRun(const Draws &draws, int64_t first, int64_t count);
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_ELEMENTWISEEMITTER_H
