#include "runtime/launch/Evaluate.h"
#include "runtime/tensor/DType.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace tile::runtime {

//===-- Numbers -----------------------------------------------------------===//

unsigned bitWidth(Number number) {
  switch (number) {
  case Number::I1:
    return 1;
  case Number::I8:
  case Number::F8E4M3:
  case Number::F8E5M2:
    return 8;
  case Number::I16:
  case Number::F16:
  case Number::BF16:
    return 16;
  case Number::I32:
  case Number::F32:
    return 32;
  case Number::I64:
  case Number::F64:
    return 64;
  }
  return 64;
}

bool isFloat(Number number) { return number >= Number::F16; }

namespace {

/// The type whose conversions are those of the number; integers unsigned where asked for.
DType dtypeOf(Number number, bool isUnsigned = false) {
  switch (number) {
  case Number::I1:
    return DType::Bool;
  case Number::I8:
    return isUnsigned ? DType::U8 : DType::I8;
  case Number::I16:
    return isUnsigned ? DType::U16 : DType::I16;
  case Number::I32:
    return isUnsigned ? DType::U32 : DType::I32;
  case Number::I64:
    return isUnsigned ? DType::U64 : DType::I64;
  case Number::F16:
    return DType::F16;
  case Number::BF16:
    return DType::BF16;
  case Number::F32:
    return DType::F32;
  case Number::F64:
    return DType::F64;
  case Number::F8E4M3:
    return DType::F8E4M3;
  case Number::F8E5M2:
    return DType::F8E5M2;
  }
  return DType::I64;
}

uint64_t maskOf(Number number) { return ~uint64_t(0) >> (64 - bitWidth(number)); }

int64_t signExtended(Number number, uint64_t bits) {
  unsigned unused = 64 - bitWidth(number);
  return static_cast<int64_t>(bits << unused) >> unused;
}

double floatOf(Number number, uint64_t bits) { return loadDouble(dtypeOf(number), &bits); }

uint64_t bitsOfFloat(Number number, double value) {
  uint64_t bits = 0;
  storeDouble(dtypeOf(number), &bits, value);
  return bits;
}

/// Rounded to nearest, and one number down where that went up: past the greatest, too.
uint64_t bitsTowardZero(Number number, double value) {
  uint64_t bits = bitsOfFloat(number, value);
  double rounded = floatOf(number, bits);
  bool isUp = std::fabs(rounded) > std::fabs(value);
  bool isPast = std::isnan(rounded) && std::isfinite(value);
  return isUp || isPast ? bits - 1 : bits;
}

//===-- Integers ----------------------------------------------------------===//

int64_t divide(int64_t x, int64_t y, bool truncates) {
  if (y == 0)
    return 0;
  if (y == -1)
    return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
  int64_t quotient = x / y;
  return quotient - (!truncates && x % y != 0 && (x < 0) != (y < 0));
}

int64_t remainder(int64_t x, int64_t y, bool truncates) {
  if (y == 0)
    return x;
  if (y == -1)
    return 0;
  int64_t rest = x % y;
  return !truncates && rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

/// 0 to a negative power, which has no value, is 0.
int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base != -1 ? 0 : exponent % 2 ? -1 : 1;
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (; exponent; exponent >>= 1, factor *= factor)
    if (exponent & 1)
      result *= factor;
  return static_cast<int64_t>(result);
}

bool compareIntegers(CompareInt predicate, int64_t x, int64_t y) {
  auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y); // keep their order
  switch (predicate) {
  case CompareInt::Eq:
    return x == y;
  case CompareInt::Ne:
    return x != y;
  case CompareInt::Slt:
    return x < y;
  case CompareInt::Sle:
    return x <= y;
  case CompareInt::Sgt:
    return x > y;
  case CompareInt::Sge:
    return x >= y;
  case CompareInt::Ult:
    return ux < uy;
  case CompareInt::Ule:
    return ux <= uy;
  case CompareInt::Ugt:
    return ux > uy;
  case CompareInt::Uge:
    return ux >= uy;
  }
  return false;
}

//===-- Floats ------------------------------------------------------------===//

