#include "runtime/tensor/Generate.h"
#include "runtime/base/Text.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/tensor/Random.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tile::runtime {

using Kind = GeneratorSpec::Kind;

namespace {

__extension__ typedef unsigned __int128 UInt128;

//===----------------------------------------------------------------------===//
// Ranges of uniform
//===----------------------------------------------------------------------===//

struct IntegerRange {
  Int128 lo = 0, hi = 100;
};

/// The value of an integer bound: lo may be any value of the type, hi also one more than that.
Result<Int128> integerBound(const Scalar &bound, DType type, Int128 greatest) {
  const auto *value = std::get_if<Int128>(&bound.value);
  if (!value)
    return Error{"bound " + quote(bound.text) + " is no integer, as " + std::string(nameOf(type)) +
                     " needs",
                 "write LO and HI as integers"};
  if (*value < integerMin(type) || *value > greatest)
    return Error{"bound " + quote(bound.text) + " is outside of " + std::string(nameOf(type)),
                 "values go from " + std::to_string(integerMin(type)) + " to " +
                     std::to_string(integerMax(type))};
  return *value;
}

Error emptyRange(const GeneratorSpec &spec) {
  return {"no value of " + std::string(nameOf(spec.type)) + " is at least " + spec.lo->text +
              " and less than " + spec.hi->text,
          "LO comes first and is included, HI is not"};
}

Result<IntegerRange> integerRange(const GeneratorSpec &spec) {
  IntegerRange range;
  if (!spec.lo)
    return range;
  Int128 greatest = Int128(integerMax(spec.type));
  Result<Int128> lo = integerBound(*spec.lo, spec.type, greatest);
  if (!lo)
    return lo.takeError();
  Result<Int128> hi = integerBound(*spec.hi, spec.type, greatest + 1);
  if (!hi)
    return hi.takeError();
  range = {*lo, *hi};
  if (range.lo >= range.hi)
    return emptyRange(spec);
  return range;
}

/// The neighbour of a finite value in the direction of −infinity. All float types are sign and
/// magnitude, so neighbours of a sign are neighbouring integers.
void stepDown(DType type, void *element) {
  uint64_t bits = 0;
  auto size = static_cast<size_t>(sizeOf(type));
  std::memcpy(&bits, element, size);
  uint64_t sign = uint64_t(1) << (8 * size - 1);
  if ((bits & ~sign) == 0)
    bits = sign | 1;
  else
    bits = bits & sign ? bits + 1 : bits - 1;
  std::memcpy(element, &bits, size);
}

/// Stores the greatest value of the type that is no greater than `value`.
void storeRoundingDown(DType type, void *element, double value) {
  storeDouble(type, element, value);
  if (loadDouble(type, element) > value)
    stepDown(type, element);
}

struct FloatRange {
  double lo = 0, hi = 1;
  /// The least value of the type that is no less than lo.
  double least = 0;
};

Result<FloatRange> floatRange(const GeneratorSpec &spec) {
  FloatRange range;
  if (!spec.lo)
    return range;
  auto bound = [&](const Scalar &scalar, double &value) -> Status {
    std::byte element[8];
    if (Status fits = storeScalar(scalar, spec.type, element); !fits)
      return fits;
    const auto *integer = std::get_if<Int128>(&scalar.value);
    value = integer ? static_cast<double>(*integer) : std::get<double>(scalar.value);
    if (!std::isfinite(value) || std::abs(value) > largestFinite(spec.type))
      return Error{"bound " + quote(scalar.text) + " is not finite in " +
                       std::string(nameOf(spec.type)),
                   "write finite bounds"};
    return {};
  };
  if (Status lo = bound(*spec.lo, range.lo); !lo)
    return lo.takeError();
  if (Status hi = bound(*spec.hi, range.hi); !hi)
    return hi.takeError();
  if (!std::isfinite(range.hi - range.lo))
    return Error{"the range from " + spec.lo->text + " to " + spec.hi->text + " is too wide",
                 "its width must be a finite f64"};
  // Rounding up is rounding the negative down.
  std::byte element[8];
  storeRoundingDown(spec.type, element, -range.lo);
  range.least = -loadDouble(spec.type, element);
  if (!(range.least < range.hi))
    return emptyRange(spec);
  return range;
}

//===----------------------------------------------------------------------===//
// Filling
//===----------------------------------------------------------------------===//

/// Calls `fill(position, element)` for each element, large tensors on several threads.
template <typename Fill>
Result<Tensor> filled(const GeneratorSpec &spec, const Fill &fill) {
  Result<Tensor> tensor = Tensor::createUninitialized(spec.type, spec.shape);
  if (!tensor)
    return tensor;
  constexpr int64_t chunkLength = 1 << 16;
  int64_t count = tensor->numElements();
  int64_t size = sizeOf(spec.type);
  std::byte *data = tensor->data();
  Status done =
      parallelChunks(count, count / chunkLength + 1, [&](int64_t, int64_t lo, int64_t hi) {
        for (int64_t i = lo; i < hi; ++i)
          fill(i, data + i * size);
      });
  if (!done)
    return done.takeError();
  return tensor;
}

Result<Tensor> uniformIntegers(const GeneratorSpec &spec, uint64_t seed) {
  Result<IntegerRange> range = integerRange(spec);
  if (!range)
    return range.takeError();
  // The high half of a 64-bit draw times the width: unbiased to width / 2^64.
  auto width = static_cast<UInt128>(range->hi - range->lo);
  auto lo = static_cast<uint64_t>(range->lo);
  return filled(spec, [&](int64_t i, void *element) {
    uint64_t bits = randomBits(seed, static_cast<uint64_t>(i)).first;
    auto step = static_cast<uint64_t>((width * bits) >> 64);
    storeInt(spec.type, element, static_cast<int64_t>(lo + step));
  });
}

Result<Tensor> uniformFloats(const GeneratorSpec &spec, uint64_t seed) {
  Result<FloatRange> range = floatRange(spec);
  if (!range)
    return range.takeError();
  // Rounding down keeps the result below hi and gives each value the share of its interval.
  double lo = range->lo, hi = range->hi, width = hi - lo;
  double belowHi = std::nextafter(hi, lo);
  return filled(spec, [&](int64_t i, void *element) {
    double u = randomUniform(seed, static_cast<uint64_t>(i));
    double value = std::min(std::fma(u, width, lo), belowHi);
    storeRoundingDown(spec.type, element, value);
    if (loadDouble(spec.type, element) < range->least)
      storeDouble(spec.type, element, range->least);
  });
}

Result<Tensor> uniform(const GeneratorSpec &spec, uint64_t seed) {
  if (isFloat(spec.type))
    return uniformFloats(spec, seed);
  if (isInteger(spec.type))
    return uniformIntegers(spec, seed);
  return filled(spec, [&](int64_t i, void *element) {
    storeInt(spec.type, element, randomBits(seed, static_cast<uint64_t>(i)).first >> 63);
  });
}

} // namespace

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

