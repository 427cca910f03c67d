//===- Execution.cpp - runs kernels on host tensors -----------------------===//

#include "frontend/execute/Execution.h"

#include "codegen/Reports.h"
#include "codegen/cpu/ShortDims.h"
#include "codegen/gpu/GpuCompiler.h"
#include "codegen/gpu/KernelShape.h"
#include "frontend/base/CrashReport.h"
#include "frontend/execute/CodeFacts.h"
#include "frontend/execute/ExecutionImpl.h"
#include "frontend/execute/Sanitize.h"
#include "frontend/model/DeviceDescription.h"
#include "ir/interpreter/Interpreter.h"
#include "ir/interpreter/Launch.h"
#include "ir/proofs/Spelling.h"
#include "runtime/base/Text.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/cpu/CpuLaunch.h"
#include "runtime/launch/KernelReports.h"
#include "runtime/launch/PrintText.h"
#include "runtime/tensor/Memory.h"

#include <chrono>
#include <cstring>
#include <limits>
#include <new>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

StringRef tile::frontend::nameOf(Device device) {
  switch (device) {
  case Device::Cpu:
    return "cpu";
  case Device::Cuda:
    return "cuda";
  case Device::Interp:
    return "interp";
  }
  llvm_unreachable("covered switch");
}

Outcome<DeviceChoice> tile::frontend::parseDevice(StringRef text) {
  auto [name, number] = text.split(':');
  constexpr Device devices[] = {Device::Cpu, Device::Cuda, Device::Interp};
  auto found = llvm::find_if(devices, [&](Device device) { return nameOf(device) == name; });
  bool hasNumber = name.size() != text.size();
  bool isDescribed = llvm::any_of(DeviceDescription::builtIn(),
                                  [&](const auto &known) { return known.name == text; });
  if (isDescribed || text.ends_with(".json"))
    return Failure::usage({"'" + text.str() + "' describes a device, and nothing runs on that",
                           "the devices are cpu, cuda and interp; `tilec bench --device=" +
                               text.str() + "` predicts how long kernels take"});
  if (found == std::end(devices) || (hasNumber && *found != Device::Cuda))
    return Failure::usage({"there is no device '" + text.str() + "'",
                           "the devices are cpu, cuda and interp, the reference interpreter; "
                           "cuda:1 is the second GPU"});
  DeviceChoice choice{*found, 0};
  if (hasNumber && (!llvm::all_of(number, llvm::isDigit) || number.getAsInteger(10, choice.index)))
    return Failure::usage({"'" + number.str() + "' is no number of a CUDA device",
                           "they are counted from 0, as in cuda:0; `tilec info --devices` shows "
                           "them"});
  return choice;
}

//===-- Arguments ---------------------------------------------------------===//

Outcome<std::monostate> tile::frontend::checkArguments(const Interface &interface,
                                                       const Arguments &arguments) {
  assert(arguments.size() == interface.inputs.size() && "one argument an input");
  for (size_t n = 0; n < arguments.size(); ++n) {
    const Port &port = interface.inputs[n];
    const runtime::Tensor *tensor = arguments[n].tensor.get();
    if (port.isTensor != (tensor != nullptr))
      return Failure::usage({"`" + port.name + "` of `" + interface.name + "` is a " +
                                 (port.isTensor ? "tensor" : "scalar") + ", the argument is a " +
                                 (tensor ? "tensor" : "scalar"),
                             "it is declared as " + port.str()});
    if (tensor && tensor->dtype() != port.type)
      return Failure::usage({"`" + port.name + "` of `" + interface.name + "` holds " +
                                 std::string(runtime::nameOf(port.type)) + ", the argument is " +
                                 tensor->describe(),
                             "it is declared as " + port.str()});
  }
  return Done{};
}

//===-- Kernels -----------------------------------------------------------===//

Outputs Executor::Prepared::takeOutputs() {
  Outputs result;
  for (unsigned position : outputs)
    result.push_back(std::move(tensors[position]));
  return result;
}

/// A copy of what `inout` reads and writes; for what is only written, poison if asked for.
static runtime::Result<runtime::Tensor> makeOutput(const Port &port, const Argument *input,
                                                   ArrayRef<int64_t> shape, bool poisons) {
  if (input)
    return input->tensor->clone();
  auto tensor = runtime::Tensor::createUninitialized(port.type, {shape.begin(), shape.end()});
  if (tensor && poisons)
    tensor->poison();
  return tensor;
}

