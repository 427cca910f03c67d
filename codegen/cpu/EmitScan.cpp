//===- EmitScan.cpp - scans: one state a line, lanes are lines ------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

/// A loop over the axis, one coordinate after the other, from either end.
CodeBuilder::Values BodyLowering::alongAxis(StringAttr axis, bool reverse, ValueRange carried,
                                            llvm::function_ref<Values(ValueRange)> body) {
  auto [lo, hi] = rangeOf(axis);
  if (!reverse)
    return level(axis, lo, hi, 1, carried, body);
  Block *before = b.getInsertionBlock();
  Value last = b.sub(b.add(lo, hi), b.i64(1));
  return b.loop(lo, hi, b.i64(1), carried, [&](Value index, ValueRange values) {
    Level &level = levels.emplace_back();
    level.axis = axis;
    level.coordinate = b.sub(last, index);
    level.before = before;
    Values next = body(values);
    levels.pop_back();
    return next;
  });
}

void BodyLowering::emitScan(ScanOp op) {
  unsigned count = op.getCount();
  ArrayRef<StringAttr> all = axesOf(op.getInputs()[0].getType());
  ArrayRef<StringAttr> outer = axesOf(op.getInits()[0].getType());
  StringAttr vectorAxis = chooseVectorAxis(outer, op.getInputs(), std::nullopt, nullptr);
  SmallVector<Buffer *> tiles(count), lasts(count);
  for (unsigned n = 0; n < count; ++n) {
    // States that nothing reads are not kept: it is a reduction then.
    Value scanned = op.getScanned()[n], last = op.getLast()[n];
    if (!scanned.use_empty())
      tiles[n] = resultBuffer(scanned.getType());
    if (!last.use_empty())
      lasts[n] = resultBuffer(last.getType());
    buffers[scanned] = tiles[n];
  }
  Values total;
  nest(withLast(outer, vectorAxis), vectorAxis, {}, [&](ValueRange) {
    int width = widthAt(outer);
    Values start;
    for (Value init : op.getInits())
      start.push_back(b.splat(emit(init), width));
    total = alongAxis(op.getAxisAttr(), op.getReverse(), start, [&](ValueRange state) {
      Values arguments(state);
      for (Value input : op.getInputs())
        arguments.push_back(emit(input));
      Values next = emitCombination(b, target, op.getCombine().front(), arguments,
                                    [&](Value value) { return scalar(value); });
      Value inside = domainMask(all);
      for (unsigned n = 0; n < count; ++n) {
        next[n] = b.splat(b.select(inside, next[n], state[n]), width);
        if (tiles[n])
          writeBuffer(*tiles[n], next[n]);
      }
      return next;
    });
    for (unsigned n = 0; n < count; ++n)
      if (lasts[n])
        writeBuffer(*lasts[n], total[n]);
    return Values();
  });
  for (unsigned n = 0; n < count; ++n)
    setResult(op.getLast()[n], lasts[n], total[n]);
}
