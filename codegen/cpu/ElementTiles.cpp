//===- ElementTiles.cpp - tile sizes of kernels without products ----------===//

#include "codegen/cpu/Plan.h"
#include "codegen/cpu/TileChooser.h"

#include <cmath>

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

/// A program that takes several rows takes so many elements of each at a time. Cores read ahead,
/// behind a piece in vain, is what is assumed: rows of 1023, all of them in pieces of 512, took 1.3
/// to 1.6 of the time (two cores of a Xeon).
constexpr int64_t longPiece = 4096;

/// A program takes so many rows at once that it and those below it add to the same one: not more
/// than are prefetched side by side, or, of whole ones, stay near while something else is made of
/// them; 0 if there are no such rows. What they are numbered by is no inner axis, though something
/// else may be stored by their numbers.
double TileChooser::rowsAtOnce() {
  constexpr double ofBlocks = 16, ofWholeRows = 8;
  double rows = 0;
  kernel.walk([&](UpdateOp update) {
    ArrayRef<StringAttr> kept = axesOf(update.getValue().getType());
    while (kept.size() > 1 && axes[kept.back()].extent == 1)
      kept = kept.drop_back();
    if (kept.empty() || !axes[kept.back()].isInner)
      return;
    for (auto &[name, axis] : axes) {
      if (!axis.isSizable || !axis.isProgram || axis.isRowEnd || llvm::is_contained(kept, name))
        continue;
      axis.isInner = false;
      rows = std::max(rows, axes[kept.back()].isSizable ? ofBlocks : ofWholeRows);
    }
  });
  return rows;
}

/// How far a program goes along axes that are inner ones, each in another tensor. Of what is read
/// across a square has room next to a core. What more is read then comes from rows of pages of
/// their own, in pieces that have to be long where it comes from memory.
double TileChooser::sideOfSquare(int innerAxes) {
  constexpr double side = 64, longSide = 128;
  double bytes = 0, bytesEach = 0;
  int reads = 0;
  kernel.walk([&](LoadOp load) {
    double elements = 1;
    int inner = 0;
    for (Value dim : load.getDims())
      if (isa<SpanType>(dim.getType())) {
        const AxisInfo &axis = axes.find(axisOf(dim))->second;
        elements *= static_cast<double>(axis.extent);
        inner += axis.isSizable && axis.isProgram && axis.isInner;
      }
    if (inner < 2)
      return;
    ++reads;
    double each = getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth() / 8.0;
    bytesEach += each;
    bytes = std::max(bytes, elements * each);
  });
  const auto level2Bytes = static_cast<double>(machine.level2Bytes);
  bool isFar = bytes >= 2 * machine.threads * level2Bytes;
  bool hasRoom = bytesEach * longSide * longSide <= level2Bytes / 2;
  return innerAxes == 2 && reads > 1 && isFar && hasRoom ? longSide : side;
}

/// How many bytes of an element of whole rows a program reads, keeps and stores.
double TileChooser::bytesOfRows() {
  Plan plan(kernel);
  double bytes = 0;
  auto add = [&](Value value) {
    ArrayRef<StringAttr> of = axesOf(value.getType());
    bool isOfRows = llvm::any_of(of, [&](StringAttr axis) { return axes[axis].isProgram; });
    bool isWhole = llvm::any_of(
        of, [&](StringAttr axis) { return !axes[axis].isSizable && !axes[axis].isProgram; });
    if (isOfRows && isWhole)
      bytes += std::max(1U, getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() / 8);
  };
  SmallVector<Operation *> loads; // each once, however often the source names it
  auto isKnown = [&](Operation *load) {
    return llvm::any_of(loads, [&](Operation *other) {
      return OperationEquivalence::isEquivalentTo(load, other,
                                                  OperationEquivalence::IgnoreLocations);
    });
  };
  kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<StoreOp>(op))
      add(store.getValue());
    bool isLoad = isa<LoadOp>(op) && !isKnown(op);
    if (isLoad)
      loads.push_back(op);
    for (Value result : op->getResults())
      if (isLoad || plan.keeps(result))
        add(result);
  });
  return bytes;
}

