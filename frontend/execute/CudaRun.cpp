//===- CudaRun.cpp - kernels and graphs on tensors of a device ------------===//

#include "frontend/execute/CudaRun.h"

#include "codegen/Reports.h"
#include "frontend/execute/ExecutionImpl.h"
#include "ir/interpreter/Launch.h"
#include "ir/proofs/Spelling.h"
#include "runtime/tensor/Overlap.h"

#include <cstring>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
namespace cuda = tile::runtime::cuda;

/// A launch by its parameters: places of tensors, and where the bits of scalars stand.
static Outcome<cuda::PreparedLaunch>
prepareLaunch(ir::KernelOp kernel, const CudaKernel &code, std::shared_ptr<cuda::Stream> stream,
              ArrayRef<const void *> params, ArrayRef<int64_t> elements, ArrayRef<int64_t> dims) {
  std::vector<uint64_t> words(params.size(), 0);
  for (auto [type, param, word] : llvm::zip_equal(kernel.getArgumentTypes(), params, words)) {
    if (isa<MemRefType>(type))
      word = cuda::addressOf(param);
    else
      std::memcpy(&word, param, sizeof word);
  }
  auto launch = cuda::PreparedLaunch::create(code.loaded, std::move(stream), words, elements, dims);
  if (launch)
    return *std::move(launch);
  return Failure::usage(launch.takeError());
}

//===-- Graphs ------------------------------------------------------------===//

Outcome<CudaRun> Executor::bindGraph(Plan &plan, std::span<const runtime::GraphInput> inputs,
                                     const llvm::StringMap<int64_t> &explicitDims,
                                     std::vector<const runtime::PlacedTensor *> results) {
  if (auto opened = openCuda(); !opened)
    return opened.takeFailure();
  runtime::DimValues dims;
  for (const auto &entry : explicitDims)
    dims[entry.getKey().str()] = entry.getValue();
  std::vector<const runtime::Signature *> signatures;
  for (const runtime::Signature &signature : plan.signatures)
    signatures.push_back(&signature);
  CudaRun result{cuda::PreparedRun(cuda->sharedStream()), {}, {}, {}, {}};
  cuda::PreparedSpace space(result.run);
  // The first is that of compiling, then one a call.
  std::vector<std::optional<Failure>> failures(plan.plan.calls.size() + 1);
  std::vector<Compiled *> code; // by call
  runtime::GraphOptions options;
  options.space = &space;
  options.poisons = poisons;
  options.results = std::move(results);
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
  auto launch = [&](const runtime::KernelLaunch &bound) -> runtime::Status {
    Compiled &compiled = *code[bound.call];
    auto prepared = prepareLaunch(compiled.source, *compiled.cuda, cuda->sharedStream(),
                                  bound.params, bound.elements, bound.dims);
    if (!prepared) {
      failures[bound.call + 1] = prepared.takeFailure();
      return runtime::Error{};
    }
    result.run.add(*std::move(prepared));
    return {};
  };
  runtime::GraphOutcome outcome =
      runtime::runGraph(plan.plan, signatures, inputs, dims, launch, options);
  if (outcome.failure)
    return explain(plan, std::move(*outcome.failure), failures);
  result.inputs = std::move(outcome.inputPlaces);
  result.outputs = std::move(outcome.resultPlaces);
  result.outputInputs = std::move(outcome.resultInputs);
  result.memory = outcome.memory;
  return result;
}

/// What a bound graph was bound for.
struct Executor::CudaGraph {
  std::vector<runtime::Shape> shapes;
  std::vector<uint64_t> bits;
  std::map<std::string, int64_t> dims;
  TileSizes sizes;
  bool poisons = false;
  std::optional<CudaRun> bound;

  bool isFor(const CudaGraph &other) const {
    return bound && shapes == other.shapes && bits == other.bits && dims == other.dims &&
           sizes == other.sizes && poisons == other.poisons;
  }
};

Executor::Executor(Compiler &compiler, ModuleOp module, Device device)
    : compiler(compiler), module(module), device(device) {}
Executor::~Executor() = default;

