//===- Proposals.cpp - what two calls would become ------------------------===//

#include "ir/fusion/Proposals.h"
#include "ir/fusion/FinishReduction.h"
#include "ir/fusion/MergeSiblings.h"

using namespace mlir;
using namespace tile::ir;

SmallVector<Value> Pairing::kept() const {
  if (isMerge())
    return llvm::to_vector_of<Value>(CallOp(guest).getResults());
  if (options.finishes)
    return besides(guest, tensors.front());
  SmallVector<Value> results(CallOp(guest).getResults());
  return options.keeps ? readByOthers(host, results) : SmallVector<Value>();
}

//===-- What pairs have in common -----------------------------------------===//

namespace {
/// Numbers things in the order in which they first come.
class Numbering {
public:
  uintptr_t operator()(const void *thing) {
    return numbers.try_emplace(thing, numbers.size()).first->second;
  }

private:
  llvm::SmallDenseMap<const void *, uintptr_t, 32> numbers;
};
} // namespace

/// All that the kernel depends on: equal words, equal kernels. Pointers are to what is there as
/// long as the module, and only ever compared.
Proposals::Words Proposals::structureOf(const Pairing &pairing) {
  auto word = [](const auto &thing) {
    return reinterpret_cast<uintptr_t>(thing.getAsOpaquePointer());
  };
  auto [guest, host, tensors, how] = pairing;
  Words words = {reinterpret_cast<uintptr_t>(shapes.kernelOf(guest).getOperation()),
                 reinterpret_cast<uintptr_t>(shapes.kernelOf(host).getOperation()),
                 word(guest.getConstNamesAttr()), word(host.getConstNamesAttr()),
                 tensors.empty() ? 0U : 1U + how.widens + 2U * how.finishes};
  // The guest's results are themselves, whichever come first.
  auto resultOf = [](CallOp call, Value value) {
    auto result = dyn_cast<OpResult>(value);
    return result && result.getOwner() == call;
  };
  SmallVector<Value> kept = pairing.kept();
  for (ArrayRef<Value> results : {ArrayRef<Value>(tensors), ArrayRef<Value>(kept)}) {
    words.push_back(results.size());
    for (Value result : results)
      words.push_back(cast<OpResult>(result).getResultNumber());
  }
  Numbering values, dims;
  // A dim that has the value of a number in a declaration may become that.
  for (CallOp call : {host, guest})
    if (KernelOp kernel = shapes.kernelOf(call))
      for (unsigned n = 0, e = kernel.getNumArguments(); n < e; ++n)
        if (AffineMap shape = kernel.getParamShape(n))
          for (AffineExpr extent : shape.getResults())
            if (isa<AffineConstantExpr>(extent))
              dims(extent.getAsOpaquePointer());
  for (CallOp call : {host, guest}) {
    for (Value input : call.getInputs())
      words.push_back(resultOf(guest, input) ? 2 * cast<OpResult>(input).getResultNumber() + 1
                                             : 2 * values(input.getAsOpaquePointer()));
    for (AffineExpr dim : shapes.dimsOf(call))
      words.push_back(dims(dim.getAsOpaquePointer()));
  }
  return words;
}

/// What the cost depends on besides.
SmallVector<int64_t> Proposals::valuesOf(const Pairing &pairing) {
  SmallVector<int64_t> values;
  for (CallOp call : {pairing.guest, pairing.host}) {
    llvm::append_range(values, costs.valuesOf(shapes.dimsOf(call)));
    for (Value input : call.getInputs())
      llvm::append_range(values, costs.valuesOf(shapes.shapeOf(input)));
  }
  return values;
}

//===-- What can't be, or not well ----------------------------------------===//

static bool isMore(size_t count, const char *what, unsigned most, FusionRefusal &refusal) {
  if (count <= most)
    return false;
  refusal.reason = "as one they would have " + std::to_string(count) + " " + what + ", more than " +
                   std::to_string(most);
  refusal.isLimit = true;
  return true;
}

bool Proposals::isTooLarge(FusedKernel &fused, FusionRefusal &refusal) const {
  unsigned operations = 0;
  fused.kernel().walk([&](Operation *) { ++operations; });
  return isMore(operations, "operations", options.mostOperations, refusal) ||
         isMore(fused.kernel().getNumArguments(), "parameters", options.mostParameters, refusal);
}

/// Operations of the producer that the consumer can't have already: on what comes from tensors that
/// only the producer reads. Of those that may vanish as its tiles get other axes, none.
static unsigned ownOperations(KernelOp producer, CallOp guest, CallOp host) {
  llvm::SmallPtrSet<Operation *, 32> own;
  SmallVector<Operation *> open;
  auto follow = [&](Value value) {
    for (Operation *user : value.getUsers())
      if (own.insert(user).second)
        open.push_back(user);
  };
  for (auto [operand, n] : llvm::zip(guest.getInputs(), inputPositions(producer)))
    if (!llvm::is_contained(host.getInputs(), operand))
      follow(producer.getArgument(n));
  unsigned count = 0;
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    count += !isa<BroadcastOp, StoreOp, UpdateOp>(op);
    llvm::for_each(op->getResults(), follow);
  }
  return count;
}

