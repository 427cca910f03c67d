//===- IrSource.cpp - kernels that are given as IR ------------------------===//

#include "frontend/cli/IrSource.h"

#include "codegen/gpu/GpuCompiler.h"
#include "frontend/base/CrashReport.h"
#include "frontend/base/Interface.h"
#include "ir/dialect/ElementType.h"
#include "ir/proofs/Spelling.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

bool tile::frontend::cli::namesIr(const std::string &path) {
  return StringRef(path).ends_with(".mlir");
}

/// What a source says of a kernel's parameters, with an empty body.
static std::string signatureOf(ir::KernelOp kernel) {
  Interface interface = interfaceOf(kernel);
  std::string inputs, outputs;
  for (const Port &port : interface.inputs)
    inputs += std::string(inputs.empty() ? "" : ", ") +
              (port.mode == ir::ParamMode::InOut ? "inout " : "") + port.str();
  for (const Port &port : interface.outputs)
    if (port.mode != ir::ParamMode::InOut)
      outputs += (outputs.empty() ? "" : ", ") + port.str();
  return "kernel " + interface.name + "(" + inputs + ")" +
         (outputs.empty() ? "" : " -> (" + outputs + ")") + " {\n}\n";
}

//===-- What a source guarantees, and text doesn't ------------------------===//

static bool isIdentifier(StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// What is wrong with a parameter; empty: nothing.
static std::string wrongParameter(ir::KernelOp kernel, unsigned n) {
  Type type = kernel.getArgumentTypes()[n];
  auto text = [&](StringRef attribute) {
    auto found = kernel.getArgAttrOfType<StringAttr>(n, attribute);
    return found ? found.getValue() : StringRef();
  };
  if (!isIdentifier(text("tile.name")))
    return "needs a `tile.name`, letters, digits and _";
  if (!llvm::is_contained({"in", "out", "inout", "reduce"}, text("tile.mode")))
    return "needs a `tile.mode`: in, out, inout or reduce";
  std::optional<ir::ElementType> element = ir::elementTypeNamed(text("tile.type"));
  if (!element || ir::toMlir(*element, kernel.getContext()) != getElementTypeOrSelf(type))
    return "needs a `tile.type` that is the type of its elements, such as f32";
  auto otherwise = kernel.getArgAttr(n, "tile.default");
  auto typed = dyn_cast_or_null<TypedAttr>(otherwise);
  if (otherwise && (!typed || typed.getType() != type || !isa<FloatAttr, IntegerAttr>(otherwise)))
    return "has a `tile.default` of another type";
  auto memory = dyn_cast<MemRefType>(type);
  if (!memory)
    return text("tile.mode") == "in" ? "" : "is a number, which can't be written";
  if (!memory.getLayout().isIdentity() || memory.getMemorySpace())
    return "is no tensor whose elements follow each other";
  for (auto [extent, expr] : llvm::zip(memory.getShape(), kernel.getParamShape(n).getResults())) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (ShapedType::isDynamic(extent) ? bool(constant) : !constant || constant.getValue() != extent)
      return "has extents that are constants in its type or in `tile.shape`, but not in both";
  }
  return "";
}

/// What is wrong with how a kernel is to run; empty: nothing.
static std::string wrongSchedule(ir::KernelOp kernel) {
  bool isOnGpu = codegen::isOnGpuLevel(kernel);
  constexpr int64_t maxWarps = 32;
  if (int64_t warps = codegen::warpsOf(kernel); isOnGpu && (warps < 1 || warps > maxWarps))
    return "has a `tile_gpu.warps` that is no number from 1 to 32";
  return !isOnGpu && codegen::hasLayouts(kernel) ? "has layouts, and no `tile_gpu.warps`" : "";
}

