//===- BodyExpressions.cpp - literals, names, operators, indexing ---------===//

#include "dsl/BodyElaborator.h"

#include "dsl/Locations.h"
#include "dsl/Names.h"

#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::dsl;

std::vector<ir::ElementType> tile::dsl::genericAlternatives(dsl::DiagnosticEngine &diags,
                                                            const SourceFile &file,
                                                            const Generic &generic) {
  std::vector<ir::ElementType> result;
  auto add = [&](auto belongs) {
    for (ir::ElementType type : ir::allElementTypes())
      if (belongs(type) && !llvm::is_contained(result, type))
        result.push_back(type);
  };
  auto isFloat = [](ir::ElementType type) { return ir::isFloat(type) && ir::bitWidth(type) > 8; };
  auto isInt = [](ir::ElementType type) { return ir::isInteger(type); };
  for (const Ident &alternative : generic.alternatives) {
    const std::string &name = alternative.text;
    if (name == "float")
      add(isFloat);
    else if (name == "int")
      add(isInt);
    else if (name == "num")
      add([&](ir::ElementType type) { return isFloat(type) || isInt(type); });
    else if (std::optional<ir::ElementType> type = ir::elementTypeNamed(name))
      add([&](ir::ElementType other) { return other == *type; });
    else
      diags.error(&file, alternative.range, quoted(name) + " is no type or class of types")
          .hints.push_back("the classes are float, int and num");
  }
  return result;
}

std::optional<ir::ElementType> BodyElaborator::typeNamed(const std::string &name) const {
  if (auto bound = types.find(name); bound != types.end())
    return bound->second;
  return ir::elementTypeNamed(name);
}

//===-- Names and operators -----------------------------------------------===//

ir::Expr BodyElaborator::unknownName(const dsl::Expr &expr) {
  auto &report = error(expr.range, "nothing here is called " + quoted(expr.text));
  if (std::optional<std::string> near = nearestName(expr.text, visibleNames()))
    report.hints.push_back("did you mean `" + *near + "`?");
  return {};
}

ir::Expr BodyElaborator::name(const dsl::Expr &expr) {
  const std::string &text = expr.text;
  if (const Binding *binding = lookup(text)) {
    switch (binding->kind) {
    case Binding::Kind::Value:
      return binding->value;
    case Binding::Kind::Variable:
      return builder.read(binding->variable);
    case Binding::Kind::Axis:
      error(expr.range, quoted(text) + " is an axis: it stands where an operation names one");
      return {};
    case Binding::Kind::Tensor:
      break;
    }
  }
  if (text == "inf")
    return ir::KernelBuilder::literal(std::numeric_limits<double>::infinity());
  if (text == "nan")
    return ir::KernelBuilder::literal(std::numeric_limits<double>::quiet_NaN());
  if (tensorNamed(expr)) {
    error(expr.range, quoted(text) + " is a whole tensor; a kernel loads tiles of it")
        .hints.push_back("index it, as in `" + text + "[i, :]`");
    return {};
  }
  if (scopeBase == 0) {
    if (ir::Expr scalar = builder.scalarParam(text); scalar.isValid())
      return scalar;
    if (builder.isDim(text))
      return builder.dim(text);
    if (const AffineExpr *derived = signature.derived(text))
      return builder.shapeExpr(*derived);
  }
  return unknownName(expr);
}

ir::Expr BodyElaborator::evaluate(const dsl::Expr &expr) {
  if (auto found = overrides.find(&expr); found != overrides.end())
    return found->second;
  at(expr.range);
  switch (expr.kind) {
  case dsl::Expr::Kind::Int:
    if (std::optional<ir::WideInteger> value = ir::parseInteger(expr.text))
      return ir::KernelBuilder::literal(*value);
    error(expr.range, "this integer does not fit in 64 bits");
    return {};
  case dsl::Expr::Kind::Float: {
    double value = ir::parseReal(expr.text);
    if (std::isfinite(value))
      return ir::KernelBuilder::literal(value);
    error(expr.range, "the literal " + expr.text + " does not fit in f64")
        .hints.push_back("infinity is written `inf`");
    return {};
  }
  case dsl::Expr::Kind::Bool:
    return builder.boolean(expr.text == "true");
  case dsl::Expr::Kind::Name:
    return name(expr);
  case dsl::Expr::Kind::Unary: {
    ir::Expr operand = evaluate(*expr.children[0]);
    at(expr.range);
    using Unary = ir::KernelBuilder::Unary;
    return builder.unary(expr.unary == UnaryOp::Neg   ? Unary::Neg
                         : expr.unary == UnaryOp::Not ? Unary::Not
                                                      : Unary::BitNot,
                         operand);
  }
  case dsl::Expr::Kind::Binary: {
    ir::Expr left = evaluate(*expr.children[0]), right = evaluate(*expr.children[1]);
    at(expr.range);
    // Both enumerations list the operators in the same order.
    static_assert(static_cast<int>(BinaryOp::Or) ==
                  static_cast<int>(ir::KernelBuilder::Binary::Or));
    return builder.binary(static_cast<ir::KernelBuilder::Binary>(expr.binary), left, right);
  }
  case dsl::Expr::Kind::Call:
    return call(expr);
  case dsl::Expr::Kind::Index:
    return index(expr);
  case dsl::Expr::Kind::Colon:
    error(expr.range, "`:` stands between brackets, as an index");
    return {};
  case dsl::Expr::Kind::String:
    error(expr.range, "a string is no value");
    return {};
  case dsl::Expr::Kind::Member:
    error(expr.range, "." + expr.text + " stands before an index, as in `x.pad(0)[i]`");
    return {};
  case dsl::Expr::Kind::List:
    error(expr.range, "a list stands in a `schedule` only");
    return {};
  case dsl::Expr::Kind::Tuple:
    error(expr.range, "a tuple stands after `return` and `let (a, b) =` only");
    return {};
  }
  llvm_unreachable("covered switch");
}

