//===- FuseOptions.h - what a search for kernels to fuse is told ----------===//
#ifndef TILE_IR_FUSION_FUSEOPTIONS_H
#define TILE_IR_FUSION_FUSEOPTIONS_H

#include "ir/fusion/Ledger.h"

#include "llvm/ADT/StringMap.h"

namespace tile::ir {

struct FuseOptions {
  /// Values of the graph's dims, as far as they are known: they decide what is worth it, never what
  /// is right.
  llvm::StringMap<int64_t> dims;
  /// What is taken for the others.
  int64_t usualExtent = 4096;
  /// A kernel is not made larger than this: operations in its body, and parameters.
  unsigned mostOperations = 1000, mostParameters = 100;
  /// What crosses from one kernel to another is not rounded where the two become one, and
  /// multiply-adds form there.
  bool keepsPrecision = false;
  /// Nothing becomes one: the ledger has the calls as they are, and their costs.
  bool isOff = false;
  /// Done in place of a search, on calls that are told apart (CallOrigins.h). They are those of a
  /// ledger for the same graph.
  const std::vector<FusionStep> *steps = nullptr;
  /// What code generation has shown of kernels that a search found before. Calls have the numbers
  /// of the ledger.
  llvm::ArrayRef<FusionVeto> vetoes;
  /// Whether tensors between the fused calls may take more memory at a time than those between the
  /// written ones.
  bool mayGrow = false;
  /// Calls that give what others give, or that nobody needs, stay.
  bool keepsCalls = false;
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_FUSEOPTIONS_H
