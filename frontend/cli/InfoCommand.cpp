//===- InfoCommand.cpp - tilec info ---------------------------------------===//

#include "frontend/cli/Commands.h"
#include "frontend/cli/DiagnosticJson.h"
#include "frontend/cli/Inputs.h"
#include "frontend/cli/RunOptions.h"
#include "runtime/base/Text.h"

#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

namespace {
/// Several lines as one, with single spaces.
std::string onOneLine(llvm::StringRef text) {
  std::string line;
  for (char c : text) {
    bool isSpace = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!isSpace)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  return llvm::StringRef(line).trim().str();
}

llvm::StringRef sourceText(const dsl::SourceFile &source, uint32_t begin, uint32_t end) {
  llvm::StringRef text(source.text().data(), source.text().size());
  return text.slice(begin, end);
}

/// What stands before the body.
std::string headOf(const dsl::Decl &decl, const dsl::SourceFile &source) {
  llvm::StringRef text = sourceText(source, decl.range.begin, decl.range.end);
  if (decl.bodyExpr)
    return onOneLine(
        sourceText(source, decl.range.begin, decl.bodyExpr->range.begin).rtrim(" \n\t\r=("));
  return onOneLine(text.take_until([](char c) { return c == '{'; }));
}

void describe(const dsl::Decl &decl, const dsl::SourceFile &source, llvm::raw_ostream &stream) {
  stream << "\n" << headOf(decl, source) << "\n";
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(decl.doc).rtrim().split(lines, '\n');
  if (!decl.doc.empty())
    for (llvm::StringRef line : lines)
      stream << (line.empty() ? "" : "    ") << line << "\n";
  for (const dsl::Schedule &schedule : decl.schedules)
    stream << "    " << onOneLine(sourceText(source, schedule.range.begin, schedule.range.end))
           << "\n";
}

llvm::StringRef wordOf(dsl::Decl::Kind kind) {
  switch (kind) {
  case dsl::Decl::Kind::Import:
    return "import";
  case dsl::Decl::Kind::Kernel:
    return "kernel";
  case dsl::Decl::Kind::Map:
    return "map";
  case dsl::Decl::Kind::Fn:
    return "fn";
  case dsl::Decl::Kind::Graph:
    return "graph";
  }
  llvm_unreachable("covered switch");
}

llvm::json::Array toJson(llvm::ArrayRef<dsl::Param> params, const dsl::SourceFile &source) {
  llvm::json::Array array;
  for (const dsl::Param &param : params)
    array.push_back(llvm::json::Object{
        {"name", param.name.text},
        {"type",
         textOf(onOneLine(sourceText(source, param.type.range.begin, param.type.range.end)))},
        {"declaration", textOf(onOneLine(declarationOf(param, source)))},
        {"inout", param.isInout},
        {"has_default", param.defaultValue != nullptr}});
  return array;
}

llvm::json::Object toJson(Session &session, dsl::DeclRef ref) {
  const dsl::Decl &decl = *ref.decl;
  const dsl::SourceFile &source = ref.file->source;
  llvm::json::Array generics, schedules;
  for (const dsl::Generic &generic : decl.generics) {
    llvm::json::Object object{{"name", generic.name.text}, {"const", generic.isConst}};
    if (!generic.isConst) {
      llvm::json::Array types;
      for (ir::ElementType type : session.elaborator.alternatives(ref, generic))
        types.push_back(ir::nameOf(type));
      object["types"] = std::move(types);
    }
    generics.push_back(std::move(object));
  }
  for (const dsl::Schedule &schedule : decl.schedules)
    schedules.push_back(
        textOf(onOneLine(sourceText(source, schedule.range.begin, schedule.range.end))));
  return llvm::json::Object{{"kind", wordOf(decl.kind)},
                            {"name", decl.name.text},
                            {"declaration", textOf(headOf(decl, source))},
                            {"doc", textOf(llvm::StringRef(decl.doc).rtrim())},
                            {"generics", std::move(generics)},
                            {"inputs", toJson(decl.params, source)},
                            {"outputs", toJson(decl.outputs, source)},
                            {"schedules", std::move(schedules)},
                            {"range", rangeOf(source, decl.range)}};
}

struct InfoOptions {
  std::string file, entry, device;
  bool devices = false, json = false;
  SourceOptions source;
};

/// "layers.tile: 5 kernels, 1 graph, 0 maps, 2 fns"
std::string countsOf(const dsl::LoadedFile &file) {
  unsigned counts[5] = {};
  for (const dsl::Decl &decl : file.module.decls)
    ++counts[static_cast<unsigned>(decl.kind)];
  auto count = [&](dsl::Decl::Kind kind) {
    unsigned n = counts[static_cast<unsigned>(kind)];
    return std::to_string(n) + " " + wordOf(kind).str() + (n == 1 ? "" : "s");
  };
  return file.source.name() + ": " + count(dsl::Decl::Kind::Kernel) + ", " +
         count(dsl::Decl::Kind::Graph) + ", " + count(dsl::Decl::Kind::Map) + ", " +
         count(dsl::Decl::Kind::Fn);
}

/// Of a source, all of it or what is named.
int describeSource(const std::string &path, const std::string &name, const InfoOptions &options) {
  Session session(options.source);
  Outcome<dsl::LoadedFile *> file = session.load(path);
  if (!file)
    return failCall(session, file.takeFailure(), options.json);
  std::vector<dsl::DeclRef> decls;
  if (!name.empty()) {
    Outcome<dsl::DeclRef> decl = session.entry(**file, name);
    if (!decl)
      return failCall(session, decl.takeFailure(), options.json);
    decls.push_back(*decl);
  } else {
    for (const dsl::Decl &decl : (*file)->module.decls)
      if (decl.kind != dsl::Decl::Kind::Import)
        decls.push_back({&decl, *file});
  }
  if (!options.json) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (name.empty())
      stream << countsOf(**file) << "\n";
    for (dsl::DeclRef decl : decls)
      describe(*decl.decl, (*file)->source, stream);
    llvm::outs() << runtime::visible(text);
    return session.finish();
  }
  llvm::json::Array declarations;
  for (dsl::DeclRef decl : decls)
    declarations.push_back(toJson(session, decl));
  int code = session.finish();
  printJson(llvm::json::Object{{"ok", code == success},
                               {"file", textOf((*file)->source.name())},
                               {"declarations", std::move(declarations)},
                               {"diagnostics", cli::toJson(session.diags)}});
  return code;
}

