// Every elementwise op against arithmetic of the host: exhaustively on small types, on random and
// special numbers elsewhere.

#include "ir/interpreter/InterpreterNumbers.h"
#include "tests/ir/InterpreterTestSupport.h"

#include <array>
#include <bit>
#include <functional>
#include <random>

using namespace tile::ir;
using namespace tile::ir::test;

namespace {
class InterpreterElementwiseTest : public IrTest {
protected:
  /// A kernel of one statement on %a, %b, %c of types !a, !b, !c that defines %r of type !r.
  static std::string kernel(const std::string &statement, const std::vector<std::string> &types,
                            const std::string &resultType) {
    std::string text = "#n = affine_map<()[n] -> (n)>\n#id = affine_map<(d0) -> (d0)>\n";
    std::string params, loads;
    for (size_t p = 0; p <= types.size(); ++p) {
      bool isResult = p == types.size();
      std::string name(1, isResult ? 'r' : char('a' + p)), type = isResult ? resultType : types[p];
      text += "!" + name + " = tensor<16x" + type + ", #tile.axes<\"i\">>\n";
      params += std::string(p ? ", " : "") + "%m" + name + ": memref<?x" + type +
                "> {tile.name = \"" + name + "\", tile.mode = \"" + (isResult ? "out" : "in") +
                "\", tile.shape = #n}";
      if (!isResult)
        loads += "%" + name + " = tile.load %m" + name + " at #id(%i)[] <exact> : memref<?x" +
                 type + ">, (!tile.span<\"i\", 16>) -> !" + name + "\n";
    }
    return text + "tile.kernel @op(" + params + ") attributes {dims = [\"N\"], consts = {N}} {\n" +
           "%c0 = arith.constant 0 : i64\n%N = tile.dim \"N\"\n" +
           "tile.parallel (%i = tiles \"i\" %c0 to %N by 16) {\n" + loads + statement +
           "\ntile.store %r, %mr at #id(%i)[] : !r, memref<?x" + resultType +
           ">, (!tile.span<\"i\", 16>)\n}\ntile.return\n}";
  }

  /// Applies the statement to all elements and compares the bits with the reference's.
  template <typename R, typename... T>
  void check(const std::string &statement, const std::vector<std::string> &types,
             const std::string &resultType, std::type_identity_t<std::function<R(T...)>> reference,
             Tensor<T>... operands) {
    SCOPED_TRACE(statement);
    int64_t size = std::max({operands.shape[0]...});
    Tensor<R> result({size});
    InterpreterResult outcome = run(kernel(statement, types, resultType), {{"N", size}}, {},
                                    {operands.argument()..., result.argument()}, false);
    ASSERT_TRUE(outcome.ok()) << outcome.message;
    for (int64_t n = 0; n < size; ++n) {
      R expected = reference(operands(n)...), actual = result(n);
      std::string where;
      ((where += " " + std::to_string(double(operands(n)))), ...);
      if constexpr (std::is_floating_point_v<R>)
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(actual)) << "of" << where;
          continue;
        }
      ASSERT_EQ(std::memcmp(&expected, &actual, sizeof(R)), 0)
          << double(actual) << " instead of " << double(expected) << " of" << where;
    }
  }

  /// Floats of all magnitudes, and the special ones.
  template <typename T>
  Tensor<T> floats(int64_t size) {
    using Limits = std::numeric_limits<T>;
    const T special[] = {T(0),
                         -T(0),
                         T(1),
                         T(-1),
                         T(0.5),
                         T(2.5),
                         T(-1.5),
                         Limits::infinity(),
                         T(3),
                         Limits::min(),
                         Limits::max(),
                         -Limits::infinity(),
                         T(1e9),
                         -T(127.5),
                         Limits::denorm_min(),
                         Limits::quiet_NaN()};
    Tensor<T> result({size});
    for (T &x : result.data) {
      int kind = random() % 4;
      double mantissa = std::uniform_real_distribution<double>(-2, 2)(random);
      int scale = kind == 1 ? int(random() % 200) - 100 : 0;
      x = kind == 0 ? special[random() % std::size(special)] : T(std::ldexp(mantissa, scale));
    }
    return result;
  }

  template <typename T>
  Tensor<T> integers(int64_t size) {
    Tensor<T> result({size});
    for (T &x : result.data)
      x = static_cast<T>(random()) >> (random() % (8 * sizeof(T)));
    return result;
  }

  /// All 65536 pairs of bytes.
  std::pair<Tensor<int8_t>, Tensor<int8_t>> bytePairs() {
    Tensor<int8_t> a({65536}), b({65536});
    for (int n = 0; n < 65536; ++n)
      a.data[n] = static_cast<int8_t>(n), b.data[n] = static_cast<int8_t>(n >> 8);
    return {a, b};
  }

  void checkBytes(const std::string &op, std::function<int(int, int)> reference) {
    auto [a, b] = bytePairs();
    check<int8_t, int8_t, int8_t>(
        "%r = " + op + " %a, %b : !r", {"i8", "i8"}, "i8",
        [&](int8_t x, int8_t y) { return static_cast<int8_t>(reference(x, y)); }, a, b);
  }
  void checkBytesUnsigned(const std::string &op, std::function<int(int, int)> reference) {
    checkBytes(op, [&](int x, int y) { return reference(x & 255, y & 255); });
  }
};

