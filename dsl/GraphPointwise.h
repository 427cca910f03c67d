//===- GraphPointwise.h - what expressions of a graph read ----------------===//
#ifndef TILE_DSL_GRAPHPOINTWISE_H
#define TILE_DSL_GRAPHPOINTWISE_H

#include "dsl/GraphElaborator.h"

namespace tile::dsl {

/// A tensor or scalar that an expression reads; they are in order of first appearance.
struct GraphElaborator::Operand {
  const dsl::Expr *expr; // first occurrence
  std::string name; // parameter of the kernel that is made of the expression; none yet of a call
  GraphValue value;
};

} // namespace tile::dsl

#endif // TILE_DSL_GRAPHPOINTWISE_H
