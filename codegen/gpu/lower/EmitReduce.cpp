//===- EmitReduce.cpp - reductions, and tiles by other layouts ------------===//

#include "codegen/gpu/lower/ReduceEmitter.h"
#include "codegen/gpu/schedule/VerifyLayouts.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

ReduceEmitter::ReduceEmitter(LoweringContext &context) : Emitter(context, context.b) {
  ctx.onOp<ConvertOp>([this](ConvertOp op) { emitConvert(op); });
  ctx.onOp<ReduceOp>([this](ReduceOp op) { emitReduce(op); });
  ctx.onOp<PartialReduceOp>([this](PartialReduceOp op) { emitPartialReduce(op); });
  ctx.onOp<ArgReduceOp>([this](ArgReduceOp op) { emitArgReduce(op); });
  ctx.onOp<CountOp>([this](CountOp op) { emitCountOp(op); });
}

void ReduceEmitter::emitConvert(ConvertOp op) {
  if (ctx.operands.isMadeByDots(op))
    return;
  ctx.tiles[op.getResult()] = ctx.exchange.convert(ctx.tile(op.getInput()), layoutOf(op.getType()));
}

void ReduceEmitter::emitReduce(ReduceOp op) {
  if (!foldsInCluster(op))
    return ctx.fail(
        op, "blocks of a cluster fold all together and once, not some of them or in a loop");
  Tile input = ctx.tile(op.getInput());
  Type element = getElementTypeOrSelf(op.getInput().getType());
  SmallVector<unsigned> kept = keptAxes(op);
  auto combine = [&](ValueRange x, ValueRange y) {
    return Values{emitCombine(b, ctx.target, op.getKind(), element, x[0], y[0])};
  };
  if (ctx.apart.contains(op)) {
    Values own;
    for (const Values &state :
         Exchange::foldRegisters(input.layout, input.layout.project(kept),
                                 {ctx.exchange.identityOutside(op)}, kept, combine))
      own.push_back(state[0]);
    return ctx.bind(op.getResult(), own);
  }
  Values result =
      ctx.exchange.reduceStates(input.layout, ctx.exchange.identityOutside(op), kept, combine)
          .second.front();
  // One that ignores NaN has met nothing where all is NaN.
  if (op.getKind() == CombineKind::fmax || op.getKind() == CombineKind::fmin) {
    Value nothing = emitConstant(b, identityOf(op.getKind(), element));
    for (Value &number : result)
      number = combine(nothing, number)[0];
  }
  ctx.bind(op.getResult(), result);
}

void ReduceEmitter::emitPartialReduce(PartialReduceOp op) {
  Tile input = ctx.tile(op.getInput());
  Type element = getElementTypeOrSelf(op.getInput().getType());
  SmallVector<unsigned> kept;
  for (auto [n, axis] : llvm::enumerate(input.axes))
    if (axis != op.getAxisAttr())
      kept.push_back(n);
  auto combine = [&](ValueRange x, ValueRange y) {
    return Values{emitCombine(b, ctx.target, op.getKind(), element, x[0], y[0])};
  };
  Values own;
  for (const Values &state : Exchange::foldRegisters(input.layout, input.layout.project(kept),
                                                     {input.registers}, kept, combine))
    own.push_back(state[0]);
  ctx.bind(op.getResult(), own);
}

void ReduceEmitter::emitCountOp(CountOp op) {
  SmallVector<StringAttr> axes(axesOf(op.getResult().getType()));
  SmallVector<unsigned> kept = llvm::to_vector(llvm::seq<unsigned>(0, axes.size()));
  for (Value span : op.getSpans())
    axes.push_back(axisOf(span));
  SmallVector<int64_t> extents = llvm::map_to_vector(axes, [&](StringAttr axis) {
    return cast<SpanType>(ctx.domains.spanOf(axis.getValue()).getType()).getExtent();
  });
  SmallVector<unsigned> order = llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(0, axes.size())));
  Layout layout = Layout::blocked({extents, order, {}, 1, ctx.warps});
  Values mask = ctx.places.domainMask(axes, layout), counts;
  Type type = getElementTypeOrSelf(op.getResult().getType());
  for (Value holds : mask)
    counts.push_back(b.select(holds, b.integer(type, 1), b.integer(type, 0)));
  // Copies of an element are counted once: the fold does not go over them.
  auto [left, states] = ctx.exchange.reduceStates(
      layout, counts, kept, [&](ValueRange x, ValueRange y) { return Values{b.add(x[0], y[0])}; });
  if (kept.empty())
    return ctx.bind(op.getResult(), states[0]);
  Tile made{SmallVector<StringAttr>(axesOf(op.getResult().getType())), left, states[0]};
  ctx.tiles[op.getResult()] = ctx.exchange.convert(made, layoutOf(op.getResult().getType()));
}
