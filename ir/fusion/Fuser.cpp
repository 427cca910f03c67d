//===- Fuser.cpp - which kernels of a graph become one --------------------===//

#include "ir/fusion/Fuser.h"
#include "ir/FormFma.h"
#include "ir/Specialize.h"
#include "ir/Spelling.h"
#include "ir/fusion/CallOrigins.h"
#include "ir/fusion/DeadCalls.h"
#include "ir/fusion/EqualCalls.h"
#include "ir/fusion/EqualKernels.h"
#include "ir/fusion/FinishReduction.h"
#include "ir/fusion/FlattenGraph.h"
#include "ir/fusion/GraphNames.h"
#include "ir/fusion/Proposals.h"
#include "ir/fusion/Readers.h"

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
      : graph(graph), options(options), shapes(graph), costs(graph, model, options, shapes),
        proposals(shapes, costs, options) {}
  FusionLedger run();

private:
  void shareKernels();
  DenseMap<Operation *, unsigned> dropCalls();

  // What is known of calls.
  unsigned add(CallOp call, std::vector<unsigned> calls);
  bool isLive(unsigned id) const { return live[id].call != nullptr; }
  std::string nameOf(Value tensor) { return nameOfTensor(tensor, graph, shapes); }
  std::string nameOf(unsigned id);

  // Candidates.
  void collect(unsigned id, bool isFirst = false);
  void collectSiblings(unsigned id, unsigned input, Value tensor, bool isFirst);
  double mostSaved(unsigned first, unsigned second, double bytesGone = 0);
  bool readsAll(CallOp call);
  void push(bool isMerge, unsigned first, unsigned second, unsigned tensor, double most);
  Value tensorOf(const Candidate &candidate);

  // Proposals.
  std::optional<Proposal> evaluate(const Candidate &candidate);
  std::optional<Proposal> evaluateInlining(const Candidate &candidate, FusionRefusal &refusal);
  std::optional<Proposal> evaluateAll(const Candidate &candidate, FusionRefusal &refusal);
  std::optional<Proposal> evaluateMerging(const Candidate &candidate, FusionRefusal &refusal);
  std::optional<Proposal> evaluateInlining(const Candidate &candidate, bool isSingle,
                                           FusionRefusal &refusal);
  void commit(const Candidate &candidate, const Proposal &proposal);
  SmallVector<unsigned> perform(const FusionStep &step);
  void search();
  bool mayPerform(const FusionStep &step, FusionRefusal &refusal);
  void performAll(ArrayRef<FusionStep> steps);
  void forget(unsigned id);
  unsigned replace(Pairing pairing, bool guestStays);

  // The ledger.
  std::string told(StringRef reason, const Candidate &candidate);
  void note(const Candidate &candidate, Verdict verdict, const FusionRefusal &refusal,
            const Proposal *proposal);
  void finish();

  GraphOp graph;
  const FuseOptions &options;
  GraphShapes shapes;
  GraphCosts costs;
  Proposals proposals;
  std::vector<Live> live;
  DenseMap<Operation *, unsigned> ids;
  Readers readers;
  std::priority_queue<Candidate> open;
  unsigned commits = 0;
  FusionLedger ledger;
  /// The last entry by the calls on either side, and whether it is of siblings.
  std::map<std::tuple<std::vector<unsigned>, std::vector<unsigned>, bool>, unsigned> lastEntry;
};
} // namespace

//===-- What is known of calls --------------------------------------------===//

/// What the source calls what a call does.
std::string Fuser::nameOf(unsigned id) {
  return joinNames(llvm::map_to_vector(
      live[id].calls, [&](unsigned call) { return StringRef(ledger.calls[call].name); }));
}

