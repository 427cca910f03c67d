//===- LowerKernel.cpp - one kernel, op by op -----------------------------===//

#include "codegen/Neighbours.h"
#include "codegen/gpu/GpuCompiler.h"
#include "codegen/gpu/Lowering.h"
#include "codegen/gpu/PlanProgram.h"
#include "codegen/gpu/VerifyLayouts.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

/// A tile in registers, if they may be pending, too.
static Type tileTypeOf(Value value) {
  auto pending = dyn_cast<PendingType>(value.getType());
  return pending ? pending.getTile() : value.getType();
}

static bool isTile(Value value) { return !axesOf(tileTypeOf(value)).empty(); }

//===-- Values ------------------------------------------------------------===//

void KernelLowering::fail(Operation *op, const Twine &what) {
  if (!failed)
    op->emitError(what);
  failed = true;
}

Value KernelLowering::scalar(Value value) const {
  Value known = scalars.lookup(value);
  assert(known && "values are emitted in order");
  return known;
}

Tile KernelLowering::tile(Value value) const {
  auto known = tiles.find(value);
  assert(known != tiles.end() && "values are emitted in order");
  return known->second;
}

CodeBuilder::Values KernelLowering::flatten(ValueRange values) const {
  Values result;
  for (Value value : values) {
    if (isTile(value))
      llvm::append_range(result, tile(value).registers);
    else
      result.push_back(scalar(value));
  }
  return result;
}

void KernelLowering::bind(ValueRange values, ValueRange registers) {
  for (Value value : values) {
    size_t count = 1;
    if (isTile(value)) {
      Layout layout = layoutOf(tileTypeOf(value));
      count = layout.numRegisters();
      tiles[value] = {SmallVector<StringAttr>(axesOf(tileTypeOf(value))), layout,
                      Values(registers.take_front(count))};
    } else {
      scalars[value] = registers.front();
    }
    registers = registers.drop_front(count);
  }
}

//===-- Parameters and programs -------------------------------------------===//

KernelLowering::KernelLowering(CodeBuilder &b, KernelOp kernel, LLVM::LLVMFuncOp function,
                               const GpuTarget &gpuTarget, int64_t room)
    : b(b), kernel(kernel), function(function), domains(kernel), divisors(kernel, domains),
      prologue(&function.getBody().front()), room(room) {
  target.vectorBits = 32;
  target.isThread = target.hasRareCalls = true;
  target.hasF16c = target.hasBf16Rounding = target.hasFma = true;
  target.hasF8Conversions = gpuTarget.hasF8Conversions;
  warps = kernel->getAttrOfType<IntegerAttr>(warpsAttrName).getInt();
  copies = copiesOf(kernel);
  blocks = numBlocks(kernel);
  keptBinders = findKeptBinders();
  storesAlone = !keptBinders.empty() && hasSmallFinishes(kernel);
}

Value tile::codegen::gpu::readSpecial(CodeBuilder &b, StringRef name) {
  std::string intrinsic = ("llvm.nvvm.read.ptx.sreg." + name).str();
  return LLVM::CallIntrinsicOp::create(b, b.getI32Type(), b.getStringAttr(intrinsic), ValueRange())
      .getResult(0);
}

