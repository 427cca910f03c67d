//===- EmitStore.cpp - stores and updates ---------------------------------===//

#include "codegen/cpu/Lowering.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

/// The value and the tiles among the indices.
template <typename OpT>
static SmallVector<Value> pulledBy(OpT op) {
  SmallVector<Value> pulled(1, op.getValue());
  for (Value dim : op.getDims())
    if (!isa<SpanType>(dim.getType()))
      pulled.push_back(dim);
  return pulled;
}

template <typename OpT>
static MemRefType typeOfTarget(OpT op) {
  return cast<MemRefType>(op.getTarget().getType());
}

/// The axes of a store's nest, and which of them has the lanes, the last one then.
BodyLowering::StoreNest BodyLowering::nestOf(StoreOp op) {
  SmallVector<StringAttr> axes = mapAxes(op.getMap(), op.getDims()).names;
  bool isPlain =
      !target.sanitizes && !memoryOf(op.getTarget()).isShared && domains.restrictsOn(axes).empty();
  bool mayGoByRows = isPlain && !op.getDrops();
  StringAttr vectorAxis = chooseVectorAxis(
      axes, pulledBy(op), Access{op.getTarget(), op.getMap(), op.getDims(), mayGoByRows}, nullptr);
  for (StringAttr few : axes)
    if (mayGoByRows && vectorAxis &&
        rowsOfFew(op.getTarget(), op.getMap(), op.getDims(), few) == vectorAxis)
      return {withLast(withLast(axes, few), vectorAxis), vectorAxis, few, false};
  // Streamed stores are late, for other programs too.
  bool isStreamable = isPlain && vectorAxis && lanesAlong(vectorAxis) == target.lanes() &&
                      isUnitStride(typeOfTarget(op), op.getMap(), op.getDims(), vectorAxis);
  return {withLast(axes, vectorAxis), vectorAxis, {}, isStreamable};
}

/// With those behind it that go through the same elements in the same way and need some of what it
/// needs: that is read and computed once.
SmallVector<StoreOp> BodyLowering::storedWith(StoreOp op, const StoreNest &nest) {
  SmallVector<StoreOp> together = {op};
  if (kernel.isGrid())
    return together;
  llvm::SmallDenseSet<Value> needed;
  auto forEachNeeded = [&](StoreOp store, llvm::function_ref<void(Value)> visit) {
    for (Value value : pulledBy(store))
      plan.forEachPulled(value, [&](Value next) {
        if (!next.getDefiningOp<arith::ConstantOp>() && !next.getDefiningOp<CoordsOp>() &&
            !next.getDefiningOp<BroadcastOp>())
          visit(next);
      });
  };
  auto add = [&](StoreOp store) {
    forEachNeeded(store, [&](Value value) { needed.insert(value); });
  };
  add(op);
  plan.forEachStoreBehind(op, [&](StoreOp other) {
    bool shares = false;
    forEachNeeded(other, [&](Value value) { shares |= needed.contains(value); });
    if (shares && !done.contains(other) && !storedUnless.contains(other) && nestOf(other) == nest) {
      add(other);
      together.push_back(other);
    }
    return together.size() < Plan::mostStores;
  });
  return together;
}

bool BodyLowering::isScattered(const StoreNest &nest, int64_t elementBytes) const {
  constexpr int64_t shortRow = 1024, fewRows = 16; // bytes; in a block
  int64_t row = extentOf(nest.vectorAxis);
  auto hasMany = [&](StringAttr axis) {
    int64_t extent = likelyExtentOf(axis);
    return (plan.transposes() || !domains.isBlock(axis)) &&
           (ShapedType::isDynamic(extent) || extent >= fewRows);
  };
  return !ShapedType::isDynamic(row) && row * elementBytes <= shortRow &&
         llvm::any_of(ArrayRef(nest.axes).drop_back(), hasMany);
}

Value BodyLowering::bytesOf(const Memory &memory) {
  // These products are bytes of a tensor: they don't overflow.
  Value bytes = b.i64(memoryType(memory.element).getIntOrFloatBitWidth() / 8);
  for (Value extent : memory.extents)
    bytes = b.mul(bytes, extent);
  return bytes;
}

Value BodyLowering::isLarge(const Memory &memory, const StoreNest &nest) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(prologue);
  Value limit = b.i64(target.streamedBytes);
  if (isScattered(nest, memoryType(memory.element).getIntOrFloatBitWidth() / 8)) {
    Value isPart = b.compare(arith::CmpIPredicate::sgt, memory.extents.back(),
                             b.i64(extentOf(nest.vectorAxis)));
    limit = b.select(isPart, b.i64(target.scatteredBytes), limit);
  }
  return b.compare(arith::CmpIPredicate::sge, bytesOf(memory), limit);
}

