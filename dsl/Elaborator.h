//===- Elaborator.h - syntax tree to tile IR ------------------------------===//
//
// Turns declarations into verified tile IR templates: names resolved, types and
// axes checked, generics bound, and the language's proofs done. Dimensions and
// tile sizes stay open; `specialize` closes them.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DSL_ELABORATOR_H
#define TILE_DSL_ELABORATOR_H

#include "dsl/Program.h"

#include "ir/dialect/ElementType.h"
#include "ir/dialect/TileOps.h"

#include "mlir/IR/OwningOpRef.h"

#include <set>

namespace tile::dsl {

/// Element types by the name of a generic.
using TypeBindings = std::map<std::string, ir::ElementType>;

/// Sends MLIR's diagnostics with source locations to a DiagnosticEngine while
/// it lives; notes that begin with "hint: " become hints.
class DiagnosticBridge {
public:
  DiagnosticBridge(mlir::MLIRContext &context, const Program &program, DiagnosticEngine &diags);

private:
  mlir::ScopedDiagnosticHandler handler;
};

class Elaborator {
public:
  /// Loads the dialects it needs into the context.
  Elaborator(mlir::MLIRContext &context, Program &program, DiagnosticEngine &diags);

  /// Elaborates one kernel or graph and what it calls. The symbol's name, or
  /// empty after errors. An instance is elaborated once.
  std::string elaborate(DeclRef decl, const TypeBindings &types);

  /// Elaborates a kernel, graph or map for the choices of its generics' types
  /// that `instances` lists, up to the first one with errors, and keeps nothing
  /// of it. A function is checked where it is called; here only its names are.
  void check(DeclRef decl);

  /// The choices of a declaration's type generics that are checked, first
  /// alternatives first: all, or, of very many, some in which every type of each
  /// generic occurs, equal to and different from its neighbours.
  std::vector<TypeBindings> instances(DeclRef decl);
  /// What a generic may be bound to; reports unknown names.
  std::vector<ir::ElementType> alternatives(DeclRef decl, const Generic &generic);

  mlir::ModuleOp module() { return *moduleOp; }
  mlir::OwningOpRef<mlir::ModuleOp> takeModule() { return std::move(moduleOp); }

  struct Impl;

private:
  mlir::MLIRContext &context;
  Program &program;
  DiagnosticEngine &diags;
  mlir::OwningOpRef<mlir::ModuleOp> moduleOp;
  std::map<std::pair<const Decl *, TypeBindings>, std::string> done; // symbol, empty after errors
  std::vector<const Decl *> active;
  /// How many kernels each graph's symbol launches, those of the graphs that it calls among them.
  std::map<std::string, uint64_t> launches;
  /// While checking: what had errors. Its other instances would repeat them.
  std::set<const Decl *> refused;
  bool isChecking = false;
};

/// Checks every declaration of a file: what `tilec check` does. Long files are
/// shared among the machine's cores; the diagnostics come in source order, each
/// once.
void checkFile(Program &program, LoadedFile &file, DiagnosticEngine &diags);

} // namespace tile::dsl

#endif // TILE_DSL_ELABORATOR_H
