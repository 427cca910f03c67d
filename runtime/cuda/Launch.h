// Launching kernels.
#pragma once

#include "runtime/cuda/Module.h"
#include "runtime/cuda/Stream.h"

namespace tile::runtime::cuda {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;

  bool operator==(const Dim3 &) const = default;
  bool isEmpty() const { return x == 0 || y == 0 || z == 0; }
  /// x · y · z, at most UINT64_MAX.
  uint64_t count() const {
    uint64_t product = static_cast<uint64_t>(x) * y;
    return __builtin_mul_overflow(product, z, &product) ? UINT64_MAX : product;
  }
  /// "2x3x1".
  std::string str() const;
};

struct LaunchConfig {
  /// Blocks, and threads of a block. A grid of no blocks launches nothing.
  Dim3 grid = {}, block = {};
  /// Shared memory of a block beside what the kernel's code names.
  uint32_t sharedBytes = 0;
  /// Blocks of a cluster; they divide the grid. One block: no cluster.
  Dim3 cluster = {};
  /// The kernel may start while the one before it still runs: it waits by itself, by
  /// `griddepcontrol.wait`. Without effect before compute capability 9.0.
  bool isDependent = false;
};

/// Launches a kernel, and doesn't wait for it. `parameters` point to the kernel's parameters, which
/// are copied. Function and stream have to be of one device.
///
/// The path of success takes no lock, no memory and looks nothing up: it costs what the driver's
/// launch does, and the look whether the device is current. A failure of the kernel itself shows
/// when the stream is synchronized.
Status launch(Function &function, const LaunchConfig &config, Stream &stream, void **parameters);

} // namespace tile::runtime::cuda
