//===- EmitUpdate.cpp - updates of `reduce` outputs -----------------------===//
//
// Where the order doesn't show, atomic operations on the output itself. Elsewhere
// each block of the grid has a copy (ReduceOutputs.cpp), which only its threads
// change: each its own elements, or, where the elements of a tile may meet in one,
// those that fall to it, in the order of the threads.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/Access.h"
#include "codegen/gpu/GpuCompiler.h"
#include "codegen/gpu/LoopAxis.h"
#include "codegen/gpu/VerifyLayouts.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

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

bool tile::codegen::gpu::isOnlyOne(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto parallel =
      argument ? dyn_cast<ParallelOp>(argument.getOwner()->getParentOp()) : ParallelOp();
  if (!parallel || !parallel.getEach()[argument.getArgNumber()])
    return false;
  APInt lower, upper;
  return matchPattern(parallel.getLower()[argument.getArgNumber()], m_ConstantInt(&lower)) &&
         matchPattern(parallel.getUpper()[argument.getArgNumber()], m_ConstantInt(&upper)) &&
         lower + 1 == upper;
}

Value KernelLowering::updateMask(UpdateOp op, const Access &access, ArrayRef<Index> indices,
                                 int64_t reg) {
  Value mask = access.mask[reg];
  for (auto [d, expr] : llvm::enumerate(access.map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    bool isSpan = dim && isa<SpanType>(access.dims[dim.getPosition()].getType());
    if (isSpan && !kernel.isGrid())
      continue; // proved
    // What falls outside is dropped. Unsigned: a negative index is a huge one.
    mask = b.both(mask,
                  b.compare(CmpIPredicate::ult, materialize(indices[d]), access.tensor.extents[d]));
  }
  return mask;
}

void KernelLowering::updateAtomically(UpdateOp op, const Access &access, Value address,
                                      Value number, Value mask) {
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

void KernelLowering::updateInTurn(UpdateOp op, const Access &access, ValueRange numbers,
                                  ValueRange allowed) {
  constexpr int64_t few = 4;
  Type i32 = b.getI32Type(), i64 = b.getI64Type(), type = numbers[0].getType();
  Type stored = memoryType(type);
  int64_t threads = 32 * int64_t(warps);
  Value places = shared(threads * (8 + std::max(1u, stored.getIntOrFloatBitWidth() / 8)));
  Value values = sharedAt(places, Value(), i64, threads);
  Value first = isFirstCopy(access.layout), nowhere = b.i64(-1);
  askForRegisters(b); // all numbers are there until it is their turn
  for (int64_t r = 0, count = access.layout.numRegisters(); r < count; ++r) {
    SmallVector<Index> indices = indicesAt(access, r);
    Value inside = allowed.empty() ? updateMask(op, access, indices, r) : allowed[r];
    Value mask = b.both(inside, first), place = b.i64(0);
    for (auto [index, stride] : llvm::zip(indices, access.tensor.strides))
      place = b.add(place, b.mul(materialize(index), stride));
    if (r)
      barrier();
    storeShared(b.select(mask, place, nowhere), sharedAt(places, thread, i64));
    storeShared(numbers[r], sharedAt(values, thread, stored));
    barrier();
    // An element falls to one thread, always the same, which takes all that goes there in order.
    auto takeFrom = [&](Value n, ValueRange) {
      Value from = b.fold<arith::TruncIOp>(i32, n);
      Value to = loadShared(i64, sharedAt(places, from, i64));
      Value owner =
          b.fold<arith::AndIOp>(b.fold<arith::TruncIOp>(i32, to), b.integer(i32, threads - 1));
      Value isMine = b.both(b.compare(CmpIPredicate::eq, owner, thread),
                            b.compare(CmpIPredicate::sge, to, b.i64(0)));
      auto take = [&]() -> Values {
        Value number = loadShared(type, sharedAt(values, from, stored));
        Value address = LLVM::GEPOp::create(b, access.tensor.pointer.getType(),
                                            memoryType(access.tensor.element),
                                            access.tensor.pointer, ValueRange{to});
        Value old = read(access.tensor, address, 1, Value(), Value())[0];
        write(access.tensor, address,
              emitCombine(b, target, op.getKind(), access.tensor.element, old, number), Value());
        return {};
      };
      return b.branch(isMine, take, [] { return Values(); });
    };
    // ptxas unrolls it, which takes minutes where there are many of these loops.
    b.loop(b.i64(0), b.i64(threads), b.i64(1), {}, takeFrom, /*mayUnroll=*/count <= few);
  }
}

void KernelLowering::emitUpdate(UpdateOp op) {
  Axes axes = axesOf(op.getValue().getType());
  Layout layout = layoutOfValue(op.getValue());
  Access access = accessOf(op.getTarget(), op.getMap(), op.getDims(), op.getSyms(), axes, layout);
  Values numbers = flatten(op.getValue());
  Type element = getElementTypeOrSelf(op.getValue().getType());
  if (isNarrowFloat(element))
    for (Value &number : numbers)
      number = widenToF32(b, target, number, cast<FloatType>(element));
  unsigned param = cast<BlockArgument>(op.getTarget()).getArgNumber();
  Value first = isFirstCopy(layout);
  int64_t count = layout.numRegisters();
  // Copies and outputs have the same extents: what is noted is an element of the output.
  Values allowed = watch(op, access, layout, [&](int64_t r) {
    return Planned{indicesAt(access, r), access.mask[r]};
  });
  auto maskOf = [&](ArrayRef<Index> indices, int64_t r) {
    return b.both(allowed.empty() ? updateMask(op, access, indices, r) : allowed[r], first);
  };
  if (llvm::none_of(copies, [&](const ReduceCopies &c) { return c.param == param; })) {
    for (int64_t r = 0; r < count; ++r) {
      SmallVector<Index> indices = indicesAt(access, r);
      updateAtomically(op, access, addressOf(access, indices), numbers[r], maskOf(indices, r));
    }
    return;
  }
  if (auto sums = accumulated.find(op); sums != accumulated.end()) {
    for (auto [sum, number, holds] : llvm::zip(sums->second, numbers, access.mask)) {
      Value next = emitCombine(b, target, op.getKind(), access.tensor.element, sum, number);
      sum = holds ? b.select(holds, next, sum) : next;
    }
    return;
  }
  // Other threads may have changed the same elements before.
  barrier();
  if (!isInjective(op.getMap(), op.getDims(), axes))
    return updateInTurn(op, access, numbers, allowed);
  int64_t width = watches ? 1 : vectorFor(access, /*isChecked=*/kernel.isGrid());
  for (int64_t r = 0; r < count; r += width) {
    SmallVector<Index> indices = indicesAt(access, r);
    Value mask = maskOf(indices, r);
    Value address = addressOf(access, indices);
    Values next;
    for (auto [n, old] : llvm::enumerate(read(access.tensor, address, width, mask, Value())))
      next.push_back(
          emitCombine(b, target, op.getKind(), access.tensor.element, old, numbers[r + n]));
    write(access.tensor, address, next, mask);
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

SmallVector<KernelLowering::Fold> KernelLowering::accumulatedUpdates() {
  SmallVector<Fold> result;
  Region &programs = kernel.getParallel().getBody();
  int64_t registers = 0;
  for (Operation &inner : programs.front()) {
    auto op = dyn_cast<UpdateOp>(inner);
    if (!op)
      continue;
    unsigned param = cast<BlockArgument>(op.getTarget()).getArgNumber();
    bool isFirst = true, isFixed = true, hasCopies = false;
    kernel.walk(
        [&](UpdateOp other) { isFirst &= other == op || other.getTarget() != op.getTarget(); });
    for (Value value : llvm::concat<Value>(op.getDims(), op.getSyms())) {
      auto binder = dyn_cast<BlockArgument>(value);
      isFixed &= !programs.isAncestor(value.getParentRegion()) || isOnlyOne(value) ||
                 (binder && binder.getOwner() == &programs.front() &&
                  llvm::is_contained(keptBinders, binder.getArgNumber()));
    }
    for (const ReduceCopies &copy : copies)
      hasCopies |= copy.param == param;
    if (!isFirst || !isFixed || !hasCopies ||
        !isInjective(op.getMap(), op.getDims(), axesOf(op.getValue().getType())))
      continue;
    int64_t count = layoutOfValue(op.getValue()).numRegisters();
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
    int64_t more = isLongSum ? layoutOfValue(op.getValue()).numRegisters() : 0;
    if (registers + more > mostOfUpdates)
      continue;
    registers += more;
    fold = {reduce, op, keptAxes(reduce), isLongSum};
  }
  return result;
}

CodeBuilder::Values KernelLowering::startOfUpdate(const Fold &fold) {
  if (fold.reduce)
    return startOf(fold);
  auto op = cast<UpdateOp>(fold.combine);
  return Values(layoutOfValue(op.getValue()).numRegisters(),
                identityFor(cast<BlockArgument>(op.getTarget()).getArgNumber()));
}

/// Whether a dimension of an output has the elements from `lower` on to `upper`.
static bool isWhole(KernelOp kernel, unsigned param, unsigned dimension, Value lower, Value upper) {
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[param]);
  APInt number;
  if (!matchPattern(lower, m_Zero()))
    return false;
  if (!type.isDynamicDim(dimension))
    return matchPattern(upper, m_ConstantInt(&number)) &&
           number.getSExtValue() == type.getDimSize(dimension);
  auto symbol = dyn_cast<AffineSymbolExpr>(kernel.getParamShape(param).getResult(dimension));
  auto dim = upper.getDefiningOp<DimOp>();
  return symbol && dim && kernel.getDims()[symbol.getPosition()] == dim.getNameAttr();
}

/// The binders that the elements of an update hang on, if with those all of the output is updated,
/// each element by all that the other binders have.
static std::optional<SmallVector<unsigned, 1>> bindersOfAll(KernelOp kernel, UpdateOp op) {
  ParallelOp parallel = kernel.getParallel();
  unsigned param = cast<BlockArgument>(op.getTarget()).getArgNumber();
  SmallVector<unsigned, 1> binders;
  llvm::SmallDenseSet<Value> seen;
  for (auto [d, expr] : llvm::enumerate(op.getMap().getResults())) {
    Value index;
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      index = op.getDims()[dim.getPosition()];
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      index = op.getSyms()[symbol.getPosition()];
    if (!index || !seen.insert(index).second)
      return std::nullopt;
    auto argument = dyn_cast<BlockArgument>(index);
    auto axis = index.getDefiningOp<AxisOp>();
    Value lower, upper;
    if (argument && argument.getOwner() == &parallel.getBody().front()) {
      unsigned n = argument.getArgNumber();
      binders.push_back(n);
      lower = parallel.getLower()[n], upper = parallel.getUpper()[n];
    } else if (axis) {
      lower = axis.getLower(), upper = axis.getUpper();
    }
    if (!lower || !isWhole(kernel, param, d, lower, upper))
      return std::nullopt;
  }
  llvm::sort(binders);
  return binders;
}

SmallVector<unsigned, 1> tile::codegen::gpu::keptBindersOf(KernelOp kernel) {
  SmallVector<ReduceCopies, 1> copies = copiesOf(kernel);
  // An order that is fixed is that of whole outputs; a report tells of a program by its number.
  bool isOther = copies.empty() || kernel->hasAttr(fixedOrderAttrName) ||
                 kernel->hasAttr(groupAttrName) || kernel->hasAttr(watchedAttrName) ||
                 kernel.isGrid() || speaks(kernel);
  kernel.walk([&](RestrictOp) { isOther = true; });
  if (isOther)
    return {};
  std::optional<SmallVector<unsigned, 1>> kept;
  size_t updates = 0;
  WalkResult result = kernel.walk([&](UpdateOp op) {
    unsigned param = cast<BlockArgument>(op.getTarget()).getArgNumber();
    if (llvm::none_of(copies, [&](const ReduceCopies &copy) { return copy.param == param; }))
      return WalkResult::advance();
    std::optional<SmallVector<unsigned, 1>> own = bindersOfAll(kernel, op);
    if (!own || (kept && *kept != *own))
      return WalkResult::interrupt();
    kept = own;
    ++updates;
    return WalkResult::advance();
  });
  return result.wasInterrupted() || updates != copies.size() ? SmallVector<unsigned, 1>() : *kept;
}

SmallVector<unsigned, 1> KernelLowering::findKeptBinders() {
  keptBinders = keptBindersOf(kernel);
  return keptBinders.empty() || accumulatedUpdates().size() == copies.size()
             ? keptBinders
             : SmallVector<unsigned, 1>();
}

void KernelLowering::writeAccumulated(const Fold &fold, ValueRange states) {
  auto op = cast<UpdateOp>(fold.combine);
  currentOp = fold.reduce ? fold.reduce : op;
  b.setLoc(currentOp->getLoc());
  Values numbers = fold.reduce ? joined(fold, states) : Values(states);
  Axes axes = axesOf(op.getValue().getType());
  Layout layout = layoutOfValue(op.getValue());
  Access access = accessOf(op.getTarget(), op.getMap(), op.getDims(), op.getSyms(), axes, layout);
  Value first = isFirstCopy(layout);
  auto writeTo = [&](const Access &target, ValueRange elements) {
    int64_t width = vectorFor(target, /*isChecked=*/false);
    for (int64_t r = 0, count = layout.numRegisters(); r < count; r += width) {
      SmallVector<Index> indices = indicesAt(target, r);
      Value mask = b.both(updateMask(op, target, indices, r), first);
      write(target.tensor, addressOf(target, indices), elements.slice(r, width), mask);
    }
  };
  if (keptBinders.empty())
    barrier(); // the copy was filled by others
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
