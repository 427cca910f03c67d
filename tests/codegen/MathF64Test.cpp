// What threads of GPUs have in the place of the C library, run on the CPU: f64 functions against
// long double, f32 powers, and the sines of f32 that are reduced in f32. The errors stated here are
// what the compiler promises.

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

class ThreadMath : public ::testing::Test {
protected:
  ThreadMath() {
    context.loadDialect<TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  }

  /// z = op(x, y) or op(x), elementwise.
  template <typename T>
  std::vector<T> run(const std::string &op, const std::vector<T> &x, const std::vector<T> &y) {
    bool isBinary = op == "powf";
    std::string element = sizeof(T) == 8 ? "f64" : "f32", memory = "memref<?x" + element + ">";
    auto param = [&](const std::string &name, const std::string &mode) {
      return "%" + name + ": " + memory + " {tile.name = \"" + name + "\", tile.mode = \"" + mode +
             "\", tile.shape = #n}";
    };
    std::string load = " at #id(%i)[] <exact> : " + memory + ", (!tile.span<\"i\", 64>) -> !i\n";
    std::string text = "#n = affine_map<()[n] -> (n)>\n#id = affine_map<(d0) -> (d0)>\n"
                       "!i = tensor<64x" +
                       element +
                       ", #tile.axes<\"i\">>\n"
                       "tile.kernel @f(" +
                       param("x", "in") + ", " + param("y", "in") + ", " + param("z", "out") +
                       ") attributes {dims = [\"N\"]} {\n"
                       "  %c0 = arith.constant 0 : i64\n  %N = tile.dim \"N\"\n"
                       "  tile.parallel (%i = tiles \"i\" %c0 to %N by 64) {\n"
                       "    %v = tile.load %x" +
                       load + "    %u = tile.load %y" + load + "    %w = math." + op + " %v" +
                       (isBinary ? ", %u" : "") +
                       " : !i\n"
                       "    tile.store %w, %z at #id(%i)[] : !i, " +
                       memory + ", (!tile.span<\"i\", 64>)\n  }\n  tile.return\n}";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    CpuOptions options;
    options.asThread = true;
    auto code = CpuCompiler(options).jit(*module->getOps<KernelOp>().begin());
    EXPECT_TRUE(succeeded(code));
    std::vector<T> z(x.size(), -7);
    const void *params[] = {x.data(), y.data(), z.data()};
    int64_t dims[] = {static_cast<int64_t>(x.size())};
    EXPECT_EQ(code->entry().scratch(params, dims), 0);
    code->entry().kernel(params, dims, 0, code->entry().programs(params, dims), nullptr);
    return z;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

/// The distance in units of the last place of the exact result.
template <typename T>
double ulpsBetween(T actual, long double exact) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(exact) || std::isnan(actual))
    return std::isnan(exact) == std::isnan(actual) ? 0 : INFINITY;
  auto rounded = static_cast<T>(exact);
  if (std::isinf(actual) || std::isinf(rounded)) {
    // Just below the overflow either is fine.
    bool bothLarge = std::fabs(actual) >= Limits::max() && std::fabs(rounded) >= Limits::max();
    return actual == rounded || (bothLarge && std::signbit(actual) == std::signbit(rounded))
               ? 0
               : INFINITY;
  }
  int exponent = std::max(exact == 0 ? -10000 : std::ilogb(exact), Limits::min_exponent - 1);
  return static_cast<double>(std::fabs(actual - exact) /
                             std::ldexp(1.0L, exponent + 1 - Limits::digits));
}

/// All magnitudes, those that functions are curved at, and all kinds of ends.
template <typename T>
std::vector<T> samples(size_t count) {
  std::mt19937_64 random(std::random_device{}());
  std::vector<T> result;
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (size_t n = 0; n < count; ++n) {
    double exponent = std::numeric_limits<T>::max_exponent;
    double any = std::ldexp(uniform(1, 2), static_cast<int>(uniform(-exponent - 50, exponent)));
    for (double value : {any, uniform(0, 1), uniform(0, 8), uniform(0, 750),
                         1 + uniform(-1e-3, 1e-3), uniform(0, 1e5), uniform(0, 1e9)})
      result.push_back(static_cast<T>(random() % 2 ? value : -value));
    // As near to multiples of π/2 as it comes.
    auto quarter = static_cast<int64_t>(random() % 1000000);
    result.push_back(static_cast<T>(static_cast<long double>(quarter) * 1.5707963267948966192313L));
  }
  for (double value : {0.0, 1.0, 0.5, 709.782712893384, 709.782712893385, 745.2, 1024.0, 1074.5,
                       1048576.0, 65536.0, 22.0, 6.0, 5e-324, 2.2250738585072014e-308, 1.5e308,
                       (double)INFINITY, (double)NAN, 6381956970095103.0 * 0x1p797})
    for (double sign : {1.0, -1.0})
      result.push_back(static_cast<T>(sign * value));
  return result;
}

