// Whether GPU code in an artifact can be launched by its kernel's signature.
#pragma once

#include "runtime/artifact/ArtifactData.h"

#include <optional>
#include <span>

namespace tile::runtime {

/// Afterwards its target has the form of one, its programs are such as `evaluate` takes, what its
/// launches ask for is within what devices have, copies are those of `reduce` outputs, and sites
/// can be decoded. `scalars` are the types of scalar parameters, by parameter.
bool isValidVariant(const CudaVariant &variant, const Signature &signature,
                    std::span<const std::optional<Number>> scalars);

} // namespace tile::runtime