void KernelLowering::bindParameters() {
  unsigned numParams = kernel.getNumArguments();
  ValueRange behind(prologue->getArguments().drop_front(numParams));
  dims = Values(behind.take_front(kernel.getDims().size()));
  behind = behind.drop_front(dims.size());
  watches = kernel->hasAttr(watchedAttrName);
  if (speaks(kernel)) {
    report = behind.front();
    behind = behind.drop_front();
  }
  bool isEarly = startsEarly(kernel);
  for (auto [n, argument] : llvm::enumerate(kernel.getBody().getArguments())) {
    Value given = prologue->getArgument(n);
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type) {
      scalars[argument] = fromMemory(given, argument.getType());
      continue;
    }
    Tensor &tensor = tensors[argument];
    tensor.pointer = given;
    tensor.element = type.getElementType();
    tensor.isInvariant = kernel.getParamMode(n) == ParamMode::In;
    tensor.isEarly = isEarly;
    tensor.isContended = kernel.isGrid() && kernel.getParamMode(n) == ParamMode::InOut;
    SmallVector<Index> none;
    for (auto [d, expr] : llvm::enumerate(kernel.getParamShape(n).getResults())) {
      Value extent = type.isDynamicDim(d) ? materialize(evaluate(expr, none, dims))
                                          : b.i64(type.getDimSize(d));
      tensor.extents.push_back(extent);
    }
    Value stride = b.i64(1);
    tensor.strides.resize(tensor.extents.size());
    tensor.strideDivisors = divisors.ofStrides(n);
    tensor.innermost = innermostDimension(type);
    for (size_t d = tensor.extents.size(); d-- > 0;) {
      tensor.strides[d] = stride;
      stride = b.mul(stride, tensor.extents[d]);
    }
  }
  if (!copies.empty()) {
    placeOfCopies = behind[0];
    numCopies = behind[1];
    numPrograms = behind[2];
    counter = behind[3];
  }
}

/// How many blocks a binder has.
static Value blockCount(CodeBuilder &b, Value lower, Value upper, Value size) {
  Value length = b.maxS(b.sub(upper, lower), b.i64(0));
  return b.fold<arith::DivUIOp>(b.add(length, b.sub(size, b.i64(1))), size);
}

void KernelLowering::emitParallel(ParallelOp op) {
  if (kernel->hasAttr(groupAttrName) && op.getNames().size() != 2)
    return fail(op, "groups of programs need two binders");
  if (auto roles = dyn_cast<RolesOp>(op.getBody().front().front()))
    return emitRoles(op, roles);
  Block &body = op.getBody().front();
  if (copies.empty())
    return emitPrograms(op, body);
  // A run of programs for each copy, so that they are combined in order.
  Value ofBlock = numPrograms;
  SmallVector<unsigned> others;
  for (unsigned n = 0; n < op.getNames().size(); ++n)
    if (!llvm::is_contained(keptBinders, n))
      others.push_back(n);
  if (keptBinders.empty()) {
    fillCopies();
  } else {
    bindBinders(op, keptPlace, keptBinders);
    ofBlock =
        b.fold<arith::DivUIOp>(numPrograms, b.fold<arith::ExtUIOp>(b.getI64Type(), keptPlaces));
  }
  Value length = blockCount(b, b.i64(0), ofBlock, numCopies);
  Value first = b.mul(b.fold<arith::ExtUIOp>(b.getI64Type(), copyNumber), length);
  Value end = b.minS(b.add(first, length), ofBlock);
  SmallVector<Fold> updates = watches ? SmallVector<Fold>() : accumulatedUpdates();
  Values inits;
  Carried registers;
  for (const Fold &update : updates) {
    registers.append(inits, startOfUpdate(update), update.isLongSum);
    if (update.reduce)
      waiting.insert({update.reduce, update.combine});
  }
  auto turn = [&](Value number, ValueRange carried) {
    program = number;
    if (keptBinders.empty())
      bindProgram(op, b.fold<arith::TruncIOp>(b.getI32Type(), number));
    else
      bindBinders(op, b.fold<arith::TruncIOp>(b.getI32Type(), number), others);
    watchProgram();
    SmallVector<ValueRange> parts = registers.split(carried);
    for (auto [update, part] : llvm::zip(updates, parts))
      if (!update.reduce)
        accumulated[update.combine] = Values(part);
    emitBlock(body);
    if (failed)
      return Values(carried);
    Values next;
    for (auto [update, part] : llvm::zip(updates, parts))
      llvm::append_range(next, update.reduce ? stepOf(update, part) : accumulated[update.combine]);
    return next;
  };
  auto loop = [&](Value begin, Value stop, ValueRange start) {
    return b.loop(begin, stop, b.i64(1), start, turn);
  };
  Values last = loopOfSums(std::nullopt, first, end, 1, registers, inits, loop);
  if (failed)
    return;
  for (auto [update, part] : llvm::zip(updates, registers.split(last)))
    writeAccumulated(update, part);
  if (foldsItself(kernel))
    foldByLast();
}

