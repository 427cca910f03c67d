//===- RunCommand.cpp - tilec run -----------------------------------------===//

#include "codegen/gpu/GpuCompiler.h"
#include "frontend/base/CrashReport.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DiagnosticJson.h"
#include "frontend/cli/Inputs.h"
#include "frontend/cli/IrSource.h"
#include "frontend/cli/OutputTargets.h"
#include "frontend/cli/RunOptions.h"
#include "frontend/cli/RunReport.h"
#include "frontend/fusion/FusionPlan.h"
#include "frontend/fusion/FusionVeto.h"
#include "frontend/tune/TileSweep.h"

#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

namespace {
class Run {
public:
  explicit Run(const RunOptions &options) : options(options), session(options.source) {}

  /// The exit code.
  int run() {
    Outcome<std::monostate> done = execute();
    if (!done)
      return failCall(session, done.takeFailure(), options.json);
    if (options.json)
      printJson(report, session.diags);
    else
      printText(report, llvm::outs());
    int code = session.finish();
    return report.ok() ? code : invalid;
  }

private:
  Outcome<std::monostate> execute();
  Outcome<std::monostate> prepare();
  Outcome<std::monostate> loadEntry();
  Outcome<std::monostate> loadReference();
  Outcome<std::monostate> checkGpuLevel();
  Outcome<std::monostate> parseOutputs();
  Outcome<std::monostate> saveInputs();
  Outcome<std::monostate> fuse(Executor &executor);
  Outcome<std::monostate> checkPin(bool isGraph, FuseMode mode) const;
  Outcome<Outputs> launch(Executor &executor, const std::string &function);
  Outcome<std::monostate> checkAsWritten(Executor &executor);
  Outcome<std::monostate> repeat(Executor &executor);
  Outcome<std::monostate> check();
  Outcome<std::monostate> sweep(Executor &executor);
  Outcome<std::monostate> consultOracle();
  Agreement agreement(const Outputs &actual, const Outputs &expected) const;
  Agreement agreement(const Outputs &actual) const;

  const RunOptions &options;
  Session session;
  dsl::DeclRef decl;
  /// As the source has it, what runs in its place, and what the results are compared with.
  std::string symbol, running, reference;
  Inputs inputs;
  Interface interface;
  Device device = Device::Cpu;
  int deviceIndex = 0;
  TileSizes sizes;
  llvm::StringMap<int64_t> dims;
  OutputTargets targets;
  RunReport report;
  /// What a call asks for in the place of the bounds that the oracle gives.
  std::optional<Tolerance> tolerance;
  std::unique_ptr<Executor> oracle;
  Outputs expected;
};

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
} // namespace

//===-- Before the launch -------------------------------------------------===//

Outcome<std::monostate> Run::prepare() {
  auto choice = parseDevice(options.device);
  if (!choice)
    return choice.takeFailure();
  device = choice->device;
  deviceIndex = choice->index;
  if (options.sanitize && device == Device::Interp)
    return Failure::usage({"--sanitize watches compiled code, and the interpreter has none",
                           "it notices what is wrong by itself: leave out --sanitize, or "
                           "--device=interp"});
  for (llvm::StringRef pass : options.pipeline.printAfter)
    if (isOfGpus(pass) && device != Device::Cuda)
      return Failure::usage({"--print-after=" + pass.str() + " says nothing about this device",
                             "it is a pass of GPUs: --device=cuda, or tilec compile --emit=gpu"});
  if (auto done = session.configure(options.pipeline); !done)
    return done;
  if (device != Device::Interp && !options.noCache)
    session.useCache();
  auto parsedDims = parseDims(options.dims);
  if (!parsedDims)
    return parsedDims.takeFailure();
  dims = *std::move(parsedDims);
  auto given = options.schedule.read();
  if (!given)
    return given.takeFailure();
  sizes = *std::move(given);
  if (auto done = loadEntry(); !done)
    return done;
  if (auto done = parseOutputs(); !done)
    return done;
  auto read = readInputs(session, decl, options.inputs, options.types);
  if (!read)
    return read.takeFailure();
  inputs = *std::move(read);
  if (auto done = targets.check(options.saveInputs, inputs.files); !done)
    return done;
  if (symbol.empty()) {
    auto elaborated = session.elaborate(decl, inputs.types);
    if (!elaborated)
      return elaborated.takeFailure();
    symbol = *elaborated;
  }
  interface = interfaceOf(session.module().lookupSymbol(symbol));
  running = reference = symbol;
  if (auto done = checkGpuLevel(); !done)
    return done;
  if (auto done = loadReference(); !done)
    return done;
  return sizes.check(kernelsOf(session.module(), symbol));
}

