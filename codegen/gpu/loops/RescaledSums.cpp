//===- RescaledSums.cpp - sums of exponentials in one pass ----------------===//

#include "codegen/gpu/loops/RescaledSums.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpFPredicate;

ReduceOp tile::codegen::gpu::maximumOf(ReduceOp sum) {
  auto exp = sum.getInput().getDefiningOp<math::ExpOp>();
  Type element = getElementTypeOrSelf(sum.getInput().getType());
  if (sum.getKind() != CombineKind::add || !exp || !(element.isF32() || element.isF64()))
    return {};
  auto difference = exp.getOperand().getDefiningOp<arith::SubFOp>();
  auto broadcast = difference ? difference.getRhs().getDefiningOp<BroadcastOp>() : BroadcastOp();
  auto maximum = broadcast ? broadcast.getInput().getDefiningOp<ReduceOp>() : ReduceOp();
  bool matches = maximum && maximum.getKind() == CombineKind::max &&
                 maximum.getInput() == difference.getLhs() && maximum.getAxes() == sum.getAxes();
  return matches ? maximum : ReduceOp();
}

/// A number in all places of a type.
static Value splat(OpBuilder &builder, Location loc, Type type, double number) {
  Value scalar = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(getElementTypeOrSelf(type), number));
  return axesOf(type).empty() ? scalar : Value(BroadcastOp::create(builder, loc, type, scalar));
}

static constexpr double infinity = std::numeric_limits<double>::infinity();

Value tile::codegen::gpu::subtractedFor(OpBuilder &builder, Location loc, Value maximum) {
  Type type = maximum.getType();
  Value isLeast = arith::CmpFOp::create(builder, loc, CmpFPredicate::OEQ, maximum,
                                        splat(builder, loc, type, -infinity));
  return arith::SelectOp::create(builder, loc, isLeast, splat(builder, loc, type, 0), maximum);
}

Value tile::codegen::gpu::rescaledSum(OpBuilder &builder, Location loc, Value before,
                                      Value maximumBefore, Value maximum, Value added) {
  Value stays = arith::CmpFOp::create(builder, loc, CmpFPredicate::OEQ, maximumBefore, maximum);
  Value difference = arith::SubFOp::create(builder, loc, maximumBefore, maximum);
  Value scale = math::ExpOp::create(builder, loc, difference);
  Value one = splat(builder, loc, maximum.getType(), 1);
  Value factor = arith::SelectOp::create(builder, loc, stays, one, scale);
  Value scaled = arith::MulFOp::create(builder, loc, before, factor);
  return arith::AddFOp::create(builder, loc, scaled, added);
}

Operation *tile::codegen::gpu::scaleOf(Value rescaled) {
  auto sum = rescaled.getDefiningOp<arith::AddFOp>();
  auto scaled = sum ? sum.getLhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  auto factor = scaled ? scaled.getRhs().getDefiningOp<arith::SelectOp>() : arith::SelectOp();
  return factor ? factor.getFalseValue().getDefiningOp<math::ExpOp>() : nullptr;
}

Value tile::codegen::gpu::finishedSum(OpBuilder &builder, Location loc, Value sum, Value maximum,
                                      Value hasElements) {
  Type type = maximum.getType();
  // −inf − −inf is NaN; of other maxima it is 0 or NaN, as it should be.
  Value rest = arith::SubFOp::create(builder, loc, maximum, maximum);
  Value isLeast = arith::CmpFOp::create(builder, loc, CmpFPredicate::OEQ, maximum,
                                        splat(builder, loc, type, -infinity));
  Value all = hasElements;
  if (!axesOf(type).empty())
    all = BroadcastOp::create(builder, loc, isLeast.getType(), hasElements);
  Value isLost = arith::AndIOp::create(builder, loc, isLeast, all);
  return arith::SelectOp::create(builder, loc, isLost, rest, sum);
}
