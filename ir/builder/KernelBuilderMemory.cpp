//===- KernelBuilderMemory.cpp - affine forms, loads, stores, domains -----===//

#include "ir/builder/KernelBuilder.h"

using namespace mlir;
using namespace tile::ir;

//===-- Forms -------------------------------------------------------------===//

static AffineExpr atomOf(SmallVectorImpl<Value> &atoms, Value value, MLIRContext *context,
                         bool isDim) {
  auto found = llvm::find(atoms, value);
  unsigned position = found - atoms.begin();
  if (found == atoms.end())
    atoms.push_back(value);
  return isDim ? getAffineDimExpr(position, context) : getAffineSymbolExpr(position, context);
}

AffineExpr KernelBuilder::dimAtom(Value value) { return atomOf(dimAtoms, value, context(), true); }
AffineExpr KernelBuilder::symbolAtom(Value value) {
  return atomOf(symbolAtoms, value, context(), false);
}

Expr KernelBuilder::makeForm(AffineExpr form) {
  Expr result;
  result.kind = Expr::Kind::Value;
  result.type = ElementType::I64;
  result.form = form;
  return result;
}

bool KernelBuilder::isFormed(const Expr &x) {
  return x.form || (x.kind == Expr::Kind::Int && fits(x.integer, ElementType::I64));
}

AffineExpr KernelBuilder::formOf(const Expr &x) {
  if (x.form)
    return x.form;
  if (x.kind == Expr::Kind::Int) {
    assert(fits(x.integer, ElementType::I64) && "ask isFormed first");
    return getAffineConstantExpr(static_cast<int64_t>(x.integer), context());
  }
  Value value = convert(x.value, x.type, ElementType::I64);
  return axesOf(value.getType()).empty() ? symbolAtom(value) : dimAtom(value);
}

Value KernelBuilder::materializeForm(AffineExpr form) {
  if (auto constantExpr = dyn_cast<AffineConstantExpr>(form))
    return constant(ElementType::I64, constantExpr.getValue(), 0);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(form))
    return symbolAtoms[symbol.getPosition()];
  if (auto dimension = dyn_cast<AffineDimExpr>(form)) {
    Value atom = dimAtoms[dimension.getPosition()];
    auto span = dyn_cast<SpanType>(atom.getType());
    if (!span)
      return atom;
    AxisList axis;
    axis.addFrom(span);
    return CoordsOp::create(builder, loc, axis.tileOf(builder.getI64Type()), atom);
  }
  auto binaryExpr = cast<AffineBinaryOpExpr>(form);
  AffineExpr right = binaryExpr.getRHS();
  // a + b·(−1) is a − b.
  bool subtracts = false;
  if (auto product = dyn_cast<AffineBinaryOpExpr>(right);
      form.getKind() == AffineExprKind::Add && product && product.getKind() == AffineExprKind::Mul)
    if (auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
        factor && factor.getValue() == -1) {
      subtracts = true;
      right = product.getLHS();
    }
  Value operands[] = {materializeForm(binaryExpr.getLHS()), materializeForm(right)};
  align(operands);
  Binary kind = Binary::Add;
  switch (form.getKind()) {
  case AffineExprKind::Add:
    kind = subtracts ? Binary::Sub : Binary::Add;
    break;
  case AffineExprKind::Mul:
    kind = Binary::Mul;
    break;
  case AffineExprKind::FloorDiv:
    kind = Binary::Div;
    break;
  case AffineExprKind::Mod:
    kind = Binary::Rem;
    break;
  default:
    llvm_unreachable("forms have no other kinds");
  }
  return integerBinary(kind, ElementType::I64, operands[0], operands[1]);
}

static llvm::BitVector dimsOf(AffineExpr expr, unsigned count) {
  llvm::BitVector dims(count);
  expr.walk([&](AffineExpr part) {
    if (auto dimension = dyn_cast<AffineDimExpr>(part))
      dims.set(dimension.getPosition());
  });
  return dims;
}

