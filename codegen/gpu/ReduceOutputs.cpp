//===- ReduceOutputs.cpp - `reduce` outputs and their copies --------------===//
//
// Sums of floats depend on their order, and a grid has none. So each of a number
// of blocks, which the shapes alone decide, runs a run of programs one after the
// other, and folds their updates into a copy of the output; a second function folds
// the copies, in their order. Halves are f32 in the copies.
//
// Where some binders decide which elements a program updates,
//
//   parallel i in tiles(M), j in tiles(N) { s[j] += sum(x[i, j], i) }
//
// blocks with different j share a copy: each has the elements of its j in registers until
// its programs, which are a run of the i, are done. Such binders are *kept*. Where the
// kept ones alone make blocks enough there is one copy, and blocks store what they have.
//
// Where the outputs have few elements, as the kernel knows, that function would take
// longer to begin than to run. Then the launch gives a counter, and the last block that
// is done folds the copies, combining them in the very order of the second function.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/Lowering.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;

static FinishOp finishOf(KernelOp kernel, unsigned param) {
  for (FinishOp op : kernel.getBody().front().getOps<FinishOp>())
    if (op.getOutput() == kernel.getArgument(param))
      return op;
  return {};
}

/// Whether atomic operations give the same bits in any order, or may give others. Nobody would know
/// when they are complete.
static bool isAtomic(KernelOp kernel, unsigned param) {
  if (finishOf(kernel, param))
    return false;
  Type element = cast<MemRefType>(kernel.getArgumentTypes()[param]).getElementType();
  CombineKind kind = kernel.getParamReduce(param);
  if (element.isF32() || element.isF64())
    return kind == CombineKind::add && kernel.getArgAttr(param, "tile.unordered");
  return (element.isInteger(32) || element.isInteger(64)) && kind != CombineKind::mul;
}

SmallVector<ReduceCopies, 1> tile::codegen::gpu::copiesOf(KernelOp kernel) {
  SmallVector<ReduceCopies, 1> result;
  for (unsigned n = 0; n < kernel.getNumArguments(); ++n) {
    auto type = dyn_cast<MemRefType>(kernel.getArgumentTypes()[n]);
    if (!type || kernel.getParamMode(n) != ParamMode::Reduce || isAtomic(kernel, n))
      continue;
    Type element = type.getElementType();
    unsigned bits = isNarrowFloat(element) ? 32 : memoryType(element).getIntOrFloatBitWidth();
    result.push_back({n, bits / 8});
  }
  return result;
}

bool tile::codegen::gpu::foldsItself(KernelOp kernel) {
  if (speaks(kernel)) // an assertion may end a block before
    return false;
  auto hasFew = [&](const ReduceCopies &copy) {
    auto type = cast<MemRefType>(kernel.getArgumentTypes()[copy.param]);
    return type.hasStaticShape() && type.getNumElements() <= runtime::CudaCode::mostFolded;
  };
  return llvm::all_of(copiesOf(kernel), hasFew);
}

bool tile::codegen::gpu::hasSmallFinishes(KernelOp kernel) {
  // It is made anew for each register that a thread has.
  constexpr int64_t most = 8;
  return llvm::all_of(copiesOf(kernel), [&](const ReduceCopies &copy) {
    FinishOp finish = finishOf(kernel, copy.param);
    return !finish || llvm::range_size(finish.getBody().front()) <= most;
  });
}

Type KernelLowering::combinedType(Type element) {
  return isNarrowFloat(element) ? Type(b.getF32Type()) : element;
}

Value KernelLowering::identityFor(unsigned param) {
  // Of what is combined: the least f32 is infinite, also where the output's type has no infinity.
  Type element = cast<MemRefType>(kernel.getArgumentTypes()[param]).getElementType();
  return emitConstant(b, identityOf(kernel.getParamReduce(param), combinedType(element)));
}