Outcome<std::unique_ptr<Executor::Prepared>>
Executor::prepare(ir::KernelOp kernel, const Arguments &arguments,
                  const llvm::StringMap<int64_t> &dims) {
  Interface interface = interfaceOf(kernel);
  if (auto checked = checkArguments(interface, arguments); !checked)
    return checked.takeFailure();
  auto prepared = std::make_unique<Prepared>();
  unsigned count = kernel.getNumArguments();
  SmallVector<ArrayRef<int64_t>> shapes(count);
  prepared->scalars.resize(count);
  prepared->tensors.resize(count);
  SmallVector<const Argument *> inputs(count);
  for (auto [port, argument] : llvm::zip_equal(interface.inputs, arguments)) {
    inputs[port.position] = &argument;
    prepared->scalars[port.position] = argument.bits;
    if (!port.isTensor)
      continue;
    shapes[port.position] = argument.tensor->shape();
    // Parameters that are only read share the caller's memory.
    prepared->tensors[port.position] = std::const_pointer_cast<runtime::Tensor>(argument.tensor);
  }

  ir::UserError error;
  FailureOr<ir::LaunchBinding> binding = ir::bindLaunch(kernel, shapes, dims, error);
  if (failed(binding))
    return Failure::usage({std::move(error.message), std::move(error.hint)});
  if (failed(ir::checkRequires(kernel, binding->dims, prepared->scalars, error)))
    return Failure::usage({std::move(error.message), std::move(error.hint)});
  prepared->dims = std::move(binding->dims);
  for (const Port &port : interface.outputs) {
    auto tensor = makeOutput(port, inputs[port.position], binding->shapes[port.position], poisons);
    if (!tensor)
      return Failure::environment(
          {"output `" + port.name + "` of `" + interface.name + "`: " + tensor.error().message,
           tensor.error().hint});
    prepared->tensors[port.position] = std::make_shared<runtime::Tensor>(*std::move(tensor));
    prepared->outputs.push_back(port.position);
  }
  for (auto [tensor, bits] : llvm::zip_equal(prepared->tensors, prepared->scalars)) {
    prepared->params.push_back(tensor ? static_cast<const void *>(tensor->data()) : &bits);
    prepared->elements.push_back(tensor ? tensor->numElements() : 1);
    prepared->shapes.push_back(tensor ? ArrayRef<int64_t>(tensor->shape()) : ArrayRef<int64_t>());
  }
  Outcome<Compiled *> code = compiled(kernel, prepared->dims);
  if (!code)
    return code.takeFailure();
  prepared->code = *code;
  return prepared;
}

Outcome<std::monostate> Executor::launch(Prepared &prepared) {
  return launch(*prepared.code,
                {prepared.params, prepared.elements, prepared.shapes, prepared.dims});
}

Outcome<Outputs> Executor::runKernel(ir::KernelOp kernel, const Arguments &arguments,
                                     const llvm::StringMap<int64_t> &dims) {
  auto prepared = prepare(kernel, arguments, dims);
  if (!prepared)
    return prepared.takeFailure();
  if (auto done = launch(**prepared); !done)
    return done.takeFailure();
  return (*prepared)->takeOutputs();
}

Outcome<Done> Executor::openCuda() {
  if (cuda)
    return Done{};
  auto opened = stream ? CudaContext::open(stream) : CudaContext::open(deviceIndex, driver);
  if (!opened)
    return opened.takeFailure();
  cuda = *std::move(opened);
  return Done{};
}

Outcome<const Schedule *> Executor::tunedFor(ir::KernelOp kernel, ArrayRef<int64_t> dims) {
  const Schedule *none = nullptr;
  if (!usesTuned || device == Device::Interp || !sizes.of(kernel).sizes.empty())
    return none;
  if (device == Device::Cuda) {
    if (auto opened = openCuda(); !opened)
      return opened.takeFailure();
    return compiler.tuned.find(kernel, cuda->sharedStream()->device().properties().name, dims);
  }
  auto pool = runtime::ThreadPool::global();
  if (!pool)
    return Failure::usage(pool.takeError());
  return compiler.tuned.find(kernel, runtime::cpuTitle((*pool)->numThreads()), dims);
}

static TileSizes::ByBinder byBinder(const llvm::StringMap<int64_t> &sizes) {
  TileSizes::ByBinder result;
  for (const auto &[binder, size] : sizes)
    result[binder.str()] = size;
  return result;
}

