//===- Plan.cpp - which tiles are kept in scratch memory ------------------===//

#include "codegen/cpu/Plan.h"
#include "codegen/Elementwise.h"
#include "codegen/cpu/Lowering.h"
#include "codegen/cpu/ShortDims.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

bool Plan::isRoot(Operation *op) {
  return isa<StoreOp, UpdateOp, AtomicOp, AssertOp, PrintOp, AlongAxes, CountOp,
             RegionBranchOpInterface, ForOp>(op) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

static bool hasAxes(Value value) { return !axesOf(value.getType()).empty(); }

bool Plan::isPulled(Value value) const {
  Operation *op = value.getDefiningOp();
  return op && hasAxes(value) && !isRoot(op) && !kept.contains(value);
}

void Plan::forEachPulled(Value value, llvm::function_ref<void(Value)> visit) const {
  SmallVector<Value> open = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!hasAxes(next) || !seen.insert(next).second)
      continue;
    visit(next);
    if (isPulled(next))
      llvm::append_range(open, next.getDefiningOp()->getOperands());
  }
}

void Plan::forEachLeaf(Value value, llvm::function_ref<void(Value)> leaf) const {
  forEachPulled(value, [&](Value next) {
    if (!isPulled(next) || next.getDefiningOp<LoadOp>())
      leaf(next);
  });
}

bool Plan::mayWriteOrLeave(Operation *op) {
  return isRoot(op) && !isa<ReduceOp, ArgReduceOp, DotOp, ScanOp>(op);
}

void Plan::forEachStoreBehind(StoreOp op, llvm::function_ref<bool(StoreOp)> goesOn) const {
  llvm::SmallDenseSet<Value> read; // parameters, by what stands between
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (auto load = dyn_cast<LoadOp>(next))
      read.insert(load.getSource());
    auto store = dyn_cast<StoreOp>(next);
    if (!store && mayWriteOrLeave(next))
      break;
    if (store && !read.contains(store.getTarget()) &&
        llvm::all_of(store->getOperands(), [&](Value needed) { return isReadyAt(needed, op); }) &&
        !goesOn(store))
      return;
  }
}

bool Plan::isReadyAt(Value value, Operation *place) const {
  SmallVector<Value> open = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!seen.insert(next).second || !op || op->getBlock() != place->getBlock() ||
        op->isBeforeInBlock(place))
      continue;
    if (!isPulled(next) || !isMemoryEffectFree(op))
      return false;
    llvm::append_range(open, op->getOperands());
  }
  return true;
}

/// Whether it gives the same elements along more axes.
static bool isExpansion(Operation *op) {
  return isa<BroadcastOp>(op) &&
         axesOf(op->getResult(0).getType()).size() > axesOf(op->getOperand(0).getType()).size();
}

int64_t tile::codegen::likelyExtentOf(KernelOp kernel, const Domains &domains, StringAttr axis) {
  int64_t extent = cast<SpanType>(domains.spanOf(axis).getType()).getExtent();
  auto [lower, upper] = domains.boundsOf(axis);
  auto atMost = [&](int64_t most) {
    return ShapedType::isDynamic(extent) ? most : std::min(extent, most);
  };
  llvm::APInt first, last;
  if (matchPattern(lower, m_ConstantInt(&first)) && matchPattern(upper, m_ConstantInt(&last)))
    return atMost(std::max<int64_t>(0, last.getSExtValue() - first.getSExtValue()));
  auto likely = kernel->getAttrOfType<DictionaryAttr>(likelyDimsAttrName);
  auto dim = upper.getDefiningOp<DimOp>();
  auto known = likely && dim ? likely.getAs<IntegerAttr>(dim.getNameAttr()) : IntegerAttr();
  return known ? atMost(known.getInt()) : extent;
}

StringAttr tile::codegen::innermostAxis(AffineMap map, ValueRange dims) {
  if (map.getNumResults() == 0)
    return {};
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  Value dim = last ? dims[last.getPosition()] : Value();
  return dim && isa<SpanType>(dim.getType()) ? axisOf(dim) : StringAttr();
}

