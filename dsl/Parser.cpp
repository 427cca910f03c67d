//===- Parser.cpp - source text to syntax tree ----------------------------===//

#include "dsl/Parser.h"
#include "dsl/GrammarState.h"

namespace tile::dsl {

Module parse(const SourceFile &file, DiagnosticEngine &diags) {
  const TokenStream stream = lex(file, diags);
  grammar::State state(file, diags, stream);
  return grammar::parseModule(state);
}

} // namespace tile::dsl
