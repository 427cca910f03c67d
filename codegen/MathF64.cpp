//===- MathF64.cpp - f64 functions without a C library --------------------===//
//
// For code of GPUs, which has no library to call. Arguments are reduced with
// products and sums in two parts (T. J. Dekker, "A floating-point technique for
// extending the available precision", 1971; all products by multiply-adds), and
// what is left is a series that is cut where its rest is below 2⁻⁵⁶. Functions of
// f32 without an expansion of their own go through f64. tests/codegen/
// MathF64Test.cpp measures the errors, on the CPU.
//
//===----------------------------------------------------------------------===//

#include "codegen/Elementwise.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::codegen;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A number as a sum of two, the second below half a unit in the last place of the first.
struct Pair {
  Value high, low;
};
struct PairOfConstants {
  double high, low;
};
constexpr PairOfConstants ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr PairOfConstants log2OfE{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
constexpr PairOfConstants log10OfE{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
constexpr PairOfConstants log10Of2{0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59};
constexpr PairOfConstants halfPi{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
constexpr double halfPiRest = -0x1.f1976b7ed8fbcp-110;

/// f64 arithmetic on one number, written short.
class F64 {
public:
  F64(CodeBuilder &b, const TargetInfo &target) : b(b), target(target) {}

  Value exp(Value x) { return expOf({clamp(x, -746, 710), c(0)}); }
  Value exp2(Value x);
  Value expm1(Value x);
  Value log(Value x, PairOfConstants perNatural, PairOfConstants perDoubling, Value more = {});
  Value log1p(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value pow(Value x, Value y);
  /// x to the power of y, where the result is to be rounded to f32.
  Value powForF32(Value x, Value y);
  enum class Trig { Sin, Cos, Tan };
  Value trig(Value x, Trig which);

private:
  Type type() { return b.getF64Type(); }
  Value c(double value) { return b.number(type(), value); }
  Value i(uint64_t value) { return b.i64(static_cast<int64_t>(value)); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, x, y, z); }
  Value neg(Value x) { return arith::NegFOp::create(b, x); }
  Value abs(Value x) { return math::AbsFOp::create(b, x); }
  Value less(Value x, Value y) { return arith::CmpFOp::create(b, CmpFPredicate::OLT, x, y); }
  Value equal(Value x, Value y) { return arith::CmpFOp::create(b, CmpFPredicate::OEQ, x, y); }
  Value isNaN(Value x) { return arith::CmpFOp::create(b, CmpFPredicate::UNO, x, x); }
  Value where(Value condition, Value x, Value y) { return b.select(condition, x, y); }
  Value bits(Value x) { return b.bitcast(x, b.getI64Type()); }
  Value fromBits(Value x) { return b.bitcast(x, type()); }
  Value band(Value x, Value y) { return b.fold<arith::AndIOp>(x, y); }
  Value bor(Value x, Value y) { return b.fold<arith::OrIOp>(x, y); }
  Value shl(Value x, Value n) { return b.fold<arith::ShLIOp>(x, n); }
  Value shr(Value x, Value n) { return b.fold<arith::ShRUIOp>(x, n); }
  Value sar(Value x, Value n) { return b.fold<arith::ShRSIOp>(x, n); }
  Value withSignOf(Value magnitude, Value x) { return math::CopySignOp::create(b, magnitude, x); }
  Value clamp(Value x, double low, double high) { // NaN stays
    x = where(less(x, c(low)), c(low), x);
    return where(less(c(high), x), c(high), x);
  }
  /// Highest power first.
  Value poly(Value x, ArrayRef<double> coefficients) {
    Value sum;
    for (double coefficient : coefficients)
      sum = sum ? fma(sum, x, c(coefficient)) : c(coefficient);
    return sum;
  }
  /// 1 / x for 2⁻¹⁰⁰ ≤ x ≤ 2¹⁰⁰ to about 53 bits, without a division, which is a call on GPUs: a
  /// first guess from the bits of x to 5 %, two steps that triple the digits, and one that doubles
  /// them.
  Value reciprocal(Value x) {
    Value r = fromBits(b.sub(i(0x7fde623822fc16e6), bits(x))), minus = neg(x);
    for (int step = 0; step < 3; ++step) {
      Value e = fma(minus, r, c(1));
      r = fma(step < 2 ? fma(e, e, e) : e, r, r);
    }
    return r;
  }
  /// x / y for such a y, to a little more than half a unit in the last place.
  Value quotient(Value x, Value y) {
    Value r = reciprocal(y), q = mul(x, r);
    return fma(fma(neg(q), y, x), r, q);
  }
  Pair sum(Value x, Value y) {
    Value s = add(x, y), part = sub(s, x);
    return {s, add(sub(x, sub(s, part)), sub(y, part))};
  }
  /// Where x is zero or the greater one.
  Pair sumOrdered(Value x, Value y) {
    Value s = add(x, y);
    return {s, add(sub(x, s), y)};
  }
  Pair product(Value x, Value y) {
    Value p = mul(x, y);
    return {p, fma(x, y, neg(p))};
  }
  /// x · y to about 100 bits.
  Pair product(Pair x, Pair y) {
    Pair p = product(x.high, y.high);
    Value low = add(p.low, fma(x.high, y.low, mul(x.low, y.high)));
    return sumOrdered(p.high, low);
  }
  Pair constant(PairOfConstants pair) { return {c(pair.high), c(pair.low)}; }
  /// The nearest integer of x below 2⁵¹, as a float and an integer.
  std::pair<Value, Value> nearest(Value x) {
    Value magic = c(6755399441055744.0); // 1.5 · 2⁵²
    Value moved = add(x, magic);
    return {sub(moved, magic), b.sub(bits(moved), bits(magic))};
  }
  /// 2ⁿ for −1022 ≤ n ≤ 1023.
  Value power(Value n) { return fromBits(shl(b.add(n, i(1023)), i(52))); }
  /// x · 2ⁿ for |n| ≤ 2044, rounding once at the end.
  Value scale(Value x, Value n) {
    Value half = sar(n, i(1));
    return mul(mul(x, power(half)), power(b.sub(n, half)));
  }
  /// (eʳ − 1 − r) / r² for |r| ≤ ln 2 / 2.
  Value expTail(Value r) {
    SmallVector<double> coefficients;
    double factorial = 6227020800.0; // 13!
    for (int n = 13; n >= 2; factorial /= n--)
      coefficients.push_back(1 / factorial);
    return poly(r, coefficients);
  }
  /// n · ln 2 + the rest in two parts; |x| up to 746.
  Pair reduceExp(Pair x, Value &n) {
    auto [rounded, count] = nearest(mul(x.high, c(log2OfE.high)));
    n = count;
    Value r = fma(neg(rounded), c(ln2.high), x.high); // exact
    return sum(r, fma(neg(rounded), c(ln2.low), x.low));
  }
  Value expOf(Pair x);
  /// x = m · 2ᵉ with √½ ≤ m < √2, for positive finite x; gives m − 1, exactly.
  Value splitLog(Value x, Value &e);
  Pair logOfPow(Value x);
  /// The result of a power, given that of |x| to y where both are plain numbers.
  Value powEnds(Value x, Value y, Value magnitude);
  struct Angle {
    Value quadrant; // as i64
    Pair rest;
  };
  Angle reduce(Value x);
  Angle reduceHuge(Value x);
  SmallVector<Value, 3> wordsOfTwoOverPi(Value first);

  CodeBuilder &b;
  const TargetInfo &target;
};
} // namespace

//===-- Exponentials ------------------------------------------------------===//

Value F64::expOf(Pair x) {
  Value n;
  Pair r = reduceExp(x, n);
  Value tail = fma(mul(r.high, r.high), expTail(r.high), r.low);
  return scale(add(add(r.high, tail), c(1)), n);
}

Value F64::exp2(Value x) {
  x = clamp(x, -1077, 1025);
  auto [rounded, n] = nearest(x);
  Value f = sub(x, rounded);
  Pair r = product(f, c(ln2.high));
  Value low = fma(f, c(ln2.low), r.low);
  Value tail = fma(mul(r.high, r.high), expTail(r.high), low);
  return scale(add(add(r.high, tail), c(1)), n);
}

Value F64::expm1(Value x) {
  Value n;
  Pair r = reduceExp({clamp(x, -60, 710), c(0)}, n);
  Pair p = sumOrdered(r.high, fma(mul(r.high, r.high), expTail(r.high), r.low));
  // 2ⁿ p + (2ⁿ − 1), with halves so that 2¹⁰²⁴ does not overflow before its time.
  Value half = power(b.sub(n, i(1)));
  Pair whole = sum(sub(half, c(0.5)), mul(p.high, half));
  // (2ⁿ − 1) / 2 is inexact for large n alone, where it doesn't matter.
  Value result = mul(add(whole.high, fma(p.low, half, whole.low)), c(2));
  return where(equal(x, c(0)), x, result);
}

//===-- Logarithms --------------------------------------------------------===//

Value F64::splitLog(Value x, Value &e) {
  Value isTiny = less(x, c(0x1p-1022));
  Value scaled = where(isTiny, mul(x, c(0x1p54)), x);
  constexpr uint64_t rootOfHalf = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000;
  Value moved = b.add(bits(scaled), i(one - rootOfHalf));
  Value exponent = b.sub(sar(moved, i(52)), b.select(isTiny, i(1023 + 54), i(1023)));
  e = arith::SIToFPOp::create(b, type(), exponent);
  Value m = fromBits(b.add(band(moved, i(0xfffffffffffff)), i(rootOfHalf)));
  return sub(m, c(1));
}

/// 2/(2k + first) for k from 0, highest first: the series of 2 artanh.
static SmallVector<double> artanhTerms(int first, int count) {
  SmallVector<double> terms;
  for (int k = count - 1; k >= 0; --k)
    terms.push_back(2.0 / (2 * k + first));
  return terms;
}

Value F64::log(Value x, PairOfConstants perNatural, PairOfConstants perDoubling, Value more) {
  Value e, f = splitLog(x, e);
  // log(1 + f) = f − f²/2 + s · (f²/2 + R), with s = f / (2 + f) and 2 artanh s = 2 s + s · R.
  Value s = quotient(f, add(f, c(2))), z = mul(s, s), half = mul(f, c(0.5));
  Value rest = mul(z, poly(z, artanhTerms(3, 11)));
  Pair square = product(f, half);
  Pair start = sumOrdered(f, neg(square.high));
  Value low = add(sub(start.low, square.low), mul(s, add(square.high, rest)));
  Pair natural = sumOrdered(start.high, low);
  if (more)
    natural = sum(natural.high, add(natural.low, more));
  if (perNatural.high != 1)
    natural = product(natural, constant(perNatural));
  Pair doublings = product(e, c(perDoubling.high));
  Value small = fma(e, c(perDoubling.low), doublings.low);
  Pair whole = sum(doublings.high, natural.high);
  Value result = add(whole.high, add(whole.low, add(small, natural.low)));
  result = where(equal(x, c(infinity)), x, result);
  result = where(equal(x, c(0)), c(-infinity), result);
  Value isBad = arith::CmpFOp::create(b, CmpFPredicate::ULT, x, c(0)); // negative or NaN
  return where(isBad, c(std::numeric_limits<double>::quiet_NaN()), result);
}

Value F64::log1p(Value x) {
  // Finite, so that what 1 + x has lost is, too.
  Pair u = sum(where(equal(x, c(infinity)), c(0), x), c(1));
  // From 2⁵⁴ on nothing is lost that shows.
  Value isMiddle = less(abs(x), c(0x1p54));
  Value correction = quotient(u.low, where(isMiddle, abs(u.high), c(1)));
  correction = where(b.both(isMiddle, less(c(0), u.high)), correction, c(0));
  Value result = log(u.high, {1, 0}, ln2, correction);
  result = where(equal(x, c(infinity)), x, result);
  return where(less(abs(x), c(0x1p-54)), x, result);
}

//===-- tanh, erf ---------------------------------------------------------===//

Value F64::tanh(Value x) {
  Value a = abs(x), limited = where(less(c(22), a), c(22), a);
  Value grown = expm1(add(limited, limited)), below = add(grown, c(2));
  Value small = quotient(grown, below), large = sub(c(1), mul(c(2), reciprocal(below)));
  return withSignOf(where(less(a, c(0.5)), small, large), x);
}

Value F64::erf(Value x) {
  Value a = abs(x), limited = where(less(c(6), a), c(6), a), square = mul(limited, limited);
  // erf(x) / x − 1 in x², up to 1: off by 2⁻⁶². Interpolated at Chebyshev's points.
  Value small = poly(square, {0x1.05ffd737fb32ep-34, -0x1.389d4f2641625p-30, 0x1.f7b4bf3b13964p-27,
                              -0x1.5f1ecb6f0764cp-23, 0x1.b9df224ca4b97p-20, -0x1.f4d1e3183f7aep-17,
                              0x1.f9a321d5b8e1ep-14, -0x1.c02db3dac435fp-11, 0x1.565bcd0dbaa38p-8,
                              -0x1.b82ce31284e00p-6, 0x1.ce2f21a042b30p-4, -0x1.812746b0379e6p-2,
                              0x1.06eba8214db69p-3});
  small = fma(limited, small, limited);
  // erfc(x) · exp(x²) in (x − 3) / (x + 3), from 1 to 6: off by 2⁻⁵³ of it.
  Value t = quotient(sub(limited, c(3)), add(limited, c(3)));
  Value g = poly(t, {0x1.57a5fe2b9b75ep-20, 0x1.0f9a79cee3e31p-19, -0x1.0cb4611cc29f6p-17,
                     -0x1.af2329d757293p-17, 0x1.0cb1db32e0c9fp-14, 0x1.7b9fc8eb630e9p-15,
                     -0x1.39085a31b18abp-11, 0x1.73101ea8fe252p-11, 0x1.17c838fea5806p-8,
                     -0x1.8fa58eb5bd68fp-6, 0x1.258b13b0139fep-4, -0x1.336ffbef08cbbp-3,
                     0x1.f6ff20410599bp-3, -0x1.4e102b9cf8512p-2, 0x1.6e9827d229d2dp-3});
  Value large = fma(neg(exp(neg(square))), g, c(1));
  return withSignOf(where(less(limited, c(1)), small, large), x);
}

//===-- Powers ------------------------------------------------------------===//

Pair F64::logOfPow(Value x) {
  Value e, f = splitLog(x, e);
  // s = f / (2 + f) in two parts, then 2 s + 2/3 s³ + …: the first two terms in two parts, too.
  Pair below = sum(c(2), f);
  Value first = quotient(f, below.high);
  Value left = fma(neg(first), below.low, fma(neg(first), below.high, f));
  Pair s = sumOrdered(first, mul(left, reciprocal(below.high)));
  Pair z = product(s, s);
  Pair third = product(product(s, z), constant({0x1.5555555555555p-1, 0x1.5555555555555p-55}));
  Value rest = mul(mul(s.high, mul(z.high, z.high)), poly(z.high, artanhTerms(5, 10)));
  Pair sumOfTwo = sumOrdered(mul(s.high, c(2)), third.high);
  Value low = add(add(mul(s.low, c(2)), third.low), add(sumOfTwo.low, rest));
  Pair doublings = product(e, c(ln2.high));
  Value small = fma(e, c(ln2.low), doublings.low);
  Pair whole = sum(doublings.high, sumOfTwo.high);
  return sumOrdered(whole.high, add(whole.low, add(small, low)));
}

Value F64::powEnds(Value x, Value y, Value magnitude) {
  Value zero = c(0), one = c(1), a = abs(x), isUp = less(zero, y);
  Value isZero = equal(x, zero), isInfinite = equal(a, c(infinity));
  Value result = where(isZero, where(isUp, zero, c(infinity)), magnitude);
  result = where(isInfinite, where(isUp, c(infinity), zero), result);
  // y infinite: by whether it goes away from 1.
  Value grows = b.compare(CmpIPredicate::eq, less(one, a), isUp);
  Value ofInfinite = where(equal(a, one), one, where(grows, c(infinity), zero));
  Value isYInfinite = equal(abs(y), c(infinity));
  result = where(isYInfinite, ofInfinite, result);
  // From 2⁵³ on all numbers are even.
  Value bounded = clamp(y, -0x1p53, 0x1p53);
  Value whole = arith::FPToSIOp::create(b, b.getI64Type(), where(isNaN(y), zero, bounded));
  Value isInteger = equal(arith::SIToFPOp::create(b, type(), whole), bounded);
  Value isOdd = b.both(isInteger, b.compare(CmpIPredicate::ne, band(whole, i(1)), i(0)));
  Value isNegative = b.compare(CmpIPredicate::slt, bits(x), i(0));
  result = where(b.both(isNegative, isOdd), neg(result), result);
  Value isRoot = b.both(less(x, zero), arith::XOrIOp::create(b, isInteger, b.i1(true)));
  isRoot = b.both(isRoot, b.both(less(a, c(infinity)), less(abs(y), c(infinity))));
  Value isBad = b.either(isRoot, b.either(isNaN(x), isNaN(y)));
  result = where(isBad, c(std::numeric_limits<double>::quiet_NaN()), result);
  return where(b.either(equal(x, one), equal(y, zero)), one, result);
}

Value F64::pow(Value x, Value y) {
  // Beyond 2⁶⁶ every power but of 1 over- or underflows.
  Pair natural = logOfPow(abs(x));
  Value bounded = clamp(y, -0x1p66, 0x1p66);
  Pair exponent = product(bounded, natural.high);
  exponent = sumOrdered(exponent.high, fma(bounded, natural.low, exponent.low));
  Value high = clamp(exponent.high, -760, 760);
  Value isPlain = equal(high, exponent.high);
  // 760 is beyond e's 746: the result is 0 or infinite.
  Value magnitude = expOf({clamp(high, -746, 710), where(isPlain, exponent.low, c(0))});
  return powEnds(x, y, magnitude);
}

Value F64::powForF32(Value x, Value y) {
  Value exponent = mul(y, log(abs(x), log2OfE, {1, 0}));
  return powEnds(x, y, exp2(exponent));
}

//===-- Trigonometry ------------------------------------------------------===//

/// Where the angle is taken by multiples of π/2 in three parts; others go bit by bit.
static constexpr double mostPlainAngle = 0x1p20;

SmallVector<Value, 3> F64::wordsOfTwoOverPi(Value first) {
  // The bits behind the point of 2/π, after one word of zeros.
  static constexpr uint64_t words[] = {
      0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
      0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
      0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
      0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
  constexpr StringLiteral name = "tile_two_over_pi";
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto table = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!table) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    SmallVector<int64_t> signedWords(std::begin(words), std::end(words));
    auto type = LLVM::LLVMArrayType::get(b.getI64Type(), std::size(words));
    table = LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                   b.getI64TensorAttr(signedWords), /*alignment=*/8);
  }
  Value address = LLVM::AddressOfOp::create(b, table);
  // The first bit's word, and three after it.
  Value word = shr(first, i(6)), shift = band(first, i(63)), back = b.sub(i(63), shift);
  SmallVector<Value, 4> read;
  for (int n = 0; n < 4; ++n) {
    Value at = LLVM::GEPOp::create(b, address.getType(), b.getI64Type(), address,
                                   ValueRange{b.add(word, i(n))});
    read.push_back(b.load(b.getI64Type(), at, /*isInvariant=*/true));
  }
  SmallVector<Value, 3> result;
  for (int n = 0; n < 3; ++n)
    result.push_back(bor(shl(read[n], shift), shr(shr(read[n + 1], i(1)), back)));
  return result;
}

