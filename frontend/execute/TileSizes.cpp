//===- TileSizes.cpp - tile sizes given beside the source -----------------===//

#include "frontend/execute/TileSizes.h"

#include "frontend/base/Interface.h"
#include "frontend/base/JsonFile.h"
#include "ir/builder/Schedule.h"
#include "runtime/base/Text.h"

#include "llvm/ADT/SetVector.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

static bool isMeant(const std::string &name, ir::KernelOp kernel) {
  StringRef symbol = kernel.getSymName();
  return symbol == name || symbol.starts_with(name + ".") ||
         (isFused(kernel) && // its symbol has all names
          ("." + symbol + ".").str().find("." + name + ".") != std::string::npos);
}

static Failure badSize(StringRef binder, StringRef size) {
  // Of `kernel.stages` what is behind the last dot; a name without one comes first.
  auto [kernel, last] = binder.rsplit('.');
  StringRef name = last.empty() ? kernel : last;
  std::string what = runtime::quote(binder) + " is " + runtime::quote(size);
  if (int64_t number; name == "order" && size.getAsInteger(10, number))
    return Failure::usage({what + ", which is no number",
                           "the schedule in the source takes an order, such as `order = "
                           "grouped(8)`"});
  if (llvm::is_contained(ir::scheduleSettings, name))
    return Failure::usage(
        {what, "a schedule's numbers are from 1 to " + std::to_string(ir::maxTileSize)});
  return Failure::usage({"the tile size of " + what, "a tile size is a whole number from 1 to " +
                                                         std::to_string(ir::maxTileSize)});
}

Outcome<std::monostate> tile::frontend::checkSize(StringRef binder, int64_t size) {
  if (size >= 1 && size <= ir::maxTileSize)
    return Done{};
  return badSize(binder, std::to_string(size));
}

Outcome<std::monostate> TileSizes::parse(StringRef text) {
  auto [name, number] = text.split('=');
  auto [kernel, binder] = name.rsplit('.');
  if (binder.empty())
    std::swap(kernel, binder);
  if (binder.empty() || !text.contains('='))
    return Failure::usage({runtime::quote(text) + " gives no tile size",
                           "write BINDER=SIZE or KERNEL.BINDER=SIZE, such as i=64"});
  int64_t size;
  if (number.getAsInteger(10, size))
    return badSize(name, number);
  if (auto checked = checkSize(name, size); !checked)
    return badSize(name, number);
  ByBinder &sizes = kernel.empty() ? everywhere : byKernel[kernel.str()];
  if (!sizes.try_emplace(binder.str(), size).second)
    return Failure::usage({"the tile size of " + runtime::quote(name) + " is given twice", ""});
  return Done{};
}

void TileSizes::overrideWith(const TileSizes &other) {
  auto take = [&](const std::string &kernel, const ByBinder &sizes, ByBinder &into) {
    for (const auto &[binder, size] : sizes) {
      into[binder] = size;
      files.erase({kernel, binder});
    }
  };
  take("", other.everywhere, everywhere);
  for (const auto &[kernel, sizes] : other.byKernel)
    take(kernel, sizes, byKernel[kernel]);
  files.insert(other.files.begin(), other.files.end());
}

//===-- Files -------------------------------------------------------------===//

namespace {
using Json = nlohmann::json;

/// Takes a schedule's JSON event by event: what no schedule has, such as a third level, ends the
/// reading before it costs anything.
class ScheduleReader : public nlohmann::json_sax<Json> {
public:
  ScheduleReader(const std::string &path, StringRef text, TileSizes &sizes)
      : path(path), text(text), sizes(sizes) {}

  Failure takeFailure() { return std::move(*failure); }

  bool null() override { return refuse("null"); }
  bool boolean(bool value) override { return refuse(value ? "true" : "false"); }
  bool number_float(number_float_t, const string_t &number) override { return refuse(number); }
  bool string(string_t &value) override { return refuse('"' + value + '"'); }
  bool binary(binary_t &) override { return refuse("binary data"); }
  bool start_array(size_t) override { return refuse("[…]"); }
  bool end_array() override { return true; }
  bool number_integer(number_integer_t value) override { return refuse(std::to_string(value)); }

  bool number_unsigned(number_unsigned_t value) override {
    if (level == Level::Start || value < 1 || value > uint64_t(ir::maxTileSize))
      return refuse(std::to_string(value));
    auto size = static_cast<int64_t>(value);
    bool isOfKernel = level == Level::Kernel;
    (isOfKernel ? sizes.byKernel[kernel] : sizes.everywhere)[name] = size;
    sizes.files[{isOfKernel ? kernel : "", name}] = path;
    return true;
  }

  bool start_object(size_t) override {
    if (level == Level::Kernel)
      return refuse("{…}");
    if (level == Level::Top)
      kernel = name;
    level = level == Level::Start ? Level::Top : Level::Kernel;
    return true;
  }

  bool end_object() override {
    if (level == Level::Kernel)
      names.erase(level);
    level = Level::Top;
    return true;
  }

  bool key(string_t &key) override {
    name = key;
    if (names[level].insert(name).second)
      return true;
    return fail({path + ": the key " + runtime::quote(key) + " is there twice" +
                     (level == Level::Kernel ? ", in " + runtime::quote(kernel) : ""),
                 "which of them is meant?"});
  }

