//===- Sanitize.h - watched launches: --sanitize --------------------------===//
#ifndef TILE_FRONTEND_EXECUTE_SANITIZE_H
#define TILE_FRONTEND_EXECUTE_SANITIZE_H

#include "frontend/base/Outcome.h"
#include "ir/dialect/TileOps.h"
#include "runtime/launch/Sanitizer.h"

namespace tile::frontend {

/// Who watches one launch of a kernel; `shapes` by parameter.
runtime::Sanitizer makeSanitizer(ir::KernelOp kernel,
                                 llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// Reports what was found, each kind at each place once, with its line: the first of them in full,
/// then their number. Fails if there is anything.
Outcome<std::monostate> reportFindings(ir::KernelOp kernel, const runtime::Sanitizer &sanitizer);

/// What to do where an access that no proof covers goes outside: of a grid kernel any, of others
/// what the author promised with `within`.
llvm::StringRef hintForOutside(ir::KernelOp kernel);

/// An error for a kernel whose access went to memory that is not there, as text; empty for one all
/// of whose accesses are proved or checked.
std::string brokenPromiseOf(ir::KernelOp kernel);

} // namespace tile::frontend

#endif // TILE_FRONTEND_EXECUTE_SANITIZE_H
