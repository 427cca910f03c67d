// A dense tensor in the memory of a CUDA device: row-major.
#pragma once

#include "runtime/cuda/DeviceBuffer.h"
#include "runtime/tensor/Tensor.h"

namespace tile::runtime::cuda {

/// Copies are the same tensor: they share the memory.
class DeviceTensor {
public:
  /// What kernels rely on: tensors begin at multiples of so many bytes.
  static constexpr uint64_t alignment = 16;

  /// Takes memory in the order of a stream; its elements are not initialized. Refused: what
  /// `countElements` refuses, and more memory than there is.
  static Result<DeviceTensor> create(std::shared_ptr<Stream> stream, DType type, Shape shape);
  /// A copy of a tensor of the host. Waits until that one may be changed.
  static Result<DeviceTensor> upload(std::shared_ptr<Stream> stream, const Tensor &tensor);
  /// Memory that somebody else has; `owner` is held as long as the tensor is used. Refused: an
  /// address that is no multiple of `alignment`, and what `countElements` refuses.
  static Result<DeviceTensor> wrap(std::shared_ptr<Device> device, CUdeviceptr address, DType type,
                                   Shape shape, std::shared_ptr<void> owner = nullptr);

  DeviceTensor() = default;

  DType dtype() const { return type; }
  const Shape &shape() const { return extents; }
  int64_t numElements() const { return count; }
  uint64_t byteSize() const { return static_cast<uint64_t>(count * sizeOf(type)); }
  CUdeviceptr address() const { return start; }
  const std::shared_ptr<Device> &device() const { return where; }
  /// "f32[3x4] on device 0".
  std::string describe() const;

  /// A copy in the host's memory, after what the stream was given. Waits until it is there.
  Result<Tensor> download(Stream &stream) const;
  /// Copies a tensor of the same type and shape there, after what the stream was given.
  Status assign(Stream &stream, const Tensor &tensor) const;

private:
  std::shared_ptr<Device> where;
  std::shared_ptr<void> owner;
  CUdeviceptr start = 0;
  DType type = DType::F32;
  Shape extents;
  int64_t count = 0;
};

} // namespace tile::runtime::cuda
