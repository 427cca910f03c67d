#include "tests/fuzz/kernels/Elementwise.h"
#include "tests/fuzz/kernels/EvaluatorImpl.h"

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;
using namespace tile::fuzz::evaluator;

void Machine::constant(arith::ConstantOp op, Tile &tile) {
  auto rangeOf = [&](Attribute attribute) {
    if (auto number = dyn_cast<FloatAttr>(attribute)) {
      APFloat value = number.getValue();
      bool losesInfo;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
      return NumberSet::ofFloat(tile.type, value.convertToDouble());
    }
    return NumberSet::ofInt(
        tile.type, wrap(tile.type, cast<IntegerAttr>(attribute).getValue().getZExtValue()));
  };
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements || elements.isSplat()) {
    tile.elements.assign(tile.elements.size(),
                         rangeOf(elements ? elements.getSplatValue<Attribute>() : op.getValue()));
    return;
  }
  size_t index = 0;
  for (Walk walk(tile.extents); !walk.isDone; walk.next(), ++index) {
    SmallVector<uint64_t> position(walk.position.begin(), walk.position.end());
    tile.elements[index] = rangeOf(elements.getValues<Attribute>()[position]);
  }
}

/// The number as a sum of one term.
static NumberSet asSum(const NumberSet &number) {
  SumOf sum(number.type);
  sum.add(number);
  return sum.result();
}

void Machine::elementwise(Operation *op) {
  for (OpResult value : op->getResults()) {
    if (!isTileValue(value.getType()) || op->getNumRegions() != 0)
      return stop(op, "an unknown op");
    Tile tile = newTile(value.getType());
    size_t index = 0;
    SmallVector<NumberSet> operands;
    for (Walk walk(tile.extents); !walk.isDone && !hasStopped(); walk.next(), ++index) {
      if (isa<CoordsOp>(op)) {
        int64_t origin = axes[tile.axes[0].getValue()].origin;
        tile.elements[index] = NumberSet::ofInt(tile.type, origin + walk.position[0]);
        continue;
      }
      operands.clear();
      for (Value operand : op->getOperands())
        operands.push_back(at(operand, tile.axes, walk.position));
      // The sum so far was not rounded, or was, as all terms before it.
      if (auto step = sumSteps.find(op); step != sumSteps.end())
        operands[step->second] = asSum(operands[step->second]);
      std::optional<NumberSet> result =
          isa<BroadcastOp>(op) ? operands[0]
                               : fuzz::evaluate(op, operands, tile.type, value.getResultNumber());
      if (!result)
        return stop(op, "an unknown op");
      tile.elements[index] = *result;
    }
    tiles[value] = std::move(tile);
  }
}

void Machine::reduce(ReduceOp op) {
  const Tile input = tiles[op.getInput()];
  Tile tile = newTile(op.getType());
  std::vector<SumOf> sums(tile.elements.size(), SumOf(tile.type));
  std::vector<ProductOf> products(tile.elements.size(), ProductOf(tile.type));
  tile.elements.assign(tile.elements.size(), identityOf(op.getKind(), tile.type));
  bool isFloat = runtime::isFloat(tile.type);
  CombineKind kind = op.getKind();
  size_t index = 0;
  for (Walk walk(input.extents); !walk.isDone; walk.next(), ++index) {
    if (!isInside(input.axes, walk.position))
      continue;
    int64_t into = offset(tile, input.axes, walk.position);
    const NumberSet &term = input.elements[index];
    NumberSet &sum = tile.elements[into];
    if (isFloat && kind == CombineKind::add)
      sums[into].add(term);
    else if (isFloat && kind == CombineKind::mul)
      products[into].multiply(term);
    else if (isFloat)
      sum = extreme(kind, sum, term);
    else
      sum = sum.isKnown && term.isKnown
                ? NumberSet::ofInt(tile.type,
                                   combineIntegers(kind, tile.type, sum.integer, term.integer))
                : NumberSet::any(tile.type);
  }
  for (size_t into = 0; isFloat && into < tile.elements.size(); ++into)
    if (kind == CombineKind::add)
      tile.elements[into] = sums[into].result();
    else if (kind == CombineKind::mul)
      tile.elements[into] = products[into].result();
  tiles[op] = std::move(tile);
}

