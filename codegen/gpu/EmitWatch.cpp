//===- EmitWatch.cpp - accesses that are watched: --sanitize --------------===//
//
// Each program notes all elements that it is about to access, in the order in
// which it does, and leaves out what is outside. When all is done the host looks
// at them as if the programs had run one after the other: what it finds is what it
// finds on the CPU, whatever the device did at the same time.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/Access.h"
#include "codegen/gpu/LoopAxis.h"
#include "runtime/artifact/GpuReport.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using tile::runtime::GpuRecord;

void KernelLowering::watchProgram() {
  if (!watches || !canReport(kernel.getParallel()))
    return;
  unsigned count = kernel.getParallel().getNames().size();
  auto bytes = static_cast<int64_t>(sizeof(GpuRecord) + size_t(8) * count);
  Value fits, record = takeRecord(bytes, fits);
  byFirstThread([&] {
    auto write = [&] {
      storeHeader(record, runtime::gpuProgramRecord, bytes);
      for (unsigned n = 0; n < count; ++n)
        storeReported(programCoordinate(n), record, sizeof(GpuRecord) + size_t(8) * n, {});
      return Values();
    };
    b.branch(fits, write, [] { return Values(); });
  });
}

/// Writes the record of an access.
void KernelLowering::noteAccess(Operation *op, const Access &access, const Layout &layout,
                                llvm::function_ref<Planned(int64_t)> plan) {
  SmallVector<int64_t> strides = stridesOf(layout);
  int64_t rank = access.map.getNumResults(), slot = 8 * (1 + rank), places = 1;
  for (unsigned axis = 0; axis < layout.rank(); ++axis)
    places *= layout.extent(axis);
  constexpr auto head = static_cast<int64_t>(sizeof(GpuRecord)) + 8;
  int64_t bytes = head + places * slot;
  Value fits, record = takeRecord(bytes, fits), first = isFirstCopy(layout);
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
        Index index = linearPlace(layout, r, strides);
        Value number = b.add(index.base, b.integer(b.getI32Type(), index.constant));
        place = b.mul(b.fold<arith::ExtUIOp>(b.getI64Type(), number), b.i64(1 + rank));
      }
      Value happens = planned.mask ? planned.mask : b.i1(true);
      storeReported(b.fold<arith::ExtUIOp>(b.getI64Type(), happens), record, head, place);
      for (int64_t d = 0; d < rank; ++d)
        storeReported(materialize(planned.indices[d]), record, head + 8 * (1 + d), place);
      return Values();
    };
    b.branch(b.both(fits, first), note, [] { return Values(); });
  }
}

CodeBuilder::Values KernelLowering::watch(Operation *op, const Access &access, const Layout &layout,
                                          llvm::function_ref<Planned(int64_t)> plan) {
  if (!watches)
    return {};
  if (!op->hasAttr(keptAttrName)) // what a program reads again it accesses once
    noteAccess(op, access, layout, plan);
  Values allowed;
  for (int64_t r = 0, count = layout.numRegisters(); r < count; ++r) {
    Planned planned = plan(r);
    allowed.push_back(insideOf(access, planned.indices, planned.mask));
    if (!allowed.back()) // a single number: there is no outside
      allowed.back() = b.i1(true);
  }
  return allowed;
}
