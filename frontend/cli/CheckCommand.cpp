//===- CheckCommand.cpp - tilec check -------------------------------------===//

#include "frontend/base/CrashReport.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DiagnosticJson.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

namespace {
struct CheckOptions {
  std::vector<std::string> files;
  std::string entry;
  bool json = false;
  SourceOptions source;
};

/// One file, or what is named of it.
Outcome<Done> checkOne(Session &session, const std::string &argument, const CheckOptions &options) {
  auto chosen = chosenEntry(argument, options.entry);
  if (!chosen)
    return chosen.takeFailure();
  auto &[path, name] = *chosen;
  Outcome<dsl::LoadedFile *> file = session.load(path);
  if (!file)
    return file.takeFailure();
  CrashReport::Scope scope("checking " + path);
  if (name.empty()) {
    dsl::checkFile(session.program, **file, session.diags);
    return Done{};
  }
  Outcome<dsl::DeclRef> decl = session.entry(**file, name);
  if (!decl)
    return decl.takeFailure();
  session.elaborator.check(*decl);
  return Done{};
}

int check(const CheckOptions &options) {
  int worst = success;
  llvm::json::Array diagnostics;
  for (const std::string &argument : options.files) {
    Session session(options.source);
    Outcome<Done> done = checkOne(session, argument, options);
    worst = std::max(worst, done ? session.finish() : session.fail(done.takeFailure()));
    for (llvm::json::Value &diagnostic : toJson(session.diags))
      diagnostics.push_back(std::move(diagnostic));
  }
  if (options.json)
    printJson(
        llvm::json::Object{{"ok", worst == success}, {"diagnostics", std::move(diagnostics)}});
  return worst;
}
} // namespace

Command tile::frontend::cli::addCheckCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("check", "Check sources: syntax, types, axes and proofs");
  auto options = std::make_shared<CheckOptions>();
  command
      ->add_option("FILE[:NAME]", options->files,
                   "Sources, all of them or a kernel or graph; - is standard input")
      ->required();
  addEntryOption(*command, options->entry, "The kernel or graph to check");
  addJsonOption(*command, options->json, "The result");
  addSourceOptions(*command, options->source);
  command->footer("Every kernel and graph is checked for every choice of its types.\n\n"
                  "Examples:\n"
                  "  tilec check softmax.tile\n"
                  "  tilec check -Werror -I library *.tile\n"
                  "  tilec check --json layers.tile:matmul\n"
                  "  generate | tilec check -");
  return {command, [options] { return check(*options); }};
}
