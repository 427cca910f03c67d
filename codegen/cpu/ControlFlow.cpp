//===- ControlFlow.cpp - ops in order, loops and conditions ---------------===//

#include "codegen/cpu/Lowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;

static bool hasAxes(Value value) { return !axesOf(value.getType()).empty(); }

//===-- Ops in order ------------------------------------------------------===//

void BodyLowering::emitBlock(Block &block) { emitOps(block.begin(), block.end()); }

void BodyLowering::emitOps(Block::iterator begin, Block::iterator end) {
  for (Operation &op : llvm::make_range(begin, end))
    emitOp(&op);
}

void BodyLowering::emitOp(Operation *op) {
  b.setLoc(op->getLoc());
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](StoreOp root) { emitStore(root); })
      .Case([&](UpdateOp root) { emitUpdate(root); })
      .Case([&](AtomicOp root) { emitAtomic(root); })
      .Case([&](ReduceOp root) { emitReduce(root); })
      .Case([&](ArgReduceOp root) { emitArgReduce(root); })
      .Case([&](CountOp root) { emitCountOp(root); })
      .Case([&](DotOp root) { emitDot(root); })
      .Case([&](ScanOp root) { emitScan(root); })
      .Case([&](SortOp root) { emitSort(root); })
      .Case([&](TakeOp root) { emitTake(root); })
      .Case([&](AssertOp root) { emitAssert(root); })
      .Case([&](PrintOp root) { emitPrint(root); })
      .Case([&](ForOp loop) { emitFor(loop); })
      .Case([&](scf::ForOp loop) { emitCount(loop); })
      .Case([&](scf::IfOp branch) { emitIf(branch); })
      .Case([&](scf::WhileOp loop) { emitWhile(loop); })
      .Case<AxisOp, RestrictOp, MayNotEndOp>([](auto) {}) // read where they matter
      .Default([&](Operation *other) {
        if (other->hasTrait<OpTrait::IsTerminator>())
          return;
        for (Value result : other->getResults()) {
          if (hasAxes(result)) {
            if (plan.mayCopy(result))
              copyIfRowsCollide(cast<LoadOp>(other));
            if (!plan.keeps(result))
              continue;
            Buffer *buffer = newBuffer(getElementTypeOrSelf(result.getType()), orderOfKept(result));
            keepAndReduce(result, buffer);
            buffers[result] = buffer;
          } else if (!isEntryValue(result)) {
            emitScalar(other);
          }
        }
      });
}

//===-- Carried values ----------------------------------------------------===//

CodeBuilder::Values BodyLowering::scalarsAmong(ValueRange values) {
  Values result;
  for (Value value : values)
    if (!hasAxes(value))
      result.push_back(scalar(value));
  return result;
}

void BodyLowering::setCarried(ValueRange carried, ArrayRef<Buffer *> tiles,
                              ValueRange scalarValues) {
  unsigned next = 0;
  for (auto [value, buffer] : llvm::zip(carried, tiles))
    if (buffer)
      buffers[value] = buffer;
    else
      scalars[value] = scalarValues[next++];
}

SmallVector<Buffer *> BodyLowering::enterCarried(ValueRange inits, Operation *op) {
  SmallVector<Buffer *> result;
  for (auto [n, init] : llvm::enumerate(inits)) {
    if (!hasAxes(init)) {
      result.push_back(nullptr);
      continue;
    }
    // A tile that nobody else reads, made in this very block, lends its buffer; but not
    // one that the block is to leave as it is where a condition excludes its elements.
    Buffer *buffer = bufferOf(init);
    Block *home = init.getParentBlock();
    auto loop = isa<BlockArgument>(init) ? dyn_cast<ForOp>(home->getParentOp()) : ForOp();
    bool isKept = loop && !domains.restrictsOf(loop).empty();
    if (!buffer || !init.hasOneUse() || home != op->getBlock() || isKept) {
      buffer = newBuffer(getElementTypeOrSelf(init.getType()), orderOfCarried(op, n, init));
      keep(init, buffer);
    }
    result.push_back(buffer);
  }
  return result;
}

