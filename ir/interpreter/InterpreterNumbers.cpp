//===- InterpreterNumbers.cpp - numbers as bytes, for the interpreter -----===//

#include "ir/interpreter/InterpreterNumbers.h"

#include "llvm/ADT/APSInt.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::interpreter;
using llvm::APFloat;
using llvm::APInt;

//===-- Types -------------------------------------------------------------===//

std::optional<Number> interpreter::numberOf(Type element) {
  if (isa<IndexType>(element))
    return Number::I64;
  if (isa<Float8E4M3FNType>(element))
    return Number::F8E4M3FN;
  if (isa<Float8E5M2Type>(element))
    return Number::F8E5M2;
  if (element.isBF16())
    return Number::BF16;
  if (element.isF16())
    return Number::F16;
  if (element.isF32())
    return Number::F32;
  if (element.isF64())
    return Number::F64;
  if (!element.isInteger())
    return std::nullopt;
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return Number::I1;
  case 8:
    return Number::I8;
  case 16:
    return Number::I16;
  case 32:
    return Number::I32;
  case 64:
    return Number::I64;
  default:
    return std::nullopt;
  }
}

bool interpreter::isFloat(Number number) { return number >= Number::F8E4M3FN; }

unsigned interpreter::bitWidth(Number number) {
  switch (number) {
  case Number::I1:
    return 1;
  case Number::I8:
  case Number::F8E4M3FN:
  case Number::F8E5M2:
    return 8;
  case Number::I16:
  case Number::BF16:
  case Number::F16:
    return 16;
  case Number::I32:
  case Number::F32:
    return 32;
  case Number::I64:
  case Number::F64:
    return 64;
  }
  llvm_unreachable("covered");
}

const llvm::fltSemantics &interpreter::semantics(Number number) {
  switch (number) {
  case Number::F8E4M3FN:
    return APFloat::Float8E4M3FN();
  case Number::F8E5M2:
    return APFloat::Float8E5M2();
  case Number::BF16:
    return APFloat::BFloat();
  case Number::F16:
    return APFloat::IEEEhalf();
  case Number::F32:
    return APFloat::IEEEsingle();
  case Number::F64:
    return APFloat::IEEEdouble();
  case Number::I1:
  case Number::I8:
  case Number::I16:
  case Number::I32:
  case Number::I64:
    break;
  }
  llvm_unreachable("no float");
}

//===-- Rounding ----------------------------------------------------------===//

static APFloat convert(Number number, APFloat value, llvm::RoundingMode mode) {
  bool losesInfo;
  value.convert(semantics(number), mode, &losesInfo);
  return value;
}

double interpreter::decodeSmallFloat(Number number, uint16_t bits) {
  APFloat value(semantics(number), APInt(bitWidth(number), bits));
  return convert(Number::F64, value, llvm::RoundingMode::NearestTiesToEven).convertToDouble();
}

uint16_t interpreter::encodeSmallFloat(Number number, double value, llvm::RoundingMode mode) {
  return convert(number, APFloat(value), mode).bitcastToAPInt().getZExtValue();
}

double interpreter::roundTo(Number number, double value, llvm::RoundingMode mode) {
  return convert(Number::F64, convert(number, APFloat(value), mode), mode).convertToDouble();
}

double interpreter::roundToTf32(double value) {
  auto mode = llvm::RoundingMode::NearestTiesToEven;
  bool losesInfo;
  APFloat rounded(value);
  rounded.convert(APFloat::FloatTF32(), mode, &losesInfo);
  rounded.convert(APFloat::IEEEdouble(), mode, &losesInfo);
  return rounded.convertToDouble();
}

double interpreter::roundInteger(Number number, uint64_t value, bool isSigned) {
  APFloat result(semantics(number));
  result.convertFromAPInt(APInt(64, value), isSigned, llvm::RoundingMode::NearestTiesToEven);
  return convert(Number::F64, result, llvm::RoundingMode::NearestTiesToEven).convertToDouble();
}

uint64_t interpreter::toInteger(Number number, double value, bool isSigned) {
  // APFloat saturates, and gives 0 for NaN.
  llvm::APSInt result(bitWidth(number), /*isUnsigned=*/!isSigned);
  bool isExact;
  APFloat(value).convertToInteger(result, llvm::RoundingMode::TowardZero, &isExact);
  return isSigned ? static_cast<uint64_t>(result.getSExtValue()) : result.getZExtValue();
}

double interpreter::fusedMultiplyAdd(Number number, double a, double b, double c) {
  if (number == Number::F64)
    return std::fma(a, b, c);
  double product = a * b, sum = product + c;
  if (!std::isfinite(sum))
    return sum;
  // What the sum is off by is exact itself (Knuth's two-sum). Of the two doubles around the exact
  // one, the odd one is rounded to a shorter type as the exact one would be (Boldo and Melquiond,
  // "Emulation of a FMA and correctly rounded sums", 2008).
  double added = sum - product, off = (product - (sum - added)) + (c - added);
  if (off == 0 || std::bit_cast<uint64_t>(sum) % 2)
    return sum;
  return std::nextafter(sum, off > 0 ? HUGE_VAL : -HUGE_VAL);
}

//===-- Extremes ----------------------------------------------------------===//

