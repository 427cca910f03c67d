//===- TileSizes.cpp - tile sizes for a GPU -------------------------------===//

#include "codegen/gpu/plan/TileSizes.h"
#include "codegen/Neighbours.h"
#include "codegen/gpu/dialect/Mma.h"
#include "codegen/gpu/dialect/Settings.h"
#include "codegen/gpu/dialect/WarpMma.h"
#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/gpu/loops/VectorDots.h"
#include "codegen/gpu/plan/AsCompiled.h"
#include "codegen/gpu/plan/Products.h"
#include "ir/proofs/Domain.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using tile::codegen::innermostDimension;

namespace {
/// What of an axis is not known counts as long.
constexpr int64_t unknownExtent = 4096;
/// Of a program: 16 for each of 128 threads.
constexpr int64_t usualElements = 2048;

struct AxisInfo {
  int64_t extent = unknownExtent;
  bool isKnown = false, isSizable = false, isProgram = false;
  /// Neighbours along it are neighbours in memory.
  bool isInner = false;
  /// The dimension that goes along it, the last of all accesses': those behind it are nearer.
  unsigned dimension = 0;
  /// By the caller, not by the schedule.
  bool isGiven = false;
  SmallVector<int64_t> candidates;
  int64_t size = 1;
};

class Chooser {
public:
  Chooser(KernelOp kernel, ArrayRef<int64_t> dims, const llvm::StringMap<int64_t> &given,
          const GpuTarget &target, bool fixed)
      : kernel(kernel), dims(dims), given(given), target(target), fixed(fixed) {}
  llvm::StringMap<int64_t> choose();
  bool isPipeline = false;

private:
  std::optional<int64_t> evaluate(Value value);
  void collectAxes();
  void collectInner();
  void collectShared();
  void collectCandidates();
  void take(AxisInfo &axis, int64_t wanted) const;
  int64_t atMostWhole(const AxisInfo &axis, int64_t size) const;
  bool isCopied(LoadOp load);
  bool isProduct();
  llvm::SmallVector<LoadOp> copiedOf(const OperandDesc &operand, bool mayCompute);
  bool chooseForProduct();
  bool repeats(StringAttr name, int64_t size);
  void fitSums(DotOp dot, int64_t floor);
  void chooseForDots();
  void chooseForElements();
  void spread();
  int64_t programs() const;

  KernelOp kernel;
  ArrayRef<int64_t> dims;
  const llvm::StringMap<int64_t> &given;
  const GpuTarget &target;
  bool fixed;
  llvm::MapVector<StringAttr, AxisInfo> axes;
  int64_t eachPrograms = 1;
  /// Whole axes.
  bool hasRows = false;
  SmallVector<DotOp> dots;
  /// Of the schedule, beside sizes.
  llvm::StringMap<int64_t> settings;
  /// Whether programs with the same columns read the same row, or end in one; or all in the same
  /// elements.
  bool sharesRows = false, updatesRows = false, updatesAll = false;
  /// Of what is read of the most axes.
  double elementBytes = 1;
};
} // namespace

std::optional<int64_t> Chooser::evaluate(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  Operation *op = value.getDefiningOp();
  if (auto dim = dyn_cast_or_null<DimOp>(op)) {
    size_t position = llvm::find(kernel.getDims(), dim.getNameAttr()) - kernel.getDims().begin();
    return position < dims.size() && dims[position] >= 0 ? std::optional(dims[position])
                                                         : std::nullopt;
  }
  if (!op || op->getNumOperands() != 2)
    return std::nullopt;
  auto x = evaluate(op->getOperand(0)), y = evaluate(op->getOperand(1));
  int64_t result = 0;
  if (!x || !y)
    return std::nullopt;
  bool overflows = isa<arith::AddIOp>(op)   ? __builtin_add_overflow(*x, *y, &result)
                   : isa<arith::SubIOp>(op) ? __builtin_sub_overflow(*x, *y, &result)
                   : isa<arith::MulIOp>(op) ? __builtin_mul_overflow(*x, *y, &result)
                                            : true;
  return overflows ? std::nullopt : std::optional(result);
}