unsigned Fuser::add(CallOp call, std::vector<unsigned> calls) {
  unsigned id = live.size();
  live.push_back({call, std::move(calls), costs.costOf(call)});
  ids[call] = id;
  readers.add(call, id);
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

/// Seconds that are saved at most where two calls become one that does all that both do, but for
/// moving so many bytes and reading twice what both read.
double Fuser::mostSaved(unsigned first, unsigned second, double bytesGone) {
  CallOp a = live[first].call, b = live[second].call;
  llvm::SmallSetVector<Value, 8> common;
  for (Value input : a.getInputs())
    if (isa<TensorType>(input.getType()) && llvm::is_contained(b.getInputs(), input))
      common.insert(input);
  for (Value input : common)
    bytesGone += costs.bytesOf(input);
  const KernelCost &x = live[first].cost, &y = live[second].cost;
  double least = costs.leastSeconds(x.bytes() + y.bytes() - bytesGone);
  // What is equal but for rounding is decided by what is found, not by this.
  return (x.seconds + y.seconds - least) * (1 + 1e-9);
}

/// Whether a call reads every element of all its inputs.
bool Fuser::readsAll(CallOp call) {
  llvm::SmallSetVector<Value, 8> inputs(call.getInputs().begin(), call.getInputs().end());
  double bytes = 0;
  for (Value input : inputs)
    if (isa<TensorType>(input.getType()))
      bytes += costs.bytesOf(input);
  return live[ids.at(call)].cost.bytesRead >= bytes;
}

/// All that a call may become one with; at first only calls before it, so that each pair comes
/// once.
void Fuser::collect(unsigned id, bool isFirst) {
  CallOp call = live[id].call;
  auto addEdge = [&](Value tensor, CallOp producer, CallOp consumer) {
    unsigned first = ids.at(producer), second = ids.at(consumer);
    // At most the work of the producer is saved, and what the tensor moves. Where all of it is
    // needed, the producer's work is, too.
    double bytes = costs.bytesOf(tensor);
    double most = live[first].cost.seconds + 2 * bytes / costs.bandwidth();
    if (tensor.hasOneUse() && producer.getNumResults() == 1 && readsAll(consumer))
      most = std::min(most, mostSaved(first, second, 2 * bytes));
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
  for (unsigned other : readers.nearest(tensor, id, few, isFirst)) {
    // What one gives the other is looked at by itself.
    if (!tensorsBetween(live[id].call, live[other].call).empty() ||
        !tensorsBetween(live[other].call, live[id].call).empty())
      continue;
    // The one must take as long as the longer of the two.
    double most = std::min({live[id].cost.seconds, live[other].cost.seconds, mostSaved(id, other)});
    push(true, id, other, input, most);
  }
}

//===-- Proposals ---------------------------------------------------------===//

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
    auto together = proposals.costOf({producer, consumer, tensors, how}, why);
    if (!together) {
      if (refusal.reason.empty())
        refusal = std::move(why);
      return;
    }
    Transform transform = how.finishes ? Transform::Finish
                          : how.keeps  ? Transform::InlineAndKeep
                                       : Transform::Inline;
    Proposal proposal{transform, how, isSingle};
    proposal.apart = first.cost;
    proposal.apart += second.cost;
    proposal.together = *together;
    if (isHindered(proposal.together, {&first.cost, &second.cost}, refusal))
      return;
    if (!how.finishes && (givesMore || (hasOthers && !how.keeps)))
      proposal.together += first.cost;
    if (!best || proposal.gain() > best->gain())
      best = proposal;
  };
  if (tensors.size() == 1 && isReduced(tensors.front(), shapes)) {
    attempt({.finishes = true});
    return best;
  }
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
  constexpr size_t few = 8;
  for (Value result : producer.getResults())
    if (readers.count(result) > few)
      return {};
  llvm::SmallSetVector<Operation *, 8> users(producer->user_begin(), producer->user_end());
  if (users.size() < 2 || users.size() > few || !llvm::all_of(users, llvm::IsaPred<CallOp>))
    return {};
  Proposal proposal{Transform::InlineAll, {.widens = true}};
  proposal.apart = live[candidate.first].cost;
  for (Operation *user : users) {
    auto consumer = cast<CallOp>(user);
    auto together = proposals.costOf(
        {producer, consumer, tensorsBetween(producer, consumer), proposal.options}, refusal);
    if (!together)
      return {};
    const KernelCost &other = live[ids.at(user)].cost;
    if (isHindered(*together, {&live[candidate.first].cost, &other}, refusal))
      return {};
    proposal.apart += other;
    proposal.together += *together;
  }
  return proposal;
}

std::optional<Proposal> Fuser::evaluateMerging(const Candidate &candidate, FusionRefusal &refusal) {
  const Live &first = live[candidate.first], &second = live[candidate.second];
  if (reaches(first.call, second.call) || reaches(second.call, first.call)) {
    bool isFirst = reaches(first.call, second.call);
    refusal.reason =
        ("`" + CallOp(isFirst ? second.call : first.call).getCallee() + "` needs what `" +
         CallOp(isFirst ? first.call : second.call).getCallee() + "` gives, through others")
            .str();
    return {};
  }
  std::optional<Proposal> best;
  for (bool isSwapped : {false, true}) {
    FusionRefusal why;
    auto together = proposals.costOf(
        {isSwapped ? second.call : first.call, isSwapped ? first.call : second.call, {}}, why);
    if (!together) {
      if (refusal.reason.empty())
        refusal = std::move(why);
      continue;
    }
    Proposal proposal{Transform::Merge, {}, false, isSwapped};
    proposal.apart = first.cost;
    proposal.apart += second.cost;
    proposal.together = *together;
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
  // What the consumer reads may be given by another kernel meanwhile: that has candidates of its
  // own.
  if (!candidate.isMerge &&
      !llvm::is_contained(tensorsBetween(live[candidate.first].call, live[candidate.second].call),
                          tensorOf(candidate)))
    return {};
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
    // To compute it anew doesn't pay; why it can't be stored by the consumer is of interest then.
    bool isKept = best->transform != Transform::Inline || tensorOf(candidate).hasOneUse();
    note(candidate, Verdict::Slower, isKept ? FusionRefusal() : refusal, &*best);
    return {};
  }
  return best;
}

