//===- Parser.h - source text to syntax tree ------------------------------===//
#ifndef TILE_DSL_PARSER_H
#define TILE_DSL_PARSER_H

#include "dsl/Source.h"

namespace tile::dsl {

/// Brackets, blocks and `else if` inside one another, all counted together.
constexpr unsigned maxNesting = 256;
/// Height of an expression's tree: `a + b + c` is 3 high.
constexpr unsigned maxExprHeight = 1024;

/// Reports every error it finds, up to the engine's limit, and returns the declarations that have
/// none. What it returns is no deeper than the two bounds, so that walks over it may recurse.
Module parse(const SourceFile &file, DiagnosticEngine &diags);

} // namespace tile::dsl

#endif // TILE_DSL_PARSER_H
