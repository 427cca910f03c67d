//===- AssignLayouts.cpp - from the tile level to the tile_gpu level ------===//

#include "codegen/gpu/schedule/AssignLayouts.h"
#include "codegen/Neighbours.h"
#include "codegen/gpu/dialect/KernelAttributes.h"
#include "codegen/gpu/dialect/WarpMma.h"
#include "codegen/gpu/loops/ChooseWarps.h"
#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/gpu/loops/LoopFolds.h"
#include "codegen/gpu/loops/ValueFacts.h"
#include "codegen/gpu/plan/Divisors.h"
#include "codegen/gpu/plan/PlanProgram.h"
#include "codegen/gpu/plan/Products.h"
#include "codegen/gpu/schedule/ShareFunctions.h"
#include "codegen/gpu/schedule/VerifyLayouts.h"
#include "ir/builder/Schedule.h"
#include "ir/proofs/Domain.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen::gpu;
using tile::codegen::innermostDimension;

using Axes = SmallVector<StringAttr>;

static bool isTile(Value value) { return !axesOf(value.getType()).empty(); }

/// The phases of a looped axis (LoopAxis.h) are one axis here: all have the same layouts, so that a
/// thread finds what it has kept.
static StringRef plainName(StringAttr axis) { return axis.getValue().split('@').first; }

static const StringAttr *findAxis(ArrayRef<StringAttr> axes, StringAttr axis) {
  return llvm::find_if(axes, [&](StringAttr a) { return plainName(a) == plainName(axis); });
}

static int64_t elementsOf(Type tile) { return cast<RankedTensorType>(tile).getNumElements(); }

//===-- Accesses ----------------------------------------------------------===//

namespace {
/// How an access walks through memory.
struct Walk {
  /// All axes, neighbours first; whether the first one's elements are neighbours.
  Axes order;
  bool isUnit = false;
  unsigned elementBytes = 4;
  /// Neighbours that can be moved together, as far as addresses and ends go.
  int64_t together = 64;
};
} // namespace

/// Axes of an expression's dims, and whether it is the bare coordinate of one plus what is uniform.
static bool collectAxes(AffineExpr expr, ValueRange dims, Axes &axes) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    Value value = dims[dim.getPosition()];
    if (isa<SpanType>(value.getType())) {
      axes.push_back(axisOf(value));
      return true;
    }
    llvm::append_range(axes, axesOf(value.getType()));
    return axesOf(value.getType()).empty();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return true;
  size_t before = axes.size();
  bool left = collectAxes(binary.getLHS(), dims, axes);
  size_t middle = axes.size();
  bool right = collectAxes(binary.getRHS(), dims, axes);
  bool isUniform = axes.size() == before;
  return isUniform || (expr.getKind() == AffineExprKind::Add && left && right &&
                       (middle == before || axes.size() == middle));
}

static Walk walkOf(AffineMap map, ValueRange dims, MemRefType memory) {
  Walk walk;
  unsigned innermost = innermostDimension(memory), count = map.getNumResults();
  for (unsigned step = 0; step < count; ++step) {
    // Dimensions of one element behind the innermost one come last.
    unsigned n = step <= innermost ? innermost - step : count - 1 - (step - innermost - 1);
    Axes here;
    bool isPlain = collectAxes(map.getResult(n), dims, here);
    if (n == innermost)
      walk.isUnit = isPlain && here.size() == 1;
    for (StringAttr axis : llvm::reverse(here))
      if (!llvm::is_contained(walk.order, axis))
        walk.order.push_back(axis);
  }
  walk.elementBytes = std::max(1u, memory.getElementType().getIntOrFloatBitWidth() / 8);
  return walk;
}

//===-- The assignment ----------------------------------------------------===//

namespace {
class Assignment {
public:
  Assignment(KernelOp kernel, unsigned warps, unsigned blocks, ArrayRef<GivenLayout> given)
      : kernel(kernel), domains(kernel), divisors(kernel, domains), warps(warps), blocks(blocks),
        isGiven(!given.empty()) {
    SmallVector<GivenLayout, 0> all(given);
    if (!isGiven)
      all = layoutsOfDots(kernel, warps);
    for (const GivenLayout &one : all)
      layouts.try_emplace(keyOf(one.axes), one.axes, one.layout);
    for (const GivenLayout &one : given)
      ofPipeline.insert(keyOf(one.axes));
  }
  LogicalResult run();

private:
  using Key = std::vector<StringRef>; // sorted
  static Key keyOf(ArrayRef<StringAttr> axes);
  /// How a load, store, update or atomic operation walks.
  template <typename OpT>
  Walk walkOf(OpT op) const;
  void vote(ArrayRef<StringAttr> axes, const Walk &walk, int64_t bytes);
  void collectVotes();
  LogicalResult checkExtents();
  void broadcastStored();

