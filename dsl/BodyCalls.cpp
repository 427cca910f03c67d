//===- BodyCalls.cpp - calls in a body: operators, maps and functions -----===//

#include "dsl/BodyElaborator.h"

#include "dsl/Locations.h"
#include "dsl/Names.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::dsl;

/// The axis that a bare name stands for in an operation.
std::optional<std::string> BodyElaborator::axisNamed(const dsl::Expr &expr) {
  if (expr.kind != dsl::Expr::Kind::Name)
    return std::nullopt;
  if (const Binding *binding = lookup(expr.text)) {
    if (binding->kind == Binding::Kind::Axis)
      return binding->axis;
    if (binding->kind != Binding::Kind::Value)
      return std::nullopt;
    std::string axis = builder.axisNameOf(binding->value);
    if (axis.empty() && builder.isAxis(binding->axis))
      axis = binding->axis;
    return axis.empty() ? std::nullopt : std::optional(axis);
  }
  std::string canonical = builder.canonicalDim(expr.text);
  if (scopeBase == 0 && builder.isAxis(canonical))
    return canonical;
  return std::nullopt;
}

ir::Expr BodyElaborator::reductionCall(const dsl::Expr &expr, const std::string &function,
                                       const ir::Expr &value) {
  std::vector<std::string> axes;
  for (size_t n = 1; n < expr.args.size(); ++n) {
    std::optional<std::string> axis = axisNamed(*expr.args[n].value);
    if (!axis) {
      const dsl::Expr &argument = *expr.args[n].value;
      error(argument.range, argument.kind == dsl::Expr::Kind::Name
                                ? quoted(argument.text) + " is no axis here"
                                : "an axis is named by its span or dimension");
      return {};
    }
    axes.push_back(*axis);
  }
  at(expr.range);
  if (axes.empty()) {
    if (value.isValid())
      error(expr.range, quoted(function) + " needs the axis to reduce")
          .hints.push_back("name a span or a dimension, as in `" + function + "(t, N)`");
    return {};
  }
  return builder.reduce(function, value, axes);
}

/// A span, a named axis or a dimension, which stands for its `:` even where that has not occurred.
std::optional<ir::Expr> BodyElaborator::axisExpression(const dsl::Expr &argument) {
  if (std::optional<std::string> axis = axisNamed(argument))
    return builder.axisExpr(*axis);
  if (argument.kind == dsl::Expr::Kind::Name && scopeBase == 0 && !lookup(argument.text) &&
      (builder.isDim(argument.text) || signature.derived(argument.text))) {
    at(argument.range);
    return builder.dimAxis(argument.text);
  }
  return std::nullopt;
}

/// zeros(f32, i, j) and full(f32, value, i, j).
ir::Expr BodyElaborator::newTile(const dsl::Expr &expr, const std::string &function) {
  size_t lead = function == "full" ? 2 : 1;
  std::optional<ir::ElementType> type;
  if (!expr.args.empty() && expr.args[0].value->kind == dsl::Expr::Kind::Name)
    type = typeNamed(expr.args[0].value->text);
  if (expr.args.size() < lead || !type) {
    error(expr.range, quoted(function) + " takes a type" + (lead == 2 ? ", a value" : "") +
                          " and spans, as in `" +
                          (lead == 2 ? "full(f32, -inf, i)`" : "zeros(f32, i, j)`"));
    return {};
  }
  ir::Expr value =
      lead == 2 ? evaluate(*expr.args[1].value) : ir::KernelBuilder::literal(int64_t(0));
  SmallVector<ir::Expr> spans;
  for (size_t n = lead; n < expr.args.size(); ++n) {
    const dsl::Expr &argument = *expr.args[n].value;
    if (std::optional<ir::Expr> axis = axisExpression(argument)) {
      spans.push_back(*axis);
      continue;
    }
    error(argument.range, "the axes of a new tile are spans, dimensions and named axes");
    return {};
  }
  at(expr.range);
  return builder.full(*type, value, spans);
}

