//===- TileValueOps.cpp - tiles that are made of others, and integers -----===//

#include "ir/dialect/TileOps.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile::ir;

//===-- Tiles -------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  Type from = getInput().getType(), to = getResult().getType();
  if (!isTileValue(to) || getElementTypeOrSelf(from) != getElementTypeOrSelf(to))
    return emitOpError("needs a tile of the same element type as result");
  for (StringAttr axis : axesOf(from))
    if (!llvm::is_contained(axesOf(to), axis) ||
        extentOf(from, axis.getValue()) != extentOf(to, axis.getValue()))
      return emitOpError("drops or resizes axis ") << axis;
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getInput().getType() == getResult().getType() ? getInput() : Value();
}

namespace {
/// broadcast(broadcast(x)) is one broadcast.
struct MergeBroadcasts : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<BroadcastOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getInput());
    return success();
  }
};
} // namespace

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<MergeBroadcasts>(context);
}

LogicalResult CoordsOp::verify() {
  AxisList axes;
  axes.addFrom(getSpan().getType());
  if (withoutLayout(getResult().getType()) != axes.tileOf(IntegerType::get(getContext(), 64)))
    return emitOpError("gives a tile of i64 along its span");
  return success();
}

/// Checks that `result` is `input` without the reduced axes.
static LogicalResult verifyReduction(Operation *op, Type input, ArrayRef<StringAttr> reduced,
                                     Type result) {
  AxisList axes;
  for (StringAttr axis : axesOf(input))
    if (!llvm::is_contained(reduced, axis))
      axes.add(axis, extentOf(input, axis.getValue()));
  for (StringAttr axis : reduced)
    if (!llvm::is_contained(axesOf(input), axis))
      return op->emitOpError("reduces axis ") << axis << ", which its input has not";
  if (withoutLayout(result) != axes.tileOf(getElementTypeOrSelf(result)))
    return op->emitOpError("needs a result with the axes that are left");
  return success();
}

LogicalResult ReduceOp::verify() {
  SmallVector<StringAttr> axes(getAxes().getAsRange<StringAttr>());
  if (getElementTypeOrSelf(getInput().getType()) != getElementTypeOrSelf(getResult().getType()))
    return emitOpError("changes the element type");
  return verifyReduction(*this, getInput().getType(), axes, getResult().getType());
}

LogicalResult ArgReduceOp::verify() {
  if (!getElementTypeOrSelf(getResult().getType()).isInteger(64))
    return emitOpError("gives i64 coordinates");
  switch (getKind()) {
  case CombineKind::max:
  case CombineKind::min:
  case CombineKind::umax:
  case CombineKind::umin:
    break;
  default:
    return emitOpError("takes max, min, umax or umin");
  }
  return verifyReduction(*this, getInput().getType(), getAxisAttr(), getResult().getType());
}

LogicalResult RoundTf32Op::verify() {
  if (!getElementTypeOrSelf(getType()).isF32())
    return emitOpError("rounds f32, not ") << getElementTypeOrSelf(getType());
  return success();
}

LogicalResult PhiloxOp::verify() {
  if (!getElementTypeOrSelf(getIndex().getType()).isInteger(64) ||
      !getElementTypeOrSelf(getType()).isInteger(32))
    return emitOpError("makes i32 of i64");
  return success();
}

LogicalResult DotOp::verify() {
  AxisList axes;
  for (Type operand : {getLhs().getType(), getRhs().getType()}) {
    if (!llvm::is_contained(axesOf(operand), getAxisAttr()))
      return emitOpError("contracts axis ") << getAxisAttr() << ", which both operands need";
    for (StringAttr axis : axesOf(operand))
      if (axis != getAxisAttr())
        axes.add(axis, extentOf(operand, axis.getValue()));
  }
  Type expected = axes.tileOf(getElementTypeOrSelf(getAcc().getType()));
  if (withoutLayout(getResult().getType()) != expected)
    return emitOpError("accumulates and gives ") << expected;
  return success();
}

//===-- Integer division --------------------------------------------------===//

static APInt divide(const APInt &x, const APInt &y, bool isUnsigned, bool truncates) {
  if (y.isZero())
    return y;
  if (isUnsigned)
    return x.udiv(y);
  APInt quotient = x.sdiv(y); // least / −1 wraps in APInt
  if (!truncates && x.isNegative() != y.isNegative() && quotient * y != x)
    --quotient;
  return quotient;
}

template <typename FoldT>
static Attribute foldIntegers(ArrayRef<Attribute> operands, FoldT fold) {
  auto lhs = dyn_cast_or_null<IntegerAttr>(operands[0]);
  auto rhs = dyn_cast_or_null<IntegerAttr>(operands[1]);
  if (!lhs || !rhs)
    return {};
  return IntegerAttr::get(lhs.getType(), fold(lhs.getValue(), rhs.getValue()));
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return foldIntegers(adaptor.getOperands(), [&](const APInt &x, const APInt &y) {
    return divide(x, y, getIsUnsigned(), getTruncates());
  });
}

OpFoldResult RemOp::fold(FoldAdaptor adaptor) {
  return foldIntegers(adaptor.getOperands(), [&](const APInt &x, const APInt &y) {
    return x - divide(x, y, getIsUnsigned(), getTruncates()) * y;
  });
}
