#include "tests/runtime/TestSupport.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <map>

namespace tile::runtime {
namespace {

using test::expectError;
using test::freshSeed;

/// A float format by its definition, computed with ldexp; shares nothing with the library.
struct Format {
  DType type;
  int exponentBits, mantissaBits;
  bool hasInfinity;

  int bits() const { return 1 + exponentBits + mantissaBits; }
  uint32_t numPatterns() const { return 1u << bits(); }
  uint32_t signBit() const { return 1u << (bits() - 1); }

  double decode(uint32_t pattern) const {
    int bias = (1 << (exponentBits - 1)) - 1;
    auto exponent = static_cast<int>(pattern >> mantissaBits) & ((1 << exponentBits) - 1);
    auto mantissa = static_cast<int>(pattern & ((1u << mantissaBits) - 1));
    bool top = exponent == (1 << exponentBits) - 1;
    double magnitude;
    if (top && hasInfinity)
      magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN()
                           : std::numeric_limits<double>::infinity();
    else if (top && mantissa == (1 << mantissaBits) - 1)
      magnitude = std::numeric_limits<double>::quiet_NaN();
    else if (exponent == 0)
      magnitude = std::ldexp(mantissa, 1 - bias - mantissaBits);
    else
      magnitude = std::ldexp((1 << mantissaBits) + mantissa, exponent - bias - mantissaBits);
    return std::copysign(magnitude, pattern & signBit() ? -1.0 : 1.0);
  }

