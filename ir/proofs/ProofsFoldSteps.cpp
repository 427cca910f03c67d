//===- ProofsFoldSteps.cpp - what each op makes of partial values ---------===//

#include "ir/proofs/ProofsFolds.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::folds;

//===-- Transfer ----------------------------------------------------------===//

std::optional<CombineKind> tile::ir::folds::combineOf(Operation *op) {
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return CombineKind::add;
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(op))
    return CombineKind::max;
  if (isa<arith::MinimumFOp, arith::MinSIOp>(op))
    return CombineKind::min;
  if (isa<arith::MaxUIOp>(op))
    return CombineKind::umax;
  if (isa<arith::MinUIOp>(op))
    return CombineKind::umin;
  if (isa<arith::MaxNumFOp>(op))
    return CombineKind::fmax;
  if (isa<arith::MinNumFOp>(op))
    return CombineKind::fmin;
  if (isa<arith::AndIOp>(op))
    return CombineKind::andi;
  if (isa<arith::OrIOp>(op))
    return CombineKind::ori;
  if (isa<arith::XOrIOp>(op))
    return CombineKind::xori;
  return std::nullopt;
}

/// True if the number changes nothing when combined.
static bool isNeutral(TypedAttr number, CombineKind kind) {
  if (auto real = dyn_cast<FloatAttr>(number)) {
    APFloat value = real.getValue();
    switch (kind) {
    case CombineKind::add:
      return value.isZero();
    case CombineKind::mul:
      return value.isExactlyValue(1.0);
    case CombineKind::max:
    case CombineKind::fmax:
      return value.isInfinity() && value.isNegative();
    case CombineKind::min:
    case CombineKind::fmin:
      return value.isInfinity() && !value.isNegative();
    case CombineKind::umax:
    case CombineKind::umin:
    case CombineKind::andi:
    case CombineKind::ori:
    case CombineKind::xori:
      return false;
    }
  }
  APInt value = cast<IntegerAttr>(number).getValue();
  switch (kind) {
  case CombineKind::add:
  case CombineKind::ori:
  case CombineKind::xori:
  case CombineKind::umax:
    return value.isZero();
  case CombineKind::mul:
    return value.isOne();
  case CombineKind::max:
    return value.isMinSignedValue();
  case CombineKind::min:
    return value.isMaxSignedValue();
  case CombineKind::umin:
  case CombineKind::andi:
    return value.isAllOnes();
  case CombineKind::fmax:
  case CombineKind::fmin:
    return false;
  }
  llvm_unreachable("all kinds are handled");
}

bool tile::ir::folds::isIdentity(const State &state, CombineKind kind) {
  return state.is(Kind::Constant) && isNeutral(state.constant, kind);
}

State FoldProof::combine(Operation *op, const State &a, const State &b, CombineKind kind) {
  if (a.is(Kind::Bad) || b.is(Kind::Bad))
    return bad(a, b);
  if (a.is(Kind::Chain))
    return fold(op, a, b, kind);
  if (b.is(Kind::Chain))
    return fold(op, b, a, kind);
  uint64_t tainted = a.tainted | b.tainted;
  for (auto [x, y] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (isIdentity(*x, kind) && (!y->is(Kind::Partial) || y->combine == kind)) {
      State result = *y;
      result.tainted = tainted;
      return result;
    }
    if (x->is(Kind::Partial) && x->combine != kind)
      return refuse(op, *x, operationName(op));
    if (x->is(Kind::Partial) && !y->is(Kind::Partial))
      return refuseOncePerBlock(op, kind, x->spans, "this");
  }
  if (!a.is(Kind::Partial))
    return make(Kind::Free, tainted);
  if (a.spans != b.spans)
    return refuseOncePerBlock(op, kind, a.spans ^ b.spans, "this");
  return makePartial(a.spans, kind, tainted);
}