/// bitcast(u32, x).
ir::Expr BodyElaborator::bitcastCall(const dsl::Expr &expr) {
  std::optional<ir::ElementType> type;
  if (expr.args.size() == 2 && expr.args[0].value->kind == dsl::Expr::Kind::Name)
    type = typeNamed(expr.args[0].value->text);
  if (!type) {
    error(expr.range, "`bitcast` takes a type and a value, as in `bitcast(u32, x)`");
    return {};
  }
  ir::Expr value = evaluate(*expr.args[1].value);
  at(expr.range);
  return builder.bitcastTo(*type, value);
}

/// rand(seed, stream, i, j); in a map without coordinates.
ir::Expr BodyElaborator::randomCall(const dsl::Expr &expr, const std::string &function) {
  if (expr.args.size() < 2) {
    error(expr.range, quoted(function) + " takes a seed, a stream and coordinates, as in `" +
                          function + "(seed, 0, i, j)`");
    return {};
  }
  if (expr.args.size() == 2 && !coordinates) {
    error(expr.range, quoted(function) + " draws by coordinates, and none are named")
        .hints.push_back(
            "in a kernel name them: `" + function +
            "(seed, 0, i, j)`; a map that a graph calls has those of the call's result");
    return {};
  }
  ir::Expr seed = evaluate(*expr.args[0].value), stream = evaluate(*expr.args[1].value);
  SmallVector<ir::Expr> named;
  if (expr.args.size() == 2)
    named.assign(coordinates->begin(), coordinates->end());
  for (const Arg &arg : llvm::ArrayRef(expr.args).drop_front(2)) {
    std::optional<ir::Expr> axis = axisExpression(*arg.value);
    named.push_back(axis ? *axis : evaluate(*arg.value));
  }
  at(expr.range);
  return builder.random(function, seed, stream, named);
}

/// dot(a, b, k, precision = tf32).
ir::Expr BodyElaborator::dotCall(const dsl::Expr &expr) {
  using Precision = ir::KernelBuilder::DotPrecision;
  Precision precision = Precision::Ieee;
  std::vector<const dsl::Expr *> args;
  const dsl::Expr *named = nullptr;
  for (const Arg &arg : expr.args) {
    if (!arg.name) {
      args.push_back(arg.value.get());
      continue;
    }
    const std::string &word = arg.value->kind == dsl::Expr::Kind::Name ? arg.value->text : "";
    if (arg.name->text != "precision" || named ||
        (word != "ieee" && word != "tf32" && word != "tf32x3")) {
      error(arg.name->text == "precision" && !named ? arg.value->range : arg.name->range,
            "`dot` takes one option, `precision = ieee`, `tf32` or `tf32x3`");
      return {};
    }
    named = arg.value.get();
    precision = word == "tf32"     ? Precision::Tf32
                : word == "tf32x3" ? Precision::Tf32x3
                                   : Precision::Ieee;
  }
  if (args.size() != 3) {
    error(expr.range, "`dot` takes two tiles and the axis to contract, as in `dot(a, b, k)`");
    return {};
  }
  // First the tiles: their `:` makes the axis that the last argument may name.
  ir::Expr a = evaluate(*args[0]), b = evaluate(*args[1]);
  if (!a.isValid() || !b.isValid())
    return {};
  std::optional<std::string> axis = axisNamed(*args[2]);
  if (!axis) {
    error(args[2]->range,
          "`dot` contracts an axis of its tiles, a span or a dimension; this is none of theirs");
    return {};
  }
  at(expr.range);
  return builder.dot(a, b, *axis, precision);
}