static Outcome<dsl::DeclRef> entryOf(Session &session, const std::string &path,
                                     const std::string &name) {
  auto file = session.load(path);
  return file ? session.entry(**file, name) : file.takeFailure();
}

/// Finds what runs: its declaration, and of IR the symbol.
Outcome<std::monostate> Run::loadEntry() {
  auto chosen = chosenEntry(options.file, options.entry);
  if (!chosen)
    return chosen.takeFailure();
  const auto &[path, name] = *chosen;
  if (namesIr(path)) {
    auto kernel = loadIrKernel(session, path, name);
    if (!kernel)
      return kernel.takeFailure();
    decl = kernel->decl;
    symbol = kernel->symbol;
    if (options.sweep)
      return Failure::usage(
          {"'" + path + "' is IR, which has its tile sizes", "--sweep-tiles is for sources"});
    return Done{};
  }
  auto entry = entryOf(session, path, name);
  if (!entry)
    return entry.takeFailure();
  decl = *entry;
  return Done{};
}

/// A kernel whose schedule is in its text runs as it stands, on a GPU.
Outcome<std::monostate> Run::checkGpuLevel() {
  auto kernel = llvm::dyn_cast<ir::KernelOp>(session.module().lookupSymbol(symbol));
  if (!kernel || !codegen::isOnGpuLevel(kernel))
    return Done{};
  std::string what = "`" + decl.decl->name.text + "` is on the tile_gpu level";
  if (device != Device::Cuda)
    return Failure::usage({what + ", which only GPUs run", "add --device=cuda"});
  if (options.schedule.isGiven() || options.sweep)
    return Failure::usage(
        {what + ": its text has the tile sizes", "leave out --set, --schedule and --sweep-tiles"});
  if (options.check && options.against.empty())
    return Failure::usage({what + ", which the interpreter doesn't run",
                           "say what it computes: --against FILE.tile:KERNEL"});
  return Done{};
}

/// What computes the same in other words takes and gives the same.
Outcome<std::monostate> Run::loadReference() {
  if (options.against.empty())
    return Done{};
  if (!options.check)
    return Failure::usage({"nothing is compared with --against", "add --check"});
  auto [path, name] = splitEntry(options.against);
  if (namesIr(path))
    return Failure::usage(
        {"'" + path + "' of --against is IR", "it takes a source: FILE.tile:KERNEL"});
  auto entry = entryOf(session, path, name);
  if (!entry)
    return entry.takeFailure();
  auto read = readInputs(session, *entry, options.inputs, options.types, ReadInputs::OnlyShapes);
  if (!read)
    return read.takeFailure();
  auto elaborated = session.elaborate(*entry, read->types);
  if (!elaborated)
    return elaborated.takeFailure();
  reference = *elaborated;
  Interface other = interfaceOf(session.module().lookupSymbol(reference));
  auto differs = [](const Port &left, const Port &right) {
    return left.name != right.name || left.type != right.type || left.isTensor != right.isTensor;
  };
  auto listed = [](const std::vector<Port> &ports) {
    return llvm::join(llvm::map_range(ports, [](const Port &port) { return port.str(); }), ", ");
  };
  for (auto [ours, theirs] :
       {std::pair(&interface.inputs, &other.inputs), std::pair(&interface.outputs, &other.outputs)})
    if (ours->size() != theirs->size() || llvm::any_of(llvm::zip(*ours, *theirs), [&](auto pair) {
          return differs(std::get<0>(pair), std::get<1>(pair));
        }))
      return Failure::usage({"`" + interface.name + "` has " + listed(*ours) + ", and `" +
                                 other.name + "` of --against has " + listed(*theirs),
                             "both need the same names and types, in the same order"});
  return Done{};
}

