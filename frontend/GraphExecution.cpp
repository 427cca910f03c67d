//===- GraphExecution.cpp - runs graphs, call by call ---------------------===//

#include "frontend/ExecutionImpl.h"
#include "ir/Launch.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

namespace {
/// What the values of a graph's body are while it runs.
class Frame {
public:
  void set(Value value, Argument argument) { values[value] = std::move(argument); }
  const Argument &get(Value value) const { return values.at(value); }

  /// Called when an op has run: lets go of operands that nothing reads later.
  void release(Operation *user) {
    for (Value operand : user->getOperands())
      if (llvm::all_of(operand.getUsers(), [&](Operation *other) {
            return other == user || other->isBeforeInBlock(user);
          }))
        values.erase(operand);
  }

private:
  llvm::DenseMap<Value, Argument> values;
};

/// The number that a scalar of the graph is, as an attribute of its type.
TypedAttr numberOf(Type type, uint64_t bits) {
  APInt number(type.getIntOrFloatBitWidth(), bits, /*isSigned=*/false, /*implicitTrunc=*/true);
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat(real.getFloatSemantics(), number));
  return IntegerAttr::get(type, number);
}

/// Runs an op on scalars by folding it: an op means one thing, in constants and here.
bool evaluateScalar(Operation *op, Frame &frame) {
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    operands.push_back(numberOf(operand.getType(), frame.get(operand).bits));
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != op->getNumResults())
    return false;
  for (auto [value, result] : llvm::zip(op->getResults(), results)) {
    if (auto attribute = dyn_cast<Attribute>(result))
      frame.set(value, {nullptr, bitsOf(attribute)});
    else
      frame.set(value, frame.get(cast<Value>(result)));
  }
  return true;
}

/// " with M = 3, N = 4": the dimensions of a graph.
std::string describeDims(ir::GraphOp graph, ArrayRef<int64_t> dims) {
  std::string text;
  for (auto [name, value] : llvm::zip(graph.getDims().getAsValueRange<StringAttr>(), dims))
    text += (Twine(text.empty() ? " with " : ", ") + name + " = " + Twine(value)).str();
  return text;
}

/// A failure inside a call says which call it was; the file and line are the call's.
Failure insideCall(ir::CallOp call, Failure failure) {
  if (failure.kind != Failure::Kind::Invalid)
    return failure;
  InFlightDiagnostic diagnostic = emitError(call.getLoc(), failure.message);
  if (!failure.hint.empty())
    diagnostic.attachNote(call.getLoc()) << "hint: " << failure.hint;
  return Failure::reported();
}
} // namespace

Outcome<Outputs> Executor::runGraph(ir::GraphOp graph, Arguments arguments,
                                    const llvm::StringMap<int64_t> &explicitDims) {
  Interface interface = interfaceOf(graph);
  if (auto checked = checkArguments(interface, arguments); !checked)
    return checked.takeFailure();
  SmallVector<ArrayRef<int64_t>> shapes;
  for (const Argument &argument : arguments)
    shapes.push_back(argument.tensor ? ArrayRef<int64_t>(argument.tensor->shape())
                                     : ArrayRef<int64_t>());
  ir::UserError error;
  FailureOr<ir::LaunchBinding> binding = ir::bindLaunch(graph, shapes, explicitDims, error);
  if (failed(binding))
    return Failure::invalid(std::move(error));

  llvm::StringMap<int64_t> dims;
  for (auto [name, value] : llvm::zip(graph.getDims().getAsValueRange<StringAttr>(), binding->dims))
    dims[name] = value;
  Frame frame;
  Block &body = graph.getBody().front();
  for (auto [value, argument] : llvm::zip_equal(body.getArguments(), arguments))
    frame.set(value, std::move(argument));

  for (Operation &op : body.without_terminator()) {
    if (auto dim = dyn_cast<ir::DimOp>(op)) {
      frame.set(dim, {nullptr, static_cast<uint64_t>(dims.lookup(dim.getName()))});
    } else if (auto require = dyn_cast<ir::RequireOp>(op)) {
      if (!(frame.get(require.getCondition()).bits & 1))
        return Failure::invalid({"`" + interface.name + "` requires " + require.getMessage().str() +
                                     "; it does not hold" + describeDims(graph, binding->dims),
                                 ""});
    } else if (auto call = dyn_cast<ir::CallOp>(op)) {
      Arguments inputs;
      for (Value input : call.getInputs())
        inputs.push_back(frame.get(input));
      llvm::StringMap<int64_t> consts;
      for (auto [name, value] :
           llvm::zip(call.getConstNames().getAsValueRange<StringAttr>(), call.getConstValues()))
        consts[name] = static_cast<int64_t>(frame.get(value).bits);
      // What was read for the last time belongs to the call alone.
      frame.release(call);
      Outcome<Outputs> results = run(call.getCallee(), std::move(inputs), consts);
      if (!results)
        return insideCall(call, results.takeFailure());
      for (auto [value, tensor] : llvm::zip_equal(call.getResults(), *results))
        frame.set(value, {std::move(tensor), 0});
    } else if (!evaluateScalar(&op, frame)) {
      return Failure::internal("graph " + interface.name + ": no value for " +
                               op.getName().getStringRef().str());
    }
  }

  Outputs outputs;
  auto returned = cast<ir::ReturnOp>(body.getTerminator()).getOperands();
  for (auto [port, value] : llvm::zip_equal(interface.outputs, returned)) {
    const Argument &result = frame.get(value);
    ArrayRef<int64_t> expected = binding->shapes[graph.getNumArguments() + port.position];
    if (ArrayRef<int64_t>(result.tensor->shape()) != expected)
      return Failure::invalid({"output `" + port.name + "` of `" + interface.name + "` is " +
                                   result.tensor->describe() + ", declared as " + port.str() +
                                   describeDims(graph, binding->dims),
                               ""});
    outputs.push_back(result.tensor);
  }
  return outputs;
}
