//===- RunOptions.h - the flags of `tilec run` ----------------------------===//
#ifndef TILE_FRONTEND_CLI_RUNOPTIONS_H
#define TILE_FRONTEND_CLI_RUNOPTIONS_H

#include "frontend/Fusion.h"
#include "frontend/cli/Session.h"

namespace tile::frontend::cli {

struct RunOptions {
  std::string file, entry, device = "cpu", schedule, saveInputs, pin;
  std::string fuse = nameOf(defaultFuseMode).str();
  std::vector<std::string> inputs, outputs, dims, sizes, types;
  bool check = false, sanitize = false, json = false, noCache = false;
  size_t sweep = 0;
  std::optional<double> rtol, atol;
  unsigned repeat = 1;
  SourceOptions source;
  PipelineOptions pipeline;
};

/// Whether a file, or the one before `:NAME`, is an artifact, by how it begins.
bool namesArtifact(const std::string &file);
/// Runs a kernel or graph of an artifact; the exit code.
int runArtifact(const RunOptions &options);
/// Shows what an artifact holds; the exit code.
int describeArtifact(const std::string &file, const SourceOptions &options);

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_RUNOPTIONS_H
