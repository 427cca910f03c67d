//===- EmitReport.cpp - assertions and prints -----------------------------===//
//
// What a program says goes to memory that the launch reads when all is done
// (runtime/artifact/GpuReport.h). Of assertions that fail the one of the lowest
// program stays; prints are records, of a length that is known here. Nothing waits
// for the host, and kernels without assertions and prints know nothing of it. A
// program that reports is one block.
//
//===----------------------------------------------------------------------===//

#include "codegen/Reports.h"
#include "codegen/gpu/InlineAsm.h"
#include "codegen/gpu/Lowering.h"
#include "runtime/artifact/GpuReport.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;
using tile::runtime::GpuRecord;
using tile::runtime::GpuReport;
using tile::runtime::GpuReportField;

//===-- The report --------------------------------------------------------===//

void tile::codegen::gpu::numberSites(KernelOp kernel, bool watched) {
  Builder builder(kernel.getContext());
  if (watched)
    kernel->setAttr(watchedAttrName, builder.getUnitAttr());
  if (!speaks(kernel))
    return;
  for (auto [n, op] : llvm::enumerate(reportSites(kernel)))
    op->setAttr(siteAttrName, builder.getI64IntegerAttr(static_cast<int64_t>(n)));
}

bool tile::codegen::gpu::speaks(KernelOp kernel) {
  return kernel->hasAttr(watchedAttrName) || hasReports(kernel);
}

uint64_t KernelLowering::siteOf(Operation *op) {
  return op->getAttrOfType<IntegerAttr>(siteAttrName).getInt();
}

Value KernelLowering::reportField(unsigned number) {
  return LLVM::GEPOp::create(b, report.getType(), b.getI64Type(), report,
                             ValueRange{b.i64(number)});
}

Value KernelLowering::isFirstThread() { return isFirstCopy(layoutOfScalar()); }

/// By one thread; gives nothing.
void KernelLowering::byFirstThread(llvm::function_ref<void()> act) {
  b.branch(
      isFirstThread(),
      [&] {
        act();
        return Values();
      },
      [] { return Values(); });
}

Value KernelLowering::programCoordinate(unsigned binder) {
  ParallelOp parallel = kernel.getParallel();
  BlockArgument argument = parallel.getBody().getArgument(binder);
  return parallel.getEach()[binder] ? scalar(argument) : ranges.lookup(axisOf(argument)).origin;
}

bool KernelLowering::canReport(Operation *op) {
  // The programs of a block come in their order: what follows a failure need not run.
  if (program && !kernel->hasAttr(groupAttrName))
    return true;
  fail(op, "the GPU backend does not have reports of roles and of groups of programs yet");
  return false;
}

//===-- Assertions --------------------------------------------------------===//

void KernelLowering::leaveIf(Value condition, llvm::function_ref<void()> before) {
  Block *current = b.getInsertionBlock(), *leaves = b.newBlock({});
  b.setInsertionPointToStart(leaves);
  before();
  Block *goesOn = b.newBlock({});
  LLVM::ReturnOp::create(b, ValueRange());
  b.setInsertionPointToEnd(current);
  LLVM::CondBrOp::create(b, condition, leaves, ValueRange(), goesOn, ValueRange());
  b.setInsertionPointToStart(goesOn);
}

/// A program's failure, by its first thread: it stays if no lower program has failed.
void KernelLowering::reportFailure(AssertOp op, ValueRange coordinates) {
  Type i64 = b.getI64Type();
  auto read = [&](Value address) {
    return inlineAsm(b, i64, address, "ld.relaxed.gpu.global.b64 $0, [$1];", "=l,l,~{memory}",
                     true);
  };
  auto write = [&](GpuReportField field, unsigned number, Value value) {
    inlineAsm(b, Type(), {reportField(static_cast<unsigned>(field) + number), value},
              "st.relaxed.gpu.global.b64 [$0], $1;", "l,l,~{memory}", true);
  };
  byFirstThread([&] {
    Value lock = reportField(static_cast<unsigned>(GpuReportField::Lock));
    auto take = [&](ValueRange) -> std::pair<Value, Values> {
      Value held = inlineAsm(b, i64, {lock, b.i64(0), b.i64(1)},
                             "atom.acquire.gpu.global.cas.b64 $0, [$1], $2, $3;",
                             "=l,l,l,l,~{memory}", true);
      return {b.compare(CmpIPredicate::ne, held, b.i64(0)), {}};
    };
    b.repeat({}, take, [](ValueRange) { return Values(); }, {});
    Value lowest = read(reportField(static_cast<unsigned>(GpuReportField::FailedProgram)));
    auto tell = [&] {
      write(GpuReportField::FailedProgram, 0, program);
      write(GpuReportField::FailedSite, 0, b.i64(static_cast<int64_t>(siteOf(op))));
      for (auto [n, value] : llvm::enumerate(coordinates))
        write(GpuReportField::Values, n, value);
      return Values();
    };
    b.branch(b.compare(CmpIPredicate::slt, program, lowest), tell, [] { return Values(); });
    inlineAsm(b, i64, {lock, b.i64(0)}, "atom.release.gpu.global.exch.b64 $0, [$1], $2;",
              "=l,l,l,~{memory}", true);
  });
}

