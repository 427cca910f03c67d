// What `--check` allows an element to be off by: enough for every right execution, and too little
// for a fault of few ulp. Kernels run on the interpreter, which gives the bounds, and on the CPU,
// on fresh numbers.

#include "frontend/execute/Comparison.h"
#include "frontend/execute/Execution.h"

#include "dsl/Elaborator.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>

using namespace tile;
using namespace tile::frontend;
using runtime::DType;
using runtime::Tensor;

namespace {

using Tensors = std::vector<std::shared_ptr<Tensor>>;

class ToleranceTest : public ::testing::Test {
protected:
  ToleranceTest() : seed(std::random_device()()), random(seed) {}
  void TearDown() override {
    if (HasFailure())
      std::cerr << "the inputs came from seed " << seed << "\n";
  }

  std::shared_ptr<Tensor> normal(DType type, const runtime::Shape &shape, double scale = 1,
                                 double offset = 0) {
    auto tensor = std::make_shared<Tensor>(*Tensor::create(type, shape));
    std::normal_distribution<double> values;
    for (int64_t n = 0; n < tensor->numElements(); ++n)
      tensor->setDouble(n, values(random) * scale + offset);
    return tensor;
  }

  /// What a kernel makes of tensors: on the CPU, as it should be, and how far it may be off.
  struct Run {
    std::shared_ptr<const Tensor> actual, expected;
    std::vector<float> bounds;
    Comparison comparison;
  };

  Run run(const std::string &text, const Tensors &inputs, int64_t tile = 0) {
    Run result = ran(text, inputs, tile);
    EXPECT_EQ(result.comparison.open, 0) << text;
    return result;
  }

  /// Of the kernel or graph that stands last.
  Run ran(const std::string &text, const Tensors &inputs, int64_t tile = 0) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    dsl::DiagnosticEngine diags;
    dsl::Program program(diags, {});
    dsl::Elaborator elaborator(context, program, diags);
    dsl::DiagnosticBridge bridge(context, program, diags);
    dsl::LoadedFile *file = program.load("test.tile", text);
    std::string symbol = elaborator.elaborate({&file->module.decls.back(), file}, {});
    EXPECT_EQ(diags.errorCount(), 0u) << diags.print(false);
    Compiler compiler;
    Arguments arguments(inputs.begin(), inputs.end());
    Executor cpu(compiler, elaborator.module(), Device::Cpu);
    Executor oracle(compiler, elaborator.module(), Device::Interp);
    oracle.tracksErrorsOf = Device::Cpu;
    if (tile)
      cpu.sizes.everywhere["i"] = tile;
    auto actual = cpu.run(symbol, arguments, {}), expected = oracle.run(symbol, arguments, {});
    if (!actual || !expected) {
      ADD_FAILURE() << diags.print(false);
      return {};
    }
    llvm::ArrayRef<float> bounds = oracle.errorsIn(*expected->front());
    Run result{actual->front(), expected->front(), bounds.vec(), {}};
    result.comparison = compare(*result.actual, *result.expected, result.bounds);
    EXPECT_TRUE(result.comparison.ok())
        << text << "\n"
        << describe(result.comparison, *result.actual, *result.expected);
    return result;
  }

  uint64_t seed;
  std::mt19937_64 random;
};

/// How many of the elements, among those of at least that magnitude, pass with a fault of so many
/// ulp put into each of them alone.
int64_t missed(const std::shared_ptr<const Tensor> &expected, const std::vector<float> &bounds,
               double ulps, double least = 0) {
  int64_t count = 0;
  for (int64_t n = 0; n < expected->numElements(); ++n) {
    double value = expected->getDouble(n), fault = ulps * ulpOf(expected->dtype(), value);
    count += !bounds.empty() && std::abs(value) >= least && fault <= bounds[static_cast<size_t>(n)];
  }
  return count;
}

