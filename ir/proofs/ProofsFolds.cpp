//===- ProofsFolds.cpp - no value depends on how blocks are cut -----------===//

#include "ir/proofs/ProofsFolds.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::folds;

//===-- Loops and branches ------------------------------------------------===//

/// Enters a variable into a loop that folds it.
void FoldProof::enterFold(ForOp loop, unsigned n, uint64_t bit) {
  BlockArgument argument = loop.getCarried()[n];
  State state = get(loop.getInits()[n]);
  if (loop.getYield()->getOperand(n) != argument && !state.is(Kind::Bad)) {
    if (!state.is(Kind::Chain)) {
      State init = state;
      state = make(Kind::Chain, init.tainted);
      state.root = argument;
      if (init.is(Kind::Partial)) {
        state.rest = init.spans;
        state.combine = init.combine;
      } else if (!init.is(Kind::Constant)) {
        state.rest = 0;
      }
    }
    state.spans |= bit;
  }
  set(argument, state);
}

State FoldProof::leaveFold(ForOp loop, unsigned n) {
  BlockArgument argument = loop.getCarried()[n];
  State init = get(loop.getInits()[n]), entered = get(argument),
        yielded = get(loop.getYield()->getOperand(n));
  if (loop.getYield()->getOperand(n) == argument)
    return init;
  if (entered.is(Kind::Bad) || yielded.is(Kind::Bad))
    return bad(entered, yielded);
  if (!yielded.is(Kind::Chain) || yielded.root != entered.root || yielded.spans != entered.spans) {
    if (mayReport(loop, entered.root)) {
      Operation *assigned = loop.getYield()->getOperand(n).getDefiningOp();
      Location loc = assigned ? assigned->getLoc() : loop.getLoc();
      auto diagnostic = context.error(loc)
                        << variable(entered.root) << " is assigned, not folded, in the loop over `"
                        << loop.getName() << "`: its last value depends on how `" << loop.getName()
                        << "` is cut into blocks";
      diagnostic.attachNote(entered.root.getLoc())
          << variable(entered.root) << " is carried from here";
      diagnostic.attachNote(loc)
          << "hint: fold with `+=`, `*=`, `max=`, `min=`, `&=`, `|=` or `^=`, or mark the loop "
             "`reassociable` or `sequential(n)`";
    }
    return bad(entered, yielded);
  }
  if (init.is(Kind::Chain)) {
    State result = yielded;
    result.spans = init.spans;
    return result;
  }
  if (yielded.step)
    return make(Kind::Free, yielded.tainted);
  if (!yielded.combine) // nothing was folded
    return init;
  return makePartial(yielded.rest.value_or(0), *yielded.combine, yielded.tainted);
}

State FoldProof::leaveReassociable(ForOp loop, unsigned n, uint64_t bit) {
  State init = get(loop.getInits()[n]);
  if (loop.getYield()->getOperand(n) == loop.getCarried()[n])
    return init;
  checkPlain(loop, loop.getInits()[n], "a `reassociable` loop", /*taintIsFine=*/true);
  checkPlain(loop, loop.getYield()->getOperand(n), "a variable of a `reassociable` loop",
             /*taintIsFine=*/true);
  State yielded = get(loop.getYield()->getOperand(n));
  State result = init.isPlain() && yielded.isPlain() ? make(Kind::Free) : make(Kind::Bad);
  result.tainted = (init.tainted | yielded.tainted) & ~bit;
  return result;
}

/// Carries a value around a loop that may be run any number of times.
void FoldProof::around(Operation *loop, Value argument, Value init, Value yielded, Value result) {
  State before = states.lookup(argument);
  State joined = join(join(before, get(init)), states.lookup(yielded));
  if (joined.is(Kind::Bad) && !before.is(Kind::Bad))
    conflicts[argument] = {get(init), states.lookup(yielded)};
  if (!(joined == before)) {
    set(argument, joined);
    changed = true;
  }
  set(result, joined);
  auto conflict = conflicts.find(argument);
  if (!reporting || conflict == conflicts.end())
    return;
  auto [entering, returning] = conflict->second;
  if (entering.is(Kind::Bad) || returning.is(Kind::Bad))
    return;
  for (const State *side : {&returning, &entering}) {
    if (side->is(Kind::Chain)) {
      refuseRead(loop, *side);
      return;
    }
    if (side->is(Kind::Partial)) {
      refuse(loop, *side, "a variable of this loop");
      return;
    }
  }
}

