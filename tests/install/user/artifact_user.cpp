// A program that has the runtime from find_package(Tile), and runs a kernel compiled before.
#include "frontend/tile/Artifact.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

static int fail(const std::string &what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  return 1;
}

int main(int, char **argv) {
  tile::Result<tile::Artifact> artifact = tile::Artifact::load(argv[1]);
  if (!artifact)
    return fail(artifact.error().str());
  tile::Result<tile::Tensor> x = tile::Tensor::create(tile::DType::F32, {1237});
  if (!x)
    return fail(x.error().str());
  for (int64_t i = 0; i < 1237; ++i)
    x->setDouble(i, i - 500.0);
  tile::Result<tile::NamedTensors> outputs = artifact->function("scale")->launch({{"x", *x}});
  if (!outputs)
    return fail(outputs.error().str());
  for (int64_t i = 0; i < 1237; ++i)
    if (double y = outputs->at("y")->getDouble(i); y != 3.0 * (i - 500.0))
      return fail("y[" + std::to_string(i) + "] is " + std::to_string(y));
  // What is loaded in this very process.
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("LLVM") != std::string::npos || line.find("MLIR") != std::string::npos)
      return fail("loaded: " + line);
  return 0;
}
