//===- Literal.h - numbers of the source, before they have a type ---------===//
//
// Integers are exact, in 128 bits; numbers with a fraction are doubles. A type
// takes a literal only if it has a place for it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_DIALECT_LITERAL_H
#define TILE_IR_DIALECT_LITERAL_H

#include "ir/dialect/ElementType.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace tile::ir {

__extension__ typedef __int128 WideInteger;

/// An integer as sources write it: decimal, `0x…` or `0b…`, with `_` between digits. None where it
/// needs more than 64 bits.
std::optional<WideInteger> parseInteger(llvm::StringRef text);
/// A number with a fraction or exponent, to nearest; infinite where it is beyond f64.
double parseReal(llvm::StringRef text);

std::string toString(WideInteger value);
/// With the fewest digits that mean it.
std::string toString(double value);

/// True if the integer is a value of the integer type; of bool, 0 and 1 are.
bool fits(WideInteger value, ElementType type);

/// The number in that type, as the IR holds it: a float is the nearest one. Null where it does not
/// fit: beyond the range of an integer or the greatest number of a float. Infinities and NaN fit.
mlir::TypedAttr attributeOf(mlir::MLIRContext *context, ElementType type, WideInteger value);
mlir::TypedAttr attributeOf(mlir::MLIRContext *context, ElementType type, double value);

} // namespace tile::ir

#endif // TILE_IR_DIALECT_LITERAL_H
