//===- Source.cpp - source files and the diagnostic engine ----------------===//

#include "dsl/Source.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tile::dsl {

SourceFile::SourceFile(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
  lineStarts.push_back(0);
  // Offsets are 32 bits wide; what lies beyond belongs to the last line. The lexer refuses such a
  // file.
  const size_t size = std::min<size_t>(text_.size(), std::numeric_limits<uint32_t>::max() - 1);
  const char *begin = text_.data(), *end = begin + size;
  for (const char *p = begin; p < end;) {
    const char *newline = static_cast<const char *>(std::memchr(p, '\n', end - p));
    if (!newline)
      break;
    p = newline + 1;
    lineStarts.push_back(static_cast<uint32_t>(p - begin));
  }
}

SourceFile::Position SourceFile::position(uint32_t offset) const {
  offset = static_cast<uint32_t>(std::min<size_t>(offset, text_.size()));
  auto next = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  const auto line = static_cast<uint32_t>(next - lineStarts.begin());
  return {line, offset - lineStarts[line - 1] + 1};
}

std::string_view SourceFile::line(uint32_t number) const {
  if (number == 0 || number > lineStarts.size())
    return {};
  const size_t begin = lineStarts[number - 1];
  size_t end = number < lineStarts.size() ? lineStarts[number] - 1 : text_.size();
  if (end > begin && text_[end - 1] == '\r')
    --end;
  return std::string_view(text_).substr(begin, end - begin);
}

uint32_t SourceFile::offset(Position position) const {
  if (position.line == 0)
    return 0;
  if (position.line > lineStarts.size())
    return static_cast<uint32_t>(text_.size());
  const uint64_t begin = lineStarts[position.line - 1];
  const uint64_t end =
      position.line < lineStarts.size() ? lineStarts[position.line] - 1 : text_.size();
  const uint64_t column = position.column == 0 ? 1 : position.column;
  return static_cast<uint32_t>(std::min(begin + column - 1, end));
}

DiagnosticEngine::DiagnosticEngine(unsigned errorLimit, bool warningsAreErrors)
    : errorLimit(errorLimit), warningsAreErrors(warningsAreErrors) {}

Diagnostic &DiagnosticEngine::report(Diagnostic::Severity severity, const SourceFile *file,
                                     Range range, std::string message) {
  if (severity == Diagnostic::Severity::Warning && warningsAreErrors)
    severity = Diagnostic::Severity::Error;
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.file = file;
  diagnostic.range = range;
  diagnostic.message = std::move(message);
  // Past the limit nothing is taken, warnings neither: the reader has enough to do.
  if (limitReached()) {
    if (severity == Diagnostic::Severity::Error)
      ++dropped;
    scratch = std::move(diagnostic);
    return scratch;
  }
  bool isNew = !file || said.emplace(file, range.begin, range.end, diagnostic.message).second;
  if (severity == Diagnostic::Severity::Error)
    ++(isNew ? errors : repeated);
  if (!isNew) {
    scratch = std::move(diagnostic);
    return scratch;
  }
  list.push_back(std::move(diagnostic));
  return list.back();
}

std::optional<std::string> nearestName(std::string_view name,
                                       const std::vector<std::string> &candidates) {
  constexpr size_t longest = 64; // nobody misspells longer names by a letter or two
  if (name.empty() || name.size() > longest)
    return std::nullopt;
  const size_t limit = name.size() <= 2 ? 1 : (name.size() + 2) / 3;
  size_t bestDistance = limit + 1;
  const std::string *best = nullptr;
  // Three rows of the edit distance that counts a swap of neighbours as one step.
  size_t rows[3][longest + 1];
  for (const std::string &candidate : candidates) {
    const size_t n = candidate.size(), m = name.size();
    if (n > longest || std::max(n, m) - std::min(n, m) > bestDistance || candidate == name)
      continue;
    size_t *before = rows[0], *previous = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; ++j)
      previous[j] = j;
    for (size_t i = 1; i <= n; ++i) {
      row[0] = i;
      for (size_t j = 1; j <= m; ++j) {
        const bool same = candidate[i - 1] == name[j - 1];
        row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
        if (i > 1 && j > 1 && candidate[i - 1] == name[j - 2] && candidate[i - 2] == name[j - 1])
          row[j] = std::min(row[j], before[j - 2] + 1);
      }
      std::swap(before, previous);
      std::swap(previous, row);
    }
    // A candidate that begins with the whole name is likelier meant than others as far away.
    auto goesOn = [&](const std::string &other) { return other.starts_with(name); };
    const bool isNearer = previous[m] < bestDistance || (best && previous[m] == bestDistance &&
                                                         goesOn(candidate) && !goesOn(*best));
    // A name that shares no letter in place with the candidate is no misspelling of it.
    if (isNearer && previous[m] < std::max(n, m)) {
      bestDistance = previous[m];
      best = &candidate;
    }
  }
  return best ? std::optional<std::string>(*best) : std::nullopt;
}

} // namespace tile::dsl

void tile::dsl::DiagnosticEngine::addNote(size_t first, const SourceFile *file, Range inside,
                                          const std::string &message) {
  for (; first < list.size(); ++first) {
    Diagnostic &diagnostic = list[first];
    if (diagnostic.file != file || diagnostic.range.begin < inside.begin ||
        diagnostic.range.end > inside.end)
      continue;
    if (std::any_of(diagnostic.notes.begin(), diagnostic.notes.end(),
                    [&](const Diagnostic &note) { return note.message == message; }))
      continue;
    Diagnostic &note = diagnostic.notes.emplace_back();
    note.severity = Diagnostic::Severity::Note;
    note.message = message;
  }
}

void tile::dsl::DiagnosticEngine::append(const DiagnosticEngine &other) {
  for (const Diagnostic &diagnostic : other.list) {
    Diagnostic &added =
        report(diagnostic.severity, diagnostic.file, diagnostic.range, diagnostic.message);
    added.notes = diagnostic.notes;
    added.hints = diagnostic.hints;
    added.fixIts = diagnostic.fixIts;
  }
}
