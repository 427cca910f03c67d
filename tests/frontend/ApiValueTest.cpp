// Kernels built from C++ compute what plain loops in double precision do.

#include "tests/frontend/ApiTestSupport.h"

#include <cmath>
#include <limits>

using namespace tile;
using namespace tile::test;

namespace {

TEST(ApiValue, matmulForAnyTileSize) {
  Module module;
  module.kernel("matmul", [](Kernel &k) {
    auto [M, K, N] = k.dims("M", "K", "N");
    auto a = k.input("a", f32, {M, K});
    auto b = k.input("b", f32, {K, N});
    auto c = k.output("c", f32, {M, N});
    k.parallel({tiles("i", M), tiles("j", N)}, [&](Span i, Span j) {
      auto acc = k.var("acc", zeros(f32, i, j));
      k.for_(tiles("k", K), [&](Span kk) { acc += dot(a[{i, kk}], b[{kk, j}], kk); });
      c[{i, j}] = acc;
    });
  });
  Tensor a = random(f32, {7, 13}, -1, 1, 1), b = random(f32, {13, 5}, -1, 1, 2);
  for (Device device : devices)
    for (int64_t size : {1, 3, 16}) {
      auto c = run(module, "matmul", {{"a", a}, {"b", b}}, "c", device,
                   {{"i", size}, {"j", size + 1}, {"k", size}});
      ASSERT_TRUE(c);
      ASSERT_EQ(c->shape(), (Shape{7, 5}));
      for (int64_t i = 0; i < 7; ++i)
        for (int64_t j = 0; j < 5; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < 13; ++k)
            sum += a.getDouble(i * 13 + k) * b.getDouble(k * 5 + j);
          EXPECT_NEAR(c->getDouble(i * 5 + j), sum, 1e-5);
        }
    }
}

/// y = f(x) on elements of a type.
template <typename Fn>
void expectMapped(const Tensor &x, Fn f, const std::function<double(double)> &expected) {
  Module module;
  module.kernel("mapped", [&](Kernel &k) {
    auto N = k.dim("N");
    auto in = k.input("x", x.dtype(), {N});
    auto y = k.output("y", x.dtype(), {N});
    k.parallel(tiles("i", N), [&](Span i) { y[i] = f(in[i]); });
  });
  for (Device device : devices) {
    auto y = run(module, "mapped", {{"x", x}}, "y", device);
    ASSERT_TRUE(y);
    for (int64_t n = 0; n < x.numElements(); ++n)
      EXPECT_EQ(y->getDouble(n), expected(x.getDouble(n))) << x.getDouble(n);
  }
}

/// Numbers of C++ as operands: neither axes nor dimensions.
TEST(ApiValue, extremaWithNumbers) {
  Tensor x = random(f32, {61}, -2, 2, 5), n = random(i32, {61}, -9, 9, 6);
  auto atLeast = [](double low) { return [low](double v) { return std::max(v, low); }; };
  auto atMost = [](double high) { return [high](double v) { return std::min(v, high); }; };
  expectMapped(
      x, [](Value v) { return max(v, 0); }, atLeast(0));
  expectMapped(
      x, [](Value v) { return max(0, v); }, atLeast(0));
  expectMapped(
      x, [](Value v) { return max(v, 0.25f); }, atLeast(0.25));
  expectMapped(
      x, [](Value v) { return fmax(v, 0); }, atLeast(0));
  expectMapped(
      x, [](Value v) { return min(v, 1); }, atMost(1));
  expectMapped(
      x, [](Value v) { return fmin(v, -1L); }, atMost(-1));
  expectMapped(
      x, [](Value v) { return fmin(v, 0.5); }, atMost(0.5));
  expectMapped(
      n, [](Value v) { return max(v, 3); }, atLeast(3));
  expectMapped(
      n, [](Value v) { return min(v, int8_t(2)); }, atMost(2));
}

/// y = f(a, b) elementwise on i32.
void addInteger(Module &module, const std::string &name, Type type,
                const std::function<Value(Value, Value)> &f) {
  module.kernel(name, [&](Kernel &k) {
    auto N = k.dim("N");
    auto a = k.input("a", type, {N});
    auto b = k.input("b", type, {N});
    auto y = k.output("y", type, {N});
    k.parallel(tiles("i", N), [&](Span i) { y[i] = f(a[i], b[i]); });
  });
}

