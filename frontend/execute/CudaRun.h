//===- CudaRun.h - kernels and graphs on tensors of a device --------------===//
//
// A kernel or graph is bound once to tensors in a device's memory, and then run
// again and again without being looked at: parameters are packed, memory is
// taken, what is launched often becomes a CUDA graph.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EXECUTE_CUDARUN_H
#define TILE_FRONTEND_EXECUTE_CUDARUN_H

#include "frontend/execute/CudaExecution.h"
#include "runtime/cuda/Spaces.h"

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

} // namespace tile::frontend

#endif // TILE_FRONTEND_EXECUTE_CUDARUN_H