void KernelLowering::emitPrograms(ParallelOp op, Block &body) {
  // Of a cluster, its number.
  auto inClusters = [&](Value number) {
    Value shift = b.integer(b.getI32Type(), llvm::Log2_32(blocks));
    return blocks > 1 ? b.fold<arith::ShRUIOp>(number, shift) : number;
  };
  Value block = inClusters(readSpecial(b, "ctaid.x"));
  positions.clear();
  Values start = {b.i64(0)}; // programs before, then the channels' positions
  for (Operation &op : body)
    if (auto advance = dyn_cast<AdvanceOp>(op))
      start.push_back(positions[advance.getChannel()] = b.i64(0));
  if (!kernel->hasAttr(persistentAttrName)) {
    program = b.fold<arith::ExtUIOp>(b.getI64Type(), block);
    bindProgram(op, block);
    watchProgram();
    return emitBlock(body);
  }
  Type i64 = b.getI64Type();
  Value first = b.fold<arith::ExtUIOp>(i64, block);
  Value step = b.fold<arith::ExtUIOp>(i64, inClusters(readSpecial(b, "nctaid.x")));
  b.loop(first, programCount(op), step, start, [&](Value number, ValueRange carried) {
    turn = carried[0];
    for (auto [position, value] : llvm::zip_equal(positions, carried.drop_front()))
      position.second = value;
    program = number;
    watchProgram();
    bindLater = [&] { bindProgram(op, b.fold<arith::TruncIOp>(b.getI32Type(), number)); };
    emitBlock(body);
    bindLater = nullptr;
    Values next = {b.add(carried[0], b.i64(1))};
    for (const auto &position : positions)
      next.push_back(position.second);
    return next;
  });
  turn = b.i64(0);
}

Value KernelLowering::programCount(ParallelOp op) {
  Value count = b.i64(1);
  for (size_t n = 0; n < op.getNames().size(); ++n)
    count = b.mul(count, blockCount(b, scalar(op.getLower()[n]), scalar(op.getUpper()[n]),
                                    b.i64(op.getSizes()[n])));
  return count;
}

/// Of so many blocks by so many, the places of a program's: down `group` rows of blocks, then one
/// to the right.
static std::pair<Value, Value> groupedPlace(CodeBuilder &b, Value number, Value rows, Value columns,
                                            int64_t group) {
  auto div = [&](Value x, Value y) { return b.fold<arith::DivUIOp>(x, y); };
  auto rest = [&](Value x, Value y) { return b.sub(x, b.mul(div(x, y), y)); };
  Value height = b.integer(b.getI32Type(), group), width = b.mul(columns, height);
  Value first = b.mul(div(number, width), height), inside = rest(number, width);
  Value here = b.minS(b.sub(rows, first), height);
  return {b.add(first, rest(inside, here)), div(inside, here)};
}

void KernelLowering::bindProgram(ParallelOp op, Value number) {
  bindBinders(op, number, llvm::to_vector(llvm::seq<unsigned>(0, op.getNames().size())));
}

void KernelLowering::bindBinders(ParallelOp op, Value number, ArrayRef<unsigned> binders) {
  // There are fewer than 2³¹ programs, so each count is, too.
  Type i32 = b.getI32Type();
  auto countOf = [&](size_t n) {
    return b.fold<arith::TruncIOp>(
        i32,
        blockCount(b, scalar(op.getLower()[n]), scalar(op.getUpper()[n]), b.i64(op.getSizes()[n])));
  };
  auto group = kernel->getAttrOfType<IntegerAttr>(groupAttrName);
  Values places(binders.size());
  if (group) {
    std::tie(places[0], places[1]) =
        groupedPlace(b, number, countOf(0), countOf(1), group.getInt());
  } else {
    for (size_t n = binders.size(); n-- > 1;) {
      Value count = countOf(binders[n]), quotient = b.fold<arith::DivUIOp>(number, count);
      places[n] = b.sub(number, b.mul(quotient, count));
      number = quotient;
    }
    if (!binders.empty())
      places[0] = number;
  }
  for (auto [n, place] : llvm::zip_equal(binders, places)) {
    Value lower = scalar(op.getLower()[n]), upper = scalar(op.getUpper()[n]);
    int64_t size = op.getSizes()[n];
    Value wide = b.fold<arith::ExtUIOp>(b.getI64Type(), place);
    Value origin = b.add(lower, b.mul(wide, b.i64(size)));
    BlockArgument argument = op.getBody().getArgument(n);
    if (isOnlyOne(argument))
      scalars[argument] = lower; // which is there after the programs, too
    else if (op.getEach()[n])
      scalars[argument] = origin;
    else
      ranges[axisOf(argument)] = {origin, b.add(origin, b.minS(b.i64(size), b.sub(upper, origin)))};
  }
}