Outcome<Executor::Compiled *> Executor::compiled(ir::KernelOp kernel, ArrayRef<int64_t> dims) {
  ir::Bindings bindings = sizes.of(kernel);
  auto tuned = tunedFor(kernel, dims);
  if (!tuned)
    return tuned.takeFailure();
  LaunchKey key{kernel.getOperation(), dims.vec(), byBinder(bindings.sizes), *tuned, sanitizes};
  if (auto known = ofLaunches.find(key); known != ofLaunches.end())
    return known->second;
  auto made = compiled(kernel, dims, std::move(bindings), *tuned);
  constexpr size_t many = 4096; // dims may be others in every launch
  if (ofLaunches.size() >= many)
    ofLaunches.clear();
  if (made)
    ofLaunches[std::move(key)] = *made;
  return made;
}

Outcome<Executor::Compiled *> Executor::compiled(ir::KernelOp kernel, ArrayRef<int64_t> dims,
                                                 ir::Bindings bindings, const Schedule *tuned) {
  if (device == Device::Cpu) {
    auto pool = runtime::ThreadPool::global();
    if (!pool)
      return Failure::usage(pool.takeError());
    Compiler::chooseTiles(kernel, bindings, dims, (*pool)->numThreads(), tuned);
  }
  auto likely = device == Device::Cpu ? codegen::likelyDims(kernel, dims) : DictionaryAttr();
  DictionaryAttr divisors;
  std::vector<int64_t> dependsOn;
  std::vector<std::string> open;
  if (device == Device::Cuda) {
    if (auto opened = openCuda(); !opened)
      return opened.takeFailure();
    if (!codegen::isOnGpuLevel(kernel))
      codegen::gpu::bindDims(kernel, dims, bindings);
    open = Compiler::chooseGpuTiles(kernel, bindings, dims, cuda->codeTarget(), false, tuned);
    divisors = codegen::gpu::divisorsOf(kernel, dims);
  }
  for (StringRef name : kernel.getDims().getAsValueRange<StringAttr>()) {
    auto bound = bindings.dims.find(name);
    auto divisor = divisors ? divisors.getAs<IntegerAttr>(name) : IntegerAttr();
    dependsOn.push_back(bound != bindings.dims.end() ? bound->second : -1);
    dependsOn.push_back(divisor ? divisor.getInt() : 1);
    auto hint = likely ? likely.getAs<IntegerAttr>(name) : IntegerAttr();
    dependsOn.push_back(hint ? hint.getInt() : -1);
  }
  TileSizes::ByBinder key = byBinder(bindings.sizes);
  for (const std::string &binder : open) // other code than of the same size that was asked for
    key[binder + " at most"] = 1;
  std::unique_ptr<Compiled> &entry =
      cache[{kernel.getOperation(), std::move(key), sanitizes, std::move(dependsOn)}];
  if (entry)
    return entry.get();
  auto start = std::chrono::steady_clock::now();
  auto fresh = std::make_unique<Compiled>();
  fresh->source = kernel;
  fresh->bindings = bindings;
  if (device == Device::Cuda) {
    Outcome<CudaKernel> code = cuda->load(compiler, kernel, {bindings, open, divisors, sanitizes});
    if (!code)
      return code.takeFailure();
    for (const auto &[binder, size] : code->schedule)
      fresh->bindings.sizes[binder] = size;
    fresh->cuda.emplace(*std::move(code));
  } else {
    fresh->kernel = compiler.compile(kernel, bindings);
    if (!fresh->kernel)
      return Failure::reported();
  }
  if (device == Device::Cpu) {
    if (!likely.empty())
      (*fresh->kernel)->setAttr(codegen::likelyDimsAttrName, likely);
    FailureOr<codegen::CpuCode> code = compiler.jit(fresh->kernel.get(), {.sanitizes = sanitizes});
    if (failed(code))
      return Failure::reported();
    fresh->code.emplace(std::move(*code));
    fresh->brokenPromise = brokenPromiseOf(fresh->kernel.get());
  }
  compileSeconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  entry = std::move(fresh);
  return entry.get();
}

Outcome<CodeFacts> Executor::codeFacts(ir::KernelOp kernel, ArrayRef<int64_t> dims) {
  auto code = compiled(kernel, dims);
  if (!code)
    return code.takeFailure();
  const CudaKernel &cuda = *(*code)->cuda;
  CodeFacts facts{cuda.loaded->function().attributes().localBytes, {}};
  for (const auto &[binder, size] : cuda.schedule)
    facts.sizes[binder] = size;
  return facts;
}

Outcome<ir::KernelOp> Executor::specialized(Compiled &code) {
  if (!code.kernel)
    code.kernel = compiler.compile(code.source, code.bindings);
  if (!code.kernel)
    return Failure::reported();
  return code.kernel.get();
}