bool compareFloats(CompareFloat predicate, double x, double y) {
  bool unordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case CompareFloat::False:
    return false;
  case CompareFloat::OEq:
    return x == y;
  case CompareFloat::OGt:
    return x > y;
  case CompareFloat::OGe:
    return x >= y;
  case CompareFloat::OLt:
    return x < y;
  case CompareFloat::OLe:
    return x <= y;
  case CompareFloat::ONe:
    return !unordered && x != y;
  case CompareFloat::Ord:
    return !unordered;
  case CompareFloat::UEq:
    return unordered || x == y;
  case CompareFloat::UGt:
    return unordered || x > y;
  case CompareFloat::UGe:
    return unordered || x >= y;
  case CompareFloat::ULt:
    return unordered || x < y;
  case CompareFloat::ULe:
    return unordered || x <= y;
  case CompareFloat::UNe:
    return x != y;
  case CompareFloat::Uno:
    return unordered;
  case CompareFloat::True:
    return true;
  }
  return false;
}

/// The greater one; +0 is greater than −0. NaN wins or loses.
double greater(double x, double y, bool propagatesNaN) {
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) == propagatesNaN ? x : y;
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

/// An integer rounds once, however many bits it has.
uint64_t bitsOfInteger(Number to, uint64_t value, bool isSigned) {
  uint64_t bits = 0;
  DType type = dtypeOf(to);
  if (isSigned || value >> 63 == 0) {
    storeInt(type, &bits, static_cast<int64_t>(value));
    return bits;
  }
  // Half of it, the lowest bit kept as a sticky one; twice the rounded half is exact.
  storeInt(type, &bits, static_cast<int64_t>(value >> 1 | (value & 1)));
  return bitsOfFloat(to, 2 * floatOf(to, bits));
}

/// Toward zero, saturating; NaN gives 0.
uint64_t integerOfFloat(Number to, double value, bool isSigned) {
  uint64_t bits = 0;
  if (to != Number::I1) {
    storeDouble(dtypeOf(to, !isSigned), &bits, value);
    return bits;
  }
  double whole = std::isnan(value) ? 0 : std::trunc(value);
  return isSigned ? whole < 0 : whole > 0;
}

//===-- The machine -------------------------------------------------------===//

class Evaluator {
public:
  Evaluator(std::span<const Instruction> program, std::span<const int64_t> dims,
            std::span<const uint64_t> scalars)
      : program(program), dims(dims), scalars(scalars) {}

  bool hasOverflowed = false;
  std::vector<uint64_t> values;

  void run() {
    values.reserve(program.size());
    for (const Instruction &instruction : program) {
      current = &instruction;
      values.push_back(compute());
      if (hasOverflowed)
        return;
    }
  }

private:
  Number typeOf(unsigned n) const { return program[current->operands[n]].type; }
  uint64_t u(unsigned n) const { return values[current->operands[n]]; }
  int64_t s(unsigned n) const { return signExtended(typeOf(n), u(n)); }
  double f(unsigned n) const { return floatOf(typeOf(n), u(n)); }

  uint64_t integer(uint64_t bits) const { return bits & maskOf(current->type); }
  uint64_t integer(int64_t value) const { return integer(static_cast<uint64_t>(value)); }
  uint64_t real(double value) const { return bitsOfFloat(current->type, value); }

  uint64_t compute();
  uint64_t computeInteger();
  uint64_t computeFloat();
  uint64_t computeFunction();
  uint64_t computeCast();
  /// Of a 64-bit operation that wrapped.
  uint64_t checked(bool wrapped, int64_t value) {
    hasOverflowed |= wrapped && current->type == Number::I64;
    return integer(value);
  }

  std::span<const Instruction> program;
  std::span<const int64_t> dims;
  std::span<const uint64_t> scalars;
  const Instruction *current = nullptr;
};

