//===- GraphCalls.cpp - calls of kernels and graphs in a graph ------------===//

#include "dsl/GraphElaborator.h"

using namespace mlir;
using namespace tile;
using namespace tile::dsl;

//===-- Calls -------------------------------------------------------------===//

/// A call on its way to the IR.
struct GraphElaborator::Call {
  const dsl::Expr &expr;
  DeclRef callee;
  MatchedArguments arguments;
  std::vector<GraphValue> values;
  Signature signature;          // the callee's, with its generics bound
  SmallVector<AffineExpr> dims; // its dims over ours
  SmallVector<Attribute> constantNames;
  SmallVector<Value> constants;

  std::string name() const { return quoted(callee.decl->name.text); }
};

/// Evaluates the tensors, which bind the generics.
std::optional<TypeBindings> GraphElaborator::evaluateTensors(Call &call) {
  bool ok = true;
  std::vector<std::optional<ir::ElementType>> types(call.values.size());
  for (auto [n, param] : llvm::enumerate(call.callee.decl->params)) {
    if (!param.type.isTensor)
      continue;
    const dsl::Expr &argument = *call.arguments.values[n];
    std::optional<GraphValue> value = evaluate(argument);
    ok &= value && value->isTensor;
    if (value && !value->isTensor)
      error(argument.range, quoted(param.name.text) + " is a tensor; this is a scalar");
    if (!ok)
      continue;
    call.values[n] = *value;
    types[n] = value->type;
  }
  if (!ok)
    return std::nullopt;
  return bindGenerics(parts.diags, file.source, call.expr.range, call.callee, types);
}

bool GraphElaborator::evaluateScalars(Call &call) {
  for (auto [n, param] : llvm::enumerate(call.callee.decl->params)) {
    if (param.type.isTensor)
      continue;
    const ir::ParamSpec &spec = call.signature.spec.params[n];
    if (call.arguments.values[n] == param.defaultValue.get()) {
      call.values[n].value = arith::ConstantOp::create(builder, at(call.expr.range),
                                                       cast<TypedAttr>(spec.defaultValue));
      continue;
    }
    std::optional<GraphValue> value = scalar(*call.arguments.values[n], spec.type);
    if (!value)
      return false;
    call.values[n] = *value;
  }
  return true;
}

/// Checks the tensors, and binds the callee's dimensions to what they have.
bool GraphElaborator::bindDims(Call &call) {
  call.dims.resize(call.signature.spec.dims.size());
  bool agrees = true;
  for (auto [n, value] : llvm::enumerate(call.values)) {
    const ir::ParamSpec &param = call.signature.spec.params[n];
    if (!param.isTensor)
      continue;
    dsl::Range range = call.arguments.values[n]->range;
    if (value.type != param.type) {
      error(range, quoted(param.name) + " of " + call.name() + " holds " +
                       ir::nameOf(param.type).str() + "; this is " + ir::nameOf(value.type).str())
          .hints.push_back("cast it: `" + ir::nameOf(param.type).str() + "(…)`");
      return false;
    }
    if (value.shape.size() != param.shape.size()) {
      error(range, quoted(param.name) + " of " + call.name() + " has " +
                       counted(param.shape.size(), "dimension") + "; this has " +
                       std::to_string(value.shape.size()))
          .hints.push_back("call a kernel whose " + quoted(param.name) + " has " +
                           counted(value.shape.size(), "dimension"));
      return false;
    }
    for (auto [extent, actual] : llvm::zip(param.shape, value.shape)) {
      auto symbol = dyn_cast<AffineSymbolExpr>(extent);
      if (auto wanted = dyn_cast<AffineConstantExpr>(extent),
          now = dyn_cast<AffineConstantExpr>(actual);
          wanted && now && wanted != now) {
        error(range, quoted(param.name) + " of " + call.name() + " has " +
                         std::to_string(wanted.getValue()) +
                         " elements along a dimension that has " + std::to_string(now.getValue()) +
                         " here");
        agrees = false;
      }
      if (!symbol)
        continue;
      AffineExpr &slot = call.dims[symbol.getPosition()];
      auto before = dyn_cast_or_null<AffineConstantExpr>(slot);
      if (auto now = dyn_cast<AffineConstantExpr>(actual); before && now && before != now) {
        error(range, "dimension " + quoted(call.signature.spec.dims[symbol.getPosition()]) +
                         " of " + call.name() + " is " + std::to_string(before.getValue()) +
                         " in one argument and " + std::to_string(now.getValue()) + " here");
        agrees = false;
      }
      if (!slot)
        slot = actual;
    }
  }
  return agrees;
}

bool GraphElaborator::bindConstants(Call &call) {
  for (auto &[name, defaultValue] : call.signature.spec.consts) {
    AffineExpr value;
    if (auto given = call.arguments.constants.find(name); given != call.arguments.constants.end()) {
      value = extentExpr(parts.context, parts.diags, file.source, signature, *given->second);
      if (!value)
        return false;
      call.constantNames.push_back(builder.getStringAttr(name));
      call.constants.push_back(extentValue(value, at(given->second->range)));
    } else if (auto integer = dyn_cast_or_null<IntegerAttr>(defaultValue)) {
      value = getAffineConstantExpr(integer.getInt(), parts.context);
    }
    AffineExpr &slot = call.dims[*call.signature.dimIndex(name)];
    if (!slot)
      slot = value;
    if (!slot) {
      error(call.expr.range, call.name() + " needs its constant " + quoted(name))
          .hints.push_back("give it by name: `" + call.callee.decl->name.text + "(…, " + name +
                           " = 64)`");
      return false;
    }
  }
  return true;
}

std::vector<GraphValue> GraphElaborator::call(const dsl::Expr &expr, DeclRef callee) {
  std::optional<MatchedArguments> arguments =
      matchArguments(parts.diags, file.source, expr, *callee.decl);
  if (!arguments)
    return {};
  size_t count = arguments->values.size();
  Call call{expr, callee, std::move(*arguments), std::vector<GraphValue>(count), {}, {}, {}, {}};
  std::optional<TypeBindings> types = evaluateTensors(call);
  if (!types)
    return {};
  call.signature = signatureOf(parts.context, parts.diags, callee, *types);
  if (!call.signature.isValid || !evaluateScalars(call) || !bindDims(call) || !bindConstants(call))
    return {};
  std::string symbol = self.elaborate(callee, *types);
  if (symbol.empty())
    return {};

  std::vector<GraphValue> outputs;
  SmallVector<Type> outputTypes;
  for (const ir::ParamSpec &param : call.signature.spec.params) {
    if (param.mode == ir::ParamMode::In)
      continue;
    GraphValue &output = outputs.emplace_back(GraphValue{Value(), param.type, true, {}});
    for (AffineExpr extent : param.shape)
      output.shape.push_back(extent.replaceSymbols(call.dims));
    outputTypes.push_back(graphType(param, parts.context));
  }
  SmallVector<Value> inputs =
      llvm::map_to_vector(call.values, [](const GraphValue &value) { return value.value; });
  auto callOp = ir::CallOp::create(builder, named(expr), outputTypes,
                                   FlatSymbolRefAttr::get(parts.context, symbol), inputs,
                                   builder.getArrayAttr(call.constantNames), call.constants);
  for (auto [output, result] : llvm::zip(outputs, callOp.getResults()))
    output.value = result;
  return outputs;
}
