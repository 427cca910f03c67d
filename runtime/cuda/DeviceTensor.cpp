#include "runtime/cuda/DeviceTensor.h"
#include "runtime/base/Text.h"

namespace tile::runtime::cuda {

Result<DeviceTensor> DeviceTensor::create(std::shared_ptr<Stream> stream, DType type, Shape shape) {
  Result<int64_t> count = countElements(type, shape);
  if (!count)
    return count.takeError();
  auto bytes = static_cast<uint64_t>(*count) * static_cast<uint64_t>(sizeOf(type));
  std::shared_ptr<Device> device = stream->sharedDevice();
  Result<DeviceBuffer> buffer = DeviceBuffer::allocate(std::move(stream), bytes);
  if (!buffer)
    return buffer.takeError();
  auto owner = std::make_shared<DeviceBuffer>(*std::move(buffer));
  CUdeviceptr address = owner->address();
  return wrap(std::move(device), address, type, std::move(shape), std::move(owner));
}

Result<DeviceTensor> DeviceTensor::upload(std::shared_ptr<Stream> stream, const Tensor &tensor) {
  Result<DeviceTensor> result = create(stream, tensor.dtype(), tensor.shape());
  if (result)
    if (Status done = result->assign(*stream, tensor); !done)
      return done.takeError();
  return result;
}

Result<DeviceTensor> DeviceTensor::wrap(std::shared_ptr<Device> device, CUdeviceptr address,
                                        DType type, Shape shape, std::shared_ptr<void> owner) {
  Result<int64_t> count = countElements(type, shape);
  if (!count)
    return count.takeError();
  DeviceTensor result;
  result.where = std::move(device);
  result.owner = std::move(owner);
  result.start = address;
  result.type = type;
  result.extents = std::move(shape);
  result.count = *count;
  if (address % alignment)
    return Error{"the tensor " + result.describe() + " begins " +
                     std::to_string(address % alignment) + " bytes behind a multiple of " +
                     std::to_string(alignment),
                 "a view into another tensor has to be copied first"};
  if (!address && *count)
    return Error{"the tensor " + result.describe() + " has no memory", ""};
  return result;
}

std::string DeviceTensor::describe() const {
  return runtime::describe(type, extents) +
         (where ? " on device " + std::to_string(where->properties().index) : "");
}

Result<Tensor> DeviceTensor::download(Stream &stream) const {
  Result<Tensor> tensor = Tensor::createUninitialized(type, extents);
  if (tensor && count)
    if (Status done = stream.copyToHost(tensor->bytes(), start); !done)
      return done.takeError();
  return tensor;
}

Status DeviceTensor::assign(Stream &stream, const Tensor &tensor) const {
  if (tensor.dtype() != type || tensor.shape() != extents)
    return Error{
        "a tensor " + tensor.describe() + " can't be copied into one that is " + describe(), ""};
  return count ? stream.copyToDevice(start, tensor.bytes()) : Status();
}

} // namespace tile::runtime::cuda
