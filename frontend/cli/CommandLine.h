//===- CommandLine.h - a command line of tilec ----------------------------===//
#ifndef TILE_FRONTEND_CLI_COMMANDLINE_H
#define TILE_FRONTEND_CLI_COMMANDLINE_H

namespace tile::frontend::cli {

/// Does what a command line says, the program's name in front; the exit code. All output is written
/// when it returns, and nothing is kept: a process may do one after the other. A fault ends the
/// process (CrashReport.h).
int runCommandLine(int argc, const char *const *argv);

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_COMMANDLINE_H
