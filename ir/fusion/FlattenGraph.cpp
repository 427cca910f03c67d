//===- FlattenGraph.cpp - calls of graphs become those graphs' calls ------===//

#include "ir/fusion/FlattenGraph.h"
#include "ir/fusion/LaunchChecks.h"

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile::ir;

/// `open`: the graphs that call each other down to this one.
static LogicalResult checkCalls(GraphOp graph, SymbolTable &symbols,
                                llvm::SetVector<Operation *> &open,
                                llvm::SmallPtrSetImpl<Operation *> &done) {
  if (!open.insert(graph))
    return graph.emitError("graph `") << graph.getSymName() << "` calls itself";
  for (CallOp call : graph.getBody().getOps<CallOp>())
    if (auto callee = symbols.lookup<GraphOp>(call.getCallee()); callee && !done.contains(callee))
      if (failed(checkCalls(callee, symbols, open, done)))
        return failure();
  open.pop_back();
  done.insert(graph);
  return success();
}

/// The copy's place: its own, in the graph that was called, and that of the call.
static void setPlace(Operation *copy, Location inside, CallOp call) {
  copy->setLoc(CallSiteLoc::get(inside, call.getLoc()));
}

/// Results have the extents that the callee declares.
static bool requireResults(CallOp call, GraphOp callee, ValueRange results, GraphShapes &shapes) {
  OpBuilder builder(call);
  for (auto [n, result] : llvm::enumerate(results)) {
    auto shape = callee.getResultAttrOfType<AffineMapAttr>(n, "tile.shape");
    auto name = callee.getResultAttrOfType<StringAttr>(n, "tile.name");
    if (shape && !requireExtents(builder, call.getLoc(), shapes.shapeOf(result),
                                 shapes.shapeOf(call.getResult(n)),
                                 "the extents that `" + call.getCallee() + "` declares for `" +
                                     (name ? name.getValue() : "its result") + "`",
                                 shapes))
      return false;
  }
  return true;
}

/// The values of the callee's dims, as far as it names them in numbers; false if one is unknown.
static bool mapDims(CallOp call, GraphOp callee, GraphShapes &shapes, IRMapping &mapping) {
  OpBuilder builder(call);
  for (DimOp dim : callee.getBody().getOps<DimOp>()) {
    unsigned n = llvm::find(callee.getDims(), dim.getNameAttr()) - callee.getDims().begin();
    Value value = materializeExtent(builder, call.getLoc(), shapes.dimsOf(call)[n], shapes);
    if (!value)
      return false;
    mapping.map(dim.getResult(), value);
  }
  return true;
}

/// The callee's operations before the call; the calls among them.
static SmallVector<CallOp> cloneBody(CallOp call, GraphOp callee, GraphShapes &shapes,
                                     IRMapping &mapping) {
  OpBuilder builder(call);
  SmallVector<CallOp> calls;
  for (Operation &op : callee.getBody().front().without_terminator()) {
    if (isa<DimOp>(op))
      continue;
    Operation *copy = builder.clone(op, mapping);
    setPlace(copy, op.getLoc(), call);
    if (auto require = dyn_cast<RequireOp>(copy))
      require.setMessage((require.getMessage() + " in `" + call.getCallee() + "`").str());
    if (auto inner = dyn_cast<CallOp>(copy)) {
      shapes.add(inner);
      calls.push_back(inner);
    }
  }
  return calls;
}

/// What the call did before the copy began stays: numbers that nobody uses.
static bool replaceCall(CallOp call, GraphOp callee, GraphShapes &shapes,
                        SmallVectorImpl<CallOp> &open) {
  IRMapping mapping;
  mapping.map(callee.getBody().getArguments(), call.getInputs());
  if (!mapDims(call, callee, shapes, mapping) || !requireInputs(call, shapes))
    return false;
  SmallVector<CallOp> calls = cloneBody(call, callee, shapes, mapping);
  SmallVector<Value> results;
  for (Value result : callee.getBody().front().getTerminator()->getOperands())
    results.push_back(mapping.lookup(result));
  if (!requireResults(call, callee, results, shapes)) {
    for (CallOp inner : llvm::reverse(calls))
      inner.erase();
    return false;
  }
  call.replaceAllUsesWith(results);
  call.erase();
  llvm::append_range(open, calls);
  return true;
}

LogicalResult tile::ir::flattenGraph(GraphOp graph) {
  GraphShapes shapes(graph);
  llvm::SetVector<Operation *> stack;
  llvm::SmallPtrSet<Operation *, 8> done;
  if (failed(checkCalls(graph, shapes.symbolTable(), stack, done)))
    return failure();
  SmallVector<CallOp> open(graph.getBody().getOps<CallOp>());
  while (!open.empty()) {
    CallOp call = open.pop_back_val();
    if (auto callee = shapes.symbolTable().lookup<GraphOp>(call.getCallee()))
      (void)replaceCall(call, callee, shapes, open);
  }
  return success();
}

namespace {
class FlattenGraphsPass : public PassWrapper<FlattenGraphsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FlattenGraphsPass)

  StringRef getArgument() const override { return "tile-flatten-graphs"; }
  StringRef getDescription() const override {
    return "Puts the calls of a graph that is called in the place of its call";
  }

  void runOnOperation() override {
    for (GraphOp graph : getOperation().getOps<GraphOp>())
      if (failed(flattenGraph(graph)))
        return signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> tile::ir::createFlattenGraphsPass() {
  return std::make_unique<FlattenGraphsPass>();
}
