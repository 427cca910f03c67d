//===- GraphMemory.cpp - what a graph's tensors take at a time ------------===//

#include "ir/fusion/GraphMemory.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace tile::ir;

namespace {
/// A tensor that a call gives.
struct Written {
  Value tensor; // null if nobody reads it
  double bytes;
  Value changed; // what an `inout` was; null else
};

/// What a call reads and gives; the call may be one that is thought of.
struct Use {
  CallOp call;
  SmallVector<Value, 4> reads;
  SmallVector<Written, 2> writes;
};

/// The calls of a graph, in their order.
class Uses {
public:
  Uses(GraphOp graph, GraphCosts &costs);

  /// As a step would leave them.
  void perform(const FusionStep &step, CallOp first, CallOp second);
  /// Bytes of the tensors between calls at a time; and if none shared memory.
  double atATime(CostModel &model) const;
  double together() const;

private:
  void replace(const Pairing &pairing);
  void putInOrder(size_t made);
  size_t indexOf(CallOp call) const {
    return llvm::find_if(uses, [&](const Use &use) { return use.call == call; }) - uses.begin();
  }

  std::vector<Use> uses;
  DenseSet<Value> results;
};
} // namespace

static bool isTensor(Value value) { return isa<TensorType>(value.getType()); }

Uses::Uses(GraphOp graph, GraphCosts &costs) {
  Operation *returned = graph.getBody().front().getTerminator();
  results.insert(returned->operand_begin(), returned->operand_end());
  for (CallOp call : graph.getBody().getOps<CallOp>()) {
    Use use{call, llvm::filter_to_vector<4>(call.getInputs(), isTensor), {}};
    for (Value result : call.getResults())
      use.writes.push_back(
          {result, costs.bytesOf(result), costs.changedBy(cast<OpResult>(result))});
    uses.push_back(std::move(use));
  }
}

void Uses::perform(const FusionStep &step, CallOp first, CallOp second) {
  bool guestStays = false;
  for (CallOp host : hostsOf(step, first, second)) {
    Pairing pairing = pairingOf(step, first, host);
    guestStays = step.transform != FusionEntry::Transform::InlineAll && isNeededAfter(pairing);
    replace(pairing);
  }
  if (!guestStays)
    uses.erase(uses.begin() + indexOf(first));
}

/// As FusedKernel::commit. A kernel that changes an `inout` is never fused.
void Uses::replace(const Pairing &pairing) {
  size_t host = indexOf(pairing.host);
  Use &guest = uses[indexOf(pairing.guest)];
  llvm::SmallSetVector<Value, 8> reads(guest.reads.begin(), guest.reads.end());
  reads.insert(uses[host].reads.begin(), uses[host].reads.end());
  for (Value tensor : pairing.tensors)
    reads.remove(tensor);
  SmallVector<Value> kept = pairing.kept();
  for (Written &written : guest.writes)
    if (llvm::is_contained(kept, written.tensor)) {
      uses[host].writes.push_back(written);
      written.tensor = nullptr;
    }
  uses[host].call = nullptr;
  uses[host].reads.assign(reads.begin(), reads.end());
  if (!kept.empty())
    putInOrder(host);
}

/// What reads what a call gives, and stands before it, comes after it.
void Uses::putInOrder(size_t made) {
  DenseMap<Value, size_t> writers;
  for (auto [n, use] : llvm::enumerate(uses))
    for (const Written &written : use.writes)
      if (written.tensor)
        writers[written.tensor] = n;
  size_t last = made;
  for (Value read : uses[made].reads)
    if (auto writer = writers.find(read); writer != writers.end())
      last = std::max(last, writer->second);
  // Readers of what it gives stand before or behind it; those of theirs behind them.
  std::vector<bool> moves(uses.size());
  moves[made] = true;
  for (size_t n = 0; n < last; ++n)
    moves[n] = n == made || llvm::any_of(uses[n].reads, [&](Value read) {
                 auto writer = writers.find(read);
                 return writer != writers.end() && moves[writer->second];
               });
  std::vector<Use> ordered, moved = {uses[made]};
  for (size_t n = 0; n < uses.size(); ++n) {
    if (n < last && moves[n] && n != made)
      moved.push_back(uses[n]);
    else if (n != made)
      ordered.push_back(uses[n]);
    if (n == last)
      ordered.insert(ordered.end(), moved.begin(), moved.end());
  }
  uses = std::move(ordered);
}

