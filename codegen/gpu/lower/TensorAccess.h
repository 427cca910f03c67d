//===- TensorAccess.h - elements of tensors, read and written by threads ---===//
//
// Registers that are neighbours in memory are read and written together, up to 16
// bytes at once, where the address is known to be a multiple of that and all of
// them are inside or none is.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_TENSORACCESS_H
#define TILE_CODEGEN_GPU_LOWER_TENSORACCESS_H

#include "codegen/gpu/lower/Types.h"

namespace tile::codegen::gpu {

/// One load or store of a tile, as it is being emitted.
struct Access {
  Tensor tensor;
  mlir::AffineMap map;
  mlir::ValueRange dims;
  llvm::SmallVector<mlir::Value> syms;
  llvm::SmallVector<mlir::Value> symSources; // of the IR
  llvm::SmallVector<mlir::StringAttr> axes;
  Layout layout;
  Values mask;
};

/// Returns the address of an element, so many elements of a type behind a pointer.
mlir::Value elementAt(CodeBuilder &b, mlir::Value pointer, mlir::Value offset, mlir::Type element);

/// Reads and writes elements of tensors.
class TensorAccess : public Emitter {
public:
  using Emitter::Emitter;

  /// An access of a tile or number by an index map; the tile has these axes, by this layout.
  Access accessOf(Value memory, mlir::AffineMap map, mlir::ValueRange dims, mlir::ValueRange syms,
                  Axes axes, const Layout &layout);
  /// The indices of a register's element.
  llvm::SmallVector<Index> indicesAt(const Access &access, int64_t reg);
  /// Where a register's element is, by its indices.
  Value addressOf(const Access &access, llvm::ArrayRef<Index> indices);
  /// How many registers from an aligned one on one access may take.
  int64_t vectorFor(const Access &access, bool isChecked);
  /// The mask and that all indices are inside the tensor.
  Value insideOf(const Access &access, llvm::ArrayRef<Index> indices, Value mask);
  /// Applies a load's bounds: may change indices and the mask.
  void applyBounds(ir::LoadOp op, const Access &access, llvm::SmallVectorImpl<Index> &indices,
                   Value &mask);
  /// Reads `count` elements; `otherwise` where the mask does not hold.
  Values read(const Tensor &tensor, Value address, int64_t count, Value mask, Value otherwise);
  /// Writes neighbours where the mask holds (null: always).
  void write(const Tensor &tensor, Value address, mlir::ValueRange elements, Value mask);
  /// A number as memory has it, and as registers have it: bool takes 8 bits there.
  Value fromMemory(Value raw, mlir::Type element);
  Value toMemory(Value value, mlir::Type element);
  /// How many registers a thread has of a load: those of an access together are packed.
  int64_t registersOf(ir::LoadOp op);
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_TENSORACCESS_H
