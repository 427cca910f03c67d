// Casts bit for bit, on interpreter and CPU, against a reference of its own: the list of all
// numbers that a format has, made from its definition, searched in exact arithmetic.

#include "tests/frontend/ApiTestSupport.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

using namespace tile;
using namespace tile::test;

namespace {

/// A float format of 8 or 16 bits, by its definition.
struct Format {
  Type type;
  int exponentBits, mantissaBits;
  bool hasInfinity; // else the greatest exponent has numbers, and NaN is all ones
  int width() const { return 1 + exponentBits + mantissaBits; }
};

const Format f8e4m3Format{f8e4m3, 4, 3, false}, f8e5m2Format{f8e5m2, 5, 2, true};
const Format f16Format{f16, 5, 10, true}, bf16Format{bf16, 8, 7, true};
const Format formats[] = {f8e4m3Format, f8e5m2Format, f16Format, bf16Format};

/// The value of a code. Exact: a double holds all of them.
double valueOf(const Format &format, unsigned code) {
  int bias = (1 << (format.exponentBits - 1)) - 1, top = (1 << format.exponentBits) - 1;
  double sign = code >> (format.width() - 1) & 1 ? -1 : 1;
  int exponent = static_cast<int>(code >> format.mantissaBits) & top;
  int mantissa = static_cast<int>(code & ((1u << format.mantissaBits) - 1));
  if (exponent == top && format.hasInfinity)
    return mantissa ? NAN : sign * INFINITY;
  if (exponent == top && mantissa == (1 << format.mantissaBits) - 1)
    return NAN;
  int scale = std::max(exponent, 1) - bias - format.mantissaBits;
  return sign * std::ldexp(mantissa + (exponent ? 1 << format.mantissaBits : 0), scale);
}

struct Modifiers {
  bool saturates, towardZero;
};
const Modifiers allModifiers[] = {{false, false}, {true, false}, {false, true}, {true, true}};

/// Casts doubles to a format by looking them up among its finite numbers.
class Reference {
public:
  explicit Reference(const Format &format) : format(format) {
    for (unsigned code = 0; code < 1u << (format.width() - 1); ++code)
      if (std::isfinite(valueOf(format, code)))
        numbers.push_back(valueOf(format, code)); // in increasing order; code is the position
  }

  const std::vector<double> &all() const { return numbers; }

  /// The code, or -1 for any NaN.
  int cast(double x, Modifiers modifiers) const {
    if (std::isnan(x))
      return -1;
    unsigned sign = std::signbit(x) ? 1u << (format.width() - 1) : 0;
    std::optional<unsigned> code = magnitude(std::fabs(x), modifiers);
    return code ? static_cast<int>(sign | *code) : -1;
  }

  /// What comes after the greatest number, were there one: from half the way it is rounded to.
  double next() const { return 2 * numbers.back() - numbers[numbers.size() - 2]; }

private:
  std::optional<unsigned> magnitude(double x, Modifiers modifiers) const {
    auto last = static_cast<unsigned>(numbers.size() - 1);
    std::optional<unsigned> beyond;
    if (format.hasInfinity)
      beyond = last + 1;
    if (modifiers.saturates)
      beyond = last;
    if (std::isinf(x))
      return beyond;
    auto above = std::upper_bound(numbers.begin(), numbers.end(), x);
    auto below = static_cast<unsigned>(above - numbers.begin() - 1);
    if (modifiers.towardZero)
      return below;
    double high = below == last ? next() : *above;
    // Doubles this near each other have exact differences.
    double down = x - numbers[below], up = high - x;
    bool roundsUp = x >= high || up < down || (up == down && below % 2 == 1);
    if (!roundsUp)
      return below;
    return below == last ? beyond : std::optional(below + 1);
  }

  const Format &format;
  std::vector<double> numbers;
};

uint64_t bitsAt(const Tensor &tensor, int64_t index, int width) {
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.data() + index * (width / 8), static_cast<size_t>(width / 8));
  return bits;
}

template <typename T>
Tensor tensorOf(Type type, const std::vector<T> &values) {
  Result<Tensor> tensor = Tensor::create(type, {static_cast<int64_t>(values.size())});
  std::memcpy(tensor->data(), values.data(), values.size() * sizeof(T));
  return *std::move(tensor);
}

