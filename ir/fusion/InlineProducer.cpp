//===- InlineProducer.cpp - a producer's values in its consumer -----------===//

#include "ir/fusion/InlineProducer.h"
#include "ir/fusion/FusedKernel.h"
#include "ir/fusion/GraphNames.h"
#include "ir/fusion/KeepPrecision.h"
#include "ir/fusion/NarrowBinder.h"
#include "ir/fusion/Transplant.h"
#include "ir/fusion/UniteAxes.h"
#include "ir/fusion/WidenBinder.h"
#include "ir/proofs/Spelling.h"

using namespace mlir;
using namespace tile::ir;

namespace {
/// A result of the guest: one that the consumer reads, and that disappears, or one that is kept
/// besides.
struct Edge {
  Value tensor;
  unsigned output = 0; // the guest's parameter that it is
  StoreOp store = {};  // the guest's
  StoreOp kept = {};   // the new kernel's, if others read it
};

/// Values of the guest that are in the host, where a load reads what a store gave.
struct Computed {
  LoadOp load;
  StoreOp store;
  std::unique_ptr<Transplant> values;
};

class Inliner {
public:
  Inliner(CallOp producer, CallOp consumer, ArrayRef<Value> tensors, const InlineOptions &options,
          GraphShapes &shapes, FusionRefusal &refusal)
      : producer(producer), consumer(consumer), options(options), shapes(shapes), refusal(refusal),
        guest(shapes.kernelOf(producer)), origin(shapes.kernelOf(consumer)) {
    for (Value tensor : tensors)
      edges.push_back({tensor});
  }

  std::unique_ptr<FusedKernel> run();

private:
  LogicalResult refuse(const Twine &reason) {
    refusal.reason = reason.str();
    return failure();
  }
  /// What the consumer's kernel is called in a reason: apart from the producer's, if that is the
  /// same.
  std::string reader() { return origin.getSymName().str() + (origin == guest ? secondMark : ""); }
  /// What the edge's tensor is called in a reason: the fuser has the graph's name for it.
  std::string nameOf(const Edge &edge) {
    return ("`" + guest.getSymName() + "." + guest.getParamName(edge.output) + "`").str();
  }
  LogicalResult check();
  LogicalResult checkGuest();
  LogicalResult checkInPlace();
  LogicalResult findStore(Edge &edge);
  void forEachDimension(
      llvm::function_ref<void(StoreOp, AffineExpr stored, LoadOp, AffineExpr loaded)> visit);
  LogicalResult widen();
  LogicalResult narrow();
  SmallVector<Value> kept();
  Operation *placeToKeep(LoadOp load);
  void keep(Edge &edge, LoadOp load, Value value);
  void keepBeside(Edge &other, const Edge &edge, LoadOp load, Transplant &transplant);
  Transplant *transplantAt(const Edge &edge, LoadOp load, SpanNames &names);
  LogicalResult replace(Edge &edge, LoadOp load, SpanNames &names);
  LogicalResult inlineLoads();
  LogicalResult bindElement(Transplant &transplant, const Edge &edge, LoadOp load);
  LogicalResult bindIndex(Transplant &transplant, const Edge &edge, AffineExpr expr,
                          const HostIndex &index);
  Value select(Transplant &transplant, const Edge &edge, LoadOp load, Value value);

  CallOp producer, consumer;
  const InlineOptions &options;
  GraphShapes &shapes;
  FusionRefusal &refusal;
  KernelOp guest, origin;
  SmallVector<Edge, 2> edges;
  /// Kept, and not read by the consumer.
  SmallVector<Edge, 2> beside;
  /// The blocks of the guest that are blocks of the host, by name.
  SmallVector<std::pair<StringAttr, StringAttr>> binders;
  /// Of the loads that are replaced, those at one element after the first of them.
  SmallVector<Computed, 2> computed;
  std::unique_ptr<FusedKernel> fused;
};
} // namespace

//===-- What can be inlined at all ----------------------------------------===//