struct Function {
  const char *op;
  long double (*exact)(long double);
  double ulps, ulpsOfF32; // 0: not tried here
};

class ThreadFunction : public ThreadMath, public ::testing::WithParamInterface<Function> {
protected:
  template <typename T>
  void check(double bound, size_t count) {
    const Function &function = GetParam();
    std::vector<T> x = samples<T>(count), y = run(function.op, x, x);
    double worst = 0;
    size_t where = 0;
    for (size_t n = 0; n < x.size(); ++n) {
      double error = ulpsBetween(y[n], function.exact(x[n]));
      if (error > worst)
        worst = error, where = n;
      if (x[n] == 0 && y[n] == 0) {
        EXPECT_EQ(std::signbit(y[n]), std::signbit(function.exact(x[n])));
      }
    }
    std::printf("%s, f%zu: %.3f ulp at %.17g\n", function.op, 8 * sizeof(T), worst,
                static_cast<double>(x[where]));
    EXPECT_LE(worst, bound) << function.op << "(" << x[where] << ") = " << y[where] << ", not "
                            << function.exact(x[where]);
  }
};

TEST_P(ThreadFunction, ErrorIsWithinItsBound) {
  check<double>(GetParam().ulps, 50000);
  if (GetParam().ulpsOfF32 > 0)
    check<float>(GetParam().ulpsOfF32, 200000);
}

INSTANTIATE_TEST_SUITE_P(
    Functions, ThreadFunction,
    ::testing::Values(Function{"exp", expl, 1, 0}, Function{"exp2", exp2l, 1, 0},
                      Function{"expm1", expm1l, 1.5, 0}, Function{"log", logl, 1, 0},
                      Function{"log2", log2l, 1, 0}, Function{"log10", log10l, 1, 0},
                      Function{"log1p", log1pl, 1, 0}, Function{"tanh", tanhl, 3, 0},
                      Function{"erf", erfl, 1.5, 0}, Function{"sin", sinl, 1, 2},
                      Function{"cos", cosl, 1, 2}, Function{"tan", tanl, 2.5, 4}),
    [](const auto &info) { return info.param.op; });

/// Powers of all kinds of numbers with all kinds of exponents.
template <typename T>
std::pair<std::vector<T>, std::vector<T>> pairs() {
  std::mt19937_64 random(std::random_device{}());
  std::vector<T> x, y, some = samples<T>(200);
  auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int n = 0; n < 200000; ++n) {
    x.push_back(some[random() % some.size()]);
    y.push_back(some[random() % some.size()]);
    // Results of all magnitudes.
    auto base = static_cast<T>(n % 3 ? std::exp2(uniform(-60, 60)) : uniform(0.9, 1.1));
    x.push_back(base);
    y.push_back(static_cast<T>(uniform(-760, 760) / std::log(base)));
    x.push_back(static_cast<T>(uniform(-3, 3)));
    y.push_back(static_cast<T>(static_cast<int64_t>(random() % 41) - 20));
  }
  const double ends[] = {0.0,    -0.0,     1,         -1,     2,           -2,         3,
                         -3,     0.5,      -0.5,      0x1p53, -0x1p53,     0x1p53 - 1, 1e300,
                         -1e300, INFINITY, -INFINITY, NAN,    1 + 0x1p-52, 5e-324};
  for (double base : ends)
    for (double exponent : ends) {
      x.push_back(static_cast<T>(base));
      y.push_back(static_cast<T>(exponent));
    }
  return {x, y};
}

template <typename T>
void checkPowers(const std::vector<T> &x, const std::vector<T> &y, const std::vector<T> &z,
                 double bound) {
  double worst = 0;
  for (size_t n = 0; n < x.size(); ++n) {
    long double exact = powl(x[n], y[n]);
    double error = ulpsBetween(z[n], exact);
    worst = std::max(worst, error);
    ASSERT_LE(error, bound) << "pow(" << x[n] << ", " << y[n] << ") = " << z[n] << ", not "
                            << exact;
    if (z[n] == 0) {
      ASSERT_EQ(std::signbit(z[n]), std::signbit(exact)) << "pow(" << x[n] << ", " << y[n] << ")";
    }
  }
  std::printf("pow, f%zu: %.3f ulp\n", 8 * sizeof(T), worst);
}

TEST_F(ThreadMath, PowersAreThoseOfC) {
  auto [x, y] = pairs<double>();
  checkPowers(x, y, run("powf", x, y), 1);
  auto [u, v] = pairs<float>();
  checkPowers(u, v, run("powf", u, v), 0.51);
}

} // namespace
