//===- Types.h - tiles while code is made of them; emitters ---------------===//
#ifndef TILE_CODEGEN_GPU_LOWER_TYPES_H
#define TILE_CODEGEN_GPU_LOWER_TYPES_H

#include "codegen/CodeBuilder.h"
#include "codegen/gpu/dialect/TileGpuOps.h"

namespace tile::codegen::gpu {

using Values = CodeBuilder::Values;
using Axes = llvm::ArrayRef<mlir::StringAttr>;

/// The state that two make.
using Combine = llvm::function_ref<Values(mlir::ValueRange, mlir::ValueRange)>;

/// A tile in registers.
struct Tile {
  llvm::SmallVector<mlir::StringAttr> axes;
  Layout layout;
  Values registers;

  int axisIndex(mlir::StringAttr axis) const {
    auto found = llvm::find(axes, axis);
    return found == axes.end() ? -1 : static_cast<int>(found - axes.begin());
  }
};

/// The type of a value, or of what a pending one will be.
mlir::Type tileTypeOf(mlir::Value value);
/// Whether it has axes.
bool isTile(mlir::Value value);

/// base + constant; no base is 0.
struct Index {
  mlir::Value base;
  int64_t constant = 0;
};

/// First coordinate of an axis' tile, and the first one past it.
struct Range {
  mlir::Value origin, end;
};

/// A tensor in memory, row-major.
struct Tensor {
  mlir::Value pointer;
  mlir::Type element; // of the IR
  llvm::SmallVector<mlir::Value> extents, strides;
  /// Powers of two that divide the strides.
  llvm::SmallVector<int64_t> strideDivisors;
  unsigned innermost = 0; // dimension (Divisors.h)
  bool isInvariant = false;
  /// What is before the kernel may write it while the kernel's first instructions run.
  bool isEarly = false;
  /// Other programs may change it meanwhile.
  bool isContended = false;
};

/// Two elements of 16 bits as a word, the first one low.
mlir::Value packPair(CodeBuilder &b, mlir::Value first, mlir::Value second);
/// A special register of this name, as i32.
mlir::Value readSpecial(CodeBuilder &b, llvm::StringRef name);

class LoweringContext;

/// A part of what makes code of a kernel. All have the context; families of ops have no other's
/// state.
class Emitter {
public:
  Emitter(LoweringContext &ctx, CodeBuilder &b) : ctx(ctx), b(b) {}
  Emitter(const Emitter &) = delete;

protected:
  using Value = mlir::Value;

  LoweringContext &ctx;
  CodeBuilder &b;
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_TYPES_H
