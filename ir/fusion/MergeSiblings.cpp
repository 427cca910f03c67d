//===- MergeSiblings.cpp - kernels side by side as one --------------------===//

#include "ir/fusion/MergeSiblings.h"
#include "ir/fusion/FusedKernel.h"
#include "ir/fusion/Transplant.h"
#include "ir/fusion/UniteAxes.h"
#include "ir/fusion/WidenBinder.h"

using namespace mlir;
using namespace tile::ir;

namespace {
/// What a coordinate of a kernel ranges over: its bounds over the kernel's dims.
struct Interval {
  AffineExpr lower, upper;
  bool operator==(const Interval &other) const = default;
  bool isKnown() const { return lower && upper; }
};

class Merger {
public:
  Merger(CallOp guestCall, CallOp hostCall, GraphShapes &shapes, FusionRefusal &refusal)
      : guestCall(guestCall), hostCall(hostCall), shapes(shapes), refusal(refusal),
        guest(shapes.kernelOf(guestCall)), origin(shapes.kernelOf(hostCall)) {}

  std::unique_ptr<FusedKernel> run();

private:
  LogicalResult refuse(const Twine &reason) {
    refusal.reason = reason.str();
    return failure();
  }
  LogicalResult check();
  using Ranges = SmallVector<Interval>;
  using Reads = SmallVector<std::pair<unsigned, unsigned>>;
  Interval rangeOf(Value lower, Value upper, ArrayRef<AffineExpr> dims);
  Ranges rangesOf(KernelOp kernel, ArrayRef<AffineExpr> dims);
  Reads readAlong(KernelOp kernel, unsigned binder);
  SmallVector<std::optional<unsigned>> pairBinders(const Ranges &wanted, const Ranges &offered);
  LogicalResult pair();
  LogicalResult cloneWrites(Transplant &transplant);
  LogicalResult merge();

  CallOp guestCall, hostCall;
  GraphShapes &shapes;
  FusionRefusal &refusal;
  KernelOp guest, origin;
  std::unique_ptr<FusedKernel> fused;
  /// By binder of the guest: the host's span or integer.
  SmallVector<Value> places;
};
} // namespace

