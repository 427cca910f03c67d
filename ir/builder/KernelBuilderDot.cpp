//===- KernelBuilderDot.cpp - contractions --------------------------------===//

#include "ir/builder/KernelBuilder.h"

#include <cmath>

using namespace mlir;
using namespace tile::ir;

Expr KernelBuilder::dot(Expr a, Expr b, StringRef axisName, DotPrecision precision) {
  if (!a.isValid() || !b.isValid())
    return {};
  std::optional<ElementType> type = commonType("`dot`", {a, b});
  if (!type)
    return {};
  if (a.isLiteral() || b.isLiteral() || *type == ElementType::Bool) {
    error() << "`dot` takes two tiles of numbers";
    return {};
  }
  if (precision != DotPrecision::Ieee && arithmeticType(*type) != ElementType::F32) {
    auto diagnostic = error() << "`precision` rounds f32 to tf32; these are " << nameOf(*type);
    diagnostic.attachNote(loc) << "hint: leave it out";
    return {};
  }
  if (isHalf(*type)) // tf32 holds all of them
    precision = DotPrecision::Ieee;
  Value operands[] = {narrow(a), narrow(b)};
  StringAttr axis =
      builder.getStringAttr(isDim(axisName) ? canonicalDim(axisName) : axisName.str());
  AxisList result;
  for (Value operand : operands) {
    if (!llvm::is_contained(axesOf(operand.getType()), axis)) {
      auto diagnostic = error() << "`dot` over `" << axisName << "`, which the "
                                << (operand == operands[0] ? "first" : "second") << " tile has not";
      diagnostic.attachNote(loc) << "its axes are " << axesText(operand.getType());
      return {};
    }
    for (StringAttr other : axesOf(operand.getType()))
      if (other != axis)
        result.add(other, extentOf(operand.getType(), other.getValue()));
  }
  ElementType accumulated = accumulatorType(*type);
  if (isInteger(*type) && accumulated != *type)
    for (Value &operand : operands)
      operand = convert(operand, *type, accumulated);
  Value zero = constant(accumulated, 0, 0);
  Value acc = broadcastTo(zero, result.tileOf(zero.getType()));
  auto product = [&](Value x, Value y) { acc = DotOp::create(builder, loc, x, y, axis, acc); };
  if (precision == DotPrecision::Ieee) {
    product(operands[0], operands[1]);
  } else if (precision == DotPrecision::Tf32) {
    product(RoundTf32Op::create(builder, loc, operands[0].getType(), operands[0]),
            RoundTf32Op::create(builder, loc, operands[1].getType(), operands[1]));
  } else {
    Split x = splitIntoTf32(operands[0]), y = splitIntoTf32(operands[1]);
    product(x.low, y.finite);
    product(x.finite, y.low);
    product(x.high, y.high);
    threefold.insert(acc.getDefiningOp());
  }
  return make(acc, accumulated);
}

/// x = high + low + what is below 2⁻²² of x; finite numbers have finite parts. With infinities and
/// NaNs only the product of the high parts is concerned, so that it has the result.
KernelBuilder::Split KernelBuilder::splitIntoTf32(Value x) {
  auto number = [&](double value) {
    return broadcastTo(constant(ElementType::F32, 0, value), x.getType());
  };
  auto rounded = [&](Value value) -> Value {
    return RoundTf32Op::create(builder, loc, value.getType(), value);
  };
  const double greatest = std::ldexp(2 - std::ldexp(1, -10), 127);
  Value isFinite = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                                         math::AbsFOp::create(builder, loc, x),
                                         number(std::numeric_limits<double>::infinity()));
  Value inside = arith::MaxNumFOp::create(
      builder, loc, arith::MinNumFOp::create(builder, loc, x, number(greatest)), number(-greatest));
  Value part = rounded(inside), zero = number(0);
  Value rest = rounded(arith::SubFOp::create(builder, loc, x, part));
  return {arith::SelectOp::create(builder, loc, isFinite, part, rounded(x)),
          arith::SelectOp::create(builder, loc, isFinite, rest, zero),
          arith::SelectOp::create(builder, loc, isFinite, part, zero)};
}
