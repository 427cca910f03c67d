//===- KernelBuilderShapes.cpp - flip, reshape, concat, join, split -------===//
//
// Elements of a tile at other coordinates of whole axes. Lengths have to agree:
// numbers are compared here, dimensions by the launch.
//
//===----------------------------------------------------------------------===//

#include "ir/builder/KernelBuilder.h"
#include "ir/proofs/Spelling.h"

using namespace mlir;
using namespace tile::ir;

//===-- Axes and lengths --------------------------------------------------===//

/// The whole axis of that name, without a condition; null after an error.
Value KernelBuilder::unrestrictedAxis(StringRef function, StringRef name) {
  Value span = axes.lookup(name);
  if (!span || !span.getDefiningOp<AxisOp>()) {
    auto diagnostic = error() << "`" << function << "` takes whole axes; `" << name
                              << "` is a block";
    diagnostic.attachNote(loc) << "hint: read the whole dimension: `:`, or `let n = whole(…)`";
    return {};
  }
  for (ArrayRef<StringAttr> restriction : restrictions)
    if (llvm::any_of(restriction, [&](StringAttr axis) { return axis.getValue() == name; })) {
      error() << "`" << function << "` takes axes without conditions; `" << name << "` has one";
      return {};
    }
  return span;
}

/// How many coordinates a whole axis has.
Expr KernelBuilder::lengthOf(StringRef axis) {
  auto known = lengths.find(axis);
  assert(axes.lookup(axis).getDefiningOp<AxisOp>() && known != lengths.end() && "not a whole axis");
  return makeForm(known->second);
}

/// The form in the words of the source, if it is made of dimensions alone.
std::optional<std::string> KernelBuilder::spellLength(AffineExpr form) const {
  if (auto number = dyn_cast<AffineConstantExpr>(form))
    return std::to_string(number.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(form)) {
    auto dim = symbolAtoms[symbol.getPosition()].getDefiningOp<DimOp>();
    return dim ? std::optional(dim.getName().str()) : std::nullopt;
  }
  auto binaryExpr = dyn_cast<AffineBinaryOpExpr>(form);
  if (!binaryExpr)
    return std::nullopt;
  std::optional<std::string> left = spellLength(binaryExpr.getLHS()),
                             right = spellLength(binaryExpr.getRHS());
  if (!left || !right)
    return std::nullopt;
  switch (form.getKind()) {
  case AffineExprKind::Add:
    return "(" + *left + " + " + *right + ")";
  case AffineExprKind::Mul:
    return *left + " * " + *right;
  case AffineExprKind::FloorDiv:
    return "(" + *left + " / " + *right + ")";
  case AffineExprKind::Mod:
    return "(" + *left + " % " + *right + ")";
  default:
    return std::nullopt;
  }
}

/// The lengths are equal: known, or checked by the launch. False after an error.
bool KernelBuilder::requireEqual(StringRef function, const Expr &from, const Expr &to) {
  auto difference = dyn_cast<AffineConstantExpr>(from.form - to.form);
  if (difference && difference.getValue() == 0)
    return true;
  std::optional<std::string> left = spellLength(from.form), right = spellLength(to.form);
  if (difference || !left || !right) {
    auto diagnostic = error() << "`" << function << "` puts " << left.value_or("some")
                              << " elements on " << right.value_or("other") << " coordinates";
    if (!left || !right)
      diagnostic.attachNote(loc) << "lengths that depend on data can't be checked by the launch";
    return false;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.restoreInsertionPoint(entryPoint());
  Value first = materialize(from), second = materialize(to);
  Value equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, first, second);
  std::string place = placeOf(loc);
  std::string text = *left + " == " + *right + " (for `" + function.str() + "`" +
                     (place.empty() ? ")" : " at " + place + ")");
  entryEnd = RequireOp::create(builder, loc, equal, builder.getStringAttr(text));
  return true;
}

