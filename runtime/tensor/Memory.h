// Aligned storage that says "not enough memory" instead of throwing or waking the OOM killer.
#pragma once

#include "runtime/base/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tile::runtime {

/// Alignment of every tensor and every piece of scratch: a cache line, and the widest vector.
inline constexpr size_t storageAlignment = 64;

/// Storage of this many bytes and more asks for pages of this size: fewer faults, and addresses
/// that stay known to the processor.
inline constexpr uint64_t hugePage = uint64_t(1) << 21;

struct AlignedDeleter {
  /// How far behind the begin of their block the bytes are.
  uint64_t shift = 0;

  void operator()(std::byte *memory) const;
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDeleter>;

/// Bytes that this process can use now without swapping: what the machine has available, less
/// where a control group allows less. UINT64_MAX where the system doesn't say.
uint64_t availableMemory();

/// `bytes` uninitialized bytes at a multiple of `storageAlignment`; never null, also for 0 bytes.
/// Any seven blocks of a huge page and more that were allocated one after the other begin at least
/// 512 bytes apart, modulo 4096.
/// Refuses more than is available before any of it is touched. `what` names the user in the error.
/// What was freed lately is given again with its pages, up to 256 MiB a block and 512 MiB in all:
/// a launch whose results are new takes as long as one whose results are not.
Result<AlignedBytes> allocateAligned(uint64_t bytes, const std::string &what);

} // namespace tile::runtime
