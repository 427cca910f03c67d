//===- Places.h - coordinates of registers, and which are inside ----------===//
#ifndef TILE_CODEGEN_GPU_LOWER_PLACES_H
#define TILE_CODEGEN_GPU_LOWER_PLACES_H

#include "codegen/gpu/lower/Types.h"

#include <map>
#include <vector>

namespace tile::codegen::gpu {

/// Computes coordinates, addresses in arrays and masks, as code.
class Places : public Emitter {
public:
  using Emitter::Emitter;

  /// What the thread's number adds to a coordinate, as i32.
  Value threadPlace(const Layout &layout, unsigned axis);
  /// Whether a register's constant adds to it without carry.
  static bool isAdditive(const Layout &layout, unsigned axis);
  /// A coordinate within the tile, from 0, as i32.
  Value localPlace(const Layout &layout, unsigned axis, int64_t reg);
  /// The coordinate of a register along an axis of its layout.
  Index coordinate(mlir::StringAttr axis, const Layout &layout, unsigned position, int64_t reg);
  /// Position of a register in a row-major array of the layout's extents; `strides` of the axes.
  Index linearPlace(const Layout &layout, int64_t reg, llvm::ArrayRef<int64_t> strides);
  Value materialize(Index index);
  /// An affine expression of these dims and symbols.
  Index evaluate(mlir::AffineExpr expr, llvm::ArrayRef<Index> dims, llvm::ArrayRef<Value> syms);

  /// How many coordinates the axis has here, as i32; null if the layout covers no more.
  Value limitFor(mlir::StringAttr axis, const Layout &layout, unsigned position);
  /// Whether each register holds an element of the domain; null registers: always.
  Values domainMask(Axes axes, const Layout &layout);
  /// Where this thread is the one of several with copies that acts; null: always.
  Value isFirstCopy(const Layout &layout);
  /// The same among the threads of a block.
  Value isFirstThread(const Layout &layout);

  /// Known places of threads; they are of the warps that run.
  std::map<std::vector<int64_t>, Value> threadPlaces;

private:
  Value numberOf(Part part) const;
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_LOWER_PLACES_H
