//===- SummaryRoles.cpp - what becomes of each dimension ------------------===//
//
// Three things give a dimension its roles: ops along which its coordinates meet,
// variables that a loop carries from one coordinate to the next, and outputs,
// which either have its coordinates or combine over them. An op that no rule
// knows makes its dimension opaque.
//
//===----------------------------------------------------------------------===//

#include "ir/fusion/Summary.h"
#include "ir/proofs/ProofsFolds.h"

using namespace mlir;
using namespace tile::ir;

using Role = DimensionRole;

static void addRole(SpaceDimension &dimension, Role role) {
  auto place = llvm::lower_bound(dimension.roles, role);
  if (place == dimension.roles.end() || *place != role)
    dimension.roles.insert(place, std::move(role));
}

/// What an op makes of the axes along which elements meet.
static Role roleOf(AlongAxes op) {
  std::string word = op.getWord().str();
  Operation *plain = op;
  if (isa<ReduceOp, ArgReduceOp>(plain))
    return {Role::Kind::Reduce, word};
  if (isa<DotOp>(plain))
    return {Role::Kind::Contract, ""};
  if (auto scan = dyn_cast<ScanOp>(plain)) {
    bool isReduction =
        llvm::all_of(scan.getScanned(), [](Value value) { return value.use_empty(); });
    // `scan(f, …)` and `reduce(f, …)` combine by a function of the author's.
    bool isByFunction = word == "scan" || word == "reduce";
    return {isReduction ? Role::Kind::Reduce : Role::Kind::Scan, isByFunction ? "function" : word};
  }
  return {Role::Kind::Opaque, word};
}

//===-- Variables of loops ------------------------------------------------===//

namespace {
/// How a variable comes out of one round of a loop.
class Step {
public:
  explicit Step(ValueRange carried) : carried(carried) {}

  /// `variable` is one of those carried; Map means that it comes out as it went in.
  Role of(Value value, Value variable);

private:
  const Role inOrder{Role::Kind::Scan, "carried"};
  const Role asItWas{};

  Role join(const Role &a, const Role &b) const {
    return a == asItWas || a == b ? b : b == asItWas ? a : inOrder;
  }
  /// Whether the value has to do with any variable of the loop.
  bool isFree(Value value) {
    llvm::SmallPtrSet<Operation *, 32> seen;
    return !reaches(value, seen);
  }
  bool reaches(Value value, llvm::SmallPtrSetImpl<Operation *> &seen);
  Role ofLoop(Value result, ValueRange inits, ValueRange arguments, ValueRange yielded,
              Value variable);
  /// `chain` is what goes on with the variable, and the others have nothing to do with it.
  Role along(Role::Kind kind, StringRef how, Value chain, ArrayRef<Value> others, Value variable) {
    if (!llvm::all_of(others, [&](Value other) { return isFree(other); }))
      return inOrder;
    return join({kind, how.str()}, of(chain, variable));
  }
  Role ofCombination(Operation *op, Value variable);

  SmallVector<Value> carried;
};
} // namespace

bool Step::reaches(Value value, llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (llvm::is_contained(carried, value))
    return true;
  Operation *op = value.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    op = argument.getOwner()->getParentOp();
    // Of a loop around the one that carries them: it knows nothing of what goes on in here.
    if (llvm::any_of(carried, [&](Value variable) {
          return op->isAncestor(variable.getParentBlock()->getParentOp());
        }))
      return false;
  }
  if (!op || !seen.insert(op).second)
    return false;
  return op
      ->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (reaches(operand, seen))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// Through a loop inside: what enters goes on with the variable, and each of its rounds does, too.
Role Step::ofLoop(Value result, ValueRange inits, ValueRange arguments, ValueRange yielded,
                  Value variable) {
  unsigned n = cast<OpResult>(result).getResultNumber();
  if (!llvm::all_of(yielded, [&](Value value) {
        llvm::SmallPtrSet<Operation *, 32> seen;
        // From inside, the variables of this loop may come in by `inits` alone.
        for (Value argument : arguments)
          seen.insert(cast<BlockArgument>(argument).getOwner()->getParentOp());
        return !reaches(value, seen);
      }))
    return inOrder;
  return join(of(inits[n], variable), Step(arguments).of(yielded[n], arguments[n]));
}

/// Of an elementwise op with two operands, one of which goes on with the variable.
Role Step::ofCombination(Operation *op, Value variable) {
  Value left = op->getOperand(0), right = op->getOperand(1);
  std::string how;
  if (auto kind = folds::combineOf(op))
    how = wordOf(*kind).str();
  else if (isa<arith::MulFOp, arith::MulIOp>(op))
    how = wordOf(CombineKind::mul).str();
  else if (isa<arith::SubFOp, arith::SubIOp>(op))
    return along(Role::Kind::Reduce, wordOf(CombineKind::add), left, right, variable);
  else
    return inOrder;
  bool isLeft = !isFree(left);
  return along(Role::Kind::Reduce, how, isLeft ? left : right, isLeft ? right : left, variable);
}

