//===- LoopAxis.cpp - a whole axis in chunks ------------------------------===//

#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/Elementwise.h"
#include "codegen/gpu/dialect/KernelAttributes.h"
#include "codegen/gpu/loops/RescaledSums.h"
#include "codegen/gpu/loops/ValueFacts.h"
#include "ir/dialect/LoopOrder.h"
#include "ir/proofs/Domain.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

namespace {
class AxisLooping {
public:
  explicit AxisLooping(AxisOp axis)
      : axis(axis), span(axis.getSpan()), name(axisOf(span)),
        kernel(axis->getParentOfType<KernelOp>()), body(kernel.getParallel().getBody().front()) {}
  StringAttr nameOfLoop(unsigned phase) const {
    return StringAttr::get(name.getContext(), name.getValue() + "@" + Twine(phase));
  }
  std::optional<LoopedAxis> analyze();
  /// Whether no op has it.
  bool isUnused() const;
  /// Whether contractions are all that the axis is for, one loop's.
  bool isContracted();
  /// How many of its elements make 128 bytes of the operands.
  int64_t elementsOfLine() const;
  void run(int64_t chunk);

private:
  bool hasAxis(Type type) const { return llvm::is_contained(axesOf(type), name); }
  bool hasAxis(Operation *op) const;
  bool isSupported(Operation *op) const;
  bool isFold(Operation *op) const;
  /// A scan along the axis, which the loop carries on from chunk to chunk.
  bool isScan(Operation *op) const;
  /// Whether it makes what is there only after its phase.
  bool isLate(Value result) const;
  /// The contraction of the axis whose sums this one adds to, and nothing else does; or null.
  DotOp chainedTo(Operation *op) const;
  /// The first and the last of such contractions; any other op itself.
  DotOp headOf(Operation *op) const;
  Operation *tailOf(Operation *op) const;
  /// The type in which the elements of a search for the best are compared.
  static Type numberOf(ArgReduceOp reduce) {
    Type element = getElementTypeOrSelf(reduce.getInput().getType());
    return isNarrowFloat(element) ? Float32Type::get(element.getContext()) : element;
  }
  /// What such a search is better than at first; and the place and the element that are best after
  /// a chunk.
  Value firstBest(OpBuilder &builder, ArgReduceOp reduce) const;
  std::pair<Value, Value> betterOf(OpBuilder &builder, ArgReduceOp chunk, Value place,
                                   Value best) const;
  /// What a fold begins with. What contractions add to, if it isn't zero, they get behind the loop,
  /// in which it would take registers.
  Value initOf(OpBuilder &builder, Operation *fold) const;
  Value resultOf(OpBuilder &builder, Operation *fold, Value folded) const;
  /// Of a sum in the same phase.
  bool isMaximum(Operation *op) const {
    return llvm::any_of(maxima, [&](const auto &pair) { return pair.second == op; });
  }
  bool isWrite(Operation *op) const { return isa<StoreOp, UpdateOp>(op) && hasAxis(op); }
  /// What a phase is for.
  bool isRoot(Operation *op) const {
    auto isUsedLater = [&](Value result) { return isLate(result) && !result.use_empty(); };
    return isFold(op) || isWrite(op) || llvm::any_of(op->getResults(), isUsedLater);
  }
  unsigned phaseOf(Value value) const;
  void findPhases();
  /// Whether a phase's chunks come in decreasing order, as its scans go; none: there is no order.
  std::optional<bool> isDecreasingIn(unsigned phase) const;
  bool readsWhatIsWritten() const;
  /// What the roots of a phase are computed from along the axis, in order.
  llvm::SetVector<Operation *> sliceOf(unsigned phase) const;
  SmallVector<Operation *> rootsOf(unsigned phase) const;
  Type retyped(Type type, StringAttr span, int64_t chunk) const;
  Operation *cloneInto(OpBuilder &builder, Operation *op, IRMapping &mapping, Value chunk) const;
  void emitPhase(unsigned phase, int64_t chunk);

  AxisOp axis;
  Value span;
  StringAttr name;
  KernelOp kernel;
  Block &body;
  /// Of the ops of the body: the first phase in which all that they need is there.
  llvm::DenseMap<Operation *, unsigned> phases;
  unsigned numPhases = 0;
  llvm::DenseMap<Operation *, ReduceOp> maxima;              // of sums that need not wait for them
  llvm::MapVector<Operation *, SmallVector<unsigned>> loads; // and the phases that read them
};
} // namespace

