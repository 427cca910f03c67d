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
  Interval rangeOf(Value lower, Value upper, ArrayRef<AffineExpr> dims);
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

/// Finds the place of each of the guest's binders in the host.
LogicalResult Merger::pair() {
  KernelOp host = fused->kernel();
  ParallelOp theirs = guest.getParallel();
  // The host's binders that the guest has as whole axes become that, too.
  SmallVector<AffineExpr> identity;
  for (unsigned n = 0, e = host.getDims().size(); n < e; ++n)
    identity.push_back(getAffineSymbolExpr(n, host.getContext()));
  llvm::SmallVector<Interval> wholes;
  guest.walk([&](AxisOp axis) {
    wholes.push_back(rangeOf(axis.getLower(), axis.getUpper(), fused->dimsOfGuest()));
  });
  auto ranges = [&](ParallelOp parallel, ArrayRef<AffineExpr> dims) {
    SmallVector<Interval> list;
    for (auto [lower, upper] : llvm::zip(parallel.getLower(), parallel.getUpper()))
      list.push_back(rangeOf(lower, upper, dims));
    return list;
  };
  SmallVector<Interval> wanted = ranges(theirs, fused->dimsOfGuest());
  {
    ParallelOp parallel = host.getParallel();
    SmallVector<StringAttr> wide;
    for (auto [name, each, range] : llvm::zip(parallel.getNames().getAsRange<StringAttr>(),
                                              parallel.getEach(), ranges(parallel, identity)))
      if (!each && range.isKnown() && !llvm::is_contained(wanted, range) &&
          llvm::is_contained(wholes, range))
        wide.push_back(name);
    if (wide.size() == parallel.getNames().size())
      return refuse("`" + guest.getSymName() + "` and `" + origin.getSymName() +
                    "` go along different dimensions; one program would do all of it");
    for (StringAttr name : wide)
      widenBinder(host, name);
  }
  ParallelOp ours = host.getParallel();
  SmallVector<Interval> offered = ranges(ours, identity);
  SmallVector<bool> taken(offered.size());
  for (auto [n, range] : llvm::enumerate(wanted)) {
    Value place;
    for (auto [m, offer] : llvm::enumerate(offered))
      if (!place && !taken[m] && range.isKnown() && range == offer &&
          ours.getEach()[m] == theirs.getEach()[n]) {
        taken[m] = true;
        place = ours.getBody().getArgument(m);
      }
    if (!place && !theirs.getEach()[n])
      for (AxisOp axis : ours.getOps<AxisOp>())
        if (!place && range.isKnown() &&
            rangeOf(axis.getLower(), axis.getUpper(), identity) == range &&
            !isRestricted(host, axis.getSpan().getType().getName()))
          place = axis.getSpan();
    if (!place)
      return refuse("`" + guest.getSymName() + "` and `" + origin.getSymName() +
                    "` have different programs: none has the blocks of `" +
                    cast<StringAttr>(theirs.getNames()[n]).getValue() + "` that the other has");
    places.push_back(place);
  }
  for (auto [m, isTaken] : llvm::enumerate(taken))
    if (!isTaken)
      return refuse("`" + origin.getSymName() + "` has programs for each block of `" +
                    cast<StringAttr>(ours.getNames()[m]).getValue() + "`, and `" +
                    guest.getSymName() + "` has not");
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
  if (failed(pair()) || failed(merge()) || failed(fused->finish(refusal.reason)))
    return {};
  return std::move(fused);
}

std::unique_ptr<FusedKernel> tile::ir::proposeMerging(CallOp guest, CallOp host,
                                                      GraphShapes &shapes, FusionRefusal &refusal) {
  return Merger(guest, host, shapes, refusal).run();
}