void Machine::argReduce(ArgReduceOp op) {
  const Tile input = tiles[op.getInput()];
  Tile tile = newTile(op.getType());
  std::vector<std::optional<NumberSet>> best(tile.elements.size());
  for (NumberSet &at : tile.elements)
    at = NumberSet::ofInt(tile.type, -1);
  size_t along = llvm::find(input.axes, op.getAxisAttr()) - input.axes.begin();
  int64_t origin = axes[op.getAxis()].origin;
  CombineKind kind = op.getKind();
  size_t index = 0;
  // Row-major order visits each row in order of its coordinates.
  for (Walk walk(input.extents); !walk.isDone; walk.next(), ++index) {
    if (!isInside(input.axes, walk.position))
      continue;
    int64_t into = offset(tile, input.axes, walk.position);
    const NumberSet &term = input.elements[index];
    NumberSet here = NumberSet::ofInt(tile.type, origin + walk.position[along]);
    if (!term.isPoint() && !(term.isFloat() && term.isNaN())) {
      best[into] = term;
      tile.elements[into] = NumberSet::any(tile.type); // which is greatest is not certain
      continue;
    }
    bool isBetter = !best[into];
    if (!isBetter && term.isFloat())
      isBetter = !best[into]->isNaN() &&
                 (term.isNaN() ||
                  (kind == CombineKind::max ? term.lo > best[into]->lo : term.lo < best[into]->lo));
    else if (!isBetter)
      isBetter =
          term.integer != best[into]->integer &&
          combineIntegers(kind, term.type, term.integer, best[into]->integer) == term.integer;
    if (!tile.elements[into].isKnown || !isBetter)
      continue;
    best[into] = term;
    tile.elements[into] = here;
  }
  tiles[op] = std::move(tile);
}

void Machine::countDomain(CountOp op) {
  Tile tile = newTile(op.getType());
  SmallVector<StringAttr> names(tile.axes);
  SmallVector<int64_t> extents(tile.extents);
  for (Type span : op.getSpans().getTypes()) {
    names.push_back(cast<SpanType>(span).getName());
    extents.push_back(axes[names.back().getValue()].count);
  }
  for (Walk walk(extents); !walk.isDone; walk.next())
    if (isInside(names, walk.position))
      ++tile.elements[offset(tile, names, walk.position)].integer;
  tiles[op] = std::move(tile);
}

void Machine::dot(DotOp op) {
  Tile tile = newTile(op.getType());
  Names left = axesOf(op.getLhs().getType()), right = axesOf(op.getRhs().getType());
  SmallVector<StringAttr> names(tile.axes);
  names.push_back(op.getAxisAttr());
  int64_t length = axes[op.getAxis()].count;
  auto inside = [&](Names axesOfOperand, ArrayRef<int64_t> position) {
    SmallVector<int64_t> at;
    for (StringAttr axis : axesOfOperand)
      at.push_back(position[llvm::find(names, axis) - names.begin()]);
    return isInside(axesOfOperand, at);
  };
  size_t index = 0;
  for (Walk walk(tile.extents); !walk.isDone; walk.next(), ++index) {
    SmallVector<int64_t> position(walk.position);
    position.push_back(0);
    SumOf sum(tile.type);
    const NumberSet &start = at(op.getAcc(), tile.axes, walk.position);
    sum.add(start);
    uint64_t total = static_cast<uint64_t>(start.integer);
    bool isKnown = start.isKnown;
    for (int64_t k = 0; k < length; ++k) {
      position.back() = k;
      if (!inside(left, position) || !inside(right, position))
        continue;
      const NumberSet &x = at(op.getLhs(), names, position), &y = at(op.getRhs(), names, position);
      sum.addProduct(x, y);
      isKnown &= x.isKnown && y.isKnown;
      total += static_cast<uint64_t>(x.integer) * static_cast<uint64_t>(y.integer);
    }
    if (runtime::isFloat(tile.type))
      tile.elements[index] = sum.result();
    else
      tile.elements[index] =
          isKnown ? NumberSet::ofInt(tile.type, wrap(tile.type, total)) : NumberSet::any(tile.type);
  }
  tiles[op] = std::move(tile);
}