uint64_t Evaluator::compute() {
  switch (current->opcode) {
  case Opcode::Constant:
    return current->immediate & maskOf(current->type);
  case Opcode::Dim:
    return static_cast<uint64_t>(dims[current->immediate]);
  case Opcode::Scalar:
    if (current->type == Number::I1) // a byte, as bools are everywhere
      return (scalars[current->immediate] & 0xff) != 0;
    return scalars[current->immediate] & maskOf(current->type);
  default:
    break;
  }
  if (current->opcode >= Opcode::SignExtend)
    return computeCast();
  if (current->opcode >= Opcode::NegF)
    return computeFunction();
  return current->opcode >= Opcode::AddF ? computeFloat() : computeInteger();
}

uint64_t Evaluator::computeInteger() {
  unsigned width = bitWidth(current->type);
  int64_t result;
  bool wrapped;
  switch (current->opcode) {
  case Opcode::Add:
    wrapped = __builtin_add_overflow(s(0), s(1), &result);
    return checked(wrapped, result);
  case Opcode::Sub:
    wrapped = __builtin_sub_overflow(s(0), s(1), &result);
    return checked(wrapped, result);
  case Opcode::Mul:
    wrapped = __builtin_mul_overflow(s(0), s(1), &result);
    return checked(wrapped, result);
  case Opcode::DivFloor:
    return integer(divide(s(0), s(1), false));
  case Opcode::DivTrunc:
    return integer(divide(s(0), s(1), true));
  case Opcode::DivUnsigned:
    return u(1) ? u(0) / u(1) : 0;
  case Opcode::DivCeil:
    return integer(divide(s(0), s(1), false) + (s(1) && remainder(s(0), s(1), false) != 0));
  case Opcode::RemFloor:
    return integer(remainder(s(0), s(1), false));
  case Opcode::RemTrunc:
    return integer(remainder(s(0), s(1), true));
  case Opcode::RemUnsigned:
    return u(1) ? u(0) % u(1) : u(0);
  case Opcode::And:
    return u(0) & u(1);
  case Opcode::Or:
    return u(0) | u(1);
  case Opcode::Xor:
    return u(0) ^ u(1);
  case Opcode::ShiftLeft:
    return u(1) < width ? integer(u(0) << u(1)) : 0;
  case Opcode::ShiftRight:
    return u(1) < width ? integer(s(0) >> u(1)) : 0;
  case Opcode::ShiftRightUnsigned:
    return u(1) < width ? u(0) >> u(1) : 0;
  case Opcode::Max:
    return integer(std::max(s(0), s(1)));
  case Opcode::Min:
    return integer(std::min(s(0), s(1)));
  case Opcode::MaxUnsigned:
    return std::max(u(0), u(1));
  case Opcode::MinUnsigned:
    return std::min(u(0), u(1));
  case Opcode::Power:
    return integer(power(s(0), s(1)));
  case Opcode::Abs:
    return integer(s(0) < 0 ? 0 - static_cast<uint64_t>(s(0)) : static_cast<uint64_t>(s(0)));
  case Opcode::CountOnes:
    return integer(static_cast<uint64_t>(std::popcount(u(0))));
  case Opcode::LeadingZeros:
    return integer(static_cast<uint64_t>(std::countl_zero(u(0))) - (64 - width));
  case Opcode::TrailingZeros:
    return integer(std::min<uint64_t>(static_cast<uint64_t>(std::countr_zero(u(0))), width));
  default: // Compare
    return compareIntegers(static_cast<CompareInt>(current->immediate), s(0), s(1));
  }
}

uint64_t Evaluator::computeFloat() {
  switch (current->opcode) {
  case Opcode::AddF:
    return real(f(0) + f(1));
  case Opcode::SubF:
    return real(f(0) - f(1));
  case Opcode::MulF:
    return real(f(0) * f(1));
  case Opcode::DivF:
    return real(f(0) / f(1));
  case Opcode::RemF:
    return real(std::fmod(f(0), f(1)));
  case Opcode::Maximum:
    return real(greater(f(0), f(1), true));
  case Opcode::Minimum:
    return real(-greater(-f(0), -f(1), true));
  case Opcode::MaxNumber:
    return real(greater(f(0), f(1), false));
  case Opcode::MinNumber:
    return real(-greater(-f(0), -f(1), false));
  case Opcode::PowF:
    return real(std::pow(f(0), f(1)));
  case Opcode::Atan2:
    return real(std::atan2(f(0), f(1)));
  case Opcode::CopySign:
    return real(std::copysign(f(0), f(1)));
  default: // CompareF
    return compareFloats(static_cast<CompareFloat>(current->immediate), f(0), f(1));
  }
}

