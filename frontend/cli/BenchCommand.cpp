//===- BenchCommand.cpp - tilec bench -------------------------------------===//

#include "codegen/Reports.h"
#include "codegen/gpu/KernelShape.h"
#include "frontend/BenchReport.h"
#include "frontend/CrashReport.h"
#include "frontend/ExecutionImpl.h"
#include "frontend/FusionVeto.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Inputs.h"
#include "frontend/cli/RunOptions.h"
#include "frontend/cli/RunReport.h"
#include "frontend/cli/SharedOptions.h"
#include "runtime/FileIO.h"
#include "runtime/ThreadPool.h"

#include "llvm/Support/raw_ostream.h"

#include <fstream>

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;
using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

namespace {
struct BenchCommandOptions {
  std::vector<std::string> files, inputs, dims, sizes, types;
  std::string device = "cpu", schedule, plot, fuse = nameOf(defaultFuseMode).str();
  BenchOptions bench;
  bool json = false;
  SourceOptions source;
};

/// One kernel or graph on its way from the command line to the contest.
struct Entry {
  explicit Entry(const SourceOptions &options) : session(options) {}

  Session session;
  dsl::DeclRef decl;
  std::string symbol;
  Inputs inputs;
  Interface interface;
  TileSizes sizes;
  llvm::StringMap<int64_t> dims;
  std::unique_ptr<Executor> executor;
  std::unique_ptr<Executor::Prepared> prepared;
  std::unique_ptr<Contestant> contestant, copy;
  BenchResult result;

  ir::KernelOp kernel() { return dyn_cast<ir::KernelOp>(session.module().lookupSymbol(symbol)); }
};

class Bench {
public:
  explicit Bench(const BenchCommandOptions &options)
      : options(options), inputs(options.inputs, options.files.size() == 1),
        types(options.types, options.files.size() == 1),
        dims(options.dims, options.files.size() == 1) {}
  int run();

private:
  Outcome<std::monostate> execute();
  Outcome<std::monostate> chooseDevice();
  Outcome<std::monostate> read(const std::string &file);
  Outcome<std::monostate> elaborate(Entry &entry);
  Outcome<std::monostate> readSizes(Entry &entry);
  Outcome<std::monostate> fuse(Entry &entry);
  Outcome<std::monostate> checkUnused();
  Outcome<std::monostate> checkSizes();
  Outcome<std::monostate> checkPlot();
  Outcome<Work> workOf(Entry &entry, ir::KernelOp kernel, const runtime::KernelLaunch &launch);
  Outcome<std::monostate> count(Entry &entry);
  Outcome<std::monostate> openExecutor(Entry &entry);
  Outcome<std::monostate> prepare(Entry &entry);
  Outcome<std::monostate> describeRoles(Entry &entry);
  Outcome<std::monostate> prepareKernel(Entry &entry, const Arguments &arguments);
  Outcome<std::monostate> prepareGraph(Entry &entry, Arguments arguments);
  Outcome<std::monostate> measure();
  Outcome<std::monostate> writePlot() const;

  const BenchCommandOptions &options;
  SharedOptions inputs, types, dims;
  DeviceChoice choice;
  std::vector<std::unique_ptr<Entry>> entries;
  /// The one that is worked on: what goes wrong is about it.
  Entry *current = nullptr;
  std::unique_ptr<BenchDevice> device;
  BenchReport report;
};
} // namespace

//===-- From files to kernels ---------------------------------------------===//

Outcome<std::monostate> Bench::checkUnused() {
  auto check = [](const SharedOptions &shared, const char *what) -> Outcome<std::monostate> {
    const std::string *text = shared.unused();
    if (!text)
      return Done{};
    std::string name = llvm::StringRef(*text).split('=').first.str();
    return Failure::usage({"no kernel here has " + std::string(what) + " '" + name + "'",
                           "NAME=… is for all that have it, KERNEL.NAME=… and 2.NAME=… for one"});
  };
  if (auto done = check(inputs, "an input"); !done)
    return done;
  if (auto done = check(types, "a type parameter"); !done)
    return done;
  return check(dims, "a dimension or constant");
}

