//===- ComputedOperand.cpp - an operand that is made in registers ---------===//

#include "codegen/gpu/schedule/ComputedOperand.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/loops/ValueFacts.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

/// Whether a load's elements come with an iteration, which may be the last: the rest is there
/// whole.
static bool goesAlong(LoadOp load, ForOp loop) {
  return llvm::is_contained(load.getDims(), loop.getSpan());
}

ComputedOperand::ComputedOperand(const Product &product)
    : product(product), loc(product.rows.desc.value.getLoc()) {
  // Copies bring zeros from beyond the end, and loads whose places are within bounds have zeros
  // there, too (loadAgain).
  isOpen = !isFiniteOfZeros(product.rows.desc.value, [&](LoadOp load) {
    return isBox(load) || (load.getBounds() == BoundsMode::exact && goesAlong(load, product.loop));
  });
}

bool ComputedOperand::isBox(LoadOp load) const {
  return llvm::any_of(product.rows.boxes, [&](const ProductBox &box) { return box.load == load; });
}

Type ComputedOperand::inOrder(Type type) const {
  ArrayRef<StringAttr> axes = axesOf(type);
  if (axes.size() != 2 || axes[0] == product.axes[0])
    return type;
  auto tile = cast<RankedTensorType>(type);
  SmallVector<StringAttr> names = {axes[1], axes[0]};
  AxisList turned{names, {tile.getDimSize(1), tile.getDimSize(0)}};
  return withLayout(turned.tileOf(tile.getElementType()), reordered(layoutOf(type), axes, names));
}

Value ComputedOperand::firstColumn() {
  Value depth = arith::ConstantIntOp::create(*b, loc, product.block().depth, 64);
  return arith::MulIOp::create(*b, loc, number, depth);
}

/// Before the programs, as all that they share is.
Value ComputedOperand::makeAxis() {
  OpBuilder::InsertionGuard guard(*b);
  ForOp loop = product.loop;
  b->setInsertionPoint(loop->getParentOfType<ParallelOp>());
  Value zero = arith::ConstantIntOp::create(*b, loc, 0, 64);
  Value depth = arith::ConstantIntOp::create(*b, loc, product.block().depth, 64);
  return AxisOp::create(*b, loc, loop.getSpan().getType(), zero, depth);
}

Value ComputedOperand::coordinates(Type type) {
  Value inside = CoordsOp::create(*b, loc, type, axis);
  Value first = BroadcastOp::create(*b, loc, type, firstColumn());
  return arith::AddIOp::create(*b, loc, inside, first);
}

/// A load of an iteration's own elements: those beyond the end of what is contracted aren't there.
Value ComputedOperand::loadAgain(LoadOp load) {
  ForOp loop = product.loop;
  AffineMap map = load.getMap();
  SmallVector<Value> dims, symbols;
  SmallVector<AffineExpr> places;
  bool isAlong = false;
  for (auto [n, dim] : llvm::enumerate(load.getDims())) {
    bool isContracted = dim == loop.getSpan();
    AffineExpr place = b->getAffineDimExpr(n);
    if (isContracted)
      place = place + b->getAffineSymbolExpr(map.getNumSymbols());
    isAlong |= isContracted;
    places.push_back(place);
    dims.push_back(isContracted ? axis : again(dim));
  }
  for (Value symbol : load.getSyms())
    symbols.push_back(again(symbol));
  Value pad = load.getPad() ? again(load.getPad()) : Value();
  BoundsMode bounds = load.getBounds();
  if (isAlong) {
    map = map.replaceDimsAndSymbols(places, {}, map.getNumDims(), map.getNumSymbols() + 1);
    symbols.push_back(firstColumn());
    if (bounds == BoundsMode::exact && mayEnd) {
      bounds = BoundsMode::pad;
      Type element = getElementTypeOrSelf(load.getType());
      pad = arith::ConstantOp::create(*b, loc, b->getZeroAttr(element));
    }
  }
  return LoadOp::create(*b, load.getLoc(), load.getType(), load.getSource(), map, dims, symbols,
                        bounds, pad);
}

