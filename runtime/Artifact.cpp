#include "runtime/Artifact.h"
#include "runtime/CpuImage.h"
#include "runtime/CpuLaunch.h"
#include "runtime/Encoding.h"
#include "runtime/Evaluate.h"
#include "runtime/FileIO.h"
#include "runtime/KernelReports.h"
#include "runtime/Scalar.h"
#include "runtime/Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <mutex>

namespace tile::runtime {

std::string LaunchArgument::realText(double number) {
  if (std::isnan(number))
    return "nan";
  if (std::isinf(number))
    return number < 0 ? "-inf" : "inf";
  char text[64];
  auto [end, problem] = std::to_chars(text, text + sizeof text, number); // whatever the locale
  std::string result(text, end);
  // A real stays a real: 2.0 is no integer.
  return result.find_first_of(".e") == std::string::npos ? result + ".0" : result;
}

namespace {

bool isInput(const ParamRule &param) {
  return param.mode == ParamMode::In || param.mode == ParamMode::InOut;
}

std::string typesOf(const std::vector<std::pair<std::string, std::string>> &types) {
  std::string text;
  for (const auto &[name, type] : types)
    text += (text.empty() ? "" : ", ") + name + " = " + type;
  return text;
}

std::string code(const std::string &name) { return "`" + name + "`"; }

} // namespace

//===-- Loading -----------------------------------------------------------===//

struct Artifact::State {
  ArtifactData data;
  Hash128 hash;
  std::vector<const Signature *> signatures;

  /// The code of a kernel for these dimensions; images are loaded when they are first needed.
  Result<const CpuEntry *> entry(uint32_t kernel, std::span<const int64_t> dims) {
    const KernelData &what = data.kernels[kernel];
    std::string reasons;
    for (const VariantData &variant : what.variants) {
      std::optional<int64_t> holds = 1; // without a guard
      if (!variant.guard.empty())
        holds = evaluateInteger(variant.guard, dims);
      if (!holds || !*holds)
        continue;
      std::lock_guard lock(mutex);
      if (auto known = entries.find(&variant); known != entries.end())
        return &known->second;
      if (std::string reason = CpuImage::reasonAgainst(data.images[variant.image]);
          !reason.empty()) {
        if (reasons.find(reason) == std::string::npos)
          reasons += (reasons.empty() ? "" : "; ") + reason;
        continue;
      }
      Result<std::shared_ptr<const CpuImage>> image = load(variant.image);
      if (!image)
        return image.takeError();
      Result<CpuEntry> entry = (*image)->entry(what.signature, variant.symbol);
      if (!entry)
        return entry.takeError();
      return &entries.emplace(&variant, *std::move(entry)).first->second;
    }
    if (reasons.empty())
      return Error{
          "the artifact has no code of " + code(what.signature.name) + " for these dimensions", ""};
    return Error{"the code of " + code(what.signature.name) + " can't run here: " + reasons,
                 "compile the artifact with a --target that this machine has, such as x86-64-v2"};
  }

private:
  Result<std::shared_ptr<const CpuImage>> load(uint32_t index) {
    if (images.empty())
      images.resize(data.images.size());
    if (images[index])
      return images[index];
    Result<std::shared_ptr<const CpuImage>> loaded = CpuImage::load(data.images[index]);
    if (loaded)
      images[index] = *loaded;
    return loaded;
  }

  std::mutex mutex;
  std::vector<std::shared_ptr<const CpuImage>> images;
  /// Of what was launched; it stays where it is.
  std::map<const VariantData *, CpuEntry> entries;
};

Result<Artifact> Artifact::fromBytes(std::span<const std::byte> bytes) {
  Result<ArtifactData> data = parseArtifact(bytes);
  if (!data)
    return data.takeError();
  auto state = std::make_shared<State>();
  state->data = *std::move(data);
  state->hash = contentHash(bytes);
  for (const KernelData &kernel : state->data.kernels)
    state->signatures.push_back(&kernel.signature);
  return Artifact(std::move(state));
}

Result<Artifact> Artifact::load(const std::string &path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.takeError();
  Result<AlignedBytes> bytes = allocateAligned(file->size(), "the artifact " + quote(path));
  if (!bytes)
    return bytes.takeError();
  std::span<std::byte> content(bytes->get(), file->size());
  if (Status read = file->readAt(0, content); !read)
    return read.takeError();
  Result<Artifact> artifact = fromBytes(content);
  if (!artifact) {
    Error error = artifact.takeError();
    return Error{quote(path) + ": " + error.message, error.hint};
  }
  return artifact;
}

std::vector<std::string> Artifact::names() const {
  std::vector<std::string> names;
  for (const EntryData &entry : state->data.entries)
    if (std::find(names.begin(), names.end(), entry.name) == names.end())
      names.push_back(entry.name);
  return names;
}

Hash128 Artifact::hash() const { return state->hash; }
const ArtifactData &Artifact::data() const { return state->data; }

//===-- Functions ---------------------------------------------------------===//

struct ArtifactFunction::State {
  std::shared_ptr<Artifact::State> artifact;
  std::string name;
  std::vector<const EntryData *> entries;

  const Signature &signature(size_t instance) const {
    const EntryData &entry = *entries[instance];
    return entry.isGraph ? artifact->data.graphs[entry.index].signature()
                         : artifact->data.kernels[entry.index].signature;
  }

