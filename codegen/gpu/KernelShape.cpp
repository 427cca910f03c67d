//===- KernelShape.cpp - what a kernel becomes on a GPU -------------------===//

#include "codegen/gpu/KernelShape.h"
#include "codegen/Neighbours.h"
#include "codegen/gpu/GpuCompiler.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/dialect/WarpMma.h"
#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/gpu/loops/ValueFacts.h"
#include "codegen/gpu/plan/Divisors.h"
#include "codegen/gpu/plan/OutputCopies.h"
#include "codegen/gpu/plan/PlanProgram.h"
#include "codegen/gpu/plan/Products.h"
#include "codegen/gpu/plan/TileSizes.h"
#include "ir/dialect/AffineEval.h"
#include "ir/fusion/UniteAxes.h"

#include <cmath>

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using tile::codegen::innermostDimension;

llvm::StringMap<int64_t> tile::codegen::gpu::sizesInCode(KernelOp kernel, ArrayRef<int64_t> dims,
                                                         const llvm::StringMap<int64_t> &given,
                                                         const GpuTarget &target) {
  llvm::StringMap<int64_t> sizes = given;
  for (const auto &[name, size] : chooseTiles(kernel, dims, given, target))
    sizes.try_emplace(name, size);
  ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
  if (auto all = tileSizes(kernel, {{}, sizes}); succeeded(all))
    for (const auto &[name, size] : *all)
      sizes.try_emplace(name, size);
  return sizes;
}

/// A contraction by threads, which make it without other instructions. What these share out of a
/// block's sums is taken for as square as the block lets it be.
static ContractionShape shapeByThreads(DotOp dot, unsigned warps) {
  ContractionShape shape;
  auto left = cast<RankedTensorType>(dot.getLhs().getType());
  ArrayRef<StringAttr> axes = axesOf(left);
  shape.depth =
      static_cast<double>(left.getDimSize(llvm::find(axes, dot.getAxisAttr()) - axes.begin()));
  auto tile = dyn_cast<RankedTensorType>(dot.getType());
  double rows = 1, columns = 1, all = 1, threads = 32.0 * warps;
  if (tile) // else a number, of vectors
    for (auto [axis, extent] : llvm::zip(axesOf(tile), tile.getShape())) {
      bool isRow = llvm::is_contained(axes, axis),
           isColumn = llvm::is_contained(axesOf(dot.getRhs().getType()), axis);
      all *= static_cast<double>(extent);
      if (isRow != isColumn)
        (isRow ? rows : columns) *= static_cast<double>(extent);
    }
  shape.sums = std::max(1.0, all / threads);
  shape.copies = std::max(1.0, threads / all);
  double less = std::min({rows, columns, std::sqrt(shape.sums)});
  shape.reads = 1 / less + less / shape.sums;
  shape.ofTurn = all * shape.depth;
  return shape;
}

/// Whether threads can't move two neighbours of what is read at once.
static bool isOneByOne(LoadOp load, const Divisors &divisors) {
  auto parameter = dyn_cast<BlockArgument>(load.getSource());
  if (!parameter)
    return false;
  SmallVector<int64_t> strides = divisors.ofStrides(parameter.getArgNumber());
  Divisors::Place place{load.getMap(), load.getDims(), load.getSyms(), strides,
                        innermostDimension(load.getSource().getType())};
  for (unsigned n = 0; n < place.dims.size(); ++n)
    if (divisors.together(place, n) > 1)
      return false;
  return true;
}

/// What a contraction's operands are made of, in its loop.
static void findOperands(DotOp dot, const Divisors &divisors, ContractionShape &shape) {
  for (Value operand : {dot.getLhs(), dot.getRhs()}) {
    SmallVector<Operation *> open;
    auto visit = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (op && op->getBlock() == dot->getBlock() && !axesOf(value.getType()).empty())
        open.push_back(op);
    };
    visit(operand);
    bool isComputed = !open.empty() && !isa<LoadOp>(open.front());
    shape.isComputed |= isComputed;
    while (isComputed && !open.empty()) {
      Operation *op = open.pop_back_val();
      if (auto load = dyn_cast<LoadOp>(op))
        shape.isOneByOne |= isOneByOne(load, divisors);
      else
        llvm::for_each(op->getOperands(), visit);
    }
  }
}

static bool readsTileBehind(Operation *loop) {
  for (Operation *op = isa<ForOp>(loop) ? loop->getNextNode() : nullptr; op; op = op->getNextNode())
    if (isa<LoadOp>(op) && !axesOf(op->getResult(0).getType()).empty())
      return true;
  return false;
}

static int64_t elementsOfThread(KernelOp kernel, ProgramPlan &plan) {
  StringAttr looped = plan.looped ? plan.looped.getSpan().getType().getName() : StringAttr();
  int64_t most = 0;
  kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto tile = dyn_cast<RankedTensorType>(type);
      if (!tile)
        continue;
      int64_t elements = 1;
      for (auto [axis, extent] : llvm::zip(axesOf(tile), tile.getShape())) {
        elements = productOf(elements, axis == looped ? plan.chunk : extent);
      }
      most = std::max(most, elements);
    }
  });
  return most / (32 * int64_t(plan.warps * plan.blocks));
}

