//===- CompileKernel.cpp - tilec compile: IR and code of kernels ----------===//

#include "codegen/cpu/CpuCompiler.h"
#include "codegen/gpu/GpuCompiler.h"
#include "codegen/gpu/loops/LoopDesc.h"
#include "frontend/artifact/GpuAssembly.h"
#include "frontend/base/CrashReport.h"
#include "frontend/cli/Compile.h"
#include "frontend/cli/TargetList.h"
#include "frontend/execute/LocalMemory.h"
#include "frontend/fusion/Fusion.h"
#include "ir/dialect/AffineEval.h"
#include "ir/dialect/UserError.h"
#include "ir/fusion/GraphShapes.h"
#include "ir/proofs/Spelling.h"
#include "runtime/base/ThreadPool.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

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

/// The values of a kernel's dims, in their order; −1 where one is open.
static SmallVector<int64_t> knownDims(ir::KernelOp kernel, const ir::Bindings &bindings) {
  SmallVector<int64_t> known;
  for (StringRef name : kernel.getDims().getAsValueRange<StringAttr>()) {
    auto bound = bindings.dims.find(name);
    known.push_back(bound != bindings.dims.end() ? bound->second : -1);
  }
  return known;
}

Outcome<std::string> Compile::emitForCpu() {
  auto source = oneKernel(usualDescription(/*isGpu=*/false));
  if (!source)
    return source.takeFailure();
  ir::Bindings bindings = bindingsOf(*source);
  SmallVector<int64_t> known = knownDims(*source, bindings);
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
  SmallVector<int64_t> known = knownDims(*source, bindings);
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