  Result<Outcome> launchKernel(uint32_t kernel, std::span<const GraphInput> inputs,
                               const DimValues &dims) const;
  Result<Outcome> launchGraph(const GraphPlan &plan, std::span<const GraphInput> inputs,
                              const DimValues &dims) const;
};

Result<ArtifactFunction> Artifact::function(const std::string &name) const {
  auto found = std::make_shared<ArtifactFunction::State>();
  found->artifact = state;
  found->name = name;
  for (const EntryData &entry : state->data.entries)
    if (entry.name == name)
      found->entries.push_back(&entry);
  if (!found->entries.empty())
    return ArtifactFunction(std::move(found));
  std::string list;
  std::vector<std::string> all = names();
  for (const std::string &known : all)
    list += (list.empty() ? "" : ", ") + known;
  std::vector<std::string_view> candidates(all.begin(), all.end());
  std::string_view near = nearest(name, candidates);
  return Error{"the artifact has no kernel or graph " + code(name),
               (near.empty() ? "" : "did you mean `" + std::string(near) + "`? ") +
                   (list.empty() ? "it has none" : "it has " + list)};
}

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
        if (isInput(param) && argument.name == param.name && argument.value.tensor)
          fits &= param.isTensor && nameOf(argument.value.tensor->dtype()) == param.type;
    // Of a single one, the arguments' own check says more.
    if (fits || state->entries.size() == 1)
      return n;
    known += (known.empty() ? "" : "; ") + typesOf(state->entries[n]->types);
  }
  return Error{code(state->name) + " was not compiled for the types of these tensors",
               "the artifact has it for " + known};
}

Result<NamedTensors>
ArtifactFunction::launch(const std::vector<NamedLaunchArgument> &arguments) const {
  Result<size_t> instance = choose(arguments);
  if (!instance)
    return instance.takeError();
  const Signature &signature = state->signature(*instance);
  std::vector<const LaunchArgument *> given(signature.params.size());
  DimValues dims;
  for (const NamedLaunchArgument &argument : arguments) {
    size_t p = 0;
    while (p < given.size() &&
           !(isInput(signature.params[p]) && signature.params[p].name == argument.name))
      ++p;
    const std::string &text = argument.value.text;
    if (p < given.size()) {
      if (std::exchange(given[p], &argument.value))
        return Error{code(argument.name) + " is given twice", ""};
    } else {
      // A dimension or constant; the binding refuses names that are neither.
      int64_t value = 0;
      auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (text.empty() || problem != std::errc() || end != text.data() + text.size())
        return Error{code(signature.name) + " has no input " + code(argument.name), ""};
      dims[argument.name] = value;
    }
  }
  std::vector<GraphInput> inputs;
  for (size_t p = 0; p < given.size(); ++p) {
    const ParamRule &param = signature.params[p];
    if (!isInput(param))
      continue;
    GraphInput &input = inputs.emplace_back();
    if (!given[p] && !param.defaultBits)
      return Error{code(signature.name) + " needs an argument for " + code(param.name),
                   "it is declared as " + declarationOf(param)};
    if (!given[p]) {
      input.bits = *param.defaultBits;
    } else if (given[p]->tensor) {
      input.tensor = std::shared_ptr<const Tensor>(given[p]->owner, given[p]->tensor);
    } else if (!param.isTensor) {
      Result<Scalar> scalar = parseScalar(given[p]->text);
      if (!scalar)
        return scalar.takeError();
      if (Status stored = storeScalar(*scalar, *parseDType(param.type), &input.bits); !stored)
        return Error{code(param.name) + ": " + stored.error().message, stored.error().hint};
    }
  }
  Result<Outcome> outcome = launchInstance(*instance, inputs, dims);
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

Result<ArtifactFunction::Outcome>
ArtifactFunction::State::launchKernel(uint32_t kernel, std::span<const GraphInput> inputs,
                                      const DimValues &given) const {
  const Signature &signature = artifact->data.kernels[kernel].signature;
  size_t count = signature.params.size(), position = 0;
  std::vector<std::span<const int64_t>> shapes(count);
  std::vector<uint64_t> scalars(count);
  std::vector<const Tensor *> tensors(count);
  for (size_t p = 0; p < count; ++p) {
    if (!isInput(signature.params[p]))
      continue;
    const GraphInput &input = inputs[position++];
    scalars[p] = input.bits;
    tensors[p] = input.tensor.get();
    if (tensors[p])
      shapes[p] = tensors[p]->shape();
  }
  Result<LaunchBinding> binding = bindLaunch(signature, shapes, given);
  if (!binding)
    return binding.takeError();
  if (Status holds = checkRequires(signature, binding->dims, scalars); !holds)
    return holds.takeError();
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
        return Error{"output " + code(param.name) + " of " + code(signature.name) + ": " +
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
  auto add = [&](const std::string &place) {
    if (!place.empty())
      notes.push_back(place + ": called here");
  };
  add(plan.calls[call].place);
  for (uint32_t frame = plan.calls[call].frame; frame != 0; frame = plan.frames[frame].caller)
    add(plan.frames[frame].place);
  return notes;
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
  GraphOutcome ran = runGraph(plan, artifact->signatures, inputs, dims, launch, options);
  if (!ran.failure)
    return Outcome{std::move(ran.results), ran.memory};
  Error error = std::move(ran.failure->error);
  if (ran.failure->call && asserts[*ran.failure->call]) {
    error.notes = callersOf(plan, *ran.failure->call);
    return error;
  }
  const std::string *place = ran.failure->call    ? &plan.calls[*ran.failure->call].place
                             : ran.failure->frame ? &plan.frames[*ran.failure->frame].place
                                                  : nullptr;
  if (place && !place->empty())
    error.message = *place + ": " + error.message;
  return error;
}

} // namespace tile::runtime
