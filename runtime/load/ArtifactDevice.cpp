// Kernels and graphs of artifacts on GPUs.

#include "runtime/cuda/DeviceReports.h"
#include "runtime/cuda/Spaces.h"
#include "runtime/launch/KernelReports.h"
#include "runtime/load/ArtifactState.h"
#include "runtime/tensor/Overlap.h"

#include <algorithm>

namespace tile::runtime {

//===-- One launch --------------------------------------------------------===//

/// Launches kernels on a GPU at once, or adds them to a run that is prepared.
class ArtifactFunction::OnDevice {
public:
  /// `run` is null for a launch at once.
  OnDevice(Artifact::State &artifact, const cuda::Gpu &gpu, cuda::PreparedRun *run)
      : artifact(artifact), stream(gpu.stream()), run(run) {}

  /// `results` by output: where the caller wants it, and what it gave for that.
  Result<DeviceOutcome> kernel(uint32_t kernel, std::span<const GraphInput> inputs,
                               const DimValues &dims, const ArtifactArguments *given);
  Result<DeviceOutcome> graph(const GraphPlan &plan, std::span<const GraphInput> inputs,
                              const DimValues &dims, const ArtifactArguments *given);

private:
  using Code = std::shared_ptr<const cuda::LoadedKernel>;
  struct Arguments {
    std::vector<uint64_t> words;
    std::vector<int64_t> elements;
    std::span<const int64_t> dims;
    /// Tensors that are read and written: address and bytes.
    std::vector<std::pair<uint64_t, uint64_t>> changed;
  };
  Result<Code> load(uint32_t kernel, std::span<const int64_t> dims);
  Status submit(const Code &code, const Arguments &arguments, bool *asserts = nullptr);
  Status listen(const Code &code, const Arguments &arguments, bool *asserts);
  Result<cuda::DeviceTensor> output(const ParamRule &param, const Shape &shape,
                                    const GraphInput *input, const PlacedTensor *given,
                                    const cuda::DeviceTensor *tensor);
  Result<cuda::DeviceTensor> copyOf(const PlacedTensor &tensor);
  Status makeResults(const GraphPlan &plan, std::span<const KernelLaunch> launches,
                     GraphOptions &options);