//===-- Analysis ----------------------------------------------------------===//

bool AxisLooping::hasAxis(Operation *op) const {
  auto isConcerned = [&](Value value) { return value == span || hasAxis(value.getType()); };
  return llvm::any_of(op->getOperands(), isConcerned) ||
         llvm::any_of(op->getResults(), isConcerned);
}

/// The op that joins two results of a reduction; null for those without one.
static Operation *createCombine(OpBuilder &b, Location loc, CombineKind kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  switch (kind) {
  case CombineKind::add:
    return isFloat ? arith::AddFOp::create(b, loc, x, y).getOperation()
                   : arith::AddIOp::create(b, loc, x, y);
  case CombineKind::mul:
    return isFloat ? arith::MulFOp::create(b, loc, x, y).getOperation()
                   : arith::MulIOp::create(b, loc, x, y);
  case CombineKind::max:
    return isFloat ? arith::MaximumFOp::create(b, loc, x, y).getOperation()
                   : arith::MaxSIOp::create(b, loc, x, y);
  case CombineKind::min:
    return isFloat ? arith::MinimumFOp::create(b, loc, x, y).getOperation()
                   : arith::MinSIOp::create(b, loc, x, y);
  case CombineKind::umax:
    return arith::MaxUIOp::create(b, loc, x, y);
  case CombineKind::umin:
    return arith::MinUIOp::create(b, loc, x, y);
  case CombineKind::andi:
    return arith::AndIOp::create(b, loc, x, y);
  case CombineKind::ori:
    return arith::OrIOp::create(b, loc, x, y);
  case CombineKind::xori:
    return arith::XOrIOp::create(b, loc, x, y);
  case CombineKind::fmax:
  case CombineKind::fmin:
    return nullptr;
  }
  llvm_unreachable("covered switch");
}

bool AxisLooping::isFold(Operation *op) const {
  if (auto dot = dyn_cast<DotOp>(op))
    return dot.getAxisAttr() == name;
  if (auto reduce = dyn_cast<ArgReduceOp>(op))
    return reduce.getAxisAttr() == name;
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && llvm::is_contained(reduce.getAxes(), Attribute(name));
}

DotOp AxisLooping::chainedTo(Operation *op) const {
  auto dot = dyn_cast<DotOp>(op);
  auto before = dot ? dot.getAcc().getDefiningOp<DotOp>() : DotOp();
  bool isAlone = before && before->hasOneUse() && before->getBlock() == dot->getBlock();
  auto known = phases.find(op); // none while they are looked for
  bool isHere = known == phases.end() || known->second == phases.lookup(before);
  return isAlone && isHere && isFold(op) && isFold(before) ? before : DotOp();
}

DotOp AxisLooping::headOf(Operation *op) const {
  while (DotOp before = chainedTo(op))
    op = before;
  return cast<DotOp>(op);
}

Operation *AxisLooping::tailOf(Operation *op) const {
  while (isa<DotOp>(op) && op->hasOneUse() && chainedTo(*op->user_begin()) == op)
    op = *op->user_begin();
  return op;
}

bool AxisLooping::isScan(Operation *op) const {
  auto scan = dyn_cast<ScanOp>(op);
  return scan && scan.getAxisAttr() == name;
}

bool AxisLooping::isLate(Value result) const {
  Operation *op = result.getDefiningOp();
  return isFold(op) || (isScan(op) && !hasAxis(result.getType()));
}

bool AxisLooping::isSupported(Operation *op) const {
  if (op->getBlock() != &body)
    return isa<arith::ConstantOp>(op);
  if (isa<ScanOp>(op))
    return isScan(op);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() != CombineKind::fmax && reduce.getKind() != CombineKind::fmin &&
           !isNarrowFloat(getElementTypeOrSelf(reduce.getInput().getType()));
  if (isa<DotOp, ArgReduceOp>(op)) // of others the axis is one of the result's
    return isFold(op);
  return isa<LoadOp, StoreOp, UpdateOp, BroadcastOp, CoordsOp, arith::ConstantOp, arith::SelectOp>(
             op) ||
         (op->hasTrait<OpTrait::Elementwise>() && op->getNumRegions() == 0);
}