LogicalResult Merger::check() {
  if (!guest || !origin)
    return refuse("a graph is called, not a kernel");
  for (KernelOp kernel : {guest, origin}) {
    if (kernel.isGrid())
      return refuse("`" + kernel.getSymName() +
                    "` is a grid kernel: nothing is known of what its programs do");
    for (unsigned n = 0, e = kernel.getNumArguments(); n < e; ++n)
      if (kernel.getParamMode(n) == ParamMode::InOut)
        return refuse("`" + kernel.getSymName() + "` changes `" + kernel.getParamName(n) +
                      "` in place");
  }
  bool hasEffects = false;
  guest.walk([&](Operation *op) { hasEffects |= isa<AssertOp, PrintOp>(op); });
  if (hasEffects)
    return refuse("`" + guest.getSymName() + "` asserts or prints, once for each of its programs");
  if (guest.walk([](MayNotEndOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return refuse("`" + guest.getSymName() + "` has a `while`, which may not end");
  bool writesInLoops = false;
  guest.walk([&](Operation *op) {
    writesInLoops |= isa<StoreOp, UpdateOp>(op) && op->getParentOp() != guest.getParallel();
  });
  if (writesInLoops)
    return refuse("`" + guest.getSymName() + "` writes in a loop");
  return success();
}

Interval Merger::rangeOf(Value lower, Value upper, ArrayRef<AffineExpr> dims) {
  AffineExpr low = traceDims(lower), high = traceDims(upper);
  return {low ? low.replaceSymbols(dims) : low, high ? high.replaceSymbols(dims) : high};
}

Merger::Ranges Merger::rangesOf(KernelOp kernel, ArrayRef<AffineExpr> dims) {
  Ranges ranges;
  ParallelOp parallel = kernel.getParallel();
  for (auto [lower, upper] : llvm::zip(parallel.getLower(), parallel.getUpper()))
    ranges.push_back(rangeOf(lower, upper, dims));
  return ranges;
}

/// The dimensions of tensors, by parameter of the new kernel, that a kernel reads along a binder.
Merger::Reads Merger::readAlong(KernelOp kernel, unsigned binder) {
  Reads found;
  Value argument = kernel.getParallel().getBody().getArgument(binder);
  kernel.walk([&](LoadOp load) {
    auto source = dyn_cast<BlockArgument>(load.getSource());
    std::optional<unsigned> param = !source           ? std::nullopt
                                    : kernel == guest ? fused->paramOfGuest(source.getArgNumber())
                                                      : std::optional(source.getArgNumber());
    for (auto [n, index] : llvm::enumerate(load.getMap().getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(index);
      auto symbol = dyn_cast<AffineSymbolExpr>(index);
      Value at = dim      ? load.getDims()[dim.getPosition()]
                 : symbol ? load.getSyms()[symbol.getPosition()]
                          : Value();
      if (param && at == argument)
        found.emplace_back(*param, n);
    }
  });
  return found;
}

/// For each of the guest's binders one of the host's over the same range, if there is one that no
/// other has: that along which both read a tensor, else the first.
SmallVector<std::optional<unsigned>> Merger::pairBinders(const Ranges &wanted,
                                                         const Ranges &offered) {
  KernelOp host = fused->kernel();
  ArrayRef<bool> theirs = guest.getParallel().getEach(), ours = host.getParallel().getEach();
  SmallVector<std::optional<unsigned>> pairs(wanted.size());
  for (bool readsAlong : {true, false})
    for (unsigned n = 0, e = wanted.size(); n < e; ++n)
      for (unsigned m = 0, end = offered.size(); m < end && !pairs[n]; ++m) {
        bool isSame = wanted[n].isKnown() && wanted[n] == offered[m] && theirs[n] == ours[m] &&
                      !llvm::is_contained(pairs, std::optional(m));
        auto isReadByHost = [&, list = isSame && readsAlong ? readAlong(host, m) : Reads()](
                                auto read) { return llvm::is_contained(list, read); };
        if (isSame && (!readsAlong || llvm::any_of(readAlong(guest, n), isReadByHost)))
          pairs[n] = m;
      }
  return pairs;
}

/// Finds the place of each of the guest's binders in the host.
LogicalResult Merger::pair() {
  KernelOp host = fused->kernel();
  SmallVector<AffineExpr> identity;
  for (unsigned n = 0, e = host.getDims().size(); n < e; ++n)
    identity.push_back(getAffineSymbolExpr(n, host.getContext()));
  Ranges wholes;
  guest.walk([&](AxisOp axis) {
    wholes.push_back(rangeOf(axis.getLower(), axis.getUpper(), fused->dimsOfGuest()));
  });
  Ranges wanted = rangesOf(guest, fused->dimsOfGuest()), offered = rangesOf(host, identity);
  SmallVector<std::optional<unsigned>> pairs = pairBinders(wanted, offered);
  // The host's binders that the guest has as whole axes become that, too.
  SmallVector<StringAttr> names(host.getParallel().getNames().getAsRange<StringAttr>());
  SmallVector<StringAttr> wide, left;
  for (auto [m, name] : llvm::enumerate(names))
    if (!llvm::is_contained(pairs, std::optional<unsigned>(m))) {
      bool isWhole = !host.getParallel().getEach()[m] && offered[m].isKnown() &&
                     llvm::is_contained(wholes, offered[m]);
      (isWhole ? wide : left).push_back(name);
    }
  if (wide.size() == names.size())
    return refuse("`" + guest.getSymName() + "` and `" + origin.getSymName() +
                  "` go along different dimensions; one program would do all of it");
  for (StringAttr name : wide)
    widenBinder(host, name);
  ParallelOp ours = host.getParallel(), theirs = guest.getParallel();
  for (auto [n, range] : llvm::enumerate(wanted)) {
    Value place;
    if (pairs[n]) {
      unsigned position = llvm::find(ours.getNames(), names[*pairs[n]]) - ours.getNames().begin();
      place = ours.getBody().getArgument(position);
    } else if (!theirs.getEach()[n]) {
      for (AxisOp axis :
           llvm::concat<AxisOp>(llvm::to_vector(host.getBody().front().getOps<AxisOp>()),
                                llvm::to_vector(ours.getOps<AxisOp>())))
        if (!place && range.isKnown() &&
            rangeOf(axis.getLower(), axis.getUpper(), identity) == range &&
            !isRestricted(host, axis.getSpan().getType().getName()))
          place = axis.getSpan();
    }
    if (!place)
      return refuse("`" + guest.getSymName() + "` and `" + origin.getSymName() +
                    "` have different programs: none has the blocks of `" +
                    cast<StringAttr>(theirs.getNames()[n]).getValue() + "` that the other has");
    places.push_back(place);
  }
  if (!left.empty())
    return refuse("`" + origin.getSymName() + "` has programs for each block of `" +
                  left.front().getValue() + "`, and `" + guest.getSymName() + "` has not");
  return success();
}

LogicalResult Merger::cloneWrites(Transplant &transplant) {
  for (Operation &op : guest.getParallel().getBody().front()) {
    auto write = [&](auto store) -> LogicalResult {
      auto argument = cast<BlockArgument>(store.getTarget());
      Value target = fused->keptParam(argument.getArgNumber());
      if (!target)
        return success(); // nobody uses it
      Operation *copy = transplant.cloneWrite(&op, target);
      return copy ? success() : refuse(transplant.reason);
    };
    LogicalResult done = success();
    if (auto store = dyn_cast<StoreOp>(op))
      done = write(store);
    else if (auto update = dyn_cast<UpdateOp>(op))
      done = write(update);
    if (failed(done))
      return failure();
  }
  return success();
}

/// The guest's work comes last in the host's programs.
LogicalResult Merger::merge() {
  OpBuilder end = OpBuilder::atBlockEnd(&fused->kernel().getParallel().getBody().front());
  Operation *point = arith::ConstantOp::create(end, guest.getLoc(), end.getI64IntegerAttr(0));
  SpanNames names(fused->kernel());
  Transplant transplant(guest, point, names);
  fused->bindGuest(transplant);
  ParallelOp parallel = guest.getParallel();
  for (auto [binder, place] : llvm::zip(parallel.getBody().getArguments(), places)) {
    if (auto span = dyn_cast<SpanType>(binder.getType()))
      transplant.bindSpan(span.getName(), HostIndex::ofSpan(place));
    else
      transplant.bindInteger(binder, HostIndex::ofInteger(place));
  }
  if (failed(cloneWrites(transplant)))
    return failure();
  fused->mergeSchedules(transplant);
  point->erase();
  return success();
}

std::unique_ptr<FusedKernel> Merger::run() {
  refusal.loc = hostCall.getLoc();
  if (failed(check()))
    return {};
  SmallVector<Value> kept(guestCall.getResults());
  fused = std::make_unique<FusedKernel>(guestCall, hostCall, ArrayRef<Value>(), kept, shapes);
  if (std::string conflict = fused->conflict(); !conflict.empty()) {
    refusal.reason = std::move(conflict);
    return {};
  }
  fused->build();
  if (failed(pair()) || failed(merge()) || failed(fused->finish(refusal)))
    return {};
  return std::move(fused);
}

std::unique_ptr<FusedKernel> tile::ir::proposeMerging(CallOp guest, CallOp host,
                                                      GraphShapes &shapes, FusionRefusal &refusal) {
  return Merger(guest, host, shapes, refusal).run();
}
