//===- KernelBuilderCasts.cpp - conversions between types -----------------===//

#include "ir/builder/KernelBuilder.h"

#include <cmath>

using namespace mlir;
using namespace tile::ir;

//===-- Casts -------------------------------------------------------------===//

Value KernelBuilder::convert(Value value, ElementType from, ElementType to, bool towardZero) {
  // A wide half is f32 already.
  if (isHalf(from) && getElementTypeOrSelf(value.getType()).isF32())
    from = ElementType::F32;
  Type target = withElement(value.getType(), toMlir(to, context()));
  if (value.getType() == target && from != ElementType::Bool && to != ElementType::Bool)
    return value; // u32 and i32 share their bits
  if (from == to)
    return value;
  if (to == ElementType::Bool) {
    Value zero = broadcastTo(constant(from, 0, 0), value.getType());
    if (isFloat(from))
      return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, value, zero);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, zero);
  }
  if (isFloat(from) && isFloat(to)) {
    if (bitWidth(to) > bitWidth(from))
      return arith::ExtFOp::create(builder, loc, target, value);
    if (bitWidth(to) < bitWidth(from)) {
      auto narrowed = arith::TruncFOp::create(builder, loc, target, value);
      if (towardZero)
        narrowed.setRoundingmode(arith::RoundingMode::toward_zero);
      return narrowed;
    }
    // Equal widths, other formats: through f32, which holds both exactly.
    return convert(convert(value, from, ElementType::F32), ElementType::F32, to, towardZero);
  }
  if (isFloat(from))
    return FpToIntOp::create(builder, loc, target, value, isUnsigned(to));
  if (isFloat(to)) {
    if (isUnsigned(from))
      return arith::UIToFPOp::create(builder, loc, target, value);
    return arith::SIToFPOp::create(builder, loc, target, value);
  }
  if (bitWidth(to) < bitWidth(from))
    return arith::TruncIOp::create(builder, loc, target, value);
  if (isUnsigned(from))
    return arith::ExtUIOp::create(builder, loc, target, value);
  return arith::ExtSIOp::create(builder, loc, target, value);
}

Value KernelBuilder::narrow(const Expr &x) {
  Value value = materialize(x, x.type);
  return isHalf(x.type) ? convert(value, ElementType::F32, x.type) : value;
}

Value KernelBuilder::widen(const Expr &x) {
  return convert(materialize(x, x.type), x.type, arithmeticType(x.type));
}

Expr KernelBuilder::castTo(ElementType type, Expr x) {
  if (!x.isValid())
    return {};
  if (!x.isLiteral()) {
    if (x.type == ElementType::I64 && type == ElementType::I64)
      return x; // keeps its form
    return make(convert(materialize(x), x.type, type), type);
  }
  if (type == ElementType::Bool && x.kind == Expr::Kind::Int)
    return boolean(x.integer != 0);
  // `i32(floor(2.5))`: a whole number is one.
  if (isInteger(type) && x.kind == Expr::Kind::Float && x.number == std::trunc(x.number) &&
      std::abs(x.number) < 0x1p127)
    x = literal(static_cast<WideInteger>(x.number));
  Value value = literalValue(x, type);
  return value ? make(value, type) : Expr();
}

//===-- Modifiers ---------------------------------------------------------===//

/// The greatest finite number of a float type.
static double largest(ElementType type, MLIRContext *context) {
  const llvm::fltSemantics &semantics = cast<FloatType>(toMlir(type, context)).getFloatSemantics();
  return APFloat::getLargest(semantics).convertToDouble();
}

/// The least and the greatest value of an integer type, in 128 bits.
static std::pair<APInt, APInt> range(ElementType type) {
  unsigned bits = bitWidth(type);
  if (isUnsigned(type))
    return {APInt(128, 0), APInt::getMaxValue(bits).zext(128)};
  return {APInt::getSignedMinValue(bits).sext(128), APInt::getSignedMaxValue(bits).sext(128)};
}

