//===- BenchCommand.cpp - tilec bench -------------------------------------===//

#include "frontend/BenchReport.h"
#include "frontend/CrashReport.h"
#include "frontend/ExecutionImpl.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Inputs.h"
#include "frontend/cli/RunOptions.h"
#include "frontend/cli/RunReport.h"
#include "ir/Launch.h"
#include "runtime/FileIO.h"
#include "runtime/ThreadPool.h"

#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <mutex>
#include <set>

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
  std::string device = "cpu", schedule, plot;
  BenchOptions bench;
  bool json = false;
  SourceOptions source;
};

/// A list of NAME=VALUE for several kernels: which of them each kernel gets.
class Shared {
public:
  Shared(const std::vector<std::string> &texts, bool isAlone)
      : texts(texts), isAlone(isAlone), isUsed(texts.size(), isAlone) {}

  /// Those for one kernel, by its name or its number: KERNEL.NAME=VALUE, and NAME=VALUE where it
  /// has such a name and nothing of its own for it. A single kernel gets all.
  std::vector<std::string> of(const std::string &kernel, size_t number,
                              const std::vector<std::string> &names);
  /// One that no kernel got; null if there is none.
  const std::string *unused() const;

private:
  const std::vector<std::string> &texts;
  bool isAlone;
  std::vector<bool> isUsed;
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
  Outcome<std::monostate> checkUnused() const;
  Outcome<std::monostate> predict(Entry &entry);
  Outcome<std::monostate> prepare(Entry &entry);
  Outcome<std::monostate> prepareGraph(Entry &entry, Arguments arguments);
  Outcome<std::monostate> measure();
  Outcome<std::monostate> writePlot() const;

  const BenchCommandOptions &options;
  Shared inputs, types, dims;
  DeviceChoice choice;
  std::vector<std::unique_ptr<Entry>> entries;
  std::unique_ptr<BenchDevice> device;
  BenchReport report;
};
} // namespace

//===-- What is for which kernel ------------------------------------------===//

std::vector<std::string> Shared::of(const std::string &kernel, size_t number,
                                    const std::vector<std::string> &names) {
  if (isAlone)
    return texts;
  std::vector<std::string> own, shared;
  std::set<std::string> ownNames;
  for (auto [n, text] : llvm::enumerate(texts)) {
    auto [name, value] = llvm::StringRef(text).split('=');
    auto [prefix, rest] = name.split('.');
    bool hasPrefix = prefix.size() != name.size();
    if (hasPrefix && (prefix == kernel || prefix == std::to_string(number))) {
      own.push_back(text.substr(prefix.size() + 1));
      ownNames.insert(rest.str());
      isUsed[n] = true;
    }
  }
  for (auto [n, text] : llvm::enumerate(texts)) {
    std::string name = llvm::StringRef(text).split('=').first.str();
    if (!llvm::is_contained(names, name))
      continue;
    isUsed[n] = true;
    if (!ownNames.count(name))
      shared.push_back(text);
  }
  llvm::append_range(own, shared);
  return own;
}

const std::string *Shared::unused() const {
  auto found = llvm::find(isUsed, false);
  return found == isUsed.end() ? nullptr : &texts[found - isUsed.begin()];
}

Outcome<std::monostate> Bench::checkUnused() const {
  auto check = [](const Shared &shared, const char *what) -> Outcome<std::monostate> {
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

//===-- From files to kernels ---------------------------------------------===//

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
                         types.of(name, entries.size(), generics));
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
  if (!options.schedule.empty())
    if (auto done = entry.sizes.readFile(options.schedule); !done)
      return done;
  TileSizes given;
  for (const std::string &text : options.sizes)
    if (auto done = given.parse(text); !done)
      return done;
  entry.sizes.overrideWith(given);
  if (entries.size() == 1 && options.files.size() == 1)
    if (auto done = entry.sizes.check(kernelsOf(entry.session.module(), entry.symbol)); !done)
      return done;
  entry.result.name = name;
  for (auto [port, tensor] : llvm::zip_equal(entry.interface.inputs, entry.inputs.tensors))
    if (tensor)
      entry.result.inputs.push_back(port.name + ": " + tensor->describe());
  return Done{};
}

//===-- Predictions -------------------------------------------------------===//