void FoldProof::visitFor(ForOp loop) {
  checkPlain(loop, {loop.getLower(), loop.getUpper()}, "a bound of the loop");
  unsigned count = loop.getInits().size();
  if (loop.getKind() == LoopKind::sequential) {
    for (unsigned n = 0; n < count; ++n)
      around(loop, loop.getCarried()[n], loop.getInits()[n], {}, loop.getResult(n));
    visit(loop.getBody().front());
    for (unsigned n = 0; n < count; ++n)
      around(loop, loop.getCarried()[n], loop.getInits()[n], loop.getYield()->getOperand(n),
             loop.getResult(n));
    return;
  }
  if (scopes.size() == 64) {
    isTooDeep = true;
    return;
  }
  bool isReassociable = loop.getKind() == LoopKind::reassociable;
  uint64_t bit = uint64_t(1) << scopes.size();
  scopes.push_back({loop.getNameAttr(), loop, isReassociable});
  for (unsigned n = 0; n < count; ++n) {
    bool isUnchanged = loop.getYield()->getOperand(n) == loop.getCarried()[n];
    if (!isReassociable)
      enterFold(loop, n, bit);
    else
      set(loop.getCarried()[n], isUnchanged
                                    ? get(loop.getInits()[n])
                                    : make(Kind::Free, get(loop.getInits()[n]).tainted | bit));
  }
  visit(loop.getBody().front());
  SmallVector<State> results;
  for (unsigned n = 0; n < count; ++n)
    results.push_back(isReassociable ? leaveReassociable(loop, n, bit) : leaveFold(loop, n));
  scopes.pop_back();
  for (unsigned n = 0; n < count; ++n)
    set(loop.getResult(n), results[n]);
}

