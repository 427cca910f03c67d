//===- GraphExecution.cpp - runs graphs by the runtime's plans ------------===//

#include "codegen/Reports.h"
#include "frontend/execute/ExecutionImpl.h"
#include "ir/interpreter/Launch.h"
#include "runtime/cpu/CpuLaunch.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

Outcome<Executor::Plan *> Executor::planned(ir::GraphOp graph) {
  std::unique_ptr<Plan> &entry = plans[graph.getOperation()];
  if (entry)
    return entry.get();
  auto fresh = std::make_unique<Plan>();
  Outcome<runtime::GraphPlan> plan = planOf(graph, fresh->kernels, &fresh->source);
  if (!plan)
    return plan.takeFailure();
  fresh->plan = *std::move(plan);
  for (ir::KernelOp kernel : fresh->kernels.list()) {
    Outcome<runtime::Signature> signature = signatureOf(kernel);
    if (!signature)
      return signature.takeFailure();
    fresh->signatures.push_back(*std::move(signature));
  }
  entry = std::move(fresh);
  return entry.get();
}

/// A failure inside a call says which call it was; the file and line are the call's.
Failure Executor::explain(const Plan &plan, runtime::GraphFailure failure,
                          MutableArrayRef<std::optional<Failure>> ofCalls) const {
  using Kind = runtime::GraphFailure::Kind;
  switch (failure.kind) {
  case Kind::Memory:
    return Failure::environment(std::move(failure.error));
  case Kind::Launch:
    return std::move(*ofCalls[failure.call ? *failure.call + 1 : 0]);
  case Kind::Invalid:
    break;
  }
  ir::CallOp call = failure.call    ? plan.source.calls[*failure.call]
                    : failure.frame ? plan.source.frames[*failure.frame]
                                    : ir::CallOp();
  if (!call)
    return Failure::usage(std::move(failure.error));
  InFlightDiagnostic diagnostic = emitError(call.getLoc(), failure.error.message);
  if (!failure.error.hint.empty())
    diagnostic.attachNote(call.getLoc()) << "hint: " << failure.error.hint;
  return Failure::usage({"", ""}); // told at its place
}

/// Where a call of a kernel stands, and the calls of the graphs around it, be they frames or
/// flattened.
SmallVector<Location> Executor::callersOf(const Plan &plan, uint32_t call) {
  SmallVector<Location> places;
  auto add = [&](ir::CallOp caller) {
    Location loc = caller.getLoc();
    while (auto site = dyn_cast<CallSiteLoc>(loc)) {
      places.push_back(site.getCallee());
      loc = site.getCaller();
    }
    places.push_back(loc);
  };
  add(plan.source.calls[call]);
  for (uint32_t frame = plan.plan.calls[call].frame; frame != 0;
       frame = plan.plan.frames[frame].caller)
    add(plan.source.frames[frame]);
  return places;
}

Outcome<Outputs> Executor::runGraph(ir::GraphOp graph, Arguments arguments,
                                    const llvm::StringMap<int64_t> &explicitDims) {
  if (auto checked = checkArguments(interfaceOf(graph), arguments); !checked)
    return checked.takeFailure();
  Outcome<Plan *> planned = this->planned(graph);
  if (!planned)
    return planned.takeFailure();
  Plan &plan = **planned;
  // What kernels say comes in the order of their calls.
  bool speaks = llvm::any_of(plan.kernels.list(), codegen::hasReports);
  if (device == Device::Cuda && !speaks && !sanitizes)
    return runGraphOnCuda(graph, plan, arguments, explicitDims);
  runtime::DimValues dims;
  for (const auto &entry : explicitDims)
    dims[entry.getKey().str()] = entry.getValue();
  std::vector<const runtime::Signature *> signatures;
  for (const runtime::Signature &signature : plan.signatures)
    signatures.push_back(&signature);
  std::vector<runtime::GraphInput> inputs;
  for (Argument &argument : arguments)
    inputs.push_back({std::move(argument.tensor), argument.bits, nullptr});

  // The first is that of compiling, then one a call: calls may fail at the same time.
  std::vector<std::optional<Failure>> failures(plan.plan.calls.size() + 1);
  std::vector<Compiled *> code; // by call
  runtime::GraphOptions options;
  options.isParallel = device == Device::Cpu && !speaks && !sanitizes;
  options.poisons = poisons;
  if (tracksErrorsOf)
    options.copied = [&](const void *to, const void *from) {
      if (auto of = errors.find(from); of != errors.end())
        errors[to] = of->second;
      else
        errors.erase(to);
    };
  options.prepare = [&](std::span<const runtime::KernelLaunch> launches) -> runtime::Status {
    for (const runtime::KernelLaunch &bound : launches) {
      Outcome<Compiled *> compiled = this->compiled(plan.kernels.list()[bound.kernel], bound.dims);
      if (!compiled) {
        failures.front() = compiled.takeFailure();
        return runtime::Error{};
      }
      code.push_back(*compiled);
    }
    return {};
  };
  options.keepsAllBusy = [&](const runtime::KernelLaunch &bound) {
    return runtime::keepsAllThreadsBusy(
        code[bound.call]->code->entry(),
        {.params = bound.params, .dims = bound.dims, .elements = bound.elements});
  };
  auto launch = [&](const runtime::KernelLaunch &bound) -> runtime::Status {
    SmallVector<ArrayRef<int64_t>> shapes(bound.shapes.begin(), bound.shapes.end());
    SmallVector<Location> callers = callersOf(plan, bound.call);
    Outcome<Done> done = this->launch(*code[bound.call],
                                      {bound.params, bound.elements, shapes, bound.dims, callers});
    if (done)
      return {};
    failures[bound.call + 1] = done.takeFailure();
    return runtime::Error{};
  };
  runtime::GraphOutcome outcome =
      runtime::runGraph(plan.plan, signatures, inputs, dims, launch, options);
  graphMemory = outcome.memory;
  if (outcome.failure)
    return explain(plan, std::move(*outcome.failure), failures);
  return std::move(outcome.results);
}

