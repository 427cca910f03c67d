//===- Roofline.cpp - kernels under the roofs of their device, as SVG -----===//

#include "frontend/BenchReport.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <set>

using namespace tile;
using namespace tile::frontend;

namespace {
constexpr double left = 78, right = 836, top = 56, bottom = 470;
constexpr int height = 560, width = 880;

std::string fixed(double value) {
  char buffer[40];
  snprintf(buffer, sizeof buffer, "%.2f", value);
  return buffer;
}

/// "4.2 T", "989 G".
std::string prefixed(double value) {
  static constexpr std::pair<double, const char *> prefixes[] = {
      {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  char buffer[40];
  for (auto [least, prefix] : prefixes)
    if (value >= least) {
      snprintf(buffer, sizeof buffer, "%.3g %s", value / least, prefix);
      return buffer;
    }
  snprintf(buffer, sizeof buffer, "%.3g ", value);
  return buffer;
}

std::string escaped(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '&'   ? "&amp;"
              : c == '<' ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  return llvm::json::fixUTF8(result);
}

/// Whole decades, on pixels.
struct Scale {
  int from = 0, to = 1;
  double start, end;

  /// Decades around values.
  Scale(double least, double greatest, double start, double end)
      : from(static_cast<int>(std::floor(std::log10(least)))),
        to(static_cast<int>(std::ceil(std::log10(greatest)))), start(start), end(end) {
    to = std::max(to, from + 1);
  }
  double at(double value) const {
    return start + (std::log10(value) - from) / (to - from) * (end - start);
  }
  double low() const { return std::pow(10.0, from); }
  double high() const { return std::pow(10.0, to); }
};

struct ComputeRoof {
  std::string label;
  double rate;
};

class Picture {
public:
  explicit Picture(const BenchReport &report);
  std::string draw();

private:
  void collectRoofs();
  double slowest() const;
  double fastest() const;
  void drawAxes();
  void drawMemory(double bandwidth, const std::string &label, bool isDashed);
  void drawRoofs();
  void drawPoints();
  void drawCaption();

  const BenchReport &report;
  std::vector<const BenchResult *> points;
  std::vector<ComputeRoof> roofs;
  std::optional<Scale> x, y;
  std::string svg;
  llvm::raw_string_ostream out{svg};
};
} // namespace

Picture::Picture(const BenchReport &report) : report(report) {
  for (const BenchResult &result : report.results) {
    double operations = result.work.totalOperations();
    if (operations > 0 && std::isfinite(operations) && result.work.bytes() > 0)
      points.push_back(&result);
  }
  collectRoofs();
  double least = 0.1, greatest = 10;
  for (const BenchResult *point : points) {
    least = std::min(least, point->work.intensity());
    greatest = std::max(greatest, point->work.intensity());
  }
  double bandwidth = report.bandwidth();
  if (bandwidth > 0)
    for (const ComputeRoof &roof : roofs)
      greatest = std::max(greatest, 2 * roof.rate / bandwidth);
  x.emplace(least, greatest, left, right);
  y.emplace(slowest(), fastest(), bottom, top);
}

double Picture::slowest() const {
  double least = report.bandwidth() > 0 ? report.bandwidth() * x->low() : 1e9;
  for (const BenchResult *point : points)
    least = std::min(least, point->work.totalOperations() / report.seconds(*point));
  return least;
}

double Picture::fastest() const {
  double greatest = report.bandwidth() > 0 ? report.bandwidth() : 1e9;
  for (const BenchResult *point : points)
    greatest = std::max(greatest, point->work.totalOperations() / report.seconds(*point));
  for (const ComputeRoof &roof : roofs)
    greatest = std::max(greatest, 1.2 * roof.rate);
  return greatest;
}

/// Of the units and types that the kernels use, and of f32.
void Picture::collectRoofs() {
  if (!report.description)
    return;
  std::set<std::pair<Unit, runtime::DType>> used = {{Unit::Vector, runtime::DType::F32}};
  for (const BenchResult *point : points)
    for (const auto &[key, count] : point->work.operations)
      used.insert(key);
  std::set<double> rates; // one line for what is equally fast
  for (auto [unit, type] : used) {
    double rate = report.description->operations(unit, type);
    if (rate > 0 && rates.insert(rate).second)
      roofs.push_back({std::string(runtime::nameOf(type)) +
                           (unit == Unit::Matrix ? ", matrix units: " : ": ") + prefixed(rate) +
                           "FLOP/s",
                       rate});
  }
}

void Picture::drawAxes() {
  for (int decade = x->from; decade <= x->to; ++decade) {
    std::string at = fixed(x->at(std::pow(10.0, decade)));
    out << "<line class=\"grid\" x1=\"" << at << "\" x2=\"" << at << "\" y1=\"" << fixed(top)
        << "\" y2=\"" << fixed(bottom)
        << "\"/>\n<text class=\"ink small\" text-anchor=\"middle\" x=\"" << at << "\" y=\""
        << fixed(bottom + 18) << "\">";
    if (decade >= 0 && decade <= 3)
      out << static_cast<int>(std::pow(10.0, decade));
    else
      out << (decade < 0 && decade >= -2 ? (decade == -1 ? "0.1" : "0.01")
                                         : "1e" + std::to_string(decade));
    out << "</text>\n";
  }
  for (int decade = y->from; decade <= y->to; ++decade) {
    double value = std::pow(10.0, decade);
    std::string at = fixed(y->at(value));
    out << "<line class=\"grid\" x1=\"" << fixed(left) << "\" x2=\"" << fixed(right) << "\" y1=\""
        << at << "\" y2=\"" << at << "\"/>\n<text class=\"ink small\" text-anchor=\"end\" x=\""
        << fixed(left - 8) << "\" y=\"" << fixed(y->at(value) + 4) << "\">" << prefixed(value)
        << "</text>\n";
  }
  out << "<text class=\"ink\" text-anchor=\"middle\" x=\"" << fixed((left + right) / 2) << "\" y=\""
      << fixed(bottom + 40) << "\">operations for each byte that has to move</text>\n"
      << "<text class=\"ink\" text-anchor=\"middle\" transform=\"translate(18 "
      << fixed((top + bottom) / 2) << ") rotate(-90)\">operations a second</text>\n";
}

/// The slanted roof, up to the highest flat one.
void Picture::drawMemory(double bandwidth, const std::string &label, bool isDashed) {
  double ceiling = y->high();
  if (!roofs.empty()) {
    ceiling = 0;
    for (const ComputeRoof &roof : roofs)
      ceiling = std::max(ceiling, roof.rate);
  }
  double from = std::max(x->low(), y->low() / bandwidth);
  double to = std::min(x->high(), ceiling / bandwidth);
  if (from >= to)
    return;
  double x1 = x->at(from), y1 = y->at(from * bandwidth), x2 = x->at(to), y2 = y->at(to * bandwidth);
  out << "<line class=\"roof" << (isDashed ? " dashed" : "") << "\" data-bandwidth=\"" << bandwidth
      << "\" x1=\"" << fixed(x1) << "\" y1=\"" << fixed(y1) << "\" x2=\"" << fixed(x2) << "\" y2=\""
      << fixed(y2) << "\"/>\n";
  double angle = std::atan2(y2 - y1, x2 - x1) * 180 / M_PI;
  out << "<text class=\"ink small\" transform=\"translate(" << fixed(x1 + 0.08 * (x2 - x1)) << " "
      << fixed(y1 + 0.08 * (y2 - y1)) << ") rotate(" << fixed(angle) << ")\" dy=\""
      << (isDashed ? "-7" : "15") << "\">" << label << "</text>\n";
}

void Picture::drawRoofs() {
  double bandwidth = report.bandwidth();
  if (report.isPrediction) {
    drawMemory(bandwidth, "memory: " + prefixed(bandwidth) + "B/s", false);
  } else if (bandwidth > 0) {
    drawMemory(bandwidth, "copy, measured: " + prefixed(bandwidth) + "B/s", false);
    if (report.description && report.description->bandwidth() > bandwidth)
      drawMemory(report.description->bandwidth(),
                 "peak: " + prefixed(report.description->bandwidth()) + "B/s", true);
  }
  for (const ComputeRoof &roof : roofs) {
    double from = bandwidth > 0 ? std::max(x->low(), roof.rate / bandwidth) : x->low();
    std::string at = fixed(y->at(roof.rate));
    out << "<line class=\"roof\" data-rate=\"" << roof.rate << "\" x1=\"" << fixed(x->at(from))
        << "\" y1=\"" << at << "\" x2=\"" << fixed(right) << "\" y2=\"" << at
        << "\"/>\n<text class=\"ink small\" text-anchor=\"end\" x=\"" << fixed(right - 4)
        << "\" y=\"" << fixed(y->at(roof.rate) - 6) << "\">" << escaped(roof.label) << "</text>\n";
  }
}

void Picture::drawPoints() {
  std::vector<std::pair<double, double>> labels;
  for (auto [n, point] : llvm::enumerate(points)) {
    double operations = point->work.totalOperations() / report.seconds(*point);
    double cx = x->at(point->work.intensity()), cy = y->at(operations);
    out << "<circle class=\"point p" << n % 6 << (report.isPrediction ? " hollow" : "")
        << "\" data-name=\"" << escaped(point->name) << "\" data-intensity=\""
        << llvm::format("%.6g", point->work.intensity()) << "\" data-operations=\""
        << llvm::format("%.6g", operations) << "\" cx=\"" << fixed(cx) << "\" cy=\"" << fixed(cy)
        << "\" r=\"5\"><title>" << escaped(point->name) << ": " << prefixed(operations)
        << "FLOP/s, bound by " << nameOf(report.roofOf(*point)) << "</title></circle>\n";
    // Labels of points near each other go below each other.
    double at = cy + 4;
    auto isTaken = [&] {
      return llvm::any_of(labels, [&](const auto &label) {
        return std::abs(label.first - cx) < 150 && std::abs(label.second - at) < 13;
      });
    };
    while (isTaken() && at < bottom + 60)
      at += 13;
    labels.emplace_back(cx, at);
    bool isLeft = cx > right - 150;
    out << "<text class=\"ink small\" text-anchor=\"" << (isLeft ? "end" : "start") << "\" x=\""
        << fixed(isLeft ? cx - 9 : cx + 9) << "\" y=\"" << fixed(at) << "\">"
        << escaped(point->name) << "</text>\n";
  }
}

void Picture::drawCaption() {
  std::string others;
  for (const BenchResult &result : report.results)
    if (!llvm::is_contained(points, &result))
      others += (others.empty() ? "" : ", ") + result.name + " " +
                prefixed(result.work.bytes() / report.seconds(result)) + "B/s";
  if (!others.empty())
    out << "<text class=\"ink small\" x=\"" << fixed(left) << "\" y=\"" << fixed(height - 14)
        << "\">no arithmetic that can be counted: " << escaped(others) << "</text>\n";
}

std::string Picture::draw() {
  std::string title = report.device + (report.isPrediction ? ": predicted, not measured" : "");
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << " " << height
      << "\" width=\"" << width << "\" height=\"" << height << "\" role=\"img\" data-plot=\""
      << fixed(left) << " " << fixed(top) << " " << fixed(right) << " " << fixed(bottom)
      << "\" data-decades=\"" << x->from << " " << x->to << " " << y->from << " " << y->to
      << "\">\n<title>" << escaped("Roofline of " + title) << "</title>\n"
      << R"(<style>
text { font: 13px system-ui, sans-serif; }
.small { font-size: 11.5px; }
.title { font-size: 15px; font-weight: 600; }
.ink { fill: #1f2328; } .paper { fill: #ffffff; }
.grid { stroke: #d8dee4; } .roof { stroke: #57606a; stroke-width: 1.8; } .dashed { stroke-dasharray: 6 4; }
.p0 { fill: #0969da; } .p1 { fill: #bc4c00; } .p2 { fill: #1a7f37; }
.p3 { fill: #8250df; } .p4 { fill: #cf222e; } .p5 { fill: #9a6700; }
.hollow { fill-opacity: 0.35; stroke: #57606a; stroke-dasharray: 2 2; }
@media (prefers-color-scheme: dark) {
  .ink { fill: #e6edf3; } .paper { fill: #0d1117; }
  .grid { stroke: #2b323b; } .roof { stroke: #9198a1; }
  .p0 { fill: #58a6ff; } .p1 { fill: #f0883e; } .p2 { fill: #56d364; }
  .p3 { fill: #bc8cff; } .p4 { fill: #ff7b72; } .p5 { fill: #e3b341; }
  .hollow { stroke: #9198a1; }
}
</style>
)"
      << "<rect class=\"paper\" width=\"" << width << "\" height=\"" << height
      << "\"/>\n<text class=\"ink title\" x=\"" << fixed(left) << "\" y=\"30\">" << escaped(title)
      << "</text>\n";
  drawAxes();
  drawRoofs();
  drawPoints();
  drawCaption();
  out << "</svg>\n";
  return std::move(svg);
}

std::string tile::frontend::rooflineSvg(const BenchReport &report) {
  return Picture(report).draw();
}
