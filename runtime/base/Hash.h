// The hash for checksums and content addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tile::runtime {

/// XXH64: the same on every machine; not for hostile input.
uint64_t hashBytes(std::span<const std::byte> bytes, uint64_t seed = 0);

/// XXH3 in 128 bits: names of content. The same on every machine; not for hostile input.
struct Hash128 {
  uint64_t low = 0, high = 0;

  bool operator==(const Hash128 &) const = default;
  /// 32 hexadecimal digits.
  std::string str() const;
};
Hash128 hash128(std::span<const std::byte> bytes);

} // namespace tile::runtime
