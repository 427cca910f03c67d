//===- PackedDot.h - register-tiled contractions --------------------------===//
//
//   for each batch coordinate and block of k:
//     pack the row operand to [row][k] and the column operand to panels
//       [k][a few vectors of columns], as numbers of the accumulator's type
//     for each panel, for each few rows: keep that much of the result in
//       registers, and add the products of all k of the block to it
//
// as in Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication" (2008). A panel of columns stays in the first-level cache
// while the rows pass by.
//
// With few rows a panel's elements would be used once: there the column operand
// is read, and computed, where it is multiplied.
//
// Pairs outside the domain count as zeros where that is the same; where the
// other operand of such a pair is infinite or NaN, a slow loop leaves them out.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_CPU_PACKEDDOT_H
#define TILE_CODEGEN_CPU_PACKEDDOT_H

#include "codegen/cpu/Lowering.h"

namespace tile::codegen {

/// The axes of a dot's result by what they do: `column` is the last of its
/// buffer's, that of `right`, one of the operands, and runs over vectors; `rows` are those before
/// it that `left`, the other one, has alone, and `outer` the rest, one pass each.
struct DotAxes {
  mlir::Value left, right;
  llvm::SmallVector<mlir::StringAttr> rows, outer;
  mlir::StringAttr column;
};

class PackedDot {
public:
  PackedDot(BodyLowering &lowering, ir::DotOp op, const DotAxes &axes, Buffer *into);
  /// Puts accumulator + lhs · rhs into `into`, which may hold the accumulator.
  void emit();

private:
  using Value = mlir::Value;
  using Values = CodeBuilder::Values;
  /// An operand's panel: `inner` has neighbours in memory, `other` is the axis
  /// that vectors are taken from where that is not so in the operand.
  struct Side {
    Value operand;
    mlir::StringAttr inner, other;
    llvm::SmallVector<mlir::StringAttr> outer; // further rows
    bool watches;                              // for infinite numbers and NaN
  };

  //===-- Packing (PackOperands.cpp) --------------------------------------===//
  /// Gives whether any number is infinite or NaN, if that is watched.
  Value pack(const Side &side);
  Values packAlong(const Side &side, int width, Values seen);
  Values packAcross(const Side &side, int width, Values seen);
  /// As many vectors as the width has, or the inner axis has lanes, from one coordinate of it on,
  /// transposed, with the watch's state.
  std::pair<Values, Values> readAcross(const Side &side, int width, Value from, Values seen);
  int countAcross(const Side &side, int width) const {
    return std::clamp(lowering.lanesAlong(side.inner), 2, width);
  }
  /// The operand at the nest's place, zero outside its domain.
  Value element(const Side &side);
  Values watch(const Side &side, Value value, Values seen);
  /// Writes to the side's panel at these places of the axes, counted from their blocks' starts.
  void writeTo(const Side &side, llvm::function_ref<Value(mlir::StringAttr)> place, Value value,
               int width);
  std::pair<Value, Value> rangeOf(mlir::StringAttr axis);
  Value placeOf(mlir::StringAttr axis);

  //===-- Multiplying (EmitPackedDot.cpp) ---------------------------------===//
  void multiply(Value count);
  void multiplyPanel(Value column, int vectors, Value count);
  void registerTile(Value row, Value column, int height, int vectors, Value count, bool clamps);
  void multiplyExactly();
  /// Without a panel of columns.
  void multiplyUnpacked(const Side &columns);
  /// Adds the products of these elements, one of a column for each k from one on, to all rows.
  void addProducts(Value from, llvm::ArrayRef<Value> right);
  Value rowPlace(Value row, Value k);
  Value columnPlace(Value k, Value column);
  Value resultPlace(Value row, Value column);
  Value startOf(Value accumulator);
  void fillWhereEmpty();
  Value sumBefore(Value place, int width);
  /// A row's number from the coordinates of the row axes.
  Value rowNumber(llvm::function_ref<Value(mlir::StringAttr)> coordinate);
  bool isRestricted(Value operand);
  bool hasFewRows();
  mlir::StringAttr longRows();
  /// Sets rowBuffer and pitch, if the row operand is in memory as a panel has it.
  bool findRowBuffer();

  /// Rows of the register tile: with two vectors each, as many as registers hold.
  int tileRows() const { return lowering.target.vectorBits == 512 ? 12 : 6; }
  int tailRows() const { return tileRows() / 3; }
  static constexpr int tileVectors = 2;
  int64_t panelColumns() const { return tileVectors * lanes; }

  BodyLowering &lowering;
  CodeBuilder &b;
  ir::DotOp op;
  const DotAxes &axes;
  Buffer *into;
  mlir::Type type; // of the accumulator
  mlir::StringAttr k;
  int mostLanes, lanes;        // of the accumulator's type: of a whole vector, and along the column
  int64_t depth, pitch;        // of a block of k; from row to row
  Value rowPanel, columnPanel; // the latter null with few rows
  /// The row operand's own buffer, where it can take the panel's place.
  Buffer *rowBuffer = nullptr;
  Value rowStride, base;          // in the result
  Value rowCount;                 // with those that partial blocks leave out between
  std::pair<Value, Value> kRange; // of the current block
  Value start, isFirst;           // what all elements are before the first block of k; null: `into`
};

} // namespace tile::codegen

#endif // TILE_CODEGEN_CPU_PACKEDDOT_H