/// The tile whose element is x at `coordinates`, one form for each axis of x.
Expr KernelBuilder::take(StringRef function, const Expr &x, ArrayRef<AffineExpr> coordinates) {
  Value value = materialize(x);
  SmallVector<Value> dims, syms;
  SmallVector<AffineExpr> results =
      llvm::map_to_vector(coordinates, [&](AffineExpr expr) { return compress(expr, dims, syms); });
  AffineMap map = AffineMap::get(dims.size(), syms.size(), results, context());
  Type type = mapAxes(map, dims).tileOf(getElementTypeOrSelf(value.getType()));
  return make(TakeOp::create(builder, loc, type, value, map, dims, syms, function), x.type);
}

/// What stands at each axis of x: its own coordinate, but for those in `instead`.
SmallVector<AffineExpr> KernelBuilder::coordinatesOf(const Expr &x,
                                                     const llvm::StringMap<AffineExpr> &instead) {
  return llvm::map_to_vector(axesOf(materialize(x).getType()), [&](StringAttr axis) {
    auto other = instead.find(axis.getValue());
    return other != instead.end() ? other->second : dimAtom(axes.lookup(axis.getValue()));
  });
}

/// Reports what is no tile with that axis.
bool KernelBuilder::hasAxis(StringRef function, const Expr &x, StringRef axis) {
  if (x.isLiteral()) {
    error() << "`" << function << "` of a literal";
    return false;
  }
  return axisAlong(function, materialize(x), axis).has_value();
}

//===-- Functions ---------------------------------------------------------===//

Expr KernelBuilder::flip(Expr x, StringRef axis) {
  if (!x.isValid() || !hasAxis("flip", x, axis))
    return {};
  Value span = unrestrictedAxis("flip", axis);
  if (!span)
    return {};
  llvm::StringMap<AffineExpr> instead;
  instead[axis] = lengthOf(axis).form - 1 - dimAtom(span);
  return take("flip", x, coordinatesOf(x, instead));
}

Expr KernelBuilder::reshape(Expr x, ArrayRef<std::string> from, ArrayRef<std::string> to) {
  if (!x.isValid())
    return {};
  if (x.isLiteral()) {
    error() << "`reshape` of a literal";
    return {};
  }
  for (ArrayRef<std::string> axes : {from, to})
    for (size_t n = 0; n < axes.size(); ++n)
      if (llvm::is_contained(axes.take_front(n), axes[n])) {
        error() << "`reshape` names axis `" << axes[n] << "` twice";
        return {};
      }
  AffineExpr one = getAffineConstantExpr(1, context()), place = one - 1, before = one, after = one;
  for (const std::string &axis : to) {
    Value span = unrestrictedAxis("reshape", axis);
    if (!span)
      return {};
    bool isKept = llvm::is_contained(from, axis);
    if (!isKept &&
        llvm::is_contained(axesOf(materialize(x).getType()), builder.getStringAttr(axis))) {
      error() << "this value has the axis `" << axis << "` already, so `reshape` can't make it";
      return {};
    }
    place = place * lengthOf(axis).form + dimAtom(span);
    after = after * lengthOf(axis).form;
  }
  llvm::StringMap<AffineExpr> instead;
  for (const std::string &axis : llvm::reverse(from)) {
    if (!hasAxis("reshape", x, axis) || !unrestrictedAxis("reshape", axis))
      return {};
    AffineExpr length = lengthOf(axis).form;
    // The first digit needs no remainder: it is below its length.
    AffineExpr digit = before == one ? place : place.floorDiv(before);
    instead[axis] = axis == from.front() ? digit : digit % length;
    before = before * length;
  }
  if (!requireEqual("reshape", makeForm(before), makeForm(after)))
    return {};
  Expr taken = take("reshape", x, coordinatesOf(x, instead));
  // An axis of one coordinate may stand in no index.
  AxisList all;
  all.addFrom(taken.value.getType());
  for (const std::string &axis : to)
    all.addFrom(axes.lookup(axis).getType());
  if (all.names.size() == axesOf(taken.value.getType()).size())
    return taken;
  return make(broadcastTo(taken.value, all.tileOf(getElementTypeOrSelf(taken.value.getType()))),
              x.type);
}

