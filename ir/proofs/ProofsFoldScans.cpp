//===- ProofsFoldScans.cpp - scans along spans that are cut ---------------===//
//
// Along an axis that is not cut a scan is like any other op. Along the span of
// a loop it has to go on where the block before ended: it begins with a
// variable of that loop, and its last state is what the variable becomes. Then
// the states are those of the whole range, wherever it is cut.
//
//===----------------------------------------------------------------------===//

#include "ir/proofs/ProofsFolds.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::folds;

State FoldProof::refuseScan(ScanOp op, uint64_t cut, StringRef what, StringRef advice) {
  if (mayReport(op)) {
    auto diagnostic = context.error(op)
                      << "`" << op.getWord() << "` over one block of " << names(cut) << " " << what;
    diagnostic.attachNote(op.getLoc()) << "hint: " << advice;
  }
  return make(Kind::Bad);
}

/// The state of a part's last value after the scan, of which `init` is the first.
State FoldProof::stepScan(ScanOp op, const State &init, uint64_t cut) {
  if (init.is(Kind::Bad))
    return init;
  if (!cut) { // it runs along all of the axis, or along what the author answers for
    if (init.is(Kind::Chain))
      return refuseRead(op, init);
    if (init.is(Kind::Partial))
      return refuse(op, init, operationName(op));
    return make(Kind::Free, init.tainted);
  }
  bool isLoop = llvm::any_of(scopes, [&](const Scope &scope) {
    return scope.name == op.getAxisAttr() && isa<ForOp>(scope.binder);
  });
  if (!isLoop)
    return refuseScan(op, cut, "knows nothing of the other programs",
                      "scan the whole axis: `:`, or `let n = whole(…)`");
  if (op.getReverse())
    return refuseScan(op, cut, "can't run in reverse: the loop goes forward",
                      "scan the whole axis: `:`, or `let n = whole(…)`");
  if (!init.is(Kind::Chain) || init.spans != cut)
    return refuseScan(op, cut, "begins anew in each block",
                      "carry its last value through this loop: `var h = …` before it, `init = h` "
                      "here, and `h = c` with the last value `c`");
  if (init.step || init.combine || init.rest.value_or(0))
    return refuseRead(op, init);
  State last = init;
  last.step = op;
  return last;
}

void FoldProof::visitScan(ScanOp op) {
  uint64_t tainted = 0;
  bool isBad = false;
  for (Value input : op.getInputs()) {
    State state = get(input);
    if (state.is(Kind::Chain))
      state = refuseRead(op, state);
    else if (state.is(Kind::Partial))
      state = refuse(op, state, operationName(op));
    isBad |= state.is(Kind::Bad);
    tainted |= state.tainted;
  }
  uint64_t cut = bitOf(op.getAxisAttr()), promised = reassociable(cut);
  tainted |= promised;
  SmallVector<State> lasts;
  for (Value init : op.getInits()) {
    lasts.push_back(stepScan(op, get(init), cut & ~promised));
    isBad |= lasts.back().is(Kind::Bad);
    tainted |= lasts.back().tainted;
  }
  for (auto [last, state] : llvm::zip(op.getLast(), lasts)) {
    state.tainted = tainted;
    set(last, isBad ? bad(state) : state);
  }
  for (Value scanned : op.getScanned())
    set(scanned, make(isBad ? Kind::Bad : Kind::Free, tainted));
}