//===-- Ops in order ------------------------------------------------------===//

/// Whether an op, or what is in it, has to know which program runs. The place of a program in a
/// persistent kernel takes divisions: they are made while the tensor cores work.
static bool needsProgram(Operation &op) {
  auto isOfProgram = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && isa<ParallelOp>(argument.getOwner()->getParentOp());
  };
  auto found = op.walk([&](Operation *inner) {
    if (llvm::any_of(inner->getOperands(), isOfProgram))
      return WalkResult::interrupt();
    bool isPipeline = isa<scf::SCFDialect, arith::ArithDialect>(inner->getDialect()) ||
                      isa<WorkItemOp, PositionOp, GetOp, ReleaseOp, MmaFreshOp, MmaBeginOp, MmaOp,
                          MmaWaitOp, ReadOp, AwaitTurnOp, PassTurnOp,
                          BroadcastOp>(inner) ||
                      (isa<MmaEndOp>(inner) && inner != &op); // of a turn
    return isPipeline ? WalkResult::advance() : WalkResult::interrupt();
  });
  return found.wasInterrupted();
}

/// Whether it adds up the sums of turns.
static bool addsTurns(Operation &op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && !loop.getBody()->getOps<MmaEndOp>().empty();
}

/// Whether it is a loop of single warps' products, which does nothing but add up.
static bool addsProducts(Operation &op) {
  auto loop = dyn_cast<ForOp>(op);
  return loop && loop->getNumResults() == 1 && axesOf(loop.getResult(0).getType()).size() == 2 &&
         !loop.getBody().front().getOps<DotOp>().empty();
}

/// Whether the sums of products are there behind it: it is the last one that adds to them.
static bool makesSums(Operation &op) {
  auto adds = [](Operation &op) {
    return isa<MmaEndOp, CombineOp>(op) || addsTurns(op) || addsProducts(op);
  };
  auto rest = llvm::make_range(std::next(op.getIterator()), op.getBlock()->end());
  return adds(op) && llvm::none_of(rest, adds);
}

void KernelLowering::emitBlock(Block &block) {
  // Once, several times or not at all: nothing is known of the accesses before and behind.
  bool isRegion = !isa<KernelOp, ParallelOp, RolesOp>(block.getParentOp());
  if (isRegion)
    assumeAccesses();
  for (Operation &op : block) {
    if (failed)
      return;
    b.setLoc(op.getLoc());
    currentOp = &op;
    if (bindLater && !isRegion && needsProgram(op))
      std::exchange(bindLater, nullptr)();
    if (watches && isa<PutOp>(op))
      return fail(&op, "the GPU backend does not have --sanitize of channels yet");
    bool isSums = !isRegion && makesSums(op), stillRuns = isSums && isa<MmaEndOp>(op);
    if (stillRuns) { // the last product
      planSlices(&op);
      emitFirstLoads();
    }
    if (!waiting.contains(&op))
      emitOp(&op);
    if (!isSums)
      continue;
    if (bindLater) // what follows the sums has to know
      std::exchange(bindLater, nullptr)();
    if (!stillRuns) {
      planSlices(&op);
      emitFirstLoads();
    }
    if (slices.columns == 0)
      continue;
    emitSlices();
    break;
  }
  if (isRegion)
    assumeAccesses();
}

