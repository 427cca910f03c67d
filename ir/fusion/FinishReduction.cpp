//===- FinishReduction.cpp - what follows a sum, where the sum is complete ===//

#include "ir/fusion/FinishReduction.h"
#include "ir/fusion/KeepPrecision.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

namespace {
class Finisher {
public:
  Finisher(CallOp producer, CallOp consumer, Value tensor, const InlineOptions &options,
           GraphShapes &shapes, FusionRefusal &refusal)
      : producer(producer), consumer(consumer), tensor(tensor), options(options), shapes(shapes),
        refusal(refusal), guest(shapes.kernelOf(producer)), origin(shapes.kernelOf(consumer)) {}

  std::unique_ptr<FusedKernel> run();

private:
  LogicalResult refuse(const Twine &reason) {
    refusal.reason = reason.str();
    return failure();
  }
  LogicalResult refuseMore(const Twine &reason);
  LogicalResult check();
  LogicalResult checkParams();
  LogicalResult checkOps();
  LogicalResult checkOp(Operation &op);
  void fillFinish();

  CallOp producer, consumer;
  Value tensor;
  const InlineOptions &options;
  GraphShapes &shapes;
  FusionRefusal &refusal;
  KernelOp guest, origin;
  unsigned summed = 0, given = 0; // the output of the guest, and of the origin
  StoreOp store;                  // the origin's
  std::unique_ptr<FusedKernel> fused;
};
} // namespace

bool tile::ir::isReduced(Value tensor, GraphShapes &shapes) {
  auto result = dyn_cast<OpResult>(tensor);
  auto call = result ? dyn_cast<CallOp>(result.getOwner()) : CallOp();
  KernelOp kernel = call ? shapes.kernelOf(call) : KernelOp();
  return kernel &&
         kernel.getParamMode(outputPosition(kernel, result.getResultNumber())) == ParamMode::Reduce;
}

SmallVector<Value> tile::ir::besides(CallOp producer, Value tensor) {
  SmallVector<Value> others(producer.getResults());
  llvm::erase(others, tensor);
  return others;
}

/// What is always said of a sum.
static std::string whenComplete(KernelOp guest, unsigned param) {
  return ("`" + guest.getSymName() + "." + guest.getParamName(param) +
          "` is complete only when all programs of `" + guest.getSymName() + "` have ended")
      .str();
}

bool tile::ir::mayFinish(CallOp consumer, Value tensor, GraphShapes &shapes,
                         FusionRefusal &refusal) {
  if (readByOthers(consumer, tensor).empty())
    return true;
  auto result = cast<OpResult>(tensor);
  KernelOp guest = shapes.kernelOf(cast<CallOp>(result.getOwner()));
  refusal.reason = whenComplete(guest, outputPosition(guest, result.getResultNumber())) +
                   ", and `" + consumer.getCallee().str() + "` is not all that needs it";
  refusal.isShared = true;
  refusal.loc = consumer.getLoc();
  return false;
}

//===-- What is a map of the sum ------------------------------------------===//

LogicalResult Finisher::refuseMore(const Twine &reason) {
  refusal.isShared = true;
  return refuse(whenComplete(guest, summed) + "; `" + origin.getSymName() + "` " + reason);
}

LogicalResult Finisher::checkParams() {
  for (KernelOp kernel : {guest, origin}) {
    if (kernel.isGrid())
      return refuse("`" + kernel.getSymName() +
                    "` is a grid kernel: nothing is known of what its programs do");
    for (unsigned n = 0, e = kernel.getNumArguments(); n < e; ++n)
      if (kernel.getParamMode(n) == ParamMode::InOut)
        return refuse("`" + kernel.getSymName() + "` changes `" + kernel.getParamName(n) +
                      "` in place");
  }
  if (consumer.getNumResults() != 1)
    return refuseMore("gives several tensors");
  if (origin.getParamMode(given) != ParamMode::Out)
    return refuseMore("reduces it further");
  for (auto [operand, n] : llvm::zip(consumer.getInputs(), inputPositions(origin))) {
    if (operand != tensor) {
      if (isa<TensorType>(operand.getType()))
        return refuseMore("reads `" + origin.getParamName(n) + "` besides");
      continue;
    }
    if (origin.getParamShape(n) != origin.getParamShape(given))
      return refuseMore("gives a tensor of another shape");
  }
  if (origin.getParamType(given) != guest.getParamType(summed))
    return refuseMore("gives another type");
  return success();
}

LogicalResult Finisher::checkOp(Operation &op) {
  if (isa<AxisOp, StoreOp, BroadcastOp>(op))
    return success();
  if (auto load = dyn_cast<LoadOp>(op)) {
    bool isSame = load.getMap() == store.getMap() && load.getDims() == store.getDims() &&
                  load.getSyms() == store.getSyms() && load.getBounds() == BoundsMode::exact;
    return isSame ? success() : refuseMore("reads other elements than it stores");
  }
  bool isElementwise = op.hasTrait<OpTrait::Elementwise>() || matchPattern(&op, m_Constant());
  if (!isElementwise || !isMemoryEffectFree(&op) || op.getNumRegions() > 0 ||
      op.getNumResults() != 1)
    return refuseMore("does more than compute each element by itself");
  for (Value operand : op.getOperands()) {
    // In the end there are no programs whose coordinate it could be.
    if (auto binder = dyn_cast<BlockArgument>(operand);
        binder && binder.getOwner() == &origin.getParallel().getBody().front())
      return refuseMore("computes with indices of elements");
    // What folding has put in front of the programs.
    if (DenseElementsAttr elements;
        matchPattern(operand, m_Constant(&elements)) && !elements.isSplat())
      return refuseMore("uses a table");
  }
  return success();
}

