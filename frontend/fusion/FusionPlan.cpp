//===- FusionPlan.cpp - what decides the bits of a fused graph ------------===//

#include "frontend/fusion/FusionPlan.h"
#include "codegen/cpu/ShortDims.h"
#include "codegen/gpu/GpuCompiler.h"
#include "codegen/gpu/KernelShape.h"
#include "frontend/base/Interface.h"
#include "frontend/execute/CudaExecution.h"
#include "frontend/fusion/FusionCost.h"
#include "frontend/model/DeviceDescription.h"
#include "ir/fusion/CallOrigins.h"
#include "ir/fusion/GraphCosts.h"
#include "ir/fusion/UniteAxes.h"
#include "runtime/base/Hash.h"
#include "runtime/base/ThreadPool.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

//===-- A graph under given steps -----------------------------------------===//

namespace {
/// A copy of a graph in which some steps are done, and its calls are told apart.
struct Copy {
  Copy(ModuleOp module, StringRef symbol, const std::vector<ir::FusionStep> &steps, bool keepsCalls,
       const llvm::StringMap<int64_t> &dims = {})
      : model(usualDescription(/*isGpu=*/false), none) {
    auto written = cast<ir::GraphOp>(module.lookupSymbol(symbol));
    ir::prepareForFusion(written);
    graph = written.clone();
    SymbolTable symbols(module);
    graph.setSymName((symbol + (keepsCalls ? ".apart" : ".pinned")).str());
    symbols.insert(graph, std::next(written->getIterator()));
    for (const auto &[name, value] : dims)
      options.dims[name] = value;
    options.steps = &steps;
    options.keepsCalls = keepsCalls;
    ledger = ir::fuse(graph, model, options);
    llvm::append_range(calls, graph.getBody().getOps<ir::CallOp>());
  }

  ir::KernelOp kernelOf(ir::CallOp call) const {
    return SymbolTable::lookupNearestSymbolFrom<ir::KernelOp>(call, call.getCalleeAttr());
  }

  TileSizes none;
  FusionCost model;
  ir::FuseOptions options;
  ir::GraphOp graph;
  ir::FusionLedger ledger;
  std::vector<ir::CallOp> calls;
};

std::string hashOf(Operation *op) {
  std::string code;
  llvm::raw_string_ostream stream(code);
  op->print(stream, OpPrintingFlags().useLocalScope());
  return runtime::hash128(std::as_bytes(std::span(code))).str();
}

/// What the calls are, as they are written: without the names that the copy has given.
std::vector<FusionPlan::Call> describe(Copy &apart) {
  std::vector<FusionPlan::Call> calls;
  for (auto [n, call] : llvm::enumerate(apart.calls)) {
    FusionPlan::Call &entry = calls.emplace_back();
    entry.kernel = apart.ledger.calls[n].callee;
    if (ir::KernelOp kernel = apart.kernelOf(call)) {
      OwningOpRef<ir::KernelOp> bare(kernel.clone());
      bare->setSymName("kernel");
      entry.code = hashOf(*bare);
    }
  }
  return calls;
}

/// Which call reads what.
std::string describeGraph(Copy &apart) {
  OwningOpRef<ir::GraphOp> bare(apart.graph.clone());
  bare->setSymName("graph");
  for (auto call : bare->getBody().getOps<ir::CallOp>())
    call.setCallee("kernel");
  return hashOf(*bare);
}
} // namespace

/// Has the sums of calls made in the orders that are known; on a GPU those that follow from the
/// tiles and the warps.
static void pinOrders(ir::KernelOp kernel, const FusionPlan &plan) {
  kernel->setAttr(plan.isForGpu ? codegen::fixedOrderAttrName : codegen::pinnedAttrName,
                  UnitAttr::get(kernel.getContext()));
  for (Operation *op : ir::numberedOps(kernel))
    if (!isa<ir::ForOp, ir::UpdateOp>(op))
      for (auto [call, number] : ir::originsOf(op))
        if (auto order = plan.calls[call].orders.find(number);
            order != plan.calls[call].orders.end())
          codegen::pinOrder(op, order->second);
}

/// The same for all kernels: which thread has what follows from it.
static void pinWarps(ir::KernelOp kernel) {
  constexpr int64_t warps = 8;
  NamedAttrList schedule(kernel.getScheduleAttr());
  schedule.erase("target.cuda");
  schedule.set("warps", Builder(kernel.getContext()).getI64IntegerAttr(warps));
  kernel.setScheduleAttr(schedule.getDictionary(kernel.getContext()));
}