static Outcome<std::monostate> checkKernel(ir::KernelOp kernel) {
  auto refuse = [&](const Twine &what) {
    kernel.emitError("`") << ir::nameInSource(kernel.getSymName()) << "`: " << what;
    return Failure::reported();
  };
  llvm::StringSet<> names, dims;
  if (!isIdentifier(ir::nameInSource(kernel.getSymName())))
    return refuse("the kernel's name has other characters than letters, digits and _");
  for (unsigned n = 0; n < kernel.getNumArguments(); ++n) {
    if (std::string wrong = wrongParameter(kernel, n); !wrong.empty())
      return refuse("parameter " + Twine(n) + " " + wrong);
    if (!names.insert(kernel.getParamName(n)).second)
      return refuse("two parameters are called `" + kernel.getParamName(n) + "`");
  }
  for (StringRef dim : kernel.getDims().getAsValueRange<StringAttr>())
    if (!isIdentifier(dim) || !dims.insert(dim).second)
      return refuse("`dims` are names, each once");
  if (std::string wrong = wrongSchedule(kernel); !wrong.empty())
    return refuse(wrong);
  return Done{};
}

/// Returns whether brackets stand in so many others that MLIR's parser, which calls itself for
/// each, would run out of stack.
static bool isTooDeep(StringRef text) {
  constexpr int most = 1000;
  int depth = 0;
  for (size_t n = 0; n < text.size(); ++n) {
    bool isArrow = text[n] == '>' && n > 0 && StringRef("-=").contains(text[n - 1]);
    depth += StringRef("([{<").contains(text[n])               ? 1
             : StringRef(")]}>").contains(text[n]) && !isArrow ? -1
                                                               : 0;
    depth = std::max(depth, 0);
    if (depth > most)
      return true;
  }
  return false;
}

static Outcome<ir::KernelOp> chooseKernel(ModuleOp module, const std::string &path,
                                          const std::string &name) {
  SmallVector<ir::KernelOp> kernels(module.getOps<ir::KernelOp>());
  std::vector<std::string> names;
  for (ir::KernelOp kernel : kernels) {
    names.push_back(kernel.getSymName().str());
    if (names.back() == name)
      return kernel;
  }
  if (names.empty())
    return Failure::usage({"'" + path + "' has no kernel", "kernels are `tile.kernel` ops"});
  std::string list = "it has " + llvm::join(names, ", ");
  if (!name.empty()) {
    std::string advice = didYouMean(name, names);
    return Failure::usage({"'" + path + "' has no kernel `" + name + "`",
                           advice.empty() ? list : advice + " " + list});
  }
  if (names.size() > 1)
    return Failure::usage(
        {"'" + path + "' has several kernels: which one?",
         list + "; say --entry=" + names.front() + " or " + path + ":" + names.front()});
  return kernels.front();
}

Outcome<IrKernel> tile::frontend::cli::loadIrKernel(Session &session, const std::string &path,
                                                    const std::string &name) {
  auto text = readSource(path);
  if (!text)
    return text.takeFailure();
  CrashReport::addSource(path, *text);
  CrashReport::Scope scope("parsing " + path);
  StageTimer timer(session.compiler.times, "parse");
  codegen::loadGpuDialect(session.context);
  if (isTooDeep(*text))
    return Failure::invalid({"'" + path + "' has brackets in more than 1000 others", ""});
  const dsl::LoadedFile &kept = session.program.keep(path, *std::move(text));
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(kept.source.text(), ParserConfig(&session.context), path);
  if (!module)
    return session.diags.errorCount()
               ? Failure::reported()
               : Failure::invalid({"'" + path + "' is no IR that can be read", ""});
  auto kernel = chooseKernel(*module, path, name);
  if (!kernel)
    return kernel.takeFailure();
  if (auto checked = checkKernel(*kernel); !checked)
    return checked.takeFailure();
  dsl::LoadedFile *file = session.program.load("the signature in " + path, signatureOf(*kernel));
  if (session.diags.errorCount())
    return Failure::reported();
  (*kernel)->moveBefore(session.module().getBody(), session.module().getBody()->end());
  return IrKernel{kernel->getSymName().str(), {&file->module.decls.front(), file}};
}