Value ComputedOperand::copy(Operation *op) {
  for (Value operand : op->getOperands())
    made.map(operand, again(operand));
  Operation *copied = b->clone(*op, made);
  for (Value result : copied->getResults())
    result.setType(inOrder(result.getType()));
  if (auto constant = dyn_cast<arith::ConstantOp>(copied))
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
      constant.setValueAttr(elements.reshape(cast<ShapedType>(constant.getType())));
  return copied->getResult(0);
}

Value ComputedOperand::again(Value value) {
  if (Value known = made.lookupOrNull(value))
    return known;
  ForOp loop = product.loop;
  Operation *op = value.getDefiningOp();
  bool isInside = op && loop->isProperAncestor(op);
  if (!op || (!isInside && inOrder(value.getType()) == value.getType()))
    return value;
  Value result;
  if (auto load = dyn_cast<LoadOp>(op))
    result = loadAgain(load);
  else if (auto coords = dyn_cast<CoordsOp>(op); coords && coords.getSpan() == loop.getSpan())
    result = coordinates(coords.getType());
  else
    result = copy(op);
  made.map(value, result);
  return result;
}

/// Zeros where what is contracted has ended.
Value ComputedOperand::cutOff(Value operand) {
  ForOp loop = product.loop;
  auto tile = cast<RankedTensorType>(operand.getType());
  ArrayRef<StringAttr> axes = axesOf(tile);
  AxisList along{{axes[1]}, {tile.getDimSize(1)}};
  Layout layout = layoutOf(tile);
  auto columns = [&](Type element) {
    return withLayout(along.tileOf(element), reordered(layout, axes, along.names));
  };
  Value at = coordinates(columns(b->getI64Type()));
  Value end = BroadcastOp::create(*b, loc, at.getType(), loop.getUpper());
  Value isThere = arith::CmpIOp::create(*b, loc, arith::CmpIPredicate::slt, at, end);
  AxisList all{SmallVector<StringAttr>(axes), SmallVector<int64_t>(tile.getShape())};
  Type conditions = withLayout(all.tileOf(b->getI1Type()), layout);
  isThere = BroadcastOp::create(*b, loc, conditions, isThere);
  Value none = arith::ConstantOp::create(*b, loc, b->getZeroAttr(tile.getElementType()));
  none = BroadcastOp::create(*b, loc, tile, none);
  return arith::SelectOp::create(*b, loc, isThere, operand, none);
}

bool ComputedOperand::dependsOnEnd() const {
  ForOp loop = product.loop;
  APInt length;
  if (matchPattern(loop.getUpper(), m_ConstantInt(&length)) &&
      length.getSExtValue() % product.block().depth == 0)
    return false;
  return isOpen || llvm::any_of(product.rows.desc.loads, [&](LoadOp load) {
           return !isBox(load) && load.getBounds() == BoundsMode::exact && goesAlong(load, loop);
         });
}

void ComputedOperand::begin(OpBuilder &builder, Value ofNumber, bool itMayEnd) {
  b = &builder;
  number = ofNumber, mayEnd = itMayEnd;
  made = IRMapping();
  if (!axis)
    axis = makeAxis();
  for (LoadOp load : product.rows.desc.loads)
    if (!isBox(load))
      again(load.getResult());
}

Value ComputedOperand::make(ValueRange parts) {
  for (auto [box, part] : llvm::zip(product.rows.boxes, parts)) {
    LoadOp load = box.load;
    made.map(load.getResult(),
             ReadOp::create(*b, load.getLoc(), inOrder(load.getType()), part, box.isByColumns));
  }
  Value operand = again(product.rows.desc.value);
  return isOpen && mayEnd ? cutOff(operand) : operand;
}