unsigned AxisLooping::phaseOf(Value value) const {
  Operation *op = value.getDefiningOp();
  auto known = phases.find(op);
  return known == phases.end() ? 0 : known->second + isLate(value);
}

void AxisLooping::findPhases() {
  unsigned first = 0; // what follows an assertion or a print doesn't come before it
  for (Operation &op : body.without_terminator()) {
    unsigned most = first;
    bool reports = false;
    op.walk([&](Operation *inner) {
      reports |= isa<AssertOp, PrintOp>(inner);
      for (Value operand : inner->getOperands())
        most = std::max(most, phaseOf(operand));
    });
    // Contractions that add to each other's sums are one loop's.
    if (DotOp before = chainedTo(&op)) {
      most = std::max(first, phases.lookup(before));
      for (Value operand : {cast<DotOp>(op).getLhs(), cast<DotOp>(op).getRhs()})
        most = std::max(most, phaseOf(operand));
    }
    auto sum = dyn_cast<ReduceOp>(op);
    ReduceOp maximum = sum && isFold(sum) ? maximumOf(sum) : ReduceOp();
    if (maximum && phases.lookup(maximum) >= first && maximum->getBlock() == &body) {
      most = phases.lookup(maximum);
      maxima[sum] = maximum;
    }
    phases[&op] = most;
    if (reports)
      first = most;
    if (isRoot(&op))
      numPhases = std::max(numPhases, most + 1);
  }
}

/// All scans of a phase are carried through one loop. Contractions there have loads that come
/// chunks ahead, in increasing order, in which the first of equal elements is met first.
std::optional<bool> AxisLooping::isDecreasingIn(unsigned phase) const {
  bool increases = false, decreases = false;
  for (Operation *op : sliceOf(phase)) {
    auto scan = dyn_cast<ScanOp>(op);
    decreases |= scan && scan.getReverse();
    increases |= isa<DotOp, ArgReduceOp>(op) || (scan && !scan.getReverse());
  }
  return increases && decreases ? std::nullopt : std::optional(decreases);
}

/// Whether a phase would read again what an earlier one has written.
bool AxisLooping::readsWhatIsWritten() const {
  for (const auto &[load, readers] : loads)
    for (Operation &op : body)
      if (auto store = dyn_cast<StoreOp>(op); store &&
                                              store.getTarget() == cast<LoadOp>(load).getSource() &&
                                              phases.lookup(&op) < readers.back())
        return true;
  return false;
}

SmallVector<Operation *> AxisLooping::rootsOf(unsigned phase) const {
  SmallVector<Operation *> roots;
  for (Operation &op : body)
    if (isRoot(&op) && phases.lookup(&op) == phase)
      roots.push_back(&op);
  return roots;
}

llvm::SetVector<Operation *> AxisLooping::sliceOf(unsigned phase) const {
  llvm::SmallPtrSet<Operation *, 16> needed;
  SmallVector<Operation *> todo = rootsOf(phase);
  while (!todo.empty()) {
    Operation *op = todo.pop_back_val();
    if (!needed.insert(op).second)
      continue;
    for (Value operand : op->getOperands())
      if (Operation *made = operand.getDefiningOp(); made && hasAxis(operand.getType()))
        todo.push_back(made);
  }
  llvm::SetVector<Operation *> slice;
  for (Operation *op : needed) // constants outside the body first
    if (op->getBlock() != &body)
      slice.insert(op);
  for (Operation &op : body)
    if (needed.contains(&op))
      slice.insert(&op);
  return slice;
}