void KernelLowering::emitOp(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ParallelOp parallel) { emitParallel(parallel); })
      .Case([&](AxisOp axis) {
        Value lower = scalar(axis.getLower());
        ranges[axisOf(axis.getSpan())] = {lower, b.maxS(lower, scalar(axis.getUpper()))};
      })
      .Case([&](DimOp dim) {
        auto found = llvm::find(kernel.getDims(), dim.getNameAttr());
        scalars[dim.getResult()] = dims[found - kernel.getDims().begin()];
      })
      .Case([&](LoadOp load) {
        emitLoad(load);
        prefetchAfter(load);
      })
      .Case([&](StoreOp store) { emitStore(store); })
      .Case([&](UpdateOp update) { emitUpdate(update); })
      .Case([&](AtomicOp atomic) { emitAtomic(atomic); })
      .Case([&](AssertOp assertion) { emitAssert(assertion); })
      .Case([&](PrintOp print) { emitPrint(print); })
      .Case([&](BroadcastOp broadcast) { emitBroadcast(broadcast); })
      .Case([&](CoordsOp coords) { emitCoords(coords); })
      .Case([&](ConvertOp convert) { emitConvert(convert); })
      .Case([&](ReduceOp reduce) { emitReduce(reduce); })
      .Case([&](ArgReduceOp reduce) { emitArgReduce(reduce); })
      .Case([&](CountOp count) { emitCountOp(count); })
      .Case([&](DotOp dot) { emitDot(dot); })
      .Case([&](ChannelOp channel) { emitChannel(channel); })
      .Case([&](PutOp put) { emitPut(put); })
      .Case([&](GetOp get) { emitGet(get); })
      .Case([&](ReleaseOp release) { emitRelease(release); })
      .Case([&](SendOp send) { emitSend(send); })
      .Case([&](WorkItemOp op) { scalars[op.getResult()] = turn; })
      .Case([&](PositionOp op) { scalars[op.getResult()] = positions.lookup(op.getChannel()); })
      .Case([&](AdvanceOp op) {
        Value &position = positions[op.getChannel()];
        position = b.add(position, scalar(op.getCount()));
      })
      .Case<AwaitTurnOp, PassTurnOp>([&](auto op) { emitTurn(isa<AwaitTurnOp>(op)); })
      .Case([&](RankOp op) {
        scalars[op.getResult()] = b.fold<arith::ExtUIOp>(b.getI64Type(), blockRank);
      })
      .Case([&](CombineOp op) { combineBlocks(op); })
      .Case([&](MmaBeginOp begin) { bind(begin.getResult(), tile(begin.getInput()).registers); })
      .Case([&](MmaFreshOp fresh) {
        Type tile = tileTypeOf(fresh.getResult());
        Value none = LLVM::PoisonOp::create(b, getElementTypeOrSelf(tile));
        bind(fresh.getResult(), Values(layoutOf(tile).numRegisters(), none));
      })
      .Case([&](MmaOp mma) { emitMma(mma); })
      .Case([&](MmaWaitOp wait) {
        bind(wait.getResult(), waitForMma(tile(wait.getAcc()).registers, wait.getPending()));
      })
      .Case([&](MmaEndOp end) {
        bind(end.getResult(), waitForMma(tile(end.getAcc()).registers, end.getPending()));
      })
      .Case([&](ReadOp read) { emitRead(read); })
      .Case([&](PartialReduceOp reduce) { emitPartialReduce(reduce); })
      .Case([&](PhiloxOp philox) { emitPhiloxOp(philox); })
      .Case([&](ScanOp scan) { emitScan(scan); })
      .Case([&](SortOp sort) { emitSort(sort); })
      .Case([&](TakeOp take) { emitTake(take); })
      .Case([&](ForOp loop) { emitFor(loop); })
      .Case([&](scf::ForOp loop) { emitCount(loop); })
      .Case([&](scf::IfOp branch) { emitIf(branch); })
      .Case([&](scf::WhileOp loop) { emitWhile(loop); })
      .Case<RestrictOp, RequireOp, FinishOp, MayNotEndOp>([](auto) {}) // read where they matter
      .Default([&](Operation *other) {
        if (other->hasTrait<OpTrait::IsTerminator>())
          return;
        bool isKnown = isa<arith::ConstantOp, arith::SelectOp>(other) ||
                       other->hasTrait<OpTrait::Elementwise>();
        if (!isKnown || other->getNumRegions() > 0)
          return fail(other, "the GPU backend does not have `" + other->getName().getStringRef() +
                                 "` yet");
        emitElementwiseOp(other);
      });
}

