//===- InlineProducer.cpp - a producer's values in its consumer -----------===//

#include "ir/fusion/InlineProducer.h"
#include "ir/fusion/FusedKernel.h"
#include "ir/fusion/NarrowBinder.h"
#include "ir/fusion/Transplant.h"
#include "ir/fusion/WidenBinder.h"

using namespace mlir;
using namespace tile::ir;

namespace {
class Inliner {
public:
  Inliner(CallOp producer, CallOp consumer, Value tensor, const InlineOptions &options,
          GraphShapes &shapes, FusionRefusal &refusal)
      : producer(producer), consumer(consumer), tensor(tensor), options(options), shapes(shapes),
        refusal(refusal), guest(shapes.kernelOf(producer)), origin(shapes.kernelOf(consumer)) {}

  std::unique_ptr<FusedKernel> run();

private:
  LogicalResult refuse(const Twine &reason) {
    refusal.reason = reason.str();
    return failure();
  }
  LogicalResult check();
  void widen();
  LogicalResult narrow();
  LogicalResult keep(LoadOp load, Value value);
  LogicalResult replace(LoadOp load, SpanNames &names);
  LogicalResult inlineLoads();
  LogicalResult bindElement(Transplant &transplant, LoadOp load);
  LogicalResult bindIndex(Transplant &transplant, AffineExpr expr, const HostIndex &index);
  Value select(Transplant &transplant, LoadOp load, Value value);

  CallOp producer, consumer;
  Value tensor;
  const InlineOptions &options;
  GraphShapes &shapes;
  FusionRefusal &refusal;
  KernelOp guest, origin;
  unsigned output = 0; // the guest's parameter that is the tensor
  StoreOp store;
  StoreOp keptStore;
  /// The blocks of the guest that are blocks of the host, by name.
  SmallVector<std::pair<StringAttr, StringAttr>> binders;
  std::unique_ptr<FusedKernel> fused;
};
} // namespace

//===-- What can be inlined at all ----------------------------------------===//

bool tile::ir::reaches(CallOp from, CallOp to) {
  SmallVector<Operation *> open(from->getUsers());
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (op == to)
      return true;
    if (seen.insert(op).second && op->isBeforeInBlock(to))
      llvm::append_range(open, op->getUsers());
  }
  return false;
}

LogicalResult Inliner::check() {
  if (options.keeps)
    for (Operation *user : tensor.getUsers())
      if (auto other = dyn_cast<CallOp>(user);
          other && other != consumer && reaches(other, consumer))
        return refuse("`" + origin.getSymName() + "` needs `" + other.getCallee() +
                      "`, which needs `" + guest.getSymName() + "`");
  if (!guest || !origin)
    return refuse("a graph is called, not a kernel");
  if (guest.isGrid())
    return refuse("`" + guest.getSymName() +
                  "` is a grid kernel: nothing is known of what its programs write");
  if (origin.isGrid())
    return refuse("`" + origin.getSymName() +
                  "` is a grid kernel: its programs may read what they like");
  output = outputPosition(guest, cast<OpResult>(tensor).getResultNumber());
  for (unsigned n = 0, e = guest.getNumArguments(); n < e; ++n)
    if (guest.getParamMode(n) == ParamMode::InOut)
      return refuse("`" + guest.getSymName() + "` changes `" + guest.getParamName(n) +
                    "` in place");
  if (guest.getParamMode(output) == ParamMode::Reduce)
    return refuse("`" + guest.getParamName(output) + "` is complete only when all programs of `" +
                  guest.getSymName() + "` have ended");
  for (auto [operand, n] : llvm::zip(consumer.getInputs(), inputPositions(origin))) {
    if (origin.getParamMode(n) != ParamMode::InOut)
      continue;
    if (operand == tensor)
      return refuse("`" + origin.getSymName() + "` changes `" + origin.getParamName(n) +
                    "` in place");
    if (llvm::is_contained(producer.getInputs(), operand))
      return refuse("`" + origin.getSymName() + "` changes a tensor in place that `" +
                    guest.getSymName() + "` reads");
  }
  bool hasEffects = false;
  guest.walk([&](Operation *op) { hasEffects |= isa<AssertOp, PrintOp>(op); });
  if (hasEffects)
    return refuse("`" + guest.getSymName() + "` asserts or prints, once for each of its programs");
  for (StoreOp op : guest.getParallel().getOps<StoreOp>())
    if (op.getTarget() == guest.getArgument(output))
      store = op;
  if (!store)
    return refuse("`" + guest.getSymName() + "` does not store `" + guest.getParamName(output) +
                  "` in one place");
  return success();
}