int floorDivide(int x, int y) { return y ? int(std::floor(double(x) / y)) : 0; }

//===-- Integers ----------------------------------------------------------===//

TEST_F(InterpreterElementwiseTest, ByteArithmetic) {
  checkBytes("arith.addi", [](int x, int y) { return x + y; });
  checkBytes("arith.subi", [](int x, int y) { return x - y; });
  checkBytes("arith.muli", [](int x, int y) { return x * y; });
  checkBytes("arith.divsi", [](int x, int y) { return y ? x / y : 0; });
  checkBytes("arith.remsi", [](int x, int y) { return y ? x % y : 0; });
  checkBytes("arith.floordivsi", floorDivide);
  checkBytes("arith.ceildivsi", [](int x, int y) { return y ? int(std::ceil(double(x) / y)) : 0; });
  checkBytesUnsigned("arith.divui", [](int x, int y) { return y ? x / y : 0; });
  checkBytesUnsigned("arith.remui", [](int x, int y) { return y ? x % y : 0; });
  checkBytesUnsigned("arith.ceildivui", [](int x, int y) { return y ? (x + y - 1) / y : 0; });
  checkBytes("tile.div", floorDivide);
  checkBytes("tile.rem", [](int x, int y) { return x - floorDivide(x, y) * y; });
  checkBytes("tile.div trunc", [](int x, int y) { return y ? x / y : 0; });
  checkBytes("tile.rem trunc", [](int x, int y) { return y ? x % y : x; });
  checkBytesUnsigned("tile.div unsigned", [](int x, int y) { return y ? x / y : 0; });
  checkBytesUnsigned("tile.rem unsigned", [](int x, int y) { return y ? x % y : x; });
}

TEST_F(InterpreterElementwiseTest, ByteLogic) {
  checkBytes("arith.andi", [](int x, int y) { return x & y; });
  checkBytes("arith.ori", [](int x, int y) { return x | y; });
  checkBytes("arith.xori", [](int x, int y) { return x ^ y; });
  checkBytes("arith.maxsi", [](int x, int y) { return std::max(x, y); });
  checkBytes("arith.minsi", [](int x, int y) { return std::min(x, y); });
  checkBytesUnsigned("arith.maxui", [](int x, int y) { return std::max(x, y); });
  checkBytesUnsigned("arith.minui", [](int x, int y) { return std::min(x, y); });
  checkBytesUnsigned("arith.shli", [](int x, int n) { return n < 8 ? x << n : 0; });
  checkBytesUnsigned("arith.shrui", [](int x, int n) { return n < 8 ? x >> n : 0; });
  checkBytes("arith.shrsi", [](int x, int n) { return n >= 0 && n < 8 ? x >> n : 0; });
  checkBytes("math.ipowi", [](int x, int n) {
    if (n < 0)
      return x == 1 ? 1 : x == -1 ? (n % 2 ? -1 : 1) : 0;
    int result = 1;
    for (; n > 0; --n)
      result = static_cast<int8_t>(result * x);
    return result;
  });
}

