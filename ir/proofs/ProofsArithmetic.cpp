//===- ProofsArithmetic.cpp - indices stay within 64 bits -----------------===//
//
// Coordinates, dimensions and scalars that indices are made of are at most 2^47
// (IndexLimits.h). Constants beside them may still take a sum out of 64 bits:
// `(i + 9223372036854775807) % M` would wrap before it is divided. Such indices,
// conditions and bounds are refused.
//
// An index without quotients that is proved inside its tensor needs no such
// care: modulo 2^64 it is right, however it is summed. Products of coordinates
// and dimensions are numbers of elements, which a launch holds below 2^47; and
// 64-bit data wraps by definition.
//
//===----------------------------------------------------------------------===//

#include "ir/dialect/IndexLimits.h"
#include "ir/dialect/Literal.h"
#include "ir/proofs/ProofsDetail.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

namespace {
using Wide = WideInteger;

constexpr Wide tooLarge = Wide(1) << 63;

Wide magnitude(int64_t number) { return number < 0 ? -Wide(number) : Wide(number); }
Wide magnitude(const APInt &number) {
  return number.getSignificantBits() > 64 ? tooLarge : magnitude(number.getSExtValue());
}

/// Magnitudes that integers have at most; those from `tooLarge` on are that.
class Magnitudes {
public:
  Wide of(Value value);
  /// Of an expression and all of its parts.
  Wide of(AffineExpr expr, ValueRange dims, ValueRange syms);
  /// The same, but a sum that nothing divides may wrap.
  Wide ofDivided(AffineExpr expr, ValueRange dims, ValueRange syms);

private:
  Wide ofArgument(BlockArgument argument);
  Wide ofResult(Operation *op);
  static Wide sum(Wide a, Wide b) { return std::min(a + b, tooLarge); }
  /// Of constants and coordinates, or of coordinates alone: then it counts elements.
  static Wide product(Wide a, Wide b, bool hasConstant) {
    if (hasConstant)
      return a != 0 && b > tooLarge / a ? tooLarge : a * b;
    return std::max({a, b, Wide(maxExtent)});
  }

  llvm::DenseMap<Value, Wide> known;
  unsigned depth = 0;
};
} // namespace

Wide Magnitudes::of(Value value) {
  auto [place, isNew] = known.try_emplace(value, maxExtent);
  if (!isNew)
    return place->second;
  Wide result = maxExtent;
  if (++depth < 100) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      result = ofArgument(argument);
    else
      result = ofResult(value.getDefiningOp());
  }
  --depth;
  return known[value] = result;
}

/// A coordinate or counter lies within the bounds of what binds it.
Wide Magnitudes::ofArgument(BlockArgument argument) {
  Operation *owner = argument.getOwner()->getParentOp();
  unsigned n = argument.getArgNumber();
  auto within = [&](Value lower, Value upper) {
    return std::min(std::max(of(lower), of(upper)), Wide(maxExtent));
  };
  if (auto parallel = dyn_cast<ParallelOp>(owner))
    return within(parallel.getLower()[n], parallel.getUpper()[n]);
  if (auto loop = dyn_cast<ForOp>(owner); loop && n == 0)
    return within(loop.getLower(), loop.getUpper());
  if (auto loop = dyn_cast<scf::ForOp>(owner); loop && n == 0)
    return within(loop.getLowerBound(), loop.getUpperBound());
  return maxExtent;
}

