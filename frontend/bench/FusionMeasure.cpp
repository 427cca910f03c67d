//===- FusionMeasure.cpp - what fusion gains, as the clock has it ---------===//

#include "frontend/bench/FusionMeasure.h"
#include "frontend/bench/Bench.h"
#include "frontend/execute/ExecutionImpl.h"
#include "frontend/fusion/FusionText.h"
#include "ir/fusion/Fuser.h"
#include "runtime/base/Text.h"
#include "runtime/tensor/Generate.h"
#include "runtime/tensor/Memory.h"
#include "runtime/tensor/Scalar.h"

#include <deque>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

namespace {
class Meter {
public:
  Meter(Compiler &compiler, ModuleOp module, Device device, llvm::StringMap<int64_t> dims,
        const FusionReport &report)
      : compiler(compiler), executor(compiler, module, device), device(device), module(module),
        dims(std::move(dims)), report(report) {}

  Outcome<FusionReport::Measured> run(StringRef before, StringRef after);

private:
  Outcome<Done> open();
  Outcome<Done> checkMemory() const;
  Outcome<Argument> argumentOf(const Port &port, runtime::Shape shape, uint64_t number);
  Outcome<Arguments> arguments(StringRef graph);
  Outcome<std::pair<double, double>> takeGraphs(StringRef before, StringRef after);
  Outcome<double> takeCompiling(StringRef graph);
  Outcome<double> takeLaunch(ir::KernelOp kernel, const runtime::KernelLaunch &launch);
  Outcome<std::vector<double>> takeLaunches(StringRef graph);

  Compiler &compiler;
  Executor executor;
  Device device;
  ModuleOp module;
  llvm::StringMap<int64_t> dims;
  const FusionReport &report;
  std::unique_ptr<BenchDevice> bench;
  /// Seconds of launches that were measured; equal ones are measured once.
  std::map<std::pair<Operation *, std::vector<int64_t>>, double> known;
};
} // namespace

Outcome<Done> Meter::open() {
  executor.isQuiet = true;
  if (device == Device::Cuda)
    if (auto done = executor.openCuda(); !done)
      return done;
  auto opened =
      device == Device::Cuda ? BenchDevice::cuda(*executor.cudaContext()) : BenchDevice::cpu();
  if (!opened)
    return opened.takeFailure();
  bench = *std::move(opened);
  return Done{};
}

/// The graph as it stands has all its tensors at a time, at worst.
Outcome<Done> Meter::checkMemory() const {
  double bytes = 0;
  for (const GraphView::Tensor &tensor : report.before.tensors)
    bytes += tensor.bytes;
  uint64_t available = runtime::availableMemory();
  if (bytes <= static_cast<double>(available))
    return Done{};
  return Failure::environment({"the tensors of `" + report.graph + "` take " + bytesText(bytes) +
                                   ", but only " + runtime::formatBytes(available) +
                                   " of memory are available",
                               "--measure runs it with the dims that are planned for: make them "
                               "smaller with --dim"});
}

Outcome<Argument> Meter::argumentOf(const Port &port, runtime::Shape shape, uint64_t number) {
  Argument argument;
  argument.bits = number;
  if (!port.isTensor)
    return argument;
  using Kind = runtime::GeneratorSpec::Kind;
  runtime::GeneratorSpec spec;
  spec.kind = runtime::isFloat(port.type) ? Kind::Randn : Kind::Zeros;
  spec.shape = std::move(shape);
  spec.type = port.type;
  auto tensor = runtime::generate(spec, port.position + 1);
  if (!tensor)
    return Failure::environment(tensor.takeError());
  argument.tensor = std::make_shared<const runtime::Tensor>(*std::move(tensor));
  return argument;
}

/// The default of a number, or 1.
static uint64_t bitsOf(const Port &port) {
  uint64_t one = 0;
  const char *text = port.type == runtime::DType::Bool ? "true" : "1";
  if (auto number = runtime::parseScalar(text); number && !port.isTensor)
    (void)runtime::storeScalar(*number, port.type, &one); // each type has a 1
  return port.defaultBits.value_or(one);
}