  Artifact::State &artifact;
  std::shared_ptr<cuda::Stream> stream;
  cuda::PreparedRun *run;
  /// Of a graph, by result; without memory for those that are inputs.
  std::vector<cuda::DeviceTensor> results;
  std::deque<PlacedTensor> places;
};

Result<ArtifactFunction::OnDevice::Code>
ArtifactFunction::OnDevice::load(uint32_t kernel, std::span<const int64_t> dims) {
  Result<Code> code = artifact.loaded(kernel, dims, stream->sharedDevice());
  if (code && run && !(*code)->sites().empty())
    return Error{inCode((*code)->name()) + " asserts or prints, and a prepared call says nothing",
                 "launch it instead of preparing it"};
  return code;
}

/// Launches, and waits for what the kernel says. Where there was too little room for it all is done
/// again, with as much as was asked for.
Status ArtifactFunction::OnDevice::listen(const Code &code, const Arguments &arguments,
                                          bool *asserts) {
  constexpr int mostTries = 6;
  uint64_t room = uint64_t(1) << 20;
  std::vector<cuda::DeviceBuffer> before;
  for (auto [address, bytes] : arguments.changed) {
    auto copy = cuda::DeviceBuffer::allocate(stream, bytes);
    if (!copy)
      return copy.takeError();
    if (bytes)
      if (Status done = stream->copy(copy->address(), address, bytes); !done)
        return done;
    before.push_back(*std::move(copy));
  }
  for (int tries = 0; tries < mostTries; ++tries) {
    for (size_t n = 0; tries && n < before.size(); ++n)
      if (auto [address, bytes] = arguments.changed[n]; bytes)
        if (Status done = stream->copy(address, before[n].address(), bytes); !done)
          return done;
    auto reports = cuda::DeviceReports::create(stream, room);
    if (!reports)
      return reports.takeError();
    auto launch = cuda::PreparedLaunch::create(code, stream, arguments.words, arguments.elements,
                                               arguments.dims, reports->address());
    if (!launch)
      return launch.takeError();
    if (Status done = (*launch)(*stream); !done)
      return done;
    if (Status done = reports->read(); !done)
      return done;
    if (!reports->isWhole()) {
      room = reports->needed() + (tries ? reports->needed() : 0);
      continue;
    }
    KernelReports order(nullptr);
    if (Status done = reports->tell(order, code->sites()); !done)
      return done;
    if (!order.failure())
      return {};
    if (asserts)
      *asserts = true;
    return Error{order.failure()->str(), ""};
  }
  return Error{inCode(code->name()) + " prints more each time that it is launched",
               "let it print less"};
}

Status ArtifactFunction::OnDevice::submit(const Code &code, const Arguments &arguments,
                                          bool *asserts) {
  if (!code->sites().empty())
    return listen(code, arguments, asserts);
  auto launch = cuda::PreparedLaunch::create(code, stream, arguments.words, arguments.elements,
                                             arguments.dims);
  if (!launch)
    return launch.takeError();
  if (!run)
    return (*launch)(*stream);
  run->add(*std::move(launch));
  return {};
}

//===-- Kernels -----------------------------------------------------------===//

static int64_t countOf(const Shape &shape) {
  int64_t count = 1; // within 63 bits, as the binding has checked
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

Result<cuda::DeviceTensor> ArtifactFunction::OnDevice::copyOf(const PlacedTensor &tensor) {
  auto copy = cuda::DeviceTensor::create(stream, tensor.type, tensor.shape);
  if (copy && copy->byteSize())
    if (Status done = stream->copy(copy->address(), cuda::addressOf(tensor.data), copy->byteSize());
        !done)
      return done.takeError();
  return copy;
}

/// Where a kernel writes an output. An `inout` parameter is changed in place by what is prepared;
/// a launch changes a copy.
Result<cuda::DeviceTensor> ArtifactFunction::OnDevice::output(const ParamRule &param,
                                                              const Shape &shape,
                                                              const GraphInput *input,
                                                              const PlacedTensor *given,
                                                              const cuda::DeviceTensor *tensor) {
  DType type = *parseDType(param.type);
  if (input && run)
    return cuda::DeviceTensor::wrap(stream->sharedDevice(), cuda::addressOf(input->placed->data),
                                    type, shape);
  if (input)
    return copyOf(*input->placed);
  if (!given)
    return cuda::DeviceTensor::create(stream, type, shape);
  if (given->type != type || given->shape != shape)
    return Error{"it is " + describe(type, shape) + ", the tensor given for it is " +
                     describe(given->type, given->shape),
                 ""};
  return *tensor;
}

Result<ArtifactFunction::DeviceOutcome>
ArtifactFunction::OnDevice::kernel(uint32_t kernel, std::span<const GraphInput> inputs,
                                   const DimValues &dims, const ArtifactArguments *given) {
  const Signature &signature = artifact.data.kernels[kernel].signature;
  Result<BoundKernel> bound = BoundKernel::create(signature, inputs, dims);
  if (!bound)
    return bound.takeError();
  Result<Code> code = load(kernel, bound->binding.dims);
  if (!code)
    return code.takeError();
  DeviceOutcome outcome;
  Arguments arguments{{}, {}, bound->binding.dims, {}};
  for (size_t p = 0; p < signature.params.size(); ++p) {
    const ParamRule &param = signature.params[p];
    const Shape &shape = bound->binding.shapes[p];
    arguments.words.push_back(bound->scalars[p]);
    arguments.elements.push_back(param.isTensor ? countOf(shape) : 0);
    if (param.isTensor && param.mode == ParamMode::In)
      arguments.words.back() = cuda::addressOf(bound->inputs[p]->placed->data);
    if (param.mode == ParamMode::In)
      continue;
    size_t n = outcome.outputs.size();
    auto made = output(param, shape, bound->inputs[p], given ? given->outputs[n] : nullptr,
                       given ? &given->outputTensors[n] : nullptr);
    if (!made)
      return Error{"output " + inCode(param.name) + " of " + inCode(signature.name) + ": " +
                       made.error().message,
                   made.error().hint};
    arguments.words.back() = made->address();
    if (param.mode == ParamMode::InOut)
      arguments.changed.emplace_back(made->address(), made->byteSize());
    outcome.outputs.push_back(*std::move(made));
  }
  if (Status done = submit(*code, arguments); !done)
    return done.takeError();
  return outcome;
}

//===-- Graphs ------------------------------------------------------------===//

/// Takes memory for the results that calls write and the caller has no place for, so that they may
/// outlive what is between calls.
Status ArtifactFunction::OnDevice::makeResults(const GraphPlan &plan,
                                               std::span<const KernelLaunch> launches,
                                               GraphOptions &options) {
  const std::vector<uint32_t> &wanted = plan.frames[0].results;
  options.results.resize(wanted.size());
  results.resize(wanted.size());
  std::map<uint32_t, size_t> made;
  for (const KernelLaunch &bound : launches) {
    const PlanCall &call = plan.calls[bound.call];
    const Signature &signature = artifact.data.kernels[call.kernel].signature;
    size_t position = 0;
    for (size_t p = 0; p < signature.params.size(); ++p) {
      if (signature.params[p].mode == ParamMode::In)
        continue;
      auto found = std::find(wanted.begin(), wanted.end(), call.outputs[position++]);
      auto n = static_cast<size_t>(found - wanted.begin());
      if (found == wanted.end() || options.results[n])
        continue;
      auto tensor = cuda::DeviceTensor::create(stream, *parseDType(signature.params[p].type),
                                               bound.shapes[p]);
      if (!tensor)
        return tensor.takeError();
      results[n] = *std::move(tensor);
      options.results[n] = &places.emplace_back(PlacedTensor{
          results[n].dtype(), results[n].shape(), cuda::pointerTo(results[n].address())});
    }
  }
  return {};
}

Result<ArtifactFunction::DeviceOutcome>
ArtifactFunction::OnDevice::graph(const GraphPlan &plan, std::span<const GraphInput> inputs,
                                  const DimValues &dims, const ArtifactArguments *given) {
  std::vector<Code> code; // by call
  std::vector<char> asserts(plan.calls.size());
  GraphOptions options;
  std::optional<cuda::PreparedSpace> later;
  std::optional<cuda::StreamSpace> now;
  options.space = run ? static_cast<GraphSpace *>(&later.emplace(*run)) : &now.emplace(stream);
  if (given) {
    options.results = given->outputs;
    results = given->outputTensors;
  }
  options.prepare = [&](std::span<const KernelLaunch> launches) -> Status {
    for (const KernelLaunch &bound : launches) {
      Result<Code> loaded = load(bound.kernel, bound.dims);
      if (!loaded)
        return loaded.takeError();
      code.push_back(*std::move(loaded));
    }
    return makeResults(plan, launches, options);
  };
  auto launch = [&](const KernelLaunch &bound) -> Status {
    const Signature &signature = artifact.data.kernels[bound.kernel].signature;
    Arguments arguments{bound.scalars, bound.elements, bound.dims, {}};
    for (size_t p = 0; p < signature.params.size(); ++p) {
      const ParamRule &param = signature.params[p];
      if (!param.isTensor)
        continue;
      arguments.words[p] = cuda::addressOf(bound.params[p]);
      if (param.mode == ParamMode::InOut)
        arguments.changed.emplace_back(arguments.words[p],
                                       static_cast<uint64_t>(bound.elements[p]) *
                                           static_cast<uint64_t>(sizeOf(*parseDType(param.type))));
    }
    bool failed = false;
    Status done = submit(code[bound.call], arguments, &failed);
    asserts[bound.call] = failed;
    return done;
  };
  GraphOutcome ran = runGraph(plan, artifact.signatures, inputs, dims, launch, options);
  if (ran.failure)
    return errorOfGraph(plan, *std::move(ran.failure), asserts);
  DeviceOutcome outcome{{}, ran.memory};
  for (size_t n = 0; n < ran.resultPlaces.size(); ++n) {
    const PlacedTensor &place = ran.resultPlaces[n];
    // A result that is an input, or another result: what it is copied from is the caller's.
    bool isOwn = results[n].device() && results[n].address() == cuda::addressOf(place.data);
    auto tensor =
        isOwn ? Result<cuda::DeviceTensor>(results[n])
        : run ? cuda::DeviceTensor::wrap(stream->sharedDevice(), cuda::addressOf(place.data),
                                         place.type, place.shape)
              : copyOf(place);
    if (!tensor)
      return tensor.takeError();
    outcome.outputs.push_back(*std::move(tensor));
  }
  return outcome;
}

//===-- Functions ---------------------------------------------------------===//

struct ArtifactCall::Impl {
  explicit Impl(std::shared_ptr<cuda::Stream> stream) : run(std::move(stream)) {}

  cuda::PreparedRun run;
  /// What the caller gave, and what it gets.
  std::vector<cuda::DeviceTensor> held;
  NamedDeviceTensors outputs;
};

ArtifactCall::ArtifactCall(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
ArtifactCall::~ArtifactCall() = default;
ArtifactCall::ArtifactCall(ArtifactCall &&) noexcept = default;
ArtifactCall &ArtifactCall::operator=(ArtifactCall &&) noexcept = default;
Status ArtifactCall::operator()() { return impl->run(); }
const NamedDeviceTensors &ArtifactCall::outputs() const { return impl->outputs; }

/// The caller's tensors may overlap where they are only read. What a launch has memory of its own
/// for overlaps nothing.
static Status checkTensors(const Signature &signature, std::span<const GraphInput> inputs,
                           const ArtifactArguments *given, bool changesInputs) {
  std::vector<CallPlace> places;
  auto add = [&](const ParamRule &param, const PlacedTensor *place, bool isWritten) {
    if (place)
      places.push_back({param.name, place->data, place->bytes(), isWritten});
  };
  size_t input = 0, output = 0;
  for (const ParamRule &param : signature.params) {
    if (isInput(param))
      add(param, inputs[input++].placed, changesInputs && param.mode == ParamMode::InOut);
    if (param.mode != ParamMode::In && given)
      add(param, given->outputs[output++], true);
  }
  return checkApart(signature.name, places);
}

Result<ArtifactFunction::DeviceOutcome>
ArtifactFunction::State::launchOn(const cuda::Gpu &gpu, cuda::PreparedRun *run, size_t instance,
                                  std::span<const GraphInput> inputs, const DimValues &dims,
                                  const ArtifactArguments *given) const {
  if (Status fits = checkInputs(signature(instance), inputs); !fits)
    return fits.takeError();
  const EntryData &entry = *entries[instance];
  if (Status apart = checkTensors(signature(instance), inputs, given, run && !entry.isGraph);
      !apart)
    return apart.takeError();
  OnDevice launcher(*artifact, gpu, run);
  return entry.isGraph ? launcher.graph(artifact->data.graphs[entry.index], inputs, dims, given)
                       : launcher.kernel(entry.index, inputs, dims, given);
}

Result<ArtifactFunction::DeviceOutcome>
ArtifactFunction::launchInstance(const cuda::Gpu &gpu, size_t instance,
                                 std::span<const GraphInput> inputs, const DimValues &dims) const {
  return state->launchOn(gpu, nullptr, instance, inputs, dims, nullptr);
}

/// Outputs by name.
static NamedDeviceTensors named(const Signature &signature,
                                std::vector<cuda::DeviceTensor> tensors) {
  NamedDeviceTensors outputs;
  size_t position = 0;
  for (const ParamRule &param : signature.params)
    if (param.mode != ParamMode::In)
      outputs[param.name] = std::move(tensors[position++]);
  return outputs;
}

Result<NamedDeviceTensors>
ArtifactFunction::launch(const cuda::Gpu &gpu,
                         const std::vector<NamedLaunchArgument> &arguments) const {
  Result<size_t> instance = choose(arguments);
  if (!instance)
    return instance.takeError();
  const Signature &signature = state->signature(*instance);
  ArtifactArguments bound;
  if (Status done = bound.bind(signature, arguments, &gpu.stream()->device()); !done)
    return done.takeError();
  auto outcome = state->launchOn(gpu, nullptr, *instance, bound.inputs, bound.dims, &bound);
  if (!outcome)
    return outcome.takeError();
  return named(signature, std::move(outcome->outputs));
}

Result<ArtifactCall>
ArtifactFunction::prepare(const cuda::Gpu &gpu,
                          const std::vector<NamedLaunchArgument> &arguments) const {
  Result<size_t> instance = choose(arguments);
  if (!instance)
    return instance.takeError();
  const Signature &signature = state->signature(*instance);
  ArtifactArguments bound;
  if (Status done = bound.bind(signature, arguments, &gpu.stream()->device()); !done)
    return done.takeError();
  auto call = std::make_unique<ArtifactCall::Impl>(gpu.stream());
  auto outcome = state->launchOn(gpu, &call->run, *instance, bound.inputs, bound.dims, &bound);
  if (!outcome)
    return outcome.takeError();
  for (const NamedLaunchArgument &argument : arguments)
    if (argument.value.onDevice)
      call->held.push_back(*argument.value.onDevice);
  call->outputs = named(signature, std::move(outcome->outputs));
  return ArtifactCall(std::move(call));
}

} // namespace tile::runtime
