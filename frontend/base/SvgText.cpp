//===- SvgText.cpp - what pictures are written with -----------------------===//

#include "frontend/base/SvgText.h"

#include "llvm/Support/JSON.h"

using namespace tile::frontend;

std::string svg::fixed(double value) {
  char buffer[40];
  snprintf(buffer, sizeof buffer, "%.2f", value);
  return buffer;
}

std::string svg::prefixed(double value) {
  static constexpr std::pair<double, const char *> prefixes[] = {
      {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  char buffer[40];
  for (auto [least, prefix] : prefixes)
    if (value >= 0.9995 * least) { // "1 M", not "1e+03 k"
      snprintf(buffer, sizeof buffer, "%.3g %s", value / least, prefix);
      return buffer;
    }
  snprintf(buffer, sizeof buffer, "%.3g ", value);
  return buffer;
}

std::string svg::escaped(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '&'                                                  ? "&amp;"
              : c == '<'                                                ? "&lt;"
              : c == '>'                                                ? "&gt;"
              : c == '"'                                                ? "&quot;"
              : static_cast<unsigned char>(c) < 0x20 || c == char(0x7f) ? " "
                                                                        : std::string(1, c);
  return llvm::json::fixUTF8(result);
}

std::string svg::shortened(llvm::StringRef text, size_t most) {
  size_t characters = 0;
  for (size_t n = 0; n < text.size(); ++n)
    if ((text[n] & 0xc0) != 0x80 && ++characters > most)
      return text.take_front(n).str() + "…";
  return text.str();
}

const char *const svg::pictureStyle = R"(<style>
text { font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; font-size: 13px; }
.small { font-size: 11.5px; } .head { font-weight: 600; } .number { font-weight: 600; }
.title { font-size: 15px; font-weight: 600; }
.ink { fill: #1f2328; } .paper { fill: #ffffff; }
.grid { stroke: #d8dee4; } .roof { stroke-width: 1.8; } .dashed { stroke-dasharray: 6 4; }
.headroom { stroke-width: 1; stroke-dasharray: 1 3; }
.memory { stroke: #0550ae; } .compute { stroke: #953800; } .launch { stroke: #57606a; }
.point { stroke: #ffffff; stroke-width: 0.8; }
.p0 { fill: #0969da; } .p1 { fill: #bc4c00; } .p2 { fill: #1a7f37; }
.p3 { fill: #8250df; } .p4 { fill: #cf222e; } .p5 { fill: #9a6700; }
.hollow { fill-opacity: 0.4; stroke: #57606a; stroke-dasharray: 2 2; }
@media (prefers-color-scheme: dark) {
  .ink { fill: #e6edf3; } .paper { fill: #0d1117; } .grid { stroke: #2b323b; }
  .memory { stroke: #79c0ff; } .compute { stroke: #ffa657; } .launch { stroke: #9198a1; }
  .point { stroke: #0d1117; }
  .p0 { fill: #58a6ff; } .p1 { fill: #f0883e; } .p2 { fill: #56d364; }
  .p3 { fill: #bc8cff; } .p4 { fill: #ff7b72; } .p5 { fill: #e3b341; }
  .hollow { stroke: #9198a1; }
}
</style>
)";
