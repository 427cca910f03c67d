//===- Fuser.cpp - which kernels of a graph become one --------------------===//

#include "ir/fusion/Fuser.h"
#include "ir/AffineEval.h"
#include "ir/FormFma.h"
#include "ir/Specialize.h"
#include "ir/Spelling.h"
#include "ir/fusion/InlineProducer.h"
#include "ir/fusion/MergeSiblings.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"

#include <queue>

using namespace mlir;
using namespace tile::ir;
using Transform = FusionEntry::Transform;
using Verdict = FusionEntry::Verdict;

static void prepare(KernelOp kernel) {
  simplify(kernel);
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
  formFma(kernel);
  closeFma(kernel);
}

void tile::ir::prepareForFusion(GraphOp graph) {
  SymbolTable symbols(graph->getParentOfType<ModuleOp>());
  llvm::SetVector<Operation *> callees;
  for (CallOp call : graph.getBody().getOps<CallOp>())
    callees.insert(symbols.lookup(call.getCallee()));
  for (Operation *callee : callees) {
    if (auto kernel = dyn_cast<KernelOp>(callee); kernel && !hasClosedFma(kernel))
      prepare(kernel);
    else if (auto inner = dyn_cast<GraphOp>(callee))
      prepareForFusion(inner);
  }
}

namespace {
/// A call that is there, by a number of its own.
struct Live {
  CallOp call; // null once it is gone
  /// The calls of the graph as it was that it does.
  std::vector<unsigned> calls;
  KernelCost cost;
  unsigned operations = 0;
};

/// Two calls that may become one.
struct Candidate {
  /// Seconds: at most so much, or as it was evaluated.
  double gain;
  bool isMerge;
  /// Producer and consumer, or two siblings.
  unsigned first, second;
  /// The producer's result, or an input that both have: by number, of the first one.
  unsigned tensor;
  /// The commits when it was evaluated; none: never.
  std::optional<unsigned> evaluated;

  /// The best comes last. Between equals small kernels come first, so that long chains grow evenly.
  bool operator<(const Candidate &other) const {
    return std::tuple(gain, -double(first + second), -double(first), !isMerge) <
           std::tuple(other.gain, -double(other.first + other.second), -double(other.first),
                      !other.isMerge);
  }
};

/// What one of the transforms would give.
struct Proposal {
  Transform transform = Transform::Inline;
  InlineOptions options;
  /// Only the candidate's tensor is inlined, not all that are between the two.
  bool isSingle = false;
  /// Of a merge: the second one is the guest.
  bool isSwapped = false;
  KernelCost apart = {}, together = {};

  double gain() const { return apart.seconds - together.seconds; }
};

class Fuser {
public:
  Fuser(GraphOp graph, CostModel &model, const FuseOptions &options)
      : graph(graph), model(model), options(options), shapes(graph) {}
  FusionLedger run();

private:
  // What is known of calls.
  unsigned add(CallOp call, std::vector<unsigned> calls);
  bool isLive(unsigned id) const { return live[id].call != nullptr; }
  int64_t valueOf(AffineExpr expr);
  double bytesOf(Value tensor);
  std::string nameOf(Value tensor);
  KernelCost costOf(KernelOp kernel, ArrayRef<AffineExpr> dims);
  KernelCost costOf(FusedKernel &fused) { return costOf(fused.kernel(), fused.callDims()); }

  // Candidates.
  void collect(unsigned id, bool isFirst = false);
  void collectSiblings(unsigned id, unsigned input, Value tensor, bool isFirst);
  void push(bool isMerge, unsigned first, unsigned second, unsigned tensor, double most);
  Value tensorOf(const Candidate &candidate);

  // Proposals.
  std::optional<Proposal> evaluate(const Candidate &candidate);
  std::optional<Proposal> evaluateInlining(const Candidate &candidate, FusionRefusal &refusal);
  std::optional<Proposal> evaluateAll(const Candidate &candidate, FusionRefusal &refusal);
  std::optional<Proposal> evaluateMerging(const Candidate &candidate, FusionRefusal &refusal);
  std::unique_ptr<FusedKernel> inlined(CallOp producer, CallOp consumer, ArrayRef<Value> tensors,
                                       const InlineOptions &how, FusionRefusal &refusal);
  std::optional<Proposal> evaluateInlining(const Candidate &candidate, bool isSingle,
                                           FusionRefusal &refusal);
  bool isTooLarge(FusedKernel &fused, FusionRefusal &refusal) const;
  void commit(const Candidate &candidate, const Proposal &proposal);
  unsigned replace(FusedKernel &fused, unsigned first, unsigned second, bool firstStays);

