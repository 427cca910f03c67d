//===- GpuCompiler.h - kernels to code of NVIDIA GPUs ---------------------===//
//
// Takes one specialized kernel (tile sizes static, whole axes of known length)
// and gives its form on the tile_gpu level, or PTX. Errors are reported at the
// place; the kernel itself is not changed.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_GPUCOMPILER_H
#define TILE_CODEGEN_GPU_GPUCOMPILER_H

#include "codegen/gpu/dialect/KernelAttributes.h"
#include "codegen/gpu/plan/Shortage.h"
#include "codegen/gpu/target/GpuCode.h"
#include "codegen/gpu/target/Target.h"
#include "ir/dialect/TileOps.h"

#include <functional>
#include <string>
#include <vector>

namespace tile::codegen {

struct GpuOptions {
  /// With what is known of the device, if it is for one.
  GpuTarget target = GpuTarget::of(runtime::usualGpuTarget);
  /// Every access is told to the launch; it is carried out if it is inside.
  bool sanitizes = false;
  /// Refused are tiles of which a thread holds more. A program whose threads hold more than there
  /// are registers for is only slow; one with far more takes minutes to compile.
  int64_t mostElements = 2048;
  /// The observer is told after each pass (Passes.h), and after each of `codeStages`: its name, the
  /// seconds that it took, and what prints what it has made.
  using Observer = std::function<void(llvm::StringRef name, double seconds,
                                      llvm::function_ref<void(llvm::raw_ostream &)> print)>;
  Observer observer = {};
  /// The pass after which `lowerToTileGpu` stops; empty: none.
  std::string stopAfter = {};
};

/// What follows the passes: the LLVM dialect, LLVM IR, PTX.
inline constexpr llvm::StringLiteral codeStages[] = {"gpu-lower", "gpu-llvm", "gpu-ptx"};

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
  /// What the kernel becomes, a line for each thing that is decided (lower/PlanText.h).
  mlir::FailureOr<std::string> describePlan(ir::KernelOp kernel,
                                            GpuShortage *shortage = nullptr) const;
  mlir::FailureOr<GpuCode> compileToPtx(ir::KernelOp kernel, GpuShortage *shortage = nullptr) const;
  /// Says in a remark, at the place, why a contraction of the kernel stays apart from the tensor
  /// cores, or has them by single warps where there are pipelines; nothing where none does.
  void remarkOnProducts(ir::KernelOp kernel) const;
  /// Says in a remark what of the kernel's schedule has no effect on its code.
  void remarkOnSettings(ir::KernelOp kernel) const;

private:
  /// Returns the same without an observer and a pass to stop after, for what is asked in passing.
  GpuCompiler quietly() const;

  GpuOptions options;
};

} // namespace tile::codegen

#endif // TILE_CODEGEN_GPU_GPUCOMPILER_H