ir::Expr BodyElaborator::builtinCall(const dsl::Expr &expr, const std::string &function) {
  if (function == "dot")
    return dotCall(expr);
  for (const Arg &arg : expr.args)
    if (arg.name) {
      error(arg.name->range, quoted(function) + " has no named arguments");
      return {};
    }
  if (function == "assert" || function == "print") {
    error(expr.range, quoted(function) + " is a statement of its own: it gives no value");
    return {};
  }
  if (function == "zeros" || function == "full")
    return newTile(expr, function);
  if (function == "whole" || function == "range") {
    error(expr.range, quoted(function) + " binds an axis: it stands directly after `let n =`");
    return {};
  }
  if (function == "bitcast")
    return bitcastCall(expr);
  if (ir::KernelBuilder::isRandom(function))
    return randomCall(expr, function);
  SmallVector<ir::Expr> args;
  if (ir::KernelBuilder::isReduction(function) && !expr.args.empty()) {
    // First the value: its `:` makes the axis that the last argument may name.
    args.push_back(evaluate(*expr.args[0].value));
    std::optional<std::string> axis =
        expr.args.size() >= 2 ? axisNamed(*expr.args.back().value) : std::nullopt;
    if ((axis && builder.reducesOver(args[0], *axis)) || !ir::KernelBuilder::isFunction(function))
      return reductionCall(expr, function, args[0]);
  }
  for (const Arg &arg : llvm::ArrayRef(expr.args).drop_front(args.size()))
    args.push_back(evaluate(*arg.value));
  at(expr.range);
  return builder.call(function, args);
}

/// f8e4m3(x, sat, toward_zero).
ir::Expr BodyElaborator::castCall(const dsl::Expr &expr, ir::ElementType type) {
  ir::KernelBuilder::CastModifiers modifiers;
  if (expr.args.empty() || expr.args[0].name) {
    error(expr.range, "a cast takes one value");
    return {};
  }
  for (const Arg &arg : llvm::ArrayRef(expr.args).drop_front()) {
    bool isWord = !arg.name && arg.value->kind == dsl::Expr::Kind::Name;
    bool *modifier = isWord && arg.value->text == "sat"           ? &modifiers.saturates
                     : isWord && arg.value->text == "toward_zero" ? &modifiers.towardZero
                                                                  : nullptr;
    if (!modifier || *modifier) {
      error(arg.value->range,
            modifier ? quoted(arg.value->text) + " is said twice" : "a cast takes one value")
          .hints.push_back("what may follow it are the words `sat` and `toward_zero`");
      return {};
    }
    *modifier = true;
  }
  ir::Expr value = evaluate(*expr.args[0].value);
  at(expr.range);
  return builder.castTo(type, value, modifiers);
}

ir::Expr BodyElaborator::call(const dsl::Expr &expr) {
  const dsl::Expr &callee = *expr.children[0];
  if (callee.kind != dsl::Expr::Kind::Name) {
    error(callee.range, "only a name is called");
    return {};
  }
  const std::string &function = callee.text;
  if (const Binding *binding = lookup(function); binding || tensorNamed(callee)) {
    notCallable(callee, binding);
    return {};
  }
  if (std::optional<ir::ElementType> type = typeNamed(function))
    return castCall(expr, *type);
  if (DeclRef decl = program.lookup(*file, function, callee.range, diags)) {
    switch (decl.decl->kind) {
    case Decl::Kind::Map:
      return expandMap(decl, expr);
    case Decl::Kind::Fn:
      return only(expandFn(decl, expr), expr);
    default:
      error(callee.range, quoted(function) + " is a kernel or graph; only a graph calls those");
      return {};
    }
  }
  if (isAlongFunction(function))
    return only(alongCall(expr, function), expr);
  if (ir::KernelBuilder::isAtomic(function))
    return atomicCall(expr, function);
  if (isFunctionName(function))
    return builtinCall(expr, function);
  return unknownName(callee);
}

/// The value of a call that stands for one value.
ir::Expr BodyElaborator::only(const std::vector<ir::Expr> &values, const dsl::Expr &call) {
  if (values.size() == 1)
    return values[0];
  error(call.range,
        quoted(call.children[0]->text) + " gives " + std::to_string(values.size()) + " values")
      .hints.push_back("bind them with `let (a, b) = …`");
  return {};
}