Wide Magnitudes::ofResult(Operation *op) {
  APInt number;
  if (matchPattern(op->getResult(0), m_ConstantInt(&number)))
    return magnitude(number);
  auto left = [&] { return of(op->getOperand(0)); };
  auto right = [&] { return of(op->getOperand(1)); };
  auto isConstant = [&](unsigned n) { return matchPattern(op->getOperand(n), m_Constant()); };
  if (auto axis = dyn_cast<AxisOp>(op))
    return std::min(std::max(of(axis.getLower()), of(axis.getUpper())), Wide(maxExtent));
  if (isa<CoordsOp, BroadcastOp>(op))
    return left();
  if (isa<arith::ExtUIOp, arith::ExtSIOp>(op))
    return Wide(1) << std::min(
               getElementTypeOrSelf(op->getOperand(0).getType()).getIntOrFloatBitWidth(), 47u);
  if (!getElementTypeOrSelf(op->getResult(0).getType()).isInteger(64))
    return maxExtent;
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return sum(left(), right());
  if (isa<arith::MulIOp>(op))
    return product(left(), right(), isConstant(0) || isConstant(1));
  if (isa<DivOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&number)))
    return number.isZero() ? 0 : left() / magnitude(number) + 1;
  if (isa<DivOp>(op))
    return left();
  if (isa<RemOp>(op))
    return std::max(left(), right());
  if (isa<arith::MinSIOp, arith::MaxSIOp>(op))
    return std::max(left(), right());
  if (isa<arith::SelectOp>(op))
    return std::max(right(), of(op->getOperand(2)));
  return maxExtent; // a dimension, or data
}

Wide Magnitudes::of(AffineExpr expr, ValueRange dims, ValueRange syms) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return magnitude(number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return of(dims[dim.getPosition()]);
  if (auto sym = dyn_cast<AffineSymbolExpr>(expr))
    return of(syms[sym.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Wide left = of(binary.getLHS(), dims, syms), right = of(binary.getRHS(), dims, syms);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (left == tooLarge || right == tooLarge)
    return tooLarge;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return sum(left, right);
  case AffineExprKind::Mul:
    return product(left, right, bool(constant));
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    return constant && right != 0 ? left / right + 1 : left;
  default:
    return constant && right != 0 ? right : std::max(left, right);
  }
}

Wide Magnitudes::ofDivided(AffineExpr expr, ValueRange dims, ValueRange syms) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  if (expr.getKind() != AffineExprKind::Add && expr.getKind() != AffineExprKind::Mul)
    return of(expr, dims, syms);
  return std::max(ofDivided(binary.getLHS(), dims, syms), ofDivided(binary.getRHS(), dims, syms));
}

//===-- What is checked ---------------------------------------------------===//

static void refuse(ProofContext &context, Operation *op, const Twine &what) {
  auto diagnostic = context.error(op) << what.str() << " may leave 64 bits";
  diagnostic.attachNote(op->getLoc())
      << "a launch allows coordinates, dimensions and scalars up to 2^47";
}

static void proveMap(ProofContext &context, Magnitudes &magnitudes, const Access &access,
                     bool isInside) {
  for (auto [n, expr] : llvm::enumerate(access.map.getResults())) {
    Wide most = isInside ? magnitudes.ofDivided(expr, access.dims, access.syms)
                         : magnitudes.of(expr, access.dims, access.syms);
    if (most >= tooLarge)
      refuse(context, access.op,
             "the index `" + context.words.index(access.map, n, access.dims, access.syms) + "`");
  }
}

void tile::ir::proveArithmetic(ProofContext &context) {
  Magnitudes magnitudes;
  auto proveBound = [&](Operation *op, ValueRange bounds) {
    for (Value bound : bounds)
      if (magnitudes.of(bound) >= tooLarge)
        refuse(context, op, "the bound `" + context.words.of(bound) + "`");
  };
  context.kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      proveMap(context, magnitudes, Access(load),
               load.getBounds() == BoundsMode::exact || load.getBounds() == BoundsMode::within);
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      proveMap(context, magnitudes, Access(store), !store.getDrops());
    } else if (auto update = dyn_cast<UpdateOp>(op)) {
      proveMap(context, magnitudes, Access(update), true);
    } else if (auto restrict = dyn_cast<RestrictOp>(op)) {
      AffineExpr expr = restrict.getConstraint().getConstraint(0);
      if (magnitudes.of(expr, restrict.getDims(), restrict.getSyms()) >= tooLarge)
        refuse(context, op, "this condition");
    } else if (auto parallel = dyn_cast<ParallelOp>(op)) {
      proveBound(op, parallel.getLower());
      proveBound(op, parallel.getUpper());
    } else if (isa<ForOp, AxisOp>(op)) {
      proveBound(op, op->getOperands().take_front(2));
    } else if (isa<scf::ForOp>(op)) {
      proveBound(op, op->getOperands().take_front(3));
    }
  });
}
