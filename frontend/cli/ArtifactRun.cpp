//===- ArtifactRun.cpp - tilec run on artifacts ---------------------------===//

#include "frontend/base/CrashReport.h"
#include "frontend/cli/DiagnosticJson.h"
#include "frontend/cli/Inputs.h"
#include "frontend/cli/OutputTargets.h"
#include "frontend/cli/RunOptions.h"
#include "frontend/cli/RunReport.h"
#include "runtime/base/FileIO.h"
#include "runtime/cuda/Spaces.h"
#include "runtime/launch/Binding.h"
#include "runtime/launch/GraphRun.h"
#include "runtime/load/Artifact.h"
#include "runtime/load/Encoding.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;
using runtime::ParamMode;
using runtime::ParamRule;

bool tile::frontend::cli::namesArtifact(const std::string &file) {
  auto [path, name] = splitEntry(file);
  auto opened = path == "-" ? runtime::Result<runtime::InputFile>(runtime::Error{})
                            : runtime::InputFile::open(path);
  std::array<std::byte, 8> begin;
  return opened && opened->size() >= begin.size() && opened->readAt(0, begin) &&
         runtime::isArtifact(begin);
}

namespace {
bool isInput(const ParamRule &param) {
  return param.mode == ParamMode::In || param.mode == ParamMode::InOut;
}

class ArtifactRun {
public:
  explicit ArtifactRun(const RunOptions &options) : options(options), session(options.source) {}

  int run() {
    Outcome<Done> done = execute();
    if (!done)
      return failCall(session, done.takeFailure(), options.json);
    if (options.json)
      printJson(report, session.diags);
    else
      printText(report, llvm::outs());
    return session.finish();
  }

private:
  Outcome<Done> execute();
  Outcome<Done> checkOptions() const;
  Outcome<Done> open();
  Outcome<Done> readTensors();
  Outcome<Done> choose();
  Outcome<Done> readScalars();
  Outcome<Done> saveInputs() const;
  Outcome<Done> launch();
  Outcome<Done> openGpu();
  Outcome<Done> checkFit() const;
  runtime::Result<runtime::ArtifactFunction::Outcome> launchOnce() const;
  const runtime::Signature &signature() const { return *instances[instance].signature; }
  std::string listInputs() const;

  const RunOptions &options;
  Session session;
  std::optional<runtime::ArtifactFunction> function;
  std::vector<runtime::ArtifactInstance> instances;
  size_t instance = 0;
  /// By name of the input.
  std::map<std::string, runtime::TensorSpec> specs;
  std::map<std::string, std::shared_ptr<const runtime::Tensor>> tensors;
  std::vector<std::string> files;
  std::vector<runtime::GraphInput> arguments;
  runtime::DimValues dims;
  DeviceChoice device;
  std::optional<runtime::cuda::Gpu> gpu;
  OutputTargets targets;
  RunReport report;
};
} // namespace

/// What only the compiler can do.
Outcome<Done> ArtifactRun::checkOptions() const {
  auto refuse = [&](bool isGiven, const std::string &flag) -> std::string {
    return isGiven ? flag : "";
  };
  for (const std::string &flag :
       {refuse(device.device == Device::Interp, "--device=interp"),
        refuse(options.check, "--check"), refuse(!options.against.empty(), "--against"),
        refuse(options.sanitize, "--sanitize"), refuse(options.sweep, "--sweep-tiles"),
        refuse(!options.schedule.sizes.empty(), "--set"),
        refuse(!options.schedule.file.empty(), "--schedule"), refuse(!options.pin.empty(), "--pin"),
        refuse(!options.pipeline.printAfter.empty(), "--print-after")})
    if (!flag.empty())
      return Failure::usage({"'" + options.file + "' is compiled: " + flag + " needs the source",
                             "run the .tile file instead"});
  return Done{};
}