/// Reports a call of a name that means a value or tensor here.
void BodyElaborator::notCallable(const dsl::Expr &callee, const Binding *binding) {
  const std::string &name = callee.text;
  bool isFunction = isFunctionName(name);
  if (!isFunction && !program.lookup(*file, name, callee.range, diags)) {
    error(callee.range, quoted(name) + " is no function")
        .hints.push_back("a tensor is indexed with brackets");
    return;
  }
  auto &report = error(callee.range, quoted(name) + " is a value here, which hides the function" +
                                         (isFunction ? " of the language" : " declared outside"));
  report.hints.push_back("give the value another name");
  dsl::Range bound = binding ? binding->range : dsl::Range();
  for (const ir::ParamSpec &param : signature.spec.params)
    if (!binding && param.name == name)
      bound = toRange(param.loc, file->source);
  if (bound.end == 0)
    return;
  dsl::Diagnostic &note = report.notes.emplace_back();
  note.severity = dsl::Diagnostic::Severity::Note;
  note.file = &file->source;
  note.range = bound;
  note.message = "it is bound here";
}

static std::vector<std::optional<ir::ElementType>> typesOf(ArrayRef<ir::Expr> args) {
  std::vector<std::optional<ir::ElementType>> result;
  for (const ir::Expr &arg : args)
    result.push_back(arg.isLiteral() ? std::nullopt : std::optional(arg.type));
  return result;
}

/// True if the declaration may be expanded here: none stands inside itself.
bool BodyElaborator::mayExpand(DeclRef decl, const dsl::Expr &call) {
  static constexpr size_t deepest = 64;
  if (llvm::is_contained(expanding, decl.decl)) {
    error(call.range, quoted(decl.decl->name.text) + " calls itself");
    return false;
  }
  if (expanding.size() >= deepest) {
    error(call.range,
          "maps and functions call each other more than " + std::to_string(deepest) + " deep");
    return false;
  }
  // Calls that double at each level would never end.
  static constexpr unsigned maxCalls = 1 << 14;
  if (++calls == maxCalls)
    error(call.range, "the calls of maps and functions in this body expand to more than " +
                          std::to_string(maxCalls));
  return calls < maxCalls;
}

/// Evaluates inside another declaration: its file, types and names alone.
std::vector<ir::Expr> BodyElaborator::inside(DeclRef decl, Scope scope, TypeBindings bindings,
                                             function_ref<std::vector<ir::Expr>()> body) {
  std::swap(types, bindings);
  scopes.push_back(std::move(scope));
  size_t depth = scopes.size() - 1;
  size_t outerBase = std::exchange(scopeBase, depth);
  LoadedFile *outerFile = std::exchange(file, decl.file);
  auto outerReturn = std::exchange(returned, std::nullopt);
  expanding.push_back(decl.decl);
  size_t first = diags.diagnostics().size();
  std::vector<ir::Expr> values = body();
  noteInstance(diags, first, decl, types);
  std::swap(types, bindings);
  scopes.resize(depth);
  scopeBase = outerBase;
  file = outerFile;
  returned = std::move(outerReturn);
  expanding.pop_back();
  return values;
}

/// Binds the constants of a map or function: what the call gives, or defaults.
bool BodyElaborator::bindConstants(DeclRef decl, const dsl::Expr &call,
                                   const MatchedArguments &matched, Scope &scope) {
  for (const Generic &generic : decl.decl->generics) {
    if (!generic.isConst)
      continue;
    auto given = matched.constants.find(generic.name.text);
    const dsl::Expr *value =
        given != matched.constants.end() ? given->second : generic.defaultValue.get();
    if (!value) {
      error(call.range,
            quoted(decl.decl->name.text) + " needs its constant " + quoted(generic.name.text))
          .hints.push_back("give it by name: `" + decl.decl->name.text + "(…, " +
                           generic.name.text + " = 64)`");
      return false;
    }
    ir::Expr constant = evaluate(*value);
    at(value->range);
    if (constant.kind == ir::Expr::Kind::Int)
      constant = builder.castTo(ir::ElementType::I64, constant);
    if (!constant.isValid())
      return false;
    if (constant.type != ir::ElementType::I64 || builder.hasAxes(constant)) {
      error(value->range, quoted(generic.name.text) + " is an integer constant; this is none");
      return false;
    }
    scope[generic.name.text] = Binding(constant);
  }
  return true;
}

static bool hasAxis(const ir::Expr &x, const std::string &name) {
  return x.value && llvm::any_of(ir::axesOf(x.value.getType()),
                                 [&](StringAttr axis) { return axis.getValue() == name; });
}