TEST_F(ToleranceTest, WhatIsExactHasNone) {
  for (const char *body :
       {"y[i, j] = x[i, j]", "y[i, j] = x[i, j] * 3 + 0.1", "y[i, j] = max(x[i, j], 0) / 7",
        "y[i, j] = sqrt(abs(x[i, j]))", "y[i, j] = where(x[i, j] > 0, x[i, j], -x[i, j])",
        "y[i, j] = f32(bf16(x[i, j] * 3))", "y[i, j] = x[i, j] - max(x[i, :], N)",
        "y[i, j] = floor(x[i, j] * 10)", "y[i, j] = f32(f16(x[i, j])) + f32(argmax(x[i, :], N))"}) {
    std::string text = std::string("kernel k(x: f32[M, N]) -> (y: f32[M, N]) {\n  parallel i in "
                                   "tiles(M), j in tiles(N) {\n    ") +
                       body + "\n  }\n}\n";
    Run ran = run(text, {normal(DType::F32, {7, 13})});
    EXPECT_TRUE(ran.bounds.empty()) << text;
    EXPECT_EQ(ran.comparison.mostUlps, 0) << text;
  }
}

TEST_F(ToleranceTest, SumsOfIntegersAreExact) {
  auto integers = [&](DType type, const runtime::Shape &shape) {
    auto tensor = std::make_shared<Tensor>(*Tensor::create(type, shape));
    for (int64_t n = 0; n < tensor->numElements(); ++n)
      tensor->setDouble(n, static_cast<double>(random() % 17) - 8);
    return tensor;
  };
  for (const char *text :
       {"kernel k(x: f32[M, N]) -> (y: f32[M]) {\n  parallel i in tiles(M) {\n    y[i] = sum(x[i, "
        ":], N)\n  }\n}\n",
        "kernel k(x: f32[M, N]) -> (y: f32[M]) {\n  parallel i in tiles(M) {\n    var s = "
        "zeros(f32, "
        "i)\n    for j in tiles(N) { s += sum(x[i, j] * x[i, j], j) }\n    y[i] = s\n  }\n}\n",
        "kernel k(x: f32[M, N]) -> (y: f32[M, M]) {\n  parallel i in tiles(M), k in tiles(M) {\n   "
        " y[i, k] = dot(x[i, :], x[k, :], N)\n  }\n}\n"})
    EXPECT_TRUE(run(text, {integers(DType::F32, {5, 31})}).bounds.empty()) << text;
}

TEST_F(ToleranceTest, FaultsOf4UlpAreFound) {
  struct Case {
    const char *body, *type;
    DType dtype;
  };
  for (const Case &c :
       {Case{"x[i, j] * 2 + 1", "f32", DType::F32}, Case{"exp(x[i, j])", "f32", DType::F32},
        Case{"log(abs(x[i, j]))", "f32", DType::F32}, Case{"tanh(x[i, j])", "f32", DType::F32},
        Case{"rsqrt(abs(x[i, j]))", "f32", DType::F32}, Case{"sin(x[i, j])", "f32", DType::F32},
        Case{"bf16(exp(x[i, j]))", "bf16", DType::BF16},
        Case{"f16(tanh(x[i, j]) * 3)", "f16", DType::F16},
        Case{"bf16(dot(x[i, :], x[j, :], N))", "bf16", DType::BF16},
        Case{"f16(dot(x[i, :], x[j, :], N))", "f16", DType::F16}}) {
    std::string text = std::string("kernel k(x: f32[M, N]) -> (y: ") + c.type +
                       "[M, N]) {\n  parallel i in tiles(M), j in tiles(N) {\n    "
                       "y[i, j] = " +
                       c.body + "\n  }\n}\n";
    if (std::string(c.body).find("dot") != std::string::npos)
      text = std::string("kernel k(x: f32[M, N]) -> (y: ") + c.type +
             "[M, M]) {\n  parallel i in tiles(M), j in tiles(M) {\n    y[i, j] = " + c.body +
             "\n  }\n}\n";
    Run ran = run(text, {normal(DType::F32, {37, 37})});
    // Sums whose terms, each about 1, cancel to almost nothing are off by many of their own ulp.
    double least = std::string(c.body).find("dot") == std::string::npos ? 0 : 0.01;
    EXPECT_EQ(missed(ran.expected, ran.bounds, 4, least), 0) << text;
  }
}