using Function = double (*)(double);

/// NegF and what follows it, up to the casts; null for the three tests.
constexpr Function functions[] = {
    [](double x) { return -x; },
    [](double x) { return std::fabs(x); },
    [](double x) { return std::ceil(x); },
    [](double x) { return std::floor(x); },
    [](double x) { return std::round(x); },
    [](double x) { return std::nearbyint(x); },
    [](double x) { return std::trunc(x); },
    nullptr,
    nullptr,
    nullptr,
    [](double x) { return std::sqrt(x); },
    [](double x) { return 1 / std::sqrt(x); },
    [](double x) { return std::cbrt(x); },
    [](double x) { return std::exp(x); },
    [](double x) { return std::exp2(x); },
    [](double x) { return std::expm1(x); },
    [](double x) { return std::log(x); },
    [](double x) { return std::log2(x); },
    [](double x) { return std::log10(x); },
    [](double x) { return std::log1p(x); },
    [](double x) { return std::erf(x); },
    [](double x) { return std::erfc(x); },
    [](double x) { return std::sin(x); },
    [](double x) { return std::cos(x); },
    [](double x) { return std::tan(x); },
    [](double x) { return std::asin(x); },
    [](double x) { return std::acos(x); },
    [](double x) { return std::atan(x); },
    [](double x) { return std::sinh(x); },
    [](double x) { return std::cosh(x); },
    [](double x) { return std::tanh(x); },
    [](double x) { return std::asinh(x); },
    [](double x) { return std::acosh(x); },
    [](double x) { return std::atanh(x); },
};
static_assert(std::size(functions) == size_t(Opcode::SignExtend) - size_t(Opcode::NegF));

uint64_t Evaluator::computeFunction() {
  switch (current->opcode) {
  case Opcode::IsFinite:
    return std::isfinite(f(0));
  case Opcode::IsInf:
    return std::isinf(f(0));
  case Opcode::IsNaN:
    return std::isnan(f(0));
  default:
    return real(functions[size_t(current->opcode) - size_t(Opcode::NegF)](f(0)));
  }
}

uint64_t Evaluator::computeCast() {
  switch (current->opcode) {
  case Opcode::SignExtend: // and its reverse
    return integer(s(0));
  case Opcode::ZeroExtend:
    return integer(u(0));
  case Opcode::FloatToFloat:
    return real(f(0));
  case Opcode::SignedToFloat:
    return bitsOfInteger(current->type, static_cast<uint64_t>(s(0)), true);
  case Opcode::UnsignedToFloat:
    return bitsOfInteger(current->type, u(0), false);
  case Opcode::FloatToSigned:
    return integerOfFloat(current->type, f(0), true);
  case Opcode::FloatToUnsigned:
    return integerOfFloat(current->type, f(0), false);
  case Opcode::Bitcast:
    return u(0);
  case Opcode::FloatToFloatTowardZero:
    return bitsTowardZero(current->type, f(0));
  case Opcode::MultiplyAdd:
    return current->type == Number::F64
               ? real(std::fma(f(0), f(1), f(2)))
               : real(std::fmaf(static_cast<float>(f(0)), static_cast<float>(f(1)),
                                static_cast<float>(f(2))));
  case Opcode::HighProduct:
    return integer(static_cast<int64_t>(__int128(s(0)) * s(1) >> bitWidth(current->type)));
  case Opcode::HighProductUnsigned:
    return static_cast<uint64_t>((unsigned __int128)(u(0)) * u(1) >> bitWidth(current->type));
  default: // Select
    return u(0) ? u(1) : u(2);
  }
}

//===-- Validity ----------------------------------------------------------===//

