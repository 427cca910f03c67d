//===- Proofs.cpp - holds a kernel to the language's rules ----------------===//

#include "ir/proofs/Proofs.h"
#include "ir/proofs/ProofsDetail.h"
#include "ir/proofs/StaticAssertions.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tile::ir;

Access::Access(LoadOp load)
    : op(load), memory(cast<BlockArgument>(load.getSource())), map(load.getMap()),
      dims(load.getDims()), syms(load.getSyms()) {}
Access::Access(StoreOp store)
    : op(store), memory(cast<BlockArgument>(store.getTarget())), map(store.getMap()),
      dims(store.getDims()), syms(store.getSyms()) {}
Access::Access(UpdateOp update)
    : op(update), memory(cast<BlockArgument>(update.getTarget())), map(update.getMap()),
      dims(update.getDims()), syms(update.getSyms()) {}

ProofContext::ProofContext(KernelOp kernel)
    : kernel(kernel), domains(kernel), coordinates(kernel), words(coordinates),
      solver(coordinates) {
  Facts &launch = solver.launch();
  for (unsigned n = 0; n < kernel.getNumArguments(); ++n)
    if (isa<MemRefType>(kernel.getArgument(n).getType()))
      for (const Linear &extent : coordinates.extents(n))
        if ((!extent.isConstant() || extent.constant < 0) &&
            !llvm::is_contained(launch.notNegative, extent))
          launch.notNegative.push_back(extent);
  for (auto require : kernel.getBody().front().getOps<RequireOp>())
    assume(coordinates, require.getCondition(), true, launch);
  kernel.walk([&](RestrictOp restrict) {
    if (!restrict.getDims().empty())
      restricts[axisOf(restrict.getDims()[0])].push_back(restrict);
  });
}

bool ProofContext::isInScope(RestrictOp restrict, Operation *op) {
  Operation *ancestor = restrict->getBlock()->findAncestorOpInBlock(*op);
  return ancestor &&restrict->isBeforeInBlock(ancestor);
}

/// Adds what an enclosing op says about what runs inside.
static void addEnclosing(ProofContext &context, Operation *around, Operation *inner, Facts &facts) {
  Coordinates &c = context.coordinates;
  if (auto parallel = dyn_cast<ParallelOp>(around)) {
    for (unsigned n = 0; n < parallel.getEach().size(); ++n)
      if (parallel.getEach()[n])
        facts.addRange(c, c.trace(parallel.getBody().getArgument(n)),
                       c.trace(parallel.getLower()[n]), c.trace(parallel.getUpper()[n]));
  } else if (auto loop = dyn_cast<scf::ForOp>(around)) {
    Linear counter = c.trace(loop.getInductionVar()), lower = c.trace(loop.getLowerBound());
    facts.addRange(c, counter, lower, c.trace(loop.getUpperBound()));
    if (Linear step = c.trace(loop.getStep()); step.isConstant() && step.constant > 1)
      facts.zero.push_back(c.remainder(c.subtract(counter, lower), step));
  } else if (auto branch = dyn_cast<scf::IfOp>(around)) {
    assume(c, branch.getCondition(), branch.getThenRegion().isAncestor(inner->getParentRegion()),
           facts);
  } else if (isa<scf::WhileOp>(around)) {
    facts.isExact = false;
  }
}

Facts ProofContext::factsAt(Operation *op, ArrayRef<StringAttr> axes, bool withUnless) {
  Facts facts;
  for (StringAttr axis : axes) {
    auto [lower, upper] = domains.boundsOf(axis.getValue());
    facts.addRange(coordinates, coordinates.trace(domains.spanOf(axis.getValue())),
                   coordinates.trace(lower), coordinates.trace(upper));
    for (RestrictOp restrict : restricts.lookup(axis)) {
      bool applies = llvm::all_of(
          restrict.getDims(), [&](Value span) { return llvm::is_contained(axes, axisOf(span)); });
      if (!applies || (restrict.getUnless() && !withUnless) || !isInScope(restrict, op))
        continue;
      auto traceAll = [&](ValueRange values) {
        return llvm::map_to_vector(values, [&](Value value) { return coordinates.trace(value); });
      };
      IntegerSet set = restrict.getConstraint();
      Linear sum = coordinates.evaluate(set.getConstraint(0), traceAll(restrict.getDims()),
                                        traceAll(restrict.getSyms()));
      (set.isEq(0) ? facts.zero : facts.notNegative).push_back(sum);
    }
  }
  for (Operation *around = op->getParentOp(); around && around != kernel.getOperation();
       around = around->getParentOp())
    addEnclosing(*this, around, op, facts);
  return facts;
}

void ProofContext::baseAtoms(const Linear &sum, llvm::SmallSetVector<AtomId, 8> &atoms) const {
  llvm::SmallSetVector<AtomId, 16> open;
  auto add = [&](const Linear &linear) {
    for (auto [id, factor] : linear.terms)
      open.insert(id);
  };
  add(sum);
  for (size_t n = 0; n < open.size(); ++n) {
    const Atom &atom = coordinates[open[n]];
    if (!atom.isTerm())
      atoms.insert(open[n]);
    add(atom.a);
    add(atom.b);
    open.insert(atom.factors.begin(), atom.factors.end());
  }
}

std::string ProofContext::spellPoint(const Point &point, ArrayRef<Linear> sums,
                                     const Facts &context) {
  llvm::SmallSetVector<AtomId, 8> atoms;
  for (const Linear &sum : sums)
    baseAtoms(sum, atoms);
  // The dimensions that bound the coordinates belong to the picture.
  size_t direct = atoms.size();
  for (const Linear &fact : context.notNegative)
    for (size_t n = 0; n < direct; ++n)
      if (!coordinates[atoms[n]].isUniform && fact.factorOf(atoms[n]) != 0)
        baseAtoms(fact, atoms);
  std::string sides[2];
  for (AtomId id : atoms) {
    auto value = point.find(id);
    if (value == point.end())
      continue;
    std::string &side = sides[coordinates[id].isUniform ? 0 : 1];
    side += (side.empty() ? "" : ", ") + words.of(id) + " = " + std::to_string(value->second);
  }
  return sides[0].empty() || sides[1].empty() ? sides[0] + sides[1] : sides[0] + ": " + sides[1];
}

LogicalResult tile::ir::prove(KernelOp kernel) {
  ProofContext context(kernel);
  proveArithmetic(context);
  proveBounds(context);
  proveParameters(context);
  proveConditions(context);
  if (!kernel.isGrid()) // which has no blocks to cut
    proveFolds(context);
  context.failed |= failed(checkStaticAssertions(kernel));
  return failure(context.failed);
}

namespace {
class ProvePass : public PassWrapper<ProvePass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ProvePass)

  StringRef getArgument() const override { return "tile-prove"; }
  StringRef getDescription() const override { return "Holds kernels to the language's rules"; }

  void runOnOperation() override {
    getOperation()->walk([&](KernelOp kernel) {
      if (failed(prove(kernel)))
        signalPassFailure();
    });
  }
};
} // namespace

std::unique_ptr<Pass> tile::ir::createProvePass() { return std::make_unique<ProvePass>(); }
