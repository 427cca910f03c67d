//===- BuildPipeline.cpp - from a loop of products to roles and a channel -===//

#include "codegen/gpu/schedule/BuildPipeline.h"
#include "codegen/gpu/dialect/Mma.h"
#include "codegen/gpu/dialect/Settings.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/loops/NormalizeKernel.h"
#include "codegen/gpu/loops/ValueFacts.h"
#include "codegen/gpu/schedule/ComputedOperand.h"
#include "ir/builder/Schedule.h"
#include "ir/fusion/Transplant.h"
#include "ir/proofs/Domain.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

SmallVector<GivenLayout, 0> tile::codegen::gpu::layoutsFor(const Product &product) {
  ProductBlock block = product.block();
  SmallVector<GivenLayout, 0> layouts;
  layouts.push_back({SmallVector<StringAttr>{product.axes[0], product.axes[1]},
                     mmaLayout(block.rows, block.columns, warpsOf(product), blocksOf(product),
                               sharingOf(product))});
  if (product.rows.isComputed())
    layouts.push_back({SmallVector<StringAttr>{product.axes[0], DotOp(product.dot).getAxisAttr()},
                       mmaLayout(block.rows, block.depth, warpsOf(product))});
  return layouts;
}

/// Rows of programs that go together before those to the right.
static int64_t groupOf(KernelOp kernel, const Product &product) {
  if (int64_t asked = groupedRows(kernel))
    return asked;
  // Programs that run together share most where what they compute together is a square.
  return product.block().rows >= product.block().columns ? 8 : 16;
}

LogicalResult tile::codegen::gpu::checkSchedule(KernelOp kernel, const Product &product,
                                                const GpuTarget &target) {
  ProductBlock block = product.block();
  int64_t most = slotsFor(block, product.elementBytes(), target);
  int64_t least = leastSlots(block, product.elementBytes());
  if (auto stages = dyn_cast_or_null<IntegerAttr>(settingOf(kernel, "stages"));
      stages && most >= least && (stages.getInt() < least || stages.getInt() > most)) {
    auto diagnostic = emitSettingError(kernel, "stages", "`stages = ")
                      << stages.getInt() << "`: blocks of " << block.rows << " × " << block.columns
                      << " × " << block.depth << " have from " << least << " to " << most
                      << " stages, which is what shared memory has room for";
    if (stages.getInt() > most)
      diagnostic.attachNote() << "hint: smaller tile sizes have room for more";
    else if (least > 2)
      diagnostic.attachNote()
          << "hint: programs that split what they contract exchange their sums there";
    return failure();
  }
  return success();
}

namespace {
class PipelineBuilder {
public:
  PipelineBuilder(KernelOp kernel, const Product &product, const GpuTarget &target)
      : parallel(kernel.getParallel()), kernel(kernel), product(product), target(target), b(kernel),
        loc(ForOp(product.loop).getLoc()) {}
  std::string run();

private:
  SharedType partOf(const ProductBox &box, int64_t length) const;
  SmallVector<ProductBox> boxes() const;
  void makeChannel();
  RolesOp makeRoles();
  Value integer(int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 64); }
  /// The number of the program's first item.
  Value firstItem();
  void load(Block &block);
  /// The number again, in the role that loads.
  Value repeat(Value number);
  /// The same where what is far outside of any tensor may be anywhere there.
  Value limit(Value number);
  /// Where the blocks of an operand begin, of dims that `place` gives to values.
  SmallVector<AffineExpr> placesOf(LoadOp load, llvm::function_ref<AffineExpr(Value)> place);
  /// None of them where an operand, which is read beyond its end, has no element.
  void skipEmptyTensors();
  void release(Value item);
  /// Of a program's steps: whether there is none before it; whether what is contracted may end in
  /// it; and whether it adds to what runs, null for yes.
  struct Step {
    bool isFirst = false, mayEnd = false;
    Value adds = {};
  };
  Value step(Value number, Value running, const Step &how);
  Value stepIf(Value condition, Value number, Value running, const Step &how);
  Value stepsOf(Value from, Value end, int64_t count, Value running);
  Value multiplyAll(Value begun, bool isFresh);
  /// The sums of all blocks of a cluster, from this one's, beside what they begin with.
  Value combine(Value parts, Value init);
  /// The same where the items of each turn have sums of their own, which are added to the tile.
  Value multiplyApart(Value first, Value init);
  /// `sums`, and those of `count` items.
  Value addTurn(Value first, int64_t count, Value sums);
  void multiply();
  void sendResults();