TEST_F(InterpreterElementwiseTest, ByteComparisons) {
  auto [a, b] = bytePairs();
  auto checkCompare = [&](const std::string &predicate, std::function<bool(int, int)> reference) {
    check<uint8_t, int8_t, int8_t>(
        "%r = arith.cmpi " + predicate + ", %a, %b : !a", {"i8", "i8"}, "i1",
        [&](int8_t x, int8_t y) { return reference(x, y); }, a, b);
  };
  checkCompare("eq", [](int x, int y) { return x == y; });
  checkCompare("ne", [](int x, int y) { return x != y; });
  checkCompare("slt", [](int x, int y) { return x < y; });
  checkCompare("sle", [](int x, int y) { return x <= y; });
  checkCompare("sgt", [](int x, int y) { return x > y; });
  checkCompare("sge", [](int x, int y) { return x >= y; });
  checkCompare("ult", [](int x, int y) { return uint8_t(x) < uint8_t(y); });
  checkCompare("ule", [](int x, int y) { return uint8_t(x) <= uint8_t(y); });
  checkCompare("ugt", [](int x, int y) { return uint8_t(x) > uint8_t(y); });
  checkCompare("uge", [](int x, int y) { return uint8_t(x) >= uint8_t(y); });
}

TEST_F(InterpreterElementwiseTest, ExtendedArithmetic) {
  auto [a, b] = bytePairs();
  auto second = [&](const std::string &op, const std::string &type,
                    std::function<int(int, int)> reference) {
    check<uint8_t, int8_t, int8_t>(
        "%p, %r = " + op + (type == "i1" ? " %a, %b : !a, !r" : " %a, %b : !a"), {"i8", "i8"}, type,
        [&](int8_t x, int8_t y) { return static_cast<uint8_t>(reference(x, y)); }, a, b);
  };
  second("arith.addui_extended", "i1", [](int x, int y) { return uint8_t(x) + uint8_t(y) > 255; });
  second("arith.mulsi_extended", "i8", [](int x, int y) { return (x * y) >> 8; });
  second("arith.mului_extended", "i8", [](int x, int y) { return (uint8_t(x) * uint8_t(y)) >> 8; });
}

TEST_F(InterpreterElementwiseTest, IntegersOf64Bits) {
  auto a = integers<int64_t>(500), b = integers<int64_t>(500);
  a(0) = INT64_MIN, b(0) = -1; // the quotient wraps
  a(1) = INT64_MIN, b(1) = 0;
  using S = int64_t;
  auto both = [&](const std::string &op, std::function<S(S, S)> reference) {
    check<S, S, S>("%r = " + op + " %a, %b : !r", {"i64", "i64"}, "i64", reference, a, b);
  };
  both("arith.muli", [](S x, S y) { return S(uint64_t(x) * uint64_t(y)); });
  both("tile.div", [](S x, S y) {
    if (y == 0)
      return S(0);
    __int128 quotient = __int128(x) / y;
    return S(quotient - (quotient * y != x && (x < 0) != (y < 0)));
  });
  both("tile.rem", [](S x, S y) {
    if (y == 0)
      return x;
    __int128 remainder = __int128(x) % y;
    return S(remainder && (remainder < 0) != (y < 0) ? remainder + y : remainder);
  });
  both("arith.divui", [](S x, S y) { return y ? S(uint64_t(x) / uint64_t(y)) : 0; });
  check<S, S>(
      "%r = math.absi %a : !r", {"i64"}, "i64",
      [](S x) { return S(x < 0 ? 0 - uint64_t(x) : uint64_t(x)); }, a);
}

TEST_F(InterpreterElementwiseTest, BitCounts) {
  auto a = integers<int32_t>(300);
  a(0) = 0, a(1) = -1, a(2) = 1;
  using U = uint32_t;
  check<int32_t, int32_t>(
      "%r = math.ctpop %a : !r", {"i32"}, "i32", [](int32_t x) { return std::popcount(U(x)); }, a);
  check<int32_t, int32_t>(
      "%r = math.ctlz %a : !r", {"i32"}, "i32", [](int32_t x) { return std::countl_zero(U(x)); },
      a);
  check<int32_t, int32_t>(
      "%r = math.cttz %a : !r", {"i32"}, "i32", [](int32_t x) { return std::countr_zero(U(x)); },
      a);
}

