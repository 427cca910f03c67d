//===- TuneCommand.cpp - tilec tune ---------------------------------------===//

#include "frontend/base/CrashReport.h"
#include "frontend/base/Units.h"
#include "frontend/bench/Bench.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DiagnosticJson.h"
#include "frontend/cli/Inputs.h"
#include "frontend/cli/RunOptions.h"
#include "frontend/execute/ExecutionImpl.h"
#include "frontend/tune/TileSweep.h"
#include "frontend/tune/TuneSpace.h"
#include "frontend/tune/Tuner.h"
#include "ir/proofs/Spelling.h"
#include "runtime/base/FileIO.h"
#include "runtime/base/ThreadPool.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <unistd.h>

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;
using Measured = TunedSchedule::Measured;

namespace {
struct TuneCommandOptions {
  std::string file, entry, device = "cpu";
  std::vector<std::string> inputs, dims, types;
  ScheduleOptions schedule;
  size_t candidates = 100;
  bool again = false, isWarm = false, json = false;
  SourceOptions source;
};

/// Set by Ctrl-C: the search ends after the candidate at hand.
std::atomic<bool> isInterrupted = false;
void interrupt(int) { isInterrupted = true; }

/// One that compiles.
struct Worker {
  explicit Worker(const SourceOptions &options) : session(options) {}

  Session session;
  dsl::DeclRef decl;
  ir::KernelOp kernel;
  std::unique_ptr<Executor> executor;
};

class Tune {
public:
  explicit Tune(const TuneCommandOptions &options) : options(options) {
    workers.push_back(std::make_unique<Worker>(options.source));
  }
  int run();

private:
  Outcome<std::monostate> execute();
  Outcome<std::monostate> chooseDevice();
  Outcome<std::monostate> load(Worker &worker);
  Outcome<std::monostate> elaborate(Worker &worker);
  Outcome<std::monostate> readArguments();
  Outcome<std::monostate> openFile();
  Outcome<std::monostate> openDevice();
  Outcome<std::vector<Schedule>> schedules();
  Outcome<std::monostate> addWorkers(size_t count);
  void show(const TuneProgress &progress) const;
  void clearLine() const;
  void print() const;
  void printJson() const;
  std::string title() const;

  const TuneCommandOptions &options;
  std::string path, name;
  DeviceChoice choice;
  /// The first has read the inputs.
  std::vector<std::unique_ptr<Worker>> workers;
  Inputs inputs;
  llvm::StringMap<int64_t> dims;
  Arguments arguments;
  TileSizes fixed;
  TunedFile file;
  TunedSchedule entry;
  std::unique_ptr<BenchDevice> device;
  TuneResult result;
  bool wasKnown = false;
};
} // namespace

static std::string describe(const Schedule &schedule) {
  TileSizes sizes;
  sizes.everywhere = schedule;
  return frontend::describe(sizes);
}

//===-- From a file to a launch -------------------------------------------===//

Outcome<std::monostate> Tune::chooseDevice() {
  auto parsed = parseDevice(options.device);
  if (!parsed)
    return parsed.takeFailure();
  choice = *parsed;
  if (choice.device == Device::Interp)
    return Failure::usage(
        {"the interpreter's speed means nothing", "the devices are cpu, and cuda or cuda:N"});
  return Done{};
}

Outcome<std::monostate> Tune::load(Worker &worker) {
  auto loaded = worker.session.load(path);
  if (!loaded)
    return loaded.takeFailure();
  auto decl = worker.session.entry(**loaded, name);
  if (!decl)
    return decl.takeFailure();
  worker.decl = *decl;
  if (decl->decl->kind != dsl::Decl::Kind::Kernel)
    return Failure::usage({"`" + decl->decl->name.text + "` is a graph, which has no schedule",
                           "tune its kernels one by one: " + path + ":KERNEL"});
  return Done{};
}

Outcome<std::monostate> Tune::elaborate(Worker &worker) {
  auto symbol = worker.session.elaborate(worker.decl, inputs.types);
  if (!symbol)
    return symbol.takeFailure();
  worker.kernel = llvm::cast<ir::KernelOp>(worker.session.module().lookupSymbol(*symbol));
  worker.executor =
      std::make_unique<Executor>(worker.session.compiler, worker.session.module(), choice.device);
  worker.executor->deviceIndex = choice.index;
  worker.executor->isQuiet = true;
  worker.executor->usesTuned = false;
  if (choice.device == Device::Cuda)
    return worker.executor->openCuda();
  return Done{};
}

