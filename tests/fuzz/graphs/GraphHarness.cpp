#include "tests/fuzz/graphs/GraphHarness.h"

#include "dsl/Elaborator.h"
#include "frontend/execute/Execution.h"
#include "frontend/fusion/Fusion.h"
#include "frontend/fusion/FusionCost.h"
#include "frontend/fusion/FusionPlan.h"
#include "frontend/model/DeviceDescription.h"
#include "ir/dialect/AffineEval.h"
#include "ir/fusion/FuseGraph.h"
#include "ir/fusion/Fuser.h"
#include "ir/fusion/InlineProducer.h"
#include "ir/fusion/MergeSiblings.h"
#include "runtime/cuda/Gpu.h"
#include "tests/InternalWords.h"

#include "mlir/IR/Verifier.h"

#include <cmath>
#include <cstring>

using namespace tile;
using namespace tile::fuzz;
using frontend::Device;

//===-- Fusion ------------------------------------------------------------===//

/// Whether a kernel that was to be made of two was none: that is a fault of the fuser's.
static bool isUnsound(llvm::StringRef fault) { return fault.contains("not verified: "); }

/// All that is legal, whatever it costs.
static void fuseAll(ir::GraphOp graph) {
  ir::inlineProducers(graph);
  ir::mergeSiblings(graph);
}

/// What is wrong with what is told of a fusion, if something is: a kernel that was built must be
/// sound, and reasons have no words but the user's.
static std::string faultIn(const ir::FusionLedger &ledger) {
  for (const ir::FusionEntry &entry : ledger.entries) {
    if (isUnsound(entry.fault))
      return entry.fault;
    if (std::string word = internalWord(entry.reason); !word.empty())
      return "`" + word + "` in the reason: " + entry.reason;
  }
  return "";
}

/// What the search takes, as `tilec run` does, for a processor or a GPU and some extents. Returns
/// what is wrong with what it tells.
static std::string fuseBySearch(ir::GraphOp graph, Random &random, bool keepsPrecision = false) {
  ir::prepareForFusion(graph);
  frontend::FusionCost model(frontend::usualDescription(random.chance(50)));
  ir::FuseOptions options;
  options.keepsPrecision = keepsPrecision;
  options.usualExtent = random.chance(50) ? 4096 : 7;
  return faultIn(ir::fuse(graph, model, options));
}

/// A legal step between two random calls; false where it is refused.
static bool fuseTwo(ir::GraphOp graph, ir::GraphShapes &shapes, Random &random,
                    ir::FusionRefusal &refusal) {
  llvm::SmallVector<ir::CallOp> calls(graph.getBody().getOps<ir::CallOp>());
  if (calls.size() < 2)
    return false;
  ir::CallOp consumer = random.pick(calls);
  if (random.chance(30)) {
    ir::CallOp guest = random.pick(calls);
    if (guest == consumer || ir::reaches(guest, consumer) || ir::reaches(consumer, guest))
      return false;
    auto merged = ir::proposeMerging(guest, consumer, shapes, refusal);
    if (!merged)
      return false;
    merged->commit();
    guest.erase();
    return true;
  }
  mlir::Value tensor;
  for (int tries = 0; tries < 4 && !tensor; ++tries) {
    mlir::Value input = consumer.getInputs()[random.below(consumer.getInputs().size())];
    if (input.getDefiningOp<ir::CallOp>())
      tensor = input;
  }
  if (!tensor)
    return false;
  auto producer = tensor.getDefiningOp<ir::CallOp>();
  ir::InlineOptions options{.widens = random.chance(60), .keeps = random.chance(50)};
  llvm::SmallVector<mlir::Value> tensors = {tensor};
  if (random.chance(70))
    tensors = ir::tensorsBetween(producer, consumer);
  auto fused = ir::proposeInlining(producer, consumer, tensors, options, shapes, refusal);
  if (!fused)
    return false;
  fused->commit();
  if (producer.use_empty())
    producer.erase();
  return true;
}

static std::string fuseSome(ir::GraphOp graph, Random &random) {
  ir::prepareForFusion(graph);
  ir::GraphShapes shapes(graph);
  size_t wanted = 1 + random.below(random.chance(50) ? 3 : 12);
  for (size_t tries = 0, done = 0; tries < 6 * wanted && done < wanted; ++tries) {
    ir::FusionRefusal refusal;
    done += fuseTwo(graph, shapes, random, refusal);
    if (isUnsound(refusal.fault))
      return refusal.fault;
  }
  return "";
}

static int64_t countCalls(ir::GraphOp graph) {
  auto calls = graph.getBody().getOps<ir::CallOp>();
  return std::distance(calls.begin(), calls.end());
}

