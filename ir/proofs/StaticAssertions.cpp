//===- StaticAssertions.cpp - assertions that need no launch --------------===//

#include "ir/proofs/StaticAssertions.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

/// The number that a scalar is, whatever the launch; null where that isn't known.
static Attribute constantOf(Value value, unsigned depth = 0) {
  Attribute known;
  if (matchPattern(value, m_Constant(&known)))
    return known;
  Operation *op = value.getDefiningOp();
  constexpr unsigned maxDepth = 16; // it may ask for what is shared again and again
  if (!op || depth == maxDepth || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    if (!operand.getType().isIntOrFloat() || !(known = constantOf(operand, depth + 1)))
      return {};
    operands.push_back(known);
  }
  SmallVector<OpFoldResult> results;
  if (operands.empty() || failed(op->fold(operands, results)) || results.empty())
    return {};
  if (auto attribute = dyn_cast<Attribute>(results.front()))
    return attribute;
  return constantOf(cast<Value>(results.front()), depth + 1);
}

LogicalResult tile::ir::checkStaticAssertions(KernelOp kernel) {
  bool failed = false;
  kernel.walk([&](AssertOp op) {
    auto holds = dyn_cast_or_null<IntegerAttr>(constantOf(op.getCondition()));
    if (!holds || !holds.getValue().isZero() || !isa<ParallelOp>(op->getParentOp()))
      return;
    auto diagnostic = emitError(op.getLoc()) << "assertion failed: " << op.getMessage();
    diagnostic.attachNote(op.getLoc())
        << "hint: it fails whatever the arguments are; where it stands under a condition, as in "
           "`if n > 4 { … }`, it is left to the launch";
    failed = true;
  });
  return failure(failed);
}

void tile::ir::dropAssertionsThatHold(KernelOp kernel) {
  kernel.walk([](AssertOp op) {
    auto holds = dyn_cast_or_null<IntegerAttr>(constantOf(op.getCondition()));
    if (holds && holds.getValue().isOne())
      op.erase();
  });
}
