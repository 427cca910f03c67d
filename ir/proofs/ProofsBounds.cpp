//===- ProofsBounds.cpp - every access lies inside its tensor -------------===//
//
// An access is proved dimension by dimension: no point of its domain has an
// index below zero or at or past the extent. The counters that indices are
// made of advance: a step is proved positive.
//
//===----------------------------------------------------------------------===//

#include "ir/proofs/ProofsDetail.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

/// Whether the sum is proved not negative; otherwise maybe with an example, where one is asked for.
static bool isHeld(ProofContext &context, const Facts &facts, const Linear &sum,
                   Point *example = nullptr) {
  if (context.solver.isObvious(facts, sum))
    return true;
  Coordinates &c = context.coordinates;
  Facts violated;
  violated.notNegative.push_back(c.plus(c.scale(sum, -1), -1));
  return context.solver.solve(facts, violated, example) == Solver::Answer::Impossible;
}

namespace {
/// One dimension of one access.
struct Check {
  ProofContext &context;
  const Access &access;
  unsigned dimension;
  const Linear &index, &extent;
  const Facts &facts;

  Coordinates &c() const { return context.coordinates; }
  std::string text() const {
    return context.words.index(access.map, dimension, access.dims, access.syms);
  }
  void run() const;
  void report(bool below, bool above, const Point &example) const;
  std::string hint(bool below, bool above) const;
};
} // namespace

void Check::run() const {
  Point below, above;
  bool isBelow = !isHeld(context, facts, index, &below);
  bool isAbove = !isHeld(context, facts, c().plus(c().subtract(extent, index), -1), &above);
  if (isBelow || isAbove)
    report(isBelow, isAbove, above.empty() ? below : above);
}

/// The upper bound of an index that is one coordinate: what its binder says.
static std::optional<Linear> upperOf(ProofContext &context, AtomId atom, const Facts &facts) {
  for (const Linear &fact : facts.notNegative)
    if (fact.factorOf(atom) == -1) {
      Linear upper =
          context.coordinates.plus(context.coordinates.add(fact, Coordinates::atom(atom)), 1);
      if (context.coordinates.isUniform(upper))
        return upper;
    }
  return std::nullopt;
}

std::string Check::hint(bool below, bool above) const {
  std::string name = context.nameOf(access), result;
  // e / (a / b) stays below b if b divides a.
  for (auto [id, factor] : index.terms)
    if (const Atom &quotient = c()[id]; quotient.kind == Atom::Kind::Quotient)
      if (auto inner = quotient.b.asAtom(); inner && c()[*inner].kind == Atom::Kind::Quotient)
        return "state `requires " + context.words.of(c()[*inner].a) + " % " +
               context.words.of(c()[*inner].b) + " == 0`";
  std::string bound = above ? text() + " < " + context.words.of(extent) : text() + " >= 0";
  if (auto atom = index.asAtom(); atom && above && !below)
    if (auto upper = upperOf(context, *atom, facts); upper && !(*upper == extent)) {
      result = "state `requires " + context.words.of(*upper) + " <= " + context.words.of(extent) +
               "`, or run `" + text() + "` over `" + context.words.of(extent) + "`";
      return isa<LoadOp>(access.op) ? result + "; or read `" + name + ".pad(0)[…]`" : result;
    }
  if (isa<LoadOp>(access.op))
    result = "read `" + name + ".pad(0)[…]` for zeros outside or `" + name +
             ".clamp[…]` for the nearest element, or ";
  if (c().isUniform(index))
    return result + "state `requires " + bound + "`";
  return result + "restrict a binder with `if " + bound + "`, or state a `requires`";
}