//===-- Making a plan -----------------------------------------------------===//

namespace {
class Planner {
public:
  Planner(Compiler &compiler, ModuleOp module, StringRef symbol, const ir::FusionLedger &ledger,
          const DeviceDescription &device, const llvm::StringMap<int64_t> &dims)
      : compiler(compiler), target(device.gpuTarget()), none(),
        apart(module, symbol, none, /*keepsCalls=*/true, dims),
        fused(module, symbol, ledger.steps, /*keepsCalls=*/false, dims), shapesApart(apart.graph),
        shapesFused(fused.graph), costsApart(apart.graph, apart.model, apart.options, shapesApart),
        costsFused(fused.graph, fused.model, fused.options, shapesFused) {
    plan.isForGpu = device.isGpu;
    plan.graph = sourceName(symbol).str();
    plan.code = describeGraph(apart);
    plan.calls = describe(apart);
    plan.steps = ledger.steps;
    plan.vetoes = ledger.vetoes;
    auto written = cast<ir::GraphOp>(module.lookupSymbol(symbol));
    for (StringRef name : written.getDims().getAsValueRange<StringAttr>()) {
      auto given = dims.find(name);
      plan.dims[name.str()] = given == dims.end() ? ir::FuseOptions().usualExtent : given->second;
    }
  }

  Outcome<FusionPlan> run();

private:
  Outcome<std::monostate> planKernel(unsigned number);
  void takeOrders(const codegen::FoldOrders &orders);
  Outcome<Done> chooseTiles(ir::KernelOp kernel, ir::Bindings &bindings, ArrayRef<int64_t> dims,
                            int64_t mostElements = CudaSpecialization().mostElements);
  Outcome<ir::Bindings> chooseSizes(ir::CallOp call);
  void takeBinders(unsigned call, ir::CallOp fusedCall, const ir::Bindings &bindings);
  Outcome<Done> chooseRest(unsigned call);

  Compiler &compiler;
  runtime::GpuTarget target; // of a GPU
  std::vector<ir::FusionStep> none;
  Copy apart, fused;
  ir::GraphShapes shapesApart, shapesFused;
  ir::GraphCosts costsApart, costsFused;
  int threads = 1;
  FusionPlan plan;
};

/// A range of coordinates over the dims of a graph.
struct Range {
  AffineExpr lower, upper;
  bool operator==(const Range &) const = default;
};

Range rangeOf(Value lower, Value upper, ArrayRef<AffineExpr> dims) {
  AffineExpr low = ir::traceDims(lower), high = ir::traceDims(upper);
  return {low ? low.replaceSymbols(dims) : low, high ? high.replaceSymbols(dims) : high};
}

struct Binder {
  StringAttr name;
  Range range;
  /// In elements; none if it is a whole axis.
  std::optional<int64_t> size;
};

/// All that programs of a kernel have blocks of, then its whole axes.
SmallVector<Binder> bindersOf(ir::KernelOp kernel, ArrayRef<AffineExpr> dims,
                              const ir::Bindings *bindings) {
  SmallVector<Binder> list;
  ir::ParallelOp parallel = kernel.getParallel();
  for (auto [name, each, lower, upper] :
       llvm::zip(parallel.getNames().getAsRange<StringAttr>(), parallel.getEach(),
                 parallel.getLower(), parallel.getUpper())) {
    auto found = bindings ? bindings->sizes.find(name) : llvm::StringMap<int64_t>::const_iterator();
    bool isKnown = bindings && found != bindings->sizes.end();
    list.push_back({name, rangeOf(lower, upper, dims), !each && isKnown ? found->second : 1});
  }
  if (bindings)
    kernel.walk([&](ir::AxisOp axis) {
      list.push_back({axis.getSpan().getType().getName(),
                      rangeOf(axis.getLower(), axis.getUpper(), dims), std::nullopt});
    });
  return list;
}

/// The axes that an op names: those that it goes over, then those of what it takes and makes.
SmallVector<StringAttr> axesNamedBy(Operation *op) {
  SmallVector<StringAttr> names;
  if (auto dot = dyn_cast<ir::DotOp>(op))
    names.push_back(dot.getAxisAttr());
  if (auto reduce = dyn_cast<ir::ReduceOp>(op))
    llvm::append_range(names, reduce.getAxes().getAsRange<StringAttr>());
  auto append = [&](Type type) {
    if (auto span = dyn_cast<ir::SpanType>(type))
      names.push_back(span.getName());
    else
      llvm::append_range(names, ir::axesOf(type));
  };
  llvm::for_each(op->getOperandTypes(), append);
  llvm::for_each(op->getResultTypes(), append);
  return names;
}

/// What the axes of a call's sums are called where a kernel makes these: calls become one with
/// their axes in any order.
llvm::SmallDenseMap<StringAttr, StringAttr> renamedAxes(ir::KernelOp own, unsigned call,
                                                        ir::KernelOp fused) {
  llvm::SmallDenseMap<StringAttr, StringAttr> renamed;
  SmallVector<Operation *> written = ir::numberedOps(own);
  for (Operation *op : ir::numberedOps(fused))
    for (const ir::CallOrigin &origin : ir::originsOf(op)) {
      if (origin.call != call)
        continue;
      SmallVector<StringAttr> from = axesNamedBy(written[origin.op]), to = axesNamedBy(op);
      if (from.size() == to.size())
        for (auto [name, other] : llvm::zip_equal(from, to))
          renamed.try_emplace(name, other);
    }
  return renamed;
}
} // namespace

