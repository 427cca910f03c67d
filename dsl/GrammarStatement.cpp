//===- GrammarStatement.cpp - instantiates the rules of statements --------===//

#include "dsl/GrammarStatement_def.hpp"

namespace tile::dsl::grammar {

BOOST_SPIRIT_DEFINE(parallelBinder, gridBinder, forBinder, ifStatement, statementBody, statement,
                    block)

BOOST_SPIRIT_INSTANTIATE(BlockRule, Iterator, Context)

} // namespace tile::dsl::grammar
