//===- TransplantRegions.cpp - axes, loops and what runs along them -------===//

#include "ir/fusion/Transplant.h"
#include "ir/fusion/UniteAxes.h"

using namespace mlir;
using namespace tile::ir;

//===-- Axes of the guest's own -------------------------------------------===//

/// Whether another coordinate of the guest varies along the host's axis: elements that differ in
/// this one alone are not those along it.
bool Transplant::isUsedBeside(StringAttr axis, StringAttr hostAxis, Scope *scope) const {
  // One that is being made has no expression yet.
  auto uses = [&](const HostIndex &index) {
    return index.expr && index.axes().indexOf(hostAxis) >= 0;
  };
  for (; scope; scope = scope->parent)
    for (const auto &entry : scope->axes)
      if (entry.getKey() != axis.getValue() && uses(entry.getValue()))
        return true;
  return llvm::any_of(indices, [&](const auto &entry) { return uses(entry.second); });
}

/// Bounds of a whole axis, or of what a binder's blocks are cut from; none of a loop's.
static std::pair<Value, Value> boundsOf(Value span) {
  if (auto axis = span.getDefiningOp<AxisOp>())
    return {axis.getLower(), axis.getUpper()};
  auto argument = cast<BlockArgument>(span);
  auto parallel = dyn_cast<ParallelOp>(argument.getOwner()->getParentOp());
  unsigned n = argument.getArgNumber();
  return parallel ? std::pair(parallel.getLower()[n], parallel.getUpper()[n])
                  : std::pair<Value, Value>();
}

bool Transplant::isSameAxis(StringAttr axis, const HostIndex &index, Scope *scope) {
  Value own = guestDomains.spanOf(axis), other = index.asSpan();
  // A block is the same as a block, not as all of an axis.
  if (!own || !other || isa<BlockArgument>(own) != isa<BlockArgument>(other) ||
      isUsedBeside(axis, axisOf(other), scope))
    return false;
  auto kernel = point->getParentOfType<KernelOp>();
  if (isRestricted(guest, axis) || isRestricted(kernel, axisOf(other)))
    return false;
  auto equal = [&](Value mine, Value theirs) {
    Value here = mine && theirs ? cloneIn(mine, scope) : Value();
    AffineExpr a = here ? traceDims(here) : AffineExpr();
    return a && a == traceDims(theirs);
  };
  auto [lower, upper] = boundsOf(own);
  auto [theirLower, theirUpper] = boundsOf(other);
  return equal(lower, theirLower) && equal(upper, theirUpper);
}

Transplant::Scope *Transplant::withOwnAxes(ArrayRef<StringAttr> axes, Scope *scope) {
  for (StringAttr axis : axes) {
    const HostIndex *index = indexOf(axis, scope);
    if (index && (isOwn(axis, scope) || isSameAxis(axis, *index, scope)))
      continue;
    Scope *&along = scope->along[axis];
    if (!along) {
      along = &scopes.emplace_back();
      along->parent = scope;
      along->axes[axis.getValue()] = {}; // it is this scope that gives it a meaning
      if (!makeAxis(axis, along))
        return nullptr;
    }
    scope = along;
  }
  return scope;
}

/// The outermost scope in which a whole axis of the guest means the same: its conditions, too,
/// don't meet other axes there than here.
Transplant::Scope *Transplant::scopeOfAxis(Value span, Scope *from) {
  Scope *outermost = scopeOf(span, from), *result = from;
  auto meetsSame = [&](Scope *scope) {
    return !guest
                .walk([&](RestrictOp restrict) {
                  auto differs = [&](Value other) {
                    const HostIndex *index = indexOf(axisOf(other), scope);
                    return other != span && index && index != indexOf(axisOf(other), from);
                  };
                  bool isIts = llvm::is_contained(restrict.getDims(), span);
                  return isIts && llvm::any_of(restrict.getDims(), differs)
                             ? WalkResult::interrupt()
                             : WalkResult::advance();
                })
                .wasInterrupted();
  };
  for (Scope *scope = from;; scope = scope->parent) {
    if (meetsSame(scope))
      result = scope;
    if (scope == outermost)
      return result;
  }
}

