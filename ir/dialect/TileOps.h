//===- TileOps.h - the tile dialect ---------------------------------------===//
//
// Ops, types and attributes of the `tile` dialect (see TileOps.td), and the
// small vocabulary that every pass over it shares.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_DIALECT_TILEOPS_H
#define TILE_IR_DIALECT_TILEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile::ir {
enum class ParamMode { In, Out, InOut, Reduce };

/// A tensor with an AxesEncoding, or a scalar number.
bool isTileValue(mlir::Type type);
/// A !tile.span, or a tile or scalar of integers.
bool isIndexOperand(mlir::Type type);

/// What a loop that may not end writes: nothing in memory.
struct ProgressResource : mlir::SideEffects::Resource::Base<ProgressResource> {
  llvm::StringRef getName() final { return "tile.progress"; }
};
} // namespace tile::ir

#include "ir/dialect/TileAttrInterfaces.h.inc"
#include "ir/dialect/TileDialect.h.inc"
#include "ir/dialect/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/dialect/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/dialect/TileTypes.h.inc"

namespace tile::ir {
class ParallelOp;
class YieldOp;
struct AxisList;
} // namespace tile::ir

#include "ir/dialect/TileInterfaces.h.inc"
#define GET_OP_CLASSES
#include "ir/dialect/TileOps.h.inc"

namespace tile::ir {

/// The axes of a tile value; empty for a scalar.
mlir::ArrayRef<mlir::StringAttr> axesOf(mlir::Type type);
/// Extent of one of its axes.
int64_t extentOf(mlir::Type type, mlir::StringRef axis);
/// The type of a tile with these axes; the element type itself where there are none.
mlir::Type tileType(mlir::Type element, mlir::ArrayRef<mlir::StringAttr> axes,
                    mlir::ArrayRef<int64_t> extents);
/// The same tile, with axes as its encoding and nothing else.
mlir::Type withoutLayout(mlir::Type type);
/// The same tile with another element type.
mlir::Type withElement(mlir::Type tile, mlir::Type element);
/// The axes that an index map's operands give a load or store, in order of
/// first appearance in the map's results, with their extents.
struct AxisList {
  llvm::SmallVector<mlir::StringAttr> names;
  llvm::SmallVector<int64_t> extents;
  void add(mlir::StringAttr name, int64_t extent);
  void addFrom(mlir::Type spanOrTile);
  int indexOf(mlir::StringRef name) const;
  mlir::Type tileOf(mlir::Type element) const { return tileType(element, names, extents); }
};
AxisList mapAxes(mlir::AffineMap map, mlir::ValueRange dims);
/// `sum` for add: the reduction of the language that combines so.
llvm::StringRef wordOf(CombineKind kind);

} // namespace tile::ir

#endif // TILE_IR_DIALECT_TILEOPS_H
