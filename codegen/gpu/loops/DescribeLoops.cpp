//===- DescribeLoops.cpp - what the loops around contractions do ----------===//

#include "codegen/gpu/loops/LoopDesc.h"
#include "codegen/gpu/loops/ValueFacts.h"
#include "ir/proofs/ProofsFolds.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen::gpu;

//===-- Values and loops --------------------------------------------------===//

static bool isLoop(Operation *op) { return isa<ForOp, scf::ForOp>(op); }

static Block *bodyOf(Operation *loop) { return &loop->getRegion(0).front(); }
static ValueRange initsOf(Operation *loop) {
  auto blocks = dyn_cast<ForOp>(loop);
  return blocks ? ValueRange(blocks.getInits()) : ValueRange(cast<scf::ForOp>(loop).getInitArgs());
}
static Block::BlockArgListType carriedOf(Operation *loop) {
  return bodyOf(loop)->getArguments().drop_front();
}

/// Whether a value is computed, in whatever way, from nothing that an op or its regions make: what
/// a loop's body only computes again.
static bool isInvariant(Value value, Operation *loop) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return !loop->isAncestor(value.getParentBlock()->getParentOp());
  if (!loop->isProperAncestor(op))
    return true;
  if (op->getNumRegions() != 0 || (!isa<LoadOp>(op) && !isMemoryEffectFree(op)))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value of) { return isInvariant(of, loop); });
}

//===-- Operands ----------------------------------------------------------===//

LoadOp tile::codegen::gpu::loadedAs(const OperandDesc &operand) {
  auto rounded = operand.value.getDefiningOp<RoundTf32Op>();
  return (rounded ? rounded.getInput() : operand.value).getDefiningOp<LoadOp>();
}

/// Whether an index goes along at most one axis, whose elements it takes one by one, or several
/// neighbours to an element: the axis, and a sum that is the same in all of a tile.
static bool isDense(AffineMap map, unsigned result, ValueRange dims) {
  AffineExpr expr = map.getResult(result);
  unsigned count = 0;
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (!isa<SpanType>(dim.getType()) || !expr.isFunctionOfDim(d))
      continue;
    ++count;
    AffineExpr axis = getAffineDimExpr(d, map.getContext()), unit = axis;
    expr.walk([&](AffineExpr part) {
      if (part.getKind() == AffineExprKind::FloorDiv &&
          cast<AffineBinaryOpExpr>(part).getLHS() == axis)
        unit = part;
    });
    AffineExpr rest = simplifyAffineExpr(expr - unit, map.getNumDims(), map.getNumSymbols());
    if (rest.isFunctionOfDim(d))
      return false;
  }
  return count <= 1;
}

OperandDesc::Source tile::codegen::gpu::sourceOf(LoadOp load) {
  AffineMap map = load.getMap();
  ValueRange dims = load.getDims();
  llvm::SmallBitVector known(map.getNumDims());
  for (unsigned n = 0; n < map.getNumResults(); ++n) {
    if (!isDense(map, n, dims))
      return OperandDesc::Source::Elements;
    for (unsigned d = 0; d < map.getNumDims(); ++d)
      if (map.getResult(n).isFunctionOfDim(d) && isa<SpanType>(dims[d].getType())) {
        if (known.test(d))
          return OperandDesc::Source::Elements;
        known.set(d);
      }
  }
  bool isByData =
      llvm::any_of(dims, [](Value dim) { return isa<RankedTensorType>(dim.getType()); });
  // The last dimension is what lies together in memory.
  AffineExpr last = map.getResult(map.getNumResults() - 1);
  for (auto [d, dim] : llvm::enumerate(dims))
    if (isa<RankedTensorType>(dim.getType()) && last.isFunctionOfDim(d))
      return OperandDesc::Source::Elements;
  return isByData ? OperandDesc::Source::Rows : OperandDesc::Source::Box;
}

/// Whether nothing but elementwise ops are between a value and what is read, which is collected.
static bool collectLoads(Value value, Operation *around, SmallVectorImpl<LoadOp> &loads,
                         llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return !isa<RankedTensorType>(value.getType());
  if (!seen.insert(op).second)
    return true;
  if (auto load = dyn_cast<LoadOp>(op)) {
    loads.push_back(load);
    return true;
  }
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<CoordsOp, DimOp>(op))
    return true;
  if (!isa<RankedTensorType>(value.getType()))
    return isInvariant(value, around);
  return (isElementwise(op) || isa<BroadcastOp>(op)) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return collectLoads(operand, around, loads, seen); });
}

static OperandDesc describeOperand(Value value, Operation *around) {
  OperandDesc operand;
  operand.value = value;
  operand.isResident = isLoop(around) && isInvariant(value, around);
  if (LoadOp load = loadedAs(operand)) {
    operand.loads.push_back(load);
    operand.source = sourceOf(load);
    return operand;
  }
  llvm::SmallPtrSet<Operation *, 16> seen;
  if (collectLoads(value, around, operand.loads, seen) && !operand.loads.empty())
    operand.source = OperandDesc::Source::Computed;
  else
    operand.loads.clear();
  return operand;
}