TEST_F(ToleranceTest, FaultsOfSumsAreFound) {
  Run ran = run("kernel k(x: f32[M, N]) -> (y: f32[M]) {\n  parallel i in tiles(M) {\n    y[i] = "
                "mean(x[i, :], N)\n  }\n}\n",
                {normal(DType::F32, {50, 1000}, 1, 10)});
  EXPECT_FALSE(ran.bounds.empty());
  EXPECT_EQ(missed(ran.expected, ran.bounds, 8), 0);
}

/// Each function is off by a whole ulp or by nothing, so that a few of them are often off together
/// and to the same side: in a sum by several half ulps that each vanish alone, and in products by
/// the product of what both are off.
TEST_F(ToleranceTest, AFewErrorsMeetOnOneSide) {
  for (const char *body :
       {"exp(z[i]) * 0.5 + exp(x[i])", "exp(x[i]) * exp(z[i]) + z[i]",
        "exp(x[i]) - 0.25 * exp(z[i])", "1 / (1 + exp(-x[i]))",
        "exp(x[i]) + exp(z[i]) * x[i] + exp(x[i] + z[i])",
        "(log(exp(x[i])) - x[i]) * (log(exp(z[i])) - z[i])", "sum(exp(w[i, :]), L)"}) {
    std::string text = std::string("kernel k(x: f32[M], z: f32[M], w: f32[M, L]) -> (y: f32[M]) "
                                   "{\n  parallel i in tiles(M) { y[i] = ") +
                       body + " }\n}\n";
    run(text,
        {normal(DType::F32, {30000}), normal(DType::F32, {30000}), normal(DType::F32, {30000, 3})});
  }
  run("kernel k(x: f32[K, M]) -> (y: f32[M]) {\n  parallel i in tiles(M) {\n    var a = zeros(f32, "
      "i)\n    for k in 0..K { a = a * 0.5 + exp(x[k, i]) }\n    y[i] = a\n  }\n}\n",
      {normal(DType::F32, {3, 30000})});
}

/// What the interpreter adds up has few digits more than a double, which is rounded twice there.
TEST_F(ToleranceTest, ProductsOfDoublesMayTip) {
  Run ran = run("kernel k(a: f64[M, K], b: f64[N, K]) -> (c: f64[M, N]) {\n  parallel i in "
                "tiles(M), j in tiles(N) {\n    c[i, j] = dot(a[i, :], b[j, :], K)\n  }\n}\n",
                {normal(DType::F64, {301, 1}), normal(DType::F64, {203, 1})});
  EXPECT_EQ(missed(ran.expected, ran.bounds, 2.5), 0);
}