  // The ledger.
  void note(const Candidate &candidate, Verdict verdict, const FusionRefusal &refusal,
            const Proposal *proposal);
  void finish();

  GraphOp graph;
  CostModel &model;
  const FuseOptions &options;
  GraphShapes shapes;
  std::vector<int64_t> symbols;
  std::vector<Live> live;
  DenseMap<Operation *, unsigned> ids;
  std::priority_queue<Candidate> open;
  unsigned commits = 0;
  FusionLedger ledger;
  /// The last entry by the calls on either side.
  std::map<std::pair<std::vector<unsigned>, std::vector<unsigned>>, unsigned> lastEntry;
};
} // namespace

//===-- What is known of calls --------------------------------------------===//

int64_t Fuser::valueOf(AffineExpr expr) {
  symbols.resize(shapes.numSymbols(), options.usualExtent);
  return std::max<int64_t>(0, evaluateAffine(expr, {}, symbols).value_or(options.usualExtent));
}

double Fuser::bytesOf(Value tensor) {
  double bytes = std::max(1U, getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth() / 8);
  for (AffineExpr extent : shapes.shapeOf(tensor))
    bytes *= static_cast<double>(valueOf(extent));
  return bytes;
}

/// What the source calls it: an input, what a call gives, else the output of its kernel.
std::string Fuser::nameOf(Value tensor) {
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return graph.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name").str();
  auto result = cast<OpResult>(tensor);
  if (StringRef name = nameOfResult(result); !name.empty())
    return name.str();
  KernelOp kernel = shapes.kernelOf(cast<CallOp>(result.getOwner()));
  return kernel ? kernel.getParamName(outputPosition(kernel, result.getResultNumber())).str()
                : "result";
}

KernelCost Fuser::costOf(KernelOp kernel, ArrayRef<AffineExpr> dims) {
  SmallVector<int64_t> values;
  for (AffineExpr dim : dims)
    values.push_back(valueOf(dim));
  return model.costOf(kernel, values);
}

unsigned Fuser::add(CallOp call, std::vector<unsigned> calls) {
  unsigned id = live.size();
  Live entry{call, std::move(calls), {}, 0};
  if (KernelOp kernel = shapes.kernelOf(call)) {
    entry.cost = costOf(kernel, shapes.dimsOf(call));
    kernel.walk([&](Operation *) { ++entry.operations; });
  }
  live.push_back(std::move(entry));
  ids[call] = id;
  return id;
}

//===-- Candidates --------------------------------------------------------===//

void Fuser::push(bool isMerge, unsigned first, unsigned second, unsigned tensor, double most) {
  open.push({most, isMerge, first, second, tensor, std::nullopt});
}

Value Fuser::tensorOf(const Candidate &candidate) {
  CallOp first = live[candidate.first].call;
  return candidate.isMerge ? first.getInputs()[candidate.tensor]
                           : first.getResult(candidate.tensor);
}

/// All that a call may become one with; at first only calls before it, so that each pair comes
/// once.
void Fuser::collect(unsigned id, bool isFirst) {
  CallOp call = live[id].call;
  auto addEdge = [&](Value tensor, CallOp producer, CallOp consumer) {
    unsigned first = ids.at(producer), second = ids.at(consumer);
    // At most the work of the producer is saved, and what the tensor moves.
    double most = live[first].cost.seconds + 2 * bytesOf(tensor) / model.bandwidth();
    push(false, first, second, cast<OpResult>(tensor).getResultNumber(), most);
  };
  llvm::SmallSetVector<Value, 8> inputs;
  for (Value input : call.getInputs())
    if (isa<TensorType>(input.getType()))
      inputs.insert(input);
  for (Value input : inputs) {
    if (auto producer = input.getDefiningOp<CallOp>())
      addEdge(input, producer, call);
    unsigned position = llvm::find(call.getInputs(), input) - call.getInputs().begin();
    collectSiblings(id, position, input, isFirst);
  }
  if (isFirst)
    return;
  for (Value result : call.getResults()) {
    llvm::SmallSetVector<Operation *, 8> users(result.getUsers().begin(), result.getUsers().end());
    for (Operation *user : users)
      if (auto consumer = dyn_cast<CallOp>(user))
        addEdge(result, call, consumer);
  }
}

