#include "runtime/tensor/DType.h"
#include "runtime/base/Text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace tile::runtime {

// Files and device memory are little-endian, and tensors are copied to both as they are.
static_assert(std::endian::native == std::endian::little);

//===----------------------------------------------------------------------===//
// Names and properties
//===----------------------------------------------------------------------===//

namespace {

enum class Family : uint8_t { Bool, Signed, Unsigned, Float };

struct TypeInfo {
  DType type;
  std::string_view name;
  Family family;
  uint8_t size;
};

constexpr std::array<TypeInfo, 15> typeTable{{
    {DType::Bool, "bool", Family::Bool, 1},
    {DType::I8, "i8", Family::Signed, 1},
    {DType::I16, "i16", Family::Signed, 2},
    {DType::I32, "i32", Family::Signed, 4},
    {DType::I64, "i64", Family::Signed, 8},
    {DType::U8, "u8", Family::Unsigned, 1},
    {DType::U16, "u16", Family::Unsigned, 2},
    {DType::U32, "u32", Family::Unsigned, 4},
    {DType::U64, "u64", Family::Unsigned, 8},
    {DType::F16, "f16", Family::Float, 2},
    {DType::BF16, "bf16", Family::Float, 2},
    {DType::F32, "f32", Family::Float, 4},
    {DType::F64, "f64", Family::Float, 8},
    {DType::F8E4M3, "f8e4m3", Family::Float, 1},
    {DType::F8E5M2, "f8e5m2", Family::Float, 1},
}};

template <typename T, typename Get>
constexpr auto column(Get get) {
  std::array<T, typeTable.size()> result{};
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = get(typeTable[i]);
  return result;
}

constexpr auto types = column<DType>([](const TypeInfo &info) { return info.type; });
constexpr auto names = column<std::string_view>([](const TypeInfo &info) { return info.name; });

constexpr bool tableFollowsEnum() {
  for (size_t i = 0; i < typeTable.size(); ++i)
    if (static_cast<size_t>(typeTable[i].type) != i)
      return false;
  return true;
}
static_assert(tableFollowsEnum());

/// Names that other languages and file formats give our types.
struct ForeignName {
  std::string_view foreign, ours;
};
constexpr ForeignName foreignNames[] = {
    {"float", "f32"},
    {"double", "f64"},
    {"half", "f16"},
    {"bfloat", "bf16"},
    {"float16", "f16"},
    {"float32", "f32"},
    {"float64", "f64"},
    {"fp16", "f16"},
    {"fp32", "f32"},
    {"fp64", "f64"},
    {"bfloat16", "bf16"},
    {"float8_e4m3", "f8e4m3"},
    {"float8_e5m2", "f8e5m2"},
    {"float8e4m3", "f8e4m3"},
    {"float8e5m2", "f8e5m2"},
    {"f8e4m3fn", "f8e4m3"},
    {"f8_e4m3", "f8e4m3"},
    {"f8_e5m2", "f8e5m2"},
    {"fp8", "f8e4m3"},
    {"fp8e4m3", "f8e4m3"},
    {"fp8e5m2", "f8e5m2"},
    {"float8_e4m3fn", "f8e4m3"},
    {"e4m3", "f8e4m3"},
    {"e5m2", "f8e5m2"},
    {"int8", "i8"},
    {"int16", "i16"},
    {"int32", "i32"},
    {"int64", "i64"},
    {"uint8", "u8"},
    {"uint16", "u16"},
    {"uint32", "u32"},
    {"uint64", "u64"},
    {"int", "i32"},
    {"long", "i64"},
    {"char", "i8"},
    {"byte", "u8"},
    {"i1", "bool"},
    {"boolean", "bool"},
};

const TypeInfo &infoOf(DType type) { return typeTable[static_cast<size_t>(type)]; }

} // namespace

std::span<const DType> allDTypes() { return types; }
std::string_view nameOf(DType type) { return infoOf(type).name; }
int64_t sizeOf(DType type) { return infoOf(type).size; }

bool isFloat(DType type) { return infoOf(type).family == Family::Float; }
bool isInteger(DType type) {
  return infoOf(type).family == Family::Signed || infoOf(type).family == Family::Unsigned;
}
bool isSigned(DType type) {
  return infoOf(type).family == Family::Signed || infoOf(type).family == Family::Float;
}