/// One step of a chain.
State FoldProof::fold(Operation *op, const State &chain, const State &folded, CombineKind kind) {
  if (folded.is(Kind::Bad))
    return bad(chain, folded);
  if (chain.step) // a scan continues it: nothing else may
    return refuseRead(op, chain);
  State result = chain;
  result.tainted |= folded.tainted;
  if (isIdentity(folded, kind) && (!chain.combine || chain.combine == kind))
    return result;
  if (folded.is(Kind::Chain))
    return refuseRead(op, folded);
  if (!folded.is(Kind::Partial))
    return refuseOncePerBlock(op, kind, chain.spans, "this");
  if (folded.combine != kind)
    return refuse(op, folded, operationName(op));
  if (uint64_t missing = chain.spans & ~folded.spans)
    return refuseOncePerBlock(op, kind, missing, "this");
  if (chain.combine && chain.combine != kind) {
    if (mayReport(op, chain.root)) {
      auto diagnostic = context.error(op) << variable(chain.root) << " is folded with "
                                          << "`" << assignmentOf(kind) << "`"
                                          << " and with "
                                          << "`" << assignmentOf(*chain.combine) << "`"
                                          << " in one loop: the order of the blocks would matter";
      diagnostic.attachNote(chain.root.getLoc()) << variable(chain.root) << " is carried from here";
      diagnostic.attachNote(op->getLoc()) << "hint: use one variable for each operator";
    }
    return bad(chain, folded);
  }
  // What is left partial after the loops needs a variable that began as one.
  uint64_t rest = folded.spans & ~chain.spans;
  if (!chain.rest && rest) {
    auto loop = cast<ForOp>(chain.root.getOwner()->getParentOp());
    State init = get(loop.getInits()[chain.root.getArgNumber() - 1]);
    if (!isIdentity(init, kind))
      return refuseOncePerBlock(op, kind, rest, "this variable's first value");
  }
  if (chain.rest && *chain.rest != rest)
    return refuseOncePerBlock(op, kind, *chain.rest ^ rest, "this");
  result.rest = rest;
  result.combine = kind;
  return result;
}

State FoldProof::negate(Operation *op, const State &a) {
  if (a.is(Kind::Chain))
    return refuseRead(op, a);
  if (a.is(Kind::Partial) && a.combine != CombineKind::add)
    return refuse(op, a, operationName(op));
  return isIdentity(a, CombineKind::add) || a.is(Kind::Partial) || a.is(Kind::Bad)
             ? a
             : make(Kind::Free, a.tainted);
}

/// a · b, or a / b.
State FoldProof::scale(Operation *op, const State &a, const State &b, bool divides) {
  if (a.is(Kind::Bad) || b.is(Kind::Bad))
    return bad(a, b);
  if (!divides && (a.is(Kind::Chain) || b.is(Kind::Chain)))
    return a.is(Kind::Chain) ? fold(op, a, b, CombineKind::mul) : fold(op, b, a, CombineKind::mul);
  for (const State *side : {&a, &b})
    if (side->is(Kind::Chain))
      return refuseRead(op, *side);
  uint64_t tainted = a.tainted | b.tainted;
  if (a.is(Kind::Partial) && a.combine == CombineKind::add && b.isPlain())
    return makePartial(a.spans, CombineKind::add, tainted);
  if (!divides && b.is(Kind::Partial) && b.combine == CombineKind::add && a.isPlain())
    return makePartial(b.spans, CombineKind::add, tainted);
  if (!divides && (a.combine == CombineKind::mul || b.combine == CombineKind::mul))
    return combine(op, a, b, CombineKind::mul);
  for (const State *side : {&a, &b})
    if (side->is(Kind::Partial))
      return refuse(op, *side, operationName(op));
  return make(Kind::Free, tainted);
}

