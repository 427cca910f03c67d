//===- JsonFile.h - small texts from files --------------------------------===//
#ifndef TILE_FRONTEND_BASE_JSONFILE_H
#define TILE_FRONTEND_BASE_JSONFILE_H

#include "frontend/base/Outcome.h"

#include "llvm/Support/JSON.h"

namespace tile::frontend {

/// The whole text of a regular file, of at most `mostMiB`. `what` it is taken for stands in the
/// hint: "a schedule".
Outcome<std::string> readText(const std::string &path, uint64_t mostMiB, llvm::StringRef what);

/// JSON whose brackets stand in each other no deeper than 16: its parser calls itself.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace tile::frontend

#endif // TILE_FRONTEND_BASE_JSONFILE_H
