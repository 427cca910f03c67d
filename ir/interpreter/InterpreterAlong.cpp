//===- InterpreterAlong.cpp - scans, sorts, elements from elsewhere -------===//

#include "ir/dialect/AffineEval.h"
#include "ir/interpreter/InterpreterImpl.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::interpreter;

//===-- Scans -------------------------------------------------------------===//

/// state = combine(state, elements at `index` of the inputs), by the region.
LogicalResult Machine::combine(ScanOp op, ArrayRef<Tile> inputs, int64_t index,
                               SmallVectorImpl<Tile> &state) {
  Block &body = op.getCombine().front();
  unsigned count = op.getCount();
  for (unsigned n = 0; n < count; ++n) {
    values[body.getArgument(n)] = state[n];
    setScalar(body.getArgument(count + n), readUnsigned(inputs[n].number, inputs[n].at(index)),
              inputs[n].boundAt(index));
  }
  if (failed(runBlock(body)))
    return failure();
  state = tilesOf(op.getCombined());
  return success();
}

static void copyElement(const Tile &from, int64_t source, Tile &to, int64_t target) {
  std::memcpy(to.at(target), from.at(source), byteWidth(from.number));
  if (to.bounds)
    to.setBound(target, from.boundAt(source));
}

LogicalResult Machine::executeScan(ScanOp op) {
  unsigned count = op.getCount();
  SmallVector<Tile> inputs = tilesOf(op.getInputs()), inits = tilesOf(op.getInits());
  SmallVector<Tile> scanned(count), last(count);
  for (unsigned n = 0; n < count; ++n)
    if (failed(makeTile(op, op.getScanned()[n].getType(), scanned[n])) ||
        failed(makeTile(op, op.getLast()[n].getType(), last[n])) ||
        failed(checkDefined(op, inputs[n], scanned[n])) ||
        failed(checkDefined(op, inits[n], last[n])) ||
        failed(makeBounds(op, scanned[n], options.tracksErrors)) ||
        failed(makeBounds(op, last[n], options.tracksErrors)))
      return failure();
  const Tile &all = inputs[0];
  int64_t step = all.stridesAlong(op.getAxisAttr())[0];
  int64_t length = axes.at(op.getAxisAttr()).count;
  Extents strides = all.stridesAlong(last[0].axes);
  // One scan for each coordinate of the other axes. GPUs combine in another order.
  freeRegions += options.errorsOfGpu;
  LogicalResult result = last[0].forEach([&](int64_t at, ArrayRef<int64_t> position) {
    SmallVector<Tile> state(count);
    for (unsigned n = 0; n < count; ++n) {
      setScalar(op.getCombine().getArgument(n), readUnsigned(inits[n].number, inits[n].at(at)),
                inits[n].boundAt(at));
      state[n] = values.at(op.getCombine().getArgument(n));
    }
    for (int64_t k = 0; k < length; ++k) {
      int64_t lane = op.getReverse() ? length - 1 - k : k;
      int64_t index = offsetOf(position, strides) + lane * step;
      if (!scanned[0].contains(index))
        continue;
      if (failed(combine(op, inputs, index, state)))
        return failure();
      for (unsigned n = 0; n < count; ++n)
        copyElement(state[n], 0, scanned[n], index);
    }
    for (unsigned n = 0; n < count; ++n)
      copyElement(state[n], 0, last[n], at);
    return success();
  });
  for (unsigned n = 0; n < count; ++n) {
    settleBounds(scanned[n]);
    settleBounds(last[n]);
  }
  freeRegions -= options.errorsOfGpu;
  setTiles(op.getScanned(), scanned);
  setTiles(op.getLast(), last);
  return result;
}

//===-- Sorts -------------------------------------------------------------===//

/// True if x goes before y: NaN is greater than all numbers, and like itself.
static bool goesBefore(const Tile &tile, bool isUnsigned, bool descending, int64_t x, int64_t y) {
  if (descending)
    std::swap(x, y);
  if (isFloat(tile.number)) {
    double a = readFloat(tile.number, tile.at(x)), b = readFloat(tile.number, tile.at(y));
    return std::isnan(b) ? !std::isnan(a) : a < b;
  }
  if (isUnsigned)
    return readUnsigned(tile.number, tile.at(x)) < readUnsigned(tile.number, tile.at(y));
  return readSigned(tile.number, tile.at(x)) < readSigned(tile.number, tile.at(y));
}

/// Another execution has at this rank what is off by at most as much as the farthest of those that
/// may change places, and came from as far away as they did.
static std::pair<Bound, Bound> boundOfRank(const Tile &input, ArrayRef<int64_t> order, int64_t rank,
                                           int64_t step) {
  int64_t here = order[rank];
  double error = 0, moved = 0, own = input.boundAt(here).total();
  for (int direction : {-1, 1})
    for (int64_t n = rank + direction; n >= 0 && n < static_cast<int64_t>(order.size());
         n += direction) {
      double other = input.boundAt(order[n]).total();
      if (own + other == 0 ||
          !(distance(input.asDouble(here), input.asDouble(order[n])) <= own + other))
        break;
      error = std::max(error, other);
      moved = std::max(moved, std::fabs(double((order[n] - here) / step)));
    }
  return {ownBound(std::max(error, own)), ownBound(moved)};
}