std::vector<ir::Expr> BodyElaborator::evaluateTuple(const dsl::Expr &expr) {
  if (expr.kind == dsl::Expr::Kind::Tuple) {
    std::vector<ir::Expr> values;
    for (const ExprPtr &child : expr.children)
      values.push_back(evaluate(*child));
    return values;
  }
  if (expr.kind == dsl::Expr::Kind::Call && expr.children[0]->kind == dsl::Expr::Kind::Name &&
      !lookup(expr.children[0]->text)) {
    const std::string &function = expr.children[0]->text;
    if (DeclRef decl = program.lookup(*file, function, expr.children[0]->range, diags);
        decl && decl.decl->kind == Decl::Kind::Fn)
      return expandFn(decl, expr);
    else if (!decl && isAlongFunction(function) && !tensorNamed(*expr.children[0]))
      return alongCall(expr, function);
  }
  return {evaluate(expr)};
}

//===-- Loads -------------------------------------------------------------===//

const ir::TensorRef *BodyElaborator::tensorNamed(const dsl::Expr &expr) {
  if (expr.kind != dsl::Expr::Kind::Name)
    return nullptr;
  if (const Binding *binding = lookup(expr.text))
    return binding->kind == Binding::Kind::Tensor ? binding->tensor : nullptr;
  return scopeBase == 0 ? builder.tensor(expr.text) : nullptr;
}

std::optional<BodyElaborator::Place> BodyElaborator::place(const dsl::Expr &base,
                                                           const dsl::Expr &indexed) {
  Place result;
  result.tensor = tensorNamed(base);
  if (!result.tensor) {
    if (base.kind == dsl::Expr::Kind::Name && !lookup(base.text) &&
        !builder.scalarParam(base.text).isValid() && !builder.isDim(base.text))
      unknownName(base);
    else
      error(base.range, "only tensors are indexed; this is a value")
          .hints.push_back("operations align axes by themselves: no index is needed");
    return std::nullopt;
  }
  bool failed = false;
  for (size_t n = 1; n < indexed.children.size(); ++n) {
    const dsl::Expr &part = *indexed.children[n];
    ir::Index index{part.kind == dsl::Expr::Kind::Colon,
                    {},
                    toLocation(builder.context(), file->source, part.range)};
    if (!index.isColon) {
      index.expr = evaluate(part);
      failed |= !index.expr.isValid();
    }
    result.indices.push_back(std::move(index));
  }
  if (failed)
    return std::nullopt;
  return result;
}

ir::Expr BodyElaborator::index(const dsl::Expr &expr) {
  const dsl::Expr *base = expr.children[0].get();
  ir::KernelBuilder::Access access = ir::KernelBuilder::Access::Exact;
  ir::Expr pad;
  const dsl::Expr *call = base->kind == dsl::Expr::Kind::Call ? base : nullptr;
  const dsl::Expr *member = call ? call->children[0].get() : base;
  if (member->kind == dsl::Expr::Kind::Member) {
    if (member->text == "pad" && call && call->args.size() == 1) {
      access = ir::KernelBuilder::Access::Pad;
      pad = evaluate(*call->args[0].value);
    } else if (member->text == "clamp" && !call) {
      access = ir::KernelBuilder::Access::Clamp;
    } else if (member->text == "within" && !call) {
      access = ir::KernelBuilder::Access::Within;
    } else {
      error(member->range, "a tensor is read through `.pad(value)`, `.clamp` or `.within`");
      return {};
    }
    base = member->children[0].get();
  }
  std::optional<Place> from = place(*base, expr);
  if (!from || (access == ir::KernelBuilder::Access::Pad && !pad.isValid()))
    return {};
  at(expr.range);
  return builder.load(*from->tensor, from->indices, access, pad);
}