  ParallelOp parallel;
  KernelOp kernel;
  Product product;
  const GpuTarget &target;
  OpBuilder b;
  Location loc;
  ChannelType type;
  RolesOp roles;
  IRMapping repeated;
  /// Of the result.
  Layout layout;
  Value channel, zero, one;
  /// The number of the program's first item, in the role that multiplies.
  Value firstOfProgram;
  /// The blocks of operands that this block of threads contracts: the first one, null for 0, and
  /// how many.
  Value begin, blocks;
  /// Of rows, where those are computed.
  std::optional<ComputedOperand> operand;
};
} // namespace

/// In the order of a stage's parts.
SmallVector<ProductBox> PipelineBuilder::boxes() const {
  SmallVector<ProductBox> all(product.rows.boxes);
  llvm::append_range(all, product.columns.boxes);
  return all;
}

SharedType PipelineBuilder::partOf(const ProductBox &box, int64_t length) const {
  int64_t depth = product.block().depth;
  SmallVector<int64_t, 2> shape = {length, depth};
  if (box.isByColumns)
    std::swap(shape[0], shape[1]);
  Type element = LoadOp(box.load).getSource().getType().getElementType();
  return SharedType::get(b.getContext(), RankedTensorType::get(shape, element), panelBytes);
}

void PipelineBuilder::makeChannel() {
  // A dimension, or constants.
  auto hoist = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *bound = operand.getDefiningOp(); parallel->isProperAncestor(bound))
        bound->moveBefore(parallel);
    if (parallel->isProperAncestor(op))
      op->moveBefore(parallel);
  };
  Operation *upper = product.loop.getUpper().getDefiningOp();
  hoist(upper);
  parallel.walk([&](AxisOp axis) {
    if (llvm::is_contained(product.axes, axisOf(axis.getSpan())))
      hoist(axis);
  });
  b.setInsertionPoint(parallel);
  zero = integer(0), one = integer(1);
  Value depth = integer(product.block().depth), last = integer(product.block().depth - 1);
  Value padded = arith::AddIOp::create(b, loc, upper->getResult(0), last);
  blocks = arith::DivUIOp::create(b, loc, padded, depth);
  if (product.splits > 1) {
    // Shares that differ by one at most.
    Value rank = RankOp::create(b, loc, b.getI64Type()), splits = integer(product.splits);
    auto shareOf = [&](Value rank) -> Value {
      return arith::DivUIOp::create(b, loc, arith::MulIOp::create(b, loc, rank, blocks), splits);
    };
    begin = shareOf(rank);
    Value end = shareOf(arith::AddIOp::create(b, loc, rank, one));
    blocks = arith::SubIOp::create(b, loc, end, begin);
  }
  skipEmptyTensors();
  channel = ChannelOp::create(b, loc, type);
}

void PipelineBuilder::skipEmptyTensors() {
  Value isThere;
  for (const ProductBox &box : boxes()) {
    LoadOp load = box.load;
    MemRefType source = load.getSource().getType();
    AffineMap shape = kernel.getParamShape(cast<BlockArgument>(load.getSource()).getArgNumber());
    for (auto [n, extent] : llvm::enumerate(shape.getResults())) {
      if (source.getDimSize(n) > 0 || load.getBounds() != BoundsMode::pad)
        continue;
      Value dim = materializeDims(b, loc, extent, kernel.getDims());
      Value isSome = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, dim, zero);
      isThere = isThere ? Value(arith::AndIOp::create(b, loc, isThere, isSome)) : isSome;
    }
  }
  if (isThere)
    blocks = arith::SelectOp::create(b, loc, isThere, blocks, zero);
}

