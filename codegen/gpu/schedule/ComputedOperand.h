//===- ComputedOperand.h - an operand that is made in registers -----------===//
//
//   %x = tile.load %a at (i, k)              %read = tile_gpu.read %part
//   %y = arith.maximumf %x, %zeros      →    %y = arith.maximumf %read, %zeros
//   … tile.dot %y, …                         … tile_gpu.mma %y, …
//
// The warps that multiply read boxes from a stage in the layout that tensor cores take an operand
// in, and compute it there, with the ops that the loop has for it. What else it is computed from,
// of one axis at most, they load themselves.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_SCHEDULE_COMPUTEDOPERAND_H
#define TILE_CODEGEN_GPU_SCHEDULE_COMPUTEDOPERAND_H

#include "codegen/gpu/plan/Products.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace tile::codegen::gpu {

class ComputedOperand {
public:
  /// Of the rows of a product, whose tiles have layouts.
  explicit ComputedOperand(const Product &product);

  /// Whether it has to be known of an iteration that what is contracted may end in it.
  bool dependsOnEnd() const;
  /// Begins with an iteration, by its number: with what is loaded beside the boxes.
  void begin(mlir::OpBuilder &builder, mlir::Value number, bool mayEnd);
  /// Makes the operand of that iteration, of the parts of a stage: those of the rows' boxes come
  /// first. Coordinates beyond what is contracted are 0, whatever is computed there.
  mlir::Value make(mlir::ValueRange parts);

private:
  bool isBox(ir::LoadOp load) const;
  /// With the result's axis first.
  mlir::Type inOrder(mlir::Type type) const;
  mlir::Value again(mlir::Value value);
  mlir::Value loadAgain(ir::LoadOp load);
  mlir::Value copy(mlir::Operation *op);
  /// What is contracted in an iteration, counted from 0.
  mlir::Value makeAxis();
  /// The coordinate of the iteration's first column, and those of all.
  mlir::Value firstColumn();
  mlir::Value coordinates(mlir::Type type);
  mlir::Value cutOff(mlir::Value operand);

  Product product;
  /// Whether what is computed beyond the end needs to be cut off: it may not be a finite number.
  bool isOpen = false;
  /// Whether what is contracted may end in this iteration.
  bool mayEnd = false;
  mlir::OpBuilder *b = nullptr;
  mlir::Location loc;
  mlir::Value number, axis;
  mlir::IRMapping made;
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_SCHEDULE_COMPUTEDOPERAND_H