  int64_t extentOf(StringAttr axis) const {
    return cast<SpanType>(domains.spanOf(axis.getValue()).getType()).getExtent();
  }
  /// Whether elements of such tiles meet, but not those along the axis.
  bool isJoinedAcross(ArrayRef<StringAttr> axes, StringAttr axis) const;
  Layout blocked(ArrayRef<StringAttr> axes, const Walk &walk) const;
  /// The layout of tiles with all of these axes, in this order of axes.
  Layout forAxes(ArrayRef<StringAttr> axes);
  /// The widest axes of the tiles that a value meets without going through memory.
  void widen(Value value, Axes &widest, llvm::DenseSet<Value> &seen) const;
  Layout chosenFor(Value value);
  /// What an access is best done in, where that isn't the layout given.
  std::optional<Layout> preferred(const Walk &walk, ArrayRef<StringAttr> axes,
                                  const Layout &given) const;
  /// What an op that joins elements needs, where their order is fixed: threads share out the axes
  /// that it goes along before others, and in order.
  std::optional<Layout> fixedFor(Operation *op, ArrayRef<StringAttr> axes,
                                 ArrayRef<StringAttr> first) const;
  std::optional<Layout> fixedFor(Operation *op) const;
  void joinWithReductions(ForOp loop);
  void choose();
  /// The layout that an operand has to have; none: any.
  std::optional<Layout> required(OpOperand &operand);
  void convertOperands();

  KernelOp kernel;
  Domains domains;
  Divisors divisors;
  unsigned warps, blocks;
  bool isGiven;
  struct Votes {
    Walk best;
    int64_t bytes = -1;
  };
  std::map<Key, Votes> votes;
  /// Axes along which elements of tiles with such axes meet.
  std::map<Key, std::set<StringRef>> joined;
  /// Axes of tiles of which a thread has neighbours even if it can't move them together: sums of a
  /// contraction, which read fewer of its operands then, and these, which would be of four times as
  /// many rows; what is scanned, of which it does a part without the others; random numbers, four
  /// of which are made at once.
  std::set<Key> neighbourly;
  std::map<Key, std::pair<Axes, Layout>> layouts;
  std::set<Key> ofPipeline; // axes of its sums and of an operand in registers, if there is one
  llvm::DenseMap<Value, Layout> chosen;
};
} // namespace

Assignment::Key Assignment::keyOf(ArrayRef<StringAttr> axes) {
  Key key;
  for (StringAttr axis : axes)
    key.push_back(plainName(axis));
  std::sort(key.begin(), key.end());
  return key;
}

