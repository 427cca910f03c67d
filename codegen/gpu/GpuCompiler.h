//===- GpuCompiler.h - kernels to code of NVIDIA GPUs ---------------------===//
//
// Takes one specialized kernel (tile sizes static, whole axes of known length)
// and gives its form on the tile_gpu level, or PTX. Errors are reported at the
// place; the kernel itself is not changed.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_GPUCOMPILER_H
#define TILE_CODEGEN_GPU_GPUCOMPILER_H

#include "ir/TileOps.h"

#include <string>

namespace tile::codegen {

/// The GPUs that code is made for; `sm_90a` runs on Hopper alone, the others on their generation
/// and later ones.
inline constexpr llvm::StringLiteral gpuTargets[] = {"sm_80", "sm_89", "sm_90a", "sm_100a"};

/// An attribute of kernels: powers of two that divide dimensions, by name. The code that is made
/// relies on them, and on tensors that begin at multiples of 16 bytes.
inline constexpr llvm::StringLiteral divisorsAttrName = "tile.divisors";

/// The shared memory that a program may have on any device that runs a target's code; 0 where there
/// is no such target.
int64_t sharedBytesOf(llvm::StringRef target);

struct GpuOptions {
  /// One of gpuTargets.
  std::string target = "sm_90a";
};

/// PTX, and what a launch has to know.
struct GpuCode {
  std::string ptx;
  /// Of the function: the kernel's name with _ for what PTX doesn't take. Its parameters: codegen/
  /// gpu/Lowering.h.
  std::string function;
  unsigned threads = 0;
  int64_t sharedBytes = 0;
};

class GpuCompiler {
public:
  explicit GpuCompiler(GpuOptions options = {}) : options(std::move(options)) {}

  /// The kernel on the tile_gpu level.
  mlir::FailureOr<mlir::OwningOpRef<ir::KernelOp>> lowerToTileGpu(ir::KernelOp kernel) const;
  /// The optimized LLVM IR.
  mlir::FailureOr<std::string> compileToLlvmIr(ir::KernelOp kernel) const;
  mlir::FailureOr<GpuCode> compileToPtx(ir::KernelOp kernel) const;

private:
  GpuOptions options;
};

} // namespace tile::codegen

#endif // TILE_CODEGEN_GPU_GPUCOMPILER_H
