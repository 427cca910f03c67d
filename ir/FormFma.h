//===- FormFma.h - forms multiply-adds, once ------------------------------===//
//
// Whether `a * b + c` rounds once or twice is decided here, before fusion and
// the same way for every backend; nothing below contracts. Afterwards every
// f32 or f64 addition or subtraction of a product, where the rule allows it,
// is a math.fma:
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
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FORMFMA_H
#define TILE_IR_FORMFMA_H

#include "ir/TileOps.h"

namespace tile::ir {

/// Does nothing to a kernel whose multiply-adds are formed: those of a fused kernel are its parts'.
void formFma(KernelOp kernel);

/// Says that the multiply-adds of a kernel are formed, for good.
void closeFma(KernelOp kernel);
bool hasClosedFma(KernelOp kernel);

} // namespace tile::ir

#endif // TILE_IR_FORMFMA_H
