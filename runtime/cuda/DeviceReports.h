// What a kernel says on a device: assertions and prints, read when its launch is done.
#pragma once

#include "runtime/artifact/GpuReport.h"
#include "runtime/cuda/DeviceBuffer.h"

#include <string>
#include <vector>

namespace tile::runtime {
class KernelReports;
}

namespace tile::runtime::cuda {

/// The memory that one launch of a kernel with assertions or prints reports to.
class DeviceReports {
public:
  /// With room for so many bytes of prints.
  static Result<DeviceReports> create(std::shared_ptr<Stream> stream, uint64_t capacity);

  /// What the kernel gets behind its dimensions.
  CUdeviceptr address() const { return buffer.address(); }

  /// Waits for the launch, and reads what it said.
  Status read();
  /// Bytes that the prints wanted, once they are read. Where they are more than there was room for,
  /// some are lost: launch once more, with so many.
  uint64_t needed() const { return header.used; }
  bool isWhole() const { return header.used <= header.capacity; }

  /// Says it as the CPU would have, in the order of the programs, up to the lowest one that failed.
  /// `sites` are those of the kernel, by number (CpuReport.h). The error: what was read makes no
  /// sense.
  Status tell(KernelReports &reports, std::span<const std::string> sites);

private:
  DeviceReports(DeviceBuffer buffer, uint64_t capacity) : buffer(std::move(buffer)) {
    header.capacity = capacity;
  }

  DeviceBuffer buffer;
  GpuReport header;
  std::vector<std::byte> records;
};

} // namespace tile::runtime::cuda