/// The programs' body becomes that of the second role.
RolesOp PipelineBuilder::makeRoles() {
  // A multiprocessor has 65536 registers; what only starts copies needs few.
  constexpr int64_t loadWarps = 4, loadRegisters = 40;
  int64_t warps = warpsOf(product), registers = warps == 4 ? 240 : 232;
  Block &body = parallel.getBody().front();
  OperationState state(loc, RolesOp::getOperationName());
  for (int n = 0; n < 2; ++n)
    state.addRegion()->emplaceBlock();
  Block &multiply = state.regions[1]->front();
  multiply.getOperations().splice(multiply.end(), body.getOperations());
  state.addAttribute(RolesOp::getNamesAttrName(state.name),
                     b.getStrArrayAttr({"load", "multiply"}));
  state.addAttribute(RolesOp::getWarpsAttrName(state.name),
                     b.getDenseI64ArrayAttr({loadWarps, warps}));
  state.addAttribute(RolesOp::getRegistersAttrName(state.name),
                     b.getDenseI64ArrayAttr({loadRegisters, registers}));
  b.setInsertionPointToEnd(&body);
  kernel->setAttr(warpsAttrName, b.getI64IntegerAttr(loadWarps + warps));
  return cast<RolesOp>(b.create(state));
}

Value PipelineBuilder::firstItem() {
  Value turn = WorkItemOp::create(b, loc, b.getI64Type());
  return arith::MulIOp::create(b, loc, turn, blocks);
}

Value PipelineBuilder::repeat(Value number) {
  Operation *op = number.getDefiningOp();
  if (!op || !parallel->isProperAncestor(op))
    return number;
  if (Value known = repeated.lookupOrNull(number))
    return known;
  for (Value operand : op->getOperands())
    repeated.map(operand, repeat(operand));
  return b.clone(*op, repeated)->getResult(0);
}

Value PipelineBuilder::limit(Value number) {
  // With a block's first coordinate, which is no less than 0, it stays outside.
  constexpr int64_t least = -(int64_t(1) << 31), most = (int64_t(1) << 31) - (int64_t(1) << 20);
  Value above = arith::MaxSIOp::create(b, loc, number, integer(least));
  return arith::MinSIOp::create(b, loc, above, integer(most));
}

SmallVector<AffineExpr> PipelineBuilder::placesOf(LoadOp load,
                                                  llvm::function_ref<AffineExpr(Value)> place) {
  AffineMap map = load.getMap();
  unsigned numDims = map.getNumDims();
  SmallVector<Value> operands(load.getDims());
  llvm::append_range(operands, load.getSyms());
  SmallVector<AffineExpr> dimsAsSymbols, symbols, results;
  for (unsigned n = 0; n < operands.size(); ++n)
    (n < numDims ? dimsAsSymbols : symbols).push_back(b.getAffineSymbolExpr(n));
  for (AffineExpr expr : map.getResults()) {
    // A span's block, and what is the same in all of it.
    AffineExpr result = b.getAffineConstantExpr(0);
    for (unsigned n = 0; n < numDims; ++n)
      if (isa<SpanType>(operands[n].getType()) && expr.isFunctionOfDim(n)) {
        result = place(operands[n]);
        expr = simplifyAffineExpr(expr - b.getAffineDimExpr(n), numDims, map.getNumSymbols());
      }
    if (expr != b.getAffineConstantExpr(0)) {
      AffineExpr rest = expr.replaceDimsAndSymbols(dimsAsSymbols, symbols);
      Value shift = materializeDims(b, loc, rest, [&](unsigned n) { return repeat(operands[n]); });
      result = result + place(load.getBounds() == BoundsMode::pad ? limit(shift) : shift);
    }
    results.push_back(result);
  }
  return results;
}

