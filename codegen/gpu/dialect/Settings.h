//===- Settings.h - what a schedule says besides tile sizes ---------------===//
//
// `stages`, `warps`, `cluster`, `order`, `split`: those of `schedule cuda` come before those for
// all targets. Which values they may have ir/builder/Schedule.h decides. What a kernel makes no use
// of is said in a remark: a schedule may be for several targets, and for kernels that the fuser
// changes.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_DIALECT_SETTINGS_H
#define TILE_CODEGEN_GPU_DIALECT_SETTINGS_H

#include "ir/dialect/TileOps.h"

namespace tile::codegen::gpu {

/// A setting of the schedule for GPUs, or null: `schedule cuda` comes before what is for all.
mlir::Attribute settingOf(ir::KernelOp kernel, llvm::StringRef name);
/// That of a number, or 0.
int64_t numberOf(ir::KernelOp kernel, llvm::StringRef name);
/// An error at the place where the source has it.
mlir::InFlightDiagnostic emitSettingError(ir::KernelOp kernel, llvm::StringRef name,
                                          const llvm::Twine &message);

/// Rows of programs that go together before those to the right: 1 for `rowmajor`, 0 where the
/// schedule doesn't say. For a kernel that has passed `checkSettings`.
int64_t groupedRows(ir::KernelOp kernel);

/// A remark for each setting of the kernel that what became of it, on the tile_gpu level, makes no
/// use of.
void remarkOnSettings(ir::KernelOp kernel, ir::KernelOp onGpu);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_DIALECT_SETTINGS_H
