//===- LongSums.h - sums that loops carry ---------------------------------===//
//
// A carried value is a *sum* if its loop only adds to it: `acc += …`, once or in
// several places, in branches and inner loops too. Nobody sees it between two
// additions, so it may run up in more digits than its type has, and does: else a
// loop of a million additions would leave few of them right.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_TRANSFORMS_LONGSUMS_H
#define TILE_IR_TRANSFORMS_LONGSUMS_H

#include "ir/dialect/TileOps.h"

namespace tile::ir {

/// The additions of all sums of floats that a kernel's loops carry, each with the number of its
/// operand that is the sum so far.
llvm::DenseMap<mlir::Operation *, unsigned> sumSteps(KernelOp kernel);

/// How often a loop over blocks or integers runs, where that is known.
std::optional<int64_t> roundsOf(mlir::Operation *loop);

/// Whether a dot has the axes of a product of matrices, which has one accumulator an element.
bool isMatrixProduct(DotOp dot);

/// Whether a loop does nothing with a carried float but add to it, in more than a few rounds: what
/// it yields of 0 is what the round adds. Products of matrices aren't added to it, and it is no
/// tile to which a loop over integers adds.
bool isLongSum(mlir::Operation *loop, unsigned carried);

/// How many rounds of a loop may add to a carried float as it stands, before what they have added
/// goes on in more digits; 0 if it is no long sum.
int64_t roundsOfChain(mlir::Operation *loop, unsigned carried);

/// (sum, lost) + term, where `lost` is the sum of what roundings take from the sum.
std::pair<mlir::Value, mlir::Value> addCompensated(mlir::OpBuilder &builder, mlir::Location loc,
                                                   mlir::Value sum, mlir::Value lost,
                                                   mlir::Value term);
/// The same sum with as much of `lost` in it as it can hold, and what of it is left; as they are
/// where the sum is no finite number. By T. J. Dekker's addition ("A floating-point technique for
/// extending the available precision", 1971), which takes the sum to be the larger one: where it
/// isn't, the terms cancel, and the rounding of `lost` is far below that of their magnitudes.
std::pair<mlir::Value, mlir::Value> settleCompensated(mlir::OpBuilder &builder, mlir::Location loc,
                                                      mlir::Value sum, mlir::Value lost);
/// sum + lost, rounded once; the sum where it is infinite.
mlir::Value compensatedTotal(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value sum,
                             mlir::Value lost);

} // namespace tile::ir

#endif // TILE_IR_TRANSFORMS_LONGSUMS_H