void BodyLowering::assignTiles(ValueRange values, ArrayRef<Buffer *> targets,
                               ArrayRef<Keep> keeps) {
  struct Pending {
    Value value;
    Buffer *target;
    Keep keep;
  };
  SmallVector<Pending> pending;
  for (auto [n, value] : llvm::enumerate(values))
    if (targets[n] && bufferOf(value) != targets[n])
      pending.push_back({value, targets[n], keeps.empty() ? Keep() : keeps[n]});
  auto reads = [&](Value value, Buffer *buffer) {
    if (Buffer *own = bufferOf(value)) // what was put aside reads nothing else
      return own == buffer;
    bool result = false;
    plan.forEachLeaf(value, [&](Value leaf) { result |= bufferOf(leaf) == buffer; });
    return result;
  };
  auto isFree = [&](const Pending &candidate) {
    return llvm::none_of(pending, [&](const Pending &other) {
      return &other != &candidate && reads(other.value, candidate.target);
    });
  };
  SmallVector<std::pair<Value, Buffer *>> putAside;
  while (!pending.empty()) {
    auto next = llvm::find_if(pending, isFree);
    if (next == pending.end()) {
      // Each is read by another one: put one aside first.
      next = pending.begin();
      Buffer *aside = newBuffer(next->target->memory.element, next->target->axes);
      keep(next->value, aside);
      putAside.emplace_back(next->value, bufferOf(next->value));
      buffers[next->value] = aside;
      continue;
    }
    Buffer *target = next->target;
    Keep condition = next->keep;
    StringAttr vectorAxis = chooseVectorAxis(target->axes, next->value, std::nullopt, target);
    auto body = [&](ValueRange) {
      Value element = emit(next->value);
      Value holds = condition.buffer ? readBuffer(*condition.buffer) : condition.scalar;
      if (holds)
        element = b.select(holds, element, readBuffer(*target));
      writeBuffer(*target, element);
      return Values();
    };
    nest(withLast(target->axes, vectorAxis), vectorAxis, {}, body, /*unroll=*/nullptr,
         vectorsFor(vectorAxis, next->value));
    pending.erase(next);
  }
  for (auto [value, buffer] : llvm::reverse(putAside)) {
    if (buffer)
      buffers[value] = buffer;
    else
      buffers.erase(value);
  }
}

//===-- Loops over spans --------------------------------------------------===//

std::pair<Value, Value> BodyLowering::interval(AffineExpr expr, ValueRange dims, ValueRange syms) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    auto [lo, hi] = rangeOf(axisOf(dims[dim.getPosition()]));
    return {lo, b.sub(hi, b.i64(1))};
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    Value value = scalar(syms[symbol.getPosition()]);
    return {value, value};
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    Value value = b.i64(constant.getValue());
    return {value, value};
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto x = interval(binary.getLHS(), dims, syms), y = interval(binary.getRHS(), dims, syms);
  if (!x.first || !y.first)
    return {};
  if (expr.getKind() == AffineExprKind::Add)
    return {b.add(x.first, y.first), b.add(x.second, y.second)};
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant)
    return {};
  if (expr.getKind() == AffineExprKind::Mul) {
    std::pair<Value, Value> ends = {b.mul(x.first, y.first), b.mul(x.second, y.first)};
    if (constant.getValue() < 0)
      std::swap(ends.first, ends.second);
    return ends;
  }
  if (expr.getKind() == AffineExprKind::FloorDiv && constant.getValue() > 0)
    return {b.floorDiv(x.first, y.first), b.floorDiv(x.second, y.first)};
  return {};
}

/// Axes of a restrict other than the loop's own.
static SmallVector<StringAttr> otherAxes(RestrictOp restrict, ForOp loop) {
  SmallVector<StringAttr> axes;
  for (Value span : restrict.getDims())
    if (span != loop.getSpan() && !llvm::is_contained(axes, axisOf(span)))
      axes.push_back(axisOf(span));
  return axes;
}

static bool contains(ArrayRef<StringAttr> all, ArrayRef<StringAttr> some) {
  return llvm::all_of(some, [&](StringAttr axis) { return llvm::is_contained(all, axis); });
}

