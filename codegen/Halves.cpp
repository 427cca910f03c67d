//===- Halves.cpp - f16, bf16 and the 8-bit floats as bits ----------------===//
//
// All conversions are exact or round to nearest even or toward zero, on scalars and
// vectors alike, and never call a function of the compiler's runtime.
//
//===----------------------------------------------------------------------===//

#include "codegen/Elementwise.h"

using namespace mlir;
using namespace tile::codegen;

namespace {
/// Bit arithmetic on i32 lanes, written short.
struct Bits {
  CodeBuilder &b;
  int width;
  Type type() const { return lanesOf(b.getI32Type(), width); }
  Value c(int64_t value) { return b.integer(type(), static_cast<int32_t>(value)); }
  Value band(Value x, Value y) { return b.fold<arith::AndIOp>(x, y); }
  Value bor(Value x, Value y) { return b.fold<arith::OrIOp>(x, y); }
  Value shl(Value x, int n) { return b.fold<arith::ShLIOp>(x, c(n)); }
  Value shr(Value x, int n) { return b.fold<arith::ShRUIOp>(x, c(n)); }
  Value less(Value x, Value y) { return b.compare(arith::CmpIPredicate::ult, x, y); }
  Value equal(Value x, Value y) { return b.compare(arith::CmpIPredicate::eq, x, y); }
  Value ofFloat(Value x) { return b.bitcast(x, type()); }
  Value toFloat(Value x) { return b.bitcast(x, lanesOf(b.getF32Type(), width)); }
};

/// A binary float format narrower than f32.
struct Format {
  int exponentBits, mantissaBits;
  /// False for f8E4M3FN: its greatest exponent holds numbers, all ones is NaN.
  bool hasInfinity;
  int bits() const { return 1 + exponentBits + mantissaBits; }
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int32_t infinity() const { return ((1 << exponentBits) - 1) << mantissaBits; }
  int32_t magnitude() const { return (1 << (bits() - 1)) - 1; }
};

Format formatOf(FloatType type) {
  if (type.isF16())
    return {5, 10, true};
  if (type.isBF16())
    return {8, 7, true};
  if (isa<Float8E5M2Type>(type))
    return {5, 2, true};
  assert(isa<Float8E4M3FNType>(type) && "a float type of the language");
  return {4, 3, false};
}

/// NVIDIA's name of a format of 8 bits, for instructions that convert two numbers.
StringRef pairOf(FloatType type) { return isa<Float8E5M2Type>(type) ? "e5m2x2" : "e4m3x2"; }

/// A thread's instruction from 8 bits to f16, which holds all of their numbers.
Value widenByInstruction(CodeBuilder &b, Value bits, FloatType from) {
  Value pair = arith::ExtUIOp::create(b, b.getIntegerType(16), bits);
  Value halves =
      LLVM::CallIntrinsicOp::create(
          b, VectorType::get(2, b.getF16Type()),
          b.getStringAttr(("llvm.nvvm." + pairOf(from) + ".to.f16x2.rn").str()), ValueRange(pair))
          .getResult(0);
  Value half = LLVM::ExtractElementOp::create(b, halves, b.integer(b.getI32Type(), 0));
  return arith::ExtFOp::create(b, b.getF32Type(), half);
}

/// And back. The instruction gives the greatest number for what is too large: infinity, or NaN
/// where there is none, comes afterwards.
Value roundByInstruction(CodeBuilder &b, Value value, FloatType to) {
  Format format = formatOf(to);
  Value pair =
      LLVM::CallIntrinsicOp::create(
          b, b.getIntegerType(16), b.getStringAttr(("llvm.nvvm.ff.to." + pairOf(to) + ".rn").str()),
          ValueRange{b.number(b.getF32Type(), 0), value})
          .getResult(0);
  // From half a step beyond the greatest number on there is infinity. Where there is NaN instead,
  // that half itself still rounds down, to what is even.
  double step = std::ldexp(1.0, format.hasInfinity ? format.bias() - format.mantissaBits
                                                   : format.bias() + 1 - format.mantissaBits);
  double greatest = format.hasInfinity ? std::ldexp(1.0, format.bias() + 1) - step
                                       : std::ldexp(1.0, format.bias() + 2) - 2 * step;
  Value magnitude = math::AbsFOp::create(b, value);
  Value bound = b.number(b.getF32Type(), greatest + step / 2);
  auto compare = format.hasInfinity ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OGT;
  Value isLarge = arith::CmpFOp::create(b, compare, magnitude, bound);
  Type word = b.getIntegerType(16);
  // Both differ from the greatest number by what is added to it.
  Value more = b.select(isLarge, b.integer(word, 1), b.integer(word, 0));
  return arith::TruncIOp::create(b, b.getI8Type(), b.add(pair, more));
}

/// To nearest even, of f32's upper half: the carry goes on into the exponent, and from the greatest
/// number to infinity. NaNs stay quiet NaNs.
Value roundToBf16(CodeBuilder &b, Value value) {
  Bits i{b, widthOf(value)};
  Value x = i.ofFloat(value), upper = i.shr(x, 16);
  Value rounded = i.shr(b.add(b.add(x, i.c(0x7fff)), i.band(upper, i.c(1))), 16);
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  Value result = b.select(isNaN, i.bor(upper, i.c(0x40)), rounded);
  return arith::TruncIOp::create(b, lanesOf(b.getIntegerType(16), i.width), result);
}

/// 2^n as f32.
Value powerOfTwo(Bits &i, int n) {
  return i.b.number(lanesOf(i.b.getF32Type(), i.width), std::ldexp(1.0, n));
}
} // namespace

