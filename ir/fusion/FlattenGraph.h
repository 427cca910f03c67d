//===- FlattenGraph.h - calls of graphs become those graphs' calls --------===//
#ifndef TILE_IR_FUSION_FLATTENGRAPH_H
#define TILE_IR_FUSION_FLATTENGRAPH_H

#include "ir/dialect/TileOps.h"

#include <memory>

namespace mlir {
class Pass;
}

namespace tile::ir {

/// Puts the calls of each graph that is called in the place of its call, all the way down. What
/// its launch would check the graph requires; both places are kept (CallSiteLoc). A call whose
/// extents are no numbers of the graph stays. Fails, with an error, if a graph calls itself.
mlir::LogicalResult flattenGraph(GraphOp graph);

/// `tile-flatten-graphs`
std::unique_ptr<mlir::Pass> createFlattenGraphsPass();

} // namespace tile::ir

#endif // TILE_IR_FUSION_FLATTENGRAPH_H
