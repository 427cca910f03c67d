//===- Signature.h - declared signatures to the IR's ----------------------===//
#ifndef TILE_DSL_SIGNATURE_H
#define TILE_DSL_SIGNATURE_H

#include "dsl/Elaborator.h"
#include "ir/builder/KernelBuilder.h"

namespace tile::dsl {

/// A kernel's or graph's signature with its type generics bound: dimensions
/// found, extents as expressions over them. `dims` are those that stand bare in
/// an input, then the constants.
struct Signature {
  ir::KernelSpec spec;
  /// False after errors.
  bool isValid = true;
  std::optional<unsigned> dimIndex(const std::string &name) const;
  const mlir::AffineExpr *derived(const std::string &name) const;
};

Signature signatureOf(mlir::MLIRContext *context, DiagnosticEngine &diags, DeclRef decl,
                      const TypeBindings &types);

/// An extent as an expression over the signature's dims; null after an error.
mlir::AffineExpr extentExpr(mlir::MLIRContext *context, DiagnosticEngine &diags,
                            const SourceFile &file, const Signature &signature, const Expr &expr);

/// The element type a TypeExpr names, by name or generic; reports unknown ones.
std::optional<ir::ElementType> elementTypeOf(DiagnosticEngine &diags, const SourceFile &file,
                                             const TypeExpr &type, const TypeBindings &bindings);

/// Reports generics that are declared twice, and constants that are no integers.
void checkGenerics(DiagnosticEngine &diags, const SourceFile &file, const Decl &decl);

/// Notes at the diagnostics from the `first` on that lie in a declaration with
/// type generics which types those were.
void noteInstance(DiagnosticEngine &diags, size_t first, DeclRef decl, const TypeBindings &types);

/// `text` between backquotes.
inline std::string quoted(std::string_view text) { return "`" + std::string(text) + "`"; }
/// `1 value`, `2 values`.
inline std::string counted(size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

} // namespace tile::dsl

#endif // TILE_DSL_SIGNATURE_H
