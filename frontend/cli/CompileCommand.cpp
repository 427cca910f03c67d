//===- CompileCommand.cpp - tilec compile ---------------------------------===//

#include "codegen/cpu/CpuCompiler.h"
#include "codegen/gpu/GpuCompiler.h"
#include "codegen/gpu/loops/LoopDesc.h"
#include "dsl/AstPrinter.h"
#include "frontend/artifact/ArtifactBuilder.h"
#include "frontend/artifact/GpuAssembly.h"
#include "frontend/base/CrashReport.h"
#include "frontend/base/Interface.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DiagnosticJson.h"
#include "frontend/cli/Inputs.h"
#include "frontend/cli/IrSource.h"
#include "frontend/cli/TargetList.h"
#include "frontend/execute/LocalMemory.h"
#include "frontend/execute/TileSizes.h"
#include "frontend/fusion/Fusion.h"
#include "frontend/fusion/FusionVeto.h"
#include "frontend/model/DeviceDescription.h"
#include "ir/dialect/AffineEval.h"
#include "ir/dialect/UserError.h"
#include "ir/fusion/GraphShapes.h"
#include "ir/proofs/Spelling.h"
#include "runtime/base/FileIO.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/load/Encoding.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

namespace {
struct CompileOptions {
  /// No target: the processor that compiles, or the default GPU.
  std::string entry, output, emit = "tile", target;
  std::vector<std::string> files, dims, types;
  ScheduleOptions schedule;
  std::string fuse = nameOf(defaultFuseMode).str();
  bool noCache = false, cubins = false, json = false;
  SourceOptions source;
  PipelineOptions pipeline;
};

class Compile {
public:
  explicit Compile(const CompileOptions &options) : options(options), session(options.source) {}

  int run() {
    Outcome<std::string> result = compile();
    if (!result)
      return failCall(session, result.takeFailure(), options.json);
    if (auto written = write(*result); !written)
      return failCall(session, written.takeFailure(), options.json);
    int code = session.finish();
    if (options.json)
      printReport(*result, code);
    return code;
  }

private:
  Outcome<std::string> compile();
  Outcome<dsl::LoadedFile *> load(const std::string &path);
  Outcome<std::vector<dsl::DeclRef>> declarations(dsl::LoadedFile &file, const std::string &name);
  Outcome<std::monostate> elaborate(dsl::LoadedFile &file, const std::string &name);
  Outcome<std::monostate> loadIr(const std::string &path, const std::string &name);
  Outcome<std::vector<dsl::TypeBindings>> instances(dsl::DeclRef decl);
  Outcome<std::monostate> checkTypes(llvm::ArrayRef<dsl::DeclRef> decls) const;
  Outcome<std::monostate> checkDims();
  ir::Bindings bindingsOf(ir::KernelOp kernel) const;
  Outcome<std::string> emitTile();
  Outcome<std::string> emitLoops();
  Outcome<std::monostate> checkTarget() const;
  void bindDimsOfCall(ir::GraphOp graph, ir::KernelOp kernel);
  Outcome<ir::KernelOp> oneKernel(const DeviceDescription &device);
  Outcome<std::string> emitForCpu();
  Outcome<std::string> emitForGpu();
  Outcome<std::string> emitArtifact();
  Outcome<std::string> fuse(const std::string &symbol, const DeviceDescription &device);
  std::string cpu() const {
    return options.target.empty() || options.target == "cpu" ? "native" : options.target;
  }
  /// What only GPUs have.
  bool emitsGpuCode() const {
    return llvm::is_contained({"plan", "gpu", "ptx", "cubin", "sass"}, StringRef(options.emit));
  }
  bool isForGpu() const { return runtime::GpuTarget::find(options.target) || emitsGpuCode(); }
  Outcome<std::monostate> write(const std::string &text);
  void printReport(const std::string &text, int code) const;

  const CompileOptions &options;
  Session session;
  llvm::StringMap<int64_t> dims;
  TileSizes sizes;
};
} // namespace