Outcome<std::monostate> Bench::chooseDevice() {
  llvm::StringRef name = options.device;
  if (name == nameOf(Device::Interp))
    return Failure::usage({"the interpreter's speed means nothing",
                           "the devices are cpu and cuda, "
                           "and descriptions of devices: `tilec info --devices`"});
  if (name == "cpu" || name.split(':').first == "cuda") {
    auto parsed = parseDevice(name);
    if (!parsed)
      return parsed.takeFailure();
    choice = *parsed;
    return Done{};
  }
  auto description = DeviceDescription::find(options.device);
  if (!description)
    return description.takeFailure();
  report.isPrediction = true;
  report.device = description->title;
  choice.device = description->isGpu ? Device::Cuda : Device::Cpu;
  report.description = *std::move(description);
  return Done{};
}

Outcome<std::monostate> Bench::read(const std::string &file) {
  auto [path, name] = splitEntry(file);
  if (namesArtifact(file))
    return Failure::usage({"'" + path + "' is an artifact", "tilec bench compiles sources, to know "
                                                            "what their kernels do"});
  Entry &entry = *entries.emplace_back(std::make_unique<Entry>(options.source));
  current = &entry;
  auto loaded = entry.session.load(path);
  if (!loaded)
    return loaded.takeFailure();
  auto decl = entry.session.entry(**loaded, name);
  if (!decl)
    return decl.takeFailure();
  entry.decl = *decl;
  return elaborate(entry);
}

Outcome<std::monostate> Bench::elaborate(Entry &entry) {
  const std::string &name = entry.decl.decl->name.text;
  std::vector<std::string> params, generics, dimensions;
  for (const dsl::Param &param : entry.decl.decl->params)
    params.push_back(param.name.text);
  for (const dsl::Generic &generic : entry.decl.decl->generics)
    if (!generic.isConst)
      generics.push_back(generic.name.text);
  auto read = readInputs(entry.session, entry.decl, inputs.of(name, entries.size(), params),
                         types.of(name, entries.size(), generics),
                         report.isPrediction ? ReadInputs::OnlyShapes : ReadInputs::All);
  if (!read)
    return read.takeFailure();
  entry.inputs = *std::move(read);
  auto elaborated = entry.session.elaborate(entry.decl, entry.inputs.types);
  if (!elaborated)
    return elaborated.takeFailure();
  entry.symbol = *elaborated;
  mlir::Operation *function = entry.session.module().lookupSymbol(entry.symbol);
  auto names = isa<ir::KernelOp>(function) ? cast<ir::KernelOp>(function).getDims()
                                           : cast<ir::GraphOp>(function).getDims();
  for (llvm::StringRef dim : names.getAsValueRange<mlir::StringAttr>())
    dimensions.push_back(dim.str());
  auto parsed = parseDims(dims.of(name, entries.size(), dimensions));
  if (!parsed)
    return parsed.takeFailure();
  entry.dims = *std::move(parsed);
  entry.interface = interfaceOf(function);
  entry.result.name = name;
  for (auto [port, shape] : llvm::zip_equal(entry.interface.inputs, entry.inputs.shapes))
    if (shape)
      entry.result.inputs.push_back(port.name + ": " +
                                    runtime::describe(shape->type, shape->shape));
  return readSizes(entry);
}

Outcome<std::monostate> Bench::readSizes(Entry &entry) {
  if (!options.schedule.empty())
    if (auto done = entry.sizes.readFile(options.schedule); !done)
      return done;
  TileSizes given;
  for (const std::string &text : options.sizes)
    if (auto done = given.parse(text); !done)
      return done;
  entry.sizes.overrideWith(given);
  return Done{};
}

Outcome<std::monostate> Bench::fuse(Entry &entry) {
  auto mode = parseFuseMode(options.fuse);
  if (!mode)
    return mode.takeFailure();
  auto graph = dyn_cast<ir::GraphOp>(entry.session.module().lookupSymbol(entry.symbol));
  if (!graph || *mode == FuseMode::Off)
    return Done{};
  llvm::StringMap<int64_t> known = dimsOfInputs(graph, entry.inputs.shapes);
  for (const auto &dim : entry.dims)
    known[dim.getKey()] = dim.getValue();
  const DeviceDescription &description =
      report.isPrediction ? *report.description : descriptionOf(choice);
  SeeCode see = report.isPrediction ? SeeCode() : codeOn(*entry.executor);
  entry.symbol = fuseGraphByCode(entry.session.module(), entry.symbol, *mode, description, known,
                                 entry.sizes, entry.session.compiler.cache.get(), see)
                     .symbol;
  return Done{};
}

/// A size is for all kernels that have its binder: one of them has to.
Outcome<std::monostate> Bench::checkSizes() {
  llvm::SmallVector<ir::KernelOp> kernels;
  for (auto &entry : entries)
    llvm::append_range(kernels, kernelsOf(entry->session.module(), entry->symbol));
  return entries.front()->sizes.check(kernels);
}

