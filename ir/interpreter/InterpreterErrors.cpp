//===- InterpreterErrors.cpp - how far right executions may be apart ------===//

#include "ir/interpreter/InterpreterErrors.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/TypeSwitch.h"

#include <bit>
#include <cmath>

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::interpreter;

// Rounding errors are spread evenly over half an ulp on either side: a deviation of 0.29 ulp. Among
// millions of elements sums of many are off by five to six deviations.
constexpr double deviations = 6, deviationOfHalfUlp = 0.577;
constexpr double growth = deviations * deviationOfHalfUlp;
constexpr double deviationsOfBound = deviations / growthOfErrors;
// Cascades add up no more terms than this one by one, before they go on with more digits or in
// pairs.
constexpr double longestChain = 32;
// Matrix units cut off what they add, so many terms at once: all to the same side.
constexpr double termsAtOnce = 16;

float interpreter::roundUp(double error) {
  auto rounded = static_cast<float>(error);
  if (static_cast<double>(rounded) < error)
    rounded = std::nextafter(rounded, std::numeric_limits<float>::infinity());
  return rounded;
}

double interpreter::distance(double x, double y) {
  if (x == y || (std::isnan(x) && std::isnan(y)))
    return 0;
  double between = std::fabs(x - y);
  return std::isnan(between) ? std::numeric_limits<double>::infinity() : between;
}

double interpreter::ulpOf(Number number, double value) {
  const llvm::fltSemantics &type = semantics(number);
  int exponent = value == 0 ? -5000 : std::ilogb(value);
  exponent = std::max(exponent, llvm::APFloat::semanticsMinExponent(type));
  return std::ldexp(1.0, exponent + 1 - static_cast<int>(llvm::APFloat::semanticsPrecision(type)));
}

double interpreter::deviationOf(Bound bound) {
  return bound.deviation > 0 ? double(bound.deviation) : bound.own / deviationsOfBound;
}

static double rounded(Number number, double value) {
  char bytes[8];
  writeFloat(number, bytes, value);
  return readFloat(number, bytes);
}

Bound interpreter::roundBound(Number number, double value, Bound before, bool isFree) {
  if (before.isExact() && !isFree)
    return {};
  double error = before.total(), at = rounded(number, value);
  if (!std::isfinite(error))
    return undecided;
  if (!std::isfinite(at)) {
    if (error == 0)
      return {};
    return ownBound(std::max(distance(rounded(number, value + error), at),
                             distance(rounded(number, value - error), at)));
  }
  double ulp = ulpOf(number, at);
  bool isInexact = number == Number::F64 || at != value;
  if (error == 0)
    return isInexact ? ownBound(ulp) : Bound();
  // Roundings in other places are independent of what was before them.
  if (isFree && error >= 2 * ulp)
    return addIndependent(before, ownBound(ulp));
  if (number == Number::F64) // doubles don't show the ends
    return {roundUp(before.own + ulp), before.shared,
            roundUp(std::hypot(deviationOf(before), ulp / deviationsOfBound))};
  double spread = std::max(distance(rounded(number, value + error), at),
                           distance(rounded(number, value - error), at));
  if (isFree && isInexact)
    spread = std::max(spread, ulp);
  // An element of 16 bits that tips over is off by all of it: nothing makes that less beside other
  // errors, as it does where many small ones meet.
  float most = roundUp(spread);
  if (std::isinf(most))
    return undecided;
  float shared = bitWidth(number) < 32 && error < 2 * ulp ? most : std::min(before.shared, most);
  // Both results are rounded: that is two even spreads more, and less where few of them tip over.
  double deviation = deviationOf(before), own = double(most) - double(shared);
  deviation = std::hypot(deviation, std::sqrt(std::min(ulp / 6, 0.8 * deviation) * ulp));
  return {roundUp(own), shared, roundUp(std::min(deviation, own / deviationsOfBound))};
}

double interpreter::errorOfStep(Number number, double before, double after) {
  constexpr int spareBits = 11;
  double size = std::max(std::fabs(before), std::fabs(after));
  if (before == after || !std::isfinite(size))
    return 0;
  double ulp = ulpOf(number, size), coarse = std::ldexp(ulp, spareBits);
  bool isCoarse = std::fmod(before, coarse) == 0 && std::fmod(after, coarse) == 0;
  return isCoarse ? 0 : ulp;
}

