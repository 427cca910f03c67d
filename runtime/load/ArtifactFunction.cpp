#include "runtime/cpu/CpuLaunch.h"
#include "runtime/launch/KernelReports.h"
#include "runtime/load/ArtifactState.h"

#include <algorithm>
#include <sstream>

namespace tile::runtime {

static std::string typesOf(const std::vector<std::pair<std::string, std::string>> &types) {
  std::string text;
  for (const auto &[name, type] : types)
    text += (text.empty() ? "" : ", ") + name + " = " + type;
  return text;
}

//===-- Functions ---------------------------------------------------------===//

const std::string &ArtifactFunction::name() const { return state->name; }

std::vector<ArtifactInstance> ArtifactFunction::instances() const {
  std::vector<ArtifactInstance> result;
  for (size_t n = 0; n < state->entries.size(); ++n)
    result.push_back({state->entries[n]->types, &state->signature(n), state->entries[n]->isGraph});
  return result;
}

/// The instance whose tensors have the types of the arguments.
Result<size_t> ArtifactFunction::choose(const std::vector<NamedLaunchArgument> &arguments) const {
  std::string known;
  for (size_t n = 0; n < state->entries.size(); ++n) {
    bool fits = true;
    for (const ParamRule &param : state->signature(n).params)
      for (const NamedLaunchArgument &argument : arguments)
        if (std::optional<DType> type = argument.value.dtype();
            type && isInput(param) && argument.name == param.name)
          fits &= param.isTensor && nameOf(*type) == param.type;
    // Of a single one, the arguments' own check says more.
    if (fits || state->entries.size() == 1)
      return n;
    known += (known.empty() ? "" : "; ") + typesOf(state->entries[n]->types);
  }
  return Error{inCode(state->name) + " was not compiled for the types of these tensors",
               "the artifact has it for " + known};
}

Result<NamedTensors>
ArtifactFunction::launch(const std::vector<NamedLaunchArgument> &arguments) const {
  Result<size_t> instance = choose(arguments);
  if (!instance)
    return instance.takeError();
  const Signature &signature = state->signature(*instance);
  ArtifactArguments bound;
  if (Status done = bound.bind(signature, arguments, nullptr); !done)
    return done.takeError();
  const std::vector<GraphInput> &inputs = bound.inputs;
  Result<Outcome> outcome = launchInstance(*instance, inputs, bound.dims);
  if (!outcome)
    return outcome.takeError();
  NamedTensors outputs;
  size_t position = 0;
  for (const ParamRule &param : signature.params) {
    if (param.mode == ParamMode::In)
      continue;
    std::shared_ptr<const Tensor> tensor = std::move(outcome->outputs[position++]);
    // An output that is an input itself would end with the caller's tensor.
    for (const GraphInput &input : inputs)
      if (input.tensor == tensor && tensor) {
        Result<Tensor> copy = tensor->clone();
        if (!copy)
          return copy.takeError();
        tensor = std::make_shared<const Tensor>(*std::move(copy));
      }
    outputs[param.name] = std::move(tensor);
  }
  return outputs;
}

//===-- Launching ---------------------------------------------------------===//

Result<ArtifactFunction::Outcome>
ArtifactFunction::launchInstance(size_t instance, std::span<const GraphInput> inputs,
                                 const DimValues &dims) const {
  if (Status fits = checkInputs(state->signature(instance), inputs); !fits)
    return fits.takeError();
  const EntryData &entry = *state->entries[instance];
  return entry.isGraph ? state->launchGraph(state->artifact->data.graphs[entry.index], inputs, dims)
                       : state->launchKernel(entry.index, inputs, dims);
}

Result<BoundKernel> BoundKernel::create(const Signature &signature,
                                        std::span<const GraphInput> inputs, const DimValues &dims) {
  size_t count = signature.params.size(), position = 0;
  BoundKernel result;
  result.inputs.resize(count);
  result.scalars.resize(count);
  std::vector<std::span<const int64_t>> shapes(count);
  for (size_t p = 0; p < count; ++p) {
    if (!isInput(signature.params[p]))
      continue;
    const GraphInput &input = inputs[position++];
    result.inputs[p] = &input;
    result.scalars[p] = input.bits;
    if (input.placed)
      shapes[p] = input.placed->shape;
    else if (input.tensor)
      shapes[p] = input.tensor->shape();
  }
  Result<LaunchBinding> binding = bindLaunch(signature, shapes, dims);
  if (!binding)
    return binding.takeError();
  if (Status holds = checkRequires(signature, binding->dims, result.scalars); !holds)
    return holds.takeError();
  result.binding = *std::move(binding);
  return result;
}

Result<ArtifactFunction::Outcome>
ArtifactFunction::State::launchKernel(uint32_t kernel, std::span<const GraphInput> inputs,
                                      const DimValues &given) const {
  const Signature &signature = artifact->data.kernels[kernel].signature;
  Result<BoundKernel> bound = BoundKernel::create(signature, inputs, given);
  if (!bound)
    return bound.takeError();
  const LaunchBinding *binding = &bound->binding;
  std::vector<uint64_t> &scalars = bound->scalars;
  size_t count = signature.params.size();
  std::vector<const Tensor *> tensors(count);
  for (size_t p = 0; p < count; ++p)
    tensors[p] = bound->inputs[p] ? bound->inputs[p]->tensor.get() : nullptr;
  Result<const CpuEntry *> entry = artifact->entry(kernel, binding->dims);
  if (!entry)
    return entry.takeError();

  Outcome outcome;
  std::vector<const void *> params(count);
  std::vector<int64_t> elements(count, 1);
  for (size_t p = 0; p < count; ++p) {
    const ParamRule &param = signature.params[p];
    params[p] = tensors[p] ? static_cast<const void *>(tensors[p]->data()) : &scalars[p];
    if (param.mode != ParamMode::In) {
      Result<Tensor> made =
          param.mode == ParamMode::InOut
              ? tensors[p]->clone()
              : Tensor::createUninitialized(*parseDType(param.type), binding->shapes[p]);
      if (!made)
        return Error{"output " + inCode(param.name) + " of " + inCode(signature.name) + ": " +
                         made.error().message,
                     made.error().hint};
      auto owner = std::make_shared<Tensor>(*std::move(made));
      params[p] = owner->data();
      tensors[p] = owner.get();
      outcome.outputs.push_back(std::move(owner));
    }
    if (tensors[p])
      elements[p] = tensors[p]->numElements();
  }
  Status done = launchCpu(**entry, {.params = params, .dims = binding->dims, .elements = elements});
  if (!done)
    return done.takeError();
  return outcome;
}

/// Where a call of a kernel stands, and the calls of the graphs around it.
static std::vector<std::string> callersOf(const GraphPlan &plan, uint32_t call) {
  std::vector<std::string> notes;
  auto add = [&](const std::string &places) {
    std::istringstream lines(places);
    for (std::string place; std::getline(lines, place);)
      notes.push_back(place + ": called here");
  };
  add(plan.calls[call].place);
  for (uint32_t frame = plan.calls[call].frame; frame != 0; frame = plan.frames[frame].caller)
    add(plan.frames[frame].place);
  return notes;
}

Error errorOfGraph(const GraphPlan &plan, GraphFailure failure, const std::vector<char> &asserts) {
  Error error = std::move(failure.error);
  if (failure.call && asserts[*failure.call]) {
    error.notes = callersOf(plan, *failure.call);
    return error;
  }
  const std::string *place = failure.call    ? &plan.calls[*failure.call].place
                             : failure.frame ? &plan.frames[*failure.frame].place
                                             : nullptr;
  if (place && !place->empty())
    error.message = *place + ": " + error.message;
  return error;
}

Result<ArtifactFunction::Outcome>
ArtifactFunction::State::launchGraph(const GraphPlan &plan, std::span<const GraphInput> inputs,
                                     const DimValues &dims) const {
  // Calls whose assertions failed: such an error begins with the assertion's own place.
  std::vector<char> asserts(plan.calls.size());
  auto launch = [&](const KernelLaunch &bound) -> Status {
    Result<const CpuEntry *> entry = artifact->entry(bound.kernel, bound.dims);
    if (!entry)
      return entry.takeError();
    LaunchReport report;
    Status done = launchCpu(**entry, {.params = bound.params,
                                      .dims = bound.dims,
                                      .elements = bound.elements,
                                      .report = &report});
    asserts[bound.call] = report.failure.has_value();
    return done;
  };
  GraphOptions options;
  options.prepare = [&](std::span<const KernelLaunch> launches) -> Status {
    for (const KernelLaunch &bound : launches) {
      Result<const CpuEntry *> entry = artifact->entry(bound.kernel, bound.dims);
      if (!entry)
        return entry.takeError();
      // What kernels say comes in the order of their calls.
      options.isParallel &= !(*entry)->reports;
    }
    return {};
  };
  options.keepsAllBusy = [&](const KernelLaunch &bound) {
    Result<const CpuEntry *> entry = artifact->entry(bound.kernel, bound.dims);
    return entry &&
           keepsAllThreadsBusy(
               **entry, {.params = bound.params, .dims = bound.dims, .elements = bound.elements});
  };
  GraphOutcome ran = runGraph(plan, artifact->signatures, inputs, dims, launch, options);
  if (!ran.failure)
    return Outcome{std::move(ran.results), ran.memory};
  return errorOfGraph(plan, *std::move(ran.failure), asserts);
}

} // namespace tile::runtime
