//===- EmitDot.cpp - contractions -----------------------------------------===//

#include "codegen/cpu/PackedDot.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

/// A number of the accumulator's type.
Value tile::codegen::toAccumulator(CodeBuilder &b, const TargetInfo &target, Value value, Type from,
                                   Type to) {
  if (isNarrowFloat(from)) {
    value = widenToF32(b, target, value, cast<FloatType>(from));
    from = b.getF32Type();
  }
  if (from == to)
    return value;
  Type goal = lanesOf(to, widthOf(value));
  return isa<FloatType>(to) ? Value(arith::ExtFOp::create(b, goal, value))
                            : Value(arith::ExtSIOp::create(b, goal, value));
}

Value tile::codegen::emitMultiplyAdd(CodeBuilder &b, const TargetInfo &target, Value x, Value y,
                                     Value sum) {
  Value v[] = {x, y, sum};
  b.unify(v);
  if (isa<FloatType>(elementOf(sum.getType())))
    return target.hasFma
               ? Value(math::FmaOp::create(b, v[0], v[1], v[2]))
               : Value(arith::AddFOp::create(b, arith::MulFOp::create(b, v[0], v[1]), v[2]));
  return b.add(b.mul(v[0], v[1]), v[2]);
}

static bool isOwn(StringAttr axis, Value of, Value other) {
  return llvm::is_contained(axesOf(of.getType()), axis) &&
         !llvm::is_contained(axesOf(other.getType()), axis);
}

/// How a dot into this buffer can be packed; none where it has no rows or no columns.
static std::optional<DotAxes> packedAxes(DotOp op, const Buffer &into) {
  if (into.axes.size() < 2)
    return {};
  DotAxes axes{op.getLhs(), op.getRhs(), {}, {}, into.axes.back()};
  if (isOwn(axes.column, axes.left, axes.right))
    std::swap(axes.left, axes.right);
  if (!isOwn(axes.column, axes.right, axes.left))
    return {};
  ArrayRef<StringAttr> rest = ArrayRef(into.axes).drop_back();
  while (!rest.empty() && isOwn(rest.back(), axes.left, axes.right)) {
    axes.rows.insert(axes.rows.begin(), rest.back());
    rest = rest.drop_back();
  }
  if (axes.rows.empty())
    return {};
  axes.outer.assign(rest.begin(), rest.end());
  return axes;
}

/// A result has its left operand's axes first, then the right one's own. Where that is a short row,
/// vectors go along the left one's rows, if those are one axis that is longer.
SmallVector<StringAttr> BodyLowering::orderOfProduct(DotOp op) const {
  SmallVector<StringAttr> axes(axesOf(op.getType()));
  if (axes.empty())
    return axes;
  // With more axes of the right operand it is no packed product as it stands, which adds up in
  // another order.
  auto columns =
      llvm::count_if(axes, [&](StringAttr axis) { return isOwn(axis, op.getRhs(), op.getLhs()); });
  bool isShortRow =
      isShort(axes.back()) && columns == 1 && isOwn(axes.back(), op.getRhs(), op.getLhs());
  SmallVector<StringAttr> rows =
      llvm::to_vector(llvm::make_filter_range(axes, [&](StringAttr axis) {
        return likelyExtentOf(axis) != 1 && isOwn(axis, op.getLhs(), op.getRhs());
      }));
  if (isShortRow && rows.size() == 1 && !isShort(rows.front()))
    axes = withLast(axes, rows.front());
  return axes;
}

/// What a loop begins with; nothing if it is none.
static ValueRange initsOf(Operation *op) {
  if (auto loop = dyn_cast<ForOp>(op))
    return loop.getInits();
  auto count = dyn_cast<scf::ForOp>(op);
  return count ? ValueRange(count.getInitArgs()) : ValueRange();
}

/// The dot that adds to what a loop carries, there or in a loop within; null if there is none.
static DotOp addingTo(Operation *loop, size_t carried) {
  Value value = loop->getRegion(0).front().getArgument(1 + carried);
  for (Operation *user : value.getUsers()) {
    if (auto dot = dyn_cast<DotOp>(user); dot && dot.getAcc() == value)
      return dot;
    for (auto [n, init] : llvm::enumerate(initsOf(user)))
      if (init == value)
        if (DotOp dot = addingTo(user, n))
          return dot;
  }
  return {};
}

