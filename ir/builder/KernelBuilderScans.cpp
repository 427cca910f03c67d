//===- KernelBuilderScans.cpp - scans, reductions by a function, sorts ----===//

#include "ir/builder/KernelBuilder.h"

using namespace mlir;
using namespace tile::ir;

std::optional<StringAttr> KernelBuilder::axisAlong(StringRef function, ArrayRef<Value> values,
                                                   StringRef given) {
  StringAttr axis = builder.getStringAttr(isDim(given) ? canonicalDim(given) : given.str());
  AxisList all;
  for (Value value : values)
    all.addFrom(value.getType());
  if (all.indexOf(axis.getValue()) >= 0)
    return axis;
  auto diagnostic = error() << "`" << function << "` over `" << given
                            << "`, which is no axis of this value";
  diagnostic.attachNote(loc) << "its axes are " << axesText(all.tileOf(builder.getI1Type()));
  return std::nullopt;
}

//===-- Scans -------------------------------------------------------------===//

/// What the parts of a state combine to, on scalars; false after an error.
bool KernelBuilder::combineInto(ScanOp op, StringRef function, ArrayRef<ElementType> types,
                                Combination combination) {
  OpBuilder::InsertionGuard guard(builder);
  Block &body = op.getCombine().emplaceBlock();
  SmallVector<Expr> states;
  for (unsigned side = 0; side < 2; ++side)
    for (auto [type, init] : llvm::zip(types, op.getInits()))
      states.push_back(make(body.addArgument(getElementTypeOrSelf(init.getType()), loc), type));
  builder.setInsertionPointToEnd(&body);
  SmallVector<Expr> combined = combination(states);
  if (llvm::any_of(combined, [](const Expr &x) { return !x.isValid(); }))
    return false;
  if (combined.size() != types.size()) {
    error() << "`" << function << "` combines states of " << types.size() << " value"
            << (types.size() == 1 ? "" : "s") << "; its function gives " << combined.size();
    return false;
  }
  SmallVector<Value> results;
  for (auto [x, type] : llvm::zip(combined, types)) {
    Expr part = adapted(x, type);
    if (!part.isValid())
      return false;
    if (part.type != type) {
      auto diagnostic = error() << "`" << function << "` combines " << nameOf(type)
                                << "; its function gives " << nameOf(part.type);
      diagnostic.attachNote(loc) << "hint: cast what it returns: `" << nameOf(type) << "(…)`";
      return false;
    }
    results.push_back(widen(part));
  }
  for (Operation &inner : body)
    if (isa<AssertOp, PrintOp>(inner)) {
      emitError(inner.getLoc()) << "what combines the elements of `" << function
                                << "` checks and shows nothing: that stands before or after";
      return false;
    } else if (inner.getNumRegions() > 0 || !isMemoryEffectFree(&inner)) {
      auto diagnostic = emitError(inner.getLoc()) << "what combines the elements of `" << function
                                                  << "` has no loops and no branches";
      diagnostic.attachNote(inner.getLoc()) << "hint: choose with `where(condition, a, b)`";
      return false;
    }
  CombinedOp::create(builder, loc, results);
  return true;
}

std::optional<KernelBuilder::Scanned> KernelBuilder::scan(StringRef function,
                                                          ArrayRef<Expr> elements,
                                                          ArrayRef<Expr> inits, StringRef axisName,
                                                          bool reverse, Combination combination) {
  if (elements.size() != inits.size()) {
    error() << "`" << function << "` takes " << elements.size() << " value"
            << (elements.size() == 1 ? "" : "s") << " and begins with " << inits.size();
    return std::nullopt;
  }
  SmallVector<ElementType> types;
  SmallVector<Value> values;
  for (auto [x, init] : llvm::zip(elements, inits)) {
    Expr pair[] = {x, init};
    adaptAll(pair);
    std::optional<ElementType> type = commonType(("`" + function + "`").str(), pair);
    if (!type)
      return std::nullopt;
    types.push_back(*type);
    for (Expr &side : pair)
      values.push_back(operandOf(side, *type));
  }
  if (!llvm::all_of(values, [](Value value) { return bool(value); }))
    return std::nullopt;
  std::optional<StringAttr> axis = axisAlong(function, values, axisName);
  if (!axis)
    return std::nullopt;
  AxisList all, left;
  SmallVector<Value> inputs, starts;
  for (Value value : values)
    all.addFrom(value.getType());
  for (auto [name, extent] : llvm::zip(all.names, all.extents))
    if (name != *axis)
      left.add(name, extent);
  for (size_t n = 0; n < values.size(); n += 2) {
    Type element = getElementTypeOrSelf(values[n].getType());
    if (llvm::is_contained(axesOf(values[n + 1].getType()), *axis)) {
      error() << "what `" << function << "` begins with has the axis `" << axis->getValue()
              << "` that it runs along";
      return std::nullopt;
    }
    inputs.push_back(broadcastTo(values[n], all.tileOf(element)));
    Type start = left.tileOf(element);
    starts.push_back(start == element ? values[n + 1] : broadcastTo(values[n + 1], start));
  }
  SmallVector<Type> results = llvm::to_vector(ValueRange(inputs).getTypes());
  llvm::append_range(results, ValueRange(starts).getTypes());
  auto op = ScanOp::create(builder, loc, results, inputs, starts, *axis, reverse, function);
  if (!combineInto(op, function, types, combination)) {
    op.erase();
    return std::nullopt;
  }
  Scanned scanned;
  for (auto [n, type] : llvm::enumerate(types)) {
    scanned.tiles.push_back(make(op.getScanned()[n], type));
    scanned.last.push_back(make(op.getLast()[n], type));
  }
  return scanned;
}

