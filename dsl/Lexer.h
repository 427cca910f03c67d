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

enum class TokenKind : uint8_t {
  End,     // of the file; the last token
  Newline, // a line break that ends a statement; empty, stands where the line's last token ends
  Invalid, // already reported
  Ident,
  Int,
  Float,
  String, // with its quotes
#define TILE_KEYWORD(name, text) Kw##name,
#define TILE_PUNCTUATION(name, text) name,
#include "dsl/Tokens.def"
};

/// The words that are names elsewhere.
enum class Word : uint8_t {
  None,
#define TILE_WORD(name, text) name,
#include "dsl/Tokens.def"
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
/// or `{`, before `{`, and
/// between `}` and `else` or `schedule`.
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
