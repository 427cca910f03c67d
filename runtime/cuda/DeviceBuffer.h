// Memory of a device, taken and given back in the order of a stream.
#pragma once

#include "runtime/cuda/Stream.h"

namespace tile::runtime::cuda {

/// Owns memory. What the stream is given after `allocate` may use it; what it was given before the
/// destructor may, too: neither waits. Other streams have to be made to wait (Stream::wait).
///
/// Devices without memory pools get plain allocations, which are freed once the device is idle.
class DeviceBuffer {
public:
  /// At least 256-byte aligned; the contents are undefined. Zero bytes: the address is 0. The error
  /// of too little memory says how much there is.
  static Result<DeviceBuffer> allocate(std::shared_ptr<Stream> stream, uint64_t bytes);

  DeviceBuffer() = default;
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer &&other) noexcept;
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;

  CUdeviceptr address() const { return start; }
  uint64_t size() const { return bytes; }

  // On the stream it was made with. An error, and nothing done, beyond the end.

  Status upload(std::span<const std::byte> from, uint64_t offset = 0);
  Status download(std::span<std::byte> to, uint64_t offset = 0) const;
  /// Sets every byte: 0, or a poison that shows in results that were never written.
  Status fill(uint8_t value);

private:
  DeviceBuffer(std::shared_ptr<Stream> stream, CUdeviceptr start, uint64_t bytes)
      : stream(std::move(stream)), start(start), bytes(bytes) {}
  Status checkRange(uint64_t offset, uint64_t size) const;

  std::shared_ptr<Stream> stream;
  CUdeviceptr start = 0;
  uint64_t bytes = 0;
};

} // namespace tile::runtime::cuda
