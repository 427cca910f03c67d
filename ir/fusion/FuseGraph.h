//===- FuseGraph.h - kernels of a graph that run as one -------------------===//
#ifndef TILE_IR_FUSION_FUSEGRAPH_H
#define TILE_IR_FUSION_FUSEGRAPH_H

#include "ir/dialect/TileOps.h"

#include <memory>

namespace mlir {
class Pass;
}

namespace tile::ir {

/// Inlines every producer into its user, where that is legal, whatever it costs. What has other
/// users is stored by the new kernel, too. Precision may be kept as FuseOptions has it.
void inlineProducers(GraphOp graph, bool keepsPrecision = false);

/// Merges all calls that read a tensor in common, where that is legal, whatever it costs.
void mergeSiblings(GraphOp graph);

/// `tile-inline-producers`: inlineProducers on each graph; why others stay apart is a remark.
std::unique_ptr<mlir::Pass> createInlineProducersPass();
/// `tile-merge-siblings`: the same of mergeSiblings.
std::unique_ptr<mlir::Pass> createMergeSiblingsPass();

} // namespace tile::ir

#endif // TILE_IR_FUSION_FUSEGRAPH_H