double interpreter::maximum(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<double>::quiet_NaN();
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

double interpreter::minimum(double x, double y) { return -maximum(-x, -y); }

double interpreter::maxNumber(double x, double y) {
  return std::isnan(x) ? y : std::isnan(y) ? x : maximum(x, y);
}

double interpreter::minNumber(double x, double y) {
  return std::isnan(x) ? y : std::isnan(y) ? x : minimum(x, y);
}

//===-- Integer division --------------------------------------------------===//

int64_t interpreter::divideSigned(int64_t x, int64_t y, bool truncates) {
  if (y == 0)
    return 0;
  if (y == -1) // −x, which wraps
    return static_cast<int64_t>(-static_cast<uint64_t>(x));
  int64_t quotient = x / y;
  bool isInexactBelowZero = x % y != 0 && (x < 0) != (y < 0);
  return !truncates && isInexactBelowZero ? quotient - 1 : quotient;
}

int64_t interpreter::remainderSigned(int64_t x, int64_t y, bool truncates) {
  auto product = static_cast<uint64_t>(divideSigned(x, y, truncates)) * static_cast<uint64_t>(y);
  return static_cast<int64_t>(static_cast<uint64_t>(x) - product);
}

//===-- Combining ---------------------------------------------------------===//

bool interpreter::canCombine(CombineKind kind, Number number) {
  switch (kind) {
  case CombineKind::add:
  case CombineKind::mul:
  case CombineKind::max:
  case CombineKind::min:
    return true;
  case CombineKind::fmax:
  case CombineKind::fmin:
    return isFloat(number);
  case CombineKind::umax:
  case CombineKind::umin:
  case CombineKind::andi:
  case CombineKind::ori:
  case CombineKind::xori:
    return !isFloat(number);
  }
  llvm_unreachable("covered");
}

/// The greatest value, or the least: infinite where the type has infinities.
static double extreme(Number number, bool isNegative) {
  if (number == Number::F8E4M3FN)
    return APFloat::getLargest(semantics(number), isNegative).convertToDouble();
  return isNegative ? -std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::infinity();
}

static double floatIdentity(CombineKind kind, Number number) {
  switch (kind) {
  case CombineKind::add:
    return 0;
  case CombineKind::mul:
    return 1;
  case CombineKind::max:
  case CombineKind::fmax:
    return extreme(number, /*isNegative=*/true);
  case CombineKind::min:
  case CombineKind::fmin:
    return extreme(number, /*isNegative=*/false);
  case CombineKind::umax:
  case CombineKind::umin:
  case CombineKind::andi:
  case CombineKind::ori:
  case CombineKind::xori:
    break;
  }
  llvm_unreachable("no combination of floats");
}

static uint64_t integerIdentity(CombineKind kind, Number number) {
  unsigned width = bitWidth(number);
  switch (kind) {
  case CombineKind::add:
  case CombineKind::umax:
  case CombineKind::ori:
  case CombineKind::xori:
    return 0;
  case CombineKind::mul:
    return 1;
  case CombineKind::max:
    return APInt::getSignedMinValue(width).getZExtValue();
  case CombineKind::min:
    return APInt::getSignedMaxValue(width).getZExtValue();
  case CombineKind::umin:
  case CombineKind::andi:
    return ~uint64_t(0);
  case CombineKind::fmax:
  case CombineKind::fmin:
    break;
  }
  llvm_unreachable("no combination of integers");
}

void interpreter::writeIdentity(CombineKind kind, Number number, char *at) {
  if (isFloat(number))
    writeFloat(number, at, floatIdentity(kind, number));
  else
    writeInteger(number, at, integerIdentity(kind, number));
}

double interpreter::combineFloats(CombineKind kind, double x, double y) {
  switch (kind) {
  case CombineKind::add:
    return x + y;
  case CombineKind::mul:
    return x * y;
  case CombineKind::max:
    return maximum(x, y);
  case CombineKind::min:
    return minimum(x, y);
  case CombineKind::fmax:
    return maxNumber(x, y);
  case CombineKind::fmin:
    return minNumber(x, y);
  case CombineKind::umax:
  case CombineKind::umin:
  case CombineKind::andi:
  case CombineKind::ori:
  case CombineKind::xori:
    break;
  }
  llvm_unreachable("no combination of floats");
}

bool interpreter::combinesWide(CombineKind kind, Number number) {
  return isFloat(number) && (kind == CombineKind::add || kind == CombineKind::mul);
}

Wide interpreter::combineWide(CombineKind kind, Wide x, Wide y) {
  return kind == CombineKind::add ? x + y : x * y;
}

int64_t interpreter::combineIntegers(CombineKind kind, int64_t x, int64_t y) {
  auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  switch (kind) {
  case CombineKind::add:
    return static_cast<int64_t>(ux + uy);
  case CombineKind::mul:
    return static_cast<int64_t>(ux * uy);
  case CombineKind::max:
    return std::max(x, y);
  case CombineKind::min:
    return std::min(x, y);
  case CombineKind::umax: // sign extension keeps the unsigned order
    return static_cast<int64_t>(std::max(ux, uy));
  case CombineKind::umin:
    return static_cast<int64_t>(std::min(ux, uy));
  case CombineKind::andi:
    return x & y;
  case CombineKind::ori:
    return x | y;
  case CombineKind::xori:
    return x ^ y;
  case CombineKind::fmax:
  case CombineKind::fmin:
    break;
  }
  llvm_unreachable("no combination of integers");
}