std::optional<LoopedAxis> AxisLooping::analyze() {
  if (axis->getParentOp() != kernel)
    return std::nullopt;
  WalkResult walk = kernel.walk([&](Operation *op) {
    if (op == axis || !hasAxis(op))
      return WalkResult::advance();
    return isSupported(op) ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return std::nullopt;
  findPhases();
  LoopedAxis result{numPhases, 0};
  for (unsigned phase = 0; phase < numPhases; ++phase) {
    if (!isDecreasingIn(phase))
      return std::nullopt;
    for (Operation *op : sliceOf(phase))
      if (isa<LoadOp>(op))
        loads[op].push_back(phase);
  }
  for (const auto &[op, readers] : loads)
    if (readers.size() > 1) {
      int64_t bytes = 1;
      auto tile = cast<RankedTensorType>(cast<LoadOp>(op).getType());
      for (auto [extent, other] : llvm::zip(tile.getShape(), axesOf(tile)))
        bytes = productOf(bytes, other == name ? 1 : extent);
      bytes =
          productOf(bytes, std::max(1u, getElementTypeOrSelf(tile).getIntOrFloatBitWidth() / 8));
      result.keptBytes = std::min(result.keptBytes + bytes, unboundedElements);
    }
  if (numPhases == 0 || readsWhatIsWritten())
    return std::nullopt;
  return result;
}

bool AxisLooping::isUnused() const {
  KernelOp all = kernel;
  return !all.walk([&](Operation *op) {
               return op != axis && hasAxis(op) ? WalkResult::interrupt() : WalkResult::advance();
             })
              .wasInterrupted();
}

bool AxisLooping::isContracted() {
  std::optional<LoopedAxis> looped = analyze();
  return looped && looped->phases == 1 &&
         llvm::all_of(rootsOf(0), [](Operation *op) { return isa<DotOp>(op); });
}

int64_t AxisLooping::elementsOfLine() const {
  constexpr int64_t bitsOfLine = 1024;
  unsigned bits = 8;
  for (Operation *op : rootsOf(0)) {
    Value operand = cast<DotOp>(op).getLhs();
    if (auto wide = operand.getDefiningOp<arith::ExtSIOp>()) // multiplied as it is (WarpMma.h)
      operand = wide.getIn();
    bits = std::max(bits, getElementTypeOrSelf(operand.getType()).getIntOrFloatBitWidth());
  }
  return bitsOfLine / bits;
}

//===-- The loops ---------------------------------------------------------===//

Type AxisLooping::retyped(Type type, StringAttr span, int64_t chunk) const {
  if (!hasAxis(type))
    return type;
  SmallVector<StringAttr> axes(axesOf(type));
  SmallVector<int64_t> extents(cast<RankedTensorType>(type).getShape());
  auto position = llvm::find(axes, name) - axes.begin();
  axes[position] = span;
  extents[position] = chunk;
  return tileType(getElementTypeOrSelf(type), axes, extents);
}

Operation *AxisLooping::cloneInto(OpBuilder &builder, Operation *op, IRMapping &mapping,
                                  Value chunk) const {
  auto spanType = cast<SpanType>(chunk.getType());
  Operation *copy = builder.clone(*op, mapping);
  for (Value result : copy->getResults())
    result.setType(retyped(result.getType(), spanType.getName(), spanType.getExtent()));
  if (auto constant = dyn_cast<arith::ConstantOp>(copy)) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    constant.setValueAttr(DenseElementsAttr::get(cast<ShapedType>(copy->getResult(0).getType()),
                                                 elements.getSplatValue<Attribute>()));
  }
  if (auto reduce = dyn_cast<ReduceOp>(copy)) {
    SmallVector<Attribute> axes(reduce.getAxes().getValue());
    std::replace(axes.begin(), axes.end(), Attribute(name), Attribute(spanType.getName()));
    reduce.setAxesAttr(builder.getArrayAttr(axes));
  }
  if (auto reduce = dyn_cast<ArgReduceOp>(copy))
    reduce.setAxisAttr(spanType.getName());
  if (auto dot = dyn_cast<DotOp>(copy))
    dot.setAxisAttr(spanType.getName());
  if (auto scan = dyn_cast<ScanOp>(copy))
    scan.setAxisAttr(spanType.getName());
  return copy;
}

/// A number in each element of a value of the type.
static Value filled(OpBuilder &builder, Location loc, Type type, TypedAttr number) {
  Value scalar = arith::ConstantOp::create(builder, loc, number);
  return axesOf(type).empty() ? scalar : Value(BroadcastOp::create(builder, loc, type, scalar));
}

Value AxisLooping::initOf(OpBuilder &builder, Operation *fold) const {
  if (isa<DotOp>(fold) && isZero(headOf(fold).getAcc()))
    return headOf(fold).getAcc();
  Type type = fold->getResult(0).getType(), element = getElementTypeOrSelf(type);
  TypedAttr start = builder.getZeroAttr(element);
  if (auto reduce = dyn_cast<ReduceOp>(fold))
    start = identityOf(reduce.getKind(), element);
  if (isa<ArgReduceOp>(fold))
    start = builder.getI64IntegerAttr(-1); // of no element
  return filled(builder, fold->getLoc(), type, start);
}

Value AxisLooping::firstBest(OpBuilder &builder, ArgReduceOp reduce) const {
  Type number = numberOf(reduce);
  Type type = withElement(reduce.getType(), number);
  return filled(builder, reduce.getLoc(), type, identityOf(reduce.getKind(), number));
}

/// Whether a number goes before another one, and isn't equal to it. NaN goes before all others.
static Value goesBefore(OpBuilder &b, Location loc, CombineKind kind, Value x, Value y) {
  using arith::CmpFPredicate, arith::CmpIPredicate;
  bool isMax = kind == CombineKind::max || kind == CombineKind::umax;
  if (!isa<FloatType>(getElementTypeOrSelf(x.getType()))) {
    bool isUnsigned = kind == CombineKind::umax || kind == CombineKind::umin;
    CmpIPredicate predicate = isMax        ? isUnsigned ? CmpIPredicate::ugt : CmpIPredicate::sgt
                              : isUnsigned ? CmpIPredicate::ult
                                           : CmpIPredicate::slt;
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value wins = arith::CmpFOp::create(b, loc, isMax ? CmpFPredicate::UGT : CmpFPredicate::ULT, x, y);
  Value isNumber = arith::CmpFOp::create(b, loc, CmpFPredicate::ORD, y, y);
  return arith::AndIOp::create(b, loc, wins, isNumber);
}

std::pair<Value, Value> AxisLooping::betterOf(OpBuilder &b, ArgReduceOp chunk, Value place,
                                              Value best) const {
  Location loc = chunk.getLoc();
  Value input = chunk.getInput(), found = chunk.getResult();
  if (isNarrowFloat(getElementTypeOrSelf(input.getType())))
    input = arith::ExtFOp::create(b, loc, withElement(input.getType(), numberOf(chunk)), input);
  Value number = ReduceOp::create(b, loc, best.getType(), chunk.getKind(), input,
                                  b.getArrayAttr(chunk.getAxisAttr()));
  Value none = filled(b, loc, found.getType(), b.getI64IntegerAttr(-1));
  auto isNone = [&](Value at) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, at, none);
  };
  // The first of equal ones stays. A chunk of which conditions leave nothing has none.
  Value wins = arith::OrIOp::create(b, loc, isNone(place),
                                    goesBefore(b, loc, chunk.getKind(), number, best));
  auto choose = [&](Value made, Value before) -> Value {
    Value better = arith::SelectOp::create(b, loc, wins, made, before);
    return arith::SelectOp::create(b, loc, isNone(found), before, better);
  };
  return {choose(found, place), choose(number, best)};
}