/// A kernel that casts in four ways; outputs y0 to y3.
void addCast(Module &module, Type from, Type to) {
  EXPECT_TRUE(module.kernel("cast", [&](Kernel &k) {
    Extent N = k.dim("N");
    auto x = k.input("x", from, {N});
    auto y0 = k.output("y0", to, {N});
    auto y1 = k.output("y1", to, {N});
    auto y2 = k.output("y2", to, {N});
    auto y3 = k.output("y3", to, {N});
    k.parallel(tiles("i", N), [&](Span i) {
      y0[i] = to(x[i]);
      y1[i] = to(x[i], sat);
      y2[i] = to(x[i], toward_zero);
      y3[i] = to(x[i], sat, toward_zero);
    });
    k.schedule("i", 1000); // partial vectors, too
  })) << module.errorText();
}

/// Runs the four casts of `inputs`, whose values are `exact`, and compares all bits.
void expectCasts(const Tensor &inputs, const std::vector<double> &exact, const Format &to,
                 bool isInteger = false) {
  Module module;
  addCast(module, inputs.dtype(), to.type);
  Reference reference(to);
  for (Device device : devices) {
    Result<Function> function = module.compile("cast", {.device = device});
    ASSERT_TRUE(function) << function.error().str();
    Result<Outputs> outputs = (*function)({{"x", inputs}});
    ASSERT_TRUE(outputs) << outputs.error().str();
    for (unsigned way = 0; way < 4; ++way) {
      const Tensor &y = *outputs->at("y" + std::to_string(way));
      for (size_t n = 0, wrong = 0; n < exact.size() && wrong < 5; ++n) {
        auto code = static_cast<unsigned>(bitsAt(y, static_cast<int64_t>(n), to.width()));
        int expected = reference.cast(exact[n], allModifiers[way]);
        bool isRight =
            expected < 0 ? std::isnan(valueOf(to, code)) : code == static_cast<unsigned>(expected);
        if (!isRight && ++wrong)
          ADD_FAILURE() << to.type.name() << " of " << std::hexfloat << exact[n] << " in way "
                        << way << ": " << std::hex << code << ", not " << expected << " on "
                        << (device == Device::Cpu ? "cpu" : "interp");
      }
    }
  }
}

//===-- From narrow formats: all codes ------------------------------------===//

TEST(ApiCast, allCodesOfNarrowFormats) {
  for (const Format &from : formats) {
    unsigned count = 1u << from.width();
    std::vector<double> exact;
    std::vector<uint8_t> bytes;
    std::vector<uint16_t> words;
    for (unsigned code = 0; code < count; ++code) {
      exact.push_back(valueOf(from, code));
      bytes.push_back(static_cast<uint8_t>(code));
      words.push_back(static_cast<uint16_t>(code));
    }
    Tensor inputs = from.width() == 8 ? tensorOf(from.type, bytes) : tensorOf(from.type, words);
    for (const Format &to : formats)
      expectCasts(inputs, exact, to);
  }
}

/// Widening is exact, for every code.
TEST(ApiCast, allCodesWidened) {
  for (const Format &from : formats) {
    Module module;
    EXPECT_TRUE(module.kernel("wide", [&](Kernel &k) {
      Extent N = k.dim("N");
      auto x = k.input("x", from.type, {N});
      auto y = k.output("y", f32, {N});
      auto z = k.output("z", f64, {N});
      k.parallel(tiles("i", N), [&](Span i) {
        y[i] = f32(x[i]);
        z[i] = f64(x[i]);
      });
    })) << module.errorText();
    std::vector<uint8_t> bytes;
    std::vector<uint16_t> words;
    for (unsigned code = 0; code < 1u << from.width(); ++code) {
      bytes.push_back(static_cast<uint8_t>(code));
      words.push_back(static_cast<uint16_t>(code));
    }
    Tensor inputs = from.width() == 8 ? tensorOf(from.type, bytes) : tensorOf(from.type, words);
    for (Device device : devices)
      for (const char *output : {"y", "z"}) {
        auto wide = run(module, "wide", {{"x", inputs}}, output, device);
        ASSERT_TRUE(wide);
        for (unsigned code = 0; code < bytes.size(); ++code) {
          double expected = valueOf(from, code), value = wide->getDouble(code);
          EXPECT_TRUE(std::isnan(expected)
                          ? std::isnan(value)
                          : std::bit_cast<uint64_t>(value) == std::bit_cast<uint64_t>(expected))
              << from.type.name() << " " << code << " " << output;
        }
      }
  }
}

