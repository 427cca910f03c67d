// Fills tensors from generator specs.
#pragma once

#include "runtime/tensor/Scalar.h"
#include "runtime/tensor/Tensor.h"

#include <optional>

namespace tile::runtime {

struct GeneratorSpec {
  enum class Kind { Randn, Uniform, Arange, Zeros, Ones, Full };

  Kind kind = Kind::Zeros;
  Shape shape;
  DType type = DType::F32;
  std::optional<uint64_t> seed;
  /// The value of `full`; the bounds of `uniform`.
  std::optional<Scalar> value, lo, hi;
};

/// Whether the type can hold what the generator gives: `randn` of integers, empty or impossible
/// ranges, values that don't fit.
Status checkGenerator(const GeneratorSpec &spec);

/// The tensor; `seed` stands in where the spec has none. The spec has passed checkGenerator.
Result<Tensor> generate(const GeneratorSpec &spec, uint64_t seed);

} // namespace tile::runtime
