//===- CudaRun.h - kernels and graphs on tensors of a device --------------===//
//
// A kernel or graph is bound once to tensors in a device's memory, and then run
// again and again without being looked at: parameters are packed, memory is
// taken, what is launched often becomes a CUDA graph.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_CUDARUN_H
#define TILE_FRONTEND_CUDARUN_H

#include "frontend/CudaExecution.h"
#include "runtime/GraphRun.h"
#include "runtime/cuda/PreparedRun.h"

namespace tile::frontend {

struct CudaRun {
  runtime::cuda::PreparedRun run;
  /// By input and output of the interface: where they are. Scalars, and inputs that nothing reads,
  /// have no data.
  std::vector<runtime::PlacedTensor> inputs, outputs;
  /// The input that an output is, by output: that of an `inout` parameter, which is changed in
  /// place, or one that a graph hands on.
  std::vector<std::optional<uint32_t>> outputInputs;
  runtime::GraphMemory memory;
};

/// A place in the memory of a device, as a launch takes it.
inline uint64_t addressOf(const void *data) { return reinterpret_cast<uintptr_t>(data); }

/// Takes the memory of a graph from a stream, and adds what is to be done to a run, which keeps it.
class CudaSpace : public runtime::GraphSpace {
public:
  CudaSpace(std::shared_ptr<runtime::cuda::Stream> stream, runtime::cuda::PreparedRun &run)
      : stream(std::move(stream)), run(run) {}

  runtime::Result<std::byte *> allocate(uint64_t bytes) override;
  runtime::Status copy(std::byte *to, const std::byte *from, uint64_t bytes) override;
  runtime::Status fill(std::byte *to, uint8_t value, uint64_t bytes) override;

private:
  std::shared_ptr<runtime::cuda::Stream> stream;
  runtime::cuda::PreparedRun &run;
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_CUDARUN_H
