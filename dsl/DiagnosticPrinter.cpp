//===- DiagnosticPrinter.cpp - diagnostics as text for a terminal ---------===//

#include "dsl/Source.h"
#include "dsl/Unicode.h"

#include <algorithm>
#include <cstdio>

namespace tile::dsl {
namespace {

constexpr unsigned excerptWidth = 120;
constexpr unsigned tabStop = 8;

/// What a terminal shows for the bytes at the start of `rest`, and how many bytes that is. Bytes
/// that a terminal would not show as written (controls, broken UTF-8, direction marks) are named.
struct Cell {
  std::string text;
  unsigned bytes = 1, columns = 1;
};

Cell cellAt(std::string_view rest, unsigned column) {
  const auto lead = static_cast<unsigned char>(rest.front());
  if (lead == '\t') {
    const unsigned columns = tabStop - column % tabStop;
    return {std::string(columns, ' '), 1, columns};
  }
  if (lead >= 0x20 && lead < 0x7f)
    return {std::string(1, rest.front()), 1, 1};
  char name[16];
  const CodePoint point = decodeUtf8(rest);
  const bool turnsText = (point.value >= 0x202a && point.value <= 0x202e) ||
                         (point.value >= 0x2066 && point.value <= 0x2069);
  if (point.length > 1 && point.value >= 0xa0 && !turnsText)
    return {std::string(rest.substr(0, point.length)), point.length, displayWidth(point.value)};
  if (point.length > 1)
    std::snprintf(name, sizeof name, "<U+%04X>", static_cast<unsigned>(point.value));
  else
    std::snprintf(name, sizeof name, "<%02X>", lead);
  std::string text = name;
  const auto columns = static_cast<unsigned>(text.size());
  return {std::move(text), std::max(point.length, 1u), columns};
}

/// A text as printed, which may have several lines, but a file's name has one: it is anything.
std::string shown(std::string_view text, bool hasLines = true) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const bool isPlain = hasLines && (text[i] == '\n' || text[i] == '\t');
    const Cell cell = isPlain ? Cell{std::string(1, text[i]), 1, 1} : cellAt(text.substr(i, 4), 0);
    result += cell.text;
    i += cell.bytes;
  }
  return result;
}

/// A source line as printed: whole, or the part around a byte if it is long.
class Excerpt {
public:
  Excerpt(std::string_view line, size_t center) : line(line) {
    center = std::min(center, line.size());
    const size_t begin = fits(line) ? 0 : windowBegin(line, center);
    if (begin > 0) {
      text = "…";
      width = 1;
    }
    render(begin);
  }

  const std::string &string() const { return text; }

  /// Column at which the byte stands; those outside the excerpt stand at its edges.
  unsigned column(size_t byte) const {
    auto at = std::lower_bound(starts.begin(), starts.end(), byte,
                               [](const Start &start, size_t value) { return start.byte < value; });
    return at == starts.end() ? width : at->column;
  }

private:
  struct Start {
    size_t byte;
    unsigned column;
  };

  static bool fits(std::string_view line) {
    unsigned column = 0;
    for (size_t i = 0; i < line.size() && column <= excerptWidth;) {
      const Cell cell = cellAt(line.substr(i, 4), column);
      i += cell.bytes;
      column += cell.columns;
    }
    return column <= excerptWidth;
  }

  /// The character that stands half an excerpt before the centre.
  static size_t windowBegin(std::string_view line, size_t center) {
    size_t begin = center;
    for (unsigned columns = 0; begin > 0 && columns < excerptWidth / 2;) {
      size_t previous = begin - 1;
      while (previous > 0 && begin - previous < 4 && (line[previous] & 0xc0) == 0x80)
        --previous;
      if (decodeUtf8(line.substr(previous, begin - previous)).length != begin - previous)
        previous = begin - 1;
      columns += cellAt(line.substr(previous, 4), 0).columns;
      begin = previous;
    }
    return begin;
  }

  void render(size_t begin) {
    size_t i = begin;
    while (i < line.size()) {
      const Cell cell = cellAt(line.substr(i, 4), width);
      if (width + cell.columns > excerptWidth)
        break;
      starts.push_back({i, width});
      text += cell.text;
      width += cell.columns;
      i += cell.bytes;
    }
    if (i < line.size())
      text += "…";
  }

