//===- Unicode.cpp - the little Unicode that sources and carets need ------===//

#include "dsl/Unicode.h"

#include <cstring>

namespace tile::dsl {

CodePoint decodeUtf8(std::string_view bytes) {
  if (bytes.empty())
    return {};
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = at(0);
  if (lead < 0x80)
    return {lead, 1};
  const unsigned length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || bytes.size() < length)
    return {};
  char32_t value = lead & (0x7f >> length);
  for (unsigned i = 1; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80)
      return {};
    value = value << 6 | (at(i) & 0x3f);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (overlong || surrogate || value > 0x10ffff)
    return {};
  return {value, length};
}

void appendUtf8(std::string &out, char32_t value) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto tail = [&](unsigned shift) { put(0x80 | ((value >> shift) & 0x3f)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xc0 | value >> 6);
    tail(0);
  } else if (value < 0x10000) {
    put(0xe0 | value >> 12);
    tail(6);
    tail(0);
  } else {
    put(0xf0 | value >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

size_t findInvalidUtf8(std::string_view bytes) {
  size_t i = 0;
  while (i < bytes.size()) {
    // Sources are nearly all ASCII: eight bytes a step.
    uint64_t word;
    if (i + sizeof word <= bytes.size()) {
      std::memcpy(&word, bytes.data() + i, sizeof word);
      if ((word & 0x8080808080808080u) == 0) {
        i += sizeof word;
        continue;
      }
    }
    const unsigned length = decodeUtf8(bytes.substr(i, 4)).length;
    if (length == 0)
      return i;
    i += length;
  }
  return std::string_view::npos;
}

unsigned displayWidth(char32_t value) {
  struct Span {
    char32_t first, last;
  };
  static constexpr Span none[] = {
      {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},    {0x610, 0x61a},   {0x64b, 0x65f},
      {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064},  {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
      {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef}};
  static constexpr Span wide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},
                                  {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},
                                  {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                                  {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                                  {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
  for (const Span &span : none)
    if (value >= span.first && value <= span.last)
      return 0;
  for (const Span &span : wide)
    if (value >= span.first && value <= span.last)
      return 2;
  return 1;
}

unsigned displayColumns(std::string_view text) {
  unsigned columns = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = decodeUtf8(text.substr(i, 4));
    columns += point.length > 1 ? displayWidth(point.value) : 1;
    i += point.length > 1 ? point.length : 1;
  }
  return columns;
}

} // namespace tile::dsl