/// A sum that several calls have, and that is made once, has one order for them.
void Planner::takeOrders(const codegen::FoldOrders &orders) {
  for (const auto &[op, order] : orders)
    for (auto [call, number] : ir::originsOf(op))
      plan.calls[call].orders.try_emplace(number, order);
}

/// Sizes of all blocks that have none yet; for a GPU those with which its code fits, and a thread
/// has so many elements of a tile at most.
Outcome<Done> Planner::chooseTiles(ir::KernelOp kernel, ir::Bindings &bindings,
                                   ArrayRef<int64_t> dims, int64_t mostElements) {
  OwningOpRef<ir::KernelOp> pinned(kernel.clone());
  if (!plan.isForGpu) {
    pinOrders(*pinned, plan);
    Compiler::chooseTiles(*pinned, bindings, dims, threads);
    return Done{};
  }
  CudaSpecialization to{bindings, {}, codegen::gpu::divisorsOf(kernel, dims)};
  to.mostElements = mostElements;
  to.open = Compiler::chooseGpuTiles(kernel, to.bindings, dims, target, /*fixed=*/true);
  codegen::gpu::bindDims(kernel, dims, to.bindings);
  pinWarps(*pinned);
  pinOrders(*pinned, plan);
  if (auto code = generateCuda(compiler, *pinned, to, target); !code)
    return code.takeFailure();
  auto sizes = ir::tileSizes(kernel, to.bindings);
  if (failed(sizes))
    return Failure::reported();
  bindings.sizes = *std::move(sizes);
  return Done{};
}

/// A loop of a call that several kernels compute, or one at several places, has one size.
Outcome<ir::Bindings> Planner::chooseSizes(ir::CallOp call) {
  ir::KernelOp kernel = fused.kernelOf(call);
  auto sizeOf = [&](const ir::CallOrigin &origin) -> int64_t & {
    ir::KernelOp own = apart.kernelOf(apart.calls[origin.call]);
    auto loop = cast<ir::ForOp>(ir::numberedOps(own)[origin.op]);
    return plan.calls[origin.call].sizes.try_emplace(loop.getName().str(), 0).first->second;
  };
  SmallVector<StringAttr> sizable = ir::sizableBinders(kernel);
  std::vector<std::pair<StringRef, int64_t *>> loops;
  for (Operation *op : ir::numberedOps(kernel))
    if (auto loop = dyn_cast<ir::ForOp>(op);
        loop && llvm::is_contained(sizable, loop.getNameAttr()))
      for (const ir::CallOrigin &origin : ir::originsOf(op))
        loops.emplace_back(loop.getName(), &sizeOf(origin));
  ir::Bindings bindings;
  for (auto [name, size] : loops)
    if (*size)
      bindings.sizes[name] = *size;
  // No axis is cut into chunks under a plan: tiles that leave room make less code.
  constexpr int64_t few = 256;
  if (auto done = chooseTiles(kernel, bindings, costsFused.valuesOf(shapesFused.dimsOf(call)), few);
      !done)
    return done.takeFailure();
  for (auto [name, size] : loops) {
    if (!*size)
      *size = bindings.sizes.lookup(name);
    bindings.sizes[name] = *size;
  }
  return bindings;
}