Expr KernelBuilder::concat(ArrayRef<Expr> xs, ArrayRef<std::string> along, StringRef into) {
  if (llvm::any_of(xs, [](const Expr &x) { return !x.isValid(); }))
    return {};
  if (xs.empty() || xs.size() != along.size()) {
    error() << "`concat` takes as many axes as values: here " << along.size() << " for "
            << xs.size();
    return {};
  }
  Value span = unrestrictedAxis("concat", into);
  if (!span)
    return {};
  AffineExpr begin = getAffineConstantExpr(0, context());
  SmallVector<Expr> pieces;
  SmallVector<AffineExpr> ends;
  for (auto [x, axis] : llvm::zip(xs, along)) {
    if (!hasAxis("concat", x, axis) || !unrestrictedAxis("concat", axis))
      return {};
    llvm::StringMap<AffineExpr> instead;
    instead[axis] = dimAtom(span) - begin;
    pieces.push_back(take("concat", x, coordinatesOf(x, instead)));
    begin = begin + lengthOf(axis).form;
    ends.push_back(begin);
  }
  if (!requireEqual("concat", makeForm(begin), lengthOf(into)))
    return {};
  Expr result = pieces.pop_back_val();
  for (ends.pop_back(); !pieces.empty() && result.isValid(); ends.pop_back()) {
    Expr isBefore = binary(Binary::Lt, axisExpr(into), makeForm(ends.back()));
    result = call("where", {isBefore, pieces.pop_back_val(), result});
  }
  return result;
}

/// The constant length of an axis with few coordinates; none after an error.
std::optional<int64_t> KernelBuilder::constantLength(StringRef function, StringRef axis) {
  constexpr int64_t most = 64;
  if (!unrestrictedAxis(function, axis))
    return std::nullopt;
  auto length = dyn_cast<AffineConstantExpr>(lengthOf(axis).form);
  if (length && length.getValue() <= most)
    return length.getValue();
  auto diagnostic = error() << "`" << function << "` takes an axis of constant length, at most "
                            << most << "; `" << axis << "` is none";
  diagnostic.attachNote(loc) << "hint: `let r = range(2)`";
  return std::nullopt;
}

Expr KernelBuilder::join(ArrayRef<Expr> xs, StringRef into) {
  if (llvm::any_of(xs, [](const Expr &x) { return !x.isValid(); }))
    return {};
  std::optional<int64_t> length = constantLength("join", into);
  if (!length)
    return {};
  if (xs.empty() || *length != static_cast<int64_t>(xs.size())) {
    error() << "`join` puts " << xs.size() << " values on `" << into << "`, which has " << *length
            << " coordinates";
    return {};
  }
  // Of one value: the value, on one more axis.
  Expr result = xs.back();
  if (xs.size() == 1)
    result =
        call("where", {binary(Binary::Eq, axisExpr(into), literal(int64_t(0))), result, result});
  for (size_t n = xs.size() - 1; n-- > 0 && result.isValid();)
    result = call("where", {binary(Binary::Eq, axisExpr(into), literal(static_cast<int64_t>(n))),
                            xs[n], result});
  return result;
}

SmallVector<Expr> KernelBuilder::split(Expr x, StringRef axis) {
  SmallVector<Expr> failure(1);
  if (!x.isValid() || !hasAxis("split", x, axis))
    return failure;
  std::optional<int64_t> length = constantLength("split", axis);
  if (!length)
    return failure;
  SmallVector<Expr> parts;
  for (int64_t n = 0; n < *length; ++n) {
    llvm::StringMap<AffineExpr> instead;
    instead[axis] = getAffineConstantExpr(n, context());
    parts.push_back(take("split", x, coordinatesOf(x, instead)));
  }
  return parts;
}
