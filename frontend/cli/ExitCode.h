//===- ExitCode.h - what the exit codes of tilec mean ---------------------===//
//
// One rule for all commands. Whose turn it is decides: the caller's (2), the
// program's author's (1), the machine's (3) or ours (70). `--help`,
// docs/commands.md and tests/errors/check_exit_codes.py say the same.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_CLI_EXITCODE_H
#define TILE_FRONTEND_CLI_EXITCODE_H

#include "frontend/base/CrashReport.h"
#include "frontend/base/Outcome.h"

#include "llvm/Support/ErrorHandling.h"

namespace tile::frontend::cli {

enum ExitCode {
  success = 0,
  /// A text is wrong, or does not do what it should: errors in a source, or in a schedule, a plan
  /// or a description; an assertion that fails, results that differ, files that `fmt --check` would
  /// change.
  invalid = 1,
  /// The call is wrong, whatever the program does: options, their values, names of what is not
  /// there, inputs, dims, tile sizes and plans that don't fit what they are given to.
  usage = 2,
  /// Something outside is missing: a file can't be read or written, or its data is damaged; a
  /// device, memory.
  environment = 3,
  /// As shells have it for a program that Ctrl-C ended.
  interrupted = 130,
};

/// The rule as `tilec --help` has it.
inline constexpr llvm::StringLiteral exitCodesHelp =
    "Exit codes:\n"
    "  0   all is well\n"
    "  1   the program is wrong: errors in a source, an assertion that fails, results that differ\n"
    "  2   the call is wrong: options, values and names, inputs and dims that don't fit\n"
    "  3   a file, a device or memory is missing, or data is damaged\n"
    "  70  a fault of tilec, which leaves a report";

/// The code for who can do something about a failure.
inline int exitCodeOf(Failure::Kind kind) {
  switch (kind) {
  case Failure::Kind::Reported:
  case Failure::Kind::Invalid:
    return invalid;
  case Failure::Kind::Usage:
    return usage;
  case Failure::Kind::Environment:
    return environment;
  case Failure::Kind::Internal:
    return CrashReport::exitCode;
  }
  llvm_unreachable("covered switch");
}

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_EXITCODE_H
