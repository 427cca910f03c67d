//===- FunctionCheck.h - what can be said of a function not called --------===//
#ifndef TILE_DSL_FUNCTIONCHECK_H
#define TILE_DSL_FUNCTIONCHECK_H

#include "dsl/Program.h"

namespace tile::dsl {

/// Reports the names in a `fn` that mean nothing, whatever it is called with.
/// The rest of it is checked at each call: only there are its types known.
void checkNames(Program &program, DeclRef fn, DiagnosticEngine &diags);

} // namespace tile::dsl

#endif // TILE_DSL_FUNCTIONCHECK_H
