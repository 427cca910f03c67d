//===- ReduceOutputs.cpp - copies of `reduce` outputs ---------------------===//

#include "codegen/gpu/lower/InlineAsm.h"
#include "codegen/gpu/lower/OutputEmitter.h"
#include "codegen/gpu/target/GpuCode.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

void OutputEmitter::emitRuns(ParallelOp op) {
  Block &body = op.getBody().front();
  Value ofBlock = numPrograms;
  SmallVector<unsigned> others;
  for (unsigned n = 0; n < op.getNames().size(); ++n)
    if (!llvm::is_contained(ctx.programs.keptBinders, n))
      others.push_back(n);
  if (ctx.programs.keptBinders.empty()) {
    fillCopies();
  } else {
    ctx.programs.bindBinders(op, keptPlace, ctx.programs.keptBinders);
    ofBlock =
        b.fold<arith::DivUIOp>(numPrograms, b.fold<arith::ExtUIOp>(b.getI64Type(), keptPlaces));
  }
  Value length = Programs::blockCount(b, b.i64(0), ofBlock, numCopies);
  Value first = b.mul(b.fold<arith::ExtUIOp>(b.getI64Type(), copyNumber), length);
  Value end = b.minS(b.add(first, length), ofBlock);
  SmallVector<Fold> updates = ctx.watches ? SmallVector<Fold>() : accumulatedUpdates();
  Values inits;
  Carried registers;
  for (const Fold &update : updates) {
    registers.append(inits, startOfUpdate(update), update.isLongSum);
    if (update.reduce)
      ctx.waiting.insert({update.reduce, update.combine});
  }
  auto turn = [&](Value number, ValueRange carried) {
    ctx.program = number;
    if (ctx.programs.keptBinders.empty())
      ctx.programs.bindProgram(op, b.fold<arith::TruncIOp>(b.getI32Type(), number));
    else
      ctx.programs.bindBinders(op, b.fold<arith::TruncIOp>(b.getI32Type(), number), others);
    ctx.records.watchProgram();
    SmallVector<ValueRange> parts = registers.split(carried);
    for (auto [update, part] : llvm::zip(updates, parts))
      if (!update.reduce)
        accumulated[update.combine] = Values(part);
    ctx.emitBlock(body);
    if (ctx.failed)
      return Values(carried);
    Values next;
    for (auto [update, part] : llvm::zip(updates, parts))
      llvm::append_range(next, update.reduce ? ctx.folds.stepOf(update, part)
                                             : accumulated[update.combine]);
    return next;
  };
  auto loop = [&](Value begin, Value stop, ValueRange start) {
    return b.loop(begin, stop, b.i64(1), start, turn);
  };
  Values last = ctx.folds.loopOfSums(std::nullopt, first, end, 1, registers, inits, loop);
  if (ctx.failed)
    return;
  for (auto [update, part] : llvm::zip(updates, registers.split(last)))
    writeAccumulated(update, part);
  if (foldsItself(ctx.kernel))
    foldByLast();
}

Type OutputEmitter::combinedType(Type element) {
  return isNarrowFloat(element) ? Type(b.getF32Type()) : element;
}

Value OutputEmitter::identityFor(unsigned param) {
  // Of what is combined: the least f32 is infinite, also where the output's type has no infinity.
  Type element = cast<MemRefType>(ctx.kernel.getArgumentTypes()[param]).getElementType();
  return emitConstant(b, identityOf(ctx.kernel.getParamReduce(param), combinedType(element)));
}

Value OutputEmitter::elementsOf(const Tensor &tensor) {
  Value count = b.i64(1);
  for (Value extent : tensor.extents)
    count = b.mul(count, extent);
  return count;
}

/// Of one copy, in elements.
static Value paddedLength(CodeBuilder &b, Value elements) {
  constexpr int64_t alignment = ReduceCopies::alignment;
  Value more = b.add(elements, b.i64(alignment - 1));
  return b.fold<arith::AndIOp>(more, b.i64(-alignment));
}

void OutputEmitter::bindLaunch(ValueRange parameters) {
  if (copies.empty())
    return;
  placeOfCopies = parameters[0];
  numCopies = parameters[1];
  numPrograms = parameters[2];
  counter = parameters[3];
}