Tensor integers(Type type, const std::vector<int64_t> &values) {
  Result<Tensor> tensor = Tensor::create(type, {static_cast<int64_t>(values.size())});
  for (size_t n = 0; n < values.size(); ++n)
    tensor->setInt(n, values[n]);
  return *std::move(tensor);
}

void expectIntegers(const std::function<Value(Value, Value)> &f, Type type,
                    const std::vector<int64_t> &a, const std::vector<int64_t> &b,
                    const std::vector<int64_t> &expected) {
  Module module;
  addInteger(module, "f", type, f);
  for (Device device : devices) {
    Tensor left = integers(type, a), right = integers(type, b);
    auto y = run(module, "f", {{"a", left}, {"b", right}}, "y", device);
    ASSERT_TRUE(y);
    for (size_t n = 0; n < expected.size(); ++n)
      EXPECT_EQ(y->getInt(n), expected[n]) << a[n] << ", " << b[n];
  }
}

TEST(ApiValue, integerOperators) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  std::vector<int64_t> a{7, -7, 7, -7, 5, 0, least}, b{2, 2, -2, -2, 0, 3, -1};
  auto div = [](Value x, Value y) { return x / y; };
  auto rem = [](Value x, Value y) { return x % y; };
  expectIntegers(div, i32, a, b, {3, -4, -4, 3, 0, 0, least});
  expectIntegers(rem, i32, a, b, {1, 1, -1, -1, 5, 0, 0});
  expectIntegers([](Value x, Value y) { return tdiv(x, y); }, i32, {7, -7, 7, -7}, {2, 2, -2, -2},
                 {3, -3, -3, 3});
  expectIntegers([](Value x, Value y) { return cdiv(x, y); }, i32, {7, -7, 6}, {2, 2, 2},
                 {4, -3, 3});
  expectIntegers([](Value x, Value y) { return x >> y; }, i32, {-8, -8, 8, -1}, {1, 40, 40, 31},
                 {-4, -1, 0, -1});
  expectIntegers([](Value x, Value y) { return x >> y; }, u32, {0xffffffff, 8}, {31, 40}, {1, 0});
  expectIntegers([](Value x, Value y) { return x << y; }, i32, {1, 1, 3}, {31, 32, 1},
                 {least, 0, 6});
  expectIntegers([](Value x, Value y) { return (x & y) | (x ^ ~y); }, i32, {12, 10}, {10, 7},
                 {(12 & 10) | (12 ^ ~10), (10 & 7) | (10 ^ ~7)});
  expectIntegers([](Value x, Value y) { return -x + y * 2 - 1; }, i32, {3, least}, {4, 0},
                 {4, 2147483647});
}

TEST(ApiValue, literalsAreTheNumbersThatTheyAre) {
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  expectIntegers([=](Value x, Value y) { return clamp(x, 0, most) + (y ^ most); }, u64, {1, -1},
                 {-1, 0}, {1, -2});
  expectIntegers([=](Value x, Value y) { return i32(f32(x) * most / (most / 8) + f32(y)); }, i32,
                 {3, -4}, {1, 2}, {25, -30});
  expectIntegers([=](Value x, Value y) { return x * cdiv(7, 3) + y * i32(rsqrt(0.0625)); }, i32,
                 {3, -4}, {1, 2}, {13, -4});
}

