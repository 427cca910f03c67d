//===- GraphView.h - a graph as people know it ----------------------------===//
//
// Calls and tensors by number, under the names that the source has for them:
// what reports and pictures of a graph are made of.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_FUSION_GRAPHVIEW_H
#define TILE_FRONTEND_FUSION_GRAPHVIEW_H

#include "ir/dialect/TileOps.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace tile::frontend {

struct GraphView {
  struct Tensor {
    /// What the source calls it: a name, or the expression that gives what has none.
    std::string name;
    /// "f32[B, M, N]"
    std::string type;
    std::vector<int64_t> extents;
    double bytes = 0;
    /// The call that gives it; none for an input of the graph.
    std::optional<unsigned> from;
    /// The calls that read it.
    std::vector<unsigned> to;
    /// The outputs of the graph that it is.
    std::vector<std::string> outputs;
  };
  struct Call {
    /// The kernel's or graph's symbol.
    std::string callee;
    /// "s = add_row", "y = gelu(s)", or the expression where what it gives has no name.
    std::string label;
    /// "net.tile:12:9"
    std::string place;
    /// Tensors that it reads, each once, and those that it gives.
    std::vector<unsigned> inputs, outputs;
    ir::CallOp op;
  };
  std::vector<Tensor> tensors;
  std::vector<Call> calls;

  GraphView() = default;
  /// Dims without a value are taken to have the usual extent.
  GraphView(ir::GraphOp graph, const llvm::StringMap<int64_t> &dims, int64_t usualExtent);
};

} // namespace tile::frontend

#endif // TILE_FRONTEND_FUSION_GRAPHVIEW_H
