// Whether bytes can be a cubin: the driver reads as far as they say.
#pragma once

#include "runtime/base/Result.h"

#include <cstddef>
#include <span>

namespace tile::runtime::cuda {

/// An error unless it is an ELF file of 64 bits for NVIDIA's devices, all parts of which lie inside
/// the bytes. What it holds beyond that is not looked at.
Status checkCubin(std::span<const std::byte> bytes);

} // namespace tile::runtime::cuda