/// Functions that are calls of the C library on the CPU.
static bool needsLibrary(Operation *op) {
  if (!isa<math::MathDialect>(op->getDialect()))
    return false;
  if (isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::FloorOp, math::CeilOp, math::RoundOp,
          math::RoundEvenOp, math::TruncOp, math::SqrtOp, math::CopySignOp, math::RsqrtOp,
          math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp>(op))
    return false;
  return isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())) && !hasExpansion(op);
}

static std::string lacksText(Operation *op) {
  return ("the GPU backend does not have `" + op->getName().getStringRef() + "` of floats yet")
      .str();
}

/// Of what is computed of sums, in functions that can't fail.
static LogicalResult checkFinishes(KernelOp kernel) {
  for (FinishOp finish : kernel.getBody().front().getOps<FinishOp>())
    for (Operation &op : finish.getBody().front())
      if (needsLibrary(&op))
        return op.emitError(lacksText(&op));
  return success();
}

/// Two numbers at a time, which is one instruction and leaves both in one word. Where a pipeline's
/// sums are rounded to f16 one by one, ptxas 13.0 serializes its products (C7514).
bool KernelLowering::emitPairsOfHalves(Operation *op) {
  auto round = dyn_cast<arith::TruncFOp>(op);
  Value result = op->getNumResults() == 1 ? op->getResult(0) : Value();
  if (!round || !isTile(result) || !isTile(round.getIn()) ||
      !getElementTypeOrSelf(round.getIn().getType()).isF32() ||
      round.getRoundingmode() == arith::RoundingMode::toward_zero)
    return false;
  Type half = getElementTypeOrSelf(result.getType());
  // Elsewhere f16 stays single: pairs made a sort of f16 spill.
  if (!half.isBF16() && !(half.isF16() && op->getParentOfType<RolesOp>()))
    return false;
  std::string instruction =
      half.isF16() ? "cvt.rn.f16x2.f32 $0, $2, $1;" : "cvt.rn.bf16x2.f32 $0, $2, $1;";
  Tile &made = tiles[result];
  const Values &numbers = tiles[round.getIn()].registers;
  made.axes.assign(axesOf(result.getType()).begin(), axesOf(result.getType()).end());
  made.layout = layoutOf(result.getType());
  made.registers.resize(made.layout.numRegisters());
  SmallVector<size_t> wanted;
  for (int64_t r = 0, count = made.layout.numRegisters(); r < count; ++r)
    if (isInSlice(made.axes, made.layout, r))
      wanted.push_back(r);
  Type i16 = b.getIntegerType(16), i32 = b.getI32Type();
  for (size_t n = 1; n < wanted.size(); n += 2) {
    size_t low = wanted[n - 1], high = wanted[n];
    Value word = inlineAsm(b, i32, {numbers[low], numbers[high]}, instruction, "=r,f,f",
                           /*hasSideEffects=*/false);
    made.registers[low] = arith::TruncIOp::create(b, i16, word);
    made.registers[high] =
        arith::TruncIOp::create(b, i16, b.fold<arith::ShRUIOp>(word, b.integer(i32, 16)));
  }
  if (wanted.size() % 2 != 0)
    made.registers[wanted.back()] = emitElementwise(b, target, op, numbers[wanted.back()]);
  return true;
}

Value KernelLowering::emitNumber(Operation *op, ValueRange operands) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return emitConstant(b, constant.getValue());
  if (Value fast = emitFast(op, operands))
    return fast;
  return emitElementwise(b, target, op, llvm::to_vector(operands));
}

