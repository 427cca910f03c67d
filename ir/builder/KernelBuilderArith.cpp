//===- KernelBuilderArith.cpp - literals, new tiles and operators ---------===//

#include "ir/builder/KernelBuilder.h"

using namespace mlir;
using namespace tile::ir;

//===-- Small pieces ------------------------------------------------------===//

Expr KernelBuilder::make(Value value, ElementType type) {
  Expr result;
  result.kind = Expr::Kind::Value;
  result.type = type;
  result.value = value;
  // Scalars of i64 take part in index arithmetic.
  if (value && type == ElementType::I64 && axesOf(value.getType()).empty())
    result.form = symbolAtom(value);
  return result;
}

Value KernelBuilder::constant(ElementType type, int64_t integer, double number) {
  Type mlirType = toMlir(type, context());
  TypedAttr attr;
  if (isFloat(type))
    attr = builder.getFloatAttr(mlirType, number);
  else
    attr = builder.getIntegerAttr(mlirType, APInt(bitWidth(type), static_cast<uint64_t>(integer),
                                                  /*isSigned=*/true, /*implicitTrunc=*/true));
  return arith::ConstantOp::create(builder, loc, attr);
}

Expr KernelBuilder::boolean(bool value) {
  return make(constant(ElementType::Bool, value, 0), ElementType::Bool);
}

bool KernelBuilder::hasAxes(const Expr &x) const {
  if (x.value)
    return !axesOf(x.value.getType()).empty();
  return x.form && !x.form.isSymbolicOrConstant();
}

Value KernelBuilder::broadcastTo(Value value, Type tile) {
  Type target = withElement(tile, getElementTypeOrSelf(value.getType()));
  if (value.getType() == target)
    return value;
  return BroadcastOp::create(builder, loc, target, value);
}

void KernelBuilder::align(MutableArrayRef<Value> values) {
  AxisList axes;
  for (Value value : values)
    axes.addFrom(value.getType());
  for (Value &value : values)
    value = broadcastTo(value, axes.tileOf(getElementTypeOrSelf(value.getType())));
}

Value KernelBuilder::materialize(const Expr &x, std::optional<ElementType> hint) {
  switch (x.kind) {
  case Expr::Kind::Invalid:
    return {};
  case Expr::Kind::Int:
    return literalValue(x, hint.value_or(ElementType::I64));
  case Expr::Kind::Float:
    return literalValue(x, hint.value_or(ElementType::F32));
  case Expr::Kind::Value:
    return x.value ? x.value : materializeForm(x.form);
  }
  llvm_unreachable("covered switch");
}

//===-- New tiles ---------------------------------------------------------===//

Expr KernelBuilder::full(ElementType type, Expr value, ArrayRef<Expr> spans) {
  if (!value.isValid())
    return {};
  if (value.isLiteral())
    value = castTo(type, value);
  if (!value.isValid())
    return {};
  if (value.type != type) {
    error() << "the value is " << nameOf(value.type) << ", the tile " << nameOf(type);
    return {};
  }
  AxisList axes;
  for (const Expr &span : spans) {
    if (!span.isValid())
      return {};
    auto atom = dyn_cast_or_null<AffineDimExpr>(span.form);
    Value axisValue = atom ? dimAtoms[atom.getPosition()] : Value();
    if (!axisValue || !isa<SpanType>(axisValue.getType())) {
      error() << "the axes of a new tile are spans and axes";
      return {};
    }
    axes.addFrom(axisValue.getType());
  }
  Value element = materialize(value);
  return make(broadcastTo(element, axes.tileOf(element.getType())), type);
}

//===-- Operators ---------------------------------------------------------===//

std::optional<ElementType> KernelBuilder::commonType(StringRef what, ArrayRef<Expr> xs) {
  const Expr *typed = nullptr;
  bool floatLiteral = false;
  for (const Expr &x : xs) {
    if (!x.isValid())
      return std::nullopt;
    floatLiteral |= x.kind == Expr::Kind::Float;
    if (x.isLiteral())
      continue;
    if (typed && typed->type != x.type) {
      auto diagnostic = error() << what << " of " << nameOf(typed->type) << " and "
                                << nameOf(x.type) << ": types don't convert by themselves";
      ElementType wider = bitWidth(x.type) > bitWidth(typed->type) ? x.type : typed->type;
      if (isFloat(x.type) != isFloat(typed->type))
        wider = isFloat(x.type) ? x.type : typed->type;
      diagnostic.attachNote(loc) << "hint: cast one side, as in `" << nameOf(wider) << "(…)`";
      return std::nullopt;
    }
    typed = typed ? typed : &x;
  }
  if (!typed)
    return floatLiteral ? ElementType::F32 : ElementType::I64;
  if (floatLiteral && !isFloat(typed->type)) {
    auto diagnostic = error() << what << " of " << nameOf(typed->type) << " and a float literal";
    diagnostic.attachNote(loc) << "hint: cast the integer, as in `f32(…)`";
    return std::nullopt;
  }
  return typed->type;
}