Bound interpreter::addIndependent(Bound x, Bound y) {
  // A few may all be off as far as they can, and to the same side; and none is off by less beside
  // another.
  double deviation = std::hypot(deviationOf(x), deviationOf(y)), sum = double(x.own) + y.own;
  double own =
      std::max(std::hypot(double(x.own), double(y.own)), std::min(sum, deviations * deviation));
  return {roundUp(own), roundUp(double(x.shared) + double(y.shared)), roundUp(deviation)};
}

Bound interpreter::addDependent(Bound x, Bound y) {
  return {roundUp(double(x.own) + double(y.own)), roundUp(double(x.shared) + double(y.shared)),
          roundUp(deviationOf(x) + deviationOf(y))};
}

//===-- Functions ---------------------------------------------------------===//

/// What docs/performance.md promises of functions of f32, against the exact result. Those of f64
/// call the C library on the CPU, as the interpreter does.
static double ulpsOfF32(Operation *op) {
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([](math::ExpOp) { return 1.0; })
      .Case([](math::Exp2Op) { return 0.9; })
      .Case<math::ExpM1Op, math::RsqrtOp>([](auto) { return 1.5; })
      .Case<math::LogOp, math::Log1pOp>([](auto) { return 1.6; })
      .Case<math::Log2Op, math::Log10Op>([](auto) { return 2.3; })
      .Case([](math::TanhOp) { return 1.4; })
      .Case([](math::ErfOp) { return 1.2; })
      .Case<math::SinOp, math::CosOp, math::SincosOp>([](auto) { return 1.7; })
      .Case([](math::TanOp) { return 3.8; })
      .Case<math::CbrtOp, math::PowFOp, math::FPowIOp, math::ErfcOp, math::AsinOp, math::AcosOp,
            math::AtanOp, math::Atan2Op, math::SinhOp, math::CoshOp, math::AsinhOp, math::AcoshOp,
            math::AtanhOp>([](auto) { return 1.0; })
      .Default([](Operation *) { return 0.0; });
}

/// Those of GPUs are written without a C library.
static double ulpsOfGpuF64(Operation *op) {
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case<math::TanhOp, math::TanOp>([](auto) { return 2.3; })
      .Case<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log2Op, math::Log10Op,
            math::Log1pOp, math::SinOp, math::CosOp, math::SincosOp, math::ErfOp, math::PowFOp,
            math::FPowIOp, math::RsqrtOp>([](auto) { return 1.3; })
      .Default([](Operation *) { return 0.0; });
}

/// Of f32, and on GPUs of f64.
static double ulpsOfResult(Operation *op, Number number, const FunctionErrors &errors) {
  if (number == Number::F64)
    return errors.isGpu ? ulpsOfGpuF64(op) : 0;
  double ulps = ulpsOfF32(op);
  if (errors.isGpu && isa<math::ExpOp, math::TanhOp>(op))
    return 1.9;
  return ulps > 0 && errors.isWithoutFma ? ulps + 2 : ulps;
}

double interpreter::functionUlps(Operation *op, Number number, const FunctionErrors &errors) {
  // The interpreter is off by half an ulp itself; both results are numbers of the type.
  double ulps = ulpsOfResult(op, number, errors);
  return ulps > 0 ? std::floor(ulps + 0.5) : 0;
}

//===-- Sums --------------------------------------------------------------===//

/// 2ⁿ, the greatest power of two that a finite number is a multiple of, by its n.
static int lowestBitOf(double value) {
  auto bits = std::bit_cast<uint64_t>(value);
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent)
    mantissa |= uint64_t(1) << 52;
  return std::max(exponent, 1) - 1075 + std::countr_zero(mantissa);
}

/// Bits of what sums run up in.
static int precisionOf(Number number) { return number == Number::F64 ? 53 : 24; }

void TermSum::add(double term, Bound bound) {
  if (!bound.isExact()) {
    own += bound.own;
    variance += deviationOf(bound) * deviationOf(bound);
    shared += bound.shared;
    sharedSquares += double(bound.shared) * bound.shared;
  }
  if (term == 0)
    return;
  noteSign(term);
  double size = std::fabs(term);
  total += term;
  squares += term * term;
  lowestBit = std::min(lowestBit, lowestBitOf(term));
  repeated += size == last;
  last = size;
  lanes[count % lanes.size()] += term;
  ++count;
}

void TermSum::noteSign(double term) {
  (term < 0 ? isBelow : isAbove) = true;
  (std::isfinite(term) ? magnitude : infinite) += std::isfinite(term) ? std::fabs(term) : term;
}