void Check::report(bool below, bool above, const Point &example) const {
  std::string name = context.nameOf(access), shown = context.spell(access);
  Location loc = access.op->getLoc();
  if (c().hasData(index)) {
    auto diagnostic = context.error(access.op)
                      << "`" << shown << "` may be outside `" << name << "` in dimension "
                      << dimension << ": its index `" << text() << "` comes from data";
    diagnostic.attachNote(loc) << "hint: read `" << name << ".pad(0)[…]` for zeros outside or `"
                               << name << ".clamp[…]` for the nearest element, or `" << name
                               << ".within[…]` if you are sure that it is inside";
    return;
  }
  std::string missing;
  if (below)
    missing = "`" + text() + " >= 0`";
  if (above)
    missing += (below ? " and `" : "`") + text() + " < " + context.words.of(extent) + "`";
  auto diagnostic = context.error(access.op)
                    << "`" << shown << "` may be outside `" << name << "` in dimension "
                    << dimension << ": nothing ensures " << missing;
  if (!example.empty() && facts.isExact) {
    if (auto element = context.solver.evaluate(index, example)) {
      std::string values = context.spellPoint(example, {index, extent}, facts);
      diagnostic.attachNote(loc) << "for example " << values << (values.empty() ? "it " : " ")
                                 << (isa<LoadOp>(access.op) ? "reads" : "writes") << " element "
                                 << *element;
    }
  }
  diagnostic.attachNote(loc) << "hint: " << hint(below, above);
}

/// Whether each index is proved to lie inside; no example is asked for.
static bool liesInside(ProofContext &context, const Access &access) {
  Coordinates &c = context.coordinates;
  SmallVector<Linear> indices = c.indices(access.map, access.dims, access.syms);
  SmallVector<Linear> extents = c.extents(access.parameter());
  Facts facts = context.factsAt(access);
  return llvm::all_of(llvm::zip(indices, extents), [&](auto pair) {
    auto [index, extent] = pair;
    return !c.hasData(index) && isHeld(context, facts, index) &&
           isHeld(context, facts, c.plus(c.subtract(extent, index), -1));
  });
}

void tile::ir::dropNeedlessBounds(KernelOp kernel) {
  ProofContext context(kernel);
  SmallVector<LoadOp> inside;
  kernel.walk([&](LoadOp load) {
    bool isChecked = load.getBounds() == BoundsMode::pad || load.getBounds() == BoundsMode::clamp;
    if (isChecked && liesInside(context, Access(load)))
      inside.push_back(load);
  });
  for (LoadOp load : inside) {
    load.getPadMutable().clear();
    load.setBounds(BoundsMode::exact);
  }
}

static void proveAccess(ProofContext &context, const Access &access) {
  SmallVector<Linear> indices = context.coordinates.indices(access.map, access.dims, access.syms);
  SmallVector<Linear> extents = context.coordinates.extents(access.parameter());
  Facts facts = context.factsAt(access);
  for (unsigned n = 0; n < indices.size(); ++n) {
    // Updates through data that fall outside are dropped; stores through data
    // are refused for not being one-to-one. With `within` the author promises.
    auto load = dyn_cast<LoadOp>(access.op);
    bool isAnsweredFor = !load || load.getBounds() == BoundsMode::within;
    if (isAnsweredFor && context.coordinates.hasData(indices[n]))
      continue;
    Check{context, access, n, indices[n], extents[n], facts}.run();
  }
}

/// The loop ends: its step is positive.
static void proveStep(ProofContext &context, scf::ForOp loop) {
  APInt number;
  if (matchPattern(loop.getStep(), m_ConstantInt(&number)) && number.isStrictlyPositive())
    return;
  Coordinates &c = context.coordinates;
  Linear step = c.trace(loop.getStep());
  if (isHeld(context, context.factsAt(loop, {}), c.plus(step, -1)))
    return;
  std::string name = context.words.of(step);
  auto diagnostic = context.error(loop)
                    << "nothing ensures that the step `" << name << "` is positive";
  diagnostic.attachNote(loop.getLoc())
      << "hint: "
      << (c.isUniform(step) && !c.hasData(step) ? "state `requires " + name + " >= 1`"
                                                : "write `step max(" + name + ", 1)`");
}

void tile::ir::proveBounds(ProofContext &context) {
  bool isGrid = context.kernel.isGrid();
  context.kernel.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      proveStep(context, loop);
    } else if (isGrid) {
      return; // its author answers for them
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      if (load.getBounds() == BoundsMode::exact || load.getBounds() == BoundsMode::within)
        proveAccess(context, Access(load));
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      proveAccess(context, Access(store));
    } else if (auto update = dyn_cast<UpdateOp>(op)) {
      proveAccess(context, Access(update));
    }
  });
}