//===-- Nests -------------------------------------------------------------===//

/// The loop around this one, if it has nothing else in it that counts: its sums are this one's.
static Operation *nestAround(Operation *loop) {
  Operation *outer = loop->getParentOp();
  if (!isLoop(outer) || outer->getNumResults() != loop->getNumResults())
    return nullptr;
  for (Operation &op : *bodyOf(outer)) {
    bool isPart = &op == loop || op.hasTrait<OpTrait::IsTerminator>() ||
                  isa<LoadOp, RestrictOp, AxisOp>(op) ||
                  (isMemoryEffectFree(&op) && op.getNumRegions() == 0 && !isa<DotOp>(op));
    if (!isPart)
      return nullptr;
  }
  Operation *yield = bodyOf(outer)->getTerminator();
  for (auto [carried, init, yielded, result] :
       llvm::zip_equal(carriedOf(outer), initsOf(loop), yield->getOperands(), loop->getResults()))
    if (init != carried || !carried.hasOneUse() || yielded != result)
      return nullptr;
  return outer;
}

static LoopRange rangeOf(Operation *loop) {
  if (auto blocks = dyn_cast<ForOp>(loop))
    return {blocks.getNameAttr(), blocks.getLower(), blocks.getUpper(), false};
  auto integers = cast<scf::ForOp>(loop);
  auto name = loop->getAttrOfType<StringAttr>("tile.name");
  return {name ? name : StringAttr::get(loop->getContext(), "counter"), integers.getLowerBound(),
          integers.getUpperBound(), true};
}

//===-- What is carried ---------------------------------------------------===//

/// What a value was before elementwise copies along further axes.
static Value withoutBroadcasts(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getInput();
  return value;
}

/// How `next` joins what an iteration has with what was carried: the carried value is in it once,
/// as an operand of ops of one kind.
static std::optional<CombineKind> foldOf(BlockArgument carried, Value next) {
  if (!carried.hasOneUse())
    return std::nullopt;
  std::optional<CombineKind> kind;
  for (Value value = carried; value != next;) {
    Operation *op = *value.user_begin();
    std::optional<CombineKind> joins = folds::combineOf(op);
    if (auto dot = dyn_cast<DotOp>(op); dot && dot.getAcc() == value)
      joins = CombineKind::add;
    if (auto fma = dyn_cast<math::FmaOp>(op); fma && fma.getC() == value)
      joins = CombineKind::add;
    if (!joins || (kind && kind != joins) || op->getNumResults() != 1 ||
        llvm::count(op->getOperands(), value) != 1)
      return std::nullopt;
    kind = joins;
    value = op->getResult(0);
    if (value != next && !value.hasOneUse())
      return std::nullopt;
  }
  return kind;
}

/// Whether a factor is exp(before − after) of a maximum that grows, or 0 where there was none.
static bool isScaleOf(Value factor, Value before, Value after) {
  factor = withoutBroadcasts(factor);
  if (auto choice = factor.getDefiningOp<arith::SelectOp>())
    factor = choice.getFalseValue();
  auto exp = factor.getDefiningOp<math::ExpOp>();
  auto difference = exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  return difference && withoutBroadcasts(difference.getLhs()) == before &&
         withoutBroadcasts(difference.getRhs()) == after;
}

/// Whether a carried value is scaled as a carried maximum grows, and then only added to (M. Milakov
/// and N. Gimelshein, "Online normalizer calculation for softmax", 2018).
static bool isRescaledBy(const CarriedDesc &sum, const CarriedDesc &maximum) {
  if (!sum.value.hasOneUse())
    return false;
  auto scaled = dyn_cast<arith::MulFOp>(*sum.value.user_begin());
  if (!scaled || !scaled->hasOneUse())
    return false;
  Value factor = scaled.getLhs() == sum.value ? scaled.getRhs() : scaled.getLhs();
  Operation *added = *scaled->user_begin();
  auto dot = dyn_cast<DotOp>(added);
  bool adds = dot ? dot.getAcc() == scaled : isa<arith::AddFOp>(added);
  return adds && added->getResult(0) == sum.next && isScaleOf(factor, maximum.value, maximum.next);
}

static void describeCarried(LoopDesc &loop) {
  Operation *outer = loop.loops.front(), *inner = loop.loops.back();
  ValueRange inits = initsOf(outer), next = bodyOf(inner)->getTerminator()->getOperands();
  for (auto [n, value] : llvm::enumerate(carriedOf(inner)))
    loop.carried.push_back(
        {value, inits[n], next[n], outer->getResult(n), foldOf(value, next[n]), std::nullopt});
  for (auto [m, maximum] : llvm::enumerate(loop.carried)) {
    // It is compared with what was there, which sums are scaled by, too.
    std::optional<CombineKind> kind = maximum.next.getDefiningOp()
                                          ? folds::combineOf(maximum.next.getDefiningOp())
                                          : std::nullopt;
    if (kind != CombineKind::max ||
        !llvm::is_contained(maximum.next.getDefiningOp()->getOperands(), Value(maximum.value)))
      continue;
    bool scales = false;
    for (CarriedDesc &sum : loop.carried)
      if (&sum != &maximum && !sum.fold && isRescaledBy(sum, maximum))
        sum.rescaledBy = m, scales = true;
    if (scales)
      maximum.rescaledBy = m;
  }
}

