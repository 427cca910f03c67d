//===- ProofsConditions.cpp - conditions restrict what is reduced ---------===//
//
// A condition `if j <= i` leaves elements out of the tiles that have both j and
// i. A tile without i has all of its elements, whatever the condition says:
// reduced over j within the condition it would give a sum that the condition
// does not restrict, in blocks that it does.
//
//===----------------------------------------------------------------------===//

#include "ir/proofs/ProofsDetail.h"

using namespace mlir;
using namespace tile::ir;

namespace {
/// An op that reduces tiles over axes.
struct Reduced {
  SmallVector<StringAttr> axes;
  /// One of these has to have all axes of a condition.
  SmallVector<ArrayRef<StringAttr>, 2> operands;
};
} // namespace

static Reduced reducedBy(Operation *op) {
  Reduced result;
  if (auto along = dyn_cast<AlongAxes>(op)) {
    result.axes = along.getAxesAlong();
    for (Value operand : along.getOperandsAlong())
      result.operands.push_back(axesOf(operand.getType()));
  }
  return result;
}

/// True if the value was reduced over the axis before: then the condition has
/// left out of it what it leaves out.
static bool isReducedOver(Value value, StringAttr axis, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 64 || op->getNumRegions() > 0 || isa<LoadOp>(op))
    return false;
  if (Reduced before = reducedBy(op); !before.axes.empty())
    return llvm::is_contained(before.axes, axis);
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return isReducedOver(operand, axis, depth + 1); });
}

/// True if a variable with the axis is carried between the condition and the
/// op: blocks leave those coordinates of it alone that the condition excludes.
static bool carriesAxis(Operation *op, RestrictOp restrict, StringAttr axis) {
  for (Operation *around = op->getParentOp(); restrict->getParentOp()->isAncestor(around);
       around = around->getParentOp())
    if (isa<ForOp>(around) && llvm::any_of(around->getResultTypes(), [&](Type type) {
          return llvm::is_contained(axesOf(type), axis);
        }))
      return true;
  return false;
}

/// The first axis of the condition that the operands lack; null if one has all.
static StringAttr missingAxis(RestrictOp restrict, const Reduced &reduced) {
  StringAttr missing;
  for (ArrayRef<StringAttr> operand : reduced.operands) {
    StringAttr lacks;
    for (Value span : restrict.getDims())
      if (!llvm::is_contained(operand, axisOf(span)))
        lacks = axisOf(span);
    if (!lacks)
      return {};
    missing = lacks;
  }
  return missing;
}

void tile::ir::proveConditions(ProofContext &context) {
  SmallVector<RestrictOp> restricts;
  context.kernel.walk([&](RestrictOp restrict) { restricts.push_back(restrict); });
  if (restricts.empty())
    return;
  context.kernel.walk([&](Operation *op) {
    Reduced reduced = reducedBy(op);
    if (reduced.axes.empty())
      return;
    for (RestrictOp restrict : restricts) {
      bool isOver = llvm::any_of(restrict.getDims(), [&](Value span) {
        return llvm::is_contained(reduced.axes, axisOf(span));
      });
      StringAttr missing = isOver ? missingAxis(restrict, reduced) : StringAttr();
      if (!missing || !context.isInScope(restrict, op))
        continue;
      bool isRestricted = llvm::any_of(
          op->getOperands(), [&](Value operand) { return isReducedOver(operand, missing); });
      if (isRestricted && !carriesAxis(op, restrict, missing))
        continue;
      auto diagnostic = context.error(op)
                        << "this is reduced over `" << reduced.axes.front().getValue()
                        << "` without the axis `" << missing.getValue()
                        << "`, so it can't leave out what the condition leaves out";
      diagnostic.attachNote(restrict.getLoc())
          << "the condition relates `" << reduced.axes.front().getValue() << "` and `"
          << missing.getValue() << "`";
      diagnostic.attachNote(op->getLoc())
          << "hint: put the condition into the value, as in `sum(where(j <= i, x[j], 0), j)`";
      return;
    }
  });
}
