//===- Roofline.cpp - kernels under the roofs of their device, as SVG -----===//

#include "frontend/base/SvgText.h"
#include "frontend/bench/BenchReport.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <set>

using namespace tile;
using namespace tile::frontend;
using svg::escaped;
using svg::fixed;
using svg::prefixed;
using svg::shortened;

namespace {
constexpr double left = 78, right = 836, top = 70, bottom = 470;
constexpr int width = 880, rowHeight = 20;
/// Of the list below the plot: its head, and its columns.
constexpr double listTop = 540, nameAt = left + 28, operationsAt = 400, bytesAt = 520,
                 boundAt = 560;

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
  /// Decades from one label to the next.
  int step() const { return (to - from + 9) / 10; }
};

struct ComputeRoof {
  std::string label;
  double rate;
};

/// A kernel whose arithmetic can be counted.
struct Point {
  const BenchResult *result;
  /// Its own in the list, from 1 on.
  size_t number;
  double operations, x = 0, y = 0;
};

/// Where a text stands: its left end, its line and how wide it is, about.
struct Label {
  double x, y, width;
};

class Picture {
public:
  explicit Picture(const BenchReport &report);
  std::string draw();

private:
  void collectRoofs();
  double slowest() const;
  double fastest() const;
  int height() const;
  void text(double x, double y, llvm::StringRef words, llvm::StringRef style = "small",
            llvm::StringRef anchor = "start");
  void drawAxes();
  void drawMemory(double bandwidth, bool isDashed, const std::string &label);
  void drawRoofs();
  void drawHeadroom(const Point &point);
  void drawPoints();
  void drawNumbers();
  void drawList();
  void drawRow(const BenchResult &result, size_t number, double y);

  const BenchReport &report;
  std::vector<Point> points;
  std::vector<ComputeRoof> roofs;
  std::vector<Label> labels;
  std::optional<Scale> x, y;
  std::string picture;
  llvm::raw_string_ostream out{picture};
};
} // namespace

//===-- What is to be seen ------------------------------------------------===//

Picture::Picture(const BenchReport &report) : report(report) {
  for (auto [n, result] : llvm::enumerate(report.results)) {
    double rate = result.work.totalOperations() / report.seconds(result);
    if (rate > 0 && std::isfinite(rate) && result.work.bytes() > 0)
      points.push_back({&result, n + 1, rate});
  }
  collectRoofs();
  double least = 0.1, greatest = 10;
  for (const Point &point : points) {
    least = std::min(least, point.result->work.intensity());
    greatest = std::max(greatest, point.result->work.intensity());
  }
  double bandwidth = report.bandwidth();
  if (bandwidth > 0)
    for (const ComputeRoof &roof : roofs)
      greatest = std::max(greatest, 2 * roof.rate / bandwidth);
  x.emplace(least, greatest, left, right);
  y.emplace(slowest(), fastest(), bottom, top);
  for (Point &point : points) {
    point.x = x->at(point.result->work.intensity());
    point.y = y->at(point.operations);
  }
}

double Picture::slowest() const {
  double least = report.bandwidth() > 0 ? report.bandwidth() * x->low() : 1e9;
  for (const Point &point : points)
    least = std::min(least, point.operations);
  return least;
}

double Picture::fastest() const {
  double greatest = report.bandwidth() > 0 ? report.bandwidth() : 1e9;
  for (const Point &point : points)
    greatest = std::max(greatest, point.operations);
  for (const ComputeRoof &roof : roofs)
    greatest = std::max(greatest, 1.2 * roof.rate);
  return greatest;
}

/// Of the units and types that the kernels use, and of f32: one line for what is equally fast, the
/// fastest first.
void Picture::collectRoofs() {
  if (!report.description)
    return;
  std::set<std::pair<Unit, runtime::DType>> used = {{Unit::Vector, runtime::DType::F32}};
  for (const Point &point : points)
    for (const auto &[key, count] : point.result->work.operations)
      used.insert(key);
  std::map<double, std::string, std::greater<>> names;
  for (auto [unit, type] : used)
    if (double rate = report.description->operations(unit, type); rate > 0) {
      std::string &name = names[rate];
      name += (name.empty() ? "" : ", ") + std::string(runtime::nameOf(type)) +
              (unit == Unit::Matrix ? " on matrix units" : "");
    }
  for (const auto &[rate, name] : names)
    roofs.push_back({name + ": " + prefixed(rate) + "FLOP/s", rate});
}