TEST_F(InterpreterElementwiseTest, Booleans) {
  Tensor<uint8_t> a({4}), b({4});
  a.data = {0, 0, 1, 1}, b.data = {0, 1, 0, 1};
  auto both = [&](const std::string &op, std::function<bool(bool, bool)> reference) {
    check<uint8_t, uint8_t, uint8_t>(
        "%r = " + op + " %a, %b : !r", {"i1", "i1"}, "i1",
        [&](uint8_t x, uint8_t y) { return reference(x, y); }, a, b);
  };
  both("arith.andi", [](bool x, bool y) { return x && y; });
  both("arith.ori", [](bool x, bool y) { return x || y; });
  both("arith.xori", [](bool x, bool y) { return x != y; });
  both("arith.addi", [](bool x, bool y) { return x != y; });
  check<int32_t, uint8_t>(
      "%r = arith.extui %a : !a to !r", {"i1"}, "i32", [](uint8_t x) { return x; }, a);
  check<int32_t, uint8_t>(
      "%r = arith.extsi %a : !a to !r", {"i1"}, "i32", [](uint8_t x) { return -x; }, a);
  check<float, uint8_t>(
      "%r = arith.uitofp %a : !a to !r", {"i1"}, "f32", [](uint8_t x) { return x; }, a);
}

TEST_F(InterpreterElementwiseTest, IntegerCasts) {
  auto a = integers<int32_t>(300);
  check<int64_t, int32_t>(
      "%r = arith.extsi %a : !a to !r", {"i32"}, "i64", [](int32_t x) { return x; }, a);
  check<int64_t, int32_t>(
      "%r = arith.extui %a : !a to !r", {"i32"}, "i64", [](int32_t x) { return uint32_t(x); }, a);
  check<int16_t, int32_t>(
      "%r = arith.trunci %a : !a to !r", {"i32"}, "i16", [](int32_t x) { return int16_t(x); }, a);
  check<float, int32_t>(
      "%r = arith.bitcast %a : !a to !r", {"i32"}, "f32",
      [](int32_t x) { return std::bit_cast<float>(x); }, a);
}

TEST_F(InterpreterElementwiseTest, Select) {
  auto a = floats<float>(200), b = floats<float>(200);
  auto c = uniform<uint8_t>({200}, 0, 2);
  check<float, uint8_t, float, float>(
      "%r = arith.select %a, %b, %c : !a, !r", {"i1", "f32", "f32"}, "f32",
      [](uint8_t choice, float x, float y) { return choice ? x : y; }, c, a, b);
}

//===-- Floats ------------------------------------------------------------===//

template <typename T>
T maximumOf(T x, T y) {
  if (std::isnan(x) || std::isnan(y))
    return NAN;
  if (x == 0 && y == 0)
    return std::signbit(x) && std::signbit(y) ? -T(0) : T(0);
  return std::max(x, y);
}

template <typename T>
void checkFloats(const std::string &type,
                 std::function<void(const std::string &, std::function<T(T, T)>)> both) {
  both("arith.addf", [](T x, T y) { return x + y; });
  both("arith.subf", [](T x, T y) { return x - y; });
  both("arith.mulf", [](T x, T y) { return x * y; });
  both("arith.divf", [](T x, T y) { return x / y; });
  both("arith.remf", [](T x, T y) { return std::fmod(x, y); });
  both("arith.maximumf", maximumOf<T>);
  both("arith.minimumf", [](T x, T y) { return -maximumOf<T>(-x, -y); });
  both("arith.maxnumf", [](T x, T y) {
    return std::isnan(x) ? y : std::isnan(y) ? x : maximumOf(x, y);
  });
  both("arith.minnumf", [](T x, T y) {
    return std::isnan(x) ? y : std::isnan(y) ? x : -maximumOf(-x, -y);
  });
  both("math.copysign", [](T x, T y) { return std::copysign(x, y); });
}

TEST_F(InterpreterElementwiseTest, SingleAndDouble) {
  auto a = floats<float>(3000), b = floats<float>(3000), c = floats<float>(3000);
  checkFloats<float>("f32", [&](const std::string &op, std::function<float(float, float)> f) {
    check<float, float, float>("%r = " + op + " %a, %b : !r", {"f32", "f32"}, "f32", f, a, b);
  });
  check<float, float, float, float>(
      "%r = math.fma %a, %b, %c : !r", {"f32", "f32", "f32"}, "f32",
      [](float x, float y, float z) { return std::fmaf(x, y, z); }, a, b, c);
  auto d = floats<double>(3000), e = floats<double>(3000), f = floats<double>(3000);
  checkFloats<double>("f64", [&](const std::string &op, std::function<double(double, double)> g) {
    check<double, double, double>("%r = " + op + " %a, %b : !r", {"f64", "f64"}, "f64", g, d, e);
  });
  check<double, double, double, double>(
      "%r = math.fma %a, %b, %c : !r", {"f64", "f64", "f64"}, "f64",
      [](double x, double y, double z) { return std::fma(x, y, z); }, d, e, f);
}

