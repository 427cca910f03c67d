//===- ShareFunctions.cpp - functions that each element is computed of once -===//

#include "codegen/gpu/schedule/ShareFunctions.h"
#include "codegen/gpu/loops/ValueFacts.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen::gpu;

/// What an op takes a thread for a register, in instructions.
static int64_t instructionsOf(Operation *op) {
  constexpr int64_t ofFunction = 20, ofExponential = 6, ofUsual = 1;
  if (isa<PhiloxOp>(op))
    return ofFunction;
  if (isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, arith::DivFOp>(op))
    return ofExponential;
  bool isUsual = !isa<math::MathDialect>(op->getDialect()) ||
                 isa<math::FmaOp, math::AbsFOp, math::SqrtOp, math::RsqrtOp, math::FloorOp,
                     math::CeilOp, math::RoundEvenOp, math::TruncOp>(op);
  return isUsual ? ofUsual : ofFunction;
}

/// One group: ops of the same axes that compute for each other.
static void shareGroup(ArrayRef<Operation *> ops, llvm::DenseMap<Value, Layout> &chosen,
                       LayoutOfAxes layoutOf) {
  constexpr int64_t instructionsOfWay = 60;
  ArrayRef<StringAttr> axes = axesOf(ops[0]->getResult(0).getType());
  Layout own = layoutOf(axes);
  llvm::DenseSet<Operation *> inside(ops.begin(), ops.end());
  auto isOutside = [&](Operation *op) { return !inside.contains(op); };
  int64_t saved = 0, ways = 0;
  SmallVector<Value> loads;
  for (Operation *op : ops) {
    Value result = op->getResult(0);
    saved += instructionsOf(op) * (chosen[result].numRegisters() - own.numRegisters());
    ways += llvm::any_of(op->getUsers(), isOutside);
    for (Value operand : op->getOperands()) {
      Operation *made = operand.getDefiningOp();
      if (axesOf(operand.getType()) != axes || (made && inside.contains(made)))
        continue;
      bool isOnlyHere = isa_and_nonnull<LoadOp>(made) && llvm::none_of(made->getUsers(), isOutside);
      if (isOnlyHere)
        loads.push_back(operand);
      else
        ++ways;
    }
  }
  if (saved <= instructionsOfWay * ways)
    return;
  for (Operation *op : ops)
    chosen[op->getResult(0)] = own;
  for (Value load : loads)
    chosen[load] = own;
}

void tile::codegen::gpu::shareFunctions(KernelOp kernel, llvm::DenseMap<Value, Layout> &chosen,
                                        LayoutOfAxes layoutOf) {
  llvm::DenseSet<Operation *> seen;
  auto isComputed = [](Operation *op) {
    return isElementwise(op) && op->getNumResults() == 1 &&
           !axesOf(op->getResult(0).getType()).empty();
  };
  SmallVector<SmallVector<Operation *>> groups;
  kernel.walk([&](Operation *first) {
    if (!isComputed(first) || !seen.insert(first).second)
      return;
    SmallVector<Operation *> &group = groups.emplace_back(1, first);
    ArrayRef<StringAttr> axes = axesOf(first->getResult(0).getType());
    for (size_t n = 0; n < group.size(); ++n) {
      auto take = [&](Operation *other) {
        if (other && isComputed(other) && other->getBlock() == first->getBlock() &&
            axesOf(other->getResult(0).getType()) == axes && seen.insert(other).second)
          group.push_back(other);
      };
      for (Value operand : group[n]->getOperands())
        take(operand.getDefiningOp());
      llvm::for_each(group[n]->getUsers(), take);
    }
  });
  for (ArrayRef<Operation *> group : groups)
    shareGroup(group, chosen, layoutOf);
}