/// The entry, or all kernels and graphs.
Outcome<std::vector<dsl::DeclRef>> Compile::declarations(dsl::LoadedFile &file,
                                                         const std::string &name) {
  std::vector<dsl::DeclRef> decls;
  if (!name.empty()) {
    auto decl = session.entry(file, name);
    if (!decl)
      return decl.takeFailure();
    decls.push_back(*decl);
  } else {
    for (const dsl::Decl &decl : file.module.decls)
      if (decl.kind == dsl::Decl::Kind::Kernel || decl.kind == dsl::Decl::Kind::Graph)
        decls.push_back({&decl, &file});
  }
  return decls;
}

/// What was asked for with what it calls; generics that nothing binds take their first type.
Outcome<std::monostate> Compile::elaborate(dsl::LoadedFile &file, const std::string &name) {
  auto decls = declarations(file, name);
  if (!decls)
    return decls.takeFailure();
  for (dsl::DeclRef decl : *decls) {
    auto types = parseTypeBindings(session, decl, options.types);
    if (!types)
      return types.takeFailure();
    for (const dsl::Generic &generic : decl.decl->generics)
      if (!generic.isConst && !types->count(generic.name.text)) {
        std::vector<ir::ElementType> choices = session.elaborator.alternatives(decl, generic);
        if (choices.empty())
          return Failure::reported();
        (*types)[generic.name.text] = choices.front();
      }
    if (auto symbol = session.elaborate(decl, *types); !symbol)
      return symbol.takeFailure();
  }
  return Done{};
}

/// Refuses a dimension that nothing of what is compiled has.
Outcome<std::monostate> Compile::checkDims() {
  llvm::SetVector<StringRef> known;
  for (Operation &op : *session.module().getBody())
    if (auto dims = op.getAttrOfType<ArrayAttr>("dims"))
      known.insert_range(dims.getAsValueRange<StringAttr>());
  SmallVector<StringRef> given(dims.keys());
  llvm::sort(given);
  for (StringRef name : given)
    if (!known.contains(name))
      return Failure::usage({"nothing here has a dimension or constant `" + name.str() + "`",
                             ir::adviseName(name, known.getArrayRef(), "there are")});
  // Kernels that graphs call have dims of their own.
  if (session.module().getOps<ir::GraphOp>().empty())
    for (auto kernel : session.module().getOps<ir::KernelOp>())
      if (failed(ir::checkDims(kernel, bindingsOf(kernel))))
        return Failure::usage({"", ""}); // told at its place
  return Done{};
}

/// Dimensions that are given are those of the entry: they are taken where a kernel has them.
ir::Bindings Compile::bindingsOf(ir::KernelOp kernel) const {
  ir::Bindings bindings = sizes.of(kernel);
  for (StringRef name : kernel.getDims().getAsValueRange<StringAttr>())
    if (auto given = dims.find(name); given != dims.end())
      bindings.dims[name] = given->second;
  return bindings;
}