//===-- The check ---------------------------------------------------------===//

namespace {
class GraphCheck {
public:
  GraphCheck(const GraphProgram &program, const GraphOptions &options)
      : program(program), options(options), context(mlir::MLIRContext::Threading::DISABLED),
        random(program.seed ^ 0x5bd1e995) {}

  GraphOutcome run();

private:
  using Outputs = frontend::Outputs;
  bool fail(const std::string &category, const std::string &detail) {
    static_cast<Outcome &>(outcome) = {Outcome::Kind::Failed, category, detail, outcome.compared,
                                       outcome.exact};
    return false;
  }
  bool elaborate();
  bool makeArguments();
  std::optional<Outputs> execute(frontend::Executor &executor, const std::string &run,
                                 const std::string &graph = "");
  bool interpret(mlir::ModuleOp module, const std::string &run, bool reverse);
  bool interpretWithSizes(mlir::ModuleOp module);
  bool runOn(Device device, mlir::ModuleOp fused, bool isWatched);
  bool runFast(mlir::ModuleOp copy);
  bool runPinned(mlir::ModuleOp copy, bool isForGpu, Device device);
  bool fuseAndRun(mlir::ModuleOp copy, const std::string &run,
                  llvm::function_ref<std::string(ir::GraphOp)> fuse);
  bool compare(const Outputs &actual, const std::string &run, const Outputs *loose = nullptr);
  bool compareBits(const Outputs &wanted, const Outputs &actual, const std::string &run);

  const GraphProgram &program;
  const GraphOptions &options;
  mlir::MLIRContext context;
  Random random;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string symbol, messages;
  frontend::Arguments arguments;
  Outputs expected;
  GraphOutcome outcome;
};
} // namespace

bool GraphCheck::elaborate() {
  dsl::DiagnosticEngine diags;
  dsl::Program sources(diags, {});
  dsl::Elaborator elaborator(context, sources, diags);
  dsl::DiagnosticBridge bridge(context, sources, diags);
  dsl::LoadedFile *file = sources.load("random.tile", program.str());
  bool isParsed = diags.errorCount() == 0; // what isn't is the generator's mistake
  if (isParsed)
    symbol = elaborator.elaborate({&file->module.decls.back(), file}, {});
  if (symbol.empty() || diags.errorCount() != 0) {
    outcome.kind = isParsed ? Outcome::Kind::Refused : Outcome::Kind::Failed;
    outcome.category = diags.errorCount() ? diags.diagnostics().front().message : "silence";
    outcome.detail = diags.print(/*colour=*/false);
    return false;
  }
  module = elaborator.takeModule();
  outcome.calls = countCalls(module->lookupSymbol<ir::GraphOp>(symbol));
  return true;
}

static double numberOf(Random &random, Values values, bool isFloat) {
  if (!isFloat)
    return static_cast<double>(random.chance(80) ? random.between(-3, 20)
                                                 : random.between(-90, 90));
  if (values == Values::Exact)
    return static_cast<double>(random.between(-4, 4));
  double sum = 0;
  for (int n = 0; n < 6; ++n)
    sum += random.unit() - 0.5;
  if (values == Values::Rough && random.chance(3)) {
    static const double special[] = {INFINITY, -INFINITY, NAN, -0.0, 1e-40, 3e38, 65504};
    return special[random.below(std::size(special))];
  }
  return sum * 2;
}

bool GraphCheck::makeArguments() {
  auto graph = module->lookupSymbol<ir::GraphOp>(symbol);
  llvm::SmallVector<int64_t> dims;
  for (llvm::StringRef name : graph.getDims().getAsValueRange<mlir::StringAttr>())
    dims.push_back(program.dims.at(name.str()));
  for (unsigned n = 0; n < graph.getNumArguments(); ++n) {
    auto name = graph.getArgAttrOfType<mlir::StringAttr>(n, "tile.name").getValue();
    auto shape = graph.getArgAttrOfType<mlir::AffineMapAttr>(n, "tile.shape").getValue();
    std::vector<int64_t> extents;
    for (mlir::AffineExpr extent : shape.getResults())
      extents.push_back(*ir::evaluateAffine(extent, {}, dims));
    const GraphTensor *input = program.find(name.str());
    auto type = runtime::parseDType(input ? input->type : "i8");
    auto tensor = std::make_shared<runtime::Tensor>(*runtime::Tensor::create(*type, extents));
    // By name and seed alone, so that shrinking keeps the numbers.
    uint64_t key = program.seed;
    for (char c : name)
      key = key * 131 + static_cast<unsigned char>(c);
    Random numbers(key);
    bool isFloat = runtime::isFloat(*type);
    for (int64_t e = 0; e < tensor->numElements(); ++e) {
      double number = numberOf(numbers, program.values, isFloat);
      if (isFloat)
        tensor->setDouble(e, number);
      else
        tensor->setInt(e,
                       *type == runtime::DType::Bool ? number > 8 : static_cast<int64_t>(number));
    }
    arguments.push_back({tensor});
  }
  return true;
}