void KernelLowering::emitElementwiseOp(Operation *op) {
  if (needsLibrary(op))
    return fail(op, lacksText(op));
  if (isa<math::SinOp, math::CosOp, math::TanOp>(op) && isTile(op->getResult(0)) &&
      !getElementTypeOrSelf(op->getResult(0).getType()).isF64())
    return emitAngles(op);
  if (emitRowDivision(op) || emitPairsOfHalves(op))
    return;
  for (Value result : op->getResults()) {
    if (!isTile(result)) {
      SmallVector<Value> operands =
          llvm::map_to_vector(op->getOperands(), [&](Value operand) { return scalar(operand); });
      scalars[result] = emitNumber(op, operands);
      continue;
    }
    Tile &made = tiles[result];
    made.axes.assign(axesOf(result.getType()).begin(), axesOf(result.getType()).end());
    made.layout = layoutOf(result.getType());
    Values registers = std::move(made.registers);
    registers.resize(made.layout.numRegisters());
    for (int64_t r = 0, count = made.layout.numRegisters(); r < count; ++r) {
      if (!isInSlice(axesOf(result.getType()), layoutOf(result.getType()), r))
        continue;
      SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
        return isTile(operand) ? tiles[operand].registers[r] : scalar(operand);
      });
      registers[r] = emitNumber(op, operands);
    }
    tiles[result].registers = std::move(registers);
  }
}

void KernelLowering::emitBroadcast(BroadcastOp op) {
  Tile made{SmallVector<StringAttr>(axesOf(op.getType())), layoutOf(op.getType()), {}};
  int64_t count = made.layout.numRegisters();
  if (slice)
    made.registers = tiles[op.getResult()].registers;
  if (!isTile(op.getInput())) {
    made.registers.assign(count, scalar(op.getInput()));
  } else {
    Tile input = tile(op.getInput());
    made.registers.resize(count);
    for (int64_t r = 0; r < count; ++r) {
      if (!isInSlice(made.axes, made.layout, r))
        continue;
      Layout::Coords place = made.layout.ofRegister(r), from;
      for (StringAttr axis : input.axes)
        from.push_back(place[made.axisIndex(axis)]);
      std::optional<int64_t> source = input.layout.registerAt(from);
      assert(source && "the input's layout is the result's projection");
      made.registers[r] = input.registers[*source];
    }
  }
  tiles[op.getResult()] = std::move(made);
}

void KernelLowering::emitCoords(CoordsOp op) {
  StringAttr axis = axisOf(op.getSpan());
  Tile &made = tiles[op.getResult()];
  made.axes = {axis};
  made.layout = layoutOf(op.getType());
  made.registers.resize(made.layout.numRegisters());
  for (int64_t r = 0, count = made.layout.numRegisters(); r < count; ++r)
    if (isInSlice(made.axes, made.layout, r))
      made.registers[r] = materialize(coordinate(axis, made.layout, 0, r));
}

//===-- The function ------------------------------------------------------===//

LogicalResult KernelLowering::run() {
  b.setInsertionPointToEnd(prologue);
  thread = readSpecial(b, "tid.x");
  lane = b.fold<arith::AndIOp>(thread, b.integer(b.getI32Type(), 31));
  warp = b.fold<arith::ShRUIOp>(thread, b.integer(b.getI32Type(), 5));
  turn = b.i64(0);
  tensorMaps = tensorMapsOf(kernel);
  blockRank = b.integer(b.getI32Type(), 0);
  if (blocks > 1)
    blockRank =
        b.fold<arith::AndIOp>(readSpecial(b, "ctaid.x"), b.integer(b.getI32Type(), blocks - 1));
  bindParameters();
  bindCopies();
  findContended();
  Block *start = b.newBlock({});
  b.setInsertionPointToStart(start);
  emitBlock(kernel.getBody().front());
  LLVM::ReturnOp::create(b, ValueRange());
  b.setInsertionPointToEnd(prologue);
  if (hasClusterFolds)
    announceBlock();
  LLVM::BrOp::create(b, ValueRange(), start);
  if (reservedBase)
    reservedBase.getDefiningOp<LLVM::ConstantOp>().setValueAttr(
        b.getI32IntegerAttr(static_cast<int32_t>(llvm::alignTo(mostShared, 128))));
  return failure(failed);
}

