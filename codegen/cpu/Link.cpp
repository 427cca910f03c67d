//===- Link.cpp - objects of kernels to a shared object -------------------===//

#include "codegen/cpu/Link.h"
#include "codegen/cpu/Jit.h"
#include "runtime/artifact/Library.h"

#include "lld/Common/Driver.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <csignal>
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace tile::codegen;
using tile::runtime::LibraryKind;

//===-- The object beside the kernels -------------------------------------===//

static FunctionType *typeOf(LibraryKind kind, LLVMContext &context) {
  Type *f64 = Type::getDoubleTy(context), *f32 = Type::getFloatTy(context);
  auto numeric = [](Type *type, unsigned operands) {
    return FunctionType::get(type, SmallVector<Type *>(operands, type), false);
  };
  switch (kind) {
  case LibraryKind::D1:
    return numeric(f64, 1);
  case LibraryKind::D2:
    return numeric(f64, 2);
  case LibraryKind::D3:
    return numeric(f64, 3);
  case LibraryKind::F1:
    return numeric(f32, 1);
  case LibraryKind::F2:
    return numeric(f32, 2);
  case LibraryKind::F3:
    return numeric(f32, 3);
  case LibraryKind::Memory: {
    // Of memset, the second is an int; it is handed on in the same register.
    Type *pointer = PointerType::getUnqual(context), *size = Type::getInt64Ty(context);
    return FunctionType::get(pointer, {pointer, pointer, size}, false);
  }
  }
  llvm_unreachable("covered");
}

/// A function of the library's name that hands on to the table. The linker drops those that
/// nothing calls.
static void addLibraryFunction(Module &module, GlobalVariable *table, size_t index) {
  const tile::runtime::LibraryFunction &what = tile::runtime::libraryFunctions[index];
  LLVMContext &context = module.getContext();
  FunctionType *type = typeOf(what.kind, context);
  Function *function = Function::Create(type, GlobalValue::ExternalLinkage, what.name, module);
  function->setVisibility(GlobalValue::HiddenVisibility);
  function->addFnAttr(Attribute::NoUnwind);
  function->addFnAttr("no-builtins");
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  Value *slot = builder.CreateConstInBoundsGEP2_64(table->getValueType(), table, 0, index);
  Value *target = builder.CreateLoad(builder.getPtrTy(), slot);
  SmallVector<Value *> arguments;
  for (Argument &argument : function->args())
    arguments.push_back(&argument);
  CallInst *call = builder.CreateCall(type, target, arguments);
  call->setTailCallKind(CallInst::TCK_MustTail);
  builder.CreateRet(call);
}

/// Where sine and cosine of one number are wanted, code calls `sincos` instead: here of the two.
static void addSinCos(Module &module, Type *real, const std::string &suffix) {
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::getUnqual(context);
  auto *type = FunctionType::get(Type::getVoidTy(context), {real, pointer, pointer}, false);
  Function *function =
      Function::Create(type, GlobalValue::ExternalLinkage, "sincos" + suffix, module);
  function->setVisibility(GlobalValue::HiddenVisibility);
  function->addFnAttr(Attribute::NoUnwind);
  function->addFnAttr("no-builtins");
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  auto store = [&](const char *name, unsigned result) {
    CallInst *call = builder.CreateCall(module.getFunction(name + suffix), function->getArg(0));
    call->addFnAttr(Attribute::NoBuiltin); // or it would be this function
    builder.CreateStore(call, function->getArg(result));
  };
  store("sin", 1);
  store("cos", 2);
  builder.CreateRetVoid();
}

/// The table, its size and the image's id.
static Expected<std::string> emitLibrary(uint64_t id, const CpuOptions &options) {
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  (*machine)->Options.FunctionSections = true;
  LLVMContext context;
  Module module("tile.library", context);
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  auto define = [&](Type *type, bool isConstant, Constant *value, StringRef name) {
    auto *global =
        new GlobalVariable(module, type, isConstant, GlobalValue::ExternalLinkage, value, name);
    global->setVisibility(GlobalValue::ProtectedVisibility); // found from outside, and only there
    return global;
  };
  Type *i64 = Type::getInt64Ty(context);
  auto *tableType =
      ArrayType::get(PointerType::getUnqual(context), tile::runtime::numLibraryFunctions);
  GlobalVariable *table = define(tableType, false, ConstantAggregateZero::get(tableType),
                                 tile::runtime::libraryTableSymbol);
  define(i64, true, ConstantInt::get(i64, tile::runtime::numLibraryFunctions),
         tile::runtime::librarySizeSymbol);
  define(i64, true, ConstantInt::get(i64, id), tile::runtime::imageIdSymbol);
  for (size_t n = 0; n < tile::runtime::numLibraryFunctions; ++n)
    addLibraryFunction(module, table, n);
  addSinCos(module, Type::getDoubleTy(context), "");
  addSinCos(module, Type::getFloatTy(context), "f");

  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::ObjectFile))
    return createStringError("this target cannot emit objects");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

