//===- BodyAlong.cpp - scans, reductions by a function, sorts, shapes -----===//

#include "dsl/BodyElaborator.h"

#include "dsl/Names.h"

using namespace mlir;
using namespace tile;
using namespace tile::dsl;

namespace {
/// How a function is called: its positional arguments and its options by name.
struct Usage {
  size_t positions;
  std::vector<std::string> options;
  std::string example;
};
} // namespace

static const std::map<std::string, Usage> &usages() {
  static const std::map<std::string, Usage> table = [] {
    std::map<std::string, Usage> result{
        {"scan", {3, {"init", "reverse"}, "let (y, c) = scan(f, t, k, init = h)"}},
        {"reduce", {3, {"init"}, "reduce(f, t, k, init = h)"}},
        {"sort", {2, {"descending"}, "sort(t, N)"}},
        {"argsort", {2, {"descending"}, "argsort(t, N)"}},
        {"topk", {3, {"descending"}, "let (v, at) = topk(t, K, N)"}},
        {"flip", {2, {}, "flip(t, N)"}},
        {"reshape", {3, {}, "reshape(t, N, (a, b))"}},
        {"concat", {3, {}, "concat((s, t), (M, N), r)"}},
        {"join", {2, {}, "join((s, t), r)"}},
        {"split", {2, {}, "let (s, t) = split(u, r)"}},
    };
    for (const char *cumulative : {"cumsum", "cumprod", "cummax", "cummin"})
      result[cumulative] = {2, {"init", "reverse"}, std::string(cumulative) + "(t, N)"};
    return result;
  }();
  return table;
}

bool tile::dsl::isAlongFunction(std::string_view name) {
  return usages().count(std::string(name)) != 0;
}

/// The arguments of a call: positions first, then options, null where not given.
std::optional<std::vector<const dsl::Expr *>>
BodyElaborator::alongArguments(const dsl::Expr &call, const std::string &function) {
  const Usage &usage = usages().at(function);
  std::vector<const dsl::Expr *> arguments(usage.positions + usage.options.size());
  size_t position = 0;
  for (const Arg &arg : call.args) {
    size_t slot = position;
    if (arg.name) {
      slot = usage.positions + (llvm::find(usage.options, arg.name->text) - usage.options.begin());
      if (slot == arguments.size() || arguments[slot]) {
        error(arg.name->range, slot == arguments.size()
                                   ? quoted(function) + " has no argument " + quoted(arg.name->text)
                                   : quoted(arg.name->text) + " is given twice");
        return std::nullopt;
      }
    } else if (position++ >= usage.positions) {
      break;
    }
    arguments[slot] = arg.value.get();
  }
  if (position == usage.positions)
    return arguments;
  error(call.range, quoted(function) + " takes " + std::to_string(usage.positions) +
                        " arguments, as in `" + usage.example + "`");
  return std::nullopt;
}

/// `reverse = true`: a literal, so that the order is known.
std::optional<bool> BodyElaborator::flag(const dsl::Expr *option, const std::string &name,
                                         bool otherwise) {
  if (!option)
    return otherwise;
  if (option->kind == dsl::Expr::Kind::Bool)
    return option->text == "true";
  error(option->range, quoted(name) + " is `true` or `false`");
  return std::nullopt;
}

std::optional<std::string> BodyElaborator::axisGiven(const dsl::Expr &argument,
                                                     const std::string &function) {
  std::optional<std::string> axis = axisNamed(argument);
  if (!axis)
    error(argument.range, argument.kind == dsl::Expr::Kind::Name
                              ? quoted(argument.text) + " is no axis here"
                              : quoted(function) + " runs along a span or a dimension");
  return axis;
}

/// The axis for a result: a named one, or that of a dimension.
std::optional<std::string> BodyElaborator::axisFor(const dsl::Expr &argument,
                                                   const std::string &function) {
  if (std::optional<std::string> axis = axisNamed(argument))
    return axis;
  // A dimension whose `:` has not occurred yet names its axis here.
  if (argument.kind == dsl::Expr::Kind::Name && scopeBase == 0 && !lookup(argument.text) &&
      (builder.isDim(argument.text) || signature.derived(argument.text))) {
    at(argument.range);
    return builder.axisNameOf(builder.dimAxis(argument.text));
  }
  error(argument.range, quoted(function) + " puts its result on an axis; this is none")
      .hints.push_back("name one: `let r = range(8)`, or a dimension");
  return std::nullopt;
}

//===-- Functions as arguments --------------------------------------------===//

