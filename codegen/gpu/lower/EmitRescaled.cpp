//===- EmitRescaled.cpp - rescaled sums, each thread by itself ------------===//

#include "codegen/gpu/loops/RescaledSums.h"
#include "codegen/gpu/lower/ControlEmitter.h"
#include "codegen/gpu/lower/Numbers.h"
#include "codegen/gpu/schedule/VerifyLayouts.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpFPredicate;

/// Its reduction over the loop's blocks.
static ReduceOp reductionOf(ForOp loop, Value yielded) {
  for (Value operand : yielded.getDefiningOp()->getOperands())
    if (auto reduce = operand.getDefiningOp<ReduceOp>(); reduce && reduce->getParentOp() == loop)
      return reduce;
  return {};
}

SmallVector<ControlEmitter::Rescaled> ControlEmitter::rescaledOf(ForOp loop) {
  auto pairs = loop->getAttrOfType<DenseI64ArrayAttr>(rescaledAttrName);
  SmallVector<Rescaled> result;
  // Tiles that change their layout meet other threads.
  bool moves = loop.walk([](ConvertOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!pairs || moves || ctx.watches || !ctx.domains.restrictsOf(loop).empty())
    return result;
  ValueRange yielded = loop.getYield().getOperands();
  for (size_t n = 0; n + 1 < static_cast<size_t>(pairs.size()); n += 2) {
    auto max = static_cast<size_t>(pairs[n]), sum = static_cast<size_t>(pairs[n + 1]);
    Rescaled pair{max, sum, reductionOf(loop, yielded[max]), reductionOf(loop, yielded[sum]),
                  scaleOf(yielded[sum])};
    if (!pair.maximum || !pair.added || !pair.scale)
      return {};
    result.push_back(pair);
  }
  return result;
}

std::pair<CodeBuilder::Values, CodeBuilder::Values>
ControlEmitter::joinRescaled(const Rescaled &pair, ValueRange maxima, ValueRange sums) {
  auto joinAll = [&](ReduceOp op, ValueRange states) {
    return ctx.folds.joined({op, nullptr, keptAxes(op)}, states);
  };
  Values all = joinAll(pair.maximum, maxima), scaled;
  for (auto [own, most, sum] : llvm::zip(maxima, all, sums)) {
    Value stays = arith::CmpFOp::create(b, CmpFPredicate::OEQ, own, most);
    Value difference = arith::SubFOp::create(b, own, most);
    Value scale = emitFast(b, pair.scale, difference);
    if (!scale)
      scale = emitElementwise(b, ctx.target, pair.scale, difference);
    Value factor = b.select(stays, b.number(difference.getType(), 1), scale);
    scaled.push_back(arith::MulFOp::create(b, sum, factor));
  }
  return {std::move(all), joinAll(pair.added, scaled)};
}
