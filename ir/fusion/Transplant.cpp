//===- Transplant.cpp - values of one kernel, computed in another ---------===//

#include "ir/fusion/Transplant.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

Transplant::Transplant(KernelOp guest, Operation *point, SpanNames &names)
    : guest(guest), point(point), names(names), guestDomains(guest),
      hostDomains(point->getParentOfType<KernelOp>()), root(&scopes.emplace_back()) {}

void Transplant::bindSpan(StringAttr axis, HostIndex index) {
  root->axes[axis.getValue()] = std::move(index);
}

Value Transplant::fail(const Twine &why) {
  if (reason.empty())
    reason = why.str();
  return {};
}

Value Transplant::clone(Value value) { return cloneIn(value, root); }

//===-- Scopes ------------------------------------------------------------===//

const HostIndex *Transplant::indexOf(StringAttr axis, Scope *scope) const {
  for (; scope; scope = scope->parent)
    if (auto found = scope->axes.find(axis.getValue()); found != scope->axes.end())
      return &found->second;
  return nullptr;
}

bool Transplant::isOwn(StringAttr axis, Scope *scope) const {
  for (; scope; scope = scope->parent)
    if (scope->axes.contains(axis.getValue()))
      return scope->own.contains(axis.getValue());
  return false;
}

/// The outermost scope in which the value means the same.
Transplant::Scope *Transplant::scopeOf(Value value, Scope *scope) const {
  auto matters = [&](const Scope *scope) {
    if (scope->isConditional || !scope->parent)
      return true;
    if (scope->region && scope->region->isAncestor(value.getParentRegion()))
      return true;
    return llvm::any_of(axesOf(value.getType()),
                        [&](StringAttr axis) { return scope->axes.contains(axis.getValue()); });
  };
  while (!matters(scope))
    scope = scope->parent;
  return scope;
}

//===-- Placement ---------------------------------------------------------===//

OpBuilder Transplant::builderFor(ValueRange operands, TypeRange types) {
  // From the parallel's body inwards, but never out of what may not run.
  Block *block = point->getBlock();
  for (Block *outer = block; !isa<ParallelOp>(outer->getParentOp());) {
    if (!isa<ForOp, scf::ForOp>(outer->getParentOp()))
      break;
    block = outer = outer->getParentOp()->getBlock();
  }
  auto deepen = [&](Value value) {
    Block *place = value.getParentBlock();
    if (block != place && block->getParent()->isAncestor(place->getParent()))
      block = place;
  };
  llvm::for_each(operands, deepen);
  for (Type type : types)
    for (StringAttr axis : axesOf(type)) {
      Value span = hostSpans.lookup(axis);
      deepen(span ? span : hostDomains.spanOf(axis));
    }
  return OpBuilder(block->findAncestorOpInBlock(*point));
}

Value Transplant::broadcastTo(Value value, Type type, Location loc) {
  Type wanted = withElement(type, getElementTypeOrSelf(value.getType()));
  if (value.getType() == wanted)
    return value;
  OpBuilder builder = builderFor(value, wanted);
  return BroadcastOp::create(builder, loc, wanted, value);
}

Type Transplant::typeOf(Type type, Scope *scope) {
  if (axesOf(type).empty())
    return type;
  AxisList axes;
  for (StringAttr axis : axesOf(type)) {
    const HostIndex *index = indexOf(axis, scope);
    if (!index) {
      if (!makeAxis(axis, scope))
        return {};
      index = indexOf(axis, scope);
    }
    AxisList of = index->axes();
    for (auto [name, extent] : llvm::zip(of.names, of.extents))
      axes.add(name, extent);
  }
  return axes.tileOf(getElementTypeOrSelf(type));
}

//===-- Indices -----------------------------------------------------------===//

namespace {
/// Computes affine expressions; what an operand and a sum are is the user's to say.
struct AffineMaker {
  function_ref<Value(int64_t)> constant;
  function_ref<Value(unsigned)> dim, symbol;
  function_ref<Value(AffineExprKind, Value, Value)> binary;