F64::Angle F64::reduceHuge(Value x) {
  // |x| = m · 2ᵉ with an m of 53 bits. Bits of 2/π of a weight of 2²⁻ᵉ and more make multiples of
  // 4; the next 192 are enough (M. H. Payne, R. N. Hanek, "Radian reduction for trigonometric
  // functions", 1983).
  Value pattern = bits(x);
  Value mantissa = bor(band(pattern, i(0xfffffffffffff)), i(uint64_t(1) << 52));
  Value exponent = b.sub(band(shr(pattern, i(52)), i(2047)), i(1075));
  SmallVector<Value, 3> words = wordsOfTwoOverPi(b.add(exponent, i(64 - 2)));
  auto high = [&](Value y) -> Value {
    Type wide = b.getIntegerType(128);
    Value p = arith::MulIOp::create(b, arith::ExtUIOp::create(b, wide, mantissa),
                                    arith::ExtUIOp::create(b, wide, y));
    Value moved = arith::ShRUIOp::create(b, p, b.integer(wide, 64));
    return arith::TruncIOp::create(b, b.getI64Type(), moved);
  };
  Value middle = b.add(b.mul(mantissa, words[1]), high(words[2]));
  Value carry =
      b.fold<arith::ExtUIOp>(b.getI64Type(), b.compare(CmpIPredicate::ult, middle, high(words[2])));
  Value top = b.add(b.add(b.mul(mantissa, words[0]), high(words[1])), carry);
  // A fraction of 4: quarters of it are quadrants.
  Value quadrant = shr(b.add(top, i(uint64_t(1) << 61)), i(62));
  Value rest = b.sub(top, shl(quadrant, i(62)));
  // The rest in units of 2⁻⁶², as three floats.
  Value coarse = arith::SIToFPOp::create(b, type(), rest);
  Value left = b.sub(rest, arith::FPToSIOp::create(b, b.getI64Type(), coarse));
  Value fine = fma(arith::UIToFPOp::create(b, type(), middle), c(0x1p-64),
                   arith::SIToFPOp::create(b, type(), left));
  Pair units = sum(coarse, fine);
  Pair angle = product(units, constant(halfPi));
  angle = {mul(angle.high, c(0x1p-62)), mul(angle.low, c(0x1p-62))};
  Value isNegative = less(x, c(0));
  return {b.select(isNegative, b.sub(i(0), quadrant), quadrant),
          {where(isNegative, neg(angle.high), angle.high),
           where(isNegative, neg(angle.low), angle.low)}};
}

