#include "tests/fuzz/kernels/Elementwise.h"
#include "tests/fuzz/kernels/EvaluatorImpl.h"

#include <algorithm>

using namespace mlir;
using namespace tile;
using namespace tile::fuzz;
using namespace tile::fuzz::evaluator;

/// The extents of a tile with a single coordinate on one axis: a walk over its lines.
static SmallVector<int64_t> linesOf(const Tile &tile, size_t along) {
  SmallVector<int64_t> extents(tile.extents);
  extents[along] = 1;
  return extents;
}

//===-- Scans -------------------------------------------------------------===//

/// The state after an element.
SmallVector<NumberSet> Machine::combine(ScanOp op, ArrayRef<NumberSet> state,
                                        ArrayRef<NumberSet> element) {
  Block &body = op.getCombine().front();
  for (auto [n, number] : llvm::enumerate(state)) {
    set(body.getArgument(n), number);
    set(body.getArgument(state.size() + n), element[n]);
  }
  for (Operation &inner : body.without_terminator())
    execute(&inner);
  SmallVector<NumberSet> result;
  for (Value value : op.getCombined()) {
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      execute(constant);
    result.push_back(at(value, {}, {}));
  }
  return result;
}

/// Strictly one element after the other, as the language says of interpreter and CPU.
void Machine::scan(ScanOp op) {
  unsigned count = op.getCount();
  SmallVector<Tile> inputs = copy(op.getInputs()), scanned, last;
  for (unsigned n = 0; n < count; ++n) {
    scanned.push_back(newTile(op.getScanned()[n].getType()));
    last.push_back(newTile(op.getLast()[n].getType()));
  }
  const Tile &all = inputs[0];
  size_t along = llvm::find(all.axes, op.getAxisAttr()) - all.axes.begin();
  int64_t length = all.extents[along];
  SmallVector<int64_t> lines = linesOf(all, along);
  for (Walk walk(lines); !walk.isDone && !hasStopped(); walk.next()) {
    SmallVector<int64_t> position(walk.position);
    SmallVector<NumberSet> state, element(count);
    for (Value init : op.getInits())
      state.push_back(at(init, all.axes, position));
    for (int64_t n = 0; n < length; ++n) {
      position[along] = op.getReverse() ? length - 1 - n : n;
      if (!isInside(all.axes, position))
        continue;
      for (unsigned part = 0; part < count; ++part)
        element[part] = inputs[part].elements[offset(inputs[part], all.axes, position)];
      state = combine(op, state, element);
      for (unsigned part = 0; part < count; ++part)
        scanned[part].elements[offset(scanned[part], all.axes, position)] = state[part];
    }
    for (unsigned part = 0; part < count; ++part)
      last[part].elements[offset(last[part], all.axes, position)] = state[part];
  }
  assign(op.getScanned(), scanned);
  assign(op.getLast(), last);
}

//===-- Orders ------------------------------------------------------------===//

namespace {
struct Ranked {
  NumberSet value;
  int64_t coordinate;
};
} // namespace

/// NaN is above all numbers; equal are zeros of both signs, and NaNs.
static bool isBelow(const NumberSet &a, const NumberSet &b, bool isUnsigned) {
  if (a.isFloat())
    return !a.isNaN() && (b.isNaN() || a.lo < b.lo);
  // Sign-extended numbers are in their unsigned order, too.
  return isUnsigned ? uint64_t(a.integer) < uint64_t(b.integer) : a.integer < b.integer;
}

/// The elements of one line in order; none if which is greater isn't known.
static std::optional<std::vector<Ranked>> ranked(std::vector<Ranked> line, SortOp op) {
  for (const Ranked &element : line)
    if (!element.value.isPoint() && !(element.value.isFloat() && element.value.isNaN()))
      return std::nullopt;
  bool isUnsigned = op.getIsUnsigned();
  std::stable_sort(line.begin(), line.end(), [&](const Ranked &a, const Ranked &b) {
    return op.getDescending() ? isBelow(b.value, a.value, isUnsigned)
                              : isBelow(a.value, b.value, isUnsigned);
  });
  return line;
}

void Machine::sort(SortOp op) {
  const Tile input = tiles[op.getInput()];
  Tile values = newTile(op.getValues().getType());
  Tile coordinates = newTile(op.getCoordinates().getType());
  bool keepsAxis = op.getAxis() == op.getRank();
  size_t along = llvm::find(input.axes, op.getAxisAttr()) - input.axes.begin();
  int64_t origin = axes[op.getAxis()].origin;
  // What stands where there are too few elements: what would come last.
  CombineKind kind = op.getDescending()
                         ? (op.getIsUnsigned() ? CombineKind::umax : CombineKind::max)
                         : (op.getIsUnsigned() ? CombineKind::umin : CombineKind::min);
  const Ranked missing{identityOf(kind, values.type), -1};
  SmallVector<StringAttr> names(input.axes);
  names[along] = op.getRankAttr();
  SmallVector<int64_t> lines = linesOf(input, along);
  for (Walk walk(lines); !walk.isDone; walk.next()) {
    SmallVector<int64_t> position(walk.position), places;
    std::vector<Ranked> line;
    for (int64_t n = 0; n < input.extents[along]; ++n) {
      position[along] = n;
      if (!isInside(input.axes, position))
        continue;
      places.push_back(n);
      line.push_back({input.elements[offset(input, input.axes, position)], origin + n});
    }
    auto sorted = ranked(line, op);
    if (!keepsAxis) {
      places.resize(axes[op.getRank()].count);
      for (auto [n, place] : llvm::enumerate(places))
        place = static_cast<int64_t>(n);
    }
    for (auto [n, place] : llvm::enumerate(places)) {
      position[along] = place;
      Ranked at = !sorted ? Ranked{NumberSet::any(values.type), 0}
                          : (n < sorted->size() ? (*sorted)[n] : missing);
      values.elements[offset(values, names, position)] = at.value;
      coordinates.elements[offset(coordinates, names, position)] =
          sorted ? NumberSet::ofInt(coordinates.type, at.coordinate)
                 : NumberSet::any(coordinates.type);
    }
  }
  tiles[op.getValues()] = std::move(values);
  tiles[op.getCoordinates()] = std::move(coordinates);
}

//===-- Shapes ------------------------------------------------------------===//

void Machine::take(TakeOp op) {
  const Tile input = tiles[op.getInput()];
  Tile tile = newTile(op.getType());
  size_t index = 0;
  for (Walk walk(tile.extents); !walk.isDone && !hasStopped(); walk.next(), ++index) {
    Place place = this->place(op.getMap(), op.getDims(), op.getSyms(), tile.axes, walk.position);
    if (!place.isKnown)
      return stop(op, "an index that is not known", /*isUndecided=*/true);
    bool isThere = true;
    int64_t element = 0;
    for (auto [d, axis] : llvm::enumerate(input.axes)) {
      int64_t lane = place.at[d] - axes[axis.getValue()].origin;
      isThere &= lane >= 0 && lane < input.extents[d];
      element = element * input.extents[d] + lane;
    }
    if (isThere)
      tile.elements[index] = input.elements[element];
  }
  tiles[op] = std::move(tile);
}