Outcome<std::string> Compile::emitTile() {
  OwningOpRef<ModuleOp> result(session.module().clone());
  for (ir::KernelOp kernel : session.module().getOps<ir::KernelOp>()) {
    if (session.compiler.stopAfter == elaborateStage)
      break;
    OwningOpRef<ir::KernelOp> compiled = session.compiler.compile(kernel, bindingsOf(kernel));
    if (!compiled)
      return Failure::reported();
    Operation *old = result->lookupSymbol(kernel.getSymName());
    OpBuilder(old).insert(compiled.release());
    old->erase();
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << *result << "\n";
  return text;
}

/// The loops around contractions of each kernel, as its source has them, or with what is bound.
Outcome<std::string> Compile::emitLoops() {
  SmallVector<ir::KernelOp> kernels(session.module().getOps<ir::KernelOp>());
  std::string text;
  for (ir::KernelOp kernel : kernels) {
    OwningOpRef<ir::KernelOp> compiled = session.compiler.compile(kernel, bindingsOf(kernel));
    if (!compiled)
      return Failure::reported();
    if (kernels.size() > 1)
      text += (text.empty() ? "" : "\n") + ("kernel " + kernel.getSymName()).str() + "\n";
    std::string loops = codegen::gpu::loopText(*compiled);
    text += loops.empty() ? "no contraction\n" : loops;
  }
  return text;
}

/// Dims that were given of the graph, as those that its only call binds of its kernel.
void Compile::bindDimsOfCall(ir::GraphOp graph, ir::KernelOp kernel) {
  ir::GraphShapes shapes(graph);
  shapes.addEqual(dims);
  SmallVector<std::optional<int64_t>> values(shapes.numSymbols());
  for (auto [n, name] : llvm::enumerate(graph.getDims().getAsValueRange<StringAttr>()))
    if (auto given = dims.find(name); given != dims.end())
      values[n] = given->second;
  llvm::StringMap<int64_t> bound;
  SmallVector<int64_t> numbers;
  for (std::optional<int64_t> value : values)
    numbers.push_back(value.value_or(0));
  auto call = *graph.getBody().getOps<ir::CallOp>().begin();
  for (auto [name, extent] :
       llvm::zip(kernel.getDims().getAsValueRange<StringAttr>(), shapes.dimsOf(call))) {
    bool isGiven = true;
    extent.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        isGiven &= values[symbol.getPosition()].has_value();
    });
    // A name of the graph's may be another dimension's of the kernel. One that the graph hasn't is
    // the kernel's own.
    bool isOfGraph = llvm::is_contained(graph.getDims().getAsValueRange<StringAttr>(), name);
    if (std::optional<int64_t> value = ir::evaluateAffine(extent, {}, numbers); isGiven && value)
      bound[name] = *value;
    else if (auto given = dims.find(name); given != dims.end() && !isOfGraph)
      bound[name] = given->second;
  }
  dims = std::move(bound);
}

/// LLVM IR, assembly, objects and code for GPUs are those of one kernel, or of a graph that becomes
/// one.
Outcome<ir::KernelOp> Compile::oneKernel(const DeviceDescription &device) {
  SmallVector<ir::KernelOp> kernels(session.module().getOps<ir::KernelOp>());
  SmallVector<ir::GraphOp> graphs(session.module().getOps<ir::GraphOp>());
  if (graphs.size() == 1) {
    std::string name = graphs.front().getSymName().str();
    auto fused = fuse(name, device);
    if (!fused)
      return fused.takeFailure();
    kernels = kernelsOf(session.module(), *fused);
    std::vector<std::string> calls;
    session.module().lookupSymbol(*fused)->walk(
        [&](ir::CallOp call) { calls.push_back("`" + ir::nameInSource(call.getCallee()) + "`"); });
    if (kernels.size() != 1 || calls.size() != 1)
      return Failure::usage({"--emit=" + options.emit + " takes one kernel, and graph `" +
                                 sourceName(name).str() + "` has " + std::to_string(calls.size()) +
                                 " calls: " + llvm::join(calls, ", "),
                             "tilec fuse shows why; --emit=artifact takes graphs as they are"});
    bindDimsOfCall(session.module().lookupSymbol<ir::GraphOp>(*fused), kernels.front());
  }
  if (kernels.size() == 1)
    return kernels.front();
  SmallVector<StringRef> names;
  for (ir::KernelOp kernel : kernels)
    names.push_back(sourceName(kernel.getSymName()));
  return Failure::usage({"--emit=" + options.emit + " takes one kernel",
                         "name it, FILE:NAME; there are " + llvm::join(names, ", ")});
}

Outcome<std::string> Compile::emitForCpu() {
  auto source = oneKernel(usualDescription(/*isGpu=*/false));
  if (!source)
    return source.takeFailure();
  ir::Bindings bindings = bindingsOf(*source);
  SmallVector<int64_t> known;
  for (StringRef name : source->getDims().getAsValueRange<StringAttr>())
    known.push_back(bindings.dims.contains(name) ? bindings.dims[name] : -1);
  auto threads = runtime::parseThreadCount(nullptr);
  Compiler::chooseTiles(*source, bindings, known, threads ? *threads : 1);
  OwningOpRef<ir::KernelOp> kernel = session.compiler.compile(*source, bindings);
  if (!kernel)
    return Failure::reported();
  CrashReport::Scope scope("generating code for kernel " + kernel->getSymName().str(),
                           kernel.get());
  codegen::CpuCompiler compiler({.cpu = cpu()});
  FailureOr<std::string> code = options.emit == "llvm"  ? compiler.compileToLlvmIr(kernel.get())
                                : options.emit == "asm" ? compiler.emitAssembly(kernel.get())
                                                        : compiler.emitObject(kernel.get());
  if (failed(code))
    return Failure::reported();
  return std::move(*code);
}

