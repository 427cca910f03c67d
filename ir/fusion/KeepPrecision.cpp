//===- KeepPrecision.cpp - values as they are before they are rounded -----===//

#include "ir/fusion/KeepPrecision.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tile::ir;

static Value convert(OpBuilder &builder, Location loc, Value value, Type element) {
  Type type = withElement(value.getType(), element);
  if (value.getType() == type)
    return value;
  unsigned from = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  unsigned to = element.getIntOrFloatBitWidth();
  if (from < to)
    return arith::ExtFOp::create(builder, loc, type, value);
  if (from == to) // f16 and bf16: f32 holds both
    value = convert(builder, loc, value, builder.getF32Type());
  return arith::TruncFOp::create(builder, loc, type, value);
}

/// The value in a wider type, where its last step is to round; null if that is another one.
static Value unrounded(Value value, Type element) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  if (auto rounded = dyn_cast<arith::TruncFOp>(op); rounded && !rounded.getRoundingmode())
    return convert(builder, op->getLoc(), rounded.getIn(), element);
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    Value input = unrounded(broadcast.getInput(), element);
    Type type = withElement(broadcast.getType(), element);
    return input ? Value(BroadcastOp::create(builder, op->getLoc(), type, input)) : Value();
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Value yes = unrounded(select.getTrueValue(), element);
    Value no = unrounded(select.getFalseValue(), element);
    if (!yes && !no)
      return {};
    yes = yes ? yes : convert(builder, op->getLoc(), select.getTrueValue(), element);
    no = no ? no : convert(builder, op->getLoc(), select.getFalseValue(), element);
    return arith::SelectOp::create(builder, op->getLoc(), select.getCondition(), yes, no);
  }
  return {};
}

void tile::ir::keepPrecision(Value seam) {
  SmallVector<Value> open = {seam};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
      if (isa<BroadcastOp>(user))
        open.push_back(user->getResult(0));
      if (!isa<arith::ExtFOp>(user))
        continue;
      Value wide = unrounded(value, getElementTypeOrSelf(user->getResult(0).getType()));
      if (!wide)
        continue;
      user->getResult(0).replaceAllUsesWith(wide);
      user->erase();
    }
  }
}
