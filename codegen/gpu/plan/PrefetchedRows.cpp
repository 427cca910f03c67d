//===- PrefetchedRows.cpp - rows that programs may ask for ahead ----------===//

#include "codegen/gpu/plan/PlanProgram.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

/// Where a load stands that reads whole rows, one for each coordinate of a binder's tile: its last
/// index is a whole axis from 0 on, the others are known from the program's number alone.
static std::optional<PrefetchedRows> rowsOf(KernelOp kernel, LoadOp load) {
  auto tile = dyn_cast<RankedTensorType>(load.getType());
  AffineMap map = load.getMap();
  if (!tile || map.getNumResults() == 0 || load.getBounds() != BoundsMode::exact ||
      kernel.getParamMode(cast<BlockArgument>(load.getSource()).getArgNumber()) != ParamMode::In)
    return std::nullopt;
  ParallelOp parallel = kernel.getParallel();
  for (Value sym : load.getSyms())
    if (parallel.getBody().isAncestor(sym.getParentRegion()))
      return std::nullopt;
  int64_t elementBytes = std::max(1u, tile.getElementType().getIntOrFloatBitWidth() / 8);
  PrefetchedRows rows{.load = load};
  bool hasBinder = false;
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  for (auto [n, dim] : llvm::enumerate(load.getDims())) {
    if (!map.isFunctionOfDim(n))
      continue;
    auto span = dyn_cast<SpanType>(dim.getType());
    bool isBinder = dim.getParentRegion() == &parallel.getBody() && isa<BlockArgument>(dim);
    hasBinder |= isBinder;
    if (last && last.getPosition() == n) {
      auto axis = dim.getDefiningOp<AxisOp>();
      APInt upper; // an axis of limited length has an extent, too, but isn't known to be that long
      if (!axis || !matchPattern(axis.getLower(), m_Zero()) ||
          !matchPattern(axis.getUpper(), m_ConstantInt(&upper)) ||
          upper.getSExtValue() != span.getExtent())
        return std::nullopt;
      rows.bytes = span.getExtent() * elementBytes;
    } else if (!isBinder || (span && rows.count > 1)) {
      return std::nullopt;
    } else if (span) {
      rows.count = span.getExtent();
    }
  }
  for (AffineExpr expr : map.getResults().drop_back())
    if (last && expr.isFunctionOfDim(last.getPosition()))
      return std::nullopt;
  int64_t extent = load.getSource().getType().getShape().back();
  rows.isAligned = ShapedType::isStatic(extent) && extent * elementBytes % prefetchUnit == 0;
  return hasBinder && rows.bytes ? std::optional(rows) : std::nullopt;
}

SmallVector<PrefetchedRows> tile::codegen::gpu::prefetchedRows(KernelOp kernel) {
  SmallVector<PrefetchedRows> result;
  for (Operation &op : kernel.getParallel().getBody().front()) {
    if (isa<ReduceOp>(op))
      break;
    if (auto load = dyn_cast<LoadOp>(op))
      if (auto rows = rowsOf(kernel, load))
        result.push_back(*rows);
  }
  return result;
}