TEST_F(InterpreterElementwiseTest, ExactFunctions) {
  auto a = floats<float>(3000);
  auto unary = [&](const std::string &op, std::function<float(float)> reference) {
    check<float, float>("%r = " + op + " %a : !r", {"f32"}, "f32", reference, a);
  };
  unary("arith.negf", [](float x) { return -x; });
  unary("math.absf", [](float x) { return std::fabs(x); });
  unary("math.ceil", [](float x) { return std::ceil(x); });
  unary("math.floor", [](float x) { return std::floor(x); });
  unary("math.trunc", [](float x) { return std::trunc(x); });
  unary("math.round", [](float x) { return std::round(x); });
  unary("math.roundeven", [](float x) { return std::nearbyint(x); });
  unary("math.sqrt", [](float x) { return std::sqrt(x); });
  auto test = [&](const std::string &op, std::function<bool(float)> reference) {
    check<uint8_t, float>(
        "%r = " + op + " %a : !a", {"f32"}, "i1", [&](float x) { return reference(x); }, a);
  };
  test("math.isnan", [](float x) { return std::isnan(x); });
  test("math.isinf", [](float x) { return std::isinf(x); });
  test("math.isfinite", [](float x) { return std::isfinite(x); });
  test("math.isnormal", [](float x) { return std::isnormal(x); });
}

TEST_F(InterpreterElementwiseTest, FloatComparisons) {
  auto a = floats<float>(2000), b = floats<float>(2000);
  for (int n = 0; n < 2000; n += 3)
    b.data[n] = a.data[n];
  auto test = [&](const std::string &predicate, std::function<bool(float, float)> ordered,
                  bool ofUnordered) {
    check<uint8_t, float, float>(
        "%r = arith.cmpf " + predicate + ", %a, %b : !a", {"f32", "f32"}, "i1",
        [&](float x, float y) {
          return std::isnan(x) || std::isnan(y) ? ofUnordered : ordered(x, y);
        },
        a, b);
  };
  for (bool unordered : {false, true}) {
    std::string u = unordered ? "u" : "o";
    test(
        u + "eq", [](float x, float y) { return x == y; }, unordered);
    test(
        u + "ne", [](float x, float y) { return x != y; }, unordered);
    test(
        u + "lt", [](float x, float y) { return x < y; }, unordered);
    test(
        u + "le", [](float x, float y) { return x <= y; }, unordered);
    test(
        u + "gt", [](float x, float y) { return x > y; }, unordered);
    test(
        u + "ge", [](float x, float y) { return x >= y; }, unordered);
  }
  test(
      "ord", [](float, float) { return true; }, false);
  test(
      "uno", [](float, float) { return false; }, true);
}

TEST_F(InterpreterElementwiseTest, Functions) {
  // Rounded once from a finer type: equal to long double's but for the rarest of ties.
  auto a = floats<float>(3000), b = floats<float>(3000);
  using L = long double;
  auto unary = [&](const std::string &op, L (*reference)(L)) {
    SCOPED_TRACE(op);
    Tensor<float> result({3000});
    InterpreterResult outcome = run(kernel("%r = " + op + " %a : !r", {"f32"}, "f32"),
                                    {{"N", 3000}}, {}, {a.argument(), result.argument()}, false);
    ASSERT_TRUE(outcome.ok()) << outcome.message;
    for (int n = 0; n < 3000; ++n) {
      float expected = static_cast<float>(reference(a(n))), actual = result(n);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(actual)) << a(n);
      else
        ASSERT_TRUE(actual == expected || actual == std::nextafter(expected, actual)) << a(n);
    }
  };
  unary("math.exp", std::exp);
  unary("math.exp2", std::exp2);
  unary("math.expm1", std::expm1);
  unary("math.log", std::log);
  unary("math.log2", std::log2);
  unary("math.log10", std::log10);
  unary("math.log1p", std::log1p);
  unary("math.rsqrt", [](L x) -> L { return 1 / std::sqrt(x); });
  unary("math.cbrt", std::cbrt);
  unary("math.erf", std::erf);
  unary("math.erfc", std::erfc);
  unary("math.sin", std::sin);
  unary("math.cos", std::cos);
  unary("math.tan", std::tan);
  unary("math.asin", std::asin);
  unary("math.acos", std::acos);
  unary("math.atan", std::atan);
  unary("math.sinh", std::sinh);
  unary("math.cosh", std::cosh);
  unary("math.tanh", std::tanh);
  unary("math.asinh", std::asinh);
  unary("math.acosh", std::acosh);
  unary("math.atanh", std::atanh);
  for (auto &x : a.data)
    x = std::fabs(x);
  check<float, float, float>(
      "%r = math.powf %a, %b : !r", {"f32", "f32"}, "f32",
      [](float x, float y) { return static_cast<float>(std::pow(double(x), double(y))); }, a, b);
  check<float, float, float>(
      "%r = math.atan2 %a, %b : !r", {"f32", "f32"}, "f32",
      [](float y, float x) { return static_cast<float>(std::atan2(double(y), double(x))); }, a, b);
}

