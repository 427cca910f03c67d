// Planted miscompiles: changes to the specialized IR that a backend gets, each one that a backend's
// mistake would amount to. The test plants each and looks whether random kernels notice.
#pragma once

#include "ir/TileOps.h"

#include <vector>

namespace tile::fuzz {

struct Mutation {
  const char *name;
  /// Changes the kernel in every place it can; false where there is none.
  bool (*apply)(ir::KernelOp kernel);
};

const std::vector<Mutation> &mutations();

} // namespace tile::fuzz