static StringRef symbolOf(KernelBuilder::Binary op) {
  static constexpr StringLiteral symbols[] = {"+", "-",  "*",  "/", "%",  "<<", ">>", "&",  "|",
                                              "^", "==", "!=", "<", "<=", ">",  ">=", "&&", "||"};
  return symbols[static_cast<unsigned>(op)];
}

Value KernelBuilder::integerBinary(Binary op, ElementType type, Value a, Value b) {
  bool unsignedType = isUnsigned(type);
  switch (op) {
  case Binary::Add:
    return arith::AddIOp::create(builder, loc, a, b);
  case Binary::Sub:
    return arith::SubIOp::create(builder, loc, a, b);
  case Binary::Mul:
    return arith::MulIOp::create(builder, loc, a, b);
  case Binary::Div:
    return DivOp::create(builder, loc, a.getType(), a, b, unsignedType, false);
  case Binary::Rem:
    return RemOp::create(builder, loc, a.getType(), a, b, unsignedType, false);
  case Binary::BitAnd:
    return arith::AndIOp::create(builder, loc, a, b);
  case Binary::BitOr:
    return arith::OrIOp::create(builder, loc, a, b);
  case Binary::BitXor:
    return arith::XOrIOp::create(builder, loc, a, b);
  case Binary::Shl:
  case Binary::Shr: {
    // Defined for every count: one outside [0, width) shifts everything out.
    Value width = broadcastTo(constant(type, bitWidth(type), 0), b.getType());
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, b, width);
    Value zero = broadcastTo(constant(type, 0, 0), b.getType());
    Value last = broadcastTo(constant(type, bitWidth(type) - 1, 0), b.getType());
    if (op == Binary::Shl) {
      Value count = arith::SelectOp::create(builder, loc, inside, b, zero);
      Value shifted = arith::ShLIOp::create(builder, loc, a, count);
      return arith::SelectOp::create(builder, loc, inside, shifted, zero);
    }
    if (!unsignedType) {
      Value count = arith::SelectOp::create(builder, loc, inside, b, last);
      return arith::ShRSIOp::create(builder, loc, a, count);
    }
    Value count = arith::SelectOp::create(builder, loc, inside, b, zero);
    Value shifted = arith::ShRUIOp::create(builder, loc, a, count);
    return arith::SelectOp::create(builder, loc, inside, shifted, zero);
  }
  default:
    llvm_unreachable("not integer arithmetic");
  }
}

Value KernelBuilder::floatBinary(Binary op, Value a, Value b) {
  switch (op) {
  case Binary::Add:
    return arith::AddFOp::create(builder, loc, a, b);
  case Binary::Sub:
    return arith::SubFOp::create(builder, loc, a, b);
  case Binary::Mul:
    return arith::MulFOp::create(builder, loc, a, b);
  case Binary::Div:
    return arith::DivFOp::create(builder, loc, a, b);
  default:
    return {};
  }
}