bool tile::ir::reaches(CallOp from, CallOp to) {
  if (!from->isBeforeInBlock(to))
    return false;
  // From both ends by turns, an edge at a time: often one of the two soon leads nowhere.
  SmallVector<std::pair<Operation::user_iterator, Operation::user_iterator>> down;
  SmallVector<std::pair<Operation::operand_iterator, Operation::operand_iterator>> up;
  down.emplace_back(from->user_begin(), from->user_end());
  up.emplace_back(to->operand_begin(), to->operand_end());
  llvm::SmallPtrSet<Operation *, 16> below = {from}, above = {to};
  while (!down.empty() && !up.empty()) {
    if (auto &[use, end] = down.back(); use == end) {
      down.pop_back();
    } else if (Operation *op = *use++; above.contains(op)) {
      return true;
    } else if (op->isBeforeInBlock(to) && below.insert(op).second) {
      down.emplace_back(op->user_begin(), op->user_end());
    }
    if (auto &[operand, end] = up.back(); operand == end) {
      up.pop_back();
    } else if (Operation *op = (*operand++).getDefiningOp(); op && below.contains(op)) {
      return true;
    } else if (op && from->isBeforeInBlock(op) && above.insert(op).second) {
      up.emplace_back(op->operand_begin(), op->operand_end());
    }
  }
  return false;
}

SmallVector<Value> tile::ir::tensorsBetween(CallOp producer, CallOp consumer) {
  SmallVector<Value> tensors;
  for (Value result : producer.getResults())
    if (llvm::is_contained(consumer.getInputs(), result))
      tensors.push_back(result);
  return tensors;
}

SmallVector<Value> tile::ir::readByOthers(CallOp consumer, ArrayRef<Value> tensors) {
  SmallVector<Value> read;
  for (Value tensor : tensors)
    if (llvm::any_of(tensor.getUsers(), [&](Operation *user) { return user != consumer; }))
      read.push_back(tensor);
  return read;
}

bool tile::ir::mayKeep(CallOp producer, CallOp consumer, ArrayRef<Value> tensors,
                       FusionRefusal &refusal) {
  SmallVector<Operation *> open = {consumer};
  llvm::SmallPtrSet<Operation *, 16> seen;
  auto isKept = [&](Value operand) { return llvm::is_contained(tensors, operand); };
  while (!open.empty()) {
    for (Value operand : open.pop_back_val()->getOperands()) {
      Operation *op = operand.getDefiningOp();
      if (!op || !producer->isBeforeInBlock(op) || !seen.insert(op).second)
        continue;
      open.push_back(op);
      if (auto other = dyn_cast<CallOp>(op); other && llvm::any_of(op->getOperands(), isKept)) {
        auto nameOf = [](CallOp call, Value value) {
          StringRef name = nameOfResult(cast<OpResult>(value));
          return name.empty() ? call.getCallee() : name;
        };
        Value tensor = *llvm::find_if(op->getOperands(), isKept);
        refusal.reason =
            ("`" + consumer.getCallee() + "` needs `" + nameOf(other, other.getResult(0)) +
             "`, which needs `" + nameOf(producer, tensor) + "`")
                .str();
        refusal.loc = consumer.getLoc();
        return false;
      }
    }
  }
  return true;
}

