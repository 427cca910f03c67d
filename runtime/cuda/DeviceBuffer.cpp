#include "runtime/cuda/DeviceBuffer.h"
#include "runtime/base/Text.h"

#include <utility>

namespace tile::runtime::cuda {

static Error outOfMemory(const Device &device, CUresult code, uint64_t bytes) {
  const DeviceProperties &properties = device.properties();
  std::string what = properties.label() + " has no " + formatBytes(bytes) + " left";
  size_t free = 0, total = 0;
  if (!device.call(&DriverTable::memGetInfo, &free, &total))
    what += "; " + formatBytes(free) + " of " + formatBytes(total) + " are free";
  return device.error(
      code, what, "use smaller tensors, or end what else uses the device; `nvidia-smi` lists it");
}

Result<DeviceBuffer> DeviceBuffer::allocate(std::shared_ptr<Stream> stream, uint64_t bytes) {
  if (bytes == 0)
    return DeviceBuffer(std::move(stream), 0, 0);
  const Device &device = stream->device();
  CUdeviceptr start = 0;
  auto size = static_cast<size_t>(bytes);
  CUresult code = device.properties().hasMemoryPools
                      ? device.call(&DriverTable::memAllocAsync, &start, size, stream->handle())
                      : device.call(&DriverTable::memAlloc, &start, size);
  if (code == CUDA_ERROR_OUT_OF_MEMORY)
    return outOfMemory(device, code, bytes);
  if (code)
    return stream->error(code, formatBytes(bytes) + " of " + device.properties().label() +
                                   " can't be taken");
  return DeviceBuffer(std::move(stream), start, bytes);
}

DeviceBuffer::~DeviceBuffer() {
  if (!start)
    return;
  const Device &device = stream->device();
  if (device.properties().hasMemoryPools)
    (void)device.call(&DriverTable::memFreeAsync, start, stream->handle());
  else
    (void)device.call(&DriverTable::memFree, start);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other) noexcept
    : stream(std::move(other.stream)), start(std::exchange(other.start, 0)),
      bytes(std::exchange(other.bytes, 0)) {}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) noexcept {
  DeviceBuffer taken(std::move(other));
  std::swap(stream, taken.stream);
  std::swap(start, taken.start);
  std::swap(bytes, taken.bytes);
  return *this;
}

Status DeviceBuffer::checkRange(uint64_t offset, uint64_t size) const {
  if (offset <= bytes && size <= bytes - offset)
    return {};
  return Error{std::to_string(size) + " bytes from " + std::to_string(offset) +
                   " on are beyond the end of a buffer of " + std::to_string(bytes),
               "allocate the buffer as large as what it is to hold"};
}

Status DeviceBuffer::upload(std::span<const std::byte> from, uint64_t offset) {
  Status status = checkRange(offset, from.size());
  return status && !from.empty() ? stream->copyToDevice(start + offset, from) : status;
}

Status DeviceBuffer::download(std::span<std::byte> to, uint64_t offset) const {
  Status status = checkRange(offset, to.size());
  return status && !to.empty() ? stream->copyToHost(to, start + offset) : status;
}

Status DeviceBuffer::fill(uint8_t value) {
  return bytes ? stream->fill(start, value, bytes) : Status();
}

} // namespace tile::runtime::cuda
