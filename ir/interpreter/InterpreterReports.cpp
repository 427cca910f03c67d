//===- InterpreterReports.cpp - assertions and prints ---------------------===//

#include "ir/interpreter/InterpreterImpl.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::interpreter;

LogicalResult Machine::executeAssert(AssertOp op) {
  const Tile &condition = values.at(op.getCondition());
  Box box;
  if (failed(makeBox(op, condition.axes, box)) || failed(checkDefined(op, condition, box)))
    return failure();
  return box.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    if (readUnsigned(condition.number, condition.at(index)) != 0)
      return success();
    result.isAssertion = true;
    return fail(op, "assertion failed: " + op.getMessage() +
                        (position.empty() ? "" : ", at " + describe(box, position)));
  });
}

LogicalResult Machine::executePrint(PrintOp op) {
  SmallVector<PrintedValue> printed;
  for (Value value : op.getValues()) {
    const Tile &tile = values.at(value);
    Box box;
    if (failed(makeBox(op, tile.axes, box)) || failed(checkDefined(op, tile, box)))
      return failure();
    PrintedValue &to = printed.emplace_back();
    for (auto [name, count] : llvm::zip(box.axes, box.extents))
      to.axes.push_back({name.getValue(), axes.at(name).origin, count});
    to.data = tile.data->data();
    to.defined = box.defined ? box.defined->data() : nullptr;
  }
  if (options.print)
    options.print(op, printed);
  return success();
}
