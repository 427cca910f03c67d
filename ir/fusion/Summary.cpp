//===- Summary.cpp - what a kernel does to memory, from its IR alone ------===//

#include "ir/fusion/Summary.h"
#include "ir/proofs/ProofsDetail.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::ir;

KernelSummary::KernelSummary(KernelOp kernel) : proofs(std::make_unique<ProofContext>(kernel)) {
  proofs->words.markWholeAxes();
  collectSpace();
  collectAccesses();
  collectEffects();
  findRoles();
}

KernelSummary::~KernelSummary() = default;

KernelOp KernelSummary::kernel() const { return proofs->kernel; }

//===-- The space ---------------------------------------------------------===//

static std::optional<int64_t> knownSize(int64_t size) {
  return ShapedType::isDynamic(size) ? std::nullopt : std::optional(size);
}

void KernelSummary::collectSpace() {
  using Kind = SpaceDimension::Kind;
  Coordinates &c = proofs->coordinates;
  std::vector<SpaceDimension> loops, axes;
  auto make = [&](Kind kind, Operation *binder, Value value, Value lower, Value upper) {
    SpaceDimension made{kind,
                        binder,
                        value,
                        proofs->words.of(value),
                        c.trace(value),
                        c.trace(lower),
                        c.trace(upper),
                        Coordinates::constant(1),
                        {},
                        {}};
    return made;
  };
  kernel().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto parallel = dyn_cast<ParallelOp>(op)) {
      for (auto [n, binder] : llvm::enumerate(parallel.getBody().getArguments())) {
        SpaceDimension made = make(parallel.getEach()[n] ? Kind::Each : Kind::Tiles, op, binder,
                                   parallel.getLower()[n], parallel.getUpper()[n]);
        if (made.kind == Kind::Tiles)
          made.size = knownSize(parallel.getSizes()[n]);
        dimensions.push_back(std::move(made));
      }
    } else if (auto loop = dyn_cast<ForOp>(op)) {
      loops.push_back(make(Kind::Loop, op, loop.getSpan(), loop.getLower(), loop.getUpper()));
      loops.back().size = knownSize(loop.getSize());
    } else if (auto count = dyn_cast<scf::ForOp>(op)) {
      loops.push_back(make(Kind::Counter, op, count.getInductionVar(), count.getLowerBound(),
                           count.getUpperBound()));
      loops.back().step = c.trace(count.getStep());
    } else if (isa<scf::WhileOp>(op)) {
      SpaceDimension made{Kind::While, op, {}, "while", {}, {}, {}, {}, {}, {}};
      loops.push_back(std::move(made));
    } else if (auto axis = dyn_cast<AxisOp>(op)) {
      axes.push_back(make(Kind::Axis, op, axis.getSpan(), axis.getLower(), axis.getUpper()));
    }
  });
  llvm::append_range(dimensions, loops);
  llvm::append_range(dimensions, axes);
}

/// The dimensions around an op, and those of the axes of its tile.
SmallVector<unsigned> KernelSummary::pointsOf(Operation *op, ArrayRef<StringAttr> axes) const {
  SmallVector<unsigned> points;
  for (auto [n, dimension] : llvm::enumerate(dimensions)) {
    bool takesPart = dimension.kind == SpaceDimension::Kind::Axis
                         ? llvm::is_contained(axes, axisOf(dimension.value))
                         : dimension.binder->isProperAncestor(op);
    if (takesPart)
      points.push_back(n);
  }
  return points;
}

//===-- Accesses ----------------------------------------------------------===//

void KernelSummary::collectAccesses() {
  using Kind = AccessSummary::Kind;
  using Outside = AccessSummary::Outside;
  auto add = [&](Kind kind, Operation *op, Value memory, Outside outside, AffineMap map,
                 ValueRange dims, ValueRange syms) -> AccessSummary & {
    AccessSummary access{kind, op,      cast<BlockArgument>(memory).getArgNumber(),
                         {},   {},      {},
                         {},   outside, AccessSummary::Precision::Exact,
                         {},   {},      {}};
    summarize(access, map, dims, syms);
    accessList.push_back(std::move(access));
    return accessList.back();
  };
  Outside inside = kernel().isGrid() ? Outside::Promised : Outside::Proved;
  auto ofLoad = [&](LoadOp load) {
    switch (load.getBounds()) {
    case BoundsMode::exact:
      return inside;
    case BoundsMode::pad:
      return Outside::Padded;
    case BoundsMode::clamp:
      return Outside::Clamped;
    case BoundsMode::within:
      return Outside::Promised;
    }
    llvm_unreachable("all modes are handled");
  };
  kernel().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op)) {
      add(Kind::Read, op, load.getSource(), ofLoad(load), load.getMap(), load.getDims(),
          load.getSyms());
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      add(Kind::Write, op, store.getTarget(), store.getDrops() ? Outside::Dropped : inside,
          store.getMap(), store.getDims(), store.getSyms());
    } else if (auto update = dyn_cast<UpdateOp>(op)) {
      AccessSummary &access = add(Kind::Update, op, update.getTarget(), inside, update.getMap(),
                                  update.getDims(), update.getSyms());
      access.combination = wordOf(update.getKind()).str();
      if (access.precision == AccessSummary::Precision::DataDependent)
        access.outside = Outside::Dropped;
    } else if (auto atomic = dyn_cast<AtomicOp>(op)) {
      AccessSummary &access =
          add(Kind::Atomic, op, atomic.getTarget(), atomic.getDrops() ? Outside::Dropped : inside,
              atomic.getMap(), atomic.getDims(), atomic.getSyms());
      access.combination = stringifyAtomicKind(atomic.getKind()).str();
    }
  });
}

