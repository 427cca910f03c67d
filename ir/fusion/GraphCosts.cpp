//===- GraphCosts.cpp - what a graph's kernels and tensors cost -----------===//

#include "ir/fusion/GraphCosts.h"
#include "ir/AffineEval.h"

using namespace mlir;
using namespace tile::ir;

GraphCosts::GraphCosts(GraphOp graph, CostModel &model, const FuseOptions &options,
                       GraphShapes &shapes)
    : model(model), shapes(shapes), usualExtent(options.usualExtent),
      symbols(graph.getDims().size(), options.usualExtent) {
  for (auto [n, name] : llvm::enumerate(graph.getDims().getAsValueRange<StringAttr>()))
    if (auto known = options.dims.find(name); known != options.dims.end())
      symbols[n] = known->second;
}

int64_t GraphCosts::valueOf(AffineExpr expr) {
  symbols.resize(shapes.numSymbols(), usualExtent);
  return std::max<int64_t>(0, evaluateAffine(expr, {}, symbols).value_or(usualExtent));
}

SmallVector<int64_t> GraphCosts::valuesOf(ArrayRef<AffineExpr> exprs) {
  return llvm::map_to_vector(exprs, [&](AffineExpr expr) { return valueOf(expr); });
}

double GraphCosts::bytesOf(Value tensor) {
  double bytes = std::max(1U, getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth() / 8);
  for (AffineExpr extent : shapes.shapeOf(tensor))
    bytes *= static_cast<double>(valueOf(extent));
  return bytes;
}

void GraphCosts::remember(CallOp call, const KernelCost &cost) {
  known.try_emplace({shapes.kernelOf(call), valuesOf(shapes.dimsOf(call))}, cost);
}

const KernelCost &GraphCosts::costOf(CallOp call) {
  KernelOp kernel = shapes.kernelOf(call);
  auto [cost, isNew] = known.try_emplace({kernel, valuesOf(shapes.dimsOf(call))});
  if (isNew && kernel)
    cost->second = model.costOf(kernel, cost->first.second);
  return cost->second;
}