LogicalResult Machine::executeSort(SortOp op) {
  const Tile &input = values.at(op.getInput());
  Tile ordered, coordinates;
  Box from;
  if (failed(makeTile(op, op.getValues().getType(), ordered)) ||
      failed(makeTile(op, op.getCoordinates().getType(), coordinates)) ||
      failed(makeBox(op, input.axes, from)) || failed(checkDefined(op, input, from)) ||
      failed(makeBounds(op, ordered, input.bounds != nullptr)) ||
      failed(makeBounds(op, coordinates, input.bounds != nullptr)))
    return failure();
  bool isSame = op.getRankAttr() == op.getAxisAttr();
  int64_t length = axes.at(op.getAxisAttr()).count, origin = axes.at(op.getAxisAttr()).origin;
  int64_t step = input.stridesAlong(op.getAxisAttr())[0];
  size_t place = llvm::find(ordered.axes, op.getRankAttr()) - ordered.axes.begin();
  // The input's strides by the results' axes; the rank is no place in the input.
  Extents strides = input.stridesAlong(ordered.axes);
  strides[place] = 0;
  std::vector<int64_t> order; // where the elements of one line stand, sorted
  int64_t line = -1;
  bool isUnsigned = op.getIsUnsigned(), descending = op.getDescending();
  auto sortLine = [&](int64_t first) {
    order.clear();
    for (int64_t k = 0; k < length; ++k)
      if (from.contains(first + k * step))
        order.push_back(first + k * step);
    std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
      return goesBefore(input, isUnsigned, descending, x, y);
    });
    line = first;
  };
  CombineKind missing = descending ? (isUnsigned ? CombineKind::umax : CombineKind::max)
                                   : (isUnsigned ? CombineKind::umin : CombineKind::min);
  (void)ordered.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    int64_t first = offsetOf(position, strides);
    if (line != first)
      sortLine(first);
    int64_t rank = position[place];
    if (isSame) { // among the coordinates that are there
      int64_t before = rank;
      rank = 0;
      for (int64_t k = 0; k < before; ++k)
        rank += from.contains(first + k * step);
    }
    if (rank < static_cast<int64_t>(order.size())) {
      std::memcpy(ordered.at(index), input.at(order[rank]), byteWidth(input.number));
      writeInteger(coordinates.number, coordinates.at(index),
                   origin + (order[rank] - first) / step);
      if (input.bounds) {
        auto [value, coordinate] = boundOfRank(input, order, rank, step);
        ordered.setBound(index, value);
        coordinates.setBound(index, coordinate);
      }
    } else {
      writeIdentity(missing, input.number, ordered.at(index));
      writeInteger(coordinates.number, coordinates.at(index), static_cast<uint64_t>(-1));
    }
    return success();
  });
  settleBounds(ordered);
  settleBounds(coordinates);
  values[op.getValues()] = std::move(ordered);
  values[op.getCoordinates()] = std::move(coordinates);
  return success();
}

//===-- Elements from elsewhere -------------------------------------------===//

LogicalResult Machine::executeTake(TakeOp op) {
  const Tile &input = values.at(op.getInput());
  Tile result;
  if (failed(makeTile(op, op.getType(), result)) || failed(checkExtents(op, input)) ||
      failed(makeBounds(op, result, input.bounds != nullptr)))
    return failure();
  SmallVector<int64_t> syms =
      llvm::map_to_vector(op.getSyms(), [&](Value s) { return integer(s); });
  SmallVector<size_t> places;
  SmallVector<int64_t> origins;
  for (Type span : op.getDims().getTypes()) {
    StringAttr name = cast<SpanType>(span).getName();
    places.push_back(llvm::find(result.axes, name) - result.axes.begin());
    origins.push_back(axes.at(name).origin);
  }
  Extents strides = input.stridesAlong(input.axes);
  (void)result.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    SmallVector<int64_t> coordinates;
    for (auto [place, origin] : llvm::zip(places, origins))
      coordinates.push_back(origin + position[place]);
    int64_t from = 0;
    bool isThere = true;
    for (auto [d, expr] : llvm::enumerate(op.getMap().getResults())) {
      int64_t lane = evaluateIndex(expr, coordinates, syms) - axes.at(input.axes[d]).origin;
      isThere = isThere && lane >= 0 && lane < input.extents[d];
      from += lane * strides[d];
    }
    if (isThere && input.contains(from))
      copyElement(input, from, result, index);
    return success(); // or zero, as tiles are made
  });
  // An element may stand in several places now.
  if (result.bounds)
    result.shareAlong(input.sharedAlong);
  values[op.getResult()] = std::move(result);
  return success();
}