Expr KernelBuilder::formArithmetic(Binary op, const Expr &a, const Expr &b) {
  Expr result = simplifiedForm(op, a, b);
  if (!result.isValid())
    return {};
  // `i - i` is a tile of zeros along i: what loses an axis keeps no form.
  unsigned count = dimAtoms.size();
  llvm::BitVector before = dimsOf(formOf(a), count);
  before |= dimsOf(formOf(b), count);
  return dimsOf(result.form, count) == before ? result : Expr();
}

/// The affine form of an operation on two affine forms; invalid where it has none.
Expr KernelBuilder::simplifiedForm(Binary op, const Expr &a, const Expr &b) {
  if (!isFormed(a) || !isFormed(b))
    return {};
  AffineExpr left = formOf(a), right = formOf(b);
  switch (op) {
  case Binary::Add:
    return makeForm(left + right);
  case Binary::Sub:
    return makeForm(left - right);
  case Binary::Mul:
    if (right.isSymbolicOrConstant())
      return makeForm(left * right);
    if (left.isSymbolicOrConstant())
      return makeForm(right * left);
    return {};
  case Binary::Div:
  case Binary::Rem: {
    if (!right.isSymbolicOrConstant())
      return {};
    if (auto divisor = dyn_cast<AffineConstantExpr>(right)) {
      if (divisor.getValue() == 0)
        return op == Binary::Div ? makeForm(getAffineConstantExpr(0, context())) : makeForm(left);
      if (divisor.getValue() < 0)
        return {};
    }
    return makeForm(op == Binary::Div ? left.floorDiv(right) : left % right);
  }
  default:
    return {};
  }
}

Value KernelBuilder::integerScalar(Expr x, StringRef what) {
  if (!x.isValid())
    return {};
  if (x.kind == Expr::Kind::Float || (!x.isLiteral() && !isInteger(x.type))) {
    error() << what << " has to be an integer";
    return {};
  }
  if (hasAxes(x)) {
    error() << what << " has to be a single integer; this has axes";
    return {};
  }
  Value value = materialize(x, ElementType::I64);
  return x.isLiteral() ? value : convert(value, x.type, ElementType::I64);
}

//===-- Domains -----------------------------------------------------------===//

void KernelBuilder::restrict(Expr condition, Expr binder) {
  if (!condition.isValid() || !binder.isValid())
    return;
  SmallVector<Relation> relations;
  if (condition.relations)
    relations = *condition.relations;
  else if (condition.kind == Expr::Kind::Value && condition.type == ElementType::Bool &&
           !hasAxes(condition))
    relations.push_back({AffineExpr(), false, Value(), condition.value});
  if (relations.empty()) {
    auto diagnostic = error() << "a binder's condition is made of comparisons of coordinates, of "
                                 "scalars, and of `scalar || comparison`, joined by `&&`";
    diagnostic.attachNote(loc)
        << "hint: use `where(condition, value, other)` for conditions on data";
    return;
  }
  for (const Relation &relation : relations) {
    // Names the binder's own span in any case, so that a condition without it
    // leaves the tiles alone that the binder has nothing to do with.
    AffineExpr expr = relation.expr ? relation.expr : getAffineConstantExpr(-1, context());
    Value unless = relation.expr ? relation.unless : relation.scalar;
    SmallVector<Value> dims, syms;
    AffineExpr compact = compress(expr, dims, syms);
    Value own = dimAtoms[cast<AffineDimExpr>(binder.form).getPosition()];
    if (!llvm::is_contained(dims, own))
      dims.push_back(own);
    if (llvm::any_of(dims, [](Value dim) { return !isa<SpanType>(dim.getType()); })) {
      auto diagnostic =
          error() << "a binder's condition compares coordinates; this one depends on data";
      diagnostic.attachNote(loc)
          << "hint: use `where(condition, value, other)` for conditions on data";
      return;
    }
    IntegerSet set = IntegerSet::get(dims.size(), syms.size(), compact, relation.isEquality);
    RestrictOp::create(builder, loc, set, dims, syms, unless);
    restrictions.push_back(llvm::map_to_vector(
        dims, [](Value span) { return cast<SpanType>(span.getType()).getName(); }));
  }
}