//===-- Axes and roofs ----------------------------------------------------===//

void Picture::text(double x, double y, llvm::StringRef words, llvm::StringRef style,
                   llvm::StringRef anchor) {
  out << "<text class=\"ink " << style << "\" text-anchor=\"" << anchor << "\" x=\"" << fixed(x)
      << "\" y=\"" << fixed(y) << "\">" << escaped(words) << "</text>\n";
}

static std::string intensityLabel(int decade) {
  static constexpr const char *plain[] = {"0.01", "0.1", "1", "10", "100", "1000"};
  return decade >= -2 && decade <= 3 ? plain[decade + 2] : "1e" + std::to_string(decade);
}

void Picture::drawAxes() {
  for (int decade = x->from; decade <= x->to; ++decade) {
    double at = x->at(std::pow(10.0, decade));
    out << "<line class=\"grid\" x1=\"" << fixed(at) << "\" x2=\"" << fixed(at) << "\" y1=\""
        << fixed(top) << "\" y2=\"" << fixed(bottom) << "\"/>\n";
    if ((decade - x->from) % x->step() == 0)
      text(at, bottom + 18, intensityLabel(decade), "small", "middle");
  }
  for (int decade = y->from; decade <= y->to; ++decade) {
    double value = std::pow(10.0, decade), at = y->at(value);
    out << "<line class=\"grid\" x1=\"" << fixed(left) << "\" x2=\"" << fixed(right) << "\" y1=\""
        << fixed(at) << "\" y2=\"" << fixed(at) << "\"/>\n";
    if ((decade - y->from) % y->step() == 0)
      text(left - 8, at + 4, llvm::StringRef(prefixed(value)).rtrim(), "small", "end");
  }
  text((left + right) / 2, bottom + 40, "operations for each byte that has to move", "", "middle");
  out << "<text class=\"ink\" text-anchor=\"middle\" transform=\"translate(18 "
      << fixed((top + bottom) / 2) << ") rotate(-90)\">operations a second</text>\n";
}

/// The slanted roof, up to the highest flat one, with a label above it, if it has one.
void Picture::drawMemory(double bandwidth, bool isDashed, const std::string &label) {
  double ceiling = roofs.empty() ? y->high() : roofs.front().rate;
  double from = std::max(x->low(), y->low() / bandwidth);
  double to = std::min(x->high(), ceiling / bandwidth);
  if (from >= to)
    return;
  double x1 = x->at(from), y1 = y->at(from * bandwidth), x2 = x->at(to), y2 = y->at(to * bandwidth);
  out << "<line class=\"roof memory" << (isDashed ? " dashed" : "") << "\" data-bandwidth=\""
      << bandwidth << "\" x1=\"" << fixed(x1) << "\" y1=\"" << fixed(y1) << "\" x2=\"" << fixed(x2)
      << "\" y2=\"" << fixed(y2) << "\"/>\n";
  if (label.empty())
    return;
  double angle = std::atan2(y2 - y1, x2 - x1) * 180 / M_PI;
  out << "<text class=\"ink small\" transform=\"translate(" << fixed(x1 + 0.08 * (x2 - x1)) << " "
      << fixed(y1 + 0.08 * (y2 - y1)) << ") rotate(" << fixed(angle) << ")\" dy=\"-8\">"
      << escaped(label) << "</text>\n";
}