void PipelineBuilder::load(Block &block) {
  b.setInsertionPointToStart(&block);
  Value first = firstItem();
  // Where blocks begin, of dims that both operands share; the contracted span's stands for itself.
  SmallVector<Value> sources, dims;
  auto place = [&](Value value) -> AffineExpr {
    bool isContracted = value == product.loop.getSpan();
    auto known = llvm::find(dims, value);
    AffineExpr dim = b.getAffineDimExpr(known - dims.begin());
    if (known == dims.end())
      dims.push_back(value);
    return isContracted ? dim * product.block().depth : dim;
  };
  SmallVector<SmallVector<AffineExpr>> places;
  for (const ProductBox &box : boxes()) {
    LoadOp load = box.load;
    sources.push_back(load.getSource());
    places.push_back(placesOf(load, place));
  }
  auto loop = scf::ForOp::create(b, loc, zero, blocks, one);
  b.setInsertionPointToStart(loop.getBody());
  Value item = arith::AddIOp::create(b, loc, first, loop.getInductionVar());
  Value number = loop.getInductionVar();
  if (begin)
    number = arith::AddIOp::create(b, loc, begin, number);
  llvm::replace(dims, Value(product.loop.getSpan()), number);
  SmallVector<Attribute> maps;
  for (ArrayRef<AffineExpr> results : places)
    maps.push_back(AffineMapAttr::get(AffineMap::get(dims.size(), 0, results, b.getContext())));
  DenseI64ArrayAttr split;
  if (blocksOf(product) > 1 && product.splits == 1)
    split = b.getDenseI64ArrayAttr({product.rows.isByColumns() ? 1 : 0, -1});
  bool rounds = type.getPart(0).getElement().isF32();
  PutOp::create(b, loc, channel, item, sources, dims, b.getArrayAttr(maps), split, rounds);
}

/// Of the item before one.
void PipelineBuilder::release(Value item) {
  ReleaseOp::create(b, loc, channel, arith::SubIOp::create(b, loc, item, one));
}

/// Starts the product of an item, which is the program's `number`th, and waits for the one before
/// it: with that its operands are read. A computed operand is made while that one still runs.
Value PipelineBuilder::step(Value number, Value running, const Step &how) {
  bool isComputed = product.rows.isComputed();
  Value item =
      how.isFirst ? firstOfProgram : Value(arith::AddIOp::create(b, loc, firstOfProgram, number));
  if (isComputed)
    operand->begin(b, number, how.mayEnd);
  auto parts = GetOp::create(b, loc, type.getSlot(), channel, item).getParts();
  Value left = isComputed ? operand->make(parts) : Value(parts[0]);
  auto start = [&](Value acc) -> Value {
    return MmaOp::create(b, loc, acc.getType(), left, parts.back(), acc, how.adds,
                         !isComputed && product.rows.isByColumns(), product.columns.isByColumns());
  };
  auto finishBefore = [&](Value acc, int64_t pending) -> Value {
    if (how.isFirst)
      return acc;
    Value done = MmaWaitOp::create(b, loc, acc.getType(), acc, pending);
    release(item);
    return done;
  };
  return isComputed ? start(finishBefore(running, 0)) : finishBefore(start(running), 1);
}

Value PipelineBuilder::stepIf(Value condition, Value number, Value running, const Step &how) {
  auto branch = scf::IfOp::create(b, loc, running.getType(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, step(number, running, how));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, running);
  return branch.getResult(0);
}

/// Steps `from` to `end`, so many in an iteration, which divide them.
Value PipelineBuilder::stepsOf(Value from, Value end, int64_t count, Value running) {
  Value by = count == 1 ? one : integer(count);
  auto loop = scf::ForOp::create(b, loc, from, end, by, running);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  running = loop.getRegionIterArgs()[0];
  for (int64_t n = 0; n < count; ++n) {
    running = step(number, running, {});
    if (n + 1 < count)
      number = arith::AddIOp::create(b, loc, number, one);
  }
  scf::YieldOp::create(b, loc, running);
  return loop.getResult(0);
}

