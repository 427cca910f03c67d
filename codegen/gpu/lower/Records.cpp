//===- Records.cpp - what programs leave for the launch to read -----------===//

#include "codegen/gpu/dialect/Sites.h"
#include "codegen/gpu/loops/LoopAxis.h"
#include "codegen/gpu/lower/Context.h"
#include "codegen/gpu/lower/InlineAsm.h"
#include "runtime/artifact/GpuReport.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;
using tile::runtime::GpuRecord;
using tile::runtime::GpuReport;
using tile::runtime::GpuReportField;

uint64_t Records::siteOf(Operation *op) {
  return op->getAttrOfType<IntegerAttr>(siteAttrName).getInt();
}

Value Records::reportField(unsigned number) {
  return LLVM::GEPOp::create(b, report.getType(), b.getI64Type(), report,
                             ValueRange{b.i64(number)});
}

Value Records::isFirstThread() { return ctx.places.isFirstCopy(ctx.layoutOfScalar()); }

/// By one thread; gives nothing.
void Records::byFirstThread(llvm::function_ref<void()> act) {
  b.branch(
      isFirstThread(),
      [&] {
        act();
        return Values();
      },
      [] { return Values(); });
}

bool Records::canReport(Operation *op) {
  // The programs of a block come in their order: what follows a failure need not run.
  if (ctx.program && !ctx.kernel->hasAttr(groupAttrName))
    return true;
  ctx.fail(op, "the GPU backend does not have reports of roles and of groups of programs yet");
  return false;
}

SmallVector<int64_t> Records::stridesOf(const Layout &layout) {
  SmallVector<int64_t> strides(layout.rank());
  int64_t stride = 1;
  for (unsigned axis = layout.rank(); axis-- > 0; stride *= layout.extent(axis))
    strides[axis] = stride;
  return strides;
}

/// So many bytes of the records, the same address in all threads.
Value Records::takeRecord(int64_t bytes, Value &fits) {
  Value size = b.i64(bytes), first = isFirstThread();
  Value offset =
      inlineAsm(b, b.getI64Type(),
                {reportField(static_cast<unsigned>(GpuReportField::Used)), first, size, b.i64(0)},
                "@$2 atom.relaxed.gpu.global.add.u64 $0, [$1], $3;", "=l,l,b,l,0,~{memory}", true);
  offset = ctx.exchange.shareFirst(ctx.layoutOfScalar(), {offset})[0];
  Value capacity = LLVM::LoadOp::create(
      b, b.getI64Type(), reportField(static_cast<unsigned>(GpuReportField::Capacity)), 8, false,
      false, /*isInvariant=*/true);
  fits = b.compare(CmpIPredicate::ule, b.add(offset, size), capacity);
  return LLVM::GEPOp::create(b, report.getType(), b.getI8Type(), report,
                             ValueRange{b.add(offset, b.i64(sizeof(GpuReport)))});
}

void Records::storeHeader(Value record, uint64_t site, int64_t bytes) {
  storeReported(ctx.program, record, 0, {});
  storeReported(b.i64(static_cast<int64_t>(site)), record, 8, {});
  storeReported(b.i64(bytes), record, 16, {});
}

void Records::storeReported(Value value, Value record, int64_t offset, Value place) {
  if (value.getType().isInteger(1))
    value = arith::ExtUIOp::create(b, b.getI8Type(), value);
  unsigned bytes = std::max(1u, value.getType().getIntOrFloatBitWidth() / 8);
  Value address =
      LLVM::GEPOp::create(b, record.getType(), b.getI8Type(), record, ValueRange{b.i64(offset)});
  if (place)
    address = LLVM::GEPOp::create(b, record.getType(), value.getType(), address, ValueRange{place});
  LLVM::StoreOp::create(b, value, address, bytes);
}

//===-- Watched accesses --------------------------------------------------===//

void Records::watchProgram() {
  if (!ctx.watches || !canReport(ctx.kernel.getParallel()))
    return;
  unsigned count = ctx.kernel.getParallel().getNames().size();
  auto bytes = static_cast<int64_t>(sizeof(GpuRecord) + size_t(8) * count);
  Value fits, record = takeRecord(bytes, fits);
  byFirstThread([&] {
    auto write = [&] {
      storeHeader(record, runtime::gpuProgramRecord, bytes);
      for (unsigned n = 0; n < count; ++n)
        storeReported(ctx.programs.coordinateOf(n), record, sizeof(GpuRecord) + size_t(8) * n, {});
      return Values();
    };
    b.branch(fits, write, [] { return Values(); });
  });
}

/// Writes the record of an access.
void Records::noteAccess(Operation *op, const Access &access, const Layout &layout,
                         llvm::function_ref<Planned(int64_t)> plan) {
  SmallVector<int64_t> strides = stridesOf(layout);
  int64_t rank = access.map.getNumResults(), slot = 8 * (1 + rank), places = 1;
  for (unsigned axis = 0; axis < layout.rank(); ++axis)
    places *= layout.extent(axis);
  constexpr auto head = static_cast<int64_t>(sizeof(GpuRecord)) + 8;
  int64_t bytes = head + places * slot;
  Value fits, record = takeRecord(bytes, fits), first = ctx.places.isFirstCopy(layout);
  byFirstThread([&] {
    auto write = [&] {
      storeHeader(record, runtime::gpuAccessRecord | siteOf(op), bytes);
      storeReported(b.i64(rank), record, sizeof(GpuRecord), {});
      return Values();
    };
    b.branch(fits, write, [] { return Values(); });
  });
  for (int64_t r = 0, count = layout.numRegisters(); r < count; ++r) {
    Planned planned = plan(r);
    auto note = [&] {
      Value place;
      if (layout.rank() > 0) {
        Index index = ctx.places.linearPlace(layout, r, strides);
        Value number = b.add(index.base, b.integer(b.getI32Type(), index.constant));
        place = b.mul(b.fold<arith::ExtUIOp>(b.getI64Type(), number), b.i64(1 + rank));
      }
      Value happens = planned.mask ? planned.mask : b.i1(true);
      storeReported(b.fold<arith::ExtUIOp>(b.getI64Type(), happens), record, head, place);
      for (int64_t d = 0; d < rank; ++d)
        storeReported(ctx.places.materialize(planned.indices[d]), record, head + 8 * (1 + d),
                      place);
      return Values();
    };
    b.branch(b.both(fits, first), note, [] { return Values(); });
  }
}

CodeBuilder::Values Records::watch(Operation *op, const Access &access, const Layout &layout,
                                   llvm::function_ref<Planned(int64_t)> plan) {
  if (!ctx.watches)
    return {};
  if (!op->hasAttr(keptAttrName)) // what a program reads again it accesses once
    noteAccess(op, access, layout, plan);
  Values allowed;
  for (int64_t r = 0, count = layout.numRegisters(); r < count; ++r) {
    Planned planned = plan(r);
    allowed.push_back(ctx.memory.insideOf(access, planned.indices, planned.mask));
    if (!allowed.back()) // a single number: there is no outside
      allowed.back() = b.i1(true);
  }
  return allowed;
}
