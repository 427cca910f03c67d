//===- Fuser.cpp - which kernels of a graph become one --------------------===//

#include "ir/fusion/Fuser.h"
#include "ir/fusion/CallOrigins.h"
#include "ir/fusion/DeadOutputs.h"
#include "ir/fusion/FinishReduction.h"
#include "ir/fusion/FlattenGraph.h"
#include "ir/fusion/FusionNotes.h"
#include "ir/fusion/FusionSteps.h"
#include "ir/fusion/GraphMemory.h"
#include "ir/fusion/Prospects.h"
#include "ir/fusion/Readers.h"
#include "ir/fusion/WrittenCalls.h"

#include "llvm/ADT/SetVector.h"

#include <numeric>
#include <queue>

using namespace mlir;
using namespace tile::ir;
using Transform = FusionEntry::Transform;
using Verdict = FusionEntry::Verdict;

namespace {
/// Two calls that may become one.
struct Candidate {
  /// The two kernels have many operations (Fuser::isLarge).
  bool isLarge;
  /// Seconds: as it was evaluated, or as is expected of it, which is at most what may be saved.
  double gain;
  bool isMerge;
  /// Producer and consumer, or two siblings.
  unsigned first, second;
  /// The producer's result, or an input that both have: by number, of the first one.
  unsigned tensor;
  /// The commits when it was evaluated; none: never.
  std::optional<unsigned> evaluated;

  /// The best comes last, behind all that are large. Between equals small kernels come first, so
  /// that long chains grow evenly.
  bool operator<(const Candidate &other) const {
    return std::tuple(!isLarge, gain, -double(first + second), -double(first), !isMerge) <
           std::tuple(!other.isLarge, other.gain, -double(other.first + other.second),
                      -double(other.first), !other.isMerge);
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
  /// Whether something comes into the loop of a contraction, or functions come behind one, or two
  /// of a CPU become one.
  bool isDelicate = false;

  double gain() const { return savedSeconds(together, apart, isDelicate); }
};

/// Whether a consumer that makes its producer's results itself comes close to what no model knows:
/// what is in a contraction's loop, and the registers that functions behind one take, where there
/// is one for each element or more.
bool isDelicate(const KernelCost &producer, const KernelCost &consumer) {
  bool hasFunctions = consumer.functions > 0 && consumer.functions * 4 >= consumer.bytesWritten;
  return consumer.contractions > 0 || (producer.contractions > 0 && hasFunctions);
}

/// What was found of two calls as they are, whichever of the tensors between them is looked at.
struct Inlining {
  unsigned first, second, commits;
  /// Of all those tensors in the one consumer, and of all that any consumer reads.
  std::optional<Proposal> inOne, inAll;
  /// Why not in the one.
  FusionRefusal refusal;
};

class Fuser {
public:
  Fuser(GraphOp graph, CostModel &model, const FuseOptions &options)
      : graph(graph), options(options), shapes(graph), costs(graph, model, options, shapes),
        proposals(shapes, costs, options), memory(graph, model, costs, options.mayGrow),
        prospects(costs) {}
  FusionLedger run();

private:
  // What is known of calls.
  unsigned add(CallOp call, std::vector<unsigned> calls);
  bool isLive(unsigned id) const { return live[id].call != nullptr; }
  /// What a call takes less as it runs beside another one that the consumer waits for. In the
  /// consumer's kernel it would come after that.
  double hiddenBesideOthers(const LiveCall &producer, CallOp consumer);
  /// What a consumer saves that alone reads what a call gives, and makes it itself, beside nothing
  /// else; 0 where it can't.
  double savedInside(const LiveCall &producer, CallOp consumer);

  // Candidates.
  bool isLarge(unsigned first, unsigned second) const;
  bool isNext(Candidate candidate) const;
  void push(Candidate candidate);
  void collect(unsigned id, bool isFirst = false);
  void collectSiblings(unsigned id, unsigned input, Value tensor, bool isFirst);
  Value tensorOf(const Candidate &candidate);

