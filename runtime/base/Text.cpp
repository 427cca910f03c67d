#include "runtime/base/Text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace tile::runtime {

/// How many bytes at the start of `text`, which is not empty, are a character that steers a
/// terminal.
static size_t controlAt(std::string_view text) {
  auto byte = [&](size_t n) { return n < text.size() ? static_cast<unsigned char>(text[n]) : 0u; };
  if (byte(0) < 0x20 || byte(0) == 0x7f)
    return 1;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) // U+0080 to U+009F
    return 2;
  bool embeds = byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae;   // U+202A to U+202E
  bool isolates = byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9; // U+2066 to U+2069
  return byte(0) == 0xe2 && (embeds || isolates) ? 3 : 0;
}

/// `text` with characters that steer, but for those of `kept`, as `escape` writes them.
static std::string escaped(std::string_view text, std::string_view kept,
                           std::string (*escape)(std::string_view)) {
  std::string result;
  for (size_t n = 0; n < text.size();) {
    size_t steering = kept.find(text[n]) == kept.npos ? controlAt(text.substr(n)) : 0;
    result += steering ? escape(text.substr(n, steering)) : std::string(1, text[n]);
    n += std::max<size_t>(1, steering);
  }
  return result;
}

static std::string asBytes(std::string_view character) {
  std::string result;
  for (char byte : character) {
    std::array<char, 5> escape;
    std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned char>(byte));
    result += escape.data();
  }
  return result;
}

/// None of them is beyond U+FFFF.
static std::string asCodePoint(std::string_view character) {
  unsigned code = 0;
  for (char byte : character) // of UTF-8, whose later bytes have six bits each
    code = (code << 6) | (static_cast<unsigned char>(byte) & (code ? 0x3fu : 0xffu));
  unsigned mask = character.size() == 1 ? 0x7f : character.size() == 2 ? 0x7ff : 0xffff;
  std::array<char, 7> escape;
  std::snprintf(escape.data(), escape.size(), "\\u%04x", code & mask);
  return escape.data();
}

std::string visible(std::string_view text) { return escaped(text, "\n\t", asBytes); }

std::string visibleJson(std::string_view json) { return escaped(json, "\n", asCodePoint); }

std::string quote(std::string_view text) {
  constexpr size_t limit = 96;
  std::string result = "'" + escaped(text.substr(0, limit), "", asBytes);
  if (text.size() > limit)
    result += "…";
  return result + "'";
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates) {
  // Long text is never a typing slip, and comparing it would cost quadratic time.
  if (text.size() > 256)
    return {};
  std::string_view best;
  size_t bestDistance = std::max<size_t>(1, text.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    size_t longer = std::max(candidate.size(), text.size());
    size_t shorter = std::min(candidate.size(), text.size());
    if (longer - shorter >= bestDistance)
      continue;
    size_t distance = editDistance(text, candidate);
    if (distance < bestDistance && distance < longer) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

std::string formatBytes(uint64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  constexpr std::array<const char *, 6> units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double amount = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < units.size(); ++unit)
    amount /= 1024;
  // Integers only, so that the decimal point doesn't follow the locale.
  auto tenths = static_cast<uint64_t>(amount * 10);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " " + units[unit];
}

std::string formatShape(std::span<const int64_t> shape) {
  if (shape.empty())
    return "scalar";
  std::string result;
  for (int64_t extent : shape)
    result.append(result.empty() ? "" : "x").append(std::to_string(extent));
  return result;
}

std::string join(std::span<const std::string_view> parts, std::string_view separator) {
  std::string result;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0)
      result += separator;
    result += parts[i];
  }
  return result;
}

} // namespace tile::runtime