/// An error of a kernel's program, and where graphs called it.
static void reportFault(Location loc, const Twine &message, ArrayRef<Location> callers) {
  InFlightDiagnostic diagnostic = emitError(loc, message);
  for (Location caller : callers)
    if (!isa<UnknownLoc>(caller))
      diagnostic.attachNote(caller) << "called here";
}

Failure Executor::failedAssertion(Compiled &code, const RawLaunch &launch,
                                  const runtime::AssertionFailure &failure) {
  auto kernel = specialized(code);
  if (!kernel)
    return kernel.takeFailure();
  Operation *assertion = codegen::reportSites(*kernel)[failure.site];
  reportFault(assertion->getLoc(), failure.message, launch.callers);
  return Failure::reported();
}

Outcome<Done> Executor::launch(Compiled &code, const RawLaunch &launch) {
  if (device == Device::Interp)
    return interpret(code, launch);
  std::optional<runtime::Sanitizer> sanitizer;
  if (sanitizes) {
    if (auto kernel = specialized(code); !kernel)
      return kernel.takeFailure();
    try {
      sanitizer.emplace(makeSanitizer(code.kernel.get(), launch.shapes));
    } catch (const std::bad_alloc &) {
      return Failure::environment({"there is not enough memory to watch `" +
                                       ir::nameInSource(code.kernel->getSymName()) + "`",
                                   "--sanitize takes 48 bytes for each element of an output"});
    }
  }
  CrashReport::Promise promise(code.brokenPromise.empty() ? nullptr : code.brokenPromise.c_str());
  runtime::LaunchReport report;
  report.print = [&](std::string_view lines) { show(lines); };
  runtime::Sanitizer *watcher = sanitizer ? &*sanitizer : nullptr;
  Outcome<Done> done = Done{};
  if (device == Device::Cuda) {
    done = cuda->launch(code.source, *code.cuda,
                        {.params = launch.params,
                         .shapes = launch.shapes,
                         .dims = launch.dims,
                         .poisons = poisons,
                         .report = &report,
                         .sanitizer = watcher});
  } else if (auto status = runtime::launchCpu(code.code->entry(), {.params = launch.params,
                                                                   .dims = launch.dims,
                                                                   .elements = launch.elements,
                                                                   .report = &report,
                                                                   .sanitizer = watcher});
             !status && !report.failure) {
    done = Failure::environment(status.takeError());
  }
  if (sanitizer) {
    if (done && !report.failure)
      sanitizer->finish();
    if (auto found = reportFindings(code.kernel.get(), *sanitizer); !found)
      return found;
  }
  if (done && report.failure)
    return failedAssertion(code, launch, *report.failure);
  return done;
}

void Executor::show(StringRef lines) const {
  if (isQuiet)
    return;
  if (print)
    print(lines);
  else
    llvm::errs() << lines;
}

/// What a tile.print says, as the runtime shows it.
static std::string textOf(ir::PrintOp op, ArrayRef<ir::PrintedValue> values) {
  runtime::PrintText text;
  for (auto [n, value] : llvm::enumerate(values)) {
    text.add(cast<StringAttr>(op.getTexts()[n]).strref());
    std::vector<runtime::PrintAxis> axes;
    for (const ir::PrintedValue::Axis &axis : value.axes)
      axes.push_back({axis.name, axis.lower, axis.lower + axis.count, 1});
    for (size_t d = axes.size(); d-- > 1;)
      axes[d - 1].stride = axes[d].stride * (axes[d].upper - axes[d].lower);
    auto type = runtime::parseDType(cast<StringAttr>(op.getTypes()[n]).strref());
    text.add(runtime::PrintValue{*type, reinterpret_cast<const std::byte *>(value.data),
                                 reinterpret_cast<const std::byte *>(value.defined), axes});
  }
  text.add(cast<StringAttr>(op.getTexts()[values.size()]).strref());
  return text.take();
}

ArrayRef<float> Executor::errorsIn(const runtime::Tensor &result) const {
  auto found = errors.find(result.data());
  return found == errors.end() ? ArrayRef<float>() : ArrayRef<float>(found->second.bounds);
}

