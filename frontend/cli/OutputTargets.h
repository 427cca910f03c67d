//===- OutputTargets.h - what `tilec run --out` writes --------------------===//
#ifndef TILE_FRONTEND_CLI_OUTPUTTARGETS_H
#define TILE_FRONTEND_CLI_OUTPUTTARGETS_H

#include "frontend/execute/Execution.h"
#include "runtime/tensor/TensorSpec.h"

namespace tile::frontend::cli {

class OutputTargets {
public:
  /// Takes NAME=FILE for outputs of `owner`, which are `known`.
  Outcome<Done> parse(const std::vector<std::string> &texts, const std::string &owner,
                      const std::vector<std::string> &known);

  /// Whether everything that is written will be there in the end. An array may take the place of
  /// one that was read: that has been read by then. `saved` is the file of the inputs, or empty.
  Outcome<Done> check(const std::string &saved, const std::vector<std::string> &inputFiles) const;

  Outcome<Done> write(const std::vector<std::string> &names, const Outputs &outputs) const;

private:
  std::map<std::string, runtime::FileSpec> targets;
};

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_OUTPUTTARGETS_H
