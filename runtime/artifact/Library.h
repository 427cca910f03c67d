// How an image calls what it doesn't have: through a table of functions that its loader fills. So
// it has no undefined symbols and needs no library. Plain data, no dependencies.
#pragma once

#include <cstddef>

namespace tile::runtime {

/// What a function of the table takes and gives, all of one type; Memory is that of memcpy.
enum class LibraryKind { D1, D2, D3, F1, F2, F3, Memory };

struct LibraryFunction {
  const char *name;
  LibraryKind kind;
};

inline constexpr LibraryFunction libraryFunctions[] = {
#define TILE_LIBRARY_FUNCTION(NAME, KIND) {#NAME, LibraryKind::KIND},
#include "runtime/artifact/Library.def"
#undef TILE_LIBRARY_FUNCTION
};
inline constexpr size_t numLibraryFunctions =
    sizeof(libraryFunctions) / sizeof(libraryFunctions[0]);

/// The symbols of an image beside its kernels: the table, its length (an i64), and what the image
/// is (a u64, ImageData::id).
inline constexpr const char *libraryTableSymbol = "tile.library";
inline constexpr const char *librarySizeSymbol = "tile.library.size";
inline constexpr const char *imageIdSymbol = "tile.image";

} // namespace tile::runtime