bool KernelBuilder::isCumulative(StringRef name) {
  return name == "cumsum" || name == "cumprod" || name == "cummax" || name == "cummin";
}

std::optional<KernelBuilder::Scanned> KernelBuilder::cumulate(StringRef function, Expr x,
                                                              std::optional<Expr> init,
                                                              StringRef axisName, bool reverse) {
  assert(isCumulative(function) && "ask isCumulative first");
  StringRef operation = function.drop_front(3);
  if (!x.isValid() || (init && !init->isValid()))
    return std::nullopt;
  if (x.isLiteral()) {
    error() << "`" << function << "` of a literal";
    return std::nullopt;
  }
  std::optional<ElementType> type = reducedType(operation, x.type);
  if (!type) {
    auto diagnostic = error() << "`" << function << "` does not apply to " << nameOf(x.type);
    diagnostic.attachNote(loc) << "hint: cast first, as in `i32(x)`";
    return std::nullopt;
  }
  Expr start;
  if (init)
    start = *init;
  else if (operation == "sum" || operation == "prod")
    start = literal(int64_t(operation == "prod"));
  else
    start = extreme(*type, /*isGreatest=*/operation == "min");
  Expr element = make(convert(materialize(x), x.type, arithmeticType(*type)), *type);
  return scan(function, element, start, axisName, reverse, [&](ArrayRef<Expr> states) {
    Expr combined = operation == "sum"    ? binary(Binary::Add, states[0], states[1])
                    : operation == "prod" ? binary(Binary::Mul, states[0], states[1])
                                          : call(operation, states);
    return SmallVector<Expr>{combined};
  });
}

/// The greatest or least number of a type: ±inf of floats.
Expr KernelBuilder::extreme(ElementType type, bool isGreatest) {
  unsigned bits = bitWidth(type);
  int64_t greatest =
      static_cast<int64_t>(isUnsigned(type) ? APInt::getMaxValue(bits).getZExtValue()
                                            : APInt::getSignedMaxValue(bits).getZExtValue());
  int64_t least = isUnsigned(type) ? 0 : APInt::getSignedMinValue(bits).getSExtValue();
  double infinity = std::numeric_limits<double>::infinity();
  return make(constant(arithmeticType(type), isGreatest ? greatest : least,
                       isGreatest ? infinity : -infinity),
              type);
}

//===-- Sorts -------------------------------------------------------------===//

std::optional<KernelBuilder::Sorted> KernelBuilder::sort(StringRef function, Expr x,
                                                         StringRef axisName, StringRef rankName,
                                                         bool descending) {
  if (!x.isValid())
    return std::nullopt;
  if (x.isLiteral() || x.type == ElementType::Bool) {
    error() << "`" << function << "` takes a tile of numbers"
            << (x.isLiteral() ? "" : "; this is bool");
    return std::nullopt;
  }
  Value value = widen(x);
  std::optional<StringAttr> axis = axisAlong(function, value, axisName);
  if (!axis)
    return std::nullopt;
  StringAttr rank = rankName.empty() ? *axis : builder.getStringAttr(rankName);
  ArrayRef<StringAttr> before = axesOf(value.getType());
  if (rank != *axis && llvm::is_contained(before, rank)) {
    error() << "this value has the axis `" << rankName << "` already, so `" << function
            << "` can't put its result there";
    return std::nullopt;
  }
  if (rank != *axis && !axes.lookup(rank.getValue()).getDefiningOp<AxisOp>()) {
    auto diagnostic = error() << "`" << function << "` puts its result on a whole axis; `"
                              << rankName << "` is a block";
    diagnostic.attachNote(loc) << "hint: name one: `let r = range(8)`, or a dimension";
    return std::nullopt;
  }
  AxisList after;
  for (StringAttr name : before)
    if (name != *axis)
      after.add(name, extentOf(value.getType(), name.getValue()));
    else
      after.add(rank, cast<SpanType>(axes.lookup(rank.getValue()).getType()).getExtent());
  Type values = after.tileOf(getElementTypeOrSelf(value.getType()));
  auto op = SortOp::create(builder, loc, values, withElement(values, builder.getI64Type()), value,
                           *axis, rank, descending, !isFloat(x.type) && isUnsigned(x.type));
  return Sorted{make(op.getValues(), x.type), make(op.getCoordinates(), ElementType::I64)};
}
