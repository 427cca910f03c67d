//===- Grammar.h - the rules of the grammar and what they share -----------===//
//
// Boost.Spirit X3 over tokens. Each part of the grammar has a `_def.hpp` with its rules and one
// source that instantiates them; the parts meet in the rules declared here. Nothing outside the
// Grammar* files includes Spirit.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DSL_GRAMMAR_H
#define TILE_DSL_GRAMMAR_H

#include "dsl/GrammarState.h"

#include <boost/spirit/home/x3.hpp>

namespace tile::dsl::grammar {

namespace x3 = boost::spirit::x3;

struct StateTag;
using Context = x3::context<StateTag, State>;

using ExpressionRule = x3::rule<struct ExpressionId, ExprPtr>;
using ArithmeticRule = x3::rule<struct ArithmeticId, ExprPtr>;
using BlockRule = x3::rule<struct BlockId, Block>;
using ModuleRule = x3::rule<struct ModuleId, Module>;

inline constexpr ExpressionRule expression = "an expression";
/// An expression without comparisons outside brackets: a `>` after it closes a list.
inline constexpr ArithmeticRule arithmetic = "an expression";
inline constexpr BlockRule block = "`{`";
inline constexpr ModuleRule moduleRule = "declarations";

BOOST_SPIRIT_DECLARE(ExpressionRule, ArithmeticRule, BlockRule, ModuleRule)

} // namespace tile::dsl::grammar

#endif // TILE_DSL_GRAMMAR_H