double Uses::atATime(CostModel &model) const {
  std::vector<std::vector<uint32_t>> dependencies(uses.size());
  DenseMap<Value, uint32_t> writers;
  DenseMap<Value, uint32_t> numbers;
  std::vector<TensorLife> lives;
  for (auto [n, use] : llvm::enumerate(uses)) {
    for (Value read : use.reads) {
      if (auto writer = writers.find(read); writer != writers.end())
        dependencies[n].push_back(writer->second);
      if (auto number = numbers.find(read); number != numbers.end())
        lives[number->second].readers.push_back(n);
    }
    for (const Written &written : use.writes) {
      if (written.tensor)
        writers[written.tensor] = n;
      if (results.contains(written.tensor))
        continue;
      std::optional<uint32_t> changed;
      if (auto number = numbers.find(written.changed); number != numbers.end())
        changed = number->second;
      if (written.tensor)
        numbers[written.tensor] = lives.size();
      lives.push_back({written.bytes, static_cast<uint32_t>(n), {}, changed});
    }
  }
  return model.bytesAtATime(lives, std::move(dependencies));
}

double Uses::together() const {
  double bytes = 0;
  for (const Use &use : uses)
    for (const Written &written : use.writes)
      if (!results.contains(written.tensor))
        bytes += written.bytes;
  return bytes;
}

double tile::ir::bytesBetweenCalls(GraphOp graph, CostModel &model, const FuseOptions &options) {
  GraphShapes shapes(graph);
  GraphCosts costs(graph, model, options, shapes);
  return Uses(graph, costs).atATime(model);
}

/// "141 GB"
static std::string inUnits(double bytes) {
  std::string text;
  llvm::raw_string_ostream(text) << (bytes >= 1e9 ? llvm::format("%.4g GB", bytes / 1e9)
                                                  : llvm::format("%.4g MB", bytes / 1e6));
  return text;
}

void MemoryLimit::begin() {
  limit = model.memory();
  if (std::isinf(limit) && mayGrow)
    return;
  llvm::SmallSetVector<Value, 8> there;
  for (Value input : graph.getBody().getArguments())
    if (isTensor(input))
      there.insert(input);
  Operation *returned = graph.getBody().front().getTerminator();
  there.insert(returned->operand_begin(), returned->operand_end());
  for (Value tensor : there)
    lasting += costs.bytesOf(tensor);
  Uses uses(graph, costs);
  if (!mayGrow) {
    most = limit = lasting + uses.atATime(model);
    isTight = true;
    return;
  }
  most = lasting + uses.together();
  isTight = most > limit;
  if (isTight)
    most = lasting + uses.atATime(model);
  isTight &= most <= limit;
}

bool MemoryLimit::allows(const FusionStep &step, CallOp first, CallOp second,
                         FusionRefusal &refusal) {
  if (!isTight)
    return true;
  // At worst what the first call reads is there at a time when it wasn't, and where a call moves
  // all tensors at the calls are: the plan is made only where that doesn't fit.
  SmallVector<CallOp> hosts = hostsOf(step, first, second);
  llvm::SmallSetVector<Value, 8> later(first.getInputs().begin(), first.getInputs().end());
  bool moves = llvm::any_of(hosts, [&](CallOp host) {
    Pairing pairing = pairingOf(step, first, host);
    return pairing.isMerge() || !pairing.kept().empty();
  });
  if (moves)
    for (CallOp call : llvm::concat<const CallOp>(hosts, ArrayRef(first))) {
      later.insert(call.getInputs().begin(), call.getInputs().end());
      later.insert(call.getResults().begin(), call.getResults().end());
    }
  double more = 0;
  for (Value value : later)
    if (isTensor(value))
      more += costs.bytesOf(value);
  if (most + more <= limit) {
    most += more;
    return true;
  }
  Uses uses(graph, costs);
  uses.perform(step, first, second);
  double after = lasting + uses.atATime(model);
  if (after <= limit) {
    most = after;
    return true;
  }
  most = lasting + Uses(graph, costs).atATime(model);
  refusal.reason =
      "as one, the graph would need " + inUnits(after) + " at a time, more than " +
      (mayGrow ? "the device's " + inUnits(limit) + " (it needs " + inUnits(most) + " as it is)"
               : "its calls apart, which need " + inUnits(limit));
  refusal.isLimit = true;
  return false;
}
