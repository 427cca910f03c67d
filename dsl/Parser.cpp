//===- Parser.cpp - source text to syntax tree ----------------------------===//

#include "dsl/Parser.h"
#include "dsl/GrammarState.h"

#include <limits>

namespace tile::dsl {

Module parse(const SourceFile &file, DiagnosticEngine &diags) {
  DiagnosticEngine lexical(diags.limit());
  const TokenStream stream = lex(file, lexical);
  grammar::State state(file, diags, stream, lexical);
  Module module = grammar::parseModule(state);
  state.flushLexical(std::numeric_limits<uint32_t>::max());
  return module;
}

} // namespace tile::dsl