void OutputEmitter::bindCopies() {
  if (copies.empty())
    return;
  Value place = placeOfCopies;
  copyNumber = readSpecial(b, "ctaid.x");
  if (!ctx.programs.keptBinders.empty()) {
    Value block = copyNumber, number = b.fold<arith::TruncIOp>(b.getI32Type(), numCopies);
    keptPlaces = b.fold<arith::DivUIOp>(readSpecial(b, "nctaid.x"), number);
    copyNumber = b.fold<arith::DivUIOp>(block, keptPlaces);
    keptPlace = b.sub(block, b.mul(copyNumber, keptPlaces));
  }
  Value block = b.fold<arith::ExtUIOp>(b.getI64Type(), copyNumber);
  for (const ReduceCopies &copy : copies) {
    Tensor &tensor = ctx.tensors[ctx.kernel.getBody().getArgument(copy.param)];
    copiedOutputs.push_back(tensor);
    tensor.element = combinedType(tensor.element);
    Value length = paddedLength(b, elementsOf(tensor));
    Type stored = memoryType(tensor.element);
    tensor.pointer = elementAt(b, place, b.mul(block, length), stored);
    place = elementAt(b, place, b.mul(numCopies, length), stored);
  }
}

void OutputEmitter::fill(unsigned param, Value first, Value step, Value count) {
  const Tensor &tensor = ctx.tensors[ctx.kernel.getBody().getArgument(param)];
  Value identity = identityFor(param);
  b.loop(first, count, step, {}, [&](Value n, ValueRange) {
    Value address = elementAt(b, tensor.pointer, n, memoryType(tensor.element));
    ctx.memory.write(tensor, address, identity, Value());
    return Values();
  });
}

void OutputEmitter::fillCopies() {
  Value first = b.fold<arith::ExtUIOp>(b.getI64Type(), ctx.thread);
  for (const ReduceCopies &copy : copies)
    fill(copy.param, first, b.i64(32 * int64_t(ctx.warps)),
         elementsOf(ctx.tensors[ctx.kernel.getBody().getArgument(copy.param)]));
}

//===-- Functions of their own --------------------------------------------===//

void OutputEmitter::runStart() {
  b.setInsertionPointToEnd(ctx.prologue);
  ctx.thread = readSpecial(b, "tid.x");
  bindLaunch(ctx.bindParameters());
  auto wide = [&](Value number) { return b.fold<arith::ExtUIOp>(b.getI64Type(), number); };
  Value threads = b.i64(GpuCode::threadsOfStart);
  Value first = b.add(b.mul(wide(readSpecial(b, "ctaid.x")), threads), wide(ctx.thread));
  Value step = b.mul(wide(readSpecial(b, "nctaid.x")), threads);
  for (unsigned n = 0; n < ctx.kernel.getNumArguments(); ++n)
    if (ctx.kernel.getParamMode(n) == ParamMode::Reduce &&
        llvm::none_of(copies, [&](const ReduceCopies &copy) { return copy.param == n; }))
      fill(n, first, step, elementsOf(ctx.tensors[ctx.kernel.getBody().getArgument(n)]));
  LLVM::ReturnOp::create(b, ValueRange());
}

Value OutputEmitter::finished(unsigned param, const Tensor &output, Value folded) {
  if (isNarrowFloat(output.element))
    folded = roundFromF32(b, ctx.target, folded, cast<FloatType>(output.element));
  if (FinishOp finish = finishOf(ctx.kernel, param)) {
    ctx.scalars[finish.getBody().getArgument(0)] = folded;
    for (Operation &op : finish.getBody().front().without_terminator())
      ctx.emitOp(&op);
    folded = ctx.scalar(finish.getFinished());
  }
  return folded;
}

void OutputEmitter::writeFolded(unsigned param, const Tensor &output, Value element, Value folded) {
  ctx.memory.write(output, elementAt(b, output.pointer, element, memoryType(output.element)),
                   finished(param, output, folded), Value());
}

/// The loads of a run of copies that wait for each other's addresses alone, so many at a time.
Value OutputEmitter::foldRun(unsigned param, const Tensor &first, Value element, Value length,
                             Value begin, int64_t step) {
  constexpr int64_t atOnce = 4;
  CombineKind kind = ctx.kernel.getParamReduce(param);
  Type stored = memoryType(first.element);
  Value last = b.sub(numCopies, b.i64(1));
  auto fold = [&](Value copy, ValueRange so) {
    Value sum = so[0];
    Values numbers; // all are asked for before the first is needed
    for (int64_t k = 0; k < atOnce; ++k) {
      Value from = b.minS(b.add(copy, b.i64(k * step)), last);
      Value at = elementAt(b, first.pointer, b.add(b.mul(from, length), element), stored);
      numbers.push_back(ctx.memory.read(first, at, 1, Value(), Value())[0]);
    }
    for (auto [k, number] : llvm::enumerate(numbers)) {
      Value isThere = b.compare(CmpIPredicate::sle, b.add(copy, b.i64(k * step)), last);
      sum = b.select(isThere, emitCombine(b, ctx.target, kind, first.element, sum, number), sum);
    }
    return Values{sum};
  };
  return b.loop(begin, numCopies, b.i64(atOnce * step), identityFor(param), fold)[0];
}

