//===- PlanProgram.cpp - what a program of a kernel has of the device -----===//

#include "codegen/gpu/plan/PlanProgram.h"
#include "codegen/Elementwise.h"
#include "codegen/Neighbours.h"
#include "codegen/gpu/dialect/KernelAttributes.h"
#include "codegen/gpu/dialect/Settings.h"
#include "codegen/gpu/dialect/Sites.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/loops/ChooseWarps.h"
#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/gpu/loops/NormalizeKernel.h"
#include "codegen/gpu/loops/ValueFacts.h"
#include "codegen/gpu/plan/Divisors.h"
#include "codegen/gpu/plan/OutputCopies.h"
#include "ir/builder/Schedule.h"
#include "ir/transforms/Specialize.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using tile::codegen::innermostDimension;

/// Whether blocks of a cluster can share programs: elements move between them in reductions alone,
/// and what a program reports one block does.
static bool canCluster(KernelOp kernel) {
  if (kernel.isGrid() || speaks(kernel))
    return false;
  // What one block changes another one may still have to read.
  for (unsigned n = 0; n < kernel.getNumArguments(); ++n)
    if (kernel.getParamMode(n) == ParamMode::InOut)
      return false;
  WalkResult result = kernel.walk([&](Operation *op) {
    bool isKnown = isa<KernelOp, ParallelOp, AxisOp, DimOp, LoadOp, StoreOp, BroadcastOp, CoordsOp,
                       ReduceOp, CountOp, RequireOp, arith::ConstantOp, arith::SelectOp>(op) ||
                   op->hasTrait<OpTrait::IsTerminator>() ||
                   (op->hasTrait<OpTrait::Elementwise>() && op->getNumRegions() == 0);
    return isKnown ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// Registers, of 32 bits, for a tile. One that is a broadcast costs nothing.
static int64_t registersOf(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile || axesOf(tile).empty() || !tile.hasStaticShape() ||
      isa_and_nonnull<BroadcastOp, arith::ConstantOp, CoordsOp>(value.getDefiningOp()))
    return 0;
  return tile.getNumElements() * std::max(1u, tile.getElementType().getIntOrFloatBitWidth() / 32);
}

/// Counts those of contractions and their operands, if one takes what another one gives, as in
/// attention: ptxas has much of all of them at a time (167 to 255 registers a thread there).
static int64_t chainRegisters(KernelOp kernel) {
  llvm::SmallPtrSet<void *, 8> seen;
  int64_t registers = 0;
  bool isChain = false;
  kernel.walk([&](DotOp dot) {
    isChain |= isOfDot(dot.getLhs()) || isOfDot(dot.getRhs());
    for (Value value : {Value(dot.getLhs()), Value(dot.getRhs()), Value(dot.getResult())})
      if (seen.insert(value.getAsOpaquePointer()).second)
        registers += registersOf(value);
  });
  return isChain ? registers : 0;
}

/// Registers, of 32 bits, for the tiles that are there while threads wait for each other, where the
/// most are: what is made before a reduction and used after it. Others pass through a few registers
/// at a time. `across`: only what is used afterwards.
static int64_t liveRegisters(KernelOp kernel, bool across = false) {
  llvm::DenseMap<Value, unsigned> lastUse;
  llvm::DenseMap<Operation *, unsigned> numbers;
  SmallVector<Operation *> ops;
  kernel.getParallel().walk([&](Operation *op) {
    unsigned number = numbers[op] = ops.size();
    ops.push_back(op);
    for (Value operand : op->getOperands()) {
      lastUse[operand] = number;
      if (auto broadcast = operand.getDefiningOp<BroadcastOp>())
        lastUse[broadcast.getInput()] = number;
    }
  });
  int64_t most = 0;
  for (Operation *op : ops) {
    if (!isa<ReduceOp, ArgReduceOp>(op))
      continue;
    unsigned here = numbers[op];
    int64_t live = 0;
    for (auto &[value, last] : lastUse) {
      Operation *made = value.getDefiningOp();
      bool isBefore = made && numbers.contains(made) && numbers[made] < here;
      if (isBefore && last > here)
        live += registersOf(value);
    }
    most = std::max({most, live, across ? 0 : registersOf(op->getOperand(0))});
  }
  return most;
}

/// Elements of the widest tile along all axes but one.
static int64_t rowsBeside(KernelOp kernel, StringAttr axis) {
  int64_t most = 1;
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      ArrayRef<StringAttr> axes = axesOf(result.getType());
      if (!llvm::is_contained(axes, axis))
        continue;
      int64_t rows = 1; // axes whose length isn't known are cut, too
      for (auto [name, extent] :
           llvm::zip(axes, cast<RankedTensorType>(result.getType()).getShape()))
        rows = productOf(rows, name == axis || ShapedType::isDynamic(extent) ? 1 : extent);
      most = std::max(most, rows);
    }
  });
  return most;
}