void Chooser::collectAxes() {
  auto add = [&](StringAttr name, Value lower, Value upper) -> AxisInfo & {
    AxisInfo &axis = axes[name];
    if (auto lo = evaluate(lower), hi = evaluate(upper); lo && hi) {
      axis.extent = std::max<int64_t>(1, *hi - *lo);
      axis.isKnown = true;
    }
    return axis;
  };
  ParallelOp parallel = kernel.getParallel();
  for (auto [n, name] : llvm::enumerate(parallel.getNames().getAsRange<StringAttr>())) {
    AxisInfo &axis = add(name, parallel.getLower()[n], parallel.getUpper()[n]);
    axis.isProgram = true;
    axis.isSizable = !parallel.getEach()[n];
    if (parallel.getEach()[n])
      eachPrograms = llvm::SaturatingMultiply<uint64_t>(eachPrograms, axis.extent);
  }
  kernel.walk([&](Operation *op) {
    if (auto loop = dyn_cast<ForOp>(op))
      add(loop.getNameAttr(), loop.getLower(), loop.getUpper()).isSizable =
          loop.getKind() != LoopKind::sequential;
    else if (auto whole = dyn_cast<AxisOp>(op))
      hasRows |= add(axisOf(whole.getResult()), whole.getLower(), whole.getUpper()).extent != 1;
    else if (auto dot = dyn_cast<DotOp>(op); dot && !dot->use_empty())
      dots.push_back(dot);
  });
}

void Chooser::collectInner() {
  // Of the accesses with the most axes: what a row leaves is too little to matter.
  size_t most = 0;
  bool isCounting = true;
  auto innermost = [&](AffineMap map, ValueRange operands, Value memory) {
    size_t count = llvm::count_if(mapAxes(map, operands).names,
                                  [&](StringAttr name) { return axes[name].extent != 1; });
    if (isCounting)
      most = std::max(most, count);
    if (isCounting || count < most)
      return;
    unsigned last = innermostDimension(kernel, memory, dims);
    for (auto [d, value] : llvm::enumerate(operands))
      for (auto [n, index] : llvm::enumerate(map.getResults()))
        if (isa<SpanType>(value.getType()) && index.isFunctionOfDim(d)) {
          AxisInfo &axis = axes[axisOf(value)];
          axis.isInner |= n == last;
          axis.dimension = std::max<unsigned>(axis.dimension, n);
        }
  };
  for (bool counts : {true, false}) {
    isCounting = counts;
    kernel.walk([&](Operation *op) {
      if (auto load = dyn_cast<LoadOp>(op))
        innermost(load.getMap(), load.getDims(), load.getSource());
      else if (auto store = dyn_cast<StoreOp>(op))
        innermost(store.getMap(), store.getDims(), store.getTarget());
      else if (auto update = dyn_cast<UpdateOp>(op))
        innermost(update.getMap(), update.getDims(), update.getTarget());
    });
  }
}

/// Rows in common: accesses with the inner axis of the programs, but without another one that the
/// widest accesses have.
void Chooser::collectShared() {
  auto outerAxes = [&](AffineMap map, ValueRange operands, bool &hasInner) {
    unsigned count = 0;
    hasInner = false;
    for (StringAttr name : mapAxes(map, operands).names)
      if (AxisInfo &axis = axes[name]; axis.isSizable && axis.isProgram) {
        hasInner |= axis.isInner;
        count += !axis.isInner;
      }
    return count;
  };
  unsigned most = 0;
  bool hasInner = false;
  kernel.walk(
      [&](LoadOp op) { most = std::max(most, outerAxes(op.getMap(), op.getDims(), hasInner)); });
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      bool isShorter = outerAxes(load.getMap(), load.getDims(), hasInner) < most;
      sharesRows |= isShorter && hasInner;
      if (Type element = load.getSource().getType().getElementType(); !isShorter)
        elementBytes = std::max(elementBytes, element.getIntOrFloatBitWidth() / 8.0);
    } else if (auto update = dyn_cast<UpdateOp>(op)) {
      updatesRows |= outerAxes(update.getMap(), update.getDims(), hasInner) < most && hasInner;
      updatesAll |= llvm::all_of(axesOf(update.getValue().getType()),
                                 [&](StringAttr name) { return axes[name].extent == 1; });
    }
  });
}

void Chooser::collectCandidates() {
  for (StringAttr binder : sizableBinders(kernel)) {
    auto size = given.find(binder.getValue());
    axes[binder].isGiven = size != given.end();
    axes[binder].candidates = size != given.end() ? SmallVector<int64_t>{size->second}
                                                  : scheduledSizes(kernel, binder, "cuda");
  }
}

