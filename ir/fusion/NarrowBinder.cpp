//===- NarrowBinder.cpp - a program for each coordinate of a binder -------===//

#include "ir/fusion/NarrowBinder.h"
#include "ir/fusion/Transplant.h"

using namespace mlir;
using namespace tile::ir;

/// An empty program space like the kernel's, with other kinds of binders.
static ParallelOp withEach(ParallelOp old, ArrayRef<StringAttr> binders) {
  SmallVector<bool> each(old.getEach());
  SmallVector<int64_t> sizes(old.getSizes());
  SmallVector<Type> types(old.getBody().getArgumentTypes());
  OpBuilder builder(old);
  for (auto [n, name] : llvm::enumerate(old.getNames().getAsRange<StringAttr>()))
    if (llvm::is_contained(binders, name)) {
      each[n] = true;
      sizes[n] = 1;
      types[n] = builder.getI64Type();
    }
  auto parallel =
      ParallelOp::create(builder, old.getLoc(), old.getLower(), old.getUpper(), old.getNames(),
                         builder.getDenseBoolArrayAttr(each), builder.getDenseI64ArrayAttr(sizes));
  Block &body = parallel.getBody().emplaceBlock();
  for (auto [type, argument] : llvm::zip(types, old.getBody().getArguments()))
    body.addArgument(type, argument.getLoc());
  return parallel;
}

/// The kernel's schedule after its loops and binders have got other names.
static void renameSchedule(KernelOp kernel, ArrayRef<StringAttr> binders,
                           const Transplant &transplant) {
  DictionaryAttr schedule = kernel.getScheduleAttr();
  if (!schedule)
    return;
  NamedAttrList kept(schedule);
  for (StringAttr binder : binders)
    kept.erase(binder);
  for (auto [old, now] : transplant.loops)
    if (Attribute size = schedule.get(old); size && old != now) {
      kept.erase(old);
      kept.set(now, size);
    }
  kernel.setScheduleAttr(kept.getDictionary(kernel.getContext()));
}

LogicalResult tile::ir::narrowBinders(KernelOp kernel, ArrayRef<StringAttr> binders,
                                      std::string &reason) {
  OwningOpRef<KernelOp> owner(kernel.clone());
  KernelOp guest = *owner;
  ParallelOp theirs = guest.getParallel(), old = kernel.getParallel();
  ParallelOp ours = withEach(old, binders);
  old.erase();
  OpBuilder builder = OpBuilder::atBlockEnd(&ours.getBody().front());
  Operation *point =
      arith::ConstantOp::create(builder, ours.getLoc(), builder.getI64IntegerAttr(0));
  SpanNames names(kernel);
  Transplant transplant(guest, point, names);
  for (BlockArgument argument : kernel.getBody().getArguments())
    transplant.bindParam(argument.getArgNumber(), argument);
  for (auto [n, name] : llvm::enumerate(kernel.getDims().getAsRange<StringAttr>()))
    transplant.bindDim(name, getAffineSymbolExpr(n, kernel.getContext()));
  for (auto [theirBinder, ourBinder] :
       llvm::zip(theirs.getBody().getArguments(), ours.getBody().getArguments())) {
    HostIndex index = isa<SpanType>(ourBinder.getType()) ? HostIndex::ofSpan(ourBinder)
                                                         : HostIndex::ofInteger(ourBinder);
    if (auto span = dyn_cast<SpanType>(theirBinder.getType()))
      transplant.bindSpan(span.getName(), std::move(index));
    else
      transplant.bindInteger(theirBinder, std::move(index));
  }
  for (Operation &op : theirs.getBody().front()) {
    bool acts = false;
    op.walk([&](Operation *inner) {
      acts |= isa<StoreOp, UpdateOp, AtomicOp, AssertOp, PrintOp>(inner);
    });
    if (!acts)
      continue; // cloned where it is used
    if (!isa<StoreOp, UpdateOp>(op)) {
      reason = "`" + kernel.getSymName().str() + "` does more than to store at the end";
      return failure();
    }
    auto target = cast<BlockArgument>(isa<StoreOp>(op) ? cast<StoreOp>(op).getTarget()
                                                       : cast<UpdateOp>(op).getTarget());
    if (!transplant.cloneWrite(&op, kernel.getArgument(target.getArgNumber()))) {
      reason = transplant.reason;
      return failure();
    }
  }
  renameSchedule(kernel, binders, transplant);
  point->erase();
  return success();
}
