//===- WarpMma.h - contractions by one warp's matrix instructions ---------===//
//
// `mma.sync` (compute capability 8.0 and later): the 32 lanes of a warp multiply 16 rows
// with 8 columns, all in registers. Any `dot` whose result has rows of one operand and
// columns of the other can be made of such instructions, if its elements' products are
// exact in what they multiply: layouts of its operands and of its result say which lane
// has which elements, and conversions between layouts bring them there.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_DIALECT_WARPMMA_H
#define TILE_CODEGEN_GPU_DIALECT_WARPMMA_H

#include "codegen/gpu/dialect/TileGpuOps.h"

#include <optional>
#include <string>

namespace tile::codegen::gpu {

/// The instruction for some element types.
/// Source: PTX ISA, "Matrix multiply-accumulate operation using mma instruction".
struct WarpMma {
  llvm::StringRef shape, operands, sums; // as PTX names them
  /// What operands are turned into, exactly, before they are multiplied.
  mlir::Type element;
  /// Of an instruction's left operand, and what it contracts; columns are 8.
  int64_t rows = 16, depth = 16;
  /// Elements of an operand in a register: neighbours along the contracted axis.
  int64_t perRegister = 2;
};

/// How a dot is made of them.
struct WarpDot {
  WarpMma mma;
  /// Axes of the result: where the instruction has its rows and its columns. Others are batches.
  mlir::StringAttr rows, columns;
  /// Whether the rows are the second operand's.
  bool isSwapped = false;
};

/// None where the types of its operands and sums have no exact instruction.
std::optional<WarpMma> warpMmaOf(ir::DotOp dot);

/// Dots of i8 that were widened have those as their operands: the sums are of i32 all the same.
void narrowDots(ir::KernelOp kernel);

/// None where there is no instruction, the result is no matrix, an extent is open or the kernel's
/// order of sums is fixed.
std::optional<WarpDot> warpDotOf(ir::DotOp dot);

/// The layout of the result; warps share out its rows first if `alongRows`, else both axes alike.
Layout sumsLayout(const WarpDot &how, ir::DotOp dot, unsigned warps, bool alongRows);
/// The layout of the operand of this number, 0 or 1, where the result has the layout that is given;
/// none if that is no layout for the instruction.
/// Registers are in the order of the instruction's, a group of them for each.
std::optional<Layout> operandLayout(const WarpDot &how, ir::DotOp dot, unsigned number,
                                    const Layout &sums);

/// Why there is none, in words.
std::string whyNoWarpDot(ir::DotOp dot);

/// Layouts for the results of all dots that can be made so.
llvm::SmallVector<GivenLayout, 0> layoutsOfDots(ir::KernelOp kernel, unsigned warps);
/// Warps for a kernel with such dots; 0 where there is none.
unsigned warpsForDots(ir::KernelOp kernel);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_DIALECT_WARPMMA_H