/// True if the type `to` has a place for every value between the least and the greatest of `from`.
static bool covers(ElementType to, ElementType from, MLIRContext *context) {
  if (isFloat(from))
    return isFloat(to) && bitWidth(to) >= bitWidth(arithmeticType(from));
  auto [low, high] = range(from);
  if (isFloat(to))
    return high.roundToDouble(/*isSigned=*/false) <= largest(to, context);
  auto [least, greatest] = range(to);
  return least.sle(low) && high.sle(greatest);
}

/// Reports a modifier that says nothing about this cast.
bool KernelBuilder::checkModifiers(ElementType from, ElementType to, CastModifiers modifiers) {
  auto refuse = [&](StringRef modifier, const Twine &why, StringRef hint) {
    auto diagnostic = error() << "`" << modifier << "` on a cast of " << nameOf(from) << " to "
                              << nameOf(to) << ": " << why.str();
    diagnostic.attachNote(loc) << "hint: " << hint;
    return false;
  };
  StringRef modifier = modifiers.saturates ? "sat" : "toward_zero";
  if (to == ElementType::Bool)
    return refuse(modifier, "to bool is a comparison with 0", "leave it out");
  if (modifiers.saturates && covers(to, from, context()))
    return refuse("sat", "no value is too large", "leave it out");
  if (!modifiers.towardZero || (isFloat(from) && !isFloat(to)))
    return true;
  if (isFloat(from))
    return !covers(to, from, context()) ||
           refuse("toward_zero", "nothing is rounded", "leave it out");
  if (!isFloat(to) || bitWidth(from) < 16)
    return refuse("toward_zero", "nothing is rounded", "leave it out");
  return refuse("toward_zero", "integers become floats to nearest", "cast it to f64 first");
}

/// The value, of a type's arithmetic, moved to the nearest one in the range of `to`.
Value KernelBuilder::saturated(Value value, ElementType from, ElementType to) {
  auto bound = [&](int64_t integer, double number) {
    return broadcastTo(constant(from, integer, number), value.getType());
  };
  if (isFloat(from)) {
    double most = largest(to, context());
    value = arith::MaximumFOp::create(builder, loc, value, bound(0, -most));
    return arith::MinimumFOp::create(builder, loc, value, bound(0, most));
  }
  APInt most(128, isFloat(to) ? static_cast<uint64_t>(largest(to, context())) : 0);
  auto [least, greatest] = isFloat(to) ? std::pair(-most, most) : range(to);
  auto [low, high] = range(from);
  auto limit = [&](const APInt &value) {
    return bound(static_cast<int64_t>(value.trunc(64).getZExtValue()), 0);
  };
  if (isUnsigned(from)) // has nothing below 0
    return arith::MinUIOp::create(builder, loc, value, limit(greatest));
  if (low.slt(least))
    value = arith::MaxSIOp::create(builder, loc, value, limit(least));
  if (greatest.slt(high))
    value = arith::MinSIOp::create(builder, loc, value, limit(greatest));
  return value;
}

Expr KernelBuilder::castTo(ElementType type, Expr x, CastModifiers modifiers) {
  if (!modifiers.saturates && !modifiers.towardZero)
    return castTo(type, std::move(x));
  if (!x.isValid())
    return {};
  ElementType from = x.type;
  if (x.isLiteral()) // as exact as it can be, so that it is rounded once
    from = x.kind == Expr::Kind::Float         ? ElementType::F64
           : fits(x.integer, ElementType::I64) ? ElementType::I64
                                               : ElementType::U64;
  if (!checkModifiers(from, type, modifiers))
    return {};
  Value value = materialize(x, from);
  if (!value)
    return {};
  bool becomesInteger = isFloat(from) && !isFloat(type); // which saturates by itself
  if (!becomesInteger) {
    value = convert(value, from, arithmeticType(from));
    from = arithmeticType(from);
    if (modifiers.saturates)
      value = saturated(value, from, type);
  }
  return make(convert(value, from, type, modifiers.towardZero), type);
}
