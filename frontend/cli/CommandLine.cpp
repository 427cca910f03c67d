//===- CommandLine.cpp - a command line of tilec --------------------------===//

#include "frontend/cli/CommandLine.h"
#include "frontend/CrashReport.h"
#include "frontend/cli/Commands.h"

#include "llvm/Support/raw_ostream.h"

#include <sstream>

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

/// For what goes wrong outside of any session.
static void printError(const std::string &message, const std::string &hint = "") {
  dsl::DiagnosticEngine diags;
  dsl::Diagnostic &error = diags.error(nullptr, {}, message);
  if (!hint.empty())
    error.hints.push_back(hint);
  llvm::errs() << diags.print(wantsColour("auto"));
}

int tile::frontend::cli::failUsage(const std::string &message, const std::string &hint) {
  printError(message, hint);
  return usage;
}

CLI::Option *tile::frontend::cli::addRepeated(CLI::App &command, const std::string &name,
                                              std::vector<std::string> &values,
                                              const std::string &help) {
  return command.add_option(name, values, help)->allow_extra_args(false);
}

void tile::frontend::cli::addFuseOption(CLI::App &command, std::string &mode,
                                        const std::string &whose) {
  command
      .add_option("--fuse", mode,
                  whose + ": exact, kernels become one where all bits stay the same;\n"
                          "fast, and what is not stored any more is not rounded, either;\n"
                          "or off, each call is a launch")
      ->type_name("MODE")
      ->capture_default_str();
}

CLI::Validator tile::frontend::cli::oneOf(std::vector<std::string> words) {
  auto check = [words](const std::string &value) {
    return llvm::is_contained(words, value)
               ? std::string()
               : "'" + value + "' is none of " + CLI::detail::join(words, ", ");
  };
  return CLI::Validator(check, "");
}

CLI::Validator tile::frontend::cli::wholeNumber(int64_t least, int64_t most) {
  // In digits alone, as tile sizes and dimensions are read: CLI11 would take 010 for eight.
  auto check = [=](std::string &text) {
    int64_t value;
    if (llvm::StringRef(text).getAsInteger(10, value) || value < least || value > most)
      return "'" + text + "' is no whole number from " + std::to_string(least) + " to " +
             std::to_string(most);
    text = std::to_string(value);
    return std::string();
  };
  return CLI::Validator(check, "NUMBER");
}

void tile::frontend::cli::addSourceOptions(CLI::App &command, SourceOptions &options) {
  addRepeated(command, "-I", options.includePath, "Look for imported files there, too")
      ->type_name("DIR");
  command.add_flag("--allow-imports-outside", options.importsFromAnywhere,
                   "Import files outside of the source's folder and those of -I, too");
  addRepeated(command, "-W", options.warnings, "-Werror: warnings are errors")
      ->type_name("error")
      ->check(oneOf({"error"}));
  command.add_option("--error-limit", options.errorLimit, "Stop after so many errors; 0: never")
      ->check(wholeNumber(0, 1000000))
      ->capture_default_str();
  command.add_option("--color", options.colour, "Colours in messages: auto, always or never")
      ->check(oneOf({"auto", "always", "never"}));
  command.add_flag("--timing", options.timing, "Show the time of each stage");
}

void tile::frontend::cli::addPipelineOptions(CLI::App &command, PipelineOptions &options) {
  std::string names = elaborateStage.str();
  for (const PipelinePass &pass : tilePipeline())
    names += ", " + pass.name.str();
  addRepeated(command, "--print-after", options.printAfter, "Show the IR after a pass: " + names)
      ->type_name("PASS");
}

/// The flags and commands that the user may have meant.
static std::vector<std::string> flagsOf(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options()) {
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
    for (const std::string &name : option->get_snames())
      names.push_back("-" + name);
  }
  return names;
}

/// What nothing took of the words for a command, and the `--` before them that ends its options.
static std::vector<std::string> extrasOf(const CLI::App &app, const CLI::App &command) {
  std::vector<std::string> extras = command.remaining();
  llvm::append_range(extras, app.remaining());
  return extras == std::vector<std::string>{"--"} ? std::vector<std::string>() : extras;
}

/// What no option took: an error, with the nearest known name.
static int rejectExtra(const CLI::App &command, const std::vector<std::string> &extras) {
  auto endOfOptions = llvm::find(extras, "--");
  auto extra = std::find_if(extras.begin(), endOfOptions, [](const std::string &word) {
    return word.size() > 1 && word.front() == '-';
  });
  bool isFlag = extra != endOfOptions;
  if (!isFlag)
    extra = extras.begin() + (endOfOptions == extras.begin() && extras.size() > 1 ? 1 : 0);
  std::string help =
      command.get_name() == "tilec" ? "tilec --help" : "tilec " + command.get_name() + " --help";
  std::string flag = extra->substr(0, extra->find('='));
  std::string advice = isFlag ? didYouMean(flag, flagsOf(command)) : "";
  return failUsage(isFlag ? "unknown option '" + flag + "'"
                          : "unexpected argument '" + *extra + "'",
                   advice.empty() ? "`" + help + "` lists the options" : advice);
}

