//===- BenchEntries.cpp - from the command line to kernels and graphs -----===//

#include "frontend/cli/BenchContest.h"
#include "frontend/cli/RunOptions.h"
#include "runtime/base/FileIO.h"

#include <fstream>

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;
using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

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
  if (options.isNoRun)
    return Failure::usage({"'" + options.device + "' is a description: no code is made for it",
                           "--no-run takes --device=cpu or cuda"});
  choice.device = description->isGpu ? Device::Cuda : Device::Cpu;
  report.description = *std::move(description);
  return Done{};
}

Outcome<std::monostate> Bench::chooseModes() {
  llvm::SmallVector<llvm::StringRef> words;
  llvm::StringRef(options.fuse).split(words, ',');
  for (llvm::StringRef word : words) {
    auto mode = parseFuseMode(word);
    if (!mode)
      return mode.takeFailure();
    if (llvm::is_contained(modes, *mode))
      return Failure::usage({"--fuse has '" + word.str() + "' twice", ""});
    modes.push_back(*mode);
  }
  return Done{};
}

/// A graph once for each mode, all with the same inputs; a kernel, which is the same in all, once.
Outcome<std::monostate> Bench::read(const std::string &file, size_t number) {
  if (!options.entry.empty() && options.files.size() > 1)
    return Failure::usage({"--entry names the kernel or graph of one file, and there are " +
                               std::to_string(options.files.size()),
                           "name those of several as FILE:NAME"});
  auto chosen = chosenEntry(file, options.entry);
  if (!chosen)
    return chosen.takeFailure();
  auto &[path, name] = *chosen;
  if (namesArtifact(file))
    return Failure::usage({"'" + path + "' is an artifact", "tilec bench compiles sources, to know "
                                                            "what their kernels do"});
  if (path == "-" && modes.size() > 1)
    return Failure::usage({"standard input can be read just once",
                           "name a file to compare several ways to fuse a graph"});
  const BenchEntry *first = nullptr;
  for (FuseMode mode : modes) {
    BenchEntry &entry =
        *entries.emplace_back(std::make_unique<BenchEntry>(options.source, number, mode));
    current = &entry;
    auto loaded = entry.session.load(path);
    if (!loaded)
      return loaded.takeFailure();
    auto decl = entry.session.entry(**loaded, name);
    if (!decl)
      return decl.takeFailure();
    entry.decl = *decl;
    if (auto done = elaborate(entry, first); !done)
      return done;
    if (entry.kernel())
      break;
    first = first ? first : &entry;
  }
  return Done{};
}

/// With the inputs of another entry, if there is one.
Outcome<std::monostate> Bench::elaborate(BenchEntry &entry, const BenchEntry *like) {
  const std::string &name = entry.decl.decl->name.text;
  std::vector<std::string> params, generics, dimensions;
  for (const dsl::Param &param : entry.decl.decl->params)
    params.push_back(param.name.text);
  for (const dsl::Generic &generic : entry.decl.decl->generics)
    if (!generic.isConst)
      generics.push_back(generic.name.text);
  if (like) {
    entry.inputs = like->inputs;
  } else {
    bool needsData = !report.isPrediction && !options.isNoRun;
    auto read = readInputs(entry.session, entry.decl, inputs.of(name, entry.number, params),
                           types.of(name, entry.number, generics),
                           needsData ? ReadInputs::All : ReadInputs::OnlyShapes);
    if (!read)
      return read.takeFailure();
    entry.inputs = *std::move(read);
  }
  auto elaborated = entry.session.elaborate(entry.decl, entry.inputs.types);
  if (!elaborated)
    return elaborated.takeFailure();
  entry.symbol = *elaborated;
  mlir::Operation *function = entry.session.module().lookupSymbol(entry.symbol);
  auto names = isa<ir::KernelOp>(function) ? cast<ir::KernelOp>(function).getDims()
                                           : cast<ir::GraphOp>(function).getDims();
  for (llvm::StringRef dim : names.getAsValueRange<mlir::StringAttr>())
    dimensions.push_back(dim.str());
  auto parsed = parseDims(dims.of(name, entry.number, dimensions));
  if (!parsed)
    return parsed.takeFailure();
  entry.dims = *std::move(parsed);
  entry.interface = interfaceOf(function);
  entry.result.name = name;
  for (auto [port, shape] : llvm::zip_equal(entry.interface.inputs, entry.inputs.shapes))
    if (shape)
      entry.result.inputs.push_back(port.name + ": " +
                                    runtime::describe(shape->type, shape->shape));
  auto sizes = options.schedule.read();
  if (!sizes)
    return sizes.takeFailure();
  entry.sizes = *std::move(sizes);
  return Done{};
}

void Bench::fuse(BenchEntry &entry) {
  auto graph = dyn_cast<ir::GraphOp>(entry.session.module().lookupSymbol(entry.symbol));
  if (!graph)
    return;
  entry.result.fuse = nameOf(entry.mode).str();
  if (entry.mode == FuseMode::Off)
    return;
  llvm::StringMap<int64_t> known = dimsOfInputs(graph, entry.inputs.shapes);
  for (const auto &dim : entry.dims)
    known[dim.getKey()] = dim.getValue();
  const DeviceDescription &description =
      report.isPrediction ? *report.description : descriptionOf(choice);
  SeeCode see = report.isPrediction ? SeeCode() : codeOn(*entry.executor);
  entry.symbol = fuseGraphByCode(entry.session.module(), entry.symbol, entry.mode, description,
                                 known, entry.sizes, entry.session.compiler.cache.get(), see)
                     .symbol;
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
  if (isPlace(options.schedule.file) || isPlace(options.device))
    return refuse("read by this call");
  if (auto possible = runtime::checkReplaceable(options.plot); !possible)
    return Failure::environment(possible.takeError());
  std::ifstream old(options.plot);
  std::string start(4, ' ');
  if (old && (old.read(start.data(), 4), old.gcount() > 0) && start != "<svg")
    return refuse("there and no picture");
  return Done{};
}
