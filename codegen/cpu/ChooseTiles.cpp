//===- ChooseTiles.cpp - tile sizes for a CPU -----------------------------===//

#include "codegen/cpu/ChooseTiles.h"
#include "codegen/Elementwise.h"
#include "codegen/Neighbours.h"
#include "codegen/cpu/Plan.h"
#include "ir/Domain.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

#include <cmath>
#include <unistd.h>

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

CpuMachine CpuMachine::native(int threads) {
  CpuMachine machine;
  machine.threads = threads;
  auto bytes = [](int name, int64_t otherwise) {
    long known = sysconf(name);
    return known > 0 ? static_cast<int64_t>(known) : otherwise;
  };
#ifdef _SC_LEVEL1_DCACHE_SIZE
  machine.level1Bytes = bytes(_SC_LEVEL1_DCACHE_SIZE, machine.level1Bytes);
  machine.level2Bytes = bytes(_SC_LEVEL2_CACHE_SIZE, machine.level2Bytes);
#endif
  return machine;
}

namespace {
/// What of an axis is not known counts as long.
constexpr int64_t unknownExtent = 4096;
/// Half of what a vector has at most: axes that are no longer waste lanes.
constexpr int64_t fewLanes = 8;
/// A program that takes several rows takes so many elements of each at a time. Cores read ahead,
/// behind a piece in vain, is what is assumed: rows of 1023, all of them in pieces of 512, took 1.3
/// to 1.6 of the time (two cores of a Xeon).
constexpr int64_t longPiece = 4096;
/// The machine for which sizes are chosen that decide in which order a sum adds up.
constexpr CpuMachine referenceMachine{.threads = 8};

struct AxisInfo {
  int64_t extent = unknownExtent;
  bool isSizable = false, isProgram = false;
  /// Neighbours along it are neighbours in memory; of something with more than one axis.
  bool isInner = false, isRowEnd = false;
  /// The largest tensor that has the axis has so many elements, and so many dimensions further in.
  double mostElements = 0;
  unsigned furtherIn = 0;
  /// What it is in contractions.
  bool isRow = false, isColumn = false, isDepth = false;
  /// To choose from, and what is chosen.
  SmallVector<int64_t> candidates;
  int64_t size = 1, least = 1;
};

/// An op that is not for nothing: an element, by axes.
struct Arithmetic {
  ArrayRef<StringAttr> axes;
  SmallVector<ForOp, 1> loops; // of dear ones
  int cost;                    // as costOf counts
};

/// A contraction by axes, and the loops over blocks that it stands in.
struct Contraction {
  SmallVector<StringAttr> rows, columns;
  SmallVector<ForOp> loops;
  StringAttr depth;
  double bytes; // of an element of the result, and of packed operands
  /// Its rows are those of a tensor, a block of each at a time.
  bool readsBlocksOfRows = false;
};

/// Whether a value is elements of a tensor, of which those along the axis lie next to each other.
bool isReadAlong(Value value, StringAttr axis) {
  auto load = value.getDefiningOp<LoadOp>();
  if (!load || load.getMap().getNumResults() == 0)
    return false;
  auto last = dyn_cast<AffineDimExpr>(load.getMap().getResults().back());
  Value index = last ? load.getDims()[last.getPosition()] : Value();
  return index && isa<SpanType>(index.getType()) && axisOf(index) == axis; // else it is data
}

class Chooser {
public:
  Chooser(KernelOp kernel, ArrayRef<int64_t> dims, const llvm::StringMap<int64_t> &given,
          const CpuMachine &machine)
      : kernel(kernel), domains(kernel), dims(dims), given(given), machine(machine) {}
  llvm::StringMap<int64_t> choose();
  /// After `choose`: whether some sum may add up in another order where the binder's size is the
  /// other one.
  bool decidesOrder(StringAttr binder, int64_t size, int64_t other);
  /// After `choose`: of a program, those of all contractions, and of the tiles that it keeps.
  double cyclesOfContractions();
  double keptBytes();

private:
  std::optional<int64_t> evaluate(Value value);
  void collectAxes();
  void collectRoles();
  void collectArithmetic(Operation *op);
  void collectCandidates();
  /// Of the candidates the one nearest to `wanted`, by ratio.
  void take(AxisInfo &axis, double wanted);
  double rowsAtOnce();
  double sideOfSquare(int innerAxes);
  void chooseForElements();
  void takeLongPieces(StringAttr rows);
  void avoidRepeats();
  double bytesOf(Type type);
  int64_t mostAlong(StringAttr axis);
  void chooseForContractions();
  double length(StringAttr axis);
  double blocksOf(ForOp loop);
  /// What a program takes for a contraction: cycles, and bytes that it works on.
  struct DotCycles {
    double multiply = 0, move = 0, bytes = 0;
    double sum = 0; // of products, in vectors
  };
  DotCycles cyclesOf(const Contraction &dot);
  double costOfContractions();
  double descend(ArrayRef<AxisInfo *> open);
  double programs() const;