/// A block's sum may be exact, and what smaller blocks add to the same sum is rounded each time:
/// whatever is made of a block's sum before it is added.
TEST_F(ToleranceTest, SumsOfBlocksAreCutElsewhere) {
  auto sign = normal(DType::F32, {4001}), one = normal(DType::BF16, {8});
  for (int64_t n = 0; n < 4001; ++n)
    sign->setDouble(n, n % 3 ? 1 : -1);
  for (int64_t n = 0; n < 8; ++n)
    one->setDouble(n, 1);
  for (const char *round :
       {"v += sum(f32(x[j, i]), i)", "v -= sum(f32(x[j, i]), i)", "v += 2 * sum(f32(x[j, i]), i)",
        "v += sum(f32(x[j, i]), i) / 4", "v += -sum(f32(x[j, i]), i)",
        "v += sum(f32(x[j, i]), i) * sign[j]", "v += sum(f32(w[i]), i)",
        "v += sum(f32(x[j, i]), i) + sum(f32(w[i]), i)",
        "v += sum(f32(x[j, i]), i) - sum(f32(w[i]), i)", "v += sum(sum(f32(w2[i, :]), i), L)",
        "v += 2 * dot(x[j, i], one[i], i)",
        "v += dot(x[j, i], one[i], i) - sum(f32(x[j, i]), i) / 2",
        "var u = zeros(f32, j)\n      for k in tiles(L) { u += sum(f32(x[j, i]) * f32(w2[i, k]), "
        "i, k) }\n      v += u"}) {
    std::string text = "kernel k(x: bf16[M, 8], s: f32[M], w: bf16[8], w2: bf16[8, L], sign: "
                       "f32[M], one: bf16[8]) -> (y: f32[M]) {\n  parallel j in tiles(M) {\n    "
                       "var v = s[j]\n    for i in tiles(8) {\n      " +
                       std::string(round) + "\n    }\n    y[j] = v\n  }\n} schedule { i = 8 }\n";
    run(text,
        {normal(DType::BF16, {4001, 8}), normal(DType::F32, {4001}), normal(DType::BF16, {8}),
         normal(DType::BF16, {8, 3}), sign, one},
        /*tile=*/1);
  }
}

/// A product has its axes in the order of its operands, and what it is added to in another. Each
/// round adds to what the sum began with.
TEST_F(ToleranceTest, SumsGoOnWithTheirAxesInAnotherOrder) {
  run("kernel k(x: f32[M, 12], z: f32[N, M, 12]) -> (y: f32[N, M]) {\n  parallel a in tiles(N), b "
      "in tiles(M) {\n    var v = full(f32, 1, a, b)\n    for i in tiles(12) {\n      v += "
      "dot(x[b, "
      "i], z[a, b, i], i)\n    }\n    y[a, b] = v\n  }\n} schedule { i = 16 }\n",
      {normal(DType::F32, {201, 12}, 1e-4), normal(DType::F32, {197, 201, 12})}, /*tile=*/1);
}

/// Of blocks of another size no product leaves the range, and 0 times a number is 0, not NaN.
TEST_F(ToleranceTest, ProductsBeyondTheRangeAreOpen) {
  Run made = ran("kernel k(x: f64[M, N]) -> (y: f64[M]) {\n  parallel i in tiles(M) {\n    var v "
                 "= zeros(f64, i)\n    for k in tiles(N) {\n      v *= prod(max(1e30, x[i, k]), "
                 "k)\n    }\n    y[i] = v\n  }\n} schedule { k = 16 }\n",
                 {normal(DType::F64, {5, 48})});
  ASSERT_EQ(made.bounds.size(), 5u);
  for (float bound : made.bounds)
    EXPECT_TRUE(std::isinf(bound)) << bound;
}

/// Each row's product is 0 and far inside the range; those of all rows may be taken at once, with
/// the zeros last.
TEST_F(ToleranceTest, FactorsOfProductsThatAreZeroAreOpen) {
  std::string text = "kernel k(x: f32[M, N]) -> (y: f32[1] reduce *) {\n  parallel i in each(M) {\n"
                     "    y[0] *= prod(x[i, :], N)\n  }\n}\n";
  auto x = std::make_shared<Tensor>(*Tensor::create(DType::F32, {6, 2}));
  for (int64_t row = 0; row < 6; ++row)
    x->setDouble(2 * row + row % 2, 3);
  EXPECT_TRUE(run(text, {x}).bounds.empty());
  for (int64_t row = 0; row < 6; ++row)
    x->setDouble(2 * row + row % 2, 1e30);
  Run made = ran(text, {x});
  ASSERT_EQ(made.bounds.size(), 1u);
  EXPECT_TRUE(std::isinf(made.bounds[0])) << made.bounds[0];
}

