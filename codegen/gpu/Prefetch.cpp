//===- Prefetch.cpp - rows of programs to come ----------------------------===//
//
// A program that holds rows in registers reads, then computes, then writes, and the
// few that fit on a multiprocessor do so at the same time: memory rests while they
// compute. So each asks for the rows of a program that comes later, once its own
// loads are under way; they are in the L2 cache when that program begins. How far
// ahead says the plan (PlanProgram.h).
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/Access.h"
#include "codegen/gpu/PlanProgram.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

/// What an instruction asks for begins at a multiple of as many bytes, and is one.
static constexpr int64_t prefetchUnit = 16;

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

void KernelLowering::prefetchRows(const PrefetchedRows &rows, Value exists) {
  constexpr int64_t most = 1 << 19; // of an instruction
  LoadOp load = rows.load;
  const Tensor &tensor = tensors[load.getSource()];
  Value row = b.fold<arith::ExtUIOp>(b.getI64Type(), thread);
  Value acts = b.both(exists, b.compare(CmpIPredicate::slt, row, b.i64(rows.count)));
  SmallVector<Index> at;
  for (auto [n, dim] : llvm::enumerate(load.getDims())) {
    bool isRow = dim.getDefiningOp<AxisOp>() == nullptr;
    if (!load.getMap().isFunctionOfDim(n) || !isRow) {
      at.push_back({});
    } else if (isa<SpanType>(dim.getType())) {
      const Range &range = ranges[axisOf(dim)];
      at.push_back({b.add(range.origin, row)});
      acts = b.both(acts, b.compare(CmpIPredicate::slt, at.back().base, range.end));
    } else {
      at.push_back({scalar(dim)});
    }
  }
  SmallVector<Value> syms =
      llvm::map_to_vector(load.getSyms(), [&](Value sym) { return scalar(sym); });
  Value offset = b.i64(0);
  for (auto [expr, stride] : llvm::zip(load.getMap().getResults(), tensor.strides))
    offset = b.add(offset, b.mul(materialize(evaluate(expr, at, syms)), stride));
  // Whole units of 16 bytes that are inside; of a cluster each block asks for its part.
  int64_t bytes = rows.bytes / blocks / prefetchUnit * prefetchUnit;
  Value address = LLVM::GEPOp::create(b, tensor.pointer.getType(), memoryType(tensor.element),
                                      tensor.pointer, ValueRange{offset});
  if (!rows.isAligned) {
    address = LLVM::GEPOp::create(b, address.getType(), b.getI8Type(), address,
                                  ValueRange{b.i64(prefetchUnit - 1)});
    Value number = LLVM::PtrToIntOp::create(b, b.getI64Type(), address);
    number = b.fold<arith::AndIOp>(number, b.i64(-prefetchUnit));
    address = LLVM::IntToPtrOp::create(b, address.getType(), number);
    bytes -= prefetchUnit;
  }
  Value part = b.mul(b.fold<arith::ExtUIOp>(b.getI64Type(), blockRank), b.i64(bytes));
  for (int64_t done = 0; done < bytes; done += most) {
    Value from = LLVM::GEPOp::create(b, address.getType(), b.getI8Type(), address,
                                     ValueRange{b.add(part, b.i64(done))});
    inlineAsm(b, Type(), {from, acts},
              "@$1 cp.async.bulk.prefetch.L2.global [$0], " +
                  std::to_string(std::min(most, bytes - done)) + ";",
              "l,b,~{memory}", /*hasSideEffects=*/true);
  }
}

void KernelLowering::prefetchAfter(LoadOp load) {
  auto ahead = kernel->getAttrOfType<IntegerAttr>(prefetchAttrName);
  // With kept binders the number is none among all programs.
  if (!ahead || watches || !keptBinders.empty())
    return;
  SmallVector<PrefetchedRows> all = prefetchedRows(kernel);
  if (all.empty() || all.back().load != load)
    return;
  // The program's own places come back afterwards.
  auto ownRanges = ranges;
  auto ownScalars = scalars;
  ParallelOp parallel = kernel.getParallel();
  Value number = b.add(program, b.i64(ahead.getInt()));
  Value exists = b.compare(CmpIPredicate::slt, number, programCount(parallel));
  bindProgram(parallel, b.fold<arith::TruncIOp>(b.getI32Type(), number));
  // Of a cluster in a branch, across which the program's own loads don't move. One block does
  // better without: its predicates cost less than the order is worth.
  if (blocks == 1) {
    for (const PrefetchedRows &rows : all)
      prefetchRows(rows, exists);
  } else {
    int64_t most = 0;
    for (const PrefetchedRows &rows : all)
      most = std::max(most, rows.count);
    Value row = b.fold<arith::ExtUIOp>(b.getI64Type(), thread);
    b.branch(
        b.both(exists, b.compare(CmpIPredicate::slt, row, b.i64(most))),
        [&] {
          for (const PrefetchedRows &rows : all)
            prefetchRows(rows, {});
          return Values();
        },
        [] { return Values(); });
  }
  ranges = std::move(ownRanges);
  scalars = std::move(ownScalars);
}
