//===- BenchCommand.cpp - tilec bench -------------------------------------===//

#include "codegen/Reports.h"
#include "codegen/gpu/KernelShape.h"
#include "frontend/base/CrashReport.h"
#include "frontend/base/Units.h"
#include "frontend/cli/BenchContest.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DiagnosticJson.h"
#include "frontend/cli/RunOptions.h"
#include "ir/proofs/Spelling.h"
#include "runtime/base/FileIO.h"
#include "runtime/base/ThreadPool.h"

#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

//===-- What a run does ---------------------------------------------------===//

/// Counted on the kernel as it is compiled for the device, with the tile sizes that it gets there.
Outcome<Work> Bench::workOf(BenchEntry &entry, ir::KernelOp kernel,
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
    runtime::GpuTarget target = report.isPrediction ? report.description->gpuTarget()
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
Outcome<std::monostate> Bench::count(BenchEntry &entry) {
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

Outcome<std::monostate> Bench::prepareKernel(BenchEntry &entry, const Arguments &arguments) {
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
Outcome<std::monostate> Bench::describeRoles(BenchEntry &entry) {
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

Outcome<std::monostate> Bench::prepareGraph(BenchEntry &entry, Arguments arguments) {
  if (choice.device == Device::Cuda)
    for (ir::KernelOp kernel : kernelsOf(entry.session.module(), entry.symbol))
      if (codegen::hasReports(kernel))
        return Failure::usage({"`" + ir::nameInSource(kernel.getSymName()) +
                                   "` asserts or prints: graphs " +
                                   "with such kernels are measured on the CPU alone",
                               "measure the kernels one by one, or with --device=cpu"});
  auto contestant = device->graph(*entry.executor, entry.symbol, std::move(arguments), entry.dims);
  if (!contestant)
    return contestant.takeFailure();
  entry.contestant = *std::move(contestant);
  return Done{};
}

Outcome<std::monostate> Bench::openExecutor(BenchEntry &entry) {
  entry.executor =
      std::make_unique<Executor>(entry.session.compiler, entry.session.module(), choice.device);
  if (report.isPrediction)
    return Done{};
  if (!options.noCache)
    entry.session.useCache();
  entry.executor->sizes = entry.sizes;
  entry.executor->deviceIndex = choice.index;
  entry.executor->isQuiet = true;
  return choice.device == Device::Cuda ? entry.executor->openCuda() : Outcome<Done>(Done{});
}

Outcome<std::monostate> Bench::prepare(BenchEntry &entry) {
  CrashReport::Scope scope("measuring " + entry.symbol + " on " + options.device);
  if (report.isPrediction)
    return count(entry);
  if (options.isNoRun)
    return compile(entry);
  auto arguments = entry.inputs.arguments(entry.interface);
  if (!arguments)
    return arguments.takeFailure();
  if (!device) {
    auto opened = choice.device == Device::Cuda ? BenchDevice::cuda(*entry.executor->cudaContext())
                                                : BenchDevice::cpu();
    if (!opened)
      return opened.takeFailure();
    device = *std::move(opened);
  }
  if (auto done = count(entry); !done)
    return done;
  return entry.kernel() ? prepareKernel(entry, *arguments)
                        : prepareGraph(entry, *std::move(arguments));
}

/// What is measured later finds its code in the cache.
Outcome<std::monostate> Bench::compile(BenchEntry &entry) {
  auto bindable = entry.inputs.bindable(entry.interface);
  if (!bindable)
    return bindable.takeFailure();
  return entry.executor->compileAll(entry.symbol, *bindable, entry.dims);
}

Outcome<std::monostate> Bench::measure() {
  std::vector<Contestant *> contestants;
  for (auto &entry : entries) {
    current = entry.get();
    contestants.push_back(entry->contestant.get());
    if (entry->result.work.bytes() <= 0 || options.hasNoCopies)
      continue;
    auto copy = device->copy(entry->result.work.bytes());
    if (!copy)
      return copy.takeFailure();
    entry->copy = *std::move(copy);
    contestants.push_back(entry->copy.get());
  }
  std::unique_ptr<Contestant> large;
  if (!options.hasNoCopies) {
    report.largeCopyBytes = device->largeCopyBytes();
    auto copy = device->copy(report.largeCopyBytes);
    if (!copy)
      return copy.takeFailure();
    large = *std::move(copy);
    contestants.push_back(large.get());
  }
  if (auto done = takeTurns(*device, contestants, options.bench); !done)
    return done;
  if (large)
    report.largeCopy = std::move(large->timing);
  for (auto &entry : entries) {
    entry->result.timing = std::move(entry->contestant->timing);
    entry->result.memory = entry->contestant->memory;
    if (entry->copy)
      entry->result.copy = std::move(entry->copy->timing);
  }
  report.device = device->name();
  report.description = device->description();
  return Done{};
}

//===-- The command -------------------------------------------------------===//

/// Kernels of one name are told apart by their number, and graphs by their mode where there are
/// several.
void Bench::nameResults() {
  std::map<std::pair<std::string, FuseMode>, unsigned> counts;
  for (auto &entry : entries)
    ++counts[{entry->result.name, entry->mode}];
  for (auto &entry : entries) {
    BenchResult &result = entry->result;
    bool isShared = counts[{result.name, entry->mode}] > 1;
    if (isShared)
      result.name += " " + std::to_string(entry->number);
    if (modes.size() > 1 && result.isGraph)
      result.name += " " + result.fuse;
    report.results.push_back(std::move(result));
  }
}

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
  if (auto done = chooseModes(); !done)
    return done;
  for (auto [n, file] : llvm::enumerate(options.files))
    if (auto done = read(file, n + 1); !done)
      return done;
  for (auto check : {&Bench::checkUnused, &Bench::checkSizes, &Bench::checkPlot})
    if (auto done = (this->*check)(); !done)
      return done;
  for (auto &entry : entries) {
    current = entry.get();
    if (auto done = openExecutor(*entry); !done)
      return done;
    fuse(*entry);
    if (auto done = prepare(*entry); !done)
      return done;
  }
  if (options.isNoRun)
    return Done{};
  if (!report.isPrediction)
    if (auto done = measure(); !done)
      return done;
  report.isWarm = options.bench.isWarm;
  nameResults();
  return writePlot();
}

int Bench::run() {
  Outcome<std::monostate> done = execute();
  if (!done) {
    if (!current)
      current = entries.emplace_back(std::make_unique<BenchEntry>(options.source, 1, FuseMode::Off))
                    .get();
    return failCall(current->session, done.takeFailure(), options.json);
  }
  double compileSeconds = 0;
  for (auto &entry : entries)
    if (entry->executor)
      compileSeconds += entry->executor->compileSeconds;
  if (options.json) {
    llvm::json::Object object;
    if (!options.isNoRun)
      object = toJson(report);
    object["ok"] = true;
    object["compile_seconds"] = compileSeconds;
    llvm::json::Array diagnostics;
    for (const auto &entry : entries)
      for (llvm::json::Value &diagnostic : toJson(entry->session.diags))
        diagnostics.push_back(std::move(diagnostic));
    object["diagnostics"] = std::move(diagnostics);
    cli::printJson(std::move(object));
  } else if (options.isNoRun) {
    llvm::outs() << "compiled in " << timeText(compileSeconds) << "\n";
  } else {
    printText(report, llvm::outs());
  }
  int code = success;
  for (auto &entry : entries)
    code = std::max(code, entry->session.finish());
  return code;
}

/// Empty if the text says how long to measure.
static std::string checkSeconds(const std::string &text) {
  double value;
  if (llvm::StringRef(text).getAsDouble(value) || !(value >= 1e-3 && value <= 1e6))
    return "'" + text + "' is no number of seconds from 0.001 to 1000000";
  return "";
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
      ->type_name("DEVICE")
      ->capture_default_str();
  addEntryOption(*command, options->entry, "The kernel or graph of a single file");
  addRepeated(*command, "--in", options->inputs,
              "An input, as `tilec run` takes it, of all kernels that have\n"
              "it; KERNEL.NAME or 2.NAME: of one")
      ->type_name("NAME=SPEC");
  addRepeated(*command, "--dim", options->dims, "A constant, or a dimension that no input has")
      ->type_name("NAME=VALUE");
  addRepeated(*command, "--bind", options->types, "A type parameter; inputs bind the others")
      ->type_name("NAME=TYPE");
  addScheduleOptions(*command, options->schedule);
  addFuseOption(*command, options->fuse, "Of a graph, or several with commas between");
  CLI::Option *runs =
      command
          ->add_option("--runs", options->bench.rounds,
                       "Rounds to measure; without it 30, or fewer that take 10 seconds a kernel")
          ->type_name("NUMBER")
          ->check(wholeNumber(1, 1000000));
  command
      ->add_option("--seconds", options->bench.seconds,
                   "Measure for so long, but 15 rounds at least and 1000 at most")
      ->type_name("SECONDS")
      ->check(CLI::Validator(checkSeconds, ""))
      ->excludes(runs);
  command
      ->add_option("--warmups", options->bench.warmups, "Runs of each kernel before they are timed")
      ->type_name("NUMBER")
      ->check(wholeNumber(0, 1000000))
      ->capture_default_str();
  command->add_flag("--warm", options->bench.isWarm,
                    "Leave caches as they are, instead of flushing them before each run");
  CLI::Option *noCopies =
      command->add_flag("--no-copies", options->hasNoCopies,
                        "Copy nothing beside the kernels: roofs are those of the description");
  addJsonOption(*command, options->json, "The report");
  CLI::Option *noCache = addCacheOption(*command, options->noCache);
  CLI::Option *plot =
      command->add_option("--plot", options->plot, "Draw the kernels under the device's roofs")
          ->type_name("FILE.svg")
          ->excludes(noCopies);
  command
      ->add_flag("--no-run", options->isNoRun,
                 "Compile for these shapes, into the cache (tilec cache), and run nothing")
      ->excludes(plot)
      ->excludes(noCache);
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
      "  tilec bench block.tile:layer --in x=randn:4096x1024:f32 --fuse=off,exact\n"
      "  tilec bench softmax.tile --in x=randn:8192x4096:f32 --device=h200");
  return {command, [options] { return Bench(*options).run(); }};
}
