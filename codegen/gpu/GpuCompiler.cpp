//===- GpuCompiler.cpp - kernels to code of NVIDIA GPUs -------------------===//

#include "codegen/gpu/GpuCompiler.h"
#include "codegen/Reports.h"
#include "codegen/Translate.h"
#include "codegen/gpu/Passes.h"
#include "codegen/gpu/dialect/Settings.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/dialect/WarpMma.h"
#include "codegen/gpu/loops/NormalizeKernel.h"
#include "codegen/gpu/lower/InlineAsm.h"
#include "codegen/gpu/lower/LineInfo.h"
#include "codegen/gpu/lower/LowerKernel.h"
#include "codegen/gpu/lower/PlanText.h"
#include "codegen/gpu/plan/Products.h"
#include "codegen/gpu/target/Workarounds.h"

#include "ir/proofs/Spelling.h"
#include "ir/transforms/Specialize.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <chrono>
#include <mutex>

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

static void initializeNvptx() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

/// `features` beyond those of the target, such as a version of PTX.
static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(StringRef target,
                                                                          StringRef features) {
  initializeNvptx();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const llvm::Target *nvptx = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!nvptx)
    return llvm::createStringError(message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      nvptx->createTargetMachine(triple, target, features, options, llvm::Reloc::PIC_, std::nullopt,
                                 llvm::CodeGenOptLevel::Aggressive));
}

/// The LLVM dialect has no word for it.
static void markConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (auto *text = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
            text && gpu::isConvergent(text->getAsmString()))
          call->setConvergent();
}

/// Whether there are instructions for floats of 8 bits in it, which are named after their formats.
static bool convertsF8(const llvm::Module &module) {
  return llvm::any_of(module, [](const llvm::Function &function) {
    StringRef name = function.getName();
    return name.starts_with("llvm.nvvm.") && (name.contains("e4m3x2") || name.contains("e5m2x2"));
  });
}

/// What is left to do on code that is straight already; the code generator has passes of its own
/// for addresses.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::DCEPass());
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, functions);
}

FailureOr<OwningOpRef<KernelOp>> GpuCompiler::lowerToTileGpu(KernelOp kernel) const {
  gpu::PassOptions asked;
  asked.sanitizes = options.sanitizes;
  asked.stopAfter = options.stopAfter;
  if (options.observer)
    asked.observer = [&](StringRef name, double seconds, KernelOp made) {
      options.observer(name, seconds, [&](llvm::raw_ostream &stream) { stream << made; });
    };
  FailureOr<gpu::PassResult> made = gpu::runPasses(kernel, options.target, asked);
  if (failed(made))
    return failure();
  return std::move(made->kernel);
}

GpuCompiler GpuCompiler::quietly() const {
  GpuOptions quiet = options;
  quiet.observer = nullptr;
  quiet.stopAfter.clear();
  return GpuCompiler(std::move(quiet));
}

/// The kernel as a pipeline on the tensor cores; null where it doesn't become one. Reports nothing.
static FailureOr<gpu::PassResult> makePipeline(KernelOp kernel, const GpuOptions &options) {
  ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
  gpu::PassOptions asked;
  asked.sanitizes = options.sanitizes;
  asked.pipelinesOnly = true;
  return gpu::runPasses(kernel, options.target, asked);
}

bool GpuCompiler::becomesPipeline(KernelOp kernel) const {
  auto made = makePipeline(kernel, options);
  return succeeded(made) && made->kernel;
}

GpuRoles tile::codegen::rolesOf(KernelOp onGpu) {
  GpuRoles result;
  onGpu.walk([&](gpu::RolesOp roles) {
    for (auto [name, warps, registers] :
         llvm::zip_equal(roles.getNames().getAsValueRange<StringAttr>(), roles.getWarps(),
                         roles.getRegisters()))
      result.roles.push_back({name.str(), warps, registers});
  });
  onGpu.walk([&](gpu::ChannelOp channel) {
    result.stages = std::max<int64_t>(result.stages, channel.getType().getDepth());
  });
  return result;
}

namespace {
struct CompiledModule {
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  GpuCode code;
};
} // namespace