/// Processors make other NaNs than the interpreter.
TEST_F(ToleranceTest, BitsOfNaNsAreOpen) {
  auto x = normal(DType::F32, {101});
  Run made = ran("kernel k(x: f32[N]) -> (y: i32[N]) {\n  parallel i in tiles(N) { y[i] = "
                 "bitcast(i32, sqrt(x[i])) }\n}\n",
                 {x});
  ASSERT_EQ(made.bounds.size(), 101u);
  for (int64_t n = 0; n < 101; ++n)
    EXPECT_EQ(made.bounds[static_cast<size_t>(n)] > 0, x->getDouble(n) < 0) << x->getDouble(n);
}

/// What may be anything may be so in a product, too, whatever it is multiplied by: its bound is no
/// NaN.
TEST_F(ToleranceTest, ProductsOfOpenBitsAreOpen) {
  auto x = normal(DType::F32, {101});
  Run made =
      ran("kernel k(x: f32[N]) -> (y: i32[N]) {\n  parallel i in tiles(N) {\n    var v = "
          "zeros(i32, i)\n    for k in tiles(8) { v += dot(bitcast(i32, sqrt(x[i])) + i32(k), "
          "0 * i32(k), k) }\n    y[i] = v\n  }\n}\n",
          {x});
  ASSERT_EQ(made.bounds.size(), 101u);
  for (int64_t n = 0; n < 101; ++n)
    EXPECT_EQ(made.bounds[static_cast<size_t>(n)],
              x->getDouble(n) < 0 ? std::numeric_limits<float>::infinity() : 0);
}

TEST_F(ToleranceTest, FunctionsAreExactAtZero) {
  Run ran = run("kernel k(x: f32[M, N]) -> (y: f32[M, N]) {\n  parallel i in tiles(M) {\n    let "
                "e = exp(x[i, :] - max(x[i, :], N))\n    y[i, :] = e * cos(x[i, :] * 0) / sum(e, "
                "N)\n  }\n}\n",
                {normal(DType::F32, {37, 1})});
  EXPECT_TRUE(ran.bounds.empty());
}

/// Partial sums of f32 outputs add up in f64 on the CPU: what is rounded is what they are made of.
TEST_F(ToleranceTest, OutputsThatAddNumbersAreExact) {
  Run ran = run("kernel k(x: f32[M, N]) -> (y: f32[N] reduce +) {\n  parallel i in each(M), j in "
                "tiles(N) {\n    y[j] += x[i, j]\n  }\n}\n",
                {normal(DType::F32, {101, 37})});
  EXPECT_EQ(missed(ran.expected, ran.bounds, 1.5), 0);
}

/// Errors of many sums that are summed up again are no more in step than they were: a bound of a
/// bound is as sharp as the first.
TEST_F(ToleranceTest, SumsOfSumsAreAsSharp) {
  auto inKernel = [&](int layers) {
    std::string body = "    let h0 = x[i, a]\n", from = "a", to = "b";
    for (int n = 1; n <= layers; ++n) {
      std::string number = std::to_string(n), before = std::to_string(n - 1);
      body += "    let h" + number + " = dot(h" + before + ", w[" + from + ", " + to + "], " +
              from + ")\n";
      std::swap(from, to);
    }
    return run("kernel k(x: f32[M, N], w: f32[N, N]) -> (y: f32[M, N]) {\n  parallel i in "
               "tiles(M) {\n    let a = whole(N)\n    let b = whole(N)\n" +
                   body + "    y[i, " + from + "] = h" + std::to_string(layers) + "\n  }\n}\n",
               {normal(DType::F32, {16, 64}), normal(DType::F32, {64, 64}, 0.125)});
  };
  auto inGraph = [&](int layers) {
    std::string calls = "  let h1 = layer(x, w)\n";
    for (int n = 2; n < layers; ++n)
      calls += "  let h" + std::to_string(n) + " = layer(h" + std::to_string(n - 1) + ", w)\n";
    return run("kernel layer(x: f32[M, N], w: f32[N, N]) -> (y: f32[M, N]) {\n  parallel i in "
               "tiles(M), j in tiles(N) {\n    y[i, j] = dot(x[i, :], w[:, j], N)\n  }\n}\ngraph "
               "g(x: f32[M, N], w: f32[N, N]) -> (y: f32[M, N]) {\n" +
                   calls + "  y = layer(h" + std::to_string(layers - 1) + ", w)\n}\n",
               {normal(DType::F32, {16, 64}), normal(DType::F32, {64, 64}, 0.125)});
  };
  auto meanBound = [](const Run &ran) {
    double sum = 0;
    for (float bound : ran.bounds)
      sum += bound;
    return sum / static_cast<double>(ran.bounds.size());
  };
  // Four layers have four times the variance of one.
  double ofOne = meanBound(inKernel(1));
  EXPECT_LE(meanBound(inKernel(4)), 3 * ofOne);
  EXPECT_LE(meanBound(inGraph(4)), 3 * ofOne);
}

