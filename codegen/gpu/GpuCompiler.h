//===- GpuCompiler.h - kernels to code of NVIDIA GPUs ---------------------===//
//
// Takes one specialized kernel (tile sizes static, whole axes of known length)
// and gives its form on the tile_gpu level, or PTX. Errors are reported at the
// place; the kernel itself is not changed.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_GPUCOMPILER_H
#define TILE_CODEGEN_GPU_GPUCOMPILER_H

#include "codegen/gpu/Shortage.h"
#include "ir/TileOps.h"
#include "runtime/artifact/CudaCode.h"
#include "runtime/artifact/GpuTarget.h"

#include <string>

namespace tile::codegen {
using runtime::GpuTarget, runtime::usualGpuTarget, runtime::registersOfMultiprocessor,
    runtime::maxRegistersOfThread;

/// An attribute of kernels: powers of two that divide dimensions, by name. The code that is made
/// relies on them, and on tensors that begin at multiples of 16 bytes.
inline constexpr llvm::StringLiteral divisorsAttrName = "tile.divisors";

/// An attribute of kernels: the most that dimensions come to, by name. Whole axes of unknown length
/// are then somewhere as if they were so long; the code must not be launched with longer ones.
inline constexpr llvm::StringLiteral limitsAttrName = "tile.limits";

/// An attribute of kernels: the order of their sums and scans follows from the extents of the tiles
/// and the number of warps alone, so that kernels that have a sum in common make it alike, whatever
/// else they do. That takes time; rows have to fit into the registers of one block.
inline constexpr llvm::StringLiteral fixedOrderAttrName = "tile.fixed_order";

/// Returns whether a kernel is on the tile_gpu level: its tiles have layouts, and nothing is left
/// to decide. Only GPUs run it.
bool isOnGpuLevel(ir::KernelOp kernel);
/// Returns the warps that such a kernel says it has; 0 where that is no number.
int64_t warpsOf(ir::KernelOp kernel);
/// Returns whether a kernel has tiles or ops of that level.
bool hasLayouts(ir::KernelOp kernel);
/// Lets a context read the tile_gpu level as text.
void loadGpuDialect(mlir::MLIRContext &context);

struct GpuOptions {
  /// The name of a GpuTarget.
  std::string target = std::string(runtime::usualGpuTarget);
  /// Every access is told to the launch; it is carried out if it is inside.
  bool sanitizes = false;
  /// Refused are tiles of which a thread holds more. A program whose threads hold more than there
  /// are registers for is only slow; one with far more takes minutes to compile.
  int64_t mostElements = 2048;
};

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
  /// Of the function: the kernel's name with _ for what PTX doesn't take. Its parameters: codegen/
  /// gpu/lower/LowerKernel.h.
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

/// How a program is shared out among warps that do different things; empty where all do the same.
struct GpuRoles {
  struct Role {
    std::string name;
    /// Registers of a thread.
    int64_t warps = 0, registers = 0;
  };
  std::vector<Role> roles;
  /// Slots of the channels between them: turns of a loop that are on their way.
  int64_t stages = 0;
};
/// Of a kernel on the tile_gpu level.
GpuRoles rolesOf(ir::KernelOp onGpu);

class GpuCompiler {
public:
  explicit GpuCompiler(GpuOptions options = {}) : options(std::move(options)) {}

  /// The kernel on the tile_gpu level.
  mlir::FailureOr<mlir::OwningOpRef<ir::KernelOp>> lowerToTileGpu(ir::KernelOp kernel) const;
  /// Whether the kernel becomes a pipeline of copies and warpgroups' instructions. Reports nothing.
  bool becomesPipeline(ir::KernelOp kernel) const;
  /// What the kernel lacks, if it can be lowered as far as that is known.
  GpuShortage findShortage(ir::KernelOp kernel) const;
  /// The optimized LLVM IR. Where the kernel needs more than the target has, that is an error, or,
  /// if there is a `shortage`, said there.
  mlir::FailureOr<std::string> compileToLlvmIr(ir::KernelOp kernel,
                                               GpuShortage *shortage = nullptr) const;
  mlir::FailureOr<GpuCode> compileToPtx(ir::KernelOp kernel, GpuShortage *shortage = nullptr) const;
  /// Says in a remark, at the place, why a contraction of the kernel stays apart from the tensor
  /// cores, or has them by single warps where there are pipelines; nothing where none does.
  void remarkOnProducts(ir::KernelOp kernel) const;
  /// Says in a remark what of the kernel's schedule has no effect on its code.
  void remarkOnSettings(ir::KernelOp kernel) const;

private:
  GpuOptions options;
};

} // namespace tile::codegen

#endif // TILE_CODEGEN_GPU_GPUCOMPILER_H
