// Tensors of CUDA devices from and to other libraries, by DLPack
// (https://dmlc.github.io/dlpack/latest/), whose header is not needed.
#pragma once

#include "runtime/cuda/DeviceTensor.h"

struct DLManagedTensor; // of dlpack.h

namespace tile::runtime::cuda {

/// Takes over a tensor that another library gives, without copying: its deleter is called once
/// nobody uses the result any more. Refused, and then still the caller's: tensors of the host or of
/// another device, strides that are not row-major, types that the language has not, and what
/// DeviceTensor::wrap refuses.
Result<DeviceTensor> fromDlpack(std::shared_ptr<Device> device, DLManagedTensor *tensor);

/// The same tensor for another library, which has to call its deleter.
DLManagedTensor *toDlpack(const DeviceTensor &tensor);

} // namespace tile::runtime::cuda