Outcome<std::monostate> Tune::readArguments() {
  Worker &first = *workers.front();
  auto parsed = parseDims(options.dims);
  if (!parsed)
    return parsed.takeFailure();
  dims = *std::move(parsed);
  auto read =
      readInputs(first.session, first.decl, options.inputs, options.types, ReadInputs::GivenOnes);
  if (!read)
    return read.takeFailure();
  inputs = *std::move(read);
  if (auto done = elaborate(first); !done)
    return done;
  if (auto done = inputs.generateMissing(first.decl, first.kernel, dims); !done)
    return done;
  auto made = inputs.arguments(interfaceOf(first.kernel));
  if (!made)
    return made.takeFailure();
  arguments = *std::move(made);
  auto sizes = options.schedule.read();
  if (!sizes)
    return sizes.takeFailure();
  fixed = *std::move(sizes);
  return fixed.check({first.kernel});
}

/// Measuring takes long: whether its result can be kept is known before.
Outcome<std::monostate> Tune::openFile() {
  std::string beside = TunedFile::pathFor(path);
  if (auto possible = runtime::checkReplaceable(beside); !possible)
    return Failure::environment(possible.takeError());
  auto read = TunedFile::read(beside);
  if (!read)
    return read.takeFailure();
  file = *std::move(read);
  return Done{};
}

Outcome<std::monostate> Tune::openDevice() {
  auto opened = choice.device == Device::Cuda
                    ? BenchDevice::cuda(*workers.front()->executor->cudaContext())
                    : BenchDevice::cpu();
  if (!opened)
    return opened.takeFailure();
  device = *std::move(opened);
  return Done{};
}

/// What to try; the usual schedule is compiled for it.
Outcome<std::vector<Schedule>> Tune::schedules() {
  Worker &first = *workers.front();
  Executor &executor = *first.executor;
  executor.sizes = fixed;
  auto prepared = executor.prepare(first.kernel, arguments, dims);
  if (!prepared)
    return prepared.takeFailure();
  executor.sizes = {};
  const Executor::Compiled &code = *(*prepared)->code;
  TuneSpace space;
  space.target = nameOf(choice.device).str();
  for (const auto &[binder, size] : code.bindings.sizes)
    space.usual[binder.str()] = size;
  auto sizes = ir::tileSizes(first.kernel, code.bindings);
  if (failed(sizes))
    return Failure::reported();
  for (const auto &[binder, size] : *sizes)
    space.usual.try_emplace(binder.str(), size);
  for (const auto &[binder, size] : fixed.of(first.kernel).sizes)
    space.fixed[binder.str()] = size;
  space.largestExtent = inputs.largestExtent();
  space.isPipeline = code.cuda && code.cuda->loaded->hasTensorMaps();
  space.hasWarps = code.cuda && !space.isPipeline;
  if (space.isPipeline)
    space.usual.try_emplace("split", 1);
  entry.kernel = first.kernel.getSymName().str();
  entry.device = device->name();
  entry.dims = dimsByName(first.kernel, (*prepared)->dims);
  auto list = schedulesToTry(first.kernel, space, options.candidates);
  if (list.size() == 1)
    return Failure::usage(
        {"there is nothing to try: " +
             (options.candidates == 1
                  ? std::string("--candidates=1 leaves the usual schedule alone")
                  : "each binder of `" + first.decl.decl->name.text + "` has one size"),
         "candidates in its schedule are a list, `i = [64, 128]`; what it leaves "
         "out, and --set doesn't give, is open"});
  return list;
}

/// Each candidate of a batch has a compiler of its own.
Outcome<std::monostate> Tune::addWorkers(size_t count) {
  while (workers.size() < count) {
    Worker &worker = *workers.emplace_back(std::make_unique<Worker>(options.source));
    if (auto done = load(worker); !done)
      return done;
    if (auto done = elaborate(worker); !done)
      return done;
  }
  return Done{};
}

//===-- What is seen ------------------------------------------------------===//

std::string Tune::title() const {
  std::string text = ir::nameInSource(entry.kernel) + " on " + entry.device;
  for (const auto &[dim, value] : entry.dims)
    text += (dim == entry.dims.begin()->first ? ": " : " ") + dim + "=" + std::to_string(value);
  return text;
}