static bool storesAlong(KernelOp kernel, AxisOp axis) {
  StringAttr name = axis.getSpan().getType().getName();
  bool found = false;
  kernel.walk([&](StoreOp op) {
    found |= llvm::is_contained(mapAxes(op.getMap(), op.getDims()).names, name);
  });
  return found;
}

namespace {
/// What the loads and stores of the largest tiles have in common.
struct WideAccesses {
  int64_t elements = 1;
  /// Of an element, at most.
  unsigned bytes = 1;
  /// Whether all walk through memory along the same axis, and how many neighbours are in a tile.
  bool isAligned = true;
  int64_t row = 1;
  /// Whether there are loads of less than that: rows that many have in common.
  bool hasShared = false;
};
} // namespace

static WideAccesses wideAccesses(KernelOp kernel) {
  WideAccesses wide;
  Value last;
  auto visit = [&](AffineMap map, ValueRange dims, Value memory) {
    int64_t elements = 1;
    for (int64_t extent : mapAxes(map, dims).extents)
      elements = productOf(elements, extent);
    if (elements == unboundedElements || elements < wide.elements || map.getNumResults() == 0)
      return;
    if (elements > wide.elements)
      wide = {elements, 1, true}, last = Value();
    auto type = cast<MemRefType>(memory.getType());
    wide.bytes = std::max(wide.bytes, type.getElementType().getIntOrFloatBitWidth() / 8);
    for (auto [n, dim] : llvm::enumerate(dims))
      if (map.getResult(innermostDimension(type)).isFunctionOfDim(n)) {
        wide.isAligned &= !last || last == dim;
        last = dim;
        if (auto span = dyn_cast<SpanType>(dim.getType()))
          wide.row = span.getExtent();
      }
  };
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      visit(load.getMap(), load.getDims(), load.getSource());
    else if (auto store = dyn_cast<StoreOp>(op))
      visit(store.getMap(), store.getDims(), store.getTarget());
  });
  kernel.walk([&](LoadOp op) {
    auto tile = dyn_cast<RankedTensorType>(op.getType());
    wide.hasShared |= tile && tile.hasStaticShape() && tile.getNumElements() > 1 &&
                      tile.getNumElements() < wide.elements;
  });
  return wide;
}

static constexpr int64_t elementsPerThread = 16, mostPerThread = 64;

/// Tells whether a reduction joins elements: along axes of one element there is nothing to join.
static bool joins(ReduceOp reduce) {
  auto all = cast<RankedTensorType>(reduce.getInput().getType());
  auto rest = dyn_cast<RankedTensorType>(reduce.getType());
  return !all.hasStaticShape() || all.getNumElements() != (rest ? rest.getNumElements() : 1);
}

/// Warps for kernels that move data and do little else. Without reductions two accesses of 16 bytes
/// a thread and tensor are enough, four of halves where what was read serves several rows; rows of
/// halves, which have half of the bytes to wait for, are better off with fewer threads and more of
/// the row in each if they are folded more than once, long rows of f32 with more threads.
static unsigned adjustWarps(KernelOp kernel, unsigned warps) {
  unsigned folds = 0;
  bool hasOthers = false;
  kernel.walk([&](Operation *op) {
    auto reduce = dyn_cast<ReduceOp>(op);
    folds += reduce && joins(reduce);
    hasOthers |= isa<DotOp, ForOp, ArgReduceOp, ScanOp>(op);
  });
  WideAccesses wide = wideAccesses(kernel);
  if (hasOthers || !wide.isAligned)
    return warps;
  auto warpsFor = [&](int64_t perThread) {
    return static_cast<unsigned>(llvm::bit_floor(
        static_cast<uint64_t>(std::max<int64_t>(1, wide.elements / (32 * perThread)))));
  };
  if (folds == 0)
    return std::min(
        8u, warpsFor(std::max(1u, (wide.hasShared && wide.bytes == 2 ? 64 : 32) / wide.bytes)));
  // What is folded at once passes through: no thread has to hold it.
  bool holds = liveRegisters(kernel, /*across=*/true) > 0;
  unsigned most = holds ? std::max(16u, warps) : 16u;
  warps = std::min(warps, most);
  if (wide.bytes == 2)
    return folds == 1 && holds ? std::min(most, warpsFor(elementsPerThread))
                               : std::min(warps, std::max(4u, warpsFor(64)));
  constexpr int64_t longRow = 1024;
  return std::clamp(warpsFor(elementsPerThread / (wide.row < longRow ? 1 : 2)), warps, most);
}

