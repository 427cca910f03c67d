// Tensors of a call that share memory. Code is made for tensors that don't: what one thread writes
// through one of them, another would have read through the other before or afterwards.
#pragma once

#include "runtime/base/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tile::runtime {

/// Where a parameter or result of a call is. One without data or bytes overlaps nothing.
struct CallPlace {
  std::string name;
  const std::byte *data = nullptr;
  uint64_t bytes = 0;
  bool isWritten = false;
};

/// Refuses two places of which one is written if they have a byte in common, and names both.
/// Takes n log n steps.
Status checkApart(const std::string &function, std::span<const CallPlace> places);

} // namespace tile::runtime