/// Renumbers the atoms of an expression to the operands it uses, in order of
/// first appearance; earlier operands keep their numbers.
AffineExpr KernelBuilder::compress(AffineExpr expr, SmallVectorImpl<Value> &dims,
                                   SmallVectorImpl<Value> &syms) {
  if (auto dimension = dyn_cast<AffineDimExpr>(expr))
    return atomOf(dims, dimAtoms[dimension.getPosition()], context(), true);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    // A dimension known as a number is part of the map.
    return atomOf(syms, symbolAtoms[symbol.getPosition()], context(), false);
  }
  if (auto binaryExpr = dyn_cast<AffineBinaryOpExpr>(expr)) {
    AffineExpr left = compress(binaryExpr.getLHS(), dims, syms);
    AffineExpr right = compress(binaryExpr.getRHS(), dims, syms);
    return getAffineBinaryOpExpr(expr.getKind(), left, right);
  }
  return expr;
}

//===-- Loads and stores --------------------------------------------------===//

std::optional<KernelBuilder::AccessMap> KernelBuilder::accessMap(const TensorRef &tensor,
                                                                 ArrayRef<Index> indices) {
  if (indices.size() != tensor.shape.size()) {
    error() << "`" << tensor.name << "` has " << tensor.shape.size() << " dimension"
            << (tensor.shape.size() == 1 ? "" : "s") << ", and " << indices.size()
            << (indices.size() == 1 ? " index is" : " indices are") << " given";
    return std::nullopt;
  }
  AccessMap access;
  SmallVector<AffineExpr> results;
  SmallVector<Value> colons;
  Location saved = loc;
  for (auto [dimension, index] : llvm::enumerate(indices)) {
    loc = index.loc;
    AffineExpr form;
    if (index.isColon) {
      Value span = colonAxis(tensor, dimension);
      if (!span)
        break;
      if (llvm::is_contained(colons, span)) {
        auto diagnostic = error() << "two `:` over dimension `"
                                  << cast<SpanType>(span.getType()).getName().getValue()
                                  << "` in one tile would be one axis";
        diagnostic.attachNote(loc) << "hint: name one of them: `let n = whole("
                                   << cast<SpanType>(span.getType()).getName().getValue() << ")`";
        break;
      }
      colons.push_back(span);
      form = dimAtom(span);
    } else {
      if (!index.expr.isValid())
        break;
      if (index.expr.kind == Expr::Kind::Float ||
          (!index.expr.isLiteral() && !isInteger(index.expr.type))) {
        error() << "an index is a span, an integer or `:`; this is "
                << (index.expr.isLiteral() ? "a float" : nameOf(index.expr.type));
        break;
      }
      if (index.expr.isLiteral() && !isFormed(index.expr)) {
        (void)literalValue(index.expr, ElementType::I64); // says so
        break;
      }
      form = formOf(index.expr);
    }
    results.push_back(compress(form, access.dims, access.syms));
  }
  loc = saved;
  if (results.size() != indices.size())
    return std::nullopt;
  access.map = AffineMap::get(access.dims.size(), access.syms.size(), results, context());
  return access;
}

Expr KernelBuilder::load(const TensorRef &tensor, ArrayRef<Index> indices, Access access,
                         Expr pad) {
  if (spec.params[tensor.position].mode == ParamMode::Out ||
      spec.params[tensor.position].mode == ParamMode::Reduce) {
    auto diagnostic = error() << "`" << tensor.name << "` is an output: it can only be written";
    if (inGrid())
      diagnostic.attachNote(loc) << "hint: declare it among the inputs, as `inout " << tensor.name
                                 << "`";
    return {};
  }
  std::optional<AccessMap> at = accessMap(tensor, indices);
  if (!at || !checkInParallel("a load"))
    return {};
  Value padValue;
  if (access == Access::Pad) {
    Expr padded = adapted(pad, tensor.type);
    if (!padded.isValid())
      return {};
    if (padded.type != tensor.type || hasAxes(padded)) {
      error() << "the pad value of `" << tensor.name << "` has to be a single "
              << nameOf(tensor.type);
      return {};
    }
    padValue = narrow(padded);
  }
  BoundsMode mode = access == Access::Pad      ? BoundsMode::pad
                    : access == Access::Clamp  ? BoundsMode::clamp
                    : access == Access::Within ? BoundsMode::within
                                               : BoundsMode::exact;
  Type type = mapAxes(at->map, at->dims).tileOf(toMlir(tensor.type, context()));
  Value loaded = LoadOp::create(builder, loc, type, tensor.memory, AffineMapAttr::get(at->map),
                                at->dims, at->syms, BoundsModeAttr::get(context(), mode), padValue);
  return make(loaded, tensor.type);
}

