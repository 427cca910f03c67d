// Scans and sorts from C++: the IR that the parser makes, and the numbers.

#include "tests/frontend/ApiTestSupport.h"
#include "tests/frontend/ParsedKernel.h"

using namespace tile;
using namespace tile::test;

namespace {

/// h[t] = a[t]·h[t − 1] + b[t], the maps x ↦ a·x + b one after the other.
void recurrence(Kernel &k) {
  auto [M, T] = k.dims("M", "T");
  auto a = k.input("a", f32, {M, T});
  auto b = k.input("b", f32, {M, T});
  auto h = k.output("h", f32, {M, T});
  auto top = k.output("top", f32, {M});
  auto s = k.output("s", f32, {M, T});
  k.parallel(tiles("i", M), [&](Span i) {
    auto p = k.var("p", full(f32, 1, i));
    auto q = k.var("q", zeros(f32, i));
    k.for_(tiles("t", T), [&](Span t) {
      Combination then = [](const std::vector<Value> &x, const std::vector<Value> &y) {
        Value factor = y[0];
        return std::vector<Value>{x[0] * factor, factor * x[1] + y[1]};
      };
      Scanned scanned = scan(then, {a[{i, t}], b[{i, t}]}, t, {p, q});
      h[{i, t}] = scanned.tiles[1];
      p = scanned.last[0];
      q = scanned.last[1];
    });
    top[i] = reduce([](Value x, Value y) { return max(x, y); }, b[{i, colon}], T, -inf);
    s[{i, colon}] =
        sort(b[{i, colon}], T, /*descending=*/true) + cumsum(a[{i, colon}], T, /*reverse=*/true);
  });
  k.schedule("i", 3);
  k.schedule("t", 4);
}

TEST(ApiScan, sameIR) {
  Module module;
  EXPECT_TRUE(module.kernel("recurrence", recurrence)) << module.errorText();
  EXPECT_EQ(module.ir(), parsed(R"(
fn then(a0, b0, a1, b1) {
    return (a0 * a1, a1 * b0 + b1)
}

kernel recurrence(a: f32[M, T], b: f32[M, T]) -> (h: f32[M, T], top: f32[M], s: f32[M, T]) {
    parallel i in tiles(M) {
        var p = full(f32, 1, i)
        var q = zeros(f32, i)
        for t in tiles(T) {
            let (ps, qs, pc, qc) = scan(then, (a[i, t], b[i, t]), t, init = (p, q))
            h[i, t] = qs
            p = pc
            q = qc
        }
        top[i] = reduce(max, b[i, :], T, init = -inf)
        s[i, :] = sort(b[i, :], T, descending = true) + cumsum(a[i, :], T, reverse = true)
    }
} schedule { i = 3; t = 4 })"));
}

TEST(ApiScan, numbers) {
  Module module;
  EXPECT_TRUE(module.kernel("recurrence", recurrence)) << module.errorText();
  const int64_t M = 5, T = 11;
  Tensor a = random(f32, {M, T}, -1, 1, 1), b = random(f32, {M, T}, -1, 1, 2);
  for (Device device : devices) {
    auto h = run(module, "recurrence", {{"a", a}, {"b", b}}, "h", device);
    auto top = run(module, "recurrence", {{"a", a}, {"b", b}}, "top", device);
    auto s = run(module, "recurrence", {{"a", a}, {"b", b}}, "s", device);
    ASSERT_TRUE(h && top && s);
    for (int64_t i = 0; i < M; ++i) {
      double state = 0, rest = 0;
      std::vector<double> row;
      for (int64_t t = 0; t < T; ++t) {
        state = a.getDouble(i * T + t) * state + b.getDouble(i * T + t);
        EXPECT_NEAR(h->getDouble(i * T + t), state, 1e-5);
        row.push_back(b.getDouble(i * T + t));
      }
      std::sort(row.begin(), row.end(), std::greater<>());
      EXPECT_EQ(top->getDouble(i), row[0]);
      for (int64_t t = T - 1; t >= 0; --t) {
        rest += a.getDouble(i * T + t);
        EXPECT_NEAR(s->getDouble(i * T + t), row[t] + rest, 1e-5);
      }
    }
  }
}

TEST(ApiScan, best) {
  Module module;
  bool built = module.kernel("best", [](Kernel &k) {
    auto [M, N] = k.dims("M", "N");
    auto x = k.input("x", f32, {M, N});
    auto v = k.output("v", f32, {M, 3});
    auto at = k.output("at", i64, {M, 3});
    k.parallel(tiles("i", M), [&](Span i) {
      Span r = k.let(range("r", 3));
      auto [values, places] = topk(x[{i, colon}], r, N);
      v[{i, r}] = values;
      at[{i, r}] = places;
    });
  });
  EXPECT_TRUE(built) << module.errorText();
  Tensor x = random(f32, {4, 2}, -1, 1, 3);
  for (Device device : devices) {
    auto v = run(module, "best", {{"x", x}}, "v", device);
    auto at = run(module, "best", {{"x", x}}, "at", device);
    ASSERT_TRUE(v && at);
    for (int64_t i = 0; i < 4; ++i) {
      int64_t first = x.getDouble(2 * i) < x.getDouble(2 * i + 1);
      EXPECT_EQ(at->getDouble(3 * i), first);
      EXPECT_EQ(at->getDouble(3 * i + 1), 1 - first);
      EXPECT_EQ(at->getDouble(3 * i + 2), -1);
      EXPECT_EQ(v->getDouble(3 * i), x.getDouble(2 * i + first));
      EXPECT_EQ(v->getDouble(3 * i + 2), -inf);
    }
  }
}

TEST(ApiScan, errors) {
  Module module;
  module.kernel("f", [](Kernel &k) {
    auto [M, N] = k.dims("M", "N");
    auto x = k.input("x", f32, {M, N});
    auto y = k.output("y", f32, {M, N});
    k.parallel(tiles("i", M), [&](Span i) {
      auto [all, last] =
          scan([](Value a, Value b) { return f64(a) + f64(b); }, x[{i, colon}], N, 0);
      y[{i, colon}] = all;
    });
  });
  EXPECT_NE(module.errorText().find("`scan` combines f32; its function gives f64"),
            std::string::npos)
      << module.errorText();
}

TEST(ApiScan, shapesAndMergeHaveTheSameIR) {
  Module module;
  bool built = module.kernel("f", [](Kernel &k) {
    auto [M, N] = k.dims("M", "N");
    auto x = k.input("x", f32, {M, N});
    auto y = k.input("y", f32, {M, 2});
    auto ids = k.input("ids", i32, {M});
    auto z = k.output("z", f32, {M, N});
    auto w = k.output("w", f32, {M, 2});
    auto v = k.output("v", f32, {M, N + N});
    auto u = k.output("u", f32, {M});
    k.parallel(tiles("i", M), [&](Span i) {
      Span r = k.let(range("r", 2));
      Span s = k.let(whole("s", N + N));
      z[{i, colon}] = flip(x.within()[{ids[i], colon}], N);
      auto parts = split(y[{i, r}], r);
      w[{i, r}] = join({parts[1], bitcast(f32, bitcast(u32, parts[0]) ^ 1)}, r);
      v[{i, s}] = concat({x[{i, colon}], x[{i, colon}]}, {N, N}, s);
      auto m = k.var("m", full(f32, -inf, i));
      Combination merge = [](const std::vector<Value> &a, const std::vector<Value> &b) {
        return std::vector<Value>{max(a[0], b[0])};
      };
      k.for_(tiles("j", N).reassociable(merge), [&](Span j) { m = max(m, max(x[{i, j}], j)); });
      u[i] = m;
    });
  });
  EXPECT_TRUE(built) << module.errorText();
  EXPECT_EQ(module.ir(), parsed(R"(
kernel f(x: f32[M, N], y: f32[M, 2], ids: i32[M]) -> (z: f32[M, N], w: f32[M, 2], v: f32[M, N + N], u: f32[M]) {
    parallel i in tiles(M) {
        let r = range(2)
        let s = whole(N + N)
        z[i, :] = flip(x.within[ids[i], :], N)
        let (p, q) = split(y[i, r], r)
        w[i, r] = join((q, bitcast(f32, bitcast(u32, p) ^ 1)), r)
        v[i, s] = concat((x[i, :], x[i, :]), (N, N), s)
        var m = full(f32, -inf, i)
        for j in tiles(N) reassociable merge max {
            m = max(m, max(x[i, j], j))
        }
        u[i] = m
    }
})"));
}

} // namespace
