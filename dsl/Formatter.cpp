//===- Formatter.cpp - sources in the one form ----------------------------===//
//
// Works on tokens: what is written stays, only the space between it changes.
// `Spacing` decides for each gap between two tokens of a line whether it has a
// space and how readily the line may be broken there, `LineWriter` breaks a line
// by that, `Formatter` finds the lines.
//
//===----------------------------------------------------------------------===//

#include "dsl/Formatter.h"
#include "dsl/GrammarActions.h"
#include "dsl/Lexer.h"
#include "dsl/Unicode.h"

#include <algorithm>

namespace tile::dsl {
namespace {

using Kind = TokenKind;

constexpr int noBreak = 1 << 30;
constexpr int mustBreak = -1;
constexpr unsigned tabStop = 8;

/// A token of a line, and the gap before it.
struct Piece {
  std::string_view text;
  unsigned columns = 0;
  bool space = false;
  /// Where a line is too long, the gaps of the lowest level are broken first.
  int level = noBreak;
  bool opens = false, closes = false; // a bracket
  unsigned depth = 0;                 // brackets around the gap, one more after a head's `->`
  std::vector<const Comment *> leading;
  const Comment *trailing = nullptr;
};

bool isAssignment(Kind kind) {
  return kind == Kind::Assign || (kind >= Kind::PlusAssign && kind <= Kind::XorAssign);
}

//===-- Gaps --------------------------------------------------------------===//

/// Sees the tokens of a line in order.
class Spacing {
public:
  /// Sets the gap before `token`; `next` follows it.
  void place(const Token &token, const Token &next, Piece &piece);

private:
  bool isPrefix(const Token &token) const {
    return (token.kind == Kind::Minus || token.kind == Kind::Not || token.kind == Kind::Tilde) &&
           !afterOperand;
  }
  /// `2*i`: factors written without spaces.
  bool isTight(const Token &token, const Token &next) const {
    const bool factor =
        token.kind == Kind::Star || token.kind == Kind::Slash || token.kind == Kind::Percent;
    return factor && previous.end == token.begin && token.end == next.begin;
  }
  bool space(const Token &token, bool tight) const;
  int level(const Token &token, const Token &next) const;
  void advance(const Token &token, bool tight);

