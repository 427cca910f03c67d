//===- GrammarState.cpp - errors of the grammar and recovery --------------===//

#include "dsl/GrammarState.h"

#include <boost/spirit/home/x3.hpp>

#include <algorithm>

namespace tile::dsl::grammar {
namespace {

constexpr size_t longestQuote = 40;

const std::vector<std::string> statementKeywords = {"parallel", "grid", "for", "while",
                                                    "if",       "let",  "var", "return"};
const std::vector<std::string> declarationKeywords = {"kernel", "map", "fn", "graph", "import"};

std::string quote(std::string_view text) {
  if (text.size() <= longestQuote)
    return "`" + std::string(text) + "`";
  size_t end = longestQuote;
  while (end > 0 && (text[end] & 0xc0) == 0x80)
    --end;
  return "`" + std::string(text.substr(0, end)) + "…`";
}

std::string found(const State &state, Iterator where) {
  if (where->kind == TokenKind::Newline || where->kind == TokenKind::End)
    return describe(where->kind);
  return quote(state.text(*where));
}

/// Tokens that join two operands, and what else cannot begin a statement but may begin the rest of
/// one.
bool isOperator(TokenKind kind) {
  return kind >= TokenKind::Arrow && !(kind >= TokenKind::LParen && kind <= TokenKind::Colon);
}

/// Operators that no statement begins with.
bool isJoint(TokenKind kind) {
  return isOperator(kind) && kind != TokenKind::Minus && kind != TokenKind::Not &&
         kind != TokenKind::Tilde;
}

bool continuesExpression(TokenKind kind) {
  return isOperator(kind) || kind == TokenKind::LParen || kind == TokenKind::LBracket;
}

/// Suggests the keyword that the name at `where` was meant to be.
bool reportMisspelling(State &state, Iterator where, const char *role,
                       const std::vector<std::string> &keywords) {
  if (where->kind != TokenKind::Ident)
    return false;
  const auto meant = nearestName(state.text(*where), keywords);
  if (!meant)
    return false;
  const Range range{where->begin, where->end};
  Diagnostic &error =
      state.report(where, range, std::string("unknown ") + role + " " + quote(state.text(*where)));
  error.hints.push_back("did you mean `" + *meant + "`?");
  error.fixIts.push_back({range, *meant});
  return true;
}

/// A statement that goes wrong right after its first word, or at a brace, may begin with a
/// misspelled keyword.
bool reportMisspelledStatement(State &state, Iterator where) {
  const bool early = where == state.begun + 1 || where->kind == TokenKind::LBrace;
  return state.begun && early && where > state.begun && !continuesExpression(where->kind) &&
         reportMisspelling(state, state.begun, "statement", statementKeywords);
}

constexpr const char *continuationHint =
    "outside brackets a line goes on only after an operator: end the line above with it";

/// For those who come from Python.
void addOperatorHint(const State &state, Iterator where, Diagnostic &error) {
  const std::string_view word = state.text(*where);
  const char *op = word == "and" ? "&&" : word == "or" ? "||" : word == "not" ? "!" : nullptr;
  if (!op)
    return;
  error.hints.push_back(std::string("write `") + op + "`");
  error.fixIts.push_back({{where->begin, where->end}, op});
}

/// Hints for mistakes that are known by what was expected and what stands there.
void addHints(State &state, Iterator where, const std::string &what, Diagnostic &error) {
  const TokenKind kind = where->kind;
  if (what == "a statement" && isOperator(kind))
    error.hints.push_back(continuationHint);
  else if (what == "`..`")
    error.hints.push_back("a loop runs over blocks, `tiles(N)`, or over integers, `lo..hi`");
  else if (what == "`=`" && kind == TokenKind::Colon)
    error.hints.push_back("`let` and `var` take the value's type; to convert it, call a type: "
                          "`f32(…)`");
  else if (what == "an expression" && kind == TokenKind::Dot)
    error.hints.push_back("a number begins with a digit: `0.5`");
  else if (kind == TokenKind::Assign && what == "the end of the statement")
    error.hints.push_back("`==` compares");
  else if (kind == TokenKind::KwSchedule && what == "the end of the statement")
    error.hints.push_back("`schedule` stands behind a kernel's body: a `}` is missing above");
  else if (kind == TokenKind::Comma && what == "the end of the entry")
    error.hints.push_back("entries are separated by `;` or line breaks");
  else if (kind == TokenKind::Ident && what == "`{`" && where[1].kind == TokenKind::KwIn)
    error.hints.push_back("binders are separated by `,`");
  else if (kind == TokenKind::Ident)
    addOperatorHint(state, where, error);
}

std::string after(const State &state, Iterator where, const std::string &what) {
  const bool operandMissing = what == "an expression" && where > state.begin() &&
                              (isOperator(where[-1].kind) || where[-1].kind == TokenKind::Comma);
  return operandMissing ? " after " + quote(state.text(where[-1])) : "";
}

} // namespace

std::string State::docBefore(const Token &token) const {
  const uint32_t from = &token == begin() ? 0 : (&token)[-1].end;
  auto end = std::lower_bound(
      stream.comments.begin(), stream.comments.end(), token.begin,
      [](const Comment &comment, uint32_t offset) { return comment.range.begin < offset; });
  auto first = end;
  while (first != stream.comments.begin() && first[-1].doc && first[-1].ownLine &&
         first[-1].range.begin >= from)
    --first;
  std::string doc;
  for (; first != end; ++first) {
    std::string_view line =
        file.text().substr(first->range.begin + 3, first->range.end - first->range.begin - 3);
    if (!line.empty() && line.front() == ' ')
      line.remove_prefix(1);
    if (!doc.empty())
      doc += '\n';
    doc += line;
  }
  return doc;
}

Diagnostic &State::report(Iterator where, Range range, std::string message) {
  ++errors;
  const bool again = where == reported;
  reported = where;
  if (stopped || again || where->kind == TokenKind::Invalid) {
    unseen = {};
    return unseen;
  }
  flushLexical(range.begin);
  stopped = diags.limitReached();
  return diags.error(&file, range, std::move(message));
}

void State::flushLexical(uint32_t before) {
  const auto &list = lexical.diagnostics();
  for (; flushed < list.size() && list[flushed].range.begin < before; ++flushed) {
    const Diagnostic &from = list[flushed];
    diags.report(from.severity, from.file, from.range, from.message) = from;
  }
}

Range rangeAt(const State &state, Iterator where) {
  const bool ends = where->kind == TokenKind::Newline || where->kind == TokenKind::End;
  if (!ends)
    return {where->begin, where->end};
  const uint32_t place = where > state.begin() ? where[-1].end : where->begin;
  return {place, place};
}

void reportExpected(State &state, Iterator where, const std::string &what) {
  const bool wantsName = what.rfind("a name", 0) == 0 || what == "a type";
  if (wantsName && isKeyword(where->kind)) {
    state.report(where, rangeAt(state, where),
                 std::string("expected a ") + (what == "a type" ? "type" : "name") + ", but " +
                     found(state, where) + " is a keyword");
    return;
  }
  if (what == "a declaration") {
    if (where->kind == TokenKind::RBrace) {
      state.report(where, rangeAt(state, where), "`}` without a `{`");
      return;
    }
    if (reportMisspelling(state, where, "declaration", declarationKeywords))
      return;
  }
  if (what == "the end of the declaration" && reportMisspelling(state, where, "word", {"schedule"}))
    return;
  const bool mayModify = what == "`{`" && where->kind == TokenKind::Ident;
  if (mayModify && reportMisspelling(state, where, "word", {"reassociable", "sequential", "merge"}))
    return;
  if (what == "the end of the statement") {
    const bool afterBlock = where > state.begin() && where[-1].kind == TokenKind::RBrace;
    if (afterBlock && reportMisspelling(state, where, "word", {"else", "schedule"}))
      return;
    if (where->kind == TokenKind::RParen || where->kind == TokenKind::RBracket) {
      state.report(where, rangeAt(state, where), found(state, where) + " without its partner");
      return;
    }
  }
  if (reportMisspelledStatement(state, where))
    return;
  Diagnostic &error = state.report(where, rangeAt(state, where),
                                   "expected " + what + after(state, where, what) + ", found " +
                                       found(state, where));
  addHints(state, where, what, error);
}

void fail(State &state, Iterator where, Range range, std::string message, std::string hint) {
  Diagnostic &error = state.report(where, range, std::move(message));
  if (!hint.empty())
    error.hints.push_back(std::move(hint));
  throw boost::spirit::x3::expectation_failure<Iterator>(where, {});
}

void failExpected(State &state, Iterator where, const std::string &what) {
  reportExpected(state, where, what);
  throw boost::spirit::x3::expectation_failure<Iterator>(where, {});
}

void failUnclosed(State &state, Iterator where, Iterator opener, TokenKind close, bool isList) {
  const std::string closer = describe(close), open = quote(state.text(*opener));
  const bool ended = where->kind == TokenKind::Newline || where->kind == TokenKind::End ||
                     where->kind == TokenKind::Semi || where->kind == TokenKind::LBrace ||
                     where->kind == TokenKind::RBrace || atDeclaration(state, where);
  std::string message =
      ended    ? "expected " + closer + " to close this " + open
      : isList ? "expected `,` or " + closer + ", found " + found(state, where)
               : "expected " + closer + " to close this " + open + ", found " + found(state, where);
  Diagnostic &error = state.report(where, rangeAt(state, where), std::move(message));
  Diagnostic note;
  note.severity = Diagnostic::Severity::Note;
  note.file = &state.file;
  note.range = {opener->begin, opener->end};
  note.message = open + " is here";
  error.notes.push_back(std::move(note));
  throw boost::spirit::x3::expectation_failure<Iterator>(where, {});
}

bool atDeclaration(const State &state, Iterator where) {
  if (!beginsDeclaration(where->kind))
    return false;
  if (where == state.begin() || where->newlineBefore)
    return true;
  const TokenKind previous = where[-1].kind;
  return previous == TokenKind::RBrace || previous == TokenKind::Semi;
}

namespace {

/// The end of the statement that holds `where`: a separator, the brace that closes its block, or
/// where the file or a declaration shows that the braces are wrong.
Iterator skipStatement(const State &state, Iterator where) {
  unsigned depth = 0;
  for (Iterator at = where;; ++at) {
    if (at->kind == TokenKind::End || atDeclaration(state, at))
      return at;
    const bool separates = at->kind == TokenKind::Newline || at->kind == TokenKind::Semi;
    // A line that begins with an operator was meant to go on with the statement.
    const bool goesOn = at->kind == TokenKind::Newline && isJoint(at[1].kind);
    if (depth == 0 && (at->kind == TokenKind::RBrace || (separates && !goesOn)))
      return at;
    if (at->kind == TokenKind::LBrace)
      ++depth;
    else if (at->kind == TokenKind::RBrace)
      --depth;
  }
}

} // namespace

Recovery recoverStatement(State &state, Iterator &first, Iterator where, const std::string &what) {
  if (!what.empty())
    reportExpected(state, where, what);
  if (state.stopped || where->kind == TokenKind::End || atDeclaration(state, where))
    return Recovery::Rethrow;
  // A statement's first token may itself look like a statement's end.
  first = skipStatement(state, where == state.begun ? where + 1 : where);
  return Recovery::Accept;
}

Recovery recoverDeclaration(State &state, Iterator &first, Iterator where,
                            const std::string &what) {
  if (!what.empty())
    reportExpected(state, where, what);
  if (where == state.begun && where->kind != TokenKind::End)
    ++where;
  while (where->kind != TokenKind::End && !atDeclaration(state, where))
    ++where;
  first = state.stopped ? state.last() : where;
  return Recovery::Accept;
}

Nesting::Nesting(State &state, Iterator where) : state(state) {
  if (state.depth == maxNesting)
    fail(state, where, rangeAt(state, where), "nesting deeper than " + std::to_string(maxNesting));
  ++state.depth;
}

} // namespace tile::dsl::grammar