static int64_t covering(int64_t length) {
  return static_cast<int64_t>(llvm::bit_ceil(static_cast<uint64_t>(length)));
}

/// What is longer than its axis would only be masked: of rows that is computed, too. Where there is
/// little to compute other lengths share the code.
int64_t Chooser::atMostWhole(const AxisInfo &axis, int64_t size) const {
  bool isCostly = hasRows || !dots.empty();
  return axis.isKnown && (fixed || (isCostly && !axis.isGiven))
             ? std::min(size, covering(axis.extent))
             : size;
}

/// The candidate nearest to what is wanted, by ratio; a power of two where all are free.
void Chooser::take(AxisInfo &axis, int64_t wanted) const {
  wanted = std::clamp<int64_t>(wanted, 1, axis.extent);
  if (axis.candidates.empty()) {
    axis.size = covering(wanted);
    return;
  }
  auto distance = [&](int64_t size) {
    return std::abs(std::log(static_cast<double>(size) / static_cast<double>(wanted)));
  };
  int64_t nearest = *llvm::min_element(
      axis.candidates, [&](int64_t x, int64_t y) { return distance(x) < distance(y); });
  axis.size = atMostWhole(axis, nearest);
}

void Chooser::chooseForElements() {
  // Of what programs have in common each should take much, at once or from one update to the next.
  // Columns that end in a row are threads' own: then nothing passes between these. Whole rows are
  // held at once: with eight of 4096 a graph took 841 µs, with two 793 (H200).
  constexpr double updatedElements = 131072, summedElements = 32768, heldElements = 8192,
                   sharedColumns = 256, bytesOfRow = 8192;
  double elements = 1;
  int inner = 0;
  bool hasColumns = false, hasWholeRows = false;
  for (auto &[name, axis] : axes) {
    if (!axis.isSizable && !axis.isProgram) { // a whole axis
      elements *= static_cast<double>(axis.extent);
      hasWholeRows |= axis.isInner;
    }
    inner += axis.isSizable && axis.isInner;
    hasColumns |= axis.isSizable && axis.isProgram && axis.isInner;
  }
  double usual = updatesAll && hasWholeRows                  ? heldElements
                 : updatesAll || (updatesRows && hasColumns) ? summedElements
                 : updatesRows                               ? updatedElements
                                                             : usualElements;
  auto takeShare = [&](AxisInfo &axis, double wanted) {
    take(axis, static_cast<int64_t>(std::clamp(wanted, 1.0, 65536.0)));
    elements *= static_cast<double>(std::min(axis.size, axis.extent));
  };
  for (auto &[name, axis] : axes)
    if (axis.isSizable && !axis.isProgram)
      takeShare(axis, axis.isInner ? 1024 : 32);
  // A few rows share what they have in common. With two inner axes one tensor is read across: a
  // square, whose rows are whole lines of the cache.
  for (auto &[name, axis] : axes)
    if (axis.isSizable && axis.isProgram && axis.isInner)
      takeShare(axis, inner > 1     ? 64
                      : updatesRows ? bytesOfRow / elementBytes
                      : sharesRows  ? sharedColumns
                      // Rows that are whole, and go across as well: as many as registers hold.
                      : hasWholeRows ? std::clamp(registersForTiles / elements, 1.0, 128.0)
                                     : std::clamp(usual / elements, 128.0,
                                                  updatesAll ? summedElements : 1024.0));
  // The rest goes to what is next to each other in memory.
  SmallVector<AxisInfo *> outer;
  for (auto &[name, axis] : axes)
    if (axis.isSizable && axis.isProgram && !axis.isInner)
      outer.push_back(&axis);
  llvm::stable_sort(outer, [](AxisInfo *x, AxisInfo *y) { return x->dimension > y->dimension; });
  for (AxisInfo *axis : outer)
    takeShare(*axis, usual / elements);
}