TEST(ApiValue, variablesThroughControlFlow) {
  Module module;
  module.kernel("collatz", [](Kernel &k) {
    auto N = k.dim("N");
    auto start = k.input("start", i32, {N});
    auto steps = k.output("steps", i32, {N});
    auto greatest = k.output("greatest", i32, {N});
    k.parallel(each("i", N), [&](Value i) {
      auto v = k.var("v", start[i]);
      auto count = k.var("count", i32(0));
      auto most = k.var("most", start[i]);
      k.while_([&] { return v > 1; },
               [&] {
                 k.if_(
                     v % 2 == 0, [&] { v = v / 2; }, [&] { v = 3 * v + 1; });
                 count += 1;
                 most.maximize(v);
               });
      steps[i] = count;
      greatest[i] = most;
    });
  });
  std::vector<int64_t> starts{1, 2, 7, 27, 97, 6};
  for (Device device : devices) {
    Tensor start = integers(i32, starts);
    auto steps = run(module, "collatz", {{"start", start}}, "steps", device);
    auto greatest = run(module, "collatz", {{"start", start}}, "greatest", device);
    ASSERT_TRUE(steps && greatest);
    for (size_t n = 0; n < starts.size(); ++n) {
      int64_t v = starts[n], count = 0, most = v;
      for (; v > 1; ++count)
        most = std::max(most, v = v % 2 ? 3 * v + 1 : v / 2);
      EXPECT_EQ(steps->getInt(n), count);
      EXPECT_EQ(greatest->getInt(n), most);
    }
  }
}

TEST(ApiValue, onlyWhatChangesIsCarried) {
  Module module;
  module.kernel("f", [](Kernel &k) {
    auto N = k.dim("N");
    auto x = k.input("x", f32, {N});
    auto y = k.output("y", f32, {N});
    k.parallel(tiles("i", N), [&](Span i) {
      auto still = k.var("still", x[i] * 2);
      auto sum = k.var("sum", zeros(f32, i));
      k.for_(count("r", 0, 3), [&](Span) { sum += still; });
      y[i] = sum;
    });
  });
  ASSERT_TRUE(module.ok()) << module.errorText();
  std::string ir = module.ir();
  size_t loop = ir.find("scf.for");
  ASSERT_NE(loop, std::string::npos);
  std::string head = ir.substr(loop, ir.find('\n', loop) - loop);
  EXPECT_EQ(std::count(head.begin(), head.end(), '='), 2) << head; // the counter and one value
  Tensor x = random(f32, {19}, -1, 1, 3);
  for (Device device : devices) {
    auto y = run(module, "f", {{"x", x}}, "y", device);
    ASSERT_TRUE(y);
    for (int64_t n = 0; n < 19; ++n)
      EXPECT_NEAR(y->getDouble(n), 6 * x.getDouble(n), 1e-5);
  }
}

TEST(ApiValue, attentionWithCausalCondition) {
  Module module;
  module.kernel("attention", [](Kernel &k) {
    auto [S, L, D] = k.dims("S", "L", "D");
    auto q = k.input("q", f32, {S, D});
    auto key = k.input("k", f32, {L, D});
    auto v = k.input("v", f32, {L, D});
    auto causal = k.scalar("causal", boolean, false);
    auto o = k.output("o", f32, {S, D});
    k.parallel(tiles("i", S), [&](Span i) {
      auto m = k.var("m", full(f32, -inf, i));
      auto l = k.var("l", zeros(f32, i));
      auto acc = k.var("acc", zeros(f32, i, D));
      auto visible = [&](Span j) { return !causal || j <= i + (L - S); };
      k.for_(tiles("j", L).when(visible).reassociable(), [&](Span j) {
        auto s = dot(q[{i, colon}], key[{j, colon}], D);
        auto m2 = max(m, max(s, j));
        auto p = expdiff(s, m2);
        auto r = expdiff(m, m2);
        l = l * r + sum(p, j);
        acc = acc * r + dot(p, v[{j, colon}], j);
        m = m2;
      });
      o[{i, colon}] = where(l > 0, acc / l, 0);
    });
    k.schedule("i", 4);
    k.schedule("j", 3);
  });
  const int64_t S = 11, L = 13, D = 5;
  Tensor q = random(f32, {S, D}, -1, 1, 4), key = random(f32, {L, D}, -1, 1, 5),
         v = random(f32, {L, D}, -1, 1, 6);
  for (Device device : devices)
    for (bool causal : {false, true}) {
      auto o = run(module, "attention", {{"q", q}, {"k", key}, {"v", v}, {"causal", causal}}, "o",
                   device);
      ASSERT_TRUE(o);
      for (int64_t i = 0; i < S; ++i) {
        std::vector<double> p(L);
        double total = 0;
        for (int64_t j = 0; j < L; ++j) {
          double s = 0;
          for (int64_t d = 0; d < D; ++d)
            s += q.getDouble(i * D + d) * key.getDouble(j * D + d);
          p[j] = causal && j > i + (L - S) ? 0 : std::exp(s);
          total += p[j];
        }
        for (int64_t d = 0; d < D; ++d) {
          double expected = 0;
          for (int64_t j = 0; j < L; ++j)
            expected += p[j] / total * v.getDouble(j * D + d);
          EXPECT_NEAR(o->getDouble(i * D + d), expected, 1e-5) << causal;
        }
      }
    }
}