Outcome<Arguments> Meter::arguments(StringRef graph) {
  Arguments result;
  unsigned tensor = 0;
  for (const Port &port : interfaceOf(module.lookupSymbol(graph)).inputs) {
    const std::vector<int64_t> none;
    const auto &extents = port.isTensor ? report.before.tensors[tensor++].extents : none;
    auto argument = argumentOf(port, {extents.begin(), extents.end()}, bitsOf(port));
    if (!argument)
      return argument.takeFailure();
    result.push_back(*std::move(argument));
  }
  return result;
}

Outcome<std::pair<double, double>> Meter::takeGraphs(StringRef before, StringRef after) {
  std::vector<std::unique_ptr<Contestant>> contestants;
  std::vector<Contestant *> turns;
  auto inputs = arguments(before);
  if (!inputs)
    return inputs.takeFailure();
  for (StringRef graph : {before, after}) {
    auto contestant = bench->graph(executor, graph.str(), *inputs, dims);
    if (!contestant)
      return contestant.takeFailure();
    contestants.push_back(*std::move(contestant));
    turns.push_back(contestants.back().get());
  }
  if (auto done = takeTurns(*bench, turns, {}); !done)
    return done.takeFailure();
  return std::pair(turns[0]->timing.median(), turns[1]->timing.median());
}

/// As the first run of a process finds it: nothing is compiled, and nothing in a cache.
Outcome<double> Meter::takeCompiling(StringRef graph) {
  auto inputs = arguments(graph);
  if (!inputs)
    return inputs.takeFailure();
  std::vector<runtime::GraphInput> bindable;
  for (const Argument &argument : *inputs)
    bindable.push_back({argument.tensor, argument.bits});
  Executor fresh(compiler, module, device);
  if (device == Device::Cuda)
    if (auto done = fresh.openCuda(); !done)
      return done.takeFailure();
  auto cache = std::exchange(compiler.cache, nullptr);
  auto done = fresh.compileAll(graph, bindable, dims);
  compiler.cache = std::move(cache);
  return done ? Outcome<double>(fresh.compileSeconds) : done.takeFailure();
}

Outcome<double> Meter::takeLaunch(ir::KernelOp kernel, const runtime::KernelLaunch &launch) {
  auto [entry, isNew] = known.try_emplace({kernel, launch.dims});
  if (!isNew)
    return entry->second;
  Arguments inputs;
  for (const Port &port : interfaceOf(kernel).inputs) {
    auto argument = argumentOf(port, launch.shapes[port.position], launch.scalars[port.position]);
    if (!argument)
      return argument.takeFailure();
    inputs.push_back(*std::move(argument));
  }
  llvm::StringMap<int64_t> bound;
  for (auto [name, value] : llvm::zip(kernel.getDims().getAsValueRange<StringAttr>(), launch.dims))
    bound[name] = value;
  auto prepared = executor.prepare(kernel, inputs, bound);
  if (!prepared)
    return prepared.takeFailure();
  auto contestant = bench->kernel(executor, **prepared);
  if (!contestant)
    return contestant.takeFailure();
  Contestant *turns[] = {contestant->get()};
  if (auto done = takeTurns(*bench, turns, {.rounds = 10, .warmups = 1}); !done)
    return done.takeFailure();
  return entry->second = turns[0]->timing.median();
}

Outcome<std::vector<double>> Meter::takeLaunches(StringRef graph) {
  auto inputs = arguments(graph);
  if (!inputs)
    return inputs.takeFailure();
  std::vector<runtime::GraphInput> bindable;
  for (const Argument &argument : *inputs)
    bindable.push_back({argument.tensor, argument.bits});
  std::vector<std::pair<ir::KernelOp, runtime::KernelLaunch>> launches;
  auto seen = executor.eachLaunch(
      graph, bindable, dims,
      [&](ir::KernelOp kernel, const runtime::KernelLaunch &launch) -> Outcome<Done> {
        launches.emplace_back(kernel, launch);
        return Done{};
      });
  if (!seen)
    return seen.takeFailure();
  inputs->clear();
  bindable.clear();
  std::vector<double> seconds;
  for (const auto &[kernel, launch] : launches) {
    auto taken = takeLaunch(kernel, launch);
    if (!taken)
      return taken.takeFailure();
    seconds.push_back(*taken);
  }
  return seconds;
}

