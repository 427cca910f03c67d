//===- CompileCommand.cpp - tilec compile ---------------------------------===//

#include "codegen/gpu/dialect/KernelAttributes.h"
#include "dsl/AstPrinter.h"
#include "frontend/base/Interface.h"
#include "frontend/cli/Compile.h"
#include "frontend/cli/DiagnosticJson.h"
#include "frontend/cli/IrSource.h"
#include "frontend/cli/TargetList.h"
#include "ir/proofs/Spelling.h"
#include "runtime/base/FileIO.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

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