/// The guest's conditions that an axis comes with: those whose other axes mean something already,
/// or are whole. The latter are made here: made later, further out, they would not find this one,
/// and the condition would be lost.
bool Transplant::conditionsOf(StringAttr axis, Scope *scope,
                              SmallVectorImpl<RestrictOp> &restricts) {
  beingMade.insert(axis.getValue());
  bool ok = true;
  guest.walk([&](RestrictOp restrict) {
    auto isAxis = [&](Value span) { return axisOf(span) == axis; };
    if (!llvm::any_of(restrict.getDims(), isAxis) || restrict->getParentOfType<ForOp>())
      return;
    bool isBound = true;
    for (Value span : restrict.getDims()) {
      StringAttr other = axisOf(span);
      if (isAxis(span))
        continue;
      if (beingMade.contains(other.getValue())) {
        isBound = false; // it comes with the condition
      } else if (!indexOf(other, scope)) {
        isBound &= static_cast<bool>(span.getDefiningOp<AxisOp>());
        ok &= !isBound || makeAxis(other, scope);
      }
    }
    if (isBound)
      restricts.push_back(restrict);
  });
  beingMade.erase(axis.getValue());
  return ok;
}

/// Binds a whole axis of the guest to a new one of the host.
bool Transplant::makeAxis(StringAttr axis, Scope *scope) {
  Value guestSpan = guestDomains.spanOf(axis);
  auto op = guestSpan ? guestSpan.getDefiningOp<AxisOp>() : AxisOp();
  if (!op)
    return fail("a block of its axis `" + axis.getValue() + "` has no place in the other kernel"),
           false;
  if (!scope->axes.contains(axis.getValue()))
    scope = scopeOfAxis(guestSpan, scope);
  Value lower = cloneIn(op.getLower(), scope), upper = cloneIn(op.getUpper(), scope);
  if (!lower || !upper)
    return false;
  if (!lower.getType().isInteger(64) || !upper.getType().isInteger(64))
    return fail("the length of its axis `" + axis.getValue() + "` would differ within a block"),
           false;
  // Conditions stand right after the axis, so it stands where they can.
  SmallVector<RestrictOp> restricts;
  if (!conditionsOf(axis, scope, restricts))
    return false;
  SmallVector<Value> operands = {lower, upper};
  IndexOperands used(op.getContext());
  for (RestrictOp restrict : restricts) {
    for (Value span : restrict.getDims())
      if (axisOf(span) != axis)
        used.add(*indexOf(axisOf(span), scope));
    for (Value sym : restrict.getSyms()) {
      HostIndex index;
      if (!indexOperand(sym, scope, index))
        return false;
      used.add(index);
    }
    if (Value unless = restrict.getUnless()) {
      operands.push_back(cloneIn(unless, scope));
      if (!operands.back())
        return false;
    }
  }
  llvm::append_range(operands, used.dims);
  llvm::append_range(operands, used.syms);
  OpBuilder builder = builderFor(operands);
  StringAttr name = names.fresh(axis);
  int64_t extent = knownExtent(lower, upper);
  if (ShapedType::isDynamic(extent))
    extent = op.getSpan().getType().getExtent();
  auto type = SpanType::get(op.getContext(), name, extent);
  Value span = AxisOp::create(builder, op.getLoc(), type, lower, upper);
  hostSpans[name] = span;
  scope->axes[axis.getValue()] = HostIndex::ofSpan(span);
  scope->own.insert(axis.getValue());
  return llvm::all_of(restricts,
                      [&](RestrictOp restrict) { return emitRestrict(restrict, scope); });
}

bool Transplant::emitRestrict(RestrictOp op, Scope *scope) {
  IndexOperands operands(op.getContext());
  SmallVector<Value> &dims = operands.dims, &syms = operands.syms;
  SmallVector<AffineExpr> dimExprs, symExprs;
  auto add = [&](ValueRange values, SmallVector<AffineExpr> &exprs) {
    for (Value value : values) {
      HostIndex index;
      if (!indexOperand(value, scope, index))
        return false;
      if (index.hasData())
        return fail("a condition on its blocks would depend on data"), false;
      exprs.push_back(operands.add(index));
    }
    return true;
  };
  if (!add(op.getDims(), dimExprs) || !add(op.getSyms(), symExprs))
    return false;
  Value unless = op.getUnless() ? cloneIn(op.getUnless(), scope) : Value();
  if (op.getUnless() && !unless)
    return false;
  IntegerSet set = op.getConstraint();
  AffineExpr constraint = set.getConstraint(0).replaceDimsAndSymbols(dimExprs, symExprs);
  constraint = simplifyAffineExpr(constraint, dims.size(), syms.size());
  set = IntegerSet::get(dims.size(), syms.size(), constraint, set.getEqFlags());
  SmallVector<Value> all(dims);
  all.append(syms);
  if (unless)
    all.push_back(unless);
  OpBuilder builder = builderFor(all);
  RestrictOp::create(builder, op.getLoc(), set, dims, syms, unless);
  return true;
}

