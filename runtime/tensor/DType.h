// Element types of the language, and exact conversions between their bits and C++ numbers.
//
// Every conversion rounds once, to nearest with ties to even, whatever the source. f8e4m3 is the
// "fn" variant: no infinity, one NaN pattern a sign. NaNs stay NaNs (quiet), zeros keep their sign.
#pragma once

#include "runtime/base/Result.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tile::runtime {

enum class DType : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3,
  F8E5M2,
};

/// All of them, in the order of the enum.
std::span<const DType> allDTypes();

/// The name in the language: "bool", "i8", …, "f8e5m2".
std::string_view nameOf(DType type);
/// Bytes of one element.
int64_t sizeOf(DType type);

/// Refuses unknown names with the nearest known one as a hint ("float32" hints at f32).
Result<DType> parseDType(std::string_view name);

bool isFloat(DType type);
/// True for i8 … u64; a bool is no integer.
bool isInteger(DType type);
/// True for i8 … i64 and for the floats.
bool isSigned(DType type);

/// Least and greatest value of an integer type or bool.
int64_t integerMin(DType type);
uint64_t integerMax(DType type);
/// Greatest finite value of a float type.
double largestFinite(DType type);

/// What a conversion to a float type does with values beyond its greatest finite one:
/// infinity (NaN for f8e4m3), or that finite value (also for infinities; NaN stays NaN).
enum class Overflow { ToInfinity, Saturate };

double halfToDouble(uint16_t bits);
double bfloat16ToDouble(uint16_t bits);
double f8e4m3ToDouble(uint8_t bits);
double f8e5m2ToDouble(uint8_t bits);

uint16_t doubleToHalf(double value, Overflow overflow = Overflow::ToInfinity);
uint16_t doubleToBfloat16(double value, Overflow overflow = Overflow::ToInfinity);
uint8_t doubleToF8e4m3(double value, Overflow overflow = Overflow::ToInfinity);
uint8_t doubleToF8e5m2(double value, Overflow overflow = Overflow::ToInfinity);

/// The element at `element` (any alignment). i64 and u64 round to double.
double loadDouble(DType type, const void *element);
/// Stores a double: integers truncate toward zero and saturate, NaN becomes 0; a bool is
/// `value != 0`.
void storeDouble(DType type, void *element, double value, Overflow overflow = Overflow::ToInfinity);

/// The element as an integer: u64 wraps into int64_t, floats truncate and saturate, NaN is 0.
int64_t loadInt(DType type, const void *element);
/// Stores an integer: integers wrap, a bool is `value != 0`, floats round once.
void storeInt(DType type, void *element, int64_t value);

} // namespace tile::runtime
