//===- Facts.cpp - conjunctions of facts about coordinates ----------------===//

#include "ir/proofs/Facts.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

void Facts::addRange(Coordinates &coordinates, const Linear &x, const Linear &lower,
                     const Linear &upper) {
  if (coordinates.isExact(lower))
    notNegative.push_back(coordinates.subtract(x, lower));
  if (coordinates.isExact(upper))
    notNegative.push_back(coordinates.plus(coordinates.subtract(upper, x), -1));
}

void Facts::append(const Facts &other) {
  notNegative.append(other.notNegative);
  zero.append(other.zero);
  isExact &= other.isExact;
}

//===-- Conditions --------------------------------------------------------===//

static void assume(Coordinates &c, Value condition, bool holds, Facts &facts, unsigned depth) {
  Operation *op = condition.getDefiningOp();
  APInt truth;
  if (!op || depth > 64) {
    facts.isExact = false;
  } else if (matchPattern(condition, m_ConstantInt(&truth))) {
    if (truth.isZero() == holds)
      facts.notNegative.push_back(Coordinates::constant(-1));
  } else if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    // A conjunction that fails, or a disjunction that holds, is no conjunction.
    if (isa<arith::AndIOp>(op) != holds) {
      facts.isExact = false;
      return;
    }
    for (Value side : op->getOperands())
      assume(c, side, holds, facts, depth + 1);
  } else if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One())) {
    assume(c, op->getOperand(0), !holds, facts, depth + 1);
  } else if (auto compare = dyn_cast<arith::CmpIOp>(op); compare &&
                                                         compare.getLhs().getType().isInteger() &&
                                                         !compare.getLhs().getType().isInteger(1)) {
    auto predicate =
        holds ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
    auto trace = [&](Value side) {
      return side.getType().isInteger(64) ? c.trace(side) : c.traceNarrow(side, /*isSigned=*/true);
    };
    Linear left = trace(compare.getLhs()), right = trace(compare.getRhs());
    if (!c.isExact(left) || !c.isExact(right)) { // the machine compares what may have wrapped
      facts.isExact = false;
      return;
    }
    Linear difference = c.subtract(left, right);
    using P = arith::CmpIPredicate;
    if (predicate == P::eq)
      facts.zero.push_back(difference);
    else if (predicate == P::sge)
      facts.notNegative.push_back(difference);
    else if (predicate == P::sgt)
      facts.notNegative.push_back(c.plus(difference, -1));
    else if (predicate == P::sle)
      facts.notNegative.push_back(c.scale(difference, -1));
    else if (predicate == P::slt)
      facts.notNegative.push_back(c.plus(c.scale(difference, -1), -1));
    else
      facts.isExact = false;
  } else {
    facts.isExact = false;
  }
}

void tile::ir::assume(Coordinates &coordinates, Value condition, bool holds, Facts &facts) {
  ::assume(coordinates, condition, holds, facts, 0);
}

//===-- Cheap rules -------------------------------------------------------===//