Value BodyLowering::mayStream(StoreOp op, const Memory &memory, const StoreNest &nest) {
  Type element = memoryType(memory.element);
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  Value isAligned;
  at(nest.vectorAxis, rangeOf(nest.vectorAxis).first, [&] {
    SmallVector<Lanes> indices =
        indicesOf(op.getMap(), op.getDims(), op.getSyms(), [&](Value dim) { return indexOf(dim); });
    Place place = locate(memory, indices, 1);
    Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(),
                                             b.at(place.pointer, place.offset.value, element));
    Value rest =
        b.fold<arith::AndIOp>(address, b.i64(elementBytes * target.lanes() - 1)); // a power of two
    isAligned = b.compare(arith::CmpIPredicate::eq, rest, b.i64(0));
  });
  return b.both(isLarge(memory, nest), isAligned);
}

/// Between the kept value and the store is nothing that may leave, or that writes to its tensor,
/// to which there is one store only, and which nothing reads; and all that its place is made of is
/// there before.
SmallVector<StoreOp> BodyLowering::storedAlong(Value value, Axes axes, StringAttr vectorAxis) {
  SmallVector<StoreOp> stores;
  Operation *maker = value.getDefiningOp();
  if (!maker || kernel.isGrid() || !vectorAxis || zeroed.contains(value))
    return stores;
  for (Operation *next = maker->getNextNode(); next; next = next->getNextNode()) {
    auto store = dyn_cast<StoreOp>(next);
    if (!store && Plan::mayWriteOrLeave(next))
      break;
    if (!store || store.getValue() != value || done.contains(store) ||
        llvm::any_of(store.getTarget().getUsers(), llvm::IsaPred<LoadOp>) ||
        !llvm::all_of(store.getDims(), [](Value dim) { return isa<SpanType>(dim.getType()); }) ||
        !llvm::all_of(store.getSyms(), [&](Value sym) { return plan.isReadyAt(sym, maker); }))
      continue;
    StoreNest nest = nestOf(store);
    if (nest.vectorAxis == vectorAxis && !nest.few && nest.axes.size() == axes.size() &&
        std::is_permutation(axes.begin(), axes.end(), nest.axes.begin()))
      stores.push_back(store);
  }
  return stores;
}

void BodyLowering::storeAlong(ArrayRef<StoreOp> stores) {
  for (StoreOp store : stores) {
    const Memory &memory = memoryOf(store.getTarget());
    StoreNest nest = nestOf(store);
    if (!nest.isStreamable) {
      storeElement(store, memory, /*streamed=*/false);
      done.insert(store);
      continue;
    }
    Value streams = isLarge(memory, nest);
    storedUnless[store] = streams;
    b.branch(
        streams, [] { return Values(); },
        [&] {
          apart([&] { storeElement(store, memory, /*streamed=*/false); });
          return Values();
        });
  }
}

void BodyLowering::emitStore(StoreOp op) {
  if (done.contains(op))
    return;
  StoreNest nest = nestOf(op);
  Value streams = storedUnless.lookup(op);
  if (!streams)
    return emitStores(storedWith(op, nest), nest);
  llvm::SaveAndRestore restored(asksAhead, false);
  b.branch(
      streams,
      [&] {
        apart([&] { emitStores(op, nest); });
        return Values();
      },
      [] { return Values(); });
}

void BodyLowering::emitStores(ArrayRef<StoreOp> together, const StoreNest &own) {
  StringAttr vectorAxis = own.vectorAxis;
  SmallVector<Value> pulled;
  for (StoreOp store : together) {
    llvm::append_range(pulled, pulledBy(store));
    done.insert(store);
  }
  auto elements = [&](bool streamed) {
    if (own.few) {
      storeRows(together, own.few);
      return Values();
    }
    // All is read before anything is stored: where tensors begin at the same place of a page, a
    // processor takes what is read at one place for what is stored at the same place of another.
    for (StoreOp store : together)
      emit(store.getValue());
    for (StoreOp store : together)
      storeElement(store, memoryOf(store.getTarget()), streamed);
    return Values();
  };
  auto row = [&](bool streamed) {
    auto [lo, hi] = rangeOf(vectorAxis);
    auto body = [&](ValueRange) { return elements(streamed && !levels.back().laneMask); };
    auto all = [&, lo = lo, hi = hi] {
      return level(vectorAxis, lo, hi, lanesAlong(vectorAxis), {}, body, /*unroll=*/nullptr,
                   own.few ? 1 : vectorsFor(vectorAxis, pulled));
    };
    return own.few ? all() : withCuts(vectorAxis, vectorAxis, pulled, all);
  };
  ArrayRef<StringAttr> outer = own.axes;
  if (vectorAxis)
    outer = outer.drop_back(own.few ? 2 : 1);
  auto all = [&](ValueRange) {
    if (!vectorAxis)
      return elements(false);
    if (!own.isStreamable)
      return row(false);
    Value mayStreamHere;
    for (StoreOp store : together)
      mayStreamHere = b.both(mayStreamHere, mayStream(store, memoryOf(store.getTarget()), own));
    streams = true;
    auto path = [&](bool streamed) {
      apart([&] { row(streamed); });
      return Values();
    };
    return b.branch(
        mayStreamHere, [&] { return path(true); }, [&] { return path(false); });
  };
  withTurned(pulled, own.few ? StringAttr() : vectorAxis,
             [&] { nest(outer, StringAttr(), {}, all); });
}

