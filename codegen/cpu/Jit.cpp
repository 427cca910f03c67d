//===- Jit.cpp - LLVM modules to machine code -----------------------------===//

#include "codegen/cpu/Jit.h"
#include "runtime/artifact/Library.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopStrengthReduce.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

#include <cmath>
#include <cstring>
#include <mutex>
#include <unistd.h>

using namespace llvm;
using namespace tile::codegen;

//===-- Machines ----------------------------------------------------------===//

/// LLVM 22's peephole optimizer merges a masked load into a masked multiply-add, and the pass that
/// makes two addresses of three takes it out again, without its mask: lanes that are off are read,
/// beyond the end of a tensor, too. Nothing but its command line option keeps that from happening.
///
/// Strength reduction of loops costs a fifth of the code generator's time, and more registers than
/// it saves: what is the same in each round has left the loop already.
static void disablePasses() {
  auto &known = cl::getRegisteredOptions();
  for (StringRef name : {"disable-peephole", "disable-lsr"})
    if (auto option = known.find(name); option != known.end())
      static_cast<cl::opt<bool> *>(option->second)->setValue(true);
}

static void initializeNativeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    disablePasses();
  });
}

static std::string nativeFeatures() {
  std::string features;
  for (const auto &[name, isOn] : sys::getHostCPUFeatures())
    features += (features.empty() ? "" : ",") + std::string(isOn ? "+" : "-") + name.str();
  return features;
}

Expected<std::unique_ptr<TargetMachine>>
tile::codegen::createTargetMachine(const CpuOptions &options) {
  initializeNativeTarget();
  Triple triple(sys::getProcessTriple());
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError(message);
  bool isNative = options.cpu == "native";
  std::string cpu = isNative ? sys::getHostCPUName().str() : options.cpu;
  std::unique_ptr<MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, "", ""));
  if (!isNative && !known->isCPUStringValid(cpu))
    return createStringError("unknown CPU `" + cpu + "` for " + triple.str());
  TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = FPOpFusion::Strict;
  static constexpr CodeGenOptLevel levels[] = {CodeGenOptLevel::None, CodeGenOptLevel::Less,
                                               CodeGenOptLevel::Default,
                                               CodeGenOptLevel::Aggressive};
  return std::unique_ptr<TargetMachine>(target->createTargetMachine(
      triple, cpu, isNative ? nativeFeatures() : "", targetOptions, Reloc::PIC_, std::nullopt,
      levels[std::clamp(options.optimization, 0, 3)], /*JIT=*/false));
}

TargetInfo tile::codegen::describeTarget(const TargetMachine &machine, const CpuOptions &options) {
  const MCSubtargetInfo &subtarget = *machine.getMCSubtargetInfo();
  TargetInfo info;
  info.vectorBits = subtarget.checkFeatures("+avx512f") && subtarget.checkFeatures("+avx512vl")
                        ? 512
                    : subtarget.checkFeatures("+avx2") ? 256
                                                       : 128;
  info.hasF16c = subtarget.checkFeatures("+f16c");
  info.hasF16Arithmetic = info.vectorBits == 512 && subtarget.checkFeatures("+avx512fp16");
  info.hasFma = subtarget.checkFeatures("+fma");
  info.hasAvx512dq = info.vectorBits == 512 && subtarget.checkFeatures("+avx512dq");
#ifdef _SC_LEVEL3_CACHE_SIZE
  auto ofCache = [&](int name, int64_t factor, int64_t &limit) {
    if (long bytes = sysconf(name); options.cpu == "native" && bytes > 0)
      limit = bytes * factor;
  };
  ofCache(_SC_LEVEL3_CACHE_SIZE, 1, info.streamedBytes);
  // Cores have about as much again of a last-level cache as for themselves, where all of a machine
  // use it; from where on it paid is in docs/performance.md, "Transposed outputs".
  long cores = std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN));
  ofCache(_SC_LEVEL2_CACHE_SIZE, 2 * cores, info.scatteredBytes);
  info.scatteredBytes =
      std::clamp(info.scatteredBytes, info.streamedBytes / 16, info.streamedBytes);
  ofCache(_SC_LEVEL2_CACHE_SIZE, 1, info.coreCacheBytes);
#endif
  info.sanitizes = options.sanitizes;
  info.isThread = options.asThread;
  if (options.cacheBytes)
    info.streamedBytes = info.scatteredBytes = info.coreCacheBytes = *options.cacheBytes;
  return info;
}

//===-- Passes ------------------------------------------------------------===//

/// The lane that a mask has alone, if it is known to.
static std::optional<unsigned> singleLane(Value *mask) {
  auto *known = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  std::optional<unsigned> single;
  for (unsigned lane = 0; known && type && lane < type->getNumElements(); ++lane) {
    Constant *bit = known->getAggregateElement(lane);
    if (bit && bit->isNullValue())
      continue;
    if (!bit || !bit->isOneValue() || single)
      return {};
    single = lane;
  }
  return single;
}