/// PTX has names of its own, `_` and `WARP_SZ` among them, and so has what kernels call, `tile_…`.
static std::string functionName(StringRef kernel) {
  std::string name = kernel.str();
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  bool isTaken = name[0] == '_' || StringRef(name).starts_with("tile_") ||
                 StringRef(name).starts_with("WARP_SZ");
  return isTaken ? "kernel_" + name : name;
}

namespace {
struct Lowered {
  OwningOpRef<KernelOp> onGpu;
  gpu::LoweredKernel kernel;
};
} // namespace

/// Tells how long a stage took, and what it has made.
static void tell(const GpuOptions &options, StringRef stage,
                 std::chrono::steady_clock::time_point start,
                 llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (options.observer)
    options.observer(
        stage, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
        print);
}

/// What the kernel lacks is reported, unless the caller wants to know it.
static FailureOr<Lowered> lower(const GpuCompiler &compiler, KernelOp kernel,
                                const GpuOptions &options, GpuShortage *shortage) {
  auto lacks = [&](GpuShortage found) {
    bool isAsked = shortage && !shortage->fitting, stops = found && (isAsked || !found.isSoft);
    if (found && isAsked)
      *shortage = std::move(found), shortage->op = nullptr;
    else if (found && !found.isTold && shortage)
      (void)found.report(*shortage->fitting);
    else if (found && !found.isTold)
      (void)found.report();
    return stops;
  };
  FailureOr<OwningOpRef<KernelOp>> onGpu = compiler.lowerToTileGpu(kernel);
  if (failed(onGpu) || lacks(gpu::findElementShortage(**onGpu, options.mostElements)) ||
      lacks(gpu::findScanShortage(**onGpu)) || lacks(gpu::findCarriedShortage(**onGpu)))
    return failure();
  auto start = std::chrono::steady_clock::now();
  loadLoweringDialects(*kernel.getContext());
  const GpuTarget &target = options.target;
  int64_t room = target.sharedBytes;
  FailureOr<gpu::LoweredKernel> lowered = gpu::lowerKernel(**onGpu, target, room);
  // Without operands of turns to come there may be room.
  if (succeeded(lowered) && lowered->sharedBytes > room && !gpu::settingOf(**onGpu, "stages"))
    lowered = gpu::lowerKernel(**onGpu, target, 0);
  if (failed(lowered) || lacks(gpu::findSharedShortage(**onGpu, lowered->sharedBytes,
                                                       lowered->largestOfShared, target.name)))
    return failure();
  if (lacks(gpu::findStagingShortage(**onGpu, lowered->plainDots)) ||
      lacks(gpu::findPlainShortage(**onGpu, lowered->plainDots)))
    return failure();
  gpu::addLineInfo(lowered->function, kernel.getLoc());
  tell(options, codeStages[0], start,
       [&](llvm::raw_ostream &stream) { stream << *lowered->module; });
  return Lowered{*std::move(onGpu), *std::move(lowered)};
}

/// Of contractions that only turn out not to fit when code is made of them; whether there is one.
static bool remarkOnPlainDots(const GpuCompiler &compiler, KernelOp kernel,
                              const GpuOptions &options) {
  FailureOr<Lowered> made = failure();
  {
    ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
    made = lower(compiler, kernel, options, nullptr);
  }
  if (failed(made))
    return false;
  for (gpu::PlainDot &plain : made->kernel.plainDots)
    plain.dot->emitRemark("no tensor cores for the `dot` of `")
        << nameInSource(kernel.getSymName()) << "`: " << plain.reason;
  return !made->kernel.plainDots.empty();
}

void GpuCompiler::remarkOnSettings(KernelOp kernel) const {
  FailureOr<OwningOpRef<KernelOp>> onGpu = failure();
  {
    ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
    onGpu = quietly().lowerToTileGpu(kernel);
  }
  if (succeeded(onGpu))
    gpu::remarkOnSettings(kernel, **onGpu);
}

