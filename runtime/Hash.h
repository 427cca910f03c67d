// The hash for checksums and content addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tile::runtime {

/// XXH64: the same on every machine; not for hostile input.
uint64_t hashBytes(std::span<const std::byte> bytes, uint64_t seed = 0);

} // namespace tile::runtime
