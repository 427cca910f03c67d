//===- OutputCopies.cpp - `reduce` outputs that have copies ---------------===//

#include "codegen/gpu/plan/OutputCopies.h"
#include "codegen/Elementwise.h"
#include "codegen/gpu/dialect/KernelAttributes.h"
#include "codegen/gpu/dialect/Sites.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/target/GpuCode.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

FinishOp tile::codegen::gpu::finishOf(KernelOp kernel, unsigned param) {
  for (FinishOp op : kernel.getBody().front().getOps<FinishOp>())
    if (op.getOutput() == kernel.getArgument(param))
      return op;
  return {};
}

/// Whether atomic operations give the same bits in any order, or may give others. Nobody would know
/// when they are complete.
static bool isAtomic(KernelOp kernel, unsigned param) {
  if (finishOf(kernel, param))
    return false;
  Type element = cast<MemRefType>(kernel.getArgumentTypes()[param]).getElementType();
  CombineKind kind = kernel.getParamReduce(param);
  if (element.isF32() || element.isF64())
    return kind == CombineKind::add && kernel.getArgAttr(param, "tile.unordered");
  return (element.isInteger(32) || element.isInteger(64)) && kind != CombineKind::mul;
}

SmallVector<ReduceCopies, 1> tile::codegen::gpu::copiesOf(KernelOp kernel) {
  SmallVector<ReduceCopies, 1> result;
  for (unsigned n = 0; n < kernel.getNumArguments(); ++n) {
    auto type = dyn_cast<MemRefType>(kernel.getArgumentTypes()[n]);
    if (!type || kernel.getParamMode(n) != ParamMode::Reduce || isAtomic(kernel, n))
      continue;
    Type element = type.getElementType();
    unsigned bits = isNarrowFloat(element) ? 32 : memoryType(element).getIntOrFloatBitWidth();
    result.push_back({n, bits / 8});
  }
  return result;
}

bool tile::codegen::gpu::foldsItself(KernelOp kernel) {
  if (speaks(kernel)) // an assertion may end a block before
    return false;
  auto hasFew = [&](const ReduceCopies &copy) {
    auto type = cast<MemRefType>(kernel.getArgumentTypes()[copy.param]);
    return type.hasStaticShape() && type.getNumElements() <= runtime::CudaCode::mostFolded;
  };
  return llvm::all_of(copiesOf(kernel), hasFew);
}

bool tile::codegen::gpu::hasSmallFinishes(KernelOp kernel) {
  // It is made anew for each register that a thread has.
  constexpr int64_t most = 8;
  return llvm::all_of(copiesOf(kernel), [&](const ReduceCopies &copy) {
    FinishOp finish = finishOf(kernel, copy.param);
    return !finish || llvm::range_size(finish.getBody().front()) <= most;
  });
}

bool tile::codegen::gpu::isOnlyOne(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto parallel =
      argument ? dyn_cast<ParallelOp>(argument.getOwner()->getParentOp()) : ParallelOp();
  if (!parallel || !parallel.getEach()[argument.getArgNumber()])
    return false;
  APInt lower, upper;
  return matchPattern(parallel.getLower()[argument.getArgNumber()], m_ConstantInt(&lower)) &&
         matchPattern(parallel.getUpper()[argument.getArgNumber()], m_ConstantInt(&upper)) &&
         lower + 1 == upper;
}

/// Whether a dimension of an output has the elements from `lower` on to `upper`.
static bool isWhole(KernelOp kernel, unsigned param, unsigned dimension, Value lower, Value upper) {
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[param]);
  APInt number;
  if (!matchPattern(lower, m_Zero()))
    return false;
  if (!type.isDynamicDim(dimension))
    return matchPattern(upper, m_ConstantInt(&number)) &&
           number.getSExtValue() == type.getDimSize(dimension);
  auto symbol = dyn_cast<AffineSymbolExpr>(kernel.getParamShape(param).getResult(dimension));
  auto dim = upper.getDefiningOp<DimOp>();
  return symbol && dim && kernel.getDims()[symbol.getPosition()] == dim.getNameAttr();
}

/// The binders that the elements of an update hang on, if with those all of the output is updated,
/// each element by all that the other binders have.
static std::optional<SmallVector<unsigned, 1>> bindersOfAll(KernelOp kernel, UpdateOp op) {
  ParallelOp parallel = kernel.getParallel();
  unsigned param = cast<BlockArgument>(op.getTarget()).getArgNumber();
  SmallVector<unsigned, 1> binders;
  llvm::SmallDenseSet<Value> seen;
  for (auto [d, expr] : llvm::enumerate(op.getMap().getResults())) {
    Value index;
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      index = op.getDims()[dim.getPosition()];
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      index = op.getSyms()[symbol.getPosition()];
    if (!index || !seen.insert(index).second)
      return std::nullopt;
    auto argument = dyn_cast<BlockArgument>(index);
    auto axis = index.getDefiningOp<AxisOp>();
    Value lower, upper;
    if (argument && argument.getOwner() == &parallel.getBody().front()) {
      unsigned n = argument.getArgNumber();
      binders.push_back(n);
      lower = parallel.getLower()[n], upper = parallel.getUpper()[n];
    } else if (axis) {
      lower = axis.getLower(), upper = axis.getUpper();
    }
    if (!lower || !isWhole(kernel, param, d, lower, upper))
      return std::nullopt;
  }
  llvm::sort(binders);
  return binders;
}

SmallVector<unsigned, 1> tile::codegen::gpu::keptBindersOf(KernelOp kernel) {
  SmallVector<ReduceCopies, 1> copies = copiesOf(kernel);
  // An order that is fixed is that of whole outputs; a report tells of a program by its number.
  bool isOther = copies.empty() || kernel->hasAttr(fixedOrderAttrName) ||
                 kernel->hasAttr(groupAttrName) || kernel->hasAttr(watchedAttrName) ||
                 kernel.isGrid() || speaks(kernel);
  kernel.walk([&](RestrictOp) { isOther = true; });
  if (isOther)
    return {};
  std::optional<SmallVector<unsigned, 1>> kept;
  size_t updates = 0;
  WalkResult result = kernel.walk([&](UpdateOp op) {
    unsigned param = cast<BlockArgument>(op.getTarget()).getArgNumber();
    if (llvm::none_of(copies, [&](const ReduceCopies &copy) { return copy.param == param; }))
      return WalkResult::advance();
    std::optional<SmallVector<unsigned, 1>> own = bindersOfAll(kernel, op);
    if (!own || (kept && *kept != *own))
      return WalkResult::interrupt();
    kept = own;
    ++updates;
    return WalkResult::advance();
  });
  return result.wasInterrupted() || updates != copies.size() ? SmallVector<unsigned, 1>() : *kept;
}