/// A plan is the whole of what is chosen for the kernels of a graph.
Outcome<std::monostate> Run::checkPin(bool isGraph, FuseMode mode) const {
  if (!isGraph)
    return Failure::usage({"--pin is for graphs: `" + decl.decl->name.text + "` is a kernel", ""});
  if (mode == FuseMode::Fast)
    return Failure::usage({"a plan promises the bits of its calls one by one, and --fuse=fast "
                           "rounds less than they do",
                           "--pin takes --fuse=exact or off"});
  if (options.schedule.isGiven() || options.sweep)
    return Failure::usage({"the plan of --pin has the tile sizes", "leave out --set, --schedule "
                                                                   "and --sweep-tiles"});
  return Done{};
}

Outcome<std::monostate> Run::fuse(Executor &executor) {
  auto mode = parseFuseMode(options.fuse);
  if (!mode)
    return mode.takeFailure();
  auto graph = llvm::dyn_cast<ir::GraphOp>(session.module().lookupSymbol(symbol));
  bool isPinned = !options.pin.empty();
  if (isPinned)
    if (auto done = checkPin(static_cast<bool>(graph), *mode); !done)
      return done;
  if (!graph || (*mode == FuseMode::Off && !isPinned))
    return Done{};
  if (auto done = checkAsWritten(executor); !done)
    return done;
  CrashReport::Scope scope("fusing " + symbol);
  StageTimer timer(session.compiler.times, "fuse");
  llvm::StringMap<int64_t> known = dimsOfInputs(graph, inputs.shapes);
  for (const auto &entry : dims)
    known[entry.getKey()] = entry.getValue();
  if (isPinned) {
    auto plan = readPlan(options.pin);
    if (!plan)
      return plan.takeFailure();
    if (device != Device::Interp && plan->isForGpu != (device == Device::Cuda))
      return Failure::usage(
          {"'" + options.pin + "' is a plan for " + (plan->isForGpu ? "a GPU" : "a processor"),
           ("make one with tilec fuse … --device=" + nameOf(device) + " --explain=plan").str()});
    auto pinned = pinGraph(session.module(), symbol, *plan, *mode, known);
    if (!pinned) {
      Failure failure = pinned.takeFailure();
      if (!failure.message.empty())
        failure.message = options.pin + ": " + failure.message;
      return failure;
    }
    running = *pinned;
    return Done{};
  }
  const DeviceDescription &description = descriptionOf({device, deviceIndex});
  running = fuseGraphByCode(session.module(), symbol, *mode, description, known, sizes,
                            session.compiler.cache.get(), codeOn(executor))
                .symbol;
  return Done{};
}

Outcome<std::monostate> Run::parseOutputs() {
  std::vector<std::string> known;
  for (const dsl::Param &param : decl.decl->params)
    if (param.isInout)
      known.push_back(param.name.text);
  for (const dsl::Param &param : decl.decl->outputs)
    known.push_back(param.name.text);
  return targets.parse(options.outputs, decl.decl->name.text, known);
}

Outcome<std::monostate> Run::saveInputs() {
  if (options.saveInputs.empty())
    return Done{};
  std::vector<runtime::Output> list;
  for (auto [param, tensor] : llvm::zip_equal(decl.decl->params, inputs.tensors))
    if (tensor)
      list.push_back({{options.saveInputs, param.name.text}, tensor.get()});
  if (auto written = runtime::writeOutputs(list); !written)
    return Failure::environment(written.takeError());
  return Done{};
}

//===-- Launches ----------------------------------------------------------===//

Outcome<Outputs> Run::launch(Executor &executor, const std::string &function) {
  Outcome<Arguments> arguments = inputs.arguments(interface);
  if (!arguments)
    return arguments.takeFailure();
  CrashReport::Scope scope("running " + symbol + " on " + nameOf(device).str());
  return executor.run(function, *std::move(arguments), dims);
}

/// What is wrong with the inputs of a graph that is to be fused is told of its kernels as they are
/// written.
Outcome<std::monostate> Run::checkAsWritten(Executor &executor) {
  auto bindable = inputs.bindable(interface);
  if (!bindable)
    return bindable.takeFailure();
  return executor.eachLaunch(
      symbol, *bindable, dims,
      [](ir::KernelOp, const runtime::KernelLaunch &) -> Outcome<Done> { return Done{}; });
}