LogicalResult Assignment::checkExtents() {
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    auto axis = dyn_cast<AxisOp>(op);
    if (!axis || !ShapedType::isDynamic(axis.getSpan().getType().getExtent()))
      return WalkResult::advance();
    auto diagnostic = op->emitError("the length of axis `")
                      << axis.getSpan().getType().getName().getValue()
                      << "` is not known, and a layout needs it";
    llvm::SetVector<StringRef> dims;
    collectDims(axis.getLower(), dims);
    collectDims(axis.getUpper(), dims);
    auto &note = diagnostic.attachNote() << "hint: ";
    if (!dims.empty()) {
      note << "give it with";
      for (StringRef dim : dims)
        note << " --dim " << dim << "=LENGTH";
      note << ", or ";
    }
    note << "loop over it in blocks";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

template <typename OpT>
Walk Assignment::walkOf(OpT op) const {
  Value memory;
  if constexpr (std::is_same_v<OpT, LoadOp>)
    memory = op.getSource();
  else
    memory = op.getTarget();
  auto type = cast<MemRefType>(memory.getType());
  Walk walk = ::walkOf(op.getMap(), op.getDims(), type);
  auto parameter = dyn_cast<BlockArgument>(memory);
  if (!parameter)
    return walk;
  SmallVector<int64_t> strides = divisors.ofStrides(parameter.getArgNumber());
  Divisors::Place place{op.getMap(), op.getDims(), op.getSyms(), strides, innermostDimension(type)};
  bool isBare = walk.isUnit;
  StringAttr first = isBare ? walk.order.front() : StringAttr();
  walk.together = isBare ? 1 : walk.together;
  for (unsigned n = 0; n < place.dims.size(); ++n) {
    if (!Divisors::areNeighbours(place, n))
      continue;
    StringAttr axis = axisOf(place.dims[n]);
    int64_t together = divisors.together(place, n);
    // Where several axes go along the same dimension, as in 32g + c, one of them may have
    // neighbours that move together.
    if (isBare ? axis != first : together <= (walk.isUnit ? walk.together : 1))
      continue;
    walk.isUnit = true;
    walk.together = together;
    walk.order.erase(llvm::find(walk.order, axis));
    walk.order.insert(walk.order.begin(), axis);
  }
  return walk;
}

/// The access of the most bytes decides, by its widest elements: a thread has 16 bytes of those
/// together, and less of narrower ones, so that the threads of a warp are neighbours in all. What
/// can't be moved together no thread has together: each access of a warp is of neighbours then.
void Assignment::vote(ArrayRef<StringAttr> axes, const Walk &walk, int64_t bytes) {
  if (axes.empty())
    return;
  Votes &here = votes[keyOf(axes)];
  if (walk.isUnit && std::pair(bytes, walk.together) > std::pair(here.bytes, here.best.together)) {
    here.best = walk;
    here.bytes = bytes;
  }
}

void Assignment::collectVotes() {
  kernel.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op).Case<LoadOp, StoreOp, UpdateOp>([&](auto access) {
      AxisList axes = mapAxes(access.getMap(), access.getDims());
      int64_t bytes = 1;
      for (int64_t extent : axes.extents)
        bytes *= extent;
      Walk walk = walkOf(access);
      vote(axes.names, walk, bytes * walk.elementBytes);
    });
    if (auto atomic = dyn_cast<AtomicOp>(op); atomic && isTile(atomic.getResult()))
      vote(atomic.getAxisList().names, walkOf(atomic), elementsOf(atomic.getType()));
    if (isa<DotOp, ScanOp, PhiloxOp>(op))
      neighbourly.insert(keyOf(axesOf(op->getResult(0).getType())));
    if (auto dot = dyn_cast<DotOp>(op))
      for (Value operand : {dot.getLhs(), dot.getRhs()})
        neighbourly.insert(keyOf(axesOf(operand.getType())));
    if (auto along = dyn_cast<AlongAxes>(op))
      for (Value operand : along.getOperandsAlong())
        for (StringAttr axis : along.getAxesAlong())
          joined[keyOf(axesOf(operand.getType()))].insert(plainName(axis));
  });
}

bool Assignment::isJoinedAcross(ArrayRef<StringAttr> axes, StringAttr axis) const {
  auto along = joined.find(keyOf(axes));
  return along != joined.end() && !along->second.contains(plainName(axis));
}

Layout Assignment::blocked(ArrayRef<StringAttr> axes, const Walk &walk) const {
  constexpr int64_t accessBytes = 16;
  SmallVector<int64_t> extents =
      llvm::map_to_vector(axes, [&](StringAttr a) { return extentOf(a); });
  SmallVector<unsigned> order;
  for (StringAttr axis : walk.order)
    if (const auto *found = findAxis(axes, axis); found != axes.end())
      order.push_back(found - axes.begin());
  for (unsigned n = axes.size(); n-- > 0;)
    if (!llvm::is_contained(order, n))
      order.push_back(n);
  int64_t elements = 1;
  for (int64_t extent : extents)
    elements *= extent;
  int64_t perThread = std::max<int64_t>(1, elements / (32 * int64_t(warps * blocks)));
  auto vector = static_cast<int64_t>(llvm::bit_floor(
      static_cast<uint64_t>(std::min<int64_t>(accessBytes / walk.elementBytes, perThread))));
  if (!neighbourly.contains(keyOf(axes)))
    vector = std::min(vector, walk.together);
  // Warps have rows of their own where a row is short: reductions along it stay in a warp then.
  // Those along columns alone stay in a thread if warps share out the row.
  constexpr int64_t shortRow = 1024;
  SmallVector<unsigned> warpOrder(order);
  if (!order.empty() && extents[order.front()] <= shortRow &&
      !isJoinedAcross(axes, axes[order.front()]))
    std::rotate(warpOrder.begin(), warpOrder.begin() + 1, warpOrder.end());
  return Layout::blocked({extents, order, warpOrder, walk.isUnit ? vector : 1, warps, blocks});
}