ir::Expr BodyElaborator::expandMap(DeclRef map, const dsl::Expr &call) {
  std::optional<MatchedArguments> matched = matchArguments(diags, file->source, call, *map.decl);
  if (!matched || !mayExpand(map, call))
    return {};
  std::vector<ir::Expr> args;
  for (const dsl::Expr *argument : matched->values)
    args.push_back(evaluate(*argument));
  if (llvm::any_of(args, [](const ir::Expr &arg) { return !arg.isValid(); }))
    return {};
  std::optional<TypeBindings> inner =
      bindGenerics(diags, file->source, call.range, map, typesOf(args));
  Scope scope;
  if (!inner || !bindConstants(map, call, *matched, scope))
    return {};
  for (auto [param, arg] : llvm::zip(map.decl->params, args)) {
    std::optional<ir::ElementType> type =
        elementTypeOf(diags, map.file->source, param.type, *inner);
    if (!type)
      return {};
    at(call.range);
    arg = builder.adapted(arg, *type);
    if (!arg.isValid())
      return {};
    if (arg.type != *type) {
      auto &report = error(
          call.range, quoted(map.decl->name.text) + " takes " + ir::nameOf(*type).str() + " for " +
                          quoted(param.name.text) + "; this is " + ir::nameOf(arg.type).str());
      // A type parameter of the callee may be one here, too, of another name.
      auto isIt = [&](const auto &own) { return own.second == *type; };
      auto own = llvm::find_if(types, isIt);
      bool isNamed = ir::elementTypeNamed(param.type.element.text) || own == types.end();
      report.hints.push_back("cast it: `" + (isNamed ? ir::nameOf(*type).str() : own->first) +
                             "(…)`");
      return {};
    }
    // A call rounds its arguments and its result to their types.
    scope[param.name.text] = Binding(builder.castTo(*type, arg));
    scope[param.name.text].range = param.name.range;
  }
  if (!drawAxes || coordinates)
    return mapValue(map, std::move(scope), std::move(*inner), call.range);
  // What it draws is drawn for each element of this call's result.
  coordinates.emplace();
  for (const std::string &axis : *drawAxes)
    if (llvm::any_of(args, [&](const ir::Expr &arg) { return hasAxis(arg, axis); }))
      coordinates->push_back(builder.axisExpr(axis));
  ir::Expr result = mapValue(map, std::move(scope), std::move(*inner), call.range);
  coordinates.reset();
  return result;
}

/// The value of a map's body in a scope, rounded to the map's type.
ir::Expr BodyElaborator::mapValue(DeclRef map, Scope scope, TypeBindings bindings, dsl::Range use) {
  std::optional<ir::ElementType> result =
      elementTypeOf(diags, map.file->source, *map.decl->result, bindings);
  if (!result)
    return {};
  const dsl::Expr &body = *map.decl->bodyExpr;
  ir::Expr value = inside(map, std::move(scope), std::move(bindings), [&] {
    ir::Expr value = builder.adapted(evaluate(body), *result);
    if (!value.isValid() || value.isLiteral() || value.type == *result)
      return std::vector{value};
    error(body.range, quoted(map.decl->name.text) + " gives " + ir::nameOf(*result).str() +
                          "; this is " + ir::nameOf(value.type).str());
    return std::vector{ir::Expr()};
  })[0];
  at(use);
  return value.isValid() ? builder.castTo(*result, value) : ir::Expr();
}

void BodyElaborator::checkMap(DeclRef map) {
  coordinates.emplace(); // of a scalar
  Scope scope;
  for (const Param &param : map.decl->params)
    scope[param.name.text] = Binding(builder.scalarParam(param.name.text));
  for (const Generic &generic : map.decl->generics)
    if (generic.isConst)
      scope[generic.name.text] = Binding(builder.dim(generic.name.text));
  mapValue(map, std::move(scope), types, map.decl->bodyExpr->range);
}