  KernelOp kernel;
  Domains domains;
  ArrayRef<int64_t> dims;
  const llvm::StringMap<int64_t> &given;
  const CpuMachine &machine;
  // Sizes are taken from short lists, so that shapes near each other share their code.
  llvm::MapVector<StringAttr, AxisInfo> axes;
  SmallVector<Contraction> dots;
  SmallVector<Arithmetic> arithmetic;
  double eachPrograms = 1; // of the binders that take one element at a time
  double costEach = 0;     // of an element, as costOf counts
};
} // namespace

//===-- What the kernel says ----------------------------------------------===//

std::optional<int64_t> Chooser::evaluate(Value value) {
  Operation *op = value.getDefiningOp();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (auto dim = dyn_cast_or_null<DimOp>(op)) {
    auto found = llvm::find(kernel.getDims(), dim.getNameAttr());
    size_t position = found - kernel.getDims().begin();
    bool isKnown = position < dims.size() && dims[position] >= 0;
    return isKnown ? std::optional(dims[position]) : std::nullopt;
  }
  if (!op || op->getNumOperands() != 2)
    return {};
  auto x = evaluate(op->getOperand(0)), y = evaluate(op->getOperand(1));
  if (!x || !y)
    return {};
  // Only estimates hang on it: what overflows is not known.
  int64_t result;
  bool overflows = isa<arith::AddIOp>(op)   ? __builtin_add_overflow(*x, *y, &result)
                   : isa<arith::SubIOp>(op) ? __builtin_sub_overflow(*x, *y, &result)
                   : isa<arith::MulIOp>(op) ? __builtin_mul_overflow(*x, *y, &result)
                                            : true;
  if (isa<DivOp>(op) && *y > 0 && *x >= 0)
    return *x / *y;
  return overflows ? std::nullopt : std::optional(result);
}

void Chooser::collectAxes() {
  auto add = [&](StringAttr name, Value lower, Value upper) -> AxisInfo & {
    AxisInfo &axis = axes[name];
    auto lo = evaluate(lower), hi = evaluate(upper);
    if (lo && hi)
      axis.extent = std::max<int64_t>(1, *hi - *lo);
    return axis;
  };
  ParallelOp parallel = kernel.getParallel();
  for (auto [n, name] : llvm::enumerate(parallel.getNames().getAsRange<StringAttr>())) {
    AxisInfo &axis = add(name, parallel.getLower()[n], parallel.getUpper()[n]);
    axis.isProgram = true;
    axis.isSizable = !parallel.getEach()[n];
    if (parallel.getEach()[n])
      eachPrograms *= static_cast<double>(axis.extent);
  }
  kernel.walk([&](Operation *op) {
    if (auto loop = dyn_cast<ForOp>(op))
      add(loop.getNameAttr(), loop.getLower(), loop.getUpper()).isSizable =
          loop.getKind() != LoopKind::sequential;
    else if (auto whole = dyn_cast<AxisOp>(op))
      add(axisOf(whole.getResult()), whole.getLower(), whole.getUpper());
  });
}

