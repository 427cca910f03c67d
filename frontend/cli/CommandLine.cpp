//===- CommandLine.cpp - a command line of tilec --------------------------===//

#include "frontend/cli/CommandLine.h"
#include "frontend/base/CrashReport.h"
#include "frontend/cli/CallErrors.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DiagnosticJson.h"

#include "llvm/Support/raw_ostream.h"

#include <sstream>

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

CLI::Option *tile::frontend::cli::addRepeated(CLI::App &command, const std::string &name,
                                              std::vector<std::string> &values,
                                              const std::string &help) {
  return command.add_option(name, values, help)->allow_extra_args(false);
}

CLI::Option *tile::frontend::cli::addFuseOption(CLI::App &command, std::string &mode,
                                                const std::string &whose) {
  return command
      .add_option("--fuse", mode,
                  whose + ": exact, kernels become one where all bits stay the same;\n"
                          "fast, and what is not stored any more is not rounded, either;\n"
                          "or off, each call is a launch")
      ->type_name("MODE")
      ->capture_default_str();
}

CLI::Validator tile::frontend::cli::oneOf(std::vector<std::string> words) {
  auto check = [words](const std::string &value) {
    if (llvm::is_contained(words, value))
      return std::string();
    if (words.size() == 1)
      return "it takes `" + words.front() + "`, not '" + value + "'";
    return "'" + value + "' is none of " + CLI::detail::join(words, ", ") + "\n" +
           didYouMean(value, words);
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
  return CLI::Validator(check, "");
}

void tile::frontend::cli::addEntryOption(CLI::App &command, std::string &entry,
                                         const std::string &what) {
  command.add_option("--entry", entry, what + "; FILE:NAME says the same")->type_name("NAME");
}

void tile::frontend::cli::addScheduleOptions(CLI::App &command, ScheduleOptions &options,
                                             const std::string &what) {
  addRepeated(command, "--set", options.sizes, what + ": BINDER or KERNEL.BINDER")
      ->type_name("NAME=SIZE");
  command
      .add_option("--schedule", options.file,
                  "The same from a file, {\"i\": 64, \"matmul\": {\"k\": 32}};\n"
                  "--set overrides it")
      ->type_name("FILE.json");
}

CLI::Option *tile::frontend::cli::addCacheOption(CLI::App &command, bool &noCache) {
  return command.add_flag("--no-cache", noCache, "Compile anew, and keep nothing (tilec cache)");
}

void tile::frontend::cli::addJsonOption(CLI::App &command, bool &json, const std::string &what) {
  command.add_flag("--json", json, what + " as one JSON object, with all messages");
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
      ->type_name("NUMBER")
      ->check(wholeNumber(0, 1000000))
      ->capture_default_str();
  command.add_option("--color", options.colour, "Colours in messages: auto, always or never")
      ->type_name("WHEN")
      ->check(oneOf({"auto", "always", "never"}));
  command.add_flag("--timing", options.timing, "Show the time of each stage");
}

void tile::frontend::cli::addPipelineOptions(CLI::App &command, PipelineOptions &options) {
  std::string names = llvm::join(passNames(), ", ");
  for (llvm::StringRef stage : codegen::codeStages)
    names += ", " + stage.str();
  addRepeated(command, "--print-after", options.printAfter, "Show the IR after a pass: " + names)
      ->type_name("PASS");
}

/// What nothing took of the words for a command, and the `--` before them that ends its options.
static std::vector<std::string> extrasOf(const CLI::App &app, const CLI::App &command) {
  std::vector<std::string> extras = command.remaining();
  llvm::append_range(extras, app.remaining());
  return extras == std::vector<std::string>{"--"} ? std::vector<std::string>() : extras;
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

static Failure rejectCommand(const CLI::App &app, const std::vector<Command> &commands,
                             const std::string &name) {
  if (name.size() > 1 && name.front() == '-')
    return rejectExtra(app, {name});
  std::vector<std::string> names;
  for (const Command &command : commands)
    names.push_back(command.app->get_name());
  std::string advice = didYouMean(name, names);
  return Failure::usage(
      {"there is no command '" + name + "'",
       advice.empty() ? "the commands are " + CLI::detail::join(names, ", ") : advice});
}

//===-- The whole line ----------------------------------------------------===//

/// The exit code, once all output is written.
static int finishOutput(int code) {
  llvm::outs().flush();
  std::error_code problem = llvm::outs().error();
  llvm::outs().clear_error();
  // Whoever closed a pipe has seen enough.
  if (problem && problem != std::errc::broken_pipe)
    llvm::errs() << "error: can't write to standard output: " << problem.message() << "\n";
  llvm::errs().clear_error(); // nobody to tell
  return problem ? int(environment) : code;
}

/// For what goes wrong before a command has a session: its messages, and with --json the object
/// that each command prints; the exit code.
static int fail(const Failure &failure, bool json) {
  dsl::DiagnosticEngine diags;
  dsl::Diagnostic &error = diags.error(nullptr, {}, failure.message);
  if (!failure.hint.empty())
    error.hints.push_back(failure.hint);
  llvm::errs() << diags.print(wantsColour("auto"));
  if (json)
    printJsonFailure(diags);
  return exitCodeOf(failure.kind);
}

/// Whether a flag stands among the words that may be options.
static bool hasFlag(llvm::ArrayRef<std::string> words, llvm::StringRef flag) {
  return llvm::is_contained(llvm::ArrayRef(words.begin(), llvm::find(words, "--")), flag);
}

/// The words of a command line.
static std::vector<std::string> wordsBehind(int argc, const char *const *argv) {
  return {argv + std::min(argc, 1), argv + argc};
}

/// The command that is named first; null if there is none.
static const Command *commandNamed(const std::vector<Command> &commands,
                                   llvm::ArrayRef<std::string> words) {
  const auto *first =
      llvm::find_if_not(words, [](llvm::StringRef word) { return word.starts_with("-"); });
  for (const Command &command : commands)
    if (first != words.end() && *first == command.app->get_name())
      return &command;
  return nullptr;
}

/// Whether a call that is refused prints an object, too: it asks for one, of a command that has
/// them or of none.
static bool wantsJson(const std::vector<Command> &commands, llvm::ArrayRef<std::string> words) {
  const Command *command = commandNamed(commands, words);
  return hasFlag(words, "--json") && (!command || command->app->get_option_no_throw("--json"));
}

namespace {
/// `tilec help [COMMAND]`
struct HelpCommand {
  HelpCommand(CLI::App &app) : app(app), command(app.add_subcommand("help", "Explain a command")) {
    command->add_option("COMMAND", name, "The command; all of them without it");
    command->footer("Examples:\n"
                    "  tilec help\n"
                    "  tilec help run");
  }

  Outcome<Done> run(const std::vector<Command> &commands) const {
    const CLI::App *about = name.empty() ? &app : nullptr;
    for (const Command &candidate : commands)
      if (candidate.app->get_name() == name)
        about = candidate.app;
    if (!about)
      return rejectCommand(app, commands, name);
    // Not App::help: of a command that was parsed, it has that one's.
    llvm::outs() << app.get_formatter()->make_help(about, name.empty() ? "tilec" : "tilec " + name,
                                                   CLI::AppFormatMode::Normal);
    return Done{};
  }

  CLI::App &app;
  CLI::App *command;
  std::string name;
};
} // namespace

static const char *footer =
    "`tilec help COMMAND` explains a command, with examples. Start with\n"
    "  tilec run samples/03-softmax/softmax.tile --in x=randn:1823x781:f32:7 --check\n\n"
    "Environment: TILE_NUM_THREADS, threads that run a kernel (one a core); TILE_CACHE_DIR, where\n"
    "compiled code is kept (~/.cache/tilec; empty: nowhere); TILE_CACHE_SIZE, how much (1G);\n"
    "TILE_CUDA_DRIVER, NVIDIA's library (libcuda.so.1); NO_COLOR. docs/commands.md says more.\n\n";

/// What is wrong with the words before CLI11 takes them.
static Outcome<Done> checkLine(const std::vector<Command> &commands, int argc,
                               const char *const *argv) {
  if (std::string word = withoutValue(argc, argv); !word.empty())
    return Failure::usage(
        {word == "''" ? "an argument is empty" : "option '" + word + "' has no value",
         "leave it out, or give it one"});
  std::vector<std::string> words = wordsBehind(argc, argv);
  const Command *command = commandNamed(commands, words);
  if (!command)
    return Done{};
  auto name = llvm::find(words, command->app->get_name());
  return checkWords(*command->app, llvm::ArrayRef(words).drop_front(name + 1 - words.begin()));
}

/// Does what a command line says that CLI11 has parsed; the exit code.
static int dispatch(const CLI::App &app, const std::vector<Command> &commands, bool json) {
  for (const Command &command : commands)
    if (command.app->parsed()) {
      if (auto extras = extrasOf(app, *command.app); !extras.empty())
        return fail(rejectExtra(*command.app, extras), json);
      return command.run();
    }
  if (!app.remaining().empty())
    return fail(rejectCommand(app, commands, app.remaining().front()), json);
  llvm::outs() << app.help();
  return usage;
}

/// What CLI11 refuses, or what it leaves over of such a line.
static Failure refusal(const CLI::ParseError &error, const CLI::App &app,
                       const std::vector<Command> &commands) {
  for (const Command &command : commands)
    if (command.app->parsed()) {
      auto extras = extrasOf(app, *command.app);
      return extras.empty() ? refusedBy(error, *command.app) : rejectExtra(*command.app, extras);
    }
  return refusedBy(error, app);
}

static int perform(int argc, const char *const *argv) {
  bool json = false;
  CLI::App app("A compiler for block-level tile kernels", "tilec");
  app.set_version_flag("--version", std::string("tilec ") + TILE_VERSION, "Show the version");
  app.set_help_flag("-h,--help", "Show this");
  app.formatter(helpFormatter());
  std::vector<Command> commands = {
      addCheckCommand(app),  addCompileCommand(app), addRunCommand(app),
      addFuseCommand(app),   addBenchCommand(app),   addTuneCommand(app),
      addFormatCommand(app), addInfoCommand(app),    addCacheCommand(app)};
  HelpCommand help(app);
  commands.push_back({help.command, [&] {
                        auto done = help.run(commands);
                        return done ? int(success) : fail(done.takeFailure(), json);
                      }});
  json = wantsJson(commands, wordsBehind(argc, argv));
  app.allow_extras();
  app.require_subcommand(0, 1); // what is behind a command's name is its own
  for (const Command &command : commands) {
    command.app->allow_extras();
    command.app->group("Commands");
  }
  app.footer(footer + exitCodesHelp.str());
  if (auto done = checkLine(commands, argc, argv); !done)
    return fail(done.takeFailure(), json);
  try {
    app.parse(wordsOf(argc, argv));
  } catch (const CLI::Success &answer) { // --help, --version
    std::ostringstream text;
    int code = app.exit(answer, text, text);
    llvm::outs() << text.str();
    return code;
  } catch (const CLI::ParseError &error) {
    return fail(refusal(error, app, commands), json);
  }
  return dispatch(app, commands, json);
}

int tile::frontend::cli::runCommandLine(int argc, const char *const *argv) {
  CrashReport::install(argc, argv);
  return finishOutput(perform(argc, argv));
}