std::optional<frontend::Outputs> GraphCheck::execute(frontend::Executor &executor,
                                                     const std::string &run,
                                                     const std::string &graph) {
  executor.poisons = true;
  executor.isQuiet = true;
  auto outputs = executor.run(graph.empty() ? symbol : graph, arguments, {});
  if (outputs)
    return *outputs;
  messages += outputs.takeFailure().message;
  fail("launch", run + ": " + messages);
  return std::nullopt;
}

static bool sameBits(const runtime::Tensor &a, const runtime::Tensor &b, int64_t n) {
  int64_t size = runtime::sizeOf(a.dtype());
  if (std::memcmp(a.data() + n * size, b.data() + n * size, static_cast<size_t>(size)) == 0)
    return true;
  return runtime::isFloat(a.dtype()) && std::isnan(a.getDouble(n)) && std::isnan(b.getDouble(n));
}

/// Bit for bit. Where sums may come in another order: as near as the same graph, unfused, on the
/// same device, `loose`, is to what is expected, and some digits of the type besides.
bool GraphCheck::compare(const Outputs &actual, const std::string &run, const Outputs *loose) {
  for (size_t o = 0; o < expected.size(); ++o) {
    const runtime::Tensor &wanted = *expected[o], &here = *actual[o];
    if (wanted.shape() != here.shape())
      return fail("shape", run + ": output " + std::to_string(o) + " has another shape");
    double off = 0;
    if (loose) {
      double most = 1;
      for (int64_t n = 0; n < wanted.numElements(); ++n) {
        double value = wanted.getDouble(n), other = (*loose)[o]->getDouble(n);
        most = std::max(most, std::isfinite(value) ? std::abs(value) : 0.0);
        off = std::max(off, std::isfinite(value) && std::isfinite(other) ? std::abs(value - other)
                                                                         : 0.0);
      }
      off = 16 * off + most * 1e-4;
      bool isHalf = runtime::sizeOf(wanted.dtype()) == 2;
      off += isHalf ? most * 0.02 : 0;
    }
    for (int64_t n = 0; n < wanted.numElements(); ++n) {
      ++outcome.compared;
      if (sameBits(wanted, here, n))
        continue;
      double a = wanted.getDouble(n), b = here.getDouble(n);
      if (loose && std::abs(a - b) <= off)
        continue;
      char text[160];
      std::snprintf(text, sizeof(text), ": output %zu (%s), element %lld is %.9g, unfused %.9g", o,
                    program.outputs[o].c_str(), static_cast<long long>(n), b, a);
      return fail("difference", run + text);
    }
  }
  return true;
}

/// Programs round what each of them adds to a `reduce` output. Siblings that are merged may have
/// longer blocks, and then fewer programs add: where sums are not exact, that shows in the last
/// bits.
static bool addsInPrograms(const std::string &text) {
  return text.find("reduce +") != std::string::npos || text.find("reduce *") != std::string::npos ||
         text.find("sum_columns") != std::string::npos;
}

bool GraphCheck::interpret(mlir::ModuleOp of, const std::string &run, bool reverse) {
  frontend::Compiler compiler;
  frontend::Executor executor(compiler, of, Device::Interp);
  executor.reverseOrder = reverse;
  auto outputs = execute(executor, run);
  if (!outputs || program.values == Values::Exact || !addsInPrograms(program.str()))
    return outputs && compare(*outputs, run);
  return program.values == Values::Rough || compare(*outputs, run, &expected);
}

bool GraphCheck::fuseAndRun(mlir::ModuleOp copy, const std::string &run,
                            llvm::function_ref<std::string(ir::GraphOp)> fuse) {
  messages.clear();
  std::string fault = fuse(copy.lookupSymbol<ir::GraphOp>(symbol));
  if (!fault.empty() || isUnsound(messages))
    return fail("fault", run + ": " + fault + messages);
  messages.clear(); // of refusals
  if (options.showsIR) {
    llvm::outs() << "// " << run << "\n" << copy << "\n";
    llvm::outs().flush();
  }
  if (mlir::failed(mlir::verify(copy)))
    return fail("verifier", run + ": " + messages);
  return interpret(copy, run, random.chance(50));
}

