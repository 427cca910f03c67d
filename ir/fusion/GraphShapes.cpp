//===- GraphShapes.cpp - extents of a graph's tensors, as symbols ---------===//

#include "ir/fusion/GraphShapes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

SmallVector<unsigned> tile::ir::inputPositions(FunctionOpInterface callee) {
  SmallVector<unsigned> positions;
  auto kernel = dyn_cast<KernelOp>(callee.getOperation());
  for (unsigned n = 0, e = callee.getNumArguments(); n < e; ++n) {
    ParamMode mode = kernel ? kernel.getParamMode(n) : ParamMode::In;
    if (mode == ParamMode::In || mode == ParamMode::InOut)
      positions.push_back(n);
  }
  return positions;
}

unsigned tile::ir::outputPosition(KernelOp kernel, unsigned result) {
  unsigned n = 0;
  while (kernel.getParamMode(n) == ParamMode::In || result-- > 0)
    ++n;
  return n;
}

GraphShapes::GraphShapes(GraphOp graph)
    : graph(graph), symbols(graph->getParentOfType<ModuleOp>()),
      symbolCount(graph.getDims().size()) {
  for (unsigned n = 0; n < symbolCount; ++n)
    dims.push_back(getAffineSymbolExpr(n, graph.getContext()));
  for (RequireOp require : graph.getBody().getOps<RequireOp>())
    unite(require.getCondition());
  for (BlockArgument argument : graph.getBody().getArguments())
    if (auto shape = graph.getArgAttrOfType<AffineMapAttr>(argument.getArgNumber(), "tile.shape"))
      shapes[argument] = llvm::map_to_vector(shape.getValue().getResults(), [&](AffineExpr extent) {
        return extent.replaceSymbols(dims);
      });
  for (CallOp call : graph.getBody().getOps<CallOp>())
    add(call);
}

void GraphShapes::unite(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    unite(both.getLhs());
    unite(both.getRhs());
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      !compare.getLhs().getDefiningOp<DimOp>() || !compare.getRhs().getDefiningOp<DimOp>())
    return;
  auto numberOf = [&](Value dim) { return cast<AffineSymbolExpr>(integer(dim)).getPosition(); };
  unsigned a = numberOf(compare.getLhs()), b = numberOf(compare.getRhs());
  AffineExpr first = getAffineSymbolExpr(std::min(a, b), graph.getContext()),
             other = getAffineSymbolExpr(std::max(a, b), graph.getContext());
  llvm::replace(dims, other, first);
}

void GraphShapes::addEqual(llvm::StringMap<int64_t> &values) {
  auto names = llvm::to_vector(graph.getDims().getAsValueRange<StringAttr>());
  for (auto [given, ofGiven] : llvm::zip(names, dims)) {
    auto known = values.find(given);
    if (known == values.end())
      continue;
    int64_t value = known->second;
    for (auto [name, dim] : llvm::zip(names, dims))
      if (dim == ofGiven)
        values.try_emplace(name, value);
  }
}

ArrayRef<AffineExpr> GraphShapes::shapeOf(Value tensor) const {
  auto found = shapes.find(tensor);
  return found == shapes.end() ? ArrayRef<AffineExpr>() : ArrayRef<AffineExpr>(found->second);
}

ArrayRef<AffineExpr> GraphShapes::dimsOf(CallOp call) const { return bound.find(call)->second; }

AffineExpr GraphShapes::unknown(Value value) {
  AffineExpr symbol = getAffineSymbolExpr(symbolCount++, graph.getContext());
  if (value)
    numbers[value] = symbol;
  return symbol;
}

/// An integer of the graph as an expression; a symbol of its own if it isn't one.
AffineExpr GraphShapes::integer(Value value) {
  if (auto known = numbers.find(value); known != numbers.end())
    return known->second;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return getAffineConstantExpr(number.getSExtValue(), graph.getContext());
  if (auto dim = value.getDefiningOp<DimOp>())
    return dims[llvm::find(graph.getDims(), dim.getNameAttr()) - graph.getDims().begin()];
  return unknown(value);
}

Value GraphShapes::valueOf(OpBuilder &builder, Location loc, unsigned symbol) {
  if (symbol < graph.getDims().size())
    return DimOp::create(builder, loc, builder.getI64Type(),
                         cast<StringAttr>(graph.getDims()[symbol]));
  for (auto [value, expr] : numbers)
    if (expr == builder.getAffineSymbolExpr(symbol))
      return value;
  return {};
}

/// The extents of a parameter over its function's dims; null for scalars.
static AffineMap shapeOfParam(FunctionOpInterface function, unsigned n) {
  auto shape = function.getArgAttrOfType<AffineMapAttr>(n, "tile.shape");
  return shape ? shape.getValue() : AffineMap();
}

SmallVector<AffineExpr> GraphShapes::bind(FunctionOpInterface callee, ValueRange inputs,
                                          ArrayAttr constNames, ValueRange constValues) {
  auto dims = callee->getAttrOfType<ArrayAttr>("dims");
  SmallVector<AffineExpr> exprs(dims.size());
  for (auto [operand, n] : llvm::zip(inputs, inputPositions(callee))) {
    AffineMap shape = shapeOfParam(callee, n);
    if (!shape)
      continue;
    for (auto [expr, extent] : llvm::zip(shape.getResults(), shapeOf(operand)))
      if (auto symbol = dyn_cast<AffineSymbolExpr>(expr); symbol && !exprs[symbol.getPosition()])
        exprs[symbol.getPosition()] = extent;
  }
  for (auto [name, value] : llvm::zip(constNames, constValues))
    exprs[llvm::find(dims, name) - dims.begin()] = integer(value);
  for (auto [expr, name] : llvm::zip(exprs, dims))
    if (!expr) {
      auto consts = callee->getAttrOfType<DictionaryAttr>("consts");
      auto value = consts ? consts.getAs<IntegerAttr>(cast<StringAttr>(name)) : IntegerAttr();
      expr = value ? getAffineConstantExpr(value.getInt(), callee.getContext()) : unknown({});
    }
  return exprs;
}

void GraphShapes::add(CallOp call) {
  auto callee = cast<FunctionOpInterface>(symbols.lookup(call.getCallee()));
  SmallVector<AffineExpr> dims =
      bind(callee, call.getInputs(), call.getConstNames(), call.getConstValues());
  auto shapeIn = [&](AffineMap shape) {
    SmallVector<AffineExpr> extents;
    for (AffineExpr expr : shape.getResults())
      extents.push_back(expr.replaceSymbols(dims));
    return extents;
  };
  auto kernel = dyn_cast<KernelOp>(callee.getOperation());
  for (OpResult result : call.getResults()) {
    unsigned n = result.getResultNumber();
    if (kernel) {
      shapes[result] = shapeIn(shapeOfParam(callee, outputPosition(kernel, n)));
    } else if (auto shape = callee.getResultAttrOfType<AffineMapAttr>(n, "tile.shape")) {
      shapes[result] = shapeIn(shape.getValue());
    }
  }
  bound[call] = std::move(dims);
}
