//===- FusionNotes.cpp - what the search tells of itself ------------------===//

#include "ir/fusion/FusionNotes.h"
#include "ir/fusion/GraphNames.h"
#include "ir/proofs/Spelling.h"

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
  entry.fault = refusal.fault;
  entry.isShared = entry.verdict == Verdict::Slower
                       ? entry.together.operations > entry.apart.operations
                       : refusal.isShared;
  if (refusal.loc)
    entry.place = placeOf(refusal.loc);
  // Pairs are looked at again after each change beside them: what is the same is said once.
  Pair pair{entry.first, entry.second, entry.transform == Transform::Merge};
  auto [known, isNew] = lastOfTensor.try_emplace({pair, entry.tensor}, ledger.entries.size());
  if (!isNew) {
    const FusionEntry &last = ledger.entries[known->second];
    if (last.verdict == entry.verdict && last.reason == entry.reason &&
        last.transform == entry.transform)
      return;
    known->second = ledger.entries.size();
  }
  lastEntry[pair] = ledger.entries.size();
  ledger.entries.push_back(std::move(entry));
}

/// Of readers that follow each other, and of what two of them share, the largest.
void FusionNotes::noteSharedReads(const DenseMap<Operation *, unsigned> &numbers,
                                  const DenseMap<Operation *, const LiveCall *> &entries) {
  llvm::MapVector<Value, SmallVector<CallOp>> readers;
  for (CallOp call : graph.getBody().getOps<CallOp>())
    for (Value input : call.getInputs())
      if (isa<TensorType>(input.getType()))
        if (auto &calls = readers[input]; calls.empty() || calls.back() != call)
          calls.push_back(call);
  auto entryOf = [&](CallOp a, CallOp b) {
    auto last = lastEntry.find({entries.at(a)->calls, entries.at(b)->calls, true});
    return last == lastEntry.end() ? std::optional<unsigned>() : last->second;
  };
  for (auto &[tensor, calls] : readers)
    for (size_t n = 0; n + 1 < calls.size(); ++n) {
      if (reaches(calls[n], calls[n + 1]))
        continue; // what is between them says why
      std::optional<unsigned> entry = entryOf(calls[n], calls[n + 1]);
      if (!entry)
        entry = entryOf(calls[n + 1], calls[n]);
      if (entry)
        ledger.sharedReads.push_back({nameOf(tensor), costs.bytesOf(tensor), numbers.at(calls[n]),
                                      numbers.at(calls[n + 1]), 0, entry, std::nullopt});
    }
  llvm::stable_sort(ledger.sharedReads,
                    [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
  std::set<std::pair<unsigned, unsigned>> seen;
  llvm::erase_if(ledger.sharedReads, [&](const auto &read) {
    return !seen.insert({read.from, read.to}).second;
  });
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
      Pair pair{entries.at(producer)->calls, entries.at(call)->calls, false};
      if (auto own = lastOfTensor.find({pair, boundary.tensor}); own != lastOfTensor.end())
        boundary.entry = own->second;
      else if (auto last = lastEntry.find(pair); last != lastEntry.end())
        boundary.entry = last->second;
      ledger.boundaries.push_back(std::move(boundary));
    }
  }
  llvm::stable_sort(ledger.boundaries,
                    [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
  noteSharedReads(numbers, entries);
}