Value tile::codegen::widenToF32(CodeBuilder &b, const TargetInfo &target, Value bits,
                                FloatType from) {
  int width = widthOf(bits);
  Type f32 = lanesOf(b.getF32Type(), width);
  if (from.isF16() && target.hasF16c)
    return arith::ExtFOp::create(b, f32, b.bitcast(bits, lanesOf(b.getF16Type(), width)));
  if (target.hasF8Conversions && formatOf(from).bits() == 8)
    return widenByInstruction(b, bits, from);
  Bits i{b, width};
  Format format = formatOf(from);
  Value x = arith::ExtUIOp::create(b, i.type(), bits);
  if (from.isBF16())
    return i.toFloat(i.shl(x, 16));
  Value sign = i.shl(i.band(x, i.c(1 << (format.bits() - 1))), 32 - format.bits());
  Value magnitude = i.band(x, i.c(format.magnitude()));
  // The fields in f32's places are the number times 2^(bias − 127), subnormals
  // included; one exact multiplication puts the exponent right.
  Value moved = i.toFloat(i.shl(magnitude, 23 - format.mantissaBits));
  Value number = i.ofFloat(arith::MulFOp::create(b, moved, powerOfTwo(i, 127 - format.bias())));
  Value special = format.hasInfinity ? i.less(i.c(format.infinity() - 1), magnitude)
                                     : i.equal(magnitude, i.c(format.magnitude()));
  Value specialBits = format.hasInfinity
                          ? i.bor(i.shl(magnitude, 23 - format.mantissaBits), i.c(0x7f800000))
                          : i.c(0x7fc00000);
  return i.toFloat(i.bor(sign, b.select(special, specialBits, number)));
}

Value tile::codegen::roundFromF32(CodeBuilder &b, const TargetInfo &target, Value value,
                                  FloatType to, bool towardZero) {
  int width = widthOf(value);
  Type narrow = lanesOf(registerType(to), width);
  if (to.isF16() && target.hasF16c && !towardZero)
    return b.bitcast(arith::TruncFOp::create(b, lanesOf(b.getF16Type(), width), value), narrow);
  if (to.isBF16() && target.hasBf16Rounding && !towardZero)
    return b.bitcast(arith::TruncFOp::create(b, lanesOf(b.getBF16Type(), width), value), narrow);
  Format format = formatOf(to);
  if (target.hasF8Conversions && format.bits() == 8 && !towardZero)
    return roundByInstruction(b, value, to);
  if (to.isBF16() && !towardZero)
    return roundToBf16(b, value);
  Bits i{b, width};
  int shift = 23 - format.mantissaBits;
  Value x = i.ofFloat(value);
  Value sign = i.band(i.shr(x, 32 - format.bits()), i.c(1 << (format.bits() - 1)));
  Value magnitude = i.band(x, i.c(0x7fffffff));

  // Normal results: drop the mantissa's low end, first of all to nearest even.
  Value odd = i.band(i.shr(magnitude, shift), i.c(1));
  Value rebased = b.sub(magnitude, i.c((127 - format.bias()) << 23));
  if (!towardZero)
    rebased = b.add(b.add(rebased, i.c((1 << (shift - 1)) - 1)), odd);
  Value normal = i.shr(rebased, shift);
  // Subnormal results: adding this power of two leaves just the bits that count,
  // rounded by the addition itself.
  Value result = normal;
  if (!to.isBF16()) {
    double anchor = std::ldexp(1.0, 1 - format.bias() - format.mantissaBits + 23);
    Value anchorValue = b.number(lanesOf(b.getF32Type(), width), anchor);
    Value sum = arith::AddFOp::create(b, i.toFloat(magnitude), anchorValue);
    Value subnormal = b.sub(i.ofFloat(sum), i.ofFloat(anchorValue));
    if (towardZero) {
      Value rounded = arith::SubFOp::create(b, sum, anchorValue);
      Value isUp =
          arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, rounded, i.toFloat(magnitude));
      subnormal = b.select(isUp, b.sub(subnormal, i.c(1)), subnormal);
    }
    Value isSmall = i.less(magnitude, i.c((128 - format.bias()) << 23));
    result = b.select(isSmall, subnormal, normal);
  }
  // Too large: infinity, or NaN where there is none; toward zero the greatest number. NaNs stay
  // quiet NaNs.
  Value isNaN = i.less(i.c(0x7f800000), magnitude);
  Value isInfinite = i.less(i.c(0x7f7fffff), magnitude);
  int32_t beyond = format.hasInfinity ? format.infinity() : format.magnitude();
  Value large = i.less(i.c(beyond - 1), result);
  result = b.select(large, i.c(towardZero ? beyond - 1 : beyond), result);
  result = b.select(isInfinite, i.c(beyond), result);
  if (format.hasInfinity) {
    Value quiet = i.bor(i.band(i.shr(magnitude, shift), i.c(format.magnitude())),
                        i.c(format.infinity() | 1 << (format.mantissaBits - 1)));
    result = b.select(isNaN, quiet, result);
  }
  return arith::TruncIOp::create(b, narrow, i.bor(sign, result));
}

Value tile::codegen::roundToTf32(CodeBuilder &b, Value value) {
  Bits i{b, widthOf(value)};
  Value x = i.ofFloat(value);
  Value odd = i.band(i.shr(x, 13), i.c(1));
  // The carry goes on into the exponent, and from the greatest number to infinity.
  Value rounded = i.band(b.add(b.add(x, i.c(0xfff)), odd), i.c(~0x1fff));
  Value isNaN = i.less(i.c(0x7f800000), i.band(x, i.c(0x7fffffff)));
  return i.toFloat(b.select(isNaN, x, rounded));
}
