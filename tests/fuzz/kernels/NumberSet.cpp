#include "tests/fuzz/kernels/NumberSet.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace tile;
using namespace tile::fuzz;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr int noQuantum = std::numeric_limits<int>::min();

//===-- Numbers of a type -------------------------------------------------===//

double fuzz::roundTo(DType type, double value) {
  switch (type) {
  case DType::F64:
    return value;
  case DType::F32:
    return static_cast<float>(value);
  case DType::F16:
    return runtime::halfToDouble(runtime::doubleToHalf(value));
  case DType::BF16:
    return runtime::bfloat16ToDouble(runtime::doubleToBfloat16(value));
  case DType::F8E4M3:
    return runtime::f8e4m3ToDouble(runtime::doubleToF8e4m3(value));
  default:
    return runtime::f8e5m2ToDouble(runtime::doubleToF8e5m2(value));
  }
}

int fuzz::precisionOf(DType type) {
  switch (type) {
  case DType::F64:
    return 53;
  case DType::F32:
    return 24;
  case DType::F16:
    return 11;
  case DType::BF16:
    return 8;
  case DType::F8E4M3:
    return 4;
  default:
    return 3;
  }
}

int fuzz::leastExponent(DType type) {
  switch (type) {
  case DType::F64:
    return -1074;
  case DType::F32:
    return -149;
  case DType::F16:
    return -24;
  case DType::BF16:
    return -133;
  case DType::F8E4M3:
    return -9;
  default:
    return -16;
  }
}

/// The greatest q such that a finite number is a multiple of 2^q.
static int quantumOf(double value) {
  if (value == 0)
    return std::numeric_limits<int>::max();
  int exponent;
  double fraction = std::frexp(value, &exponent);
  auto bits = static_cast<int64_t>(std::ldexp(fraction, 53));
  return exponent - 53 + __builtin_ctzll(static_cast<uint64_t>(bits < 0 ? -bits : bits));
}

/// Sum of quanta, where either may be "none" or "any".
static int plus(int a, int b) {
  if (a == noQuantum || b == noQuantum)
    return noQuantum;
  if (a == std::numeric_limits<int>::max() || b == std::numeric_limits<int>::max())
    return std::numeric_limits<int>::max();
  return a + b;
}

static int quantumOf(const NumberSet &range) {
  if (range.fold.kind == Fold::Sum)
    return range.fold.quantum;
  return range.isPoint() && std::isfinite(range.lo) ? quantumOf(range.lo) : noQuantum;
}

//===-- Ranges ------------------------------------------------------------===//

NumberSet NumberSet::ofInt(DType type, int64_t value) {
  NumberSet range;
  range.type = type;
  range.integer = value;
  return range;
}

NumberSet NumberSet::ofFloat(DType type, double value) {
  return std::isnan(value) ? nan(type) : interval(type, value, value);
}

NumberSet NumberSet::interval(DType type, double lo, double hi) {
  NumberSet range;
  range.type = type;
  range.lo = lo;
  range.hi = hi;
  return range;
}

NumberSet NumberSet::any(DType type) {
  NumberSet range = interval(type, -infinity, infinity);
  range.mayBeNaN = true;
  range.isKnown = false;
  return range;
}

NumberSet NumberSet::nan(DType type) {
  NumberSet range = interval(type, 1, 0);
  range.mayBeNaN = true;
  return range;
}

NumberSet NumberSet::load(DType type, const void *element) {
  return runtime::isFloat(type) ? ofFloat(type, runtime::loadDouble(type, element))
                                : ofInt(type, runtime::loadInt(type, element));
}

bool NumberSet::isAny() const {
  return isFloat() ? mayBeNaN && lo == -infinity && hi == infinity : !isKnown;
}

bool NumberSet::hasInfinity() const { return lo <= hi && (lo == -infinity || hi == infinity); }

double NumberSet::magnitude() const { return lo > hi ? 0 : std::max(std::fabs(lo), std::fabs(hi)); }

bool NumberSet::admits(const void *element) const {
  if (!isFloat())
    return !isKnown || runtime::loadInt(type, element) == integer;
  double value = runtime::loadDouble(type, element);
  if (std::isnan(value))
    return mayBeNaN;
  if (!contains(value))
    return false;
  bool signMatters = lo == 0 && hi == 0 && !anyZero && std::signbit(lo) == std::signbit(hi);
  return !signMatters || std::signbit(value) == std::signbit(lo);
}