//===-- From an element to the producer's coordinates ---------------------===//

/// The terms of a sum with their factors, the greatest first; none if it is no such sum.
static std::optional<SmallVector<std::pair<int64_t, AffineExpr>>> digitsOf(AffineExpr expr) {
  SmallVector<std::pair<int64_t, AffineExpr>> digits;
  SmallVector<AffineExpr> open = {expr};
  while (!open.empty()) {
    AffineExpr part = open.pop_back_val();
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    if (binary && part.getKind() == AffineExprKind::Add) {
      open.push_back(binary.getLHS());
      open.push_back(binary.getRHS());
    } else if (isa<AffineDimExpr, AffineSymbolExpr>(part)) {
      digits.push_back({1, part});
    } else if (binary && part.getKind() == AffineExprKind::Mul &&
               isa<AffineConstantExpr>(binary.getRHS()) &&
               isa<AffineDimExpr, AffineSymbolExpr>(binary.getLHS())) {
      digits.push_back({cast<AffineConstantExpr>(binary.getRHS()).getValue(), binary.getLHS()});
    } else {
      return std::nullopt;
    }
  }
  llvm::sort(digits, [](const auto &a, const auto &b) { return a.first > b.first; });
  for (size_t n = 1; n < digits.size(); ++n)
    if (digits[n].first <= 0 || digits[n - 1].first % digits[n].first != 0)
      return std::nullopt;
  return digits.back().first == 1 ? std::optional(digits) : std::nullopt;
}

LogicalResult Inliner::bindIndex(Transplant &transplant, AffineExpr expr, const HostIndex &index) {
  if (isa<AffineConstantExpr>(expr))
    return success();
  auto digits = digitsOf(expr);
  if (!digits)
    return refuse("which program of `" + guest.getSymName() + "` stores an element of `" +
                  guest.getParamName(output) + "` is not found from its index");
  for (auto [n, digit] : llvm::enumerate(*digits)) {
    auto [factor, operand] = digit;
    HostIndex part = index;
    if (n > 0)
      part.expr = part.expr % (*digits)[n - 1].first;
    if (factor > 1)
      part.expr = part.expr.floorDiv(factor);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(operand)) {
      Value integer = store.getSyms()[symbol.getPosition()];
      auto argument = dyn_cast<BlockArgument>(integer);
      if (!argument || argument.getOwner()->getParentOp() != guest.getParallel())
        return refuse("`" + guest.getSymName() + "` stores at an index that it computes");
      transplant.bindInteger(integer, std::move(part));
    } else {
      Value span = store.getDims()[cast<AffineDimExpr>(operand).getPosition()];
      if (!isa<SpanType>(span.getType()))
        return refuse("`" + guest.getSymName() + "` stores at an index that is data");
      if (Value place = part.asSpan(); place && isa<BlockArgument>(place))
        binders.emplace_back(axisOf(span), axisOf(place));
      transplant.bindSpan(axisOf(span), std::move(part));
    }
  }
  return success();
}

LogicalResult Inliner::bindElement(Transplant &transplant, LoadOp load) {
  SmallVector<Value> dims(load.getDims()), syms(load.getSyms());
  for (auto [stored, loaded] : llvm::zip(store.getMap().getResults(), load.getMap().getResults()))
    if (failed(bindIndex(transplant, stored, HostIndex{loaded, dims, syms})))
      return failure();
  llvm::SmallPtrSet<Value, 8> bound;
  for (Value value : llvm::concat<Value>(SmallVector<Value>(store.getDims()),
                                         SmallVector<Value>(store.getSyms())))
    bound.insert(value);
  for (Value binder : guest.getParallel().getBody().getArguments())
    if (!bound.contains(binder))
      return refuse("several programs of `" + guest.getSymName() + "` share an element of `" +
                    guest.getParamName(output) + "`");
  return success();
}

//===-- The loads of the consumer -----------------------------------------===//