/// Inputs go to the device once, results come back once. What the graph is bound to stays there for
/// the next run with the same shapes.
Outcome<Outputs> Executor::runGraphOnCuda(ir::GraphOp graph, Plan &plan, const Arguments &arguments,
                                          const llvm::StringMap<int64_t> &explicitDims) {
  auto wanted = std::make_unique<CudaGraph>();
  std::vector<runtime::GraphInput> inputs;
  for (const Argument &argument : arguments) {
    inputs.push_back({argument.tensor, argument.bits, nullptr});
    wanted->shapes.push_back(argument.tensor ? argument.tensor->shape() : runtime::Shape());
    wanted->bits.push_back(argument.bits);
  }
  for (const auto &entry : explicitDims)
    wanted->dims[entry.getKey().str()] = entry.getValue();
  wanted->sizes = sizes;
  wanted->poisons = poisons;
  std::unique_ptr<CudaGraph> &known = cudaGraphs[graph.getOperation()];
  if (!known || !known->isFor(*wanted)) {
    known.reset(); // its memory, before more is taken
    auto bound = bindGraph(plan, inputs, explicitDims, {});
    if (!bound)
      return bound.takeFailure();
    wanted->bound.emplace(*std::move(bound));
    known = std::move(wanted);
  }
  CudaRun &run = *known->bound;
  cuda::Stream &stream = run.run.stream();
  graphMemory = run.memory;
  auto failed = [](runtime::Status &status) { return Failure::environment(status.takeError()); };
  for (auto [argument, place] : llvm::zip_equal(arguments, run.inputs))
    if (argument.tensor && place.data && place.bytes())
      if (auto done = stream.copyToDevice(cuda::addressOf(place.data), argument.tensor->bytes());
          !done)
        return failed(done);
  if (auto done = run.run(); !done)
    return failed(done);
  Outputs results;
  for (auto [place, input] : llvm::zip_equal(run.outputs, run.outputInputs)) {
    if (input) {
      // The plan numbers tensors; scalars are not among them.
      auto tensors = llvm::make_filter_range(arguments, [](auto &a) { return bool(a.tensor); });
      results.push_back(std::next(tensors.begin(), *input)->tensor);
      continue;
    }
    auto tensor = runtime::Tensor::createUninitialized(place.type, place.shape);
    if (!tensor)
      return Failure::environment(tensor.takeError());
    if (place.bytes())
      if (auto done = stream.copyToHost(tensor->bytes(), cuda::addressOf(place.data)); !done)
        return failed(done);
    results.push_back(std::make_shared<runtime::Tensor>(*std::move(tensor)));
  }
  if (auto done = stream.synchronize(); !done)
    return failed(done);
  return results;
}

//===-- Tensors of the device ---------------------------------------------===//

