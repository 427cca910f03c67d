// Fills tensors from generator specs.
#pragma once

#include "runtime/TensorSpec.h"

namespace tile::runtime {

/// Whether the type can hold what the generator gives: `randn` of integers, empty or impossible
/// ranges, values that don't fit.
Status checkGenerator(const GeneratorSpec &spec);

/// The tensor; `seed` stands in where the spec has none. The spec has passed checkGenerator.
Result<Tensor> generate(const GeneratorSpec &spec, uint64_t seed);

} // namespace tile::runtime