static Status checkUniform(const GeneratorSpec &spec) {
  if (spec.type == DType::Bool)
    return spec.lo ? Status(Error{"uniform of bool takes no range", "leave out LO and HI"})
                   : Status();
  if (isInteger(spec.type)) {
    Result<IntegerRange> range = integerRange(spec);
    return range ? Status() : Status(range.takeError());
  }
  Result<FloatRange> range = floatRange(spec);
  return range ? Status() : Status(range.takeError());
}

static Status checkArange(const GeneratorSpec &spec) {
  Result<int64_t> count = countElements(spec.type, spec.shape);
  if (!count)
    return count.takeError();
  double greatest =
      isFloat(spec.type) ? largestFinite(spec.type) : static_cast<double>(integerMax(spec.type));
  if (static_cast<double>(*count - 1) <= greatest)
    return {};
  return Error{"arange up to " + std::to_string(*count - 1) + " doesn't fit " +
                   std::string(nameOf(spec.type)),
               "use a wider type or fewer elements"};
}

Status checkGenerator(const GeneratorSpec &spec) {
  std::byte element[8];
  switch (spec.kind) {
  case Kind::Randn:
    if (!isFloat(spec.type))
      return Error{"randn gives fractions, which " + std::string(nameOf(spec.type)) + " can't hold",
                   "use uniform, or a float type"};
    return {};
  case Kind::Uniform:
    return checkUniform(spec);
  case Kind::Arange:
    return checkArange(spec);
  case Kind::Full:
    return storeScalar(*spec.value, spec.type, element);
  case Kind::Zeros:
  case Kind::Ones:
    return {};
  }
  return {};
}

Result<Tensor> generate(const GeneratorSpec &spec, uint64_t seed) {
  seed = spec.seed.value_or(seed);
  std::byte constant[8] = {};
  auto size = static_cast<size_t>(sizeOf(spec.type));
  auto copyConstant = [&](int64_t, void *element) { std::memcpy(element, constant, size); };
  switch (spec.kind) {
  case Kind::Randn:
    return filled(spec, [&](int64_t i, void *element) {
      storeDouble(spec.type, element, randomNormal(seed, static_cast<uint64_t>(i)));
    });
  case Kind::Uniform:
    return uniform(spec, seed);
  case Kind::Arange:
    return filled(spec, [&](int64_t i, void *element) { storeInt(spec.type, element, i); });
  case Kind::Ones:
    storeInt(spec.type, constant, 1);
    return filled(spec, copyConstant);
  case Kind::Full:
    if (Status fits = storeScalar(*spec.value, spec.type, constant); !fits)
      return fits.takeError();
    return filled(spec, copyConstant);
  case Kind::Zeros:
    break;
  }
  return filled(spec, copyConstant);
}

} // namespace tile::runtime
