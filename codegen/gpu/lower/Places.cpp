//===- Places.cpp - coordinates of registers, and which are inside --------===//

#include "codegen/gpu/lower/Context.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

Value Places::numberOf(Part part) const {
  return part == Part::Lane ? ctx.lane : part == Part::Warp ? ctx.warp : ctx.blockRank;
}

//===-- Coordinates -------------------------------------------------------===//

Value Places::threadPlace(const Layout &layout, unsigned axis) {
  std::vector<int64_t> steps;
  for (Part part : {Part::Lane, Part::Warp, Part::Block}) {
    for (const Layout::Coords &step : layout.bases(part))
      steps.push_back(step[axis]);
    steps.push_back(-1);
  }
  Value &known = threadPlaces[steps];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(ctx.prologue);
  Type i32 = b.getI32Type();
  auto c = [&](int64_t value) { return b.integer(i32, value); };
  Value place = c(0);
  for (Part part : {Part::Lane, Part::Warp, Part::Block}) {
    Value number = numberOf(part);
    ArrayRef<Layout::Coords> bases = layout.bases(part);
    // A run of bits whose steps double is one field of the number, moved.
    for (size_t first = 0; first < bases.size();) {
      size_t end = first + 1;
      int64_t step = bases[first][axis];
      while (step && end < bases.size() && bases[end][axis] == step << (end - first))
        ++end;
      if (step) {
        int64_t mask = ((int64_t(1) << (end - first)) - 1) << first;
        Value field = b.fold<arith::AndIOp>(number, c(mask));
        if (llvm::isPowerOf2_64(step)) {
          int shift = static_cast<int>(llvm::Log2_64(step)) - static_cast<int>(first);
          field = shift >= 0 ? b.fold<arith::ShLIOp>(field, c(shift))
                             : b.fold<arith::ShRUIOp>(field, c(-shift));
        } else { // several bits of the place at once: a multiple without carry
          Value low = b.fold<arith::ShRUIOp>(field, c(first));
          field = c(0);
          for (size_t bit = first; bit < end; ++bit) {
            Value isSet =
                b.compare(CmpIPredicate::ne,
                          b.fold<arith::AndIOp>(low, c(int64_t(1) << (bit - first))), c(0));
            field = b.fold<arith::XOrIOp>(field, b.select(isSet, c(bases[bit][axis]), c(0)));
          }
        }
        place = b.fold<arith::XOrIOp>(place, field);
      }
      first = end;
    }
  }
  known = place;
  return place;
}

bool Places::isAdditive(const Layout &layout, unsigned axis) {
  int64_t ofThreads = 0, ofRegisters = 0;
  for (Part part : {Part::Lane, Part::Warp, Part::Block})
    for (const Layout::Coords &step : layout.bases(part))
      ofThreads |= step[axis];
  for (const Layout::Coords &step : layout.bases(Part::Register))
    ofRegisters |= step[axis];
  return (ofThreads & ofRegisters) == 0;
}

Value Places::localPlace(const Layout &layout, unsigned axis, int64_t reg) {
  Value place = threadPlace(layout, axis);
  Value constant = b.integer(b.getI32Type(), layout.ofRegister(reg)[axis]);
  return isAdditive(layout, axis) ? b.add(place, constant) : b.fold<arith::XOrIOp>(place, constant);
}

Index Places::coordinate(StringAttr axis, const Layout &layout, unsigned position, int64_t reg) {
  Value origin = ctx.ranges.lookup(axis).origin;
  auto wide = [&](Value place) { return b.fold<arith::ExtUIOp>(b.getI64Type(), place); };
  if (!isAdditive(layout, position))
    return {b.add(origin, wide(localPlace(layout, position, reg)))};
  return {b.add(origin, wide(threadPlace(layout, position))), layout.ofRegister(reg)[position]};
}

Value Places::materialize(Index index) {
  if (!index.base)
    return b.i64(index.constant);
  return index.constant ? b.add(index.base, b.i64(index.constant)) : index.base;
}

Index Places::evaluate(AffineExpr expr, ArrayRef<Index> dimValues, ArrayRef<Value> syms) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dimValues[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return {syms[symbol.getPosition()]};
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {Value(), constant.getValue()};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Index x = evaluate(binary.getLHS(), dimValues, syms);
  Index y = evaluate(binary.getRHS(), dimValues, syms);
  if (expr.getKind() == AffineExprKind::Add)
    return {x.base && y.base ? b.add(x.base, y.base)
            : x.base         ? x.base
                             : y.base,
            x.constant + y.constant};
  if (expr.getKind() == AffineExprKind::Mul && !y.base)
    return {x.base ? b.mul(x.base, b.i64(y.constant)) : Value(), x.constant * y.constant};
  Value left = materialize(x), right = materialize(y);
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return {b.mul(left, right)};
  case AffineExprKind::FloorDiv:
    return {b.floorDiv(left, right)};
  case AffineExprKind::Mod:
    return {b.floorMod(left, right)};
  case AffineExprKind::CeilDiv: {
    Value quotient = b.floorDiv(left, right), zero = b.i64(0);
    Value rest = b.sub(left, b.mul(quotient, right));
    Value more =
        b.both(b.compare(CmpIPredicate::ne, rest, zero), b.compare(CmpIPredicate::ne, right, zero));
    return {b.add(quotient, b.select(more, b.i64(1), zero))};
  }
  default:
    llvm_unreachable("a leaf is no operation");
  }
}

