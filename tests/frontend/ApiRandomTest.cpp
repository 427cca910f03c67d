// Random numbers: the same from kernels, maps and whatever tile sizes, as uniform and as normal as
// they say, and those that the definition gives. Philox itself is compared in tests/ir and
// tests/codegen.

#include "runtime/Random.h"
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

uint32_t word(int64_t index, int64_t stream, unsigned number) {
  auto lo = [](int64_t x) { return static_cast<uint32_t>(x); };
  auto hi = [](int64_t x) { return static_cast<uint32_t>(static_cast<uint64_t>(x) >> 32); };
  return runtime::philox4x32({lo(index), hi(index), lo(stream), hi(stream)},
                             {lo(seed), hi(seed)})[number];
}

double uniformAt(int64_t index, int64_t stream) { return (word(index, stream, 0) >> 8) * 0x1p-24; }

double normalAt(int64_t index, int64_t stream) {
  double u = ((word(index, stream, 0) >> 8) + 1) * 0x1p-24,
         v = (word(index, stream, 1) >> 8) * 0x1p-24;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
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
        EXPECT_EQ(b->getDouble(k), word(k, 2, 0));
        EXPECT_EQ(t->getDouble(k % N * M + k / N), word(k, 2, 0));
        EXPECT_EQ(w->getDouble(k), word(k, 2, 0));
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
        EXPECT_EQ(bits->getDouble(k), word(k, 2, 0)) << name;
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
      EXPECT_EQ(b->getDouble(k), word(k, 2, 0));
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