F64::Angle F64::reduce(Value x) {
  auto [n, count] = nearest(mul(x, c(0.6366197723675814)));
  Value r = fma(neg(n), c(halfPi.high), x); // exact
  Pair second = product(n, c(halfPi.low));
  Pair start = sum(r, neg(second.high));
  Value low = fma(neg(n), c(halfPiRest), sub(start.low, second.low));
  Pair rest = sumOrdered(start.high, low);
  CodeBuilder::Values usual = {count, rest.high, rest.low};
  auto huge = [&](ValueRange argument) -> CodeBuilder::Values {
    Angle angle = reduceHuge(argument[0]);
    return {angle.quadrant, angle.rest.high, angle.rest.low};
  };
  Value magnitude = abs(x);
  Value isHuge = b.both(less(c(mostPlainAngle), magnitude), less(magnitude, c(infinity)));
  CodeBuilder::Values all;
  if (target.hasRareCalls) {
    all = b.branch(
        isHuge, [&] { return callApart(b, "tile_reduce_angle_f64", x, huge); },
        [&] { return usual; });
  } else {
    // What isn't huge needs an exponent that is in the table.
    Value bounded = where(isHuge, x, c(2 * mostPlainAngle));
    for (auto [large, small] : llvm::zip(huge(bounded), usual))
      all.push_back(b.select(isHuge, large, small));
  }
  return {all[0], {all[1], all[2]}};
}