/// On a terminal the last line is the latest candidate; elsewhere each has a line.
void Tune::show(const TuneProgress &progress) const {
  bool isTerminal = isatty(STDERR_FILENO);
  const Measured &measured = progress.measured;
  llvm::raw_ostream &stream = llvm::errs();
  if (isTerminal)
    stream << "\r\x1b[K";
  stream << "[" << progress.number << "/" << progress.count << "] " << describe(measured.schedule)
         << ": ";
  if (!progress.reason.empty())
    stream << (isTerminal ? "refused" : progress.reason);
  else
    stream << timeText(measured.seconds);
  stream << "; best " << timeText(progress.best.seconds);
  if (isTerminal && measured.schedule != progress.best.schedule)
    stream << " (" << describe(progress.best.schedule) << ")";
  if (!isTerminal)
    stream << "\n";
  stream.flush();
}

void Tune::clearLine() const {
  if (isatty(STDERR_FILENO))
    llvm::errs() << "\r\x1b[K";
}

void Tune::print() const {
  const TunedSchedule &found = result.entry;
  llvm::raw_ostream &stream = llvm::outs();
  if (wasKnown)
    stream << title() << " is tuned already; --again measures anew\n";
  else if (found.isFinished())
    stream << title() << ": " << found.candidates << " schedules"
           << (result.refused ? ", " + std::to_string(result.refused) + " of them can't run" : "")
           << "\n";
  else
    stream << title() << ": stopped after " << found.tried.size() + 1 << " of " << found.candidates
           << " schedules; the same call goes on\n";
  size_t width =
      std::max(widthOf(timeText(found.best.seconds)), widthOf(timeText(found.usual.seconds)));
  auto line = [&](llvm::StringRef title, const Measured &measured, const Timing &timing) {
    stream << "  " << title << "  " << padLeft(timeText(measured.seconds), width);
    if (!timing.empty())
      stream << " ±" << llvm::format("%.1f%%", 100 * timing.spread());
    stream << "  " << describe(measured.schedule) << "\n";
  };
  line("best ", found.best, result.best);
  line("usual", found.usual, result.usual);
  double gain = found.usual.seconds / found.best.seconds;
  if (found.best.schedule == found.usual.schedule)
    stream << "the usual schedule is the best";
  else
    stream << "faster by " << llvm::format("%.1f%%", 100 * (gain - 1));
  stream << "; " << file.path << " has it, where tilec run and bench look\n";
}

void Tune::printJson() const {
  const TunedSchedule &found = result.entry;
  auto measuredJson = [](const Measured &measured) {
    llvm::json::Object schedule;
    for (const auto &[binder, size] : measured.schedule)
      schedule[binder] = size;
    return llvm::json::Object{{"schedule", std::move(schedule)}, {"seconds", measured.seconds}};
  };
  llvm::json::Object all;
  for (const auto &[dim, value] : found.dims)
    all[dim] = value;
  llvm::json::Object object{{"ok", true},
                            {"kernel", found.kernel},
                            {"device", found.device},
                            {"dims", std::move(all)},
                            {"best", measuredJson(found.best)},
                            {"usual", measuredJson(found.usual)},
                            {"candidates", static_cast<int64_t>(found.candidates)},
                            {"is_finished", found.isFinished()},
                            {"file", file.path},
                            {"diagnostics", toJson(workers.front()->session.diags)}};
  cli::printJson(std::move(object));
}

//===-- The command -------------------------------------------------------===//