void TermSum::addProduct(double x, Bound ofX, double y, Bound ofY) {
  double a = std::fabs(x), b = std::fabs(y);
  Bound error;
  if (!std::isfinite(ofX.total()) || !std::isfinite(ofY.total()))
    error = undecided; // times 0, too, which doubles make NaN of
  else if (!ofX.isExact() || !ofY.isExact())
    error = {roundUp(a * ofY.own + ofX.own * (b + ofY.own)),
             roundUp(a * ofY.shared + ofX.shared * (b + ofY.shared)),
             roundUp(std::hypot(a * deviationOf(ofY), deviationOf(ofX) * (b + ofY.own)))};
  add(x * y, error);
  if (x != 0 && y != 0) // of the product as it is, which a double may not hold
    lowestBit = std::min(lowestBit, lowestBitOf(x) + lowestBitOf(y));
  hasProducts = true;
}

void TermSum::begin(double value, Bound bound) {
  start = total = value;
  startBound = bound;
  if (value == 0)
    return;
  noteSign(value);
  lowestBit = std::min(lowestBit, lowestBitOf(value));
}

void TermSum::append(const TermSum &of, double factor) {
  if ((of.count == 0 && of.start == 0) || factor == 0 || !std::isfinite(factor))
    return;
  for (size_t lane = 0; lane < lanes.size(); ++lane)
    lanes[(count + lane) % lanes.size()] += factor * of.lanes[lane];
  count += of.count + (of.start != 0);
  repeated += of.repeated;
  total += factor * of.total;
  squares += factor * factor * (of.squares + of.start * of.start);
  magnitude += std::fabs(factor) * of.magnitude;
  infinite += factor * of.infinite;
  lowestBit = std::min(lowestBit, of.lowestBit + lowestBitOf(factor));
  isAbove |= factor > 0 ? of.isAbove : of.isBelow;
  isBelow |= factor > 0 ? of.isBelow : of.isAbove;
  // Each product is rounded by itself, but for those by powers of two.
  int exponent;
  hasProducts |= of.hasProducts || std::fabs(std::frexp(factor, &exponent)) != 0.5;
}

void TermSum::cutLast(double term, const TermSum &of, double factor) {
  if (of.count < 2 || !std::isfinite(term) || of.infinite != 0)
    return;
  double exact = total;
  count -= term != 0;
  lanes[count % lanes.size()] -= term;
  squares -= term * term;
  magnitude -= std::fabs(term);
  append(of, factor);
  total = exact;
}

void TermSum::addInOrder(double coarserBy) {
  coarseness = std::max(coarseness, static_cast<float>(coarserBy));
}

void TermSum::roundPart(Number number, double term) {
  double error = errorOfStep(number, 0, term);
  parts += error;
  partSquares += error * error;
}

Bound TermSum::errorsOfTerms(bool isShared) const {
  bool isOfParts = count > 1;
  double deviation =
      std::sqrt(variance + isOfParts * partSquares / (deviationsOfBound * deviationsOfBound));
  return {roundUp(std::min(own + isOfParts * parts, deviations * deviation)),
          roundUp(isShared ? shared : std::min(shared, growth * std::sqrt(sharedSquares))),
          roundUp(deviation)};
}

double TermSum::squareOfTerms() const {
  double terms = total - start, ofLanes = 0;
  for (double lane : lanes)
    ofLanes += lane * lane;
  // Terms of either sign at random make `squares` of it, give or take a third.
  return std::max(terms * terms, double(lanes.size()) * (ofLanes - 2 * squares));
}

double TermSum::sizeOfPartialSums() const {
  // In any order, a partial sum of k of n terms has a mean square of k²/n² · sum² + k/n · squares
  // or less; over a chain of n these make n/3 · sum² + n/2 · squares.
  double n = double(count), terms = squareOfTerms();
  if (coarseness > 0)
    return std::sqrt(n * start * start + n / 3 * terms + n / 2 * squares);
  // Of n/c chains each sums up c/n of all, and the first one has the start in it. Level by level,
  // the tree above has 2 · sum² + squares · log₂ n/c or less.
  double chain = std::min(n, runs > 0 ? std::max(longestChain, n / runs) : longestChain),
         levels = std::log2(std::max(n / chain, 1.0));
  double ofChains = chain * start * start + chain * chain / n / 3 * terms + chain / 2 * squares;
  return std::sqrt(ofChains + (levels > 0 ? 2 : 0) * terms + (levels + hasProducts) * squares);
}