void GpuCompiler::remarkOnProducts(KernelOp kernel) const {
  OwningOpRef<KernelOp> copy(kernel.clone());
  gpu::normalizeKernel(*copy);
  unsigned numDots = 0, numWarpDots = 0;
  copy->walk([&](DotOp dot) {
    ++numDots;
    if (gpu::warpDotOf(dot))
      ++numWarpDots;
    else
      dot->emitRemark("no tensor cores for the `dot` of `")
          << nameInSource(kernel.getSymName()) << "`: " << gpu::whyNoWarpDot(dot);
  });
  if (numWarpDots > 0 && remarkOnPlainDots(quietly(), kernel, quietly().options))
    return;
  const GpuTarget &target = options.target;
  if (!target.hasWarpgroupMma || numDots == 0 || numWarpDots < numDots)
    return;
  gpu::FoundProduct found = gpu::findProduct(*copy);
  if (found.product) {
    FailureOr<gpu::PassResult> made = makePipeline(kernel, options);
    if (failed(made) || made->kernel)
      return;
    found.reason = made->limits.noPipeline;
    found.op = found.product->dot;
  }
  found.op->emitRemark("no pipeline for the `dot` of `")
      << nameInSource(kernel.getSymName())
      << "`, but instructions of single warps: " << found.reason;
}

/// All steps from a specialized kernel to LLVM IR, in order.
static FailureOr<CompiledModule> compile(const GpuCompiler &compiler, KernelOp kernel,
                                         const GpuOptions &options, GpuShortage *shortage) {
  FailureOr<Lowered> made = lower(compiler, kernel, options, shortage);
  if (failed(made))
    return failure();
  auto start = std::chrono::steady_clock::now();
  gpu::LoweredKernel *lowered = &made->kernel;
  KernelOp onGpu = *made->onGpu;
  CompiledModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  result.module = translateToLlvm(*lowered->module, *result.context, kernel.getSymName());
  if (!result.module)
    return failure();
  const GpuTarget &target = options.target;
  StringRef feature;
  if (lowered->blocks > 1)
    feature = target.clusterFeature;
  else if (convertsF8(*result.module))
    feature = target.f8Feature;
  auto machine = createMachine(target.name, feature);
  if (!machine)
    return kernel.emitError("cannot make code for the GPU: ")
           << llvm::toString(machine.takeError());
  result.machine = std::move(*machine);
  markConvergent(*result.module);
  result.module->setTargetTriple(result.machine->getTargetTriple());
  result.module->setDataLayout(result.machine->createDataLayout());
  auto makeEntry = [&](const Twine &suffix, unsigned threads) {
    std::string symbol = (kernel.getSymName() + suffix).str();
    llvm::Function *function = result.module->getFunction(gpu::symbolOf(symbol));
    function->setName(functionName(symbol));
    function->setCallingConv(llvm::CallingConv::PTX_Kernel);
    function->addFnAttr("nvvm.reqntid", std::to_string(threads));
    function->addFnAttr(llvm::Attribute::NoUnwind);
    return function->getName().str();
  };
  GpuCode &code = result.code;
  code.threads = lowered->threads;
  code.sharedBytes = lowered->sharedBytes;
  code.blocks = lowered->blocks;
  code.copies = lowered->copies;
  code.keptBinders = lowered->keptBinders;
  code.storesAlone = lowered->storesAlone;
  code.foldsItself = lowered->foldsItself;
  if (options.sanitizes || hasReports(kernel))
    for (auto [n, op] : llvm::enumerate(reportSites(kernel)))
      code.sites.push_back(isa<AssertOp, PrintOp>(op) ? encodeSite(op, n) : "");
  code.tensorMaps = lowered->tensorMaps;
  code.isPersistent = onGpu->hasAttr(gpu::persistentAttrName);
  code.startsEarly = gpu::startsEarly(onGpu);
  code.function = makeEntry("", code.threads);
  llvm::Function *function = result.module->getFunction(code.function);
  if (code.blocks > 1)
    function->addFnAttr("nvvm.cluster_dim", std::to_string(code.blocks));
  // Read where they are: copies of tensor maps are none.
  for (size_t n = 0; n < code.tensorMaps.size(); ++n)
    function->addParamAttr(function->arg_size() - 1 - n,
                           llvm::Attribute::get(*result.context, "nvvm.grid_constant"));
  // Roles share out the registers of a multiprocessor: the whole of one is theirs.
  if (gpu::hasRoles(onGpu))
    function->addFnAttr("nvvm.minctasm", "1");
  if (lowered->hasStart)
    code.start = makeEntry(gpu::LoweredKernel::startSuffix, GpuCode::threadsOfStart);
  if (lowered->hasFinish)
    code.finish = makeEntry(gpu::LoweredKernel::finishSuffix, GpuCode::threadsOfFinish);
  optimize(*result.module, *result.machine);
  gpu::hideNegations(*result.module);
  gpu::hideMinima(*result.module);
  tell(options, codeStages[1], start,
       [&](llvm::raw_ostream &stream) { result.module->print(stream, nullptr); });
  return result;
}