/// With --fuse=fast values are not rounded to halves any more, which has no bound where they
/// cancel, nor products that are added. Where neither is, all bits stay.
bool GraphCheck::runFast(mlir::ModuleOp copy) {
  std::string run = "fused by the search, fast";
  messages.clear();
  if (std::string fault = fuseBySearch(copy.lookupSymbol<ir::GraphOp>(symbol), random,
                                       /*keepsPrecision=*/true);
      !fault.empty())
    return fail("fault", run + ": " + fault);
  if (options.showsIR)
    llvm::outs() << "// " << run << "\n" << copy << "\n";
  if (mlir::failed(mlir::verify(copy)))
    return fail("verifier", run + ": " + messages);
  frontend::Compiler compiler;
  frontend::Executor executor(compiler, copy, Device::Interp);
  auto outputs = execute(executor, run);
  bool hasHalves = program.str().find("f16") != std::string::npos;
  if (!outputs || program.values == Values::Rough || hasHalves)
    return outputs.has_value();
  return compare(*outputs, run, program.values == Values::Exact ? nullptr : &expected);
}

/// Exact graphs mean the same with any tile sizes.
bool GraphCheck::interpretWithSizes(mlir::ModuleOp of) {
  frontend::Compiler compiler;
  frontend::Executor executor(compiler, of, Device::Interp);
  static const std::vector<int64_t> sizes = {1, 2, 3, 5, 7, 16, 33};
  for (ir::KernelOp kernel : frontend::kernelsOf(of, symbol))
    for (mlir::StringAttr binder : ir::sizableBinders(kernel))
      executor.sizes.everywhere[binder.str()] = random.pick(sizes);
  auto outputs = execute(executor, "fused, other tile sizes");
  return outputs && compare(*outputs, "fused, other tile sizes");
}

/// A context of the driver takes longer to make than a graph to run: a process keeps one.
static std::shared_ptr<runtime::cuda::Stream> gpuStream(std::string &problem) {
  static auto gpu = runtime::cuda::Gpu::open();
  if (!gpu)
    problem = gpu.error().str();
  return gpu ? gpu->stream() : nullptr;
}

bool GraphCheck::runOn(Device device, mlir::ModuleOp fused, bool isWatched) {
  frontend::Compiler compiler;
  std::string where = device == Device::Cpu ? "CPU" : "GPU";
  std::shared_ptr<runtime::cuda::Stream> stream;
  if (device == Device::Cuda && !(stream = gpuStream(messages)))
    return fail("GPU", messages);
  std::optional<Outputs> loose;
  if (program.values != Values::Exact) {
    frontend::Executor executor(compiler, *module, device);
    executor.stream = stream;
    loose = execute(executor, "unfused, " + where);
    if (!loose)
      return false;
  }
  std::string run = "fused, " + where + (isWatched ? ", watched" : "");
  frontend::Executor executor(compiler, fused, device);
  executor.stream = stream;
  executor.sanitizes = isWatched;
  auto outputs = execute(executor, run);
  return outputs && compare(*outputs, run, loose ? &*loose : nullptr);
}

bool GraphCheck::compareBits(const Outputs &wanted, const Outputs &actual, const std::string &run) {
  for (size_t o = 0; o < wanted.size(); ++o)
    for (int64_t n = 0; n < wanted[o]->numElements(); ++n) {
      ++outcome.compared;
      if (sameBits(*wanted[o], *actual[o], n))
        continue;
      char text[160];
      std::snprintf(text, sizeof(text), ": output %zu (%s), element %lld is %.17g, alone %.17g", o,
                    program.outputs[o].c_str(), static_cast<long long>(n), actual[o]->getDouble(n),
                    wanted[o]->getDouble(n));
      return fail("pinned", run + text);
    }
  return true;
}