Value AxisLooping::resultOf(OpBuilder &builder, Operation *fold, Value folded) const {
  if (!isa<DotOp>(fold) || isZero(headOf(fold).getAcc()))
    return folded;
  return createCombine(builder, fold->getLoc(), CombineKind::add, headOf(fold).getAcc(), folded)
      ->getResult(0);
}

void AxisLooping::emitPhase(unsigned phase, int64_t chunk) {
  OpBuilder builder(body.getTerminator());
  Location loc = axis.getLoc();
  SmallVector<Operation *> roots = rootsOf(phase);
  SmallVector<Operation *> folds;
  SmallVector<Value> inits;
  for (Operation *op : roots)
    if (isFold(op) && tailOf(op) == op) {
      folds.push_back(op);
      inits.push_back(initOf(builder, op));
    }
  llvm::SetVector<Operation *> slice = sliceOf(phase);
  llvm::SmallDenseMap<Operation *, unsigned> bests; // of searches: where the loop carries them
  for (Operation *fold : folds)
    if (auto search = dyn_cast<ArgReduceOp>(fold)) {
      bests[fold] = inits.size();
      inits.push_back(firstBest(builder, search));
    }
  llvm::SmallDenseMap<Operation *, unsigned> states; // of scans, likewise
  for (Operation *op : slice)
    if (auto scan = dyn_cast<ScanOp>(op)) {
      states[op] = inits.size();
      llvm::append_range(inits, scan.getInits());
    }
  StringAttr chunkName = nameOfLoop(phase);
  SmallVector<Type> types = llvm::map_to_vector(inits, [](Value v) { return v.getType(); });
  auto loop = ForOp::create(builder, loc, TypeRange(types), axis.getLower(), axis.getUpper(), inits,
                            chunkName, builder.getI64IntegerAttr(chunk),
                            LoopKindAttr::get(builder.getContext(), LoopKind::fold));
  if (*isDecreasingIn(phase))
    loop->setAttr(decreasingAttrName, builder.getUnitAttr());
  Block &inner = loop.getBody().emplaceBlock();
  inner.addArgument(SpanType::get(builder.getContext(), chunkName, chunk), loc);
  for (Type type : types)
    inner.addArgument(type, loc);
  IRMapping mapping;
  mapping.map(span, loop.getSpan());
  builder.setInsertionPointToEnd(&inner);
  SmallVector<Value> next(inits.size());
  SmallVector<int64_t> rescaled;
  for (Operation *op : slice) {
    Operation *copy = cloneInto(builder, op, mapping, loop.getSpan());
    if (auto scan = dyn_cast<ScanOp>(copy)) {
      for (auto [n, last] : llvm::enumerate(scan.getLast())) {
        scan->setOperand(scan.getCount() + n, loop.getCarried()[states[op] + n]);
        next[states[op] + n] = last;
      }
      continue;
    }
    if (auto dot = dyn_cast<DotOp>(copy)) {
      auto n = llvm::find(folds, tailOf(op)) - folds.begin();
      if (!chainedTo(op))
        dot.getAccMutable().assign(loop.getCarried()[n]);
      next[n] = dot.getResult(); // the tail's is the last
      continue;
    }
    if (auto found = llvm::find(folds, op); found != folds.end()) {
      auto n = found - folds.begin();
      Value carried = loop.getCarried()[n];
      if (auto search = dyn_cast<ArgReduceOp>(copy)) {
        unsigned best = bests[op];
        std::tie(next[n], next[best]) = betterOf(builder, search, carried, loop.getCarried()[best]);
        continue;
      }
      if (ReduceOp maximum = maxima.lookup(op)) {
        auto m = llvm::find(folds, maximum) - folds.begin();
        next[n] = rescaledSum(builder, op->getLoc(), carried, loop.getCarried()[m], next[m],
                              copy->getResult(0));
        rescaled.append({m, n});
        continue;
      }
      next[n] = createCombine(builder, op->getLoc(), cast<ReduceOp>(op).getKind(), carried,
                              copy->getResult(0))
                    ->getResult(0);
      if (isMaximum(op))
        mapping.map(op->getResult(0), subtractedFor(builder, op->getLoc(), next[n]));
    }
    auto read = loads.find(op);
    if (read == loads.end() || read->second.size() < 2)
      continue;
    auto number = builder.getI64IntegerAttr(read - loads.begin());
    copy->setAttr(read->second.front() == phase ? keepAttrName : keptAttrName, number);
  }
  YieldOp::create(builder, loc, next);
  SmallVector<Value> results(loop.getResults());
  if (!rescaled.empty()) {
    loop->setAttr(rescaledAttrName, builder.getDenseI64ArrayAttr(rescaled));
    builder.setInsertionPointAfter(loop);
    Value hasElements = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                              axis.getLower(), axis.getUpper());
    for (size_t n = 0; n < rescaled.size(); n += 2)
      results[rescaled[n + 1]] =
          finishedSum(builder, loc, results[rescaled[n + 1]], results[rescaled[n]], hasElements);
  }
  builder.setInsertionPointAfter(loop);
  for (auto [fold, result] : llvm::zip(folds, results)) // before those of scans
    fold->getResult(0).replaceAllUsesWith(resultOf(builder, fold, result));
  for (auto [op, first] : states)
    if (phases.lookup(op) == phase)
      for (auto [n, last] : llvm::enumerate(cast<ScanOp>(op).getLast()))
        last.replaceAllUsesWith(results[first + n]);
}