/// Programs of a call have the blocks that those of its kernel have; all that is one where that
/// has no blocks.
void Planner::takeBinders(unsigned call, ir::CallOp fusedCall, const ir::Bindings &bindings) {
  ir::CallOp own = apart.calls[call];
  SmallVector<Binder> offered =
      bindersOf(fused.kernelOf(fusedCall), shapesFused.dimsOf(fusedCall), &bindings);
  SmallVector<bool> taken(offered.size());
  SmallVector<StringAttr> sizable = ir::sizableBinders(apart.kernelOf(own));
  auto renamed = renamedAxes(apart.kernelOf(own), call, fused.kernelOf(fusedCall));
  for (const Binder &binder : bindersOf(apart.kernelOf(own), shapesApart.dimsOf(own), nullptr)) {
    if (!binder.range.lower || !binder.range.upper)
      continue;
    std::optional<size_t> best;
    for (StringAttr name : {renamed.lookup(binder.name), binder.name, StringAttr()})
      for (auto [n, offer] : llvm::enumerate(offered))
        if (!best && !taken[n] && offer.range == binder.range && (!name || offer.name == name))
          best = n;
    if (!best)
      continue;
    taken[*best] = offered[*best].size.has_value();
    if (!llvm::is_contained(sizable, binder.name))
      continue;
    int64_t extent = costsApart.valueOf(binder.range.upper - binder.range.lower);
    plan.calls[call].sizes[binder.name.str()] =
        offered[*best].size.value_or(std::clamp<int64_t>(extent, 1, ir::maxTileSize));
  }
}

Outcome<Done> Planner::chooseRest(unsigned call) {
  ir::KernelOp kernel = apart.kernelOf(apart.calls[call]);
  if (!kernel)
    return Done{};
  ir::Bindings bindings;
  for (const auto &[binder, size] : plan.calls[call].sizes)
    bindings.sizes[binder] = size;
  if (auto done =
          chooseTiles(kernel, bindings, costsApart.valuesOf(shapesApart.dimsOf(apart.calls[call])));
      !done)
    return done;
  for (const auto &[binder, size] : bindings.sizes)
    plan.calls[call].sizes[binder.str()] = size;
  return Done{};
}

Outcome<Done> Planner::planKernel(unsigned number) {
  ir::CallOp call = fused.calls[number];
  ir::KernelOp kernel = fused.kernelOf(call);
  TileSizes::ByBinder &sizes = plan.kernels.emplace_back();
  if (!kernel)
    return Done{};
  auto bindings = chooseSizes(call);
  if (!bindings)
    return bindings.takeFailure();
  for (const auto &[binder, size] : bindings->sizes)
    sizes[binder.str()] = size;
  const std::vector<unsigned> &calls = fused.ledger.kernels[number].calls;
  if (!plan.isForGpu) {
    pinOrders(kernel, plan);
    auto compiled = compiler.compile(kernel, *bindings);
    if (!compiled)
      return Failure::reported();
    auto orders = codegen::CpuCompiler().foldOrders(*compiled);
    if (failed(orders))
      return Failure::reported();
    takeOrders(*orders);
  }
  // A call whose sums are all made in other kernels has its blocks there.
  llvm::SmallDenseSet<unsigned> summed;
  for (Operation *op : ir::numberedOps(kernel))
    for (const ir::CallOrigin &origin : ir::originsOf(op))
      summed.insert(origin.call);
  for (unsigned member : calls)
    if (summed.contains(member) || ir::numberedOps(apart.kernelOf(apart.calls[member])).empty())
      takeBinders(member, call, *bindings);
  return Done{};
}

Outcome<FusionPlan> Planner::run() {
  if (!fused.ledger.staleStep.empty())
    return Failure::internal("the steps of the search can't be repeated: " +
                             fused.ledger.staleStep);
  auto pool = runtime::ThreadPool::global();
  if (!pool)
    return Failure::usage(pool.takeError());
  threads = (*pool)->numThreads();
  for (unsigned n = 0, e = fused.calls.size(); n < e; ++n)
    if (auto done = planKernel(n); !done)
      return done.takeFailure();
  for (auto [n, call] : llvm::enumerate(fused.ledger.calls))
    if (call.fate == ir::FusionLedger::Call::Fate::Equal) {
      plan.calls[n].sizes = plan.calls[call.same].sizes;
      plan.calls[n].orders = plan.calls[call.same].orders;
    }
  for (unsigned n = 0, e = plan.calls.size(); n < e; ++n)
    if (auto done = chooseRest(n); !done)
      return done.takeFailure();
  return std::move(plan);
}