void BodyLowering::storeRows(ArrayRef<StoreOp> stores, StringAttr few) {
  int length = lengthOfFew(memoryOf(StoreOp(stores.front()).getTarget()));
  SmallVector<Values> columns(stores.size());
  for (int n = 0; n < length; ++n)
    at(few, b.i64(n), [&] {
      for (auto [values, op] : llvm::zip(columns, stores)) {
        StoreOp store = op;
        values.push_back(emit(store.getValue()));
      }
    });
  at(few, b.i64(0), [&] {
    for (auto [values, op] : llvm::zip(columns, stores)) {
      StoreOp store = op;
      auto indices = indicesOf(store.getMap(), store.getDims(), store.getSyms(),
                               [&](Value dim) { return indexOf(dim); });
      writeRows(memoryOf(store.getTarget()), indices, values);
    }
  });
}

void BodyLowering::storeElement(StoreOp op, const Memory &memory, bool streamed) {
  SmallVector<StringAttr> axes = mapAxes(op.getMap(), op.getDims()).names;
  int width = widthAt(axes);
  Value value = emit(op.getValue());
  SmallVector<Lanes> indices =
      indicesOf(op.getMap(), op.getDims(), op.getSyms(), [&](Value dim) { return indexOf(dim); });
  Place place = locate(memory, indices, width);
  if (streamed) {
    value = toMemory(b.splat(value, width), memory.element);
    b.storeStreamed(value, b.at(place.pointer, place.offset.value, memoryType(memory.element)));
  } else {
    Value mask = watched(op, indices, domainMask(axes));
    if (op.getDrops())
      mask = b.both(mask, insideOf(memory, indices, width,
                                   provedInside(op.getTarget(), op.getMap(), op.getDims())));
    writeElements(memory, place, width, mask, value);
  }
}

void BodyLowering::emitUpdate(UpdateOp op) {
  AxisList axes = mapAxes(op.getMap(), op.getDims());
  // Lanes of one vector must go to different elements.
  SmallVector<StringAttr> candidates;
  for (StringAttr axis : axes.names)
    if (isUnitStride(typeOfTarget(op), op.getMap(), op.getDims(), axis))
      candidates.push_back(axis);
  StringAttr vectorAxis = chooseVectorAxis(
      candidates, pulledBy(op), Access{op.getTarget(), op.getMap(), op.getDims()}, nullptr);
  Memory memory = memoryOf(op.getTarget());
  // What halves are combined in is f32, and what floats are added in f64 (CpuEntry.h).
  auto narrow = isNarrowFloat(memory.element) ? cast<FloatType>(memory.element) : FloatType();
  bool isWide = op.getKind() == CombineKind::add && isa<FloatType>(memory.element);
  bool isWidened = isWide && !memory.element.isF64();
  if (narrow)
    memory.element = b.getF32Type();
  if (isWide)
    memory.element = b.getF64Type();
  llvm::BitVector proved = provedInside(op.getTarget(), op.getMap(), op.getDims());
  nest(withLast(axes.names, vectorAxis), vectorAxis, {}, [&](ValueRange) {
    int width = widthAt(axes.names);
    Value value = emit(op.getValue());
    if (narrow)
      value = widenToF32(b, target, value, narrow);
    if (isWidened)
      value = arith::ExtFOp::create(b, lanesOf(memory.element, widthOf(value)), value);
    SmallVector<Lanes> indices =
        indicesOf(op.getMap(), op.getDims(), op.getSyms(), [&](Value dim) { return indexOf(dim); });
    // What falls outside is dropped.
    Value mask = watched(op, indices, domainMask(axes.names));
    mask = b.both(mask, insideOf(memory, indices, width, proved));
    Place place = locate(memory, indices, width);
    Value old = readElements(memory, place, width, mask, Value());
    writeElements(memory, place, width, mask,
                  emitCombine(b, target, op.getKind(), memory.element, old, value));
    return Values();
  });
}

void ScalarLowering::emitFinish(FinishOp op) {
  Memory memory = memoryOf(op.getOutput());
  Value count = b.i64(1);
  for (Value extent : memory.extents)
    count = b.mul(count, extent);
  auto finish = [&](Value first, Value end, int width) {
    b.loop(first, end, b.i64(width), {}, [&](Value element, ValueRange) {
      Place place{memory.pointer, {element, /*counts=*/true}};
      Value sums = readElements(memory, place, width, Value(), Value());
      Value result = emitCombination(b, target, op.getBody().front(), sums,
                                     [&](Value outer) { return scalar(outer); })[0];
      writeElements(memory, place, width, Value(), result);
      return CodeBuilder::Values();
    });
  };
  Value whole = b.fold<arith::AndIOp>(count, b.i64(-int64_t(target.lanes())));
  finish(b.i64(0), whole, target.lanes());
  finish(whole, count, 1);
}