Value F64::trig(Value x, Trig which) {
  auto [quadrant, rest] = reduce(x);
  Value y = rest.high, z = mul(y, y), half = mul(z, c(0.5));
  // The series of sine from y³ and of cosine from y⁴ on; signs by turns.
  auto terms = [&](int first, int last) {
    SmallVector<double> result;
    for (int n = last; n >= first; n -= 2) {
      double factorial = 1;
      for (int k = 2; k <= n; ++k)
        factorial *= k;
      result.push_back((n / 2 % 2 ? -1 : 1) / factorial);
    }
    return result;
  };
  Value s = poly(z, terms(3, 17)), k = poly(z, terms(4, 18));
  Value sine = add(y, fma(mul(y, z), s, fma(neg(rest.low), half, rest.low)));
  Value whole = sub(c(1), half);
  Value lost = sub(sub(c(1), whole), half);
  Value cosine = add(whole, fma(mul(z, z), k, fma(neg(y), rest.low, lost)));
  Value isOdd = b.compare(CmpIPredicate::ne, band(quadrant, i(1)), i(0));
  if (which == Trig::Tan) {
    Value ratio = div(where(isOdd, cosine, sine), where(isOdd, sine, cosine));
    return where(equal(x, c(0)), x, where(isOdd, neg(ratio), ratio));
  }
  Value turned = which == Trig::Cos ? b.add(quadrant, i(1)) : quadrant;
  Value picksCosine = b.compare(CmpIPredicate::ne, band(turned, i(1)), i(0));
  Value result = where(picksCosine, cosine, sine);
  Value isBelow = b.compare(CmpIPredicate::ne, band(turned, i(2)), i(0));
  result = where(isBelow, neg(result), result);
  return which == Trig::Sin ? where(equal(x, c(0)), x, result) : result;
}