/// Others that read a tensor, the nearest few.
void Fuser::collectSiblings(unsigned id, unsigned input, Value tensor, bool isFirst) {
  constexpr size_t few = 8;
  SmallVector<unsigned> others;
  llvm::SmallPtrSet<Operation *, 8> seen;
  for (Operation *user : tensor.getUsers())
    if (auto other = dyn_cast<CallOp>(user); other && ids.at(other) != id &&
                                             !(isFirst && ids.at(other) > id) &&
                                             seen.insert(other).second)
      others.push_back(ids.at(other));
  llvm::sort(others, [&](unsigned a, unsigned b) {
    auto distance = [&](unsigned n) { return n > id ? n - id : id - n; };
    return std::pair(distance(a), a) < std::pair(distance(b), b);
  });
  for (unsigned other : ArrayRef(others).take_front(few)) {
    // The one must take as long as the longer of the two.
    double most = std::min(live[id].cost.seconds, live[other].cost.seconds);
    push(true, id, other, input, most);
  }
}

//===-- Proposals ---------------------------------------------------------===//

bool Fuser::isTooLarge(FusedKernel &fused, FusionRefusal &refusal) const {
  unsigned operations = 0;
  fused.kernel().walk([&](Operation *) { ++operations; });
  if (operations > options.mostOperations)
    refusal.reason = "as one they would have " + std::to_string(operations) +
                     " operations, more than " + std::to_string(options.mostOperations);
  else if (fused.kernel().getNumArguments() > options.mostParameters)
    refusal.reason = "as one they would have " + std::to_string(fused.kernel().getNumArguments()) +
                     " parameters, more than " + std::to_string(options.mostParameters);
  else
    return false;
  refusal.isLimit = true;
  return true;
}

/// The loop of the consumer that would contract again and again what the producer contracts; null
/// if there is none. What is kept from one block of it to the next needs rewriting that isn't here.
static Operation *contractingLoop(KernelOp producer, KernelOp consumer, CallOp call,
                                  ArrayRef<Value> tensors) {
  bool contracts = false;
  producer.walk(
      [&](Operation *op) { contracts |= isa<DotOp, ForOp, scf::ForOp, scf::WhileOp, ScanOp>(op); });
  Operation *found = nullptr;
  for (auto [operand, n] : llvm::zip(call.getInputs(), inputPositions(consumer))) {
    if (!llvm::is_contained(tensors, operand) || !contracts)
      continue;
    for (Operation *user : consumer.getArgument(n).getUsers())
      for (Operation *loop = user->getParentOp(); loop != consumer; loop = loop->getParentOp())
        if (isa<ForOp, scf::ForOp, scf::WhileOp>(loop))
          found = loop;
  }
  return found;
}

/// Whether the device can't run the new kernel well, and could those that it is made of.
static bool isHindered(const KernelCost &together, std::initializer_list<const KernelCost *> parts,
                       FusionRefusal &refusal) {
  auto isHinderedToo = [](const KernelCost *part) { return !part->obstacle.empty(); };
  if (together.obstacle.empty() || llvm::any_of(parts, isHinderedToo))
    return false;
  refusal.reason = "as one, " + together.obstacle;
  refusal.isLimit = true;
  return true;
}

std::unique_ptr<FusedKernel> Fuser::inlined(CallOp producer, CallOp consumer,
                                            ArrayRef<Value> tensors, const InlineOptions &how,
                                            FusionRefusal &refusal) {
  KernelOp guest = shapes.kernelOf(producer), host = shapes.kernelOf(consumer);
  if (Operation *loop = guest && host ? contractingLoop(guest, host, consumer, tensors) : nullptr) {
    refusal.reason = "`" + guest.getSymName().str() + "` has a loop, and would run in a loop of `" +
                     host.getSymName().str() + "`, again for each of its blocks";
    refusal.loc = loop->getLoc();
    return nullptr;
  }
  auto fused = proposeInlining(producer, consumer, tensors, how, shapes, refusal);
  return fused && !isTooLarge(*fused, refusal) ? std::move(fused) : nullptr;
}

