//===- SvgText.h - what pictures are written with -------------------------===//
#ifndef TILE_FRONTEND_BASE_SVGTEXT_H
#define TILE_FRONTEND_BASE_SVGTEXT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::frontend::svg {

/// Pixels, with two digits behind the point.
std::string fixed(double value);
/// "4.2 T", "989 G": a unit follows.
std::string prefixed(double value);
/// As XML takes it, which has no control characters at all.
std::string escaped(llvm::StringRef text);
/// At most so many characters; what is left out is "…".
std::string shortened(llvm::StringRef text, size_t most);
/// The style sheet of rooflines, for light and dark pages.
extern const char *const pictureStyle;

} // namespace tile::frontend::svg

#endif // TILE_FRONTEND_BASE_SVGTEXT_H
