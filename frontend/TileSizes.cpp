//===- TileSizes.cpp - tile sizes given beside the source -----------------===//

#include "frontend/TileSizes.h"

#include "frontend/Interface.h"
#include "runtime/FileIO.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

static bool isMeant(const std::string &name, ir::KernelOp kernel) {
  StringRef symbol = kernel.getSymName();
  return symbol == name || symbol.starts_with(name + ".");
}

static Failure badSize(StringRef binder, const Twine &size) {
  return Failure::usage(
      {("the tile size of '" + binder + "' is '" + size + "'").str(),
       "a tile size is a whole number from 1 to " + std::to_string(ir::maxTileSize)});
}

static bool isSize(int64_t size) { return size >= 1 && size <= ir::maxTileSize; }

Outcome<std::monostate> TileSizes::parse(StringRef text) {
  auto [name, number] = text.split('=');
  auto [kernel, binder] = name.rsplit('.');
  if (binder.empty())
    std::swap(kernel, binder);
  if (binder.empty() || !text.contains('='))
    return Failure::usage({"'" + text.str() + "' gives no tile size",
                           "write BINDER=SIZE or KERNEL.BINDER=SIZE, such as i=64"});
  int64_t size;
  if (number.getAsInteger(10, size) || !isSize(size))
    return badSize(name, number);
  (kernel.empty() ? everywhere : byKernel[kernel.str()])[binder.str()] = size;
  return Done{};
}

Outcome<std::monostate> TileSizes::readFile(const std::string &path) {
  auto file = runtime::InputFile::open(path);
  if (!file)
    return Failure::environment(file.takeError());
  std::string text(file->size(), 0);
  if (auto read = file->readAt(0, std::as_writable_bytes(std::span(text))); !read)
    return Failure::environment(read.takeError());
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (!json)
    return Failure::environment({path + ": " + llvm::toString(json.takeError()), ""});
  const char *form = R"(a schedule is an object: {"i": 64, "matmul": {"j": 32}})";
  auto read = [&](ByBinder &into, StringRef name, const llvm::json::Value &value) {
    std::optional<int64_t> size = value.getAsInteger();
    if (size && isSize(*size))
      into[name.str()] = *size;
    return size && isSize(*size);
  };
  const llvm::json::Object *object = json->getAsObject();
  if (!object)
    return Failure::environment({path + ": no schedule", form});
  for (const auto &[key, value] : *object) {
    const llvm::json::Object *kernel = value.getAsObject();
    if (!kernel && !read(everywhere, key, value))
      return badSize(key, llvm::formatv("{0}", value).str());
    for (auto &[binder, size] : kernel ? *kernel : llvm::json::Object())
      if (!read(byKernel[key.str()], binder, size))
        return badSize(key.str() + "." + binder.str(), llvm::formatv("{0}", size).str());
  }
  return Done{};
}

Outcome<std::monostate> TileSizes::check(ArrayRef<ir::KernelOp> kernels) const {
  SmallVector<StringRef> names;
  llvm::SmallSetVector<StringRef, 8> binders;
  for (ir::KernelOp kernel : kernels) {
    names.push_back(sourceName(kernel.getSymName()));
    for (StringAttr binder : ir::sizableBinders(kernel))
      binders.insert(binder.getValue());
  }
  for (const auto &[name, sizes] : byKernel)
    if (!llvm::any_of(kernels, [&](ir::KernelOp kernel) { return isMeant(name, kernel); }))
      return Failure::invalid(
          {"no kernel `" + name + "` runs here", ir::adviseName(name, names, "the kernels are")});
  // Of a single kernel, `specialize` says more.
  if (kernels.size() == 1)
    return Done{};
  for (const auto &[name, size] : everywhere)
    if (!binders.contains(name))
      return Failure::invalid({"no kernel that runs here has a tile size `" + name + "`",
                               ir::adviseName(name, binders.getArrayRef(), "their binders are")});
  return Done{};
}

ir::Bindings TileSizes::of(ir::KernelOp kernel) const {
  ir::Bindings bindings;
  bool isAlone = llvm::hasSingleElement(kernel->getParentOfType<ModuleOp>().getOps<ir::KernelOp>());
  SmallVector<StringAttr> binders = ir::sizableBinders(kernel);
  for (const auto &[name, size] : everywhere)
    if (isAlone || llvm::any_of(binders, [&](StringAttr binder) { return binder == name; }))
      bindings.sizes[name] = size;
  for (const auto &[name, sizes] : byKernel)
    if (isMeant(name, kernel))
      for (const auto &[binder, size] : sizes)
        bindings.sizes[binder] = size;
  return bindings;
}

static void collectKernels(ModuleOp module, StringRef symbol,
                           llvm::SetVector<Operation *> &functions) {
  Operation *function = module.lookupSymbol(symbol);
  if (!function || !functions.insert(function))
    return;
  function->walk([&](ir::CallOp call) { collectKernels(module, call.getCallee(), functions); });
}

SmallVector<ir::KernelOp> tile::frontend::kernelsOf(ModuleOp module, StringRef symbol) {
  llvm::SetVector<Operation *> functions;
  collectKernels(module, symbol, functions);
  SmallVector<ir::KernelOp> kernels;
  for (Operation *function : functions)
    if (auto kernel = dyn_cast<ir::KernelOp>(function))
      kernels.push_back(kernel);
  return kernels;
}