void AxisLooping::run(int64_t chunk) {
  [[maybe_unused]] auto possible = analyze();
  assert(possible && "the caller has asked");
  SmallVector<Operation *> old, others;
  for (Operation &op : body.without_terminator())
    (hasAxis(&op) ? old : others).push_back(&op);
  for (unsigned phase = 0; phase <= numPhases; ++phase) {
    for (Operation *op : others)
      if (phases.lookup(op) == phase)
        op->moveBefore(body.getTerminator());
    if (phase < numPhases && !rootsOf(phase).empty())
      emitPhase(phase, chunk);
  }
  for (Operation *op : llvm::reverse(old))
    op->erase();
  SmallVector<Operation *> constants;
  kernel.walk([&](arith::ConstantOp op) {
    if (hasAxis(op.getType()))
      constants.push_back(op);
  });
  for (Operation *op : constants)
    op->erase();
  axis.erase();
}

std::optional<LoopedAxis> tile::codegen::gpu::canLoop(AxisOp axis) {
  return AxisLooping(axis).analyze();
}

llvm::StringMap<int64_t> tile::codegen::gpu::loopContractions(KernelOp kernel) {
  llvm::StringMap<int64_t> sizes;
  if (kernel.isGrid())
    return sizes;
  SmallVector<DotOp> dots; // templates have some that nothing uses
  kernel.walk([&](DotOp dot) { dots.push_back(dot); });
  for (DotOp dot : llvm::reverse(dots))
    if (dot->use_empty())
      dot.erase();
  for (auto axis : llvm::make_early_inc_range(kernel.getBody().getOps<AxisOp>())) {
    AxisLooping looping(axis);
    if (looping.isUnused()) {
      axis.erase();
      continue;
    }
    if (!looping.isContracted())
      continue;
    int64_t chunk = looping.elementsOfLine();
    sizes[looping.nameOfLoop(0).getValue()] = chunk;
    AxisLooping(axis).run(chunk);
  }
  return sizes;
}