/// The value where the element is inside the tensor, else what the load pads with.
Value Inliner::select(Transplant &transplant, LoadOp load, Value value) {
  OpBuilder builder(load);
  Location loc = load.getLoc();
  auto broadcast = [&](Value input) -> Value {
    Type type = withElement(load.getType(), getElementTypeOrSelf(input.getType()));
    return input.getType() == type ? input : Value(BroadcastOp::create(builder, loc, type, input));
  };
  Value inside;
  auto require = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    Value holds = arith::CmpIOp::create(builder, loc, predicate, broadcast(lhs), broadcast(rhs));
    inside = inside ? Value(arith::AndIOp::create(builder, loc, inside, holds)) : holds;
  };
  SmallVector<Value> dims(load.getDims()), syms(load.getSyms());
  KernelOp host = fused->kernel();
  for (auto [expr, extent] : llvm::zip(load.getMap().getResults(), fused->guestShape(output))) {
    Value coordinate = transplant.materialize(HostIndex{expr, dims, syms}, loc);
    if (!coordinate)
      return {};
    OpBuilder outside(host.getParallel());
    Value zero = arith::ConstantOp::create(outside, loc, builder.getI64IntegerAttr(0));
    require(arith::CmpIPredicate::sge, coordinate, zero);
    require(arith::CmpIPredicate::slt, coordinate,
            materializeDims(outside, loc, extent, host.getDims()));
  }
  return inside ? arith::SelectOp::create(builder, loc, inside, broadcast(value),
                                          broadcast(load.getPad()))
                : value;
}

/// Makes blocks of the new kernel whole along which elements of the producer meet.
void Inliner::widen() {
  llvm::SmallPtrSet<Attribute, 4> meeting;
  guest.walk([&](Operation *op) {
    if (auto along = dyn_cast<AlongAxes>(op))
      for (StringAttr axis : along.getAxesAlong())
        meeting.insert(axis);
    else if (auto count = dyn_cast<CountOp>(op))
      for (Value span : count.getSpans())
        meeting.insert(axisOf(span));
  });
  KernelOp host = fused->kernel();
  llvm::SetVector<Attribute> binders;
  host.walk([&](LoadOp load) {
    if (!fused->isTensor(load.getSource()))
      return;
    for (auto [stored, loaded] :
         llvm::zip(store.getMap().getResults(), load.getMap().getResults())) {
      auto mine = dyn_cast<AffineDimExpr>(stored), theirs = dyn_cast<AffineDimExpr>(loaded);
      Value axis = mine ? store.getDims()[mine.getPosition()] : Value();
      Value span = theirs ? load.getDims()[theirs.getPosition()] : Value();
      auto block = dyn_cast_or_null<BlockArgument>(span);
      if (axis && isa<SpanType>(axis.getType()) && meeting.contains(axisOf(axis)) && block &&
          isa<SpanType>(span.getType()) && block.getOwner()->getParentOp() == host.getParallel())
        binders.insert(axisOf(span));
    }
  });
  for (Attribute binder : binders)
    widenBinder(host, cast<StringAttr>(binder));
}

/// A variable of the producer's loops can't get another axis: blocks of the new kernel become
/// single coordinates where the producer has those, so that it gets none.
LogicalResult Inliner::narrow() {
  bool hasLoops = false;
  guest.walk([&](Operation *op) { hasLoops |= isa<ForOp, scf::ForOp, scf::WhileOp>(op); });
  if (!hasLoops)
    return success();
  KernelOp host = fused->kernel();
  llvm::SetVector<StringAttr> binders;
  auto isBinder = [](Value value, KernelOp kernel) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner()->getParentOp() == kernel.getParallel();
  };
  host.walk([&](LoadOp load) {
    if (!fused->isTensor(load.getSource()))
      return;
    for (auto [stored, loaded] :
         llvm::zip(store.getMap().getResults(), load.getMap().getResults())) {
      auto mine = dyn_cast<AffineSymbolExpr>(stored);
      auto theirs = dyn_cast<AffineDimExpr>(loaded);
      Value span = theirs ? load.getDims()[theirs.getPosition()] : Value();
      if (mine && isBinder(store.getSyms()[mine.getPosition()], guest) && span &&
          isa<SpanType>(span.getType()) && isBinder(span, host))
        binders.insert(axisOf(span));
    }
  });
  return binders.empty() ? success() : narrowBinders(host, binders.getArrayRef(), refusal.reason);
}