/// Binds a parameter of a function to an axis, a tensor or a value; gives the
/// type that binds generics, of what has one.
bool BodyElaborator::bindParameter(const Param &param, const dsl::Expr &argument, Scope &scope,
                                   std::optional<ir::ElementType> &type) {
  Binding &binding = scope[param.name.text];
  binding.range = param.name.range;
  if (param.isAxis) {
    std::optional<std::string> axis = axisNamed(argument);
    if (!axis) {
      error(argument.range, "this is no axis, and " + quoted(param.name.text) + " is one");
      return false;
    }
    binding.kind = Binding::Kind::Axis;
    binding.axis = *axis;
    return true;
  }
  if (const ir::TensorRef *tensor = tensorNamed(argument)) {
    binding.kind = Binding::Kind::Tensor;
    binding.tensor = tensor;
    type = tensor->type;
    if (param.type.isTensor && param.type.dims.size() != tensor->shape.size()) {
      error(argument.range, quoted(param.name.text) + " has " +
                                std::to_string(param.type.dims.size()) + " dimensions; this has " +
                                std::to_string(tensor->shape.size()));
      return false;
    }
    for (auto [dim, extent] : llvm::zip(param.type.dims, tensor->shape)) {
      if (dim->kind != dsl::Expr::Kind::Name)
        continue;
      std::string axis = builder.nameOfExtent(extent);
      auto [known, isNew] = scope.try_emplace(dim->text, builder.shapeExpr(extent));
      if (isNew)
        known->second.axis = axis;
      else if (known->second.axis != axis) {
        error(argument.range, "dimension " + quoted(dim->text) + " is " +
                                  quoted(known->second.axis) + " in one argument and " +
                                  quoted(axis) + " here");
        return false;
      }
    }
    return true;
  }
  binding.value = evaluate(argument);
  if (!binding.value.isLiteral())
    type = binding.value.type;
  return binding.value.isValid();
}

std::vector<ir::Expr> BodyElaborator::expandFn(DeclRef fn, const dsl::Expr &call) {
  std::vector<ir::Expr> failure(1);
  std::optional<MatchedArguments> matched = matchArguments(diags, file->source, call, *fn.decl);
  if (!matched || !mayExpand(fn, call))
    return failure;
  const std::vector<const dsl::Expr *> &arguments = matched->values;
  std::vector<std::optional<ir::ElementType>> given(arguments.size());
  Scope scope;
  for (auto [n, param] : llvm::enumerate(fn.decl->params))
    if (!bindParameter(param, *arguments[n], scope, given[n]))
      return failure;
  std::optional<TypeBindings> inner = bindGenerics(diags, file->source, call.range, fn, given);
  if (!inner || !bindConstants(fn, call, *matched, scope))
    return failure;
  for (auto [n, param] : llvm::enumerate(fn.decl->params)) {
    if (param.isAxis || param.type.element.text.empty())
      continue;
    std::optional<ir::ElementType> type = elementTypeOf(diags, fn.file->source, param.type, *inner);
    if (!type)
      return failure;
    Binding &binding = scope[param.name.text];
    if (binding.kind == Binding::Kind::Value && binding.value.isLiteral()) {
      at(call.range);
      binding.value = builder.castTo(*type, binding.value);
    } else if (given[n] != *type) {
      error(arguments[n]->range, quoted(fn.decl->name.text) + " takes " + ir::nameOf(*type).str() +
                                     " for " + quoted(param.name.text) + "; this is " +
                                     ir::nameOf(*given[n]).str());
      return failure;
    }
  }
  return fnValues(fn, std::move(scope), std::move(*inner));
}

/// What a function's body returns in a scope.
std::vector<ir::Expr> BodyElaborator::fnValues(DeclRef fn, Scope scope, TypeBindings bindings) {
  ++expansions;
  return inside(fn, std::move(scope), std::move(bindings), [&] {
    if (fn.decl->bodyExpr)
      return evaluateTuple(*fn.decl->bodyExpr);
    elaborate(fn.decl->body);
    if (returned)
      return *returned;
    error(fn.decl->name.range, quoted(fn.decl->name.text) + " ends without a `return`");
    return std::vector<ir::Expr>(1);
  });
}