/// An operand of a contraction that bulk copies may bring.
bool Chooser::isCopied(LoadOp load) {
  auto argument = load ? dyn_cast<BlockArgument>(load.getSource()) : BlockArgument();
  int64_t rank = load ? load.getSource().getType().getRank() : 0;
  return argument && rank > 1 &&
         isUniform(load.getMap(), load.getDims(), static_cast<unsigned>(rank - 2)) &&
         load.getBounds() != BoundsMode::clamp &&
         (!load.getPad() || matchPattern(load.getPad(), m_AnyZeroFloat()) ||
          matchPattern(load.getPad(), m_Zero())) &&
         hasCopiedRows(kernel, argument.getArgNumber(), dims);
}

/// Whether the kernel with the sizes that were chosen is what the compiler takes for one.
bool Chooser::isProduct() {
  llvm::StringMap<int64_t> sizes = given;
  for (StringAttr binder : sizableBinders(kernel))
    if (axes[binder].size > 0)
      sizes[binder.getValue()] = axes[binder].size;
  OwningOpRef<KernelOp> compiled = asCompiled(kernel, dims, sizes);
  return compiled && findProduct(*compiled).product;
}

/// The loads that copies bring for an operand; none where copies can't.
SmallVector<LoadOp> Chooser::copiedOf(const OperandDesc &operand, bool mayCompute) {
  // i8 that is widened for the sums is multiplied as it is (WarpMma.h).
  auto wide = operand.value.getDefiningOp<arith::ExtSIOp>();
  LoadOp widened = wide ? wide.getIn().getDefiningOp<LoadOp>() : LoadOp();
  SmallVector<LoadOp> loads;
  if (axesOf(operand.value.getType()).size() != 2)
    return loads;
  if (widened)
    loads = {widened};
  else if (isFetched(operand) || mayCompute)
    loads = boxesOf(operand);
  return llvm::all_of(loads, [&](LoadOp load) { return isCopied(load); }) ? loads
                                                                          : SmallVector<LoadOp>();
}