/// The value as the tensor holds it; null after an error.
Value KernelBuilder::storedValue(const TensorRef &tensor, const AccessMap &at, Expr value) {
  Value stored = elementValue(tensor, value);
  if (!stored)
    return {};
  AxisList axes = mapAxes(at.map, at.dims);
  for (StringAttr axis : axesOf(stored.getType()))
    if (axes.indexOf(axis.getValue()) < 0) {
      error() << "a value with axes " << axesText(stored.getType()) << " is stored to `"
              << tensor.name << "` at axes " << axesText(axes.tileOf(builder.getI1Type()))
              << ": no index has `" << axis.getValue() << "`";
      return {};
    }
  return stored;
}

void KernelBuilder::store(const TensorRef &tensor, ArrayRef<Index> indices, Expr value,
                          bool drops) {
  ParamMode mode = spec.params[tensor.position].mode;
  if (mode == ParamMode::In || mode == ParamMode::Reduce) {
    auto diagnostic =
        error() << "`" << tensor.name << "` is "
                << (mode == ParamMode::In ? "an input: it can't be written"
                                          : "a `reduce` output: it can't be stored to");
    diagnostic.attachNote(loc) << (mode == ParamMode::In
                                       ? "hint: declare it `inout`, or write to an output"
                                       : "hint: combine into it with its operator, such as `+=`");
    return;
  }
  if (drops && !inGrid()) {
    auto diagnostic = error() << "`.drop` leaves out what falls outside, in `grid` kernels only";
    diagnostic.attachNote(loc) << "hint: each element of `" << tensor.name
                               << "` is stored exactly once here, so nothing falls outside";
    return;
  }
  std::optional<AccessMap> at = accessMap(tensor, indices);
  if (!checkInParallel("a store"))
    return;
  Value stored = at ? storedValue(tensor, *at, value) : Value();
  if (stored)
    StoreOp::create(builder, loc, stored, tensor.memory, AffineMapAttr::get(at->map), at->dims,
                    at->syms, drops ? builder.getUnitAttr() : UnitAttr());
}

void KernelBuilder::update(const TensorRef &tensor, ArrayRef<Index> indices, CombineKind kind,
                           Expr value) {
  const ParamSpec &param = spec.params[tensor.position];
  if (param.mode != ParamMode::Reduce || *param.reduce != kind) {
    auto diagnostic =
        error() << "`" << tensor.name << "` "
                << (param.mode != ParamMode::Reduce ? "is not declared as a `reduce` output"
                                                    : "is declared to combine by another operator");
    if (inGrid() && param.mode == ParamMode::InOut)
      diagnostic.attachNote(loc) << "hint: where programs meet, write `atomic_add(" << tensor.name
                                 << "[…], …)` or its like; where they don't, `" << tensor.name
                                 << "[…] = …`";
    else if (param.mode == ParamMode::InOut)
      diagnostic.attachNote(loc) << "hint: each element is one program's: write `" << tensor.name
                                 << "[…] = " << tensor.name
                                 << "[…] + …`, or whatever combines them";
    else if (param.mode == ParamMode::Out)
      diagnostic.attachNote(loc) << "hint: where programs meet, declare it as one, with `reduce` "
                                    "and the operator behind its type; where they don't, write `"
                                 << tensor.name << "[…] = …`";
    return;
  }
  std::optional<AccessMap> at = accessMap(tensor, indices);
  if (!checkInParallel("a store"))
    return;
  Value stored = at ? storedValue(tensor, *at, value) : Value();
  if (stored)
    UpdateOp::create(builder, loc, stored, tensor.memory, AffineMapAttr::get(at->map), at->dims,
                     at->syms, CombineKindAttr::get(context(), kind));
}