/// True if running the body without an element that satisfies the restrict
/// would change nothing.
static bool mayBeSkipped(ForOp loop, RestrictOp restrict) {
  SmallVector<StringAttr> others = otherAxes(restrict, loop);
  for (Value carried : loop.getCarried())
    if (!contains(axesOf(carried.getType()), others))
      return false;
  SmallVector<StringAttr> all = others;
  all.push_back(loop.getNameAttr());
  bool result = true;
  auto check = [&](auto write) {
    result &= contains(mapAxes(write.getMap(), write.getDims()).names, all);
  };
  bool speaksAlways = false; // of every block, whatever is in it
  loop.walk([&](Operation *op) {
    if (auto assertion = dyn_cast<AssertOp>(op))
      speaksAlways |= !contains(axesOf(assertion.getCondition().getType()), all);
    speaksAlways |= isa<PrintOp>(op);
    if (auto store = dyn_cast<StoreOp>(op))
      check(store);
    else if (auto update = dyn_cast<UpdateOp>(op))
      check(update);
  });
  return !speaksAlways && (result || others.empty());
}

Value BodyLowering::skipsBlock(ForOp op) {
  Value skips;
  for (RestrictOp restrict : domains.restrictsOf(op)) {
    if (!mayBeSkipped(op, restrict))
      continue;
    IntegerSet set = restrict.getConstraint();
    auto [least, greatest] = interval(set.getConstraint(0), restrict.getDims(), restrict.getSyms());
    if (!least)
      continue;
    Value zero = b.i64(0);
    Value isEmpty = b.compare(CmpIPredicate::slt, greatest, zero);
    if (set.isEq(0))
      isEmpty = b.either(isEmpty, b.compare(CmpIPredicate::sgt, least, zero));
    if (restrict.getUnless())
      isEmpty = b.select(scalar(restrict.getUnless()), b.i1(false), isEmpty);
    skips = skips ? b.either(skips, isEmpty) : isEmpty;
  }
  return skips;
}

BodyLowering::Keep BodyLowering::keepMask(ForOp op, Type carried) {
  SmallVector<RestrictOp> relevant;
  SmallVector<StringAttr> outer;
  for (RestrictOp restrict : domains.restrictsOf(op)) {
    SmallVector<StringAttr> others = otherAxes(restrict, op);
    if (!contains(axesOf(carried), others))
      continue;
    relevant.push_back(restrict);
    for (StringAttr axis : others)
      if (!llvm::is_contained(outer, axis))
        outer.push_back(axis);
  }
  if (relevant.empty())
    return {};
  auto join = [&](Value x, Value y) { return b.either(x, y); };
  auto step = [&](Value any) {
    Value holds;
    for (RestrictOp restrict : relevant)
      holds = b.both(holds, emitRestrict(restrict));
    return b.either(any, b.both(holds, tailMask(op.getNameAttr())));
  };
  Buffer *into = outer.empty() ? nullptr : newBuffer(b.getI1Type(), outer);
  Values any = reductionNest({outer, {op.getNameAttr()}, op.getNameAttr()},
                             simpleFold(b.i1(false), step, join, into));
  return {into, any.back()};
}

void BodyLowering::emitFor(ForOp op) {
  Value lower = scalar(op.getLower()), upper = scalar(op.getUpper());
  Value size = b.i64(op.getSize());
  SmallVector<Buffer *> tiles = enterCarried(op.getInits(), op);
  Values inits = scalarsAmong(op.getInits());
  CarriedSums sums = carriedSums(op, tiles);
  Values last = loopOfChains(lower, upper, size, inits, sums, [&](Value base, ValueRange carried) {
    blocks[op.getNameAttr()] = {base, b.add(base, b.minS(size, b.sub(upper, base)))};
    setCarried(op.getCarried(), tiles, carried);
    // What the conditions are made of comes first: they say whether to go on.
    Block &block = op.getBody().front();
    SmallVector<RestrictOp> conditions = domains.restrictsOf(op);
    Block::iterator rest =
        conditions.empty() ? block.begin() : std::next(conditions.back()->getIterator());
    emitOps(block.begin(), rest);
    auto body = [&]() -> Values {
      emitOps(rest, block.end());
      ValueRange yielded = op.getYield().getOperands();
      SmallVector<Keep> keeps = llvm::map_to_vector(op.getCarried(), [&](Value value) {
        Buffer *buffer = bufferOf(value);
        bool stays =
            buffer && bufferOf(yielded[cast<BlockArgument>(value).getArgNumber() - 1]) == buffer;
        return stays ? Keep() : keepMask(op, value.getType());
      });
      Values next;
      for (auto [value, old, keep] : llvm::zip(yielded, op.getCarried(), keeps))
        if (!hasAxes(value))
          next.push_back(b.select(keep.scalar, scalar(value), scalar(old)));
      assignTiles(yielded, tiles, keeps);
      return next;
    };
    Value skips = skipsBlock(op);
    return skips ? b.branch(
                       skips, [&] { return Values(carried); }, body)
                 : body();
  });
  blocks.erase(op.getNameAttr());
  setCarried(op.getResults(), tiles, last);
}

