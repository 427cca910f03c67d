//===- ShortNames.h - names that do not grow as kernels are fused ---------===//
//
// A fused kernel has parts that were fused before, and those have others: names
// that are made of names, or that get an ending each time, would grow with the
// number of steps, and with that of paths where parts are used several times.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_SHORTNAMES_H
#define TILE_IR_FUSION_SHORTNAMES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::ir {

/// Fused kernels have names of at most so many characters, before the module tells equal ones
/// apart.
inline constexpr size_t maxFusedName = 64;

/// What a kernel that is made of two is called: "square.total"; where that is too long, how the one
/// begins, a number that tells it apart, and how the other ends. The same names give the same one.
std::string fusedName(llvm::StringRef guest, llvm::StringRef host);

/// The wanted name, or the first that is free of those that end in a number instead: `x`, `x_2`,
/// `x_3`. A number that is there already is replaced.
std::string freshName(llvm::StringRef wanted, llvm::function_ref<bool(llvm::StringRef)> isTaken);

} // namespace tile::ir

#endif // TILE_IR_FUSION_SHORTNAMES_H
