//===- Unicode.h - the little Unicode that sources and carets need --------===//
#ifndef TILE_DSL_UNICODE_H
#define TILE_DSL_UNICODE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tile::dsl {

/// One decoded code point; `length` 0 if the bytes are no valid UTF-8 (overlong forms, surrogates
/// and what lies above U+10FFFF included).
struct CodePoint {
  char32_t value = 0;
  unsigned length = 0;
};
CodePoint decodeUtf8(std::string_view bytes);
void appendUtf8(std::string &out, char32_t value);

/// Offset of the first byte that is not valid UTF-8; npos if there is none.
size_t findInvalidUtf8(std::string_view bytes);

/// Columns that a terminal gives the character: 0, 1 or 2.
unsigned displayWidth(char32_t value);
/// Columns of a text without tabs and controls; broken bytes count one each.
unsigned displayColumns(std::string_view text);

} // namespace tile::dsl

#endif // TILE_DSL_UNICODE_H
