// Tensor maps: what the bulk copies of tensors (TMA) take, on devices of compute capability 9.0 on.
#pragma once

#include "runtime/cuda/Device.h"

#include <array>

namespace tile::runtime::cuda {

/// A tensor in a device's memory and the box that a copy moves. Dimension 0 is the innermost, whose
/// elements lie one after the other.
struct TensorMapLayout {
  static constexpr uint32_t maxRank = 5;

  CUdeviceptr address = 0;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  uint32_t rank = 1;
  /// Elements along each dimension.
  std::array<uint64_t, maxRank> extents = {};
  /// Bytes from one element to the next along dimension 1 and on.
  std::array<uint64_t, maxRank - 1> strides = {};
  /// Elements of the box along each dimension.
  std::array<uint32_t, maxRank> box = {1, 1, 1, 1, 1};
  /// Of so many elements of the box the first is copied; dimension 0 has 1.
  std::array<uint32_t, maxRank> steps = {1, 1, 1, 1, 1};
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
  /// What is read outside of the tensor: zeros.
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

/// An error, which names the argument and what it has to be, unless the hardware takes it.
Status checkTensorMap(const TensorMapLayout &layout);

/// Asks the driver for a map, after checking; an error leaves `map` as it is. Needs no stream, and
/// touches no memory of the device.
Status encodeTensorMap(const Device &device, const TensorMapLayout &layout, CUtensorMap &map);

/// The maps that were asked for last: 4 in each of 32 sets. Any thread may ask; nobody waits for
/// the driver. A map depends on nothing but its layout, so it never grows stale: memory that was
/// freed and taken again at the same address has the same map.
class TensorMapCache {
public:
  explicit TensorMapCache(std::shared_ptr<Device> device) : device(std::move(device)) {}

  /// An error leaves `map` as it is.
  Status get(const TensorMapLayout &layout, CUtensorMap &map);

private:
  static constexpr size_t numSets = 32, numWays = 4;
  /// All of a layout, with what its rank doesn't use left out.
  using Key = std::array<uint64_t, 26>;
  static Key keyOf(const TensorMapLayout &layout);

  struct Entry {
    Key key = {}; // of rank 0: empty
    CUtensorMap map = {};
  };
  struct Set {
    std::array<Entry, numWays> entries;
    size_t oldest = 0;
  };

  std::shared_ptr<Device> device;
  std::mutex mutex; // of the sets
  std::array<Set, numSets> sets = {};
};

} // namespace tile::runtime::cuda
