//===- GraphView.cpp - a graph as people know it --------------------------===//

#include "frontend/fusion/GraphView.h"
#include "frontend/base/Interface.h"
#include "ir/dialect/AffineEval.h"
#include "ir/fusion/GraphShapes.h"
#include "ir/proofs/Spelling.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

namespace {
class Viewer {
public:
  Viewer(ir::GraphOp graph, const llvm::StringMap<int64_t> &dims, int64_t usualExtent)
      : graph(graph), shapes(graph), names(graph.getDims().getAsValueRange<StringAttr>()) {
    for (StringRef name : names) {
      auto known = dims.find(name);
      values.push_back(known == dims.end() ? usualExtent : known->second);
    }
    // Extents that no dim gives.
    names.resize(shapes.numSymbols(), "?");
    values.resize(shapes.numSymbols(), usualExtent);
  }

  void fill(GraphView &view);

private:
  unsigned add(GraphView &view, Value value, StringRef name, const Port &port);
  void addCall(GraphView &view, ir::CallOp call);
  /// An input has the shape that is declared.
  ArrayRef<AffineExpr> shapeOf(Value value);

  ir::GraphOp graph;
  ir::GraphShapes shapes;
  SmallVector<StringRef> names;
  SmallVector<int64_t> values;
  DenseMap<Value, unsigned> numbers;
};
} // namespace

ArrayRef<AffineExpr> Viewer::shapeOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto declared = argument
                      ? graph.getArgAttrOfType<AffineMapAttr>(argument.getArgNumber(), "tile.shape")
                      : AffineMapAttr();
  return declared ? declared.getValue().getResults() : shapes.shapeOf(value);
}

unsigned Viewer::add(GraphView &view, Value value, StringRef name, const Port &port) {
  GraphView::Tensor tensor;
  tensor.name = name.empty() ? port.name : name.str();
  tensor.bytes = runtime::sizeOf(port.type);
  std::vector<std::string> extents;
  for (AffineExpr extent : shapeOf(value)) {
    extents.push_back(ir::formatAffine(extent, names));
    tensor.extents.push_back(
        std::max<int64_t>(0, ir::evaluateAffine(extent, {}, values).value_or(0)));
    tensor.bytes *= static_cast<double>(tensor.extents.back());
  }
  tensor.type = std::string(runtime::nameOf(port.type)) + "[" + llvm::join(extents, ", ") + "]";
  unsigned number = numbers[value] = view.tensors.size();
  view.tensors.push_back(std::move(tensor));
  return number;
}

void Viewer::addCall(GraphView &view, ir::CallOp op) {
  unsigned number = view.calls.size();
  GraphView::Call call{op.getCallee().str(), "", ir::placeOf(op.getLoc()), {}, {}, op};
  llvm::SmallSetVector<Value, 8> inputs(op.getInputs().begin(), op.getInputs().end());
  for (Value input : inputs)
    if (auto known = numbers.find(input); known != numbers.end()) {
      call.inputs.push_back(known->second);
      view.tensors[known->second].to.push_back(number);
    }
  Interface interface = interfaceOf(SymbolTable::lookupNearestSymbolFrom(op, op.getCalleeAttr()));
  StringRef expression = ir::nameIn(op.getLoc());
  std::vector<std::string> given;
  for (auto [result, port] : llvm::zip(op.getResults(), interface.outputs)) {
    StringRef name = ir::nameOfResult(cast<OpResult>(result));
    if (!name.empty() && name != expression)
      given.push_back(name.str());
    call.outputs.push_back(add(view, result, name, port));
    view.tensors.back().from = number;
  }
  call.label = ir::nameOfCallee(op);
  if (!given.empty())
    call.label = llvm::join(given, ", ") + " = " + call.label;
  else if (!expression.empty())
    call.label = expression.str();
  view.calls.push_back(std::move(call));
}

void Viewer::fill(GraphView &view) {
  Interface interface = interfaceOf(graph);
  for (auto [argument, port] : llvm::zip(graph.getBody().getArguments(), interface.inputs))
    if (port.isTensor)
      add(view, argument, port.name, port);
  for (auto call : graph.getBody().getOps<ir::CallOp>())
    addCall(view, call);
  Operation *returned = graph.getBody().front().getTerminator();
  for (auto [value, port] : llvm::zip(returned->getOperands(), interface.outputs))
    if (auto known = numbers.find(value); known != numbers.end())
      view.tensors[known->second].outputs.push_back(port.name);
}

GraphView::GraphView(ir::GraphOp graph, const llvm::StringMap<int64_t> &dims, int64_t usualExtent) {
  Viewer(graph, dims, usualExtent).fill(*this);
}
