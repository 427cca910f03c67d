// A GPU for programs that have their tensors there: a device with a stream.
#pragma once

#include "runtime/cuda/DeviceTensor.h"
#include "runtime/cuda/Dlpack.h"

namespace tile::runtime::cuda {

/// A GPU with a stream, which runs what it is given one after the other. Copies are the same.
class Gpu {
public:
  /// Opens a device by its index, with a stream of its own.
  static Result<Gpu> open(int index = 0);
  /// The caller's CUstream, which has to outlive everything made with it; null: the default stream.
  static Result<Gpu> withStream(void *stream, int index = 0);
  /// A stream of the runtime's.
  explicit Gpu(std::shared_ptr<Stream> stream) : theStream(std::move(stream)) {}

  /// Elements are not initialized.
  Result<DeviceTensor> create(DType type, Shape shape) const {
    return DeviceTensor::create(theStream, type, std::move(shape));
  }
  Result<DeviceTensor> upload(const Tensor &tensor) const {
    return DeviceTensor::upload(theStream, tensor);
  }
  /// Waits for what was given to the stream.
  Result<Tensor> download(const DeviceTensor &tensor) const { return tensor.download(*theStream); }
  /// A tensor of another library; see Dlpack.h.
  Result<DeviceTensor> fromDlpack(DLManagedTensor *tensor) const {
    return cuda::fromDlpack(theStream->sharedDevice(), tensor);
  }
  /// Waits until everything is done.
  Status synchronize() const { return theStream->synchronize(); }

  const std::shared_ptr<Stream> &stream() const { return theStream; }

private:
  std::shared_ptr<Stream> theStream;
};

} // namespace tile::runtime::cuda