/// Whether elements of the kernel's outputs are made of several: then it matters whether a consumer
/// has all of them at hand.
static bool gathersAlongAxes(KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<AlongAxes, CountOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// One consumer computes the tensors; others, if there are any, have them from there or from the
/// producer. All that are between the two if that can be, else the candidate's.
std::optional<Proposal> Fuser::evaluateInlining(const Candidate &candidate,
                                                FusionRefusal &refusal) {
  if (auto all = evaluateInlining(candidate, /*isSingle=*/false, refusal))
    return all;
  if (tensorsBetween(live[candidate.first].call, live[candidate.second].call).size() == 1)
    return {};
  return evaluateInlining(candidate, /*isSingle=*/true, refusal);
}

std::optional<Proposal> Fuser::evaluateInlining(const Candidate &candidate, bool isSingle,
                                                FusionRefusal &refusal) {
  const Live &first = live[candidate.first], &second = live[candidate.second];
  CallOp producer = first.call, consumer = second.call;
  SmallVector<Value> tensors = tensorsBetween(producer, consumer);
  if (isSingle)
    tensors.assign({tensorOf(candidate)});
  bool hasOthers = false, givesMore = false;
  for (Value result : producer.getResults()) {
    if (!llvm::is_contained(tensors, result))
      givesMore |= !result.use_empty();
    else
      hasOthers |= llvm::any_of(result.getUsers(), [&](Operation *op) { return op != consumer; });
  }
  KernelOp kernel = shapes.kernelOf(producer);
  bool mayWiden = kernel && gathersAlongAxes(kernel);
  std::optional<Proposal> best;
  auto attempt = [&](InlineOptions how) {
    FusionRefusal why;
    auto fused = inlined(producer, consumer, tensors, how, why);
    if (!fused) {
      if (refusal.reason.empty())
        refusal = std::move(why);
      return;
    }
    Proposal proposal{how.keeps ? Transform::InlineAndKeep : Transform::Inline, how, isSingle};
    proposal.apart = first.cost;
    proposal.apart += second.cost;
    proposal.together = costOf(*fused);
    if (isHindered(proposal.together, {&first.cost, &second.cost}, refusal))
      return;
    if (givesMore || (hasOthers && !how.keeps))
      proposal.together += first.cost;
    if (!best || proposal.gain() > best->gain())
      best = proposal;
  };
  for (bool keeps : {true, false}) {
    if (keeps && !hasOthers)
      continue;
    attempt({.widens = true, .keeps = keeps});
    if (mayWiden)
      attempt({.widens = false, .keeps = keeps});
  }
  return best;
}

/// All consumers compute what they read of the producer, and that goes.
std::optional<Proposal> Fuser::evaluateAll(const Candidate &candidate, FusionRefusal &refusal) {
  CallOp producer = live[candidate.first].call;
  llvm::SmallSetVector<Operation *, 8> users(producer->user_begin(), producer->user_end());
  constexpr size_t few = 8;
  if (users.size() < 2 || users.size() > few || !llvm::all_of(users, llvm::IsaPred<CallOp>))
    return {};
  Proposal proposal{Transform::InlineAll, {.widens = true}};
  proposal.apart = live[candidate.first].cost;
  for (Operation *user : users) {
    auto consumer = cast<CallOp>(user);
    auto fused =
        inlined(producer, consumer, tensorsBetween(producer, consumer), proposal.options, refusal);
    if (!fused)
      return {};
    const KernelCost &other = live[ids.at(user)].cost;
    KernelCost together = costOf(*fused);
    if (isHindered(together, {&live[candidate.first].cost, &other}, refusal))
      return {};
    proposal.apart += other;
    proposal.together += together;
  }
  return proposal;
}

std::optional<Proposal> Fuser::evaluateMerging(const Candidate &candidate, FusionRefusal &refusal) {
  const Live &first = live[candidate.first], &second = live[candidate.second];
  if (reaches(first.call, second.call) || reaches(second.call, first.call)) {
    refusal.reason = "one of them needs the other";
    return {};
  }
  std::optional<Proposal> best;
  for (bool isSwapped : {false, true}) {
    FusionRefusal why;
    auto fused = isSwapped ? proposeMerging(second.call, first.call, shapes, why)
                           : proposeMerging(first.call, second.call, shapes, why);
    if (!fused || isTooLarge(*fused, why)) {
      if (refusal.reason.empty())
        refusal = std::move(why);
      continue;
    }
    Proposal proposal{Transform::Merge, {}, false, isSwapped};
    proposal.apart = first.cost;
    proposal.apart += second.cost;
    proposal.together = costOf(*fused);
    if (isHindered(proposal.together, {&first.cost, &second.cost}, refusal))
      continue;
    if (!best || proposal.gain() > best->gain())
      best = proposal;
  }
  return best;
}

/// The best that can be done with the two; none, and an entry that says why, if nothing is worth
/// it.
std::optional<Proposal> Fuser::evaluate(const Candidate &candidate) {
  FusionRefusal refusal;
  std::optional<Proposal> best;
  if (candidate.isMerge) {
    best = evaluateMerging(candidate, refusal);
  } else {
    best = evaluateInlining(candidate, refusal);
    FusionRefusal ofAll;
    if (auto all = evaluateAll(candidate, ofAll); all && (!best || all->gain() > best->gain()))
      best = all;
  }
  if (!best) {
    note(candidate, refusal.isLimit ? Verdict::TooLarge : Verdict::Illegal, refusal, nullptr);
    return {};
  }
  if (best->gain() <= 0) {
    note(candidate, Verdict::Slower, {}, &*best);
    return {};
  }
  return best;
}

//===-- The ledger --------------------------------------------------------===//

void Fuser::note(const Candidate &candidate, Verdict verdict, const FusionRefusal &refusal,
                 const Proposal *proposal) {
  FusionEntry entry;
  entry.verdict = verdict;
  entry.transform = proposal            ? proposal->transform
                    : candidate.isMerge ? Transform::Merge
                                        : Transform::Inline;
  entry.first = live[candidate.first].calls;
  entry.second = live[candidate.second].calls;
  Value tensor = tensorOf(candidate);
  entry.tensor = nameOf(tensor);
  entry.tensorBytes = bytesOf(tensor);
  entry.reason = refusal.reason;
  if (refusal.loc)
    entry.place = placeOf(refusal.loc);
  if (proposal) {
    entry.apart = proposal->apart;
    entry.together = proposal->together;
  }
  // Pairs are looked at again after each change beside them: what is the same is said once.
  auto [known, isNew] = lastEntry.try_emplace({entry.first, entry.second}, ledger.entries.size());
  if (!isNew) {
    const FusionEntry &last = ledger.entries[known->second];
    if (last.verdict == verdict && last.reason == entry.reason && last.transform == entry.transform)
      return;
    known->second = ledger.entries.size();
  }
  ledger.entries.push_back(std::move(entry));
}

/// What is there in the end.
void Fuser::finish() {
  DenseMap<Operation *, unsigned> numbers;
  for (CallOp call : graph.getBody().getOps<CallOp>()) {
    const Live &entry = live[ids.at(call)];
    numbers[call] = ledger.kernels.size();
    ledger.kernels.push_back({call.getCallee().str(), entry.calls, entry.cost});
  }
  for (CallOp call : graph.getBody().getOps<CallOp>()) {
    llvm::SmallSetVector<Value, 8> inputs(call.getInputs().begin(), call.getInputs().end());
    for (Value input : inputs) {
      auto producer = input.getDefiningOp<CallOp>();
      if (!producer)
        continue;
      FusionLedger::Boundary boundary{nameOf(input), bytesOf(input), numbers.at(producer),
                                      numbers.at(call), std::nullopt};
      auto last = lastEntry.find({live[ids.at(producer)].calls, live[ids.at(call)].calls});
      if (last != lastEntry.end())
        boundary.entry = last->second;
      ledger.boundaries.push_back(std::move(boundary));
    }
  }
  llvm::stable_sort(ledger.boundaries,
                    [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
}

//===-- The search --------------------------------------------------------===//

/// Puts a fused kernel's call in the place of two; the first may have to stay for others.
unsigned Fuser::replace(FusedKernel &fused, unsigned first, unsigned second, bool firstStays) {
  llvm::SetVector<unsigned> members;
  members.insert(live[first].calls.begin(), live[first].calls.end());
  members.insert(live[second].calls.begin(), live[second].calls.end());
  std::vector<unsigned> calls(members.begin(), members.end());
  llvm::sort(calls);
  ids.erase(live[second].call);
  live[second].call = nullptr;
  CallOp call = fused.commit();
  if (!firstStays) {
    ids.erase(live[first].call);
    live[first].call.erase();
    live[first].call = nullptr;
  }
  return add(call, std::move(calls));
}

void Fuser::commit(const Candidate &candidate, const Proposal &proposal) {
  ++commits;
  note(candidate, Verdict::Fused, {}, &proposal);
  FusionRefusal unused;
  if (proposal.transform == Transform::Merge) {
    unsigned guest = candidate.first, host = candidate.second;
    if (proposal.isSwapped)
      std::swap(guest, host);
    auto fused = proposeMerging(live[guest].call, live[host].call, shapes, unused);
    collect(replace(*fused, guest, host, /*firstStays=*/false));
    return;
  }
  CallOp producer = live[candidate.first].call;
  SmallVector<unsigned> consumers = {candidate.second};
  if (proposal.transform == Transform::InlineAll) {
    llvm::SmallSetVector<unsigned, 8> all;
    for (Operation *user : producer->getUsers())
      all.insert(ids.at(user));
    consumers.assign(all.begin(), all.end());
  }
  SmallVector<unsigned> made;
  for (unsigned consumer : consumers) {
    Operation *user = live[consumer].call;
    SmallVector<Value> tensors = tensorsBetween(producer, live[consumer].call);
    if (proposal.isSingle)
      tensors.assign({tensorOf(candidate)});
    auto fused =
        proposeInlining(producer, live[consumer].call, tensors, proposal.options, shapes, unused);
    // Whether the producer's call is needed afterwards: for the tensors by others, for what else it
    // gives by the new kernel, too.
    bool isNeeded = llvm::any_of(producer.getResults(), [&](Value result) {
      if (!llvm::is_contained(tensors, result))
        return !result.use_empty();
      return !proposal.options.keeps &&
             llvm::any_of(result.getUsers(), [&](Operation *op) { return op != user; });
    });
    made.push_back(replace(*fused, candidate.first, consumer, isNeeded));
  }
  for (unsigned id : made)
    collect(id);
}

FusionLedger Fuser::run() {
  symbols.assign(graph.getDims().size(), options.usualExtent);
  for (auto [n, name] : llvm::enumerate(graph.getDims().getAsValueRange<StringAttr>()))
    if (auto known = options.dims.find(name); known != options.dims.end())
      symbols[n] = known->second;
  for (CallOp call : graph.getBody().getOps<CallOp>()) {
    unsigned id = add(call, {static_cast<unsigned>(live.size())});
    ledger.calls.push_back({call.getCallee().str(), placeOf(call.getLoc()), live[id].cost});
  }
  for (unsigned id = 0, e = live.size(); id < e; ++id)
    collect(id, /*isFirst=*/true);
  while (!open.empty()) {
    Candidate candidate = open.top();
    open.pop();
    if (candidate.gain <= 0)
      break;
    if (!isLive(candidate.first) || !isLive(candidate.second))
      continue;
    auto proposal = evaluate(candidate);
    if (!proposal)
      continue;
    bool isCurrent = candidate.evaluated == commits;
    candidate.gain = proposal->gain();
    candidate.evaluated = commits;
    if (isCurrent || open.empty() || !(candidate < open.top()))
      commit(candidate, *proposal);
    else
      open.push(candidate);
  }
  finish();
  return std::move(ledger);
}

FusionLedger tile::ir::fuse(GraphOp graph, CostModel &model, const FuseOptions &options) {
  return Fuser(graph, model, options).run();
}
