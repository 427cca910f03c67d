//===- Spelling.h - tile IR in the words of the source --------------------===//
//
// Indices, bounds and values as an author would write them: `x[n, 2*p + r - 1]`,
// `(K + 127) / 128`. What has no short spelling is `…`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_PROOFS_SPELLING_H
#define TILE_IR_PROOFS_SPELLING_H

#include "ir/proofs/Coordinates.h"

#include <string>

namespace tile::ir {

/// An expression's text, and how tightly it binds.
struct Spelled {
  enum Level { Sum, Quotient, Product, Atom };
  std::string text;
  Level level = Atom;
};

class Spelling {
public:
  explicit Spelling(const Coordinates &coordinates)
      : coordinates(coordinates), kernel(coordinates.getKernel()) {}

  std::string of(const Linear &sum) const;
  std::string of(AtomId atom) const;
  std::string of(mlir::Value value) const;
  /// One index of an access.
  std::string index(mlir::AffineMap map, unsigned result, mlir::ValueRange dims,
                    mlir::ValueRange syms, unsigned depth = 0) const;
  /// The access: the tensor's name with all indices.
  std::string access(mlir::Value memory, mlir::AffineMap map, mlir::ValueRange dims,
                     mlir::ValueRange syms, unsigned depth = 0) const;
  /// The name of a tensor or scalar parameter.
  std::string parameter(mlir::Value argument) const;

  /// From now on a `:` over a dimension N is `:N` where it is part of an expression, to tell it
  /// from the dimension.
  void markWholeAxes() { marksWholeAxes = true; }

  /// Binary operators with as few parentheses as possible.
  static Spelled join(Spelled left, llvm::StringRef op, Spelled right);

private:
  Spelled spell(const Linear &sum, unsigned depth) const;
  Spelled spell(AtomId atom, unsigned depth) const;
  Spelled spell(mlir::Value value, unsigned depth) const;
  Spelled spell(mlir::AffineExpr expr, mlir::ValueRange dims, mlir::ValueRange syms,
                unsigned depth) const;

  const Coordinates &coordinates;
  mutable KernelOp kernel;
  bool marksWholeAxes = false;
};

/// The name that a location carries, or the empty string.
llvm::StringRef nameIn(mlir::Location loc);

/// What the source calls a result of a call in a graph: the name that it is bound to, else the
/// expression that gives it; empty where neither is known.
llvm::StringRef nameOfResult(mlir::OpResult result);
void nameResult(mlir::OpResult result, llvm::StringRef name);

/// Whether what is called is an expression of a graph, which has become a kernel.
bool isExpression(CallOp call);
/// What the source calls what is called: the kernel or graph, or the expression.
std::string nameOfCallee(CallOp call);

/// What messages call a kernel or graph: `softmax` of the symbol `softmax.f32`, an instance, and
/// `product + add_row` of one that was made of two.
std::string nameInSource(llvm::StringRef symbol);

/// "net.tile:12:9", wherever the file is; empty where no place is known.
std::string placeOf(mlir::Location loc);

/// The place, then those of the calls that lead there; at least one, which may be empty.
std::vector<std::string> placesOf(mlir::Location loc);

} // namespace tile::ir

#endif // TILE_IR_PROOFS_SPELLING_H
