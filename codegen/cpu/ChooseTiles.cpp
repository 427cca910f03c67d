//===- ChooseTiles.cpp - tile sizes for a CPU -----------------------------===//

#include "codegen/cpu/ChooseTiles.h"
#include "codegen/Elementwise.h"
#include "codegen/Neighbours.h"
#include "codegen/cpu/Plan.h"
#include "codegen/cpu/ShortDims.h"
#include "codegen/cpu/TileChooser.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

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
/// The machine for which sizes are chosen that decide in which order a sum adds up.
constexpr CpuMachine referenceMachine{.threads = 8};
} // namespace

//===-- What the kernel says ----------------------------------------------===//

std::optional<int64_t> TileChooser::evaluate(Value value) {
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

void TileChooser::collectAxes() {
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

void TileChooser::collectArithmetic(Operation *op) {
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

/// Gives the bytes of an element of each tensor whose rows go along the axis and whose elements the
/// value is made of, each in its place.
static SmallVector<double, 1> rowsReadAlong(Value value, StringAttr axis) {
  llvm::SmallSetVector<Value, 8> open, tensors;
  open.insert(value);
  SmallVector<double, 1> bytes;
  for (size_t n = 0; n < open.size(); ++n) {
    Operation *op = open[n].getDefiningOp();
    if (auto load = dyn_cast_or_null<LoadOp>(op)) {
      bool hasRows =
          axesOf(load.getType()).size() > 1 && innermostAxis(load.getMap(), load.getDims()) == axis;
      if (hasRows && tensors.insert(load.getSource()))
        bytes.push_back(getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth() / 8.0);
    } else if (op && !Plan::isRoot(op)) {
      for (Value operand : op->getOperands())
        if (llvm::is_contained(axesOf(operand.getType()), axis))
          open.insert(operand);
    }
  }
  return bytes;
}

void TileChooser::collectRoles() {
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
    else if (auto store = dyn_cast<StoreOp>(op)) {
      innermost(store.getMap(), store.getDims(), store.getTarget());
      stored.push_back(axesOf(store.getValue().getType()));
    } else if (auto update = dyn_cast<UpdateOp>(op))
      innermost(update.getMap(), update.getDims(), update.getTarget());
    if (auto reduce = dyn_cast<ReduceOp>(op))
      reductions.push_back({axesOf(reduce.getInput().getType()), loopsAround(op)});
    auto dot = dyn_cast<DotOp>(op);
    // Nobody uses what has become part of a sum: it is still there, as nothing is simplified yet.
    if (!dot || dot->use_empty() || axesOf(dot.getType()).empty())
      return;
    Contraction &contraction = dots.emplace_back();
    contraction.depth = dot.getAxisAttr();
    contraction.bytes = getElementTypeOrSelf(dot.getType()).getIntOrFloatBitWidth() / 8;
    axes[contraction.depth].isDepth = true;
    llvm::append_range(contraction.loops, loopsAround(dot));
    if (llvm::any_of(contraction.loops,
                     [&](ForOp loop) { return loop.getNameAttr() == contraction.depth; }))
      contraction.inBlocks = rowsReadAlong(dot.getLhs(), contraction.depth);
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

void TileChooser::collectCandidates() {
  for (StringAttr binder : sizableBinders(kernel)) {
    AxisInfo &axis = axes[binder];
    if (auto size = given.find(binder.getValue()); size != given.end())
      axis.candidates = {size->second};
    else
      axis.candidates = scheduledSizes(kernel, binder, "cpu");
  }
}

/// One program takes so many elements of an axis.
double TileChooser::length(StringAttr name) {
  const AxisInfo &axis = axes[name];
  return static_cast<double>(axis.isSizable ? std::min(axis.size, axis.extent) : axis.extent);
}

void TileChooser::take(AxisInfo &axis, double wanted) {
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

double TileChooser::programs() const {
  double count = eachPrograms;
  for (const auto &[name, axis] : axes)
    if (axis.isSizable && axis.isProgram)
      count *= static_cast<double>((axis.extent + axis.size - 1) / axis.size);
  return count;
}

/// A program's tile of this type takes so many bytes.
double TileChooser::bytesOf(Type type) {
  double bytes = std::max(1U, getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8);
  for (StringAttr axis : axesOf(type))
    bytes *= length(axis);
  return bytes;
}

double TileChooser::keptBytes() {
  double bytes = 0;
  Plan plan(kernel);
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      bytes += plan.keeps(result) ? bytesOf(result.getType()) : 0;
  });
  return bytes;
}

llvm::StringMap<int64_t> TileChooser::choose() {
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
bool TileChooser::decidesOrder(StringAttr binder, int64_t size, int64_t other) {
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
  TileChooser usual(kernel, dims, given, referenceMachine);
  llvm::StringMap<int64_t> reference = usual.choose(), fixed(given);
  while (true) {
    llvm::StringMap<int64_t> sizes = TileChooser(kernel, dims, fixed, machine).choose();
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
  TileChooser chooser(kernel, dims, sizes, machine);
  chooser.choose();
  return {chooser.cyclesOfContractions(), chooser.keptBytes()};
}
