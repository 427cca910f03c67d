//===- CallErrors.h - what is wrong with the words of a call --------------===//
//
// CLI11 says which option stands where; what a user reads of a wrong call is
// said here, in the words and with the hints of all other errors.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_CLI_CALLERRORS_H
#define TILE_FRONTEND_CLI_CALLERRORS_H

#include "frontend/base/Outcome.h"

#include "llvm/ADT/ArrayRef.h"

#include <CLI/CLI.hpp>

namespace tile::frontend::cli {

/// Looks at the words for a command before CLI11 does: options without their value, flags with one,
/// options that stand twice and can't. Takes the command's options as they were added.
Outcome<Done> checkWords(const CLI::App &command, llvm::ArrayRef<std::string> words);

/// What no option and no argument took, with the nearest known name.
Failure rejectExtra(const CLI::App &command, const std::vector<std::string> &extras);

/// What CLI11 refuses of a command: a missing argument, two that exclude each other, a value that a
/// validator doesn't take. A validator's text may have a hint in its second line.
Failure refusedBy(const CLI::ParseError &error, const CLI::App &command);

/// Help in our words: values by what they are, defaults in brackets.
std::shared_ptr<CLI::Formatter> helpFormatter();

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_CALLERRORS_H
