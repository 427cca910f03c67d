#include "tests/fuzz/kernels/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;
using ir::CombineKind;

static constexpr double infinity = std::numeric_limits<double>::infinity();
using Operands = ArrayRef<NumberSet>;
using Outcome = std::optional<NumberSet>;

//===-- Float arithmetic --------------------------------------------------===//

static bool isPlain(const NumberSet &x) { return x.fold.kind == Fold::None; }

/// From the results at the ends of the operands.
static NumberSet fromEnds(DType type, Operands operands, ArrayRef<double> ends) {
  NumberSet result = NumberSet::interval(type, infinity, -infinity);
  for (double end : ends) {
    if (std::isnan(end))
      return NumberSet::any(type);
    result.lo = std::min(result.lo, end);
    result.hi = std::max(result.hi, end);
    result.anyZero |= end == 0 && std::signbit(end) != std::signbit(ends[0]);
  }
  for (const NumberSet &operand : operands) {
    result.mayBeNaN |= operand.mayBeNaN;
    result.anyZero |= operand.anyZero;
  }
  return result;
}

/// One correctly rounded operation.
template <typename FunctionT>
static NumberSet rounded(DType type, Operands v, FunctionT function) {
  auto at = [&](double x, double y) { return roundTo(type, function(x, y)); };
  const NumberSet &a = v[0], &b = v[1];
  if (a.isNaN() || b.isNaN())
    return NumberSet::nan(type);
  if (a.isPoint() && b.isPoint()) {
    NumberSet result = NumberSet::ofFloat(type, at(a.lo, b.lo));
    result.anyZero = result.lo == 0 && (a.anyZero || b.anyZero);
    return result;
  }
  return fromEnds(type, v, {at(a.lo, b.lo), at(a.lo, b.hi), at(a.hi, b.lo), at(a.hi, b.hi)});
}

static NumberSet negated(const NumberSet &x) {
  NumberSet result = x;
  if (!x.isNaN()) {
    result.lo = -x.hi;
    result.hi = -x.lo;
  }
  return result;
}

static NumberSet sum(DType type, const NumberSet &a, const NumberSet &b) {
  if (a.fold.kind == Fold::Sum || b.fold.kind == Fold::Sum) {
    SumOf sum(type);
    sum.add(a);
    sum.add(b);
    return sum.result();
  }
  return rounded(type, {a, b}, [](double x, double y) { return x + y; });
}

static NumberSet product(DType type, const NumberSet &a, const NumberSet &b) {
  if (a.fold.kind == Fold::Product || b.fold.kind == Fold::Product) {
    ProductOf product(type);
    product.multiply(a);
    product.multiply(b);
    return product.result();
  }
  if (!a.isNaN() && !b.isNaN() && !(a.isPoint() && b.isPoint()) &&
      ((a.contains(0) && b.hasInfinity()) || (b.contains(0) && a.hasInfinity())))
    return NumberSet::any(type);
  NumberSet result = rounded(type, {a, b}, [](double x, double y) { return x * y; });
  if (isPlain(a) && isPlain(b))
    return result;
  // A partial sum times a factor: each block's part is rounded.
  SumOf scaled(type);
  scaled.addProduct(a, b);
  NumberSet bound = scaled.result();
  result.fold = bound.fold;
  if (bound.fold.kind == Fold::None)
    return bound.isAny() ? bound : result;
  return result;
}

static NumberSet quotient(DType type, const NumberSet &a, const NumberSet &b) {
  bool bothPoints = a.isPoint() && b.isPoint();
  if (!a.isNaN() && !b.isNaN()) {
    if (bothPoints && b.lo == 0 && b.anyZero)
      return NumberSet::any(type);
    if (!bothPoints && (b.contains(0) || (a.hasInfinity() && b.hasInfinity())))
      return NumberSet::any(type);
  }
  return rounded(type, {a, b}, [](double x, double y) { return x / y; });
}

static double fusedMultiplyAdd(DType type, double a, double b, double c) {
  return type == DType::F64
             ? std::fma(a, b, c)
             : std::fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
}

