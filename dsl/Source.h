//===- Source.h - source files and diagnostics ----------------------------===//
//
// A SourceFile owns a text and knows its lines. A DiagnosticEngine collects
// diagnostics about source files and prints them as clang does.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DSL_SOURCE_H
#define TILE_DSL_SOURCE_H

#include "dsl/Ast.h"

#include <deque>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>

namespace tile::dsl {

/// A text and its name. Lines and columns count from 1, columns in bytes.
class SourceFile {
public:
  SourceFile(std::string name, std::string text);

  const std::string &name() const { return name_; }
  std::string_view text() const { return text_; }

  struct Position {
    uint32_t line, column;
  };
  Position position(uint32_t offset) const;
  /// The line without its newline; empty past the end.
  std::string_view line(uint32_t number) const;
  /// Offset of a position as `position` gave it (clamped to the text).
  uint32_t offset(Position position) const;

private:
  std::string name_, text_;
  std::vector<uint32_t> lineStarts;
};

/// One message, with the notes and hint that explain it.
struct Diagnostic {
  /// A remark says what was made of code that is right.
  enum class Severity { Error, Warning, Remark, Note };
  struct FixIt {
    Range range;
    std::string replacement;
  };
  Severity severity = Severity::Error;
  /// Null where no source text is known (then no place is printed).
  const SourceFile *file = nullptr;
  Range range;
  std::string message;
  std::vector<Diagnostic> notes;
  std::vector<std::string> hints;
  std::vector<FixIt> fixIts;
};

/// Collects diagnostics in order of report. `print` writes
/// `file:line:col: error: message`, the source line, caret and range, hints
/// and notes; colour if `colour`. Stops taking errors after `errorLimit`
/// (0: no limit) and says so once.
class DiagnosticEngine {
public:
  explicit DiagnosticEngine(unsigned errorLimit = 20, bool warningsAreErrors = false);

  /// What was said of the same place before is not said again: many callers may meet one slip.
  Diagnostic &report(Diagnostic::Severity severity, const SourceFile *file, Range range,
                     std::string message);
  Diagnostic &error(const SourceFile *file, Range range, std::string message) {
    return report(Diagnostic::Severity::Error, file, range, std::move(message));
  }

  /// The `errorLimit`.
  unsigned limit() const { return errorLimit; }
  /// Takes over another engine's diagnostics, as if they had been reported here.
  void append(const DiagnosticEngine &other);

  /// Adds a note without a place to the diagnostics from the `first` on that lie inside a range.
  void addNote(size_t first, const SourceFile *file, Range inside, const std::string &message);

  /// Those among them that were said before.
  unsigned errorCount() const { return errors + repeated; }
  bool limitReached() const { return errorLimit != 0 && errors >= errorLimit; }
  const std::deque<Diagnostic> &diagnostics() const { return list; }
  std::string print(bool colour) const;

private:
  unsigned errorLimit;
  bool warningsAreErrors;
  unsigned errors = 0;
  unsigned dropped = 0;
  unsigned repeated = 0;
  std::deque<Diagnostic> list;
  /// Of those with a place: file, begin, end and message.
  std::set<std::tuple<const SourceFile *, uint32_t, uint32_t, std::string>> said;
  Diagnostic scratch; // what a dropped report writes to
};

/// The candidate nearest to `name` by edit distance, if near enough to suggest.
std::optional<std::string> nearestName(std::string_view name,
                                       const std::vector<std::string> &candidates);

} // namespace tile::dsl

#endif // TILE_DSL_SOURCE_H