/// Measuring takes long: whether the picture can be written is known before.
Outcome<std::monostate> Bench::checkPlot() {
  if (options.plot.empty())
    return Done{};
  auto refuse = [&](const std::string &what) {
    return Failure::usage({"'" + options.plot + "' is " + what + ", and would be overwritten",
                           "name another file with --plot"});
  };
  std::string place = runtime::canonicalPath(options.plot);
  auto isPlace = [&](const std::string &path) { return runtime::canonicalPath(path) == place; };
  for (const auto &entry : entries)
    if (entry->session.isSource(options.plot))
      return refuse("a source");
    else if (llvm::any_of(entry->inputs.files, isPlace))
      return refuse("an input");
  if (isPlace(options.schedule) || isPlace(options.device))
    return refuse("read by this call");
  if (auto possible = runtime::checkReplaceable(options.plot); !possible)
    return Failure::environment(possible.takeError());
  std::ifstream old(options.plot);
  std::string start(4, ' ');
  if (old && (old.read(start.data(), 4), old.gcount() > 0) && start != "<svg")
    return refuse("there and no picture");
  return Done{};
}

//===-- What a run does ---------------------------------------------------===//

/// Counted on the kernel as it is compiled for the device, with the tile sizes that it gets there.
Outcome<Work> Bench::workOf(Entry &entry, ir::KernelOp kernel,
                            const runtime::KernelLaunch &launch) {
  ir::Bindings bindings = entry.sizes.of(kernel);
  const Schedule *tuned = nullptr;
  if (!report.isPrediction) {
    auto found = entry.executor->tunedFor(kernel, launch.dims);
    if (!found)
      return found.takeFailure();
    tuned = *found;
  }
  if (choice.device == Device::Cuda) {
    const std::string &target = report.isPrediction ? report.description->target
                                                    : entry.executor->cudaContext()->codeTarget();
    codegen::gpu::bindDims(kernel, launch.dims, bindings);
    Compiler::chooseGpuTiles(kernel, bindings, launch.dims, target, false, tuned);
  } else {
    int threads = 1;
    if (report.isPrediction)
      threads = std::max(1, static_cast<int>(report.description->figure("multiprocessors")));
    else if (auto pool = runtime::ThreadPool::global())
      threads = (*pool)->numThreads();
    Compiler::chooseTiles(kernel, bindings, launch.dims, threads, tuned);
  }
  auto compiled = entry.session.compiler.compile(kernel, bindings);
  if (!compiled)
    return Failure::reported();
  llvm::SmallVector<llvm::ArrayRef<int64_t>> shapes(launch.shapes.begin(), launch.shapes.end());
  return countWork(compiled.get(), launch.dims, shapes, launch.scalars);
}

/// Of a graph the sum of its launches. Nothing runs.
Outcome<std::monostate> Bench::count(Entry &entry) {
  auto bindable = entry.inputs.bindable(entry.interface);
  if (!bindable)
    return bindable.takeFailure();
  BenchResult &result = entry.result;
  result.isGraph = !entry.kernel();
  result.launches = 0;
  return entry.executor->eachLaunch(
      entry.symbol, *bindable, entry.dims,
      [&](ir::KernelOp kernel, const runtime::KernelLaunch &launch) -> Outcome<std::monostate> {
        auto work = workOf(entry, kernel, launch);
        if (!work)
          return work.takeFailure();
        result.work += *work;
        ++result.launches;
        return Done{};
      });
}

//===-- Measurements ------------------------------------------------------===//

Outcome<std::monostate> Bench::prepareKernel(Entry &entry, const Arguments &arguments) {
  auto prepared = entry.executor->prepare(entry.kernel(), arguments, entry.dims);
  if (!prepared)
    return prepared.takeFailure();
  entry.prepared = *std::move(prepared);
  auto contestant = device->kernel(*entry.executor, *entry.prepared);
  if (!contestant)
    return contestant.takeFailure();
  entry.contestant = *std::move(contestant);
  auto resources = device->resources(*entry.prepared);
  if (!resources)
    return resources.takeFailure();
  entry.result.resources = *resources;
  return entry.result.resources ? describeRoles(entry) : Done{};
}

