//===- Math.cpp - functions and integer division, expanded ----------------===//
//
// The f32 functions are polynomials after a reduction of the argument, the same
// on scalars and vectors, so that a tail gives the bits that a vector body does.
// tests/codegen/MathTest.cpp measures their errors. Other types and rarer
// functions call the C library, lane by lane.
//
//===----------------------------------------------------------------------===//

#include "codegen/Elementwise.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace {
/// f32 arithmetic on scalars or vectors, written short.
class F32 {
public:
  F32(CodeBuilder &b, const TargetInfo &target, int width) : b(b), target(target), width(width) {}

  Value c(double value) { return b.number(type(), value); }
  Value bitsC(uint32_t value) { return b.integer(intType(), static_cast<int32_t>(value)); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  /// x · y + z, in one rounding where the target can.
  Value fma(Value x, Value y, Value z) {
    return target.hasFma ? Value(math::FmaOp::create(b, x, y, z)) : add(mul(x, y), z);
  }
  Value less(Value x, Value y) { return arith::CmpFOp::create(b, CmpFPredicate::OLT, x, y); }
  Value equal(Value x, Value y) { return arith::CmpFOp::create(b, CmpFPredicate::OEQ, x, y); }
  Value isNaN(Value x) { return arith::CmpFOp::create(b, CmpFPredicate::UNO, x, x); }
  Value where(Value condition, Value x, Value y) { return b.select(condition, x, y); }
  Value abs(Value x) { return math::AbsFOp::create(b, x); }
  Value bits(Value x) { return b.bitcast(x, intType()); }
  Value fromBits(Value x) { return b.bitcast(x, type()); }
  Value band(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value bor(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value bxor(Value x, Value y) { return arith::XOrIOp::create(b, x, y); }
  Value shl(Value x, int n) { return arith::ShLIOp::create(b, x, bitsC(n)); }
  Value sar(Value x, int n) { return arith::ShRSIOp::create(b, x, bitsC(n)); }
  Value withSignOf(Value magnitude, Value x) {
    return fromBits(bor(bits(magnitude), band(bits(x), bitsC(0x80000000))));
  }
  /// Highest power first.
  Value poly(Value x, ArrayRef<double> coefficients) {
    Value sum;
    for (double coefficient : coefficients)
      sum = sum ? fma(sum, x, c(coefficient)) : c(coefficient);
    return sum;
  }
  /// The nearest integer of x · y below 2²², as a float and as bits.
  std::pair<Value, Value> nearest(Value x, double y) {
    Value magic = c(12582912.0); // 1.5 · 2²³
    Value moved = fma(x, c(y), magic);
    return {sub(moved, magic), b.sub(bits(moved), bits(magic))};
  }
  /// x · 2ⁿ for |n| ≤ 252, rounding once at the end; `rounded` is n as a float.
  Value scale(Value x, Value n, Value rounded) {
    if (target.vectorBits == 512 && width >= 4)
      return scaleByInstruction(x, rounded);
    Value half = sar(n, 1), rest = b.sub(n, half);
    auto power = [&](Value e) { return fromBits(shl(b.add(e, bitsC(127)), 23)); };
    return mul(mul(x, power(half)), power(rest));
  }
  /// 1 / x for 1 ≤ x < 2¹⁰⁰ to about 25 bits, without a division: a first guess from the bits of x
  /// to 5 %, then one step that triples the digits and one that doubles them.
  Value reciprocal(Value x) {
    Value guess = fromBits(b.sub(bitsC(0x7ef311c3), bits(x)));
    auto missing = [&](Value r) { return fma(sub(c(0), x), r, c(1)); };
    Value e = missing(guess);
    Value r = fma(fma(e, e, e), guess, guess);
    return fma(missing(r), r, r);
  }
  Value scaleByInstruction(Value x, Value n) {
    Value all = b.integer(b.getIntegerType(std::max(8, width)), -1);
    CodeBuilder::Values operands = {x, n, x, all}; // the mask takes all
    if (width == 16)
      operands.push_back(b.integer(b.getI32Type(), 4)); // rounding as elsewhere
    std::string name = "llvm.x86.avx512.mask.scalef.ps." + std::to_string(32 * width);
    return LLVM::CallIntrinsicOp::create(b, type(), b.getStringAttr(name), operands).getResult(0);
  }
  Value clamp(Value x, double low, double high) { // NaN stays
    x = where(less(x, c(low)), c(low), x);
    return where(less(c(high), x), c(high), x);
  }

  Value exp(Value x);
  Value exp2(Value x);
  Value expm1(Value x);
  /// log(x) · (hi + lo): a logarithm of any base.
  Value log(Value x, double perNatural, double perDoubling);
  Value log1p(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  enum class Trig { Sin, Cos, Tan };
  Value trig(Value x, Trig which);

private:
  /// Multiples of π/2 (modulo 4, as i64) and what is left, in f64.
  struct Angle {
    Value quadrant, rest;
  };
  Angle reduceHuge(Value x);
  /// The quadrant, as i32, and the rest.
  std::pair<Value, Value> reduceInF64(Value x);
  std::pair<Value, Value> reduceInF32(Value x);
  Type type() { return lanesOf(b.getF32Type(), width); }
  Type intType() { return lanesOf(b.getI32Type(), width); }
  /// (eʳ − 1 − r) / r² for |r| ≤ ln 2 / 2.
  Value expTail(Value r) {
    return poly(r, {0.00019891981314, 0.00139345419283, 0.00833331002423, 0.0416664568097,
                    0.166666666825, 0.500000001429});
  }
  std::pair<Value, Value> reduceExp(Value x, Value &n) {
    auto [rounded, count] = nearest(x, 1.4426950408889634);
    n = count;
    Value r = fma(rounded, c(-0.693145751953125), x); // 17 bits of ln 2: exact products
    return {fma(rounded, c(-1.4286068203094172e-6), r), rounded};
  }
  CodeBuilder &b;
  const TargetInfo &target;
  int width;
};
} // namespace

//===-- Exponentials ------------------------------------------------------===//

Value F32::exp(Value x) {
  Value n;
  auto [r, rounded] = reduceExp(clamp(x, -104, 89), n);
  Value p = add(fma(mul(r, r), expTail(r), r), c(1));
  return scale(p, n, rounded);
}

Value F32::exp2(Value x) {
  x = clamp(x, -151, 129);
  auto [rounded, n] = nearest(x, 1);
  Value r = sub(x, rounded);
  Value p = poly(r, {1.52982212672e-5, 0.000154626107578, 0.001333350012, 0.00961805373433,
                     0.0555041088498, 0.240226509362, 0.69314718056});
  return scale(fma(p, r, c(1)), n, rounded);
}

Value F32::expm1(Value x) {
  Value n;
  Value limited = clamp(x, -40, 89);
  Value r = reduceExp(limited, n).first;
  Value p = fma(mul(r, r), expTail(r), r);
  // 2ⁿ p + (2ⁿ − 1), with halves so that 2¹²⁸ does not overflow before its time.
  Value half = fromBits(shl(b.add(n, bitsC(126)), 23));
  Value result = mul(fma(p, half, sub(half, c(0.5))), c(2));
  return where(equal(x, c(0)), x, result);
}

//===-- Logarithms --------------------------------------------------------===//

Value F32::log(Value x, double perNatural, double perDoubling) {
  // Subnormals first times 2²³.
  Value isTiny = less(x, c(std::ldexp(1.0, -126)));
  Value scaled = where(isTiny, mul(x, c(8388608.0)), x);
  Value moved = b.add(bits(scaled), bitsC(0x3f800000 - 0x3f3504f3));
  Value e = b.sub(sar(moved, 23), b.select(isTiny, bitsC(127 + 23), bitsC(127)));
  Value m = fromBits(b.add(band(moved, bitsC(0x7fffff)), bitsC(0x3f3504f3)));
  Value f = sub(m, c(1)), f2 = mul(f, f);
  Value exponent = arith::SIToFPOp::create(b, type(), e);
  Value p =
      poly(f, {0.0697161147145, -0.114797338466, 0.116854199235, -0.124256873315, 0.142490576457,
               -0.166678023195, 0.200007157489, -0.24999996958, 0.3333333118});
  Value tail = fma(mul(p, f), f2, mul(f2, c(-0.5))); // log(1 + f) − f
  // Parts with few bits, so that their products are exact.
  auto coarse = [](double value) {
    return static_cast<double>(
        llvm::bit_cast<float>(llvm::bit_cast<uint32_t>(static_cast<float>(value)) & 0xfffff000u));
  };
  double doublingHigh = coarse(perDoubling), naturalHigh = coarse(perNatural);
  Value result;
  if (perNatural == 1) {
    result = fma(exponent, c(perDoubling - doublingHigh), tail);
    result = add(fma(exponent, c(doublingHigh), f), result);
  } else {
    // f in two parts as well: the leading product decides near 1.
    Value fHigh = fromBits(band(bits(f), bitsC(0xfffff000)));
    Value fLow = add(sub(f, fHigh), tail);
    result = fma(fLow, c(perNatural), mul(f, c(perNatural - naturalHigh)));
    result = fma(exponent, c(perDoubling - doublingHigh), result);
    Value high = mul(fHigh, c(naturalHigh));
    Value whole = fma(exponent, c(doublingHigh), high);
    Value lost = sub(high, sub(whole, mul(exponent, c(doublingHigh))));
    result = add(whole, add(result, where(equal(exponent, c(0)), c(0), lost)));
  }
  double infinity = std::numeric_limits<double>::infinity();
  result = where(equal(x, c(infinity)), x, result);
  result = where(equal(x, c(0)), c(-infinity), result);
  Value isBad = arith::CmpFOp::create(b, CmpFPredicate::ULT, x, c(0)); // negative or NaN
  return where(isBad, c(std::numeric_limits<double>::quiet_NaN()), result);
}

Value F32::log1p(Value x) {
  Value u = add(x, c(1));
  // What 1 + x has lost, exactly.
  Value isLarge = less(c(1), x);
  Value larger = where(isLarge, x, c(1)), smaller = where(isLarge, c(1), x);
  Value lost = sub(smaller, sub(u, larger));
  Value correction = div(lost, u);
  Value result = add(log(u, 1, 0.6931471805599453), correction);
  double infinity = std::numeric_limits<double>::infinity();
  result = where(equal(x, c(infinity)), x, result);
  result = where(equal(x, c(-1)), c(-infinity), result);
  return where(less(abs(x), c(std::ldexp(1.0, -25))), x, result);
}

//===-- tanh, erf ---------------------------------------------------------===//

Value F32::tanh(Value x) {
  Value a = abs(x), square = mul(x, x);
  Value small = fma(mul(poly(square, tanhTerms), square), a, a);
  Value limited = where(less(c(10), a), c(10), a);
  Value large = fma(reciprocal(add(exp(add(limited, limited)), c(1))), c(-2), c(1));
  return withSignOf(where(less(a, c(smallTanh)), small, large), x);
}

Value F32::erf(Value x) {
  Value a = abs(x), square = mul(x, x);
  Value p = poly(square, {8.33471861521e-5, -0.000813470933212, 0.00520036858686, -0.0268591514724,
                          0.112836915197, -0.376126335171, 0.12837916662});
  Value small = fma(p, a, a);
  Value limited = where(less(c(4), a), c(4), a);
  Value q = poly(limited, {-1.66059633836e-6, 4.64933627066e-5, -0.000600225017862,
                           0.00477437745893, -0.0264594151754, 0.110140559383, 0.631769514483,
                           1.13026178344, -0.000325905361998});
  Value large = sub(c(1), exp(sub(c(0), q)));
  return withSignOf(where(less(a, c(0.925)), small, large), x);
}

//===-- Trigonometry ------------------------------------------------------===//

F32::Angle F32::reduceHuge(Value x) {
  // |x| = m · 2ᵉ with a 24-bit m. Only the bits of 2/π from weight 2¹⁻ᵉ on matter
  // for |x| · 2/π modulo 4: 96 of them, as a fraction, times m, modulo 1.
  static constexpr uint64_t words[] = {0xa2f9836e4e441529, 0x4e441529fc2757d1, 0xfc2757d1f534ddc0,
                                       0xf534ddc0db629599, 0xdb6295993c439041, 0x3c439041fe5163ab};
  Type i64 = lanesOf(b.getI64Type(), width), f64 = lanesOf(b.getF64Type(), width);
  auto c64 = [&](uint64_t value) { return b.integer(i64, static_cast<int64_t>(value)); };
  auto shiftLeft = [&](Value v, Value by) { return arith::ShLIOp::create(b, v, by); };
  auto shiftRight = [&](Value v, Value by) { return arith::ShRUIOp::create(b, v, by); };
  Value pattern = arith::ExtUIOp::create(b, i64, bits(x));
  Value mantissa = bor(band(pattern, c64(0x7fffff)), c64(0x800000));
  Value exponent = band(shiftRight(pattern, c64(23)), c64(255));
  Value skipped = b.sub(exponent, c64(150 + 2));
  Value word = shiftRight(band(skipped, c64(127)), c64(5)), shift = band(skipped, c64(31));
  Value high = c64(words[0]), low = c64(words[2]);
  for (int n = 1; n < 4; ++n) {
    Value isHere = b.compare(CmpIPredicate::eq, word, c64(n));
    high = b.select(isHere, c64(words[n]), high);
    low = b.select(isHere, c64(words[n + 2]), low);
  }
  Value carried = shiftRight(shiftRight(low, c64(1)), b.sub(c64(63), shift));
  Value window = bor(shiftLeft(high, shift), carried);
  Value rest = shiftRight(shiftLeft(low, shift), c64(32));
  Value fraction = b.add(b.mul(mantissa, window), shiftRight(b.mul(mantissa, rest), c64(32)));
  // Quarters of the fraction are quadrants.
  Value quadrant = shiftRight(b.add(fraction, c64(uint64_t(1) << 61)), c64(62));
  Value offset = b.sub(fraction, shiftLeft(quadrant, c64(62)));
  Value r = arith::MulFOp::create(b, arith::SIToFPOp::create(b, f64, offset),
                                  b.number(f64, std::ldexp(1.5707963267948966, -62)));
  Value isNegative = less(x, c(0));
  return {b.select(isNegative, b.sub(c64(0), quadrant), quadrant),
          b.select(isNegative, arith::NegFOp::create(b, r), r)};
}

std::pair<Value, Value> F32::reduceInF64(Value x) {
  Type f64 = lanesOf(b.getF64Type(), width), i64 = lanesOf(b.getI64Type(), width);
  auto d = [&](double value) { return b.number(f64, value); };
  Value wide = arith::ExtFOp::create(b, f64, x);
  Value magic = d(6755399441055744.0); // 1.5 · 2⁵²
  Value moved =
      arith::AddFOp::create(b, arith::MulFOp::create(b, wide, d(0.6366197723675814)), magic);
  Value n = arith::SubFOp::create(b, moved, magic);
  // π/2 in parts of 24 bits: their products with n are exact.
  Value r = wide;
  for (double part :
       {1.570796251296997, 7.549789415861596e-08, 5.390302529957765e-15, 3.2820035428735005e-22}) {
    Value product = arith::MulFOp::create(b, n, d(part));
    r = arith::SubFOp::create(b, r, product);
  }
  Value magnitude = abs(x);
  Value isHuge = b.both(less(c(0x1p28), magnitude),
                        less(magnitude, c(std::numeric_limits<double>::infinity())));
  Value quadrant = b.bitcast(moved, i64);
  auto reduceAny = [&]() -> CodeBuilder::Values {
    Angle huge = reduceHuge(x);
    return {b.select(isHuge, huge.rest, r), b.select(isHuge, huge.quadrant, quadrant)};
  };
  // They are rare, and their steps more than all others.
  auto reduced = b.mayBranch ? b.branch(b.any(isHuge), reduceAny,
                                        [&]() -> CodeBuilder::Values {
                                          return {r, quadrant};
                                        })
                             : reduceAny();
  return {arith::TruncIOp::create(b, intType(), reduced[1]),
          arith::TruncFOp::create(b, type(), reduced[0])};
}

std::pair<Value, Value> F32::reduceInF32(Value x) {
  // π/2 in three parts of 24 bits. The first step is exact, the second rounds a number that is no
  // closer to 0 than the result.
  auto [n, quadrant] = nearest(x, 0.6366197723675814);
  Value count = sub(c(0), n), r = x;
  for (double part : {0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50})
    r = fma(count, c(part), r);
  return {quadrant, r};
}

Value F32::trig(Value x, Trig which) {
  // The argument minus multiples of π/2. Threads have f32 for most of them, and f64 for the others.
  auto [quadrant, y] = target.isThread ? reduceInF32(x) : reduceInF64(x);
  if (target.isThread && !target.hasSmallAngles) {
    auto [largeQuadrant, largeRest] = reduceInF64(x);
    Value isLarge = less(c(mostF32Angle), abs(x));
    quadrant = b.select(isLarge, largeQuadrant, quadrant);
    y = where(isLarge, largeRest, y);
  }
  Value square = mul(y, y);
  Value s = poly(square, {2.72437814095e-6, -0.000198400388726, 0.00833333178522, -0.166666666636});
  Value sine = fma(mul(s, square), y, y);
  Value k = poly(square, {-2.72958308276e-7, 2.48005604299e-5, -0.00138888875973, 0.0416666666641});
  Value cosine = fma(mul(k, square), square, fma(square, c(-0.5), c(1)));
  Value isOdd = b.compare(CmpIPredicate::ne, band(quadrant, bitsC(1)), bitsC(0));
  if (which == Trig::Tan) {
    Value quotient = div(where(isOdd, cosine, sine), where(isOdd, sine, cosine));
    Value negated = fromBits(bxor(bits(quotient), bitsC(0x80000000)));
    return where(equal(x, c(0)), x, where(isOdd, negated, quotient)); // keeps the sign of a zero
  }
  Value turned = which == Trig::Cos ? b.add(quadrant, bitsC(1)) : quadrant;
  Value picksCosine = b.compare(CmpIPredicate::ne, band(turned, bitsC(1)), bitsC(0));
  Value result = where(picksCosine, cosine, sine);
  Value sign = shl(band(turned, bitsC(2)), 30);
  result = fromBits(bxor(bits(result), sign));
  return which == Trig::Sin ? where(equal(x, c(0)), x, result) : result;
}

//===-- The C library -----------------------------------------------------===//

/// True for what LLVM lowers without asking a library (or asks for rounding
/// functions only, on CPUs that lack them).
static bool isNative(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::FloorOp, math::CeilOp, math::RoundOp,
             math::RoundEvenOp, math::TruncOp, math::SqrtOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp>(op);
}

/// Calls a function of the C library once a lane.
static Value callLibrary(CodeBuilder &b, StringRef name, ArrayRef<Value> operands) {
  Type element = elementOf(operands[0].getType());
  std::string symbol = (name + (element.isF32() ? "f" : "")).str();
  Operation *function = b.getInsertionBlock()->getParentOp();
  auto module = function->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    SmallVector<Type> types(operands.size(), element);
    callee = LLVM::LLVMFuncOp::create(b, symbol, LLVM::LLVMFunctionType::get(element, types));
    // Without side effects, so that unused and repeated calls go away.
    SmallVector<LLVM::ModRefInfo> none(6, LLVM::ModRefInfo::NoModRef);
    callee.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(b.getContext(), none));
  }
  int width = widthOf(operands[0]);
  Value result = width == 1 ? Value() : Value(LLVM::PoisonOp::create(b, operands[0].getType()));
  for (int lane = 0; lane < width; ++lane) {
    SmallVector<Value> scalars =
        llvm::map_to_vector(operands, [&](Value operand) { return b.lane(operand, lane); });
    Value value = LLVM::CallOp::create(b, callee, scalars).getResult();
    result = width == 1 ? value : b.insert(result, value, lane);
  }
  return result;
}

static Value expandMath(CodeBuilder &b, const TargetInfo &target, Operation *op,
                        ArrayRef<Value> operands) {
  if (isNative(op))
    return {};
  Type element = elementOf(operands[0].getType());
  if (!isa<FloatType>(element))
    return {};
  Value x = operands[0];
  if (isa<math::RsqrtOp>(op))
    return arith::DivFOp::create(b, b.number(x.getType(), 1), math::SqrtOp::create(b, x));
  if (element.isF32()) {
    F32 f(b, target, widthOf(x));
    Value result =
        llvm::TypeSwitch<Operation *, Value>(op)
            .Case([&](math::ExpOp) { return f.exp(x); })
            .Case([&](math::Exp2Op) { return f.exp2(x); })
            .Case([&](math::ExpM1Op) { return f.expm1(x); })
            .Case([&](math::LogOp) { return f.log(x, 1, 0.6931471805599453); })
            .Case([&](math::Log2Op) { return f.log(x, 1.4426950408889634, 1); })
            .Case([&](math::Log10Op) { return f.log(x, 0.4342944819032518, 0.3010299956639812); })
            .Case([&](math::Log1pOp) { return f.log1p(x); })
            .Case([&](math::TanhOp) { return f.tanh(x); })
            .Case([&](math::ErfOp) { return f.erf(x); })
            .Case([&](math::SinOp) { return f.trig(x, F32::Trig::Sin); })
            .Case([&](math::CosOp) { return f.trig(x, F32::Trig::Cos); })
            .Case([&](math::TanOp) { return f.trig(x, F32::Trig::Tan); })
            .Default([](Operation *) { return Value(); });
    if (result)
      return result;
  }
  if (target.isThread && hasExpansion(op))
    return element.isF64() ? expandInF64(b, target, op, operands) : expandPowF32(b, x, operands[1]);
  StringRef name = op->getName().stripDialect();
  return callLibrary(b, name == "powf" ? "pow" : name, operands);
}

//===-- Integers ----------------------------------------------------------===//

/// (quotient, remainder), defined for all inputs.
static std::pair<Value, Value> divide(CodeBuilder &b, Value x, Value y, bool isUnsigned,
                                      bool truncates) {
  Type type = x.getType();
  Value zero = b.integer(type, 0), one = b.integer(type, 1), minusOne = b.integer(type, -1);
  Value isZero = b.compare(CmpIPredicate::eq, y, zero);
  if (isUnsigned) {
    Value safe = b.select(isZero, one, y);
    Value quotient = b.fold<arith::DivUIOp>(x, safe);
    Value rest = b.sub(x, b.mul(quotient, safe));
    return {b.select(isZero, zero, quotient), b.select(isZero, x, rest)};
  }
  // The divisors 0 and −1 can trap: 1 takes their place.
  Value isMinusOne = b.compare(CmpIPredicate::eq, y, minusOne);
  Value safe = b.select(b.either(isZero, isMinusOne), one, y);
  Value quotient = b.fold<arith::DivSIOp>(x, safe);
  Value rest = b.sub(x, b.mul(quotient, safe));
  if (!truncates) {
    Value differs = b.compare(CmpIPredicate::slt, b.fold<arith::XOrIOp>(rest, safe), zero);
    Value below = b.both(differs, b.compare(CmpIPredicate::ne, rest, zero));
    quotient = b.select(below, b.sub(quotient, one), quotient);
    rest = b.select(below, b.add(rest, safe), rest);
  }
  quotient = b.select(isMinusOne, b.sub(zero, x), quotient);
  return {b.select(isZero, zero, quotient), b.select(isZero, x, rest)};
}

Value tile::codegen::expandFunction(CodeBuilder &b, const TargetInfo &target, Operation *op,
                                    ArrayRef<Value> operands) {
  if (auto div = dyn_cast<DivOp>(op))
    return divide(b, operands[0], operands[1], div.getIsUnsigned(), div.getTruncates()).first;
  if (auto rem = dyn_cast<RemOp>(op))
    return divide(b, operands[0], operands[1], rem.getIsUnsigned(), rem.getTruncates()).second;
  if (auto convert = dyn_cast<FpToIntOp>(op)) {
    Type element = getElementTypeOrSelf(convert.getResult().getType());
    Type type = lanesOf(element, widthOf(operands[0]));
    StringRef name = convert.getIsUnsigned() ? "llvm.fptoui.sat" : "llvm.fptosi.sat";
    return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), operands).getResult(0);
  }
  if (auto philox = dyn_cast<PhiloxOp>(op))
    return emitPhilox(b, philox, operands);
  if (isa<RoundTf32Op>(op))
    return roundToTf32(b, operands[0]);
  if (isa<math::MathDialect>(op->getDialect()))
    return expandMath(b, target, op, operands);
  return {};
}