/// By parameter, for what a launch reads and room for what it writes; none of exact inputs.
std::vector<Executor::Errors> Executor::errorsBefore(ir::KernelOp kernel,
                                                     const RawLaunch &launch) const {
  std::vector<Errors> result(launch.params.size());
  for (auto [n, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    if (!isa<ShapedType>(type))
      continue;
    ir::ParamMode mode = kernel.getParamMode(n);
    auto known = errors.find(launch.params[n]);
    if (known != errors.end() && (mode == ir::ParamMode::In || mode == ir::ParamMode::InOut))
      result[n] = known->second;
    if (mode != ir::ParamMode::In || !result[n].bounds.empty())
      for (std::vector<float> *numbers : {&result[n].bounds, &result[n].deviations})
        numbers->resize(static_cast<size_t>(launch.elements[n]));
  }
  return result;
}

void Executor::keepErrors(const RawLaunch &launch, std::vector<Errors> found) {
  for (auto [data, known] : llvm::zip_equal(launch.params, found))
    if (llvm::any_of(known.bounds, [](float bound) { return bound != 0; }))
      errors[data] = std::move(known);
    else if (!known.bounds.empty())
      errors.erase(data);
}

Outcome<Done> Executor::interpret(Compiled &code, const RawLaunch &launch) {
  ir::KernelOp kernel = code.kernel.get();
  SmallVector<ir::InterpreterArgument> arguments;
  std::vector<Errors> found(launch.params.size());
  for (auto [type, data, shape] :
       llvm::zip_equal(kernel.getArgumentTypes(), launch.params, launch.shapes)) {
    if (isa<ShapedType>(type)) {
      arguments.push_back(ir::InterpreterArgument::tensor(const_cast<void *>(data), shape));
    } else {
      uint64_t bits;
      std::memcpy(&bits, data, sizeof bits);
      arguments.push_back(ir::InterpreterArgument::scalar(bits));
    }
  }
  ir::InterpreterOptions options;
  if (tracksErrorsOf) {
    found = errorsBefore(kernel, launch);
    for (auto [argument, known] : llvm::zip_equal(arguments, found))
      if (!known.bounds.empty()) {
        argument.errors = known.bounds.data();
        argument.deviations = known.deviations.data();
      }
    options.tracksErrors = true;
    options.errorsOfGpu = *tracksErrorsOf == Device::Cuda;
    options.errorsWithoutFma = *tracksErrorsOf == Device::Cpu && !runtime::hasCpuFeature("fma");
  }
  options.print = [&](ir::PrintOp op, ArrayRef<ir::PrintedValue> values) {
    show(textOf(op, values));
  };
  if (reverseOrder)
    options.order = ir::InterpreterOptions::Order::Reversed;
  options.maxTileBytes = static_cast<int64_t>(
      std::min<uint64_t>(runtime::availableMemory(), std::numeric_limits<int64_t>::max()));
  auto tooLarge = [&](const std::string &details) {
    return Failure::environment({"the interpreter holds whole tiles of `" +
                                     ir::nameInSource(kernel.getSymName()) +
                                     "` in memory: " + details,
                                 "try smaller tile sizes or shapes"});
  };
  ir::InterpreterResult result;
  try {
    result = ir::interpret(kernel, arguments, launch.dims, options);
  } catch (const std::bad_alloc &) {
    return tooLarge("the system refused it");
  }
  if (result.ok()) {
    if (tracksErrorsOf)
      keepErrors(launch, std::move(found));
    return Done{};
  }
  if (result.shortage)
    return tooLarge("one needs " + runtime::formatBytes(result.shortage->neededBytes) +
                    ", but only " + runtime::formatBytes(result.shortage->leftBytes) +
                    " of memory are available");
  if (result.isAssertion) {
    reportFault(result.loc.value_or(kernel.getLoc()), result.message, launch.callers);
    return Failure::reported();
  }
  if (result.isPromiseBroken) {
    reportFault(result.loc.value_or(kernel.getLoc()), result.message, launch.callers);
    std::string name = "kernel `" + ir::nameInSource(kernel.getSymName()) + "`";
    return Failure::invalid(
        {kernel.isGrid()
             ? "grid " + name + " breaks a promise: its author answers for what it reads and stores"
             : name + " reads outside a tensor",
         hintForOutside(kernel).str()});
  }
  // The launch was checked and the kernel proved: what is left is a fault of ours.
  emitError(result.loc.value_or(kernel.getLoc()), result.message);
  return Failure::internal("the interpreter refuses kernel " + kernel.getSymName().str() + ": " +
                           result.message);
}

Outcome<Outputs> Executor::run(StringRef symbol, Arguments arguments,
                               const llvm::StringMap<int64_t> &dims) {
  graphMemory.reset();
  errors.clear();
  Operation *function = module.lookupSymbol(symbol);
  if (auto kernel = dyn_cast_or_null<ir::KernelOp>(function))
    return runKernel(kernel, arguments, dims);
  return runGraph(cast<ir::GraphOp>(function), std::move(arguments), dims);
}