//===-- The ledger --------------------------------------------------------===//

/// A reason in the words of the graph.
std::string Fuser::told(StringRef reason, const Candidate &candidate) {
  if (reason.empty())
    return "";
  auto named = [&](unsigned id) { return NamedCall{live[id].call, nameOf(id)}; };
  return inWordsOfGraph(reason, named(candidate.first), named(candidate.second), graph, shapes,
                        [&](StringRef symbol) -> std::string {
                          for (auto [id, entry] : llvm::enumerate(live))
                            if (entry.call && entry.call.getCallee() == symbol)
                              return nameOf(id);
                          return "";
                        });
}

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
  entry.tensorBytes = costs.bytesOf(tensor);
  entry.reason = told(refusal.reason, candidate);
  entry.isShared = verdict == Verdict::Slower
                       ? proposal->together.operations > proposal->apart.operations
                       : refusal.isShared;
  if (refusal.loc)
    entry.place = placeOf(refusal.loc);
  if (proposal) {
    entry.apart = proposal->apart;
    entry.together = proposal->together;
  }
  // Pairs are looked at again after each change beside them: what is the same is said once.
  auto [known, isNew] =
      lastEntry.try_emplace({entry.first, entry.second, candidate.isMerge}, ledger.entries.size());
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
      FusionLedger::Boundary boundary{nameOf(input),
                                      costs.bytesOf(input),
                                      numbers.at(producer),
                                      numbers.at(call),
                                      cast<OpResult>(input).getResultNumber(),
                                      std::nullopt,
                                      std::nullopt};
      auto last = lastEntry.find({live[ids.at(producer)].calls, live[ids.at(call)].calls, false});
      if (last != lastEntry.end())
        boundary.entry = last->second;
      ledger.boundaries.push_back(std::move(boundary));
    }
  }
  llvm::stable_sort(ledger.boundaries,
                    [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
}

//===-- The search --------------------------------------------------------===//

/// A call is about to go.
void Fuser::forget(unsigned id) {
  readers.remove(live[id].call, id);
  ids.erase(live[id].call);
  live[id].call = nullptr;
}

/// Puts a fused kernel's call in the place of two; the guest may have to stay for others.
unsigned Fuser::replace(Pairing pairing, bool guestStays) {
  unsigned guest = ids.at(pairing.guest), host = ids.at(pairing.host);
  llvm::SetVector<unsigned> members;
  members.insert(live[guest].calls.begin(), live[guest].calls.end());
  members.insert(live[host].calls.begin(), live[host].calls.end());
  std::vector<unsigned> calls(members.begin(), members.end());
  llvm::sort(calls);
  SmallVector<Value> results(pairing.host.getResults());
  llvm::append_range(results, pairing.kept());
  forget(host);
  CallOp call = proposals.commit(pairing);
  for (auto [old, now] : llvm::zip_equal(results, call.getResults()))
    readers.replace(old, now);
  if (!guestStays) {
    forget(guest);
    pairing.guest.erase();
  }
  return add(call, std::move(calls));
}

void Fuser::commit(const Candidate &candidate, const Proposal &proposal) {
  ++commits;
  note(candidate, Verdict::Fused, {}, &proposal);
  FusionStep step{proposal.transform, candidate.first,         candidate.second,
                  candidate.tensor,   proposal.options.widens, proposal.isSingle};
  if (candidate.isMerge) {
    step.tensor = 0;
    if (proposal.isSwapped)
      std::swap(step.first, step.second);
  }
  ledger.steps.push_back(step);
  for (unsigned id : perform(step))
    collect(id);
}

static InlineOptions optionsOf(const FusionStep &step) {
  return {.widens = step.widens,
          .keeps = step.transform == Transform::InlineAndKeep,
          .finishes = step.transform == Transform::Finish};
}

/// The calls that come of it.
SmallVector<unsigned> Fuser::perform(const FusionStep &step) {
  CallOp first = live[step.first].call, second = live[step.second].call;
  if (step.transform == Transform::Merge)
    return {replace({first, second, {}}, /*guestStays=*/false)};
  InlineOptions how = optionsOf(step);
  Value tensor = first.getResult(step.tensor);
  SmallVector<CallOp> consumers = {second};
  if (step.transform == Transform::InlineAll) {
    llvm::SmallSetVector<Operation *, 8> all(first->user_begin(), first->user_end());
    consumers = llvm::map_to_vector(all, llvm::CastTo<CallOp>);
  }
  SmallVector<unsigned> made;
  for (CallOp consumer : consumers) {
    SmallVector<Value> tensors = tensorsBetween(first, consumer);
    if (step.isSingle)
      tensors.assign({tensor});
    // Whether the producer's call is needed afterwards: for the tensors by others, for what else it
    // gives by the new kernel, too.
    bool isNeeded = !how.finishes && llvm::any_of(first.getResults(), [&](Value result) {
      if (!llvm::is_contained(tensors, result))
        return !result.use_empty();
      return !how.keeps &&
             llvm::any_of(result.getUsers(), [&](Operation *op) { return op != consumer; });
    });
    made.push_back(replace({first, consumer, tensors, how}, isNeeded));
  }
  return made;
}

/// Calls of equal kernels call the same one, so that equal pairs of calls are seen to be equal.
void Fuser::shareKernels() {
  EqualKernels kernels;
  for (CallOp call : graph.getBody().getOps<CallOp>())
    if (KernelOp kernel = shapes.kernelOf(call); kernel && !costs.isNamed(kernel))
      call.setCallee(kernels.firstOf(kernel).getSymName());
}

/// All calls as they are written, by number. Those that are equal to others go, then those that
/// nobody needs.
DenseMap<Operation *, unsigned> Fuser::dropCalls() {
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
  shareKernels();
  for (auto [call, number] : numbers)
    ledger.calls[number].cost = costs.costOf(cast<CallOp>(call));
  auto goes = [&](CallOp call, Fate fate) -> FusionLedger::Call & {
    FusionLedger::Call &entry = ledger.calls[numbers.at(call)];
    numbers.erase(call);
    entry.fate = fate;
    return entry;
  };
  if (options.keepsCalls)
    return numbers;
  mergeEqualCalls(
      graph, [&](CallOp call, CallOp same) { goes(call, Fate::Equal).same = numbers.at(same); });
  dropDeadCalls(graph, [&](CallOp call) { goes(call, Fate::Dead); });
  return numbers;
}

void Fuser::search() {
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
}

//===-- In place of the search --------------------------------------------===//

bool Fuser::mayPerform(const FusionStep &step, FusionRefusal &refusal) {
  refusal.reason = "there are no two such calls";
  if (step.first == step.second || step.first >= live.size() || step.second >= live.size() ||
      !isLive(step.first) || !isLive(step.second))
    return false;
  CallOp first = live[step.first].call, second = live[step.second].call;
  if (step.transform == Transform::Merge)
    return !reaches(first, second) && !reaches(second, first) &&
           proposals.costOf({first, second, {}}, refusal);
  SmallVector<Value> tensors = tensorsBetween(first, second);
  if (step.tensor >= first.getNumResults() ||
      !llvm::is_contained(tensors, first.getResult(step.tensor)))
    return false;
  if (step.isSingle)
    tensors.assign({first.getResult(step.tensor)});
  InlineOptions how = optionsOf(step);
  if (step.transform != Transform::InlineAll)
    return proposals.costOf({first, second, tensors, how}, refusal).has_value();
  return llvm::all_of(first->getUsers(), [&](Operation *user) {
    auto consumer = dyn_cast<CallOp>(user);
    return consumer &&
           proposals.costOf({first, consumer, tensorsBetween(first, consumer), how}, refusal);
  });
}

void Fuser::performAll(ArrayRef<FusionStep> steps) {
  for (auto [n, step] : llvm::enumerate(steps)) {
    FusionRefusal refusal;
    if (!mayPerform(step, refusal)) {
      ledger.staleStep = "step " + std::to_string(n + 1) + ": " + refusal.reason;
      return;
    }
    ledger.steps.push_back(step);
    perform(step);
  }
}

FusionLedger Fuser::run() {
  DenseMap<Operation *, unsigned> numbers = dropCalls();
  if (options.steps)
    tellCallsApart(graph, shapes.symbolTable(), [&](CallOp call) { return numbers.at(call); });
  for (CallOp call : graph.getBody().getOps<CallOp>())
    add(call, {numbers.at(call)});
  if (options.steps)
    performAll(*options.steps);
  else
    search();
  finish();
  ledger.effort = proposals.effort;
  return std::move(ledger);
}

FusionLedger tile::ir::fuse(GraphOp graph, CostModel &model, const FuseOptions &options) {
  (void)flattenGraph(graph); // the language has no graph that calls itself
  return Fuser(graph, model, options).run();
}
