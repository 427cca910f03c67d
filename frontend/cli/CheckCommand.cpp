//===- CheckCommand.cpp - tilec check -------------------------------------===//

#include "frontend/CrashReport.h"
#include "frontend/cli/Commands.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

namespace {
struct CheckOptions {
  std::vector<std::string> files;
  SourceOptions source;
};

int check(const CheckOptions &options) {
  int worst = success;
  for (const std::string &path : options.files) {
    Session session(options.source);
    Outcome<dsl::LoadedFile *> file = session.load(path);
    if (!file) {
      worst = std::max(worst, session.fail(file.takeFailure()));
      continue;
    }
    CrashReport::Scope scope("checking " + path);
    dsl::checkFile(session.program, **file, session.diags);
    worst = std::max(worst, session.finish());
  }
  return worst;
}
} // namespace

Command tile::frontend::cli::addCheckCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("check", "Check sources: syntax, types, axes and proofs");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("FILE", options->files, "Sources; - is standard input")->required();
  addSourceOptions(*command, options->source);
  command->footer("Every kernel and graph is checked for every choice of its types.\n\n"
                  "Examples:\n"
                  "  tilec check softmax.tile\n"
                  "  tilec check -Werror -I library *.tile\n"
                  "  generate | tilec check -");
  return {command, [options] { return check(*options); }};
}