/// The values of a function or map for these arguments.
std::vector<ir::Expr> BodyElaborator::apply(DeclRef decl, ArrayRef<ir::Expr> arguments,
                                            const dsl::Expr &call) {
  std::vector<ir::Expr> failure(1);
  const std::vector<Param> &params = decl.decl->params;
  const std::string &function = decl.decl->name.text;
  if (params.size() != arguments.size()) {
    error(call.range, quoted(function) + " takes " + counted(params.size(), "value") +
                          "; here it combines two states, of " + std::to_string(arguments.size()) +
                          " values together");
    return failure;
  }
  std::vector<std::optional<ir::ElementType>> given;
  for (const ir::Expr &argument : arguments)
    given.push_back(argument.type);
  std::optional<TypeBindings> inner = bindGenerics(diags, file->source, call.range, decl, given);
  Scope scope;
  if (!inner || !mayExpand(decl, call) || !bindConstants(decl, call, MatchedArguments(), scope))
    return failure;
  for (auto [param, argument] : llvm::zip(params, arguments)) {
    std::optional<ir::ElementType> type = argument.type;
    if (!param.isAxis && !param.type.element.text.empty())
      type = elementTypeOf(diags, decl.file->source, param.type, *inner);
    if (!type)
      return failure;
    if (param.isAxis || param.type.isTensor || *type != argument.type) {
      error(call.range, quoted(function) + " takes " +
                            (param.isAxis ? "an axis" : ir::nameOf(*type).str()) + " for " +
                            quoted(param.name.text) + "; here it combines " +
                            ir::nameOf(argument.type).str());
      return failure;
    }
    scope[param.name.text] = Binding(argument);
    scope[param.name.text].range = param.name.range;
  }
  if (decl.decl->kind == Decl::Kind::Map)
    return {mapValue(decl, std::move(scope), std::move(*inner), call.range)};
  return fnValues(decl, std::move(scope), std::move(*inner));
}

BodyElaborator::Combination BodyElaborator::combinationOf(const dsl::Expr &function,
                                                          const dsl::Expr &call) {
  const std::string &name = function.text;
  if (function.kind == dsl::Expr::Kind::Name && !lookup(name)) {
    if (DeclRef decl = program.lookup(*file, name, function.range, diags))
      if (decl.decl->kind == Decl::Kind::Fn || decl.decl->kind == Decl::Kind::Map)
        return [this, decl, &call](ArrayRef<ir::Expr> states) {
          std::vector<ir::Expr> values = apply(decl, states, call);
          at(call.range);
          return SmallVector<ir::Expr>(values.begin(), values.end());
        };
    if (ir::KernelBuilder::isFunction(name))
      return [this, name](ArrayRef<ir::Expr> states) {
        return SmallVector<ir::Expr>{builder.call(name, states)};
      };
    bool isOther =
        typeNamed(name) || isAlongFunction(name) || llvm::is_contained(visibleNames(), name);
    if (!isOther) {
      unknownName(function);
      return nullptr;
    }
  }
  error(function.range, "what combines two states is the name of a `fn`, of a `map`, or of a "
                        "function of the language such as `max`");
  return nullptr;
}

//===-- Calls -------------------------------------------------------------===//

std::vector<ir::Expr> BodyElaborator::scanCall(const dsl::Expr &call, const std::string &function,
                                               ArrayRef<const dsl::Expr *> arguments) {
  std::vector<ir::Expr> failure(1);
  bool isReduction = function == "reduce";
  Combination combination = combinationOf(*arguments[0], call);
  std::vector<ir::Expr> elements = evaluateTuple(*arguments[1]);
  std::optional<std::string> axis = axisGiven(*arguments[2], function);
  if (!arguments[3]) {
    error(call.range, quoted(function) + " needs what it begins with")
        .hints.push_back("give it by name: `init = 0`, or one value for each part of the state");
    return failure;
  }
  std::vector<ir::Expr> inits = evaluateTuple(*arguments[3]);
  std::optional<bool> reverse =
      isReduction ? std::optional(false) : flag(arguments[4], "reverse", false);
  auto isBad = [](const ir::Expr &x) { return !x.isValid(); };
  if (!combination || !axis || !reverse || llvm::any_of(elements, isBad) ||
      llvm::any_of(inits, isBad))
    return failure;
  at(call.range);
  auto scanned = builder.scan(function, elements, inits, *axis, *reverse, combination);
  if (!scanned)
    return failure;
  std::vector<ir::Expr> values;
  if (!isReduction)
    llvm::append_range(values, scanned->tiles);
  llvm::append_range(values, scanned->last);
  return values;
}