  Value operator()(AffineExpr expr) const {
    if (auto number = dyn_cast<AffineConstantExpr>(expr))
      return constant(number.getValue());
    if (auto position = dyn_cast<AffineSymbolExpr>(expr))
      return symbol(position.getPosition());
    if (auto position = dyn_cast<AffineDimExpr>(expr))
      return dim(position.getPosition());
    auto parts = cast<AffineBinaryOpExpr>(expr);
    Value lhs = (*this)(parts.getLHS()), rhs = lhs ? (*this)(parts.getRHS()) : Value();
    return rhs ? binary(expr.getKind(), lhs, rhs) : Value();
  }
};

/// Of integers or tiles of one type; none for what rounds upwards.
Value makeInteger(OpBuilder &builder, Location loc, AffineExprKind kind, Value lhs, Value rhs) {
  Type type = lhs.getType();
  switch (kind) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, type, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, type, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return DivOp::create(builder, loc, type, lhs, rhs, nullptr, nullptr);
  case AffineExprKind::Mod:
    return RemOp::create(builder, loc, type, lhs, rhs, nullptr, nullptr);
  default:
    return {};
  }
}

Value makeNumber(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
}
} // namespace

Value tile::ir::materializeDims(OpBuilder &builder, Location loc, AffineExpr expr, ArrayAttr dims) {
  return materializeDims(builder, loc, expr, [&](unsigned position) -> Value {
    return DimOp::create(builder, loc, builder.getI64Type(), cast<StringAttr>(dims[position]));
  });
}

Value tile::ir::materializeDims(OpBuilder &builder, Location loc, AffineExpr expr,
                                function_ref<Value(unsigned)> symbol) {
  auto constant = [&](int64_t value) { return makeNumber(builder, loc, value); };
  auto binary = [&](AffineExprKind kind, Value lhs, Value rhs) {
    return makeInteger(builder, loc, kind, lhs, rhs);
  };
  return AffineMaker{constant, symbol, symbol, binary}(expr);
}

Value Transplant::materialize(const HostIndex &index, Location loc) {
  auto constant = [&](int64_t value) {
    OpBuilder builder = builderFor({});
    return makeNumber(builder, loc, value);
  };
  auto symbol = [&](unsigned position) { return index.syms[position]; };
  auto dim = [&](unsigned position) -> Value {
    Value operand = index.dims[position];
    auto span = dyn_cast<SpanType>(operand.getType());
    if (!span)
      return operand;
    AxisList axes;
    axes.addFrom(span);
    OpBuilder builder = builderFor(operand);
    return CoordsOp::create(builder, loc, axes.tileOf(builder.getI64Type()), operand);
  };
  auto binary = [&](AffineExprKind kind, Value lhs, Value rhs) {
    AxisList axes;
    axes.addFrom(lhs.getType());
    axes.addFrom(rhs.getType());
    Type type = axes.tileOf(getElementTypeOrSelf(lhs.getType()));
    lhs = broadcastTo(lhs, type, loc);
    rhs = broadcastTo(rhs, type, loc);
    OpBuilder builder = builderFor({lhs, rhs});
    return makeInteger(builder, loc, kind, lhs, rhs);
  };
  Value value = AffineMaker{constant, dim, symbol, binary}(index.expr);
  return value ? value : fail("an index of it rounds upwards");
}

/// What a guest's operand of an index map is in the host.
bool Transplant::indexOperand(Value operand, Scope *scope, HostIndex &index) {
  if (auto span = dyn_cast<SpanType>(operand.getType())) {
    if (!indexOf(span.getName(), scope) && !makeAxis(span.getName(), scope))
      return false;
    index = *indexOf(span.getName(), scope);
    return true;
  }
  if (auto known = indices.find(operand); known != indices.end()) {
    index = known->second;
    return true;
  }
  Value value = cloneIn(operand, scope);
  if (!value)
    return false;
  bool isNumber = value.getType().isInteger(64);
  index = isNumber ? HostIndex::ofInteger(value)
                   : HostIndex{getAffineDimExpr(0, value.getContext()), {value}, {}};
  return true;
}