/// All products of a program, at least one, from `begun` on.
Value PipelineBuilder::multiplyAll(Value begun, bool isFresh) {
  bool isComputed = product.rows.isComputed(), mayEnd = isComputed && operand->dependsOnEnd();
  // The first one stands alone: where it is known to begin with zeros, registers need no room for
  // sums before it, while those of the program before are still used.
  Value none = isFresh ? Value(arith::ConstantIntOp::create(b, loc, 0, 1)) : Value();
  Value running = step(zero, begun, {.isFirst = true, .mayEnd = mayEnd, .adds = none});
  if (!isComputed)
    return stepsOf(one, blocks, 1, running);
  Value whole = blocks;
  if (mayEnd) { // the last one stands apart, where it is not whole
    Value depth = integer(product.block().depth);
    whole = arith::DivUIOp::create(b, loc, product.loop.getUpper(), depth);
    whole = arith::MaxUIOp::create(b, loc, whole, one);
  }
  // By twos: the tensor cores still read one operand's registers while the next one is made.
  Value rest = arith::SubIOp::create(b, loc, whole, one);
  rest = arith::RemUIOp::create(b, loc, rest, integer(2));
  Value isOdd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, zero);
  running = stepIf(isOdd, one, running, {});
  running = stepsOf(arith::AddIOp::create(b, loc, one, rest), whole, 2, running);
  if (!mayEnd)
    return running;
  Value isPartial = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, whole, blocks);
  return stepIf(isPartial, whole, running, {.mayEnd = true});
}

Value PipelineBuilder::addTurn(Value first, int64_t count, Value sums) {
  auto pending = PendingType::get(b.getContext(), cast<RankedTensorType>(sums.getType()));
  Value running = MmaFreshOp::create(b, loc, pending);
  SmallVector<Value> items;
  for (int64_t n = 0; n < count; ++n) {
    Value item = n == 0 ? first : arith::AddIOp::create(b, loc, first, integer(n));
    items.push_back(item);
    auto parts = GetOp::create(b, loc, type.getSlot(), channel, item).getParts();
    Value adds = n == 0 ? Value(arith::ConstantIntOp::create(b, loc, 0, 1)) : Value();
    running = MmaOp::create(b, loc, pending, parts[0], parts[1], running, adds,
                            product.rows.isByColumns(), product.columns.isByColumns());
  }
  for (int64_t n = 0; n + 1 < count; ++n) {
    running = MmaWaitOp::create(b, loc, pending, running, count - 1 - n);
    ReleaseOp::create(b, loc, channel, items[n]);
  }
  Value turn = MmaEndOp::create(b, loc, sums.getType(), running);
  ReleaseOp::create(b, loc, channel, items.back());
  return arith::AddFOp::create(b, loc, sums, turn);
}

Value PipelineBuilder::multiplyApart(Value first, Value init) {
  int64_t count = slotsOfTurn(product.block(), product.elementBytes());
  Value ofTurn = integer(count), rest = zero;
  OpBuilder::InsertionGuard guard(b);
  if (count > 1) {
    rest = arith::RemUIOp::create(b, loc, blocks, ofTurn);
    auto single = scf::ForOp::create(b, loc, zero, rest, one, init);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(single.getBody());
    Value item = arith::AddIOp::create(b, loc, first, single.getInductionVar());
    scf::YieldOp::create(b, loc, addTurn(item, 1, single.getRegionIterArgs()[0]));
    init = single.getResult(0);
  }
  auto loop = scf::ForOp::create(b, loc, rest, blocks, ofTurn, init);
  b.setInsertionPointToStart(loop.getBody());
  Value item = arith::AddIOp::create(b, loc, first, loop.getInductionVar());
  scf::YieldOp::create(b, loc, addTurn(item, count, loop.getRegionIterArgs()[0]));
  return loop.getResult(0);
}

Value PipelineBuilder::combine(Value parts, Value init) {
  Value sums = CombineOp::create(b, loc, init.getType(), parts, channel);
  if (isZero(init))
    return sums;
  return getElementTypeOrSelf(sums.getType()).isF32()
             ? Value(arith::AddFOp::create(b, loc, init, sums))
             : Value(arith::AddIOp::create(b, loc, init, sums));
}

/// What is the same in all iterations is computed before the loop. That is safe where there is no
/// iteration, too: nothing here traps, and a load's place is within its tensor whatever the loop's
/// range is, or has a value outside of it.
static void hoistInvariants(ForOp loop) {
  for (Operation &op : llvm::make_early_inc_range(loop.getBody().front())) {
    auto isOutside = [&](Value operand) {
      return !loop.getBody().isAncestor(operand.getParentRegion());
    };
    if ((isa<LoadOp>(op) || isMemoryEffectFree(&op)) && !op.hasTrait<OpTrait::IsTerminator>() &&
        llvm::all_of(op.getOperands(), isOutside))
      op.moveBefore(loop);
  }
}