  Token previous{0, 0, Kind::Newline};
  bool afterOperand = false;   // what stands before can be an operator's left side
  bool afterPrefix = false;    // … is a prefix operator
  bool afterTight = false;     // … is a factor's operator without spaces
  bool afterFold = false;      // … is the `max` of `max=`
  bool afterReduce = false;    // … is the `reduce` or `unordered` before an operator
  bool afterReduction = false; // … is the operator of a `reduce`
  bool inHead = false;         // between a declaration's keyword and its body
  bool isMap = false;          // … of a map or fn
  bool inOutputs = false;      // … after its `->`
  bool inGenerics = false;
  bool angle = false; // `previous` or the token at hand is a generic list's `<` or `>`
  bool afterAngle = false;
  unsigned words = 0; // tokens since the declaration's keyword
  unsigned depth = 0;
};

bool Spacing::space(const Token &token, bool tight) const {
  const Kind kind = token.kind;
  if (previous.kind == Kind::Newline || kind == Kind::Comma || kind == Kind::Semi ||
      kind == Kind::RParen || kind == Kind::RBracket || previous.kind == Kind::LParen ||
      previous.kind == Kind::LBracket || afterPrefix || tight || afterTight)
    return false;
  if (kind == Kind::Dot)
    return previous.kind == Kind::Int || previous.kind == Kind::Float;
  if (previous.kind == Kind::Dot || previous.kind == Kind::DotDot || kind == Kind::DotDot)
    return false;
  if (angle)
    return false;
  if (afterAngle)
    return previous.kind == Kind::Greater && kind != Kind::LParen;
  if (kind == Kind::Colon)
    return previous.kind == Kind::Comma;
  if (kind == Kind::Assign && afterFold)
    return false;
  if (kind == Kind::LParen || kind == Kind::LBracket)
    return !afterOperand;
  return true;
}

/// How late the gap before the token is broken: breaks outside brackets first, there at the
/// operators that bind least. Only where a line break ends no statement.
int Spacing::level(const Token &token, const Token &next) const {
  constexpr int perDepth = 16, afterOpener = 14, last = 1 << 20;
  const int base = static_cast<int>(depth) * perDepth;
  const bool clause = token.kind == Kind::Arrow || token.kind == Kind::KwRequires ||
                      (token.word == Word::Dim && next.kind == Kind::Ident);
  if (inHead && depth == 0 && clause)
    return token.newlineBefore ? mustBreak : isMap ? base + 12 : base;
  if (token.kind == Kind::RBracket || token.kind == Kind::RParen || angle)
    return noBreak;
  if (previous.kind == Kind::Comma)
    return base + 1;
  if (previous.kind == Kind::LParen || previous.kind == Kind::LBracket)
    return base + afterOpener;
  if (isAssignment(previous.kind))
    return isMap && depth == 0 ? base : last;
  const unsigned precedence = grammar::precedence(previous.kind);
  if (precedence == 0 || afterPrefix || afterTight || afterReduction || afterAngle)
    return noBreak;
  return base + 1 + static_cast<int>(precedence);
}

void Spacing::place(const Token &token, const Token &next, Piece &piece) {
  const bool opensGenerics = token.kind == Kind::Less && inHead && words == 2;
  const bool closesGenerics = token.kind == Kind::Greater && inGenerics && depth == 1;
  angle = opensGenerics || closesGenerics;
  const bool closes = token.kind == Kind::RParen || token.kind == Kind::RBracket || closesGenerics;
  if (closes && depth > 0)
    --depth;
  const bool tight = isTight(token, next);
  piece.space = space(token, tight);
  piece.level = level(token, next);
  piece.depth = depth + (inOutputs && depth > 0 ? 1 : 0);
  advance(token, tight);
  piece.closes = closes;
  piece.opens = token.kind == Kind::LParen || token.kind == Kind::LBracket || opensGenerics;
  depth += piece.opens;
  inGenerics = (inGenerics || opensGenerics) && !closesGenerics;
  afterAngle = angle;
}

void Spacing::advance(const Token &token, bool tight) {
  const bool prefix = isPrefix(token);
  const bool word = token.word != Word::None && afterOperand;
  afterReduction = afterReduce && token.kind != Kind::Ident;
  afterReduce = word && (token.word == Word::Reduce || token.word == Word::Unordered);
  afterFold = word && !inHead && (token.word == Word::Max || token.word == Word::Min);
  afterPrefix = prefix;
  afterTight = tight;
  switch (token.kind) {
  case Kind::Ident:
    // `step` stands between operands; what follows is no call of it.
    afterOperand = !(word && token.word == Word::Step);
    break;
  case Kind::Int:
  case Kind::Float:
  case Kind::String:
  case Kind::KwTrue:
  case Kind::KwFalse:
  case Kind::RParen:
  case Kind::RBracket:
    afterOperand = true;
    break;
  default:
    afterOperand = false;
  }
  inOutputs = inHead && (inOutputs || token.kind == Kind::Arrow);
  if (token.kind == Kind::LBrace || (token.kind == Kind::Assign && isMap && depth == 0))
    inHead = false;
  if (beginsDeclaration(token.kind) && previous.kind == Kind::Newline) {
    inHead = true;
    isMap = token.kind == Kind::KwMap || token.kind == Kind::KwFn;
    words = 0;
  }
  ++words;
  previous = token;
}

//===-- Lines -------------------------------------------------------------===//

/// Writes one line of the source, broken into several where it is too long.
class LineWriter {
public:
  LineWriter(const SourceFile &file, const FormatOptions &options, std::string &out)
      : file(file), options(options), out(out) {}

