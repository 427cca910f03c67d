//===- IrSource.h - kernels that are given as IR --------------------------===//
//
// A .mlir file has kernels as text of the tile dialect, as `tilec compile` prints them, or of the
// tile_gpu level: what its roles do and when, written by hand. It runs and compiles like a source.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_CLI_IRSOURCE_H
#define TILE_FRONTEND_CLI_IRSOURCE_H

#include "frontend/cli/Session.h"

namespace tile::frontend::cli {

/// Returns whether a path is a file of IR, by how its name ends.
bool namesIr(const std::string &path);

/// A kernel in the session's module, and how a source would declare it.
struct IrKernel {
  std::string symbol;
  dsl::DeclRef decl;
};

/// Reads the kernel of that name from a file of IR, or the only one that it has. Fails where the
/// text is no IR, and where a kernel doesn't say what its parameters are called.
Outcome<IrKernel> loadIrKernel(Session &session, const std::string &path, const std::string &name);

} // namespace tile::frontend::cli

#endif // TILE_FRONTEND_CLI_IRSOURCE_H