std::vector<ir::Expr> BodyElaborator::cumulativeCall(const dsl::Expr &call,
                                                     const std::string &function,
                                                     ArrayRef<const dsl::Expr *> arguments) {
  std::vector<ir::Expr> failure(1);
  ir::Expr value = evaluate(*arguments[0]);
  std::optional<std::string> axis = axisGiven(*arguments[1], function);
  std::optional<ir::Expr> init;
  if (arguments[2])
    init = evaluate(*arguments[2]);
  std::optional<bool> reverse = flag(arguments[3], "reverse", false);
  if (!axis || !reverse)
    return failure;
  at(call.range);
  auto scanned = builder.cumulate(function, value, init, *axis, *reverse);
  if (!scanned)
    return failure;
  if (init)
    return {scanned->tiles[0], scanned->last[0]};
  return {scanned->tiles[0]};
}

std::vector<ir::Expr> BodyElaborator::sortCall(const dsl::Expr &call, const std::string &function,
                                               ArrayRef<const dsl::Expr *> arguments) {
  std::vector<ir::Expr> failure(1);
  bool isTop = function == "topk";
  ir::Expr value = evaluate(*arguments[0]);
  std::optional<std::string> rank, axis = axisGiven(*arguments[isTop ? 2 : 1], function);
  if (isTop)
    rank = axisFor(*arguments[1], function);
  std::optional<bool> descending = flag(arguments.back(), "descending", isTop);
  if (!axis || !descending || (isTop && !rank))
    return failure;
  at(call.range);
  auto sorted = builder.sort(function, value, *axis, rank.value_or(""), *descending);
  if (!sorted)
    return failure;
  if (isTop)
    return {sorted->values, sorted->coordinates};
  return {function == "sort" ? sorted->values : sorted->coordinates};
}

/// The axes of a tuple, or a single one; none after an error.
std::optional<std::vector<std::string>>
BodyElaborator::axesGiven(const dsl::Expr &argument, const std::string &function, bool mayBeNew) {
  std::vector<std::string> axes;
  std::vector<const dsl::Expr *> given;
  if (argument.kind == dsl::Expr::Kind::Tuple)
    for (const ExprPtr &child : argument.children)
      given.push_back(child.get());
  else
    given.push_back(&argument);
  for (const dsl::Expr *part : given) {
    auto axis = mayBeNew ? axisFor(*part, function) : axisGiven(*part, function);
    if (!axis)
      return std::nullopt;
    axes.push_back(*axis);
  }
  return axes;
}

std::vector<ir::Expr> BodyElaborator::shapeCall(const dsl::Expr &call, const std::string &function,
                                                ArrayRef<const dsl::Expr *> arguments) {
  std::vector<ir::Expr> failure(1);
  // First the tiles: their `:` makes the axes that the others may name.
  std::vector<ir::Expr> values = evaluateTuple(*arguments[0]);
  if (llvm::any_of(values, [](const ir::Expr &x) { return !x.isValid(); }))
    return failure;
  bool takesSeveral = function == "concat" || function == "join";
  if (!takesSeveral && values.size() != 1) {
    error(arguments[0]->range, quoted(function) + " takes one value");
    return failure;
  }
  auto first = axesGiven(*arguments[1], function, /*mayBeNew=*/function == "join");
  auto second = arguments.size() > 2 && first ? axesGiven(*arguments[2], function, true) : first;
  if (!first || !second)
    return failure;
  at(call.range);
  if (function == "reshape")
    return {builder.reshape(values[0], *first, *second)};
  if (first->size() != 1 && function != "concat") {
    error(arguments[1]->range, quoted(function) + " takes one axis");
    return failure;
  }
  if (function == "flip")
    return {builder.flip(values[0], first->front())};
  if (function == "join")
    return {builder.join(values, first->front())};
  if (function == "concat")
    return {builder.concat(values, *first, second->front())};
  SmallVector<ir::Expr> parts = builder.split(values[0], first->front());
  return {parts.begin(), parts.end()};
}

std::vector<ir::Expr> BodyElaborator::alongCall(const dsl::Expr &call,
                                                const std::string &function) {
  std::optional<std::vector<const dsl::Expr *>> arguments = alongArguments(call, function);
  if (!arguments)
    return std::vector<ir::Expr>(1);
  if (function == "scan" || function == "reduce")
    return scanCall(call, function, *arguments);
  if (ir::KernelBuilder::isCumulative(function))
    return cumulativeCall(call, function, *arguments);
  if (function == "sort" || function == "argsort" || function == "topk")
    return sortCall(call, function, *arguments);
  return shapeCall(call, function, *arguments);
}