  void write(const std::vector<Piece> &line, unsigned blocks) {
    pieces = &line;
    base = blocks * options.indent;
    startLine(base);
    layout(0, line.size());
    out += '\n';
  }
  void comment(const Comment &comment, unsigned blocks) {
    startLine(blocks * options.indent);
    out += textOf(comment);
    out += '\n';
  }
  std::string_view textOf(const Comment &comment) const {
    return file.text().substr(comment.range.begin, comment.range.end - comment.range.begin);
  }

private:
  void startLine(unsigned indent) {
    out.append(indent, ' ');
    column = indent;
  }
  unsigned width(size_t first, size_t last) const {
    unsigned columns = 0;
    for (size_t i = first; i < last && columns <= options.width; ++i)
      columns += (*pieces)[i].columns + ((*pieces)[i].space && i > first);
    return columns;
  }
  void layout(size_t first, size_t last);
  void breakBefore(const Piece &piece);
  void put(const Piece &piece, bool spaced);
  void space() {
    out += ' ';
    ++column;
  }
  void trailing(const Comment &comment);

  const SourceFile &file;
  const FormatOptions &options;
  std::string &out;
  const std::vector<Piece> *pieces = nullptr;
  unsigned base = 0, column = 0;
};

/// Writes the pieces from where the line stands. What does not fit is broken at its lowest level,
/// and there only before what does not fit.
void LineWriter::layout(size_t first, size_t last) {
  int lowest = noBreak;
  for (size_t i = first + 1; i < last; ++i)
    lowest = std::min(lowest, (*pieces)[i].level);
  const bool fits = lowest != mustBreak && column + width(first, last) <= options.width;
  if (fits || lowest == noBreak) {
    for (size_t i = first; i < last; ++i)
      put((*pieces)[i], i > first && (*pieces)[i].space);
    return;
  }
  for (size_t begin = first; begin < last;) {
    size_t end = begin + 1;
    while (end < last && (*pieces)[end].level != lowest)
      ++end;
    const Piece &piece = (*pieces)[begin];
    const bool joins =
        lowest != mustBreak && column + piece.space + width(begin, end) <= options.width;
    if (begin > first && !joins)
      breakBefore(piece);
    else if (begin > first && piece.space)
      space();
    layout(begin, end);
    begin = end;
  }
}

void LineWriter::breakBefore(const Piece &piece) {
  const unsigned indent =
      base + 2 * options.indent + (piece.depth > 1 ? (piece.depth - 1) * options.indent : 0);
  out += '\n';
  for (const Comment *comment : piece.leading) {
    startLine(indent);
    out += textOf(*comment);
    out += '\n';
  }
  startLine(indent);
}

void LineWriter::put(const Piece &piece, bool spaced) {
  if (spaced)
    space();
  out += piece.text;
  column += piece.columns;
  if (piece.trailing)
    trailing(*piece.trailing);
}

/// A comment that is set apart from the code before it keeps its column if it can.
void LineWriter::trailing(const Comment &comment) {
  const std::string_view text = textOf(comment);
  const SourceFile::Position at = file.position(comment.range.begin);
  const std::string_view before = file.line(at.line).substr(0, at.column - 1);
  unsigned wanted = 0;
  for (size_t i = 0; i < before.size();) {
    const CodePoint point = decodeUtf8(before.substr(i, 4));
    wanted = point.value == '\t' ? wanted / tabStop * tabStop + tabStop
                                 : wanted + displayColumns(before.substr(i, point.length));
    i += point.length;
  }
  const std::string_view gap = before.substr(before.find_last_not_of(" \t") + 1);
  const bool keeps = (gap.size() > 1 || gap == "\t") && wanted > column &&
                     wanted + displayColumns(text) <= options.width;
  out.append(keeps ? wanted - column : 1, ' ');
  out += text;
}

//===-- Files -------------------------------------------------------------===//

class Formatter {
public:
  Formatter(const SourceFile &file, const TokenStream &stream, const FormatOptions &options)
      : text(file.text()), stream(stream), options(options), writer(file, options, out) {}