Bound TermSum::roundingError(Number number) const {
  // What is rounded alike each time is off to the same side; and so are the parts of a wide sum,
  // which programs add up in the type, however many terms each of them takes.
  bool isAlike = 2 * repeated > count;
  int precision = precisionOf(isWide && !(isAlike && parts > 0) ? Number::F64 : number);
  double all = magnitude + std::fabs(infinite);
  // A first term costs no rounding, and the last one that of the result, if it is of this type.
  double steps = double(count) + (start != 0) - (bitWidth(number) < 32 || hasProducts ? 1 : 2);
  int kept = precision - static_cast<int>(std::log2(std::max(coarseness, 1.0f)));
  if (all == 0 || !std::isfinite(all) || all < std::ldexp(1.0, lowestBit + kept))
    return {};
  // The sum here is rounded twice, and few digits are between a double and its ties.
  Bound twice = number == Number::F64 ? ownBound(ulpOf(number, total)) : Bound();
  if (steps <= 0)
    return twice;
  // Half ulps are counted; language.md promises 4 · (2 + log₂ n) ulp.
  double most = coarseness > 0 ? coarseness * steps * all
                               : std::min(steps, 8 * (2 + std::log2(double(count)))) * all;
  double typical = growth * sizeOfPartialSums();
  if (coarseness > 0)
    typical *= coarseness;
  if (coarseness > 1)
    typical += coarseness * steps / termsAtOnce * std::fabs(total);
  double error = isAlike ? most : std::min(typical, steps * all * std::max(coarseness, 1.0f));
  Bound bound = ownBound(std::ldexp(error, -precision));
  if (!isAlike && coarseness <= 1)
    bound.deviation = roundUp(std::ldexp(typical / deviations, -precision));
  return bound;
}

Bound TermSum::finish(Number number, bool isShared) const {
  // Some orders may leave the type's range on their way, and then there is infinity, or, beside one
  // of the other sign, NaN.
  const llvm::fltSemantics &type = semantics(bitWidth(number) < 32 ? Number::F32 : number);
  if (isAbove && isBelow && !std::isnan(infinite) &&
      magnitude >= std::ldexp(1.0, llvm::APFloat::semanticsMaxExponent(type)))
    return undecided;
  Bound bound = addIndependent(startBound, errorsOfTerms(isShared));
  bound = addIndependent(bound, roundingError(number));
  return roundBound(number, total, bound, /*isFree=*/false);
}

//===-- Products ----------------------------------------------------------===//

void FactorProduct::add(double factor, Bound bound, const FactorProduct *of) {
  ++count;
  all += of ? of->all : 1;
  lowestBits += factor == 0 ? 0 : lowestBitOf(factor);
  if (!bound.isExact())
    relative += bound.total() / std::fabs(factor);
  isOfNumbers &= std::isfinite(factor) && (!of || of->isOfNumbers);
  if (of) {
    grows += of->grows;
    shrinks += of->shrinks;
  } else if (factor != 0 && std::isfinite(factor)) {
    double exponent = std::log2(std::fabs(factor));
    (exponent < 0 ? shrinks : grows) += exponent;
  }
}

Bound FactorProduct::finish(Number number, double product) const {
  Number computed = bitWidth(number) < 32 ? Number::F32 : number;
  const llvm::fltSemantics &type = semantics(computed);
  // Some orders may leave the type's range on their way, and others keep smaller products for a
  // factor of 0; or reach 0 before an infinite factor.
  bool mayVanish = shrinks < llvm::APFloat::semanticsMinExponent(type);
  if (isOfNumbers ? grows > llvm::APFloat::semanticsMaxExponent(type) : mayVanish)
    return undecided;
  int precision = precisionOf(number);
  double bits = double(lowestBits) + precision, steps = double(std::max<int64_t>(count - 1, 0));
  bool isExact =
      product == 0 || !std::isfinite(product) ||
      (std::fabs(bits) < 1000 && std::fabs(product) < std::ldexp(1.0, static_cast<int>(bits)));
  double rounding = isExact ? 0 : std::ldexp(growth * std::sqrt(steps), -precision);
  double error = relative + rounding == 0 ? 0 : (relative + rounding) * std::fabs(product);
  if (mayVanish)
    error += double(std::max<int64_t>(all - 1, 0)) * ulpOf(computed, 0) * std::exp2(grows);
  return roundBound(number, product, std::isnan(error) ? undecided : ownBound(error), false);
}