Expr KernelBuilder::binary(Binary op, Expr a, Expr b) {
  if (!a.isValid() || !b.isValid())
    return {};
  if (op == Binary::And || op == Binary::Or)
    return logical(op, a, b);
  // Of literals alone: literals still, to choose from.
  if (op < Binary::Eq && ((a.choice && b.isLiteral()) || (b.choice && a.isLiteral()))) {
    auto [condition, yes, no] = a.choice ? *a.choice : *b.choice;
    return a.choice ? where({condition, binary(op, yes, b), binary(op, no, b)})
                    : where({condition, binary(op, a, yes), binary(op, a, no)});
  }
  if (op != Binary::Shl && op != Binary::Shr) {
    Expr both[] = {a, b};
    adaptAll(both);
    a = both[0];
    b = both[1];
  }
  if (op >= Binary::Eq)
    return compare(op, a, b);
  if (a.isLiteral() && b.isLiteral())
    if (std::optional<Expr> folded = foldLiterals(op, a, b))
      return *folded;
  if (Expr form = formArithmetic(op, a, b); form.isValid())
    return form;
  if (op == Binary::Add) {
    Expr sum = accumulate(a, b);
    if (!sum.isValid())
      sum = accumulate(b, a);
    if (sum.isValid())
      return sum;
  }
  std::string what = ("`" + symbolOf(op) + "`").str();
  // Any integer counts a shift.
  if ((op == Binary::Shl || op == Binary::Shr) && !a.isLiteral() && !b.isLiteral() &&
      isInteger(a.type) && isInteger(b.type) && a.type != b.type)
    b = shiftCount(b, a.type);
  std::optional<ElementType> type = commonType(what, {a, b});
  if (!type)
    return {};
  bool bitwise = op == Binary::BitAnd || op == Binary::BitOr || op == Binary::BitXor;
  if (*type == ElementType::Bool ? !bitwise
                                 : isFloat(*type) && (bitwise || op == Binary::Rem ||
                                                      op == Binary::Shl || op == Binary::Shr)) {
    error() << what << " does not apply to " << nameOf(*type);
    return {};
  }
  ElementType computed = arithmeticType(*type);
  Value operands[] = {operandOf(a, *type), operandOf(b, *type)};
  if (!operands[0] || !operands[1])
    return {};
  align(operands);
  Value result = isFloat(computed) ? floatBinary(op, operands[0], operands[1])
                                   : integerBinary(op, computed, operands[0], operands[1]);
  return make(result, *type);
}

/// `t + dot(…)` accumulates onto t; invalid where b is no fresh dot of a's type
/// and axes.
Expr KernelBuilder::accumulate(const Expr &a, const Expr &b) {
  auto product = b.value ? b.value.getDefiningOp<DotOp>() : DotOp();
  if (!product || !a.value || a.type != b.type)
    return {};
  SmallVector<DotOp> steps = {product};
  if (threefold.contains(product))
    while (steps.size() < 3)
      steps.push_back(steps.back().getAcc().getDefiningOp<DotOp>());
  Value begin = steps.back().getAcc();
  auto fresh = begin.getDefiningOp<BroadcastOp>();
  Value zero = fresh ? fresh.getInput() : begin;
  if (!matchPattern(zero, m_AnyZeroFloat()) && !matchPattern(zero, m_Zero()))
    return {};
  Type type = product.getType();
  if (llvm::any_of(axesOf(a.value.getType()),
                   [&](StringAttr axis) { return !llvm::is_contained(axesOf(type), axis); }))
    return {};
  Value onto = broadcastTo(a.value, type);
  for (DotOp step : llvm::reverse(steps))
    onto = DotOp::create(builder, loc, step.getLhs(), step.getRhs(), step.getAxisAttr(), onto);
  if (steps.size() == 3)
    threefold.insert(onto.getDefiningOp());
  return make(onto, b.type);
}

/// A shift count in the type of what is shifted: counts that don't fit there
/// become the type's greatest value, which shifts everything out as well.
Expr KernelBuilder::shiftCount(Expr count, ElementType type) {
  Value value = materialize(count);
  if (bitWidth(count.type) > bitWidth(type) || isUnsigned(count.type) != isUnsigned(type)) {
    Value limit = broadcastTo(constant(count.type, bitWidth(type), 0), value.getType());
    Value small = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, value, limit);
    value = arith::SelectOp::create(builder, loc, small, value, limit);
  }
  return make(convert(value, count.type, type), type);
}

//===-- Comparisons and logic ---------------------------------------------===//

