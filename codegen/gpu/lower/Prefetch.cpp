//===- Prefetch.cpp - rows of programs to come ----------------------------===//
//
// A program that holds rows in registers reads, then computes, then writes, and the
// few that fit on a multiprocessor do so at the same time: memory rests while they
// compute. So each asks for the rows of a program that comes later, once its own
// loads are under way; they are in the L2 cache when that program begins. How far
// ahead says the plan (PlanProgram.h).
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/lower/InlineAsm.h"
#include "codegen/gpu/lower/MemoryEmitter.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

void MemoryEmitter::prefetchRows(const PrefetchedRows &rows, Value exists) {
  constexpr int64_t most = 1 << 19; // of an instruction
  LoadOp load = rows.load;
  const Tensor &tensor = ctx.tensors[load.getSource()];
  Value row = b.fold<arith::ExtUIOp>(b.getI64Type(), ctx.thread);
  Value acts = b.both(exists, b.compare(CmpIPredicate::slt, row, b.i64(rows.count)));
  SmallVector<Index> at;
  for (auto [n, dim] : llvm::enumerate(load.getDims())) {
    bool isRow = dim.getDefiningOp<AxisOp>() == nullptr;
    if (!load.getMap().isFunctionOfDim(n) || !isRow) {
      at.push_back({});
    } else if (isa<SpanType>(dim.getType())) {
      const Range &range = ctx.ranges[axisOf(dim)];
      at.push_back({b.add(range.origin, row)});
      acts = b.both(acts, b.compare(CmpIPredicate::slt, at.back().base, range.end));
    } else {
      at.push_back({ctx.scalar(dim)});
    }
  }
  SmallVector<Value> syms =
      llvm::map_to_vector(load.getSyms(), [&](Value sym) { return ctx.scalar(sym); });
  Value offset = b.i64(0);
  for (auto [expr, stride] : llvm::zip(load.getMap().getResults(), tensor.strides))
    offset =
        b.add(offset, b.mul(ctx.places.materialize(ctx.places.evaluate(expr, at, syms)), stride));
  // Whole units of 16 bytes that are inside; of a cluster each block asks for its part.
  int64_t bytes = rows.bytes / ctx.blocks / prefetchUnit * prefetchUnit;
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
  Value part = b.mul(b.fold<arith::ExtUIOp>(b.getI64Type(), ctx.blockRank), b.i64(bytes));
  for (int64_t done = 0; done < bytes; done += most) {
    Value from = LLVM::GEPOp::create(b, address.getType(), b.getI8Type(), address,
                                     ValueRange{b.add(part, b.i64(done))});
    inlineAsm(b, Type(), {from, acts},
              "@$1 cp.async.bulk.prefetch.L2.global [$0], " +
                  std::to_string(std::min(most, bytes - done)) + ";",
              "l,b,~{memory}", /*hasSideEffects=*/true);
  }
}

void MemoryEmitter::prefetchAfter(LoadOp load) {
  auto ahead = ctx.kernel->getAttrOfType<IntegerAttr>(prefetchAttrName);
  // With kept binders the number is none among all programs.
  if (!ahead || ctx.watches || !ctx.programs.keptBinders.empty())
    return;
  SmallVector<PrefetchedRows> all = prefetchedRows(ctx.kernel);
  if (all.empty() || all.back().load != load)
    return;
  // The program's own places come back afterwards.
  auto ownRanges = ctx.ranges;
  auto ownScalars = ctx.scalars;
  ParallelOp parallel = ctx.kernel.getParallel();
  Value number = b.add(ctx.program, b.i64(ahead.getInt()));
  Value exists = b.compare(CmpIPredicate::slt, number, ctx.programs.programCount(parallel));
  ctx.programs.bindProgram(parallel, b.fold<arith::TruncIOp>(b.getI32Type(), number));
  // Of a cluster in a branch, across which the program's own loads don't move. One block does
  // better without: its predicates cost less than the order is worth.
  if (ctx.blocks == 1) {
    for (const PrefetchedRows &rows : all)
      prefetchRows(rows, exists);
  } else {
    int64_t most = 0;
    for (const PrefetchedRows &rows : all)
      most = std::max(most, rows.count);
    Value row = b.fold<arith::ExtUIOp>(b.getI64Type(), ctx.thread);
    b.branch(
        b.both(exists, b.compare(CmpIPredicate::slt, row, b.i64(most))),
        [&] {
          for (const PrefetchedRows &rows : all)
            prefetchRows(rows, {});
          return Values();
        },
        [] { return Values(); });
  }
  ctx.ranges = std::move(ownRanges);
  ctx.scalars = std::move(ownScalars);
}
