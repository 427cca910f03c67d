//===- KernelBuilderBits.cpp - casts and products by their bits -----------===//

#include "ir/builder/KernelBuilder.h"

using namespace mlir;
using namespace tile::ir;

Expr KernelBuilder::bitcastTo(ElementType type, const Expr &x) {
  if (!x.isValid())
    return {};
  if (x.isLiteral()) {
    auto diagnostic = error() << "`bitcast` of a literal";
    diagnostic.attachNote(loc) << "hint: give it a type: `bitcast(" << nameOf(type) << ", "
                               << (x.kind == Expr::Kind::Int ? "i32" : "f32") << "(…))`";
    return {};
  }
  if (type == ElementType::Bool || x.type == ElementType::Bool ||
      bitWidth(type) != bitWidth(x.type)) {
    error() << "`bitcast` of " << nameOf(x.type) << " to " << nameOf(type)
            << ": the types have to be numbers of the same width";
    return {};
  }
  Value value = narrow(x);
  Type target = withElement(value.getType(), toMlir(type, context()));
  if (value.getType() != target) // u32 and i32 share their bits
    value = arith::BitcastOp::create(builder, loc, target, value);
  return make(value, type);
}

/// The upper half of a product twice as wide.
Value KernelBuilder::highProduct(ElementType type, Value x, Value y) {
  unsigned bits = bitWidth(type);
  auto splat = [&](Type element, int64_t number) {
    Value scalar = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(element, number));
    return broadcastTo(scalar, x.getType());
  };
  auto shiftRight = [&](Value value, int64_t by, bool isLogical) {
    Value count = splat(getElementTypeOrSelf(value.getType()), by);
    return isLogical ? Value(arith::ShRUIOp::create(builder, loc, value, count))
                     : Value(arith::ShRSIOp::create(builder, loc, value, count));
  };
  auto add = [&](Value a, Value b) { return Value(arith::AddIOp::create(builder, loc, a, b)); };
  auto multiply = [&](Value a, Value b) {
    return Value(arith::MulIOp::create(builder, loc, a, b));
  };
  if (bits < 64) {
    ElementType wide = isUnsigned(type) ? ElementType::U64 : ElementType::I64;
    Value product = multiply(convert(x, type, wide), convert(y, type, wide));
    return convert(shiftRight(product, bits, /*isLogical=*/true), wide, type);
  }
  // By halves (Warren, Hacker's Delight, 8-2): the low ones count as unsigned, the high ones as
  // the type says.
  Value mask = splat(builder.getI64Type(), 0xffffffff);
  auto low = [&](Value value) { return Value(arith::AndIOp::create(builder, loc, value, mask)); };
  auto high = [&](Value value) { return shiftRight(value, 32, isUnsigned(type)); };
  Value x0 = low(x), y0 = low(y), x1 = high(x), y1 = high(y);
  Value carry = shiftRight(multiply(x0, y0), 32, /*isLogical=*/true);
  Value middle = add(multiply(x1, y0), carry);
  Value other = add(multiply(x0, y1), low(middle));
  return add(add(multiply(x1, y1), high(middle)), high(other));
}