//===-- Along axes --------------------------------------------------------===//

/// The host's axes that the guest's conditions of these axes get by integers of the guest that are
/// spans here: `k <= b` where the guest had one program for each b. What meets along the axes has
/// to have them, or the condition would not concern it.
bool Transplant::addConditionAxes(ArrayRef<StringAttr> axes, Scope *scope, AxisList &added) {
  auto isConcerned = [&](RestrictOp restrict) {
    return llvm::any_of(restrict.getDims(),
                        [&](Value span) { return llvm::is_contained(axes, axisOf(span)); });
  };
  return !guest
              .walk([&](RestrictOp restrict) {
                if (!isConcerned(restrict))
                  return WalkResult::advance();
                for (Value sym : restrict.getSyms()) {
                  HostIndex index;
                  if (!indexOperand(sym, scope, index))
                    return WalkResult::interrupt();
                  AxisList of = index.axes();
                  for (auto [name, extent] : llvm::zip(of.names, of.extents))
                    added.add(name, extent);
                }
                return WalkResult::advance();
              })
              .wasInterrupted();
}

bool Transplant::cloneAlong(AlongAxes along, Scope *outer, SmallVectorImpl<Value> &results) {
  Operation *op = along;
  if (isa<TakeOp>(op))
    return false;
  SmallVector<StringAttr> meeting = along.getAxesAlong();
  if (auto sort = dyn_cast<SortOp>(op))
    if (!llvm::is_contained(meeting, sort.getRankAttr()))
      meeting.push_back(sort.getRankAttr());
  Scope *scope = withOwnAxes(meeting, outer);
  if (!scope)
    return false;
  IRMapping mapping;
  AxisList met, extra; // the axes that meet, and those that the operands have besides
  llvm::StringMap<StringAttr> renamed;
  for (StringAttr axis : meeting) {
    Value span = indexOf(axis, scope)->asSpan();
    renamed[axis.getValue()] = axisOf(span);
    met.addFrom(span.getType());
  }
  AxisList joined;
  if (!addConditionAxes(meeting, scope, joined))
    return false;
  for (auto [name, extent] : llvm::zip(joined.names, joined.extents))
    if (met.indexOf(name) < 0)
      extra.add(name, extent);
  for (Value operand : op->getOperands()) {
    Value value = cloneIn(operand, scope);
    if (!value)
      return false;
    if (auto dot = dyn_cast<DotOp>(op); dot && operand != dot.getAcc()) {
      AxisList axes;
      axes.addFrom(value.getType());
      for (auto [name, extent] : llvm::zip(joined.names, joined.extents))
        axes.add(name, extent);
      value = broadcastTo(value, axes.tileOf(getElementTypeOrSelf(value.getType())), op->getLoc());
    }
    mapping.map(operand, value);
    for (StringAttr axis : axesOf(value.getType()))
      if (met.indexOf(axis) < 0)
        extra.add(axis, extentOf(value.getType(), axis));
  }
  // Every tile gets the axes that its own become, then those that came of the host.
  auto widen = [&](Type type) -> Type {
    Type mapped = typeOf(type, scope);
    if (!mapped)
      return {};
    AxisList axes;
    axes.addFrom(mapped);
    for (auto [name, extent] : llvm::zip(extra.names, extra.extents))
      axes.add(name, extent);
    return axes.tileOf(getElementTypeOrSelf(type));
  };
  if (!isa<DotOp>(op)) {
    for (Value operand : op->getOperands()) {
      Type type = widen(operand.getType());
      if (!type)
        return false;
      mapping.map(operand, broadcastTo(mapping.lookup(operand), type, op->getLoc()));
    }
  }
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (Value operand : op->getOperands())
    operands.push_back(mapping.lookup(operand));
  for (Type type : op->getResultTypes()) {
    types.push_back(widen(type));
    if (!types.back())
      return false;
  }
  if (isa<DotOp>(op)) {
    // Its axes come in the order of its operands', and the sum it begins with has them all.
    AxisList axes;
    for (Value operand : ArrayRef(operands).take_front(2))
      for (StringAttr axis : axesOf(operand.getType()))
        if (met.indexOf(axis) < 0)
          axes.add(axis, extentOf(operand.getType(), axis));
    for (StringAttr axis : axesOf(types[0]))
      if (axes.indexOf(axis) < 0)
        return false;
    types[0] = axes.tileOf(getElementTypeOrSelf(types[0]));
    operands[2] = broadcastTo(operands[2], types[0], op->getLoc());
  }
  WalkResult captured = op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (inner != op && !op->isAncestor(operand.getParentRegion()->getParentOp())) {
        Value value = cloneIn(operand, scope);
        if (!value || !axesOf(value.getType()).empty())
          return WalkResult::interrupt();
        mapping.map(operand, value);
        operands.push_back(value); // for its place alone
      }
    return WalkResult::advance();
  });
  if (captured.wasInterrupted())
    return false;
  OpBuilder builder = builderFor(operands, types);
  operands.truncate(op->getNumOperands());
  Operation *copy = builder.clone(*op, mapping);
  copy->setOperands(operands);
  for (auto [result, type] : llvm::zip(copy->getResults(), types))
    result.setType(type);
  auto rename = [&](StringRef attribute) {
    if (auto axis = copy->getAttrOfType<StringAttr>(attribute))
      copy->setAttr(attribute, renamed.lookup(axis.getValue()));
  };
  rename("axis");
  rename("rank");
  if (auto reduce = dyn_cast<ReduceOp>(copy)) {
    SmallVector<Attribute> axes;
    for (Attribute axis : reduce.getAxes())
      axes.push_back(renamed.lookup(cast<StringAttr>(axis).getValue()));
    reduce.setAxesAttr(ArrayAttr::get(op->getContext(), axes));
  }
  llvm::append_range(results, copy->getResults());
  return true;
}