/// Stores the tensor where the new kernel has it; it must be computed once for each element.
LogicalResult Inliner::keep(LoadOp load, Value value) {
  Value memory = fused->keptParam(output);
  Operation *where = value.getDefiningOp();
  if (!memory || keptStore)
    return success();
  ParallelOp parallel = fused->kernel().getParallel();
  for (Value operand : load.getOperands()) {
    if (operand == load.getSource())
      continue;
    auto argument = dyn_cast<BlockArgument>(operand);
    bool isOuter = argument ? argument.getOwner() == &parallel.getBody().front()
                            : isa_and_nonnull<AxisOp>(operand.getDefiningOp());
    if (!isOuter)
      return success(); // another load may do
  }
  OpBuilder builder(load);
  Operation *outer = parallel.getBody().front().findAncestorOpInBlock(*load);
  if (where && where->getBlock() != outer->getBlock())
    return success();
  builder.setInsertionPoint(outer);
  keptStore = StoreOp::create(builder, store.getLoc(), value, memory, load.getMap(), load.getDims(),
                              load.getSyms());
  return success();
}

LogicalResult Inliner::replace(LoadOp load, SpanNames &names) {
  if (load.getBounds() == BoundsMode::clamp)
    return refuse("`" + origin.getSymName() + "` reads `" + guest.getParamName(output) +
                  "` clamped to its edges");
  Transplant transplant(guest, load, names);
  fused->bindGuest(transplant);
  if (failed(bindElement(transplant, load)))
    return failure();
  if (load.getBounds() == BoundsMode::pad)
    transplant.mayLeaveDomain();
  if (load.getBounds() == BoundsMode::within)
    transplant.isWithin();
  Value value = transplant.clone(store.getValue());
  if (value && load.getBounds() == BoundsMode::pad)
    value = select(transplant, load, value);
  if (!value)
    return refuse(transplant.reason);
  for (StringAttr axis : axesOf(value.getType()))
    if (!llvm::is_contained(axesOf(load.getType()), axis))
      return refuse("what it computes has an axis that `" + origin.getSymName() + "` doesn't load");
  if (value.getType() != load.getType()) {
    OpBuilder builder(load);
    value = BroadcastOp::create(builder, load.getLoc(), load.getType(), value);
  }
  if (load.getBounds() == BoundsMode::exact && failed(keep(load, value)))
    return failure();
  load.replaceAllUsesWith(value);
  load.erase();
  fused->mergeSchedules(transplant);
  return success();
}

//===-- The whole ---------------------------------------------------------===//

LogicalResult Inliner::inlineLoads() {
  KernelOp kernel = fused->kernel();
  SpanNames names(kernel);
  SmallVector<LoadOp> loads;
  kernel.walk([&](LoadOp load) {
    if (fused->isTensor(load.getSource()))
      loads.push_back(load);
  });
  for (LoadOp load : loads)
    if (failed(replace(load, names)))
      return failure();
  if (options.keeps && !keptStore)
    return refuse("no load of `" + origin.getSymName() + "` computes each element of `" +
                  guest.getParamName(output) + "` just once, so that others could have it");
  return success();
}

std::unique_ptr<FusedKernel> Inliner::run() {
  refusal.loc = consumer.getLoc();
  if (failed(check()))
    return {};
  fused = std::make_unique<FusedKernel>(producer, consumer, tensor,
                                        options.keeps ? ArrayRef<Value>(tensor) : ArrayRef<Value>(),
                                        shapes);
  if (std::string conflict = fused->conflict(); !conflict.empty()) {
    refusal.reason = std::move(conflict);
    return {};
  }
  fused->build();
  if (failed(narrow()))
    return {};
  if (options.widens)
    widen();
  if (failed(inlineLoads()))
    return {};
  fused->takeSizes(binders);
  fused->dropTensor();
  if (failed(fused->finish(refusal.reason)))
    return {};
  return std::move(fused);
}

std::unique_ptr<FusedKernel> tile::ir::proposeInlining(CallOp producer, CallOp consumer,
                                                       Value tensor, const InlineOptions &options,
                                                       GraphShapes &shapes,
                                                       FusionRefusal &refusal) {
  return Inliner(producer, consumer, tensor, options, shapes, refusal).run();
}