/// The roles of its warps, as the code for the GPU has them, and why there are none for a
/// contraction, in a remark.
Outcome<std::monostate> Bench::describeRoles(Entry &entry) {
  Executor::Prepared &prepared = *entry.prepared;
  auto specialized = entry.executor->specialized(*prepared.code);
  if (!specialized)
    return specialized.takeFailure();
  mlir::OwningOpRef<ir::KernelOp> kernel(specialized->clone());
  (*kernel)->setAttr(codegen::divisorsAttrName,
                     codegen::gpu::divisorsOf(entry.kernel(), prepared.dims));
  codegen::GpuCompiler compiler({.target = entry.executor->cudaContext()->codeTarget()});
  auto onGpu = compiler.lowerToTileGpu(*kernel);
  if (failed(onGpu))
    return Failure::reported();
  entry.result.resources->roles = codegen::rolesOf(**onGpu);
  compiler.remarkOnProducts(*kernel);
  return Done{};
}

Outcome<std::monostate> Bench::prepareGraph(Entry &entry, Arguments arguments) {
  if (choice.device == Device::Cuda)
    for (ir::KernelOp kernel : kernelsOf(entry.session.module(), entry.symbol))
      if (codegen::hasReports(kernel))
        return Failure::invalid({"`" + kernel.getSymName().str() + "` asserts or prints: graphs " +
                                     "with such kernels are measured on the CPU alone",
                                 "measure the kernels one by one, or with --device=cpu"});
  auto contestant = device->graph(*entry.executor, entry.symbol, std::move(arguments), entry.dims);
  if (!contestant)
    return contestant.takeFailure();
  entry.contestant = *std::move(contestant);
  return Done{};
}

Outcome<std::monostate> Bench::openExecutor(Entry &entry) {
  if (!report.isPrediction && choice.device == Device::Cpu)
    entry.session.useCache();
  entry.executor =
      std::make_unique<Executor>(entry.session.compiler, entry.session.module(), choice.device);
  if (report.isPrediction)
    return Done{};
  entry.executor->sizes = entry.sizes;
  entry.executor->deviceIndex = choice.index;
  entry.executor->isQuiet = true;
  return choice.device == Device::Cuda ? entry.executor->openCuda() : Outcome<Done>(Done{});
}

Outcome<std::monostate> Bench::prepare(Entry &entry) {
  CrashReport::Scope scope("measuring " + entry.symbol + " on " + options.device);
  if (report.isPrediction)
    return count(entry);
  auto arguments = entry.inputs.arguments(entry.interface);
  if (!arguments)
    return arguments.takeFailure();
  if (!device) {
    CudaContext *cuda = entry.executor->cudaContext();
    auto opened = choice.device == Device::Cuda ? BenchDevice::cuda(*cuda) : BenchDevice::cpu();
    if (!opened)
      return opened.takeFailure();
    device = *std::move(opened);
  }
  if (auto done = count(entry); !done)
    return done;
  return entry.kernel() ? prepareKernel(entry, *arguments)
                        : prepareGraph(entry, *std::move(arguments));
}

Outcome<std::monostate> Bench::measure() {
  std::vector<Contestant *> contestants;
  for (auto &entry : entries) {
    current = entry.get();
    contestants.push_back(entry->contestant.get());
    if (entry->result.work.bytes() <= 0)
      continue;
    auto copy = device->copy(entry->result.work.bytes());
    if (!copy)
      return copy.takeFailure();
    entry->copy = *std::move(copy);
    contestants.push_back(entry->copy.get());
  }
  report.largeCopyBytes = device->largeCopyBytes();
  auto large = device->copy(report.largeCopyBytes);
  if (!large)
    return large.takeFailure();
  contestants.push_back(large->get());
  if (auto done = takeTurns(*device, contestants, options.bench); !done)
    return done;
  report.largeCopy = std::move((*large)->timing);
  for (auto &entry : entries) {
    entry->result.timing = std::move(entry->contestant->timing);
    if (entry->copy)
      entry->result.copy = std::move(entry->copy->timing);
  }
  report.device = device->name();
  report.description = device->description();
  return Done{};
}

//===-- The command -------------------------------------------------------===//

Outcome<std::monostate> Bench::writePlot() const {
  if (options.plot.empty())
    return Done{};
  std::string svg = rooflineSvg(report);
  std::span<const std::byte> bytes = std::as_bytes(std::span(svg));
  if (auto written = runtime::replaceFile(options.plot, {&bytes, 1}); !written)
    return Failure::environment(written.takeError());
  return Done{};
}