/// Along which axes of its block what is computed of a load is stored, where stores are all that
/// reads it, and nothing repeats its elements; else empty. Null stands for a store along none of
/// them. What is kept on the way is computed as it is read.
static llvm::SmallSetVector<StringAttr, 2> axesStoredAlong(LoadOp load,
                                                           const llvm::DenseSet<Value> &kept) {
  llvm::SmallSetVector<StringAttr, 2> axes;
  SmallVector<Value> open = {load};
  llvm::SmallDenseSet<Operation *> seen;
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      if (!seen.insert(user).second)
        continue;
      if (auto store = dyn_cast<StoreOp>(user))
        axes.insert(innermostAxis(store.getMap(), store.getDims()));
      else if (Plan::isRoot(user) || isa<LoadOp>(user) || isExpansion(user))
        return {};
      else
        llvm::copy_if(user->getResults(), std::back_inserter(open),
                      [&](Value result) { return !kept.contains(result); });
    }
  return axes;
}

/// An axis along which lanes of what is stored lie apart in what is loaded for it, of a block that
/// is long both ways; else null. Lanes then come from as many lines of a tensor, which are there no
/// more when their neighbours are asked for: the block is copied row by row.
static StringAttr axisReadAcross(LoadOp load, const llvm::DenseSet<Value> &kept) {
  constexpr int64_t longEnough = 16;
  auto type = dyn_cast<RankedTensorType>(load.getType());
  StringAttr inner = innermostAxis(load.getMap(), load.getDims());
  auto isLong = [&](StringAttr axis) {
    auto *found = llvm::find(axesOf(type), axis);
    return found != axesOf(type).end() &&
           type.getDimSize(found - axesOf(type).begin()) >= longEnough;
  };
  if (!type || !inner || !isLong(inner))
    return {};
  for (StringAttr along : axesStoredAlong(load, kept))
    if (along && along != inner && isLong(along))
      return along;
  return {};
}

namespace {
/// Decides from the last use backwards.
struct Planner {
  Planner(KernelOp kernel, const Plan &plan, llvm::DenseSet<Value> &kept,
          llvm::DenseSet<Value> &cut, DenseMap<Value, int> &costs,
          DenseMap<Value, StringAttr> &turned)
      : kernel(kernel), plan(plan), domains(kernel), kept(kept), cut(cut), costs(costs),
        turned(turned) {}

  KernelOp kernel;
  const Plan &plan; // as far as it is made: of a value's users
  Domains domains;
  llvm::DenseSet<Value> &kept, &cut;
  DenseMap<Value, int> &costs;
  DenseMap<Value, StringAttr> &turned;
  StringAttr rowsAcross; // of the first load that is read across
  bool countsRoundings = true;
  /// The nests that compute a value; and those that would if no chain were cut.
  using Nests = llvm::SmallDenseSet<Operation *, 4>;
  DenseMap<Value, Nests> nests, nestsUncut;
  /// Steps before a value, and behind it.
  DenseMap<Value, int> before, behind;
  bool hasLongChain = false;        // which could be cut
  bool mayCut = false;              // chains; and then
  llvm::DenseSet<Value> keptAnyway; // has what is kept without cuts
  /// Whether a cut is kept hangs on tile sizes, in which machines differ. The order of a sum hangs
  /// on what it costs, which doesn't hang on that.
  llvm::DenseSet<Value> keptForCut;

  static constexpr int64_t few = 64; // four vectors

  /// Whether a tile of these axes has room: they are a program's blocks, or short.
  bool isSmall(ArrayRef<StringAttr> axes) {
    return llvm::all_of(axes, [&](StringAttr axis) {
      int64_t extent = likelyExtentOf(kernel, domains, axis);
      return domains.isBlock(axis) || (!ShapedType::isDynamic(extent) && extent <= few);
    });
  }

  /// Whether lanes of what it is computed of are picked out of several rows of few elements
  /// (ScalarLowering::readOfRows).
  bool isPickedApart(Value value) {
    SmallVector<Value> open = {value};
    llvm::SmallDenseSet<Value> seen;
    while (!open.empty()) {
      Value next = open.pop_back_val();
      Operation *op = next.getDefiningOp();
      if (!seen.insert(next).second || !op || !hasAxes(next) || Plan::isRoot(op) ||
          (next != value && kept.contains(next)))
        continue;
      auto load = dyn_cast<LoadOp>(op);
      StringAttr inner = load ? innermostAxis(load.getMap(), load.getDims()) : StringAttr();
      int64_t extent = inner ? likelyExtentOf(kernel, domains, inner) : 0;
      if (extent >= 2 && extent <= mostOfFew && axesOf(load.getType()).size() > 1)
        return true;
      llvm::append_range(open, op->getOperands());
    }
    return false;
  }

