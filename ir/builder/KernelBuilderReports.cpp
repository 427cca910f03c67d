//===- KernelBuilderReports.cpp - assertions and prints -------------------===//

#include "ir/builder/KernelBuilder.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

void KernelBuilder::assertHolds(const Expr &condition, StringRef message) {
  if (!condition.isValid() || !checkInParallel("`assert`"))
    return;
  if (condition.isLiteral() || condition.type != ElementType::Bool) {
    auto diagnostic =
        error() << "`assert` takes a condition, not "
                << (condition.isLiteral() ? "a number" : nameOf(condition.type).str());
    diagnostic.attachNote(loc) << "hint: compare, as in `assert(x[i] > 0)`";
    return;
  }
  AssertOp::create(builder, loc, materialize(condition), builder.getStringAttr(message));
}

void KernelBuilder::print(ArrayRef<PrintItem> items) {
  if (!checkInParallel("`print`"))
    return;
  SmallVector<Attribute> texts, types;
  SmallVector<Value> values;
  std::string text;
  for (auto [n, item] : llvm::enumerate(items)) {
    if (n > 0)
      text += ' ';
    if (item.text) {
      text += *item.text;
      continue;
    }
    if (!item.value.isValid())
      return;
    Expr shown = settled(item.value);
    if (!shown.isValid())
      return;
    Value value = materialize(shown);
    // A half that is not rounded yet shows the f32 that it is.
    Type element = getElementTypeOrSelf(value.getType());
    ElementType type = shown.type;
    if (toMlir(type, context()) != element)
      type = arithmeticType(type);
    texts.push_back(builder.getStringAttr(text));
    types.push_back(builder.getStringAttr(nameOf(type)));
    values.push_back(value);
    text.clear();
  }
  texts.push_back(builder.getStringAttr(text));
  PrintOp::create(builder, loc, builder.getArrayAttr(texts), values, builder.getArrayAttr(types));
}