LogicalResult Finisher::checkOps() {
  Block &body = origin.getParallel().getBody().front();
  auto stores = body.getOps<StoreOp>();
  if (!llvm::hasSingleElement(stores))
    return refuseMore("does not store in one place");
  store = *stores.begin();
  if (store.getDrops())
    return refuseMore("drops elements");
  for (Operation &op : body)
    if (failed(checkOp(op)))
      return failure();
  if (!origin.getBody().front().getOps<RestrictOp>().empty())
    return refuseMore("computes under a condition");
  return success();
}

LogicalResult Finisher::check() {
  if (!guest || !origin)
    return refuse("a graph is called, not a kernel");
  summed = outputPosition(guest, cast<OpResult>(tensor).getResultNumber());
  given = outputPosition(origin, 0);
  if (failed(checkParams()) || failed(checkOps()))
    return failure();
  return success(mayFinish(consumer, tensor, shapes, refusal) &&
                 mayKeep(producer, consumer, besides(producer, tensor), refusal));
}

//===-- The kernel --------------------------------------------------------===//

/// Behind what the guest makes of its sum, the consumer's ops: each on the scalars that an element
/// is computed from.
void Finisher::fillFinish() {
  KernelOp host = fused->kernel();
  ParallelOp parallel = host.getParallel(); // still the consumer's
  StoreOp stored = *parallel.getOps<StoreOp>().begin();
  FinishOp finish;
  for (FinishOp op : host.getBody().front().getOps<FinishOp>())
    if (op.getOutput() == stored.getTarget())
      finish = op;
  OpBuilder builder(host.getBody().front().getTerminator());
  if (!finish) {
    finish = FinishOp::create(builder, consumer.getLoc(), stored.getTarget());
    Type element = cast<MemRefType>(stored.getTarget().getType()).getElementType();
    Block &body = finish.getBody().emplaceBlock();
    body.addArgument(element, consumer.getLoc());
    builder.setInsertionPointToEnd(&body);
    CombinedOp::create(builder, consumer.getLoc(), body.getArguments());
  }
  Operation *end = finish.getBody().front().getTerminator();
  builder.setInsertionPoint(end);
  Value sum = finish.getFinished();
  IRMapping scalars;
  auto scalarOf = [&](Value value) {
    SplatElementsAttr splat;
    if (!scalars.contains(value) && matchPattern(value, m_Constant(&splat)))
      scalars.map(value,
                  arith::ConstantOp::create(builder, value.getLoc(),
                                            cast<TypedAttr>(splat.getSplatValue<Attribute>())));
    return scalars.lookupOrDefault(value);
  };
  auto isTable = [](Operation &op) {
    return matchPattern(&op, m_Constant()) && isa<RankedTensorType>(op.getResult(0).getType());
  };
  for (Operation &op : parallel.getBody().front()) {
    if (isa<LoadOp>(op)) {
      scalars.map(op.getResult(0), sum);
    } else if (isa<BroadcastOp>(op)) {
      scalars.map(op.getResult(0), scalarOf(op.getOperand(0)));
    } else if (!isa<AxisOp, StoreOp>(op) && !isTable(op)) {
      for (Value operand : op.getOperands())
        scalarOf(operand);
      Operation *copy = builder.clone(op, scalars);
      copy->getResult(0).setType(getElementTypeOrSelf(op.getResult(0).getType()));
    }
  }
  end->setOperand(0, scalarOf(stored.getValue()));
  if (options.keepsPrecision)
    keepPrecision(sum);
}

std::unique_ptr<FusedKernel> Finisher::run() {
  refusal.loc = consumer.getLoc();
  if (failed(check()))
    return {};
  fused =
      std::make_unique<FusedKernel>(producer, consumer, tensor, besides(producer, tensor), shapes);
  if (std::string conflict = fused->conflict(); !conflict.empty()) {
    refusal.reason = std::move(conflict);
    return {};
  }
  fused->replaceOutput(given, summed);
  fused->build();
  fillFinish();
  fused->takePrograms();
  fused->dropTensors();
  if (failed(fused->finish(refusal, options.keepsPrecision)))
    return {};
  return std::move(fused);
}

std::unique_ptr<FusedKernel> tile::ir::proposeFinishing(CallOp producer, CallOp consumer,
                                                        Value tensor, const InlineOptions &options,
                                                        GraphShapes &shapes,
                                                        FusionRefusal &refusal) {
  return Finisher(producer, consumer, tensor, options, shapes, refusal).run();
}