//===-- Which there are ---------------------------------------------------===//

bool tile::codegen::hasExpansion(Operation *op) {
  return isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log2Op, math::Log10Op,
             math::Log1pOp, math::TanhOp, math::ErfOp, math::SinOp, math::CosOp, math::TanOp,
             math::PowFOp>(op);
}

Value tile::codegen::expandInF64(CodeBuilder &b, const TargetInfo &target, Operation *op,
                                 ArrayRef<Value> operands) {
  F64 f(b, target);
  Value x = operands[0];
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return f.exp(x); })
      .Case([&](math::Exp2Op) { return f.exp2(x); })
      .Case([&](math::ExpM1Op) { return f.expm1(x); })
      .Case([&](math::LogOp) {
        return f.log(x, {1, 0}, ln2);
      })
      .Case([&](math::Log2Op) {
        return f.log(x, log2OfE, {1, 0});
      })
      .Case([&](math::Log10Op) { return f.log(x, log10OfE, log10Of2); })
      .Case([&](math::Log1pOp) { return f.log1p(x); })
      .Case([&](math::TanhOp) { return f.tanh(x); })
      .Case([&](math::ErfOp) { return f.erf(x); })
      .Case([&](math::SinOp) { return f.trig(x, F64::Trig::Sin); })
      .Case([&](math::CosOp) { return f.trig(x, F64::Trig::Cos); })
      .Case([&](math::TanOp) { return f.trig(x, F64::Trig::Tan); })
      .Case([&](math::PowFOp) { return f.pow(x, operands[1]); })
      .Default([](Operation *) { return Value(); });
}

Value tile::codegen::expandPowF32(CodeBuilder &b, Value x, Value y) {
  Type f64 = b.getF64Type();
  TargetInfo target;
  Value wide =
      F64(b, target).powForF32(arith::ExtFOp::create(b, f64, x), arith::ExtFOp::create(b, f64, y));
  return arith::TruncFOp::create(b, b.getF32Type(), wide);
}