static NumberSet multiplyAdd(DType type, const NumberSet &a, const NumberSet &b,
                             const NumberSet &c) {
  if (a.isNaN() || b.isNaN() || c.isNaN())
    return NumberSet::nan(type);
  if (!isPlain(a) || !isPlain(b) || !isPlain(c)) {
    SumOf sum(type);
    sum.add(c);
    sum.addProduct(a, b);
    return sum.result();
  }
  auto at = [&](double x, double y, double z) { return fusedMultiplyAdd(type, x, y, z); };
  if (a.isPoint() && b.isPoint() && c.isPoint()) {
    NumberSet result = NumberSet::ofFloat(type, at(a.lo, b.lo, c.lo));
    result.anyZero = result.lo == 0 && (a.anyZero || b.anyZero || c.anyZero);
    return result;
  }
  if ((a.contains(0) && b.hasInfinity()) || (b.contains(0) && a.hasInfinity()))
    return NumberSet::any(type);
  SmallVector<double> ends;
  for (double x : {a.lo, a.hi})
    for (double y : {b.lo, b.hi})
      for (double z : {c.lo, c.hi})
        ends.push_back(at(x, y, z));
  return fromEnds(type, {a, b, c}, ends);
}

/// NaN propagates, and −0 < +0.
static double maximum(double x, double y) {
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

NumberSet fuzz::extreme(CombineKind kind, const NumberSet &x, const NumberSet &y) {
  bool isMax = kind == CombineKind::max || kind == CombineKind::fmax;
  bool ignoresNaN = kind == CombineKind::fmax || kind == CombineKind::fmin;
  NumberSet a = isMax ? x : negated(x), b = isMax ? y : negated(y);
  if (a.isNaN() || b.isNaN()) {
    if (!ignoresNaN)
      return NumberSet::nan(x.type);
    NumberSet other = a.isNaN() ? y : x;
    other.fold = {};
    return other;
  }
  NumberSet result = NumberSet::interval(x.type, maximum(a.lo, b.lo), maximum(a.hi, b.hi));
  result.anyZero = a.anyZero || b.anyZero;
  if (!ignoresNaN) {
    result.mayBeNaN = a.mayBeNaN || b.mayBeNaN;
  } else {
    // The one that may be NaN may be missing.
    result.mayBeNaN = a.mayBeNaN && b.mayBeNaN;
    if (a.mayBeNaN)
      result.lo = std::min(result.lo, b.lo);
    if (b.mayBeNaN)
      result.lo = std::min(result.lo, a.lo);
    // Of zeros, IEEE's maxNum may give either.
    result.anyZero |= a.contains(0) && b.contains(0);
  }
  return isMax ? result : negated(result);
}

//===-- Functions ---------------------------------------------------------===//

namespace {
struct Function {
  double (*exact)(double);
  /// Errors of the CPU's and of the interpreter's result, in units of the last place.
  double ulps;
  bool isIncreasing;
  /// f(0) = 0, exactly.
  bool keepsZero;
  double least = -infinity, greatest = infinity;
};
} // namespace

static double reciprocalRoot(double x) { return 1 / std::sqrt(x); }

/// The bounds of tests/codegen/MathTest.cpp.
static std::optional<Function> functionOf(Operation *op) {
  using Result = std::optional<Function>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](math::ExpOp) {
        return Function{std::exp, 2, true, false, 0};
      })
      .Case([](math::Exp2Op) {
        return Function{std::exp2, 2, true, false, 0};
      })
      .Case([](math::ExpM1Op) {
        return Function{std::expm1, 2, true, true, -1};
      })
      .Case([](math::LogOp) {
        return Function{std::log, 2, true, false};
      })
      .Case([](math::Log2Op) {
        return Function{std::log2, 2.3, true, false};
      })
      .Case([](math::Log10Op) {
        return Function{std::log10, 2.3, true, false};
      })
      .Case([](math::Log1pOp) {
        return Function{std::log1p, 3, true, true};
      })
      .Case([](math::TanhOp) { return Function{std::tanh, 3, true, true, -1, 1}; })
      .Case([](math::ErfOp) { return Function{std::erf, 3, true, true, -1, 1}; })
      .Case([](math::SinOp) { return Function{std::sin, 2, false, true, -1, 1}; })
      .Case([](math::CosOp) { return Function{std::cos, 2, false, false, -1, 1}; })
      .Case([](math::TanOp) {
        return Function{std::tan, 4, false, true};
      })
      .Case([](math::RsqrtOp) {
        return Function{reciprocalRoot, 1.5, false, false, 0};
      })
      .Default([](Operation *) { return Result(); });
}

/// All numbers within some units of the last place of a value, and its rounding.
static NumberSet around(DType type, double value, double ulps) {
  if (std::isnan(value))
    return NumberSet::nan(type);
  if (std::isinf(value))
    return NumberSet::ofFloat(type, value);
  int exponent = value == 0 ? -1100 : std::ilogb(value);
  int unit = std::max(exponent - precisionOf(type) + 1, leastExponent(type));
  // The double itself has an error of a few units of its own.
  double radius = (ulps + 1) * std::ldexp(1.0, unit);
  NumberSet result =
      NumberSet::interval(type, roundTo(type, value - radius), roundTo(type, value + radius));
  result.anyZero = result.contains(0);
  return result;
}