//===-- From f32 and f64: every boundary ----------------------------------===//

/// Numbers, midpoints and thresholds of a format with their neighbours in T, and the ends of T.
template <typename T>
std::vector<T> boundaries(const Format &to) {
  Reference reference(to);
  std::vector<double> numbers = reference.all();
  numbers.push_back(reference.next());
  std::vector<T> result;
  auto add = [&](double x) {
    auto near = static_cast<T>(x);
    for (T each : {near, std::nextafter(near, T(0)), std::nextafter(near, T(INFINITY))}) {
      result.push_back(each);
      result.push_back(-each);
    }
  };
  for (size_t n = 0; n < numbers.size(); ++n) {
    add(numbers[n]);
    if (n + 1 < numbers.size())
      add((numbers[n] + numbers[n + 1]) / 2); // exact in f32, too, but for bf16's subnormals' tie
  }
  using Limits = std::numeric_limits<T>;
  for (T each : {Limits::denorm_min(), Limits::min(), Limits::max(), Limits::infinity(),
                 Limits::quiet_NaN(), T(0), T(1e30), T(1e-30), T(3)})
    add(each);
  std::mt19937_64 engine(7);
  for (int n = 0; n < 20000; ++n) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    result.push_back(std::bit_cast<T>(static_cast<Bits>(engine())));
  }
  return result;
}

template <typename T>
void expectBoundaries(Type from) {
  for (const Format &to : formats) {
    std::vector<T> values = boundaries<T>(to);
    expectCasts(tensorOf(from, values), std::vector<double>(values.begin(), values.end()), to);
  }
}

TEST(ApiCast, boundariesOfF32) { expectBoundaries<float>(f32); }
TEST(ApiCast, boundariesOfF64) { expectBoundaries<double>(f64); }

/// f64 to f32: as the neighbours in f32 that C's nextafter gives say.
TEST(ApiCast, doubleToSingle) {
  Module module;
  addCast(module, f64, f32);
  std::vector<double> x;
  std::mt19937_64 engine(11);
  for (int n = 0; n < 20000; ++n) {
    auto near = std::bit_cast<float>(static_cast<uint32_t>(engine()));
    double middle = near + (double(std::nextafterf(near, INFINITY)) - near) / 2;
    for (double each : {double(near), middle, std::nextafter(middle, 0.0),
                        std::nextafter(middle, double(INFINITY))})
      x.push_back(each);
    x.push_back(std::bit_cast<double>(engine()));
  }
  const double most = std::numeric_limits<float>::max(), past = most + std::ldexp(1, 103);
  for (double each : {most, past, std::nextafter(past, 0.0), std::nextafter(past, 1e300), 1e300,
                      double(INFINITY), 1e-320, 1e-45, 7e-46, 0.0, double(NAN)})
    for (double sign : {1, -1})
      x.push_back(sign * each);
  Tensor inputs = tensorOf(f64, x);
  for (Device device : devices) {
    Result<Outputs> outputs = (*module.compile("cast", {.device = device}))({{"x", inputs}});
    ASSERT_TRUE(outputs) << outputs.error().str();
    for (unsigned way = 0; way < 4; ++way)
      for (size_t n = 0, wrong = 0; n < x.size() && wrong < 5; ++n) {
        double y = outputs->at("y" + std::to_string(way))->getDouble(static_cast<int64_t>(n));
        double in = x[n];
        if (std::isnan(in)) {
          wrong += !std::isnan(y);
          EXPECT_TRUE(std::isnan(y));
          continue;
        }
        // The greatest f32 not beyond x in magnitude, and the next.
        double size = std::fabs(in), low = 0;
        if (std::isinf(in))
          low = INFINITY;
        else if (size >= most)
          low = most;
        else if (float near = static_cast<float>(size); double(near) <= size)
          low = near;
        else
          low = std::nextafterf(near, 0.0f);
        double high =
            low == most ? std::ldexp(1, 128) : double(std::nextafterf(float(low), float(INFINITY)));
        double expected = low;
        if (!allModifiers[way].towardZero && std::isfinite(in)) {
          double down = size - low, up = high - size;
          bool isOdd = std::bit_cast<uint32_t>(static_cast<float>(low)) & 1;
          if (size >= high || up < down || (up == down && isOdd))
            expected = low == most ? INFINITY : high;
        }
        if (allModifiers[way].saturates)
          expected = std::min(expected, most);
        bool isRight = std::fabs(y) == expected && std::signbit(y) == std::signbit(in);
        wrong += !isRight;
        EXPECT_TRUE(isRight) << std::hexfloat << in << " to " << y << ", not " << expected
                             << " in way " << way;
      }
  }
}

