//===- ProofsParameters.cpp - parameters are used as they are declared ----===//
//
// Inputs are read, outputs stored once, `inout` reads and stores one element,
// `reduce` outputs are updated by their own operator.
//
//===----------------------------------------------------------------------===//

#include "ir/proofs/ProofsDetail.h"

using namespace mlir;
using namespace tile::ir;

namespace {
/// The accesses of one parameter, in program order.
struct Uses {
  SmallVector<LoadOp> loads;
  SmallVector<StoreOp> stores;
  SmallVector<UpdateOp> updates;
  SmallVector<AtomicOp> atomics;
};
} // namespace

static void refuseLoads(ProofContext &context, const Uses &uses, bool isReduce) {
  for (LoadOp load : uses.loads) {
    std::string name = context.words.parameter(load.getSource());
    auto diagnostic = context.error(load)
                      << "`" << name << "` is " << (isReduce ? "a `reduce` output" : "an output")
                      << " and can't be read";
    diagnostic.attachNote(load.getLoc())
        << (isReduce ? "hint: its value is complete after the launch; read it in another kernel"
                     : "hint: keep the value in a `let`, or declare `inout " + name + "`");
  }
}

static void refuseUpdates(ProofContext &context, const Uses &uses) {
  for (UpdateOp update : uses.updates) {
    std::string name = context.words.parameter(update.getTarget());
    auto diagnostic = context.error(update)
                      << "`" << name << "` is no `reduce` output and can't be updated";
    diagnostic.attachNote(update.getLoc())
        << "hint: declare it `" << name << ": … reduce +`, or store it with `=`";
  }
}

static void refuseAtomics(ProofContext &context, const Uses &uses) {
  for (AtomicOp atomic : uses.atomics)
    context.error(atomic) << "atomic operations change an `inout`, and `"
                          << context.words.parameter(atomic.getTarget()) << "` is none";
}

static void proveOut(ProofContext &context, unsigned parameter, const Uses &uses) {
  refuseLoads(context, uses, /*isReduce=*/false);
  refuseUpdates(context, uses);
  std::string name = context.words.parameter(context.kernel.getArgument(parameter));
  if (uses.stores.empty() && uses.updates.empty()) {
    auto diagnostic = context.error(context.kernel) << "output `" << name << "` is never stored";
    diagnostic.attachNote(context.kernel.getLoc())
        << "hint: store each of its elements: `" << name << "[…] = …`";
  }
  if (context.kernel.isGrid()) // its author answers for the stores
    return;
  for (StoreOp again : llvm::drop_begin(llvm::ArrayRef(uses.stores), uses.stores.empty() ? 0 : 1)) {
    StoreOp first = uses.stores[0];
    auto diagnostic = context.error(again)
                      << "`" << name << "` is stored a second time; an output has one store";
    diagnostic.attachNote(first.getLoc()) << "the first store is here";
    diagnostic.attachNote(again.getLoc())
        << "hint: choose the value first, with `where` or a `var`";
  }
  if (!uses.stores.empty())
    proveStore(context, uses.stores[0], /*fully=*/true);
}

/// True if `late` may run after `early` in one program, for the same element.
static bool comesAfter(Operation *late, Operation *early) {
  for (Operation *around = early; around; around = around->getParentOp())
    if (Operation *ancestor = around->getBlock()->findAncestorOpInBlock(*late))
      return around->isBeforeInBlock(ancestor);
  return false;
}