void Picture::drawRoofs() {
  double bandwidth = report.bandwidth();
  // Labels stand above the highest of the slanted roofs: kernels are below.
  if (report.isPrediction) {
    drawMemory(bandwidth, false, "memory: " + prefixed(bandwidth) + "B/s");
  } else if (bandwidth > 0) {
    std::string label = "copy, measured: " + prefixed(bandwidth) + "B/s";
    double peak = report.description ? report.description->bandwidth() : 0;
    bool hasPeak = peak > bandwidth;
    drawMemory(bandwidth, false, hasPeak ? "" : label);
    if (hasPeak)
      drawMemory(peak, true, label + "; dashed, peak: " + prefixed(peak) + "B/s");
  }
  double before = 0;
  for (const ComputeRoof &roof : roofs) {
    double from = bandwidth > 0 ? std::max(x->low(), roof.rate / bandwidth) : x->low();
    double at = y->at(roof.rate);
    out << "<line class=\"roof compute\" data-rate=\"" << roof.rate << "\" x1=\""
        << fixed(x->at(from)) << "\" y1=\"" << fixed(at) << "\" x2=\"" << fixed(right) << "\" y2=\""
        << fixed(at) << "\"/>\n";
    // Of roofs that are near each other, the lower one's label goes below its line.
    bool isNear = before > 0 && at - before < 17;
    double line = at + (isNear ? 15 : -6), labelWidth = 7 * static_cast<double>(roof.label.size());
    text(right - 4, line, roof.label, "small", "end");
    labels.push_back({right - 4 - labelWidth, line, labelWidth});
    before = at + (isNear ? 15 : 0);
  }
}

//===-- Kernels -----------------------------------------------------------===//

static llvm::StringRef styleOf(Roof roof) {
  switch (roof) {
  case Roof::Launch:
    return "launch";
  case Roof::Memory:
    return "memory";
  case Roof::Compute:
    return "compute";
  }
  llvm_unreachable("covered switch");
}

/// From a kernel up to where the roof that bounds it would allow it to be.
void Picture::drawHeadroom(const Point &point) {
  const BenchResult &result = *point.result;
  Roof roof = report.roofOf(result);
  double least = roof == Roof::Memory    ? report.memorySeconds(result)
                 : roof == Roof::Compute ? report.computeSeconds(result)
                                         : 0;
  if (least <= 0)
    return;
  double limit = std::min(result.work.totalOperations() / least, y->high());
  if (double at = y->at(limit); at < point.y - 7)
    out << "<line class=\"headroom " << styleOf(roof) << "\" x1=\"" << fixed(point.x) << "\" x2=\""
        << fixed(point.x) << "\" y1=\"" << fixed(point.y) << "\" y2=\"" << fixed(at) << "\"/>\n";
}

void Picture::drawPoints() {
  for (const Point &point : points)
    drawHeadroom(point);
  for (const Point &point : points)
    out << "<circle class=\"point p" << (point.number - 1) % 6
        << (report.isPrediction ? " hollow" : "") << "\" data-name=\""
        << escaped(point.result->name) << "\" data-intensity=\""
        << llvm::format("%.6g", point.result->work.intensity()) << "\" data-operations=\""
        << llvm::format("%.6g", point.operations) << "\" cx=\"" << fixed(point.x) << "\" cy=\""
        << fixed(point.y) << "\" r=\"5\"><title>" << escaped(point.result->name) << ": "
        << prefixed(point.operations) << "FLOP/s, bound by " << nameOf(report.roofOf(*point.result))
        << "</title></circle>\n";
  drawNumbers();
}

/// Points that touch each other share a label: "1, 3, 4".
void Picture::drawNumbers() {
  std::vector<bool> isDone(points.size(), false);
  for (size_t n = 0; n < points.size(); ++n) {
    if (isDone[n])
      continue;
    std::vector<const Point *> group = {&points[n]};
    isDone[n] = true;
    for (size_t k = 0; k < group.size(); ++k)
      for (size_t m = n + 1; m < points.size(); ++m)
        if (!isDone[m] && std::hypot(points[m].x - group[k]->x, points[m].y - group[k]->y) < 16) {
          group.push_back(&points[m]);
          isDone[m] = true;
        }
    llvm::sort(group, [](auto *a, auto *b) { return a->number < b->number; });
    std::string numbers;
    double rightmost = 0, sum = 0;
    for (const Point *point : group) {
      numbers += (numbers.empty() ? "" : ", ") + std::to_string(point->number);
      rightmost = std::max(rightmost, point->x);
      sum += point->y;
    }
    // Below right of the group, and below labels that are there.
    double at = sum / static_cast<double>(group.size()) + 13, from = rightmost + 9;
    double width = 7 * static_cast<double>(numbers.size());
    auto isTaken = [&](const Label &label) {
      return std::abs(label.y - at) < 13 && from < label.x + label.width + 4 &&
             label.x < from + width + 4;
    };
    while (at < bottom && llvm::any_of(labels, isTaken))
      at += 13;
    labels.push_back({from, at, width});
    text(from, at, numbers, "small number");
  }
}

