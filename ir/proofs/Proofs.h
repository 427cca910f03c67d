//===- Proofs.h - holds a kernel to the language's rules ------------------===//
//
// Proved on the kernel as a template, before `specialize`: dimensions are
// symbols and block sizes don't occur, so what holds here holds for every
// shape and every schedule. Afterwards
//
//   bounds     every exact load, store and update lies inside its tensor;
//   coverage   every element of a plain output is stored exactly once, `inout`
//              reads and writes the same element, and updates don't count blocks;
//   folds      no value depends on how a dimension was cut into blocks, save
//              for the association of a fold.
//
// Of a grid kernel no access is proved: its author answers for them. It is held
// to the modes of its parameters, and to what no kernel may do: loops that don't
// advance, conditions that can't restrict what is reduced.
//
// Errors go to MLIR's diagnostic engine in the words of the source: axes,
// dimensions and parameters. Notes that begin with "hint: " are advice. All
// errors of a kernel are reported.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_PROOFS_PROOFS_H
#define TILE_IR_PROOFS_PROOFS_H

#include "ir/dialect/TileOps.h"

#include <memory>

namespace mlir {
class Pass;
}

namespace tile::ir {

mlir::LogicalResult prove(KernelOp kernel);

/// Makes padded and clamped loads exact that are proved to lie inside: whoever reads a row of an
/// exact load need not look at each element.
void dropNeedlessBounds(KernelOp kernel);

/// `tile-prove`: proves each kernel of a module.
std::unique_ptr<mlir::Pass> createProvePass();

} // namespace tile::ir

#endif // TILE_IR_PROOFS_PROOFS_H
