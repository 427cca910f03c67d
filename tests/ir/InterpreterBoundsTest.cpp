// Bounds of what executions may be off by: none is less than the two ends that it is made of.

#include "ir/interpreter/InterpreterErrors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tile::ir::interpreter;

namespace {

/// Both ends of the interval are found, also where they are ties, and where the bound has two parts
/// whose sum floats would round.
TEST(InterpreterBounds, roundingReachesBothEnds) {
  std::random_device device;
  const auto seed = device();
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(1, 2), part(0, 1);
  for (int n = 0; n < 200000; ++n) {
    auto value = static_cast<double>(static_cast<float>(uniform(random)));
    double error = std::ldexp(static_cast<double>(random() % 8 + 1), -24);
    auto shared = static_cast<float>(error * part(random));
    Bound before = {roundUp(error - shared), shared};
    ASSERT_GE(before.total(), error);
    Bound after = roundBound(Number::F32, value, before, /*isFree=*/false);
    for (double end : {value - error, value + error})
      ASSERT_GE(after.total(), std::fabs(static_cast<double>(static_cast<float>(end)) - value))
          << "seed " << seed << ": " << value << " ± " << error << ", of it " << shared;
    Bound both = addDependent(before, after);
    ASSERT_GE(both.total(), before.total() + after.total()) << "seed " << seed;
  }
}

} // namespace
