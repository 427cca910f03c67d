//===- Units.cpp - times and bytes as people read them --------------------===//

#include "frontend/base/Units.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstdio>

using namespace tile;

static std::string number(double value, const char *format) {
  char buffer[48];
  snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

std::string tile::frontend::timeText(double seconds) {
  if (!std::isfinite(seconds))
    return "unknown";
  return seconds >= 1                      ? number(seconds, "%.3f s")
         : seconds >= 1e-3                 ? number(seconds * 1e3, "%.3f ms")
         : seconds >= 1e-7 || seconds <= 0 ? number(seconds * 1e6, "%.2f µs")
                                           : number(seconds * 1e9, "%.2f ns");
}

std::string tile::frontend::bytesText(double bytes) {
  return !std::isfinite(bytes) ? "unknown"
         : bytes >= 1e15       ? number(bytes / 1e15, "%.2f PB")
         : bytes >= 1e12       ? number(bytes / 1e12, "%.2f TB")
         : bytes >= 1e9        ? number(bytes / 1e9, "%.2f GB")
         : bytes >= 1e6        ? number(bytes / 1e6, "%.2f MB")
         : bytes >= 1e3        ? number(bytes / 1e3, "%.2f KB")
                               : number(bytes, "%.0f B");
}

size_t tile::frontend::widthOf(llvm::StringRef text) {
  return llvm::count_if(text, [](char c) { return (c & 0xc0) != 0x80; });
}

std::string tile::frontend::padLeft(llvm::StringRef text, size_t width) {
  size_t own = widthOf(text);
  return std::string(own < width ? width - own : 0, ' ') + text.str();
}

std::string tile::frontend::padRight(llvm::StringRef text, size_t width) {
  size_t own = widthOf(text);
  return text.str() + std::string(own < width ? width - own : 0, ' ');
}