/// A cast between floats keeps the order of numbers, so that the cast of the greatest is the
/// greatest of the casts, whether it rounds or not. Both types need infinities: the share of an
/// empty block is one, and f8e4m3 makes NaN of what is too large.
State FoldProof::castFloat(Operation *op) {
  State state = get(op->getOperand(0));
  auto hasInfinity = [](Value value) {
    return APFloat::semanticsHasInf(
        cast<FloatType>(getElementTypeOrSelf(value.getType())).getFloatSemantics());
  };
  bool isExtremum = state.is(Kind::Partial) &&
                    (state.combine == CombineKind::max || state.combine == CombineKind::min ||
                     state.combine == CombineKind::fmax || state.combine == CombineKind::fmin);
  return isExtremum && hasInfinity(op->getOperand(0)) && hasInfinity(op->getResult(0)) ? state
                                                                                       : other(op);
}

State FoldProof::stateOfReduce(ReduceOp op) {
  State input = get(op.getInput());
  if (input.is(Kind::Bad))
    return input;
  if (input.is(Kind::Chain))
    return refuseRead(op, input);
  if (input.is(Kind::Partial) && input.combine != op.getKind())
    return refuse(op, input, operationName(op));
  uint64_t cut = cutBits(SmallVector<StringAttr>(op.getAxes().getAsRange<StringAttr>()));
  uint64_t tainted = reassociable(cut);
  return makePartial(input.spans | (cut & ~tainted), op.getKind(), input.tainted | tainted);
}

State FoldProof::stateOfDot(DotOp op) {
  uint64_t tainted = 0;
  for (Value side : {op.getLhs(), op.getRhs()}) {
    State state = get(side);
    if (state.is(Kind::Bad))
      return state;
    if (state.is(Kind::Chain))
      return refuseRead(op, state);
    if (state.is(Kind::Partial))
      return refuse(op, state, operationName(op));
    tainted |= state.tainted;
  }
  uint64_t cut = bitOf(op.getAxisAttr()), taint = reassociable(cut);
  State product = makePartial(cut & ~taint, CombineKind::add, tainted | taint);
  return combine(op, get(op.getAcc()), product, CombineKind::add);
}

State FoldProof::stateOfCount(CountOp op) {
  SmallVector<StringAttr> axes = llvm::map_to_vector(op.getSpans(), axisOf);
  uint64_t cut = cutBits(axes), tainted = reassociable(cut);
  State state = makePartial(cut & ~tainted, CombineKind::add, tainted);
  state.isCount = state.is(Kind::Partial);
  return state;
}

State FoldProof::stateOfBroadcast(BroadcastOp op) {
  State input = get(op.getInput());
  ArrayRef<StringAttr> axes = axesOf(op.getType());
  if (input.is(Kind::Chain) && axes.size() != axesOf(op.getInput().getType()).size())
    return refuseRead(op, input);
  if (!input.is(Kind::Partial))
    return input;
  State along = input;
  along.spans &= cutBits(axes);
  if (along.spans)
    return refuse(op, along, "an element along " + names(along.spans));
  return input;
}

/// Operations that keep nothing of what a partial value or chain may do.
State FoldProof::other(Operation *op) {
  uint64_t tainted = 0;
  for (Value operand : op->getOperands()) {
    State state = get(operand);
    if (state.is(Kind::Bad))
      return state;
    if (state.is(Kind::Chain))
      return refuseRead(op, state);
    if (state.is(Kind::Partial))
      return refuse(op, state, operationName(op));
    tainted |= state.tainted;
  }
  return make(Kind::Free, tainted);
}

