// Random numbers: the same from kernels, maps and whatever tile sizes, as uniform and as normal as
// they say, and those that the definition gives. Philox itself is compared in tests/ir and
// tests/codegen.

#include "runtime/tensor/Random.h"
#include "tests/frontend/ApiTestSupport.h"

#include <cmath>
#include <numbers>

using namespace tile;
using namespace tile::test;

namespace {

const char *const text = R"(
map uniform(x: f32, seed: i64) -> f32 = x + rand(seed, 7)
map normal(x: f32, seed: i64) -> f32 = randn(seed, -1)
map inner(x: f32, seed: i64) -> f32 = rand(seed, 3)
map outer(x: f32, b: f32, seed: i64) -> f32 = inner(b, seed) + 0 * x

kernel draws(x: f32[M, N], seed: i64) -> (u: f32[M, N], n: f32[M, N], b: u32[M, N], t: u32[N, M], w: u32[M, N]) {
    parallel i in tiles(M), j in tiles(N) {
        u[i, j] = rand(seed, 7, i, j)
        n[i, j] = randn(seed, -1, i, j)
        b[i, j] = rand_bits(seed, 2, i, j)
        t[j, i] = rand_bits(seed, 2, i, j)
        w[i, j] = rand_bits(seed, 2, i * N + j)
    }
} schedule { i = 3; j = 8 }

kernel rows(x: f32[M, N], seed: i64) -> (b: u32[M, N], c: u32[M, N], d: u32[M, N]) {
    parallel r in each(M) {
        b[r, :] = rand_bits(seed, 2, r, N)
        c[r, :] = rand_bits(u64(seed), i8(2), r, N)
        for k in tiles(N) {
            d[r, k] = rand_bits(seed, 2, r, k)
        }
    }
}

/// Rows that begin anywhere in a block, from the start of a range or in the middle of it, in either order.
kernel anywhere(x: f32[M, N], seed: i64, from: i64) -> (b: u32[M, N], n: f32[M, N], r: u32[M, N]) {
    parallel i in tiles(M) {
        let j = whole(N)
        b[i, j] = rand_bits(seed, 2, from + i * N + j)
        n[i, j] = randn(seed, -1, from + i * N + j)
        r[i, j] = rand_bits(seed, 2, from - i * N - j)
    }
}

/// What is drawn in a reduction, and under a condition.
kernel folded(x: f32[M, N], seed: i64, from: i64) -> (top: u32[M], least: u32[M]) {
    parallel i in tiles(M) {
        let j = whole(N)
        top[i] = max(rand_bits(seed, 2, from + i * N + j), j)
        var m = full(u32, 4294967295, i)
        for k in tiles(N) if k >= i {
            m min= min(rand_bits(seed, 2, from + i * N + k), k)
        }
        least[i] = m
    }
}

graph uniforms(x: f32[M, N], seed: i64) -> (u: f32[M, N]) {
    u = uniform(0 * x, seed)
}

graph normals(x: f32[M, N], seed: i64) -> (n: f32[M, N]) {
    n = normal(x, seed) + 0
}

/// Of one row for all: the result of the call has one.
graph shared(x: f32[M, N], b: f32[N], seed: i64) -> (u: f32[M, N]) {
    u = x * 0 + inner(b, seed)
}

/// A map that a map calls draws by the elements of the outer call.
graph nested(x: f32[M, N], b: f32[N], seed: i64) -> (u: f32[M, N]) {
    u = outer(x, b, seed)
}
)";

constexpr int64_t seed = 0x123456789abcdef;

/// Draw n is word n mod 4 of block n / 4.
uint32_t word(int64_t draw, int64_t stream) {
  auto lo = [](uint64_t x) { return static_cast<uint32_t>(x); };
  auto hi = [](uint64_t x) { return static_cast<uint32_t>(x >> 32); };
  auto n = static_cast<uint64_t>(draw), s = static_cast<uint64_t>(stream),
       key = static_cast<uint64_t>(seed);
  return runtime::philox4x32({lo(n / 4), hi(n / 4), lo(s), hi(s)}, {lo(key), hi(key)})[n % 4];
}

double uniformAt(int64_t draw, int64_t stream) { return (word(draw, stream) >> 8) * 0x1p-24; }

