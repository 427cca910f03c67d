#include "runtime/cuda/Dlpack.h"

#include <optional>

namespace tile::runtime::cuda {

namespace {

//===-- The structures of dlpack.h, version 0.2 and later -----------------===//

struct DlDevice {
  int32_t type, id;
};
constexpr int32_t dlCuda = 2, dlCudaManaged = 13;

struct DlType {
  uint8_t code, bits;
  uint16_t lanes;

  bool operator==(const DlType &) const = default;
};

struct DlTensor {
  void *data;
  DlDevice device;
  int32_t rank;
  DlType type;
  int64_t *shape, *strides;
  uint64_t byteOffset;
};

struct DlManaged {
  DlTensor tensor;
  void *context;
  void (*deleter)(DlManaged *);
};
static_assert(sizeof(DlTensor) == 48 && sizeof(DlManaged) == 64);

//===-- Types -------------------------------------------------------------===//

constexpr uint8_t dlInt = 0, dlUInt = 1, dlFloat = 2, dlBfloat = 4, dlBool = 6, dlF8E4M3 = 10,
                  dlF8E5M2 = 12;

DlType dlTypeOf(DType type) {
  auto bits = static_cast<uint8_t>(8 * sizeOf(type));
  if (type == DType::Bool)
    return {dlBool, bits, 1};
  if (type == DType::BF16)
    return {dlBfloat, bits, 1};
  if (type == DType::F8E4M3)
    return {dlF8E4M3, bits, 1};
  if (type == DType::F8E5M2)
    return {dlF8E5M2, bits, 1};
  return {isFloat(type) ? dlFloat : isSigned(type) ? dlInt : dlUInt, bits, 1};
}

std::optional<DType> typeOf(const DlType &type) {
  for (DType known : allDTypes())
    if (dlTypeOf(known) == type)
      return known;
  return std::nullopt;
}

bool isRowMajor(const DlTensor &tensor) {
  if (!tensor.strides)
    return true;
  int64_t stride = 1;
  for (int32_t d = tensor.rank; d-- > 0;) {
    if (tensor.shape[d] == 0)
      return true;
    if (tensor.shape[d] != 1 && tensor.strides[d] != stride)
      return false;
    stride *= tensor.shape[d];
  }
  return true;
}

/// What a tensor for another library holds.
struct Exported {
  DlManaged managed = {};
  DeviceTensor tensor;
  Shape shape;
};

} // namespace

Result<DeviceTensor> fromDlpack(std::shared_ptr<Device> device, DLManagedTensor *given) {
  auto *managed = reinterpret_cast<DlManaged *>(given);
  const DlTensor &tensor = managed->tensor;
  int index = device->properties().index;
  if (tensor.device.type != dlCuda && tensor.device.type != dlCudaManaged)
    return Error{"the tensor is not in the memory of a CUDA device, but of DLPack's device type " +
                     std::to_string(tensor.device.type),
                 "copy it to the device first"};
  if (tensor.device.id != index)
    return Error{"the tensor is on device " + std::to_string(tensor.device.id) +
                     ", and is needed on device " + std::to_string(index),
                 "copy it there first"};
  std::optional<DType> type = typeOf(tensor.type);
  if (!type)
    return Error{"the tensor's elements have DLPack's type code " +
                     std::to_string(tensor.type.code) + " with " +
                     std::to_string(tensor.type.bits) + " bits and " +
                     std::to_string(tensor.type.lanes) + " lanes, which the language has not",
                 "convert it to one of the language's types"};
  Shape shape(tensor.shape, tensor.shape + tensor.rank);
  if (!isRowMajor(tensor))
    return Error{"the tensor " + describe(*type, shape) + " is not row-major and dense",
                 "make it contiguous first"};
  auto address = reinterpret_cast<CUdeviceptr>(tensor.data) + tensor.byteOffset;
  Result<DeviceTensor> result = DeviceTensor::wrap(device, address, *type, std::move(shape));
  if (!result)
    return result.takeError();
  std::shared_ptr<void> owner(managed, [](void *pointer) {
    auto *owned = static_cast<DlManaged *>(pointer);
    if (owned->deleter)
      owned->deleter(owned);
  });
  return DeviceTensor::wrap(std::move(device), address, *type, result->shape(), std::move(owner));
}

DLManagedTensor *toDlpack(const DeviceTensor &tensor) {
  auto *exported = new Exported{{}, tensor, tensor.shape()};
  exported->managed.tensor = {reinterpret_cast<void *>(tensor.address()),
                              {dlCuda, tensor.device()->properties().index},
                              static_cast<int32_t>(exported->shape.size()),
                              dlTypeOf(tensor.dtype()),
                              exported->shape.data(),
                              nullptr,
                              0};
  exported->managed.context = exported;
  exported->managed.deleter = [](DlManaged *managed) {
    delete static_cast<Exported *>(managed->context);
  };
  return reinterpret_cast<DLManagedTensor *>(&exported->managed);
}

} // namespace tile::runtime::cuda
