//===- Rules.cpp - signatures with the rules of their launches ------------===//

#include "frontend/execute/Rules.h"

#include "frontend/base/Interface.h"
#include "ir/dialect/AffineEval.h"
#include "ir/interpreter/Launch.h"
#include "ir/transforms/Specialize.h"

#include "ir/proofs/Spelling.h"
#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using runtime::ParamRule;
using runtime::Signature;

//===-- What kernels and graphs share -------------------------------------===//

static void addDims(Signature &signature, ArrayAttr dims, DictionaryAttr consts) {
  for (auto [position, name] : llvm::enumerate(dims.getAsValueRange<StringAttr>())) {
    signature.dims.push_back(name.str());
    Attribute entry = consts ? consts.get(name) : Attribute();
    if (!entry)
      continue;
    runtime::ConstantRule rule{static_cast<uint32_t>(position), std::nullopt};
    if (auto number = dyn_cast<IntegerAttr>(entry))
      rule.value = number.getInt();
    signature.constants.push_back(rule);
  }
}

static std::vector<runtime::ExtentRule> shapeRules(AffineMap shape, ArrayAttr dims) {
  std::vector<runtime::ExtentRule> rules;
  SmallVector<StringRef> names(dims.getAsValueRange<StringAttr>());
  for (AffineExpr expr : shape.getResults()) {
    runtime::ExtentRule rule;
    rule.text = ir::formatAffine(expr, names);
    ProgramBuilder builder(dims);
    builder.add(expr);
    rule.program = std::move(builder.program);
    for (unsigned n = 0; n < names.size(); ++n)
      if (expr.isFunctionOfSymbol(n))
        rule.dims.push_back(n);
    rules.push_back(std::move(rule));
  }
  return rules;
}

static ParamRule paramRule(DictionaryAttr attributes, Type type, ArrayAttr dims) {
  ParamRule rule;
  auto text = [&](StringRef key) {
    auto attribute = attributes ? attributes.getAs<StringAttr>(key) : StringAttr();
    return attribute ? attribute.str() : std::string();
  };
  rule.name = text("tile.name");
  rule.type = text("tile.type");
  rule.isTensor = isa<ShapedType>(type);
  if (auto shape = attributes.getAs<AffineMapAttr>("tile.shape"); shape && rule.isTensor)
    rule.shape = shapeRules(shape.getValue(), dims);
  if (Attribute value = attributes.get("tile.default"))
    rule.defaultBits = bitsOf(value);
  return rule;
}

//===-- Kernels -----------------------------------------------------------===//

runtime::ParamMode tile::frontend::modeOf(ir::ParamMode mode) {
  switch (mode) {
  case ir::ParamMode::In:
    return runtime::ParamMode::In;
  case ir::ParamMode::Out:
    return runtime::ParamMode::Out;
  case ir::ParamMode::InOut:
    return runtime::ParamMode::InOut;
  case ir::ParamMode::Reduce:
    return runtime::ParamMode::Reduce;
  }
  llvm_unreachable("covered");
}

/// One condition with all that it is computed from, in the order of the kernel.
static Outcome<runtime::RequireRule> requireRule(ir::KernelOp kernel, ir::RequireOp require) {
  runtime::RequireRule rule;
  rule.text = require.getMessage().str();
  SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitUsesFromAbove = false;
  (void)getBackwardSlice(require.getCondition(), &needed, options);
  ProgramBuilder builder(kernel.getDims());
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    bool isMeant =
        llvm::any_of(argument.getUsers(), [&](Operation *op) { return needed.contains(op); }) ||
        require.getCondition() == argument;
    if (!isMeant || isa<ShapedType>(argument.getType()))
      continue;
    builder.addScalar(argument, argument.getArgNumber());
    if (argument.getType().isInteger())
      rule.scalars.push_back(argument.getArgNumber());
  }
  for (Operation &op : kernel.getBody().front()) {
    if (!needed.contains(&op))
      continue;
    if (failed(builder.add(&op))) {
      emitError(op.getLoc()) << "`requires " << rule.text << "` computes `" << op.getName()
                             << "`, which a launch without the compiler can't";
      return Failure::reported();
    }
    if (auto dim = dyn_cast<ir::DimOp>(op)) {
      auto position = llvm::find(kernel.getDims(), dim.getNameAttr()) - kernel.getDims().begin();
      if (!llvm::is_contained(rule.dims, position))
        rule.dims.push_back(static_cast<uint32_t>(position));
    }
  }
  llvm::sort(rule.dims);
  // A program's value is its last one.
  if (builder.at(require.getCondition()) + 1 != builder.program.size())
    return Failure::internal("a condition of kernel " + kernel.getSymName().str() +
                             " is not the last of what it is computed from");
  rule.program = std::move(builder.program);
  return rule;
}

Outcome<Signature> tile::frontend::signatureOf(ir::KernelOp kernel) {
  Signature signature;
  signature.name = ir::nameInSource(kernel.getSymName());
  addDims(signature, kernel.getDims(), kernel.getConstsAttr());
  if (DictionaryAttr bound = ir::boundDims(kernel))
    for (NamedAttribute entry : bound) {
      auto position = llvm::find(kernel.getDims(), entry.getName()) - kernel.getDims().begin();
      signature.bound.emplace_back(position, cast<IntegerAttr>(entry.getValue()).getInt());
    }
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    unsigned n = argument.getArgNumber();
    ParamRule rule = paramRule(kernel.getArgAttrDict(n), argument.getType(), kernel.getDims());
    rule.mode = modeOf(kernel.getParamMode(n));
    if (rule.mode == runtime::ParamMode::Reduce)
      rule.combine = static_cast<runtime::CpuCombine>(kernel.getParamReduce(n));
    rule.reachesIndex = ir::reachesIndex(argument);
    signature.params.push_back(std::move(rule));
  }
  for (ir::RequireOp require : kernel.getBody().front().getOps<ir::RequireOp>()) {
    Outcome<runtime::RequireRule> rule = requireRule(kernel, require);
    if (!rule)
      return rule.takeFailure();
    signature.requirements.push_back(*std::move(rule));
  }
  return signature;
}

//===-- Graphs ------------------------------------------------------------===//

Signature tile::frontend::signatureOf(ir::GraphOp graph) {
  Signature signature;
  signature.name = ir::nameInSource(graph.getSymName());
  addDims(signature, graph.getDims(), graph.getConstsAttr());
  for (auto [n, type] : llvm::enumerate(graph.getArgumentTypes()))
    signature.params.push_back(paramRule(graph.getArgAttrDict(n), type, graph.getDims()));
  for (auto [n, type] : llvm::enumerate(graph.getResultTypes())) {
    signature.params.push_back(paramRule(graph.getResultAttrDict(n), type, graph.getDims()));
    signature.params.back().mode = runtime::ParamMode::Out;
  }
  return signature;
}