//===-- Integers ----------------------------------------------------------===//

/// Integers around numbers and midpoints of the format, as far as they reach: they are rounded
/// once, also where f32 and f64 can't hold them.
template <typename T>
void expectIntegers(Type from) {
  using Limits = std::numeric_limits<T>;
  for (const Format &to : formats) {
    Reference reference(to);
    std::vector<T> values = {0, 1, 2, 3, Limits::min(), Limits::max(), Limits::max() - 1};
    std::vector<double> numbers = reference.all();
    numbers.push_back(reference.next());
    for (size_t n = 1; n < numbers.size(); ++n)
      for (double center : {numbers[n], (numbers[n - 1] + numbers[n]) / 2})
        if (center >= 1 && center < std::ldexp(1, Limits::digits - 1))
          for (int64_t offset : {-1, 0, 1}) {
            auto value = static_cast<T>(static_cast<int64_t>(center) + offset);
            values.push_back(value);
            if (std::is_signed_v<T>)
              values.push_back(static_cast<T>(-value));
          }
    Module module;
    bool overflows = static_cast<double>(Limits::max()) > reference.all().back();
    EXPECT_TRUE(module.kernel("cast", [&](Kernel &k) {
      Extent N = k.dim("N");
      auto x = k.input("x", from, {N});
      auto y0 = k.output("y0", to.type, {N});
      auto y1 = k.output("y1", to.type, {N});
      k.parallel(tiles("i", N), [&](Span i) {
        y0[i] = to.type(x[i]);
        y1[i] = overflows ? to.type(x[i], sat) : to.type(x[i]);
      });
    })) << module.errorText();
    Tensor inputs = tensorOf(from, values);
    for (Device device : devices) {
      Result<Outputs> outputs = (*module.compile("cast", {.device = device}))({{"x", inputs}});
      ASSERT_TRUE(outputs) << outputs.error().str();
      for (size_t n = 0; n < values.size(); ++n) {
        // What a double can't hold is no midpoint of the format: a bit below says so as well.
        auto magnitude =
            values[n] < 0 ? 0 - static_cast<uint64_t>(values[n]) : static_cast<uint64_t>(values[n]);
        if (magnitude >> 53)
          magnitude = (magnitude & ~uint64_t(0x7ff)) | (magnitude & 0x7ff ? 0x800 : 0);
        double exact = static_cast<double>(magnitude) * (values[n] < 0 ? -1 : 1);
        for (unsigned way = 0; way < 2; ++way) {
          auto code = static_cast<unsigned>(
              bitsAt(*outputs->at("y" + std::to_string(way)), static_cast<int64_t>(n), to.width()));
          int expected = reference.cast(exact, {way == 1, false});
          if (expected < 0)
            EXPECT_TRUE(std::isnan(valueOf(to, code))) << values[n];
          else
            EXPECT_EQ(code, static_cast<unsigned>(expected))
                << to.type.name() << " of " << +values[n] << ", way " << way;
        }
      }
    }
  }
}

TEST(ApiCast, integersToNarrowFormats) {
  expectIntegers<int8_t>(i8);
  expectIntegers<uint16_t>(u16);
  expectIntegers<int32_t>(i32);
  expectIntegers<uint32_t>(u32);
  expectIntegers<int64_t>(i64);
  expectIntegers<uint64_t>(u64);
}