Result<DType> parseDType(std::string_view name) {
  for (const TypeInfo &info : typeTable)
    if (info.name == name)
      return info.type;
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  std::string_view meant;
  for (const ForeignName &entry : foreignNames)
    if (entry.foreign == lower)
      meant = entry.ours;
  if (meant.empty())
    meant = nearest(lower, names);
  std::string known = "the types are " + join(names, " ");
  return Error{"unknown type " + quote(name),
               meant.empty() ? known : "did you mean " + std::string(meant) + "? " + known};
}

int64_t integerMin(DType type) {
  assert(!isFloat(type));
  return isSigned(type) ? std::numeric_limits<int64_t>::min() >> (64 - 8 * sizeOf(type)) : 0;
}

uint64_t integerMax(DType type) {
  assert(!isFloat(type));
  if (type == DType::Bool)
    return 1;
  return std::numeric_limits<uint64_t>::max() >> (64 - 8 * sizeOf(type) + isSigned(type));
}

//===----------------------------------------------------------------------===//
// Small floats
//===----------------------------------------------------------------------===//

namespace {

constexpr int doubleMantissaBits = 52;
constexpr int doubleBias = 1023;
constexpr uint64_t doubleQuietBit = uint64_t(1) << 51;

/// A float of at most 16 bits, laid out as sign, exponent, mantissa.
struct SmallFloat {
  int exponentBits, mantissaBits;
  /// False: the greatest exponent holds numbers too, and only all ones is NaN.
  bool hasInfinity;

  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr int leastExponent() const { return 1 - bias(); }
  constexpr uint64_t signBit() const { return uint64_t(1) << (exponentBits + mantissaBits); }
  constexpr uint64_t mantissaMask() const { return (uint64_t(1) << mantissaBits) - 1; }
  /// Infinity where there is one, the NaN otherwise: the first pattern after the finite ones.
  constexpr uint64_t firstNonFinite() const {
    return hasInfinity ? signBit() - 1 - mantissaMask() : signBit() - 1;
  }
  constexpr uint64_t largestFinite() const { return firstNonFinite() - 1; }
};

constexpr SmallFloat halfFormat{5, 10, true};
constexpr SmallFloat bfloat16Format{8, 7, true};
constexpr SmallFloat f8e4m3Format{4, 3, false};
constexpr SmallFloat f8e5m2Format{5, 2, true};

/// 2^exponent for normal doubles.
constexpr double powerOfTwo(int exponent) {
  return std::bit_cast<double>(uint64_t(exponent + doubleBias) << doubleMantissaBits);
}

constexpr double decode(SmallFloat format, uint64_t bits) {
  uint64_t sign = (bits & format.signBit()) ? uint64_t(1) << 63 : 0;
  uint64_t magnitude = bits & (format.signBit() - 1);
  uint64_t mantissa = magnitude & format.mantissaMask();
  int widening = doubleMantissaBits - format.mantissaBits;
  uint64_t exponent = magnitude >> format.mantissaBits;
  if (magnitude >= format.firstNonFinite()) {
    bool infinite = format.hasInfinity && mantissa == 0;
    uint64_t payload = infinite ? 0 : (mantissa << widening) | doubleQuietBit;
    return std::bit_cast<double>(sign | uint64_t(0x7ff) << doubleMantissaBits | payload);
  }
  if (exponent == 0) {
    double value =
        static_cast<double>(mantissa) * powerOfTwo(format.leastExponent() - format.mantissaBits);
    return sign ? -value : value;
  }
  uint64_t rebiased = exponent + uint64_t(doubleBias - format.bias());
  return std::bit_cast<double>(sign | rebiased << doubleMantissaBits | mantissa << widening);
}

/// Drops the low `shift` bits, rounding to nearest, ties to even.
constexpr uint64_t shiftRightRounding(uint64_t value, int shift) {
  // A significand has 53 bits: shifted by more than 54 it is less than a half.
  if (shift > 54)
    return 0;
  uint64_t kept = value >> shift;
  uint64_t dropped = value - (kept << shift);
  uint64_t half = uint64_t(1) << (shift - 1);
  return kept + (dropped > half || (dropped == half && (kept & 1)));
}

constexpr uint64_t encode(SmallFloat format, double value, Overflow overflow) {
  auto bits = std::bit_cast<uint64_t>(value);
  uint64_t sign = (bits >> 63) ? format.signBit() : 0;
  auto biased = static_cast<int>(bits >> doubleMantissaBits & 0x7ff);
  uint64_t mantissa = bits & ((uint64_t(1) << doubleMantissaBits) - 1);
  int narrowing = doubleMantissaBits - format.mantissaBits;
  if (biased == 0x7ff && mantissa != 0) {
    uint64_t quiet = (uint64_t(1) << (format.mantissaBits - 1)) | (mantissa >> narrowing);
    return sign | format.firstNonFinite() | quiet;
  }

  uint64_t magnitude;
  if (biased == 0x7ff) {
    magnitude = format.firstNonFinite();
  } else if (biased == 0) {
    magnitude = 0; // zero, or a double so small that every format here rounds it to zero
  } else {
    // In units of the format's last place, a subnormal and a normal number differ only by how
    // far the significand is shifted; a carry out of the mantissa steps the exponent by itself.
    int exponent = biased - doubleBias;
    int below = std::max(0, format.leastExponent() - exponent);
    int steps = std::max(0, exponent - format.leastExponent());
    uint64_t significand = mantissa | uint64_t(1) << doubleMantissaBits;
    magnitude = shiftRightRounding(significand, narrowing + below) +
                (static_cast<uint64_t>(steps) << format.mantissaBits);
  }
  if (magnitude >= format.firstNonFinite())
    magnitude = overflow == Overflow::Saturate ? format.largestFinite() : format.firstNonFinite();
  return sign | magnitude;
}

} // namespace