Layout Assignment::forAxes(ArrayRef<StringAttr> axes) {
  Key key = keyOf(axes);
  auto known = layouts.find(key);
  if (known == layouts.end()) {
    Walk walk;
    auto voted = votes.find(key);
    if (voted != votes.end())
      walk = voted->second.best;
    Axes order(axes);
    known = layouts.try_emplace(key, order, blocked(axes, walk)).first;
  }
  SmallVector<unsigned> positions;
  for (StringAttr axis : axes)
    positions.push_back(findAxis(known->second.first, axis) - known->second.first.begin());
  return known->second.second.project(positions);
}

void Assignment::widen(Value value, Axes &widest, llvm::DenseSet<Value> &seen) const {
  if (!isTile(value) || !seen.insert(value).second)
    return;
  auto size = [&](ArrayRef<StringAttr> axes) {
    int64_t product = 1;
    for (StringAttr axis : axes)
      product *= std::max<int64_t>(1, extentOf(axis));
    return std::pair(axes.size(), product);
  };
  ArrayRef<StringAttr> axes = axesOf(value.getType());
  if (size(axes) > size(widest))
    widest.assign(axes.begin(), axes.end());
  if (Operation *op = value.getDefiningOp(); isa_and_nonnull<ReduceOp, ArgReduceOp>(op))
    widen(op->getOperand(0), widest, seen);
  if (auto scan = value.getDefiningOp<ScanOp>())
    widen(scan.getInputs()[0], widest, seen);
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<BroadcastOp>(user) || isElementwise(user))
      widen(user->getResult(0), widest, seen);
    else if (auto scan = dyn_cast<ScanOp>(user))
      widen(scan.getInputs()[0], widest, seen);
    else if (auto loop = dyn_cast<ForOp>(user))
      widen(loop.getCarried()[use.getOperandNumber() - 2], widest, seen);
  }
}

Layout Assignment::chosenFor(Value value) {
  Axes widest;
  llvm::DenseSet<Value> seen;
  widen(value, widest, seen);
  ArrayRef<StringAttr> axes = axesOf(value.getType());
  if (!llvm::all_of(axes, [&](StringAttr axis) { return llvm::is_contained(widest, axis); }))
    return forAxes(axes);
  return reordered(forAxes(widest), widest, axes);
}

/// The axis along which neighbouring threads, or a thread's neighbouring registers, go.
static int firstAxis(const Layout &layout) {
  for (Part part : {Part::Register, Part::Lane})
    for (const Layout::Coords &step : layout.bases(part))
      for (unsigned axis = 0; axis < layout.rank(); ++axis)
        if (step[axis] == 1)
          return axis;
  return -1;
}

std::optional<Layout> Assignment::preferred(const Walk &walk, ArrayRef<StringAttr> axes,
                                            const Layout &given) const {
  // What follows a pipeline's sums stays where these are: eight neighbours of a column are a
  // sector's, and what is stored across goes so by bulk copies.
  auto isLong = [&](StringAttr axis) { return extentOf(axis) != 1; };
  if (!walk.isUnit || llvm::count_if(axes, isLong) < 2 || ofPipeline.contains(keyOf(axes)))
    return std::nullopt;
  auto wanted = llvm::find(axes, walk.order.front()) - axes.begin();
  if (firstAxis(given) == wanted || !isLong(walk.order.front()))
    return std::nullopt;
  return blocked(axes, walk);
}

std::optional<Layout> Assignment::fixedFor(Operation *op, ArrayRef<StringAttr> axes,
                                           ArrayRef<StringAttr> first) const {
  if (!kernel->hasAttr(tile::codegen::fixedOrderAttrName) || axes.empty())
    return std::nullopt;
  SmallVector<int64_t> extents =
      llvm::map_to_vector(axes, [&](StringAttr axis) { return extentOf(axis); });
  SmallVector<unsigned> order;
  for (StringAttr axis : llvm::concat<const StringAttr>(first, axes))
    if (unsigned n = llvm::find(axes, axis) - axes.begin(); !llvm::is_contained(order, n))
      order.push_back(n);
  return Layout::blocked({extents, order, order, /*vector=*/1, warps, blocks});
}

