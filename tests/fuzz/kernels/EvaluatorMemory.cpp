#include "tests/fuzz/kernels/Elementwise.h"
#include "tests/fuzz/kernels/EvaluatorImpl.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;
using namespace tile::fuzz::evaluator;

Machine::Place Machine::place(AffineMap map, ValueRange mapDims, ValueRange mapSyms, Names names,
                              ArrayRef<int64_t> position) {
  Place result;
  SmallVector<int64_t> dimValues, symValues;
  auto take = [&](unsigned number, bool isDim, const NumberSet &range) {
    bool isUsed = llvm::any_of(map.getResults(), [&](AffineExpr expr) {
      return isDim ? expr.isFunctionOfDim(number) : expr.isFunctionOfSymbol(number);
    });
    result.isKnown &= range.isKnown || !isUsed;
    (isDim ? dimValues : symValues).push_back(range.integer);
  };
  for (auto [number, value] : llvm::enumerate(mapDims)) {
    if (auto span = dyn_cast<SpanType>(value.getType())) {
      auto found = llvm::find(names, span.getName());
      int64_t lane = found == names.end() ? 0 : position[found - names.begin()];
      dimValues.push_back(axes[span.getName().getValue()].origin + lane);
    } else {
      take(number, true, at(value, names, position));
    }
  }
  for (auto [number, value] : llvm::enumerate(mapSyms))
    take(number, false, at(value, {}, {}));
  for (AffineExpr expr : map.getResults())
    result.at.push_back(evaluate(expr, dimValues, symValues));
  return result;
}

std::optional<int64_t> Machine::elementOf(const Memory &memory, ArrayRef<int64_t> at) {
  int64_t element = 0;
  for (auto [coordinate, extent] : llvm::zip(at, memory.shape)) {
    if (coordinate < 0 || coordinate >= extent)
      return std::nullopt;
    element = element * extent + coordinate;
  }
  return element;
}

void Machine::load(LoadOp op) {
  Memory &memory = memories[op.getSource()];
  Tile tile = newTile(op.getType());
  size_t index = 0;
  for (Walk walk(tile.extents); !walk.isDone && !hasStopped(); walk.next(), ++index) {
    if (!isInside(tile.axes, walk.position))
      continue;
    Place place = this->place(op.getMap(), op.getDims(), op.getSyms(), tile.axes, walk.position);
    if (!place.isKnown) {
      tile.elements[index] = NumberSet::any(tile.type);
      continue;
    }
    std::optional<int64_t> element = elementOf(memory, place.at);
    if (!element && op.getBounds() == BoundsMode::clamp) {
      if (memory.elements.empty())
        continue; // zero
      for (auto [coordinate, extent] : llvm::zip(place.at, memory.shape))
        coordinate = std::clamp<int64_t>(coordinate, 0, extent - 1);
      element = elementOf(memory, place.at);
    }
    if (element)
      tile.elements[index] = memory.elements[*element];
    else if (op.getBounds() == BoundsMode::pad)
      tile.elements[index] = at(op.getPad(), {}, {});
    else
      stop(op, "reads outside a tensor");
  }
  tiles[op] = std::move(tile);
}

/// True where an index is or may be data: an update outside is dropped then.
bool Machine::isData(AffineMap map, ValueRange mapDims, ValueRange mapSyms, unsigned dimension) {
  AffineExpr expr = map.getResult(dimension);
  for (auto [number, value] : llvm::enumerate(mapDims))
    if (!isa<SpanType>(value.getType()) && expr.isFunctionOfDim(number))
      return true;
  for (auto [number, value] : llvm::enumerate(mapSyms))
    if (expr.isFunctionOfSymbol(number))
      return true;
  return false;
}

template <typename OpT>
void Machine::write(OpT op) {
  Memory &memory = memories[op.getTarget()];
  SmallVector<StringAttr> names(mapAxes(op.getMap(), op.getDims()).names);
  SmallVector<int64_t> extents;
  for (StringAttr name : names)
    extents.push_back(axes[name.getValue()].count);
  for (Walk walk(extents); !walk.isDone && !hasStopped(); walk.next()) {
    count(1, op);
    if (!isInside(names, walk.position))
      continue;
    Place place = this->place(op.getMap(), op.getDims(), op.getSyms(), names, walk.position);
    if (!place.isKnown)
      return stop(op, "an index that is not known", /*isUndecided=*/true);
    std::optional<int64_t> element = elementOf(memory, place.at);
    const NumberSet &value = at(op.getValue(), names, walk.position);
    if constexpr (std::is_same_v<OpT, UpdateOp>) {
      if (element)
        combine(memory, *element, value);
      for (auto [d, coordinate] : llvm::enumerate(place.at))
        if ((coordinate < 0 || coordinate >= memory.shape[d]) &&
            !isData(op.getMap(), op.getDims(), op.getSyms(), d))
          stop(op, "updates outside a tensor");
    } else {
      if (!element && op.getDrops())
        continue;
      if (!element || memory.isWritten[*element])
        return stop(op, element ? "stores an element twice" : "stores outside a tensor");
      memory.isWritten[*element] = true;
      memory.elements[*element] = value;
    }
  }
}