  std::string run();

private:
  /// A pair of braces that is open.
  struct Braces {
    bool isSchedule, isInline;
  };

  const Token &at(size_t i) const { return stream.tokens[i]; }
  Kind nextKind(size_t i) const;
  unsigned blocks() const { return static_cast<unsigned>(braces.size()); }
  unsigned columns(size_t i) const {
    return displayColumns(text.substr(at(i).begin, at(i).end - at(i).begin));
  }

  void token(size_t i);
  void separator(size_t i);
  void comments(uint32_t end);
  void add(size_t i);
  void openBrace(size_t i);
  void closeBrace(size_t i);
  bool staysInline(size_t open) const;
  void endLine() { ended = !line.empty(); }
  void spreadLists();
  void flush();
  bool blankBefore(uint32_t begin) const;

  std::string_view text;
  const TokenStream &stream;
  const FormatOptions &options;
  std::string out;
  LineWriter writer;

  // The line that is being gathered.
  std::vector<Piece> line;
  Spacing spacing;
  std::vector<const Comment *> leading; // comments before its next piece
  unsigned lineBlocks = 0;
  bool blank = false; // a blank line stands before it
  bool ended = false; // nothing but a comment behind it can join it

  std::vector<Braces> braces;
  bool opened = true;          // the line written last opens a block, or there is none
  bool closedSchedule = false; // the last `}` closed a schedule
  uint32_t taken = 0;          // end of what was last taken from the source
  size_t comment = 0;          // the first comment that is not taken
};

std::string Formatter::run() {
  const size_t end = stream.tokens.size() - 1;
  for (size_t i = 0; i < end; ++i) {
    if (at(i).kind == Kind::Newline || at(i).kind == Kind::Semi)
      separator(i);
    else
      token(i);
  }
  endLine();
  comments(static_cast<uint32_t>(text.size()));
  flush();
  return std::move(out);
}

/// Kind of the next token that is no separator.
Kind Formatter::nextKind(size_t i) const {
  do
    ++i;
  while (at(i).kind == Kind::Newline || at(i).kind == Kind::Semi);
  return at(i).kind;
}

void Formatter::separator(size_t i) {
  taken = std::max(taken, at(i).end);
  if (braces.empty() || !braces.back().isInline) {
    endLine();
    return;
  }
  const bool between =
      nextKind(i) != Kind::RBrace && line.back().text != ";" && line.back().text != "{";
  if (between)
    add(i);
}

void Formatter::token(size_t i) {
  const Kind kind = at(i).kind;
  if (kind == Kind::RBrace && !braces.empty()) {
    closeBrace(i);
    return;
  }
  comments(at(i).begin);
  const Kind next = nextKind(i);
  const bool trailingComma =
      kind == Kind::Comma &&
      (next == Kind::RParen || next == Kind::RBracket || next == Kind::Greater);
  if (kind == Kind::KwSchedule && closedSchedule && at(i).newlineBefore)
    endLine();
  if (!trailingComma)
    add(i);
  if (kind == Kind::LBrace)
    openBrace(i);
  taken = at(i).end;
}

/// Takes the comments before `end`.
void Formatter::comments(uint32_t end) {
  for (; comment < stream.comments.size(); ++comment) {
    const Comment &current = stream.comments[comment];
    if (current.range.begin >= end)
      return;
    if (!line.empty() && !current.ownLine && !line.back().trailing && leading.empty()) {
      line.back().trailing = &current;
    } else if (!line.empty() && !ended && line.back().text != "}") {
      leading.push_back(&current);
    } else {
      const bool blankLine = blankBefore(current.range.begin);
      flush();
      if (blankLine && !opened)
        out += '\n';
      opened = false;
      writer.comment(current, blocks());
    }
    // `else` and `schedule` begin a line of their own then.
    if (!line.empty() && line.back().text == "}")
      endLine();
    taken = current.range.end;
  }
}

/// Adds a token to the line.
void Formatter::add(size_t i) {
  const Token &token = at(i);
  if (ended)
    flush();
  if (line.empty()) {
    spacing = {};
    const bool goesOn =
        token.kind == Kind::RBrace || token.kind == Kind::KwElse || token.kind == Kind::KwSchedule;
    blank = blankBefore(token.begin) && !goesOn;
    lineBlocks = blocks();
  }
  Piece piece;
  piece.text = text.substr(token.begin, token.end - token.begin);
  piece.columns = columns(i);
  spacing.place(token, at(i + 1), piece);
  if (!leading.empty() || (!line.empty() && line.back().trailing))
    piece.level = mustBreak;
  piece.leading = std::move(leading);
  leading.clear();
  line.push_back(std::move(piece));
}

void Formatter::openBrace(size_t i) {
  const bool isSchedule =
      i > 0 && (at(i - 1).kind == Kind::KwSchedule ||
                (i > 1 && at(i - 1).kind == Kind::Ident && at(i - 2).kind == Kind::KwSchedule));
  const bool isInline = isSchedule && staysInline(i);
  braces.push_back({isSchedule, isInline});
  if (!isInline)
    endLine();
}

void Formatter::closeBrace(size_t i) {
  const Braces closed = braces.back();
  if (!closed.isInline)
    endLine();
  comments(at(i).begin);
  braces.pop_back();
  // Braces around nothing stay together.
  const bool nothing = !line.empty() && line.back().text == "{" && !line.back().trailing;
  if (nothing)
    ended = false;
  add(i);
  if (nothing)
    line.back().space = false;
  closedSchedule = closed.isSchedule;
  taken = at(i).end;
}

/// A schedule written in one line stays so if it fits.
bool Formatter::staysInline(size_t open) const {
  Spacing ahead = spacing;
  unsigned width = lineBlocks * options.indent;
  for (const Piece &piece : line)
    width += piece.columns + piece.space;
  for (size_t i = open + 1; width <= options.width; ++i) {
    const Token &token = at(i);
    if (token.newlineBefore || token.kind == Kind::End || token.kind == Kind::LBrace)
      return false;
    Piece piece;
    ahead.place(token, at(i + 1), piece);
    width += columns(i) + piece.space;
    if (token.kind == Kind::RBrace)
      return width <= options.width;
  }
  return false;
}

/// A list with comments between its elements has each element on a line of its own.
void Formatter::spreadLists() {
  struct List {
    size_t open;
    bool commented = false;
    std::vector<size_t> elements = {};
  };
  std::vector<List> lists;
  for (size_t i = 0; i < line.size(); ++i) {
    Piece &piece = line[i];
    if (!lists.empty()) {
      List &list = lists.back();
      list.commented = list.commented || line[i - 1].trailing || !piece.leading.empty();
      if (i == list.open + 1 || line[i - 1].text == ",")
        list.elements.push_back(i);
      if (piece.closes) {
        for (const size_t element : list.elements)
          if (list.commented && element != i)
            line[element].level = mustBreak;
        lists.pop_back();
      }
    }
    if (piece.opens)
      lists.push_back({i});
  }
}

void Formatter::flush() {
  if (line.empty())
    return;
  spreadLists();
  if (blank && !opened)
    out += '\n';
  opened = line.back().text == "{";
  writer.write(line, lineBlocks);
  line.clear();
  ended = false;
}

bool Formatter::blankBefore(uint32_t begin) const {
  const std::string_view gap = text.substr(taken, begin - taken);
  return std::count(gap.begin(), gap.end(), '\n') > 1;
}

} // namespace

std::string format(const SourceFile &file, const FormatOptions &options) {
  DiagnosticEngine ignored(1);
  const TokenStream stream = lex(file, ignored);
  if (ignored.errorCount() > 0)
    return std::string(file.text());
  return Formatter(file, stream, options).run();
}

} // namespace tile::dsl