static void proveInOut(ProofContext &context, unsigned parameter, const Uses &uses) {
  refuseUpdates(context, uses);
  if (context.kernel.isGrid())
    return;
  std::string name = context.words.parameter(context.kernel.getArgument(parameter));
  for (StoreOp again : llvm::drop_begin(llvm::ArrayRef(uses.stores), uses.stores.empty() ? 0 : 1)) {
    StoreOp first = uses.stores[0];
    auto diagnostic = context.error(again)
                      << "`" << name << "` is stored a second time; an `inout` has one store";
    diagnostic.attachNote(first.getLoc()) << "the first store is here";
  }
  if (uses.stores.empty())
    return;
  StoreOp store = uses.stores[0];
  Access written(store);
  SmallVector<Linear> target = context.coordinates.indices(written.map, written.dims, written.syms);
  for (LoadOp load : uses.loads) {
    Access read(load);
    if (context.coordinates.indices(read.map, read.dims, read.syms) != target) {
      auto diagnostic = context.error(load)
                        << "`" << context.spell(read) << "` reads other elements of `" << name
                        << "` than `" << context.spell(written)
                        << "` writes; another program may have written them already";
      diagnostic.attachNote(store.getLoc()) << "the store is here";
      diagnostic.attachNote(load.getLoc())
          << "hint: an `inout` reads and writes the same element; write to another output instead";
    } else if (comesAfter(load, store)) {
      auto diagnostic = context.error(load) << "`" << name << "` is read after it was stored";
      diagnostic.attachNote(store.getLoc()) << "the store is here";
      diagnostic.attachNote(load.getLoc()) << "hint: keep the stored value in a `let`";
    }
  }
  proveStore(context, store, /*fully=*/false);
}

StringRef tile::ir::assignmentOf(CombineKind kind) {
  switch (kind) {
  case CombineKind::add:
    return "+=";
  case CombineKind::mul:
    return "*=";
  case CombineKind::max:
  case CombineKind::umax:
    return "max=";
  case CombineKind::min:
  case CombineKind::umin:
    return "min=";
  case CombineKind::fmax:
    return "a = fmax(a, …)";
  case CombineKind::fmin:
    return "a = fmin(a, …)";
  case CombineKind::andi:
    return "&=";
  case CombineKind::ori:
    return "|=";
  case CombineKind::xori:
    return "^=";
  }
  llvm_unreachable("all kinds are handled");
}

static void proveReduce(ProofContext &context, unsigned parameter, const Uses &uses) {
  refuseLoads(context, uses, /*isReduce=*/true);
  std::string name = context.words.parameter(context.kernel.getArgument(parameter));
  StringRef assignment = assignmentOf(context.kernel.getParamReduce(parameter));
  for (StoreOp store : uses.stores) {
    auto diagnostic = context.error(store)
                      << "`" << name
                      << "` is a `reduce` output: programs combine into it, none stores it";
    diagnostic.attachNote(store.getLoc())
        << "hint: update it with `" << assignment << "`, or declare it without `reduce`";
  }
  for (UpdateOp update : uses.updates)
    if (update.getKind() != context.kernel.getParamReduce(parameter)) {
      auto diagnostic = context.error(update)
                        << "`" << name << "` combines with `" << assignment << "`, not with `"
                        << assignmentOf(update.getKind()) << "`";
      diagnostic.attachNote(update.getLoc())
          << "hint: programs run in any order, so all updates of an output combine alike";
    }
}

void tile::ir::proveParameters(ProofContext &context) {
  std::vector<Uses> uses(context.kernel.getNumArguments());
  context.kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      uses[Access(load).parameter()].loads.push_back(load);
    else if (auto store = dyn_cast<StoreOp>(op))
      uses[Access(store).parameter()].stores.push_back(store);
    else if (auto update = dyn_cast<UpdateOp>(op))
      uses[Access(update).parameter()].updates.push_back(update);
    else if (auto atomic = dyn_cast<AtomicOp>(op))
      uses[cast<BlockArgument>(atomic.getTarget()).getArgNumber()].atomics.push_back(atomic);
  });
  for (unsigned n = 0; n < uses.size(); ++n) {
    if (!isa<MemRefType>(context.kernel.getArgument(n).getType()))
      continue;
    if (context.kernel.getParamMode(n) != ParamMode::InOut)
      refuseAtomics(context, uses[n]);
    switch (context.kernel.getParamMode(n)) {
    case ParamMode::In:
      for (StoreOp store : uses[n].stores) {
        std::string name = context.words.parameter(store.getTarget());
        auto diagnostic = context.error(store)
                          << "`" << name << "` is an input and can't be stored to";
        diagnostic.attachNote(store.getLoc())
            << "hint: declare an output, or `inout " << name << "`";
      }
      refuseUpdates(context, uses[n]);
      break;
    case ParamMode::Out:
      proveOut(context, n, uses[n]);
      break;
    case ParamMode::InOut:
      proveInOut(context, n, uses[n]);
      break;
    case ParamMode::Reduce:
      proveReduce(context, n, uses[n]);
      break;
    }
  }
}