void Machine::combine(Memory &memory, int64_t element, const NumberSet &value) {
  NumberSet &sum = memory.elements[element];
  if (!runtime::isFloat(memory.type)) {
    sum = sum.isKnown && value.isKnown
              ? NumberSet::ofInt(sum.type,
                                 combineIntegers(memory.kind, sum.type, sum.integer, value.integer))
              : NumberSet::any(sum.type);
  } else if (memory.kind == CombineKind::add) {
    memory.sums[element].add(value);
  } else if (memory.kind == CombineKind::mul) {
    memory.products[element].multiply(value);
  } else {
    sum = extreme(memory.kind, sum, value);
  }
}

static std::optional<CombineKind> combinationOf(AtomicKind kind) {
  switch (kind) {
  case AtomicKind::add:
    return CombineKind::add;
  case AtomicKind::max:
    return CombineKind::max;
  case AtomicKind::min:
    return CombineKind::min;
  case AtomicKind::umax:
    return CombineKind::umax;
  case AtomicKind::umin:
    return CombineKind::umin;
  case AtomicKind::andi:
    return CombineKind::andi;
  case AtomicKind::ori:
    return CombineKind::ori;
  case AtomicKind::xori:
    return CombineKind::xori;
  case AtomicKind::exchange:
  case AtomicKind::cas:
    return std::nullopt;
  }
  llvm_unreachable("covered");
}

/// What doesn't depend on the order of programs; what was there before does, and is any number.
void Machine::atomic(AtomicOp op) {
  Memory &memory = memories[op.getTarget()];
  std::optional<CombineKind> kind = combinationOf(op.getKind());
  bool isFloat = runtime::isFloat(memory.type);
  if (!kind || (isFloat && kind != CombineKind::max && kind != CombineKind::min))
    return stop(op, "a result that depends on the order of programs", /*isUndecided=*/true);
  Tile tile = newTile(op.getType());
  for (NumberSet &old : tile.elements)
    old = NumberSet::any(tile.type);
  SmallVector<StringAttr> names(op.getAxisList().names);
  for (Walk walk(tile.extents); !walk.isDone && !hasStopped(); walk.next()) {
    if (!isInside(names, walk.position))
      continue;
    Place place = this->place(op.getMap(), op.getDims(), op.getSyms(), names, walk.position);
    if (!place.isKnown)
      return stop(op, "an index that is not known", /*isUndecided=*/true);
    std::optional<int64_t> element = elementOf(memory, place.at);
    if (!element && !op.getDrops())
      return stop(op, "an atomic operation outside a tensor");
    if (!element)
      continue;
    NumberSet &number = memory.elements[*element];
    const NumberSet &value = at(op.getValue(), names, walk.position);
    if (isFloat)
      number = extreme(*kind, number, value);
    else
      number = number.isKnown && value.isKnown
                   ? NumberSet::ofInt(memory.type, combineIntegers(*kind, memory.type,
                                                                   number.integer, value.integer))
                   : NumberSet::any(memory.type);
  }
  tiles[op] = std::move(tile);
}

void Machine::finish() {
  for (auto [n, parameter] : llvm::enumerate(kernel.getArguments())) {
    auto found = memories.find(parameter);
    if (found == memories.end() || found->second.mode == ParamMode::In)
      continue;
    Memory &memory = found->second;
    bool isPartly = kernel.isGrid() && memory.mode == ParamMode::InOut;
    if (memory.mode != ParamMode::Reduce && !isPartly && llvm::is_contained(memory.isWritten, 0))
      return stop(kernel, "an element is never stored");
    for (auto [element, range] : llvm::enumerate(memory.elements)) {
      if (!range.isFloat() || memory.mode != ParamMode::Reduce)
        continue;
      if (memory.kind == CombineKind::add)
        range = memory.sums[element].result();
      else if (memory.kind == CombineKind::mul)
        range = memory.products[element].result();
      bool isRounded = !range.isNaN() && range.type != memory.type;
      range.type = memory.type;
      if (!isRounded)
        continue;
      range.lo = roundTo(memory.type, range.lo);
      range.hi = roundTo(memory.type, range.hi);
      if (std::isnan(range.lo) || std::isnan(range.hi)) // f8e4m3 has no infinities
        range = NumberSet::any(memory.type);
    }
    result.outputs[n] = std::move(memory.elements);
  }
}

template void Machine::write(StoreOp op);
template void Machine::write(UpdateOp op);
