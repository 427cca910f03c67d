//===- GrammarActions.cpp - what the rules build --------------------------===//

#include "dsl/GrammarActions.h"

#include <algorithm>

namespace tile::dsl::grammar {
namespace {

Range rangeOf(const Token &token) { return {token.begin, token.end}; }

ExprPtr makeExpr(Expr::Kind kind, Range range) {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->range = range;
  return expr;
}

/// Sets the height from the children's; fails at `at` if it is too much.
void measure(State &state, Expr &expr, Iterator at) {
  unsigned height = 0;
  for (const ExprPtr &child : expr.children)
    height = std::max<unsigned>(height, child->height);
  for (const Arg &arg : expr.args)
    height = std::max<unsigned>(height, arg.value->height);
  if (height >= maxExprHeight)
    fail(state, at, expr.opRange,
         "this expression chains more than " + std::to_string(maxExprHeight - 1) + " operations",
         "name a part of it with `let`");
  expr.height = static_cast<uint16_t>(height + 1);
}

BinaryOp binaryOp(TokenKind kind) {
  switch (kind) {
  case TokenKind::Plus:
    return BinaryOp::Add;
  case TokenKind::Minus:
    return BinaryOp::Sub;
  case TokenKind::Star:
    return BinaryOp::Mul;
  case TokenKind::Slash:
    return BinaryOp::Div;
  case TokenKind::Percent:
    return BinaryOp::Rem;
  case TokenKind::ShiftLeft:
    return BinaryOp::Shl;
  case TokenKind::ShiftRight:
    return BinaryOp::Shr;
  case TokenKind::And:
    return BinaryOp::BitAnd;
  case TokenKind::Or:
    return BinaryOp::BitOr;
  case TokenKind::Xor:
    return BinaryOp::BitXor;
  case TokenKind::EqualEqual:
    return BinaryOp::Eq;
  case TokenKind::NotEqual:
    return BinaryOp::Ne;
  case TokenKind::Less:
    return BinaryOp::Lt;
  case TokenKind::LessEqual:
    return BinaryOp::Le;
  case TokenKind::Greater:
    return BinaryOp::Gt;
  case TokenKind::GreaterEqual:
    return BinaryOp::Ge;
  case TokenKind::AndAnd:
    return BinaryOp::And;
  default:
    return BinaryOp::Or;
  }
}

} // namespace

unsigned precedence(TokenKind kind) {
  switch (kind) {
  case TokenKind::OrOr:
    return 1;
  case TokenKind::AndAnd:
    return 2;
  case TokenKind::EqualEqual:
  case TokenKind::NotEqual:
  case TokenKind::Less:
  case TokenKind::LessEqual:
  case TokenKind::Greater:
  case TokenKind::GreaterEqual:
    return comparisonPrecedence;
  case TokenKind::Or:
    return 4;
  case TokenKind::Xor:
    return 5;
  case TokenKind::And:
    return 6;
  case TokenKind::ShiftLeft:
  case TokenKind::ShiftRight:
    return 7;
  case TokenKind::Plus:
  case TokenKind::Minus:
    return 8;
  case TokenKind::Star:
  case TokenKind::Slash:
  case TokenKind::Percent:
    return 9;
  default:
    return 0;
  }
}

//===-- Operators ---------------------------------------------------------===//

void OperatorChain::operand(State &state, ExprPtr value) {
  right = std::move(value);
  while (!pending.empty() && pending.back().precedence == prefixPrecedence)
    reduce(state);
}

void OperatorChain::binary(State &state, Iterator token) {
  const unsigned level = precedence(token->kind);
  bool chained = false;
  while (!pending.empty() && pending.back().precedence >= level) {
    chained = level == comparisonPrecedence && pending.back().precedence == comparisonPrecedence;
    reduce(state);
  }
  pending.push_back({std::move(right), token, level, chained});
}

ExprPtr OperatorChain::finish(State &state) {
  while (!pending.empty())
    reduce(state);
  return std::move(right);
}

/// Joins the last pending operator with its operands.
void OperatorChain::reduce(State &state) {
  Pending top = std::move(pending.back());
  pending.pop_back();
  const Token &token = *top.token;
  const bool unary = !top.left;
  const uint32_t begin = unary ? token.begin : top.left->range.begin;
  ExprPtr expr =
      makeExpr(unary ? Expr::Kind::Unary : Expr::Kind::Binary, {begin, right->range.end});
  expr->opRange = rangeOf(token);
  if (top.chained) {
    const auto source = [&](Range range) {
      return std::string(state.file.text().substr(range.begin, range.end - range.begin));
    };
    const Expr &left = *top.left;
    const std::string whole = source(left.range) + " && " + source(left.children[1]->range) + " " +
                              std::string(spelling(token.kind)) + " " + source(right->range);
    const bool shown = whole.size() <= 80 && whole.find('\n') == std::string::npos;
    fail(state, top.token, expr->opRange, "comparisons do not chain",
         "write `" + (shown ? whole : "a < b && b < c") + "`");
  }
  if (unary) {
    expr->unary = token.kind == TokenKind::Minus ? UnaryOp::Neg
                  : token.kind == TokenKind::Not ? UnaryOp::Not
                                                 : UnaryOp::BitNot;
  } else {
    expr->binary = binaryOp(token.kind);
    expr->children.reserve(2);
    expr->children.push_back(std::move(top.left));
  }
  expr->children.push_back(std::move(right));
  measure(state, *expr, top.token);
  right = std::move(expr);
}

//===-- Operands ----------------------------------------------------------===//

ExprPtr makeLeaf(State &state, const Token &token) {
  ExprPtr expr = makeExpr(Expr::Kind::Name, rangeOf(token));
  switch (token.kind) {
  case TokenKind::Int:
    expr->kind = Expr::Kind::Int;
    break;
  case TokenKind::Float:
    expr->kind = Expr::Kind::Float;
    break;
  case TokenKind::KwTrue:
  case TokenKind::KwFalse:
    expr->kind = Expr::Kind::Bool;
    break;
  case TokenKind::String:
    expr->kind = Expr::Kind::String;
    expr->text = unescape(state.text(token));
    return expr;
  default:
    break;
  }
  expr->text = state.text(token);
  return expr;
}

ExprPtr makeColon(const Token &token) { return makeExpr(Expr::Kind::Colon, rangeOf(token)); }

ExprPtr makeParenthesized(State &state, Items items, Iterator at) {
  if (items.items.empty())
    fail(state, at - 1, items.range, "expected an expression between `(` and `)`");
  if (items.items.size() == 1) {
    items.items.front()->range = items.range;
    return std::move(items.items.front());
  }
  ExprPtr expr = makeExpr(Expr::Kind::Tuple, items.range);
  expr->opRange = items.range;
  expr->children = std::move(items.items);
  measure(state, *expr, at - 1);
  return expr;
}

ExprPtr makeList(State &state, Items items, Iterator at) {
  for (const ExprPtr &item : items.items)
    if (item->kind == Expr::Kind::Colon)
      fail(state, at - 1, item->range, "`:` stands only in an index");
  ExprPtr expr = makeExpr(Expr::Kind::List, items.range);
  expr->opRange = items.range;
  expr->children = std::move(items.items);
  measure(state, *expr, at - 1);
  return expr;
}

ExprPtr makeCall(State &state, ExprPtr callee, Arguments arguments, Iterator at) {
  if (callee->kind != Expr::Kind::Name && callee->kind != Expr::Kind::Member)
    fail(state, at - 1, callee->range, "only a name can be called");
  ExprPtr expr = makeExpr(Expr::Kind::Call, {callee->range.begin, arguments.range.end});
  expr->opRange = arguments.range;
  expr->children.push_back(std::move(callee));
  expr->args = std::move(arguments.args);
  measure(state, *expr, at - 1);
  return expr;
}

ExprPtr makeIndex(State &state, ExprPtr base, Items items, Iterator at) {
  ExprPtr expr = makeExpr(Expr::Kind::Index, {base->range.begin, items.range.end});
  expr->opRange = items.range;
  expr->children.reserve(items.items.size() + 1);
  expr->children.push_back(std::move(base));
  for (ExprPtr &item : items.items)
    expr->children.push_back(std::move(item));
  measure(state, *expr, at - 1);
  return expr;
}

ExprPtr makeMember(State &state, ExprPtr base, const Token &name, Iterator at) {
  ExprPtr expr = makeExpr(Expr::Kind::Member, {base->range.begin, name.end});
  expr->opRange = rangeOf(name);
  expr->text = state.text(name);
  expr->children.push_back(std::move(base));
  measure(state, *expr, at - 1);
  return expr;
}

//===-- Statements --------------------------------------------------------===//

unsigned readAssignment(Iterator at, Assignment &assignment) {
  using Op = Stmt::AssignOp;
  assignment.range = rangeOf(*at);
  switch (at->kind) {
  case TokenKind::Assign:
    assignment.op = Op::Set;
    return 1;
  case TokenKind::PlusAssign:
    assignment.op = Op::Add;
    return 1;
  case TokenKind::MinusAssign:
    assignment.op = Op::Sub;
    return 1;
  case TokenKind::StarAssign:
    assignment.op = Op::Mul;
    return 1;
  case TokenKind::SlashAssign:
    assignment.op = Op::Div;
    return 1;
  case TokenKind::AndAssign:
    assignment.op = Op::And;
    return 1;
  case TokenKind::OrAssign:
    assignment.op = Op::Or;
    return 1;
  case TokenKind::XorAssign:
    assignment.op = Op::Xor;
    return 1;
  default:
    break;
  }
  const bool extremum = at->word == Word::Max || at->word == Word::Min;
  if (!extremum || at[1].kind != TokenKind::Assign)
    return 0;
  assignment.op = at->word == Word::Max ? Op::Max : Op::Min;
  assignment.range.end = at[1].end;
  return 2;
}

void checkTarget(State &state, const Stmt &statement, Iterator at) {
  const Expr &target = *statement.target;
  const Expr *base = target.kind == Expr::Kind::Index ? target.children.front().get() : nullptr;
  if (base && base->kind == Expr::Kind::Member) // x.drop[i]
    base = base->children.front().get();
  const bool indexed = base && base->kind == Expr::Kind::Name;
  if (target.kind == Expr::Kind::Name || indexed)
    return;
  fail(state, at - 1, target.range, "cannot assign to this",
       target.kind == Expr::Kind::Tuple
           ? "name what comes together with `let (a, b) = …`, then assign one by one"
           : "before `=` stands a name or an indexed name");
}

/// What to write in the place of a statement that other languages have; null for other words.
static const char *foreignStatementHint(std::string_view word) {
  if (word == "break")
    return "a loop runs to its end: loop with `while`, whose condition says when to stop, or put "
           "what is not to be done any more into an `if`";
  if (word == "continue")
    return "put the rest of the loop's body into an `if`";
  return word == "pass" ? "a body with nothing to do is empty: `{ }`" : nullptr;
}

void makeExpressionStatement(State &state, Stmt &statement, Iterator at) {
  statement.kind = Stmt::Kind::Expr;
  statement.value = std::move(statement.target);
  if (statement.value->kind == Expr::Kind::Call)
    return;
  // What follows may explain it: `lett x = 1`, `paralell i in …`.
  const bool ends = at->kind == TokenKind::Newline || at->kind == TokenKind::Semi ||
                    at->kind == TokenKind::RBrace || at->kind == TokenKind::End;
  if (!ends)
    failExpected(state, at, "the end of the statement");
  if (const char *hint = foreignStatementHint(state.text(*state.begun)))
    fail(state, state.begun, statement.value->range,
         "there is no `" + std::string(state.text(*state.begun)) + "` here", hint);
  const TokenKind first = state.begun->kind;
  const bool maybeRest =
      first == TokenKind::Minus || first == TokenKind::LParen || first == TokenKind::LBracket;
  fail(state, state.begun, statement.value->range, "expected an assignment or a call",
       maybeRest ? "outside brackets a line goes on only after an operator: end the line above "
                   "with it"
                 : "");
}

} // namespace tile::dsl::grammar
