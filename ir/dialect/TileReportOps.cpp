//===- TileReportOps.cpp - verifiers of assertions and prints -------------===//

#include "ir/dialect/ElementType.h"
#include "ir/dialect/TileOps.h"

using namespace mlir;
using namespace tile::ir;

static LogicalResult verifyInProgram(Operation *op) {
  if (op->getParentOfType<ParallelOp>())
    return success();
  return op->emitOpError("stands outside tile.parallel");
}

LogicalResult AssertOp::verify() {
  if (!getElementTypeOrSelf(getCondition().getType()).isInteger(1))
    return emitOpError("takes a condition of i1, not of ") << getCondition().getType();
  return verifyInProgram(*this);
}

LogicalResult PrintOp::verify() {
  size_t count = getValues().size();
  if (getTexts().size() != count + 1)
    return emitOpError("has ") << getTexts().size() << " texts around " << count << " values";
  if (getTypes().size() != count)
    return emitOpError("names ") << getTypes().size() << " types for " << count << " values";
  for (auto [name, value] : llvm::zip(getTypes().getAsValueRange<StringAttr>(), getValues())) {
    std::optional<ElementType> type = elementTypeNamed(name);
    Type element = getElementTypeOrSelf(value.getType());
    if (!type || toMlir(*type, getContext()) != element)
      return emitOpError("calls a value of ") << element << " `" << name << "`";
  }
  return verifyInProgram(*this);
}