TEST_F(ToleranceTest, RoundingToHalvesInsideIsAllowedForWhereItMayTip) {
  // Of some elements of p the sums of f32 decide to which side bf16 rounds them.
  Run ran =
      run("kernel dv(q: bf16[M, K], k: bf16[N, K], g: bf16[N, D]) -> (y: f32[M, D]) {\n  parallel "
          "i in tiles(M) {\n    let p = exp(dot(q[i, :], k[:, :], K) * 0.25 - 3)\n    y[i, :] = "
          "dot(bf16(p), g[:, :], N)\n  }\n}\n",
          {normal(DType::BF16, {500, 64}), normal(DType::BF16, {30, 64}),
           normal(DType::BF16, {30, 64})});
  // They are few: most rows allow for no more than sums of f32.
  int64_t wide = 0;
  for (size_t n = 0; n < ran.bounds.size(); ++n)
    wide +=
        ran.bounds[n] > 1e-4 * std::abs(ran.expected->getDouble(static_cast<int64_t>(n))) + 1e-4;
  EXPECT_LT(wide, static_cast<int64_t>(ran.bounds.size() / 2));
}

TEST_F(ToleranceTest, TermsMayCancel) {
  for (int n = 0; n < 20; ++n)
    run("kernel rms_back(x: f32[M, N], dy: f32[M, N], g: f32[N]) -> (dx: f32[M, "
        "N]) {\n  parallel i in tiles(M) {\n    let t = x[i, :]\n    let r = rsqrt(mean(t * t, N) "
        "+ 1e-6)\n    let w = dy[i, :] * g[:]\n    dx[i, :] = r * (w - t * (r * r * mean(w * t, "
        "N)))\n  }\n}\n",
        {normal(DType::F32, {11, 1}), normal(DType::F32, {11, 1}), normal(DType::F32, {1})});
}

TEST_F(ToleranceTest, SumsThatMayLeaveTheRangeOnTheirWayAreOpen) {
  constexpr double inf = std::numeric_limits<double>::infinity(), big = 3e38;
  struct Case {
    std::vector<double> terms;
    bool isOpen;
  };
  // Beside an infinity great terms of the other sign make NaN, if they meet first.
  for (const Case &c : {Case{{inf, -big, -big, 1}, true}, Case{{big, 1, big, -big}, true},
                        Case{{inf, big, big, 1}, false}, Case{{-inf, 1, 2, 3}, false},
                        Case{{inf, 1, -inf, 1}, false}, Case{{big, big, big, 0}, false}}) {
    auto x = std::make_shared<Tensor>(*Tensor::create(DType::F32, {1, 4}));
    for (int64_t n = 0; n < 4; ++n)
      x->setDouble(n, c.terms[static_cast<size_t>(n)]);
    Run result =
        ran("kernel k(x: f32[M, N]) -> (y: f32[M]) {\n  parallel i in tiles(M) {\n    y[i] "
            "= sum(x[i, :], N)\n  }\n}\n",
            {x});
    EXPECT_EQ(result.comparison.open, c.isOpen) << ::testing::PrintToString(c.terms);
  }
}