/// Whether a condition that differs by thread holds in any of the program.
Value KernelLowering::anyThread(Value condition) {
  Type i32 = b.getI32Type();
  Value any = inlineAsm(b, i32, b.fold<arith::ExtUIOp>(i32, condition),
                        "{ .reg .pred p; setp.ne.b32 p, $1, 0; bar.red.or.pred p, 0, p; "
                        "selp.b32 $0, 1, 0, p; }",
                        "=r,r,~{memory}", true);
  return b.compare(CmpIPredicate::ne, any, b.integer(i32, 0));
}

void KernelLowering::emitAssert(AssertOp op) {
  if (!canReport(op))
    return;
  Values coordinates;
  for (unsigned n = 0; n < kernel.getParallel().getNames().size(); ++n)
    coordinates.push_back(programCoordinate(n));
  if (axesOf(op.getCondition().getType()).empty()) {
    Value holds = scalar(op.getCondition());
    return leaveIf(b.compare(CmpIPredicate::eq, holds, b.i1(false)),
                   [&] { reportFailure(op, coordinates); });
  }
  Tile condition = tile(op.getCondition());
  const Layout &layout = condition.layout;
  Values mask = domainMask(condition.axes, layout), fails;
  Value here;
  for (auto [holds, inside] : llvm::zip(condition.registers, mask)) {
    fails.push_back(b.both(b.compare(CmpIPredicate::eq, holds, b.i1(false)), inside));
    here = here ? b.either(here, fails.back()) : fails.back();
  }
  // Which one it is is only asked where there is one.
  leaveIf(anyThread(here), [&] {
    SmallVector<int64_t> strides = stridesOf(layout);
    Type i32 = b.getI32Type();
    Value none = b.integer(i32, std::numeric_limits<int32_t>::max());
    Values places;
    for (auto [r, failed] : llvm::enumerate(fails)) {
      Index place = linearPlace(layout, static_cast<int64_t>(r), strides);
      Value number = b.add(place.base, b.integer(i32, place.constant));
      places.push_back(b.select(failed, number, none));
    }
    auto lower = [&](ValueRange x, ValueRange y) { return Values{b.minS(x[0], y[0])}; };
    Value rest = reduceStates(layout, {places}, {}, lower).second[0][0];
    for (auto [axis, stride] : llvm::zip(condition.axes, strides)) {
      Value at = b.fold<arith::DivUIOp>(rest, b.integer(i32, stride));
      rest = b.sub(rest, b.mul(at, b.integer(i32, stride)));
      Value wide = b.fold<arith::ExtUIOp>(b.getI64Type(), at);
      coordinates.push_back(b.add(ranges.lookup(axis).origin, wide));
    }
    reportFailure(op, coordinates);
  });
}

//===-- Prints ------------------------------------------------------------===//

namespace {
/// Where a printed value is in its record, in bytes.
struct Shown {
  int64_t words = 0, data = 0, defined = 0;
};
} // namespace

static int64_t placesOf(const Layout &layout) {
  int64_t count = 1;
  for (unsigned axis = 0; axis < layout.rank(); ++axis)
    count *= layout.extent(axis);
  return count;
}

SmallVector<int64_t> KernelLowering::stridesOf(const Layout &layout) {
  SmallVector<int64_t> strides(layout.rank());
  int64_t stride = 1;
  for (unsigned axis = layout.rank(); axis-- > 0; stride *= layout.extent(axis))
    strides[axis] = stride;
  return strides;
}

/// So many bytes of the records, the same address in all threads.
Value KernelLowering::takeRecord(int64_t bytes, Value &fits) {
  Value size = b.i64(bytes), first = isFirstThread();
  Value offset =
      inlineAsm(b, b.getI64Type(),
                {reportField(static_cast<unsigned>(GpuReportField::Used)), first, size, b.i64(0)},
                "@$2 atom.relaxed.gpu.global.add.u64 $0, [$1], $3;", "=l,l,b,l,0,~{memory}", true);
  offset = shareFirst(layoutOfScalar(), {offset})[0];
  Value capacity = LLVM::LoadOp::create(
      b, b.getI64Type(), reportField(static_cast<unsigned>(GpuReportField::Capacity)), 8, false,
      false, /*isInvariant=*/true);
  fits = b.compare(CmpIPredicate::ule, b.add(offset, size), capacity);
  return LLVM::GEPOp::create(b, report.getType(), b.getI8Type(), report,
                             ValueRange{b.add(offset, b.i64(sizeof(GpuReport)))});
}

