//===- GrammarExpression.cpp - instantiates the rules of expressions ------===//

#include "dsl/GrammarExpression_def.hpp"

namespace tile::dsl::grammar {

BOOST_SPIRIT_DEFINE(parentheses, brackets, argument, arguments, postfix, chain, arithmeticChain,
                    expression, arithmetic)

BOOST_SPIRIT_INSTANTIATE(ExpressionRule, Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(ArithmeticRule, Iterator, Context)

} // namespace tile::dsl::grammar
