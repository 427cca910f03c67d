//===- BuilderCuda.cpp - prepared calls of the C++ API --------------------===//

#include "frontend/tile/Cuda.h"

#include "frontend/builder/BuilderModuleImpl.h"
#include "frontend/execute/CudaRun.h"
#include "frontend/fusion/Fusion.h"

#include <deque>

using namespace tile;
using namespace tile::detail;
namespace cuda = tile::runtime::cuda;

//===-- Prepared calls ----------------------------------------------------===//

struct PreparedCall::Impl {
  frontend::CudaRun bound;
  /// What the caller gave.
  std::vector<DeviceTensor> held;
  std::map<std::string, DeviceTensor> outputs;
};

PreparedCall::PreparedCall(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
PreparedCall::~PreparedCall() = default;
PreparedCall::PreparedCall(PreparedCall &&) noexcept = default;
PreparedCall &PreparedCall::operator=(PreparedCall &&) noexcept = default;

Status PreparedCall::operator()() { return held(impl, "PreparedCall").bound.run(); }
const std::map<std::string, DeviceTensor> &PreparedCall::outputs() const {
  return held(impl, "PreparedCall").outputs;
}

/// Whether a tensor is what a port takes, and where the call runs.
static Status checkTensor(const std::string &function, const frontend::Port &port,
                          const DeviceTensor &tensor, const cuda::Device &device) {
  std::string name = "`" + port.name + "` of `" + function + "`";
  if (!port.isTensor)
    return runtime::Error{name + " is a scalar, the argument is a tensor",
                          "it is declared as " + port.str()};
  if (tensor.dtype() != port.type)
    return runtime::Error{name + " holds " + std::string(runtime::nameOf(port.type)) +
                              ", the argument is " + tensor.describe(),
                          "it is declared as " + port.str()};
  if (tensor.device() && tensor.device()->properties().index != device.properties().index)
    return runtime::Error{name + " is " + tensor.describe() + ", and the call runs on device " +
                              std::to_string(device.properties().index),
                          "all tensors of a call have to be on one device"};
  return {};
}

/// The arguments of a call, by the ports of what is called.
struct Function::DeviceArguments {
  const std::string &function;
  const std::vector<NamedDeviceArgument> &given;
  const cuda::Device &device;

  std::deque<runtime::PlacedTensor> places; // what the others point to
  std::vector<runtime::GraphInput> inputs;
  std::vector<const runtime::PlacedTensor *> outputs;
  llvm::StringMap<int64_t> dims;
  llvm::StringMap<bool> known = {};

  const DeviceArgument *find(llvm::StringRef name) const {
    for (const NamedDeviceArgument &argument : given)
      if (argument.name == name)
        return &argument.value;
    return nullptr;
  }
  std::optional<runtime::DType> typeOf(llvm::StringRef name) const {
    const DeviceArgument *argument = find(name);
    return argument && argument->tensor ? std::optional(argument->tensor->dtype()) : std::nullopt;
  }

  Result<const runtime::PlacedTensor *> place(const frontend::Port &port,
                                              const DeviceTensor &tensor) {
    if (Status fits = checkTensor(function, port, tensor, device); !fits)
      return fits.takeError();
    places.push_back(
        {tensor.dtype(), tensor.shape(), reinterpret_cast<std::byte *>(tensor.address())});
    return &std::as_const(places.back());
  }

  Status addInput(const frontend::Port &port) {
    known[port.name] = true;
    const DeviceArgument *argument = find(port.name);
    runtime::GraphInput &input = inputs.emplace_back();
    if (!argument && !port.defaultBits)
      return runtime::Error{"`" + function + "` needs an argument for `" + port.name + "`",
                            "it is declared as " + port.str()};
    if (!argument) {
      input.bits = *port.defaultBits;
      return {};
    }
    if (argument->tensor) {
      auto placed = place(port, *argument->tensor);
      if (!placed)
        return placed.takeError();
      input.placed = *placed;
      return {};
    }
    if (port.isTensor)
      return runtime::Error{"`" + port.name + "` is a tensor, the argument a number",
                            "it is declared as " + port.str()};
    Result<uint64_t> bits = bitsOf(port, argument->text);
    if (!bits)
      return bits.takeError();
    input.bits = *bits;
    return {};
  }

  Status addOutput(const frontend::Port &port) {
    bool isInput = !known.try_emplace(port.name, true).second;
    const DeviceArgument *argument = isInput ? nullptr : find(port.name);
    outputs.push_back(nullptr);
    if (!argument)
      return {};
    if (!argument->tensor)
      return runtime::Error{"output `" + port.name + "` is a tensor, the argument a number", ""};
    auto placed = place(port, *argument->tensor);
    if (!placed)
      return placed.takeError();
    outputs.back() = *placed;
    return {};
  }

  /// What names neither an input nor an output names a dimension.
  Status addDims(llvm::ArrayRef<llvm::StringRef> names) {
    for (const NamedDeviceArgument &argument : given) {
      if (known.contains(argument.name))
        continue;
      int64_t value;
      if (!llvm::is_contained(names, argument.name))
        return runtime::Error{"`" + function + "` has no input or output `" + argument.name + "`",
                              ""};
      if (argument.value.tensor || llvm::StringRef(argument.value.text).getAsInteger(10, value))
        return runtime::Error{"dimension `" + argument.name + "` takes an integer", ""};
      dims[argument.name] = value;
    }
    return {};
  }

  Status add(const frontend::Interface &interface, llvm::ArrayRef<llvm::StringRef> dimNames) {
    for (const frontend::Port &port : interface.inputs)
      if (Status added = addInput(port); !added)
        return added;
    for (const frontend::Port &port : interface.outputs)
      if (Status added = addOutput(port); !added)
        return added;
    return addDims(dimNames);
  }
};

Result<PreparedCall> Function::prepare(const Gpu &gpu,
                                       const std::vector<NamedDeviceArgument> &arguments) const {
  std::lock_guard lock(held(impl, "Function").module->mutex);
  DeviceArguments bound{symbol, arguments, gpu.stream()->device(), {}, {}, {}, {}};
  Result<std::string> instance =
      impl->instance([&](llvm::StringRef name) { return bound.typeOf(name); });
  if (!instance)
    return instance.takeError();
  std::vector<Error> errors;
  Collector collector(impl->module->context, errors);
  mlir::ModuleOp module =
      impl->decl ? impl->module->loaded->elaborator.module() : *impl->module->built;
  mlir::Operation *function = module.lookupSymbol(*instance);
  frontend::Interface interface = frontend::interfaceOf(function);
  if (Status added = bound.add(interface, dimsOf(function)); !added)
    return added.takeError();

  frontend::Executor &executor = impl->module->executor(module, Device::Cuda, gpu.stream());
  executor.sizes = {};
  executor.sizes.everywhere = impl->options.sizes;
  auto fail = [&](frontend::Failure failure) {
    return failure.message.empty()
               ? firstOf(errors, "`" + symbol + "` failed")
               : runtime::Error{std::move(failure.message), std::move(failure.hint)};
  };
  if (auto checked = executor.sizes.check(frontend::kernelsOf(module, *instance)); !checked)
    return fail(checked.takeFailure());
  std::vector<std::optional<runtime::PlacedTensor>> shapes;
  for (const runtime::GraphInput &input : bound.inputs)
    shapes.push_back(input.placed ? std::optional(*input.placed) : std::nullopt);
  std::string runs = impl->running(
      module, *instance, &frontend::descriptionOfGpu(gpu.stream()->device().properties().name),
      executor, shapes, bound.dims);
  auto run = executor.bindOnCuda(runs, bound.inputs, bound.dims, bound.outputs);
  if (!run)
    return fail(run.takeFailure());

  auto result = std::make_unique<PreparedCall::Impl>(PreparedCall::Impl{*std::move(run), {}, {}});
  for (const NamedDeviceArgument &argument : arguments)
    if (argument.value.tensor)
      result->held.push_back(*argument.value.tensor);
  for (auto [port, output] : llvm::zip_equal(interface.outputs, result->bound.outputs)) {
    auto tensor = DeviceTensor::wrap(gpu.stream()->sharedDevice(), cuda::addressOf(output.data),
                                     output.type, output.shape);
    if (!tensor)
      return tensor.takeError();
    const DeviceArgument *given = bound.find(port.name);
    result->outputs[port.name] = given && given->tensor ? *given->tensor : *std::move(tensor);
  }
  return PreparedCall(std::move(result));
}