static NumberSet call(const Function &function, DType type, const NumberSet &x) {
  if (x.isNaN())
    return NumberSet::nan(type);
  auto at = [&](double end) {
    double exact = function.exact(end);
    bool isExact = std::isinf(end) || (end == 0 && function.keepsZero);
    NumberSet result =
        isExact ? NumberSet::ofFloat(type, exact) : around(type, exact, function.ulps);
    if (result.isNaN())
      return result;
    // Past its ends a function may step by its error, no further.
    if (!std::isinf(exact))
      result.lo = std::max(result.lo, function.least - 0x1p-20);
    return result;
  };
  if (x.contains(0) && x.anyZero && std::isinf(function.exact(0.0)) &&
      function.exact(0.0) != function.exact(-0.0))
    return NumberSet::any(type);
  NumberSet result = at(x.lo);
  if (x.lo != x.hi) {
    if (!function.isIncreasing)
      return NumberSet::any(type);
    NumberSet upper = at(x.hi);
    if (result.isNaN() || upper.isNaN())
      return NumberSet::any(type);
    result.hi = upper.hi;
  }
  result.mayBeNaN |= x.mayBeNaN;
  result.anyZero = x.anyZero || result.lo != result.hi;
  return result;
}

/// pow: the C library's, which both use.
static NumberSet power(DType type, const NumberSet &x, const NumberSet &y) {
  if (!x.isPoint() || !y.isPoint())
    return NumberSet::any(type);
  if (x.anyZero || y.anyZero)
    return NumberSet::any(type);
  return around(type, std::pow(x.lo, y.lo), 2);
}

/// To 11 significant bits, to nearest, ties to even.
static double roundToTf32(double x) {
  if (x == 0 || !std::isfinite(x))
    return x;
  int step = std::max(std::ilogb(x), -126) - 10;
  double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
  return std::fabs(rounded) < std::ldexp(1, 128) ? rounded : std::copysign(INFINITY, x);
}

/// Functions of one float with one right result, increasing.
static std::optional<double (*)(double)> exactFunction(Operation *op) {
  using Result = std::optional<double (*)(double)>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](math::FloorOp) -> Result { return std::floor; })
      .Case([](math::CeilOp) -> Result { return std::ceil; })
      .Case([](math::TruncOp) -> Result { return std::trunc; })
      .Case([](math::RoundEvenOp) -> Result { return std::nearbyint; })
      .Case([](math::SqrtOp) -> Result { return std::sqrt; })
      .Case([](ir::RoundTf32Op) -> Result { return roundToTf32; })
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [](auto) -> Result { return [](double x) { return x; }; })
      .Default([](Operation *) { return Result(); });
}

static NumberSet callExact(llvm::function_ref<double(double)> function, DType type,
                           const NumberSet &x) {
  if (x.isNaN())
    return NumberSet::nan(type);
  double lo = roundTo(type, function(x.lo)), hi = roundTo(type, function(x.hi));
  if (std::isnan(lo) || std::isnan(hi))
    return x.isPoint() ? NumberSet::nan(type) : NumberSet::any(type);
  NumberSet result = NumberSet::interval(type, lo, hi);
  result.mayBeNaN = x.mayBeNaN;
  result.anyZero = x.anyZero || (lo == hi && std::signbit(lo) != std::signbit(hi));
  return result;
}

/// The nearest number of the type that is no larger in magnitude.
static double towardZero(DType type, double x) {
  uint64_t bits = 0;
  runtime::storeDouble(type, &bits, x);
  double rounded = runtime::loadDouble(type, &bits);
  bool isPast = std::isnan(rounded) && std::isfinite(x); // f8e4m3 has no infinities
  if (!isPast && !(std::fabs(rounded) > std::fabs(x)))
    return rounded;
  --bits;
  return runtime::loadDouble(type, &bits);
}

static NumberSet magnitude(const NumberSet &x) {
  if (x.isNaN())
    return x;
  NumberSet result = x;
  result.fold = {};
  result.lo = x.contains(0) ? 0 : std::min(std::fabs(x.lo), std::fabs(x.hi));
  result.hi = x.magnitude();
  result.anyZero = false;
  return result;
}

//===-- Comparisons and casts ---------------------------------------------===//

static NumberSet boolean(bool canBeTrue, bool canBeFalse) {
  if (canBeTrue && canBeFalse)
    return NumberSet::any(DType::Bool);
  return NumberSet::ofInt(DType::Bool, canBeTrue);
}

