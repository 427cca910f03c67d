// Grid kernels from C++: the IR that the parser makes, numbers that don't depend on the order,
// errors.

#include "tests/frontend/ApiTestSupport.h"
#include "tests/frontend/ParsedKernel.h"

#include <algorithm>
#include <numeric>

using namespace tile;
using namespace tile::test;

namespace {

/// Counts x, gives each of its elements a number of its own, and keeps the greatest.
void everything(Kernel &k) {
  auto [N, B] = k.dims("N", "B");
  auto x = k.input("x", i32, {N});
  auto h = k.inout("h", i32, {B});
  auto next = k.inout("next", i64, {1});
  auto top = k.inout("top", i32, {1});
  auto ticket = k.output("ticket", i64, {N});
  k.grid({count("p", 0, cdiv(N, 32)), count("q", 0, 2)}, [&](Span p, Span q) {
    Span i = k.let(range("i", 16).when([&](const Span &i) { return 32 * p + 16 * q + i < N; }));
    auto t = x[32 * p + 16 * q + i];
    Value seen = t;
    atomic_add(h.drop()[seen], 1);
    ticket[32 * p + 16 * q + i] = atomic_add(next[0], i64(seen - seen + 1));
    auto old = k.var("old", atomic_max(top[0], seen, MemoryOrder::acq_rel));
    k.if_(max(old, i) > 1000, [&] { h.drop()[-1] = 5; });
    atomic_cas(top[0], -1, 0);
  });
}

TEST(ApiGrid, sameIR) {
  Module module;
  EXPECT_TRUE(module.kernel("everything", everything)) << module.errorText();
  EXPECT_EQ(module.ir(), parsed(R"(
kernel everything(x: i32[N], inout h: i32[B], inout next: i64[1], inout top: i32[1]) -> (ticket: i64[N]) {
    grid p in 0..cdiv(N, 32), q in 0..2 {
        let i = range(16) if 32 * p + 16 * q + i < N
        let seen = x[32 * p + 16 * q + i]
        atomic_add(h.drop[seen], 1)
        ticket[32 * p + 16 * q + i] = atomic_add(next[0], i64(seen - seen + 1))
        var old = atomic_max(top[0], seen, order = acq_rel)
        if max(old, i) > 1000 {
            h.drop[-1] = 5
        }
        atomic_cas(top[0], -1, 0)
    }
})"));
}

TEST(ApiGrid, numbers) {
  Module module;
  ASSERT_TRUE(module.kernel("everything", everything)) << module.errorText();
  for (Device device : devices)
    for (int64_t n : {5000, 33, 1, 0}) {
      Tensor x = random(i32, {n}, -1, 12, 1), h = random(i32, {10}, 0, 5, 2);
      Tensor next = random(i64, {1}, 100, 200, 3), top = random(i32, {1}, -9, -2, 4);
      std::vector<double> counts, tickets, expected(n);
      for (int64_t b = 0; b < 10; ++b)
        counts.push_back(h.getDouble(b));
      double greatest = top.getDouble(0);
      for (int64_t i = 0; i < n; ++i) {
        double value = x.getDouble(i);
        greatest = std::max(greatest, value);
        if (value >= 0 && value < 10)
          ++counts[static_cast<size_t>(value)];
      }
      Result<Function> function = module.compile("everything", {.device = device});
      ASSERT_TRUE(function) << function.error().str();
      Result<Outputs> outputs = (*function)({{"x", x}, {"h", h}, {"next", next}, {"top", top}});
      ASSERT_TRUE(outputs) << outputs.error().str();
      for (int64_t b = 0; b < 10; ++b)
        EXPECT_EQ(outputs->at("h")->getDouble(b), counts[static_cast<size_t>(b)]) << b;
      // Each number once.
      for (int64_t i = 0; i < n; ++i)
        tickets.push_back(outputs->at("ticket")->getDouble(i));
      std::sort(tickets.begin(), tickets.end());
      std::iota(expected.begin(), expected.end(), next.getDouble(0));
      EXPECT_EQ(tickets, expected);
      EXPECT_EQ(outputs->at("next")->getDouble(0), next.getDouble(0) + static_cast<double>(n));
      EXPECT_EQ(outputs->at("top")->getDouble(0), greatest);
    }
}

void expectError(const std::function<void(Kernel &, Param, Param)> &body, const std::string &part) {
  Module module;
  bool built = module.kernel("wrong", [&](Kernel &k) {
    Extent N = k.dim("N");
    Param x = k.input("x", f32, {N});
    Param y = k.inout("y", f32, {N});
    body(k, x, y);
  });
  EXPECT_FALSE(built) << part;
  ASSERT_FALSE(module.errors().empty()) << part;
  EXPECT_NE(module.errors().front().str().find(part), std::string::npos) << module.errorText();
}

TEST(ApiGrid, errors) {
  auto inGrid = [](const std::function<void(Kernel &, Param, Param, Span)> &statement) {
    return [=](Kernel &k, Param x, Param y) {
      k.grid(count("p", 0, 5), [&](Span p) { statement(k, x, y, p); });
    };
  };
  expectError([](Kernel &k, Param,
                 Param y) { k.parallel(each("p", 5), [&](Span p) { atomic_add(y[p], 1); }); },
              "stands in `grid` kernels only");
  expectError([](Kernel &k, Param, Param y) { k.grid(each("p", 5), [&](Span p) { y[p] = 1; }); },
              "`grid` binds integers");
  expectError(
      [](Kernel &k, Param, Param y) { k.grid(count("p", 0, 5, 2), [&](Span p) { y[p] = 1; }); },
      "takes no step");
  expectError(inGrid([](Kernel &, Param x, Param, Span p) { atomic_add(x[p], 1); }),
              "`x` is an input");
  expectError(inGrid([](Kernel &, Param, Param y, Span p) { atomic_or(y[p], 1); }),
              "`atomic_or` works on i32");
  expectError(inGrid([](Kernel &, Param, Param y, Span p) { atomic_add(y.clamp()[p], 1); }),
              "`pad`, `clamp` and `within` only read");
  expectError(inGrid([](Kernel &, Param x, Param y, Span p) { y[p] = x.drop()[p]; }),
              "`drop` says how a tensor is written");
  expectError(inGrid([](Kernel &, Param, Param y, Span p) { y.drop()[p] += 1; }),
              "`drop` stands with `=`");
  expectError(inGrid([](Kernel &k, Param x, Param y, Span) {
                k.for_(tiles("i", 5), [&](Span i) { y[i] = x[i]; });
              }),
              "no loops over blocks");
  expectError(inGrid([](Kernel &k, Param, Param y, Span) {
                k.grid(count("q", 0, 5), [&](Span q) { y[q] = 1; });
              }),
              "stands once");
}

} // namespace
