//===- Divisors.h - what addresses and ends are multiples of --------------===//
//
// An access moves neighbours together where its address is a multiple of their
// size, and where the end of an axis doesn't fall between them. That is known of
// constants, of the sizes of blocks, and of dims as far as a kernel says what
// divides them (divisorsAttrName). Layouts ask before code is made, and code again.
//
// All divisors are powers of two, 64 at most.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_PLAN_DIVISORS_H
#define TILE_CODEGEN_GPU_PLAN_DIVISORS_H

#include "ir/dialect/TileOps.h"
#include "ir/proofs/Domain.h"

namespace tile::codegen::gpu {

/// The greatest divisor that is known of a dim's value.
int64_t divisorOfDim(ir::KernelOp kernel, llvm::StringRef name);

class Divisors {
public:
  /// The kernel and its domains have to outlive this.
  Divisors(ir::KernelOp kernel, const ir::Domains &domains) : kernel(kernel), domains(domains) {}

  /// The divisor of an integer, or of all elements of a tile.
  int64_t of(mlir::Value value) const;
  /// The divisor of the coordinate where an axis begins, or each of its blocks.
  int64_t ofOrigin(mlir::StringAttr axis) const;
  /// The divisor of all places where an axis or its blocks begin and end.
  int64_t ofEnd(mlir::StringAttr axis) const;
  /// The divisors of the strides of a parameter's dimensions, in elements.
  llvm::SmallVector<int64_t> ofStrides(unsigned parameter) const;

  /// Where an access goes, in a tensor with these strides, whose elements are neighbours along the
  /// dimension `innermost`.
  struct Place {
    mlir::AffineMap map;
    mlir::ValueRange dims, syms;
    llvm::ArrayRef<int64_t> strides;
    unsigned innermost;
  };
  /// Whether neighbours along one of the dims, a span, are neighbours in memory.
  static bool areNeighbours(const Place &place, unsigned along);
  /// How many of them can be moved together, as far as the address goes.
  int64_t ofAddress(const Place &place, unsigned along) const;
  /// How many neighbours along one of the dims can be moved together, as far as the address and the
  /// ends go; 1 where they aren't neighbours in memory.
  int64_t together(const Place &place, unsigned along) const;

private:
  int64_t ofIndex(mlir::AffineExpr expr, const Place &place, unsigned along) const;

  ir::KernelOp kernel;
  const ir::Domains &domains;
};

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_PLAN_DIVISORS_H