void FoldProof::visitCount(scf::ForOp loop) {
  checkPlain(loop, {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
             "a bound of the loop");
  for (bool after : {false, true}) {
    for (unsigned n = 0; n < loop.getInitArgs().size(); ++n)
      around(loop, loop.getRegionIterArgs()[n], loop.getInitArgs()[n],
             after ? loop.getYieldedValues()[n] : Value(), loop.getResult(n));
    if (!after)
      visit(*loop.getBody());
  }
}

void FoldProof::visitIf(scf::IfOp op) {
  checkPlain(op, op.getCondition(), "the condition of `if`");
  for (Region &region : op->getRegions())
    if (!region.empty())
      visit(region.front());
  for (unsigned n = 0; n < op.getNumResults(); ++n) {
    State a = get(op.thenYield()->getOperand(n)), b = get(op.elseYield()->getOperand(n));
    State joined = join(a, b);
    if (joined.is(Kind::Bad) && !a.is(Kind::Bad) && !b.is(Kind::Bad)) {
      const State &side = a.is(Kind::Chain) || a.is(Kind::Partial) ? a : b;
      if (side.is(Kind::Chain))
        refuseRead(op, side);
      else
        refuse(op, side, "one branch of `if`");
    }
    set(op.getResult(n), joined);
  }
}

void FoldProof::visitWhile(scf::WhileOp op) {
  auto condition = op.getConditionOp();
  for (bool after : {false, true}) {
    for (unsigned n = 0; n < op.getInits().size(); ++n) {
      checkPlain(op, op.getInits()[n], "a variable of `while`", /*taintIsFine=*/true);
      State init = get(op.getInits()[n]);
      State entering = init.isPlain() ? make(Kind::Free, init.tainted) : bad(init);
      State back = after ? get(op.getYieldOp()->getOperand(n)) : State();
      State joined = join(join(states.lookup(op.getBeforeArguments()[n]), entering), back);
      changed |= !(joined == states.lookup(op.getBeforeArguments()[n]));
      set(op.getBeforeArguments()[n], joined);
    }
    if (after)
      break;
    visit(*op.getBeforeBody());
    checkPlain(op, condition.getCondition(), "the condition of `while`");
    for (unsigned n = 0; n < op.getNumResults(); ++n) {
      set(op.getAfterArguments()[n], get(condition.getArgs()[n]));
      set(op.getResult(n), get(condition.getArgs()[n]));
    }
    visit(*op.getAfterBody());
    checkPlain(op, op.getYieldOp()->getOperands(), "a variable of `while`", /*taintIsFine=*/true);
  }
}

void FoldProof::visit(Operation &op) {
  if (auto loop = dyn_cast<ForOp>(op))
    return visitFor(loop);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitCount(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return visitWhile(loop);
  if (auto store = dyn_cast<StoreOp>(op))
    return checkStore(store);
  if (auto update = dyn_cast<UpdateOp>(op))
    return checkUpdate(update);
  if (isa<AssertOp>(op))
    return checkPlain(&op, op.getOperands(), "an assertion");
  if (isa<RestrictOp, AxisOp, RequireOp>(op)) {
    checkPlain(&op, op.getOperands(), isa<AxisOp>(op) ? "a bound of an axis" : "a condition");
    return;
  }
  if (auto scan = dyn_cast<ScanOp>(op))
    return visitScan(scan);
  if (op.hasTrait<OpTrait::IsTerminator>() || op.getNumResults() == 0)
    return;
  auto left = [&] { return get(op.getOperand(0)); };
  auto right = [&] { return get(op.getOperand(1)); };
  State state;
  Attribute number;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    state = stateOfReduce(reduce);
  else if (auto dot = dyn_cast<DotOp>(op))
    state = stateOfDot(dot);
  else if (auto count = dyn_cast<CountOp>(op))
    state = stateOfCount(count);
  else if (auto broadcast = dyn_cast<BroadcastOp>(op))
    state = stateOfBroadcast(broadcast);
  else if (matchPattern(&op, m_Constant(&number))) {
    if (auto splat = dyn_cast<SplatElementsAttr>(number))
      number = splat.getSplatValue<Attribute>();
    state = make(isa<FloatAttr, IntegerAttr>(number) ? Kind::Constant : Kind::Free);
    state.constant = dyn_cast<TypedAttr>(number);
  } else if (auto kind = combineOf(&op))
    state = combine(&op, left(), right(), *kind);
  else if (isa<arith::SubFOp, arith::SubIOp>(op))
    state = right().is(Kind::Chain) ? refuseRead(&op, right())
                                    : combine(&op, left(), negate(&op, right()), CombineKind::add);
  else if (isa<arith::NegFOp>(op))
    state = negate(&op, left());
  else if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    state = castFloat(&op);
  else if (isa<arith::MulFOp, arith::MulIOp>(op))
    state = scale(&op, left(), right(), /*divides=*/false);
  else if (isa<arith::DivFOp>(op))
    state = scale(&op, left(), right(), /*divides=*/true);
  else if (isa<math::FmaOp>(op))
    state = combine(&op, scale(&op, left(), right(), /*divides=*/false), get(op.getOperand(2)),
                    CombineKind::add);
  else
    state = other(&op);
  if (auto along = dyn_cast<AlongAxes>(op); along && along.needsWholeAxis() && !state.is(Kind::Bad))
    if (uint64_t cut = cutBits(along.getAxesAlong())) {
      if (mayReport(&op)) {
        auto diagnostic = context.error(&op) << "`" << along.getWord() << "` needs its whole axis; "
                                             << names(cut) << " is a block";
        diagnostic.attachNote(op.getLoc())
            << "hint: read the whole dimension: `:`, or `let n = whole(…)`";
      }
      state = bad(state);
    }
  for (Value result : op.getResults())
    set(result, state);
}

void FoldProof::visit(Block &block) {
  for (Operation &op : block)
    visit(op);
}

/// A chain is a line: no value of it has two uses, save in branches of one `if`.
void FoldProof::checkUses() {
  auto exclude = [](Operation *a, Operation *b) {
    for (Operation *around = a->getParentOp(); around; around = around->getParentOp())
      if (auto branch = dyn_cast<scf::IfOp>(around);
          branch && branch->isProperAncestor(b) &&
          branch.getThenRegion().isAncestor(a->getParentRegion()) !=
              branch.getThenRegion().isAncestor(b->getParentRegion()))
        return true;
    return false;
  };
  auto check = [&](Value value) {
    State state = states.lookup(value);
    if (!state.is(Kind::Chain) || value.hasOneUse() || value.use_empty())
      return;
    // Showing it changes nothing.
    SmallVector<Operation *> users;
    for (Operation *user : value.getUsers())
      if (!isa<PrintOp>(user))
        users.push_back(user);
    // What is no step of the chain was refused where it stands.
    for (size_t a = 0; a < users.size(); ++a)
      for (size_t b = 0; b < a; ++b)
        if (users.size() > 16 || !exclude(users[a], users[b])) {
          // Uses come last first; name the later one.
          refuseRead(users[b], state);
          return;
        }
  };
  context.kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      check(result);
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        check(argument);
  });
}