//===-- Loops over integers, conditions -----------------------------------===//

void BodyLowering::emitCount(scf::ForOp op) {
  SmallVector<Buffer *> tiles = enterCarried(op.getInitArgs(), op);
  Values inits = scalarsAmong(op.getInitArgs());
  CarriedSums sums = carriedSums(op, tiles);
  Value lower = scalar(op.getLowerBound()), upper = scalar(op.getUpperBound());
  Value step = scalar(op.getStep());
  Values last = loopOfChains(lower, upper, step, inits, sums, [&](Value index, ValueRange carried) {
    scalars[op.getInductionVar()] = index;
    setCarried(op.getRegionIterArgs(), tiles, carried);
    emitBlock(*op.getBody());
    ValueRange yielded = op.getBody()->getTerminator()->getOperands();
    Values next = scalarsAmong(yielded);
    assignTiles(yielded, tiles);
    return next;
  });
  setCarried(op.getResults(), tiles, last);
}

void BodyLowering::emitIf(scf::IfOp op) {
  SmallVector<Buffer *> tiles = llvm::map_to_vector(op.getResultTypes(), [&](Type type) {
    return axesOf(type).empty() ? nullptr : newBuffer(getElementTypeOrSelf(type), axesOf(type));
  });
  auto emitRegion = [&](Region &region) -> Values {
    if (region.empty())
      return {};
    emitBlock(region.front());
    ValueRange yielded = region.front().getTerminator()->getOperands();
    Values result = scalarsAmong(yielded);
    assignTiles(yielded, tiles);
    return result;
  };
  Values result = b.branch(
      scalar(op.getCondition()), [&] { return emitRegion(op.getThenRegion()); },
      [&] { return emitRegion(op.getElseRegion()); });
  setCarried(op.getResults(), tiles, result);
}

void BodyLowering::emitWhile(scf::WhileOp op) {
  SmallVector<Buffer *> tiles = enterCarried(op.getInits(), op);
  Values inits = scalarsAmong(op.getInits());
  SmallVector<Buffer *> passedTiles = llvm::map_to_vector(op.getResultTypes(), [&](Type type) {
    return axesOf(type).empty() ? nullptr : newBuffer(getElementTypeOrSelf(type), axesOf(type));
  });
  SmallVector<Type> scalarTypes;
  for (Type type : op.getResultTypes())
    if (axesOf(type).empty())
      scalarTypes.push_back(registerType(type));
  auto head = [&](ValueRange carried) -> std::pair<Value, Values> {
    setCarried(op.getBeforeArguments(), tiles, carried);
    emitBlock(*op.getBeforeBody());
    auto condition = op.getConditionOp();
    Values passed = scalarsAmong(condition.getArgs());
    assignTiles(condition.getArgs(), passedTiles);
    return {scalar(condition.getCondition()), passed};
  };
  auto body = [&](ValueRange passed) -> Values {
    setCarried(op.getAfterArguments(), passedTiles, passed);
    emitBlock(*op.getAfterBody());
    ValueRange yielded = op.getYieldOp().getOperands();
    Values next = scalarsAmong(yielded);
    assignTiles(yielded, tiles);
    return next;
  };
  Values last = b.repeat(inits, head, body, scalarTypes);
  setCarried(op.getResults(), passedTiles, last);
}