/// Blocks of a product that becomes a pipeline on the tensor cores (Products.h), by its target.
/// False where the kernel is none that could, or its schedule has no block for it.
bool Chooser::chooseForProduct() {
  if (!target.hasWarpgroupMma || dots.size() != 1 || axesOf(dots[0].getType()).size() != 2 ||
      !whyNoPipeline(kernel).empty())
    return false;
  std::vector<LoopDesc> loops = describeLoops(kernel);
  if (loops.size() != 1)
    return false;
  const ContractionDesc &contraction = loops[0].contractions[0];
  DotOp dot = contraction.dot;
  auto loop = dyn_cast<ForOp>(dot->getParentOp());
  ArrayRef<StringAttr> both = axesOf(dot.getType());
  SmallVector<StringAttr> all(both);
  all.push_back(dot.getAxisAttr());
  if (!loop || loop.getNameAttr() != dot.getAxisAttr() || !isa<ParallelOp>(loop->getParentOp()) ||
      loop.getKind() == LoopKind::sequential || !Domains(kernel).restrictsOn(all).empty())
    return false;
  auto isOfRows = [&](const OperandDesc &operand) {
    return llvm::is_contained(axesOf(operand.value.getType()), both[0]);
  };
  bool isTransposed = !isOfRows(contraction.lhs);
  const OperandDesc &left = isTransposed ? contraction.rhs : contraction.lhs,
                    &right = isTransposed ? contraction.lhs : contraction.rhs;
  SmallVector<LoadOp> lefts = copiedOf(left, canCompute(left)), rights = copiedOf(right, false);
  if (lefts.empty() || rights.empty())
    return false;
  LoadOp lhs = lefts.front(), rhs = rights.front();
  auto computedFrom = static_cast<int64_t>(canCompute(left) ? lefts.size() : 0);
  Type element = getElementTypeOrSelf(computedFrom > 0 ? left.value.getType() : lhs.getType());
  if (element != getElementTypeOrSelf(rhs.getType()) ||
      !canMultiply(element, getElementTypeOrSelf(dot.getType())))
    return false;
  auto isOther = [&](AxisOp axis) {
    return llvm::is_contained(both, axisOf(axis.getSpan())) ? WalkResult::advance()
                                                            : WalkResult::interrupt();
  };
  if (kernel.walk(isOther).wasInterrupted())
    return false;
  AxisInfo &rows = axes[both[0]], &columns = axes[both[1]], &depth = axes[loop.getNameAttr()];
  auto lastAxisIs = [](LoadOp load, StringAttr axis) {
    return mapAxes(load.getMap(), load.getDims()).names.back() == axis;
  };
  bool rowsTurned = lastAxisIs(lhs, both[0]), columnsTurned = lastAxisIs(rhs, both[1]);
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  ProductExtents extents{rows.extent, columns.extent, depth.extent, eachPrograms, bytes};
  bool isTwice = hasCoarseSums(element);
  auto sizesOf = [](const AxisInfo &axis, ArrayRef<int64_t> usual) {
    if (!axis.isSizable) // a whole axis
      return SmallVector<int64_t>{axis.isKnown ? axis.extent : 0};
    return axis.candidates.empty() ? SmallVector<int64_t>(usual) : axis.candidates;
  };
  // Elements that move between threads stay in a block of them.
  bool moves = kernel
                   .walk([&](Operation *op) {
                     bool isLocal = isa<LoadOp, StoreOp, DotOp>(op) || !isa<AlongAxes>(op);
                     auto store = dyn_cast<StoreOp>(op);
                     if (store && isLocal)
                       isLocal = mapAxes(store.getMap(), store.getDims()).names.size() == 2;
                     return isLocal ? WalkResult::advance() : WalkResult::interrupt();
                   })
                   .wasInterrupted();
  // 0: neither the caller nor the schedule says.
  auto countOf = [&](StringRef name) -> int64_t {
    auto scheduled = dyn_cast_or_null<IntegerAttr>(settingOf(kernel, name));
    auto wanted = given.find(name);
    return wanted != given.end() ? wanted->second : scheduled ? scheduled.getInt() : 0;
  };
  int64_t stages = std::max<int64_t>(2, countOf("stages"));
  SmallVector<int64_t> splits = scheduledSizes(kernel, "split", "cuda");
  if (auto wanted = given.find("split"); wanted != given.end())
    splits = {wanted->second};
  else if (splits.empty())
    splits = {1, 2, 4, 8};
  // There are instructions for all multiples of 16, which leave fewer multiprocessors idle. Where a
  // turn has sums of its own those in between were slow (docs/performance.md).
  SmallVector<int64_t> widths;
  for (int64_t width = 256; width >= 64; width -= isTwice ? 64 : 16)
    widths.push_back(width);
  double best = 0;
  int64_t chosenSplits = 1;
  auto chooseWith = [&](int64_t slots) {
    for (int64_t k : sizesOf(depth, {panelBytes / bytes, 2 * panelBytes / bytes}))
      for (int64_t j : sizesOf(columns, widths))
        for (int64_t i : sizesOf(rows, {256, 128, 64})) {
          for (int64_t s : splits) {
            ProductBlock block{
                i, j, k, s, rows.isKnown && !rowsTurned ? rows.extent : 0, isTwice, computedFrom};
            if (!refusalOf(block, bytes, rowsTurned, columnsTurned).empty() ||
                slotsFor(block, extents.bytes, target) <
                    std::max(slots, leastSlots(block, bytes)) ||
                ((blocksOfRows(block) > 1 || s > 1) && moves))
              continue;
            double cycles = cyclesOf(extents, block, target);
            if (best > 0 && cycles >= best)
              continue;
            best = cycles;
            rows.size = i, columns.size = j, depth.size = k;
            chosenSplits = s;
          }
        }
  };
  chooseWith(stages);
  if (best > 0 && splits.size() > 1 && (chosenSplits > 1 || settingOf(kernel, "split")))
    settings["split"] = chosenSplits;
  if (best == 0) // more stages than any block has room for: that is told of the usual one
    chooseWith(2);
  // Others: loops get what is usual, a program one element.
  for (auto &[name, axis] : axes)
    if (axis.isSizable && &axis != &rows && &axis != &columns && &axis != &depth)
      axis.size = !axis.candidates.empty() ? axis.candidates.front() : axis.isProgram ? 1 : 0;
  return best > 0 && isProduct();
}

/// Whether programs of blocks of so many of the axis make contractions again that are no trifle
/// beside what they have for themselves.
bool Chooser::repeats(StringAttr name, int64_t size) {
  double repeated = 0, own = 0; // of a block, and of one coordinate
  for (DotOp dot : dots) {
    auto work = static_cast<double>(axes[dot.getAxisAttr()].extent);
    bool isOwn = dot.getAxisAttr() == name;
    for (StringAttr axis : axesOf(dot.getType())) {
      isOwn |= axis == name;
      work *= axis == name ? 1 : static_cast<double>(axes[axis].extent);
    }
    (isOwn ? own : repeated) += work;
  }
  return axes[name].isProgram && 4 * repeated > own * static_cast<double>(size);
}