/// The longest whole axis, or one of no known length.
static AxisOp longestAxis(KernelOp kernel) {
  AxisOp longest;
  auto lengthOf = [](AxisOp axis) {
    int64_t extent = axis.getSpan().getType().getExtent();
    return ShapedType::isDynamic(extent) ? std::numeric_limits<int64_t>::max() : extent;
  };
  kernel.walk([&](AxisOp axis) {
    if (!longest || lengthOf(axis) > lengthOf(longest))
      longest = axis;
  });
  return longest;
}

/// Where rows are only read, several blocks on a multiprocessor are better: one reads while another
/// computes. But blocks of a cluster start together and wait for each other.
static constexpr int64_t goodOfReader = 8192, mostWithoutCluster = 16384;
/// Blocks beyond it are not promised to every device, and wait long for room.
static constexpr unsigned usualBlocks = 8;

/// Elements of a row that a thread has at a time, where more make longer code that doesn't run
/// faster. Of 128 that only pass through its registers, each with a function, ptxas takes seconds,
/// and spills; a row that is held anyway is worth more.
static constexpr int64_t mostPassing = 32, mostHeld = 256;

/// What folds take of shared memory, beside the chunks that are kept.
static constexpr int64_t forFolds = 8 << 10;

/// Whether the end of an axis may fall between any two elements, so that each has a mask.
static bool hasMaskForEach(KernelOp kernel, AxisOp axis) {
  constexpr int64_t together = 4;
  Domains domains(kernel);
  return Divisors(kernel, domains).ofEnd(axis.getSpan().getType().getName()) % together != 0;
}

/// Elements of each tensor that a thread has at a time of a row in chunks: fewer where several
/// tensors have rows as wide, whose tiles are there together, or where masks are.
static int64_t elementsOfChunk(KernelOp kernel, AxisOp axis) {
  StringAttr name = axis.getSpan().getType().getName();
  llvm::SmallPtrSet<Value, 4> tensors;
  size_t most = 0;
  kernel.walk([&](LoadOp op) {
    AxisList axes = mapAxes(op.getMap(), op.getDims());
    if (!llvm::is_contained(axes.names, name) || axes.names.size() < most)
      return;
    if (axes.names.size() > most)
      tensors.clear();
    most = axes.names.size();
    tensors.insert(op.getSource());
  });
  auto wide = static_cast<int64_t>(std::max<size_t>(1, tensors.size()));
  return std::max<int64_t>(4, elementsPerThread / wide / (hasMaskForEach(kernel, axis) ? 2 : 1));
}

/// What joining two states of scans along an axis costs, in rough additions.
static int64_t costOfJoin(KernelOp kernel, AxisOp axis) {
  int64_t most = 0;
  kernel.walk([&](ScanOp op) {
    int64_t cost = 0;
    for (Operation &inner : op.getCombine().front().without_terminator())
      cost += tile::codegen::costOf(&inner);
    if (op.getAxisAttr() == axis.getSpan().getType().getName())
      most = std::max(most, cost);
  });
  return most;
}

/// Joins in a thread's code, by cost: elements of a scan take two each, and each access some ten
/// more, for the threads beside it. Of more, each with a function, assemblers take seconds, and
/// spill.
static constexpr int64_t mostJoined = 256;
/// Enough for short rows; of more, each thread joins what all warps have.
static constexpr unsigned warpsForJoins = 8;

static void planLoop(ProgramPlan &plan, KernelOp kernel, AxisOp axis, const LoopedAxis &looped,
                     const GpuTarget &target, bool isWarpsGiven) {
  plan.looped = axis;
  if (!isWarpsGiven)
    plan.warps = 16;
  int64_t rows = rowsBeside(kernel, axis.getSpan().getType().getName());
  int64_t perThread = elementsOfChunk(kernel, axis), cost = costOfJoin(kernel, axis);
  if (cost * perThread > mostJoined) {
    perThread =
        static_cast<int64_t>(llvm::bit_floor(uint64_t(std::max<int64_t>(1, mostJoined / cost))));
    plan.warps = isWarpsGiven ? plan.warps : warpsForJoins;
  }
  int64_t perBlock = 32 * int64_t(plan.warps) * perThread;
  // Short chunks are read piece by piece; but what is beside the axis has to fit as well.
  int64_t least = 128;
  while (least > 1 && least * rows > registersForTiles * plan.blocks)
    least /= 2;
  plan.chunk = std::max<int64_t>(
      least, static_cast<int64_t>(llvm::bit_floor(uint64_t(perBlock * plan.blocks / rows))));
  int64_t extent = axis.getSpan().getType().getExtent();
  if (looped.keptBytes == 0 || ShapedType::isDynamic(extent))
    return;
  int64_t bytes = looped.keptBytes * plan.chunk / plan.blocks;
  int64_t chunks = llvm::divideCeil(extent, plan.chunk);
  plan.keptChunks = std::min(chunks, (target.sharedBytes - forFolds) / bytes);
}