Value KernelLowering::elementsOf(const Tensor &tensor) {
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

static Value elementAt(CodeBuilder &b, Value pointer, Value offset, Type element) {
  return LLVM::GEPOp::create(b, pointer.getType(), element, pointer, ValueRange{offset});
}

void KernelLowering::bindCopies() {
  if (copies.empty())
    return;
  Value place = placeOfCopies;
  copyNumber = readSpecial(b, "ctaid.x");
  if (!keptBinders.empty()) {
    Value block = copyNumber, number = b.fold<arith::TruncIOp>(b.getI32Type(), numCopies);
    keptPlaces = b.fold<arith::DivUIOp>(readSpecial(b, "nctaid.x"), number);
    copyNumber = b.fold<arith::DivUIOp>(block, keptPlaces);
    keptPlace = b.sub(block, b.mul(copyNumber, keptPlaces));
  }
  Value block = b.fold<arith::ExtUIOp>(b.getI64Type(), copyNumber);
  for (const ReduceCopies &copy : copies) {
    Tensor &tensor = tensors[kernel.getBody().getArgument(copy.param)];
    copiedOutputs.push_back(tensor);
    tensor.element = combinedType(tensor.element);
    Value length = paddedLength(b, elementsOf(tensor));
    Type stored = memoryType(tensor.element);
    tensor.pointer = elementAt(b, place, b.mul(block, length), stored);
    place = elementAt(b, place, b.mul(numCopies, length), stored);
  }
}

void KernelLowering::fill(unsigned param, Value first, Value step, Value count) {
  const Tensor &tensor = tensors[kernel.getBody().getArgument(param)];
  Value identity = identityFor(param);
  b.loop(first, count, step, {}, [&](Value n, ValueRange) {
    Value address = elementAt(b, tensor.pointer, n, memoryType(tensor.element));
    write(tensor, address, identity, Value());
    return Values();
  });
}

void KernelLowering::fillCopies() {
  Value first = b.fold<arith::ExtUIOp>(b.getI64Type(), thread);
  for (const ReduceCopies &copy : copies)
    fill(copy.param, first, b.i64(32 * int64_t(warps)),
         elementsOf(tensors[kernel.getBody().getArgument(copy.param)]));
}

//===-- Functions of their own --------------------------------------------===//

void KernelLowering::runStart() {
  b.setInsertionPointToEnd(prologue);
  thread = readSpecial(b, "tid.x");
  bindParameters();
  auto wide = [&](Value number) { return b.fold<arith::ExtUIOp>(b.getI64Type(), number); };
  Value threads = b.i64(GpuCode::threadsOfStart);
  Value first = b.add(b.mul(wide(readSpecial(b, "ctaid.x")), threads), wide(thread));
  Value step = b.mul(wide(readSpecial(b, "nctaid.x")), threads);
  for (unsigned n = 0; n < kernel.getNumArguments(); ++n)
    if (kernel.getParamMode(n) == ParamMode::Reduce &&
        llvm::none_of(copies, [&](const ReduceCopies &copy) { return copy.param == n; }))
      fill(n, first, step, elementsOf(tensors[kernel.getBody().getArgument(n)]));
  LLVM::ReturnOp::create(b, ValueRange());
}

Value KernelLowering::finished(unsigned param, const Tensor &output, Value folded) {
  if (isNarrowFloat(output.element))
    folded = roundFromF32(b, target, folded, cast<FloatType>(output.element));
  if (FinishOp finish = finishOf(kernel, param)) {
    scalars[finish.getBody().getArgument(0)] = folded;
    for (Operation &op : finish.getBody().front().without_terminator())
      emitOp(&op);
    folded = scalar(finish.getFinished());
  }
  return folded;
}

void KernelLowering::writeFolded(unsigned param, const Tensor &output, Value element,
                                 Value folded) {
  write(output, elementAt(b, output.pointer, element, memoryType(output.element)),
        finished(param, output, folded), Value());
}

/// The loads of a run of copies that wait for each other's addresses alone, so many at a time.
Value KernelLowering::foldRun(unsigned param, const Tensor &first, Value element, Value length,
                              Value begin, int64_t step) {
  constexpr int64_t atOnce = 4;
  CombineKind kind = kernel.getParamReduce(param);
  Type stored = memoryType(first.element);
  Value last = b.sub(numCopies, b.i64(1));
  auto fold = [&](Value copy, ValueRange so) {
    Value sum = so[0];
    Values numbers; // all are asked for before the first is needed
    for (int64_t k = 0; k < atOnce; ++k) {
      Value from = b.minS(b.add(copy, b.i64(k * step)), last);
      Value at = elementAt(b, first.pointer, b.add(b.mul(from, length), element), stored);
      numbers.push_back(read(first, at, 1, Value(), Value())[0]);
    }
    for (auto [k, number] : llvm::enumerate(numbers)) {
      Value isThere = b.compare(CmpIPredicate::sle, b.add(copy, b.i64(k * step)), last);
      sum = b.select(isThere, emitCombine(b, target, kind, first.element, sum, number), sum);
    }
    return Values{sum};
  };
  return b.loop(begin, numCopies, b.i64(atOnce * step), identityFor(param), fold)[0];
}

/// A thread for each element, in the order of `finishOutput`, which has a group for each copy.
void KernelLowering::finishFewCopies(const ReduceCopies &copy, const Tensor &output, Value block) {
  const Tensor &first = tensors[kernel.getBody().getArgument(copy.param)];
  auto wide = [&](Value number) { return b.fold<arith::ExtUIOp>(b.getI64Type(), number); };
  Value elements = elementsOf(output), length = paddedLength(b, elements);
  Value threads = b.i64(GpuCode::threadsOfFinish);
  Value begin = b.add(b.mul(wide(block), threads), wide(thread));
  Value step = b.mul(wide(readSpecial(b, "nctaid.x")), threads);
  b.loop(begin, elements, step, {}, [&](Value element, ValueRange) {
    writeFolded(copy.param, output, element,
                foldRun(copy.param, first, element, length, b.i64(0), 1));
    return Values();
  });
}

void KernelLowering::finishOutput(const ReduceCopies &copy, const Tensor &output, Value block) {
  // A block has 32 elements at a time, a lane each; its warps share out the copies.
  constexpr int64_t groups = GpuCode::threadsOfFinish / 32, pitch = 33;
  const Tensor &first = tensors[kernel.getBody().getArgument(copy.param)];
  CombineKind kind = kernel.getParamReduce(copy.param);
  Type type = first.element, stored = memoryType(type), i32 = b.getI32Type();
  auto combine = [&](Value x, Value y) { return emitCombine(b, target, kind, type, x, y); };
  auto wide = [&](Value number) { return b.fold<arith::ExtUIOp>(b.getI64Type(), number); };
  Value elements = elementsOf(output), length = paddedLength(b, elements), slots = shared(0);
  Value step = b.mul(wide(readSpecial(b, "nctaid.x")), b.i64(32));
  Value begin = b.mul(wide(block), b.i64(32));
  Value slot = b.add(b.mul(warp, b.integer(i32, pitch)), lane);
  b.loop(begin, elements, step, {}, [&](Value base, ValueRange) {
    Value element = b.add(base, wide(lane)), last = b.sub(elements, b.i64(1));
    Value sum = foldRun(copy.param, first, b.minS(element, last), length, wide(warp), groups);
    storeShared(sum, sharedAt(slots, slot, stored));
    barrier();
    Value writes = b.both(b.compare(CmpIPredicate::eq, warp, b.integer(i32, 0)),
                          b.compare(CmpIPredicate::slt, element, elements));
    auto finish = [&]() -> Values {
      Value all;
      for (int64_t group = 0; group < groups; ++group) {
        Value part = loadShared(type, sharedAt(slots, lane, stored, group * pitch));
        all = all ? combine(all, part) : part;
      }
      writeFolded(copy.param, output, element, all);
      return {};
    };
    b.branch(writes, finish, [] { return Values(); });
    barrier();
    return Values();
  });
}

void KernelLowering::runFinish() {
  b.setInsertionPointToEnd(prologue);
  thread = readSpecial(b, "tid.x");
  lane = b.fold<arith::AndIOp>(thread, b.integer(b.getI32Type(), 31));
  warp = b.fold<arith::ShRUIOp>(thread, b.integer(b.getI32Type(), 5));
  bindParameters();
  // What finishing may use.
  for (Operation &op : kernel.getBody().front().without_terminator())
    if ((isa<DimOp, arith::ConstantOp>(op) || op.hasTrait<OpTrait::Elementwise>()) &&
        axesOf(op.getResult(0).getType()).empty())
      emitOp(&op);
  SmallVector<Tensor> outputs;
  for (const ReduceCopies &copy : copies)
    outputs.push_back(tensors[kernel.getBody().getArgument(copy.param)]);
  // Each output begins at a block of its own, so that none waits for another one.
  Value place = placeOfCopies, block = readSpecial(b, "ctaid.x");
  Value count = readSpecial(b, "nctaid.x");
  Type i32 = b.getI32Type();
  Value apart = b.fold<arith::DivUIOp>(count, b.integer(i32, int64_t(copies.size())));
  for (auto [n, copy, output] : llvm::enumerate(copies, outputs)) {
    Value other = b.add(block, b.mul(apart, b.integer(i32, int64_t(n))));
    Value own = n == 0 ? block : b.fold<arith::RemUIOp>(other, count);
    Tensor &first = tensors[kernel.getBody().getArgument(copy.param)];
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
             fold(&KernelLowering::finishFewCopies), fold(&KernelLowering::finishOutput));
  }
  LLVM::ReturnOp::create(b, ValueRange());
}