/// A contraction's sums stay in registers: where a whole axis makes their rows long, a program has
/// fewer of them, down to what an instruction takes. Where that is not enough, nothing changes.
void Chooser::fitSums(DotOp dot, int64_t floor) {
  SmallVector<std::pair<StringAttr, AxisInfo *>> open;
  int64_t held = std::max(1u, getElementTypeOrSelf(dot.getType()).getIntOrFloatBitWidth() / 32);
  int64_t least = held;
  for (StringAttr name : axesOf(dot.getType())) {
    AxisInfo &axis = axes[name];
    int64_t size = axis.isSizable && axis.size > 0 ? axis.size : axis.extent;
    bool isOpen = axis.isSizable && axis.candidates.empty() && axis.size > floor;
    held = productOf(held, size);
    least = productOf(least, isOpen ? floor : size);
    if (isOpen)
      open.emplace_back(name, &axis);
  }
  if (least > registersForTiles)
    return;
  // Blocks that repeat something are shortened last.
  auto order = [&](const auto &x) {
    return std::tuple(x.second->size > floor, !repeats(x.first, x.second->size / 2),
                      x.second->size);
  };
  for (; held > registersForTiles; held /= 2) {
    AxisInfo *longest = llvm::max_element(open, [&](const auto &x, const auto &y) {
                          return order(x) < order(y);
                        })->second;
    longest->size /= 2;
  }
}

/// Blocks of contractions outside pipelines: squares of programs' axes, if there are enough of them
/// for the device, and what a turn of a loop contracts in rows of 128 bytes; where plain threads
/// multiply, of 256, as their turns wait for each other. An axis of whose blocks each would
/// contract much again, as scores for what attention gives, has one block, if registers hold that.
/// Axes of a schedule have its first size; instructions of warps have blocks of their own size, and
/// plain threads what is there.
void Chooser::chooseForDots() {
  constexpr int64_t rowBytes = 128, plainRowBytes = 256, large = 128, usual = 64, least = 32,
                    mostWhole = 1024;
  bool isSingle = dots.size() == 1;
  bool isPlain = llvm::none_of(dots, [](DotOp dot) { return warpMmaOf(dot).has_value(); });
  SmallVector<AxisInfo *> ofPrograms;
  for (auto &[name, axis] : axes) {
    axis.size = 0;
    if (axis.isSizable && !axis.candidates.empty())
      axis.size = isPlain ? atMostWhole(axis, axis.candidates.front()) : axis.candidates.front();
  }
  for (DotOp dot : dots) {
    std::optional<WarpMma> mma = warpMmaOf(dot);
    // Blocks that have whole rows are what those leave of them.
    auto isCut = [&](StringAttr name) { return axes[name].isSizable || axes[name].extent == 1; };
    if (!mma && !llvm::all_of(axesOf(dot.getType()), isCut))
      continue;
    Type element = mma ? mma->element : getElementTypeOrSelf(dot.getLhs().getType());
    int64_t bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
    auto choose = [&](StringAttr name, int64_t wanted) {
      AxisInfo &axis = axes[name];
      if (!axis.isSizable || !axis.candidates.empty() || axis.size != 0)
        return;
      int64_t most = mma ? mostWhole : 2 * usual;
      bool isWhole = axis.isKnown && axis.extent <= most && repeats(name, wanted);
      take(axis, isWhole ? axis.extent : wanted);
      if (axis.isProgram && !isWhole)
        ofPrograms.push_back(&axis);
    };
    ArrayRef<StringAttr> result = axesOf(dot.getType());
    bool isMatrix = result.size() == 2 && isSingle && bytes <= 4;
    for (StringAttr name : result) // of batches a program has one
      choose(name, llvm::is_contained(axesOf(dot.getLhs().getType()), name) &&
                           llvm::is_contained(axesOf(dot.getRhs().getType()), name)
                       ? 1
                   : isMatrix && mma ? large
                                     : usual);
    choose(dot.getAxisAttr(),
           mma ? std::max<int64_t>(mma->depth, rowBytes / bytes) : plainRowBytes / bytes);
  }
  auto halve = [&](int64_t floor) {
    AxisInfo *largest = nullptr;
    for (AxisInfo *axis : ofPrograms)
      if (axis->size > floor && (!largest || axis->size > largest->size))
        largest = axis;
    if (largest)
      largest->size /= 2;
    return largest != nullptr;
  };
  while (programs() < target.multiprocessors && halve(least)) {
  }
  constexpr int64_t rowsOfInstruction = 8;
  for (DotOp dot : dots)
    if (warpMmaOf(dot))
      fitSums(dot, rowsOfInstruction);
}