//===-- Masks -------------------------------------------------------------===//

Value Places::limitFor(StringAttr axis, const Layout &layout, unsigned position) {
  auto [lower, upper] = ctx.domains.boundsOf(axis.getValue());
  Range range = ctx.ranges.lookup(axis);
  int64_t covered = layout.extent(position);
  APInt low, high;
  bool isConstant =
      matchPattern(lower, m_ConstantInt(&low)) && matchPattern(upper, m_ConstantInt(&high));
  int64_t length = isConstant ? std::max<int64_t>(0, (high - low).getSExtValue()) : 0;
  if (ctx.domains.isBlock(axis.getValue())) {
    int64_t size = cast<SpanType>(ctx.domains.spanOf(axis.getValue()).getType()).getExtent();
    bool isWhole = isConstant
                       ? length % size == 0
                       : std::min(ctx.divisors.of(upper), ctx.divisors.of(lower)) % size == 0;
    if (isWhole && size == covered)
      return {};
  } else if (isConstant && length == covered) {
    return {};
  }
  Value most = b.i64(std::numeric_limits<int32_t>::max());
  return b.fold<arith::TruncIOp>(b.getI32Type(), b.minS(b.sub(range.end, range.origin), most));
}

CodeBuilder::Values Places::domainMask(Axes axes, const Layout &layout) {
  int64_t count = layout.numRegisters();
  Values mask(count);
  for (auto [position, axis] : llvm::enumerate(axes)) {
    Value limit = limitFor(axis, layout, position);
    if (!limit)
      continue;
    // The end doesn't fall between neighbours that begin at a multiple of what divides it.
    int64_t group = std::min(layout.contiguity(position), ctx.divisors.ofEnd(axis)), first = 0;
    for (int64_t r = 0; r < count; ++r) {
      first = r % group ? first : r;
      mask[r] = b.both(mask[r],
                       b.compare(CmpIPredicate::slt, localPlace(layout, position, first), limit));
    }
  }
  for (RestrictOp restrict : ctx.domains.restrictsOn(axes)) {
    IntegerSet set = restrict.getConstraint();
    SmallVector<Value> syms =
        llvm::map_to_vector(restrict.getSyms(), [&](Value sym) { return ctx.scalar(sym); });
    for (int64_t r = 0; r < count; ++r) {
      SmallVector<Index> at = llvm::map_to_vector(restrict.getDims(), [&](Value span) {
        StringAttr axis = axisOf(span);
        return coordinate(axis, layout, llvm::find(axes, axis) - axes.begin(), r);
      });
      Value expr = materialize(evaluate(set.getConstraint(0), at, syms));
      Value holds = b.compare(set.isEq(0) ? CmpIPredicate::eq : CmpIPredicate::sge, expr, b.i64(0));
      if (restrict.getUnless())
        holds = b.either(holds, ctx.scalar(restrict.getUnless()));
      mask[r] = b.both(mask[r], holds);
    }
  }
  return mask;
}

Value Places::isFirstCopy(const Layout &layout) {
  Value first = isFirstThread(layout);
  if (ctx.blocks > 1 && layout.freeBits(Part::Block))
    first = b.both(first, b.compare(CmpIPredicate::eq,
                                    b.fold<arith::AndIOp>(
                                        ctx.blockRank,
                                        b.integer(b.getI32Type(), layout.freeBits(Part::Block))),
                                    b.integer(b.getI32Type(), 0)));
  return first;
}

Value Places::isFirstThread(const Layout &layout) {
  Value first;
  for (Part part : {Part::Lane, Part::Warp}) {
    unsigned free = layout.freeBits(part);
    if (!free)
      continue;
    Value bits = b.fold<arith::AndIOp>(numberOf(part), b.integer(b.getI32Type(), free));
    first = b.both(first, b.compare(CmpIPredicate::eq, bits, b.integer(b.getI32Type(), 0)));
  }
  return first;
}

Index Places::linearPlace(const Layout &layout, int64_t reg, ArrayRef<int64_t> strides) {
  Type i32 = b.getI32Type();
  Index place;
  Layout::Coords constant = layout.ofRegister(reg);
  auto add = [&](Value term) { place.base = place.base ? b.add(place.base, term) : term; };
  for (unsigned axis = 0; axis < layout.rank(); ++axis) {
    bool isSum = isAdditive(layout, axis);
    Value local = isSum ? threadPlace(layout, axis) : localPlace(layout, axis, reg);
    add(b.mul(local, b.integer(i32, strides[axis])));
    if (isSum)
      place.constant += constant[axis] * strides[axis];
  }
  return place;
}
