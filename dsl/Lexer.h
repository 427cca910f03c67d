//===- Lexer.h - tokens of the tile language ------------------------------===//
//
// The lexer also decides where statements end: it puts a Newline token wherever a line break ends
// one, so that the grammar needs to know nothing of lines.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DSL_LEXER_H
#define TILE_DSL_LEXER_H

#include "dsl/Source.h"

namespace tile::dsl {

/// Reserved words.
#define TILE_KEYWORDS(X)                                                                           \
  X(Import, "import")                                                                              \
  X(Kernel, "kernel") X(Map, "map") X(Fn, "fn") X(Graph, "graph") X(Schedule, "schedule")          \
      X(Requires, "requires") X(Inout, "inout") X(Const, "const") X(Parallel, "parallel")          \
          X(Grid, "grid") X(For, "for") X(In, "in") X(If, "if") X(Else, "else") X(While, "while")  \
              X(Let, "let") X(Var, "var") X(Return, "return") X(True, "true") X(False, "false")

/// Words that mean something in one place of the grammar and are ordinary names elsewhere.
#define TILE_WORDS(X)                                                                              \
  X(Tiles, "tiles")                                                                                \
  X(Each, "each") X(Step, "step") X(Reassociable, "reassociable") X(Merge, "merge")                \
      X(Sequential, "sequential") X(Dim, "dim") X(Axis, "axis") X(Reduce, "reduce")                \
          X(Unordered, "unordered") X(Max, "max") X(Min, "min")

/// Longest first where one begins with another.
#define TILE_PUNCTUATION(X)                                                                        \
  X(Arrow, "->")                                                                                   \
  X(DotDot, "..") X(ShiftLeft, "<<") X(ShiftRight, ">>") X(LessEqual, "<=") X(GreaterEqual, ">=")  \
      X(EqualEqual, "==") X(NotEqual, "!=") X(AndAnd, "&&") X(OrOr, "||") X(PlusAssign, "+=")      \
          X(MinusAssign, "-=") X(StarAssign, "*=") X(SlashAssign, "/=") X(AndAssign, "&=")         \
              X(OrAssign, "|=") X(XorAssign, "^=") X(LParen, "(") X(RParen, ")") X(LBracket, "[")  \
                  X(RBracket, "]") X(LBrace, "{") X(RBrace, "}") X(Comma, ",") X(Semi, ";")        \
                      X(Colon, ":") X(Dot, ".") X(Assign, "=") X(Plus, "+") X(Minus, "-")          \
                          X(Star, "*") X(Slash, "/") X(Percent, "%") X(Less, "<") X(Greater, ">")  \
                              X(And, "&") X(Or, "|") X(Xor, "^") X(Tilde, "~") X(Not, "!")

enum class TokenKind : uint8_t {
  End,     // of the file; the last token
  Newline, // a line break that ends a statement; empty, stands where the line's last token ends
  Invalid, // already reported
  Ident,
  Int,
  Float,
  String, // with its quotes
#define TILE_ENUMERATOR(name, text) Kw##name,
  TILE_KEYWORDS(TILE_ENUMERATOR)
#undef TILE_ENUMERATOR
#define TILE_ENUMERATOR(name, text) name,
      TILE_PUNCTUATION(TILE_ENUMERATOR)
#undef TILE_ENUMERATOR
};

enum class Word : uint8_t {
  None,
#define TILE_ENUMERATOR(name, text) name,
  TILE_WORDS(TILE_ENUMERATOR)
#undef TILE_ENUMERATOR
};

struct Token {
  uint32_t begin = 0, end = 0;
  TokenKind kind = TokenKind::End;
  Word word = Word::None;     // of an Ident
  bool newlineBefore = false; // a line break stands between it and the token before
};

struct Comment {
  Range range;  // without the line break
  bool ownLine; // nothing but space stands before it
  bool doc;     // `///`
};

/// Ends with exactly one End token. Comments stand in order of place.
struct TokenStream {
  std::vector<Token> tokens;
  std::vector<Comment> comments;
};

TokenStream lex(const SourceFile &file, DiagnosticEngine &diags);

/// Puts the Newline tokens into what the scanner read. A line break ends a statement except inside
/// round and square brackets, in the head of a declaration, after a binary operator, `,`, `=`, `->`
/// or `{`, and before `{`, `else` or `schedule`.
std::vector<Token> markStatementEnds(const std::vector<Token> &tokens);

/// "`for`" or "a name": how messages speak of a token of the kind.
std::string describe(TokenKind kind);
std::string_view spelling(TokenKind kind);
std::string_view spelling(Word word);

bool isKeyword(TokenKind kind);
/// The keywords that can only begin a declaration.
bool beginsDeclaration(TokenKind kind);

/// Contents of a string literal that the lexer accepted.
std::string unescape(std::string_view literal);

} // namespace tile::dsl

#endif // TILE_DSL_LEXER_H