/// Binds and specializes as for a launch, and makes none.
Outcome<std::monostate> Bench::predict(Entry &entry) {
  ir::KernelOp kernel = entry.kernel();
  if (!kernel)
    return Failure::usage({"`" + entry.result.name + "` is a graph: predictions are for kernels",
                           "name its kernels, or measure it with --device=cpu"});
  auto arguments = entry.inputs.arguments(entry.interface);
  if (!arguments)
    return arguments.takeFailure();
  unsigned count = kernel.getNumArguments();
  llvm::SmallVector<llvm::ArrayRef<int64_t>> shapes(count);
  llvm::SmallVector<uint64_t> scalars(count);
  for (auto [port, argument] : llvm::zip_equal(entry.interface.inputs, *arguments)) {
    scalars[port.position] = argument.bits;
    if (argument.tensor)
      shapes[port.position] = argument.tensor->shape();
  }
  ir::UserError error;
  auto binding = ir::bindLaunch(kernel, shapes, entry.dims, error);
  if (failed(binding) || failed(ir::checkRequires(kernel, binding->dims, scalars, error)))
    return Failure::invalid(std::move(error));
  ir::Bindings bindings = entry.sizes.of(kernel);
  if (choice.device == Device::Cuda)
    CudaContext::bind(kernel, binding->dims, bindings);
  else
    Compiler::chooseTiles(kernel, bindings, binding->dims,
                          std::max(1, int(report.description->figure("multiprocessors"))));
  auto compiled = entry.session.compiler.compile(kernel, bindings);
  if (!compiled)
    return Failure::reported();
  llvm::SmallVector<llvm::ArrayRef<int64_t>> all(binding->shapes.begin(), binding->shapes.end());
  entry.result.work = countWork(compiled.get(), binding->dims, all, scalars);
  return Done{};
}

//===-- Measurements ------------------------------------------------------===//

/// A graph runs as a whole; what it does is the sum of its launches.
Outcome<std::monostate> Bench::prepareGraph(Entry &entry, Arguments arguments) {
  if (choice.device != Device::Cpu)
    return Failure::usage({"`" + entry.result.name +
                               "` is a graph, which tilec bench measures on "
                               "the CPU alone",
                           "name its kernels"});
  std::mutex mutex;
  entry.executor->onLaunch = [&](ir::KernelOp kernel, llvm::ArrayRef<int64_t> dims,
                                 llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes,
                                 llvm::ArrayRef<const void *> params) {
    std::lock_guard lock(mutex);
    llvm::SmallVector<uint64_t> scalars(params.size());
    for (auto [type, data, bits] : llvm::zip_equal(kernel.getArgumentTypes(), params, scalars))
      if (!isa<mlir::ShapedType>(type))
        std::memcpy(&bits, data, sizeof bits);
    entry.result.work += countWork(kernel, dims, shapes, scalars);
  };
  auto outputs = entry.executor->run(entry.symbol, arguments, entry.dims);
  entry.executor->onLaunch = nullptr;
  if (!outputs)
    return outputs.takeFailure();
  entry.contestant =
      BenchDevice::graph(*entry.executor, entry.symbol, std::move(arguments), entry.dims);
  return Done{};
}

Outcome<std::monostate> Bench::prepare(Entry &entry) {
  CrashReport::Scope scope("measuring " + entry.symbol + " on " + options.device);
  auto arguments = entry.inputs.arguments(entry.interface);
  if (!arguments)
    return arguments.takeFailure();
  if (choice.device == Device::Cpu)
    entry.session.useCache();
  entry.executor =
      std::make_unique<Executor>(entry.session.compiler, entry.session.module(), choice.device);
  Executor &executor = *entry.executor;
  executor.sizes = entry.sizes;
  executor.deviceIndex = choice.index;
  executor.isQuiet = true;
  ir::KernelOp kernel = entry.kernel();
  if (kernel) {
    auto prepared = executor.prepare(kernel, *arguments, entry.dims);
    if (!prepared)
      return prepared.takeFailure();
    entry.prepared = *std::move(prepared);
  }
  if (!device) {
    auto opened = choice.device == Device::Cuda && kernel
                      ? BenchDevice::cuda(*executor.cudaContext())
                      : BenchDevice::cpu();
    if (!opened)
      return opened.takeFailure();
    device = *std::move(opened);
  }
  if (!kernel)
    return prepareGraph(entry, *std::move(arguments));
  const Executor::Prepared &launch = *entry.prepared;
  auto specialized = executor.specialized(*launch.code);
  if (!specialized)
    return specialized.takeFailure();
  entry.result.work = countWork(*specialized, launch.dims, launch.shapes, launch.scalars);
  auto contestant = device->kernel(executor, *entry.prepared);
  if (!contestant)
    return contestant.takeFailure();
  entry.contestant = *std::move(contestant);
  auto resources = device->resources(*entry.prepared);
  if (!resources)
    return resources.takeFailure();
  entry.result.resources = *resources;
  return Done{};
}

Outcome<std::monostate> Bench::measure() {
  std::vector<Contestant *> contestants;
  for (auto &entry : entries) {
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
  // A slip of the pen must not cost a source or an input.
  if (std::ifstream old(options.plot); old) {
    std::string start(4, ' ');
    if (old.read(start.data(), 4); old.gcount() > 0 && start != "<svg")
      return Failure::usage(
          {"'" + options.plot + "' is there and is no picture: it would be overwritten",
           "name another file with --plot"});
  }
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
  if (auto done = checkUnused(); !done)
    return done;
  for (auto &entry : entries)
    if (auto done = report.isPrediction ? predict(*entry) : prepare(*entry); !done)
      return done;
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
    if (entries.empty())
      entries.push_back(std::make_unique<Entry>(options.source));
    // What went wrong is about the one that was read last, or about none.
    Session &session = entries.back()->session;
    int code = session.fail(done.takeFailure());
    if (options.json)
      printJsonFailure(session.diags, llvm::outs());
    return code;
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