  std::string_view line;
  std::string text;
  std::vector<Start> starts;
  unsigned width = 0;
};

class Printer {
public:
  Printer(std::string &out, bool colour) : out(out), colour(colour) {}

  void print(const Diagnostic &diagnostic) {
    headline(diagnostic);
    if (diagnostic.file)
      excerpt(diagnostic);
    for (const std::string &hint : diagnostic.hints) {
      styled("hint: ", "\033[1;32m");
      out += shown(hint) + "\n";
    }
    for (const Diagnostic &note : diagnostic.notes)
      print(note);
  }

private:
  void styled(std::string_view text, const char *style) {
    if (colour)
      out += style;
    out += text;
    if (colour)
      out += "\033[0m";
  }

  void headline(const Diagnostic &diagnostic) {
    if (diagnostic.file) {
      const SourceFile::Position at = diagnostic.file->position(diagnostic.range.begin);
      styled(shown(diagnostic.file->name(), /*hasLines=*/false) + ":" + std::to_string(at.line) +
                 ":" + std::to_string(at.column) + ": ",
             "\033[1m");
    }
    switch (diagnostic.severity) {
    case Diagnostic::Severity::Error:
      styled("error: ", "\033[1;31m");
      break;
    case Diagnostic::Severity::Warning:
      styled("warning: ", "\033[1;35m");
      break;
    case Diagnostic::Severity::Remark:
      styled("remark: ", "\033[1;34m");
      break;
    case Diagnostic::Severity::Note:
      styled("note: ", "\033[1;36m");
      break;
    }
    styled(shown(diagnostic.message), "\033[1m");
    out += '\n';
  }

  void excerpt(const Diagnostic &diagnostic) {
    const SourceFile &file = *diagnostic.file;
    const SourceFile::Position at = file.position(diagnostic.range.begin);
    const std::string_view line = file.line(at.line);
    const uint32_t lineBegin = diagnostic.range.begin - (at.column - 1);
    const size_t first = at.column - 1;
    const size_t last = std::min<size_t>(
        std::max(diagnostic.range.end, diagnostic.range.begin) - lineBegin, line.size());
    const Excerpt shown(line, first);
    out += shown.string() + "\n";
    const unsigned caret = shown.column(first);
    const unsigned end = last > first ? shown.column(last) : caret + 1;
    styled(std::string(caret, ' ') + "^" + std::string(end > caret ? end - caret - 1 : 0, '~'),
           "\033[1;32m");
    out += '\n';
    const std::string fixes = fixItLine(diagnostic, shown, lineBegin, line.size());
    if (!fixes.empty()) {
      styled(fixes, "\033[32m");
      out += '\n';
    }
  }

  static std::string fixItLine(const Diagnostic &diagnostic, const Excerpt &shown,
                               uint32_t lineBegin, size_t lineSize) {
    std::vector<Diagnostic::FixIt> fixes = diagnostic.fixIts;
    std::stable_sort(fixes.begin(), fixes.end(),
                     [](const auto &a, const auto &b) { return a.range.begin < b.range.begin; });
    std::string row;
    unsigned width = 0;
    for (const Diagnostic::FixIt &fix : fixes) {
      const bool here = fix.range.begin >= lineBegin && fix.range.begin - lineBegin <= lineSize;
      if (!here || fix.replacement.empty() || fix.replacement.find('\n') != std::string::npos)
        continue;
      const unsigned column = shown.column(fix.range.begin - lineBegin);
      if (column < width || (column == width && width > 0))
        continue; // would run into the one before
      row.append(column - width, ' ');
      row += fix.replacement;
      width = column;
      for (size_t i = 0; i < fix.replacement.size();) {
        const Cell cell = cellAt(std::string_view(fix.replacement).substr(i, 4), width);
        i += cell.bytes;
        width += cell.columns;
      }
    }
    return row;
  }

  std::string &out;
  bool colour;
};

} // namespace

std::string DiagnosticEngine::print(bool colour) const {
  std::string out;
  Printer printer(out, colour);
  for (const Diagnostic &diagnostic : list)
    printer.print(diagnostic);
  if (dropped > 0) {
    Diagnostic last;
    last.message = "too many errors; stopped after " + std::to_string(errorLimit);
    last.hints.push_back("--error-limit=0 shows all of them");
    printer.print(last);
  }
  return out;
}

} // namespace tile::dsl