Outcome<std::string> Compile::emitForGpu() {
  if (!options.noCache)
    session.useCache();
  codegen::GpuOptions gpu;
  auto choice = chooseGpu(options.target.empty() ? std::string(gpu.target.name) : options.target);
  if (!choice)
    return choice.takeFailure();
  gpu.target = choice->device ? gpuTargetOf(choice->target, *choice->device)
                              : runtime::GpuTarget::of(choice->target);
  gpu.observer = session.compiler.gpuObserver();
  gpu.stopAfter = options.pipeline.stopAfter;
  DeviceDescription device =
      choice->device ? descriptionOfGpu(choice->device->name) : usualDescription(/*isGpu=*/true);
  device.compileFor(choice->target);
  auto source = oneKernel(device);
  if (!source)
    return source.takeFailure();
  ir::Bindings bindings = bindingsOf(*source);
  SmallVector<int64_t> known;
  for (StringRef name : source->getDims().getAsValueRange<StringAttr>())
    known.push_back(bindings.dims.contains(name) ? bindings.dims[name] : -1);
  auto open = Compiler::chooseGpuTiles(*source, bindings, known, gpu.target);
  CrashReport::Scope scope("generating code for kernel " + source->getSymName().str(), *source);
  codegen::GpuCompiler compiler(gpu);
  FailureOr<codegen::GpuCode> code = failure();
  std::string text;
  auto make = [&](ir::KernelOp kernel, codegen::GpuShortage *shortage) -> LogicalResult {
    if (options.emit == "plan") {
      FailureOr<std::string> plan = compiler.describePlan(kernel, shortage);
      text = succeeded(plan) ? *plan : "";
      return plan;
    }
    if (options.emit != "gpu" && options.emit != "llvm") {
      code = compiler.compileToPtx(kernel, shortage);
      return code;
    }
    if (options.emit == "llvm") {
      FailureOr<std::string> llvm = compiler.compileToLlvmIr(kernel, shortage);
      text = succeeded(llvm) ? *llvm : "";
      return llvm;
    }
    if (shortage && (*shortage = compiler.findShortage(kernel)))
      return failure();
    auto lowered = compiler.lowerToTileGpu(kernel);
    if (failed(lowered))
      return failure();
    // In a module, where layouts have names.
    OwningOpRef<ModuleOp> module = ModuleOp::create((*lowered)->getLoc());
    module->push_back(lowered->release());
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return LogicalResult::success();
  };
  OwningOpRef<ir::KernelOp> kernel = session.compiler.compileForGpu(*source, bindings, open, make);
  if (!kernel)
    return Failure::reported();
  compiler.remarkOnProducts(*kernel);
  compiler.remarkOnSettings(*kernel);
  if (llvm::is_contained({"plan", "gpu", "llvm"}, StringRef(options.emit)))
    return text;
  if (options.emit == "ptx") {
    // Assembled as well where that can be done here, to tell what spills.
    if (!findToolkitProgram("ptxas").empty())
      if (auto cubin = assembleCubin(code->ptx, *choice))
        remarkOnLocalMemory(*source, cubin->localBytes);
    return std::move(code->ptx);
  }
  auto cubin = assembleCubin(code->ptx, *choice);
  if (!cubin)
    return cubin.takeFailure();
  remarkOnLocalMemory(*source, cubin->localBytes);
  return options.emit == "cubin" ? std::move(cubin->bytes) : disassemble(cubin->bytes);
}

