//===- Plan.cpp - which tiles are kept in scratch memory ------------------===//

#include "codegen/cpu/Plan.h"
#include "codegen/Elementwise.h"

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

void Plan::forEachLeaf(Value value, llvm::function_ref<void(Value)> leaf) const {
  SmallVector<Value> open = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!hasAxes(next) || !seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (!isPulled(next) || isa<LoadOp>(op))
      leaf(next);
    if (isPulled(next))
      llvm::append_range(open, op->getOperands());
  }
}

namespace {
/// Decides from the last use backwards.
struct Planner {
  Planner(llvm::DenseSet<Value> &kept, DenseMap<Value, int> &costs) : kept(kept), costs(costs) {}

  llvm::DenseSet<Value> &kept;
  DenseMap<Value, int> &costs;
  /// The nests that compute a value.
  DenseMap<Value, llvm::SmallDenseSet<Operation *, 4>> nests;

  /// Cost of one element, with what it pulls.
  int costOfPulled(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !hasAxes(value) || Plan::isRoot(op))
      return 1;
    auto [entry, isNew] = costs.try_emplace(value, 0);
    if (!isNew)
      return entry->second;
    int cost = isa<BroadcastOp>(op) ? 0 : tile::codegen::costOf(op);
    for (Value operand : op->getOperands())
      if (hasAxes(operand))
        cost += isa<LoadOp>(op) ? 8 : costOfPulled(operand); // a gather
    return costs[value] = std::min(cost, 1000);
  }

  void visit(Value value) {
    Operation *op = value.getDefiningOp();
    auto &users = nests[value];
    bool repeats = false;
    for (Operation *user : value.getUsers()) {
      if (Plan::isRoot(user)) {
        users.insert(user);
      } else {
        for (Value result : user->getResults())
          if (kept.contains(result))
            users.insert(user);
          else if (auto found = nests.find(result); found != nests.end())
            users.insert(found->second.begin(), found->second.end());
      }
      // On more axes, or in an inner loop, it would be computed again and again.
      repeats |= isa<BroadcastOp>(user) &&
                 axesOf(user->getResult(0).getType()).size() > axesOf(value.getType()).size();
      repeats |= user->getBlock() != op->getBlock();
      // Which takes one element after the other: what is dear is computed before, in vectors.
      repeats |= isa<AtomicOp>(user);
    }
    constexpr int dear = 6; // about a store and a load
    bool keep = costOfPulled(value) > dear && (users.size() > 1 || repeats);
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
    if (keep && !isa<BroadcastOp, CoordsOp>(op))
      kept.insert(value);
  }
};
} // namespace

Plan::Plan(KernelOp kernel) {
  SmallVector<Value> pulled;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isRoot(op))
      for (Value result : op->getResults())
        if (hasAxes(result))
          pulled.push_back(result);
  });
  Planner planner(kept, costs);
  for (Value value : llvm::reverse(pulled))
    planner.visit(value);
}