Outcome<std::monostate> Run::repeat(Executor &executor) {
  for (unsigned n = 0; n < options.repeat; ++n) {
    double compiledBefore = executor.compileSeconds;
    auto start = std::chrono::steady_clock::now();
    Outcome<Outputs> outputs = launch(executor, running);
    if (!outputs)
      return outputs.takeFailure();
    report.seconds.push_back(secondsSince(start) - (executor.compileSeconds - compiledBefore));
    report.outputs = *std::move(outputs);
    executor.isQuiet = true; // what it prints was seen once
  }
  report.compileSeconds = executor.compileSeconds;
  report.memory = executor.graphMemory;
  session.compiler.times["run"] += llvm::sum_of(report.seconds);
  return Done{};
}

/// By the tolerance that a call asks for.
Agreement Run::agreement(const Outputs &actual, const Outputs &expected) const {
  Agreement result;
  result.tolerance = tolerance;
  for (auto [name, left, right] : llvm::zip_equal(report.names, actual, expected)) {
    Comparison comparison = compare(*left, *right, *tolerance);
    std::string text = comparison.ok() ? "" : describe(comparison, *left, *right);
    result.entries.push_back({name, std::move(comparison), std::move(text)});
  }
  return result;
}

/// With the oracle, by what it allows each element.
Agreement Run::agreement(const Outputs &actual) const {
  if (tolerance)
    return agreement(actual, expected);
  Agreement result;
  bool isOfF8 = llvm::any_of(interface.inputs, [](const Port &port) {
    return port.type == runtime::DType::F8E4M3 || port.type == runtime::DType::F8E5M2;
  });
  for (auto [name, left, right] : llvm::zip_equal(report.names, actual, expected)) {
    llvm::ArrayRef<float> bounds = oracle->errorsIn(*right);
    Tolerance least = device == Device::Cuda ? toleranceOnGpu(*right, isOfF8) : Tolerance();
    Comparison comparison = compare(*left, *right, std::span(bounds.data(), bounds.size()), least);
    std::string text = comparison.ok() ? "" : describe(comparison, *left, *right);
    result.entries.push_back({name, std::move(comparison), std::move(text)});
  }
  return result;
}

Outcome<std::monostate> Run::consultOracle() {
  if (oracle)
    return Done{};
  oracle = std::make_unique<Executor>(session.compiler, session.module(), Device::Interp);
  oracle->sizes = sizes;
  oracle->isQuiet = true;
  oracle->reverseOrder = device == Device::Interp;
  if (!tolerance)
    oracle->tracksErrorsOf = device;
  // As it stands, the graph rounds more: how far that is from here has no bound.
  bool isFast = options.fuse == nameOf(FuseMode::Fast) && running != symbol;
  report.checkedWith =
      device == Device::Interp ? "the programs run in reverse order" : "the interpreter";
  if (isFast)
    report.checkedWith += ", fused";
  if (reference != symbol)
    report.checkedWith += ", of " + options.against;
  Outcome<Outputs> outputs = launch(*oracle, isFast ? running : reference);
  if (!outputs)
    return outputs.takeFailure();
  expected = *std::move(outputs);
  return Done{};
}

Outcome<std::monostate> Run::check() {
  if (auto done = consultOracle(); !done)
    return done;
  report.check = agreement(report.outputs);
  return Done{};
}

Outcome<std::monostate> Run::sweep(Executor &executor) {
  report.sweep.emplace();
  std::vector<TileSizes> choices =
      tileSweep(kernelsOf(session.module(), running), inputs.largestExtent(), options.sweep);
  if (choices.empty())
    return Done{};
  // How far choices may be from each other only the oracle knows.
  if (!tolerance)
    if (auto done = consultOracle(); !done)
      return done;
  report.sweptWith = tolerance ? "the default" : report.checkedWith;
  for (TileSizes &choice : choices) {
    std::string text = describe(choice);
    CrashReport::Scope scope("running with the tile sizes " + text);
    executor.sizes = std::move(choice);
    Outcome<Outputs> outputs = launch(executor, running);
    if (!outputs)
      return outputs.takeFailure();
    report.sweep->push_back(
        {text, tolerance ? agreement(*outputs, report.outputs) : agreement(*outputs)});
  }
  return Done{};
}