/// A thread for each element, in the order of `finishOutput`, which has a group for each copy.
void OutputEmitter::finishFewCopies(const ReduceCopies &copy, const Tensor &output, Value block) {
  const Tensor &first = ctx.tensors[ctx.kernel.getBody().getArgument(copy.param)];
  auto wide = [&](Value number) { return b.fold<arith::ExtUIOp>(b.getI64Type(), number); };
  Value elements = elementsOf(output), length = paddedLength(b, elements);
  Value threads = b.i64(GpuCode::threadsOfFinish);
  Value begin = b.add(b.mul(wide(block), threads), wide(ctx.thread));
  Value step = b.mul(wide(readSpecial(b, "nctaid.x")), threads);
  b.loop(begin, elements, step, {}, [&](Value element, ValueRange) {
    writeFolded(copy.param, output, element,
                foldRun(copy.param, first, element, length, b.i64(0), 1));
    return Values();
  });
}

void OutputEmitter::finishOutput(const ReduceCopies &copy, const Tensor &output, Value block) {
  // A block has 32 elements at a time, a lane each; its warps share out the copies.
  constexpr int64_t groups = GpuCode::threadsOfFinish / 32, pitch = 33;
  const Tensor &first = ctx.tensors[ctx.kernel.getBody().getArgument(copy.param)];
  CombineKind kind = ctx.kernel.getParamReduce(copy.param);
  Type type = first.element, stored = memoryType(type), i32 = b.getI32Type();
  auto combine = [&](Value x, Value y) { return emitCombine(b, ctx.target, kind, type, x, y); };
  auto wide = [&](Value number) { return b.fold<arith::ExtUIOp>(b.getI64Type(), number); };
  Value elements = elementsOf(output), length = paddedLength(b, elements),
        slots = ctx.shared.take(0);
  Value step = b.mul(wide(readSpecial(b, "nctaid.x")), b.i64(32));
  Value begin = b.mul(wide(block), b.i64(32));
  Value slot = b.add(b.mul(ctx.warp, b.integer(i32, pitch)), ctx.lane);
  b.loop(begin, elements, step, {}, [&](Value base, ValueRange) {
    Value element = b.add(base, wide(ctx.lane)), last = b.sub(elements, b.i64(1));
    Value sum = foldRun(copy.param, first, b.minS(element, last), length, wide(ctx.warp), groups);
    ctx.shared.store(sum, ctx.shared.at(slots, slot, stored));
    ctx.barriers.meet();
    Value writes = b.both(b.compare(CmpIPredicate::eq, ctx.warp, b.integer(i32, 0)),
                          b.compare(CmpIPredicate::slt, element, elements));
    auto finish = [&]() -> Values {
      Value all;
      for (int64_t group = 0; group < groups; ++group) {
        Value part = ctx.shared.load(type, ctx.shared.at(slots, ctx.lane, stored, group * pitch));
        all = all ? combine(all, part) : part;
      }
      writeFolded(copy.param, output, element, all);
      return {};
    };
    b.branch(writes, finish, [] { return Values(); });
    ctx.barriers.meet();
    return Values();
  });
}

void OutputEmitter::runFinish() {
  b.setInsertionPointToEnd(ctx.prologue);
  ctx.thread = readSpecial(b, "tid.x");
  ctx.lane = b.fold<arith::AndIOp>(ctx.thread, b.integer(b.getI32Type(), 31));
  ctx.warp = b.fold<arith::ShRUIOp>(ctx.thread, b.integer(b.getI32Type(), 5));
  bindLaunch(ctx.bindParameters());
  // What finishing may use.
  for (Operation &op : ctx.kernel.getBody().front().without_terminator())
    if ((isa<DimOp, arith::ConstantOp>(op) || op.hasTrait<OpTrait::Elementwise>()) &&
        axesOf(op.getResult(0).getType()).empty())
      ctx.emitOp(&op);
  SmallVector<Tensor> outputs;
  for (const ReduceCopies &copy : copies)
    outputs.push_back(ctx.tensors[ctx.kernel.getBody().getArgument(copy.param)]);
  // Each output begins at a block of its own, so that none waits for another one.
  Value place = placeOfCopies, block = readSpecial(b, "ctaid.x");
  Value count = readSpecial(b, "nctaid.x");
  Type i32 = b.getI32Type();
  Value apart = b.fold<arith::DivUIOp>(count, b.integer(i32, int64_t(copies.size())));
  for (auto [n, copy, output] : llvm::enumerate(copies, outputs)) {
    Value other = b.add(block, b.mul(apart, b.integer(i32, int64_t(n))));
    Value own = n == 0 ? block : b.fold<arith::RemUIOp>(other, count);
    Tensor &first = ctx.tensors[ctx.kernel.getBody().getArgument(copy.param)];
    first.element = combinedType(first.element);
    first.pointer = place;
    Type stored = memoryType(first.element);
    Value length = paddedLength(b, elementsOf(first));
    place = elementAt(b, place, b.mul(numCopies, length), stored);
    auto fold = [&, &copy = copy, &output = output](auto how) {
      return [&, how]() -> Values {
        (this->*how)(copy, output, own);
        return {};
      };
    };
    b.branch(b.compare(CmpIPredicate::sle, numCopies, b.i64(runtime::CudaCode::mostFoldedAlone)),
             fold(&OutputEmitter::finishFewCopies), fold(&OutputEmitter::finishOutput));
  }
  LLVM::ReturnOp::create(b, ValueRange());
}