Value Transplant::cloneCount(CountOp op, Scope *outer) {
  SmallVector<StringAttr> axes;
  for (Value span : op.getSpans())
    axes.push_back(axisOf(span));
  Scope *scope = withOwnAxes(axes, outer);
  if (!scope)
    return {};
  SmallVector<Value> spans;
  for (StringAttr axis : axes)
    spans.push_back(indexOf(axis, scope)->asSpan());
  Type type = typeOf(op.getType(), scope);
  if (!type)
    return {};
  for (StringAttr axis : axesOf(op.getType()))
    if (!indexOf(axis, scope)->asSpan())
      return fail("it counts elements along an axis that the other kernel cuts differently");
  AxisList counted;
  counted.addFrom(type);
  if (!addConditionAxes(axes, scope, counted))
    return {};
  type = counted.tileOf(getElementTypeOrSelf(type));
  OpBuilder builder = builderFor(spans, type);
  return CountOp::create(builder, op.getLoc(), type, spans);
}

//===-- Loops and conditions ----------------------------------------------===//

/// Clones the floats that a terminator needs of its block in the order that the block has. Else
/// each operand would come with all that it needs, masks before the numbers that they are for, and
/// threads would hold them longer. What can't be made by itself is left to who needs it.
void Transplant::cloneInOrder(Operation *terminator, Scope *scope) {
  Block *block = terminator->getBlock();
  llvm::SmallPtrSet<Operation *, 16> needed{terminator};
  SmallVector<Operation *> ordered;
  for (Operation &op : llvm::reverse(block->without_terminator()))
    if (llvm::any_of(op.getUsers(), [&](Operation *user) {
          return needed.contains(block->findAncestorOpInBlock(*user));
        })) {
      needed.insert(&op);
      ordered.push_back(&op);
    }
  std::string before = reason;
  for (Operation *op : llvm::reverse(ordered))
    for (Value result : op->getResults())
      if (!result.use_empty() && isa<FloatType>(getElementTypeOrSelf(result.getType())) &&
          !cloneIn(result, scope))
        reason = before;
}

/// Ends a region with what it yields, in place of the terminator it has.
bool Transplant::cloneYield(OperandRange yielded, TypeRange types, Scope *scope, Operation *end) {
  if (!yielded.empty())
    cloneInOrder(yielded.getBase()->getOwner(), scope);
  SmallVector<Value> values;
  for (auto [value, type] : llvm::zip(yielded, types)) {
    Value here = cloneIn(value, scope);
    if (!here)
      return false;
    for (StringAttr axis : axesOf(here.getType()))
      if (!llvm::is_contained(axesOf(type), axis))
        return fail("a variable of its loop would become a tile"), false;
    values.push_back(broadcastTo(here, type, end->getLoc()));
  }
  end->setOperands(values);
  return true;
}