//===-- Casts -------------------------------------------------------------===//

/// Ten rounds, written down once more; of a counter and a key that are zero they give the test
/// vector that comes with the paper's library Random123 (kat_vectors).
static std::array<uint32_t, 4> philoxBlock(uint64_t seed, uint64_t stream, uint64_t block) {
  uint64_t low = block, high = stream;
  auto lo = [](uint64_t x) { return x & 0xffffffff; };
  auto hi = [](uint64_t x) { return x >> 32; };
  uint64_t k0 = lo(seed), k1 = hi(seed);
  for (int round = 0; round < 10; ++round) {
    uint64_t left = lo(low) * 0xd2511f53, right = lo(high) * 0xcd9e8d57;
    low = (hi(right) ^ hi(low) ^ k0) | lo(right) << 32;
    high = (hi(left) ^ hi(high) ^ k1) | lo(left) << 32;
    k0 = lo(k0 + 0x9e3779b9);
    k1 = lo(k1 + 0xbb67ae85);
  }
  return {static_cast<uint32_t>(low), static_cast<uint32_t>(hi(low)), static_cast<uint32_t>(high),
          static_cast<uint32_t>(hi(high))};
}

TEST_F(InterpreterElementwiseTest, PhiloxDraws) {
  using Block = std::array<uint32_t, 4>;
  ASSERT_EQ(philoxBlock(0, 0, 0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  Tensor<int64_t> seed({400}), stream({400}), index({400});
  std::mt19937_64 random(std::random_device{}());
  for (int n = 0; n < 400; ++n) {
    seed.data[n] = n < 8 ? 0 : static_cast<int64_t>(random());
    stream.data[n] = n < 8 ? 0 : static_cast<int64_t>(random());
    index.data[n] = n < 16 ? n - 4 : static_cast<int64_t>(random());
  }
  for (std::string kind : {"own", "first", "second"})
    check<uint32_t, int64_t, int64_t, int64_t>(
        "%r = tile.philox <" + kind + "> %a, %b, %c : !a -> !r", {"i64", "i64", "i64"}, "i32",
        [&](int64_t seed, int64_t stream, int64_t index) {
          auto draw = static_cast<uint64_t>(index);
          uint64_t word = kind == "own" ? draw % 4 : draw % 4 / 2 * 2 + (kind == "second");
          return philoxBlock(static_cast<uint64_t>(seed), static_cast<uint64_t>(stream),
                             draw / 4)[word];
        },
        seed, stream, index);
}

/// To 11 bits in exact arithmetic: a float times 2^k is an integer.
TEST_F(InterpreterElementwiseTest, Tf32) {
  auto a = floats<float>(3000);
  check<float, float>(
      "%r = tile.round_tf32 %a : !r", {"f32"}, "f32",
      [](float x) {
        if (x == 0 || !std::isfinite(x))
          return x;
        int step = std::max(std::ilogb(x), -126) - 10;
        return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(double(x), -step)), step));
      },
      a);
}

TEST_F(InterpreterElementwiseTest, FloatToIntegerSaturates) {
  Tensor<double> a({14});
  a.data = {0,   -0.9, 1.9,      -1.9,      127.9, 128,    -129,
            255, 256,  INFINITY, -INFINITY, NAN,   1.5e19, -1e300};
  for (std::string op : {"tile.fptoint", "arith.fptosi"})
    check<int8_t, double>(
        "%r = " + op + " %a : !a to !r", {"f64"}, "i8",
        [](double x) {
          return std::isnan(x) ? 0 : int8_t(std::clamp(std::trunc(x), -128.0, 127.0));
        },
        a);
  for (std::string op : {"tile.fptoint unsigned", "arith.fptoui"})
    check<uint8_t, double>(
        "%r = " + op + " %a : !a to !r", {"f64"}, "i8",
        [](double x) { return std::isnan(x) ? 0 : uint8_t(std::clamp(std::trunc(x), 0.0, 255.0)); },
        a);
  check<int64_t, double>(
      "%r = tile.fptoint %a : !a to !r", {"f64"}, "i64",
      [](double x) {
        return std::isnan(x) ? 0 : x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : int64_t(x);
      },
      a);
}