static void addReason(AccessSummary &access, const Twine &reason) {
  if (!llvm::is_contained(access.reasons, reason.str()))
    access.reasons.push_back(reason.str());
  if (access.precision == AccessSummary::Precision::Exact)
    access.precision = AccessSummary::Precision::OverApproximate;
}

void KernelSummary::summarize(AccessSummary &access, AffineMap map, ValueRange dims,
                              ValueRange syms) {
  Value memory = kernel().getArgument(access.parameter);
  SmallVector<StringAttr> axes = mapAxes(map, dims).names;
  // An atomic operation runs over the axes of what it combines with, too.
  if (auto atomic = dyn_cast<AtomicOp>(access.op))
    axes = atomic.getAxisList().names;
  access.element = proofs->coordinates.indices(map, dims, syms);
  access.text = proofs->words.access(memory, map, dims, syms);
  access.over = pointsOf(access.op, axes);
  judgeIndices(access);
  judgeRanges(access);
  addConditions(access, axes);
}

//===-- What is known of them ---------------------------------------------===//

/// The tensors that a value is computed from.
static void collectLoads(Value value, llvm::SmallSetVector<unsigned, 4> &tensors,
                         llvm::SmallPtrSet<Operation *, 32> &seen) {
  Operation *op = value.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(value))
    op = argument.getOwner()->getParentOp();
  if (!op || isa<KernelOp, ParallelOp>(op) || !seen.insert(op).second)
    return;
  op->walk([&](Operation *inner) {
    auto load = dyn_cast<LoadOp>(inner);
    if (load)
      tensors.insert(cast<BlockArgument>(load.getSource()).getArgNumber());
    for (Value operand : inner->getOperands())
      if (!isa<SpanType, MemRefType>(operand.getType()))
        collectLoads(operand, tensors, seen);
  });
}

SmallVector<unsigned> KernelSummary::tensorsBehind(const Linear &sum) const {
  llvm::SmallSetVector<AtomId, 8> atoms;
  proofs->baseAtoms(sum, atoms);
  llvm::SmallSetVector<unsigned, 4> tensors;
  llvm::SmallPtrSet<Operation *, 32> seen;
  for (AtomId atom : atoms)
    if (Value value = proofs->coordinates[atom].value;
        value && proofs->coordinates[atom].kind == Atom::Kind::Data)
      collectLoads(value, tensors, seen);
  SmallVector<unsigned> sorted = tensors.takeVector();
  llvm::sort(sorted);
  return sorted;
}

/// " on data of `ids`", or nothing where no tensor is behind it.
std::string KernelSummary::spellData(const Linear &sum) const {
  std::string text;
  for (unsigned tensor : tensorsBehind(sum))
    text += (text.empty() ? " on data of `" : ", `") +
            proofs->words.parameter(kernel().getArgument(tensor)) + "`";
  return text;
}

void KernelSummary::judgeIndices(AccessSummary &access) {
  Coordinates &c = proofs->coordinates;
  llvm::SmallSetVector<unsigned, 4> data;
  for (const Linear &index : access.element) {
    if (!c.hasData(index))
      continue;
    SmallVector<unsigned> tensors = tensorsBehind(index);
    data.insert(tensors.begin(), tensors.end());
    if (c.mentions(index, [&](AtomId id) { return c[id].kind == Atom::Kind::Choice; }))
      addReason(access, "a condition chooses an index");
    else if (tensors.empty())
      addReason(access, "an index is computed in a way that is not followed");
  }
  access.data = data.takeVector();
  llvm::sort(access.data);
  if (!access.data.empty())
    access.precision = AccessSummary::Precision::DataDependent;
}

void KernelSummary::judgeRanges(AccessSummary &access) {
  Coordinates &c = proofs->coordinates;
  for (unsigned n : access.over) {
    const SpaceDimension &dimension = dimensions[n];
    if (dimension.kind == SpaceDimension::Kind::While)
      addReason(access, "it stands in a `while`");
    for (const Linear *bound : {&dimension.lower, &dimension.upper, &dimension.step})
      if (c.hasData(*bound))
        addReason(access, "the range of `" + dimension.name + "` depends" +
                              (spellData(*bound).empty() ? std::string(" on what it computes")
                                                         : spellData(*bound)));
  }
}