TEST(ApiCast, integersSaturate) {
  Module module;
  EXPECT_TRUE(module.kernel("cast", [&](Kernel &k) {
    Extent N = k.dim("N");
    auto x = k.input("x", i32, {N});
    auto u = k.input("u", u64, {N});
    auto f = k.input("f", f32, {N});
    auto a = k.output("a", i8, {N});
    auto b = k.output("b", u8, {N});
    auto c = k.output("c", u32, {N});
    auto d = k.output("d", i64, {N});
    auto e = k.output("e", i16, {N});
    auto g = k.output("g", u8, {N});
    auto h = k.output("h", i8, {N});
    k.parallel(tiles("i", N), [&](Span i) {
      a[i] = i8(x[i], sat);
      b[i] = u8(x[i], sat);
      c[i] = u32(x[i], sat);
      d[i] = i64(u[i], sat);
      e[i] = i16(u[i], sat);
      g[i] = u8(f[i], sat, toward_zero);
      h[i] = i8(300, sat);
    });
  })) << module.errorText();
  std::vector<int32_t> x = {0, 1, -1, 127, 128, -128, -129, 255, 256, INT32_MAX, INT32_MIN};
  std::vector<uint64_t> u(x.size());
  std::vector<float> f(x.size());
  for (size_t n = 0; n < x.size(); ++n) {
    u[n] = n % 2 ? ~uint64_t(0) >> n : (uint64_t(1) << 63) - 1 + n;
    f[n] = static_cast<float>(x[n]) * 1.25f;
  }
  u[3] = 32767, u[4] = 32768;
  Tensor xs = tensorOf(i32, x), us = tensorOf(u64, u), fs = tensorOf(f32, f);
  for (Device device : devices) {
    Result<Outputs> outputs =
        (*module.compile("cast", {.device = device}))({{"x", xs}, {"u", us}, {"f", fs}});
    ASSERT_TRUE(outputs) << outputs.error().str();
    for (size_t n = 0; n < x.size(); ++n) {
      auto at = [&](const char *name, int width) {
        return bitsAt(*outputs->at(name), static_cast<int64_t>(n), width);
      };
      EXPECT_EQ(static_cast<int8_t>(at("a", 8)), std::clamp(x[n], -128, 127));
      EXPECT_EQ(at("b", 8), static_cast<uint64_t>(std::clamp(x[n], 0, 255)));
      EXPECT_EQ(at("c", 32), static_cast<uint64_t>(std::max(x[n], 0)));
      EXPECT_EQ(at("d", 64), std::min<uint64_t>(u[n], INT64_MAX));
      EXPECT_EQ(at("e", 16), std::min<uint64_t>(u[n], INT16_MAX));
      EXPECT_EQ(at("g", 8), static_cast<uint64_t>(std::clamp(std::trunc(f[n]), 0.0f, 255.0f)));
      EXPECT_EQ(at("h", 8), 127u);
    }
  }
}

//===-- Misuse ------------------------------------------------------------===//

std::string errorOf(Type from, Type to, CastModifier modifier) {
  Module module;
  module.kernel("k", [&](Kernel &k) {
    Extent N = k.dim("N");
    auto x = k.input("x", from, {N});
    auto y = k.output("y", to, {N});
    k.parallel(tiles("i", N), [&](Span i) { y[i] = to(x[i], modifier); });
  });
  return module.ok() ? "" : module.errors()[0].message;
}

TEST(ApiCast, modifiersThatSayNothing) {
  EXPECT_EQ(errorOf(f16, f32, sat), "`sat` on a cast of f16 to f32: no value is too large");
  EXPECT_EQ(errorOf(f32, f32, toward_zero),
            "`toward_zero` on a cast of f32 to f32: nothing is rounded");
  EXPECT_EQ(errorOf(i64, f32, toward_zero),
            "`toward_zero` on a cast of i64 to f32: integers become floats to nearest");
  EXPECT_EQ(errorOf(i32, i8, toward_zero),
            "`toward_zero` on a cast of i32 to i8: nothing is rounded");
  EXPECT_EQ(errorOf(u8, i16, sat), "`sat` on a cast of u8 to i16: no value is too large");
  EXPECT_EQ(errorOf(i16, f8e5m2, sat), "`sat` on a cast of i16 to f8e5m2: no value is too large");
  EXPECT_EQ(errorOf(f32, boolean, sat),
            "`sat` on a cast of f32 to bool: to bool is a comparison with 0");
  // What says something.
  for (Type to : {f8e4m3, f8e5m2, f16, bf16, i8, u32})
    EXPECT_EQ(errorOf(f32, to, sat) + errorOf(bf16, to, toward_zero), "");
  EXPECT_EQ(errorOf(u16, f16, sat) + errorOf(i16, f8e4m3, sat) + errorOf(i8, u8, sat), "");
}
} // namespace