int64_t Chooser::programs() const {
  uint64_t count = eachPrograms;
  for (const auto &[name, axis] : axes)
    if (axis.isSizable && axis.isProgram)
      count = llvm::SaturatingMultiply<uint64_t>(
          count,
          llvm::divideCeil(static_cast<uint64_t>(axis.extent), std::max<int64_t>(1, axis.size)));
  return static_cast<int64_t>(std::min<uint64_t>(count, INT64_MAX));
}

/// Programs for every multiprocessor, several at a time, if there is anything to share.
void Chooser::spread() {
  constexpr int64_t programsEach = 4, leastInner = 256, forCopies = 512;
  int64_t most = programsEach * target.multiprocessors;
  // Blocks with copies of an output run programs one after the other; there are 256 of them and
  // more.
  int64_t enough = updatesRows || updatesAll ? std::min(most, forCopies) : most;
  while (programs() < enough) {
    AxisInfo *largest = nullptr;
    for (auto &[name, axis] : axes)
      if (axis.isSizable && axis.isProgram && axis.candidates.empty() &&
          axis.size > (axis.isInner ? leastInner : 1) &&
          (!largest || (largest->isInner && !axis.isInner) ||
           (largest->isInner == axis.isInner && axis.size > largest->size)))
        largest = &axis;
    if (!largest)
      break;
    largest->size /= 2;
  }
}

llvm::StringMap<int64_t> Chooser::choose() {
  collectAxes();
  collectInner();
  collectShared();
  collectCandidates();
  llvm::StringMap<int64_t> sizes;
  if (!kernel.isGrid() && !dots.empty()) {
    isPipeline = chooseForProduct();
    if (!isPipeline)
      chooseForDots();
    for (StringAttr binder : sizableBinders(kernel))
      if (axes[binder].size > 0)
        sizes[binder.getValue()] = axes[binder].size;
    for (const auto &[name, value] : settings)
      if (isCountSetting(kernel, name))
        sizes[name] = value;
    return sizes;
  }
  if (kernel.isGrid()) { // the first candidates, and what is usual
    for (StringAttr binder : sizableBinders(kernel))
      if (!axes[binder].candidates.empty())
        sizes[binder.getValue()] = axes[binder].candidates.front();
    return sizes;
  }
  chooseForElements();
  spread();
  for (StringAttr binder : sizableBinders(kernel))
    sizes[binder.getValue()] = std::clamp<int64_t>(axes[binder].size, 1, maxTileSize);
  return sizes;
}

llvm::StringMap<int64_t> tile::codegen::gpu::chooseTiles(KernelOp kernel, ArrayRef<int64_t> dims,
                                                         const llvm::StringMap<int64_t> &given,
                                                         const GpuTarget &target, bool fixed,
                                                         bool *isPipeline) {
  auto choose = [&](KernelOp from, const llvm::StringMap<int64_t> &known) {
    Chooser chooser(from, dims, known, target, fixed);
    llvm::StringMap<int64_t> sizes = chooser.choose();
    if (isPipeline)
      *isPipeline = chooser.isPipeline;
    return sizes;
  };
  if (fixed)
    return choose(kernel, given);
  // Contractions of whole axes are loops by then, whose sizes are not the caller's.
  OwningOpRef<KernelOp> looped(kernel.clone());
  sumVectorDots(*looped);
  llvm::StringMap<int64_t> loops = loopContractions(*looped), known = given;
  narrowDots(*looped);
  for (const auto &[name, size] : loops)
    known[name] = size;
  llvm::StringMap<int64_t> sizes = choose(*looped, known);
  for (const auto &[name, size] : loops)
    sizes.erase(name);
  return sizes;
}
