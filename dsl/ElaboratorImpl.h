//===- ElaboratorImpl.h - the parts of the elaborator ---------------------===//
#ifndef TILE_DSL_ELABORATORIMPL_H
#define TILE_DSL_ELABORATORIMPL_H

#include "dsl/Signature.h"

namespace tile::dsl {

struct Elaborator::Impl {
  /// What the parts work with.
  struct Parts {
    mlir::MLIRContext *context;
    Program &program;
    DiagnosticEngine &diags;
    std::map<std::string, uint64_t> &launches;
  };
  static std::string symbolFor(Elaborator &self, DeclRef decl, const TypeBindings &types);
  static std::string kernel(Elaborator &self, DeclRef decl, const TypeBindings &types);
  static std::string graph(Elaborator &self, DeclRef decl, const TypeBindings &types);
  /// Evaluates a map in a kernel that is thrown away.
  static void map(Elaborator &self, DeclRef decl, const TypeBindings &types);
};

} // namespace tile::dsl

#endif // TILE_DSL_ELABORATORIMPL_H