std::string NumberSet::str() const {
  char text[80];
  if (!isFloat())
    return isKnown ? std::to_string(integer) : "any integer";
  if (isNaN())
    return "nan";
  if (lo == hi)
    std::snprintf(text, sizeof(text), "%.17g%s", lo, mayBeNaN ? " or nan" : "");
  else
    std::snprintf(text, sizeof(text), "[%.17g, %.17g]%s", lo, hi, mayBeNaN ? " or nan" : "");
  return text;
}

NumberSet fuzz::hull(const NumberSet &a, const NumberSet &b) {
  if (!a.isFloat())
    return a.isKnown && b.isKnown && a.integer == b.integer ? a : NumberSet::any(a.type);
  NumberSet result = a;
  if (a.lo > a.hi)
    result.lo = b.lo, result.hi = b.hi;
  else if (b.lo <= b.hi)
    result.lo = std::min(a.lo, b.lo), result.hi = std::max(a.hi, b.hi);
  result.mayBeNaN |= b.mayBeNaN;
  result.anyZero |= b.anyZero || std::signbit(a.lo) != std::signbit(b.lo);
  // Which of the two it is, is not known: no exact sums.
  Fold &fold = result.fold;
  fold.kind = std::max(a.fold.kind, b.fold.kind);
  fold.terms = std::max(a.fold.terms, b.fold.terms);
  fold.mass = std::max({a.fold.mass, b.fold.mass, a.magnitude(), b.magnitude()});
  fold.least = std::min(a.fold.least, b.fold.least);
  fold.quantum = noQuantum;
  return result;
}

/// γ(n) for units u; with n·u ≥ 1 there is no bound.
static double gammaOf(double terms, double unit) {
  return terms * unit < 1 ? terms * unit / (1 - terms * unit) : infinity;
}

//===-- Sums --------------------------------------------------------------===//

void SumOf::addInterval(long double low, long double high) {
  if (std::isnan(low) || std::isnan(high) || (low != high && (std::isinf(low) || std::isinf(high))))
    isAny = true;
  else if (std::isinf(low))
    (low > 0 ? hasPlusInfinity : hasMinusInfinity) = true;
  else
    lo += low, hi += high;
}

/// Σ|x| of the finite terms; of those that a block has alone, while another one has an infinity.
static double massOf(const NumberSet &x) {
  double magnitude = std::isfinite(x.magnitude()) ? x.magnitude() : 0;
  return x.fold.kind == Fold::Sum ? std::max(x.fold.mass, magnitude) : magnitude;
}

void SumOf::add(const NumberSet &term) {
  isNaN |= term.isNaN();
  mayBeNaN |= term.mayBeNaN;
  bool isSum = term.fold.kind == Fold::Sum;
  fold.terms += isSum ? term.fold.terms : 1;
  if (term.lo > term.hi)
    return;
  addInterval(term.lo, term.hi);
  fold.mass += massOf(term);
  if (std::isfinite(term.magnitude()))
    fold.quantum = std::min(fold.quantum, quantumOf(term));
}

void SumOf::addProduct(const NumberSet &a, const NumberSet &b) {
  fold.terms += 2 + (a.fold.kind == Fold::Sum ? a.fold.terms : 0) +
                (b.fold.kind == Fold::Sum ? b.fold.terms : 0);
  isNaN |= a.isNaN() || b.isNaN();
  mayBeNaN |= a.mayBeNaN || b.mayBeNaN;
  if (a.lo > a.hi || b.lo > b.hi)
    return;
  if ((a.contains(0) && b.hasInfinity()) || (b.contains(0) && a.hasInfinity())) {
    (a.isPoint() && b.isPoint() ? isNaN : isAny) = true;
    mayBeNaN = true;
    return;
  }
  long double products[] = {
      static_cast<long double>(a.lo) * b.lo, static_cast<long double>(a.lo) * b.hi,
      static_cast<long double>(a.hi) * b.lo, static_cast<long double>(a.hi) * b.hi};
  addInterval(*std::ranges::min_element(products), *std::ranges::max_element(products));
  // The sums of single blocks may have either sign, and so their products with an infinity.
  auto isSplit = [](const NumberSet &x) { return x.fold.kind == Fold::Sum && x.fold.terms > 1; };
  isAny |= (isSplit(a) && b.hasInfinity()) || (isSplit(b) && a.hasInfinity());
  fold.mass += massOf(a) * massOf(b);
  if (std::isfinite(a.magnitude()) && std::isfinite(b.magnitude()))
    fold.quantum = std::min(fold.quantum, plus(quantumOf(a), quantumOf(b)));
}

