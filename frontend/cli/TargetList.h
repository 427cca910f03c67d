//===- TargetList.h - what --target may say -------------------------------===//
#ifndef TILE_FRONTEND_CLI_TARGETLIST_H
#define TILE_FRONTEND_CLI_TARGETLIST_H

#include "frontend/artifact/ArtifactBuilder.h"

#include <CLI/CLI.hpp>

namespace tile::frontend::cli {

/// Processors, then GPUs.
std::vector<std::string> targetNames();

/// One of them, or several with commas between.
CLI::Validator targetList();

/// Processors and GPUs of a list; each once, and of the processors those with more instructions
/// first. Empty: this processor.
ArtifactTargets artifactTargets(llvm::StringRef list);

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_TARGETLIST_H