/// As what the dot adds to it.
SmallVector<StringAttr> BodyLowering::orderOfCarried(Operation *loop, size_t n, Value init) {
  SmallVector<StringAttr> axes(axesOf(init.getType()));
  DotOp dot = initsOf(loop).empty() ? DotOp() : addingTo(loop, n);
  return dot ? orderOfProduct(dot) : axes;
}

void BodyLowering::emitDot(DotOp op) {
  // The accumulator's buffer becomes the result's where nobody else reads it.
  Buffer *into = bufferOf(op.getAcc());
  bool isFree = into && op.getAcc().hasOneUse() && op.getAcc().getParentBlock() == op->getBlock() &&
                mayWriteInto(op);
  if (!isFree)
    into = axesOf(op.getType()).empty()
               ? nullptr
               : newBuffer(getElementTypeOrSelf(op.getType()), orderOfProduct(op));
  std::optional<FoldOrder> pinned = pinnedOrder(op);
  bool mayChain = !pinned || pinned->copies == 0;
  std::optional<DotAxes> axes =
      into && mayChain && !target.sanitizes ? packedAxes(op, *into) : std::nullopt;
  // Panels for one element take longer than that; its terms are added in the same order.
  auto isOne = [&](StringAttr axis) { return likelyExtentOf(axis) == 1; };
  bool isChain = axes || (pinned && pinned->copies == 0);
  if (axes && !llvm::all_of(into->axes, isOne))
    emitPackedDot(op, *axes, into);
  else
    emitDotAsReduction(op, into, isChain);
  if (isChain)
    orders[op] = {-1, 0};
}

/// A carried value that may have to keep its old elements must not be changed
/// before that is known; but where the loop's conditions are on one operand,
/// such elements get no contribution anyway.
bool BodyLowering::mayWriteInto(DotOp op) {
  auto reads = [&](Value operand) {
    bool result = false;
    plan.forEachLeaf(operand,
                     [&](Value leaf) { result |= bufferOf(leaf) == bufferOf(op.getAcc()); });
    return result;
  };
  if (reads(op.getLhs()) || reads(op.getRhs()))
    return false;
  auto argument = dyn_cast<BlockArgument>(op.getAcc());
  auto loop = argument ? dyn_cast<ForOp>(argument.getOwner()->getParentOp()) : ForOp();
  if (!loop)
    return true;
  for (RestrictOp restrict : domains.restrictsOf(loop)) {
    auto covers = [&](Value operand) {
      return llvm::all_of(restrict.getDims(), [&](Value span) {
        return llvm::is_contained(axesOf(operand.getType()), axisOf(span));
      });
    };
    if (!covers(op.getLhs()) && !covers(op.getRhs()))
      return false;
  }
  return true;
}

void BodyLowering::emitDotAsReduction(DotOp op, Buffer *into, bool isChain) {
  Type element = getElementTypeOrSelf(op.getType());
  SmallVector<StringAttr> outer(axesOf(op.getType())), all(outer);
  all.push_back(op.getAxisAttr());
  auto operandOf = [&](Value value) {
    return toAccumulator(b, target, emit(value), getElementTypeOrSelf(value.getType()), element);
  };
  auto join = [&](Value x, Value y) {
    return emitCombine(b, target, CombineKind::add, element, x, y);
  };
  // Pairs outside are left out, not multiplied by zero: they may be Inf or NaN.
  auto step = [&](Value sum) {
    Value mask = b.both(domainMask(axesOf(op.getLhs().getType())),
                        domainMask(axesOf(op.getRhs().getType())));
    Value next = emitMultiplyAdd(b, target, operandOf(op.getLhs()), operandOf(op.getRhs()), sum);
    return b.select(mask, next, sum);
  };
  SmallVector<Value> pulled = {op.getLhs(), op.getRhs()};
  Value zero = emitConstant(b, b.getZeroAttr(element));
  Fold fold = simpleFold(zero, step, join, into);
  fold.isSum = !isChain && isa<FloatType>(element);
  if (isChain)
    fold.begin = [&] { return emit(op.getAcc()); };
  else
    fold.finish = [&](ValueRange total) { return join(emit(op.getAcc()), total[0]); };
  std::optional<FoldOrder> order = isChain ? FoldOrder{-1, 0} : pinnedOrder(op);
  Reduction reduction = reductionOf(op, all, op.getAxisAttr(), pulled, into, order);
  Values total = reductionNest(reduction, fold);
  setResult(op.getResult(), into, total.back());
}