std::optional<Layout> Assignment::fixedFor(Operation *op) const {
  return llvm::TypeSwitch<Operation *, std::optional<Layout>>(op)
      .Case([&](ReduceOp reduce) {
        SmallVector<StringAttr> first(reduce.getAxes().getAsRange<StringAttr>());
        return fixedFor(op, axesOf(reduce.getInput().getType()), first);
      })
      .Case([&](ScanOp scan) {
        return fixedFor(op, axesOf(scan.getInputs()[0].getType()), scan.getAxisAttr());
      })
      .Case([&](UpdateOp update) {
        // Elements that meet in one are joined in the order of the threads.
        return fixedFor(op, axesOf(update.getValue().getType()),
                        mapAxes(update.getMap(), update.getDims()).names);
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// A loop that reduces along its own blocks has all that it makes of the results, and carries on to
/// the next block, in their layout. Else threads would have to exchange it in each block.
void Assignment::joinWithReductions(ForOp loop) {
  std::map<Key, Value> reduced;
  for (Operation &op : loop.getBody().front())
    if (auto along = dyn_cast<AlongAxes>(op);
        along && isa<ReduceOp, ArgReduceOp>(op) && isTile(op.getResult(0)) &&
        llvm::is_contained(along.getAxesAlong(), loop.getNameAttr()))
      reduced.try_emplace(keyOf(axesOf(op.getResult(0).getType())), op.getResult(0));
  auto join = [&](Value value) {
    auto found = isTile(value) ? reduced.find(keyOf(axesOf(value.getType()))) : reduced.end();
    if (found != reduced.end())
      chosen[value] = reordered(chosen[found->second], axesOf(found->second.getType()),
                                axesOf(value.getType()));
  };
  for (Operation &op : loop.getBody().front())
    if (isElementwise(&op) || isa<BroadcastOp>(op))
      llvm::for_each(op.getResults(), join);
  llvm::for_each(loop.getCarried(), join);
}

void Assignment::choose() {
  auto chooseAll = [&](ValueRange values) {
    for (Value value : values)
      if (isTile(value))
        chosen[value] = chosenFor(value);
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    chooseAll(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        chooseAll(block.getArguments());
  });
  // Loops have one layout for a value on its way through. What a reduction is joined with has the
  // reduction's: moved from one to the other, it would be reduced in each round.
  kernel.walk([&](Operation *op) {
    if (auto loop = dyn_cast<ForOp>(op)) {
      joinWithReductions(loop);
      for (auto [result, carried, yielded] :
           llvm::zip(loop.getResults(), loop.getCarried(), loop.getYield().getOperands())) {
        if (!isTile(result))
          continue;
        if (auto [reduce, combine] = foldOf(yielded, carried); reduce)
          chosen[carried] = chosen[yielded] = chosen[reduce.getResult()];
        chosen[result] = chosen[carried];
      }
    }
    if (auto count = dyn_cast<scf::ForOp>(op))
      for (auto [result, carried] : llvm::zip(count.getResults(), count.getRegionIterArgs()))
        if (isTile(result))
          chosen[result] = chosen[carried];
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      for (auto [result, after] : llvm::zip(loop.getResults(), loop.getAfterArguments()))
        if (isTile(result))
          chosen[result] = chosen[after];
    if (isa<ReduceOp, ArgReduceOp>(op) && isTile(op->getResult(0))) {
      Value input = op->getOperand(0), result = op->getResult(0);
      chosen[result] = reordered(fixedFor(op).value_or(chosen[input]), axesOf(input.getType()),
                                 axesOf(result.getType()));
    }
    if (auto scan = dyn_cast<ScanOp>(op)) {
      ArrayRef<StringAttr> axes = axesOf(scan.getInputs()[0].getType());
      Layout layout = fixedFor(op).value_or(chosen[scan.getInputs()[0]]);
      for (auto [scanned, last] : llvm::zip(scan.getScanned(), scan.getLast())) {
        chosen[scanned] = layout;
        if (isTile(last))
          chosen[last] = reordered(layout, axes, axesOf(last.getType()));
      }
    }
    if (auto load = dyn_cast<LoadOp>(op); load && isTile(load.getResult()))
      if (auto own = preferred(walkOf(load), axesOf(load.getType()), chosen[load.getResult()]))
        chosen[load.getResult()] = *own;
  });
}

/// The results or arguments that a terminator's values become.
static Value receiver(OpOperand &operand) {
  Operation *user = operand.getOwner(), *parent = user->getParentOp();
  unsigned n = operand.getOperandNumber();
  if (isa<YieldOp>(user))
    return cast<ForOp>(parent).getCarried()[n];
  if (auto condition = dyn_cast<scf::ConditionOp>(user))
    return n == 0 ? Value() : cast<scf::WhileOp>(parent).getAfterArguments()[n - 1];
  if (isa<scf::YieldOp>(user)) {
    if (auto count = dyn_cast<scf::ForOp>(parent))
      return count.getRegionIterArgs()[n];
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      return loop.getBeforeArguments()[n];
    return parent->getResult(n);
  }
  return {};
}

std::optional<Layout> Assignment::required(OpOperand &operand) {
  Operation *user = operand.getOwner();
  ArrayRef<StringAttr> axes = axesOf(operand.get().getType());
  if (Value value = receiver(operand))
    return chosen[value];
  return llvm::TypeSwitch<Operation *, std::optional<Layout>>(user)
      .Case([&](ForOp loop) { return chosen[loop.getCarried()[operand.getOperandNumber() - 2]]; })
      .Case([&](scf::ForOp loop) {
        return chosen[loop.getRegionIterArgs()[operand.getOperandNumber() -
                                               loop.getNumControlOperands()]];
      })
      .Case([&](scf::WhileOp loop) {
        return chosen[loop.getBeforeArguments()[operand.getOperandNumber()]];
      })
      .Case([&](ReduceOp op) { return fixedFor(op); })
      .Case<StoreOp, UpdateOp>([&](auto op) -> std::optional<Layout> {
        ArrayRef<StringAttr> all = axesOf(op.getValue().getType());
        Layout layout = chosen[op.getValue()];
        if (auto fixed = fixedFor(op))
          layout = *fixed;
        else if (auto own = preferred(walkOf(op), all, layout))
          layout = *own;
        return reordered(layout, all, axes);
      })
      .Case<LoadOp, AtomicOp>([&](auto op) -> std::optional<Layout> {
        return reordered(chosen[op.getResult()], axesOf(op.getType()), axes);
      })
      .Case([&](ScanOp op) -> std::optional<Layout> {
        unsigned n = operand.getOperandNumber(), count = op.getCount();
        return chosen[n < count ? op.getScanned()[n] : op.getLast()[n - count]];
      })
      .Case([&](DotOp op) -> std::optional<Layout> {
        unsigned n = operand.getOperandNumber();
        if (n == 2)
          return chosen[op.getResult()];
        std::optional<WarpDot> how = isGiven ? std::nullopt : warpDotOf(op);
        return how ? operandLayout(*how, op, n, chosen[op.getResult()]) : std::nullopt;
      })
      .Default([&](Operation *op) -> std::optional<Layout> {
        if (op->getNumResults() == 0 || !isTile(op->getResult(0)) ||
            !(isElementwise(op) || isa<BroadcastOp>(op)))
          return std::nullopt;
        return reordered(chosen[op->getResult(0)], axesOf(op->getResult(0).getType()), axes);
      });
}

/// Whether a loop's contraction has an operand that is made before the loop, and threads have room
/// for it as the contraction wants it.
static bool canHold(Operation *op, Value value, const Layout &layout) {
  constexpr int64_t mostBits = 64 * 32;
  Operation *made = value.getDefiningOp();
  unsigned bits = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  return isa<DotOp>(op) && made && made->getBlock() != op->getBlock() &&
         layout.numRegisters() * bits <= mostBits;
}

void Assignment::convertOperands() {
  // What several ops of a block want in the same layout moves once.
  llvm::SmallDenseMap<std::tuple<Value, Type, Block *>, Value> moved;
  kernel.walk([&](Operation *op) {
    if (isa<ConvertOp>(op))
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isTile(operand.get()))
        continue;
      std::optional<Layout> layout = required(operand);
      if (!layout || *layout == layoutOf(operand.get().getType()))
        continue;
      OpBuilder builder(op);
      Type type = withLayout(operand.get().getType(), *layout);
      // A number that all elements are is made anew, not moved.
      if (auto broadcast = operand.get().getDefiningOp<BroadcastOp>();
          broadcast && !isTile(broadcast.getInput())) {
        operand.set(BroadcastOp::create(builder, op->getLoc(), type, broadcast.getInput()));
        continue;
      }
      Value &before = moved[{operand.get(), type, op->getBlock()}];
      if (!before) {
        if (canHold(op, operand.get(), *layout))
          builder.setInsertionPointAfter(operand.get().getDefiningOp());
        before = ConvertOp::create(builder, op->getLoc(), type, operand.get());
      }
      operand.set(before);
    }
  });
}

/// A stored value gets all axes that it is stored along, in the order of the op's.
void Assignment::broadcastStored() {
  kernel.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op).Case<StoreOp, UpdateOp>([&](auto write) {
      AxisList axes = mapAxes(write.getMap(), write.getDims());
      Value value = write.getValue();
      if (axes.names.size() == axesOf(value.getType()).size())
        return;
      OpBuilder builder(op);
      Type type = axes.tileOf(getElementTypeOrSelf(value.getType()));
      write.getValueMutable().assign(BroadcastOp::create(builder, op->getLoc(), type, value));
    });
    if (auto atomic = dyn_cast<AtomicOp>(op)) {
      AxisList axes = atomic.getAxisList();
      for (OpOperand &operand : op->getOpOperands()) {
        bool isValue = operand.getOperandNumber() < (atomic.getExpected() ? 2 : 1);
        if (!isValue || axesOf(operand.get().getType()) == ArrayRef<StringAttr>(axes.names))
          continue;
        OpBuilder builder(op);
        Type type = axes.tileOf(getElementTypeOrSelf(operand.get().getType()));
        operand.set(BroadcastOp::create(builder, op->getLoc(), type, operand.get()));
      }
    }
  });
}

