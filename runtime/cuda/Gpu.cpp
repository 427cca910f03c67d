#include "runtime/cuda/Gpu.h"

namespace tile::runtime::cuda {

static Result<std::shared_ptr<Device>> openDevice(int index) {
  auto driver = Driver::open();
  if (!driver)
    return driver.takeError();
  return Device::open(*driver, index);
}

Result<Gpu> Gpu::open(int index) {
  auto device = openDevice(index);
  if (!device)
    return device.takeError();
  // What one tensor gives back serves the next.
  if (Status kept = (*device)->keepMemory((*device)->properties().memoryBytes / 2); !kept)
    return kept.takeError();
  auto stream = Stream::create(*device);
  if (!stream)
    return stream.takeError();
  return Gpu(*std::move(stream));
}

Result<Gpu> Gpu::withStream(void *stream, int index) {
  auto device = openDevice(index);
  if (!device)
    return device.takeError();
  return Gpu(Stream::wrap(*std::move(device), static_cast<CUstream>(stream)));
}

} // namespace tile::runtime::cuda