double halfToDouble(uint16_t bits) { return decode(halfFormat, bits); }
double bfloat16ToDouble(uint16_t bits) { return decode(bfloat16Format, bits); }
double f8e4m3ToDouble(uint8_t bits) { return decode(f8e4m3Format, bits); }
double f8e5m2ToDouble(uint8_t bits) { return decode(f8e5m2Format, bits); }

uint16_t doubleToHalf(double value, Overflow overflow) {
  return static_cast<uint16_t>(encode(halfFormat, value, overflow));
}
uint16_t doubleToBfloat16(double value, Overflow overflow) {
  return static_cast<uint16_t>(encode(bfloat16Format, value, overflow));
}
uint8_t doubleToF8e4m3(double value, Overflow overflow) {
  return static_cast<uint8_t>(encode(f8e4m3Format, value, overflow));
}
uint8_t doubleToF8e5m2(double value, Overflow overflow) {
  return static_cast<uint8_t>(encode(f8e5m2Format, value, overflow));
}

double largestFinite(DType type) {
  assert(isFloat(type));
  if (type == DType::F32)
    return std::numeric_limits<float>::max();
  if (type == DType::F64)
    return std::numeric_limits<double>::max();
  if (type == DType::F16)
    return decode(halfFormat, halfFormat.largestFinite());
  if (type == DType::BF16)
    return decode(bfloat16Format, bfloat16Format.largestFinite());
  if (type == DType::F8E4M3)
    return decode(f8e4m3Format, f8e4m3Format.largestFinite());
  return decode(f8e5m2Format, f8e5m2Format.largestFinite());
}

//===----------------------------------------------------------------------===//
// Elements in memory
//===----------------------------------------------------------------------===//