Outcome<FusionPlan> tile::frontend::makePlan(Compiler &compiler, ModuleOp module, StringRef symbol,
                                             const ir::FusionLedger &ledger,
                                             const DeviceDescription &device,
                                             const llvm::StringMap<int64_t> &dims) {
  return Planner(compiler, module, symbol, ledger, device, dims).run();
}

//===-- Running by a plan -------------------------------------------------===//

static Failure stale(const Twine &what) {
  return Failure::usage(
      {"the plan is stale: " + what.str(), "write it anew: tilec fuse … --explain=plan -o PLAN"});
}

static Outcome<Done> pinSizes(ir::KernelOp kernel, const TileSizes::ByBinder &sizes,
                              bool isForGpu) {
  Builder builder(kernel.getContext());
  NamedAttrList schedule;
  SmallVector<StringAttr> binders = ir::sizableBinders(kernel);
  for (const auto &[binder, size] : sizes) {
    if (llvm::none_of(binders, [&](StringAttr name) { return name == binder; }))
      return stale("it has a tile size for `" + binder + "`, which `" +
                   sourceName(kernel.getSymName()) + "` doesn't have");
    schedule.set(binder, builder.getI64IntegerAttr(size));
  }
  kernel.setScheduleAttr(schedule.getDictionary(kernel.getContext()));
  if (isForGpu)
    pinWarps(kernel);
  return Done{};
}

/// Whether the plan is one for this graph.
static Outcome<Done> check(const FusionPlan &plan, StringRef graph, Copy &apart,
                           const llvm::StringMap<int64_t> &dims) {
  if (plan.graph != graph)
    return stale("it is for the graph `" + plan.graph + "`, and this is `" + graph + "`");
  std::vector<FusionPlan::Call> calls = describe(apart);
  if (plan.calls.size() != calls.size())
    return stale("it is for " + Twine(plan.calls.size()) + " calls, and `" + graph + "` has " +
                 Twine(calls.size()));
  for (auto [n, planned, call] : llvm::enumerate(plan.calls, calls)) {
    if (planned.kernel != call.kernel)
      return stale("call " + Twine(n + 1) + " is one of `" + sourceName(call.kernel) +
                   "`, in the plan of `" + sourceName(planned.kernel) + "`");
    if (planned.code != call.code)
      return stale("`" + sourceName(call.kernel) + "` is not what it was");
  }
  if (plan.code != describeGraph(apart))
    return stale("the calls of `" + graph + "` don't read what they read");
  for (const auto &[name, value] : plan.dims) {
    auto given = dims.find(name);
    if (given != dims.end() && given->second != value)
      return stale("it is for " + name + " = " + Twine(value) + ", and here it is " +
                   Twine(given->second));
  }
  return Done{};
}

Outcome<std::string> tile::frontend::pinGraph(ModuleOp module, StringRef symbol,
                                              const FusionPlan &plan, FuseMode mode,
                                              const llvm::StringMap<int64_t> &dims) {
  const std::vector<ir::FusionStep> none;
  Copy apart(module, symbol, none, /*keepsCalls=*/true, dims);
  if (auto done = check(plan, sourceName(symbol), apart, dims); !done)
    return done.takeFailure();
  for (auto [call, planned] : llvm::zip_equal(apart.calls, plan.calls))
    if (ir::KernelOp kernel = apart.kernelOf(call)) {
      if (auto done = pinSizes(kernel, planned.sizes, plan.isForGpu); !done)
        return done.takeFailure();
      pinOrders(kernel, plan);
    }
  if (mode == FuseMode::Off)
    return apart.graph.getSymName().str();
  Copy fused(module, symbol, plan.steps, /*keepsCalls=*/false, dims);
  if (!fused.ledger.staleStep.empty())
    return stale(fused.ledger.staleStep);
  if (fused.calls.size() != plan.kernels.size())
    return stale("its steps lead to " + Twine(fused.calls.size()) + " kernels, and it has " +
                 Twine(plan.kernels.size()));
  for (auto [call, sizes] : llvm::zip_equal(fused.calls, plan.kernels))
    if (ir::KernelOp kernel = fused.kernelOf(call)) {
      if (auto done = pinSizes(kernel, sizes, plan.isForGpu); !done)
        return done.takeFailure();
      pinOrders(kernel, plan);
    }
  return fused.graph.getSymName().str();
}