Outcome<Done> ArtifactRun::open() {
  auto chosen = chosenEntry(options.file, options.entry);
  if (!chosen)
    return chosen.takeFailure();
  auto &[path, name] = *chosen;
  auto artifact = runtime::Artifact::load(path);
  if (!artifact)
    return Failure::environment(artifact.takeError());
  std::vector<std::string> names = artifact->names(), graphs;
  for (const runtime::EntryData &entry : artifact->data().entries)
    if (entry.isGraph && !llvm::is_contained(graphs, entry.name))
      graphs.push_back(entry.name);
  if (name.empty() && names.size() == 1)
    name = names.front();
  if (name.empty() && graphs.size() == 1)
    name = graphs.front();
  if (name.empty())
    return Failure::usage({"'" + path + "' has several kernels and graphs: which one?",
                           "it has " + llvm::join(names, ", ") + "; say " + path + ":" +
                               (names.empty() ? "NAME" : names.front())});
  auto found = artifact->function(name);
  if (!found)
    return Failure::usage(found.takeError());
  function = *std::move(found);
  instances = function->instances();
  return Done{};
}

std::string ArtifactRun::listInputs() const {
  std::string text;
  for (const ParamRule &param : signature().params)
    if (isInput(param))
      text += (text.empty() ? "" : ", ") + runtime::declarationOf(param);
  return "`" + function->name() + "` takes " + (text.empty() ? "nothing" : text);
}

/// Parses all inputs, and reads or makes those that are tensors.
Outcome<Done> ArtifactRun::readTensors() {
  for (const std::string &text : options.inputs) {
    auto [name, specText] = llvm::StringRef(text).split('=');
    if (specText.empty())
      return Failure::usage({"'" + text + "' is not NAME=SPEC, such as x=randn:128x64:f32", ""});
    auto isMeant = [&](const ParamRule &param) { return isInput(param) && param.name == name; };
    auto param = llvm::find_if(signature().params, isMeant);
    if (param == signature().params.end())
      return Failure::usage(
          {"`" + function->name() + "` has no input '" + name.str() + "'", listInputs()});
    auto spec = runtime::parseTensorSpec(specText.str());
    if (!spec)
      return Failure::usage(
          {"input '" + name.str() + "': " + spec.error().message, spec.error().hint});
    if (!specs.try_emplace(name.str(), *spec).second)
      return Failure::usage({"input '" + name.str() + "' is given twice", ""});
    if (const auto *file = std::get_if<runtime::FileSpec>(&*spec))
      files.push_back(file->path);
    bool isNumber = std::holds_alternative<runtime::Scalar>(*spec);
    if (isNumber && param->isTensor)
      return Failure::usage({"input '" + name.str() + "' is a tensor, `" +
                                 runtime::declarationOf(*param) + "`, not a number",
                             "full:VALUE:SHAPE:TYPE gives a tensor of equal numbers"});
    if (isNumber)
      continue;
    if (runtime::Status named = runtime::checkName(*spec); !named)
      return Failure::usage(
          {"input '" + name.str() + "': " + named.error().message, named.error().hint});
    auto tensor = runtime::makeTensor(*spec, name.str());
    if (!tensor)
      return Failure::environment(
          {"input '" + name.str() + "': " + tensor.error().message, tensor.error().hint});
    tensors[name.str()] = std::make_shared<runtime::Tensor>(*std::move(tensor));
  }
  return Done{};
}