AffineMap Transplant::indexMap(AffineMap map, ValueRange dims, ValueRange syms, Scope *scope,
                               IndexOperands &operands, bool *hasData) {
  SmallVector<AffineExpr> dimExprs, symExprs;
  auto collect = [&](ValueRange values, SmallVector<AffineExpr> &exprs) {
    for (Value value : values) {
      HostIndex index;
      if (!indexOperand(value, scope, index))
        return false;
      if (hasData)
        *hasData |= index.hasData();
      exprs.push_back(operands.add(index));
    }
    return true;
  };
  if (!collect(dims, dimExprs) || !collect(syms, symExprs))
    return {};
  return simplifyAffineMap(
      map.replaceDimsAndSymbols(dimExprs, symExprs, operands.dims.size(), operands.syms.size()));
}

Operation *Transplant::cloneWrite(Operation *write, Value target) {
  auto clone = [&](auto op) -> Operation * {
    Value value = cloneIn(op.getValue(), root);
    IndexOperands operands(op.getContext());
    AffineMap map =
        value ? indexMap(op.getMap(), op.getDims(), op.getSyms(), root, operands) : AffineMap();
    if (!map)
      return nullptr;
    OpBuilder builder(point);
    if constexpr (std::is_same_v<decltype(op), UpdateOp>)
      return UpdateOp::create(builder, op.getLoc(), value, target, map, operands.dims,
                              operands.syms, op.getKind());
    else
      return StoreOp::create(builder, op.getLoc(), value, target, map, operands.dims,
                             operands.syms);
  };
  if (auto update = dyn_cast<UpdateOp>(write))
    return clone(update);
  return clone(cast<StoreOp>(write));
}

Value Transplant::cloneLoad(LoadOp op, Scope *scope) {
  Value source = integers.lookupOrNull(op.getSource());
  if (!source)
    return fail("it reads a tensor that it writes");
  IndexOperands operands(op.getContext());
  bool hasData = false;
  AffineMap map = indexMap(op.getMap(), op.getDims(), op.getSyms(), scope, operands, &hasData);
  if (!map)
    return {};
  Value pad = op.getPad() ? cloneIn(op.getPad(), scope) : Value();
  if (op.getPad() && !pad)
    return {};
  Type element = op.getSource().getType().getElementType();
  BoundsMode bounds = op.getBounds();
  Location loc = op.getLoc();
  if (leavesDomain && (bounds == BoundsMode::exact || bounds == BoundsMode::within)) {
    bounds = BoundsMode::pad;
    OpBuilder builder = builderFor({});
    pad = arith::ConstantOp::create(builder, op.getLoc(), builder.getZeroAttr(element));
  } else if (within && hasData && bounds == BoundsMode::exact) {
    bounds = BoundsMode::within;
    loc = *within;
  }
  SmallVector<Value> all(operands.dims);
  all.append(operands.syms);
  if (pad)
    all.push_back(pad);
  OpBuilder builder = builderFor(all);
  Type type = mapAxes(map, operands.dims).tileOf(element);
  return LoadOp::create(builder, loc, type, source, map, operands.dims, operands.syms, bounds, pad);
}

//===-- Elementwise -------------------------------------------------------===//

Value Transplant::cloneDim(DimOp op) {
  auto known = dims.find(op.getName());
  if (known == dims.end())
    return fail("its dimension `" + op.getName() + "` is not known in the other kernel");
  Value &value = dimValues[op.getName()];
  if (!value) {
    auto host = point->getParentOfType<KernelOp>();
    OpBuilder builder(host.getParallel());
    value = materializeDims(builder, op.getLoc(), known->second, host.getDims());
  }
  return value;
}

Value Transplant::cloneBroadcast(BroadcastOp op, Scope *scope) {
  Value input = cloneIn(op.getInput(), scope);
  Type type = input ? typeOf(op.getType(), scope) : Type();
  if (!type)
    return {};
  AxisList axes;
  axes.addFrom(type);
  axes.addFrom(input.getType()); // an integer of the guest may be a tile of the host
  return broadcastTo(input, axes.tileOf(getElementTypeOrSelf(type)), op.getLoc());
}

