//===- FormFma.h - forms multiply-adds, once ------------------------------===//
//
// What is rounded once or twice may not depend on what a kernel is fused with,
// so it is decided here, before fusion.
//
// Multiply-adds are formed the same way for every backend; nothing below
// contracts. Afterwards every f32 or f64 addition or subtraction of a product, where the rule
// allows it, is a math.fma:
//
//   a * b + c  and  c + a * b    fma(a, b, c)
//   a * b − c                    fma(a, b, −c)
//   c − a * b                    fma(−a, b, c)
//
// The rule: the product is an arith.mulf whose only use is the addition, and
// the other operand is not itself the result of a tile.dot or tile.reduce (an
// accumulation `t + dot(…)`, `t + sum(…)` adds onto t as it stands). Where both
// operands are such products, the left one is taken. A product that is
// broadcast before it is added is a tile of its own, computed once for many
// elements: it is not looked through. Halves are left alone: their arithmetic
// is f32 already.
//
// An f32 `1 + tanh(x)` gets a tanh of its own, which is marked: a backend that
// has the sum as one function, nearer to the truth, may take that in its place.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_TRANSFORMS_FORMFMA_H
#define TILE_IR_TRANSFORMS_FORMFMA_H

#include "ir/dialect/TileOps.h"

namespace tile::ir {

/// Does nothing to a kernel whose multiply-adds are formed: those of a fused kernel are its parts'.
void formFma(KernelOp kernel);

/// Whether this is a tanh that was marked here, for the additions to 1 that are all its users.
bool isAddedToOne(mlir::Operation *tanh);

/// Says that the multiply-adds of a kernel are formed, for good.
void closeFma(KernelOp kernel);
bool hasClosedFma(KernelOp kernel);

} // namespace tile::ir

#endif // TILE_IR_TRANSFORMS_FORMFMA_H
