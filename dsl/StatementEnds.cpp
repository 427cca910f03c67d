//===- StatementEnds.cpp - which line breaks end a statement --------------===//

#include "dsl/Lexer.h"

namespace tile::dsl {
namespace {

/// Keywords that begin a statement or declaration and stand nowhere else at a line's begin: one
/// there shows that whatever was open before it was forgotten.
bool beginsLine(const Token &token) {
  switch (token.kind) {
  case TokenKind::KwLet:
  case TokenKind::KwVar:
  case TokenKind::KwParallel:
  case TokenKind::KwGrid:
  case TokenKind::KwFor:
  case TokenKind::KwWhile:
  case TokenKind::KwReturn:
    return token.newlineBefore;
  default:
    return beginsDeclaration(token.kind) && token.newlineBefore;
  }
}

/// A line that ends with one of these goes on in the next.
bool continuesLine(TokenKind kind) {
  switch (kind) {
  case TokenKind::Arrow:
  case TokenKind::DotDot:
  case TokenKind::ShiftLeft:
  case TokenKind::ShiftRight:
  case TokenKind::LessEqual:
  case TokenKind::GreaterEqual:
  case TokenKind::EqualEqual:
  case TokenKind::NotEqual:
  case TokenKind::AndAnd:
  case TokenKind::OrOr:
  case TokenKind::PlusAssign:
  case TokenKind::MinusAssign:
  case TokenKind::StarAssign:
  case TokenKind::SlashAssign:
  case TokenKind::AndAssign:
  case TokenKind::OrAssign:
  case TokenKind::XorAssign:
  case TokenKind::LBrace:
  case TokenKind::Comma:
  case TokenKind::Semi:
  case TokenKind::Assign:
  case TokenKind::Plus:
  case TokenKind::Minus:
  case TokenKind::Star:
  case TokenKind::Slash:
  case TokenKind::Percent:
  case TokenKind::Less:
  case TokenKind::Greater:
  case TokenKind::And:
  case TokenKind::Or:
  case TokenKind::Xor:
    return true;
  default:
    return false;
  }
}

/// Tokens that go on with the line before: they begin no statement.
bool continuesPreviousLine(TokenKind kind, TokenKind previous) {
  const bool follows = kind == TokenKind::KwElse || kind == TokenKind::KwSchedule;
  return kind == TokenKind::LBrace || (follows && previous == TokenKind::RBrace);
}

/// For each token whether it is a round or square bracket that has a partner. Line breaks inside
/// brackets end nothing, but one forgotten bracket must not swallow the statements that follow: a
/// brace, a `;` or a statement's keyword at a line's begin ends what is open.
std::vector<bool> matchedBrackets(const std::vector<Token> &tokens) {
  std::vector<bool> matched(tokens.size());
  std::vector<uint32_t> open;
  size_t round = 0, square = 0;
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    const Token &token = tokens[i];
    const bool isRound = token.kind == TokenKind::RParen;
    if (token.kind == TokenKind::LParen || token.kind == TokenKind::LBracket) {
      open.push_back(i);
      ++(token.kind == TokenKind::LParen ? round : square);
    } else if (isRound || token.kind == TokenKind::RBracket) {
      if ((isRound ? round : square) == 0)
        continue;
      const TokenKind opener = isRound ? TokenKind::LParen : TokenKind::LBracket;
      while (tokens[open.back()].kind != opener) {
        --(isRound ? square : round);
        open.pop_back();
      }
      matched[i] = matched[open.back()] = true;
      --(isRound ? round : square);
      open.pop_back();
    } else if (token.kind == TokenKind::LBrace || token.kind == TokenKind::RBrace ||
               token.kind == TokenKind::Semi || beginsLine(token)) {
      open.clear();
      round = square = 0;
    }
  }
  return matched;
}

/// Follows the head of a declaration: from its keyword to `{`, or to the `=` before the body of a
/// map or fn. Line breaks end nothing there.
class HeadTracker {
public:
  bool inside() const { return head; }

  void see(const Token &token, const Token *previous, unsigned depth) {
    const bool first = !previous || token.newlineBefore || previous->kind == TokenKind::RBrace ||
                       previous->kind == TokenKind::Semi;
    if (first && beginsLine(token))
      head = false;
    if (first && beginsDeclaration(token.kind) && token.kind != TokenKind::KwImport) {
      head = true;
      generics = false;
      endsAtAssign = token.kind == TokenKind::KwMap || token.kind == TokenKind::KwFn;
      sinceKeyword = 0;
    }
    if (!head)
      return;
    if (token.kind == TokenKind::Less && sinceKeyword == 2)
      generics = true;
    else if (token.kind == TokenKind::Greater)
      generics = false;
    else if (token.kind == TokenKind::LBrace || token.kind == TokenKind::RBrace ||
             (token.kind == TokenKind::Assign && endsAtAssign && depth == 0 && !generics))
      head = false;
    ++sinceKeyword;
  }

private:
  bool head = false, generics = false, endsAtAssign = false;
  unsigned sinceKeyword = 0;
};

} // namespace

std::vector<Token> markStatementEnds(const std::vector<Token> &tokens) {
  const std::vector<bool> matched = matchedBrackets(tokens);
  std::vector<Token> out;
  out.reserve(tokens.size() + tokens.size() / 6);
  HeadTracker head;
  unsigned depth = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token &token = tokens[i];
    const Token *previous = i > 0 ? &tokens[i - 1] : nullptr;
    const bool wasInHead = head.inside();
    head.see(token, previous, depth);
    const bool opens = token.kind == TokenKind::LParen || token.kind == TokenKind::LBracket;
    const bool closes = token.kind == TokenKind::RParen || token.kind == TokenKind::RBracket;
    const bool suppressed = depth > 0 || (wasInHead && !beginsLine(token)) || !previous ||
                            continuesLine(previous->kind) ||
                            continuesPreviousLine(token.kind, previous->kind);
    if (token.newlineBefore && !suppressed) {
      Token newline;
      newline.kind = TokenKind::Newline;
      newline.begin = newline.end = previous->end;
      out.push_back(newline);
    }
    if (matched[i])
      depth += opens ? 1 : closes ? -1 : 0;
    out.push_back(token);
  }
  return out;
}

} // namespace tile::dsl