TEST_F(InterpreterElementwiseTest, IntegerToFloatRoundsOnce) {
  auto a = integers<int64_t>(1000);
  a(0) = (int64_t(1) << 60) + (int64_t(1) << 36) + 1; // twice rounded it would be a tie
  check<float, int64_t>(
      "%r = arith.sitofp %a : !a to !r", {"i64"}, "f32",
      [](int64_t x) { return static_cast<float>(x); }, a);
  check<float, int64_t>(
      "%r = arith.uitofp %a : !a to !r", {"i64"}, "f32",
      [](int64_t x) { return static_cast<float>(uint64_t(x)); }, a);
  check<double, int64_t>(
      "%r = arith.sitofp %a : !a to !r", {"i64"}, "f64",
      [](int64_t x) { return static_cast<double>(x); }, a);
}

/// A small float type by its definition, decoded and rounded without the interpreter's means.
struct SmallFloat {
  std::string name;
  int exponentBits, mantissaBits;
  bool hasInfinity; // else the all-ones pattern alone is NaN

  int width() const { return 1 + exponentBits + mantissaBits; }
  int bias() const { return (1 << (exponentBits - 1)) - 1; }

  double decode(unsigned bits) const {
    int exponent = (bits >> mantissaBits) & ((1 << exponentBits) - 1);
    int mantissa = bits & ((1 << mantissaBits) - 1);
    bool top = exponent == (1 << exponentBits) - 1;
    double sign = bits >> (width() - 1) ? -1 : 1;
    if (top && hasInfinity)
      return mantissa ? NAN : sign * INFINITY;
    if (top && mantissa == (1 << mantissaBits) - 1)
      return NAN;
    if (exponent == 0)
      return sign * std::ldexp(mantissa, 1 - bias() - mantissaBits);
    return sign * std::ldexp(mantissa + (1 << mantissaBits), exponent - bias() - mantissaBits);
  }

  /// The bits nearest to x (not NaN), ties to the even one; what is beyond the greatest number by
  /// half a step is infinite, or NaN without infinities.
  unsigned encode(__float128 x) const {
    unsigned sign = (x < 0 || (x == 0 && std::signbit(double(x)))) ? 1u << (width() - 1) : 0;
    __float128 magnitude = x < 0 ? -x : x;
    // The patterns of non-negative numbers are in order; the last stands for what is beyond them.
    unsigned last =
        hasInfinity ? ((1u << exponentBits) - 1) << mantissaBits : (1u << (width() - 1)) - 1;
    auto value = [&](unsigned bits) -> __float128 {
      return bits == last ? __float128(decode(last - 1)) * 2 - decode(last - 2)
                          : __float128(decode(bits));
    };
    unsigned low = 0, next = last;
    while (next - low > 1) {
      unsigned middle = (low + next) / 2;
      (value(middle) <= magnitude ? low : next) = middle;
    }
    __float128 below = magnitude - value(low), above = value(next) - magnitude;
    bool up = above < below || (above == below && (low & 1));
    return sign | (up ? next : low);
  }
};

const SmallFloat smallFloats[] = {
    {"f16", 5, 10, true}, {"bf16", 8, 7, true}, {"f8E5M2", 5, 2, true}, {"f8E4M3FN", 4, 3, false}};