/// Whether the types of operands and result are such as the operation takes.
bool typesFit(const Instruction &i, std::span<const Instruction> program) {
  auto operand = [&](unsigned n) { return program[i.operands[n]].type; };
  auto areFloats = [&](bool wanted) {
    for (unsigned n = 0; n < opcodeInfo[size_t(i.opcode)].operands; ++n)
      if (isFloat(operand(n)) != wanted)
        return false;
    return true;
  };
  auto isTest = [&] { return i.type == Number::I1; };
  switch (i.opcode) {
  case Opcode::Constant:
  case Opcode::Scalar:
    return true;
  case Opcode::Dim:
    return i.type == Number::I64;
  case Opcode::Compare:
    return isTest() && areFloats(false) && operand(0) == operand(1);
  case Opcode::CompareF:
  case Opcode::IsFinite:
  case Opcode::IsInf:
  case Opcode::IsNaN:
    return isTest() && areFloats(true);
  case Opcode::SignExtend:
  case Opcode::ZeroExtend:
    return areFloats(false) && !isFloat(i.type);
  case Opcode::SignedToFloat:
  case Opcode::UnsignedToFloat:
    return areFloats(false) && isFloat(i.type);
  case Opcode::FloatToSigned:
  case Opcode::FloatToUnsigned:
    return areFloats(true) && !isFloat(i.type);
  case Opcode::Bitcast:
    return bitWidth(operand(0)) == bitWidth(i.type);
  case Opcode::HighProduct:
  case Opcode::HighProductUnsigned:
    return !isFloat(i.type) && operand(0) == i.type && operand(1) == i.type;
  case Opcode::MultiplyAdd:
    return (i.type == Number::F64 || i.type == Number::F32) && areFloats(true);
  case Opcode::Select:
    return operand(0) == Number::I1 && operand(1) == i.type && operand(2) == i.type;
  default:
    break;
  }
  if (i.opcode >= Opcode::AddF)
    return areFloats(true) && isFloat(i.type);
  bool sameTypes =
      operand(0) == i.type && (opcodeInfo[size_t(i.opcode)].operands == 1 || operand(1) == i.type);
  return areFloats(false) && !isFloat(i.type) && sameTypes;
}

bool immediateFits(const Instruction &i, size_t numDims,
                   std::span<const std::optional<Number>> scalars) {
  switch (opcodeInfo[size_t(i.opcode)].immediate) {
  case ImmediateRole::None:
    return i.immediate == 0;
  case ImmediateRole::Value:
    return true;
  case ImmediateRole::Index:
    if (i.opcode == Opcode::Dim)
      return i.immediate < numDims;
    return i.immediate < scalars.size() && scalars[i.immediate] == i.type;
  case ImmediateRole::CmpI:
    return i.immediate < numCompareInt;
  case ImmediateRole::CmpF:
    return i.immediate < numCompareFloat;
  }
  return false;
}

} // namespace

bool isValid(std::span<const Instruction> program, size_t numDims,
             std::span<const std::optional<Number>> scalars) {
  for (size_t n = 0; n < program.size(); ++n) {
    const Instruction &i = program[n];
    if (size_t(i.opcode) >= numOpcodes || size_t(i.type) >= numNumbers)
      return false;
    for (unsigned operand = 0; operand < i.operands.size(); ++operand)
      if (operand < opcodeInfo[size_t(i.opcode)].operands ? i.operands[operand] >= n
                                                          : i.operands[operand] != 0)
        return false;
    if (!immediateFits(i, numDims, scalars) || !typesFit(i, program))
      return false;
  }
  return true;
}

std::optional<std::vector<uint64_t>> evaluate(std::span<const Instruction> program,
                                              std::span<const int64_t> dims,
                                              std::span<const uint64_t> scalars) {
  Evaluator evaluator(program, dims, scalars);
  evaluator.run();
  if (evaluator.hasOverflowed)
    return std::nullopt;
  return std::move(evaluator.values);
}

std::optional<int64_t> evaluateInteger(std::span<const Instruction> program,
                                       std::span<const int64_t> dims,
                                       std::span<const uint64_t> scalars) {
  std::optional<std::vector<uint64_t>> values = evaluate(program, dims, scalars);
  if (!values || values->empty())
    return std::nullopt;
  return signExtended(program.back().type, values->back());
}

} // namespace tile::runtime
