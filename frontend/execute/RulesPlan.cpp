//===- RulesPlan.cpp - graphs as plans of the runtime ---------------------===//

#include "frontend/execute/Rules.h"
#include "ir/proofs/Spelling.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using runtime::GraphPlan;
using runtime::PlanFrame;
using runtime::PlanStep;

namespace {
class Planner {
public:
  Planner(KernelNumbers &numbers, PlanSource &source) : numbers(numbers), source(source) {}

  GraphPlan plan;

  Outcome<Done> run(ir::GraphOp graph) {
    Outcome<uint32_t> frame = open(graph, {});
    if (!frame)
      return frame.takeFailure();
    Block &body = graph.getBody().front();
    for (BlockArgument argument : body.getArguments())
      if (isa<ShapedType>(argument.getType()))
        tensors[argument] = plan.numTensors++;
    return walk(graph, *frame);
  }

private:
  Outcome<uint32_t> open(ir::GraphOp graph, ir::CallOp call);
  Outcome<Done> walk(ir::GraphOp graph, uint32_t frame);
  Outcome<Done> visit(ir::CallOp call, uint32_t frame);
  Outcome<Done> visitGraph(ir::CallOp call, ir::GraphOp callee, uint32_t frame);
  void visitKernel(ir::CallOp call, ir::KernelOp callee, uint32_t frame);

  std::vector<runtime::PlanOperand> operandsOf(ir::CallOp call, uint32_t frame) const;
  std::vector<runtime::PlanConstant> constantsOf(ir::CallOp call, uint32_t frame) const;

  KernelNumbers &numbers;
  PlanSource &source;
  /// Numbers of the frames' programs.
  std::vector<ProgramBuilder> programs;
  /// A graph that is called twice has its values twice: those of the call that is walked.
  llvm::DenseMap<Value, uint32_t> tensors;
};
} // namespace

/// A frame with the numbers that the graph computes, which depend on no tensor.
Outcome<uint32_t> Planner::open(ir::GraphOp graph, ir::CallOp call) {
  auto index = static_cast<uint32_t>(plan.frames.size());
  PlanFrame frame;
  frame.signature = signatureOf(graph);
  ProgramBuilder builder(graph.getDims());
  Block &body = graph.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (!isa<ShapedType>(argument.getType()))
      builder.addScalar(argument, argument.getArgNumber());
  for (Operation &op : body.without_terminator()) {
    if (isa<ir::CallOp>(op))
      continue;
    if (auto require = dyn_cast<ir::RequireOp>(op)) {
      frame.requirements.push_back(
          {builder.at(require.getCondition()), require.getMessage().str()});
    } else if (failed(builder.add(&op))) {
      return Failure::internal("graph " + graph.getSymName().str() + ": no instruction for " +
                               op.getName().getStringRef().str());
    }
  }
  frame.program = builder.program;
  if (call)
    frame.place = llvm::join(ir::placesOf(call.getLoc()), "\n");
  programs.push_back(std::move(builder));
  plan.frames.push_back(std::move(frame));
  plan.steps.push_back({PlanStep::Kind::Open, index});
  source.frames.push_back(call);
  return index;
}

Outcome<Done> Planner::walk(ir::GraphOp graph, uint32_t frame) {
  Block &body = graph.getBody().front();
  for (ir::CallOp call : body.getOps<ir::CallOp>())
    if (auto done = visit(call, frame); !done)
      return done;
  for (Value result : body.getTerminator()->getOperands())
    plan.frames[frame].results.push_back(tensors.at(result));
  plan.steps.push_back({PlanStep::Kind::Close, frame});
  return Done{};
}

std::vector<runtime::PlanOperand> Planner::operandsOf(ir::CallOp call, uint32_t frame) const {
  std::vector<runtime::PlanOperand> operands;
  for (Value input : call.getInputs()) {
    bool isTensor = isa<ShapedType>(input.getType());
    operands.push_back({isTensor, isTensor ? tensors.at(input) : programs[frame].at(input)});
  }
  return operands;
}

std::vector<runtime::PlanConstant> Planner::constantsOf(ir::CallOp call, uint32_t frame) const {
  std::vector<runtime::PlanConstant> constants;
  for (auto [name, value] :
       llvm::zip_equal(call.getConstNames().getAsValueRange<StringAttr>(), call.getConstValues()))
    constants.push_back({name.str(), programs[frame].at(value)});
  return constants;
}

Outcome<Done> Planner::visit(ir::CallOp call, uint32_t frame) {
  Operation *callee = call->getParentOfType<ModuleOp>().lookupSymbol(call.getCallee());
  if (auto graph = dyn_cast<ir::GraphOp>(callee))
    return visitGraph(call, graph, frame);
  visitKernel(call, cast<ir::KernelOp>(callee), frame);
  return Done{};
}

void Planner::visitKernel(ir::CallOp call, ir::KernelOp callee, uint32_t frame) {
  auto index = static_cast<uint32_t>(plan.calls.size());
  runtime::PlanCall entry{
      numbers.of(callee),       frame, operandsOf(call, frame),
      constantsOf(call, frame), {},    llvm::join(ir::placesOf(call.getLoc()), "\n")};
  for (Value result : call.getResults()) {
    tensors[result] = plan.numTensors;
    entry.outputs.push_back(plan.numTensors++);
  }
  plan.calls.push_back(std::move(entry));
  plan.steps.push_back({PlanStep::Kind::Call, index});
  source.calls.push_back(call);
}

Outcome<Done> Planner::visitGraph(ir::CallOp call, ir::GraphOp callee, uint32_t frame) {
  std::vector<runtime::PlanOperand> operands = operandsOf(call, frame);
  std::vector<runtime::PlanConstant> constants = constantsOf(call, frame);
  Outcome<uint32_t> opened = open(callee, call);
  if (!opened)
    return opened.takeFailure();
  for (auto [argument, operand] :
       llvm::zip_equal(callee.getBody().front().getArguments(), operands))
    if (operand.isTensor)
      tensors[argument] = operand.index;
  plan.frames[*opened].caller = frame;
  plan.frames[*opened].inputs = std::move(operands);
  plan.frames[*opened].constants = std::move(constants);
  if (auto done = walk(callee, *opened); !done)
    return done;
  for (auto [result, tensor] : llvm::zip_equal(call.getResults(), plan.frames[*opened].results))
    tensors[result] = tensor;
  return Done{};
}

Outcome<GraphPlan> tile::frontend::planOf(ir::GraphOp graph, KernelNumbers &numbers,
                                          PlanSource *source) {
  PlanSource own;
  Planner planner(numbers, source ? *source : own);
  if (auto done = planner.run(graph); !done)
    return done.takeFailure();
  return std::move(planner.plan);
}
