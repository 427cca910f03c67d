//===- FuseCommand.cpp - tilec fuse ---------------------------------------===//

#include "frontend/base/CrashReport.h"
#include "frontend/bench/FusionMeasure.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DiagnosticJson.h"
#include "frontend/cli/FusionSources.h"
#include "frontend/cli/Inputs.h"
#include "frontend/execute/Execution.h"
#include "frontend/fusion/Fusion.h"
#include "frontend/fusion/FusionPage.h"
#include "frontend/fusion/FusionPlan.h"
#include "frontend/fusion/FusionPrint.h"
#include "frontend/fusion/FusionText.h"
#include "frontend/fusion/FusionVeto.h"
#include "frontend/model/DeviceDescription.h"
#include "ir/fusion/FlattenGraph.h"
#include "ir/fusion/GraphNames.h"
#include "ir/fusion/GraphShapes.h"
#include "ir/fusion/Summary.h"
#include "ir/proofs/Spelling.h"
#include "runtime/base/FileIO.h"
#include "runtime/base/Text.h"
#include "runtime/tensor/Memory.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

namespace {
struct FuseCommandOptions {
  std::string file, entry, device = "cpu", explain = "text", output;
  std::string fuse = nameOf(defaultFuseMode).str();
  std::vector<std::string> dims, types, why;
  ScheduleOptions schedule;
  bool summaries = false, measure = false, json = false, noCache = false;
  SourceOptions source;
};

class Fuse {
public:
  explicit Fuse(const FuseCommandOptions &options) : options(options), session(options.source) {}

  int run() {
    Outcome<std::monostate> done = execute();
    return done ? session.finish() : failCall(session, done.takeFailure(), wantsJson());
  }

private:
  Outcome<std::monostate> execute();
  Outcome<std::monostate> checkOptions();
  Outcome<std::string> elaborate();
  Outcome<std::string> explain();
  Outcome<std::string> plan();
  std::string summarize();
  Outcome<std::monostate> write(const std::string &text);
  Outcome<std::monostate> nameDims(ir::GraphOp graph);
  Outcome<std::monostate> checkShapes();
  std::string fuseIt(ir::GraphOp graph, double &seconds);
  /// --json is --explain=json.
  bool wantsJson() const { return options.json || options.explain == "json"; }

  const FuseCommandOptions &options;
  Session session;
  FusionReport report;
  FuseMode mode = defaultFuseMode;
  std::string symbol;
  DeviceDescription device;
  llvm::StringMap<int64_t> dims;
  TileSizes sizes;
  /// No machine has room for tensors of these dims.
  bool isBeyondMemory = false;
};
} // namespace

/// The graph's symbol.
Outcome<std::string> Fuse::elaborate() {
  auto chosen = chosenEntry(options.file, options.entry);
  if (!chosen)
    return chosen.takeFailure();
  auto file = session.load(chosen->first);
  if (!file)
    return file.takeFailure();
  auto decl = session.entry(**file, chosen->second, /*wantsGraph=*/!options.summaries);
  if (!decl)
    return decl.takeFailure();
  report.graph = decl->decl->name.text;
  if (decl->decl->kind != dsl::Decl::Kind::Graph && !options.summaries)
    return Failure::usage({"`" + report.graph + "` is a kernel: there is nothing to fuse",
                           "name a graph: FILE:GRAPH"});
  auto types = parseTypeBindings(session, *decl, options.types);
  if (!types)
    return types.takeFailure();
  // Generics that nothing binds take their first type.
  for (const dsl::Generic &generic : decl->decl->generics)
    if (!generic.isConst && !types->count(generic.name.text)) {
      std::vector<ir::ElementType> choices = session.elaborator.alternatives(*decl, generic);
      if (choices.empty())
        return Failure::reported();
      (*types)[generic.name.text] = choices.front();
    }
  return session.elaborate(*decl, *types);
}

Outcome<std::string> Fuse::plan() {
  auto plan = makePlan(session.compiler, session.module(), symbol, report.ledger, device, dims);
  if (!plan)
    return plan.takeFailure();
  return jsonText(toJson(*plan));
}

