//===- GrammarStatement_def.hpp - rules of statements and blocks ----------===//
#ifndef TILE_DSL_GRAMMARSTATEMENT_DEF_HPP
#define TILE_DSL_GRAMMARSTATEMENT_DEF_HPP

#include "dsl/GrammarParsers.hpp"

namespace tile::dsl::grammar {

using Kind = TokenKind;

struct StatementId : Recovering<recoverStatement> {};

constexpr x3::rule<StatementId, StmtPtr> statement = "a statement";
constexpr x3::rule<struct StatementBodyId, Stmt> statementBody = "a statement";
constexpr x3::rule<struct IfStatementId, Stmt> ifStatement = "`if`";
constexpr x3::rule<struct ParallelBinderId, Binder> parallelBinder = "a name";
constexpr x3::rule<struct GridBinderId, Binder> gridBinder = "a name";
constexpr x3::rule<struct ForBinderId, Binder> forBinder = "a name";

//===-- Actions -----------------------------------------------------------===//

/// What was read as the upper bound is the lower one.
constexpr auto lowerBound = [](auto &context) {
  x3::_val(context).lo = std::move(x3::_val(context).hi);
};
constexpr auto modifier = [](auto &context) {
  const Token &token = x3::_attr(context);
  x3::_val(context).modifierRange = {token.begin, token.end};
};
constexpr auto assigned = [](auto &context) {
  Stmt &statement = x3::_val(context);
  statement.kind = Stmt::Kind::Assign;
  statement.op = x3::_attr(context).op;
  statement.opRange = x3::_attr(context).range;
  checkTarget(stateOf(context), statement, behind(context));
};
constexpr auto expressionStatement = [](auto &context) {
  makeExpressionStatement(stateOf(context), x3::_val(context), behind(context));
};
constexpr auto elseIf = [](auto &context) {
  x3::_val(context).elseBody.push_back(std::make_unique<Stmt>(std::move(x3::_attr(context))));
};
/// Appends a statement unless it had an error.
constexpr auto append = [](auto &context) {
  if (x3::_attr(context))
    x3::_val(context).push_back(std::move(x3::_attr(context)));
};

/// The keyword that begins a statement of the kind.
template <Stmt::Kind kind>
constexpr auto begins(Kind keyword) {
  return tok(keyword)[put<&Stmt::kind, kind>];
}

/// `=`, `+=`, `max=` …
struct AssignmentParser : x3::parser<AssignmentParser> {
  using attribute_type = Assignment;
  static constexpr bool has_attribute = true;

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &, const C &, R &, A &attribute) const {
    Assignment assignment;
    const unsigned length = readAssignment(first, assignment);
    first += length;
    store(assignment, attribute);
    return length != 0;
  }
};
constexpr AssignmentParser assignment;

//===-- Binders -----------------------------------------------------------===//

constexpr auto binderName = name[set<&Binder::name>] > tok(Kind::KwIn);
constexpr auto binderCondition = -(tok(Kind::KwIf) > expression[set<&Binder::condition>]);

constexpr auto upperBound = expression[set<&Binder::hi>];
constexpr auto tilesDomain =
    tok(Word::Tiles) >> inParentheses[upperBound > -(tok(Kind::DotDot)[lowerBound] > upperBound)] >>
    x3::eps[put<&Binder::kind, Binder::Kind::Tiles>];
constexpr auto eachDomain =
    tok(Word::Each) >> inParentheses[upperBound] >> x3::eps[put<&Binder::kind, Binder::Kind::Each>];
constexpr auto countDomain = expression[set<&Binder::lo>] > tok(Kind::DotDot) > upperBound >
                             -(tok(Word::Step) > expression[set<&Binder::step>]) >
                             x3::eps[put<&Binder::kind, Binder::Kind::Count>];

constexpr auto parallelBinder_def =
    withRange[binderName > named("`tiles(…)` or `each(…)`")[tilesDomain | eachDomain] >
              binderCondition];
constexpr auto gridBinder_def =
    withRange[binderName > named("a range `lo..hi`")[countDomain] > binderCondition];
constexpr auto forBinder_def =
    withRange[binderName > named("`tiles(…)` or a range `lo..hi`")[tilesDomain | countDomain] >
              binderCondition];

//===-- Statements --------------------------------------------------------===//

constexpr auto separator = tok(Kind::Newline) | tok(Kind::Semi);
constexpr auto body = block[set<&Stmt::body>];

constexpr auto names = named(
    "a name or `(`")[name[add<&Stmt::names>] | parenthesesOf("a name")[name[add<&Stmt::names>]]];
constexpr auto letStatement = begins<Stmt::Kind::Let>(Kind::KwLet) > names >
                              tok(Kind::Assign) > expression[set<&Stmt::value>] >
                              -(tok(Kind::KwIf) > expression[set<&Stmt::condition>]);
constexpr auto varStatement = begins<Stmt::Kind::Var>(Kind::KwVar) > name[add<&Stmt::names>] >
                              tok(Kind::Assign) > expression[set<&Stmt::value>];

constexpr auto parallelStatement = begins<Stmt::Kind::Parallel>(Kind::KwParallel) >
                                   parallelBinder[add<&Stmt::binders>] >
                                   *(tok(Kind::Comma) > parallelBinder[add<&Stmt::binders>]) > body;
constexpr auto gridStatement = begins<Stmt::Kind::Grid>(Kind::KwGrid) >
                               gridBinder[add<&Stmt::binders>] >
                               *(tok(Kind::Comma) > gridBinder[add<&Stmt::binders>]) > body;

constexpr auto reassociable = tok(Word::Reassociable)[modifier] >
                              x3::eps[put<&Stmt::reassociable, true>] >
                              -(tok(Word::Merge) > name[set<&Stmt::merge>]);
constexpr auto sequential =
    tok(Word::Sequential)[modifier] > inParentheses[expression[set<&Stmt::sequential>]];
constexpr auto forStatement = begins<Stmt::Kind::For>(Kind::KwFor) >
                              forBinder[add<&Stmt::binders>] > -(reassociable | sequential) > body;

constexpr auto whileStatement =
    begins<Stmt::Kind::While>(Kind::KwWhile) > expression[set<&Stmt::value>] > body;
constexpr auto returnStatement =
    begins<Stmt::Kind::Return>(Kind::KwReturn) > expression[set<&Stmt::value>];

constexpr auto ifStatement_def =
    withRange[begins<Stmt::Kind::If>(Kind::KwIf) > expression[set<&Stmt::value>] > body >
              -(tok(Kind::KwElse) >
                named("`if` or `{`")[nested[ifStatement[elseIf]] | block[set<&Stmt::elseBody>]])];

constexpr auto otherStatement = expression[set<&Stmt::target>] >
                                ((assignment[assigned] > expression[set<&Stmt::value>]) |
                                 x3::eps[expressionStatement]);

constexpr auto statementBody_def =
    withRange[letStatement | varStatement | parallelStatement | gridStatement | forStatement |
              whileStatement | returnStatement | ifStatement[become] | otherStatement];

constexpr auto statement_def = BeginParser(true) > statementBody[box] >
                               EndParser("the end of the statement", true);

constexpr auto block_def = inBraces[*(separator | statement[append])];

} // namespace tile::dsl::grammar

#endif // TILE_DSL_GRAMMARSTATEMENT_DEF_HPP
