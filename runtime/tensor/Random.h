// Random numbers that depend on a seed and an index and on nothing else.
//
// Bits come from Philox4x32-10, a counter-based generator: J. K. Salmon, M. A. Moraes, R. O. Dror,
// D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC '11. Floating-point steps use only
// operations that IEEE 754 defines to the last bit (no libm), so that every machine, thread count
// and compiler gives the same numbers.
#pragma once

#include <array>
#include <cstdint>

namespace tile::runtime {

using PhiloxBlock = std::array<uint32_t, 4>;

/// The generator itself: ten rounds of `counter` under `key`.
PhiloxBlock philox4x32(PhiloxBlock counter, std::array<uint32_t, 2> key);

/// The 128 bits of element `index` under `seed`, as two words.
struct RandomBits {
  uint64_t first, second;
};
RandomBits randomBits(uint64_t seed, uint64_t index);

/// Uniform on the multiples of 2^-53 in [0, 1).
double randomUniform(uint64_t seed, uint64_t index);

/// Standard normal, by Box and Muller's transform; |value| < 8.6.
double randomNormal(uint64_t seed, uint64_t index);

} // namespace tile::runtime