  /// Whether a launch knows how long each axis is at most, and so what a tile takes.
  bool hasKnownRoom(ArrayRef<StringAttr> axes) const {
    return llvm::all_of(axes, [&](StringAttr axis) {
      auto [lower, upper] = domains.boundsOf(axis);
      int64_t extent = cast<SpanType>(domains.spanOf(axis).getType()).getExtent();
      return !ShapedType::isDynamic(extent) ||
             (ScalarLowering::isEntryValue(lower) && ScalarLowering::isEntryValue(upper));
    });
  }

  /// Whether the load reads, just as they lie there, all elements of a block of a tensor's columns:
  /// each row is a few lines, and a whole axis has the rows.
  bool isOfShortRows(LoadOp load) const {
    constexpr int64_t shortRow = 1024; // bytes
    auto type = dyn_cast<RankedTensorType>(load.getType());
    StringAttr inner = innermostAxis(load.getMap(), load.getDims());
    if (!type || !inner || !domains.isBlock(inner) || load.getBounds() != BoundsMode::exact ||
        !isMemoryEffectFree(load) || !domains.restrictsOn(axesOf(type)).empty() ||
        !hasKnownRoom(axesOf(type)))
      return false;
    llvm::SmallDenseSet<StringAttr> found;
    for (AffineExpr expr : load.getMap().getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      Value place = dim ? load.getDims()[dim.getPosition()] : Value();
      if (place ? !isa<SpanType>(place.getType()) || !found.insert(axisOf(place)).second
                : !expr.isSymbolicOrConstant())
        return false;
    }
    int64_t bytes = std::max(1U, type.getElementTypeBitWidth() / 8);
    int64_t extent = likelyExtentOf(kernel, domains, inner);
    return extent > 0 && bytes * extent <= shortRow &&
           llvm::any_of(axesOf(type), [&](StringAttr axis) { return !domains.isBlock(axis); });
  }

  /// How many elements share one of an expansion's operand; more than `few` where that is not
  /// known.
  int64_t sharing(BroadcastOp expansion) {
    ArrayRef<StringAttr> axes = axesOf(expansion.getInput().getType());
    int64_t sharing = 1;
    for (StringAttr axis : axesOf(expansion.getType()))
      if (!llvm::is_contained(axes, axis)) {
        int64_t extent = likelyExtentOf(kernel, domains, axis);
        if (ShapedType::isDynamic(extent) || extent > few)
          return few + 1;
        sharing *= std::max<int64_t>(1, extent);
      }
    return sharing;
  }

  /// Whether so few elements share one of an expansion's operand that what it costs as a scalar,
  /// before them, is a good part of theirs.
  bool isSharedByFew(BroadcastOp expansion) {
    return isSmall(axesOf(expansion.getInput().getType())) &&
           !expansion.getInput().getDefiningOp<BroadcastOp>() && sharing(expansion) <= few;
  }

  /// Whether neighbours share it: nests over them compute it outside of the innermost loop.
  bool isSharedByMany(BroadcastOp expansion) {
    StringAttr last = axesOf(expansion.getType()).back();
    return isExpansion(expansion) && sharing(expansion) > few &&
           !llvm::is_contained(axesOf(expansion.getInput().getType()), last);
  }

  /// Then it is kept, so that it is computed in vectors.
  bool isKeptFor(BroadcastOp expansion) {
    constexpr int dear = 4; // a division
    return isExpansion(expansion) && isSharedByFew(expansion) &&
           costOfPulled(expansion.getInput()) > dear;
  }

  static bool isRounding(Operation *op) {
    return isa<arith::TruncFOp>(op) &&
           isNarrowFloat(getElementTypeOrSelf(op->getResult(0).getType()));
  }

  /// What an op costs where it is computed again. Code for CPUs rounds to bf16 and to 8 bits in
  /// several steps; what is kept hangs on that alone, not how long vectors are.
  int costOfOp(Operation *op) const {
    constexpr int rounding = 8;
    return countsRoundings && isRounding(op) &&
                   !getElementTypeOrSelf(op->getResult(0).getType()).isF16()
               ? rounding
               : tile::codegen::costOf(op);
  }

