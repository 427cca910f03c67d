//===- GrammarDeclaration.cpp - instantiates the rules of declarations ----===//

#include "dsl/GrammarDeclaration_def.hpp"

namespace tile::dsl::grammar {

BOOST_SPIRIT_DEFINE(type, typedParam, kernelParam, fnParam, output, kernelOutput, generic, clause,
                    condition, entryBody, entry, schedule, declarationBody, declaration, moduleRule)

Module parseModule(State &state) {
  Module module;
  Iterator first = state.begin();
  const Iterator last = state.last() + 1;
  const Context context(state);
  moduleRule.parse(first, last, context, x3::unused, module);
  return module;
}

} // namespace tile::dsl::grammar
