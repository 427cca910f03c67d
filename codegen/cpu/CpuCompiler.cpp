//===- CpuCompiler.cpp - kernels to machine code of a CPU -----------------===//

#include "codegen/cpu/CpuCompiler.h"
#include "codegen/CompilerId.h"
#include "codegen/Reports.h"
#include "codegen/Translate.h"
#include "codegen/cpu/Jit.h"
#include "codegen/cpu/Lowering.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using tile::runtime::CpuEntry;

//===-- From the kernel to LLVM IR ----------------------------------------===//

namespace {
/// An LLVM module with the machine it is for.
struct CompiledModule {
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};
} // namespace

static LogicalResult report(KernelOp kernel, llvm::Error error) {
  return kernel.emitError("cannot make machine code: ") << llvm::toString(std::move(error));
}

/// All steps from a specialized kernel to LLVM IR, in order.
static FailureOr<CompiledModule> compile(KernelOp kernel, const CpuOptions &options,
                                         bool optimized) {
  if (failed(checkIsSpecialized(kernel)))
    return failure();
  auto machine = createTargetMachine(options);
  if (!machine)
    return report(kernel, machine.takeError());
  TargetInfo target = describeTarget(**machine, options);

  loadLoweringDialects(*kernel.getContext());
  FoldOrders orders;
  FailureOr<OwningOpRef<ModuleOp>> lowered = lowerKernel(kernel, target, orders);
  if (failed(lowered))
    return failure();
  CompiledModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  result.module = translateToLlvm(**lowered, *result.context, kernel.getSymName());
  if (!result.module)
    return failure();
  result.module->setTargetTriple((*machine)->getTargetTriple());
  result.module->setDataLayout((*machine)->createDataLayout());
  for (llvm::Function &function : *result.module) {
    function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBits));
    function.addFnAttr("min-legal-vector-width", std::to_string(target.vectorBits));
    function.addFnAttr("no-trapping-math", "true");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  if (optimized && options.optimization > 0)
    optimizeModule(*result.module, **machine);
  storeSingleLanes(*result.module);
  result.machine = std::move(*machine);
  return result;
}

FailureOr<FoldOrders> CpuCompiler::foldOrders(KernelOp kernel) const {
  if (failed(checkIsSpecialized(kernel)))
    return failure();
  auto machine = createTargetMachine(options);
  if (!machine)
    return report(kernel, machine.takeError());
  loadLoweringDialects(*kernel.getContext());
  FoldOrders orders;
  if (failed(lowerKernel(kernel, describeTarget(**machine, options), orders)))
    return failure();
  return orders;
}

//===-- Text and objects --------------------------------------------------===//

FailureOr<std::string> CpuCompiler::compileToLlvmIr(KernelOp kernel, bool optimized) const {
  FailureOr<CompiledModule> compiled = compile(kernel, options, optimized);
  if (failed(compiled))
    return failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  compiled->module->print(stream, nullptr);
  return text;
}

static FailureOr<std::string> emitFile(KernelOp kernel, const CpuOptions &options,
                                       llvm::CodeGenFileType type) {
  FailureOr<CompiledModule> compiled = compile(kernel, options, /*optimized=*/true);
  if (failed(compiled))
    return failure();
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (compiled->machine->addPassesToEmitFile(passes, stream, nullptr, type))
    return kernel.emitError("this target cannot emit such a file");
  passes.run(*compiled->module);
  return std::string(bytes.begin(), bytes.end());
}

FailureOr<std::string> CpuCompiler::emitAssembly(KernelOp kernel) const {
  return emitFile(kernel, options, llvm::CodeGenFileType::AssemblyFile);
}

FailureOr<std::string> CpuCompiler::emitObject(KernelOp kernel) const {
  return emitFile(kernel, options, llvm::CodeGenFileType::ObjectFile);
}

//===-- Code in this process ----------------------------------------------===//

struct CpuCode::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

CpuCode::CpuCode(std::unique_ptr<State> state, CpuEntry entry)
    : state(std::move(state)), theEntry(std::move(entry)) {}
CpuCode::CpuCode(CpuCode &&) = default;
CpuCode::~CpuCode() = default;

static CpuEntry describe(KernelOp kernel, const CpuOptions &options) {
  CpuEntry entry;
  entry.numParams = kernel.getBody().getNumArguments();
  entry.numDims = kernel.getDims().size();
  entry.hasWideSums = hasWideSums(kernel);
  entry.reports = options.sanitizes || hasReports(kernel);
  for (unsigned n = 0; n < entry.numParams; ++n)
    if (kernel.getParamMode(n) == ParamMode::Reduce)
      entry.reduceOutputs.push_back(
          {n, static_cast<tile::runtime::CpuCombine>(kernel.getParamReduce(n)),
           kernel.getParamType(n).str()});
  return entry;
}

std::string CpuCompiler::describeObject(KernelOp kernel) const {
  auto machine = createTargetMachine(options);
  if (!machine) {
    llvm::consumeError(machine.takeError());
    return "";
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << compilerId() << "\n"
         << (*machine)->getTargetTriple().str() << " " << (*machine)->getTargetCPU() << " "
         << (*machine)->getTargetFeatureString() << " -O" << options.optimization
         << (options.sanitizes ? " watched" : "") << (options.asThread ? " as a thread" : "")
         << "\n";
  kernel->print(stream, OpPrintingFlags().useLocalScope());
  if (hasReports(kernel)) // which know their places
    for (Operation *site : reportSites(kernel))
      stream << "\n" << placeOf(site->getLoc());
  return text;
}

FailureOr<CpuCode> CpuCompiler::load(KernelOp kernel, llvm::StringRef object) const {
  auto jit = loadObject(object);
  if (!jit)
    return report(kernel, jit.takeError());
  CpuEntry entry = describe(kernel, options);
  std::string name = kernel.getSymName().str();
  auto kernelAddress =
      (*jit)->lookup(name + (entry.hasWideSums ? tile::runtime::wideSumsSuffix : ""));
  auto programsAddress = (*jit)->lookup(name + ".programs");
  auto scratchAddress = (*jit)->lookup(name + ".scratch");
  auto workAddress = (*jit)->lookup(name + ".work");
  for (auto *address : {&kernelAddress, &programsAddress, &scratchAddress, &workAddress})
    if (!*address)
      return report(kernel, address->takeError());
  entry.kernel = kernelAddress->toPtr<tile::runtime::CpuKernelFunction>();
  entry.programs = programsAddress->toPtr<tile::runtime::CpuQueryFunction>();
  entry.scratch = scratchAddress->toPtr<tile::runtime::CpuQueryFunction>();
  entry.work = workAddress->toPtr<tile::runtime::CpuQueryFunction>();
  if (!entry.reduceOutputs.empty()) {
    auto apartAddress = (*jit)->lookup(name + tile::runtime::apartSuffix);
    if (!apartAddress)
      return report(kernel, apartAddress.takeError());
    entry.apart = apartAddress->toPtr<tile::runtime::CpuQueryFunction>();
  }
  auto state = std::make_unique<CpuCode::State>();
  state->jit = std::move(*jit);
  return CpuCode(std::move(state), std::move(entry));
}

FailureOr<CpuCode> CpuCompiler::jit(KernelOp kernel) const {
  FailureOr<std::string> object = emitObject(kernel);
  if (failed(object))
    return failure();
  return load(kernel, *object);
}
