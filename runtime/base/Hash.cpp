#include "runtime/base/Hash.h"

// The header's inline form leaves no library to ship.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>

namespace tile::runtime {

uint64_t hashBytes(std::span<const std::byte> bytes, uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

Hash128 hash128(std::span<const std::byte> bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

std::string Hash128::str() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return text;
}

} // namespace tile::runtime