/// What is too large without a doubt need not be built.
bool Proposals::hasTooMany(const Pairing &pairing, FusionRefusal &refusal) const {
  auto [guest, host, tensors, how] = pairing;
  KernelOp producer = shapes.kernelOf(guest), consumer = shapes.kernelOf(host);
  if (!producer || !consumer)
    return false;
  llvm::SmallSetVector<Value, 32> inputs(host.getInputs().begin(), host.getInputs().end());
  inputs.insert(guest.getInputs().begin(), guest.getInputs().end());
  for (Value tensor : tensors)
    inputs.remove(tensor);
  size_t outputs = consumer.getNumArguments() - host.getInputs().size() + pairing.kept().size();
  refusal.loc = host.getLoc();
  if (isMore(inputs.size() + outputs, "parameters", options.mostParameters, refusal))
    return true;
  // The consumer's operations stay, but for what reads the tensors. All of a producer's own are
  // needed for its only result.
  if (pairing.isMerge() || guest.getNumResults() != 1)
    return false;
  unsigned operations = ownOperations(producer, guest, host);
  consumer.walk([&](Operation *op) { operations += !isa<LoadOp, BroadcastOp>(op); });
  return isMore(operations, "operations at least", options.mostOperations, refusal);
}

/// The loop that an element of the kernel takes, or what is as long; null without one.
static Operation *contractionOf(KernelOp kernel) {
  Operation *found = nullptr;
  kernel.walk([&](Operation *op) {
    bool isLoop = isa<ForOp, scf::ForOp, scf::WhileOp>(op);
    if (isLoop || (!found && isa<DotOp, ScanOp>(op)))
      found = op;
    return isLoop ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Whether a value is computed from what tensors hold.
static bool isData(Value value) {
  SmallVector<Value> open = {value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (isa_and_nonnull<LoadOp>(op))
      return true;
    if (op && seen.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return false;
}

/// Whether data decides where a load reaches in one of its dimensions.
static bool isAtData(LoadOp load, unsigned dimension) {
  bool found = false;
  load.getMap().getResult(dimension).walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      found |= isData(load.getDims()[dim.getPosition()]);
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      found |= isData(load.getSyms()[symbol.getPosition()]);
  });
  return found;
}

/// Whether a program stores all of a dimension of its output.
static bool storesWhole(KernelOp kernel, unsigned output, unsigned dimension) {
  return llvm::any_of(kernel.getParallel().getOps<StoreOp>(), [&](StoreOp store) {
    if (store.getTarget() != kernel.getArgument(output))
      return false;
    auto dim = dyn_cast<AffineDimExpr>(store.getMap().getResult(dimension));
    return dim && isa_and_nonnull<AxisOp>(store.getDims()[dim.getPosition()].getDefiningOp());
  });
}

/// Whether data decides which elements the consumer needs of what the producer contracts: nothing
/// is known then of how often one would be contracted again.
bool Proposals::gathersContracted(const Pairing &pairing, FusionRefusal &refusal) {
  auto [guest, host, tensors, how] = pairing;
  KernelOp producer = shapes.kernelOf(guest), consumer = shapes.kernelOf(host);
  if (!producer || !consumer || producer.isGrid() || !contractionOf(producer))
    return false;
  for (auto [operand, n] : llvm::zip(host.getInputs(), inputPositions(consumer))) {
    if (!llvm::is_contained(tensors, operand))
      continue;
    unsigned output = outputPosition(producer, cast<OpResult>(operand).getResultNumber());
    for (Operation *user : consumer.getArgument(n).getUsers())
      if (auto load = dyn_cast<LoadOp>(user))
        for (unsigned k = 0, e = load.getMap().getNumResults(); k < e; ++k)
          if (isAtData(load, k) && !storesWhole(producer, output, k))
            refusal.loc = load.getLoc();
    if (!refusal.loc)
      continue;
    StringRef name = producer.getSymName();
    refusal.reason = ("data decides which elements of `" + name + "." +
                      producer.getParamName(output) + "` the programs of `" +
                      consumer.getSymName() + "` read, and each takes a loop of `" + name + "`")
                         .str();
    return true;
  }
  return false;
}

/// Whether a loop of the consumer would contract again and again what the producer contracts. What
/// is kept from one block of it to the next needs rewriting that isn't here.
bool Proposals::hasContractingLoop(const Pairing &pairing, FusionRefusal &refusal) {
  auto [guest, host, tensors, how] = pairing;
  KernelOp producer = shapes.kernelOf(guest), consumer = shapes.kernelOf(host);
  Operation *contraction = producer && consumer ? contractionOf(producer) : nullptr;
  if (!contraction)
    return false;
  for (auto [operand, n] : llvm::zip(host.getInputs(), inputPositions(consumer))) {
    if (!llvm::is_contained(tensors, operand))
      continue;
    for (Operation *user : consumer.getArgument(n).getUsers())
      for (Operation *loop = user->getParentOp(); loop != consumer; loop = loop->getParentOp())
        if (isa<ForOp, scf::ForOp, scf::WhileOp>(loop))
          refusal.loc = loop->getLoc();
  }
  if (!refusal.loc)
    return false;
  const char *what = isa<DotOp>(contraction)    ? "a contraction"
                     : isa<ScanOp>(contraction) ? "a scan"
                                                : "a loop";
  refusal.reason = "`" + producer.getSymName().str() + "` has " + what +
                   ", and would run in a loop of `" + consumer.getSymName().str() +
                   "`, again each time around";
  refusal.isShared = true;
  return true;
}

//===-- Kernels -----------------------------------------------------------===//

std::unique_ptr<FusedKernel> Proposals::build(const Pairing &pairing, FusionRefusal &refusal) {
  if (hasTooMany(pairing, refusal))
    return nullptr;
  ++effort.built;
  auto [guest, host, tensors, how] = pairing;
  if (pairing.isMerge()) {
    auto fused = proposeMerging(guest, host, shapes, refusal);
    return fused && !isTooLarge(*fused, refusal) ? std::move(fused) : nullptr;
  }
  how.keepsPrecision = options.keepsPrecision;
  auto fused = how.finishes ? proposeFinishing(guest, host, tensors.front(), how, shapes, refusal)
                            : proposeInlining(guest, host, tensors, how, shapes, refusal);
  return fused && !isTooLarge(*fused, refusal) ? std::move(fused) : nullptr;
}

std::optional<KernelCost> Proposals::costOf(const Pairing &pairing, FusionRefusal &refusal) {
  ++effort.asked;
  auto [found, isFirst] = known.try_emplace(structureOf(pairing));
  Known &entry = found->second;
  FusionRefusal why;
  if (isFirst && (hasContractingLoop(pairing, why) || gathersContracted(pairing, why)))
    entry.refusal = why;
  if (entry.refusal) {
    refusal = *entry.refusal;
    if (!refusal.loc)
      refusal.loc = CallOp(pairing.host).getLoc();
    return {};
  }
  // The answers that depend on what else is in the graph.
  if (pairing.options.finishes &&
      !mayFinish(pairing.host, pairing.tensors.front(), shapes, refusal))
    return {};
  if (!pairing.isMerge() && !mayKeep(pairing.guest, pairing.host, pairing.kept(), refusal))
    return {};
  auto [cost, isNew] = entry.costs.try_emplace(valuesOf(pairing));
  if (!isNew)
    return cost->second;
  if (auto fused = build(pairing, why)) {
    cost->second = costs.costOf(fused->kernel(), costs.valuesOf(fused->callDims()));
    keep(entry, *fused);
  } else {
    refusal = why;
    if (why.loc == LocationAttr(CallOp(pairing.host).getLoc()))
      why.loc = {};
    entry.refusal = why;
  }
  if (pairing.options.widens && !why.isOfWidened) {
    // Nothing was there to be widened.
    Pairing same = pairing;
    same.options.widens = false;
    Known &other = known[structureOf(same)];
    other.refusal = entry.refusal;
    other.costs.insert(*cost);
  }
  return entry.refusal ? std::nullopt : std::optional(cost->second);
}

/// What looks good is committed soon; to keep all would take too much memory.
void Proposals::keep(Known &entry, FusedKernel &fused) {
  constexpr size_t most = 500;
  entry.body = fused.take();
  recent.push_back(&entry);
  if (recent.size() <= most)
    return;
  recent.front()->body = {};
  recent.pop_front();
}

CallOp Proposals::commit(const Pairing &pairing) {
  Known &entry = known[structureOf(pairing)];
  auto cost = entry.costs.find(valuesOf(pairing));
  auto finish = [&](FusedKernel &fused) {
    entry.kernel = fused.kernel();
    CallOp call = fused.commit();
    if (cost != entry.costs.end())
      costs.remember(call, cost->second);
    return call;
  };
  if (!entry.kernel && !entry.body) {
    FusionRefusal unused;
    return finish(*build(pairing, unused));
  }
  FusedKernel fused(pairing.guest, pairing.host, pairing.tensors, pairing.kept(), shapes);
  if (entry.kernel)
    fused.reuse(entry.kernel);
  else
    fused.reuse(std::move(entry.body));
  return finish(fused);
}