/// The instance for the types of the tensors, and those that --bind names.
Outcome<Done> ArtifactRun::choose() {
  std::string known;
  for (auto [n, candidate] : llvm::enumerate(instances)) {
    bool fits = true;
    std::string types;
    for (const auto &[generic, type] : candidate.types) {
      types += (types.empty() ? "" : " ") + generic + "=" + type;
      for (const std::string &bound : options.types)
        fits &= !llvm::StringRef(bound).starts_with(generic + "=") || bound == generic + "=" + type;
    }
    for (const std::string &bound : options.types)
      fits &= llvm::any_of(candidate.types, [&](const auto &entry) {
        return llvm::StringRef(bound).starts_with(entry.first + "=");
      });
    for (const ParamRule &param : candidate.signature->params)
      if (auto tensor = tensors.find(param.name); isInput(param) && tensor != tensors.end())
        fits &= !param.isTensor || runtime::nameOf(tensor->second->dtype()) == param.type;
    bool isOnlyOne = instances.size() == 1 && options.types.empty();
    if (fits || isOnlyOne) { // of the only one, the launch says what is wrong
      instance = n;
      for (const auto &[generic, type] : candidate.types)
        report.types.emplace_back(generic, type);
      return Done{};
    }
    known += (known.empty() ? "" : ", ") + (types.empty() ? "no types to bind" : types);
  }
  return Failure::usage({"`" + function->name() + "` was not compiled for these types",
                         "the artifact has it for " + known});
}

Outcome<Done> ArtifactRun::readScalars() {
  std::string missing;
  for (const ParamRule &param : signature().params) {
    if (!isInput(param))
      continue;
    runtime::GraphInput &argument = arguments.emplace_back();
    auto spec = specs.find(param.name);
    if (spec == specs.end()) {
      if (!param.defaultBits)
        missing += (missing.empty() ? "" : ", ") + runtime::declarationOf(param);
      argument.bits = param.defaultBits.value_or(0);
      continue;
    }
    auto &tensor = tensors[param.name];
    if (!tensor) {
      auto made = runtime::makeTensor(spec->second, param.name, *runtime::parseDType(param.type));
      if (!made)
        return Failure::usage(
            {"input '" + param.name + "': " + made.error().message, made.error().hint});
      tensor = std::make_shared<runtime::Tensor>(*std::move(made));
    }
    if (param.isTensor) {
      argument.tensor = tensor;
      continue;
    }
    if (tensor->rank() != 0 || runtime::nameOf(tensor->dtype()) != param.type)
      return Failure::usage({"input '" + param.name + "' is a scalar, `" +
                                 runtime::declarationOf(param) + "`, not " + tensor->describe(),
                             ""});
    std::memcpy(&argument.bits, tensor->data(), tensor->byteSize());
  }
  if (missing.empty())
    return Done{};
  return Failure::usage({"`" + function->name() + "` needs " + missing,
                         "a SPEC is such as --in x=randn:128x64:f32, x.npy or 0.5"});
}

Outcome<Done> ArtifactRun::saveInputs() const {
  if (options.saveInputs.empty())
    return Done{};
  std::vector<runtime::Output> list;
  for (const auto &[name, tensor] : tensors)
    list.push_back({{options.saveInputs, name}, tensor.get()});
  if (auto written = runtime::writeOutputs(list); !written)
    return Failure::environment(written.takeError());
  return Done{};
}

Outcome<Done> ArtifactRun::openGpu() {
  if (device.device != Device::Cuda)
    return Done{};
  auto opened = runtime::cuda::Gpu::open(device.index);
  if (!opened)
    return Failure::environment(opened.takeError());
  gpu.emplace(*std::move(opened));
  return Done{};
}

