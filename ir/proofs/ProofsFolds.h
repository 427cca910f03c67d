//===- ProofsFolds.h - how values depend on blocks ------------------------===//
//
// A dataflow over the kernel's values. A reduction over a block span is
// *partial*: it saw one block, and may only be negated, scaled by what is free
// of the span, combined with its like, and folded. A variable carried by a
// `fold` loop is a *chain*: each step folds a partial value, and nothing else
// reads it; or goes through a scan along the loop's span, which continues it
// (ProofsFoldScans.cpp). Inside a `reassociable` loop, which is the author's promise, both
// are *tainted* instead: they go anywhere but out of the loop other than as its
// results. Sequential blocks and integer loops have a meaning of their own.
//
// Loops over integers may carry partial values and chains around: their
// arguments join what enters with what comes back, until nothing changes. Then
// one more sweep reports.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_PROOFS_PROOFSFOLDS_H
#define TILE_IR_PROOFS_PROOFSFOLDS_H

#include "ir/proofs/ProofsDetail.h"

namespace tile::ir::folds {

struct State {
  enum class Kind {
    None,     // not reached yet
    Constant, // a number from the source: maybe the identity of an operator
    Free,     // the same however blocks are cut
    Partial,  // one block's share
    Chain,    // a variable on its way through a loop that folds it
    Bad,      // an error was reported
  };
  Kind kind = Kind::None;
  /// Partial: the spans of which it saw one block. Chain: the loops it passes.
  uint64_t spans = 0;
  /// Chain: what its result will be partial over, known after the first fold.
  std::optional<uint64_t> rest;
  /// Of Partial; of a Chain after the first fold.
  std::optional<CombineKind> combine;
  /// Chain: the scan that it went through, if one.
  mlir::Operation *step = nullptr;
  /// Chain: the variable in its outermost loop.
  mlir::BlockArgument root;
  mlir::TypedAttr constant;
  /// The reassociable loops whose blocks it depends on.
  uint64_t tainted = 0;
  /// Partial: how many elements there are, which only `mean` asks.
  bool isCount = false;

  bool is(Kind other) const { return kind == other; }
  bool isPlain() const { return kind == Kind::Constant || kind == Kind::Free; }
  bool operator==(const State &) const = default;
};
using Kind = State::Kind;

inline State make(Kind kind, uint64_t tainted = 0) {
  State state;
  state.kind = kind;
  state.tainted = tainted;
  return state;
}

inline State makePartial(uint64_t spans, CombineKind combine, uint64_t tainted) {
  State state = make(spans ? Kind::Partial : Kind::Free, tainted);
  state.spans = spans;
  if (spans)
    state.combine = combine;
  return state;
}

/// A block span in scope.
struct Scope {
  mlir::StringAttr name;
  mlir::Operation *binder;
  bool isReassociable = false;
};

class FoldProof {
public:
  explicit FoldProof(ProofContext &context) : context(context) {}
  void run();

private:
  // Sweeps
  void visit(mlir::Block &block);
  void visit(mlir::Operation &op);
  void visitFor(ForOp loop);
  void visitCount(mlir::scf::ForOp loop);
  void visitIf(mlir::scf::IfOp op);
  void visitWhile(mlir::scf::WhileOp op);
  void enterFold(ForOp loop, unsigned n, uint64_t bit);
  State leaveFold(ForOp loop, unsigned n);
  State leaveReassociable(ForOp loop, unsigned n, uint64_t bit);
  void around(mlir::Operation *loop, mlir::Value argument, mlir::Value init, mlir::Value yielded,
              mlir::Value result);
  void checkUses();
  void reportFirstBad();

  // Transfer
  void visitScan(ScanOp op);
  State stepScan(ScanOp op, const State &init, uint64_t cut);
  State stateOfReduce(ReduceOp op);
  State stateOfDot(DotOp op);
  State stateOfCount(CountOp op);
  State stateOfBroadcast(BroadcastOp op);
  State combine(mlir::Operation *op, const State &a, const State &b, CombineKind kind);
  State fold(mlir::Operation *op, const State &chain, const State &folded, CombineKind kind);
  State scale(mlir::Operation *op, const State &a, const State &b, bool divides);
  State negate(mlir::Operation *op, const State &a);
  State castFloat(mlir::Operation *op);
  State join(const State &a, const State &b);
  State other(mlir::Operation *op);
  void checkStore(StoreOp op);
  void checkUpdate(UpdateOp op);
  /// Operands that decide what runs or where: bounds, conditions, indices.
  void checkPlain(mlir::Operation *op, mlir::ValueRange operands, llvm::StringRef what,
                  bool taintIsFine = false);

  // Errors; each returns Bad
  State bad(const State &a, const State &b = {}) { return make(Kind::Bad, a.tainted | b.tainted); }
  bool mayReport(mlir::Operation *op, mlir::BlockArgument root = {});
  State refuse(mlir::Operation *op, const State &offending, llvm::StringRef what);
  State refuseRead(mlir::Operation *op, const State &chain);
  State refuseOncePerBlock(mlir::Operation *op, CombineKind kind, uint64_t spans,
                           llvm::StringRef what);

  State refuseScan(ScanOp op, uint64_t cut, llvm::StringRef what, llvm::StringRef advice);

  State get(mlir::Value value) const;
  void set(mlir::Value value, const State &state) { states[value] = state; }
  uint64_t bitOf(mlir::StringAttr axis) const;
  uint64_t cutBits(llvm::ArrayRef<mlir::StringAttr> axes) const;
  uint64_t reassociable(uint64_t spans) const;
  std::string names(uint64_t spans) const;
  std::string cut(uint64_t spans) const;
  std::string share(const State &partial) const;
  std::string variable(mlir::BlockArgument root) const;

  ProofContext &context;
  llvm::DenseMap<mlir::Value, State> states;
  llvm::DenseMap<mlir::Value, std::pair<State, State>> conflicts;
  llvm::SmallPtrSet<mlir::Operation *, 8> reportedOps;
  llvm::SmallDenseSet<mlir::Value> reportedRoots;
  llvm::SmallVector<Scope> scopes;
  bool changed = false, reporting = false, isTooDeep = false;
};

/// What a combination does, as a verb.
llvm::StringRef verb(CombineKind kind);
/// An operation as sources call it.
std::string operationName(mlir::Operation *op);
/// The operator of an elementwise op that combines its two operands.
std::optional<CombineKind> combineOf(mlir::Operation *op);
/// True if the state is a number that changes nothing when combined.
bool isIdentity(const State &state, CombineKind kind);

} // namespace tile::ir::folds

#endif // TILE_IR_PROOFS_PROOFSFOLDS_H
