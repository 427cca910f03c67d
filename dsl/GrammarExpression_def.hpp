//===- GrammarExpression_def.hpp - rules of expressions -------------------===//
#ifndef TILE_DSL_GRAMMAREXPRESSION_DEF_HPP
#define TILE_DSL_GRAMMAREXPRESSION_DEF_HPP

#include "dsl/GrammarParsers.hpp"

namespace tile::dsl::grammar {

using Kind = TokenKind;

constexpr x3::rule<struct ParenthesesId, Items> parentheses = "`(`";
constexpr x3::rule<struct BracketsId, Items> brackets = "`[`";
constexpr x3::rule<struct ArgumentsId, Arguments> arguments = "`(`";
constexpr x3::rule<struct ArgumentId, Arg> argument = "an argument";
constexpr x3::rule<struct PostfixId, ExprPtr> postfix = "an expression";
constexpr x3::rule<struct ArithmeticChainId, OperatorChain> arithmeticChain = "an expression";
constexpr x3::rule<struct ChainId, OperatorChain> chain = "an expression";

//===-- Actions -----------------------------------------------------------===//

constexpr auto leaf = [](auto &context) {
  x3::_val(context) = makeLeaf(stateOf(context), x3::_attr(context));
};
constexpr auto parenthesized = [](auto &context) {
  x3::_val(context) =
      makeParenthesized(stateOf(context), std::move(x3::_attr(context)), behind(context));
};
constexpr auto listed = [](auto &context) {
  x3::_val(context) = makeList(stateOf(context), std::move(x3::_attr(context)), behind(context));
};
constexpr auto called = [](auto &context) {
  x3::_val(context) = makeCall(stateOf(context), std::move(x3::_val(context)),
                               std::move(x3::_attr(context)), behind(context));
};
constexpr auto indexed = [](auto &context) {
  x3::_val(context) = makeIndex(stateOf(context), std::move(x3::_val(context)),
                                std::move(x3::_attr(context)), behind(context));
};
constexpr auto selected = [](auto &context) {
  x3::_val(context) = makeMember(stateOf(context), std::move(x3::_val(context)), x3::_attr(context),
                                 behind(context));
};
constexpr auto addColon = [](auto &context) {
  x3::_val(context).items.push_back(makeColon(x3::_attr(context)));
};

constexpr auto pushPrefix = [](auto &context) { x3::_val(context).prefix(behind(context) - 1); };
constexpr auto pushOperand = [](auto &context) {
  x3::_val(context).operand(stateOf(context), std::move(x3::_attr(context)));
};
constexpr auto pushBinary = [](auto &context) {
  x3::_val(context).binary(stateOf(context), behind(context) - 1);
};
constexpr auto finished = [](auto &context) {
  x3::_val(context) = x3::_attr(context).finish(stateOf(context));
};

//===-- Tokens ------------------------------------------------------------===//

constexpr TokenIfParser binaryOperator([](Kind kind) { return precedence(kind) != 0; });
constexpr TokenIfParser arithmeticOperator([](Kind kind) {
  return precedence(kind) > comparisonPrecedence;
});
constexpr TokenIfParser prefixOperator([](Kind kind) {
  return kind == Kind::Minus || kind == Kind::Not || kind == Kind::Tilde;
});
constexpr TokenIfParser leafToken([](Kind kind) {
  return kind == Kind::Ident || kind == Kind::Int || kind == Kind::Float || kind == Kind::String ||
         kind == Kind::KwTrue || kind == Kind::KwFalse;
});

/// The `name =` of a named argument: both tokens or none.
struct ArgumentNameParser : x3::parser<ArgumentNameParser> {
  using attribute_type = Ident;
  static constexpr bool has_attribute = true;

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &, const C &context, R &, A &attribute) const {
    if (first[0].kind != Kind::Ident || first[1].kind != Kind::Assign)
      return false;
    store(stateOf(context).ident(*first), attribute);
    first += 2;
    return true;
  }
};
constexpr ArgumentNameParser argumentName;

//===-- Rules -------------------------------------------------------------===//

constexpr auto parentheses_def =
    withRange[parenthesesOf("an expression")[expression[add<&Items::items>]]];

constexpr auto brackets_def = withRange[bracketsOf(
    "an expression")[tok(Kind::Colon)[addColon] | expression[add<&Items::items>]]];

constexpr auto argument_def =
    (argumentName[set<&Arg::name>] > expression[set<&Arg::value>]) | expression[set<&Arg::value>];

constexpr auto arguments_def =
    withRange[parenthesesOf("an expression")[argument[add<&Arguments::args>]]];

constexpr auto postfix_def = (leafToken[leaf] | parentheses[parenthesized] | brackets[listed]) >>
                             *(arguments[called] | brackets[indexed] |
                               (tok(Kind::Dot) > tok(Kind::Ident)[selected]));

// An operand with its prefix operators; not a rule, so that it fills the chain it stands in.
constexpr auto term = (+prefixOperator[pushPrefix] > postfix[pushOperand]) | postfix[pushOperand];

constexpr auto chain_def = term >> *(binaryOperator[pushBinary] > named("an expression")[term]);
constexpr auto arithmeticChain_def = term >> *(arithmeticOperator[pushBinary] >
                                               named("an expression")[term]);

constexpr auto expression_def = chain[finished];
constexpr auto arithmetic_def = arithmeticChain[finished];

} // namespace tile::dsl::grammar

#endif // TILE_DSL_GRAMMAREXPRESSION_DEF_HPP
