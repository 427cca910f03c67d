//===- FormatCommand.cpp - tilec fmt --------------------------------------===//

#include "dsl/Formatter.h"
#include "dsl/Parser.h"
#include "frontend/base/CrashReport.h"
#include "frontend/cli/Commands.h"
#include "runtime/base/FileIO.h"
#include "runtime/base/Text.h"

#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

namespace {
struct FormatCommandOptions {
  std::vector<std::string> files;
  bool check = false;
  std::string colour = "auto";
};

int report(const dsl::DiagnosticEngine &diags, const FormatCommandOptions &options, int code) {
  llvm::errs() << diags.print(wantsColour(options.colour));
  return code;
}

int formatFile(const std::string &path, const FormatCommandOptions &options) {
  dsl::DiagnosticEngine diags;
  Outcome<std::string> text = readSource(path);
  if (!text) {
    Failure failure = text.takeFailure();
    dsl::Diagnostic &error = diags.error(nullptr, {}, failure.message);
    if (!failure.hint.empty())
      error.hints.push_back(failure.hint);
    return report(diags, options, exitCodeOf(failure.kind));
  }
  std::string name = path == "-" ? standardInputName.str() : path;
  CrashReport::addSource(name, *text);
  CrashReport::Scope scope("formatting " + name);
  dsl::SourceFile source(name, *text);
  dsl::parse(source, diags);
  if (diags.errorCount()) // a broken file stays as it is
    return report(diags, options, invalid);
  std::string formatted = dsl::format(source);
  if (options.check) {
    if (formatted != *text)
      llvm::outs() << runtime::visible(name) << "\n";
    return formatted == *text ? success : invalid;
  }
  if (path == "-") {
    llvm::outs() << formatted;
    return success;
  }
  if (formatted == *text)
    return success;
  std::span<const std::byte> bytes = std::as_bytes(std::span(formatted));
  if (auto written = runtime::replaceFile(path, std::span(&bytes, 1)); !written) {
    diags.error(nullptr, {}, written.error().message);
    return report(diags, options, environment);
  }
  return success;
}
} // namespace

Command tile::frontend::cli::addFormatCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("fmt", "Format sources, in place");
  auto options = std::make_shared<FormatCommandOptions>();
  command
      ->add_option("FILE", options->files, "Sources; - formats standard input to standard output")
      ->required();
  command->add_flag("--check", options->check,
                    "Change nothing; list the files that would change, and exit with 1 then");
  command->add_option("--color", options->colour, "Colours in messages: auto, always or never")
      ->type_name("WHEN")
      ->check(oneOf({"auto", "always", "never"}));
  command->footer("A file with syntax errors stays as it is.\n\n"
                  "Examples:\n"
                  "  tilec fmt *.tile\n"
                  "  tilec fmt --check kernels/*.tile\n"
                  "  tilec fmt - < draft.tile");
  return {command, [options] {
            int worst = success;
            for (const std::string &path : options->files)
              worst = std::max(worst, formatFile(path, *options));
            return worst;
          }};
}