Outcome<std::string> Fuse::explain() {
  if (!options.why.empty())
    return explainPair(report, options.why[0], options.why[1]);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (options.explain == "plan")
    return plan();
  if (wantsJson()) {
    llvm::json::Object object = toJson(report);
    object["ok"] = true;
    object["diagnostics"] = toJson(session.diags);
    stream << jsonText(std::move(object));
  } else if (options.explain == "dot")
    printDot(report, stream);
  else if (options.explain == "html")
    printPage(report, sourcesOf(report.before, session.program), stream);
  else
    printText(report, stream);
  bool isForReading = !llvm::is_contained({"json", "dot", "html"}, options.explain);
  return isForReading ? runtime::visible(text) : text; // names of files are anything
}

/// What each kernel does to memory, of the graph or the kernel that is named. Kernels of
/// expressions have the dims of their graph.
std::string Fuse::summarize() {
  llvm::StringMap<ir::CallOp> expressions;
  session.module().walk([&](ir::CallOp call) {
    if (ir::isExpression(call))
      expressions.try_emplace(call.getCallee(), call);
  });
  std::string text;
  llvm::json::Array kernels;
  for (auto kernel : session.module().getOps<ir::KernelOp>()) {
    ir::KernelSummary summary(kernel);
    std::string lines = summary.text();
    llvm::json::Value object = summary.json();
    if (auto found = expressions.find(kernel.getSymName()); found != expressions.end()) {
      auto graph = found->second->getParentOfType<ir::GraphOp>();
      ir::GraphShapes shapes(graph);
      auto inDims = [&](const std::string &words) {
        return ir::inDimsOfGraph(found->second, words, graph, shapes);
      };
      lines = inDims(lines);
      object = llvm::cantFail(llvm::json::parse(inDims(llvm::formatv("{0}", object))));
    }
    text += (text.empty() ? "" : "\n") + lines;
    kernels.push_back(std::move(object));
  }
  if (wantsJson())
    return jsonText(llvm::json::Object{
        {"ok", true}, {"diagnostics", toJson(session.diags)}, {"kernels", std::move(kernels)}});
  return text;
}

Outcome<std::monostate> Fuse::write(const std::string &text) {
  if (options.output.empty()) {
    llvm::outs() << text;
    return Done{};
  }
  if (session.isSource(options.output))
    return Failure::usage({"'" + options.output + "' is a source, and would be overwritten",
                           "name another file with -o"});
  std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  if (auto written = runtime::replaceFile(options.output, {&bytes, 1}); !written)
    return Failure::environment(written.takeError());
  return Done{};
}

Outcome<std::monostate> Fuse::checkOptions() {
  auto parsed = parseFuseMode(options.fuse);
  if (!parsed)
    return parsed.takeFailure();
  mode = *parsed;
  bool isOther = options.explain != "text" && options.explain != "json";
  if (options.json && (isOther || !options.why.empty()))
    return Failure::usage({"--json and " + (isOther ? "--explain=" + options.explain : "--why") +
                               " ask for different things",
                           "--json is --explain=json"});
  if (options.explain != "text" && !options.why.empty())
    return Failure::usage({"--why and --explain=" + options.explain + " ask for different things",
                           "--why takes --explain=text"});
  if (options.explain == "plan" && mode != FuseMode::Exact)
    return Failure::usage({"a plan says what becomes one without a bit that changes",
                           "--explain=plan takes --fuse=exact"});
  if (!options.why.empty() && mode == FuseMode::Off)
    return Failure::usage(
        {"--fuse=off tries nothing between two calls", "--why takes --fuse=exact or fast"});
  if (options.measure && options.device != "cpu" && options.device != "cuda")
    return Failure::usage({"'" + options.device + "' is a description, and nothing runs on it",
                           "--measure takes this machine's --device=cpu or cuda"});
  if (options.measure &&
      (!options.why.empty() || options.explain == "dot" || options.explain == "plan"))
    return Failure::usage(
        {(options.why.empty() ? "--explain=" + options.explain : "--why") + " shows no times",
         "--measure takes --explain=text, json or html"});
  if (options.schedule.isGiven() &&
      (options.measure || options.summaries || options.explain == "plan"))
    return Failure::usage({(options.measure     ? "--measure"
                            : options.summaries ? "--summaries"
                                                : "--explain=plan") +
                               std::string(" takes the tile sizes that tilec chooses"),
                           "leave out --set and --schedule"});
  if (options.summaries && (isOther || !options.why.empty()))
    return Failure::usage({options.why.empty() ? "--summaries are no drawing and no plan"
                                               : "--summaries and --why ask for different things",
                           "--summaries takes --explain=text or json, and nothing more"});
  return Done{};
}