/// As the search fuses it, and its calls one by one under the same plan: bit for bit, whatever
/// they compute. The interpreter runs a plan for a GPU where there is none.
bool GraphCheck::runPinned(mlir::ModuleOp copy, bool isForGpu, Device device) {
  messages.clear();
  std::string run = isForGpu ? "under a plan, GPU" : "under a plan, CPU";
  const frontend::DeviceDescription &planned = frontend::usualDescription(isForGpu);
  std::shared_ptr<runtime::cuda::Stream> stream;
  if (device == Device::Cuda && !(stream = gpuStream(messages)))
    return fail("GPU", messages);
  llvm::StringMap<int64_t> dims;
  for (const auto &[name, value] : program.dims)
    dims[name] = value;
  frontend::FusedGraph fused = frontend::fuseGraph(copy, symbol, FuseMode::Exact, planned, dims);
  frontend::Compiler compiler;
  auto plan = frontend::makePlan(compiler, copy, symbol, fused.ledger, planned, dims);
  if (!plan) {
    std::string problem = messages + plan.takeFailure().message;
    // Tiles that the calls' own schedules ask for, and axes that are whole, which a plan doesn't
    // cut into chunks, may be more than a GPU has room for.
    for (const char *lacks : {" bytes of shared memory", " elements a thread"})
      if (problem.find(lacks) != std::string::npos)
        return true;
    return fail("plan", problem);
  }
  std::map<FuseMode, Outputs> found;
  for (FuseMode mode : {FuseMode::Off, FuseMode::Exact}) {
    auto graph = frontend::pinGraph(copy, symbol, *plan, mode, dims);
    if (!graph)
      return fail("plan", messages + graph.takeFailure().message);
    frontend::Executor executor(compiler, copy, device);
    executor.stream = stream;
    auto outputs = execute(executor, run, *graph);
    if (!outputs)
      return false;
    found[mode] = *outputs;
  }
  return compareBits(found[FuseMode::Off], found[FuseMode::Exact], run);
}

GraphOutcome GraphCheck::run() {
  if (!elaborate())
    return outcome;
  mlir::ScopedDiagnosticHandler handler(&context, [this](mlir::Diagnostic &diagnostic) {
    std::string text = diagnostic.str();
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error || isUnsound(text))
      messages += text + "\n";
    return mlir::success();
  });
  makeArguments();
  {
    frontend::Compiler compiler;
    frontend::Executor executor(compiler, *module, Device::Interp);
    auto outputs = execute(executor, "unfused");
    if (!outputs) { // a requirement, or a shape that the launch finds wrong
      outcome.kind = Outcome::Kind::Refused;
      outcome.category = messages;
      return outcome;
    }
    expected = *outputs;
  }
  mlir::OwningOpRef<mlir::ModuleOp> fused(module->clone());
  auto all = [](ir::GraphOp graph) { return fuseAll(graph), std::string(); };
  if (!fuseAndRun(*fused, "fused", all))
    return outcome;
  outcome.left = countCalls(fused->lookupSymbol<ir::GraphOp>(symbol));
  // A small graph, which another one may have been shrunk to, in several ways.
  for (int n = outcome.calls < 10 ? 4 : 1; n > 0; --n) {
    mlir::OwningOpRef<mlir::ModuleOp> some(module->clone());
    if (!fuseAndRun(*some, "some fused",
                    [&](ir::GraphOp graph) { return fuseSome(graph, random); }))
      return outcome;
  }
  {
    mlir::OwningOpRef<mlir::ModuleOp> chosen(module->clone());
    if (!fuseAndRun(*chosen, "fused by the search",
                    [&](ir::GraphOp graph) { return fuseBySearch(graph, random); }))
      return outcome;
  }
  // What is run does not depend on the graph, so that shrinking keeps it.
  Random choice(program.seed ^ 0x2545f491);
  bool isExact = program.values == Values::Exact;
  if (isExact && choice.chance(60) && !interpretWithSizes(*fused))
    return outcome;
  bool isOnCpu = choice.chance(static_cast<int>(options.percentOnCpu));
  bool isWatched = choice.chance(static_cast<int>(options.percentWatched));
  bool isOnGpu = choice.chance(static_cast<int>(options.percentOnGpu));
  bool isRough = program.values == Values::Rough;
  if (isOnCpu && !isRough && !runOn(Device::Cpu, *fused, isWatched))
    return outcome;
  if (isOnGpu && !isRough && !runOn(Device::Cuda, *fused, /*isWatched=*/false))
    return outcome;
  bool isForGpu = choice.chance(static_cast<int>(options.percentPlannedForGpu));
  if (isOnCpu) {
    mlir::OwningOpRef<mlir::ModuleOp> copy(module->clone());
    if (!runPinned(*copy, /*isForGpu=*/false, Device::Cpu))
      return outcome;
  }
  if (isOnGpu || isForGpu) {
    mlir::OwningOpRef<mlir::ModuleOp> copy(module->clone());
    if (!runPinned(*copy, /*isForGpu=*/true, isOnGpu ? Device::Cuda : Device::Interp))
      return outcome;
  }
  if (choice.chance(40)) {
    mlir::OwningOpRef<mlir::ModuleOp> copy(module->clone());
    (void)runFast(*copy);
  }
  return outcome;
}

GraphOutcome fuzz::check(const GraphProgram &program, const GraphOptions &options) {
  return GraphCheck(program, options).run();
}