/// A kernel, whose `inout` parameters are changed in place.
Outcome<CudaRun> Executor::bindKernel(ir::KernelOp kernel,
                                      std::span<const runtime::GraphInput> inputs,
                                      const llvm::StringMap<int64_t> &dims,
                                      ArrayRef<const runtime::PlacedTensor *> results) {
  if (auto opened = openCuda(); !opened)
    return opened.takeFailure();
  Interface interface = interfaceOf(kernel);
  unsigned count = kernel.getNumArguments();
  SmallVector<ArrayRef<int64_t>> shapes(count);
  SmallVector<uint64_t> scalars(count);
  SmallVector<const void *> params(count);
  CudaRun result{cuda::PreparedRun(cuda->sharedStream()), {}, {}, {}, {}};
  for (auto [port, input] : llvm::zip_equal(interface.inputs, inputs)) {
    scalars[port.position] = input.bits;
    params[port.position] = input.placed ? static_cast<void *>(input.placed->data) : nullptr;
    if (input.placed)
      shapes[port.position] = input.placed->shape;
    result.inputs.push_back(input.placed ? *input.placed : runtime::PlacedTensor());
  }
  ir::UserError error;
  FailureOr<ir::LaunchBinding> binding = ir::bindLaunch(kernel, shapes, dims, error);
  if (failed(binding) || failed(ir::checkRequires(kernel, binding->dims, scalars, error)))
    return Failure::usage({std::move(error.message), std::move(error.hint)});
  cuda::PreparedSpace space(result.run);
  for (auto [n, port] : llvm::enumerate(interface.outputs)) {
    runtime::PlacedTensor place{port.type, {}, nullptr};
    ArrayRef<int64_t> shape = binding->shapes[port.position];
    place.shape.assign(shape.begin(), shape.end());
    const runtime::PlacedTensor *given = n < results.size() ? results[n] : nullptr;
    auto same = llvm::find_if(interface.inputs,
                              [&](const Port &input) { return input.position == port.position; });
    if (same != interface.inputs.end()) {
      result.outputInputs.push_back(same - interface.inputs.begin());
      place.data = result.inputs[*result.outputInputs.back()].data;
    } else if (given) {
      if (given->type != place.type || given->shape != place.shape)
        return Failure::usage({"output `" + port.name + "` of `" + interface.name + "` is " +
                                   runtime::describe(place.type, place.shape) +
                                   ", the tensor given for it is " +
                                   runtime::describe(given->type, given->shape),
                               ""});
      result.outputInputs.emplace_back();
      place.data = given->data;
    } else {
      auto memory = space.allocate(place.bytes());
      if (!memory)
        return Failure::environment(memory.takeError());
      result.outputInputs.emplace_back();
      place.data = *memory;
    }
    params[port.position] = place.data;
    result.outputs.push_back(std::move(place));
  }
  for (unsigned n = 0; n < count; ++n)
    if (!isa<MemRefType>(kernel.getArgumentTypes()[n]))
      params[n] = &scalars[n];
  Outcome<Compiled *> code = compiled(kernel, binding->dims);
  if (!code)
    return code.takeFailure();
  SmallVector<int64_t> elements(count, 0);
  for (unsigned n = 0; n < count; ++n)
    if (isa<MemRefType>(kernel.getArgumentTypes()[n]))
      elements[n] = llvm::product_of(binding->shapes[n]);
  auto launch =
      prepareLaunch(kernel, *(*code)->cuda, cuda->sharedStream(), params, elements, binding->dims);
  if (!launch)
    return launch.takeFailure();
  result.run.add(*std::move(launch));
  return result;
}

/// The caller's tensors may overlap where they are only read. What a run has memory of its own for
/// overlaps nothing.
static runtime::Status checkPlaces(Operation *function, const CudaRun &run,
                                   const std::vector<bool> &isGiven) {
  Interface interface = interfaceOf(function);
  std::vector<runtime::CallPlace> places;
  for (auto [port, place] : llvm::zip_equal(interface.inputs, run.inputs))
    places.push_back({port.name, place.data, place.bytes(), false});
  for (auto [n, port] : llvm::enumerate(interface.outputs)) {
    if (std::optional<uint32_t> input = run.outputInputs[n])
      places[*input].isWritten |= isa<ir::KernelOp>(function); // graphs hand inputs on as they are
    else if (n < isGiven.size() && isGiven[n])
      places.push_back({port.name, run.outputs[n].data, run.outputs[n].bytes(), true});
  }
  return runtime::checkApart(interface.name, places);
}

Outcome<CudaRun> Executor::bindOnCuda(StringRef symbol, std::span<const runtime::GraphInput> inputs,
                                      const llvm::StringMap<int64_t> &dims,
                                      std::vector<const runtime::PlacedTensor *> results) {
  for (ir::KernelOp kernel : kernelsOf(module, symbol))
    if (codegen::hasReports(kernel))
      return Failure::usage({"`" + ir::nameInSource(kernel.getSymName()) +
                                 "` asserts or prints, and a prepared call says nothing",
                             "call it instead of preparing it"});
  Operation *function = module.lookupSymbol(symbol);
  std::vector<bool> isGiven(results.begin(), results.end());
  auto bind = [&]() -> Outcome<CudaRun> {
    if (auto kernel = dyn_cast<ir::KernelOp>(function))
      return bindKernel(kernel, inputs, dims, results);
    Outcome<Plan *> planned = this->planned(cast<ir::GraphOp>(function));
    if (!planned)
      return planned.takeFailure();
    return bindGraph(**planned, inputs, dims, std::move(results));
  };
  Outcome<CudaRun> bound = bind();
  if (!bound)
    return bound;
  if (auto apart = checkPlaces(function, *bound, isGiven); !apart) {
    return Failure::usage(apart.takeError());
  }
  return bound;
}