Outcome<std::monostate> Bench::execute() {
  if (auto done = checkThreads(); !done)
    return done;
  if (auto done = chooseDevice(); !done)
    return done;
  for (const std::string &file : options.files)
    if (auto done = read(file); !done)
      return done;
  for (auto check : {&Bench::checkUnused, &Bench::checkSizes, &Bench::checkPlot})
    if (auto done = (this->*check)(); !done)
      return done;
  for (auto &entry : entries) {
    current = entry.get();
    if (auto done = openExecutor(*entry); !done)
      return done;
    if (auto done = fuse(*entry); !done)
      return done;
    if (auto done = prepare(*entry); !done)
      return done;
  }
  if (!report.isPrediction)
    if (auto done = measure(); !done)
      return done;
  report.isWarm = options.bench.isWarm;
  // Kernels of one name are told apart by their number.
  std::map<std::string, unsigned> counts;
  for (auto &entry : entries)
    ++counts[entry->result.name];
  for (auto [n, entry] : llvm::enumerate(entries)) {
    if (counts[entry->result.name] > 1)
      entry->result.name += " " + std::to_string(n + 1);
    report.results.push_back(std::move(entry->result));
  }
  return writePlot();
}

int Bench::run() {
  Outcome<std::monostate> done = execute();
  if (!done) {
    if (!current)
      current = entries.emplace_back(std::make_unique<Entry>(options.source)).get();
    return failRun(current->session, done.takeFailure(), options.json);
  }
  if (options.json) {
    llvm::json::Object object = toJson(report);
    object["ok"] = true;
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(object))) << "\n";
  } else {
    printText(report, llvm::outs());
  }
  int code = success;
  for (auto &entry : entries)
    code = std::max(code, entry->session.finish());
  return code;
}

Command tile::frontend::cli::addBenchCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand(
      "bench", "Measure how fast kernels are, and how near to what the device can do");
  auto options = std::make_shared<BenchCommandOptions>();
  command->add_option("FILE[:NAME]", options->files, "Sources, and the kernel or graph of each")
      ->required();
  command
      ->add_option("--device", options->device,
                   "cpu; cuda or cuda:N; or a description of a device, by its name or from "
                   "FILE.json:\npredicts from it, without measuring")
      ->capture_default_str();
  addRepeated(*command, "--in", options->inputs,
              "An input, as `tilec run` takes it, of all kernels that have\n"
              "it; KERNEL.NAME or 2.NAME: of one")
      ->type_name("NAME=SPEC");
  addRepeated(*command, "--dim", options->dims, "A constant, or a dimension that no input has")
      ->type_name("NAME=VALUE");
  addRepeated(*command, "--bind", options->types, "A type parameter; inputs bind the others")
      ->type_name("NAME=TYPE");
  addRepeated(*command, "--set", options->sizes, "A tile size: BINDER or KERNEL.BINDER")
      ->type_name("NAME=SIZE");
  command->add_option("--schedule", options->schedule, "Tile sizes; --set overrides them")
      ->type_name("FILE.json");
  addFuseOption(*command, options->fuse, "Of a graph");
  command
      ->add_option("--runs", options->bench.rounds,
                   "Rounds to measure; without it 30, or fewer that take 10 seconds a kernel")
      ->check(wholeNumber(1, 1000000));
  command
      ->add_option("--warmups", options->bench.warmups, "Runs of each kernel before they are timed")
      ->check(wholeNumber(0, 1000000))
      ->capture_default_str();
  command->add_flag("--warm", options->bench.isWarm,
                    "Leave caches as they are, instead of flushing them before each run");
  command->add_flag("--json", options->json, "The report as JSON; of a run that fails, its errors");
  command->add_option("--plot", options->plot, "Draw the kernels under the device's roofs")
      ->type_name("FILE.svg");
  addSourceOptions(*command, options->source);
  command->footer(
      "In each round every kernel runs once, and a copy of as many bytes as it has to move; times "
      "are\n"
      "medians, ± half the distance of the quartiles. GB/s counts each element that is read or "
      "written\n"
      "once; /copy is the copy's time by the kernel's. FLOP counts the arithmetic of the source. "
      "\"bound\n"
      "by\" is the longest of launching, moving and computing, with what share of the time it "
      "explains.\n"
      "docs/bench.md says more.\n\n"
      "Examples:\n"
      "  tilec bench softmax.tile --in x=randn:8192x4096:f32 --device=cuda --plot=softmax.svg\n"
      "  tilec bench softmax.tile norm.tile:layer_norm --in x=randn:4096x1024:f32 …\n"
      "  tilec bench softmax.tile --in x=randn:8192x4096:f32 --device=h200");
  return {command, [options] { return Bench(*options).run(); }};
}