/// A kernel in the list: what it reaches, and the roof that bounds it.
void Picture::drawRow(const BenchResult &result, size_t number, double y) {
  auto point = llvm::find_if(points, [&](const Point &point) { return point.number == number; });
  bool hasPoint = point != points.end();
  Roof roof = report.roofOf(result);
  double seconds = report.seconds(result);
  double limit = std::max(
      {report.launchSeconds(), report.memorySeconds(result), report.computeSeconds(result)});
  if (hasPoint)
    out << "<rect class=\"point p" << (number - 1) % 6 << (report.isPrediction ? " hollow" : "")
        << "\" x=\"" << fixed(left - 20) << "\" y=\"" << fixed(y - 9)
        << "\" width=\"10\" height=\"10\" rx=\"5\"/>\n";
  text(left + 16, y, std::to_string(number), "small number", "end");
  text(nameAt, y, shortened(result.name, 34));
  bool isKnown = std::isfinite(result.work.totalOperations());
  text(operationsAt, y,
       hasPoint  ? prefixed(point->operations) + "FLOP/s"
       : isKnown ? "none"
                 : "unknown",
       "small", "end");
  text(bytesAt, y, prefixed(result.work.bytes() / seconds) + "B/s", "small", "end");
  out << "<line class=\"roof " << styleOf(roof) << "\" x1=\"" << fixed(boundAt) << "\" x2=\""
      << fixed(boundAt + 24) << "\" y1=\"" << fixed(y - 4) << "\" y2=\"" << fixed(y - 4)
      << "\"/>\n";
  char share[16];
  snprintf(share, sizeof share, "%.0f%%", 100 * limit / seconds);
  text(boundAt + 32, y, nameOf(roof).str() + ": " + share + " of the time");
}

void Picture::drawList() {
  double y = listTop;
  text(nameAt, y, "kernel", "small head");
  text(operationsAt, y, "operations", "small head", "end");
  text(bytesAt, y, "bytes", "small head", "end");
  text(boundAt, y, "bound by, and what that explains", "small head");
  for (auto [n, result] : llvm::enumerate(report.results))
    drawRow(result, n + 1, y += rowHeight);
}

//===-- The whole ---------------------------------------------------------===//

int Picture::height() const {
  return static_cast<int>(listTop) + rowHeight * static_cast<int>(report.results.size()) + 20;
}

std::string Picture::draw() {
  std::string title = report.device + (report.isPrediction ? ": predicted, not measured" : "");
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << " " << height()
      << "\" width=\"" << width << "\" height=\"" << height() << "\" role=\"img\" data-plot=\""
      << fixed(left) << " " << fixed(top) << " " << fixed(right) << " " << fixed(bottom)
      << "\" data-decades=\"" << x->from << " " << x->to << " " << y->from << " " << y->to
      << "\">\n<title>" << escaped("Roofline of " + title) << "</title>\n"
      << svg::pictureStyle << "<rect class=\"paper\" width=\"" << width << "\" height=\""
      << height() << "\"/>\n";
  text(left, 30, shortened(title, 72), "title");
  text(left, 50,
       report.isPrediction ? "the least that each kernel can take, by the device's description"
       : report.isWarm     ? "medians, caches as the run before left them"
                           : "medians, caches flushed before each run");
  drawAxes();
  drawRoofs();
  drawPoints();
  drawList();
  out << "</svg>\n";
  return std::move(picture);
}

std::string tile::frontend::rooflineSvg(const BenchReport &report) {
  return Picture(report).draw();
}
