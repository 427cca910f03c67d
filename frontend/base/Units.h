//===- Units.h - times and bytes as people read them ----------------------===//
//
// Every command says them with these, and the page of `tilec fuse` has the same
// steps (frontend/fusion/page/page.js).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_BASE_UNITS_H
#define TILE_FRONTEND_BASE_UNITS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::frontend {

/// "834.43 µs", "1.009 ms"; "unknown" of what is not finite.
std::string timeText(double seconds);
/// "33.55 MB", in powers of 1000.
std::string bytesText(double bytes);

/// How many columns a terminal shows of UTF-8: its characters.
size_t widthOf(llvm::StringRef text);
/// With spaces in front or behind, so that it is as wide.
std::string padLeft(llvm::StringRef text, size_t width);
std::string padRight(llvm::StringRef text, size_t width);

} // namespace tile::frontend

#endif // TILE_FRONTEND_BASE_UNITS_H
