//===- CodeFacts.h - what is known of a kernel's code ---------------------===//
#ifndef TILE_FRONTEND_EXECUTE_CODEFACTS_H
#define TILE_FRONTEND_EXECUTE_CODEFACTS_H

#include "frontend/execute/TileSizes.h"

#include <functional>

namespace tile::frontend {

/// What is known of a kernel's code for a launch once it is made.
struct CodeFacts {
  /// What a thread keeps in local memory: registers that were spilled.
  int64_t localBytes = 0;
  /// The tile sizes that it was made with.
  TileSizes::ByBinder sizes;
};
/// Makes the code of a kernel for a launch with these dims, in the order of the kernel.
using SeeCode =
    std::function<Outcome<CodeFacts>(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims)>;

} // namespace tile::frontend

#endif // TILE_FRONTEND_EXECUTE_CODEFACTS_H