TEST_F(ToleranceTest, TermsThatAreAlikeAreRoundedAlike) {
  auto alike = [&](const runtime::Shape &shape) {
    std::shared_ptr<Tensor> tensor = normal(DType::F32, {1});
    double value = tensor->getDouble(0);
    tensor = normal(DType::F32, shape);
    for (int64_t n = 0; n < tensor->numElements(); ++n)
      tensor->setDouble(n, value);
    return tensor;
  };
  for (int n = 0; n < 10; ++n) {
    run("kernel total(x: f32[M, N]) -> (y: f32[M]) {\n  parallel i in tiles(M) { y[i] = sum(x[i, "
        ":], N) }\n}\n",
        {alike({3, 20})});
    run("kernel product(x: f32[M, K], w: f32[N, K]) -> (y: f32[M, N]) {\n  parallel i in tiles(M), "
        "j in tiles(N) { y[i, j] = dot(x[i, :], w[j, :], K) }\n}\n",
        {alike({5, 300}), alike({7, 300})});
    // The parts that programs add up are alike, too, whatever their blocks.
    run("kernel parts(x: f32[N]) -> (y: f32[1] reduce +) {\n  parallel i in tiles(N), k in each(1) "
        "{ y[k] += sum(x[i], i) }\n}\n",
        {alike({100000})});
  }
}

/// Their sum is small, but lanes have terms of one sign each.
TEST_F(ToleranceTest, TermsMayAlternate) {
  for (int64_t period : {2, 4, 8})
    for (int64_t length : {1001, 10003}) {
      auto x = normal(DType::F32, {1, length});
      for (int64_t n = 0; n < length; ++n)
        x->setDouble(n, x->getDouble(n) + (n % period < period / 2 ? 1e4 : -1e4));
      run("kernel total(x: f32[M, N]) -> (y: f32[M]) {\n  parallel i in tiles(M) { y[i] = sum(x[i, "
          ":], N) }\n}\n",
          {x});
    }
}

TEST_F(ToleranceTest, ProductsAndSumsMayLeaveTheRangeInSomeOrders) {
  auto tensor = normal(DType::F32, {1, 4});
  for (auto numbers :
       {std::array{1e-30, 1e-15, 1e20, 1.1e3}, std::array{1e30, 1e15, 1e-20, 1e-3}}) {
    for (int64_t n = 0; n < 4; ++n)
      tensor->setDouble(n, numbers[static_cast<size_t>(n)]);
    auto reversed = std::make_shared<Tensor>(*Tensor::create(DType::F32, {1, 4}));
    for (int64_t n = 0; n < 4; ++n)
      reversed->setDouble(n, tensor->getDouble(3 - n));
    for (const auto &x : {tensor, reversed})
      EXPECT_TRUE(
          ran("kernel product(x: f32[M, N]) -> (y: f32[M]) {\n  parallel i in tiles(M) { y[i] = "
              "prod(x[i, :], N) }\n}\n",
              {x})
              .comparison.ok());
  }
}

TEST_F(ToleranceTest, BoundsGoThroughGraphs) {
  // The second call's argument is exact in its memory alone.
  Run ran = run("kernel e(x: f32[N]) -> (y: f32[N]) {\n  parallel i in tiles(N) { y[i] = "
                "exp(x[i]) }\n}\nkernel twice(x: f32[N]) -> (y: f32[N]) {\n  parallel i in "
                "tiles(N) { y[i] = x[i] * 2 }\n}\ngraph g(x: f32[N]) -> (y: f32[N]) {\n  let a = "
                "e(x)\n  y = twice(a)\n}\n",
                {normal(DType::F32, {300})});
  EXPECT_FALSE(ran.bounds.empty());
  EXPECT_EQ(missed(ran.expected, ran.bounds, 4), 0);
}

} // namespace