/// Takes a condition into the domain, or the reason why it isn't there.
void KernelSummary::addCondition(AccessSummary &access, const Linear &sum, bool isZero) {
  if (!proofs->coordinates.hasData(sum)) {
    SmallVector<Linear> &taken = isZero ? access.domain.zero : access.domain.notNegative;
    if (!llvm::is_contained(taken, sum))
      taken.push_back(sum);
    return;
  }
  std::string data = spellData(sum);
  addReason(access, "`" + spellCondition(sum, isZero) + "` depends" +
                        (data.empty() ? " on what it computes" : data));
}

void KernelSummary::addConditions(AccessSummary &access, ArrayRef<StringAttr> axes) {
  Coordinates &c = proofs->coordinates;
  auto sumOf = [&](RestrictOp restrict) {
    auto traceAll = [&](ValueRange values) {
      return llvm::map_to_vector(values, [&](Value value) { return c.trace(value); });
    };
    return c.evaluate(restrict.getConstraint().getConstraint(0), traceAll(restrict.getDims()),
                      traceAll(restrict.getSyms()));
  };
  SmallVector<RestrictOp> applied = proofs->domains.restrictsOn(axes);
  for (RestrictOp restrict : applied) {
    if (!ProofContext::isInScope(restrict, access.op))
      continue;
    bool isZero = restrict.getConstraint().isEq(0);
    if (restrict.getUnless())
      addReason(access, "`" + spellCondition(sumOf(restrict), isZero) + "` can be switched off");
    else
      addCondition(access, sumOf(restrict), isZero);
  }
  for (Operation *around = access.op->getParentOp(); around != kernel();
       around = around->getParentOp()) {
    if (auto branch = dyn_cast<scf::IfOp>(around)) {
      Facts facts;
      bool holds = branch.getThenRegion().isAncestor(access.op->getParentRegion());
      assume(c, branch.getCondition(), holds, facts);
      for (const Linear &sum : facts.notNegative)
        addCondition(access, sum, /*isZero=*/false);
      for (const Linear &sum : facts.zero)
        addCondition(access, sum, /*isZero=*/true);
      if (!facts.isExact) {
        std::string condition = proofs->words.of(branch.getCondition());
        addReason(access, condition == "…" ? std::string("it stands under an `if`")
                                           : "it stands under an `if` on `" + condition + "`");
      }
    }
    // Blocks of a loop without an element are skipped with all that stands in them.
    if (auto loop = dyn_cast<ForOp>(around))
      for (RestrictOp restrict : proofs->domains.restrictsOf(loop))
        if (!llvm::is_contained(applied, restrict))
          addReason(access, "blocks of `" + loop.getName() + "` are skipped where `" +
                                spellCondition(sumOf(restrict), restrict.getConstraint().isEq(0)) +
                                "` holds nowhere");
  }
}

//===-- Effects -----------------------------------------------------------===//

void KernelSummary::collectEffects() {
  using Kind = EffectSummary::Kind;
  Coordinates &c = proofs->coordinates;
  auto make = [&](Kind kind, Operation *op, TypeRange types) {
    EffectSummary effect{kind, op, {}, {}, {}, {}, {}, true};
    AxisList axes;
    for (Type type : types)
      if (isa<TensorType>(type))
        axes.addFrom(type);
    effect.over = pointsOf(op, axes.names);
    return effect;
  };
  kernel().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto assertion = dyn_cast<AssertOp>(op)) {
      effectList.push_back(make(Kind::Assert, op, op->getOperandTypes()));
      effectList.back().message = assertion.getMessage().str();
    } else if (auto print = dyn_cast<PrintOp>(op)) {
      effectList.push_back(make(Kind::Print, op, op->getOperandTypes()));
      for (auto [n, part] : llvm::enumerate(print.getTexts().getAsValueRange<StringAttr>()))
        effectList.back().message += (n ? "{}" : "") + part.str();
    } else if (auto philox = dyn_cast<PhiloxOp>(op)) {
      EffectSummary effect = make(Kind::Random, op, op->getResultTypes());
      effect.seed = c.trace(philox.getSeed());
      effect.stream = c.trace(philox.getStream());
      effect.counter = c.trace(philox.getIndex());
      effect.isExact =
          !c.hasData(effect.seed) && !c.hasData(effect.stream) && !c.hasData(effect.counter);
      // The words of one counter are one draw.
      auto isSame = [&](const EffectSummary &other) {
        return other.kind == Kind::Random && other.over == effect.over &&
               other.seed == effect.seed && other.stream == effect.stream &&
               other.counter == effect.counter;
      };
      if (llvm::none_of(effectList, isSame))
        effectList.push_back(std::move(effect));
    }
  });
}
