//===- EmitUpdate.cpp - updates of `reduce` outputs -----------------------===//
//
// Where the order doesn't show, atomic operations on the output itself. Elsewhere
// each block of the grid has a copy (ReduceOutputs.cpp), which only its threads
// change: each its own elements, or, where the elements of a tile may meet in one,
// those that fall to it, in the order of the threads.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/dialect/KernelAttributes.h"
#include "codegen/gpu/loops/LoopFolds.h"
#include "codegen/gpu/lower/InlineAsm.h"
#include "codegen/gpu/lower/OutputEmitter.h"
#include "codegen/gpu/schedule/VerifyLayouts.h"
#include "codegen/gpu/target/GpuCode.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

OutputEmitter::OutputEmitter(LoweringContext &context)
    : Emitter(context, context.b), copies(copiesOf(ctx.kernel)) {
  ctx.onOp<UpdateOp>([this](UpdateOp op) { emitUpdate(op); });
  if (copies.empty())
    return;
  ctx.programs.keptBinders = findKeptBinders();
  storesAlone = !ctx.programs.keptBinders.empty() && hasSmallFinishes(ctx.kernel);
  ctx.programs.emitRuns = [this](ParallelOp op) { emitRuns(op); };
}

/// Promises the function all registers that its threads can have. Otherwise ptxas prefers two
/// blocks at a time on a multiprocessor to one, and spills what they then have no registers for.
static void askForRegisters(CodeBuilder &b) {
  auto function = b.getInsertionBlock()->getParent()->getParentOfType<LLVM::LLVMFuncOp>();
  function.setPassthroughAttr(b.getArrayAttr(b.getStrArrayAttr({"nvvm.minctasm", "1"})));
}

/// Whether each axis has a result of its own, so that no two elements meet.
static bool isInjective(AffineMap map, ValueRange dims, ArrayRef<StringAttr> axes) {
  return llvm::all_of(axes, [&](StringAttr axis) {
    return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      return dim && isa<SpanType>(dims[dim.getPosition()].getType()) &&
             axisOf(dims[dim.getPosition()]) == axis;
    });
  });
}

