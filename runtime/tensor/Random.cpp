// Compiled without contraction to multiply-adds (see CMakeLists.txt): it would change last bits.
#include "runtime/tensor/Random.h"

#include <bit>
#include <cmath>

namespace tile::runtime {

PhiloxBlock philox4x32(PhiloxBlock counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t(0xd2511f53) * counter[0];
    uint64_t product1 = uint64_t(0xcd9e8d57) * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(product0)};
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return counter;
}

RandomBits randomBits(uint64_t seed, uint64_t index) {
  PhiloxBlock words =
      philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0},
                 {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return {words[0] | uint64_t(words[1]) << 32, words[2] | uint64_t(words[3]) << 32};
}

static double toUniform(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

double randomUniform(uint64_t seed, uint64_t index) {
  return toUniform(randomBits(seed, index).first);
}

/// log(x) for normal x > 0, to about one unit in the last place.
static double logarithm(double x) {
  // x = m · 2^e with m around 1, and log(m) = 2 atanh(s) = 2 (s + s³/3 + s⁵/5 + …) with
  // |s| < 0.172: after s^21 the rest is below 2^-58.
  auto bits = std::bit_cast<uint64_t>(x);
  constexpr uint64_t mantissaMask = (uint64_t(1) << 52) - 1;
  auto exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & mantissaMask) | uint64_t(1023) << 52);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  double s = (m - 1) / (m + 1);
  double square = s * s;
  double sum = 0;
  for (int power = 21; power >= 3; power -= 2)
    sum = (sum + 1.0 / power) * square;
  return exponent * 0.6931471805599453 + (2 * s + 2 * s * sum);
}

/// cos(2πu) for u in [0, 1).
static double cosineOfTurn(double u) {
  // The nearest quarter turn leaves an angle of at most π/4, where few terms of the series do.
  int quarter = (static_cast<int>(8 * u) + 1) / 2;
  double angle = (u - 0.25 * quarter) * 6.283185307179586;
  double square = angle * angle;
  bool wantsCosine = quarter % 2 == 0;
  double sum = 0;
  for (int power = wantsCosine ? 18 : 19; power >= 2; power -= 2)
    sum = (1 - sum) * square / (power * (power - 1));
  double value = wantsCosine ? 1 - sum : angle * (1 - sum);
  // cos(q π/2 + a) is cos a, −sin a, −cos a, sin a for q = 0, 1, 2, 3.
  return quarter % 4 == 1 || quarter % 4 == 2 ? -value : value;
}

double randomNormal(uint64_t seed, uint64_t index) {
  RandomBits bits = randomBits(seed, index);
  // In (0, 1], so that the logarithm is finite.
  double radius = std::sqrt(-2 * logarithm(1 - toUniform(bits.first)));
  return radius * cosineOfTurn(toUniform(bits.second));
}

} // namespace tile::runtime
