//===- InfoCommand.cpp - tilec info ---------------------------------------===//

#include "frontend/cli/Commands.h"
#include "frontend/cli/RunOptions.h"
#include "runtime/Text.h"

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

llvm::StringRef textOf(const dsl::SourceFile &source, uint32_t begin, uint32_t end) {
  llvm::StringRef text(source.text().data(), source.text().size());
  return text.slice(begin, end);
}

/// What stands before the body.
std::string headOf(const dsl::Decl &decl, const dsl::SourceFile &source) {
  llvm::StringRef text = textOf(source, decl.range.begin, decl.range.end);
  if (decl.bodyExpr)
    return onOneLine(
        textOf(source, decl.range.begin, decl.bodyExpr->range.begin).rtrim(" \n\t\r=("));
  return onOneLine(text.take_until([](char c) { return c == '{'; }));
}

void describe(const dsl::Decl &decl, const dsl::SourceFile &source) {
  llvm::outs() << "\n" << headOf(decl, source) << "\n";
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(decl.doc).rtrim().split(lines, '\n');
  if (!decl.doc.empty())
    for (llvm::StringRef line : lines)
      llvm::outs() << (line.empty() ? "" : "    ") << line << "\n";
  for (const dsl::Schedule &schedule : decl.schedules)
    llvm::outs() << "    " << onOneLine(textOf(source, schedule.range.begin, schedule.range.end))
                 << "\n";
}

struct InfoOptions {
  std::string file, device;
  bool devices = false;
  SourceOptions source;
};

int info(const InfoOptions &options) {
  if (options.devices)
    return listDevices();
  if (!options.device.empty())
    return describeDevice(options.device, options.source);
  if (options.file.empty())
    return failUsage("FILE[:NAME] is required",
                     "`tilec info --devices` shows the devices of this machine");
  if (namesArtifact(options.file))
    return describeArtifact(options.file, options.source);
  auto [path, name] = splitEntry(options.file);
  Session session(options.source);
  Outcome<dsl::LoadedFile *> file = session.load(path);
  if (!file)
    return session.fail(file.takeFailure());
  const dsl::SourceFile &source = (*file)->source;
  if (!name.empty()) {
    Outcome<dsl::DeclRef> decl = session.entry(**file, name);
    if (!decl)
      return session.fail(decl.takeFailure());
    describe(*decl->decl, source);
    return session.finish();
  }
  unsigned counts[5] = {};
  for (const dsl::Decl &decl : (*file)->module.decls)
    ++counts[static_cast<unsigned>(decl.kind)];
  auto count = [&](dsl::Decl::Kind kind, const char *what) {
    unsigned n = counts[static_cast<unsigned>(kind)];
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  llvm::outs() << runtime::visible(source.name()) << ": "
               << count(dsl::Decl::Kind::Kernel, "kernel") << ", "
               << count(dsl::Decl::Kind::Graph, "graph") << ", "
               << count(dsl::Decl::Kind::Map, "map") << ", " << count(dsl::Decl::Kind::Fn, "fn")
               << "\n";
  for (const dsl::Decl &decl : (*file)->module.decls)
    if (decl.kind != dsl::Decl::Kind::Import)
      describe(decl, source);
  return session.finish();
}
} // namespace

Command tile::frontend::cli::addInfoCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand(
      "info", "Show the kernels and graphs of a source or artifact: what they take and give; or "
              "the devices of this machine");
  auto options = std::make_shared<InfoOptions>();
  CLI::Option *file = command->add_option("FILE[:NAME]", options->file,
                                          "A source or artifact; - or -:NAME is standard input");
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
  addSourceOptions(*command, options->source);
  command->footer(
      "TILE_CUDA_DRIVER names the CUDA driver's library where it isn't libcuda.so.1.\n\n"
      "Examples:\n"
      "  tilec info softmax.tile\n"
      "  tilec info attention.tile:attention\n"
      "  tilec info --devices\n"
      "  tilec info --device=h200");
  return {command, [options] { return info(*options); }};
}