/// Powers of two, so that few shapes need code of their own: enough elements a program to start it
/// for, vectors as long as they can be, and not more than the first-level cache holds.
void TileChooser::chooseForElements() {
  constexpr double addedColumns = 1024;
  double elements = 1, rows = rowsAtOnce();
  int inner = 0;
  bool hasWholeAxis = false;
  for (auto &[name, axis] : axes) {
    if (!axis.isSizable && !axis.isProgram) {
      elements *= static_cast<double>(axis.extent); // a whole axis
      hasWholeAxis = true;
    }
    inner += axis.isSizable && axis.isInner;
  }
  // Rows are read more than once, and something of them is kept. All of it has room in the cache
  // together; it is taken to be three arrays of f32 at least. Long ones leave as much to the next
  // program's, which come meanwhile.
  constexpr double longRow = 64;
  double elementsWanted = 8192;
  if (hasWholeAxis)
    elementsWanted = static_cast<double>(machine.level1Bytes) /
                     (std::max(12.0, bytesOfRows()) * (elements >= longRow ? 2 : 1));
  auto isLoop = [](const AxisInfo &axis) { return axis.isSizable && !axis.isProgram; };
  for (auto &[name, axis] : axes)
    if (isLoop(axis)) {
      take(axis, axis.isInner ? 1024 : 64);
      elements *= static_cast<double>(axis.size);
    }
  const double square = inner > 1 ? sideOfSquare(inner) : 0;
  for (auto &[name, axis] : axes)
    if (axis.isSizable && axis.isProgram && axis.isInner) {
      double share = inner > 1 ? square : std::max(64.0, elementsWanted / elements);
      if (rows > 0)
        share = std::min(share, addedColumns);
      take(axis, share);
      // Whole rows go on where the ones before end; a rest of each would be a piece of its own.
      auto whole = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(axis.extent)));
      if (inner == 1 && axis.candidates.empty() && axis.extent <= longPiece &&
          static_cast<double>(axis.extent) <= share)
        axis.size = whole;
      elements *= static_cast<double>(axis.size);
    }
  // What lies next to each other in memory first.
  SmallVector<AxisInfo *> outer;
  for (auto &[name, axis] : axes)
    if (axis.isSizable && axis.isProgram && !axis.isInner)
      outer.push_back(&axis);
  llvm::stable_sort(outer, [](AxisInfo *x, AxisInfo *y) { return x->furtherIn < y->furtherIn; });
  for (AxisInfo *axis : outer) {
    take(*axis, std::max(elementsWanted / elements, rows));
    elements *= static_cast<double>(axis->size);
  }
  avoidRepeats();
  elements = 1;
  for (const auto &[name, axis] : axes)
    if (axis.isSizable || !axis.isProgram)
      elements *= length(name);
  // A program's only row may come in short pieces. Those of several rows that nobody needs together
  // are long, since the next ones lie elsewhere.
  auto leastPiece = [&] {
    bool hasRows = rows == 0 && llvm::any_of(outer, [](AxisInfo *axis) { return axis->size > 1; });
    return hasRows ? longPiece : 512;
  };
  // Programs for many cores, as long as each is worth waking one. How many there are decides
  // nothing: sums would have other bits on another machine.
  constexpr double programsWanted = 32, leastCycles = 3000, lanes = 16;
  double cycles = elements * costEach / lanes;
  for (auto &[name, axis] : axes)
    if (isLoop(axis))
      cycles *= std::ceil(static_cast<double>(axis.extent) / static_cast<double>(axis.size));
  while (programs() < programsWanted && cycles >= 2 * leastCycles) {
    AxisInfo *largest = nullptr;
    for (auto &[name, axis] : axes)
      if (axis.isSizable && axis.isProgram && axis.candidates.empty() && axis.size > axis.least &&
          (!axis.isInner || axis.size > leastPiece()) && (!largest || axis.size > largest->size))
        largest = &axis;
    if (!largest)
      break;
    largest->size = (largest->size + 1) / 2;
    cycles /= 2;
  }
}

/// How long a block may be so that the tiles that are kept of it stay in the second-level cache.
int64_t TileChooser::mostAlong(StringAttr axis) {
  double bytes = 0; // of a coordinate
  Plan plan(kernel);
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (llvm::is_contained(axesOf(result.getType()), axis) &&
          (plan.keeps(result) || Plan::isRoot(op)))
        bytes += bytesOf(result.getType()) / length(axis);
  });
  double most = static_cast<double>(machine.level2Bytes) / 4 / std::max(bytes, 1.0);
  return bytes == 0 ? maxTileSize : int64_t(1) << std::ilogb(std::max(most, 1.0));
}

/// A program that has many rows, since what it computes for all of them is dear, has as many pieces
/// of rows, behind each of which its core reads ahead.
void TileChooser::takeLongPieces(StringAttr rows) {
  for (auto &[name, axis] : axes) {
    bool hangsOnElse = llvm::any_of(arithmetic, [&, name = name](const Arithmetic &op) {
      return !llvm::is_contained(op.axes, rows) && !llvm::is_contained(op.axes, name);
    });
    if (name == rows || hangsOnElse || !axis.isSizable || !axis.isProgram || !axis.isInner ||
        !axis.candidates.empty())
      continue;
    auto whole = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(axis.extent)));
    axis.size = std::max(axis.size, std::min({whole, longPiece, mostAlong(name)}));
  }
}

/// What doesn't hang on an axis is computed again for each block along it. Where that is no trifle
/// beside the rest, there are as many blocks as threads that would wait otherwise, and as the rest
/// is worth it.
void TileChooser::avoidRepeats() {
  for (auto &[name, axis] : axes) {
    auto hangsOnIt = [name = name](const Arithmetic &op) {
      return llvm::is_contained(op.axes, name);
    };
    if (!axis.isSizable || !axis.isProgram || !axis.candidates.empty() ||
        llvm::all_of(arithmetic, hangsOnIt))
      continue;
    double repeated = 0, own = 0; // of a block, and of one coordinate
    for (const Arithmetic &op : arithmetic) {
      double cost = op.cost;
      for (StringAttr other : op.axes)
        if (other != name)
          cost *= axes[other].isProgram ? length(other) : static_cast<double>(axes[other].extent);
      (hangsOnIt(op) ? own : repeated) += cost;
    }
    if (4 * repeated <= own * length(name))
      continue;
    if (!axis.isInner)
      takeLongPieces(name);
    auto extent = static_cast<double>(axis.extent);
    double others = programs() / std::ceil(extent / static_cast<double>(axis.size));
    double blocks = std::min(machine.threads / others, 1 + own * extent / repeated);
    auto wanted = static_cast<uint64_t>(std::ceil(extent / std::max(1.0, std::floor(blocks))));
    int64_t size = std::min<int64_t>(llvm::PowerOf2Ceil(wanted), mostAlong(name));
    axis.size = axis.least = std::max(axis.size, size);
  }
}
