//===- GraphCosts.cpp - what a graph's kernels and tensors cost -----------===//

#include "ir/fusion/GraphCosts.h"
#include "ir/dialect/AffineEval.h"
#include "ir/fusion/InlineProducer.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile::ir;

GraphCosts::GraphCosts(GraphOp graph, CostModel &model, const FuseOptions &options,
                       GraphShapes &shapes)
    : model(model), shapes(shapes), usualExtent(options.usualExtent),
      symbols(graph.getDims().size(), options.usualExtent) {
  llvm::StringMap<int64_t> dims = options.dims;
  shapes.addEqual(dims);
  for (auto [n, name] : llvm::enumerate(graph.getDims().getAsValueRange<StringAttr>()))
    if (auto known = dims.find(name); known != dims.end())
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

Value GraphCosts::changedBy(OpResult result) {
  auto call = cast<CallOp>(result.getOwner());
  KernelOp kernel = shapes.kernelOf(call);
  if (!kernel)
    return {};
  unsigned output = outputPosition(kernel, result.getResultNumber());
  if (kernel.getParamMode(output) != ParamMode::InOut)
    return {};
  SmallVector<unsigned> positions = inputPositions(kernel);
  return call.getInputs()[llvm::find(positions, output) - positions.begin()];
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

/// As GraphRun has it: in place is what a call gave, if nobody has it from the graph and all others
/// have read it before.
static bool isChangedInPlace(Value tensor, OpResult result) {
  auto isReturned = [](Value value) {
    return llvm::any_of(value.getUsers(), llvm::IsaPred<ReturnOp>);
  };
  auto call = cast<CallOp>(result.getOwner());
  return tensor.getDefiningOp<CallOp>() && !isReturned(tensor) && !isReturned(result) &&
         llvm::all_of(tensor.getUsers(), [&](Operation *user) {
           return user == call || (isa<CallOp>(user) && reaches(cast<CallOp>(user), call));
         });
}

KernelCost GraphCosts::costWithCopies(CallOp call) {
  KernelCost cost = costOf(call);
  for (OpResult result : call->getResults())
    if (Value tensor = changedBy(result); tensor && !isChangedInPlace(tensor, result)) {
      double bytes = bytesOf(tensor), seconds = 2 * bytes / bandwidth();
      KernelCost copy;
      copy.bytesRead = copy.bytesWritten = bytes;
      copy.seconds = copy.memorySeconds = copy.leastMemorySeconds = seconds;
      if (cost.onFewCores)
        copy.onFewCores = copy.times();
      cost += copy;
    }
  return cost;
}

/// What a kernel reads another time, from a cache.
double GraphCosts::readAgain(const KernelCost &cost) const {
  return std::max(0.0, cost.leastMemorySeconds - cost.bytes() / model.bandwidth());
}

double GraphCosts::mostSaved(CallOp a, CallOp b, double bytesBetween) {
  llvm::SmallSetVector<Value, 8> common;
  for (Value input : a.getInputs())
    if (isa<TensorType>(input.getType()) && llvm::is_contained(b.getInputs(), input))
      common.insert(input);
  double bytesGone = bytesBetween;
  for (Value input : common)
    bytesGone += bytesOf(input);
  const KernelCost &x = costOf(a), &y = costOf(b);
  // What comes from a cache again: all of it may be of what is between the two, but what both read
  // still comes for one of them.
  double againGone = bytesBetween > 0 ? readAgain(y) : std::min(readAgain(x), readAgain(y));
  double memory =
      x.leastMemorySeconds + y.leastMemorySeconds - bytesGone / model.bandwidth() - againGone;
  double least =
      model.launchSeconds() + std::max({memory, x.leastComputeSeconds, y.leastComputeSeconds});
  // What is equal but for rounding is decided by what is found, not by this.
  return (x.seconds + y.seconds - least) * (1 + 1e-9);
}

double GraphCosts::mostSavedAnew(CallOp consumer, double bytesBetween) {
  const KernelCost &cost = costOf(consumer);
  double memory = cost.leastMemorySeconds - bytesBetween / model.bandwidth() - readAgain(cost);
  return (cost.seconds - model.launchSeconds() - std::max(memory, cost.leastComputeSeconds)) *
         (1 + 1e-9);
}

double GraphCosts::mostSavedByAll(CallOp producer, ArrayRef<CallOp> consumers) {
  // Who reads a part may need a part of what the producer reads.
  if (producer.getNumResults() != 1 || !readsAll(producer))
    return std::numeric_limits<double>::infinity();
  const KernelCost &of = costOf(producer);
  llvm::SmallSetVector<Value, 8> inputs(producer.getInputs().begin(), producer.getInputs().end());
  double saved = of.seconds;
  for (CallOp consumer : consumers) {
    if (!readsAll(consumer))
      return std::numeric_limits<double>::infinity();
    // Each reads what the producer reads, in place of what that gives.
    llvm::SmallPtrSet<Value, 8> own(consumer.getInputs().begin(), consumer.getInputs().end());
    double bytes = -bytesOf(producer.getResult(0));
    for (Value input : inputs)
      if (isa<TensorType>(input.getType()) && !own.contains(input))
        bytes += bytesOf(input);
    const KernelCost &cost = costOf(consumer);
    double memory = cost.leastMemorySeconds + bytes / model.bandwidth() - readAgain(cost);
    saved += cost.seconds - model.launchSeconds() -
             std::max({memory, cost.leastComputeSeconds, of.leastComputeSeconds});
  }
  return saved * (1 + 1e-9);
}

bool GraphCosts::readsAll(CallOp call) {
  llvm::SmallSetVector<Value, 8> inputs(call.getInputs().begin(), call.getInputs().end());
  double bytes = 0;
  for (Value input : inputs)
    if (isa<TensorType>(input.getType()))
      bytes += bytesOf(input);
  return costOf(call).bytesRead >= bytes;
}
