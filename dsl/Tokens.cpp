//===- Tokens.cpp - names and classes of tokens ---------------------------===//

#include "dsl/Lexer.h"

namespace tile::dsl {

std::string_view spelling(TokenKind kind) {
  switch (kind) {
  case TokenKind::End:
  case TokenKind::Newline:
  case TokenKind::Invalid:
  case TokenKind::Ident:
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::String:
    return {};
#define TILE_KEYWORD(name, text)                                                                   \
  case TokenKind::Kw##name:                                                                        \
    return text;
#define TILE_PUNCTUATION(name, text)                                                               \
  case TokenKind::name:                                                                            \
    return text;
#include "dsl/Tokens.def"
  }
  return {};
}

std::string_view spelling(Word word) {
  switch (word) {
  case Word::None:
    return {};
#define TILE_WORD(name, text)                                                                      \
  case Word::name:                                                                                 \
    return text;
#include "dsl/Tokens.def"
  }
  return {};
}

std::string describe(TokenKind kind) {
  switch (kind) {
  case TokenKind::End:
    return "the end of the file";
  case TokenKind::Newline:
    return "the end of the line";
  case TokenKind::Invalid:
    return "a broken token";
  case TokenKind::Ident:
    return "a name";
  case TokenKind::Int:
    return "an integer";
  case TokenKind::Float:
    return "a number";
  case TokenKind::String:
    return "a string";
  default:
    return "`" + std::string(spelling(kind)) + "`";
  }
}

bool isKeyword(TokenKind kind) {
  switch (kind) {
#define TILE_KEYWORD(name, text) case TokenKind::Kw##name:
#include "dsl/Tokens.def"
    return true;
  default:
    return false;
  }
}

bool beginsDeclaration(TokenKind kind) {
  return kind == TokenKind::KwImport || kind == TokenKind::KwKernel || kind == TokenKind::KwMap ||
         kind == TokenKind::KwFn || kind == TokenKind::KwGraph;
}

} // namespace tile::dsl
