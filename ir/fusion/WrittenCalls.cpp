//===- WrittenCalls.cpp - the calls of a graph as it is written -----------===//

#include "ir/fusion/WrittenCalls.h"
#include "ir/fusion/DeadCalls.h"
#include "ir/fusion/DeadOutputs.h"
#include "ir/fusion/EqualCalls.h"
#include "ir/fusion/EqualKernels.h"
#include "ir/proofs/Spelling.h"

using namespace mlir;
using namespace tile::ir;

/// Calls of equal kernels call the same one, so that equal pairs of calls are seen to be equal.
static void shareKernels(GraphOp graph, GraphShapes &shapes, GraphCosts &costs) {
  EqualKernels kernels;
  for (CallOp call : graph.getBody().getOps<CallOp>())
    if (KernelOp kernel = shapes.kernelOf(call); kernel && !costs.isNamed(kernel))
      call.setCallee(kernels.firstOf(kernel).getSymName());
}

DenseMap<Operation *, unsigned> tile::ir::noteCalls(GraphOp graph, GraphShapes &shapes,
                                                    GraphCosts &costs, bool keepsCalls,
                                                    FusionLedger &ledger) {
  using Fate = FusionLedger::Call::Fate;
  DenseMap<Operation *, unsigned> numbers;
  for (CallOp call : graph.getBody().getOps<CallOp>()) {
    std::vector<std::string> places = placesOf(call.getLoc());
    numbers[call] = ledger.calls.size();
    ledger.calls.push_back({call.getCallee().str(),
                            nameOfCallee(call),
                            places.front(),
                            {places.begin() + 1, places.end()},
                            {}});
  }
  shareKernels(graph, shapes, costs);
  for (auto [call, number] : numbers)
    ledger.calls[number].cost = costs.costWithCopies(cast<CallOp>(call));
  auto goes = [&](CallOp call, Fate fate) -> FusionLedger::Call & {
    FusionLedger::Call &entry = ledger.calls[numbers.at(call)];
    numbers.erase(call);
    entry.fate = fate;
    return entry;
  };
  if (keepsCalls)
    return numbers;
  mergeEqualCalls(
      graph, [&](CallOp call, CallOp same) { goes(call, Fate::Equal).same = numbers.at(same); });
  dropDeadCalls(graph, [&](CallOp call) { goes(call, Fate::Dead); });
  auto mayDrop = [&](CallOp call) {
    KernelOp kernel = shapes.kernelOf(call);
    return kernel && !costs.isNamed(kernel);
  };
  dropDeadOutputs(graph, shapes, mayDrop, [&](CallOp call, CallOp fewer) {
    unsigned number = numbers.at(call);
    numbers.erase(call);
    numbers[fewer] = number;
  });
  return numbers;
}
