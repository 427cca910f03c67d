//===- FusionSources.h - what people wrote of a graph's calls -------------===//
#ifndef TILE_FRONTEND_CLI_FUSIONSOURCES_H
#define TILE_FRONTEND_CLI_FUSIONSOURCES_H

#include "dsl/Program.h"
#include "frontend/fusion/FusionPage.h"

namespace tile::frontend::cli {

/// By number of the call.
std::vector<CallSources> sourcesOf(const GraphView &graph, const dsl::Program &program);

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_FUSIONSOURCES_H
