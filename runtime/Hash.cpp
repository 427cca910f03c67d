#include "runtime/Hash.h"

// The header's inline form leaves no library to ship.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tile::runtime {

uint64_t hashBytes(std::span<const std::byte> bytes, uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

} // namespace tile::runtime