  /// The finite values that are not negative, ascending: value k has pattern k.
  std::vector<double> magnitudes() const {
    std::vector<double> result;
    for (uint32_t p = 0; p < signBit() && std::isfinite(decode(p)); ++p)
      result.push_back(decode(p));
    return result;
  }
};

const std::vector<Format> formats{{DType::F16, 5, 10, true},
                                  {DType::BF16, 8, 7, true},
                                  {DType::F8E4M3, 4, 3, false},
                                  {DType::F8E5M2, 5, 2, true}};

double load(DType type, uint32_t pattern) { return loadDouble(type, &pattern); }

uint32_t store(DType type, double value, Overflow overflow = Overflow::ToInfinity) {
  uint32_t pattern = 0;
  storeDouble(type, &pattern, value, overflow);
  return pattern;
}

/// Rounds to nearest even by searching the table of all values. `Wide` holds values, midpoints and
/// inputs exactly.
template <typename Wide>
uint32_t searchNearest(const Format &format, const std::vector<double> &table, Wide value) {
  uint32_t sign = std::signbit(value) ? format.signBit() : 0;
  Wide magnitude = std::abs(value);
  auto above = static_cast<uint32_t>(std::lower_bound(table.begin(), table.end(), magnitude) -
                                     table.begin());
  if (above == 0)
    return sign;
  auto below = above - 1;
  Wide low = table[below];
  // Beyond the table the next value would be one step of the last two further.
  Wide high = above < table.size() ? table[above] : low + (low - Wide(table[below - 1]));
  Wide toLow = magnitude - low, toHigh = high - magnitude;
  bool up = toHigh < toLow || (toHigh == toLow && below % 2 == 1);
  return sign | (up ? above : below);
}

TEST(DTypeTest, decodesEveryPattern) {
  for (const Format &format : formats)
    for (uint32_t p = 0; p < format.numPatterns(); ++p) {
      double expected = format.decode(p), actual = load(format.type, p);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(actual)) << nameOf(format.type) << " " << p;
      else
        ASSERT_EQ(actual, expected) << nameOf(format.type) << " " << p;
      ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << nameOf(format.type) << " " << p;
    }
}

TEST(DTypeTest, everyPatternSurvivesARoundTrip) {
  for (const Format &format : formats)
    for (uint32_t p = 0; p < format.numPatterns(); ++p) {
      uint32_t back = store(format.type, load(format.type, p));
      if (!std::isnan(format.decode(p)))
        ASSERT_EQ(back, p) << nameOf(format.type);
      else
        ASSERT_TRUE(std::isnan(format.decode(back)) && (back ^ p) < format.signBit()) << p;
    }
}

TEST(DTypeTest, roundsBetweenAllNeighboursToNearestEven) {
  for (const Format &format : formats) {
    std::vector<double> table = format.magnitudes();
    for (uint32_t p = 0; p + 1 < table.size(); ++p) {
      double middle = (table[p] + table[p + 1]) / 2; // exact: one bit more than the format has
      double under = std::nextafter(middle, 0), over = std::nextafter(middle, 1e300);
      ASSERT_EQ(store(format.type, middle), p + (p & 1)) << nameOf(format.type) << " " << p;
      ASSERT_EQ(store(format.type, under), p) << nameOf(format.type) << " " << p;
      ASSERT_EQ(store(format.type, over), p + 1) << nameOf(format.type) << " " << p;
      ASSERT_EQ(store(format.type, -middle), (p + (p & 1)) | format.signBit());
      ASSERT_EQ(store(format.type, -under), p | format.signBit());
      ASSERT_EQ(store(format.type, -over), (p + 1) | format.signBit());
    }
  }
}

TEST(DTypeTest, roundsRandomDoublesAsASearchDoes) {
  uint64_t seed = freshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  for (const Format &format : formats) {
    std::vector<double> table = format.magnitudes();
    std::uniform_real_distribution<double> exponent(std::log2(table[1]) - 3,
                                                    std::log2(table.back()) + 1);
    for (int i = 0; i < 100'000; ++i) {
      double value = std::exp2(exponent(engine)) * (engine() % 2 ? 1 : -1);
      ASSERT_EQ(store(format.type, value), searchNearest(format, table, value))
          << nameOf(format.type) << " " << value;
    }
  }
}

TEST(DTypeTest, overflowsAtHalfAStepBeyondTheGreatest) {
  for (const Format &format : formats) {
    std::vector<double> table = format.magnitudes();
    auto last = static_cast<uint32_t>(table.size() - 1);
    double greatest = table[last];
    EXPECT_EQ(largestFinite(format.type), greatest);
    double tie = greatest + (greatest - table[last - 1]) / 2;
    // The greatest e4m3 value is even, so its tie stays; the others are odd.
    EXPECT_EQ(store(format.type, tie), last + (last & 1)) << nameOf(format.type);
    EXPECT_EQ(store(format.type, std::nextafter(tie, 0)), last);
    for (double beyond : {std::nextafter(tie, 1e300), 1e300, HUGE_VAL}) {
      double stored = load(format.type, store(format.type, beyond));
      EXPECT_TRUE(format.hasInfinity ? std::isinf(stored) : std::isnan(stored)) << beyond;
      EXPECT_EQ(store(format.type, beyond, Overflow::Saturate), last) << beyond;
      EXPECT_EQ(store(format.type, -beyond, Overflow::Saturate), last | format.signBit());
    }
    double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(std::isnan(load(format.type, store(format.type, nan, Overflow::Saturate))));
  }
  EXPECT_EQ(largestFinite(DType::F8E4M3), 448);
  EXPECT_EQ(largestFinite(DType::F8E5M2), 57344);
  EXPECT_EQ(largestFinite(DType::F16), 65504);
  EXPECT_EQ(largestFinite(DType::F32), FLT_MAX);
  EXPECT_EQ(load(DType::F32, store(DType::F32, -1e300, Overflow::Saturate)), -FLT_MAX);
}

TEST(DTypeTest, roundsOnceNotThroughFloat) {
  // Through f32 the last bit is lost and a tie appears that goes to even.
  EXPECT_EQ(halfToDouble(doubleToHalf(1 + 0x1p-11 + 0x1p-40)), 1 + 0x1p-10);
  EXPECT_EQ(bfloat16ToDouble(doubleToBfloat16(1 + 0x1p-8 + 0x1p-40)), 1 + 0x1p-7);
  EXPECT_EQ(halfToDouble(doubleToHalf(0x1p-25 + 0x1p-70)), 0x1p-24);
  EXPECT_EQ(doubleToHalf(0x1p-25), 0);
  EXPECT_EQ(doubleToHalf(-0x1p-26), 0x8000);
  EXPECT_EQ(doubleToHalf(std::numeric_limits<double>::denorm_min()), 0);
}

#ifdef __FLT16_MAX__
TEST(DTypeTest, agreesWithTheCompilersHalf) {
  uint64_t seed = freshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  for (uint32_t p = 0; p < 65536; ++p) {
    auto half = std::bit_cast<_Float16>(static_cast<uint16_t>(p));
    double expected = half;
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(halfToDouble(static_cast<uint16_t>(p))));
    else
      ASSERT_EQ(halfToDouble(static_cast<uint16_t>(p)), expected);
  }
  for (int i = 0; i < 1'000'000; ++i) {
    // Exponents from far below the least half to far above the greatest.
    uint64_t exponent = 1023 - 40 + engine() % 64;
    auto value = std::bit_cast<double>((engine() & 0x800fffffffffffff) | exponent << 52);
    ASSERT_EQ(doubleToHalf(value), std::bit_cast<uint16_t>(static_cast<_Float16>(value))) << value;
  }
}
#endif