Role Step::of(Value value, Value variable) {
  if (value == variable)
    return asItWas;
  Operation *op = value.getDefiningOp();
  if (!op)
    return inOrder;
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return of(broadcast.getInput(), variable);
  if (auto dot = dyn_cast<DotOp>(op))
    return along(Role::Kind::Contract, "", dot.getAcc(), {dot.getLhs(), dot.getRhs()}, variable);
  if (auto fma = dyn_cast<math::FmaOp>(op))
    return along(Role::Kind::Contract, "", fma.getC(), {fma.getA(), fma.getB()}, variable);
  if (auto scan = dyn_cast<ScanOp>(op)) {
    if (!llvm::is_contained(scan.getLast(), value) ||
        !llvm::all_of(scan.getInputs(), [&](Value in) { return isFree(in); }))
      return inOrder;
    return roleOf(cast<AlongAxes>(op));
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isFree(select.getCondition())
               ? join(of(select.getTrueValue(), variable), of(select.getFalseValue(), variable))
               : inOrder;
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned n = cast<OpResult>(value).getResultNumber();
    return isFree(branch.getCondition()) ? join(of(branch.thenYield().getOperand(n), variable),
                                                of(branch.elseYield().getOperand(n), variable))
                                         : inOrder;
  }
  if (auto loop = dyn_cast<ForOp>(op))
    return ofLoop(value, loop.getInits(), SmallVector<Value>(loop.getCarried()),
                  loop.getYield().getOperands(), variable);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return ofLoop(value, loop.getInitArgs(), SmallVector<Value>(loop.getRegionIterArgs()),
                  loop.getYieldedValues(), variable);
  return op->getNumOperands() == 2 ? ofCombination(op, variable) : inOrder;
}

/// The roles that a loop gives its dimension by what it carries.
static void addCarried(SpaceDimension &dimension) {
  SmallVector<Value> variables, yielded;
  bool isPromised = false;
  if (auto loop = dyn_cast<ForOp>(dimension.binder)) {
    llvm::append_range(variables, loop.getCarried());
    llvm::append_range(yielded, loop.getYield().getOperands());
    isPromised = loop.getKind() == LoopKind::reassociable;
  } else if (auto count = dyn_cast<scf::ForOp>(dimension.binder)) {
    llvm::append_range(variables, count.getRegionIterArgs());
    llvm::append_range(yielded, count.getYieldedValues());
  } else if (auto loop = dyn_cast<scf::WhileOp>(dimension.binder)) {
    addRole(dimension, {Role::Kind::Scan, "carried"});
  }
  Step step(variables);
  for (auto [variable, value] : llvm::zip(variables, yielded)) {
    Role role = step.of(value, variable);
    // The author promises that its blocks may be joined, whatever they do.
    if (role.kind == Role::Kind::Scan && role.how == "carried" && isPromised)
      role = {Role::Kind::Reduce, "promised"};
    if (role.kind != Role::Kind::Map)
      addRole(dimension, std::move(role));
  }
}

//===-- All of them -------------------------------------------------------===//

std::string DimensionRole::text() const {
  auto with = [&](StringRef word) { return (how.empty() ? word : word + "(" + how + ")").str(); };
  switch (kind) {
  case Kind::Map:
    return with("map");
  case Kind::Contract:
    return with("contract");
  case Kind::Reduce:
    return with("reduce");
  case Kind::Scan:
    return with("scan");
  case Kind::Opaque:
    return with("opaque");
  }
  llvm_unreachable("all kinds are handled");
}

void KernelSummary::findRoles() {
  Coordinates &c = proofs->coordinates;
  kernel().walk([&](AlongAxes op) {
    for (StringAttr axis : op.getAxesAlong())
      for (SpaceDimension &dimension : dimensions)
        if (dimension.value && isa<SpanType>(dimension.value.getType()) &&
            axisOf(dimension.value) == axis)
          addRole(dimension, roleOf(op));
  });
  for (SpaceDimension &dimension : dimensions)
    if (!dimension.isOfPrograms() && dimension.kind != SpaceDimension::Kind::Axis)
      addCarried(dimension);
  for (const AccessSummary &access : accessList) {
    if (access.kind == AccessSummary::Kind::Read)
      continue;
    for (unsigned n : access.over) {
      // An index of data may lead two coordinates to one element.
      std::optional<AtomId> atom = dimensions[n].coordinate.asAtom();
      bool isMapped =
          atom && llvm::any_of(access.element, [&](const Linear &index) {
            return !c.hasData(index) && c.mentions(index, [&](AtomId id) { return id == *atom; });
          });
      if (isMapped)
        addRole(dimensions[n], {});
      else if (access.kind == AccessSummary::Kind::Update && atom)
        addRole(dimensions[n], {Role::Kind::Reduce, access.combination});
      else if (access.kind == AccessSummary::Kind::Atomic && atom)
        addRole(dimensions[n], {Role::Kind::Opaque, "atomic"});
    }
  }
  for (SpaceDimension &dimension : dimensions) {
    if (kernel().isGrid() && dimension.isOfPrograms())
      dimension.roles = {{Role::Kind::Opaque, "grid"}};
    else if (dimension.roles.empty())
      dimension.roles = {{}};
  }
}