/// Programs along these binders of a template, or all.
static int64_t programsOf(KernelOp kernel, ArrayRef<int64_t> dims,
                          const llvm::StringMap<int64_t> &sizes,
                          std::optional<ArrayRef<unsigned>> binders = {}) {
  ParallelOp parallel = kernel.getParallel();
  int64_t count = 1;
  for (auto [n, name] : llvm::enumerate(parallel.getNames().getAsRange<StringAttr>())) {
    if (binders && !llvm::is_contained(*binders, n))
      continue;
    auto valueOf = [&](Value bound) {
      AffineExpr expr = traceDims(bound);
      return expr ? evaluateAffine(expr, {}, dims) : std::nullopt;
    };
    std::optional<int64_t> lower = valueOf(parallel.getLower()[n]),
                           upper = valueOf(parallel.getUpper()[n]);
    int64_t size = parallel.getEach()[n] ? 1 : std::max<int64_t>(1, sizes.lookup(name.getValue()));
    int64_t extent = lower && upper ? std::max<int64_t>(0, *upper - *lower) : size;
    count = productOf(count, llvm::divideCeil(extent, size));
  }
  return count;
}

/// What the runtime makes of a launch (LoadedKernel.cpp), by the same functions; but registers of
/// updates are taken to be no more than the elements.
static OutputCopies outputCopies(KernelOp kernel, KernelOp compiled, ArrayRef<int64_t> dims,
                                 const llvm::StringMap<int64_t> &sizes, unsigned warps) {
  namespace runtime = tile::runtime;
  OutputCopies result;
  SmallVector<ReduceCopies, 1> copies = copiesOf(compiled);
  unsigned outputs = 0;
  for (unsigned n = 0; n < kernel.getNumArguments(); ++n)
    outputs += kernel.getParamMode(n) == ParamMode::Reduce;
  result.launches = outputs > copies.size(); // fills what is updated atomically
  if (copies.empty())
    return result;
  int64_t bytes = 0, longest = 0;
  for (const ReduceCopies &copy : copies) {
    int64_t elements = 1;
    for (AffineExpr extent : kernel.getParamShape(copy.param).getResults())
      elements =
          productOf(elements, std::max<int64_t>(0, evaluateAffine(extent, {}, dims).value_or(1)));
    bytes += std::min(copy.bytesOf(elements), unboundedElements);
    longest = std::max(longest, elements);
  }
  SmallVector<unsigned, 1> kept = keptBindersOf(compiled);
  int64_t registers = 0, threads = 32 * int64_t(warps);
  compiled.walk([&](UpdateOp op) {
    if (auto tile = dyn_cast<RankedTensorType>(op.getValue().getType()))
      registers += tile.hasStaticShape() ? llvm::divideCeil(tile.getNumElements(), threads)
                                         : mostOfUpdates + 1;
  });
  if (registers > mostOfUpdates)
    kept.clear();
  compiled.walk([&](ReduceOp reduce) {
    result.meets |= !reduce->hasOneUse() || !isa<UpdateOp>(*reduce->user_begin());
  });
  int64_t programs = programsOf(kernel, dims, sizes);
  int64_t sharing = kept.empty() ? 1 : programsOf(kernel, dims, sizes, kept);
  int64_t count = kept.empty() ? runtime::numReduceCopies(programs, bytes)
                               : runtime::numSharedCopies(programs, bytes, sharing, threads);
  bool isAlone = !kept.empty() && hasSmallFinishes(compiled) && count == 1;
  bool folds = foldsItself(compiled) && longest <= runtime::CudaCode::mostFolded;
  result.count = isAlone ? 0 : static_cast<double>(count);
  result.bytes = static_cast<double>(bytes);
  result.blocks = static_cast<double>(productOf(count, sharing));
  result.launches += !isAlone && !folds;
  return result;
}

KernelShape tile::codegen::gpu::kernelShape(KernelOp kernel, ArrayRef<int64_t> dims,
                                            const llvm::StringMap<int64_t> &sizes,
                                            const GpuTarget &target) {
  ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
  GpuTarget limits = target;
  KernelShape shape;
  OwningOpRef<KernelOp> copy = asCompiled(kernel, dims, sizes);
  if (!copy)
    return shape;
  auto product = limits.hasWarpgroupMma ? findProduct(*copy).product : std::nullopt;
  if (product && GpuCompiler({.target = target}).becomesPipeline(*copy)) {
    ProductBlock block = product->block();
    shape.contractions = {{.path = ContractionPath::Pipeline,
                           .boxes = static_cast<double>(block.computedFrom),
                           .columns = static_cast<double>(block.columns)}};
    shape.warps = warpsOf(*product) + 4; // those that load
    shape.ctas = blocksOf(*product);
    return shape;
  }
  ProgramPlan plan = planProgram(*copy, limits);
  shape.copies = outputCopies(kernel, *copy, dims, sizes, plan.warps);
  // Layouts decide whether blocks of a cluster can share a program.
  if (plan.blocks > 1)
    if (auto onGpu = GpuCompiler({.target = target}).lowerToTileGpu(*copy);
        succeeded(onGpu) && numBlocks(**onGpu) < plan.blocks) {
      limits.maxClusterSize = numBlocks(**onGpu);
      plan = planProgram(*copy, limits);
    }
  llvm::SmallPtrSet<Block *, 4> loops;
  Domains domains(*copy);
  Divisors divisors(*copy, domains);
  copy->walk([&](DotOp dot) {
    bool isPlain = !warpDotOf(dot);
    ContractionShape one = shapeByThreads(dot, plan.warps);
    if (!isPlain) {
      one.path = ContractionPath::WarpMma;
      findOperands(dot, divisors, one);
    }
    one.isFirst = loops.insert(dot->getBlock()).second;
    shape.readsBehind |= one.isFirst && readsTileBehind(dot->getParentOp());
    shape.contractions.push_back(one);
    shape.wholeScalars += isPlain && hasWholeRows(dot);
  });
  shape.warps = plan.warps;
  shape.ctas = plan.blocks;
  shape.isPhased = plan.phases > 1;
  shape.elementsOfThread = elementsOfThread(*copy, plan);
  shape.ctasAtATime = plan.ctasAtATime;
  return shape;
}
