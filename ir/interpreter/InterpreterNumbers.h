//===- InterpreterNumbers.h - numbers as bytes, for the interpreter -------===//
//
// An element is kept as it lies in memory, so that copies keep every bit. To
// compute, integers become 64-bit integers and floats of every width become
// double: rounding a double result of + − · / √ on narrower floats once more
// is the correct rounding, since double has more than twice their digits.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_INTERPRETER_INTERPRETERNUMBERS_H
#define TILE_IR_INTERPRETER_INTERPRETERNUMBERS_H

#include "ir/dialect/TileOps.h"

#include "llvm/ADT/APFloat.h"

#include <cstring>
#include <optional>

namespace tile::ir::interpreter {

enum class Number : uint8_t { I1, I8, I16, I32, I64, F8E4M3FN, F8E5M2, BF16, F16, F32, F64 };

/// The number type of an element type, if the interpreter has it; `index` is I64.
std::optional<Number> numberOf(mlir::Type element);
bool isFloat(Number number);
unsigned bitWidth(Number number);
inline int64_t byteWidth(Number number) { return (bitWidth(number) + 7) / 8; }
const llvm::fltSemantics &semantics(Number number);

/// Floats that are not f32 or f64, by their bits.
double decodeSmallFloat(Number number, uint16_t bits);
uint16_t encodeSmallFloat(Number number, double value, llvm::RoundingMode mode);

template <typename T>
T readAs(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}
template <typename T>
void writeAs(char *at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

inline uint64_t readUnsigned(Number number, const char *at) {
  switch (byteWidth(number)) {
  case 1:
    return number == Number::I1 ? *at != 0 : readAs<uint8_t>(at);
  case 2:
    return readAs<uint16_t>(at);
  case 4:
    return readAs<uint32_t>(at);
  default:
    return readAs<uint64_t>(at);
  }
}

/// Sign-extended; a true i1 is −1.
inline int64_t readSigned(Number number, const char *at) {
  unsigned unused = 64 - bitWidth(number);
  return static_cast<int64_t>(readUnsigned(number, at) << unused) >> unused;
}

/// Keeps the low bits.
inline void writeInteger(Number number, char *at, uint64_t value) {
  if (number == Number::I1)
    value &= 1;
  std::memcpy(at, &value, byteWidth(number)); // little-endian, as every target of ours
}

inline double readFloat(Number number, const char *at) {
  if (number == Number::F32)
    return readAs<float>(at);
  if (number == Number::F64)
    return readAs<double>(at);
  return decodeSmallFloat(number, static_cast<uint16_t>(readUnsigned(number, at)));
}

/// Rounds to nearest even.
inline void writeFloat(Number number, char *at, double value) {
  if (number == Number::F32)
    return writeAs(at, static_cast<float>(value));
  if (number == Number::F64)
    return writeAs(at, value);
  writeInteger(number, at, encodeSmallFloat(number, value, llvm::RoundingMode::NearestTiesToEven));
}

/// The value rounded to the type, in the given direction.
double roundTo(Number number, double value, llvm::RoundingMode mode);
/// An f32 rounded to 10 bits of mantissa, to nearest, ties to even.
double roundToTf32(double value);
/// The integer rounded once to the type.
double roundInteger(Number number, uint64_t value, bool isSigned);
/// Toward zero, saturating; NaN gives 0.
uint64_t toInteger(Number number, double value, bool isSigned);
/// a · b + c of numbers of the type, as a double that the type rounds as it would the exact result.
double fusedMultiplyAdd(Number number, double a, double b, double c);

/// What a reduction over nothing gives, as bits of the type in memory.
void writeIdentity(CombineKind kind, Number number, char *at);
double combineFloats(CombineKind kind, double x, double y);
/// What sums, products and dots of floats run up in, to be rounded once at their end: backends may
/// add in any order, and the oracle's own order must not show in what it gives.
using Wide = long double;
/// True of sums and products of floats; all else that combines is exact.
bool combinesWide(CombineKind kind, Number number);
/// Of 0 or 1 and the numbers so far, the combination with one more.
Wide combineWide(CombineKind kind, Wide x, Wide y);
/// Of sign-extended integers; `umax` and `umin` compare them as unsigned.
int64_t combineIntegers(CombineKind kind, int64_t x, int64_t y);
/// True if the kind has a meaning for the type.
bool canCombine(CombineKind kind, Number number);

/// NaN if either is; −0 < +0.
double maximum(double x, double y);
double minimum(double x, double y);
/// The other one if one is NaN; −0 < +0.
double maxNumber(double x, double y);
double minNumber(double x, double y);

/// Division for all inputs: x / 0 = 0, the least by −1 wraps, rounding toward
/// −∞ or zero. The integers are extended from some width.
int64_t divideSigned(int64_t x, int64_t y, bool truncates);
int64_t remainderSigned(int64_t x, int64_t y, bool truncates);

} // namespace tile::ir::interpreter

#endif // TILE_IR_INTERPRETER_INTERPRETERNUMBERS_H