void tile::codegen::storeSingleLanes(Module &module) {
  SmallVector<IntrinsicInst *> stores;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<IntrinsicInst>(&instruction);
          call && call->getIntrinsicID() == Intrinsic::masked_store &&
          singleLane(call->getArgOperand(2)))
        stores.push_back(call);
  for (IntrinsicInst *store : stores) {
    unsigned lane = *singleLane(store->getArgOperand(2));
    IRBuilder<> b(store);
    Value *element = b.CreateExtractElement(store->getArgOperand(0), lane);
    Value *pointer = b.CreateConstGEP1_64(element->getType(), store->getArgOperand(1), lane);
    b.CreateAlignedStore(element, pointer, Align(1));
    store->eraseFromParent();
  }
}

/// Bits of the longest vector that an instruction has to do with.
static unsigned longestVector(const Function &function) {
  uint64_t bits = 0;
  auto count = [&](const Value &value) {
    if (auto *type = dyn_cast<FixedVectorType>(value.getType()))
      bits = std::max<uint64_t>(bits, type->getPrimitiveSizeInBits());
  };
  for (const Instruction &instruction : instructions(function)) {
    count(instruction);
    for (const Use &operand : instruction.operands())
      count(*operand);
  }
  return static_cast<unsigned>(bits);
}

/// Where all vectors are of 256 bits or less, neighbouring loads and stores don't become one of
/// 512: as long as a core has such an instruction, it has two vector units in place of three.
static void keepVectorsShort(Module &module) {
  constexpr unsigned most = 256;
  for (Function &function : module) {
    if (function.isDeclaration() || longestVector(function) > most)
      continue;
    function.addFnAttr("min-legal-vector-width", std::to_string(most));
    function.addFnAttr("prefer-vector-width", std::to_string(most));
  }
}

void tile::codegen::optimizeModule(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  // The generator's loops are rotated and vectorized already: what is left is to share, to
  // simplify, to move out of loops, and to write out those of few rounds: what one of them keeps
  // for the next stays in registers.
  constexpr int asO2 = 2; // how much code may grow
  FunctionPassManager passes;
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/false));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  passes.addPass(LoopSimplifyPass());
  passes.addPass(LCSSAPass());
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(createFunctionToLoopPassAdaptor(LoopFullUnrollPass(asO2)));
  passes.addPass(SimplifyCFGPass());
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  passes.addPass(DCEPass());
  ModulePassManager pipeline;
  pipeline.addPass(createModuleToFunctionPassAdaptor(std::move(passes)));
  pipeline.run(module, modules);
  keepVectorsShort(module);
}

//===-- Loading -----------------------------------------------------------===//

/// What generated code may call, by name: the same in a static program.
static orc::SymbolMap librarySymbols(orc::MangleAndInterner &mangle) {
  orc::SymbolMap symbols;
  auto add = [&](StringRef name, auto *function) {
    symbols[mangle(name)] = {orc::ExecutorAddr::fromPtr(function), JITSymbolFlags::Exported};
  };
  using D = double;
  using F = float;
#define TILE_Memory(NAME) &::NAME
#define TILE_D1(NAME) static_cast<D (*)(D)>(&::NAME)
#define TILE_D2(NAME) static_cast<D (*)(D, D)>(&::NAME)
#define TILE_D3(NAME) static_cast<D (*)(D, D, D)>(&::NAME)
#define TILE_F1(NAME) static_cast<F (*)(F)>(&::NAME)
#define TILE_F2(NAME) static_cast<F (*)(F, F)>(&::NAME)
#define TILE_F3(NAME) static_cast<F (*)(F, F, F)>(&::NAME)
#define TILE_LIBRARY_FUNCTION(NAME, KIND) add(#NAME, TILE_##KIND(NAME));
#include "runtime/artifact/Library.def"
  return symbols;
}

Expected<std::unique_ptr<orc::LLJIT>> tile::codegen::loadObject(StringRef object) {
  initializeNativeTarget();
  orc::LLJITBuilder builder;
  builder.setJITTargetMachineBuilder(orc::JITTargetMachineBuilder(Triple(sys::getProcessTriple())));
  builder.setNumCompileThreads(0);
  auto jit = builder.create();
  if (!jit)
    return jit.takeError();
  orc::MangleAndInterner mangle((*jit)->getExecutionSession(), (*jit)->getDataLayout());
  if (Error error = (*jit)->getMainJITDylib().define(orc::absoluteSymbols(librarySymbols(mangle))))
    return error;
  if (Error error = (*jit)->addObjectFile(MemoryBuffer::getMemBufferCopy(object, "kernel.o")))
    return error;
  return std::move(*jit);
}
