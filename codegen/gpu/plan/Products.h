//===- Products.h - loops that multiply matrices --------------------------===//
//
// What the tensor cores are for, in a kernel that says nothing of them:
//
//   %sum = tile.for reassociable %k = "k" %c0 to %K by 64 iter_args(%acc = %zeros) {
//     %x = tile.load %a at (i, k)
//     %y = tile.load %b at (k, j)
//     %next = tile.dot %x, %y over "k" acc %acc
//     tile.yield %next
//   }
//
// Such a loop, as it is described (LoopDesc.h), becomes a pipeline (BuildPipeline.h), if bulk
// copies can fetch its boxes: blocks of a tensor's last two dimensions, whose rows begin at
// multiples of 16 bytes. Where they begin numbers of the program say, which may be data. What is
// beyond a tensor's end comes as zero. f32 that the loop rounds to tf32 first the copies round.
//
// The operand along the result's rows may be computed from boxes: the warps that multiply read them
// into registers, compute there, and the tensor cores take it from there.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_PLAN_PRODUCTS_H
#define TILE_CODEGEN_GPU_PLAN_PRODUCTS_H

#include "codegen/gpu/dialect/Mma.h"
#include "codegen/gpu/loops/LoopDesc.h"
#include "codegen/gpu/plan/ProductModel.h"

#include <array>
#include <string>

namespace tile::codegen::gpu {

/// A block of a tensor that copies bring.
struct ProductBox {
  ir::LoadOp load;
  /// Whether what is contracted goes along its tensor's rows' numbers: neighbours in memory belong
  /// to different elements of the result.
  bool isByColumns = false;
};

/// One operand of a product.
struct ProductOperand {
  OperandDesc desc;
  /// What it is, or what it is computed from.
  llvm::SmallVector<ProductBox> boxes;

  bool isComputed() const { return desc.source == OperandDesc::Source::Computed; }
  /// Whether the only box is, or the first one.
  bool isByColumns() const { return boxes.front().isByColumns; }
  /// Of a box.
  mlir::Type element() const;
};

/// A loop whose sums are in the tile that it carries.
struct Product {
  ir::ForOp loop;
  ir::DotOp dot;
  /// Along the result's first axis, which are its rows, and its second.
  ProductOperand rows, columns;
  /// The axes of the result's rows and columns.
  std::array<mlir::StringAttr, 2> axes;
  /// ProductBlock has it: the schedule's `split`.
  int64_t splits = 1;

  /// What a program has of the result, and what one turn of the loop contracts.
  ProductBlock block() const;
  int64_t elementBytes() const;
  /// Whether bulk copies can store what is held as the result is.
  bool canSend(ir::StoreOp store) const;
};

/// Whether an operand is a load's elements as they are or, of f32, rounded to tf32: those that
/// copies can fetch for tensor cores.
bool isFetched(const OperandDesc &operand);
/// The loads that bring blocks of an operand: with both of its axes.
llvm::SmallVector<ir::LoadOp> boxesOf(const OperandDesc &operand);
/// Whether an operand can be computed in the registers from which tensor cores take it, as far as
/// its types say.
bool canCompute(const OperandDesc &operand);

/// The product of a specialized kernel, or, if there is none that tensor cores can make, why.
struct FoundProduct {
  std::optional<Product> product;
  /// Empty where there is no contraction at all.
  std::string reason;
  /// What `reason` is about; null for none.
  mlir::Operation *op = nullptr;
};
FoundProduct findProduct(ir::KernelOp kernel);

/// Whether the first results of a map are the same in all of a block: no axis is in them.
bool isUniform(mlir::AffineMap map, mlir::ValueRange dims, unsigned count);

/// Whether all rows of a tensor parameter begin at multiples of 16 bytes, as bulk copies ask. Of a
/// template `dims` may give values of the dimensions, in their order; negative where they are not
/// known.
bool hasCopiedRows(ir::KernelOp kernel, unsigned number, llvm::ArrayRef<int64_t> dims = {});

/// Why no loop of this kernel becomes a pipeline; empty: some may.
std::string whyNoPipeline(ir::KernelOp kernel);

/// Warps of a block that multiply, and blocks of a program.
unsigned warpsOf(const Product &product);
unsigned blocksOf(const Product &product);
/// What each of them has of the result.
Sharing sharingOf(const Product &product);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_PLAN_PRODUCTS_H
