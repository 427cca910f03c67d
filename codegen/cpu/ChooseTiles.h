//===- ChooseTiles.h - tile sizes for a CPU -------------------------------===//
//
// What a schedule leaves open is chosen by a model of caches and cores: enough
// work a program that its start costs nothing, what a program works on within
// the second-level cache, for contractions register tiles that are full and
// packing that pays, and programs for all cores. The model takes microseconds
// and reads the kernel alone, so equal calls choose equal sizes. Sizes that decide
// in which order a sum adds up are the same on all machines.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_CPU_CHOOSETILES_H
#define TILE_CODEGEN_CPU_CHOOSETILES_H

#include "ir/transforms/Specialize.h"

namespace tile::codegen {

struct CpuMachine {
  int threads = 1;
  int64_t level1Bytes = 32 << 10, level2Bytes = 1 << 20;

  /// The machine that this runs on.
  static CpuMachine native(int threads);
};

/// Sizes for those binders of a kernel's template that have none in `given`. A
/// binder that the schedule names gets one of its candidates. `dims` are the
/// values of the kernel's dimensions, in their order; negative, or missing at the
/// end, where they are not known yet.
llvm::StringMap<int64_t> chooseTiles(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims,
                                     const llvm::StringMap<int64_t> &given,
                                     const CpuMachine &machine);

/// What a program takes.
struct CpuProgram {
  double contractionCycles = 0; // about
  double keptBytes = 0;         // of the tiles that it computes once and keeps
};
/// Where all binders have these sizes.
CpuProgram programOf(ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims,
                     const llvm::StringMap<int64_t> &sizes, const CpuMachine &machine);

} // namespace tile::codegen

#endif // TILE_CODEGEN_CPU_CHOOSETILES_H
