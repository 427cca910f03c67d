//===- GpuCode.h - what the compiler makes of a kernel --------------------===//
//
// PTX, and all that a launch has to know of it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_TARGET_GPUCODE_H
#define TILE_CODEGEN_GPU_TARGET_GPUCODE_H

#include "runtime/artifact/CudaCode.h"

#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace tile::codegen {

/// What one copy moves of a tensor, innermost dimension first: what a tensor map is made for.
struct TensorBox {
  /// Of the kernel.
  unsigned parameter = 0;
  llvm::SmallVector<int64_t, 5> box;
  /// Bytes of a row that is permuted: 128, 64 or 32.
  int64_t swizzle = 0;
  /// Whether each f32 becomes the nearest tf32 on the way, ties to even.
  bool roundsToTf32 = false;

  bool operator==(const TensorBox &) const = default;
};

using ReduceCopies = runtime::CudaReduceCopies;

/// A loop of contractions by warps whose operands come before their iteration: through a ring of
/// `depth` stages of so many bytes in shared memory, and `ahead` loads in registers.
struct StagedLoop {
  std::string axis;
  int64_t depth = 0, bytes = 0, ahead = 0;
};

/// PTX, and what a launch has to know.
///
/// Kernels with `sites` take the address of a GpuReport (runtime/artifact) behind their dims.
/// Kernels with `copies` take four more parameters: the address of all copies, multiples of 16
/// bytes (those of the first output, then of the next), how many each output has, how many
/// programs there are, and the address of a counter or 0. The grid then has as many blocks as
/// copies, times the places of the kept binders. Without a counter `finish` runs afterwards; with
/// one the kernel does its work, if it `foldsItself` (runtime/artifact/CudaCode.h says when). With
/// `start`, that function runs first. Both take the same parameters, and any grid.
struct GpuCode {
  std::string ptx;
  /// Of the function: the kernel's name with _ for what PTX doesn't take. Its parameters:
  /// lower/LowerKernel.h.
  std::string function;
  unsigned threads = 0;
  /// Of a program: more than one are a cluster.
  unsigned blocks = 1;
  /// A block.
  int64_t sharedBytes = 0;
  /// What the runtime has to know of each op that may say something, by its number; empty for
  /// kernels without assertions and prints that aren't watched. Others take the address of a
  /// GpuReport (runtime/artifact) behind their dims.
  std::vector<std::string> sites;
  /// The last parameters, in order.
  llvm::SmallVector<TensorBox> tensorMaps;
  /// Whether any number of blocks runs all programs: as many as run at once are best.
  bool isPersistent = false;
  /// Whether the function waits by itself for the kernel before it (`griddepcontrol`).
  bool startsEarly = false;
  llvm::SmallVector<ReduceCopies, 1> copies;
  /// What the runtime has to know of blocks and copies (runtime/artifact/CudaCode.h).
  llvm::SmallVector<unsigned, 1> keptBinders;
  bool storesAlone = false;
  /// Names of functions; empty: there is none.
  std::string start, finish;
  bool foldsItself = false;
  static constexpr unsigned threadsOfStart = 256, threadsOfFinish = 1024;
  static constexpr unsigned sharedOfFinish = 32 * 33 * 8;
};

} // namespace tile::codegen

#endif // TILE_CODEGEN_GPU_TARGET_GPUCODE_H