Outcome<std::monostate> Run::execute() {
  if (auto done = checkThreads(); !done)
    return done;
  bool hasTolerance = options.rtol || options.atol;
  if (hasTolerance && !options.check && !options.sweep)
    return Failure::usage({"nothing is compared with the tolerance of --rtol and --atol",
                           "--check compares with the interpreter, --sweep-tiles tile sizes"});
  if (auto done = prepare(); !done)
    return done;
  if (auto done = saveInputs(); !done)
    return done;
  if (hasTolerance)
    tolerance = Tolerance{options.rtol.value_or(0), options.atol.value_or(0)};
  report.entry = decl.decl->name.text;
  report.device = device;
  for (const auto &[name, type] : inputs.types)
    report.types.emplace_back(name, ir::nameOf(type).str());
  for (const Port &port : interface.outputs)
    report.names.push_back(port.name);
  Executor executor(session.compiler, session.module(), device);
  executor.poisons = options.check || options.sweep;
  executor.sanitizes = options.sanitize;
  executor.deviceIndex = deviceIndex;
  executor.sizes = sizes;
  if (auto done = fuse(executor); !done)
    return done;
  if (auto done = repeat(executor); !done)
    return done;
  if (auto done = targets.write(report.names, report.outputs); !done)
    return done;
  if (options.check)
    if (auto done = check(); !done)
      return done;
  if (options.sweep)
    return sweep(executor);
  return Done{};
}

//===-- The command line --------------------------------------------------===//

/// What is wrong with a tolerance; empty if nothing is.
static std::string checkTolerance(const std::string &text) {
  double value;
  bool isNumber = CLI::detail::lexical_cast(text, value);
  return isNumber && std::isfinite(value) && value >= 0
             ? ""
             : "'" + text + "' is no tolerance: a finite number, 0 or more";
}

static void addOptions(CLI::App &command, RunOptions &options) {
  command
      .add_option("FILE[:NAME]", options.file,
                  "A source, an artifact or IR (.mlir), and the kernel or graph to run;\n- is "
                  "standard input")
      ->required();
  addEntryOption(command, options.entry, "The kernel or graph to run");
  command
      .add_option("--device", options.device,
                  "cpu; cuda or cuda:N, an NVIDIA GPU; or interp, the reference interpreter")
      ->type_name("DEVICE")
      ->capture_default_str();
  addRepeated(command, "--in", options.inputs, "An input: see below for SPEC")
      ->type_name("NAME=SPEC");
  addRepeated(command, "--out", options.outputs, "Write an output: .npy or .safetensors[:KEY]")
      ->type_name("NAME=FILE");
  addRepeated(command, "--dim", options.dims, "A constant, or a dimension that no input has")
      ->type_name("NAME=VALUE");
  addRepeated(command, "--bind", options.types, "A type parameter; inputs bind the others")
      ->type_name("NAME=TYPE");
  addScheduleOptions(command, options.schedule);
  addFuseOption(command, options.fuse, "Of a graph")->check(oneOf({"exact", "fast", "off"}));
  command
      .add_option("--pin", options.pin,
                  "A plan (tilec fuse --explain=plan): what becomes one, or with --fuse=off each\n"
                  "call alone, with its tile sizes and orders of sums; both give the same bits")
      ->type_name("PLAN");
  command.add_flag("--check", options.check, "Compare with the reference interpreter");
  command
      .add_option(
          "--against", options.against,
          "What --check interprets instead: a kernel or graph with the same inputs and outputs")
      ->type_name("FILE[:NAME]");
  command.add_flag("--sanitize", options.sanitize,
                   "Watch each access: bounds, elements nobody wrote, races; slow");
  command
      .add_option("--sweep-tiles", options.sweep,
                  "Compare COUNT choices of odd, prime, huge and usual tile sizes (24)")
      ->type_name("COUNT")
      ->expected(0, 1)
      ->check(wholeNumber(1, 1000))
      ->default_str("24");
  command.add_option("--rtol", options.rtol, "Relative tolerance of --check and --sweep-tiles")
      ->type_name("NUMBER")
      ->check(CLI::Validator(checkTolerance, ""));
  command.add_option("--atol", options.atol, "Absolute tolerance")
      ->type_name("NUMBER")
      ->check(CLI::Validator(checkTolerance, ""));
  command.add_option("--repeat", options.repeat, "Run so many times; shows median and best time")
      ->type_name("NUMBER")
      ->check(wholeNumber(1, 1000000))
      ->capture_default_str();
  command.add_option("--save-inputs", options.saveInputs, "Keep the inputs that were used")
      ->type_name("FILE.safetensors");
  addJsonOption(command, options.json, "The report");
  addCacheOption(command, options.noCache);
  addPipelineOptions(command, options.pipeline);
  addSourceOptions(command, options.source);
}