/// What can be made for which target.
Outcome<std::monostate> Compile::checkTarget() const {
  bool isGpuTarget = runtime::GpuTarget::find(options.target);
  bool isCpuCode = llvm::is_contained({"asm", "obj"}, StringRef(options.emit));
  if (options.emit == "artifact") {
    if (options.cubins && artifactTargets(options.target).gpus.names.empty())
      return Failure::usage({"--cubins says nothing about code for a processor alone",
                             "name GPUs, too, such as --target=native,sm_90a"});
    return Done{};
  }
  if (options.cubins)
    return Failure::usage({"--cubins says nothing about --emit=" + options.emit,
                           "it is for --emit=artifact; --emit=cubin gives one"});
  if (StringRef(options.target).contains(','))
    return Failure::usage({"--emit=" + options.emit + " takes one target",
                           "code for several goes into an artifact: --emit=artifact"});
  bool hasOther = !isGpuTarget && !options.target.empty() && options.target != "native";
  if (isGpuTarget && isCpuCode)
    return Failure::usage({"--emit=" + options.emit + " is not made for " + options.target,
                           "plan, gpu, ptx, cubin, sass and llvm are made for GPUs"});
  if (hasOther && emitsGpuCode())
    return Failure::usage(
        {"--emit=" + options.emit + " is not made for " + options.target,
         "the targets are " + llvm::join(runtime::GpuTarget::names(), ", ") + " and native"});
  return Done{};
}

//===-- Artifacts ---------------------------------------------------------===//

/// --bind may name a type parameter that only some declarations have, but not one that none has.
Outcome<std::monostate> Compile::checkTypes(ArrayRef<dsl::DeclRef> decls) const {
  for (const std::string &text : options.types) {
    StringRef name = StringRef(text).split('=').first;
    bool isKnown = llvm::any_of(decls, [&](dsl::DeclRef decl) {
      return llvm::any_of(decl.decl->generics, [&](const dsl::Generic &generic) {
        return !generic.isConst && generic.name.text == name;
      });
    });
    if (!isKnown)
      return Failure::usage({"nothing that is compiled has a type parameter '" + name.str() + "'",
                             "--bind takes NAME=TYPE, such as T=f16"});
  }
  return Done{};
}

/// The choices of types that a declaration is compiled for: those that --bind names, all where it
/// names none; those with f32 first.
Outcome<std::vector<dsl::TypeBindings>> Compile::instances(dsl::DeclRef decl) {
  constexpr size_t most = 64;
  std::vector<dsl::TypeBindings> result(1);
  for (const dsl::Generic &generic : decl.decl->generics) {
    if (generic.isConst)
      continue;
    const std::string &name = generic.name.text;
    std::vector<ir::ElementType> choices;
    for (const std::string &text : options.types) {
      if (!StringRef(text).starts_with(name + "="))
        continue;
      auto bound = parseTypeBindings(session, decl, {text});
      if (!bound)
        return bound.takeFailure();
      choices.push_back(bound->at(name));
    }
    if (choices.empty())
      choices = session.elaborator.alternatives(decl, generic);
    if (choices.empty())
      return Failure::reported();
    llvm::stable_sort(choices, [](ir::ElementType a, ir::ElementType b) {
      return (a == ir::ElementType::F32) > (b == ir::ElementType::F32);
    });
    std::vector<dsl::TypeBindings> longer;
    for (const dsl::TypeBindings &types : result)
      for (ir::ElementType choice : choices) {
        longer.push_back(types);
        longer.back()[name] = choice;
      }
    result = std::move(longer);
    if (result.size() > most)
      return Failure::usage({"`" + decl.decl->name.text + "` has more than " +
                                 std::to_string(most) + " choices of types",
                             "say which ones with --bind, such as --bind " + name + "=f32"});
  }
  return result;
}

/// A graph's plan, for values of its dims that are known; the same for all. For GPUs it is without
/// what their code speaks against.
Outcome<std::string> Compile::fuse(const std::string &symbol, const DeviceDescription &device) {
  auto mode = parseFuseMode(options.fuse);
  if (!mode)
    return mode.takeFailure();
  if (*mode == FuseMode::Off || !isa<ir::GraphOp>(session.module().lookupSymbol(symbol)))
    return symbol;
  SeeCode see;
  if (device.isGpu)
    see = codeFor(session.compiler, device.gpuTarget(),
                  [this](ir::KernelOp kernel) { return bindingsOf(kernel); });
  return fuseGraphByCode(session.module(), symbol, *mode, device, dims, sizes,
                         session.compiler.cache.get(), see)
      .symbol;
}

