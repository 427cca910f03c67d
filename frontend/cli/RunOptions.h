//===- RunOptions.h - the flags of `tilec run` ----------------------------===//
#ifndef TILE_FRONTEND_CLI_RUNOPTIONS_H
#define TILE_FRONTEND_CLI_RUNOPTIONS_H

#include "frontend/cli/Session.h"
#include "frontend/fusion/Fusion.h"

namespace tile::frontend::cli {

struct RunOptions {
  std::string file, entry, against, device = "cpu", saveInputs, pin;
  std::string fuse = nameOf(defaultFuseMode).str();
  std::vector<std::string> inputs, outputs, dims, types;
  ScheduleOptions schedule;
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
/// Shows what an artifact holds, or the kernel or graph `name` of it; the exit code.
int describeArtifact(const std::string &path, const std::string &name, const SourceOptions &options,
                     bool json);

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_RUNOPTIONS_H
