//===- GrammarActions.h - what the rules build ----------------------------===//
#ifndef TILE_DSL_GRAMMARACTIONS_H
#define TILE_DSL_GRAMMARACTIONS_H

#include "dsl/GrammarState.h"

namespace tile::dsl::grammar {

/// What stands between brackets, and where they stand.
struct Items {
  std::vector<ExprPtr> items;
  Range range;
};
struct Arguments {
  std::vector<Arg> args;
  Range range;
};

/// Operands and operators of one expression as they are read. Reduces what binds tighter first, so
/// chains need no recursion, however long.
class OperatorChain {
public:
  void prefix(Iterator token) { pending.push_back({nullptr, token, prefixPrecedence}); }
  void operand(State &state, ExprPtr value);
  void binary(State &state, Iterator token);
  ExprPtr finish(State &state);

private:
  static constexpr unsigned prefixPrecedence = 100;
  struct Pending {
    ExprPtr left; // null: a prefix operator
    Iterator token;
    unsigned precedence;
    bool chained = false; // the left side is a comparison, and so is this
  };
  void reduce(State &state);

  std::vector<Pending> pending;
  ExprPtr right;
};

/// Higher binds tighter; 0 if the token is no binary operator.
unsigned precedence(TokenKind kind);
constexpr unsigned comparisonPrecedence = 3;

// Each takes what was read before its last token, which `at` stands behind.
ExprPtr makeLeaf(State &state, const Token &token);
ExprPtr makeColon(const Token &token);
ExprPtr makeParenthesized(State &state, Items items, Iterator at);
ExprPtr makeList(State &state, Items items, Iterator at);
ExprPtr makeCall(State &state, ExprPtr callee, Arguments arguments, Iterator at);
ExprPtr makeIndex(State &state, ExprPtr base, Items items, Iterator at);
ExprPtr makeMember(State &state, ExprPtr base, const Token &name, Iterator at);

/// `=`, `+=`, `max=` …
struct Assignment {
  Stmt::AssignOp op = Stmt::AssignOp::Set;
  Range range;
};
/// The assignment operator at `at`, and how many tokens it has; none: 0.
unsigned readAssignment(Iterator at, Assignment &assignment);

/// Fails unless the statement's target can be assigned to.
void checkTarget(State &state, const Stmt &statement, Iterator at);
/// Makes an expression a statement of its own; fails unless it is a call.
void makeExpressionStatement(State &state, Stmt &statement, Iterator at);

} // namespace tile::dsl::grammar

#endif // TILE_DSL_GRAMMARACTIONS_H