void tile::codegen::gpu::loopAxis(AxisOp axis, int64_t chunk) { AxisLooping(axis).run(chunk); }

void tile::codegen::gpu::joinReductions(KernelOp kernel) {
  if (kernel->hasAttr(fixedOrderAttrName))
    return;
  kernel.walk([](ReduceOp outer) {
    auto inner = outer.getInput().getDefiningOp<ReduceOp>();
    if (!inner || !inner->hasOneUse() || inner.getKind() != outer.getKind() ||
        inner->getBlock() != outer->getBlock() ||
        isNarrowFloat(getElementTypeOrSelf(inner.getInput().getType())))
      return;
    SmallVector<Attribute> axes(inner.getAxes().begin(), inner.getAxes().end());
    llvm::append_range(axes, outer.getAxes());
    outer.getInputMutable().assign(inner.getInput());
    outer.setAxesAttr(ArrayAttr::get(outer.getContext(), axes));
    inner.erase();
  });
}

void tile::codegen::gpu::foldCounts(KernelOp kernel) {
  Domains domains(kernel);
  kernel.walk([&](CountOp op) {
    auto isPlain = [&](Value span) {
      StringAttr axis = axisOf(span);
      if (domains.isBlock(axis))
        return false;
      bool isRestricted = false;
      kernel.walk([&](RestrictOp restrict) {
        isRestricted |= llvm::is_contained(restrict.getDims(), span);
      });
      return !isRestricted;
    };
    if (!axesOf(op.getResult().getType()).empty() || !llvm::all_of(op.getSpans(), isPlain) ||
        !op.getResult().getType().isInteger(64))
      return;
    OpBuilder b(op);
    Location loc = op.getLoc();
    Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)), count;
    for (Value span : op.getSpans()) {
      auto [lower, upper] = domains.boundsOf(axisOf(span));
      Value length = b.createOrFold<arith::SubIOp>(loc, upper, lower);
      length = b.createOrFold<arith::MaxSIOp>(loc, length, zero);
      count = count ? b.createOrFold<arith::MulIOp>(loc, count, length) : length;
    }
    op.getResult().replaceAllUsesWith(count);
    op.erase();
  });
}