/// What variables of a loop begin as, on the axes that their types get.
bool Transplant::cloneInits(ValueRange from, Scope *scope, SmallVectorImpl<Value> &inits,
                            SmallVectorImpl<Type> &types) {
  for (Value init : from) {
    Value here = cloneIn(init, scope);
    Type type = here ? typeOf(init.getType(), scope) : Type();
    if (!type)
      return false;
    for (StringAttr axis : axesOf(here.getType()))
      if (!llvm::is_contained(axesOf(type), axis))
        return fail("a variable of its loop would become a tile"), false;
    inits.push_back(broadcastTo(here, type, init.getLoc()));
    types.push_back(type);
  }
  return true;
}

/// Moves a loop or a condition out of the loops that it takes nothing from: what it computes may be
/// needed outside of them, too.
void Transplant::hoist(Operation *op) {
  for (Operation *around = op->getParentOp(); isa<ForOp, scf::ForOp>(around);
       around = op->getParentOp()) {
    auto isInside = [&](Value value) {
      Region *region = value.getParentRegion();
      return around->getRegion(0).isAncestor(region) && !op->isAncestor(region->getParentOp());
    };
    auto takes = [&](Operation *inner) {
      auto ofAxes = [&](Type type) {
        return llvm::any_of(axesOf(type), [&](StringAttr axis) {
          Value span = hostSpans.lookup(axis);
          return isInside(span ? span : hostDomains.spanOf(axis));
        });
      };
      return llvm::any_of(inner->getOperands(), isInside) ||
             llvm::any_of(inner->getResultTypes(), ofAxes);
    };
    if (op->walk([&](Operation *inner) {
            return takes(inner) ? WalkResult::interrupt() : WalkResult::advance();
          }).wasInterrupted())
      return;
    op->moveBefore(around);
  }
}

bool Transplant::cloneLoop(ForOp op, Scope *outer, SmallVectorImpl<Value> &results) {
  Value lower = cloneIn(op.getLower(), outer), upper = cloneIn(op.getUpper(), outer);
  if (!lower || !upper)
    return false;
  if (!lower.getType().isInteger(64) || !upper.getType().isInteger(64))
    return fail("the length of its loop `" + op.getName() + "` would differ within a block"), false;
  SmallVector<Value> inits;
  SmallVector<Type> types;
  if (!cloneInits(op.getInits(), outer, inits, types))
    return false;
  OpBuilder builder(point);
  StringAttr name = names.fresh(op.getNameAttr());
  loops.push_back({op.getNameAttr(), name});
  auto copy = ForOp::create(builder, op.getLoc(), TypeRange(types), lower, upper, inits, name,
                            op.getSizeAttr(), op.getKindAttr());
  Block &body = copy.getBody().emplaceBlock();
  Value span = body.addArgument(
      SpanType::get(op.getContext(), name, cast<SpanType>(op.getSpan().getType()).getExtent()),
      op.getLoc());
  Scope &scope = scopes.emplace_back();
  scope.parent = outer;
  scope.region = &op.getBody();
  scope.axes[op.getName()] = HostIndex::ofSpan(span);
  scope.own.insert(op.getName());
  hostSpans[name] = span;
  for (auto [carried, type] : llvm::zip(op.getCarried(), types))
    scope.values[carried] = body.addArgument(type, op.getLoc());
  builder.setInsertionPointToEnd(&body);
  Operation *end = YieldOp::create(builder, op.getLoc(), inits);
  Operation *before = std::exchange(point, end);
  bool ok = llvm::all_of(op.getBody().front().getOps<RestrictOp>(),
                         [&](RestrictOp restrict) { return emitRestrict(restrict, &scope); }) &&
            cloneYield(op.getYield().getOperands(), types, &scope, end) &&
            cloneMerge(op, copy, &scope);
  point = before;
  if (ok)
    hoist(copy);
  llvm::append_range(results, copy.getResults());
  return ok;
}

