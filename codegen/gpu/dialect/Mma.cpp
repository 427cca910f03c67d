//===- Mma.cpp - what the tensor cores' instructions ask of tiles ---------===//

#include "codegen/gpu/dialect/Mma.h"

#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>
#include <cassert>

using namespace tile::codegen::gpu;

bool tile::codegen::gpu::canMultiply(mlir::Type element, mlir::Type sums) {
  bool isHalf = element.isBF16() || element.isF16();
  return ((isHalf || element.isF32() || hasCoarseSums(element)) && sums.isF32()) ||
         (element.isInteger(8) && sums.isInteger(32));
}

bool tile::codegen::gpu::hasCoarseSums(mlir::Type element) {
  return mlir::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(element);
}

int64_t tile::codegen::gpu::mmaColumns(int64_t columns) {
  return std::min<int64_t>(256, columns & -columns);
}

int64_t tile::codegen::gpu::mmaWidth(int64_t columns, mlir::Type element) {
  // Of integers there is none for odd multiples of 8 beyond 24.
  constexpr int64_t most = 256, mostOfAny = 32, unit = 16;
  bool isThere = columns <= mostOfAny || columns % unit == 0 || !element.isInteger(8);
  return columns <= most && isThere ? columns : mmaColumns(columns);
}

Layout tile::codegen::gpu::mmaLayout(int64_t rows, int64_t columns, unsigned warps, unsigned blocks,
                                     Sharing sharing) {
  unsigned blocksOfRows = sharing == Sharing::Rows ? blocks : 1;
  unsigned blocksOfColumns = sharing == Sharing::Columns ? blocks : 1;
  int64_t ownColumns = columns / blocksOfColumns, width = mmaColumns(ownColumns);
  assert(width >= 8 && warps % 4 == 0 && rows % (warps / 4 * mmaRows * blocksOfRows) == 0);
  assert((blocksOfRows == 1 || rows == warps * 16 * blocks) && "rows of a block follow each other");
  assert((blocksOfColumns == 1 || ownColumns == width) && "and so do columns");
  Layout layout(2);
  layout.addBasis(Part::Register, {0, 1});
  layout.addBasis(Part::Register, {8, 0});
  for (int64_t column = 8; column < width; column *= 2)
    layout.addBasis(Part::Register, {0, column});
  for (int64_t step : {2, 4})
    layout.addBasis(Part::Lane, {0, step});
  for (int64_t step : {1, 2, 4})
    layout.addBasis(Part::Lane, {step, 0});
  int64_t rowsOfBlock = static_cast<int64_t>(warps) * 16;
  for (int64_t step = 16; step < rowsOfBlock; step *= 2)
    layout.addBasis(Part::Warp, {step, 0});
  for (int64_t block = 1; block < blocks; block *= 2)
    layout.addBasis(Part::Block, {blocksOfRows > 1 ? block * rowsOfBlock : 0,
                                  blocksOfColumns > 1 ? block * ownColumns : 0});
  layout.setRepeat(0, rows / (rowsOfBlock * blocksOfRows));
  layout.setRepeat(1, ownColumns / width);
  return layout;
}
