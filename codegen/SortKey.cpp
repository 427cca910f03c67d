//===- SortKey.cpp - numbers that compare as elements do ------------------===//

#include "codegen/SortKey.h"

#include "ir/dialect/TileOps.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

unsigned tile::codegen::sortKeyBits(Type element) {
  return memoryType(element).getIntOrFloatBitWidth() == 64 ? 64 : 32;
}

/// Keys that ascend with the elements: both zeros have one, and all NaN have the greatest.
static Value emitAscendingKey(CodeBuilder &b, const TargetInfo &target, Type element,
                              bool isUnsigned, Value value) {
  if (isNarrowFloat(element))
    value = widenToF32(b, target, value, cast<FloatType>(element));
  unsigned bits = sortKeyBits(element);
  Type type = lanesOf(b.getIntegerType(bits), widthOf(value));
  Value sign = b.integer(type, bits == 64 ? std::numeric_limits<int64_t>::min()
                                          : std::numeric_limits<int32_t>::min());
  Value ones = b.integer(type, -1);
  if (isa<FloatType>(elementOf(value.getType()))) {
    Value zero = b.number(value.getType(), 0);
    Value isZero = arith::CmpFOp::create(b, CmpFPredicate::OEQ, value, zero);
    Value isNaN = arith::CmpFOp::create(b, CmpFPredicate::UNO, value, value);
    Value raw = b.bitcast(b.select(isZero, zero, value), type);
    Value isNegative = b.compare(CmpIPredicate::slt, raw, b.integer(type, 0));
    Value key = b.fold<arith::XOrIOp>(raw, b.select(isNegative, ones, sign));
    return b.select(isNaN, ones, key);
  }
  if (isUnsigned)
    return value.getType() == type ? value : b.fold<arith::ExtUIOp>(type, value);
  Value wide = value.getType() == type ? value : b.fold<arith::ExtSIOp>(type, value);
  return b.fold<arith::XOrIOp>(wide, sign);
}

Value tile::codegen::emitSortKey(CodeBuilder &b, const TargetInfo &target, SortOp op, Value value) {
  Type element = getElementTypeOrSelf(op.getInput().getType());
  Value key = emitAscendingKey(b, target, element, op.getIsUnsigned(), value);
  return op.getDescending() ? b.fold<arith::XOrIOp>(key, b.integer(key.getType(), -1)) : key;
}