  /// Cost of one element, with what it pulls.
  int costOfPulled(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !hasAxes(value) || Plan::isRoot(op))
      return 1;
    auto [entry, isNew] = costs.try_emplace(value, 0);
    if (!isNew)
      return entry->second;
    auto expansion = dyn_cast<BroadcastOp>(op);
    int cost = expansion ? 0 : costOfOp(op);
    for (Value operand : op->getOperands())
      if (hasAxes(operand))
        cost += isa<LoadOp>(op) ? 8 // a gather
                : (kept.contains(operand) && !keptForCut.contains(operand)) ||
                        (expansion && isKeptFor(expansion))
                    ? 1
                    : costOfPulled(operand);
    // What many neighbours share stays in a register.
    if (expansion && isSharedByMany(expansion))
      cost = std::min(cost, 1);
    return costs[value] = std::min(cost, 1000);
  }

  /// How long the steps of an op take one after the other. A function has about twice as many as
  /// costOf counts; what is rounded to f16 in one waits as long for it as elsewhere.
  int stepsOf(Operation *op) const {
    constexpr int function = 16, rounding = 8;
    int cost = costOfOp(op);
    return isRounding(op) ? std::max(rounding, cost) : cost >= function ? 2 * cost : cost;
  }

  /// The longest chain of steps to a value from what is loaded, kept or shared by neighbours.
  int stepsBefore(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !hasAxes(value) || Plan::isRoot(op) || isa<LoadOp>(op) || isExpansion(op) ||
        kept.contains(value) || keptAnyway.contains(value))
      return 0;
    auto [entry, isNew] = before.try_emplace(value, 0);
    if (!isNew)
      return entry->second;
    int steps = 0;
    for (Value operand : op->getOperands())
      steps = std::max(steps, stepsBefore(operand));
    return before[value] = steps + stepsOf(op);
  }

  /// The longest one from a value to what is stored, reduced, kept or shared. All its users are
  /// visited.
  int stepsBehind(Value value) const {
    auto isEnd = [&](Value result) { return kept.contains(result) || cut.contains(result); };
    int most = 0;
    for (Operation *user : value.getUsers())
      if (!Plan::isRoot(user) && !isExpansion(user))
        for (Value result : user->getResults())
          most = std::max(most, stepsOf(user) + (isEnd(result) ? 0 : behind.lookup(result)));
    return most;
  }

  /// Whether nothing on the way to a value is computed for anything else: but of a few steps, or of
  /// some to be stored, which are done again.
  bool isOnlyWay(Value value) {
    constexpr int cheap = 3, some = 12;
    constexpr size_t many = 256; // ops: no kernel has such functions, and a plan is made in no time
    SmallVector<Value> open = {value};
    llvm::SmallDenseSet<Operation *> inside;
    while (!open.empty()) {
      if (inside.size() > many)
        return false;
      Operation *op = open.pop_back_val().getDefiningOp();
      if (!inside.insert(op).second)
        continue;
      for (Value operand : op->getOperands())
        if (stepsBefore(operand) > cheap)
          open.push_back(operand);
    }
    return llvm::all_of(inside, [&](Operation *op) {
      return op == value.getDefiningOp() || llvm::all_of(op->getUsers(), [&](Operation *user) {
               return inside.contains(user) ||
                      (isa<StoreOp>(user) && stepsBefore(op->getResult(0)) <= some);
             });
    });
  }

  /// Whether a tile is known to have no more elements than that.
  bool hasUpTo(int64_t most, Value value) {
    int64_t elements = 1;
    for (StringAttr axis : axesOf(value.getType())) {
      int64_t extent = likelyExtentOf(kernel, domains, axis);
      if (ShapedType::isDynamic(extent) || extent > most)
        return false;
      elements *= std::max<int64_t>(1, extent);
    }
    return elements <= most;
  }

  /// Whether a tile is known to stay in a core's second-level cache, beside others: to write and
  /// read it there takes a few cycles of the 20 and more that a function takes.
  bool hasRoomOfCache(Value value) {
    constexpr int64_t mostBytes = 131072;
    Type element = getElementTypeOrSelf(value.getType());
    int64_t bytes = element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8 : 8;
    return hasUpTo(mostBytes / bytes, value);
  }

  /// A processor looks ahead as far as its queues and registers go: about one function of a vector
  /// overlaps with the next vectors, and a longer chain waits for itself. It is cut where both
  /// parts are long and one value goes between them, which is computed for all elements of a block
  /// before what follows, and stays in a core's caches. What is rounded waits the longest for
  /// its few steps, and has calls apart to be no slower than.
  bool cutsChain(Value value, Operation *op) {
    constexpr int function = 32, rounded = 9, together = 48;
    int most = behind[value] = stepsBehind(value), least = isRounding(op) ? rounded : function;
    hasLongChain |= most + stepsOf(op) >= together;
    // Functions of f64 are library calls, lane by lane.
    if (!mayCut || getElementTypeOrSelf(value.getType()).isF64() || most < least ||
        isa<BroadcastOp, CoordsOp, LoadOp>(op) || stepsBefore(value) < least ||
        stepsBefore(value) + most < together)
      return false;
    return !hasUpTo(few, value) && isOnlyWay(value); // a few wait for nothing else
  }

  /// Starts again.
  void cutChains() {
    mayCut = true;
    std::swap(kept, keptAnyway);
    turned.clear();
    costs.clear();
    nests.clear();
    nestsUncut.clear();
  }

  /// How many nests these are: stores that may be one count once. What is kept for a cut alone
  /// counts as computed where it is used.
  int countOf(const Nests &users) {
    Nests stores;
    for (Operation *user : users)
      if (isa<StoreOp>(user))
        stores.insert(user);
    for (Value value : keptForCut)
      kept.erase(value);
    bool joins = stores.size() > 1 && areOneNest(stores);
    kept.insert(keptForCut.begin(), keptForCut.end());
    return static_cast<int>(joins ? users.size() - stores.size() + 1 : users.size());
  }

  /// Whether these are stores of the same elements that may be one nest, in which they share what
  /// is computed for them (BodyLowering::storedWith).
  bool areOneNest(const Nests &users) {
    if (users.size() > Plan::mostStores || kernel.isGrid())
      return false;
    auto first = cast<StoreOp>(*users.begin());
    for (Operation *user : users) {
      if (user->getBlock() != first->getBlock())
        return false;
      if (user->isBeforeInBlock(first))
        first = cast<StoreOp>(user);
    }
    size_t stores = 1, found = 1;
    plan.forEachStoreBehind(first, [&](StoreOp store) {
      bool isSamePlace = store.getMap() == first.getMap() && store.getDims() == first.getDims() &&
                         store.getSyms() == first.getSyms();
      found += isSamePlace && users.contains(store);
      return ++stores < Plan::mostStores;
    });
    return found == users.size();
  }

  void visit(Value value) {
    Operation *op = value.getDefiningOp();
    Nests users, usersUncut;
    bool repeats = false, isForFew = false;
    for (Operation *user : value.getUsers()) {
      auto add = [&](Nests &into, const DenseMap<Value, Nests> &of, bool isNest) {
        if (isNest)
          into.insert(user);
        else
          for (Value result : user->getResults())
            if (auto found = of.find(result); found != of.end())
              into.insert(found->second.begin(), found->second.end());
      };
      auto isKept = [&](Value result) { return kept.contains(result); };
      auto isCut = [&](Value result) { return keptForCut.contains(result); };
      bool isNest = Plan::isRoot(user) || llvm::any_of(user->getResults(), isKept);
      add(users, nests, isNest);
      add(usersUncut, nestsUncut, isNest && llvm::none_of(user->getResults(), isCut));
      // On more axes, or in an inner loop, it would be computed again and again.
      repeats |= isExpansion(user);
      if (auto expansion = dyn_cast<BroadcastOp>(user))
        isForFew |= isKeptFor(expansion);
      repeats |= user->getBlock() != op->getBlock();
      // Which takes one element after the other: what is dear is computed before, in vectors.
      repeats |= isa<AtomicOp>(user);
    }
    // Packing for a dot goes along the axis that is contracted, however short.
    bool isPacked = llvm::any_of(users, llvm::IsaPred<DotOp>);
    constexpr int dear = 5, veryDear = 32; // about a store and a load; two functions
    constexpr int ofPicking = 3;           // more than a load in order takes
    int cost = costOfPulled(value);
    int computing = countOf(usersUncut);
    bool isRepeated = computing > 1 || repeats;
    if (isRepeated && cost <= dear && cost + ofPicking > dear && isPickedApart(value))
      cost += ofPicking;
    // If it is kept, all nests but one save its steps, and load it instead.
    int saved = (cost - 1) * (computing - 1);
    constexpr int muchSaved = 4;
    bool pays =
        ((cost > dear || saved >= muchSaved) && isRepeated) || (cost >= veryDear && isPacked);
    if (bool isLong = cutsChain(value, op); isLong && !isPacked && !pays) {
      pays = hasRoomOfCache(value);
      if (pays)
        keptForCut.insert(value);
      auto isNest = [&](Operation *user) {
        return user->getBlock() == op->getBlock() &&
               (isa<StoreOp, ReduceOp>(user) || !Plan::isRoot(user)); // which is kept
      };
      if (!pays && !isRepeated && !isForFew && llvm::all_of(users, isNest))
        cut.insert(value);
    }
    bool keep = isForFew || (pays && hasKnownRoom(axesOf(value.getType())));
    if (auto load = dyn_cast<LoadOp>(op); load && !isMemoryEffectFree(op)) {
      // What is read has to be read before the element is overwritten: either
      // at once, or in the very nest that stores it.
      auto overwrites = [&](Operation *user) {
        auto store = dyn_cast<StoreOp>(user);
        return store && store.getTarget() == load.getSource() &&
               store->getBlock() == op->getBlock();
      };
      // In a grid kernel any other write may come between, in the nest too.
      bool isGrid = load->getParentOfType<KernelOp>().isGrid();
      keep = isGrid || !(users.size() == 1 && overwrites(*users.begin()));
    }
    if (auto load = dyn_cast<LoadOp>(op); load && axisReadAcross(load, {})) {
      rowsAcross = innermostAxis(load.getMap(), load.getDims());
      if (StringAttr axis = axisReadAcross(load, kept)) {
        keep = true;
        turned[value] = axis;
      }
    }
    if (keep && !isa<BroadcastOp, CoordsOp>(op))
      kept.insert(value);
    nests[value] = std::move(users);
    nestsUncut[value] = std::move(usersUncut);
  }
};
} // namespace