/// Where nothing is contracted the sums are what they begin with.
void PipelineBuilder::multiply() {
  ForOp old = product.loop;
  if (product.rows.isComputed())
    hoistInvariants(old);
  b.setInsertionPoint(old);
  Value first = firstItem(), all = old.getInits()[0], init = all;
  firstOfProgram = first;
  if (product.splits > 1) {
    Type parts =
        withLayout(init.getType(), mmaLayout(product.block().rows, product.block().columns,
                                             warpsOf(product), product.splits, Sharing::Parts));
    Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(getElementTypeOrSelf(parts)));
    init = BroadcastOp::create(b, loc, parts, none);
  }
  auto finish = [&](Value sums) {
    if (product.splits > 1)
      sums = combine(sums, all);
    old.getResult(0).replaceAllUsesWith(sums);
    old.erase();
  };
  if (product.block().isTwice)
    return finish(multiplyApart(first, init));
  Value isAny = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, blocks, zero);
  Type tile = init.getType();
  auto pending = PendingType::get(b.getContext(), cast<RankedTensorType>(tile));
  auto branch = scf::IfOp::create(b, loc, pending, isAny, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  bool isFresh = isZero(init);
  Value begun = isFresh ? Value(MmaFreshOp::create(b, loc, pending))
                        : Value(MmaBeginOp::create(b, loc, pending, init));
  scf::YieldOp::create(b, loc, multiplyAll(begun, isFresh));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, Value(MmaBeginOp::create(b, loc, pending, init)));
  b.setInsertionPoint(old);
  Value sums = MmaEndOp::create(b, loc, tile, branch.getResult(0));
  auto last = scf::IfOp::create(b, loc, isAny);
  b.setInsertionPointToStart(last.thenBlock());
  release(arith::AddIOp::create(b, loc, first, blocks));
  b.setInsertionPoint(old);
  finish(sums);
}

/// What is held as the sums are leaves by bulk copies, where those can.
void PipelineBuilder::sendResults() {
  SmallVector<StoreOp> stores;
  for (StoreOp store : roles.getBodies()[1].getOps<StoreOp>())
    stores.push_back(store);
  for (StoreOp store : stores) {
    if (!product.canSend(store) || layoutOf(store.getValue().getType()) != layout)
      continue;
    b.setInsertionPoint(store);
    // Its symbols are dims, too.
    AffineMap map = store.getMap();
    unsigned dims = map.getNumDims();
    SmallVector<Value> values(store.getDims());
    llvm::append_range(values, store.getSyms());
    SmallVector<AffineExpr> symbols;
    for (unsigned n = 0; n < map.getNumSymbols(); ++n)
      symbols.push_back(b.getAffineDimExpr(dims + n));
    map = map.replaceDimsAndSymbols({}, symbols, values.size(), 0);
    SendOp::create(b, store.getLoc(), store.getValue(), store.getTarget(), values, map);
    store.erase();
  }
}

/// What the largest change of a layout takes of shared memory (Exchange.cpp), beside the slots.
static int64_t bytesOfConversions(KernelOp kernel) {
  int64_t most = 0;
  kernel.walk([&](ConvertOp convert) {
    Layout from = layoutOf(convert.getInput().getType()), to = layoutOf(convert.getType());
    constexpr int64_t padding = 4;
    int64_t bytes =
        std::max(1u, getElementTypeOrSelf(convert.getType()).getIntOrFloatBitWidth() / 8);
    for (unsigned axis = 0; axis < to.rank(); ++axis)
      bytes *= std::max(from.extent(axis), to.extent(axis)) + (axis + 1 == to.rank() ? padding : 0);
    most = std::max(most, bytes);
  });
  return most;
}

