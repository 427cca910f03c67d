//===- ProofsDetail.h - what the proofs of one kernel share ---------------===//
#ifndef TILE_IR_PROOFS_PROOFSDETAIL_H
#define TILE_IR_PROOFS_PROOFSDETAIL_H

#include "ir/proofs/Domain.h"
#include "ir/proofs/Proofs.h"
#include "ir/proofs/Solver.h"
#include "ir/proofs/Spelling.h"

#include "mlir/IR/Diagnostics.h"

namespace tile::ir {

/// A load, store or update.
struct Access {
  mlir::Operation *op;
  mlir::BlockArgument memory;
  mlir::AffineMap map;
  mlir::ValueRange dims, syms;

  explicit Access(LoadOp load);
  explicit Access(StoreOp store);
  explicit Access(UpdateOp update);
  unsigned parameter() const { return memory.getArgNumber(); }
};

struct ProofContext {
  KernelOp kernel;
  Domains domains;
  Coordinates coordinates;
  Spelling words;
  Solver solver;
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<RestrictOp, 2>> restricts;
  bool failed = false;

  explicit ProofContext(KernelOp kernel);

  mlir::InFlightDiagnostic error(mlir::Location loc) {
    failed = true;
    return mlir::emitError(loc);
  }
  mlir::InFlightDiagnostic error(mlir::Operation *op) { return error(op->getLoc()); }

  /// True if `restrict` stands before `op` in a block around it.
  static bool isInScope(RestrictOp restrict, mlir::Operation *op);

  /// What holds wherever the op runs, about the coordinates of these axes and
  /// the integers in scope. Conditions with an `unless` count only if asked for.
  Facts factsAt(mlir::Operation *op, llvm::ArrayRef<mlir::StringAttr> axes,
                bool withUnless = false);
  Facts factsAt(const Access &access, bool withUnless = false) {
    return factsAt(access.op, mapAxes(access.map, access.dims).names, withUnless);
  }

  std::string spell(const Access &access) const {
    return words.access(access.memory, access.map, access.dims, access.syms);
  }
  std::string nameOf(const Access &access) const { return words.parameter(access.memory); }
  /// `M = 2, N = 3: i = 1, r = 0` for the atoms below some sums; empty if none.
  std::string spellPoint(const Point &point, llvm::ArrayRef<Linear> sums, const Facts &context);
  /// The atoms a sum is made of, through its terms.
  void baseAtoms(const Linear &sum, llvm::SmallSetVector<AtomId, 8> &atoms) const;
};

void proveBounds(ProofContext &context);
/// Indices, conditions and bounds are computed as proofs read them: within 64 bits.
void proveArithmetic(ProofContext &context);
/// Parameters are used as they are declared, and outputs stored completely.
void proveParameters(ProofContext &context);
/// The store is one-to-one; and, if fully, reaches every element.
void proveStore(ProofContext &context, StoreOp store, bool fully);
void proveFolds(ProofContext &context);
/// What is reduced over an axis has all axes of the conditions on that axis.
void proveConditions(ProofContext &context);

/// How an assignment that combines is written: `+=`, `a = fmax(a, …)`.
llvm::StringRef assignmentOf(CombineKind kind);

} // namespace tile::ir

#endif // TILE_IR_PROOFS_PROOFSDETAIL_H