NumberSet SumOf::result() const {
  if (isNaN || (hasPlusInfinity && hasMinusInfinity))
    return NumberSet::nan(type);
  double unit = std::ldexp(1.0, -precisionOf(type));
  double gamma = gammaOf(fold.terms, unit);
  bool overflows = !(fold.mass * (1 + gamma) < runtime::largestFinite(type));
  if (isAny || overflows)
    return NumberSet::any(type);
  NumberSet result = NumberSet::ofFloat(type, 0);
  if (hasPlusInfinity || hasMinusInfinity) {
    result.lo = result.hi = hasPlusInfinity ? infinity : -infinity;
  } else if (lo == hi && fold.quantum != noQuantum && fold.quantum >= leastExponent(type) &&
             (fold.mass == 0 ||
              fold.mass <= std::ldexp(1.0, std::min(fold.quantum, 2000) + precisionOf(type)))) {
    result.lo = result.hi = static_cast<double>(lo);
  } else {
    // The mass itself was summed in double: a relative error of terms · 2⁻⁵³.
    double radius = gamma * fold.mass * (1 + fold.terms * 0x1p-50) +
                    fold.terms * std::ldexp(1.0, leastExponent(type));
    result.lo = std::nextafter(static_cast<double>(lo) - radius, -infinity);
    result.hi = std::nextafter(static_cast<double>(hi) + radius, infinity);
  }
  result.mayBeNaN = mayBeNaN;
  result.anyZero = fold.terms > 0;
  result.fold = fold;
  return result;
}

//===-- Products ----------------------------------------------------------===//

void ProductOf::multiply(const NumberSet &factor) {
  isNaN |= factor.isNaN();
  value.mayBeNaN |= factor.mayBeNaN;
  bool isProduct = factor.fold.kind == Fold::Product;
  fold.terms += isProduct ? factor.fold.terms : 1;
  if (factor.lo > factor.hi)
    return;
  hasInfinity |= factor.hasInfinity();
  hasZero |= factor.contains(0);
  double least = factor.contains(0) ? 0 : std::min(std::fabs(factor.lo), std::fabs(factor.hi));
  fold.mass *= isProduct ? factor.fold.mass : std::max(1.0, factor.magnitude());
  // A zero makes every product that it is in zero: it is no underflow.
  if (factor.contains(0) && !factor.isPoint())
    fold.least = 0;
  else if (!factor.contains(0))
    fold.least *= isProduct ? factor.fold.least : std::min(1.0, least);
  isExact &= factor.isPoint() && std::isfinite(factor.lo) && quantumOf(factor) >= 0;
  double ends[] = {value.lo * factor.lo, value.lo * factor.hi, value.hi * factor.lo,
                   value.hi * factor.hi};
  if (std::ranges::any_of(ends, [](double x) { return std::isnan(x); }))
    return;
  value.lo = *std::ranges::min_element(ends);
  value.hi = *std::ranges::max_element(ends);
}

NumberSet ProductOf::result() const {
  double unit = std::ldexp(1.0, -precisionOf(type));
  // Twice: the value itself is one association of them.
  double gamma = 2 * gammaOf(fold.terms + 1, unit);
  if (isNaN)
    return NumberSet::nan(type);
  bool overflows = !(fold.mass * (1 + gamma) < runtime::largestFinite(type));
  bool underflows =
      fold.least * (1 - gamma) < std::ldexp(1.0, leastExponent(type) + precisionOf(type));
  NumberSet result = value;
  result.type = type;
  if (hasInfinity || overflows || underflows)
    return fold.terms == 1 ? result : NumberSet::any(type);
  result.fold = fold;
  result.anyZero = hasZero;
  if (isExact && fold.mass <= std::ldexp(1.0, precisionOf(type)))
    return result;
  auto outward = [&](double end, double direction) {
    return end == 0
               ? end
               : std::nextafter(end + direction * gamma * std::fabs(end), direction * infinity);
  };
  result.lo = outward(value.lo, -1);
  result.hi = outward(value.hi, 1);
  return result;
}