Outcome<std::monostate> Tune::execute() {
  if (auto done = checkThreads(); !done)
    return done;
  if (auto done = chooseDevice(); !done)
    return done;
  auto chosen = chosenEntry(options.file, options.entry);
  if (!chosen)
    return chosen.takeFailure();
  std::tie(path, name) = *std::move(chosen);
  if (namesArtifact(options.file))
    return Failure::usage({"'" + path + "' is an artifact", "tilec tune compiles sources"});
  if (TunedFile::pathFor(path).empty())
    return Failure::usage(
        {"tuned schedules stand beside a source, and '" + path + "' is no .tile file",
         "name a file such as matmul.tile"});
  if (auto done = load(*workers.front()); !done)
    return done;
  for (auto step : {&Tune::openFile, &Tune::readArguments, &Tune::openDevice})
    if (auto done = (this->*step)(); !done)
      return done;
  CrashReport::Scope scope("tuning " + name + " of " + path);
  auto list = schedules();
  if (!list)
    return list.takeFailure();
  const TunedSchedule *known = file.find(entry.kernel, entry.device, entry.dims);
  if (known && known->isFinished() && !options.again) {
    wasKnown = true;
    result.entry = *known;
    return Done{};
  }
  if (known && known->isFinished()) // one that was stopped goes on, with --again as well
    file.entries.erase(file.entries.begin() + (known - file.entries.data()));
  auto threads = runtime::ThreadPool::global();
  constexpr size_t mostWorkers = 16;
  size_t count = std::min<size_t>((*threads)->numThreads(), mostWorkers);
  if (auto done = addWorkers(std::min(count, list->size() - 1)); !done)
    return done;
  std::vector<TuneWorker> compilers;
  for (auto &worker : workers)
    compilers.push_back({worker->executor.get(), worker->kernel});
  TuneOptions tuning;
  tuning.isWarm = options.isWarm;
  tuning.stop = &isInterrupted;
  tuning.progress = [this](const TuneProgress &progress) { show(progress); };
  auto found = Tuner(std::move(compilers), arguments, dims, *device, file, std::move(tuning))
                   .run(entry, *list);
  clearLine();
  if (!found)
    return found.takeFailure();
  result = *std::move(found);
  return Done{};
}

int Tune::run() {
  isInterrupted = false;
  auto before = std::signal(SIGINT, interrupt);
  Outcome<std::monostate> done = execute();
  std::signal(SIGINT, before);
  Session &session = workers.front()->session;
  if (!done)
    return failCall(session, done.takeFailure(), options.json);
  if (options.json)
    printJson();
  else
    print();
  int code = session.finish();
  return result.entry.isFinished() ? code : interrupted;
}

Command tile::frontend::cli::addTuneCommand(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("tune", "Find the fastest schedule of a kernel by measuring");
  auto options = std::make_shared<TuneCommandOptions>();
  command->add_option("FILE[:NAME]", options->file, "A source, and its kernel")->required();
  addEntryOption(*command, options->entry, "The kernel to tune");
  command->add_option("--device", options->device, "cpu; or cuda or cuda:N")
      ->type_name("DEVICE")
      ->capture_default_str();
  addRepeated(*command, "--in", options->inputs,
              "An input, as `tilec run` takes it; those that are not\n"
              "given are random, in the shapes that --dim gives them")
      ->type_name("NAME=SPEC");
  addRepeated(*command, "--dim", options->dims, "A dimension or constant")->type_name("NAME=VALUE");
  addRepeated(*command, "--bind", options->types, "A type parameter; inputs bind the others")
      ->type_name("NAME=TYPE");
  addScheduleOptions(*command, options->schedule,
                     "A tile size, or stages, warps or cluster, that stays");
  command
      ->add_option("--candidates", options->candidates,
                   "The most schedules to try, those near the usual one first")
      ->type_name("NUMBER")
      ->check(wholeNumber(1, 100000))
      ->capture_default_str();
  command->add_flag("--again", options->again, "Measure anew what the file has found already");
  command->add_flag("--warm", options->isWarm,
                    "Leave caches as they are, instead of flushing them before each run");
  addJsonOption(*command, options->json, "The result");
  addSourceOptions(*command, options->source);
  command->footer(
      "Tries what the kernel's schedule lists, `i = [64, 128]`, and for what it leaves open sizes\n"
      "around the usual ones. Candidates are compiled side by side and measured one at a time, by\n"
      "turns with the usual one; at the end the best four and the usual schedule run by turns\n"
      "once more. The result goes into FILE.tuned.json beside the source, by kernel, device and\n"
      "dimensions: `tilec run`, `tilec bench` and C++ programs that load the source take it from\n"
      "there on such a device with these dimensions, unless --set or --schedule says otherwise.\n"
      "All that was measured is there at once: a search that Ctrl-C ends goes on with the same "
      "call.\n\n"
      "Examples:\n"
      "  tilec tune matmul.tile --bind T=bf16 --dim M=8192 --dim N=8192 --dim K=8192 "
      "--device=cuda\n"
      "  tilec tune softmax.tile:softmax --in x=randn:8192x4096:f32");
  return {command, [options] { return Tune(*options).run(); }};
}
