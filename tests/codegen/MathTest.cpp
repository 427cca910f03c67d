// The f32 functions against the C library in double, over samples of all floats: the errors stated
// here are what the compiler promises. Vector bodies and tails must give the same bits.

#include "codegen/cpu/CpuCompiler.h"
#include "ir/transforms/Specialize.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

using namespace tile::ir;
using namespace tile::codegen;

namespace {

struct Function {
  const char *op;
  double (*exact)(double);
  /// Greatest error in units of the last place of the exact result.
  double ulps;
  /// Magnitudes up to here.
  double limit;

  bool takes(double x) const { return std::isnan(x) || std::fabs(x) <= limit; }
};

/// The function in tile IR: %w of %v.
std::string textOf(const std::string &op) {
  if (op != "sigmoid")
    return "%w = math." + op + " %v : !i\n";
  return R"(
    %zero = arith.constant dense<0.0> : !i
    %one = arith.constant dense<1.0> : !i
    %magnitude = math.absf %v : !i
    %negated = arith.negf %magnitude : !i
    %power = math.exp %negated : !i
    %isNegative = arith.cmpf olt, %v, %zero : !i
    %above = arith.select %isNegative, %power, %one : tensor<64xi1, #tile.axes<"i">>, !i
    %below = arith.addf %one, %power : !i
    %w = arith.divf %above, %below : !i
)";
}

std::ostream &operator<<(std::ostream &stream, const Function &function) {
  return stream << function.op;
}

class FunctionTest : public ::testing::Test {
protected:
  FunctionTest() {
    context.loadDialect<TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  }