//===-- Linking -----------------------------------------------------------===//

namespace {
/// Files that are removed with this, or when the process is interrupted. No folder: what is
/// interrupted removes files alone.
class TemporaryFiles {
public:
  TemporaryFiles() = default;
  TemporaryFiles(const TemporaryFiles &) = delete;
  ~TemporaryFiles() {
    for (const std::string &path : paths) {
      (void)sys::fs::remove(path);
      sys::DontRemoveFileOnSignal(path);
    }
  }

  /// A new one with these bytes; its path.
  Expected<std::string> add(StringRef suffix, StringRef bytes) {
    SmallString<128> path;
    int descriptor;
    if (std::error_code problem =
            sys::fs::createTemporaryFile("tile-link", suffix, descriptor, path))
      return createStringError("cannot make a temporary file: " + problem.message());
    paths.push_back(path.str().str());
    sys::RemoveFileOnSignal(path);
    raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << bytes;
    stream.close();
    std::error_code problem = stream.error();
    stream.clear_error();
    if (problem)
      return createStringError("cannot write " + path.str() + ": " + problem.message());
    return paths.back();
  }

private:
  std::vector<std::string> paths;
};

/// Interrupts of this thread wait while it lives: between a file's creation and its name in the
/// list of those that go with the process, one would leave the file.
class HeldInterrupts {
public:
  HeldInterrupts() {
    sigset_t interrupts;
    sigemptyset(&interrupts);
    for (int number : {SIGINT, SIGTERM, SIGHUP})
      sigaddset(&interrupts, number);
    pthread_sigmask(SIG_BLOCK, &interrupts, &before);
  }
  HeldInterrupts(const HeldInterrupts &) = delete;
  ~HeldInterrupts() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};
} // namespace

static Error runLinker(ArrayRef<std::string> inputs, const std::string &output) {
  SmallVector<const char *> arguments = {"ld.lld",
                                         "-shared",
                                         "-o",
                                         output.c_str(),
                                         "-z",
                                         "defs",
                                         "-z",
                                         "now",
                                         "-z",
                                         "nodynamic-undefined-weak",
                                         "--no-rosegment",
                                         "--hash-style=gnu",
                                         "--build-id=none",
                                         "--gc-sections",
                                         "--strip-all",
                                         "--threads=1"};
  for (const std::string &input : inputs)
    arguments.push_back(input.c_str());
  static std::mutex mutex; // lld keeps its state in globals
  std::lock_guard lock(mutex);
  std::string text;
  raw_string_ostream messages(text);
  lld::Result result = lld::lldMain(arguments, messages, messages, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0)
    return Error::success();
  return createStringError("the linker refuses the code: " + StringRef(text).trim());
}

Expected<CpuImageCode> tile::codegen::linkImage(ArrayRef<std::string> objects,
                                                const CpuOptions &options) {
  CpuImageCode image;
  for (const std::string &object : objects)
    image.id = image.id * 0x9e3779b97f4a7c15u + xxh3_64bits(object);
  auto library = emitLibrary(image.id, options);
  if (!library)
    return library.takeError();
  HeldInterrupts held; // linking is short
  TemporaryFiles files;
  std::vector<std::string> inputs;
  auto add = [&](StringRef bytes) {
    auto path = files.add("o", bytes);
    if (path)
      inputs.push_back(*path);
    return path.takeError();
  };
  for (const std::string &object : objects)
    if (Error error = add(object))
      return error;
  if (Error error = add(*library))
    return error;
  auto output = files.add("so", "");
  if (!output)
    return output.takeError();
  if (Error error = runLinker(inputs, *output))
    return error;
  auto file = MemoryBuffer::getFile(*output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return createStringError("cannot read " + *output + ": " + file.getError().message());
  image.bytes = (*file)->getBuffer().str();
  return image;
}

Expected<std::vector<std::string>> tile::codegen::usedFeatures(const CpuOptions &options,
                                                               ArrayRef<std::string_view> names) {
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  std::vector<std::string> used;
  for (std::string_view name : names)
    if ((*machine)->getMCSubtargetInfo()->checkFeatures("+" + std::string(name)))
      used.emplace_back(name);
  return used;
}