void KernelLowering::storeHeader(Value record, uint64_t site, int64_t bytes) {
  storeReported(program, record, 0, {});
  storeReported(b.i64(static_cast<int64_t>(site)), record, 8, {});
  storeReported(b.i64(bytes), record, 16, {});
}

void KernelLowering::storeReported(Value value, Value record, int64_t offset, Value place) {
  if (value.getType().isInteger(1))
    value = arith::ExtUIOp::create(b, b.getI8Type(), value);
  unsigned bytes = std::max(1u, value.getType().getIntOrFloatBitWidth() / 8);
  Value address =
      LLVM::GEPOp::create(b, record.getType(), b.getI8Type(), record, ValueRange{b.i64(offset)});
  if (place)
    address = LLVM::GEPOp::create(b, record.getType(), value.getType(), address, ValueRange{place});
  LLVM::StoreOp::create(b, value, address, bytes);
}

void KernelLowering::emitPrint(PrintOp op) {
  if (!canReport(op))
    return;
  // Where everything goes: the words of all values, then their elements.
  SmallVector<Shown> shown;
  int64_t bytes = sizeof(GpuRecord);
  for (Value value : op.getValues()) {
    shown.push_back({bytes, 0, 0});
    auto rank = static_cast<int64_t>(axesOf(value.getType()).size());
    bytes += 8 * (rank ? 2 + 3 * rank : 1);
  }
  for (auto [value, at] : llvm::zip(op.getValues(), shown)) {
    Axes axes = axesOf(value.getType());
    if (axes.empty())
      continue;
    int64_t count = placesOf(layoutOf(value.getType()));
    int64_t width = std::max(1u, getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() / 8);
    at.data = bytes;
    bytes += static_cast<int64_t>(llvm::alignTo(count * width, 8));
    if (domains.restrictsOn(axes).empty())
      continue;
    at.defined = bytes;
    bytes += static_cast<int64_t>(llvm::alignTo(count, 8));
  }
  Value fits, record = takeRecord(bytes, fits);
  auto write = [&] {
    auto word = [&](int64_t offset, Value value) { storeReported(value, record, offset, {}); };
    byFirstThread([&] {
      storeHeader(record, siteOf(op), bytes);
      for (auto [value, at] : llvm::zip(op.getValues(), shown)) {
        Axes axes = axesOf(value.getType());
        if (axes.empty()) {
          word(at.words, scalar(value));
          continue;
        }
        word(at.words, b.i64(at.data));
        word(at.words + 8, b.i64(at.defined));
        for (auto [d, axis, stride] : llvm::enumerate(axes, stridesOf(layoutOf(value.getType())))) {
          int64_t first = at.words + 16 + 24 * static_cast<int64_t>(d);
          word(first, ranges.lookup(axis).origin);
          word(first + 8, ranges.lookup(axis).end);
          word(first + 16, b.i64(stride));
        }
      }
    });
    for (auto [value, at] : llvm::zip(op.getValues(), shown))
      if (!axesOf(value.getType()).empty())
        storeShown(tile(value), record, at.data, at.defined);
    return Values();
  };
  b.branch(fits, write, [] { return Values(); });
}

/// The elements of a tile, row-major, and which of them are inside, if that is asked for.
void KernelLowering::storeShown(const Tile &tile, Value record, int64_t data, int64_t defined) {
  SmallVector<int64_t> strides = stridesOf(tile.layout);
  Values mask = defined ? domainMask(tile.axes, tile.layout) : Values();
  auto store = [&] {
    for (auto [r, element] : llvm::enumerate(tile.registers)) {
      Index index = linearPlace(tile.layout, static_cast<int64_t>(r), strides);
      Value place = b.fold<arith::ExtUIOp>(
          b.getI64Type(), b.add(index.base, b.integer(b.getI32Type(), index.constant)));
      storeReported(element, record, data, place);
      if (defined)
        storeReported(mask[r] ? mask[r] : b.i1(true), record, defined, place);
    }
    return Values();
  };
  if (Value first = isFirstCopy(tile.layout))
    b.branch(first, store, [] { return Values(); });
  else
    store();
}
