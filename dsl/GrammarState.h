//===- GrammarState.h - what the rules of the grammar share ---------------===//
//
// The state of one parse, its errors and how parsing goes on after them. Free of Spirit: only what
// must be a template is one.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DSL_GRAMMARSTATE_H
#define TILE_DSL_GRAMMARSTATE_H

#include "dsl/Lexer.h"
#include "dsl/Parser.h"

namespace tile::dsl::grammar {

using Iterator = const Token *;

class State {
public:
  /// `lexical` holds what the lexer reported; it joins `diags` in order of place.
  State(const SourceFile &file, DiagnosticEngine &diags, const TokenStream &stream,
        const DiagnosticEngine &lexical)
      : file(file), diags(diags), stream(stream), lexical(lexical) {}

  const SourceFile &file;
  DiagnosticEngine &diags;
  const TokenStream &stream;

  /// Brackets, blocks and `else if` that are open.
  unsigned depth = 0;
  /// First token of the statement, schedule entry or declaration begun last.
  Iterator begun = nullptr;
  /// Errors so far, of the lexer too where the grammar ran into them.
  unsigned errors = 0;
  /// Those before the declaration begun last.
  unsigned errorsBefore = 0;

  Iterator begin() const { return stream.tokens.data(); }
  /// The End token.
  Iterator last() const { return stream.tokens.data() + stream.tokens.size() - 1; }

  std::string_view text(const Token &token) const {
    return file.text().substr(token.begin, token.end - token.begin);
  }
  Ident ident(const Token &token) const {
    return {std::string(text(token)), {token.begin, token.end}};
  }
  /// The `///` lines that stand directly before the token, without the marks.
  std::string docBefore(const Token &token) const;

  /// Reports an error. A second one at the same token is a consequence of the first: it and what
  /// lies past the engine's limit goes to a diagnostic that nobody sees.
  Diagnostic &report(Iterator where, Range range, std::string message);
  /// Set once the engine takes no more errors: parsing ends quietly.
  bool stopped = false;
  /// Passes on what the lexer reported before the offset.
  void flushLexical(uint32_t before);

private:
  const DiagnosticEngine &lexical;
  size_t flushed = 0;
  Iterator reported = nullptr;
  Diagnostic unseen;
};

/// Range of a token; where a line or the file ends too early, the place after what was written.
Range rangeAt(const State &state, Iterator where);

/// Reports "expected `what`, found …", with a hint where the mistake is a known one.
void reportExpected(State &state, Iterator where, const std::string &what);

// These report and throw an expectation failure, for the rules' error handlers.
[[noreturn]] void fail(State &state, Iterator where, Range range, std::string message,
                       std::string hint = {});
[[noreturn]] void failExpected(State &state, Iterator where, const std::string &what);
[[noreturn]] void failUnclosed(State &state, Iterator where, Iterator opener, TokenKind close,
                               bool isList);

/// What a rule's error handler does. `first` is where parsing goes on.
enum class Recovery { Accept, Rethrow };
Recovery recoverStatement(State &state, Iterator &first, Iterator where, const std::string &what);
Recovery recoverDeclaration(State &state, Iterator &first, Iterator where, const std::string &what);

/// True at a keyword that begins a declaration, where one can stand.
bool atDeclaration(const State &state, Iterator where);

/// Counts one level of nesting while it lives; fails at `where` beyond `maxNesting`.
class Nesting {
public:
  Nesting(State &state, Iterator where);
  ~Nesting() { --state.depth; }
  Nesting(const Nesting &) = delete;
  Nesting &operator=(const Nesting &) = delete;

private:
  State &state;
};

/// Parses all declarations; the entry to the rules.
Module parseModule(State &state);

} // namespace tile::dsl::grammar

#endif // TILE_DSL_GRAMMARSTATE_H
