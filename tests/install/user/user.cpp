// A program that has tilec from find_package(Tile): a kernel built here, run on the CPU.
#include "frontend/tile/Tile.h"

#include <cstdio>

static int fail(const std::string &what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  return 1;
}

int main() {
  tile::Module module;
  module.kernel("scale", [](tile::Kernel &k) {
    auto N = k.dim("N");
    auto x = k.input("x", tile::f32, {N});
    auto y = k.output("y", tile::f32, {N});
    k.parallel(tiles("i", N), [&](tile::Span i) { y[i] = x[i] * 3.0; });
  });
  if (!module.ok())
    return fail(module.errorText());

  tile::Result<tile::Function> scale = module.compile("scale");
  if (!scale)
    return fail(scale.error().str());
  const int64_t size = 1237;
  tile::Result<tile::Tensor> x = tile::Tensor::create(tile::f32, {size});
  if (!x)
    return fail(x.error().str());
  for (int64_t i = 0; i < size; ++i)
    x->setDouble(i, i - 500.0);
  tile::Result<tile::Outputs> outputs = (*scale)({{"x", *x}});
  if (!outputs)
    return fail(outputs.error().str());
  for (int64_t i = 0; i < size; ++i)
    if (double y = outputs->at("y")->getDouble(i); y != 3.0 * (i - 500.0))
      return fail("y[" + std::to_string(i) + "] is " + std::to_string(y));
  return 0;
}
