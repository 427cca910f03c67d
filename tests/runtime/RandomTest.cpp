#include "runtime/tensor/Random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace tile::runtime {
namespace {

/// The known answers that the authors of the generator publish with it.
TEST(RandomTest, philoxGivesTheKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

/// To the last bit: these values were computed by another program, in plain IEEE double steps.
TEST(RandomTest, valuesAreTheSameOnEveryMachine) {
  EXPECT_EQ(randomUniform(0, 0), 0x1.c2d38b1acc4fdp-1);
  EXPECT_EQ(randomUniform(1, 0), 0x1.ca141d79c7d00p-1);
  EXPECT_EQ(randomUniform(42, 1), 0x1.4ee9b3f7f36c8p-2);
  EXPECT_EQ(randomUniform(UINT64_MAX, (uint64_t(1) << 40) + 5), 0x1.00ae0fef4d392p-2);
  EXPECT_EQ(randomNormal(0, 0), -0x1.9ffd9aa3bc9b3p+0);
  EXPECT_EQ(randomNormal(1, 0), -0x1.05c318a128e96p-1);
  EXPECT_EQ(randomNormal(42, 1), -0x1.b510d5acb221cp-1);
  EXPECT_EQ(randomNormal(UINT64_MAX, (uint64_t(1) << 40) + 5), -0x1.affd354be5ed3p-2);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 1000; ++i)
    sum += std::bit_cast<uint64_t>(randomNormal(7, i * i * 12345)) * (2 * i + 1);
  EXPECT_EQ(sum, 0x0707c3d573d9819du);
}

TEST(RandomTest, normalsFollowBoxAndMuller) {
  uint64_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  for (uint64_t i = 0; i < 100'000; ++i) {
    RandomBits bits = randomBits(seed, i);
    long double u = static_cast<long double>(bits.first >> 11) * 0x1p-53L;
    long double v = static_cast<long double>(bits.second >> 11) * 0x1p-53L;
    long double expected =
        std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * 3.14159265358979323846264338327950288L * v);
    ASSERT_NEAR(randomNormal(seed, i), static_cast<double>(expected), 4e-15) << i;
  }
}

TEST(RandomTest, momentsAreThoseOfTheDistributions) {
  constexpr int count = 200'000;
  double sum = 0, squares = 0, fourth = 0, uniform = 0, least = 1, greatest = 0;
  for (uint64_t i = 0; i < count; ++i) {
    double n = randomNormal(12345, i), u = randomUniform(12345, i);
    sum += n;
    squares += n * n;
    fourth += n * n * n * n;
    uniform += u;
    least = std::min(least, u);
    greatest = std::max(greatest, u);
  }
  // Five standard errors.
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2.0 / count));
  EXPECT_NEAR(fourth / count, 3, 5 * std::sqrt(96.0 / count));
  EXPECT_NEAR(uniform / count, 0.5, 5 * std::sqrt(1.0 / 12 / count));
  EXPECT_GE(least, 0);
  EXPECT_LT(greatest, 1);
}

} // namespace
} // namespace tile::runtime