/// Which values its dims have here, and which of them nobody gave.
Outcome<std::monostate> Fuse::nameDims(ir::GraphOp graph) {
  if (mlir::DictionaryAttr consts = graph.getConstsAttr())
    for (mlir::NamedAttribute entry : consts)
      if (auto usual = llvm::dyn_cast<mlir::IntegerAttr>(entry.getValue()))
        dims.try_emplace(entry.getName(), usual.getInt());
  ir::GraphShapes(graph).addEqual(dims);
  std::vector<std::string> names;
  for (llvm::StringRef dim : graph.getDims().getAsValueRange<mlir::StringAttr>()) {
    names.push_back(dim.str());
    if (auto given = dims.find(dim); given != dims.end())
      report.dims.push_back(dim.str() + " = " + std::to_string(given->second));
    else
      report.assumedDims.push_back(dim.str());
  }
  for (const auto &entry : dims)
    if (!llvm::is_contained(names, entry.getKey())) {
      std::string advice = didYouMean(entry.getKey().str(), names);
      return Failure::usage(
          {"`" + report.graph + "` has no dimension `" + entry.getKey().str() + "`",
           !advice.empty() ? advice
           : names.empty() ? ""
                           : "it has " + llvm::join(names, ", ")});
    }
  return Done{};
}

/// Dims that nobody chose are as good as others, unless no run could have them.
Outcome<std::monostate> Fuse::checkShapes() {
  auto done = checkDims(session.compiler, session.module(), symbol, dims);
  if (done)
    return Done{};
  Failure failure = done.takeFailure();
  isBeyondMemory = true;
  if (failure.message.empty() && options.dims.empty() && !report.assumedDims.empty())
    return Failure::usage({"no run of `" + report.graph + "` has " +
                               llvm::join(report.assumedDims, " = ") + " = " +
                               std::to_string(report.assumedExtent) + ", which nobody chose",
                           failure.hint});
  if (!options.dims.empty() || failure.message.empty())
    return failure;
  session.diags.report(dsl::Diagnostic::Severity::Warning, nullptr, {}, failure.message)
      .hints.push_back(failure.hint);
  return Done{};
}

/// The symbol of the graph as it is afterwards; the report has both.
std::string Fuse::fuseIt(ir::GraphOp graph, double &seconds) {
  StageTimer timer(session.compiler.times, "fuse");
  auto start = std::chrono::steady_clock::now();
  // What runs have seen of its code; none is made here.
  if (device.isGpu && !options.noCache)
    session.useCache();
  FusedGraph fused = fuseGraphByCode(session.module(), symbol, mode, device, dims, sizes,
                                     session.compiler.cache.get());
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  addWitnesses(session.module(), fused, device, dims, sizes);
  report.ledger = std::move(fused.ledger);
  sortByGain(report.ledger);
  report.before = GraphView(graph, dims, report.assumedExtent);
  auto after = session.module().lookupSymbol<ir::GraphOp>(fused.symbol);
  report.after = GraphView(after, dims, report.assumedExtent);
  report.peakBefore = bytesBetweenCalls(graph, device, dims);
  report.peakAfter = bytesBetweenCalls(after, device, dims);
  if (!isBeyondMemory) // else that is said already
    report.memory = options.device == "cpu" ? static_cast<double>(runtime::availableMemory())
                                            : device.figure("memory");
  return fused.symbol;
}