TEST(ApiValue, reduceOutputsAndInout) {
  Module module;
  module.kernel("columns", [](Kernel &k) {
    auto [M, N] = k.dims("M", "N");
    auto x = k.inout("x", f32, {M, N});
    auto total = k.output("total", f32, {N}, reduce("+"));
    auto greatest = k.output("greatest", f32, {N}, reduce("max"));
    k.parallel(tiles("i", M), [&](Span i) {
      auto t = x[{i, colon}];
      total[colon] += sum(t, i);
      greatest[colon].maximize(max(t, i));
      x[{i, colon}] = t * t;
    });
    k.schedule("i", 3);
  });
  const int64_t M = 10, N = 7;
  Tensor x = random(f32, {M, N}, -1, 1, 7);
  std::vector<double> before;
  for (int64_t n = 0; n < M * N; ++n)
    before.push_back(x.getDouble(n));
  for (Device device : devices) {
    auto total = run(module, "columns", {{"x", x}}, "total", device);
    auto greatest = run(module, "columns", {{"x", x}}, "greatest", device);
    auto squared = run(module, "columns", {{"x", x}}, "x", device);
    ASSERT_TRUE(total && greatest && squared);
    for (int64_t j = 0; j < N; ++j) {
      double sum = 0, most = -2;
      for (int64_t i = 0; i < M; ++i) {
        double value = before[i * N + j];
        sum += value;
        most = std::max(most, value);
        EXPECT_EQ(x.getDouble(i * N + j), value) << "the argument was changed";
        EXPECT_NEAR(squared->getDouble(i * N + j), value * value, 1e-6);
      }
      EXPECT_NEAR(total->getDouble(j), sum, 1e-5);
      EXPECT_EQ(greatest->getDouble(j), most);
    }
  }
}

TEST(ApiValue, longExpressionsStayFlat) {
  Module module;
  bool built = module.kernel("f", [](Kernel &k) {
    auto N = k.dim("N");
    auto x = k.input("x", f32, {N});
    auto y = k.output("y", f32, {N});
    k.parallel(tiles("i", N), [&](Span i) {
      Value v = x[i];
      for (int n = 0; n < 20000; ++n)
        v = std::move(v) + 1;
      y[i] = v;
    });
  });
  EXPECT_TRUE(built) << module.errorText();
}

TEST(ApiValue, assertionsNameTheirLine) {
  Module module;
  unsigned line = 0;
  module.kernel("positive", [&](Kernel &k) {
    auto M = k.dim("M");
    auto x = k.input("x", f32, {M});
    auto y = k.output("y", f32, {M});
    k.parallel(tiles("i", M), [&](Span i) {
      line = __LINE__ + 1;
      k.assert_(x[i] > 0, "x is positive");
      y[i] = x[i];
    });
  });
  ASSERT_TRUE(module.ok()) << module.errorText();
  Tensor x = random(f32, {1000}, 1, 2, 1);
  for (Device device : devices) {
    auto function = module.compile("positive", {.device = device, .sizes = {{"i", 8}}});
    ASSERT_TRUE(function);
    EXPECT_TRUE((*function)({{"x", x}}));
    Tensor bad = *x.clone();
    for (int64_t at : {100, 101, 900})
      bad.setDouble(at, -1);
    auto failed = (*function)({{"x", bad}});
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("ApiValueTest.cpp:" + std::to_string(line)),
              std::string::npos)
        << failed.error().message;
    EXPECT_NE(failed.error().message.find("assertion failed: x is positive, at [i = 100] (in the "
                                          "program at i = 96)"),
              std::string::npos)
        << failed.error().message;
    EXPECT_TRUE((*function)({{"x", x}})) << "a failure is no state";
  }
}

} // namespace
