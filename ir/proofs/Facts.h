//===- Facts.h - conjunctions of facts about coordinates ------------------===//
// What is known of indices, bounds and conditions at a place. Solver.h proves by it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_PROOFS_FACTS_H
#define TILE_IR_PROOFS_FACTS_H

#include "ir/proofs/Coordinates.h"

namespace tile::ir {

/// A conjunction of sums that are not negative and sums that are zero.
struct Facts {
  llvm::SmallVector<Linear> notNegative, zero;
  /// False if some condition could not be put into sums and was left out.
  bool isExact = true;

  /// lower ≤ x < upper, where bounds are exact.
  void addRange(Coordinates &coordinates, const Linear &x, const Linear &lower,
                const Linear &upper);
  void append(const Facts &other);
};

/// Adds what follows from a scalar condition that holds or doesn't.
void assume(Coordinates &coordinates, mlir::Value condition, bool holds, Facts &facts);

} // namespace tile::ir

#endif // TILE_IR_PROOFS_FACTS_H