/// Whether elements move between threads in an op. Blocks of a cluster can't share a program then.
static bool movesBetweenThreads(Operation *around) {
  return around
      ->walk([](Operation *op) {
        bool moves = isa<ConvertOp, ReduceOp, ArgReduceOp, ScanOp, SortOp, TakeOp, CountOp>(op);
        return moves ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

std::string PipelineBuilder::run() {
  ProductBlock block = product.block();
  unsigned sharing = blocksOf(product), ofRows = blocksOfRows(block);
  if (product.rows.isComputed())
    operand.emplace(product);
  layout = layoutsFor(product).front().layout;
  if (layoutOf(product.loop.getResult(0).getType()) != layout)
    return "what follows its sums has them in another layout";
  if (sharing > 1 && movesBetweenThreads(kernel))
    return "what follows its sums moves elements between threads, and those are of " +
           std::to_string(sharing) + " blocks of a cluster";
  if (product.rows.isComputed() && movesBetweenThreads(product.loop))
    return "what its left operand is computed from moves between threads";
  SmallVector<Type> parts;
  for (const ProductBox &box : product.rows.boxes)
    parts.push_back(partOf(box, block.heldRows() / ofRows));
  parts.push_back(partOf(product.columns.boxes.front(), block.columns));
  int64_t bytes = product.elementBytes(), moved = bytesOfConversions(kernel);
  int64_t slots = slotsFor(block, bytes, target, moved), asked = numberOf(kernel, "stages");
  int64_t least = std::max(asked, leastSlots(block, bytes));
  if (slots < least)
    return "shared memory has room for " + std::to_string(std::max<int64_t>(0, slots)) +
           (slots == 1 ? " stage" : " stages") + " of blocks of " + std::to_string(block.rows) +
           " × " + std::to_string(block.columns) + " × " + std::to_string(block.depth) +
           (moved > 0 ? ", beside " + std::to_string(moved) + " bytes for what changes its layout"
                      : "") +
           ", which need " + std::to_string(least);
  if (asked > 0)
    slots = asked;
  type = ChannelType::get(b.getContext(), slots, parts);
  int64_t group = groupOf(kernel, product);
  makeChannel();
  roles = makeRoles();
  load(roles.getBodies()[0].front());
  multiply();
  sendResults();
  // Numbers that the loads alone have asked for.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(roles.getBodies()[1].front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  // Sums go through the slots: no other program's operands may be there.
  if (product.splits == 1)
    kernel->setAttr(persistentAttrName, b.getUnitAttr());
  // Programs that run together share operands; with more binders the last ones do.
  if (parallel.getNames().size() == 2 && group > 1)
    kernel->setAttr(groupAttrName, b.getI64IntegerAttr(group));
  return "";
}

std::string tile::codegen::gpu::buildPipeline(KernelOp kernel, Product product,
                                              const GpuTarget &target) {
  return PipelineBuilder(kernel, product, target).run();
}

namespace {
class BuildPipelinePass : public PassWrapper<BuildPipelinePass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BuildPipelinePass)

  StringRef getArgument() const override { return "tile-gpu-build-pipeline"; }
  StringRef getDescription() const override {
    return "Has loops of products run on the tensor cores, fed by warps of their own";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<TileGpuDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      if (failed(checkSettings(kernel)))
        return signalPassFailure();
      normalizeKernel(kernel);
      FoundProduct found = findProduct(kernel);
      if (!found.product) {
        if (!found.reason.empty())
          found.op->emitRemark("no tensor cores for it: ") << found.reason;
        return;
      }
      if (failed(checkSchedule(kernel, *found.product, GpuTarget::of(usualGpuTarget))) ||
          failed(assignLayouts(kernel, warpsOf(*found.product), blocksOf(*found.product),
                               layoutsFor(*found.product))))
        return signalPassFailure();
      std::string refusal = buildPipeline(kernel, *found.product, GpuTarget::of(usualGpuTarget));
      if (!refusal.empty()) {
        kernel.emitError("no pipeline: ") << refusal;
        signalPassFailure();
      }
    });
  }
};
} // namespace

void tile::codegen::gpu::registerPipelinePasses() {
  registerPass([] { return std::make_unique<BuildPipelinePass>(); });
}
