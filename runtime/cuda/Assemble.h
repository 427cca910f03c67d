// Machine code from PTX, as bytes: for caches, so that a later process needn't compile.
#pragma once

#include "runtime/cuda/Device.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace tile::runtime::cuda {

struct AssembledCode {
  /// For Module::fromCubin on devices of the same compute capability.
  std::vector<std::byte> cubin;
  /// What the compiler reports of each kernel.
  std::string infoLog;
};

/// Compiles PTX for a device by the driver's own compiler. The errors are those of Module::fromPtx.
Result<AssembledCode> assemble(const Device &device, std::string_view ptx);

} // namespace tile::runtime::cuda