TEST(DTypeTest, integersRoundOnceToEveryFloat) {
  if (std::numeric_limits<long double>::digits < 64)
    GTEST_SKIP() << "long double can't hold every int64_t";
  uint64_t seed = freshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  for (const Format &format : formats) {
    std::vector<double> table = format.magnitudes();
    auto check = [&](int64_t value) {
      uint32_t pattern = 0;
      storeInt(format.type, &pattern, value);
      uint32_t expected = value ? searchNearest<long double>(format, table, value) : 0;
      ASSERT_EQ(pattern, expected) << nameOf(format.type) << " " << value;
    };
    for (int i = 0; i < 20'000; ++i)
      check(static_cast<int64_t>(engine()) >> (engine() % 64));
    // One above and below ties, far beyond what a double tells apart.
    for (int shift = 54; shift < 63; ++shift)
      for (int64_t off : {-1, 0, 1}) {
        int64_t tie = (int64_t(1) << shift) + (int64_t(1) << (shift - 1 - format.mantissaBits));
        check(tie + off);
        check(-tie - off);
      }
    check(std::numeric_limits<int64_t>::min());
    check(std::numeric_limits<int64_t>::max());
  }
  float single;
  storeInt(DType::F32, &single, (int64_t(1) << 60) + (int64_t(1) << 36) + 1);
  EXPECT_EQ(single, std::ldexp(1.0 + 0x1p-23, 60));
}

TEST(DTypeTest, doublesBecomeIntegersBySaturation) {
  for (DType type : allDTypes()) {
    if (!isInteger(type))
      continue;
    auto stored = [&](double value) {
      int64_t element = 0;
      storeDouble(type, &element, value);
      return loadInt(type, &element);
    };
    SCOPED_TRACE(nameOf(type));
    EXPECT_EQ(stored(42.99), 42);
    EXPECT_EQ(stored(-0.99), 0);
    EXPECT_EQ(stored(std::nan("")), 0);
    EXPECT_EQ(stored(-42.99), isSigned(type) ? -42 : 0);
    EXPECT_EQ(stored(HUGE_VAL), static_cast<int64_t>(integerMax(type)));
    EXPECT_EQ(stored(0x1p64), static_cast<int64_t>(integerMax(type)));
    EXPECT_EQ(stored(-HUGE_VAL), integerMin(type));
    EXPECT_EQ(stored(-1e30), integerMin(type));
  }
  uint64_t large = 0;
  storeDouble(DType::U64, &large, 0x1p63);
  EXPECT_EQ(large, uint64_t(1) << 63);
  EXPECT_EQ(loadDouble(DType::U64, &large), 0x1p63);
}

TEST(DTypeTest, integersWrapAndExtend) {
  for (DType type : allDTypes()) {
    if (!isInteger(type))
      continue;
    int64_t element = 0;
    storeInt(type, &element, -2);
    int64_t bits = 8 * sizeOf(type);
    int64_t expected = isSigned(type) || bits == 64 ? -2 : (int64_t(1) << bits) - 2;
    EXPECT_EQ(loadInt(type, &element), expected) << nameOf(type);
    storeInt(type, &element, static_cast<int64_t>(integerMax(type)));
    EXPECT_EQ(loadDouble(type, &element), static_cast<double>(integerMax(type))) << nameOf(type);
    storeInt(type, &element, integerMin(type));
    EXPECT_EQ(loadDouble(type, &element), static_cast<double>(integerMin(type))) << nameOf(type);
  }
  uint8_t truth = 0;
  storeInt(DType::Bool, &truth, 256);
  EXPECT_EQ(truth, 1);
  storeDouble(DType::Bool, &truth, -0.0);
  EXPECT_EQ(truth, 0);
  storeDouble(DType::Bool, &truth, 0.25);
  EXPECT_EQ(truth, 1);
}

TEST(DTypeTest, floatsBecomeIntegers) {
  float value = -3.75f;
  EXPECT_EQ(loadInt(DType::F32, &value), -3);
  double large = 1e30;
  EXPECT_EQ(loadInt(DType::F64, &large), std::numeric_limits<int64_t>::max());
}

TEST(DTypeTest, namesAndSizes) {
  std::map<std::string, int64_t> sizes{{"bool", 1}, {"i8", 1},     {"i16", 2},   {"i32", 4},
                                       {"i64", 8},  {"u8", 1},     {"u16", 2},   {"u32", 4},
                                       {"u64", 8},  {"f16", 2},    {"bf16", 2},  {"f32", 4},
                                       {"f64", 8},  {"f8e4m3", 1}, {"f8e5m2", 1}};
  EXPECT_EQ(allDTypes().size(), sizes.size());
  for (DType type : allDTypes()) {
    std::string name(nameOf(type));
    EXPECT_EQ(sizeOf(type), sizes.at(name)) << name;
    EXPECT_EQ(isFloat(type), name.find('f') != std::string::npos) << name;
    EXPECT_EQ(isInteger(type), name[0] == 'i' || name[0] == 'u') << name;
    EXPECT_EQ(isSigned(type), name[0] == 'i' || isFloat(type)) << name;
    Result<DType> parsed = parseDType(name);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, type);
  }
}

TEST(DTypeTest, unknownNamesHintAtTheNearest) {
  std::map<std::string, std::string> meant{
      {"float32", "f32"}, {"Float16", "f16"}, {"bf61", "bf16"},       {"u23", "u32"},
      {"int", "i32"},     {"F32", "f32"},     {"f8e4m3fn", "f8e4m3"}, {"boool", "bool"}};
  for (const auto &[text, name] : meant) {
    expectError(parseDType(text), "unknown type '" + text + "'");
    EXPECT_EQ(parseDType(text).error().hint.find("did you mean " + name + "?"), 0u) << text;
  }
  expectError(parseDType("complex128"), "unknown type 'complex128'");
  EXPECT_EQ(parseDType("quaternion").error().hint.find("did you mean"), std::string::npos);
  expectError(parseDType(""), "unknown type");
}

} // namespace
} // namespace tile::runtime
