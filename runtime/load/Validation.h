// Whether an artifact's parts fit together.
#pragma once

#include "runtime/artifact/ArtifactData.h"
#include "runtime/base/Result.h"

namespace tile::runtime {

/// Afterwards every number that names something names something that is there, programs are such
/// as `evaluate` takes, types are known, and plans hand each callee what it takes, written before
/// it is read. That code does what its kernel says is beyond checking.
Status validate(const ArtifactData &artifact);

/// The same of a plan alone, whose calls name `kernels`.
Status validatePlan(const GraphPlan &plan, const std::vector<KernelData> &kernels);

} // namespace tile::runtime