/// Draws are pairs: of the same words the even one has the cosine, the odd one the sine.
double normalAt(int64_t draw, int64_t stream) {
  int64_t even = draw & ~int64_t(1);
  double u = ((word(even, stream) >> 8) + 1) * 0x1p-24, v = (word(even + 1, stream) >> 8) * 0x1p-24;
  double angle = 2 * std::numbers::pi * v;
  return std::sqrt(-2 * std::log(u)) * (draw & 1 ? std::sin(angle) : std::cos(angle));
}

TEST(ApiRandom, kernelsDrawByCoordinates) {
  Module module = Module::parse(text);
  const int64_t M = 13, N = 37;
  Tensor x = random(f32, {M, N}, 0, 1, 1);
  for (Device device : devices)
    for (int64_t size : {3, 5, 64}) {
      auto output = [&](const char *name) {
        return run(module, "draws", {{"x", x}, {"seed", seed}}, name, device,
                   {{"i", size}, {"j", size + 4}});
      };
      auto u = output("u"), n = output("n"), b = output("b"), t = output("t"), w = output("w");
      ASSERT_TRUE(u && n && b && t && w);
      for (int64_t k = 0; k < M * N; ++k) {
        EXPECT_EQ(u->getDouble(k), uniformAt(k, 7));
        EXPECT_NEAR(n->getDouble(k), normalAt(k, -1), 3e-6);
        EXPECT_EQ(b->getDouble(k), word(k, 2));
        EXPECT_EQ(t->getDouble(k % N * M + k / N), word(k, 2));
        EXPECT_EQ(w->getDouble(k), word(k, 2));
      }
    }
}

TEST(ApiRandom, axesAndIntegersAreCoordinatesToo) {
  Module module = Module::parse(text);
  const int64_t M = 5, N = 41;
  Tensor x = random(f32, {M, N}, 0, 1, 1);
  for (Device device : devices)
    for (const char *name : {"b", "c", "d"}) {
      auto bits = run(module, "rows", {{"x", x}, {"seed", seed}}, name, device);
      ASSERT_TRUE(bits);
      for (int64_t k = 0; k < M * N; ++k)
        EXPECT_EQ(bits->getDouble(k), word(k, 2)) << name;
    }
}

/// Rows of all lengths around those of vectors, and of several at a time.
TEST(ApiRandom, rowsBeginAnywhereInABlock) {
  Module module = Module::parse(text);
  ASSERT_TRUE(module.ok()) << module.errorText();
  const int64_t M = 6;
  for (Device device : devices)
    for (int64_t N : {1, 2, 3, 4, 7, 16, 31, 63, 64, 65, 66, 67, 128, 131, 201, 260})
      for (int64_t from : {0, 1, 2, 3, -5, 1 << 20}) {
        Tensor x = random(f32, {M, N}, 0, 1, 1);
        std::vector<NamedArgument> arguments{{"x", x}, {"seed", seed}, {"from", from}};
        auto output = [&](const char *kernel, const char *name) {
          return run(module, kernel, arguments, name, device);
        };
        auto b = output("anywhere", "b"), n = output("anywhere", "n"), r = output("anywhere", "r");
        auto top = output("folded", "top"), least = output("folded", "least");
        ASSERT_TRUE(b && n && r && top && least);
        for (int64_t i = 0; i < M; ++i) {
          uint32_t most = 0, fewest = UINT32_MAX;
          for (int64_t j = 0; j < N; ++j) {
            int64_t k = i * N + j;
            ASSERT_EQ(b->getDouble(k), word(from + k, 2)) << N << ", " << from;
            ASSERT_NEAR(n->getDouble(k), normalAt(from + k, -1), 3e-6) << N << ", " << from;
            ASSERT_EQ(r->getDouble(k), word(from - k, 2)) << N << ", " << from;
            most = std::max(most, word(from + k, 2));
            fewest = j < i ? fewest : std::min(fewest, word(from + k, 2));
          }
          ASSERT_EQ(top->getDouble(i), most) << N << ", " << from;
          ASSERT_EQ(least->getDouble(i), fewest) << N << ", " << from;
        }
      }
}