Outcome<FusionReport::Measured> Meter::run(StringRef before, StringRef after) {
  if (auto done = checkMemory(); !done)
    return done.takeFailure();
  if (auto done = open(); !done)
    return done.takeFailure();
  FusionReport::Measured measured;
  measured.device = bench->name();
  auto totals = takeGraphs(before, after);
  if (!totals)
    return totals.takeFailure();
  std::tie(measured.before, measured.after) = *totals;
  for (auto [graph, seconds] : {std::pair(before, &measured.calls), {after, &measured.kernels}}) {
    auto taken = takeLaunches(graph);
    if (!taken)
      return taken.takeFailure();
    *seconds = *std::move(taken);
  }
  // Now that all of the compiler is in memory, so that its first use counts for neither.
  for (auto [graph, seconds] :
       {std::pair(before, &measured.compileBefore), {after, &measured.compileAfter}}) {
    auto taken = takeCompiling(graph);
    if (!taken)
      return taken.takeFailure();
    *seconds = *taken;
  }
  // A call of a graph that has no place here is several launches.
  if (measured.calls.size() != report.before.calls.size())
    measured.calls.clear();
  if (measured.kernels.size() != report.after.calls.size())
    measured.kernels.clear();
  return measured;
}

Outcome<Done> tile::frontend::measure(Compiler &compiler, ModuleOp module, Device device,
                                      StringRef before, StringRef after,
                                      const llvm::StringMap<int64_t> &dims, double fuseSeconds,
                                      FusionReport &report) {
  auto measured = Meter(compiler, module, device, dims, report).run(before, after);
  if (!measured)
    return measured.takeFailure();
  measured->fuse = fuseSeconds;
  report.measured = *std::move(measured);
  return Done{};
}

Outcome<Done> tile::frontend::checkDims(Compiler &compiler, ModuleOp module, StringRef symbol,
                                        llvm::StringMap<int64_t> dims) {
  auto graph = module.lookupSymbol<ir::GraphOp>(symbol);
  int64_t usual = ir::FuseOptions().usualExtent;
  for (StringRef dim : graph.getDims().getAsValueRange<StringAttr>())
    if (int64_t value = dims.try_emplace(dim, usual).first->second;
        value < 0 && !(graph.getConstsAttr() && graph.getConstsAttr().contains(dim)))
      return Failure::usage(
          {"`" + dim.str() + "` can't be " + std::to_string(value), "a dimension counts elements"});
  std::deque<runtime::PlacedTensor> tensors;
  std::vector<runtime::GraphInput> inputs;
  GraphView view(graph, dims, usual);
  for (const Port &port : interfaceOf(graph).inputs) {
    runtime::GraphInput &input = inputs.emplace_back();
    if (!port.isTensor) {
      if (!port.defaultBits)
        return Done{};
      input.bits = *port.defaultBits;
      continue;
    }
    const auto &extents = view.tensors[tensors.size()].extents;
    tensors.push_back({port.type, {extents.begin(), extents.end()}, nullptr});
    input.placed = &tensors.back();
  }
  Executor executor(compiler, module, Device::Interp);
  auto done = executor.eachLaunch(
      symbol, inputs, dims,
      [](ir::KernelOp, const runtime::KernelLaunch &) -> Outcome<Done> { return Done{}; });
  if (done)
    return Done{};
  Failure failure = done.takeFailure();
  if (failure.hint.empty())
    failure.hint = "--dim NAME=VALUE says what a dimension is planned as; " +
                   std::to_string(usual) + " without it";
  return failure;
}