class SmallFloatTest : public InterpreterElementwiseTest,
                       public testing::WithParamInterface<SmallFloat> {
protected:
  template <typename T>
  Tensor<T> allBits() {
    Tensor<T> result({int64_t(1) << GetParam().width()});
    for (size_t n = 0; n < result.data.size(); ++n)
      result.data[n] = static_cast<T>(n);
    return result;
  }

  template <typename T>
  void checkAll() {
    const SmallFloat &type = GetParam();
    check<double, T>(
        "%r = arith.extf %a : !a to !r", {type.name}, "f64",
        [&](T bits) { return type.decode(bits); }, allBits<T>());
    // Random numbers, exact ties and their neighbours.
    Tensor<double> a({6000});
    for (int n = 0; n < 6000; n += 3) {
      unsigned bits = random() % (1u << (type.width() - 1));
      double x = type.decode(bits), y = type.decode(bits + 1);
      if (!std::isfinite(x) || !std::isfinite(y))
        x = std::ldexp(1.0 + double(random() % 1000) / 1000, 2 - type.bias()), y = x * 1.3;
      double sign = random() % 2 ? 1 : -1, tie = sign * (x + y) / 2;
      a.data[n] = tie;
      a.data[n + 1] = std::nextafter(tie, random() % 2 ? INFINITY : -INFINITY);
      a.data[n + 2] = sign * std::uniform_real_distribution<double>(x, y)(random);
    }
    check<T, double>(
        "%r = arith.truncf %a : !a to !r", {"f64"}, type.name,
        [&](double x) { return static_cast<T>(type.encode(x)); }, a);
  }
};

TEST_P(SmallFloatTest, Casts) {
  if (GetParam().width() == 8)
    checkAll<uint8_t>();
  else
    checkAll<uint16_t>();
}

INSTANTIATE_TEST_SUITE_P(Types, SmallFloatTest, testing::ValuesIn(smallFloats),
                         [](const auto &info) { return info.param.name; });

TEST_F(InterpreterElementwiseTest, HalvesRoundOnce) {
  for (const SmallFloat &type : {smallFloats[0], smallFloats[1]}) {
    const int size = 20000;
    Tensor<uint16_t> operands[3] = {Tensor<uint16_t>({size}), Tensor<uint16_t>({size}),
                                    Tensor<uint16_t>({size})};
    for (Tensor<uint16_t> &operand : operands)
      for (uint16_t &bits : operand.data)
        do
          bits = static_cast<uint16_t>(random());
        while (!std::isfinite(type.decode(bits)) || std::fabs(type.decode(bits)) > 0x1p14 ||
               std::fabs(type.decode(bits)) < 0x1p-14);
    // Within these magnitudes all sums of products are exact in 113 bits.
    using Q = __float128;
    auto encode = [&](Q x) { return static_cast<uint16_t>(type.encode(x)); };
    auto both = [&](const std::string &op, std::function<Q(Q, Q)> reference) {
      check<uint16_t, uint16_t, uint16_t>(
          "%r = " + op + " %a, %b : !r", {type.name, type.name}, type.name,
          [&](uint16_t x, uint16_t y) { return encode(reference(type.decode(x), type.decode(y))); },
          operands[0], operands[1]);
    };
    both("arith.addf", [](Q x, Q y) { return x + y; });
    both("arith.mulf", [](Q x, Q y) { return x * y; });
    both("arith.divf", [](Q x, Q y) { return x / y; });
    check<uint16_t, uint16_t, uint16_t, uint16_t>(
        "%r = math.fma %a, %b, %c : !r", {type.name, type.name, type.name}, type.name,
        [&](uint16_t x, uint16_t y, uint16_t z) {
          return encode(Q(type.decode(x)) * type.decode(y) + type.decode(z));
        },
        operands[0], operands[1], operands[2]);
  }
}

TEST_F(InterpreterElementwiseTest, DirectedRounding) {
  auto a = uniform<float>({500}, -8, 8);
  auto towardZero = [](float x) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16); };
  check<uint16_t, float>("%r = arith.truncf %a toward_zero : !a to !r", {"f32"}, "bf16", towardZero,
                         a);
  check<uint16_t, float>(
      "%r = arith.truncf %a upward : !a to !r", {"f32"}, "bf16",
      [&](float x) {
        bool isExact = (std::bit_cast<uint32_t>(x) & 0xFFFF) == 0;
        return static_cast<uint16_t>(towardZero(x) + (x > 0 && !isExact));
      },
      a);
}

TEST_F(InterpreterElementwiseTest, LargeFloatsToUnsignedIntegers) {
  using namespace tile::ir::interpreter;
  EXPECT_EQ(toInteger(Number::I64, 0x1.8p63, false), uint64_t(3) << 62);
  EXPECT_EQ(toInteger(Number::I64, 0x1p64, false), UINT64_MAX);
  EXPECT_EQ(toInteger(Number::I64, -1, false), 0u);
  EXPECT_EQ(toInteger(Number::I64, -2.5, true), static_cast<uint64_t>(-2));
  EXPECT_EQ(toInteger(Number::I8, 255, false), 255u);
}
} // namespace