  /// y = op(x), elementwise.
  std::vector<float> run(const std::string &op, const std::vector<float> &x,
                         const std::string &cpu = "native") {
    std::string text = R"(
#n = affine_map<()[n] -> (n)>
#id = affine_map<(d0) -> (d0)>
!i = tensor<64xf32, #tile.axes<"i">>
tile.kernel @f(%x: memref<?xf32> {tile.name = "x", tile.mode = "in", tile.shape = #n},
               %y: memref<?xf32> {tile.name = "y", tile.mode = "out", tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  tile.parallel (%i = tiles "i" %c0 to %N by 64) {
    %v = tile.load %x at #id(%i)[] <exact> : memref<?xf32>, (!tile.span<"i", 64>) -> !i
    )" + textOf(op) + R"(
    tile.store %w, %y at #id(%i)[] : !i, memref<?xf32>, (!tile.span<"i", 64>)
  }
  tile.return
})";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    CpuOptions options;
    options.cpu = cpu;
    auto code = CpuCompiler(options).jit(*module->getOps<KernelOp>().begin());
    EXPECT_TRUE(succeeded(code));
    std::vector<float> y(x.size(), -7);
    const void *params[] = {x.data(), y.data()};
    int64_t dims[] = {static_cast<int64_t>(x.size())};
    EXPECT_EQ(code->entry().scratch(params, dims), 0);
    code->entry().kernel(params, dims, 0, code->entry().programs(params, dims), nullptr);
    return y;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

class MathTest : public FunctionTest, public ::testing::WithParamInterface<Function> {};

/// Bit patterns at equal distances, from a random start, and all kinds of ends.
std::vector<float> samples() {
  std::vector<float> result;
  for (uint64_t bits = std::random_device()() % 2039; bits < uint64_t(1) << 32; bits += 2039) {
    auto pattern = static_cast<uint32_t>(bits);
    float value;
    std::memcpy(&value, &pattern, 4);
    result.push_back(value);
  }
  for (float value : {0.0f, 1.0f, 0.5f, 88.72283f, 88.72284f, 103.97f, 104.0f, 127.99999f, 128.0f,
                      149.0f, 150.0f, 1e-45f, 1.17549435e-38f, 3.40282347e38f, INFINITY, NAN})
    result.insert(result.end(), {value, -value});
  // Near 1, where logarithms are near 0.
  for (int step = -2000; step <= 2000; ++step)
    result.push_back(1 + static_cast<float>(step) * 5.9604645e-8f * 8);
  return result;
}

double ulpsBetween(float actual, double exact) {
  if (std::isnan(exact) || std::isnan(actual))
    return std::isnan(exact) == std::isnan(actual) ? 0 : INFINITY;
  auto rounded = static_cast<float>(exact);
  if (std::isinf(actual) || std::isinf(rounded)) {
    // Just below the overflow either is fine.
    bool bothLarge = std::fabs(actual) >= 3.4028234e38f && std::fabs(rounded) >= 3.4028234e38f;
    return actual == rounded || (bothLarge && std::signbit(actual) == std::signbit(rounded))
               ? 0
               : INFINITY;
  }
  int exponent = std::max(std::ilogb(exact == 0 ? 1e-300 : exact), -126);
  return std::fabs(actual - exact) / std::ldexp(1.0, exponent - 23);
}

TEST_P(MathTest, ErrorIsWithinItsBound) {
  const Function &function = GetParam();
  std::vector<float> x;
  for (float value : samples())
    if (function.takes(value))
      x.push_back(value);
  std::vector<float> y = run(function.op, x);
  double worst = 0;
  size_t where = 0;
  for (size_t n = 0; n < x.size(); ++n) {
    double error = ulpsBetween(y[n], function.exact(x[n]));
    if (error > worst)
      worst = error, where = n;
    if (x[n] == 0 && y[n] == 0) {
      EXPECT_EQ(std::signbit(y[n]), std::signbit(function.exact(x[n]))) << "of " << x[n];
    }
  }
  RecordProperty("ulps", std::to_string(worst));
  std::printf("%s: %.3f ulp at %.9g\n", function.op, worst, x[where]);
  EXPECT_LE(worst, function.ulps) << function.op << "(" << x[where] << ") = " << y[where]
                                  << ", not " << function.exact(x[where]);
}

TEST_P(MathTest, TailsGiveTheBitsOfBodies) {
  const Function &function = GetParam();
  std::mt19937 random(std::random_device{}());
  std::vector<float> x(64);
  for (float &value : x)
    value = std::uniform_real_distribution<float>(-4, 4)(random);
  std::vector<float> whole = run(function.op, x);
  for (size_t length : {1, 3, 7, 17, 37, 63}) {
    std::vector<float> part = run(function.op, {x.begin(), x.begin() + length});
    EXPECT_EQ(std::memcmp(part.data(), whole.data(), length * sizeof(float)), 0) << length;
  }
}

TEST_P(MathTest, OtherCpusAreAsGood) {
  const Function &function = GetParam();
  std::vector<float> x;
  for (float value : samples())
    if (function.takes(value) && std::fabs(value) <= 1e5 && x.size() < 100000)
      x.push_back(value);
  for (const char *cpu : {"x86-64", "x86-64-v3"}) {
    std::vector<float> y = run(function.op, x, cpu);
    for (size_t n = 0; n < x.size(); ++n)
      // Without multiply-adds one more rounding.
      ASSERT_LE(ulpsBetween(y[n], function.exact(x[n])), function.ulps + 2)
          << function.op << "(" << x[n] << ") = " << y[n] << " on " << cpu;
  }
}

double rsqrt(double x) { return 1 / std::sqrt(x); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Down to the least subnormal number, and 0 below: exp(−x) alone would overflow from −88.73 on.
TEST_F(FunctionTest, SigmoidHasItsTail) {
  std::vector<float> x{-INFINITY, -3e38F, -1e5F, -104, -89, std::nextafter(-88.73F, -89.0F)};
  for (int n = 0; n < 1000; ++n)
    x.push_back(-86 - static_cast<float>(n) * 0.019F);
  for (const char *cpu : {"native", "x86-64", "x86-64-v3"}) {
    std::vector<float> y = run("sigmoid", x, cpu);
    for (size_t n = 0; n < x.size(); ++n)
      ASSERT_LE(ulpsBetween(y[n], sigmoid(x[n])), 3) << "of " << x[n] << " on " << cpu;
    EXPECT_EQ(y[0], 0);
    EXPECT_GT(y[4], 2e-39);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Functions, MathTest,
    ::testing::Values(
        // The table in docs/performance.md has these numbers. Every f32 in [0.5, 4) was tried for
        // log2 and log10: at worst 2.281 and 2.240 ulp.
        Function{"exp", std::exp, 1, INFINITY}, Function{"exp2", std::exp2, 0.9, INFINITY},
        Function{"expm1", std::expm1, 1.5, INFINITY}, Function{"log", std::log, 1.6, INFINITY},
        Function{"log2", std::log2, 2.3, INFINITY}, Function{"log10", std::log10, 2.3, INFINITY},
        Function{"log1p", std::log1p, 1.6, INFINITY}, Function{"tanh", std::tanh, 1.4, INFINITY},
        Function{"erf", std::erf, 1.2, INFINITY}, Function{"sin", std::sin, 1.7, INFINITY},
        Function{"cos", std::cos, 1.7, INFINITY}, Function{"tan", std::tan, 3.8, INFINITY},
        Function{"sqrt", std::sqrt, 0.5, INFINITY}, Function{"rsqrt", rsqrt, 1.5, INFINITY},
        Function{"atan", std::atan, 1, INFINITY}, Function{"sigmoid", sigmoid, 2.5, INFINITY}),
    [](const auto &info) { return info.param.op; });

} // namespace