GpuShortage GpuCompiler::findShortage(KernelOp kernel) const {
  ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
  GpuShortage shortage;
  GpuCompiler inPassing = quietly();
  (void)lower(inPassing, kernel, inPassing.options, &shortage);
  return shortage;
}

FailureOr<std::string> GpuCompiler::compileToLlvmIr(KernelOp kernel, GpuShortage *shortage) const {
  FailureOr<CompiledModule> compiled = compile(*this, kernel, options, shortage);
  if (failed(compiled))
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  compiled->module->print(stream, nullptr);
  return text;
}

FailureOr<std::string> GpuCompiler::describePlan(KernelOp kernel, GpuShortage *shortage) const {
  FailureOr<Lowered> made = lower(*this, kernel, options, shortage);
  if (failed(made))
    return failure();
  return gpu::planText(*made->onGpu, made->kernel, options.target);
}

/// "; i = 4, j = 512": what was chosen, in the schedule's words.
static std::string tileSizesOf(KernelOp kernel) {
  std::string text;
  ParallelOp parallel = kernel.getParallel();
  for (auto [name, each, size] :
       llvm::zip(parallel.getNames(), parallel.getEach(), parallel.getSizes()))
    text += (text.empty() ? "; " : ", ") + cast<StringAttr>(name).str() + " = " +
            std::to_string(each ? 1 : size);
  return text;
}

FailureOr<GpuCode> GpuCompiler::compileToPtx(KernelOp kernel, GpuShortage *shortage) const {
  FailureOr<CompiledModule> compiled = compile(*this, kernel, options, shortage);
  if (failed(compiled))
    return failure();
  auto start = std::chrono::steady_clock::now();
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (compiled->machine->addPassesToEmitFile(passes, stream, nullptr,
                                             llvm::CodeGenFileType::AssemblyFile))
    return kernel.emitError("LLVM makes no PTX here");
  passes.run(*compiled->module);
  GpuCode &code = compiled->code;
  std::string maps;
  for (const TensorBox &map : code.tensorMaps)
    maps += "// tensor map: parameter " + std::to_string(map.parameter) + ", box " +
            llvm::join(llvm::map_range(map.box, [](int64_t x) { return std::to_string(x); }), "x") +
            ", swizzle " + std::to_string(map.swizzle) + (map.roundsToTf32 ? ", to tf32\n" : "\n");
  code.ptx = "// " + code.function + ": " + std::to_string(code.threads) + " threads, " +
             std::to_string(code.sharedBytes) + " bytes of shared memory";
  if (code.blocks > 1)
    code.ptx += ", " + std::to_string(code.blocks) + " blocks a program";
  if (code.isPersistent)
    code.ptx += ", persistent";
  if (code.startsEarly)
    code.ptx += ", starts early";
  code.ptx += tileSizesOf(kernel) + "\n";
  // Whose order no source has.
  if (isFused(kernel)) {
    code.ptx += "// parameters:";
    for (unsigned n = 0; n < kernel.getNumArguments(); ++n)
      code.ptx += (" " + kernel.getParamName(n)).str();
    code.ptx += "; dimensions:";
    for (StringRef name : kernel.getDims().getAsValueRange<StringAttr>())
      code.ptx += (" " + name).str();
    code.ptx += "\n";
  }
  code.ptx += maps;
  code.ptx.append(text.begin(), text.end());
  tell(options, codeStages[2], start, [&](llvm::raw_ostream &out) { out << code.ptx; });
  return std::move(compiled->code);
}