/// The words in the order that CLI11 wants, which is the last first. It would take `-:softmax`,
/// an entry of standard input, for a flag.
static std::vector<std::string> wordsOf(int argc, const char *const *argv) {
  std::vector<std::string> words;
  for (int n = argc; --n > 0;) {
    llvm::StringRef word = argv[n];
    words.push_back(word.consume_front("-:") ? (standardInputName + ":" + word).str() : word.str());
  }
  return words;
}

/// `--in=` and `--in ''`: a value that nobody gave. CLI11 would take the next word for it.
static std::string withoutValue(int argc, const char *const *argv) {
  for (int n = 1; n < argc && llvm::StringRef(argv[n]) != "--"; ++n) {
    llvm::StringRef word = argv[n];
    if (word.starts_with("-") && word.ends_with("=") && word.count('=') == 1)
      return word.drop_back().str();
    if (!word.empty())
      continue;
    llvm::StringRef before = n > 1 ? argv[n - 1] : "";
    bool isOption = before.size() > 1 && before.front() == '-' && !before.contains('=');
    return isOption ? before.str() : "''";
  }
  return "";
}

static int rejectCommand(const CLI::App &app, const std::vector<Command> &commands,
                         const std::string &name) {
  if (name.size() > 1 && name.front() == '-')
    return rejectExtra(app, {name});
  std::vector<std::string> names;
  for (const Command &command : commands)
    names.push_back(command.app->get_name());
  std::string advice = didYouMean(name, names);
  return failUsage("there is no command '" + name + "'",
                   advice.empty() ? "the commands are " + CLI::detail::join(names, ", ") : advice);
}

//===-- The whole line ----------------------------------------------------===//

/// The exit code, once all output is written.
static int finishOutput(int code) {
  llvm::outs().flush();
  std::error_code problem = llvm::outs().error();
  llvm::outs().clear_error();
  // Whoever closed a pipe has seen enough.
  if (problem && problem != std::errc::broken_pipe)
    printError("can't write to standard output: " + problem.message());
  llvm::errs().clear_error(); // nobody to tell
  return problem ? int(environment) : code;
}

static int perform(int argc, const char *const *argv) {
  CLI::App app("A compiler for block-level tile kernels", "tilec");
  app.set_version_flag("--version", std::string("tilec ") + TILE_VERSION);
  std::vector<Command> commands = {
      addCheckCommand(app),  addCompileCommand(app), addRunCommand(app),
      addFuseCommand(app),   addBenchCommand(app),   addTuneCommand(app),
      addFormatCommand(app), addInfoCommand(app),    addCacheCommand(app)};
  app.allow_extras();
  for (const Command &command : commands)
    command.app->allow_extras();
  app.footer(
      "`tilec COMMAND --help` explains a command, with examples. Start with\n"
      "  tilec run samples/03-softmax/softmax.tile --in x=randn:1823x781:f32:7 --check\n\n"
      "Environment: TILE_NUM_THREADS, threads that run a kernel (one a core); TILE_CACHE_DIR, "
      "where\n"
      "compiled code is kept (~/.cache/tilec; empty: nowhere); TILE_CACHE_SIZE, how much (1G);\n"
      "TILE_CUDA_DRIVER, NVIDIA's library (libcuda.so.1); NO_COLOR. README.md says more.\n\n"
      "Exit codes: 0 all is well; 1 errors in a program, or results that differ; 2 a wrong call;\n"
      "3 files, devices or memory; 70 a fault of tilec.");
  if (std::string word = withoutValue(argc, argv); !word.empty())
    return failUsage(word == "''" ? "an argument is empty" : "option '" + word + "' has no value",
                     "leave it out, or give it one");
  try {
    app.parse(wordsOf(argc, argv));
  } catch (const CLI::Success &answer) { // --help, --version
    std::ostringstream text;
    int code = app.exit(answer, text, text);
    llvm::outs() << text.str();
    return code;
  } catch (const CLI::ParseError &error) {
    for (const Command &command : commands)
      if (command.app->parsed())
        if (auto extras = extrasOf(app, *command.app); !extras.empty())
          return rejectExtra(*command.app, extras);
    return failUsage(error.what());
  }
  for (const Command &command : commands)
    if (command.app->parsed()) {
      if (auto extras = extrasOf(app, *command.app); !extras.empty())
        return rejectExtra(*command.app, extras);
      return command.run();
    }
  if (!app.remaining().empty())
    return rejectCommand(app, commands, app.remaining().front());
  llvm::outs() << app.help();
  return usage;
}

int tile::frontend::cli::runCommandLine(int argc, const char *const *argv) {
  CrashReport::install(argc, argv);
  return finishOutput(perform(argc, argv));
}
