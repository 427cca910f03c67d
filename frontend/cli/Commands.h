//===- Commands.h - the commands of tilec ---------------------------------===//
//
// Each command adds itself to the command line and gives what runs it: a
// function to be called once the line is parsed, which returns the exit code.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_CLI_COMMANDS_H
#define TILE_FRONTEND_CLI_COMMANDS_H

#include "frontend/cli/Session.h"

#include <CLI/CLI.hpp>

namespace tile::frontend::cli {

struct Command {
  CLI::App *app;
  std::function<int()> run;
};

Command addCheckCommand(CLI::App &app);
Command addCompileCommand(CLI::App &app);
Command addRunCommand(CLI::App &app);
Command addBenchCommand(CLI::App &app);
Command addTuneCommand(CLI::App &app);
Command addFuseCommand(CLI::App &app);
Command addFormatCommand(CLI::App &app);
Command addInfoCommand(CLI::App &app);
Command addCacheCommand(CLI::App &app);

/// Shows the processor and the CUDA devices, or why there are none, and the descriptions of devices
/// that are built in; the exit code.
int listDevices(bool json);
/// Shows the descriptions of devices that are built in.
void listDescriptions();
/// Shows a description with the sources of its figures, by name or from a file; the exit code.
int describeDevice(const std::string &nameOrPath, const SourceOptions &options, bool json);

void addSourceOptions(CLI::App &command, SourceOptions &options);
void addPipelineOptions(CLI::App &command, PipelineOptions &options);
/// An option that may be given several times, each time with one value.
CLI::Option *addRepeated(CLI::App &command, const std::string &name,
                         std::vector<std::string> &values, const std::string &help);

/// --fuse=MODE, of what it is said
CLI::Option *addFuseOption(CLI::App &command, std::string &mode, const std::string &whose);

/// --entry=NAME; `what` is "The kernel or graph to run".
void addEntryOption(CLI::App &command, std::string &entry, const std::string &what);
/// --set=BINDER=SIZE and --schedule=FILE.json.
void addScheduleOptions(CLI::App &command, ScheduleOptions &options,
                        const std::string &what = "A tile size");
/// --no-cache
CLI::Option *addCacheOption(CLI::App &command, bool &noCache);
/// --json: what the command gives as one object on standard output.
void addJsonOption(CLI::App &command, bool &json, const std::string &what);

/// Takes one of these words.
CLI::Validator oneOf(std::vector<std::string> words);

/// Takes a number in decimal digits, from `least` to `most`.
CLI::Validator wholeNumber(int64_t least, int64_t most);

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_COMMANDS_H