static LoopSplit splitOf(const LoopDesc &loop) {
  if (loop.loops.empty() || loop.kind == LoopKind::sequential || !loop.updates.empty())
    return LoopSplit::none;
  auto blocks = dyn_cast<ForOp>(loop.loops.back());
  if (blocks && !blocks.getMerge().empty())
    return LoopSplit::merge;
  auto all = [&](auto &&is) { return llvm::all_of(loop.carried, is); };
  if (all([](const CarriedDesc &each) { return each.fold == CombineKind::add; }))
    return LoopSplit::sum;
  if (all([](const CarriedDesc &each) { return each.fold.has_value(); }))
    return LoopSplit::fold;
  if (all([](const CarriedDesc &each) { return each.fold || each.rescaledBy; }))
    return LoopSplit::merge;
  return LoopSplit::none;
}

//===-- Contractions ------------------------------------------------------===//

static ContractionDesc describeContraction(DotOp dot, const LoopDesc &loop, Operation *around) {
  ContractionDesc contraction;
  contraction.dot = dot;
  ArrayRef<StringAttr> lhs = axesOf(dot.getLhs().getType()), rhs = axesOf(dot.getRhs().getType());
  for (StringAttr axis : axesOf(dot.getType())) {
    bool inLhs = llvm::is_contained(lhs, axis), inRhs = llvm::is_contained(rhs, axis);
    // Sums may be the same along an axis that neither operand has.
    (inLhs && inRhs ? contraction.batch : inRhs ? contraction.n : contraction.m).push_back(axis);
  }
  for (auto [n, carried] : llvm::enumerate(loop.carried)) {
    bool isScaled = carried.rescaledBy && carried.rescaledBy != n;
    if (carried.next == dot && (isScaled || carried.fold == CombineKind::add))
      contraction.carried = n;
  }
  auto isRange = [&](const LoopRange &range) { return range.name == dot.getAxisAttr(); };
  contraction.isWhole = llvm::none_of(loop.ranges, isRange);
  // What a nest only adds up is one contraction along all that it goes along.
  if (contraction.carried && !contraction.isWhole)
    for (const LoopRange &range : loop.ranges)
      contraction.k.push_back(range.name);
  else
    contraction.k.push_back(dot.getAxisAttr());
  contraction.lhs = describeOperand(dot.getLhs(), around);
  contraction.rhs = describeOperand(dot.getRhs(), around);
  return contraction;
}

/// The loop of a body with contractions; of the programs' own body one without ranges.
static LoopDesc describe(Block *body, ArrayRef<DotOp> dots) {
  LoopDesc loop;
  Operation *parent = body->getParentOp();
  for (; isa<scf::IfOp>(parent); parent = parent->getParentOp())
    loop.conditions.insert(loop.conditions.begin(), parent);
  for (Operation *around = isLoop(parent) ? parent : nullptr; around; around = nestAround(around)) {
    loop.loops.insert(loop.loops.begin(), around);
    loop.ranges.insert(loop.ranges.begin(), rangeOf(around));
    if (auto blocks = dyn_cast<ForOp>(around); blocks && blocks.getKind() != LoopKind::fold)
      loop.kind = blocks.getKind();
  }
  if (!loop.loops.empty()) {
    for (Operation *around = loop.loops.front()->getParentOp(); isa<scf::IfOp>(around);
         around = around->getParentOp())
      loop.conditions.insert(loop.conditions.begin(), around);
    describeCarried(loop);
    parent->walk([&](Operation *op) {
      if (isa<UpdateOp, StoreOp>(op))
        loop.updates.push_back(op);
    });
    // Integers come in their order, whatever is carried.
    bool folds = llvm::all_of(loop.carried,
                              [](const CarriedDesc &each) { return each.fold || each.rescaledBy; });
    if (isa<scf::ForOp>(loop.loops.back()) && !folds)
      loop.kind = LoopKind::sequential;
  }
  Operation *around = loop.loops.empty() ? parent : loop.loops.front();
  for (DotOp dot : dots)
    loop.contractions.push_back(describeContraction(dot, loop, around));
  loop.split = splitOf(loop);
  return loop;
}

std::vector<LoopDesc> tile::codegen::gpu::describeLoops(KernelOp kernel) {
  llvm::MapVector<Block *, SmallVector<DotOp>> dots;
  kernel.walk([&](DotOp dot) {
    if (!dot->use_empty())
      dots[dot->getBlock()].push_back(dot);
  });
  std::vector<LoopDesc> loops;
  for (auto &[body, inside] : dots)
    loops.push_back(describe(body, inside));
  return loops;
}