Expr KernelBuilder::compare(Binary op, const Expr &a, const Expr &b) {
  std::optional<ElementType> type = commonType(("`" + symbolOf(op) + "`").str(), {a, b});
  if (!type)
    return {};
  Value operands[] = {operandOf(a, *type), operandOf(b, *type)};
  if (!operands[0] || !operands[1])
    return {};
  align(operands);
  Value result;
  if (isFloat(*type)) {
    using P = arith::CmpFPredicate;
    static constexpr P predicates[] = {P::OEQ, P::UNE, P::OLT, P::OLE, P::OGT, P::OGE};
    result = arith::CmpFOp::create(builder, loc,
                                   predicates[static_cast<int>(op) - static_cast<int>(Binary::Eq)],
                                   operands[0], operands[1]);
  } else {
    using P = arith::CmpIPredicate;
    static constexpr P isSigned[] = {P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge};
    static constexpr P isUnsignedP[] = {P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge};
    int n = static_cast<int>(op) - static_cast<int>(Binary::Eq);
    result = arith::CmpIOp::create(builder, loc, isUnsigned(*type) ? isUnsignedP[n] : isSigned[n],
                                   operands[0], operands[1]);
  }
  Expr truth = make(result, ElementType::Bool);
  if (*type == ElementType::I64 && isFormed(a) && isFormed(b) && op != Binary::Ne) {
    AffineExpr x = formOf(a), y = formOf(b);
    AffineExpr difference = op == Binary::Lt   ? y - x - 1
                            : op == Binary::Le ? y - x
                            : op == Binary::Gt ? x - y - 1
                                               : x - y;
    Relation relation{difference, op == Binary::Eq, Value(), Value()};
    if (!hasAxes(truth))
      relation = {AffineExpr(), false, Value(), result};
    truth.relations = std::make_shared<SmallVector<Relation>>(1, relation);
  }
  return truth;
}

Expr KernelBuilder::logical(Binary op, const Expr &a, const Expr &b) {
  for (const Expr *x : {&a, &b})
    if (x->isLiteral() || x->type != ElementType::Bool) {
      error() << "`" << symbolOf(op) << "` takes bools; this is "
              << (x->isLiteral() ? "a literal" : nameOf(x->type));
      return {};
    }
  Value operands[] = {a.value, b.value};
  align(operands);
  Value value = op == Binary::And
                    ? Value(arith::AndIOp::create(builder, loc, operands[0], operands[1]))
                    : Value(arith::OrIOp::create(builder, loc, operands[0], operands[1]));
  Expr result = make(value, ElementType::Bool);
  auto relationsOf = [&](const Expr &x) -> SmallVector<Relation> {
    if (x.relations)
      return *x.relations;
    if (!hasAxes(x))
      return {Relation{AffineExpr(), false, Value(), x.value}};
    return {};
  };
  SmallVector<Relation> left = relationsOf(a), right = relationsOf(b);
  if (left.empty() || right.empty() || !hasAxes(result))
    return result;
  if (op == Binary::And) {
    left.append(right);
    result.relations = std::make_shared<SmallVector<Relation>>(std::move(left));
    return result;
  }
  // scalar || comparison
  if (hasAxes(a) && hasAxes(b))
    return result;
  Value scalar = hasAxes(a) ? b.value : a.value;
  SmallVector<Relation> guarded = hasAxes(a) ? left : right;
  for (Relation &relation : guarded) {
    Value &guard = relation.expr ? relation.unless : relation.scalar;
    guard = guard ? Value(arith::OrIOp::create(builder, loc, guard, scalar)) : scalar;
  }
  result.relations = std::make_shared<SmallVector<Relation>>(std::move(guarded));
  return result;
}

Expr KernelBuilder::unary(Unary op, Expr x) {
  if (!x.isValid())
    return {};
  if (x.choice && op != Unary::Not) {
    auto [condition, yes, no] = *x.choice;
    return where({condition, unary(op, yes), unary(op, no)});
  }
  if (op == Unary::Neg) {
    if (x.kind == Expr::Kind::Int)
      return literal(-x.integer);
    if (x.kind == Expr::Kind::Float)
      return literal(-x.number);
    if (x.form)
      return makeForm(-x.form);
    if (isFloat(x.type))
      return make(arith::NegFOp::create(builder, loc, widen(x)), x.type);
    if (isInteger(x.type))
      return binary(Binary::Sub, literal(int64_t(0)), x);
  } else if (op == Unary::BitNot) {
    if (x.kind == Expr::Kind::Int)
      return literal(~x.integer);
    if (x.kind == Expr::Kind::Value && isInteger(x.type))
      return binary(Binary::BitXor, x, make(constant(x.type, -1, 0), x.type));
  } else if (x.kind == Expr::Kind::Value && x.type == ElementType::Bool) {
    Value one = broadcastTo(constant(ElementType::Bool, 1, 0), x.value.getType());
    return make(arith::XOrIOp::create(builder, loc, x.value, one), ElementType::Bool);
  }
  error() << "`"
          << (op == Unary::Neg   ? "-"
              : op == Unary::Not ? "!"
                                 : "~")
          << "` does not apply to " << (x.isLiteral() ? "a literal" : nameOf(x.type));
  return {};
}
