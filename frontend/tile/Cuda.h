//===- Cuda.h - tensors and prepared calls on NVIDIA GPUs -----------------===//
//
// For programs that have their tensors on a GPU: a call is bound to them once,
// and costs about as much as a bare launch from then on.
//
//   tile::Result<tile::Gpu> gpu = tile::Gpu::open();
//   auto x = gpu->upload(hostTensor);                  // a tile::DeviceTensor
//   auto call = softmax.prepare(*gpu, {{"x", *x}});
//   while (…)
//     if (auto done = (*call)(); !done) …              // doesn't wait
//   auto y = gpu->download(call->output("y"));         // waits
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TILE_CUDA_H
#define TILE_FRONTEND_TILE_CUDA_H

#include "frontend/tile/Module.h"
#include "runtime/cuda/Gpu.h"

namespace tile {

/// A dense row-major tensor in a GPU's memory (see runtime/cuda/DeviceTensor.h).
using runtime::Status;
using runtime::cuda::DeviceTensor;
/// A GPU with a stream (see runtime/cuda/Gpu.h).
using runtime::cuda::Gpu;

/// An argument of a prepared call: a tensor of the GPU, or a number.
class DeviceArgument {
public:
  DeviceArgument(DeviceTensor tensor) : tensor(std::move(tensor)) {}
  template <typename T>
  requires std::integral<T> || std::floating_point<T> DeviceArgument(T number)
      : text(Argument::numberText(number)) {}

private:
  friend class Function;
  std::optional<DeviceTensor> tensor;
  std::string text;
};

struct NamedDeviceArgument {
  std::string name;
  DeviceArgument value;
};

/// A kernel or graph that is bound to tensors: made by Function::prepare. It holds them, and the
/// memory that it needs besides. One thread at a time may use it; it may move.
///
/// `prepare` takes inputs, numbers and dimensions by name, as a call does, and checks all that a
/// call checks. It also takes outputs, as tensors that are to be written; those that aren't given
/// get memory of their own. An `inout` parameter of a kernel is changed in place. The tensors'
/// memory has to be used in the order of the GPU's stream. Kernels that assert or print can't be
/// prepared. Tensors that overlap, apart from those that are only read, are refused.
class PreparedCall {
public:
  ~PreparedCall();
  PreparedCall(PreparedCall &&) noexcept;
  PreparedCall &operator=(PreparedCall &&) noexcept;

  /// Runs it on what its tensors hold now, and doesn't wait. Nothing is looked up and nothing
  /// allocated; a graph becomes a CUDA graph after a few runs. Faults of the kernels show when the
  /// stream is synchronized.
  Status operator()();

  /// An output by its name, which has to be one; the same at each run. Unless it was given to
  /// `prepare`, its memory is the call's: it must not be used after the call is gone.
  const DeviceTensor &output(const std::string &name) const { return outputs().at(name); }
  const std::map<std::string, DeviceTensor> &outputs() const;

private:
  friend class Function;
  struct Impl;
  explicit PreparedCall(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace tile

#endif // TILE_FRONTEND_TILE_CUDA_H
