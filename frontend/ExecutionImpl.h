//===- ExecutionImpl.h - what running kernels and graphs share ------------===//
#ifndef TILE_FRONTEND_EXECUTIONIMPL_H
#define TILE_FRONTEND_EXECUTIONIMPL_H

#include "frontend/Execution.h"

namespace tile::frontend {

/// Whether each argument is a tensor or scalar of the type its input has.
Outcome<std::monostate> checkArguments(const Interface &interface, const Arguments &arguments);

} // namespace tile::frontend

#endif // TILE_FRONTEND_EXECUTIONIMPL_H