void tile::codegen::gpu::makeRoom(KernelOp kernel) {
  auto limits = kernel->getAttrOfType<DictionaryAttr>(limitsAttrName);
  if (!limits)
    return;
  llvm::StringMap<int64_t> dims;
  for (NamedAttribute limit : limits)
    dims[limit.getName()] = cast<IntegerAttr>(limit.getValue()).getInt();
  limitAxes(kernel, dims);
}

/// Blocks that a multiprocessor has room for, where so many registers are live in a program.
static int64_t ctasAtATime(const ProgramPlan &plan, int64_t live, const GpuTarget &target) {
  // What a thread has beside what is live, by what ptxas gives.
  int64_t threads = 32 * int64_t(plan.warps), perThread = live / (threads * plan.blocks);
  int64_t registers = llvm::alignTo(std::min(maxRegistersOfThread, 20 + perThread * 3 / 2), 8);
  return std::clamp<int64_t>(
      registersOfMultiprocessor / (threads * registers), 1,
      std::min(target.ctasOfMultiprocessor, target.threadsOfMultiprocessor / threads));
}

/// How far ahead programs ask for rows: half of those that run at a time. With more, rows are gone
/// from the L2 cache, which holds what is written beside them, before they are read. Programs that
/// only read never let the memory rest.
static int64_t programsAhead(KernelOp kernel, AxisOp axis, const ProgramPlan &plan, int64_t live,
                             const GpuTarget &target) {
  constexpr int64_t leastBytes = 4096;
  if (!target.hasBulkCopies || live == 0 || kernel.isGrid() || !storesAlong(kernel, axis))
    return 0;
  for (const PrefetchedRows &rows : prefetchedRows(kernel))
    if (rows.bytes / plan.blocks < leastBytes)
      return 0;
  if (!copiesOf(kernel).empty()) // a block runs one after the other
    return 1;
  return std::max<int64_t>(1, target.multiprocessors * ctasAtATime(plan, live, target) /
                                  plan.blocks / 2);
}

/// One block, which goes through a row while others do; of rows that take it long, more.
static unsigned blocksForPass(int64_t elements, unsigned most) {
  constexpr int64_t mostOfPass = 262144;
  unsigned blocks = 1;
  while (blocks < std::min(most, usualBlocks) && elements / blocks > mostOfPass)
    blocks *= 2;
  return blocks;
}