/// A function with the parameters of all functions of the kernel, and an entry block.
static LLVM::LLVMFuncOp createFunction(CodeBuilder &b, KernelOp kernel, const Twine &suffix,
                                       const LoweredKernel &made) {
  SmallVector<Type> types;
  Type global = LLVM::LLVMPointerType::get(b.getContext(), 1);
  for (Type type : kernel.getArgumentTypes())
    types.push_back(isa<MemRefType>(type) ? global : memoryType(type));
  types.append(kernel.getDims().size(), b.getI64Type());
  if (speaks(kernel))
    types.push_back(global);
  if (!made.copies.empty())
    types.append({global, b.getI64Type(), b.getI64Type(), global});
  size_t firstMap = types.size();
  types.append(made.tensorMaps.size(), LLVM::LLVMPointerType::get(b.getContext()));
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
  std::string name = symbolOf((kernel.getSymName() + suffix).str());
  auto function = LLVM::LLVMFuncOp::create(b, name, type);
  function.addEntryBlock(b);
  // No tensor overlaps another. Copies and `reduce` outputs are exchanged between threads, and what
  // is read and changed is read by all before one of them changes it, or changed by other programs.
  // What a kernel that starts early has for parameters may change before its programs begin.
  for (auto [n, parameter] : llvm::enumerate(kernel.getArgumentTypes()))
    if (isa<MemRefType>(parameter) && kernel.getParamMode(n) != ParamMode::Reduce &&
        kernel.getParamMode(n) != ParamMode::InOut && !startsEarly(kernel))
      function.setArgAttr(n, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
  for (size_t n = firstMap; n < types.size(); ++n) {
    constexpr int64_t mapBytes = 128, mapAlignment = 64; // of CUtensorMap
    function.setArgAttr(n, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), mapBytes)));
    function.setArgAttr(n, LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(mapAlignment));
  }
  return function;
}

FailureOr<LoweredKernel> tile::codegen::gpu::lowerKernel(KernelOp kernel,
                                                         const GpuTarget &gpuTarget, int64_t room) {
  if (failed(verifyLayouts(kernel)) || failed(checkFinishes(kernel)))
    return failure();
  LoweredKernel result;
  result.module = ModuleOp::create(kernel.getLoc());
  CodeBuilder b(kernel.getLoc(), kernel.getContext());
  result.copies = copiesOf(kernel);
  result.tensorMaps = tensorMapsOf(kernel);
  auto create = [&](const Twine &suffix) {
    b.setInsertionPointToEnd(result.module->getBody());
    return createFunction(b, kernel, suffix, result);
  };
  LLVM::LLVMFuncOp function = create("");
  KernelLowering lowering(b, kernel, function, gpuTarget, room);
  if (failed(lowering.run()))
    return failure();
  result.function = function;
  result.keptBinders = lowering.keptBinders;
  result.storesAlone = lowering.storesAlone;
  unsigned outputs =
      llvm::count_if(llvm::seq<unsigned>(0, kernel.getNumArguments()),
                     [&](unsigned n) { return kernel.getParamMode(n) == ParamMode::Reduce; });
  result.hasStart = outputs > result.copies.size();
  result.hasFinish = !result.copies.empty();
  result.foldsItself = result.hasFinish && foldsItself(kernel);
  if (result.hasStart)
    KernelLowering(b, kernel, create(LoweredKernel::startSuffix), gpuTarget).runStart();
  if (result.hasFinish)
    KernelLowering(b, kernel, create(LoweredKernel::finishSuffix), gpuTarget).runFinish();
  result.threads = 32 * kernel->getAttrOfType<IntegerAttr>(warpsAttrName).getInt();
  result.blocks = numBlocks(kernel);
  result.sharedBytes = lowering.sharedBytes();
  result.largestOfShared = lowering.largestOfShared();
  result.plainDots = std::move(lowering.plainDots);
  return result;
}