namespace {

template <typename T>
T load(const void *element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

template <typename T>
void store(void *element, T value) {
  std::memcpy(element, &value, sizeof(T));
}

/// Truncates toward zero and saturates; NaN is 0.
template <typename T>
T doubleToInteger(double value) {
  using Limits = std::numeric_limits<T>;
  // max() + 1 is a power of two, hence exact, even where max() is no double.
  double above = std::ldexp(1.0, Limits::digits);
  if (std::isnan(value))
    return 0;
  if (value >= above)
    return Limits::max();
  if (value <= static_cast<double>(Limits::min()))
    return Limits::min();
  return static_cast<T>(value);
}

float doubleToFloat(double value, Overflow overflow) {
  auto result = static_cast<float>(value);
  if (overflow == Overflow::Saturate && std::isinf(result))
    return std::copysign(std::numeric_limits<float>::max(), result);
  return result;
}

/// A double that rounds to any float of at most 51 significand bits as `value` itself would:
/// inexact conversions set the last bit ("round to odd"), so that no tie appears.
double integerToOddDouble(int64_t value) {
  uint64_t magnitude = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  int excess = std::max(0, static_cast<int>(std::bit_width(magnitude)) - 53);
  uint64_t kept = magnitude >> excess;
  if ((kept << excess) != magnitude)
    kept |= 1;
  double result = std::ldexp(static_cast<double>(kept), excess);
  return value < 0 ? -result : result;
}

} // namespace

double loadDouble(DType type, const void *element) {
  switch (type) {
  case DType::Bool:
    return load<uint8_t>(element) != 0;
  case DType::I8:
    return load<int8_t>(element);
  case DType::I16:
    return load<int16_t>(element);
  case DType::I32:
    return load<int32_t>(element);
  case DType::I64:
    return static_cast<double>(load<int64_t>(element));
  case DType::U8:
    return load<uint8_t>(element);
  case DType::U16:
    return load<uint16_t>(element);
  case DType::U32:
    return load<uint32_t>(element);
  case DType::U64:
    return static_cast<double>(load<uint64_t>(element));
  case DType::F16:
    return halfToDouble(load<uint16_t>(element));
  case DType::BF16:
    return bfloat16ToDouble(load<uint16_t>(element));
  case DType::F32:
    return load<float>(element);
  case DType::F64:
    return load<double>(element);
  case DType::F8E4M3:
    return f8e4m3ToDouble(load<uint8_t>(element));
  case DType::F8E5M2:
    return f8e5m2ToDouble(load<uint8_t>(element));
  }
  return 0;
}

void storeDouble(DType type, void *element, double value, Overflow overflow) {
  switch (type) {
  case DType::Bool:
    return store<uint8_t>(element, value != 0);
  case DType::I8:
    return store(element, doubleToInteger<int8_t>(value));
  case DType::I16:
    return store(element, doubleToInteger<int16_t>(value));
  case DType::I32:
    return store(element, doubleToInteger<int32_t>(value));
  case DType::I64:
    return store(element, doubleToInteger<int64_t>(value));
  case DType::U8:
    return store(element, doubleToInteger<uint8_t>(value));
  case DType::U16:
    return store(element, doubleToInteger<uint16_t>(value));
  case DType::U32:
    return store(element, doubleToInteger<uint32_t>(value));
  case DType::U64:
    return store(element, doubleToInteger<uint64_t>(value));
  case DType::F16:
    return store(element, doubleToHalf(value, overflow));
  case DType::BF16:
    return store(element, doubleToBfloat16(value, overflow));
  case DType::F32:
    return store(element, doubleToFloat(value, overflow));
  case DType::F64:
    return store(element, overflow == Overflow::Saturate && std::isinf(value)
                              ? std::copysign(std::numeric_limits<double>::max(), value)
                              : value);
  case DType::F8E4M3:
    return store(element, doubleToF8e4m3(value, overflow));
  case DType::F8E5M2:
    return store(element, doubleToF8e5m2(value, overflow));
  }
}

int64_t loadInt(DType type, const void *element) {
  if (isFloat(type))
    return doubleToInteger<int64_t>(loadDouble(type, element));
  if (type == DType::Bool)
    return load<uint8_t>(element) != 0;
  // Copy the low bytes, then extend them by the type's signedness.
  uint64_t bits = 0;
  std::memcpy(&bits, element, static_cast<size_t>(sizeOf(type)));
  auto unused = static_cast<int>(64 - 8 * sizeOf(type));
  auto high = static_cast<int64_t>(bits << unused);
  return isSigned(type) ? high >> unused
                        : static_cast<int64_t>(static_cast<uint64_t>(high) >> unused);
}

void storeInt(DType type, void *element, int64_t value) {
  if (type == DType::Bool)
    return store<uint8_t>(element, value != 0);
  if (type == DType::F32)
    return store(element, static_cast<float>(value));
  if (type == DType::F64)
    return store(element, static_cast<double>(value));
  if (isFloat(type))
    return storeDouble(type, element, integerToOddDouble(value));
  std::memcpy(element, &value, static_cast<size_t>(sizeOf(type)));
}

} // namespace tile::runtime