/// Warps, blocks and chunks; `live` becomes the registers that a program's tiles take.
static ProgramPlan planAxes(KernelOp kernel, const GpuTarget &target, int64_t &live) {
  ProgramPlan plan;
  unsigned warps = chooseWarps(kernel);
  // 0: the schedule doesn't say.
  unsigned asked = target.maxClusterSize > 1 ? numberOf(kernel, "cluster") : 0;
  bool isWarpsGiven = settingOf(kernel, "warps") != nullptr;
  plan.warps = isWarpsGiven ? warps : adjustWarps(kernel, warps);
  if (kernel->hasAttr(tile::codegen::fixedOrderAttrName))
    return plan;
  AxisOp axis = longestAxis(kernel);
  if (!axis)
    return plan;
  bool isOpen = ShapedType::isDynamic(axis.getSpan().getType().getExtent());
  unsigned most = target.maxClusterSize > 1 && canCluster(kernel) ? target.maxClusterSize : 1;
  live = isOpen ? 0 : liveRegisters(kernel);
  if (asked)
    plan.blocks = std::min(asked, most);
  else if (!isOpen && live > mostWithoutCluster) {
    int64_t good = storesAlong(kernel, axis) ? registersForTiles : goodOfReader;
    while (plan.blocks < std::min(most, usualBlocks) && live / plan.blocks > good)
      plan.blocks *= 2;
  }
  if (!asked && live / plan.blocks > registersForTiles)
    plan.blocks = most;
  std::optional<LoopedAxis> looped = canLoop(axis);
  bool isTooLong =
      !isOpen && axis.getSpan().getType().getExtent() *
                         rowsBeside(kernel, axis.getSpan().getType().getName()) >
                     32 * int64_t(plan.warps * plan.blocks) * (live > 0 ? mostHeld : mostPassing);
  int64_t joined = isOpen ? 0
                          : costOfJoin(kernel, axis) * axis.getSpan().getType().getExtent() *
                                rowsBeside(kernel, axis.getSpan().getType().getName()) / 32;
  unsigned mostForJoins = looped ? warpsForJoins : static_cast<unsigned>(mostWarps);
  while (!isWarpsGiven && plan.warps < mostForJoins && joined / plan.warps > mostJoined)
    plan.warps *= 2;
  bool joinsMuch = looped && joined / plan.warps > mostJoined;
  // What is gone through once need not be held.
  bool isOnePass = looped && looped->phases == 1 && live > mostWithoutCluster;
  if (looped &&
      (isOpen || isOnePass || isTooLong || joinsMuch || live / plan.blocks > registersForTiles)) {
    if (!asked && (isOpen || isOnePass))
      plan.blocks = isOpen ? 1 : blocksForPass(live, most);
    planLoop(plan, kernel, axis, *looped, target, isWarpsGiven);
    plan.phases = looped->phases;
    // A chunk at a time.
    live = std::min<int64_t>(live, plan.chunk * rowsBeside(kernel, axisOf(axis.getSpan())));
    return plan;
  }
  if (plan.blocks > 1 && !isWarpsGiven) {
    auto ofBlock = static_cast<uint64_t>(live / plan.blocks);
    plan.warps = static_cast<unsigned>(
        std::clamp<uint64_t>(llvm::PowerOf2Ceil(ofBlock / (32 * mostPerThread)), 4, 32));
  }
  plan.ahead = programsAhead(kernel, axis, plan, live, target);
  return plan;
}

ProgramPlan tile::codegen::gpu::planProgram(KernelOp kernel, const GpuTarget &target) {
  int64_t live = 0;
  ProgramPlan plan = planAxes(kernel, target, live);
  live = std::max(live, chainRegisters(kernel));
  plan.ctasAtATime = static_cast<unsigned>(ctasAtATime(plan, live, target));
  return plan;
}

void tile::codegen::gpu::limitKeptChunks(KernelOp kernel, const GpuTarget &target) {
  auto kept = kernel->getAttrOfType<IntegerAttr>(keptChunksAttrName);
  int64_t bytes = 0; // of a chunk
  kernel.walk([&](LoadOp load) {
    if (load->hasAttr(keepAttrName)) {
      Layout layout = layoutOf(load.getType());
      bytes += layout.numRegisters() * 32 * layout.numWarps() *
               std::max(1u, getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth() / 8);
    }
  });
  if (kept && bytes > 0)
    kernel->setAttr(
        keptChunksAttrName,
        Builder(kernel.getContext())
            .getI64IntegerAttr(std::min(kept.getInt(), (target.sharedBytes - forFolds) / bytes)));
}

void tile::codegen::gpu::applyPlan(KernelOp kernel, const ProgramPlan &plan) {
  if (plan.ahead)
    kernel->setAttr(prefetchAttrName, Builder(kernel.getContext()).getI64IntegerAttr(plan.ahead));
  if (!plan.looped)
    return;
  loopAxis(plan.looped, plan.chunk);
  kernel->setAttr(keptChunksAttrName,
                  Builder(kernel.getContext()).getI64IntegerAttr(plan.keptChunks));
}

namespace {
class MaterializeAxesPass : public PassWrapper<MaterializeAxesPass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MaterializeAxesPass)

  StringRef getArgument() const override { return "tile-gpu-materialize-axes"; }
  StringRef getDescription() const override {
    return "Cuts whole axes that are too long for a program's registers into chunks";
  }

  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      if (failed(checkSettings(kernel)))
        return signalPassFailure();
      normalizeKernel(kernel);
      makeRoom(kernel);
      ProgramPlan plan = planProgram(kernel, GpuTarget::of(usualGpuTarget));
      applyPlan(kernel, plan);
      Builder builder(kernel.getContext());
      kernel->setAttr(warpsAttrName, builder.getI64IntegerAttr(plan.warps));
      kernel->setAttr(blocksAttrName, builder.getI64IntegerAttr(plan.blocks));
    });
  }
};
} // namespace

void tile::codegen::gpu::registerPlanPasses() {
  registerPass([] { return std::make_unique<MaterializeAxesPass>(); });
}
