//===- Lexer.cpp - tokens of the tile language ----------------------------===//

#include "dsl/Lexer.h"
#include "dsl/Unicode.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <unordered_map>

namespace tile::dsl {
namespace {

struct Reserved {
  TokenKind kind;
  Word word;
};

const std::unordered_map<std::string_view, Reserved> &reservedWords() {
  static const std::unordered_map<std::string_view, Reserved> table = {
#define TILE_KEYWORD(name, text) {text, {TokenKind::Kw##name, Word::None}},
#define TILE_WORD(name, text) {text, {TokenKind::Ident, Word::name}},
#include "dsl/Tokens.def"
  };
  return table;
}

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isHexDigit(char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
unsigned hexValue(char c) { return isDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10; }

/// What a reader meant by a character that text processors put in place of an ASCII one.
std::string_view asciiFor(char32_t c) {
  switch (c) {
  case 0x00d7: // ×
  case 0x00b7: // ·
  case 0x22c5: // ⋅
    return "*";
  case 0x2212: // −
  case 0x2013: // –
  case 0x2014: // —
    return "-";
  case 0x00f7:
    return "/";
  case 0x2264:
    return "<=";
  case 0x2265:
    return ">=";
  case 0x2260:
    return "!=";
  case 0x2192:
    return "->";
  case 0x2026:
    return "..";
  case 0x201c:
  case 0x201d:
    return "\"";
  case 0x00a0:
    return " ";
  default:
    return {};
  }
}

/// Turns the text into tokens and comments; knows nothing of statements.
class Scanner {
public:
  Scanner(const SourceFile &file, DiagnosticEngine &diags)
      : file(file), diags(diags), text(file.text()) {}

  TokenStream run();

private:
  char peek(size_t ahead = 0) const { return pos + ahead < text.size() ? text[pos + ahead] : '\0'; }
  bool atEnd() const { return pos >= text.size(); }

  /// Null once the engine takes no more: then scanning stops.
  Diagnostic *error(size_t begin, size_t end, std::string message);
  void push(TokenKind kind, size_t begin, Word word = Word::None);

  void skipSpace();
  void comment();
  void identifier();
  void number();
  void digits(bool (*isOf)(char));
  const char *decimal(bool &isFloat);
  void string();
  void escape();
  void hexEscape(size_t begin);
  bool punctuation();
  void strange();
  /// Reports the first byte in [begin, pos) that no source may have; true if there is one.
  bool badBytes(size_t begin);

  const SourceFile &file;
  DiagnosticEngine &diags;
  std::string_view text;
  size_t pos = 0;
  bool newline = false;   // a line break stands between the last token and pos
  bool lineBegins = true; // nothing but space stands between the line's begin and pos
  bool broken = false;    // the token being read has an error
  bool stopped = false;
  TokenStream out;
};

TokenStream Scanner::run() {
  if (text.size() >= std::numeric_limits<uint32_t>::max()) {
    diags.error(&file, {0, 0}, "the file is larger than 4 GiB");
    text = {};
  }
  if (text.substr(0, 3) == "\xef\xbb\xbf")
    pos = 3;
  out.tokens.reserve(text.size() / 4 + 16);
  while (skipSpace(), !atEnd() && !stopped) {
    const char c = peek();
    if (c == '/' && (peek(1) == '/' || peek(1) == '*'))
      comment();
    else if (isLetter(c))
      identifier();
    else if (isDigit(c))
      number();
    else if (c == '"')
      string();
    else if (!punctuation())
      strange();
    lineBegins = false;
  }
  pos = stopped ? pos : text.size();
  push(TokenKind::End, pos);
  return std::move(out);
}

Diagnostic *Scanner::error(size_t begin, size_t end, std::string message) {
  broken = true;
  stopped = stopped || diags.limitReached();
  const Range range{static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  Diagnostic &diagnostic = diags.error(&file, range, std::move(message));
  return &diagnostic;
}

void Scanner::push(TokenKind kind, size_t begin, Word word) {
  Token token;
  token.begin = static_cast<uint32_t>(begin);
  token.end = static_cast<uint32_t>(pos);
  token.kind = broken && kind != TokenKind::End ? TokenKind::Invalid : kind;
  token.word = word;
  token.newlineBefore = newline;
  newline = false;
  broken = false;
  // A run of broken characters is one hole in the text.
  const bool sameHole = token.kind == TokenKind::Invalid && !token.newlineBefore &&
                        !out.tokens.empty() && out.tokens.back().kind == TokenKind::Invalid;
  if (sameHole)
    out.tokens.back().end = token.end;
  else
    out.tokens.push_back(token);
}

void Scanner::skipSpace() {
  for (; !atEnd(); ++pos) {
    const char c = text[pos];
    if (c == '\n')
      newline = lineBegins = true;
    else if (c != ' ' && c != '\t' && c != '\r')
      return;
  }
}

bool Scanner::badBytes(size_t begin) {
  const std::string_view part = text.substr(begin, pos - begin);
  const size_t nul = part.find('\0');
  const size_t invalid = findInvalidUtf8(part);
  if (nul == invalid)
    return false; // neither
  if (nul < invalid)
    error(begin + nul, begin + nul + 1, "the source has a NUL byte");
  else
    error(begin + invalid, begin + invalid + 1, "the source is not valid UTF-8 here");
  return true;
}

void Scanner::comment() {
  const size_t begin = pos;
  const bool block = peek(1) == '*';
  const size_t lineEnd = std::min(text.find('\n', pos), text.size());
  if (block) {
    const size_t close = text.find("*/", pos + 2);
    pos = close == std::string_view::npos ? lineEnd : close + 2;
    error(begin, begin + 2, "there are no block comments")
        ->hints.push_back("begin each line of the comment with `//`");
    newline = newline || lineEnd < pos;
  } else {
    pos = lineEnd;
  }
  badBytes(begin);
  size_t end = pos;
  while (end > begin && (text[end - 1] == '\r' || text[end - 1] == ' ' || text[end - 1] == '\t'))
    --end;
  const std::string_view body = text.substr(begin, end - begin);
  const bool doc = body.substr(0, 3) == "///" && body.substr(0, 4) != "////";
  out.comments.push_back(
      {{static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}, lineBegins, doc});
  broken = false; // whatever is wrong in a comment, the tokens are whole
}

void Scanner::identifier() {
  const size_t begin = pos;
  while (isLetter(peek()) || isDigit(peek()))
    ++pos;
  const auto &table = reservedWords();
  const auto found = table.find(text.substr(begin, pos - begin));
  if (found == table.end())
    push(TokenKind::Ident, begin);
  else
    push(found->second.kind, begin, found->second.word);
}

/// Digits with single underscores between them.
void Scanner::digits(bool (*isOf)(char)) {
  while (isOf(peek()) || peek() == '_') {
    const bool between = peek() != '_' || (isOf(text[pos - 1]) && isOf(peek(1)));
    if (!between && !broken)
      error(pos, pos + 1, "`_` in a number stands between two digits");
    ++pos;
  }
}

/// Reads a decimal number; returns what is missing at `pos`, or null.
const char *Scanner::decimal(bool &isFloat) {
  digits(isDigit);
  if (peek() == '.' && peek(1) != '.') {
    isFloat = true;
    ++pos;
    if (!isDigit(peek()))
      return "expected a digit after the decimal point";
    digits(isDigit);
  }
  if (peek() == 'e' || peek() == 'E') {
    isFloat = true;
    ++pos;
    if (peek() == '+' || peek() == '-')
      ++pos;
    if (!isDigit(peek()))
      return "expected the exponent's digits";
    digits(isDigit);
  }
  return nullptr;
}

void Scanner::number() {
  const size_t begin = pos;
  bool isFloat = false;
  const char *missing = nullptr;
  const char base = peek(1) | 0x20;
  if (peek() == '0' && (base == 'x' || base == 'b')) {
    const bool hex = base == 'x';
    pos += 2;
    const auto isBinaryDigit = [](char c) { return c == '0' || c == '1'; };
    bool (*const isOf)(char) = hex ? isHexDigit : +isBinaryDigit;
    if (isOf(peek()))
      digits(isOf);
    else
      missing = hex ? "expected hexadecimal digits after `0x`" : "expected `0` or `1` after `0b`";
  } else {
    missing = decimal(isFloat);
  }
  if (missing) {
    Diagnostic *diagnostic = error(begin, pos, missing);
    const std::string_view written = text.substr(begin, pos - begin);
    if (written.back() == '.' && !isLetter(peek()))
      diagnostic->fixIts.push_back({{static_cast<uint32_t>(pos), static_cast<uint32_t>(pos)}, "0"});
  }
  const size_t end = pos;
  while (isLetter(peek()) || isDigit(peek()))
    ++pos;
  if (pos != end && !broken) {
    Diagnostic *diagnostic =
        error(end, pos,
              "`" + std::string(text.substr(end, std::min<size_t>(pos - end, 40))) +
                  "` cannot follow a number directly");
    if (const char suffix = text[end]; suffix == 'f' || suffix == 'u' || suffix == 'i')
      diagnostic->hints.push_back("a number takes its type from where it is used; to convert one, "
                                  "call the type: `f32(1.5)`");
  }
  push(isFloat ? TokenKind::Float : TokenKind::Int, begin);
}

void Scanner::string() {
  const size_t begin = pos++;
  while (true) {
    // A jump over what needs no look.
    const size_t stop = text.find_first_of("\"\\\n", pos);
    pos = std::min(stop, text.size());
    if (atEnd() || peek() == '\n') {
      size_t end = pos;
      while (end > begin + 1 && text[end - 1] == '\r')
        --end;
      error(begin, end, "expected `\"` to close this string");
      break;
    }
    if (peek() == '"') {
      ++pos;
      break;
    }
    escape();
  }
  badBytes(begin);
  push(TokenKind::String, begin);
}

void Scanner::escape() {
  const size_t begin = pos++;
  const char c = peek();
  if (c == 'n' || c == 't' || c == 'r' || c == '0' || c == '\\' || c == '"') {
    ++pos;
  } else if (c == 'x' || c == 'u') {
    hexEscape(begin);
  } else if (c != '\n' && !atEnd()) {
    pos += std::max(decodeUtf8(text.substr(pos, 4)).length, 1u);
    error(begin, pos, "unknown escape in a string")
        ->hints.push_back("the escapes are \\n \\t \\r \\0 \\\\ \\\" \\x7F \\u{1F600}");
  }
}

/// `\x7F` or `\u{1F600}`
void Scanner::hexEscape(size_t begin) {
  const bool wide = peek() == 'u';
  ++pos;
  if (wide && peek() != '{') {
    error(begin, pos, "expected `{` after `\\u`");
    return;
  }
  pos += wide;
  const size_t first = pos;
  char32_t value = 0;
  while (isHexDigit(peek()) && pos - first < (wide ? 6u : 2u))
    value = value * 16 + hexValue(text[pos++]);
  std::string encoded;
  if (value <= 0x10ffff)
    appendUtf8(encoded, value);
  const bool closed = !wide || peek() == '}';
  const bool counted = wide ? pos > first : pos == first + 2;
  if (!closed || !counted)
    error(begin, pos,
          wide ? "expected up to six hexadecimal digits and `}`"
               : "expected two hexadecimal digits after `\\x`");
  else if (decodeUtf8(encoded).length == 0 || (!wide && value > 0x7f))
    error(begin, pos,
          wide ? "the escape is no Unicode character"
               : "`\\x` names ASCII characters only; use `\\u{…}`");
  pos += wide && closed;
}

bool Scanner::punctuation() {
  struct Entry {
    std::string_view text;
    TokenKind kind;
  };
  static constexpr Entry entries[] = {
#define TILE_PUNCTUATION(name, text) {text, TokenKind::name},
#include "dsl/Tokens.def"
  };
  // The entries by first character; longer ones stand first in the table.
  static const auto byFirst = [] {
    std::array<std::vector<Entry>, 128> table;
    for (const Entry &entry : entries)
      table[static_cast<unsigned char>(entry.text.front())].push_back(entry);
    return table;
  }();
  const auto first = static_cast<unsigned char>(peek());
  if (first >= 128)
    return false;
  for (const Entry &entry : byFirst[first]) {
    if (text.compare(pos, entry.text.size(), entry.text) != 0)
      continue;
    const size_t begin = pos;
    pos += entry.text.size();
    push(entry.kind, begin);
    return true;
  }
  return false;
}

/// A character that begins no token.
void Scanner::strange() {
  const size_t begin = pos;
  const CodePoint point = decodeUtf8(text.substr(pos, 4));
  pos += std::max(point.length, 1u);
  if (point.length == 0) {
    // One error for a run of them: this is no text.
    while (static_cast<unsigned char>(peek()) >= 0x80 &&
           decodeUtf8(text.substr(pos, 4)).length == 0)
      ++pos;
    error(begin, begin + 1, "the source is not valid UTF-8 here");
  } else if (point.value == 0) {
    while (!atEnd() && peek() == '\0')
      ++pos;
    error(begin, begin + 1, "the source has a NUL byte");
  } else {
    char name[16];
    std::snprintf(name, sizeof name, "U+%04X", static_cast<unsigned>(point.value));
    const bool shown = point.value > 0x20 && point.value != 0x7f && displayWidth(point.value) > 0;
    const std::string_view ascii = asciiFor(point.value);
    std::string message = "unexpected character ";
    if (shown && point.value != 0xa0)
      message += "`" + std::string(text.substr(begin, point.length)) + "`";
    if (point.value >= 0x80 || !shown)
      message += (shown && point.value != 0xa0 ? " (" : "") + std::string(name) +
                 (shown && point.value != 0xa0 ? ")" : "");
    Diagnostic *diagnostic = error(begin, pos, message);
    if (!ascii.empty())
      diagnostic->fixIts.push_back(
          {{static_cast<uint32_t>(begin), static_cast<uint32_t>(pos)}, std::string(ascii)});
  }
  push(TokenKind::Invalid, begin);
}

} // namespace

TokenStream lex(const SourceFile &file, DiagnosticEngine &diags) {
  TokenStream stream = Scanner(file, diags).run();
  stream.tokens = markStatementEnds(stream.tokens);
  return stream;
}

std::string unescape(std::string_view literal) {
  std::string out;
  const std::string_view body = literal.substr(1, literal.size() - 2);
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      out += body[i];
      continue;
    }
    const char c = body[++i];
    switch (c) {
    case 'n':
      out += '\n';
      break;
    case 't':
      out += '\t';
      break;
    case 'r':
      out += '\r';
      break;
    case '0':
      out += '\0';
      break;
    case 'x':
    case 'u': {
      char32_t value = 0;
      const bool wide = c == 'u';
      i += wide ? 2 : 1;
      const size_t end = wide ? body.find('}', i) : i + 2;
      for (; i < end; ++i)
        value = value * 16 + hexValue(body[i]);
      i -= wide ? 0 : 1; // stay on the escape's last character
      appendUtf8(out, value);
      break;
    }
    default: // \\ and \"
      out += c;
    }
  }
  return out;
}

} // namespace tile::dsl