TEST(ApiRandom, mapsDrawByTheirResult) {
  Module module = Module::parse(text);
  const int64_t M = 11, N = 29;
  Tensor x = random(f32, {M, N}, 0, 1, 1), b = random(f32, {N}, 0, 1, 2);
  for (Device device : devices) {
    auto u = run(module, "uniforms", {{"x", x}, {"seed", seed}}, "u", device);
    auto n = run(module, "normals", {{"x", x}, {"seed", seed}}, "n", device);
    auto s = run(module, "shared", {{"x", x}, {"b", b}, {"seed", seed}}, "u", device);
    auto o = run(module, "nested", {{"x", x}, {"b", b}, {"seed", seed}}, "u", device);
    ASSERT_TRUE(u && n && s && o);
    for (int64_t k = 0; k < M * N; ++k) {
      EXPECT_EQ(u->getDouble(k), uniformAt(k, 7));
      EXPECT_NEAR(n->getDouble(k), normalAt(k, -1), 3e-6);
      EXPECT_EQ(s->getDouble(k), uniformAt(k % N, 3));
      EXPECT_EQ(o->getDouble(k), uniformAt(k, 3));
    }
  }
}

TEST(ApiRandom, fromCpp) {
  Module module;
  EXPECT_TRUE(module.kernel("draws", [](Kernel &k) {
    auto [M, N] = k.dims("M", "N");
    auto x = k.input("x", f32, {M, N});
    auto s = k.scalar("seed", u64);
    auto u = k.output("u", f32, {M, N});
    auto n = k.output("n", f32, {M, N});
    auto b = k.output("b", u32, {M, N});
    k.parallel(each("r", M), [&](Span r) {
      u[{r, colon}] = rand(s, 7, r, N) + 0 * x[{r, colon}];
      n[{r, colon}] = randn(s, -1, r, N);
      b[{r, colon}] = rand_bits(s, 2, r, N);
    });
  })) << module.errorText();
  const int64_t M = 7, N = 19;
  Tensor x = tile::test::random(f32, {M, N}, 0, 1, 1);
  for (Device device : devices) {
    auto u = run(module, "draws", {{"x", x}, {"seed", seed}}, "u", device);
    auto n = run(module, "draws", {{"x", x}, {"seed", seed}}, "n", device);
    auto b = run(module, "draws", {{"x", x}, {"seed", seed}}, "b", device);
    ASSERT_TRUE(u && n && b);
    for (int64_t k = 0; k < M * N; ++k) {
      EXPECT_EQ(u->getDouble(k), uniformAt(k, 7));
      EXPECT_NEAR(n->getDouble(k), normalAt(k, -1), 3e-6);
      EXPECT_EQ(b->getDouble(k), word(k, 2));
    }
  }
}

/// Moments, and a chi-square test over 64 equal classes: fixed seeds, so no luck is involved.
TEST(ApiRandom, statistics) {
  Module module = Module::parse(text);
  const int64_t M = 200, N = 1000;
  Tensor x = random(f32, {M, N}, 0, 1, 1);
  for (int64_t seed : {0, 1, 12345}) {
    auto u = run(module, "draws", {{"x", x}, {"seed", seed}}, "u", Device::Cpu);
    auto n = run(module, "draws", {{"x", x}, {"seed", seed}}, "n", Device::Cpu);
    ASSERT_TRUE(u && n);
    const double count = M * N;
    double sum = 0, squares = 0, normal = 0, normal2 = 0, normal4 = 0, neighbours = 0, chi = 0;
    std::vector<double> classes(64);
    for (int64_t k = 0; k < M * N; ++k) {
      double a = u->getDouble(k), b = n->getDouble(k);
      EXPECT_TRUE(a >= 0 && a < 1 && std::fabs(b) < 5.8);
      sum += a, squares += a * a, normal += b, normal2 += b * b, normal4 += b * b * b * b;
      neighbours += k ? b * n->getDouble(k - 1) : 0;
      ++classes[static_cast<size_t>(a * 64)];
    }
    for (double each : classes)
      chi += (each - count / 64) * (each - count / 64) / (count / 64);
    // Five standard deviations each.
    EXPECT_NEAR(sum / count, 0.5, 5 * std::sqrt(1 / 12.0 / count));
    EXPECT_NEAR(squares / count, 1 / 3.0, 5 * std::sqrt(4 / 45.0 / count));
    EXPECT_NEAR(normal / count, 0, 5 / std::sqrt(count));
    EXPECT_NEAR(normal2 / count, 1, 5 * std::sqrt(2 / count));
    EXPECT_NEAR(normal4 / count, 3, 5 * std::sqrt(96 / count));
    EXPECT_NEAR(neighbours / count, 0, 5 / std::sqrt(count));
    EXPECT_NEAR(chi, 63, 5 * std::sqrt(2 * 63.0));
  }
}
} // namespace
