//===- BuildPipeline.cpp - from a loop of products to roles and a channel -===//

#include "codegen/gpu/BuildPipeline.h"
#include "codegen/gpu/Mma.h"
#include "codegen/gpu/TileGpuOps.h"
#include "ir/Domain.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen::gpu;

GivenLayout tile::codegen::gpu::layoutFor(const Product &product) {
  RankedTensorType type = product.result();
  return {SmallVector<StringAttr>(axesOf(type)),
          mmaLayout(type.getDimSize(0), type.getDimSize(1), warpsOf(product))};
}

namespace {
class PipelineBuilder {
public:
  PipelineBuilder(KernelOp kernel, const Product &product, const GpuModel &model)
      : parallel(kernel.getParallel()), kernel(kernel), product(product), model(model), b(kernel),
        loc(ForOp(product.loop).getLoc()) {}
  LogicalResult run();

private:
  SharedType partOf(const ProductOperand &operand, int64_t length) const;
  void makeChannel();
  RolesOp makeRoles();
  Value integer(int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 64); }
  /// The number of the program's first item.
  Value firstItem();
  void load(Block &block);
  void multiply();

  ParallelOp parallel;
  KernelOp kernel;
  Product product;
  const GpuModel &model;
  OpBuilder b;
  Location loc;
  ChannelType type;
  Value channel, zero, one, blocks;
};
} // namespace

SharedType PipelineBuilder::partOf(const ProductOperand &operand, int64_t length) const {
  constexpr int64_t swizzle = 128;
  int64_t depth = product.depth();
  SmallVector<int64_t, 2> shape = {length, depth};
  if (operand.isByColumns)
    std::swap(shape[0], shape[1]);
  Type element = LoadOp(operand.load).getSource().getType().getElementType();
  return SharedType::get(b.getContext(), RankedTensorType::get(shape, element), swizzle);
}

/// As many slots as there is room for: what follows the loop needs some, too.
static int64_t slotsFor(ArrayRef<Type> parts, const GpuModel &model) {
  constexpr int64_t forResults = 16 << 10, mostSlots = 8;
  int64_t bytes = 0;
  for (Type part : parts)
    bytes += llvm::alignTo(cast<SharedType>(part).getBytes(), 1024);
  return std::min(mostSlots, (model.sharedBytes - forResults) / bytes);
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
    if (llvm::is_contained(axesOf(product.result()), axisOf(axis.getSpan())))
      hoist(axis);
  });
  b.setInsertionPoint(parallel);
  zero = integer(0), one = integer(1);
  Value depth = integer(product.depth()), last = integer(product.depth() - 1);
  Value padded = arith::AddIOp::create(b, loc, upper->getResult(0), last);
  blocks = arith::DivUIOp::create(b, loc, padded, depth);
  channel = ChannelOp::create(b, loc, type);
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
  Value turn = TurnOp::create(b, loc, b.getI64Type());
  return arith::MulIOp::create(b, loc, turn, blocks);
}

void PipelineBuilder::load(Block &block) {
  b.setInsertionPointToStart(&block);
  Value first = firstItem();
  auto loop = scf::ForOp::create(b, loc, zero, blocks, one);
  b.setInsertionPointToStart(loop.getBody());
  Value item = arith::AddIOp::create(b, loc, first, loop.getInductionVar());
  SmallVector<Value> sources, dims;
  SmallVector<Attribute> maps;
  SmallVector<AffineMap> own;
  // All that either map has dims or symbols for is one of the dims.
  auto place = [&](Value value) -> AffineExpr {
    bool isContracted = value == product.loop.getSpan();
    if (isContracted)
      value = loop.getInductionVar();
    auto known = llvm::find(dims, value);
    AffineExpr dim = b.getAffineDimExpr(known - dims.begin());
    if (known == dims.end())
      dims.push_back(value);
    return isContracted ? dim * product.depth() : dim;
  };
  for (LoadOp load : {product.rows.load, product.columns.load}) {
    auto places = llvm::map_to_vector(load.getDims(), place);
    auto symbols = llvm::map_to_vector(load.getSyms(), place);
    sources.push_back(load.getSource());
    own.push_back(load.getMap().replaceDimsAndSymbols(places, symbols, 0, 0));
  }
  for (AffineMap map : own)
    maps.push_back(
        AffineMapAttr::get(AffineMap::get(dims.size(), 0, map.getResults(), b.getContext())));
  PutOp::create(b, loc, channel, item, sources, dims, b.getArrayAttr(maps));
}

void PipelineBuilder::multiply() {
  ForOp old = product.loop;
  b.setInsertionPoint(old);
  Value first = firstItem();
  auto pending = PendingType::get(b.getContext(), product.result());
  Value begun = MmaBeginOp::create(b, loc, pending, old.getInits()[0]);
  auto release = [&](Value item, Value isThere) {
    auto branch = scf::IfOp::create(b, loc, isThere);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value before = arith::SubIOp::create(b, loc, item, one);
    ReleaseOp::create(b, loc, channel, before);
  };
  auto loop = scf::ForOp::create(b, loc, zero, blocks, one, begun);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar(), item = arith::AddIOp::create(b, loc, first, k);
    auto parts = GetOp::create(b, loc, type.getSlot(), channel, item).getParts();
    Value started = MmaOp::create(b, loc, pending, parts[0], parts[1], loop.getRegionIterArgs()[0],
                                  product.rows.isByColumns, product.columns.isByColumns);
    // The block before is read; this one's product runs on.
    Value running = MmaWaitOp::create(b, loc, pending, started, 1);
    release(item, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, k, zero));
    scf::YieldOp::create(b, loc, running);
  }
  Value sums = MmaEndOp::create(b, loc, old.getResult(0).getType(), loop.getResult(0));
  Value next = arith::AddIOp::create(b, loc, first, blocks);
  release(next, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, blocks, zero));
  old.getResult(0).replaceAllUsesWith(sums);
  old.erase();
}

LogicalResult PipelineBuilder::run() {
  RankedTensorType result = product.result();
  if (layoutOf(result) != layoutFor(product).layout)
    return failure();
  SmallVector<Type> parts = {partOf(product.rows, result.getDimSize(0)),
                             partOf(product.columns, result.getDimSize(1))};
  int64_t slots = slotsFor(parts, model);
  if (slots < 2)
    return failure();
  type = ChannelType::get(b.getContext(), slots, parts);
  makeChannel();
  RolesOp roles = makeRoles();
  load(roles.getBodies()[0].front());
  multiply();
  kernel->setAttr(persistentAttrName, b.getUnitAttr());
  // Programs that run together share operands; with more binders the last ones do.
  constexpr int64_t group = 8;
  if (parallel.getNames().size() == 2)
    kernel->setAttr(groupAttrName, b.getI64IntegerAttr(group));
  return success();
}

LogicalResult tile::codegen::gpu::buildPipeline(KernelOp kernel, Product product,
                                                const GpuModel &model) {
  return PipelineBuilder(kernel, product, model).run();
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
      FoundProduct found = findProduct(kernel);
      if (!found.product) {
        if (!found.reason.empty())
          found.op->emitRemark("no tensor cores for it: ") << found.reason;
        return;
      }
      if (failed(assignLayouts(kernel, warpsOf(*found.product), 1, layoutFor(*found.product))) ||
          failed(buildPipeline(kernel, *found.product, GpuModel())))
        signalPassFailure();
    });
  }
};
} // namespace

void tile::codegen::gpu::registerPipelinePasses() {
  registerPass([] { return std::make_unique<BuildPipelinePass>(); });
}