/// Values that no rule has a word for: where they come from.
void FoldProof::reportFirstBad() {
  auto isBad = [&](Value value) {
    auto state = states.find(value);
    return state != states.end() && state->second.is(Kind::Bad);
  };
  auto report = [&](Location loc) {
    StringRef name = nameIn(loc);
    auto diagnostic = context.error(loc)
                      << (name.empty() ? "this" : "`" + name.str() + "`")
                      << " can't be shown to be the same however spans are cut into blocks";
    diagnostic.attachNote(loc)
        << "hint: in a loop over blocks a variable is folded, by `+=` and the like, with what is "
           "reduced over the loop's span";
  };
  context.kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (llvm::none_of(op->getResults(), isBad) || llvm::any_of(op->getOperands(), isBad))
      return WalkResult::advance();
    // Of a loop or branch: what in it is at fault, if something is.
    bool isInside = op->walk([&](Operation *inner) {
                        bool isFirst = inner != op && llvm::any_of(inner->getResults(), isBad);
                        return isFirst ? WalkResult::interrupt() : WalkResult::advance();
                      }).wasInterrupted();
    if (isInside)
      return WalkResult::advance();
    report(op->getLoc());
    return WalkResult::interrupt();
  });
  // Carried around in a circle: the first of them.
  context.kernel.walk<WalkOrder::PreOrder>([&](Block *block) {
    for (Value argument : block->getArguments())
      if (isBad(argument) && !context.failed)
        report(argument.getLoc());
  });
}

void FoldProof::run() {
  auto parallel = context.kernel.getParallel();
  Block &body = parallel.getBody().front();
  for (auto [n, argument] : llvm::enumerate(body.getArguments()))
    if (!parallel.getEach()[n] && scopes.size() < 64)
      scopes.push_back({axisOf(argument), parallel});
  isTooDeep = scopes.size() == 64;
  for (unsigned sweep = 0; sweep == 0 || (changed && sweep < 256); ++sweep) {
    changed = false;
    visit(context.kernel.getBody().front());
    visit(body);
  }
  if (isTooDeep || changed) {
    context.error(context.kernel) << "this kernel nests too many loops over blocks to be checked";
    return;
  }
  bool failedBefore = context.failed;
  context.failed = false;
  reporting = true;
  visit(context.kernel.getBody().front());
  visit(body);
  checkUses();
  if (!context.failed)
    reportFirstBad();
  context.failed |= failedBefore;
}

void tile::ir::proveFolds(ProofContext &context) { FoldProof(context).run(); }
