//===- DotOperand.h - an operand of a contraction -------------------------===//
#ifndef TILE_CODEGEN_GPU_DOTOPERAND_H
#define TILE_CODEGEN_GPU_DOTOPERAND_H

#include "codegen/gpu/Lowering.h"

#include <map>

namespace tile::codegen::gpu {

/// One operand of a dot: a tile, and where its elements go.
struct DotOperand {
  Tile tile;
  CodeBuilder::Values mask;
  mlir::Type element; // of the IR
  bool hasMask;       // whether elements in the middle may be outside
  bool isZeroOutside;
  int along; // the contracted axis
  llvm::SmallVector<int64_t> strides;
  int64_t start = 0, maskStart = 0, slots = 0;
  mlir::Value base, maskBase;
  bool isResident = false; // for all turns of its loop
  /// Where copies have brought it; without a slot, nowhere.
  StagedOperand copied;

  /// Lays it out with so many coordinates of the contracted axis at a time, from byte `offset` on;
  /// gives the end.
  int64_t layOut(int64_t offset, int64_t chunk, mlir::Type type,
                 llvm::ArrayRef<mlir::StringAttr> axes, const Layout &result);
};

/// An operand as the instruction takes it.
struct DotFragments {
  const Tile *source = nullptr;
  /// The source's, and what is multiplied.
  mlir::Type element, multiplied;
  mlir::Type type; // as registers have it
  /// Of the source's registers; none where copies bring them.
  CodeBuilder::Values numbers = {};
  /// Which of them count; empty: all that aren't zero.
  CodeBuilder::Values mask = {};
  Layout layout;   // the instruction's
  unsigned along;  // the contracted axis
  unsigned own;    // the one that is the result's rows or columns
  unsigned inner;  // the axis whose elements are neighbours in shared memory
  int64_t perWord; // elements in a register
  bool isStaged;
  llvm::SmallVector<int64_t> strides = {}; // in shared memory, of elements
  int64_t start = 0, bytes = 0;
  mlir::Value base = {};
  std::map<int64_t, CodeBuilder::Values> words =
      {}; // that were fetched, by the number of the first element

  int64_t elementBytes() const { return type.getIntOrFloatBitWidth() / 8; }
  void layOut(int64_t offset);
  /// Elements that lie together in a thread's registers and in shared memory, of 16 bytes at most.
  int64_t neighbours() const;
  /// Whether the instruction contracts more than the source's registers cover.
  bool needsClearing() const {
    return isStaged && layout.extent(along) > source->layout.extent(along);
  }
  /// Whether `ldmatrix` fetches it, and turns it.
  bool isTurned() const { return inner != along; }
  bool hasMatrices() const {
    return perWord * elementBytes() == 4 && (!isTurned() || elementBytes() == 2);
  }
  /// Elements that one instruction fetches.
  int64_t unit() const;
  /// Where lanes find the rows of the matrices that belong to the first unit of `layout`.
  Layout rowsOfMatrices() const;
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_DOTOPERAND_H