//===-- Without running ---------------------------------------------------===//

static Outcome<Done> seeKernel(ir::KernelOp kernel, std::span<const runtime::GraphInput> inputs,
                               const llvm::StringMap<int64_t> &dims, Executor::SeeLaunch see) {
  unsigned count = kernel.getNumArguments();
  SmallVector<ArrayRef<int64_t>> shapes(count);
  runtime::KernelLaunch launch;
  launch.scalars.resize(count);
  Interface interface = interfaceOf(kernel);
  for (auto [port, input] : llvm::zip_equal(interface.inputs, inputs)) {
    launch.scalars[port.position] = input.bits;
    if (input.placed)
      shapes[port.position] = input.placed->shape;
    else if (input.tensor)
      shapes[port.position] = input.tensor->shape();
  }
  ir::UserError error;
  FailureOr<ir::LaunchBinding> binding = ir::bindLaunch(kernel, shapes, dims, error);
  if (failed(binding) || failed(ir::checkRequires(kernel, binding->dims, launch.scalars, error)))
    return Failure::usage({std::move(error.message), std::move(error.hint)});
  launch.dims.assign(binding->dims.begin(), binding->dims.end());
  for (ArrayRef<int64_t> shape : binding->shapes)
    launch.shapes.emplace_back(shape.begin(), shape.end());
  return see(kernel, launch);
}

Outcome<Done> Executor::compileAll(StringRef symbol, std::span<const runtime::GraphInput> inputs,
                                   const llvm::StringMap<int64_t> &dims) {
  return eachLaunch(symbol, inputs, dims,
                    [&](ir::KernelOp kernel, const runtime::KernelLaunch &launch) -> Outcome<Done> {
                      auto code = compiled(kernel, launch.dims);
                      return code ? Outcome<Done>(Done{}) : code.takeFailure();
                    });
}

Outcome<Done> Executor::eachLaunch(StringRef symbol, std::span<const runtime::GraphInput> inputs,
                                   const llvm::StringMap<int64_t> &explicitDims, SeeLaunch see) {
  Operation *function = module.lookupSymbol(symbol);
  if (auto kernel = dyn_cast<ir::KernelOp>(function))
    return seeKernel(kernel, inputs, explicitDims, see);
  Outcome<Plan *> planned = this->planned(cast<ir::GraphOp>(function));
  if (!planned)
    return planned.takeFailure();
  Plan &plan = **planned;
  runtime::DimValues dims;
  for (const auto &entry : explicitDims)
    dims[entry.getKey().str()] = entry.getValue();
  std::vector<const runtime::Signature *> signatures;
  for (const runtime::Signature &signature : plan.signatures)
    signatures.push_back(&signature);
  std::vector<std::optional<Failure>> failures(1);
  bool isSeen = false;
  runtime::GraphOptions options;
  // All is bound then, and nothing has memory: the run ends here.
  options.prepare = [&](std::span<const runtime::KernelLaunch> launches) -> runtime::Status {
    for (const runtime::KernelLaunch &launch : launches)
      if (auto done = see(plan.kernels.list()[launch.kernel], launch); !done) {
        failures.front() = done.takeFailure();
        return runtime::Error{};
      }
    isSeen = true;
    return runtime::Error{};
  };
  auto never = [](const runtime::KernelLaunch &) -> runtime::Status { return runtime::Error{}; };
  runtime::GraphOutcome outcome =
      runtime::runGraph(plan.plan, signatures, inputs, dims, never, options);
  if (isSeen)
    return Done{};
  return explain(plan, std::move(*outcome.failure), failures);
}