  // Proposals.
  bool isVetoed(const LiveCall &first, const LiveCall &second, FusionRefusal &refusal) const;
  std::optional<Proposal> evaluate(const Candidate &candidate);
  const Inlining &evaluateTogether(const Candidate &candidate);
  std::optional<Proposal> evaluateInlining(const Candidate &candidate, FusionRefusal &refusal);
  std::optional<Proposal> evaluateAll(const Candidate &candidate, double least);
  std::optional<Proposal> evaluateMerging(const Candidate &candidate, FusionRefusal &refusal);
  std::optional<Proposal> evaluateInlining(const Candidate &candidate, bool isSingle,
                                           FusionRefusal &refusal);
  void commit(const Candidate &candidate, const Proposal &proposal);
  SmallVector<unsigned> perform(const FusionStep &step);
  void takeCandidates();
  void search();
  void performAll(ArrayRef<FusionStep> steps);
  void forget(unsigned id);
  unsigned replace(Pairing pairing, bool guestStays);
  /// The number of the call that takes the place of one with results that nobody reads, if any.
  std::optional<unsigned> dropDeadOutputs(unsigned id);

  void note(const Candidate &candidate, Verdict verdict, const FusionRefusal &refusal,
            const Proposal *proposal);

  GraphOp graph;
  const FuseOptions &options;
  GraphShapes shapes;
  GraphCosts costs;
  Proposals proposals;
  DeadOutputs deadOutputs{shapes};
  MemoryLimit memory;
  Prospects prospects;
  std::vector<LiveCall> live;
  DenseMap<Operation *, unsigned> ids;
  Readers readers;
  std::priority_queue<Candidate> open;
  /// For which memory has no room.
  std::vector<Candidate> heldBack;
  unsigned commits = 0;
  /// The last that were evaluated.
  std::optional<Inlining> inlining;
  FusionLedger ledger;
  FusionNotes notes{graph, shapes, costs, live, ledger};
};
} // namespace

//===-- What is known of calls --------------------------------------------===//

unsigned Fuser::add(CallOp call, std::vector<unsigned> calls) {
  unsigned id = live.size(), operations = 0;
  if (KernelOp kernel = shapes.kernelOf(call))
    kernel.walk([&](Operation *) { ++operations; });
  live.push_back({call, std::move(calls), costs.costOf(call), operations});
  ids[call] = id;
  readers.add(call, id);
  return id;
}

//===-- Candidates --------------------------------------------------------===//

/// Of the readers of a tensor that all compute it, so that nobody stores it.
static constexpr size_t mostWithoutTensor = 8;

/// Whether two calls wait until no two are left that make a smaller kernel. A kernel is built anew
/// for whatever is added to it: to large ones others are added that have grown, and not the calls
/// of a long graph one by one.
bool Fuser::isLarge(unsigned first, unsigned second) const {
  constexpr unsigned most = 128;
  return live[first].operations + live[second].operations > most;
}

Value Fuser::tensorOf(const Candidate &candidate) {
  CallOp first = live[candidate.first].call;
  return candidate.isMerge ? first.getInputs()[candidate.tensor]
                           : first.getResult(candidate.tensor);
}

/// Its gain is what it saves at most.
void Fuser::push(Candidate candidate) {
  auto [isLarge, most, isMerge, first, second, tensor, evaluated] = candidate;
  candidate.gain =
      prospects.expect({first, second, isMerge}, live[first].call, live[second].call, most);
  open.push(candidate);
}

/// All that a call may become one with; at first only calls before it, so that each pair comes
/// once.
void Fuser::collect(unsigned id, bool isFirst) {
  CallOp call = live[id].call;
  auto addEdge = [&](Value tensor, CallOp producer, CallOp consumer) {
    unsigned first = ids.at(producer), second = ids.at(consumer);
    // At most the work of the producer is saved, and what the tensor moves. Where all of it is
    // needed, the producer's work is, too; and where many others read it, it is stored for them.
    double bytes = costs.bytesOf(tensor);
    double most = live[first].cost.seconds + 2 * bytes / costs.bandwidth();
    bool isStored = readers.count(tensor) > mostWithoutTensor;
    if ((tensor.hasOneUse() || isStored) && producer.getNumResults() == 1 &&
        costs.readsAll(consumer))
      most = std::min(most, costs.mostSaved(producer, consumer, (isStored ? 1 : 2) * bytes));
    push({isLarge(first, second),
          most,
          false,
          first,
          second,
          cast<OpResult>(tensor).getResultNumber(),
          {}});
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
    double most = std::min({live[id].cost.seconds, live[other].cost.seconds,
                            costs.mostSaved(live[id].call, live[other].call)});
    push({isLarge(id, other), most, true, id, other, input, {}});
  }
}

//===-- Proposals ---------------------------------------------------------===//

/// Whether the device can't run the new kernel well, and could those that it is made of.
static bool isHindered(const KernelCost &together, std::initializer_list<const KernelCost *> parts,
                       FusionRefusal &refusal) {
  auto isHinderedToo = [](const KernelCost *part) { return !part->obstacle.empty(); };
  std::string reason = together.obstacle;
  if (reason.empty() || llvm::any_of(parts, isHinderedToo)) {
    KernelCost apart;
    for (const KernelCost *part : parts)
      apart += *part;
    reason = lostPath(together, apart);
  }
  if (reason.empty())
    return false;
  refusal.reason = "as one, " + reason;
  refusal.isLimit = true;
  return true;
}

/// Whether the two would be, or be part of, what was seen to be no gain.
bool Fuser::isVetoed(const LiveCall &first, const LiveCall &second, FusionRefusal &refusal) const {
  if (options.vetoes.empty())
    return false;
  std::vector<unsigned> together;
  std::set_union(first.calls.begin(), first.calls.end(), second.calls.begin(), second.calls.end(),
                 std::back_inserter(together));
  for (const FusionVeto &veto : options.vetoes)
    if (std::includes(together.begin(), together.end(), veto.calls.begin(), veto.calls.end())) {
      refusal.reason = "as one, " + veto.reason;
      refusal.isLimit = true;
      return true;
    }
  return false;
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

/// Each tensor between two calls is a candidate; what doesn't depend on it is evaluated once.
const Inlining &Fuser::evaluateTogether(const Candidate &candidate) {
  auto [isLarge, gain, isMerge, first, second, tensor, evaluated] = candidate;
  if (!inlining || std::tuple(inlining->first, inlining->second, inlining->commits) !=
                       std::tuple(first, second, commits)) {
    inlining = {first, second, commits, {}, {}, {}};
    inlining->inOne = evaluateInlining(candidate, /*isSingle=*/false, inlining->refusal);
    double least = inlining->inOne ? std::max(0.0, inlining->inOne->gain())
                                   : -std::numeric_limits<double>::infinity();
    inlining->inAll = evaluateAll(candidate, least);
  }
  return *inlining;
}

/// One consumer computes the tensors; others, if there are any, have them from there or from the
/// producer. All that are between the two if that can be, else the candidate's.
std::optional<Proposal> Fuser::evaluateInlining(const Candidate &candidate,
                                                FusionRefusal &refusal) {
  const Inlining &together = evaluateTogether(candidate);
  std::optional<Proposal> best = together.inOne;
  refusal = together.refusal;
  // Of several tensors each is told by itself.
  if (!best && tensorsBetween(live[candidate.first].call, live[candidate.second].call).size() > 1) {
    refusal = {};
    best = evaluateInlining(candidate, /*isSingle=*/true, refusal);
  }
  if (together.inAll && (!best || together.inAll->gain() > best->gain()))
    best = together.inAll;
  return best;
}

double Fuser::savedInside(const LiveCall &producer, CallOp consumer) {
  FusionRefusal refusal;
  const LiveCall &second = live[ids.at(consumer)];
  bool hasOthers = llvm::any_of(producer.call->getUsers(),
                                [&](Operation *user) { return user != consumer.getOperation(); });
  if (hasOthers || isVetoed(producer, second, refusal))
    return 0;
  auto together = proposals.costOf(
      {producer.call, consumer, tensorsBetween(producer.call, consumer), {.widens = true}},
      refusal);
  KernelCost apart = producer.cost;
  apart += second.cost;
  if (!together || isHindered(*together, {&producer.cost, &second.cost}, refusal))
    return 0;
  return std::max(0.0, savedSeconds(*together, apart, isDelicate(producer.cost, second.cost)));
}

double Fuser::hiddenBesideOthers(const LiveCall &producer, CallOp consumer) {
  // More are not asked for, as each would be built anew whenever one has gone.
  constexpr size_t few = 4;
  double most = 0;
  llvm::SmallSetVector<Operation *, 8> producers;
  for (Value argument : consumer->getOperands())
    if (auto other = argument.getDefiningOp<CallOp>())
      producers.insert(other);
  bool isOfFew = producers.size() <= few;
  for (Operation *operation : producers) {
    auto other = cast<CallOp>(operation);
    if (other == producer.call)
      continue;
    const LiveCall &beside = live[ids.at(other)];
    double hidden = hiddenSeconds(producer.cost, beside.cost);
    if (!(hidden > most) || reaches(producer.call, other) || reaches(other, producer.call))
      continue;
    // If the other one may go, too, what both save counts, of which this one has half at least.
    double together = isOfFew ? savedInside(beside, consumer) : 0;
    most = std::max(most, hidden - std::min(hidden / 2, together));
  }
  return most;
}

std::optional<Proposal> Fuser::evaluateInlining(const Candidate &candidate, bool isSingle,
                                                FusionRefusal &refusal) {
  const LiveCall &first = live[candidate.first], &second = live[candidate.second];
  CallOp producer = first.call, consumer = second.call;
  if (isVetoed(first, second, refusal))
    return {};
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
  double hidden = hiddenBesideOthers(first, consumer);
  std::optional<Proposal> best;
  auto bytesOfAll = [&](ArrayRef<Value> tensors) {
    return std::accumulate(tensors.begin(), tensors.end(), 0.0, [&](double bytes, Value tensor) {
      return bytes + costs.bytesOf(tensor);
    });
  };
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
    proposal.isDelicate = isDelicate(first.cost, second.cost);
    if (isHindered(proposal.together, {&first.cost, &second.cost}, refusal))
      return;
    if (!how.finishes && !how.keeps && (givesMore || hasOthers))
      proposal.together += first.cost;
    else
      proposal.apart.seconds -= hidden;
    if (!best || proposal.gain() > best->gain())
      best = proposal;
  };
  if (tensors.size() == 1 && isReduced(tensors.front(), shapes)) {
    attempt({.finishes = true});
    return best;
  }
  for (bool keeps : {true, false}) {
    if (keeps && (isSingle || !(hasOthers || givesMore)))
      continue;
    // Where the producer stays all that is saved is what the consumer reads of it.
    if (best && best->gain() >= costs.mostSavedAnew(consumer, bytesOfAll(tensors)))
      break;
    attempt({.widens = true, .keeps = keeps});
    if (mayWiden)
      attempt({.widens = false, .keeps = keeps});
    if (keeps && !hasOthers)
      refusal = {}; // it need not be kept
  }
  return best;
}

/// All consumers compute what they read of the producer, and that goes, if that may save more than
/// so much.
std::optional<Proposal> Fuser::evaluateAll(const Candidate &candidate, double least) {
  CallOp producer = live[candidate.first].call;
  for (Value result : producer.getResults())
    if (readers.count(result) > mostWithoutTensor)
      return {};
  llvm::SmallSetVector<Operation *, 8> users(producer->user_begin(), producer->user_end());
  if (users.size() < 2 || users.size() > mostWithoutTensor ||
      !llvm::all_of(users, llvm::IsaPred<CallOp>))
    return {};
  auto consumers = llvm::map_to_vector(users, llvm::CastTo<CallOp>);
  if (costs.mostSavedByAll(producer, consumers) <= least)
    return {};
  FusionRefusal refusal;
  Proposal proposal{Transform::InlineAll, {.widens = true}};
  proposal.apart = live[candidate.first].cost;
  double hidden = 0;
  for (CallOp consumer : consumers) {
    const LiveCall &other = live[ids.at(consumer)];
    if (isVetoed(live[candidate.first], other, refusal))
      return {};
    auto together = proposals.costOf(
        {producer, consumer, tensorsBetween(producer, consumer), proposal.options}, refusal);
    if (!together)
      return {};
    if (isHindered(*together, {&live[candidate.first].cost, &other.cost}, refusal))
      return {};
    proposal.isDelicate |= isDelicate(live[candidate.first].cost, other.cost);
    proposal.apart += other.cost;
    proposal.together += *together;
    hidden = std::max(hidden, hiddenBesideOthers(live[candidate.first], consumer));
  }
  proposal.apart.seconds -= hidden;
  return proposal;
}

std::optional<Proposal> Fuser::evaluateMerging(const Candidate &candidate, FusionRefusal &refusal) {
  const LiveCall &first = live[candidate.first], &second = live[candidate.second];
  if (isVetoed(first, second, refusal))
    return {};
  if (reaches(first.call, second.call) || reaches(second.call, first.call)) {
    bool isFirst = reaches(first.call, second.call);
    refusal.reason =
        ("`" + CallOp(isFirst ? second.call : first.call).getCallee() + "` needs what `" +
         CallOp(isFirst ? first.call : second.call).getCallee() + "` gives, through others")
            .str();
    return {};
  }
  KernelCost apart = first.cost;
  apart += second.cost;
  apart.seconds -= hiddenSeconds(first.cost, second.cost);
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
    proposal.apart = apart;
    proposal.together = *together;
    proposal.isDelicate =
        apart.contractions > 0 || (first.cost.products > 0 && second.cost.products > 0);
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
  // A kernel that keeps a tensor for others takes the place of the producer, too.
  assert((candidate.isMerge || llvm::is_contained(tensorsBetween(live[candidate.first].call,
                                                                 live[candidate.second].call),
                                                  tensorOf(candidate))) &&
         "another kernel gives the tensor");
  best = candidate.isMerge ? evaluateMerging(candidate, refusal)
                           : evaluateInlining(candidate, refusal);
  prospects.note({candidate.first, candidate.second, candidate.isMerge}, live[candidate.first].call,
                 live[candidate.second].call, best ? std::optional(best->gain()) : std::nullopt);
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

void Fuser::note(const Candidate &candidate, Verdict verdict, const FusionRefusal &refusal,
                 const Proposal *proposal) {
  FusionEntry entry;
  entry.verdict = verdict;
  entry.transform = candidate.isMerge ? Transform::Merge : Transform::Inline;
  if (proposal) {
    entry.transform = proposal->transform;
    entry.apart = proposal->apart;
    entry.together = proposal->together;
  }
  notes.add(std::move(entry), candidate.first, candidate.second, tensorOf(candidate), refusal);
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
  prospects.grow(live.size(), guest, host);
  CallOp call = proposals.commit(pairing);
  for (auto [old, now] : llvm::zip_equal(results, call.getResults()))
    readers.replace(old, now);
  if (!guestStays) {
    forget(guest);
    pairing.guest.erase();
  }
  return add(call, std::move(calls));
}

/// Does what was found, if memory has room for it.
void Fuser::commit(const Candidate &candidate, const Proposal &proposal) {
  FusionStep step{proposal.transform,      candidate.first,
                  candidate.second,        candidate.isMerge ? 0 : candidate.tensor,
                  proposal.options.widens, proposal.isSingle};
  if (proposal.isSwapped)
    std::swap(step.first, step.second);
  FusionRefusal refusal;
  if (!memory.allows(step, live[step.first].call, live[step.second].call, refusal)) {
    note(candidate, Verdict::TooLarge, refusal, nullptr);
    heldBack.push_back(candidate);
    return;
  }
  ++commits;
  note(candidate, Verdict::Fused, {}, &proposal);
  ledger.steps.push_back(step);
  for (unsigned id : perform(step))
    collect(id);
}

/// The calls that come of it.
SmallVector<unsigned> Fuser::perform(const FusionStep &step) {
  CallOp first = live[step.first].call, second = live[step.second].call;
  SmallVector<unsigned> made;
  for (CallOp host : hostsOf(step, first, second)) {
    Pairing pairing = pairingOf(step, first, host);
    bool guestStays = isNeededAfter(pairing);
    made.push_back(replace(std::move(pairing), guestStays));
  }
  // What stays for others gives no more than these read.
  if (isLive(step.first) && live[step.first].call == first)
    if (std::optional<unsigned> fewer = dropDeadOutputs(step.first))
      made.push_back(*fewer);
  return made;
}

std::optional<unsigned> Fuser::dropDeadOutputs(unsigned id) {
  CallOp old = live[id].call;
  CallOp now =
      deadOutputs.drop(old, [&](Value before, Value after) { readers.replace(before, after); });
  if (!now)
    return {};
  std::vector<unsigned> calls = live[id].calls;
  forget(id);
  old.erase();
  return add(now, std::move(calls));
}

/// Whether nothing is expected to save more than what was evaluated. Between pairs of one kind a
/// thousandth doesn't matter: what is expected of alike pairs is too much for all of them by about
/// the same, and each would be evaluated before the first is done.
bool Fuser::isNext(Candidate candidate) const {
  if (open.empty())
    return true;
  candidate.gain *= candidate.isMerge == open.top().isMerge ? 1.001 : 1 + 1e-9;
  return !(candidate < open.top());
}

void Fuser::takeCandidates() {
  while (!open.empty()) {
    Candidate candidate = open.top();
    open.pop();
    if (candidate.gain <= 0 || !isLive(candidate.first) || !isLive(candidate.second))
      continue;
    auto proposal = evaluate(candidate);
    if (!proposal)
      continue;
    bool isCurrent = candidate.evaluated == commits;
    candidate.gain = proposal->gain();
    candidate.evaluated = commits;
    if (isCurrent || isNext(candidate))
      commit(candidate, *proposal);
    else
      open.push(candidate);
  }
}

void Fuser::search() {
  memory.begin();
  for (unsigned id = 0, e = live.size(); id < e; ++id)
    collect(id, /*isFirst=*/true);
  takeCandidates();
  // What others have become since may leave room.
  for (unsigned before = 0; !heldBack.empty() && before < commits;) {
    before = commits;
    for (const Candidate &candidate : std::exchange(heldBack, {}))
      open.push(candidate);
    takeCandidates();
  }
}

/// In place of the search.
void Fuser::performAll(ArrayRef<FusionStep> steps) {
  auto isThere = [&](unsigned id) { return id < live.size() && isLive(id); };
  for (auto [n, step] : llvm::enumerate(steps)) {
    FusionRefusal refusal;
    refusal.reason = "there are no two such calls";
    if (step.first == step.second || !isThere(step.first) || !isThere(step.second) ||
        !mayPerform(step, live[step.first].call, live[step.second].call, proposals, refusal)) {
      ledger.staleStep = "step " + std::to_string(n + 1) + ": " + refusal.reason;
      return;
    }
    ledger.steps.push_back(step);
    perform(step);
  }
}

FusionLedger Fuser::run() {
  DenseMap<Operation *, unsigned> numbers =
      noteCalls(graph, shapes, costs, options.keepsCalls, ledger);
  if (options.steps)
    tellCallsApart(graph, shapes.symbolTable(), [&](CallOp call) { return numbers.at(call); });
  for (CallOp call : graph.getBody().getOps<CallOp>())
    add(call, {numbers.at(call)});
  if (options.steps)
    performAll(*options.steps);
  else if (!options.isOff)
    search();
  notes.finish();
  ledger.effort = proposals.effort;
  return std::move(ledger);
}

/// Once as if memory were no matter: to look at each step's takes long. Where the graph has grown
/// so it is fused anew, with an eye on that; but not one of so many calls that this takes seconds.
static FusionLedger fuseWithoutGrowth(GraphOp graph, CostModel &model, FuseOptions options) {
  constexpr auto mostCalls = 200;
  auto calls = graph.getBody().getOps<CallOp>();
  options.mayGrow = true;
  if (std::distance(calls.begin(), calls.end()) > mostCalls)
    return Fuser(graph, model, options).run();
  auto module = graph->getParentOfType<ModuleOp>();
  auto kernels = llvm::to_vector(module.getOps<KernelOp>());
  double before = bytesBetweenCalls(graph, model, options);
  OwningOpRef<GraphOp> written(graph.clone());
  FusionLedger ledger = Fuser(graph, model, options).run();
  if (bytesBetweenCalls(graph, model, options) <= before)
    return ledger;
  graph.getBody().takeBody(written->getBody());
  for (KernelOp kernel : llvm::make_early_inc_range(module.getOps<KernelOp>()))
    if (!llvm::is_contained(kernels, kernel))
      kernel.erase();
  options.mayGrow = false;
  return Fuser(graph, model, options).run();
}

FusionLedger tile::ir::fuse(GraphOp graph, CostModel &model, const FuseOptions &options) {
  (void)flattenGraph(graph); // the language has no graph that calls itself
  return options.isOff || options.mayGrow || options.steps
             ? Fuser(graph, model, options).run()
             : fuseWithoutGrowth(graph, model, options);
}