/// On a GPU the inputs go there first, and the outputs come back.
runtime::Result<runtime::ArtifactFunction::Outcome> ArtifactRun::launchOnce() const {
  if (!gpu) {
    CrashReport::Promise promise(
        "error: the artifact's code reads or stores where there is no memory: whoever made it "
        "answers for that\nhint: `tilec run --sanitize` on its source says which element\n");
    return function->launchInstance(instance, arguments, dims);
  }
  std::vector<runtime::cuda::DeviceTensor> held;
  std::vector<runtime::PlacedTensor> places(arguments.size());
  std::vector<runtime::GraphInput> inputs = arguments;
  for (auto [input, place] : llvm::zip_equal(inputs, places)) {
    if (!input.tensor)
      continue;
    auto tensor = gpu->upload(*input.tensor);
    if (!tensor)
      return tensor.takeError();
    place = {tensor->dtype(), tensor->shape(), runtime::cuda::pointerTo(tensor->address())};
    held.push_back(*std::move(tensor));
    input = {nullptr, 0, &place};
  }
  auto ran = function->launchInstance(*gpu, instance, inputs, dims);
  if (!ran)
    return ran.takeError();
  runtime::ArtifactFunction::Outcome outcome{{}, ran->memory};
  for (const runtime::cuda::DeviceTensor &output : ran->outputs) {
    auto tensor = gpu->download(output);
    if (!tensor)
      return tensor.takeError();
    outcome.outputs.push_back(std::make_shared<runtime::Tensor>(*std::move(tensor)));
  }
  if (auto done = gpu->synchronize(); !done)
    return done.takeError();
  return outcome;
}

/// Whether the inputs fit, which is the caller's affair. What fails after that is the program's.
Outcome<Done> ArtifactRun::checkFit() const {
  if (auto fits = runtime::checkInputs(signature(), arguments); !fits)
    return Failure::usage(fits.takeError());
  std::vector<std::span<const int64_t>> shapes;
  std::vector<uint64_t> scalars;
  for (size_t next = 0; const ParamRule &param : signature().params) {
    const runtime::GraphInput *input = isInput(param) ? &arguments[next++] : nullptr;
    shapes.emplace_back();
    if (input && input->tensor)
      shapes.back() = input->tensor->shape();
    scalars.push_back(input ? input->bits : 0);
  }
  auto binding = runtime::bindLaunch(signature(), shapes, dims);
  if (!binding)
    return Failure::usage(binding.takeError());
  if (auto holds = runtime::checkRequires(signature(), binding->dims, scalars); !holds)
    return Failure::usage(holds.takeError());
  return Done{};
}

Outcome<Done> ArtifactRun::launch() {
  for (unsigned n = 0; n < options.repeat; ++n) {
    auto start = std::chrono::steady_clock::now();
    auto outcome = launchOnce();
    report.seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (!outcome) {
      Failure failure = Failure::invalid({outcome.error().message, outcome.error().hint});
      failure.notes = outcome.takeError().notes;
      return failure;
    }
    report.outputs = std::move(outcome->outputs);
    if (instances[instance].isGraph)
      report.memory = outcome->memory;
  }
  return Done{};
}

Outcome<Done> ArtifactRun::execute() {
  if (auto done = checkThreads(); !done)
    return done;
  auto choice = parseDevice(options.device);
  if (!choice)
    return choice.takeFailure();
  report.device = (device = *choice).device;
  if (auto done = checkOptions(); !done)
    return done;
  auto given = parseDims(options.dims);
  if (!given)
    return given.takeFailure();
  for (const auto &entry : *given)
    dims[entry.getKey().str()] = entry.getValue();
  if (auto done = open(); !done)
    return done;
  report.entry = function->name();
  for (const ParamRule &param : signature().params)
    if (param.mode != ParamMode::In)
      report.names.push_back(param.name);
  if (auto done = targets.parse(options.outputs, function->name(), report.names); !done)
    return done;
  for (auto step : {&ArtifactRun::readTensors, &ArtifactRun::choose, &ArtifactRun::readScalars})
    if (auto done = (this->*step)(); !done)
      return done;
  if (auto done = targets.check(options.saveInputs, files); !done)
    return done;
  if (auto done = saveInputs(); !done)
    return done;
  if (auto done = checkFit(); !done)
    return done;
  if (auto done = openGpu(); !done)
    return done;
  if (auto done = launch(); !done)
    return done;
  return targets.write(report.names, report.outputs);
}

int tile::frontend::cli::runArtifact(const RunOptions &options) {
  return ArtifactRun(options).run();
}