Value OutputEmitter::updateMask(UpdateOp op, const Access &access, ArrayRef<Index> indices,
                                int64_t reg) {
  Value mask = access.mask[reg];
  for (auto [d, expr] : llvm::enumerate(access.map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    bool isSpan = dim && isa<SpanType>(access.dims[dim.getPosition()].getType());
    if (isSpan && !ctx.kernel.isGrid())
      continue; // proved
    // What falls outside is dropped. Unsigned: a negative index is a huge one.
    mask = b.both(mask, b.compare(CmpIPredicate::ult, ctx.places.materialize(indices[d]),
                                  access.tensor.extents[d]));
  }
  return mask;
}

void OutputEmitter::updateAtomically(UpdateOp op, const Access &access, Value address, Value number,
                                     Value mask) {
  std::string bits = std::to_string(number.getType().getIntOrFloatBitWidth());
  bool isFloat = isa<FloatType>(number.getType());
  auto form = [&]() -> std::string {
    switch (op.getKind()) {
    case CombineKind::add:
      return ".add." + (isFloat ? "f" + bits : "u" + bits);
    case CombineKind::max:
      return ".max.s" + bits;
    case CombineKind::min:
      return ".min.s" + bits;
    case CombineKind::umax:
      return ".max.u" + bits;
    case CombineKind::umin:
      return ".min.u" + bits;
    case CombineKind::andi:
      return ".and.b" + bits;
    case CombineKind::ori:
      return ".or.b" + bits;
    default:
      return ".xor.b" + bits;
    }
  };
  std::string operand = isFloat ? (bits == "64" ? "d" : "f") : (bits == "64" ? "l" : "r");
  inlineAsm(b, Type(), {address, number, mask ? mask : b.i1(true)},
            "@$2 red.relaxed.gpu.global" + form() + " [$0], $1;", "l," + operand + ",b,~{memory}",
            /*hasSideEffects=*/true);
}

void OutputEmitter::updateInTurn(UpdateOp op, const Access &access, ValueRange numbers,
                                 ValueRange allowed) {
  constexpr int64_t few = 4;
  Type i32 = b.getI32Type(), i64 = b.getI64Type(), type = numbers[0].getType();
  Type stored = memoryType(type);
  int64_t threads = 32 * int64_t(ctx.warps);
  Value places = ctx.shared.take(threads * (8 + std::max(1u, stored.getIntOrFloatBitWidth() / 8)));
  Value values = ctx.shared.at(places, Value(), i64, threads);
  Value first = ctx.places.isFirstCopy(access.layout), nowhere = b.i64(-1);
  askForRegisters(b); // all numbers are there until it is their turn
  for (int64_t r = 0, count = access.layout.numRegisters(); r < count; ++r) {
    SmallVector<Index> indices = ctx.memory.indicesAt(access, r);
    Value inside = allowed.empty() ? updateMask(op, access, indices, r) : allowed[r];
    Value mask = b.both(inside, first), place = b.i64(0);
    for (auto [index, stride] : llvm::zip(indices, access.tensor.strides))
      place = b.add(place, b.mul(ctx.places.materialize(index), stride));
    if (r)
      ctx.barriers.meet();
    ctx.shared.store(b.select(mask, place, nowhere), ctx.shared.at(places, ctx.thread, i64));
    ctx.shared.store(numbers[r], ctx.shared.at(values, ctx.thread, stored));
    ctx.barriers.meet();
    // An element falls to one thread, always the same, which takes all that goes there in order.
    auto takeFrom = [&](Value n, ValueRange) {
      Value from = b.fold<arith::TruncIOp>(i32, n);
      Value to = ctx.shared.load(i64, ctx.shared.at(places, from, i64));
      Value owner =
          b.fold<arith::AndIOp>(b.fold<arith::TruncIOp>(i32, to), b.integer(i32, threads - 1));
      Value isMine = b.both(b.compare(CmpIPredicate::eq, owner, ctx.thread),
                            b.compare(CmpIPredicate::sge, to, b.i64(0)));
      auto take = [&]() -> Values {
        Value number = ctx.shared.load(type, ctx.shared.at(values, from, stored));
        Value address = LLVM::GEPOp::create(b, access.tensor.pointer.getType(),
                                            memoryType(access.tensor.element),
                                            access.tensor.pointer, ValueRange{to});
        Value old = ctx.memory.read(access.tensor, address, 1, Value(), Value())[0];
        ctx.memory.write(
            access.tensor, address,
            emitCombine(b, ctx.target, op.getKind(), access.tensor.element, old, number), Value());
        return {};
      };
      return b.branch(isMine, take, [] { return Values(); });
    };
    // ptxas unrolls it, which takes minutes where there are many of these loops.
    b.loop(b.i64(0), b.i64(threads), b.i64(1), {}, takeFrom, /*mayUnroll=*/count <= few);
  }
}

void OutputEmitter::emitUpdate(UpdateOp op) {
  Axes axes = axesOf(op.getValue().getType());
  Layout layout = ctx.layoutOfValue(op.getValue());
  Access access =
      ctx.memory.accessOf(op.getTarget(), op.getMap(), op.getDims(), op.getSyms(), axes, layout);
  Values numbers = ctx.flatten(op.getValue());
  Type element = getElementTypeOrSelf(op.getValue().getType());
  if (isNarrowFloat(element))
    for (Value &number : numbers)
      number = widenToF32(b, ctx.target, number, cast<FloatType>(element));
  unsigned param = cast<BlockArgument>(op.getTarget()).getArgNumber();
  Value first = ctx.places.isFirstCopy(layout);
  int64_t count = layout.numRegisters();
  // Copies and outputs have the same extents: what is noted is an element of the output.
  Values allowed = ctx.records.watch(op, access, layout, [&](int64_t r) {
    return Records::Planned{ctx.memory.indicesAt(access, r), access.mask[r]};
  });
  auto maskOf = [&](ArrayRef<Index> indices, int64_t r) {
    return b.both(allowed.empty() ? updateMask(op, access, indices, r) : allowed[r], first);
  };
  if (llvm::none_of(copies, [&](const ReduceCopies &c) { return c.param == param; })) {
    for (int64_t r = 0; r < count; ++r) {
      SmallVector<Index> indices = ctx.memory.indicesAt(access, r);
      updateAtomically(op, access, ctx.memory.addressOf(access, indices), numbers[r],
                       maskOf(indices, r));
    }
    return;
  }
  if (auto sums = accumulated.find(op); sums != accumulated.end()) {
    for (auto [sum, number, holds] : llvm::zip(sums->second, numbers, access.mask)) {
      Value next = emitCombine(b, ctx.target, op.getKind(), access.tensor.element, sum, number);
      sum = holds ? b.select(holds, next, sum) : next;
    }
    return;
  }
  // Other threads may have changed the same elements before.
  ctx.barriers.meet();
  if (!isInjective(op.getMap(), op.getDims(), axes))
    return updateInTurn(op, access, numbers, allowed);
  int64_t width = ctx.watches ? 1 : ctx.memory.vectorFor(access, /*isChecked=*/ctx.kernel.isGrid());
  for (int64_t r = 0; r < count; r += width) {
    SmallVector<Index> indices = ctx.memory.indicesAt(access, r);
    Value mask = maskOf(indices, r);
    Value address = ctx.memory.addressOf(access, indices);
    Values next;
    for (auto [n, old] :
         llvm::enumerate(ctx.memory.read(access.tensor, address, width, mask, Value())))
      next.push_back(
          emitCombine(b, ctx.target, op.getKind(), access.tensor.element, old, numbers[r + n]));
    ctx.memory.write(access.tensor, address, next, mask);
  }
}

//===-- In registers ------------------------------------------------------===//

/// A reduction that an update alone needs and folds as it does, whose threads would meet in each
/// program. Where programs have loops or contractions, or it is of fewer elements than there are
/// threads, meeting is little of what they do, and registers are more.
static ReduceOp reductionOf(UpdateOp op, Region &programs) {
  auto reduce = op.getValue().getDefiningOp<ReduceOp>();
  if (!reduce || !reduce->hasOneUse() || reduce->getParentRegion() != &programs ||
      reduce.getKind() != op.getKind() ||
      isNarrowFloat(getElementTypeOrSelf(reduce.getInput().getType())) ||
      reduce->getParentOfType<KernelOp>()->hasAttr(fixedOrderAttrName))
    return {};
  auto isLong = [](Operation *inner) {
    return isa<ForOp, scf::ForOp, scf::WhileOp, DotOp>(inner) ? WalkResult::interrupt()
                                                              : WalkResult::advance();
  };
  if (programs.walk(isLong).wasInterrupted())
    return {};
  Layout layout = layoutOf(reduce.getInput().getType());
  if (cast<RankedTensorType>(reduce.getInput().getType()).getNumElements() <
      32 * int64_t(layout.numWarps()))
    return {};
  SmallVector<unsigned> kept = keptAxes(reduce);
  auto meet = [&](Part part) { return layout.freeBits(part, kept) & ~layout.freeBits(part); };
  return meet(Part::Block) == 0 && (meet(Part::Lane) || meet(Part::Warp)) ? reduce : ReduceOp();
}

SmallVector<Fold> OutputEmitter::accumulatedUpdates() {
  SmallVector<Fold> result;
  Region &programs = ctx.kernel.getParallel().getBody();
  int64_t registers = 0;
  for (Operation &inner : programs.front()) {
    auto op = dyn_cast<UpdateOp>(inner);
    if (!op)
      continue;
    unsigned param = cast<BlockArgument>(op.getTarget()).getArgNumber();
    bool isFirst = true, isFixed = true, hasCopies = false;
    ctx.kernel.walk(
        [&](UpdateOp other) { isFirst &= other == op || other.getTarget() != op.getTarget(); });
    for (Value value : llvm::concat<Value>(op.getDims(), op.getSyms())) {
      auto binder = dyn_cast<BlockArgument>(value);
      isFixed &= !programs.isAncestor(value.getParentRegion()) || isOnlyOne(value) ||
                 (binder && binder.getOwner() == &programs.front() &&
                  llvm::is_contained(ctx.programs.keptBinders, binder.getArgNumber()));
    }
    for (const ReduceCopies &copy : copies)
      hasCopies |= copy.param == param;
    if (!isFirst || !isFixed || !hasCopies ||
        !isInjective(op.getMap(), op.getDims(), axesOf(op.getValue().getType())))
      continue;
    int64_t count = ctx.layoutOfValue(op.getValue()).numRegisters();
    if (registers + count > mostOfUpdates)
      continue;
    registers += count;
    result.push_back({{}, op, {}});
  }
  // What is left of them may hold what sums have lost.
  for (Fold &fold : result) {
    auto op = cast<UpdateOp>(fold.combine);
    ReduceOp reduce = reductionOf(op, programs);
    if (!reduce)
      continue;
    bool isLongSum = isSumOfFloats(reduce);
    int64_t more = isLongSum ? ctx.layoutOfValue(op.getValue()).numRegisters() : 0;
    if (registers + more > mostOfUpdates)
      continue;
    registers += more;
    fold = {reduce, op, keptAxes(reduce), isLongSum};
  }
  return result;
}

CodeBuilder::Values OutputEmitter::startOfUpdate(const Fold &fold) {
  if (fold.reduce)
    return ctx.folds.startOf(fold);
  auto op = cast<UpdateOp>(fold.combine);
  return Values(ctx.layoutOfValue(op.getValue()).numRegisters(),
                identityFor(cast<BlockArgument>(op.getTarget()).getArgNumber()));
}

SmallVector<unsigned, 1> OutputEmitter::findKeptBinders() {
  ctx.programs.keptBinders = keptBindersOf(ctx.kernel);
  return ctx.programs.keptBinders.empty() || accumulatedUpdates().size() == copies.size()
             ? ctx.programs.keptBinders
             : SmallVector<unsigned, 1>();
}

void OutputEmitter::writeAccumulated(const Fold &fold, ValueRange states) {
  auto op = cast<UpdateOp>(fold.combine);
  ctx.currentOp = fold.reduce ? fold.reduce : op;
  b.setLoc(ctx.currentOp->getLoc());
  Values numbers = fold.reduce ? ctx.folds.joined(fold, states) : Values(states);
  Axes axes = axesOf(op.getValue().getType());
  Layout layout = ctx.layoutOfValue(op.getValue());
  Access access =
      ctx.memory.accessOf(op.getTarget(), op.getMap(), op.getDims(), op.getSyms(), axes, layout);
  Value first = ctx.places.isFirstCopy(layout);
  auto writeTo = [&](const Access &target, ValueRange elements) {
    int64_t width = ctx.memory.vectorFor(target, /*isChecked=*/false);
    for (int64_t r = 0, count = layout.numRegisters(); r < count; r += width) {
      SmallVector<Index> indices = ctx.memory.indicesAt(target, r);
      Value mask = b.both(updateMask(op, target, indices, r), first);
      ctx.memory.write(target.tensor, ctx.memory.addressOf(target, indices),
                       elements.slice(r, width), mask);
    }
  };
  if (ctx.programs.keptBinders.empty())
    ctx.barriers.meet(); // the copy was filled by others
  if (!storesAlone)
    return writeTo(access, numbers);
  unsigned param = cast<BlockArgument>(op.getTarget()).getArgNumber();
  auto store = [&]() -> Values {
    Access output = access;
    for (auto [copy, tensor] : llvm::zip_equal(copies, copiedOutputs))
      if (copy.param == param)
        output.tensor = tensor;
    Values done;
    for (Value number : numbers)
      done.push_back(finished(param, output.tensor, number));
    writeTo(output, done);
    return {};
  };
  auto copy = [&]() -> Values {
    writeTo(access, numbers);
    return {};
  };
  b.branch(b.compare(CmpIPredicate::eq, numCopies, b.i64(1)), store, copy);
}
