//===- FusionNotes.cpp - what the search tells of itself ------------------===//

#include "ir/fusion/FusionNotes.h"
#include "ir/Spelling.h"
#include "ir/fusion/GraphNames.h"

using namespace mlir;
using namespace tile::ir;
using Transform = FusionEntry::Transform;
using Verdict = FusionEntry::Verdict;

std::string FusionNotes::nameOf(Value tensor) { return nameOfTensor(tensor, graph, shapes); }

/// What the source calls what a call does.
std::string FusionNotes::nameOf(unsigned id) {
  return joinNames(llvm::map_to_vector(
      live[id].calls, [&](unsigned call) { return StringRef(ledger.calls[call].name); }));
}

/// A reason in the words of the graph.
std::string FusionNotes::told(StringRef reason, unsigned first, unsigned second) {
  if (reason.empty())
    return "";
  auto named = [&](unsigned id) { return NamedCall{live[id].call, nameOf(id)}; };
  return inWordsOfGraph(reason, named(first), named(second), graph, shapes,
                        [&](StringRef symbol) -> std::string {
                          if (!shapes.symbolTable().lookup(symbol))
                            return ""; // a word of the source
                          for (auto [id, entry] : llvm::enumerate(live))
                            if (entry.call && CallOp(entry.call).getCallee() == symbol)
                              return nameOf(id);
                          return "";
                        });
}

void FusionNotes::add(FusionEntry entry, unsigned first, unsigned second, Value tensor,
                      const FusionRefusal &refusal) {
  entry.first = live[first].calls;
  entry.second = live[second].calls;
  entry.tensor = nameOf(tensor);
  entry.tensorBytes = costs.bytesOf(tensor);
  entry.reason = told(refusal.reason, first, second);
  entry.isShared = entry.verdict == Verdict::Slower
                       ? entry.together.operations > entry.apart.operations
                       : refusal.isShared;
  if (refusal.loc)
    entry.place = placeOf(refusal.loc);
  // Pairs are looked at again after each change beside them: what is the same is said once.
  auto [known, isNew] = lastEntry.try_emplace(
      {entry.first, entry.second, entry.transform == Transform::Merge}, ledger.entries.size());
  if (!isNew) {
    const FusionEntry &last = ledger.entries[known->second];
    if (last.verdict == entry.verdict && last.reason == entry.reason &&
        last.transform == entry.transform)
      return;
    known->second = ledger.entries.size();
  }
  ledger.entries.push_back(std::move(entry));
}

void FusionNotes::finish() {
  DenseMap<Operation *, const LiveCall *> entries;
  for (const LiveCall &entry : live)
    if (entry.call)
      entries[entry.call] = &entry;
  DenseMap<Operation *, unsigned> numbers;
  for (CallOp call : graph.getBody().getOps<CallOp>()) {
    const LiveCall &entry = *entries.at(call);
    numbers[call] = ledger.kernels.size();
    ledger.kernels.push_back({call.getCallee().str(), entry.calls, costs.costWithCopies(call)});
  }
  for (CallOp call : graph.getBody().getOps<CallOp>()) {
    llvm::SmallSetVector<Value, 8> inputs(call.getInputs().begin(), call.getInputs().end());
    for (Value input : inputs) {
      auto producer = input.getDefiningOp<CallOp>();
      if (!producer)
        continue;
      FusionLedger::Boundary boundary{nameOf(input),
                                      costs.bytesOf(input),
                                      numbers.at(producer),
                                      numbers.at(call),
                                      cast<OpResult>(input).getResultNumber(),
                                      std::nullopt,
                                      std::nullopt};
      auto last = lastEntry.find({entries.at(producer)->calls, entries.at(call)->calls, false});
      if (last != lastEntry.end())
        boundary.entry = last->second;
      ledger.boundaries.push_back(std::move(boundary));
    }
  }
  llvm::stable_sort(ledger.boundaries,
                    [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
}