static SmallVector<ForOp, 1> loopsAround(Operation *op) {
  SmallVector<ForOp, 1> loops;
  for (auto loop = op->getParentOfType<ForOp>(); loop; loop = loop->getParentOfType<ForOp>())
    loops.push_back(loop);
  return loops;
}

void Chooser::collectArithmetic(Operation *op) {
  if (isa<BroadcastOp, CoordsOp, DotOp, ForOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return;
  ArrayRef<StringAttr> most;
  auto take = [&](ArrayRef<StringAttr> axes) { most = axes.size() > most.size() ? axes : most; };
  for (Type type : op->getOperandTypes())
    take(axesOf(type));
  for (Type type : op->getResultTypes())
    take(axesOf(type));
  if (most.empty())
    return;
  Arithmetic &entry = arithmetic.emplace_back(Arithmetic{most, {}, costOf(op)});
  if (entry.cost > 1)
    entry.loops = loopsAround(op);
}

void Chooser::collectRoles() {
  // The most elements of a tensor whose rows an axis goes along, and of one that it goes across.
  llvm::MapVector<StringAttr, std::pair<double, double>> along;
  auto innermost = [&](AffineMap map, ValueRange operands, Value memory) {
    if (map.getNumResults() == 0)
      return;
    unsigned last = innermostDimension(kernel, memory, dims);
    double elements = 1;
    for (Value value : operands)
      if (isa<SpanType>(value.getType()))
        elements *= static_cast<double>(axes[axisOf(value)].extent);
    for (auto [d, value] : llvm::enumerate(operands)) {
      if (!isa<SpanType>(value.getType()))
        continue;
      AxisInfo &axis = axes[axisOf(value)];
      for (unsigned n = 0, rank = map.getNumResults(); n < rank; ++n)
        if (map.getResult(n).isFunctionOfDim(d) && elements > axis.mostElements)
          axis.mostElements = elements, axis.furtherIn = rank - 1 - n;
      auto &[most, mostAcross] = along[axisOf(value)];
      if (!map.getResult(last).isFunctionOfDim(d)) {
        mostAcross = std::max(mostAcross, elements);
        continue;
      }
      most = std::max(most, elements);
      axis.isRowEnd |= last > 0;
    }
  };
  kernel.walk([&](Operation *op) {
    if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
      costEach += costOf(op);
    collectArithmetic(op);
    if (auto load = dyn_cast<LoadOp>(op))
      innermost(load.getMap(), load.getDims(), load.getSource());
    else if (auto store = dyn_cast<StoreOp>(op))
      innermost(store.getMap(), store.getDims(), store.getTarget());
    else if (auto update = dyn_cast<UpdateOp>(op))
      innermost(update.getMap(), update.getDims(), update.getTarget());
    auto dot = dyn_cast<DotOp>(op);
    // Nobody uses what has become part of a sum: it is still there, as nothing is simplified yet.
    if (!dot || dot->use_empty() || axesOf(dot.getType()).empty())
      return;
    Contraction &contraction = dots.emplace_back();
    contraction.depth = dot.getAxisAttr();
    contraction.bytes = getElementTypeOrSelf(dot.getType()).getIntOrFloatBitWidth() / 8;
    axes[contraction.depth].isDepth = true;
    llvm::append_range(contraction.loops, loopsAround(dot));
    contraction.readsBlocksOfRows = isReadAlong(dot.getLhs(), contraction.depth) &&
                                    llvm::any_of(contraction.loops, [&](ForOp loop) {
                                      return loop.getNameAttr() == contraction.depth;
                                    });
    ArrayRef<StringAttr> left = axesOf(dot.getLhs().getType());
    for (StringAttr axis : axesOf(dot.getType())) {
      bool isColumn = !llvm::is_contained(left, axis);
      (isColumn ? contraction.columns : contraction.rows).push_back(axis);
      (isColumn ? axes[axis].isColumn : axes[axis].isRow) = true;
    }
  });
  // What is stored once for each row may come in any order: it is little.
  constexpr double muchMore = 16;
  for (const auto &[name, elements] : along)
    axes[name].isInner = elements.first > 0 && elements.second < muchMore * elements.first;
}

void Chooser::collectCandidates() {
  for (StringAttr binder : sizableBinders(kernel)) {
    AxisInfo &axis = axes[binder];
    if (auto size = given.find(binder.getValue()); size != given.end())
      axis.candidates = {size->second};
    else
      axis.candidates = scheduledSizes(kernel, binder, "cpu");
  }
}

void Chooser::take(AxisInfo &axis, double wanted) {
  wanted = std::clamp(wanted, 1.0, static_cast<double>(axis.extent));
  if (axis.candidates.empty()) {
    // Rows of few elements are one block: parts of them are no rows (BodyLowering::rowsOfFew).
    bool isWholeRow = axis.isProgram && axis.extent <= mostOfFew && wanted == axis.extent;
    axis.size = isWholeRow ? static_cast<int64_t>(llvm::PowerOf2Ceil(axis.extent))
                           : int64_t(1) << std::ilogb(wanted);
    return;
  }
  auto distance = [&](int64_t size) {
    return std::abs(std::log(static_cast<double>(size) / wanted));
  };
  axis.size = *llvm::min_element(axis.candidates,
                                 [&](int64_t x, int64_t y) { return distance(x) < distance(y); });
}

//===-- Elements ----------------------------------------------------------===//

/// Of rows that programs one below the other add to the same one: some at once, but not more than
/// are prefetched side by side, or, of whole ones, stay near while something else is made of them.
/// None if there are no such rows. What they are numbered by is no inner axis, though something
/// else may be stored by their numbers.
double Chooser::rowsAtOnce() {
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
double Chooser::sideOfSquare(int innerAxes) {
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

/// Powers of two, so that few shapes need code of their own: enough elements a program to start it
/// for, vectors as long as they can be, and not more than the first-level cache holds.
void Chooser::chooseForElements() {
  constexpr double addedColumns = 1024;
  double elements = 1, rows = rowsAtOnce();
  int inner = 0;
  for (auto &[name, axis] : axes) {
    if (!axis.isSizable && !axis.isProgram)
      elements *= static_cast<double>(axis.extent); // a whole axis
    inner += axis.isSizable && axis.isInner;
  }
  // Rows are read more than once, and something of them is kept: a third of the cache each.
  double elementsWanted = elements > 1 ? static_cast<double>(machine.level1Bytes) / 12 : 8192;
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

/// A program's tile of this type takes so many bytes.
double Chooser::bytesOf(Type type) {
  double bytes = std::max(1U, getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8);
  for (StringAttr axis : axesOf(type))
    bytes *= length(axis);
  return bytes;
}

double Chooser::keptBytes() {
  double bytes = 0;
  Plan plan(kernel);
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      bytes += plan.keeps(result) ? bytesOf(result.getType()) : 0;
  });
  return bytes;
}

/// How long a block may be so that the tiles that are kept of it stay in the second-level cache.
int64_t Chooser::mostAlong(StringAttr axis) {
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
void Chooser::takeLongPieces(StringAttr rows) {
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
void Chooser::avoidRepeats() {
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

double Chooser::programs() const {
  double count = eachPrograms;
  for (const auto &[name, axis] : axes)
    if (axis.isSizable && axis.isProgram)
      count *= static_cast<double>((axis.extent + axis.size - 1) / axis.size);
  return count;
}

//===-- Contractions ------------------------------------------------------===//

/// Of the part that one program takes.
double Chooser::length(StringAttr name) {
  const AxisInfo &axis = axes[name];
  return static_cast<double>(axis.isSizable ? std::min(axis.size, axis.extent) : axis.extent);
}

/// How often a loop's body runs. Where conditions compare its axis with another one, as in causal
/// attention, that is a triangle, and the blocks that its long side crosses are done as a whole.
double Chooser::blocksOf(ForOp loop) {
  auto extent = static_cast<double>(axes[loop.getNameAttr()].extent);
  double size = length(loop.getNameAttr()), all = std::ceil(extent / size), least = all;
  for (RestrictOp restrict : domains.restrictsOf(loop))
    for (Value dim : restrict.getDims()) {
      if (dim == loop.getSpan())
        continue;
      double triangle = std::min(all, (extent + length(axisOf(dim)) + size) / (2 * size));
      // Only a launch tells whether it applies.
      least = std::min(least, restrict.getUnless() ? (triangle + all) / 2 : triangle);
    }
  return least;
}

/// Cycles of a program: the multiply-adds of full register tiles, the packing of what they read,
/// and the result once for each block of depth.
Chooser::DotCycles Chooser::cyclesOf(const Contraction &dot) {
  auto product = [&](ArrayRef<StringAttr> names) {
    double result = 1;
    for (StringAttr name : names)
      result *= length(name);
    return result;
  };
  auto roundUp = [](double x, double step) { return std::ceil(x / step) * step; };
  const auto level2Bytes = static_cast<double>(machine.level2Bytes);
  double rows = product(dot.rows), columns = product(dot.columns), depth = length(dot.depth);
  double block = std::min(depth, 256.0), times = 1, lanes = 64 / dot.bytes;
  for (ForOp loop : dot.loops)
    times *= blocksOf(loop);
  double result = dot.bytes * rows * columns;
  // A result that is far from the core is prefetched, but not for nothing.
  double perBlock = (3.2 + 6.4 * result / level2Bytes) / lanes;
  // More rows than a core knows pages of are looked up anew in each block of depth.
  constexpr double pageBytes = 4096, knownPages = 64, lookUp = 30;
  double rowBytes = dot.bytes * static_cast<double>(axes[dot.depth].extent);
  bool isFar = dot.readsBlocksOfRows && rows * std::min(1.0, rowBytes / pageBytes) > knownPages;
  return {.multiply = times * depth * roundUp(rows, 4) * roundUp(columns, lanes) / (2 * lanes),
          .move = times * depth *
                      (12.8 / lanes * (rows + columns) + perBlock * rows * columns / block) +
                  (isFar ? times * rows * lookUp : 0),
          .bytes = 0.75 * result + dot.bytes * block * (rows + columns),
          .sum = times * depth * rows * columns / lanes};
}

/// Without rows or columns it is a sum of products, which reads two vectors for each.
double Chooser::cyclesOfContractions() {
  double cycles = 0;
  for (const Contraction &dot : dots) {
    DotCycles own = cyclesOf(dot);
    bool isSum = dot.rows.empty() || dot.columns.empty();
    cycles += isSum ? own.sum : own.multiply + own.move;
  }
  return cycles;
}

/// Cycles until all cores are done; more where what a program works on exceeds the second-level
/// cache.
double Chooser::costOfContractions() {
  double compute = 0, memory = 0, bytes = 0;
  for (const Contraction &dot : dots) {
    DotCycles own = cyclesOf(dot);
    compute += own.multiply;
    memory += own.move;
    bytes += own.bytes;
  }
  for (const Arithmetic &op : arithmetic) {
    if (op.cost == 1)
      continue; // as good as part of packing
    double elements = 1;
    for (StringAttr name : op.axes)
      elements *= length(name);
    for (ForOp loop : op.loops)
      elements *= blocksOf(loop);
    constexpr double vectorLanes = 16;
    compute += elements * op.cost / vectorLanes;
  }
  double excess = std::max(1.0, bytes / (0.8 * static_cast<double>(machine.level2Bytes)));
  double program = compute * std::sqrt(excess) + memory * excess + 2000;
  return std::ceil(programs() / machine.threads) * program;
}

void Chooser::chooseForContractions() {
  static constexpr int64_t rowSizes[] = {4, 12, 24, 48, 96, 120, 144, 192, 240, 288, 384, 504, 696};
  static constexpr int64_t columnSizes[] = {16, 32, 64, 128, 192, 256, 384, 512, 1024};
  static constexpr int64_t depthSizes[] = {64, 128, 256};
  SmallVector<AxisInfo *> open;
  for (auto &[name, axis] : axes) {
    if (!axis.isSizable)
      continue;
    if (axis.candidates.empty()) {
      bool isBoth = axis.isDepth && (axis.isColumn || axis.isRow);
      ArrayRef<int64_t> sizes = axis.isDepth    ? (isBoth ? ArrayRef(columnSizes) : depthSizes)
                                : axis.isColumn ? ArrayRef(columnSizes)
                                                : ArrayRef(rowSizes);
      for (int64_t size : sizes)
        if (axis.candidates.empty() || size < 2 * axis.extent)
          axis.candidates.push_back(size);
      // And equal parts of it, so that no core waits for another's last program.
      int64_t step = axis.isColumn ? 32 : 4;
      for (int64_t parts = 1; parts <= 8 && axis.isProgram; ++parts) {
        int64_t part = (axis.extent + parts - 1) / parts;
        int64_t size = (part + step - 1) / step * step;
        if (size >= sizes.front() && size <= sizes.back())
          axis.candidates.push_back(size);
      }
    }
    open.push_back(&axis);
  }
  // Where the way down ends depends on where it starts: long and narrow programs look better than
  // others that are a little less so.
  double best = std::numeric_limits<double>::infinity();
  SmallVector<int64_t> sizes;
  for (double start : {1.0, 128.0, 1024.0}) {
    for (AxisInfo *axis : open)
      take(*axis, start);
    double cost = descend(open);
    if (cost >= best)
      continue;
    best = cost;
    sizes.clear();
    for (AxisInfo *axis : open)
      sizes.push_back(axis->size);
  }
  for (auto [axis, size] : llvm::zip(open, sizes))
    axis->size = size;
}

/// Changes one size after the other, until none gets better.
double Chooser::descend(ArrayRef<AxisInfo *> open) {
  double best = costOfContractions();
  for (bool improves = true; improves;) {
    improves = false;
    for (AxisInfo *axis : open) {
      int64_t kept = axis->size;
      for (int64_t size : axis->candidates) {
        axis->size = size;
        if (double cost = costOfContractions(); cost < best) {
          best = cost;
          kept = size;
          improves = true;
        }
      }
      axis->size = kept;
    }
  }
  return best;
}

llvm::StringMap<int64_t> Chooser::choose() {
  collectAxes();
  collectRoles();
  collectCandidates();
  if (!dots.empty())
    chooseForContractions();
  else
    chooseForElements();
  llvm::StringMap<int64_t> sizes;
  for (StringAttr binder : sizableBinders(kernel))
    sizes[binder.getValue()] = std::clamp<int64_t>(axes[binder].size, 1, maxTileSize);
  return sizes;
}

//===-- Orders of sums ----------------------------------------------------===//

/// Loops over blocks add one block to the other, and programs to a `reduce` output: to the same
/// element also where data says which, and in runs that the number of all programs divides. Of the
/// other axes of a sum it only counts whether one is too short for the lanes that could go along
/// it.
bool Chooser::decidesOrder(StringAttr binder, int64_t size, int64_t other) {
  const AxisInfo &axis = axes[binder];
  auto findUpdate = [](UpdateOp) { return WalkResult::interrupt(); };
  if (!axis.isProgram || kernel.walk(findUpdate).wasInterrupted())
    return true;
  if (std::min(size, fewLanes + 1) == std::min(other, fewLanes + 1))
    return false;
  bool isInSum = false;
  kernel.walk([&](ReduceOp reduce) {
    isInSum |= llvm::is_contained(axesOf(reduce.getInput().getType()), binder);
  });
  for (const Contraction &dot : dots)
    if (dot.rows.empty() || dot.columns.empty())
      isInSum |= llvm::is_contained(dot.rows, binder) || llvm::is_contained(dot.columns, binder);
  return isInSum;
}

/// Sizes for this machine, but for those that decide the order of sums: they are the reference
/// machine's.
llvm::StringMap<int64_t> tile::codegen::chooseTiles(KernelOp kernel, ArrayRef<int64_t> dims,
                                                    const llvm::StringMap<int64_t> &given,
                                                    const CpuMachine &machine) {
  Chooser usual(kernel, dims, given, referenceMachine);
  llvm::StringMap<int64_t> reference = usual.choose(), fixed(given);
  while (true) {
    llvm::StringMap<int64_t> sizes = Chooser(kernel, dims, fixed, machine).choose();
    size_t known = fixed.size();
    for (StringAttr binder : sizableBinders(kernel)) {
      int64_t size = reference[binder], own = sizes[binder];
      if (size != own && usual.decidesOrder(binder, size, own))
        fixed.try_emplace(binder, size);
    }
    if (fixed.size() == known)
      return sizes;
  }
}

CpuProgram tile::codegen::programOf(KernelOp kernel, ArrayRef<int64_t> dims,
                                    const llvm::StringMap<int64_t> &sizes,
                                    const CpuMachine &machine) {
  Chooser chooser(kernel, dims, sizes, machine);
  chooser.choose();
  return {chooser.cyclesOfContractions(), chooser.keptBytes()};
}

//===-- Short axes --------------------------------------------------------===//

/// Gives those dims, by name, of which code for any length would waste most of its lanes, or loop
/// over few rows; and those of one element, behind which neighbours lie elsewhere than code for any
/// length knows.
static SmallVector<NamedAttribute> shortDims(KernelOp kernel, ArrayRef<int64_t> dims) {
  auto isShort = [](int64_t value) { return value >= 1 && value <= fewLanes; };
  if (llvm::none_of(dims, isShort))
    return {};
  llvm::SmallDenseSet<Attribute> names;
  for (StringAttr name : dimsOfOpenAxes(kernel))
    names.insert(name);
  for (unsigned n = 0, e = kernel.getNumArguments(); n < e; ++n)
    if (AffineMap shape = kernel.getParamShape(n); shape && shape.getNumResults() > 1)
      if (auto last = dyn_cast<AffineSymbolExpr>(shape.getResults().back()))
        names.insert(kernel.getDims()[last.getPosition()]);
  ParallelOp parallel = kernel.getParallel();
  for (auto [upper, each] : llvm::zip(parallel.getUpper(), parallel.getEach()))
    if (auto dim = upper.getDefiningOp<DimOp>(); dim && !each)
      names.insert(dim.getNameAttr());
  Builder b(kernel.getContext());
  SmallVector<NamedAttribute> found;
  for (auto [name, value] : llvm::zip(kernel.getDims().getAsRange<StringAttr>(), dims))
    if (value == 1 || (isShort(value) && names.contains(name)))
      found.emplace_back(name, b.getI64IntegerAttr(value));
  return found;
}

/// Whether other code for it might make sums in another order than a plan has for them: whether
/// loops make chains of what they add hangs on how often they are known to run (ir/LongSums.h).
static bool hasPinnedSums(KernelOp kernel) {
  auto isLoop = [](Operation *op) {
    return isa<ForOp, LoopLikeOpInterface>(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel->hasAttr(pinnedAttrName) && kernel.walk(isLoop).wasInterrupted();
}

void tile::codegen::bindShortDims(KernelOp kernel, ArrayRef<int64_t> dims, Bindings &bindings) {
  if (hasPinnedSums(kernel))
    return;
  for (NamedAttribute dim : shortDims(kernel, dims))
    bindings.dims.try_emplace(dim.getName().getValue(), cast<IntegerAttr>(dim.getValue()).getInt());
}

DictionaryAttr tile::codegen::likelyDims(KernelOp kernel, ArrayRef<int64_t> dims) {
  SmallVector<NamedAttribute> found;
  if (hasPinnedSums(kernel))
    found = shortDims(kernel, dims);
  return DictionaryAttr::get(kernel.getContext(), found);
}