Outcome<std::string> Compile::emitArtifact() {
  if (!options.noCache)
    session.useCache();
  std::vector<dsl::DeclRef> decls;
  std::map<std::string, std::string> places;
  for (const std::string &argument : options.files) {
    auto chosen = chosenEntry(argument, options.entry);
    if (!chosen)
      return chosen.takeFailure();
    auto &[path, name] = *chosen;
    if (namesIr(path))
      return Failure::usage({"'" + path + "' is IR, and an artifact is made of sources", ""});
    auto file = load(path);
    if (!file)
      return file.takeFailure();
    auto found = declarations(**file, name);
    if (!found)
      return found.takeFailure();
    for (dsl::DeclRef decl : *found) {
      auto [place, isNew] = places.try_emplace(decl.decl->name.text, path);
      if (!isNew)
        return Failure::usage(
            {"`" + decl.decl->name.text + "` is in '" + place->second + "' and in '" + path + "'",
             "an artifact has each name once: name what you want, FILE:NAME"});
      decls.push_back(decl);
    }
  }
  if (decls.empty())
    return Failure::usage({"'" + options.files.front() + "' has no kernel and no graph", ""});
  if (auto checked = checkTypes(decls); !checked)
    return checked.takeFailure();
  ArtifactTargets targets = artifactTargets(options.target);
  targets.gpus.cubins = options.cubins;
  auto bindings = [this](ir::KernelOp kernel) { return bindingsOf(kernel); };
  // One plan serves all GPUs: it is made for the usual one, by the newest code that there will be.
  bool isForGpus = !targets.gpus.names.empty();
  DeviceDescription device = usualDescription(isForGpus);
  if (isForGpus && !llvm::is_contained(targets.gpus.names, device.target))
    device.compileFor(targets.gpus.names.back());
  ArtifactBuilder builder(session.compiler, session.module(), std::move(targets), bindings);
  for (dsl::DeclRef decl : decls) {
    auto choices = instances(decl);
    if (!choices)
      return choices.takeFailure();
    for (const dsl::TypeBindings &types : *choices) {
      auto symbol = session.elaborate(decl, types);
      if (!symbol)
        return symbol.takeFailure();
      if (auto fused = fuse(*symbol, device); !fused)
        return fused.takeFailure();
      else
        symbol = *fused;
      ArtifactBuilder::Types names;
      for (const auto &[generic, type] : types)
        names.emplace_back(generic, ir::nameOf(type).str());
      if (auto added = builder.add(decl.decl->name.text, *symbol, std::move(names)); !added)
        return added.takeFailure();
    }
  }
  if (auto checked = checkDims(); !checked)
    return checked.takeFailure();
  SmallVector<ir::KernelOp> kernels(session.module().getOps<ir::KernelOp>());
  if (auto checked = sizes.check(kernels); !checked)
    return checked.takeFailure();
  auto artifact = builder.finish();
  if (!artifact)
    return artifact.takeFailure();
  std::vector<std::byte> bytes = runtime::serialize(*artifact);
  return std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

//===-- The command -------------------------------------------------------===//

Outcome<dsl::LoadedFile *> Compile::load(const std::string &path) {
  auto file = session.load(path);
  if (file && !options.output.empty() && session.isSource(options.output))
    return Failure::usage({"'" + options.output + "' is a source, and would be overwritten",
                           "name another file with -o"});
  return file;
}

/// A kernel of IR, which is a template or on the tile_gpu level.
Outcome<std::monostate> Compile::loadIr(const std::string &path, const std::string &name) {
  if (options.emit == "ast")
    return Failure::usage({"'" + path + "' is IR, and has no syntax tree", ""});
  auto kernel = loadIrKernel(session, path, name);
  if (!kernel)
    return kernel.takeFailure();
  bool isOnGpu = codegen::isOnGpuLevel(session.module().lookupSymbol<ir::KernelOp>(kernel->symbol));
  if (isOnGpu && !isForGpu() && options.emit != "tile")
    return Failure::usage(
        {"`" + kernel->decl.decl->name.text + "` is on the tile_gpu level, which only GPUs run",
         "--emit=plan, gpu, ptx, cubin or sass, or a GPU's --target"});
  if (isOnGpu && (options.schedule.isGiven() || !options.dims.empty()))
    return Failure::usage({"`" + kernel->decl.decl->name.text +
                               "` is on the tile_gpu level: its text has the tile sizes, and code "
                               "for all dimensions",
                           "leave out --set, --schedule and --dim"});
  return Done{};
}

Outcome<std::string> Compile::compile() {
  if (auto done = session.configure(options.pipeline); !done)
    return done.takeFailure();
  for (StringRef pass : options.pipeline.printAfter)
    if (isOfGpus(pass) && !isForGpu() && options.emit != "artifact")
      return Failure::usage(
          {"--print-after=" + pass.str() + " says nothing about --emit=" + options.emit,
           "it is for what is made for GPUs"});
  if (const std::string &last = options.pipeline.stopAfter; !last.empty()) {
    StringRef emit = isOfGpus(last) ? "gpu" : "tile";
    if (options.emit != emit)
      return Failure::usage({"--stop-after says nothing about --emit=" + options.emit,
                             "'" + last + "' is for --emit=" + emit.str()});
  }
  if (llvm::is_contained({"obj", "cubin", "artifact"}, StringRef(options.emit)) &&
      options.output.empty())
    return Failure::usage(
        {"--emit=" + options.emit + " needs -o FILE", "-o - writes to standard output"});
  if (options.json && options.output == "-")
    return Failure::usage({"--json and -o - both write to standard output",
                           "-o FILE writes to a file; without -o the result is part of the JSON"});
  if (auto checked = checkTarget(); !checked)
    return checked.takeFailure();
  if (options.emit == "ast" &&
      (!options.types.empty() || !options.dims.empty() || options.schedule.isGiven()))
    return Failure::usage({"--emit=ast shows the source as it is written",
                           "leave out --bind, --dim, --set and --schedule"});
  if (options.emit != "artifact" && options.files.size() > 1)
    return Failure::usage({"--emit=" + options.emit + " takes one file",
                           "several files go into one artifact: --emit=artifact"});
  auto parsedDims = parseDims(options.dims);
  if (!parsedDims)
    return parsedDims.takeFailure();
  dims = *std::move(parsedDims);
  auto given = options.schedule.read();
  if (!given)
    return given.takeFailure();
  sizes = *std::move(given);
  if (options.emit == "artifact")
    return emitArtifact();
  auto chosen = chosenEntry(options.files.front(), options.entry);
  if (!chosen)
    return chosen.takeFailure();
  auto &[path, name] = *chosen;
  if (namesIr(path)) {
    if (auto done = loadIr(path, name); !done)
      return done.takeFailure();
  } else {
    auto file = load(path);
    if (!file)
      return file.takeFailure();
    if (options.emit == "ast")
      return dsl::printAst((*file)->module);
    if (auto done = elaborate(**file, name); !done)
      return done.takeFailure();
  }
  if (auto checked = checkDims(); !checked)
    return checked.takeFailure();
  SmallVector<ir::KernelOp> kernels(session.module().getOps<ir::KernelOp>());
  if (auto checked = sizes.check(kernels); !checked)
    return checked.takeFailure();
  if (options.emit == "loops")
    return emitLoops();
  return options.emit == "tile" ? emitTile() : isForGpu() ? emitForGpu() : emitForCpu();
}

Outcome<std::monostate> Compile::write(const std::string &text) {
  if (options.output.empty() || options.output == "-") {
    if (!options.json)
      llvm::outs() << text;
    return Done{};
  }
  std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  if (auto written = runtime::replaceFile(options.output, std::span(&bytes, 1)); !written)
    return Failure::environment(written.takeError());
  return Done{};
}

/// Where the result is, or the result itself: JSON and it can't both be standard output.
void Compile::printReport(const std::string &text, int code) const {
  llvm::json::Object object{
      {"ok", code == cli::success}, {"emit", options.emit}, {"diagnostics", toJson(session.diags)}};
  if (options.output.empty())
    object["text"] = textOf(text);
  else
    object["output"] = textOf(options.output);
  printJson(std::move(object));
}

Command tile::frontend::cli::addCompileCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("compile", "Compile kernels, and show any step of it");
  auto options = std::make_shared<CompileOptions>();
  command
      ->add_option("FILE[:NAME]", options->files,
                   "A source, several for an artifact; - or -:NAME is standard input")
      ->required();
  addEntryOption(*command, options->entry,
                 "A kernel or graph, with what it calls; all of the file without it");
  command->add_option("-o", options->output, "Where the result goes; standard output without it")
      ->type_name("FILE");
  command
      ->add_option(
          "--emit", options->emit,
          "ast: the syntax tree; tile: the tile IR; loops: what its loops around contractions "
          "do;\nllvm, asm, obj: code of one kernel;\n"
          "plan: what one kernel becomes on a GPU; gpu: it with the layouts of its tiles;\n"
          "ptx, cubin, sass: its code for a GPU;\n"
          "artifact: all that is compiled, to be run without the compiler")
      ->type_name("WHAT")
      ->check(oneOf({"ast", "tile", "loops", "llvm", "asm", "obj", "plan", "gpu", "ptx", "cubin",
                     "sass", "artifact"}))
      ->capture_default_str();
  command
      ->add_option(
          "--target", options->target,
          "The processor of llvm, asm, obj and artifact (native without it), or the GPU of llvm,\n"
          "plan, gpu, ptx, cubin and sass (sm_90a without it):\n" +
              llvm::join(targetNames(), ", ") +
              ";\nnative and cpu are this processor; native is the first GPU of this machine for "
              "plan,\ngpu, ptx, cubin and sass; an artifact takes several: native,sm_80,sm_90a")
      ->type_name("TARGET")
      ->check(targetList());
  addFuseOption(*command, options->fuse, "Of graphs in an artifact, or to be code of one kernel")
      ->check(oneOf({"exact", "fast", "off"}));
  command->add_flag("--cubins", options->cubins,
                    "Of an artifact for GPUs: machine code beside the PTX, by ptxas");
  addRepeated(*command, "--bind", options->types,
              "A type parameter; the first choice without it, in an artifact all choices")
      ->type_name("NAME=TYPE");
  addRepeated(*command, "--dim", options->dims, "A dimension or constant; others stay open")
      ->type_name("NAME=VALUE");
  addScheduleOptions(*command, options->schedule);
  command
      ->add_option("--stop-after", options->pipeline.stopAfter,
                   "The last pass to run, for --emit=tile and gpu")
      ->type_name("PASS");
  addCacheOption(*command, options->noCache);
  addJsonOption(*command, options->json, "Where the result is, or without -o the result itself,");
  addPipelineOptions(*command, options->pipeline);
  addSourceOptions(*command, options->source);
  command->footer("Examples:\n"
                  "  tilec compile softmax.tile --emit=ast\n"
                  "  tilec compile matmul.tile:matmul --bind T=f16 --stop-after=elaborate\n"
                  "  tilec compile matmul.tile:matmul --set i=32 --dim K=512 -o matmul.mlir\n"
                  "  tilec compile softmax.tile:softmax --dim N=70000 --emit=gpu "
                  "--stop-after=gpu-materialize-axes\n"
                  "  tilec compile softmax.tile:softmax --emit=asm --target=x86-64-v3\n"
                  "  tilec compile softmax.tile:softmax --dim N=1024 --emit=ptx --target=sm_90a\n"
                  "  tilec compile softmax.tile:softmax --dim N=1024 --emit=sass --target=native\n"
                  "  tilec compile net.tile softmax.tile --emit=artifact "
                  "--target=x86-64-v3,sm_80,sm_90a \\\n"
                  "      -o net.tileart");
  return {command, [options] { return Compile(*options).run(); }};
}