LogicalResult Inliner::checkGuest() {
  if (guest.isGrid())
    return refuse("`" + guest.getSymName() +
                  "` is a grid kernel: nothing is known of what its programs write");
  if (origin.isGrid())
    return refuse("`" + reader() + "` is a grid kernel: its programs may read what they like");
  bool hasEffects = false;
  guest.walk([&](Operation *op) { hasEffects |= isa<AssertOp, PrintOp>(op); });
  if (hasEffects)
    return refuse("`" + guest.getSymName() + "` asserts or prints, once for each of its programs");
  if (guest.walk([](MayNotEndOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return refuse("`" + guest.getSymName() + "` has a `while`, which may not end");
  return success();
}

LogicalResult Inliner::checkInPlace() {
  for (unsigned n = 0, e = guest.getNumArguments(); n < e; ++n)
    if (guest.getParamMode(n) == ParamMode::InOut)
      return refuse("`" + guest.getSymName() + "` changes `" + guest.getParamName(n) +
                    "` in place");
  for (auto [operand, n] : llvm::zip(consumer.getInputs(), inputPositions(origin))) {
    if (origin.getParamMode(n) != ParamMode::InOut)
      continue;
    if (llvm::any_of(edges, [&](const Edge &edge) { return edge.tensor == operand; }))
      return refuse("`" + reader() + "` changes `" + origin.getParamName(n) + "` in place");
    if (llvm::is_contained(producer.getInputs(), operand))
      return refuse("`" + reader() + "` changes a tensor in place that `" + guest.getSymName() +
                    "` reads");
  }
  return success();
}

LogicalResult Inliner::findStore(Edge &edge) {
  edge.output = outputPosition(guest, cast<OpResult>(edge.tensor).getResultNumber());
  if (guest.getParamMode(edge.output) == ParamMode::Reduce) {
    refusal.isShared = true;
    return refuse(nameOf(edge) + " is complete only when all programs of `" + guest.getSymName() +
                  "` have ended");
  }
  for (StoreOp op : guest.getParallel().getOps<StoreOp>())
    if (op.getTarget() == guest.getArgument(edge.output))
      edge.store = op;
  auto isInLoop = [](Operation *user) {
    return isa<StoreOp>(user) && isa<ForOp, scf::ForOp, scf::WhileOp>(user->getParentOp());
  };
  if (!edge.store && llvm::any_of(guest.getArgument(edge.output).getUsers(), isInLoop))
    return refuse("`" + guest.getSymName() + "` stores " + nameOf(edge) +
                  " in a loop, one block after the other");
  if (!edge.store)
    return refuse("`" + guest.getSymName() + "` does not store " + nameOf(edge) + " in one place");
  return success();
}

LogicalResult Inliner::check() {
  if (!guest || !origin)
    return refuse("a graph is called, not a kernel");
  if (failed(checkGuest()) || failed(checkInPlace()))
    return failure();
  for (Edge &edge : edges)
    if (failed(findStore(edge)))
      return failure();
  if (!options.keeps)
    return success();
  if (tensorsBetween(producer, consumer).size() != edges.size())
    return refuse("`" + reader() + "` needs more of `" + guest.getSymName() + "`");
  for (Value result : kept()) {
    auto isResult = [&](const Edge &edge) { return edge.tensor == result; };
    if (llvm::none_of(edges, isResult) && failed(findStore(beside.emplace_back(Edge{result}))))
      return failure();
  }
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

/// Whether all values of a store's operand are digits to a base.
static bool isDigit(Value operand, int64_t base) {
  std::optional<int64_t> lower, upper;
  if (auto axis = operand.getDefiningOp<AxisOp>()) {
    lower = getConstantIntValue(axis.getLower());
    upper = getConstantIntValue(axis.getUpper());
  } else if (auto argument = dyn_cast<BlockArgument>(operand)) {
    if (auto parallel = dyn_cast<ParallelOp>(argument.getOwner()->getParentOp())) {
      lower = getConstantIntValue(parallel.getLower()[argument.getArgNumber()]);
      upper = getConstantIntValue(parallel.getUpper()[argument.getArgNumber()]);
    }
  }
  return lower && upper && *lower >= 0 && *upper <= base;
}

LogicalResult Inliner::bindIndex(Transplant &transplant, const Edge &edge, AffineExpr expr,
                                 const HostIndex &index) {
  StoreOp store = edge.store;
  if (isa<AffineConstantExpr>(expr))
    return success();
  auto digits = digitsOf(expr);
  auto operandOf = [&](AffineExpr digit) -> Value {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(digit))
      return store.getSyms()[symbol.getPosition()];
    return store.getDims()[cast<AffineDimExpr>(digit).getPosition()];
  };
  auto isBelow = [&](const auto &digit, const auto &above) {
    return isDigit(operandOf(digit.second), above.first / digit.first);
  };
  for (size_t n = 1; digits && n < digits->size(); ++n)
    if (!isBelow((*digits)[n], (*digits)[n - 1]))
      digits.reset();
  if (!digits)
    return refuse("which program of `" + guest.getSymName() + "` stores an element of " +
                  nameOf(edge) + " is not found from its index");
  for (auto [n, digit] : llvm::enumerate(*digits)) {
    auto [factor, operand] = digit;
    HostIndex part = index;
    if (n > 0)
      part.expr = part.expr % (*digits)[n - 1].first;
    if (factor > 1)
      part.expr = part.expr.floorDiv(factor);
    Value coordinate = operandOf(operand);
    if (isa<AffineSymbolExpr>(operand)) {
      auto argument = dyn_cast<BlockArgument>(coordinate);
      if (!argument || argument.getOwner()->getParentOp() != guest.getParallel())
        return refuse("`" + guest.getSymName() + "` stores at an index that it computes");
      transplant.bindInteger(coordinate, std::move(part));
    } else {
      if (!isa<SpanType>(coordinate.getType()))
        return refuse("`" + guest.getSymName() + "` stores at an index that is data");
      if (Value place = part.asSpan(); place && isa<BlockArgument>(place))
        binders.emplace_back(axisOf(coordinate), axisOf(place));
      transplant.bindSpan(axisOf(coordinate), std::move(part));
    }
  }
  return success();
}

LogicalResult Inliner::bindElement(Transplant &transplant, const Edge &edge, LoadOp load) {
  SmallVector<Value> dims(load.getDims()), syms(load.getSyms());
  StoreOp store = edge.store;
  for (auto [stored, loaded] : llvm::zip(store.getMap().getResults(), load.getMap().getResults()))
    if (failed(bindIndex(transplant, edge, stored, HostIndex{loaded, dims, syms})))
      return failure();
  llvm::SmallPtrSet<Value, 8> bound;
  for (Value value : llvm::concat<Value>(SmallVector<Value>(store.getDims()),
                                         SmallVector<Value>(store.getSyms())))
    bound.insert(value);
  for (Value binder : guest.getParallel().getBody().getArguments())
    if (!bound.contains(binder))
      return refuse("several programs of `" + guest.getSymName() + "` share an element of " +
                    nameOf(edge));
  return success();
}

//===-- The loads of the consumer -----------------------------------------===//

/// The value where the element is inside the tensor, else what the load pads with.
Value Inliner::select(Transplant &transplant, const Edge &edge, LoadOp load, Value value) {
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
  for (auto [expr, extent] :
       llvm::zip(load.getMap().getResults(), fused->guestShape(edge.output))) {
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

/// The dimensions in which loads of the new kernel reach what the guest stores.
void Inliner::forEachDimension(
    llvm::function_ref<void(StoreOp, AffineExpr stored, LoadOp, AffineExpr loaded)> visit) {
  fused->kernel().walk([&](LoadOp load) {
    std::optional<unsigned> n = fused->tensorAt(load.getSource());
    if (!n)
      return;
    StoreOp store = edges[*n].store;
    for (auto [stored, loaded] : llvm::zip(store.getMap().getResults(), load.getMap().getResults()))
      visit(store, stored, load, loaded);
  });
}

/// The block that a dimension of an access is, if the kernel's programs bind it.
static Value blockAt(AffineExpr expr, ValueRange dims, KernelOp kernel) {
  auto dim = dyn_cast<AffineDimExpr>(expr);
  auto block = dim ? dyn_cast<BlockArgument>(dims[dim.getPosition()]) : BlockArgument();
  bool isBinder = block && isa<SpanType>(block.getType()) &&
                  block.getOwner()->getParentOp() == kernel.getParallel();
  return isBinder ? Value(block) : Value();
}

/// The binders that a kernel has more than one program along, as far as is known; of all, or of
/// those that are `among` them.
static size_t countPrograms(
    KernelOp kernel, llvm::function_ref<bool(StringAttr)> among = [](StringAttr) { return true; }) {
  ParallelOp parallel = kernel.getParallel();
  size_t count = 0;
  for (auto [name, first, end] :
       llvm::zip(parallel.getNames(), parallel.getLower(), parallel.getUpper())) {
    AffineExpr lower = traceDims(first), upper = traceDims(end);
    count += among(cast<StringAttr>(name)) && (!lower || !upper || upper - lower != 1);
  }
  return count;
}

/// Makes blocks of the new kernel whole along which elements of the producer meet, and those that
/// would compute the same elements again. Some are left, unless the producer is one program, too:
/// it would be alone on the device, with all of a tensor.
LogicalResult Inliner::widen() {
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
  // The binders that the blocks of each load would differ in for nothing.
  llvm::MapVector<Operation *, llvm::SmallPtrSet<Attribute, 4>> ofLoads;
  auto add = [&](LoadOp load, StringAttr binder) {
    binders.insert(binder);
    ofLoads[load].insert(binder);
  };
  forEachDimension([&](StoreOp store, AffineExpr stored, LoadOp load, AffineExpr loaded) {
    auto mine = dyn_cast<AffineDimExpr>(stored);
    Value axis = mine ? store.getDims()[mine.getPosition()] : Value();
    Value block = blockAt(loaded, load.getDims(), host);
    if (axis && isa<SpanType>(axis.getType()) && meeting.contains(axisOf(axis)) && block)
      add(load, axisOf(block));
  });
  // Blocks that a load lacks would each gather the same again, and store what is kept.
  host.walk([&](LoadOp load) {
    std::optional<unsigned> n = fused->tensorAt(load.getSource());
    if (!n || (meeting.empty() && beside.empty() && !fused->keptParam(edges[*n].output)))
      return;
    for (Value binder : host.getParallel().getBody().getArguments())
      if (isa<SpanType>(binder.getType()) &&
          !llvm::is_contained(axesOf(load.getType()), axisOf(binder)))
        add(load, axisOf(binder));
  });
  size_t all = countPrograms(host);
  auto areAll = [&](const auto &names) {
    return countPrograms(host, [&](StringAttr name) { return names.contains(name); }) == all;
  };
  if (all > 0 && areAll(binders) && countPrograms(guest) > 0)
    return refuse(llvm::any_of(ofLoads, [&](auto &load) { return areAll(load.second); })
                      ? "each block of `" + reader() + "` reads of all programs of `" +
                            guest.getSymName() + "`; one program would do all of it"
                      : "`" + reader() + "` reads what `" + guest.getSymName() +
                            "` gives along several of its dimensions, and blocks along each "
                            "would compute it again");
  for (Attribute binder : binders)
    widenBinder(host, cast<StringAttr>(binder));
  refusal.isOfWidened = !binders.empty();
  return success();
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
  forEachDimension([&](StoreOp store, AffineExpr stored, LoadOp load, AffineExpr loaded) {
    auto mine = dyn_cast<AffineSymbolExpr>(stored);
    auto integer =
        mine ? dyn_cast<BlockArgument>(store.getSyms()[mine.getPosition()]) : BlockArgument();
    Value block = blockAt(loaded, load.getDims(), host);
    if (integer && integer.getOwner()->getParentOp() == guest.getParallel() && block)
      binders.insert(axisOf(block));
  });
  return binders.empty() ? success() : narrowBinders(host, binders.getArrayRef(), refusal.reason);
}

/// What others have from the new kernel.
SmallVector<Value> Inliner::kept() {
  return options.keeps ? readByOthers(consumer, SmallVector<Value>(producer.getResults()))
                       : SmallVector<Value>();
}

/// Before which op a program stores what is kept, so that each element is stored once; null: not
/// where this load is.
Operation *Inliner::placeToKeep(LoadOp load) {
  if (load.getBounds() != BoundsMode::exact)
    return nullptr;
  Block &programs = fused->kernel().getParallel().getBody().front();
  for (Value operand : load.getOperands()) {
    if (operand == load.getSource())
      continue;
    auto span = dyn_cast<SpanType>(operand.getType());
    if (span && isRestricted(fused->kernel(), span.getName()))
      return nullptr; // it may lack elements
    auto argument = dyn_cast<BlockArgument>(operand);
    if (argument ? argument.getOwner() != &programs
                 : !isa_and_nonnull<AxisOp>(operand.getDefiningOp()))
      return nullptr;
  }
  return programs.findAncestorOpInBlock(*load);
}

/// Stores the tensor where the new kernel has it; it must be computed once for each element.
void Inliner::keep(Edge &edge, LoadOp load, Value value) {
  Value memory = fused->keptParam(edge.output);
  Operation *where = value.getDefiningOp(), *place = placeToKeep(load);
  if (!memory || edge.kept || !place || (where && where->getBlock() != place->getBlock()))
    return; // another load may do
  OpBuilder builder(place);
  edge.kept = StoreOp::create(builder, edge.store.getLoc(), value, memory, load.getMap(),
                              load.getDims(), load.getSyms());
}

static bool areAtOneIndex(StoreOp a, StoreOp b) {
  return a.getMap() == b.getMap() && a.getDims() == b.getDims() && a.getSyms() == b.getSyms();
}

/// Stores another result of the guest's where a load of this one is computed, by the same
/// coordinates.
void Inliner::keepBeside(Edge &other, const Edge &edge, LoadOp load, Transplant &transplant) {
  Operation *place = placeToKeep(load);
  if (other.kept || !place)
    return;
  StoreOp theirs = other.store, ours = edge.store;
  auto copy = cast_or_null<StoreOp>(transplant.cloneWrite(theirs, fused->keptParam(other.output)));
  if (!copy)
    return;
  bool isSame = areAtOneIndex(theirs, ours);
  AffineMap map = isSame ? load.getMap() : copy.getMap();
  SmallVector<Value> dims(isSame ? load.getDims() : copy.getDims());
  SmallVector<Value> syms(isSame ? load.getSyms() : copy.getSyms());
  Value value = copy.getValue();
  copy.erase();
  auto isOutside = [&](Value operand) {
    return !operand.getParentRegion()->isAncestor(place->getParentRegion());
  };
  if (isOutside(value) || llvm::any_of(dims, isOutside) || llvm::any_of(syms, isOutside))
    return;
  OpBuilder builder(place);
  Type type = mapAxes(map, dims).tileOf(getElementTypeOrSelf(value.getType()));
  for (StringAttr axis : axesOf(value.getType()))
    if (!llvm::is_contained(axesOf(type), axis))
      return;
  if (value.getType() != type)
    value = BroadcastOp::create(builder, theirs.getLoc(), type, value);
  other.kept = StoreOp::create(builder, theirs.getLoc(), value, fused->keptParam(other.output), map,
                               dims, syms);
}

static bool areAtOneIndex(LoadOp a, LoadOp b) {
  return a->getBlock() == b->getBlock() && a.getBounds() == b.getBounds() &&
         a.getMap() == b.getMap() && a.getDims() == b.getDims() && a.getSyms() == b.getSyms();
}

/// The guest's values at the element that a load reads. Of several tensors that the host reads
/// there, what is computed for the one needs not be computed for the next.
Transplant *Inliner::transplantAt(const Edge &edge, LoadOp load, SpanNames &names) {
  // With precision kept, what is computed for a load is changed afterwards.
  auto *known = llvm::find_if(computed, [&](const Computed &other) {
    return !options.keepsPrecision && areAtOneIndex(other.load, load) &&
           areAtOneIndex(other.store, edge.store);
  });
  if (known != computed.end())
    return known->values.get();
  auto transplant = std::make_unique<Transplant>(guest, load, names);
  fused->bindGuest(*transplant);
  if (failed(bindElement(*transplant, edge, load)))
    return nullptr;
  if (load.getBounds() == BoundsMode::pad)
    transplant->mayLeaveDomain();
  if (load.getBounds() == BoundsMode::within)
    transplant->isWithin(load.getLoc());
  computed.push_back({load, edge.store, std::move(transplant)});
  return computed.back().values.get();
}

LogicalResult Inliner::replace(Edge &edge, LoadOp load, SpanNames &names) {
  if (load.getBounds() == BoundsMode::clamp)
    return refuse("`" + reader() + "` reads " + nameOf(edge) + " clamped to its edges");
  Transplant *at = transplantAt(edge, load, names);
  if (!at)
    return failure();
  Transplant &transplant = *at;
  bool isPadded = load.getBounds() == BoundsMode::pad;
  Value value = transplant.clone(edge.store.getValue());
  if (!value)
    return refuse(transplant.reason);
  for (StringAttr axis : axesOf(value.getType()))
    if (!llvm::is_contained(axesOf(load.getType()), axis))
      return refuse("what it computes has an axis that `" + reader() + "` doesn't load");
  value = isPadded ? select(transplant, edge, load, value) : value;
  if (!value)
    return refuse(transplant.reason);
  if (value.getType() != load.getType()) {
    OpBuilder builder(load);
    value = BroadcastOp::create(builder, load.getLoc(), load.getType(), value);
  }
  keep(edge, load, value);
  if (!options.keepsPrecision) {
    for (Edge &other : beside)
      keepBeside(other, edge, load, transplant);
  } else if (!beside.empty()) {
    // What is kept besides is computed from rounded numbers, whatever the consumer takes.
    Transplant apart(guest, load, names);
    fused->bindGuest(apart);
    if (failed(bindElement(apart, edge, load)))
      return failure();
    for (Edge &other : beside)
      keepBeside(other, edge, load, apart);
    fused->mergeSchedules(apart);
  }
  load.replaceAllUsesWith(value);
  if (options.keepsPrecision)
    keepPrecision(value);
  fused->mergeSchedules(transplant);
  return success();
}

//===-- The whole ---------------------------------------------------------===//

LogicalResult Inliner::inlineLoads() {
  SpanNames names(fused->kernel());
  SmallVector<LoadOp> loads;
  fused->kernel().walk([&](LoadOp load) {
    if (fused->tensorAt(load.getSource()))
      loads.push_back(load);
  });
  for (LoadOp load : loads)
    if (failed(replace(edges[*fused->tensorAt(load.getSource())], load, names)))
      return failure();
  for (LoadOp load : loads)
    load.erase();
  for (const Edge &edge : llvm::concat<const Edge>(edges, beside))
    if (fused->keptParam(edge.output) && !edge.kept) {
      refusal.isShared = true;
      return refuse("no load of `" + reader() + "` is known to compute each element of " +
                    nameOf(edge) + " just once, so that others could have it");
    }
  return success();
}

std::unique_ptr<FusedKernel> Inliner::run() {
  refusal.loc = consumer.getLoc();
  if (failed(check()))
    return {};
  auto tensors = llvm::map_to_vector(edges, [](const Edge &edge) { return edge.tensor; });
  if (!mayKeep(producer, consumer, kept(), refusal))
    return {};
  fused = std::make_unique<FusedKernel>(producer, consumer, tensors, kept(), shapes);
  if (std::string conflict = fused->conflict(); !conflict.empty()) {
    refusal.reason = std::move(conflict);
    return {};
  }
  fused->build();
  if (failed(narrow()))
    return {};
  if ((options.widens && failed(widen())) || failed(inlineLoads()))
    return {};
  fused->takeSizes(binders);
  fused->dropTensors();
  if (failed(fused->finish(refusal, options.keepsPrecision)))
    return {};
  return std::move(fused);
}

std::unique_ptr<FusedKernel> tile::ir::proposeInlining(CallOp producer, CallOp consumer,
                                                       ArrayRef<Value> tensors,
                                                       const InlineOptions &options,
                                                       GraphShapes &shapes,
                                                       FusionRefusal &refusal) {
  return Inliner(producer, consumer, tensors, options, shapes, refusal).run();
}
