// What `precision` does to the operands of a dot, bit for bit, on interpreter and CPU.

#include "tests/frontend/ApiTestSupport.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

using namespace tile;
using namespace tile::test;

namespace {

/// The nearest multiple of the last place of 11 significant bits, in exact arithmetic.
double tf32(double x) {
  if (x == 0 || !std::isfinite(x))
    return x;
  int step = std::max(std::ilogb(x), -126) - 10;
  double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
  return std::fabs(rounded) < std::ldexp(1, 128) ? rounded : std::copysign(INFINITY, x);
}

const double greatest = std::ldexp(2 - std::ldexp(1, -10), 127);

/// What the three products are made of.
struct Parts {
  double high, low, finite;
  explicit Parts(double x) {
    bool isFinite = std::isfinite(x);
    finite = isFinite ? tf32(std::clamp(x, -greatest, greatest)) : 0;
    high = isFinite ? finite : x;
    low = isFinite ? tf32(static_cast<float>(x - finite)) : 0;
  }
};

double product(Precision precision, float x, float y) {
  if (precision == Precision::Ieee)
    return static_cast<float>(double(x) * y);
  if (precision == Precision::Tf32)
    return static_cast<float>(tf32(x) * tf32(y)); // exact, or out of range
  Parts a(x), b(y);
  float sum = static_cast<float>(a.low * b.finite);
  sum = std::fmaf(static_cast<float>(a.finite), static_cast<float>(b.low), sum);
  return std::fmaf(static_cast<float>(a.high), static_cast<float>(b.high), sum);
}

/// A dot of length 1 at (i, j): nothing but products. Two shapes, so that the operands go through
/// panels and through nests.
void build(Kernel &k, Precision precision) {
  auto [M, N] = k.dims("M", "N");
  auto x = k.input("x", f32, {M, 1});
  auto y = k.input("y", f32, {1, N});
  k.require(N >= 1);
  auto p = k.output("p", f32, {M, N});
  auto q = k.output("q", f32, {M});
  k.parallel(tiles("i", M), [&](Span i) {
    Span one = k.let(range("one", 1));
    p[{i, colon}] = dot(x[{i, one}], y[{one, colon}], one, precision);
    q[i] = dot(x[{i, one}], y[{one, 0}], one, precision);
  });
  k.schedule("i", 7);
}

/// Around midpoints of tf32, and the ends of f32.
std::vector<float> values() {
  std::vector<float> result = {0,
                               -0.0f,
                               1,
                               3,
                               INFINITY,
                               -INFINITY,
                               NAN,
                               0x1p-149f,
                               0x1p-136f,
                               0x1p-137f,
                               0x1.8p-136f,
                               0x1p-126f,
                               0x1.fffffep127f,
                               0x1.ffep127f,
                               0x1.fffp127f,
                               -0x1.ffeffep127f};
  std::mt19937_64 engine(5);
  for (int n = 0; n < 60; ++n) {
    auto bits = static_cast<uint32_t>(engine());
    if (n % 2)
      bits = (bits & 0x807fffffu) | (120 + n % 17) << 23;
    for (uint32_t low : {0x0fffu, 0x1000u, 0x1001u, 0x3000u})
      result.push_back(std::bit_cast<float>((bits & ~0x3fffu) | low));
  }
  return result;
}

TEST(ApiDot, precisionOfProducts) {
  std::vector<float> x = values(), y = values();
  std::reverse(y.begin(), y.end());
  auto count = static_cast<int64_t>(x.size());
  Tensor xs = *Tensor::create(f32, {count, 1}), ys = *Tensor::create(f32, {1, count});
  std::memcpy(xs.data(), x.data(), x.size() * 4);
  std::memcpy(ys.data(), y.data(), y.size() * 4);
  for (Precision precision : {Precision::Ieee, Precision::Tf32, Precision::Tf32x3}) {
    Module module;
    EXPECT_TRUE(module.kernel("products", [=](Kernel &k) { build(k, precision); }))
        << module.errorText();
    for (Device device : devices) {
      auto p = run(module, "products", {{"x", xs}, {"y", ys}}, "p", device);
      auto q = run(module, "products", {{"x", xs}, {"y", ys}}, "q", device);
      ASSERT_TRUE(p && q);
      int wrong = 0;
      auto expect = [&](double actual, float a, float b) {
        double expected = product(precision, a, b);
        bool isRight = actual == expected || (std::isnan(actual) && std::isnan(expected));
        if (!isRight && ++wrong < 10)
          ADD_FAILURE() << std::hexfloat << a << " * " << b << " = " << actual << ", not "
                        << expected << " in precision " << int(precision)
                        << (device == Device::Cpu ? " on cpu" : " on interp");
      };
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t j = 0; j < count; ++j)
          expect(p->getDouble(i * count + j), x[i], y[j]);
        expect(q->getDouble(i), x[i], y[0]);
      }
    }
  }
}

/// Three products of tf32 are nearly as good as those of f32, and plain tf32 is not.
TEST(ApiDot, precisionOfSums) {
  const int64_t M = 17, K = 300, N = 33;
  Tensor a = random(f32, {M, K}, -1, 1, 1), b = random(f32, {K, N}, -1, 1, 2);
  for (Precision precision : {Precision::Ieee, Precision::Tf32, Precision::Tf32x3}) {
    Module module;
    EXPECT_TRUE(module.kernel("matmul", [=](Kernel &k) {
      auto [M, K, N] = k.dims("M", "K", "N");
      auto a = k.input("a", f32, {M, K});
      auto b = k.input("b", f32, {K, N});
      auto c = k.output("c", f32, {M, N});
      k.parallel({tiles("i", M), tiles("j", N)}, [&](Span i, Span j) {
        auto acc = k.var("acc", zeros(f32, i, j));
        k.for_(tiles("k", K), [&](Span s) { acc += dot(a[{i, s}], b[{s, j}], s, precision); });
        c[{i, j}] = acc;
      });
      k.schedule("k", 40);
    })) << module.errorText();
    for (Device device : devices) {
      auto c = run(module, "matmul", {{"a", a}, {"b", b}}, "c", device);
      ASSERT_TRUE(c);
      double worst = 0;
      for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j) {
          double sum = 0, mass = 0;
          for (int64_t k = 0; k < K; ++k) {
            double term = a.getDouble(i * K + k) * b.getDouble(k * N + j);
            sum += term, mass += std::fabs(term);
          }
          worst = std::max(worst, std::fabs(c->getDouble(i * N + j) - sum) / mass);
        }
      if (precision == Precision::Tf32)
        EXPECT_TRUE(worst > 1e-6 && worst < 0x1p-10) << worst;
      else
        EXPECT_LT(worst, 1e-6);
    }
  }
}

TEST(ApiDot, precisionIsOfFloats) {
  for (Type type : {f64, i32}) {
    Module module;
    module.kernel("matmul", [=](Kernel &k) {
      auto [M, K] = k.dims("M", "K");
      auto a = k.input("a", type, {M, K});
      auto c = k.output("c", type, {M});
      k.parallel(tiles("i", M), [&](Span i) {
        c[i] = dot(a[{i, colon}], a[{i, colon}], K, Precision::Tf32);
      });
    });
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.errors()[0].message,
              "`precision` rounds f32 to tf32; these are " + std::string(type.name()));
  }
}
} // namespace
