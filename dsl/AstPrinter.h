//===- AstPrinter.h - the syntax tree as text -----------------------------===//
#ifndef TILE_DSL_ASTPRINTER_H
#define TILE_DSL_ASTPRINTER_H

#include "dsl/Ast.h"

#include <string>

namespace tile::dsl {

/// The tree as `--emit=ast` shows it: a line for each declaration and statement, indented by what
/// holds it; expressions with operators first, `(+ a (* b c))`. Shows everything but places: two
/// trees with equal text mean the same.
std::string printAst(const Module &module);
std::string printAst(const Expr &expr);

} // namespace tile::dsl

#endif // TILE_DSL_ASTPRINTER_H