static NumberSet compare(arith::CmpFPredicate predicate, const NumberSet &a, const NumberSet &b) {
  bool hasNumbers = a.lo <= a.hi && b.lo <= b.hi;
  bool unordered = a.mayBeNaN || b.mayBeNaN;
  bool less = hasNumbers && a.lo < b.hi, greater = hasNumbers && a.hi > b.lo;
  bool equal = hasNumbers && a.lo <= b.hi && b.lo <= a.hi;
  // Those for ordered operands are bit sets: 1 equal, 2 greater, 4 less. Those that hold for
  // unordered ones, too, follow in the same order, from "equal" on.
  auto bits = static_cast<unsigned>(predicate);
  if (predicate == arith::CmpFPredicate::UNO)
    bits = 8;
  else if (bits > 7)
    bits = predicate == arith::CmpFPredicate::AlwaysTrue ? 15 : bits + 1;
  auto outcome = [&](bool wanted) {
    auto has = [&](unsigned bit) { return ((bits & bit) != 0) == wanted; };
    return (equal && has(1)) || (greater && has(2)) || (less && has(4)) || (unordered && has(8));
  };
  return boolean(outcome(true), outcome(false));
}

static int64_t truncated(DType type, double value, bool isUnsigned) {
  unsigned width = widthOf(type);
  double limit = std::ldexp(1.0, static_cast<int>(isUnsigned ? width : width - 1));
  double whole = std::trunc(value);
  if (whole >= limit)
    return isUnsigned ? -1 : static_cast<int64_t>(~uint64_t(0) >> (65 - width));
  if (whole < (isUnsigned ? 0 : -limit))
    return isUnsigned ? 0 : wrap(type, uint64_t(1) << (width - 1));
  return isUnsigned ? wrap(type, static_cast<uint64_t>(whole)) : static_cast<int64_t>(whole);
}

static NumberSet toInteger(DType type, const NumberSet &x, bool isUnsigned) {
  if (x.isNaN())
    return NumberSet::ofInt(type, 0);
  int64_t lo = truncated(type, x.lo, isUnsigned), hi = truncated(type, x.hi, isUnsigned);
  bool isKnown = lo == hi && (!x.mayBeNaN || lo == 0);
  return isKnown ? NumberSet::ofInt(type, lo) : NumberSet::any(type);
}

/// The magnitude of x with the sign of y; NaNs have either.
static NumberSet copySign(const NumberSet &x, const NumberSet &y) {
  NumberSet plus = magnitude(x), minus = negated(plus);
  plus.fold = minus.fold = {};
  bool hasSign = y.isPoint() && !(y.lo == 0 && y.anyZero);
  if (x.isNaN() || hasSign)
    return std::signbit(y.lo) && hasSign ? minus : plus;
  return hull(plus, minus);
}

Outcome fuzz::evaluateFloats(Operation *op, Operands v, DType type) {
  if (auto cast = dyn_cast<arith::TruncFOp>(op);
      cast && cast.getRoundingmode() == arith::RoundingMode::toward_zero)
    return callExact([=](double x) { return towardZero(type, x); }, type, v[0]);
  if (auto exact = exactFunction(op))
    return callExact(*exact, type, v[0]);
  if (auto function = functionOf(op))
    return call(*function, type, v[0]);
  auto extremeOf = [&](CombineKind kind) { return extreme(kind, v[0], v[1]); };
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](arith::AddFOp) { return sum(type, v[0], v[1]); })
      .Case([&](arith::SubFOp) { return sum(type, v[0], negated(v[1])); })
      .Case([&](arith::MulFOp) { return product(type, v[0], v[1]); })
      .Case([&](arith::DivFOp) { return quotient(type, v[0], v[1]); })
      .Case([&](arith::NegFOp) { return negated(v[0]); })
      .Case([&](math::AbsFOp) { return magnitude(v[0]); })
      .Case([&](math::CopySignOp) { return copySign(v[0], v[1]); })
      .Case([&](math::FmaOp) { return multiplyAdd(type, v[0], v[1], v[2]); })
      .Case([&](math::PowFOp) { return power(type, v[0], v[1]); })
      .Case([&](arith::MaximumFOp) { return extremeOf(CombineKind::max); })
      .Case([&](arith::MinimumFOp) { return extremeOf(CombineKind::min); })
      .Case([&](arith::MaxNumFOp) { return extremeOf(CombineKind::fmax); })
      .Case([&](arith::MinNumFOp) { return extremeOf(CombineKind::fmin); })
      .Case([&](arith::CmpFOp op) { return compare(op.getPredicate(), v[0], v[1]); })
      .Case([&](ir::FpToIntOp op) { return toInteger(type, v[0], op.getIsUnsigned()); })
      .Default([](Operation *) { return Outcome(); });
}
