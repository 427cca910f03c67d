// Lesson 23: kernels from C++.
//
// A program that makes its kernels at run time builds them with the C++ API: the language's names
// and rules, without text. This one chains any list of functions into one kernel, then multiplies
// matrices, and compares both with plain loops. What is text can be loaded beside that: at last a
// graph runs as it stands and fused, with the same bits.
#include "frontend/tile/Tile.h"

#include <cmath>
#include <cstdio>
#include <iostream>

using namespace tile;

/// y = f(x), for a chain of functions that is known only now. C++'s loop runs while the kernel is
/// built; what is left of it are its values.
static bool addChain(Module &module, const std::vector<std::string> &functions) {
  return module.kernel("chain", [&](Kernel &k) {
    Extent n = k.dim("N");
    Param x = k.input("x", f32, {n});
    Param y = k.output("y", f32, {n});
    k.parallel(tiles("i", n), [&](Span i) {
      Value v = x[i];
      for (const std::string &function : functions)
        v = function == "square" ? v * v : function == "negate" ? -v : tanh(v);
      y[i] = v;
    });
    k.schedule("i", 1024);
  });
}

/// c = a · b, the kernel of lesson 5 without its bias.
static bool addMatmul(Module &module, Type type) {
  return module.kernel("matmul", [&](Kernel &k) {
    auto [m, kk, n] = k.dims("M", "K", "N");
    Param a = k.input("a", type, {m, kk});
    Param b = k.input("b", type, {kk, n});
    Param c = k.output("c", type, {m, n});
    k.parallel({tiles("i", m), tiles("j", n)}, [&](Span i, Span j) {
      Var acc = k.var("acc", zeros(f32, i, j));
      k.for_(tiles("k", kk), [&](Span p) { acc += dot(a[{i, p}], b[{p, j}], p); });
      c[{i, j}] = type(acc);
    });
    k.schedule("i", {32, 64});
    k.schedule("j", {32, 64});
    k.schedule("k", 64);
  });
}

static Tensor filled(Shape shape, double scale) {
  Result<Tensor> tensor = Tensor::create(f32, std::move(shape));
  if (!tensor) {
    std::cerr << tensor.error().str() << "\n";
    std::exit(1);
  }
  for (int64_t n = 0; n < tensor->numElements(); ++n)
    tensor->setDouble(n, std::sin(scale * static_cast<double>(n)));
  return *std::move(tensor);
}

static Outputs call(const Module &module, const std::string &name,
                    const std::vector<NamedArgument> &arguments, CompileOptions options = {}) {
  Result<Function> function = module.compile(name, std::move(options));
  if (!function) {
    std::cerr << function.error().str() << "\n";
    std::exit(1);
  }
  Result<Outputs> outputs = (*function)(arguments);
  if (!outputs) {
    std::cerr << outputs.error().str() << "\n";
    std::exit(1);
  }
  return *std::move(outputs);
}

/// A graph whose three calls are one kernel with FuseMode::Exact (docs/fusion.md).
static bool sameWhenFused() {
  Module module = Module::parse(R"(
import std.math
map shifted(x: f32, b: f32) -> f32 = x + b
graph layer(x: f32[M, N], b: f32[N]) -> (y: f32[M, N]) {
    y = tanh(2 * shifted(x, b))
}
)");
  Tensor x = filled({37, 53}, 0.17), b = filled({53}, 0.41);
  std::vector<std::shared_ptr<const Tensor>> results;
  for (FuseMode fuse : {FuseMode::Off, FuseMode::Exact})
    results.push_back(call(module, "layer", {{"x", x}, {"b", b}}, {.fuse = fuse}).at("y"));
  int64_t differing = 0;
  for (int64_t n = 0; n < x.numElements(); ++n)
    differing += results[0]->getDouble(n) != results[1]->getDouble(n);
  std::printf("layer:  %ld elements differ when it is fused\n", static_cast<long>(differing));
  return differing == 0;
}

int main() {
  Module module;
  if (!addChain(module, {"square", "tanh", "negate"}) || !addMatmul(module, f32)) {
    std::cerr << module.errorText();
    return 1;
  }

  Tensor x = filled({1009}, 0.37);
  Outputs chain = call(module, "chain", {{"x", x}});
  double worst = 0;
  for (int64_t n = 0; n < x.numElements(); ++n) {
    double expected = -std::tanh(x.getDouble(n) * x.getDouble(n));
    worst = std::max(worst, std::abs(chain.at("y")->getDouble(n) - expected));
  }
  std::printf("chain:  greatest error %.1e\n", worst);
  if (!(worst < 1e-6))
    return 1;

  Tensor a = filled({37, 101}, 0.13), b = filled({101, 53}, 0.29);
  Outputs product = call(module, "matmul", {{"a", a}, {"b", b}});
  worst = 0;
  for (int64_t i = 0; i < 37; ++i)
    for (int64_t j = 0; j < 53; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < 101; ++k)
        sum += a.getDouble(i * 101 + k) * b.getDouble(k * 53 + j);
      worst = std::max(worst, std::abs(product.at("c")->getDouble(i * 53 + j) - sum));
    }
  std::printf("matmul: greatest error %.1e\n", worst);
  if (!(worst < 1e-4))
    return 1;
  return sameWhenFused() ? 0 : 1;
}