/// Whether nests of these ops go through what they read one after the other, each of them one
/// element at a time. What is ready for the first of them they read together.
bool Plan::isReadAgain(ArrayRef<Operation *> users) const {
  auto isNest = [](Operation *user) { return isa<ReduceOp, StoreOp>(user) || !isRoot(user); };
  if (users.size() < 2 || !llvm::all_of(users, isNest))
    return false;
  auto isAlike = [&](Operation *user) {
    auto reduce = dyn_cast<ReduceOp>(user), other = dyn_cast<ReduceOp>(users[0]);
    return user->getBlock() == users[0]->getBlock() && isRoot(user) &&
           user->getName() == users[0]->getName() &&
           (!reduce || reduce.getAxes() == other.getAxes());
  };
  if (!llvm::all_of(users, isAlike))
    return true;
  Operation *first = users[0];
  for (Operation *user : users)
    if (user->isBeforeInBlock(first))
      first = user;
  return !llvm::all_of(users, [&](Operation *user) {
    return llvm::all_of(user->getOperands(),
                        [&](Value operand) { return isReadyAt(operand, first); });
  });
}

Plan::Plan(KernelOp kernel) {
  SmallVector<Value> pulled;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isRoot(op))
      for (Value result : op->getResults())
        if (hasAxes(result))
          pulled.push_back(result);
  });
  Planner planner(kernel, *this, kept, cut, costs, turned);
  auto visitAll = [&] {
    for (Value value : llvm::reverse(pulled))
      planner.visit(value);
  };
  visitAll();
  if (planner.hasLongChain) {
    planner.cutChains();
    visitAll();
  }
  rowsAcross = planner.rowsAcross;
  // A kernel that transposes asks for blocks ahead where it reads them.
  for (Value value : pulled)
    if (auto load = value.getDefiningOp<LoadOp>();
        load && !rowsAcross && !kept.contains(value) && planner.isOfShortRows(load) &&
        isReadAgain(llvm::to_vector(planner.nests[value])))
      copied.insert(value);
  // What is kept was counted where it is used: now it is read there.
  costs.clear();
  planner.countsRoundings = false;
  for (Value value : pulled)
    planner.costOfPulled(value);
}