LogicalResult Assignment::run() {
  if (failed(checkExtents()))
    return failure();
  broadcastStored();
  // A program runs a loop as a whole: nothing to merge.
  kernel.walk([](ForOp loop) { loop.getMerge().getBlocks().clear(); });
  collectVotes();
  choose();
  if (!isGiven && blocks == 1 && !kernel->hasAttr(tile::codegen::fixedOrderAttrName))
    shareFunctions(kernel, chosen, [&](ArrayRef<StringAttr> axes) { return forAxes(axes); });
  for (auto &[value, layout] : chosen) {
    Value tile = value;
    tile.setType(withLayout(tile.getType(), layout));
    if (auto constant = tile.getDefiningOp<arith::ConstantOp>()) {
      auto elements = cast<DenseElementsAttr>(constant.getValue());
      constant.setValueAttr(elements.reshape(cast<ShapedType>(tile.getType())));
    }
  }
  convertOperands();
  Builder builder(kernel.getContext());
  kernel->setAttr(warpsAttrName, builder.getI64IntegerAttr(warps));
  if (blocks > 1)
    kernel->setAttr(blocksAttrName, builder.getI64IntegerAttr(blocks));
  return failure(failed(verify(kernel)) || failed(verifyLayouts(kernel)));
}

LogicalResult tile::codegen::gpu::assignLayouts(KernelOp kernel, unsigned warps, unsigned blocks,
                                                ArrayRef<GivenLayout> given) {
  return Assignment(kernel, warps, blocks, given).run();
}

namespace {
class AssignLayoutsPass : public PassWrapper<AssignLayoutsPass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AssignLayoutsPass)

  StringRef getArgument() const override { return "tile-gpu-assign-layouts"; }
  StringRef getDescription() const override { return "Gives the tiles of kernels layouts"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<TileGpuDialect>();
  }

  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      narrowDots(kernel);
      if (failed(checkSettings(kernel)) || failed(assignLayouts(kernel, chooseWarps(kernel))))
        signalPassFailure();
    });
  }
};
} // namespace

void tile::codegen::gpu::registerLayoutPasses() {
  registerPass([] { return std::make_unique<AssignLayoutsPass>(); });
}