//===-- The last block ----------------------------------------------------===//

/// Each thread has an element of a group of copies, those whose numbers have the same rest; then a
/// thread for each element combines its groups. That is the order of `finishOutput`.
void OutputEmitter::foldFew(unsigned param, const Tensor &first, const Tensor &output) {
  CombineKind kind = ctx.kernel.getParamReduce(param);
  constexpr int64_t groups = GpuCode::threadsOfFinish / 32;
  Type type = first.element, stored = memoryType(type), i32 = b.getI32Type();
  auto combine = [&](Value x, Value y) { return emitCombine(b, ctx.target, kind, type, x, y); };
  auto wide = [&](Value number) { return b.fold<arith::ExtUIOp>(b.getI64Type(), number); };
  auto narrow = [&](Value number) { return b.fold<arith::TruncIOp>(i32, number); };
  Value elements = elementsOf(output), length = paddedLength(b, elements);
  Value slots = ctx.shared.take(groups * runtime::CudaCode::mostFolded *
                                std::max(1u, stored.getIntOrFloatBitWidth() / 8));
  Value threads = b.i64(32 * int64_t(ctx.warps));
  b.loop(wide(ctx.thread), b.mul(elements, b.i64(groups)), threads, {}, [&](Value n, ValueRange) {
    Value group = b.fold<arith::DivUIOp>(narrow(n), narrow(elements));
    Value element = b.sub(n, b.mul(wide(group), elements));
    Value sum = foldRun(param, first, element, length, wide(group), groups);
    ctx.shared.store(sum, ctx.shared.at(slots, narrow(n), stored));
    return Values();
  });
  ctx.barriers.meet();
  b.loop(wide(ctx.thread), elements, threads, {}, [&](Value element, ValueRange) {
    Value all;
    for (int64_t group = 0; group < groups; ++group) {
      Value slot = b.add(element, b.mul(elements, b.i64(group)));
      Value part = ctx.shared.load(type, ctx.shared.at(slots, narrow(slot), stored));
      all = all ? combine(all, part) : part;
    }
    writeFolded(param, output, element, all);
    return Values();
  });
  ctx.barriers.meet();
}

void OutputEmitter::foldByLast() {
  Type i32 = b.getI32Type();
  auto fence = [&] {
    inlineAsm(b, Type(), {}, "fence.acq_rel.gpu;", "~{memory}", /*hasSideEffects=*/true);
  };
  auto fold = [&]() -> Values {
    fence();
    ctx.barriers.meet();
    Value place = placeOfCopies;
    for (auto [copy, output] : llvm::zip(copies, copiedOutputs)) {
      Tensor first = output;
      first.element = combinedType(output.element);
      first.pointer = place;
      foldFew(copy.param, first, output);
      place = elementAt(b, place, b.mul(numCopies, paddedLength(b, elementsOf(output))),
                        memoryType(first.element));
    }
    return {};
  };
  auto arrive = [&]() -> Values {
    fence(); // what this thread has written is seen by who sees it counted
    ctx.barriers.meet();
    Value told = ctx.shared.take(4), last = b.sub(readSpecial(b, "nctaid.x"), b.integer(i32, 1));
    auto count = [&]() -> Values {
      // Back at zero with the last one.
      Value before = inlineAsm(b, i32, {counter, last},
                               "atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;", "=r,l,r,~{memory}",
                               /*hasSideEffects=*/true);
      ctx.shared.store(before, told);
      return {};
    };
    b.branch(b.compare(CmpIPredicate::eq, ctx.thread, b.integer(i32, 0)), count,
             [] { return Values(); });
    ctx.barriers.meet();
    Value isLast = b.compare(CmpIPredicate::eq, ctx.shared.load(i32, told), last);
    return b.branch(isLast, fold, [] { return Values(); });
  };
  Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), counter);
  b.branch(b.compare(CmpIPredicate::ne, address, b.i64(0)), arrive, [] { return Values(); });
}
