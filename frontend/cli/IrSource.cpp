//===- IrSource.cpp - kernels that are given as IR ------------------------===//

#include "frontend/cli/IrSource.h"

#include "codegen/gpu/GpuCompiler.h"
#include "frontend/CrashReport.h"
#include "frontend/Interface.h"
#include "ir/Spelling.h"

#include "mlir/Parser/Parser.h"

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

/// A source declares each parameter by a name and a type.
static Outcome<std::monostate> checkParameters(ir::KernelOp kernel) {
  for (unsigned n = 0; n < kernel.getNumArguments(); ++n)
    for (StringRef attribute : {"tile.name", "tile.type"})
      if (!kernel.getArgAttrOfType<StringAttr>(n, attribute)) {
        kernel.emitError("parameter ") << n << " of `" << ir::nameInSource(kernel.getSymName())
                                       << "` has no `" << attribute << "`";
        return Failure::reported();
      }
  return Done{};
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
  if (auto checked = checkParameters(*kernel); !checked)
    return checked.takeFailure();
  dsl::LoadedFile *file = session.program.load("the signature in " + path, signatureOf(*kernel));
  if (session.diags.errorCount())
    return Failure::reported();
  (*kernel)->moveBefore(session.module().getBody(), session.module().getBody()->end());
  return IrKernel{kernel->getSymName().str(), {&file->module.decls.front(), file}};
}