  bool parse_error(size_t position, const std::string &token, const Json::exception &) override {
    // The position counts the bytes that were read.
    StringRef before = text.take_front(position - (position > 0));
    size_t column = before.size() - (before.rfind('\n') + 1); // npos + 1 is 0
    return fail({path + ":" + std::to_string(before.count('\n') + 1) + ":" +
                     std::to_string(column + 1) + ": malformed JSON" +
                     (token.empty() ? "" : " near " + runtime::quote(token)),
                 form});
  }

private:
  static constexpr const char *form = R"(a schedule is an object: {"i": 64, "matmul": {"j": 32}})";
  /// What the next event stands in.
  enum class Level { Start, Top, Kernel };

  bool fail(runtime::Error error) {
    failure = Failure::invalid({std::move(error.message), std::move(error.hint)});
    return false;
  }
  bool refuse(const std::string &value) {
    if (level == Level::Start)
      return fail({path + ": no schedule", form});
    Failure bad = badSize(level == Level::Kernel ? kernel + "." + name : name, value);
    return fail({path + ": " + bad.message, std::move(bad.hint)});
  }

  const std::string &path;
  StringRef text;
  TileSizes &sizes;
  Level level = Level::Start;
  std::string kernel, name;
  std::map<Level, std::set<std::string>> names;
  std::optional<Failure> failure;
};
} // namespace

Outcome<std::monostate> TileSizes::readFile(const std::string &path) {
  auto text = readText(path, 16, "a schedule");
  if (!text)
    return text.takeFailure();
  ScheduleReader reader(path, *text, *this);
  if (!Json::sax_parse(*text, &reader))
    return reader.takeFailure();
  return Done{};
}

//===-- Their kernels -----------------------------------------------------===//

/// A number that is none for its name, whatever it is given to: the file's fault, or the caller's.
Failure TileSizes::refused(ir::KernelOp kernel, const std::string &name,
                           ir::UserError error) const {
  std::string owner; // what is said of a kernel comes first
  for (const auto &[named, sizes] : byKernel)
    if (sizes.count(name) && isMeant(named, kernel))
      owner = named;
  auto file = files.find({owner, name});
  if (file == files.end())
    return Failure::usage({std::move(error.message), std::move(error.hint)});
  return Failure::invalid({file->second + ": " + error.message, std::move(error.hint)});
}

Outcome<std::monostate> TileSizes::check(ArrayRef<ir::KernelOp> kernels) const {
  if (everywhere.empty() && byKernel.empty())
    return Done{};
  llvm::SmallSetVector<StringRef, 8> names, binders;
  for (ir::KernelOp kernel : kernels) {
    names.insert(sourceName(kernel.getSymName()));
    for (StringAttr binder : ir::sizableBinders(kernel))
      binders.insert(binder.getValue());
  }
  for (const auto &[name, sizes] : byKernel)
    if (!llvm::any_of(kernels, [&](ir::KernelOp kernel) { return isMeant(name, kernel); }))
      return Failure::usage({"no kernel `" + name + "` runs here",
                             ir::adviseName(name, names.getArrayRef(), "the kernels are")});
  for (ir::KernelOp kernel : kernels)
    for (const auto &[name, number] : of(kernel).sizes)
      if (auto refusal = ir::refuseNumber(name, ir::isSetting(kernel, name), number))
        return refused(kernel, name.str(), *std::move(refusal));
  auto isSetting = [](const std::string &name) {
    return llvm::is_contained(ir::countSettings, name);
  };
  // Of a single kernel, what is said of it says more.
  for (const auto &[name, size] : everywhere)
    if (kernels.size() != 1 && !binders.contains(name) && !isSetting(name))
      return Failure::usage({"no kernel that runs here has a tile size `" + name + "`",
                             ir::adviseName(name, binders.getArrayRef(), "their binders are")});
  // What is wrong for one of them is told at its place.
  for (ir::KernelOp kernel : kernels)
    if (ir::Bindings bindings = of(kernel);
        !bindings.sizes.empty() && failed(ir::tileSizes(kernel, bindings)))
      return Failure::usage({"", ""});
  return Done{};
}

bool TileSizes::isNamed(ir::KernelOp kernel) const {
  return llvm::any_of(byKernel, [&](const auto &entry) { return isMeant(entry.first, kernel); });
}

ir::Bindings TileSizes::of(ir::KernelOp kernel) const {
  ir::Bindings bindings;
  auto module = kernel->getParentOfType<ModuleOp>();
  bool isAlone = module && llvm::hasSingleElement(module.getOps<ir::KernelOp>());
  SmallVector<StringAttr> binders = ir::sizableBinders(kernel);
  for (const auto &[name, size] : everywhere)
    if (isAlone || ir::isCountSetting(kernel, name) ||
        llvm::any_of(binders, [&](StringAttr binder) { return binder == name; }))
      bindings.sizes[name] = size;
  for (const auto &[name, sizes] : byKernel)
    if (isMeant(name, kernel))
      for (const auto &[binder, size] : sizes)
        // Binders of kernels that have become one may be gone.
        if (!isFused(kernel) || ir::isCountSetting(kernel, binder) ||
            llvm::any_of(binders, [&](StringAttr name) { return name == binder; }))
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