/// The region that joins carried values of two parts: elementwise, of types that follow.
bool Transplant::cloneMerge(ForOp from, ForOp to, Scope *scope) {
  if (from.getMerge().empty())
    return true;
  IRMapping mapping;
  Block &block = to.getMerge().emplaceBlock();
  for (BlockArgument argument : from.getMerge().getArguments()) {
    Type type = typeOf(argument.getType(), scope);
    if (!type)
      return false;
    mapping.map(argument, block.addArgument(type, argument.getLoc()));
  }
  OpBuilder builder = OpBuilder::atBlockEnd(&block);
  for (Operation &op : from.getMerge().front()) {
    for (Value operand : op.getOperands())
      if (!mapping.contains(operand)) {
        Value value = cloneIn(operand, scope->parent);
        if (!value)
          return false;
        mapping.map(operand, value);
      }
    Operation *copy = builder.clone(op, mapping);
    for (Value result : copy->getResults()) {
      Type type = typeOf(result.getType(), scope);
      if (!type)
        return false;
      result.setType(type);
    }
  }
  return true;
}

bool Transplant::cloneCounted(scf::ForOp op, Scope *outer, SmallVectorImpl<Value> &results) {
  SmallVector<Value> bounds, inits;
  for (Value bound : {op.getLowerBound(), op.getUpperBound(), op.getStep()}) {
    bounds.push_back(cloneIn(bound, outer));
    if (!bounds.back())
      return false;
    if (!axesOf(bounds.back().getType()).empty())
      return fail("the length of a loop would differ within a block"), false;
  }
  SmallVector<Type> types;
  if (!cloneInits(op.getInitArgs(), outer, inits, types))
    return false;
  OpBuilder builder(point);
  auto copy = scf::ForOp::create(builder, op.getLoc(), bounds[0], bounds[1], bounds[2], inits);
  Scope &scope = scopes.emplace_back();
  scope.parent = outer;
  scope.region = &op.getRegion();
  scope.values[op.getInductionVar()] = copy.getInductionVar();
  for (auto [carried, here] : llvm::zip(op.getRegionIterArgs(), copy.getRegionIterArgs()))
    scope.values[carried] = here;
  // A loop without carried values has its terminator already.
  if (!copy.getBody()->empty())
    copy.getBody()->back().erase();
  builder.setInsertionPointToEnd(copy.getBody());
  Operation *end = scf::YieldOp::create(builder, op.getLoc(), inits);
  Operation *before = std::exchange(point, end);
  bool ok = cloneYield(op.getBody()->getTerminator()->getOperands(), types, &scope, end);
  point = before;
  if (ok)
    hoist(copy);
  llvm::append_range(results, copy.getResults());
  return ok;
}

/// Clones what an op's regions use from outside of it.
bool Transplant::cloneCaptured(Operation *op, Scope *scope) {
  return !op->walk([&](Operation *inner) {
              for (Value operand : inner->getOperands())
                if (!op->isAncestor(operand.getParentRegion()->getParentOp()) &&
                    !isa<SpanType, MemRefType>(operand.getType()) && !cloneIn(operand, scope))
                  return WalkResult::interrupt();
              return WalkResult::advance();
            }).wasInterrupted();
}

bool Transplant::cloneIf(scf::IfOp op, Scope *outer, SmallVectorImpl<Value> &results) {
  // What stands before it may be needed after it, too.
  if (!cloneCaptured(op, outer))
    return false;
  Value condition = cloneIn(op.getCondition(), outer);
  if (!condition)
    return false;
  if (!axesOf(condition.getType()).empty())
    return fail("a condition would differ within a block"), false;
  SmallVector<Type> types;
  for (Type type : op.getResultTypes()) {
    types.push_back(typeOf(type, outer));
    if (!types.back())
      return false;
  }
  OpBuilder builder(point);
  auto copy = scf::IfOp::create(builder, op.getLoc(), types, condition, /*addThenBlock=*/true,
                                /*addElseBlock=*/!op.getElseRegion().empty());
  bool ok = true;
  for (auto [from, to] : llvm::zip(op->getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    Scope &scope = scopes.emplace_back();
    scope.parent = outer;
    scope.region = &from;
    scope.isConditional = true;
    Block &block = to.front();
    if (!block.empty())
      block.back().erase();
    builder.setInsertionPointToEnd(&block);
    Operation *end = scf::YieldOp::create(builder, op.getLoc());
    Operation *before = std::exchange(point, end);
    ok &= cloneYield(from.front().getTerminator()->getOperands(), types, &scope, end);
    point = before;
  }
  if (ok)
    hoist(copy);
  llvm::append_range(results, copy.getResults());
  return ok;
}
