//===- CallOrigins.cpp - which call an op of a fused kernel comes from ----===//

#include "ir/fusion/CallOrigins.h"

using namespace mlir;
using namespace tile::ir;

static constexpr llvm::StringLiteral prefix = "call:";

SmallVector<Operation *> tile::ir::numberedOps(KernelOp kernel) {
  SmallVector<Operation *> ops;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ForOp, ReduceOp, DotOp, UpdateOp>(op))
      ops.push_back(op);
  });
  return ops;
}

void tile::ir::tellCallsApart(GraphOp graph, SymbolTable &symbols,
                              llvm::function_ref<unsigned(CallOp)> numberOf) {
  for (CallOp call : graph.getBody().getOps<CallOp>()) {
    auto shared = symbols.lookup<KernelOp>(call.getCallee());
    if (!shared)
      continue;
    KernelOp kernel = shared.clone();
    call.setCallee(symbols.insert(kernel, std::next(shared->getIterator())).getValue());
    std::string whose = (prefix + Twine(numberOf(call)) + ":").str();
    for (auto [n, op] : llvm::enumerate(numberedOps(kernel))) {
      auto name = StringAttr::get(op->getContext(), whose + Twine(n));
      op->setLoc(NameLoc::get(name, op->getLoc()));
    }
  }
}

SmallVector<CallOrigin, 1> tile::ir::originsOf(Operation *op) {
  SmallVector<CallOrigin, 1> origins;
  op->getLoc()->walk([&](Location loc) {
    auto name = dyn_cast<NameLoc>(loc);
    CallOrigin found;
    StringRef text = name ? name.getName().getValue() : StringRef();
    if (text.consume_front(prefix) && !text.consumeInteger(10, found.call) &&
        text.consume_front(":") && !text.consumeInteger(10, found.op))
      origins.push_back(found);
    return WalkResult::advance();
  });
  return origins;
}

void KeepOrigins::notifyOperationReplaced(Operation *op, Operation *same) {
  if (!originsOf(op).empty())
    same->setLoc(FusedLoc::get(op->getContext(), {same->getLoc(), op->getLoc()}));
  for (auto [region, other] : llvm::zip_equal(op->getRegions(), same->getRegions()))
    for (auto [block, otherBlock] : llvm::zip_equal(region, other))
      for (auto [inner, otherInner] : llvm::zip_equal(block, otherBlock))
        notifyOperationReplaced(&inner, &otherInner);
}