bool Transplant::cloneElementwise(Operation *op, Scope *scope, SmallVectorImpl<Value> &results) {
  SmallVector<Value> operands;
  AxisList axes;
  for (Type type : op->getResultTypes()) {
    Type mapped = typeOf(type, scope);
    if (!mapped)
      return false;
    axes.addFrom(mapped);
  }
  for (Value operand : op->getOperands()) {
    operands.push_back(cloneIn(operand, scope));
    if (!operands.back())
      return false;
    axes.addFrom(operands.back().getType());
  }
  for (Value &operand : operands)
    operand = broadcastTo(operand, axes.tileOf(operand.getType()), op->getLoc());
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(axes.tileOf(getElementTypeOrSelf(type)));
  OpBuilder builder = builderFor(operands, types);
  OperationState state(op->getLoc(), op->getName(), operands, types, op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  llvm::append_range(results, builder.create(state)->getResults());
  return true;
}

//===-- Values ------------------------------------------------------------===//

/// What the source has for an op that can't be cloned.
static std::string whatStays(Operation *op) {
  if (auto take = dyn_cast<TakeOp>(op))
    return "its `" + take.getWord().str() + "`";
  if (isa<DotOp>(op))
    return "its `dot`";
  if (isa<SortOp>(op))
    return "what it sorts";
  if (isa<ScanOp>(op))
    return "its scan";
  if (isa<scf::WhileOp, scf::ForOp, ForOp>(op))
    return "its loop";
  if (isa<scf::IfOp>(op))
    return "its condition";
  return "what it computes";
}

Value Transplant::cloneIn(Value value, Scope *from) {
  if (!reason.empty())
    return {};
  if (Value known = integers.lookupOrNull(value))
    return known;
  if (auto index = indices.find(value); index != indices.end())
    return materialize(index->second, value.getLoc());
  Scope *scope = scopeOf(value, from);
  // What may not run finds what was computed before it, too.
  for (Scope *s = scope;; s = scopeOf(value, s->parent)) {
    if (auto known = s->values.find(value); known != s->values.end())
      return known->second;
    if (!s->isConditional)
      break;
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return fail("a value of its loops is out of reach");
  SmallVector<Value> results;
  if (!cloneOp(op, scope, results))
    return fail(whatStays(op) + " can't be computed in the midst of another kernel");
  for (auto [old, now] : llvm::zip(op->getResults(), results))
    if (now)
      scope->values[old] = now;
  return scope->values.lookup(value);
}

bool Transplant::cloneOp(Operation *op, Scope *scope, SmallVectorImpl<Value> &results) {
  auto one = [&](Value value) {
    results.push_back(value);
    return static_cast<bool>(value);
  };
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant))) {
    if (auto tile = dyn_cast<SplatElementsAttr>(constant))
      constant = tile.getSplatValue<Attribute>();
    if (!isa<TypedAttr>(constant))
      return false;
    OpBuilder builder = builderFor({});
    Value number = arith::ConstantOp::create(builder, op->getLoc(), cast<TypedAttr>(constant));
    Type type = typeOf(op->getResult(0).getType(), scope);
    return type && one(broadcastTo(number, type, op->getLoc()));
  }
  if (auto dim = dyn_cast<DimOp>(op))
    return one(cloneDim(dim));
  if (auto load = dyn_cast<LoadOp>(op))
    return one(cloneLoad(load, scope));
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return one(cloneBroadcast(broadcast, scope));
  if (auto coords = dyn_cast<CoordsOp>(op)) {
    HostIndex index;
    return indexOperand(coords.getSpan(), scope, index) && one(materialize(index, op->getLoc()));
  }
  if (auto count = dyn_cast<CountOp>(op))
    return one(cloneCount(count, scope));
  if (auto along = dyn_cast<AlongAxes>(op))
    return cloneAlong(along, scope, results);
  if (auto loop = dyn_cast<ForOp>(op))
    return cloneLoop(loop, scope, results);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return cloneCounted(loop, scope, results);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return cloneIf(branch, scope, results);
  if (op->getNumRegions() == 0 && op->getNumResults() > 0 && isMemoryEffectFree(op))
    return cloneElementwise(op, scope, results);
  return false;
}
