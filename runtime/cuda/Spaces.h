// Where the tensors of a graph are that runs on a device.
#pragma once

#include "runtime/cuda/PreparedRun.h"
#include "runtime/launch/GraphRun.h"

namespace tile::runtime::cuda {

/// A place in the memory of a device, as a launch takes it.
inline uint64_t addressOf(const void *data) { return reinterpret_cast<uintptr_t>(data); }
inline std::byte *pointerTo(CUdeviceptr address) { return reinterpret_cast<std::byte *>(address); }

/// Takes memory from a run's stream, and adds what is to be done to the run, which keeps it.
class PreparedSpace : public GraphSpace {
public:
  explicit PreparedSpace(PreparedRun &run) : run(run) {}

  Result<std::byte *> allocate(uint64_t bytes) override;
  void beginCall(std::span<const uint32_t> after) override { run.beginTask(after); }
  Status copy(std::byte *to, const std::byte *from, uint64_t bytes) override;
  Status fill(std::byte *to, uint8_t value, uint64_t bytes) override;

private:
  PreparedRun &run;
};

/// Gives all to a stream at once. The memory goes, in the stream's order, with this.
class StreamSpace : public GraphSpace {
public:
  explicit StreamSpace(std::shared_ptr<Stream> stream) : stream(std::move(stream)) {}

  Result<std::byte *> allocate(uint64_t bytes) override;
  void beginCall(std::span<const uint32_t>) override {}
  Status copy(std::byte *to, const std::byte *from, uint64_t bytes) override;
  Status fill(std::byte *to, uint8_t value, uint64_t bytes) override;

private:
  std::shared_ptr<Stream> stream;
  std::vector<DeviceBuffer> buffers;
};

} // namespace tile::runtime::cuda
