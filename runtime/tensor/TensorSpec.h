// The texts that say where an input of `tilec run` comes from and where an output goes.
//
//   FILE.npy                            the array in the file
//   FILE.safetensors:KEY                one tensor of the file
//   1e-5  42  -inf  true                a scalar, in the type of its parameter
//   randn:SHAPE:TYPE[:SEED]             standard normal
//   uniform:SHAPE:TYPE[:SEED[:LO:HI]]   LO <= v < HI; floats 0 and 1, integers 0 and 100; any bool
//   arange:SHAPE:TYPE                   0, 1, 2, … in row-major order
//   zeros:SHAPE:TYPE  ones:SHAPE:TYPE   like arange they may carry a :SEED, without effect
//   full:VALUE:SHAPE:TYPE
//
// SHAPE is 1823x781, 7, 0x5, or scalar for rank 0. Random values depend on seed and position
// alone and are the same on every machine; without a SEED, on the name of the input instead, so
// that two inputs differ.
#pragma once

#include "runtime/tensor/Generate.h"

#include <optional>
#include <variant>

namespace tile::runtime {

struct FileSpec {
  std::string path;
  /// The tensor in a .safetensors file; empty for .npy.
  std::string key;

  bool isSafetensors() const { return path.ends_with(".safetensors"); }
};

using TensorSpec = std::variant<FileSpec, Scalar, GeneratorSpec>;

/// Checks all that can be checked without opening a file or allocating.
Result<TensorSpec> parseTensorSpec(std::string_view text);

/// "1823x781", "7", "scalar".
Result<Shape> parseShape(std::string_view text);

/// Refuses a name that a file of tensors, if it can be read, has not.
Status checkName(const TensorSpec &spec);

/// The tensor that a spec describes. `name` is the input's; `scalarType` is the type of the
/// parameter, which a scalar needs and other specs ignore.
Result<Tensor> makeTensor(const TensorSpec &spec, std::string_view name,
                          std::optional<DType> scalarType = std::nullopt);

/// FILE.npy, FILE.safetensors:KEY, or FILE.safetensors, whose key is then `name`, the output's.
Result<FileSpec> parseOutputSpec(std::string_view text, std::string_view name);

/// Refuses two outputs in one place, by whatever paths.
Status checkPlaces(std::span<const FileSpec> targets);

struct Output {
  FileSpec target;
  const Tensor *tensor;
};

/// Writes every output; those that share a .safetensors file go into it together. Checks the
/// places before anything is written.
Status writeOutputs(std::span<const Output> outputs);

} // namespace tile::runtime