/// What a variable is that is one or the other; Bad where they don't agree.
State FoldProof::join(const State &a, const State &b) {
  if (a.is(Kind::None) || b.is(Kind::None))
    return a.is(Kind::None) ? b : a;
  State result;
  if (a.is(Kind::Bad) || b.is(Kind::Bad))
    return bad(a, b);
  if (a.is(Kind::Chain) && b.is(Kind::Chain)) {
    bool agrees = a.root == b.root && a.spans == b.spans && a.step == b.step &&
                  (!a.combine || !b.combine || a.combine == b.combine) &&
                  (!a.rest || !b.rest || a.rest == b.rest);
    result = !agrees ? bad(a, b) : a.combine ? a : b;
  } else if (a.is(Kind::Chain) || b.is(Kind::Chain)) {
    result = bad(a, b);
  } else if (a.is(Kind::Partial) && b.is(Kind::Partial)) {
    result = a.spans == b.spans && a.combine == b.combine ? a : bad(a, b);
  } else if (a.is(Kind::Partial) || b.is(Kind::Partial)) {
    const State &partial = a.is(Kind::Partial) ? a : b, &rest = a.is(Kind::Partial) ? b : a;
    result = isIdentity(rest, *partial.combine) ? partial : bad(a, b);
  } else {
    result = a.is(Kind::Constant) && b.is(Kind::Constant) && a.constant == b.constant
                 ? a
                 : make(Kind::Free);
  }
  result.tainted = a.tainted | b.tainted;
  return result;
}

//===-- Sinks -------------------------------------------------------------===//

void FoldProof::checkPlain(Operation *op, ValueRange operands, StringRef what, bool taintIsFine) {
  for (Value operand : operands) {
    State state = get(operand);
    if (state.is(Kind::Chain))
      refuseRead(op, state);
    else if (state.is(Kind::Partial))
      refuse(op, state, what);
    else if (!taintIsFine && state.tainted && !state.is(Kind::Bad) && mayReport(op)) {
      auto diagnostic = context.error(op)
                        << what << " takes a value that depends on the blocks of "
                        << names(state.tainted) << ", whose loop is `reassociable`";
      diagnostic.attachNote(op->getLoc())
          << "hint: in such a loop partial and carried values reach only the carried variables; "
             "use them after the loop";
    }
  }
}

void FoldProof::checkStore(StoreOp op) {
  checkPlain(op, op.getDims(), "an index");
  checkPlain(op, op.getSyms(), "an index");
  checkPlain(op, op.getValue(), "a store");
}

void FoldProof::checkUpdate(UpdateOp op) {
  checkPlain(op, op.getDims(), "an index");
  checkPlain(op, op.getSyms(), "an index");
  State value = get(op.getValue());
  if (value.is(Kind::Bad))
    return;
  if (!value.is(Kind::Partial) || value.tainted) {
    State visible = value;
    if (value.is(Kind::Partial))
      visible.kind = Kind::Free;
    if (value.is(Kind::Chain) || value.tainted) {
      states[op.getValue()] = visible;
      checkPlain(op, op.getValue(), "an update");
      states[op.getValue()] = value;
      return;
    }
  }
  if (value.is(Kind::Partial) && value.combine != op.getKind()) {
    refuse(op, value, ("an update with `" + assignmentOf(op.getKind()) + "`").str());
    return;
  }
  Access access(op);
  uint64_t indexed = cutBits(mapAxes(op.getMap(), op.getDims()).names);
  if (uint64_t both = indexed & value.spans) {
    State along = value;
    along.spans = both;
    refuse(op, along, "each element along " + names(both) + " of this update");
    return;
  }
  uint64_t inScope = 0;
  for (size_t n = 0; n < scopes.size(); ++n)
    inScope |= uint64_t(1) << n;
  if (uint64_t missing = inScope & ~indexed & ~value.spans; missing && mayReport(op)) {
    std::string span = names(missing & -missing), text = context.words.of(op.getValue());
    auto diagnostic = context.error(op)
                      << "`" << context.spell(access) << "` " << verb(op.getKind()) << " "
                      << (StringRef(text).contains("…") ? std::string() : "`" + text + "` ")
                      << "once per block of " << span << ": the result depends on how " << span
                      << " is cut into blocks";
    diagnostic.attachNote(op.getLoc())
        << "hint: reduce over " << span << " first, as in `" << wordOf(op.getKind()) << "(…, "
        << StringRef(span).drop_front().drop_back() << ")`, or index `" << context.nameOf(access)
        << "` by " << span;
  }
}
