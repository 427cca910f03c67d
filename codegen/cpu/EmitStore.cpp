//===- EmitStore.cpp - stores and updates ---------------------------------===//

#include "codegen/cpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

/// The value and the tiles among the indices.
template <typename OpT>
static SmallVector<Value> pulledBy(OpT op) {
  SmallVector<Value> pulled(1, op.getValue());
  for (Value dim : op.getDims())
    if (!isa<SpanType>(dim.getType()))
      pulled.push_back(dim);
  return pulled;
}

void BodyLowering::emitStore(StoreOp op) {
  AxisList axes = mapAxes(op.getMap(), op.getDims());
  StringAttr vectorAxis =
      chooseVectorAxis(axes.names, pulledBy(op), Access{op.getMap(), op.getDims()}, nullptr);
  Memory memory = memoryOf(op.getTarget());
  nest(withLast(axes.names, vectorAxis), vectorAxis, {}, [&](ValueRange) {
    int width = widthAt(axes.names);
    Value value = emit(op.getValue());
    SmallVector<Lanes> indices =
        indicesOf(op.getMap(), op.getDims(), op.getSyms(), [&](Value dim) { return indexOf(dim); });
    writeElements(memory, offsetOf(memory, indices, width), width, domainMask(axes.names), value);
    return Values();
  });
}

void BodyLowering::emitUpdate(UpdateOp op) {
  AxisList axes = mapAxes(op.getMap(), op.getDims());
  // Lanes of one vector must go to different elements.
  SmallVector<StringAttr> candidates;
  for (StringAttr axis : axes.names)
    if (isUnitStride(op.getMap(), op.getDims(), axis))
      candidates.push_back(axis);
  StringAttr vectorAxis =
      chooseVectorAxis(candidates, pulledBy(op), Access{op.getMap(), op.getDims()}, nullptr);
  Memory memory = memoryOf(op.getTarget());
  llvm::BitVector proved = provedInside(op.getTarget(), op.getMap(), op.getDims());
  nest(withLast(axes.names, vectorAxis), vectorAxis, {}, [&](ValueRange) {
    int width = widthAt(axes.names);
    Value value = emit(op.getValue());
    SmallVector<Lanes> indices =
        indicesOf(op.getMap(), op.getDims(), op.getSyms(), [&](Value dim) { return indexOf(dim); });
    // What falls outside is dropped.
    Value mask = b.both(domainMask(axes.names), insideOf(memory, indices, width, proved));
    Lanes offset = offsetOf(memory, indices, width);
    Value old = readElements(memory, offset, width, mask, Value());
    writeElements(memory, offset, width, mask,
                  emitCombine(b, target, op.getKind(), memory.element, old, value));
    return Values();
  });
}