//===-- The last block ----------------------------------------------------===//

/// Each thread has an element of a group of copies, those whose numbers have the same rest; then a
/// thread for each element combines its groups. That is the order of `finishOutput`.
void KernelLowering::foldFew(unsigned param, const Tensor &first, const Tensor &output) {
  CombineKind kind = kernel.getParamReduce(param);
  constexpr int64_t groups = GpuCode::threadsOfFinish / 32;
  Type type = first.element, stored = memoryType(type), i32 = b.getI32Type();
  auto combine = [&](Value x, Value y) { return emitCombine(b, target, kind, type, x, y); };
  auto wide = [&](Value number) { return b.fold<arith::ExtUIOp>(b.getI64Type(), number); };
  auto narrow = [&](Value number) { return b.fold<arith::TruncIOp>(i32, number); };
  Value elements = elementsOf(output), length = paddedLength(b, elements);
  Value slots = shared(groups * runtime::CudaCode::mostFolded *
                       std::max(1u, stored.getIntOrFloatBitWidth() / 8));
  Value threads = b.i64(32 * int64_t(warps));
  b.loop(wide(thread), b.mul(elements, b.i64(groups)), threads, {}, [&](Value n, ValueRange) {
    Value group = b.fold<arith::DivUIOp>(narrow(n), narrow(elements));
    Value element = b.sub(n, b.mul(wide(group), elements));
    Value sum = foldRun(param, first, element, length, wide(group), groups);
    storeShared(sum, sharedAt(slots, narrow(n), stored));
    return Values();
  });
  barrier();
  b.loop(wide(thread), elements, threads, {}, [&](Value element, ValueRange) {
    Value all;
    for (int64_t group = 0; group < groups; ++group) {
      Value slot = b.add(element, b.mul(elements, b.i64(group)));
      Value part = loadShared(type, sharedAt(slots, narrow(slot), stored));
      all = all ? combine(all, part) : part;
    }
    writeFolded(param, output, element, all);
    return Values();
  });
  barrier();
}

void KernelLowering::foldByLast() {
  Type i32 = b.getI32Type();
  auto fence = [&] {
    inlineAsm(b, Type(), {}, "fence.acq_rel.gpu;", "~{memory}", /*hasSideEffects=*/true);
  };
  auto fold = [&]() -> Values {
    fence();
    barrier();
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
    barrier();
    Value told = shared(4), last = b.sub(readSpecial(b, "nctaid.x"), b.integer(i32, 1));
    auto count = [&]() -> Values {
      // Back at zero with the last one.
      Value before = inlineAsm(b, i32, {counter, last},
                               "atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;", "=r,l,r,~{memory}",
                               /*hasSideEffects=*/true);
      storeShared(before, told);
      return {};
    };
    b.branch(b.compare(CmpIPredicate::eq, thread, b.integer(i32, 0)), count,
             [] { return Values(); });
    barrier();
    Value isLast = b.compare(CmpIPredicate::eq, loadShared(i32, told), last);
    return b.branch(isLast, fold, [] { return Values(); });
  };
  Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), counter);
  b.branch(b.compare(CmpIPredicate::ne, address, b.i64(0)), arrive, [] { return Values(); });
}