Command tile::frontend::cli::addRunCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("run", "Compile a kernel or graph and run it");
  auto options = std::make_shared<RunOptions>();
  addOptions(*command, *options);
  command->footer(
      "SPEC is one of\n"
      "  FILE.npy, FILE.safetensors:KEY\n"
      "  0.5, 42, true, -inf                  a scalar\n"
      "  randn:SHAPE:TYPE[:SEED]              normal random numbers; a SHAPE is 128x64\n"
      "  uniform:SHAPE:TYPE[:SEED[:LO:HI]]    random numbers, LO <= v < HI\n"
      "  arange:SHAPE:TYPE, zeros:…, ones:…, full:VALUE:SHAPE:TYPE\n\n"
      "--check and --sweep-tiles compare with the interpreter. What an element may be off by "
      "follows\n"
      "from the sums and functions that it comes from, carried through all that is rounded after\n"
      "them; what has neither has to be equal (docs/testing.md). --check tells where an output is\n"
      "nearest to what is allowed. --rtol or --atol take its place: |a - b| <= atol + rtol |b| "
      "for\n"
      "floats, 0 for the one that isn't given; --sweep-tiles then compares with the default sizes. "
      "A\n"
      "graph is compared as it stands, but with --fuse=fast as it is fused: as it stands it "
      "rounds\n"
      "more.\n\n"
      "--json prints one object. \"ok\" says whether all went well and all that was compared "
      "agrees,\n"
      "\"diagnostics\" has the messages (docs/commands.md); a run that fails has only these two. "
      "Of "
      "a\n"
      "graph, \"memory\" says what the tensors between its calls take.\n\n"
      "What a kernel prints goes to standard error, of several runs that of the first one. An "
      "assertion\n"
      "that fails is an error of the program: exit code 1.\n\n"
      "--sanitize tells of each access outside its tensor, each element that is read before it is\n"
      "stored or never stored, and elements where programs meet that should not: "
      "docs/testing.md.\n\n"
      "Of an artifact (tilec compile --emit=artifact) the compiled code runs, without the "
      "compiler:\n"
      "--check, --sanitize, --sweep-tiles, --set, --schedule and --device=interp need the source.\n"
      "--device=cuda takes one that was compiled for GPUs, too: --target=native,sm_90a.\n\n"
      "Of IR a kernel runs as the text has it: of the tile level, as tilec compile prints it\n"
      "without --dim, or of the tile_gpu level with its schedule, on a GPU alone (docs/gpu.md).\n\n"
      "--out may name a .npy file that an input comes from: it is read first. Nothing else that "
      "is\n"
      "written may replace what was read or written by the same run.\n\n"
      "Examples:\n"
      "  tilec run softmax.tile --in x=randn:1823x781:f32:7 --check\n"
      "  tilec run matmul.tile:layer --in x=x.npy --in w=net.safetensors:w1 --out y=y.npy\n"
      "  tilec run attention.tile --in q=randn:1x4x97x32:f16 … --set i=32 --repeat 10\n"
      "  tilec run relu_matmul.mlir --device=cuda --in … --check --against relu_matmul.tile");
  return {command, [options] {
            return namesArtifact(options->file) ? runArtifact(*options) : Run(*options).run();
          }};
}
