// NumPy's .npy files: one tensor a file.
//
// Reads versions 1 to 3, both byte orders (big-endian data is swapped) and both storage orders
// (column-major data is transposed); bool, i8 … u64, f16, f32, f64. The format has no name for
// bf16 and fp8: both directions refuse them and point at safetensors. Errors name the file and
// the byte.
#pragma once

#include "runtime/tensor/Tensor.h"

namespace tile::runtime {

/// The whole file must be one array: bytes missing from or following the data are errors.
Result<Tensor> readNpy(const std::string &path);

/// Version 1, little-endian, row-major. Replaces the file in one step; on failure an existing
/// file keeps its content.
Status writeNpy(const std::string &path, const Tensor &tensor);

} // namespace tile::runtime