int info(const InfoOptions &options) {
  if (options.devices)
    return listDevices(options.json);
  if (!options.device.empty())
    return describeDevice(options.device, options.source, options.json);
  auto fail = [&](Failure failure) {
    Session session(options.source);
    return failCall(session, std::move(failure), options.json);
  };
  if (options.file.empty())
    return fail(Failure::usage({"`tilec info` needs FILE[:NAME]",
                                "`tilec info --devices` shows the devices of this machine"}));
  auto chosen = chosenEntry(options.file, options.entry);
  if (!chosen)
    return fail(chosen.takeFailure());
  auto &[path, name] = *chosen;
  return namesArtifact(options.file) ? describeArtifact(path, name, options.source, options.json)
                                     : describeSource(path, name, options);
}
} // namespace

Command tile::frontend::cli::addInfoCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand(
      "info", "Show the kernels and graphs of a source or artifact: what they take and give; or "
              "the devices of this machine");
  auto options = std::make_shared<InfoOptions>();
  CLI::Option *file = command->add_option("FILE[:NAME]", options->file,
                                          "A source or artifact; - or -:NAME is standard input");
  addEntryOption(*command, options->entry, "The kernel or graph to show");
  CLI::Option *devices =
      command
          ->add_flag("--devices", options->devices,
                     "Show the processor and the CUDA devices, or why there are none; and the\n"
                     "descriptions of devices that are built in")
          ->excludes(file);
  command
      ->add_option(
          "--device", options->device,
          "Show a description of a device, each figure with its source; cpu and cuda: those\n"
          "that graphs are planned for here")
      ->type_name("NAME|FILE.json")
      ->excludes(file)
      ->excludes(devices);
  addJsonOption(*command, options->json, "The answer");
  addSourceOptions(*command, options->source);
  command->footer(
      "TILE_CUDA_DRIVER names the CUDA driver's library where it isn't libcuda.so.1.\n\n"
      "Examples:\n"
      "  tilec info softmax.tile\n"
      "  tilec info attention.tile:attention\n"
      "  tilec info --json net.tileart\n"
      "  tilec info --devices\n"
      "  tilec info --device=h200");
  return {command, [options] { return info(*options); }};
}
