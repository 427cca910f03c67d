//===- Polyhedron.h - facts as MLIR Presburger sets -----------------------===//
#ifndef TILE_IR_PROOFS_POLYHEDRON_H
#define TILE_IR_PROOFS_POLYHEDRON_H

#include "ir/proofs/Facts.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"

namespace tile::ir {

/// The set of points of some facts; its columns are the atoms.
mlir::presburger::IntegerPolyhedron polyhedronOf(const Facts &facts,
                                                 llvm::ArrayRef<AtomId> columns);

/// An integer point whose first `count` values are small, earlier ones first.
std::optional<llvm::SmallVector<int64_t>> smallPoint(const mlir::presburger::IntegerRelation &set,
                                                     unsigned count);

/// The atoms of some facts, in order; terms are not opened.
llvm::SmallVector<AtomId> atomsOf(const Facts &facts);

} // namespace tile::ir

#endif // TILE_IR_PROOFS_POLYHEDRON_H
