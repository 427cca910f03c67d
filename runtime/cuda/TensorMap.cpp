#include "runtime/cuda/TensorMap.h"
#include "runtime/base/Hash.h"

#include <span>

namespace tile::runtime::cuda {

namespace {

/// 0 for a type that is none.
uint64_t elementBytes(CUtensorMapDataType type) {
  switch (type) {
  case CU_TENSOR_MAP_DATA_TYPE_UINT8:
    return 1;
  case CU_TENSOR_MAP_DATA_TYPE_UINT16:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
  case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
    return 2;
  case CU_TENSOR_MAP_DATA_TYPE_UINT32:
  case CU_TENSOR_MAP_DATA_TYPE_INT32:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
  case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    return 4;
  case CU_TENSOR_MAP_DATA_TYPE_UINT64:
  case CU_TENSOR_MAP_DATA_TYPE_INT64:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
    return 8;
  }
  return 0;
}

bool isFloat(CUtensorMapDataType type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
}

/// The bytes within which 16-byte pieces change places; 0 for no swizzle.
uint64_t spanOf(CUtensorMapSwizzle swizzle) {
  switch (swizzle) {
  case CU_TENSOR_MAP_SWIZZLE_NONE:
    return 0;
  case CU_TENSOR_MAP_SWIZZLE_32B:
    return 32;
  case CU_TENSOR_MAP_SWIZZLE_64B:
    return 64;
  case CU_TENSOR_MAP_SWIZZLE_128B:
    return 128;
  }
  return 0;
}

Error refuse(const std::string &what, const std::string &hint) {
  return {"a tensor map can't have " + what, hint};
}

std::string ofDimension(uint64_t value, uint32_t dimension) {
  return std::to_string(value) + " along dimension " + std::to_string(dimension);
}

Status checkDimension(const TensorMapLayout &layout, uint32_t dimension) {
  uint64_t extent = layout.extents[dimension];
  if (extent == 0 || extent > uint64_t(1) << 32)
    return refuse("an extent of " + ofDimension(extent, dimension),
                  "extents are 1 to 4294967296; tensors without elements need no copy");
  uint32_t box = layout.box[dimension], step = layout.steps[dimension];
  if (box == 0 || box > 256)
    return refuse("a box of " + ofDimension(box, dimension),
                  "boxes have 1 to 256 elements along each dimension: use several copies");
  if (step == 0 || step > 8 || (dimension == 0 && step != 1))
    return refuse("a step of " + ofDimension(step, dimension),
                  "steps are 1 to 8, and 1 along the innermost dimension");
  if (dimension == 0)
    return {};
  uint64_t stride = layout.strides[dimension - 1];
  if (stride % 16 || stride >= uint64_t(1) << 40)
    return refuse("a stride of " + ofDimension(stride, dimension) + " (in bytes)",
                  "strides are multiples of 16 bytes below 2^40: pad the rows");
  return {};
}

} // namespace

Status checkTensorMap(const TensorMapLayout &layout) {
  if (layout.rank == 0 || layout.rank > TensorMapLayout::maxRank)
    return refuse("rank " + std::to_string(layout.rank), "ranks are 1 to 5");
  uint64_t bytes = elementBytes(layout.type);
  if (bytes == 0)
    return refuse("elements of type " + std::to_string(layout.type),
                  "use an element type of 1, 2, 4 or 8 bytes");
  if (layout.address == 0 || layout.address % 16)
    return refuse("the address " + std::to_string(layout.address),
                  "tensors have to begin at a multiple of 16 bytes");
  for (uint32_t dimension = 0; dimension < layout.rank; ++dimension)
    if (Status status = checkDimension(layout, dimension); !status)
      return status;
  uint64_t row = layout.box[0] * bytes, span = spanOf(layout.swizzle);
  if (row % 16)
    return refuse("a box of " + std::to_string(row) + " bytes along its innermost dimension",
                  "that has to be a multiple of 16 bytes");
  if (span && row > span)
    return refuse("a box of " + std::to_string(row) +
                      " bytes along its innermost dimension with "
                      "a swizzle of " +
                      std::to_string(span),
                  "a row of the box has to fit into the span of the swizzle");
  if (layout.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA && !isFloat(layout.type))
    return refuse("NaNs outside of a tensor of integers", "use zeros");
  return {};
}

Status encodeTensorMap(const Device &device, const TensorMapLayout &layout, CUtensorMap &map) {
  const DeviceProperties &properties = device.properties();
  if (!properties.isHopperOrNewer())
    return Error{"tensor maps need compute capability 9.0; " + properties.label() + " has " +
                     properties.capability(),
                 "compile for this device: --target=native"};
  if (Status status = checkTensorMap(layout); !status)
    return status;
  CUtensorMap encoded = {};
  if (CUresult code =
          device.call(&DriverTable::tensorMapEncodeTiled, &encoded, layout.type, layout.rank,
                      reinterpret_cast<void *>(layout.address), layout.extents.data(),
                      layout.strides.data(), layout.box.data(), layout.steps.data(),
                      CU_TENSOR_MAP_INTERLEAVE_NONE, layout.swizzle, layout.promotion, layout.fill))
    return device.error(code, "a tensor map can't be made",
                        "the address has to be one of " + properties.label() +
                            " and the box has to fit into shared memory");
  map = encoded;
  return {};
}

TensorMapCache::Key TensorMapCache::keyOf(const TensorMapLayout &layout) {
  Key key = {layout.rank,
             layout.address,
             static_cast<uint64_t>(layout.type),
             static_cast<uint64_t>(layout.swizzle),
             static_cast<uint64_t>(layout.promotion),
             static_cast<uint64_t>(layout.fill)};
  size_t next = 6;
  for (uint32_t dimension = 0; dimension < layout.rank; ++dimension) {
    key[next++] = layout.extents[dimension];
    key[next++] = layout.box[dimension];
    key[next++] = layout.steps[dimension];
    key[next++] = dimension ? layout.strides[dimension - 1] : 0;
  }
  return key;
}

Status TensorMapCache::get(const TensorMapLayout &layout, CUtensorMap &map) {
  // What doesn't fit a key is refused before one is made.
  if (layout.rank == 0 || layout.rank > TensorMapLayout::maxRank)
    return encodeTensorMap(*device, layout, map);
  Key key = keyOf(layout);
  Set &set = sets[hashBytes(std::as_bytes(std::span(key))) % numSets];
  {
    std::lock_guard lock(mutex);
    for (const Entry &entry : set.entries)
      if (entry.key == key) {
        map = entry.map;
        return {};
      }
  }
  if (Status status = encodeTensorMap(*device, layout, map); !status)
    return status;
  std::lock_guard lock(mutex);
  Entry &entry = set.entries[set.oldest++ % numWays];
  entry.key = key;
  entry.map = map;
  return {};
}

} // namespace tile::runtime::cuda