Outcome<std::monostate> Fuse::execute() {
  report.assumedExtent = ir::FuseOptions().usualExtent;
  if (auto done = checkOptions(); !done)
    return done;
  auto described = findDescription(options.device);
  if (!described)
    return described.takeFailure();
  device = *std::move(described);
  if (options.explain == "plan" && !device.isGpu && options.device != "cpu")
    return Failure::usage({"'" + options.device + "' is not this machine's processor",
                           "--explain=plan takes --device=cpu, cuda or a GPU's description"});
  auto parsed = parseDims(options.dims);
  if (!parsed)
    return parsed.takeFailure();
  dims = *std::move(parsed);
  auto given = options.schedule.read();
  if (!given)
    return given.takeFailure();
  sizes = *std::move(given);
  auto elaborated = elaborate();
  if (!elaborated)
    return elaborated.takeFailure();
  symbol = *elaborated;
  CrashReport::Scope scope("fusing " + symbol);
  if (options.summaries)
    return write(summarize());
  auto graph = llvm::cast<ir::GraphOp>(session.module().lookupSymbol(symbol));
  report.inputs = interfaceOf(graph).inputs;
  // What called graphs require holds for its dims, and the ledger has their calls.
  (void)ir::flattenGraph(graph);
  if (auto done = nameDims(graph); !done)
    return done;
  if (auto done = checkShapes(); !done)
    return done;
  if (auto done = sizes.check(kernelsOf(session.module(), symbol)); !done)
    return done;
  double fuseSeconds = 0;
  std::string fusedSymbol = fuseIt(graph, fuseSeconds);
  report.device = device.title;
  report.mode = nameOf(mode).str();
  if (options.measure) {
    Device where = options.device == "cuda" ? Device::Cuda : Device::Cpu;
    if (auto done = measure(session.compiler, session.module(), where, symbol, fusedSymbol, dims,
                            fuseSeconds, report);
        !done)
      return done;
  }
  auto text = explain();
  if (!text)
    return text.takeFailure();
  return write(*text);
}

Command tile::frontend::cli::addFuseCommand(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("fuse", "Show which kernels of a graph become one, and why others don't");
  auto options = std::make_shared<FuseCommandOptions>();
  command->add_option("FILE[:NAME]", options->file, "A source, and its graph; - is standard input")
      ->required();
  addEntryOption(*command, options->entry, "The graph");
  command
      ->add_option("--device", options->device,
                   "cpu, cuda, or a description of a device: its name, or FILE.json")
      ->type_name("DEVICE")
      ->capture_default_str();
  addFuseOption(*command, options->fuse, "How")->check(oneOf({"exact", "fast", "off"}));
  addRepeated(*command, "--dim", options->dims,
              "The value of a dimension that is planned for; 4096 without it")
      ->type_name("NAME=VALUE");
  addRepeated(*command, "--bind", options->types, "A type parameter")->type_name("NAME=TYPE");
  addScheduleOptions(*command, options->schedule);
  command
      ->add_option("--explain", options->explain,
                   "text, json, dot, html: a page to click through, or plan: for tilec run --pin")
      ->type_name("HOW")
      ->check(oneOf({"text", "json", "dot", "html", "plan"}))
      ->capture_default_str();
  addJsonOption(*command, options->json, "--explain=json: the report");
  command->add_flag("--no-cache", options->noCache,
                    "Plan without what runs on a GPU have seen of the code (tilec cache)");
  command
      ->add_option(
          "--why", options->why,
          "What was tried between two calls, each named by a value that it gives, its kernel, "
          "or line:column")
      ->expected(2)
      ->type_name("A B");
  command->add_flag(
      "--summaries", options->summaries,
      "What each kernel reads and writes, before anything is fused; of a kernel, too");
  command
      ->add_flag("--measure", options->measure,
                 "Run the graph before and after on this machine's cpu or cuda, with random\n"
                 "floats and the dims that are planned for; and when compiling is earned back")
      ->excludes("--summaries");
  command->add_option("-o", options->output, "Write to a file")->type_name("FILE");
  addSourceOptions(*command, options->source);
  command->footer(
      "Times are predicted from the device's description (tilec info --devices); nothing runs "
      "without\n"
      "--measure. The dims "
      "that are planned for decide what is worth it, never what is right: what is fused is right "
      "for all.\n\n"
      "Examples:\n"
      "  tilec fuse block.tile\n"
      "  tilec fuse block.tile:layer --device=h200 --dim M=8192 --why h y\n"
      "  tilec fuse block.tile:layer --summaries\n"
      "  tilec fuse block.tile --explain=html -o block.html\n"
      "  tilec fuse block.tile --explain=dot | dot -Tsvg -o block.svg");
  return {command, [options] { return Fuse(*options).run(); }};
}
