//===- LowerKernel.cpp - one kernel, op by op -----------------------------===//

#include "codegen/gpu/lower/LowerKernel.h"
#include "codegen/gpu/dialect/Sites.h"
#include "codegen/gpu/lower/KernelLowering.h"
#include "codegen/gpu/lower/Numbers.h"
#include "codegen/gpu/plan/OutputCopies.h"
#include "codegen/gpu/plan/PlanProgram.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

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

/// Returns whether an op adds up the sums of a loop's turns.
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
    ctx.barriers.assumeAccesses();
  for (Operation &op : block) {
    if (ctx.failed)
      return;
    b.setLoc(op.getLoc());
    ctx.currentOp = &op;
    if (!ctx.programs.isBound() && !isRegion && needsProgram(op))
      ctx.programs.bindNow();
    if (ctx.watches && isa<PutOp>(op))
      return ctx.fail(&op, "the GPU backend does not have --sanitize of channels yet");
    bool isSums = !isRegion && makesSums(op), stillRuns = isSums && isa<MmaEndOp>(op);
    if (stillRuns) { // the last product
      planSlices(&op);
      emitFirstLoads();
    }
    if (!ctx.waiting.contains(&op))
      ctx.emitOp(&op);
    if (!isSums)
      continue;
    ctx.programs.bindNow(); // what follows the sums has to know
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
    ctx.barriers.assumeAccesses();
}

void KernelLowering::registerOwnOps() {
  ctx.onOp<AxisOp>([this](AxisOp axis) {
    Value lower = ctx.scalar(axis.getLower());
    ctx.ranges[axisOf(axis.getSpan())] = {lower, b.maxS(lower, ctx.scalar(axis.getUpper()))};
  });
  ctx.onOp<DimOp>([this](DimOp dim) {
    auto found = llvm::find(ctx.kernel.getDims(), dim.getNameAttr());
    ctx.scalars[dim.getResult()] = ctx.dims[found - ctx.kernel.getDims().begin()];
  });
  ctx.onOp<RestrictOp>([](RestrictOp) {});
  ctx.onOp<RequireOp>([](RequireOp) {});
  ctx.onOp<FinishOp>([](FinishOp) {});
  ctx.onOp<MayNotEndOp>([](MayNotEndOp) {});
}

/// Of what is computed of sums, in functions that can't fail.
static LogicalResult checkFinishes(KernelOp kernel) {
  for (FinishOp finish : kernel.getBody().front().getOps<FinishOp>())
    for (Operation &op : finish.getBody().front())
      if (std::string reason = whyNoNumber(&op); !reason.empty())
        return op.emitError(reason);
  return success();
}

//===-- The function ------------------------------------------------------===//

KernelLowering::KernelLowering(CodeBuilder &b, KernelOp kernel, LLVM::LLVMFuncOp function,
                               const GpuTarget &gpuTarget, int64_t room)
    : b(b), ctx(b, kernel, function, gpuTarget, room) {
  registerOwnOps();
  ctx.onBlock = [this](Block &block) { emitBlock(block); };
}

LogicalResult KernelLowering::run() {
  b.setInsertionPointToEnd(ctx.prologue);
  ctx.thread = readSpecial(b, "tid.x");
  ctx.lane = b.fold<arith::AndIOp>(ctx.thread, b.integer(b.getI32Type(), 31));
  ctx.warp = b.fold<arith::ShRUIOp>(ctx.thread, b.integer(b.getI32Type(), 5));
  ctx.blockRank = b.integer(b.getI32Type(), 0);
  if (ctx.blocks > 1)
    ctx.blockRank =
        b.fold<arith::AndIOp>(readSpecial(b, "ctaid.x"), b.integer(b.getI32Type(), ctx.blocks - 1));
  outputs.bindLaunch(ctx.bindParameters());
  outputs.bindCopies();
  ctx.barriers.findContended();
  Block *start = b.newBlock({});
  b.setInsertionPointToStart(start);
  ctx.emitBlock(ctx.kernel.getBody().front());
  LLVM::ReturnOp::create(b, ValueRange());
  b.setInsertionPointToEnd(ctx.prologue);
  if (ctx.exchange.hasClusterFolds)
    ctx.exchange.announceBlock();
  LLVM::BrOp::create(b, ValueRange(), start);
  ctx.shared.finish();
  return failure(ctx.failed);
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
  if (failed(checkFinishes(kernel)))
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
  result.keptBinders = lowering.ctx.programs.keptBinders;
  result.storesAlone = lowering.outputs.storesAlone;
  unsigned outputs =
      llvm::count_if(llvm::seq<unsigned>(0, kernel.getNumArguments()),
                     [&](unsigned n) { return kernel.getParamMode(n) == ParamMode::Reduce; });
  result.hasStart = outputs > result.copies.size();
  result.hasFinish = !result.copies.empty();
  result.foldsItself = result.hasFinish && foldsItself(kernel);
  if (result.hasStart)
    KernelLowering(b, kernel, create(LoweredKernel::startSuffix), gpuTarget).outputs.runStart();
  if (result.hasFinish)
    KernelLowering(b, kernel, create(LoweredKernel::finishSuffix), gpuTarget).outputs.runFinish();
  result.threads = 32 * kernel->getAttrOfType<IntegerAttr>(warpsAttrName).getInt();
  result.blocks = numBlocks(kernel);
  result.sharedBytes = lowering.ctx.shared.bytes();
  result.largestOfShared = lowering.ctx.shared.largestOp;
  result.plainDots = std::move(lowering.ctx.plainDots);
  result.stagedLoops = std::move(lowering.ctx.stagedLoops);
  return result;
}
