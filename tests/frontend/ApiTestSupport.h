// What the tests of the C++ API share.
#pragma once

#include "frontend/tile/Tile.h"

#include <gtest/gtest.h>

#include <random>

namespace tile::test {

/// Random elements of [low, high).
inline Tensor random(Type type, Shape shape, double low, double high, uint32_t seed) {
  Result<Tensor> tensor = Tensor::create(type, std::move(shape));
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> values(low, high);
  for (int64_t n = 0; n < tensor->numElements(); ++n)
    tensor->setDouble(n, values(engine));
  return *std::move(tensor);
}

/// The output of a call that has to succeed, one device after the other.
inline std::shared_ptr<const Tensor> run(const Module &module, const std::string &name,
                                         const std::vector<NamedArgument> &arguments,
                                         const std::string &output, Device device,
                                         std::map<std::string, int64_t> sizes = {}) {
  EXPECT_TRUE(module.ok()) << module.errorText();
  Result<Function> function = module.compile(name, {.device = device, .sizes = std::move(sizes)});
  if (!function) {
    ADD_FAILURE() << function.error().str();
    return nullptr;
  }
  Result<Outputs> outputs = (*function)(arguments);
  if (!outputs) {
    ADD_FAILURE() << outputs.error().str();
    return nullptr;
  }
  return outputs->at(output);
}

inline constexpr Device devices[] = {Device::Interp, Device::Cpu};

} // namespace tile::test
