//===- EmitReport.cpp - assertions and prints -----------------------------===//
//
// What a program says goes to memory that the launch reads when all is done
// (runtime/artifact/GpuReport.h). Of assertions that fail the one of the lowest
// program stays; prints are records, of a length that is known here. Nothing waits
// for the host, and kernels without assertions and prints know nothing of it. A
// program that reports is one block.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/lower/InlineAsm.h"
#include "codegen/gpu/lower/ReportEmitter.h"
#include "runtime/artifact/GpuReport.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpIPredicate;
using tile::runtime::GpuRecord;
using tile::runtime::GpuReportField;

ReportEmitter::ReportEmitter(LoweringContext &context) : Emitter(context, context.b) {
  ctx.onOp<AssertOp>([this](AssertOp op) { emitAssert(op); });
  ctx.onOp<PrintOp>([this](PrintOp op) { emitPrint(op); });
}

//===-- Assertions --------------------------------------------------------===//

void ReportEmitter::leaveIf(Value condition, llvm::function_ref<void()> before) {
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
void ReportEmitter::reportFailure(AssertOp op, ValueRange coordinates) {
  Type i64 = b.getI64Type();
  auto read = [&](Value address) {
    return inlineAsm(b, i64, address, "ld.relaxed.gpu.global.b64 $0, [$1];", "=l,l,~{memory}",
                     true);
  };
  auto write = [&](GpuReportField field, unsigned number, Value value) {
    inlineAsm(b, Type(), {ctx.records.reportField(static_cast<unsigned>(field) + number), value},
              "st.relaxed.gpu.global.b64 [$0], $1;", "l,l,~{memory}", true);
  };
  ctx.records.byFirstThread([&] {
    Value lock = ctx.records.reportField(static_cast<unsigned>(GpuReportField::Lock));
    auto take = [&](ValueRange) -> std::pair<Value, Values> {
      Value held = inlineAsm(b, i64, {lock, b.i64(0), b.i64(1)},
                             "atom.acquire.gpu.global.cas.b64 $0, [$1], $2, $3;",
                             "=l,l,l,l,~{memory}", true);
      return {b.compare(CmpIPredicate::ne, held, b.i64(0)), {}};
    };
    b.repeat({}, take, [](ValueRange) { return Values(); }, {});
    Value lowest =
        read(ctx.records.reportField(static_cast<unsigned>(GpuReportField::FailedProgram)));
    auto tell = [&] {
      write(GpuReportField::FailedProgram, 0, ctx.program);
      write(GpuReportField::FailedSite, 0, b.i64(static_cast<int64_t>(Records::siteOf(op))));
      for (auto [n, value] : llvm::enumerate(coordinates))
        write(GpuReportField::Values, n, value);
      return Values();
    };
    b.branch(b.compare(CmpIPredicate::slt, ctx.program, lowest), tell, [] { return Values(); });
    inlineAsm(b, i64, {lock, b.i64(0)}, "atom.release.gpu.global.exch.b64 $0, [$1], $2;",
              "=l,l,l,~{memory}", true);
  });
}

void ReportEmitter::emitAssert(AssertOp op) {
  if (!ctx.records.canReport(op))
    return;
  Values coordinates;
  for (unsigned n = 0; n < ctx.kernel.getParallel().getNames().size(); ++n)
    coordinates.push_back(ctx.programs.coordinateOf(n));
  if (axesOf(op.getCondition().getType()).empty()) {
    Value holds = ctx.scalar(op.getCondition());
    return leaveIf(b.compare(CmpIPredicate::eq, holds, b.i1(false)),
                   [&] { reportFailure(op, coordinates); });
  }
  Tile condition = ctx.tile(op.getCondition());
  const Layout &layout = condition.layout;
  Values mask = ctx.places.domainMask(condition.axes, layout), fails;
  Value here;
  for (auto [holds, inside] : llvm::zip(condition.registers, mask)) {
    fails.push_back(b.both(b.compare(CmpIPredicate::eq, holds, b.i1(false)), inside));
    here = here ? b.either(here, fails.back()) : fails.back();
  }
  // Which one it is is only asked where there is one.
  leaveIf(ctx.exchange.anyThread(here), [&] {
    SmallVector<int64_t> strides = Records::stridesOf(layout);
    Type i32 = b.getI32Type();
    Value none = b.integer(i32, std::numeric_limits<int32_t>::max());
    Values places;
    for (auto [r, failed] : llvm::enumerate(fails)) {
      Index place = ctx.places.linearPlace(layout, static_cast<int64_t>(r), strides);
      Value number = b.add(place.base, b.integer(i32, place.constant));
      places.push_back(b.select(failed, number, none));
    }
    auto lower = [&](ValueRange x, ValueRange y) { return Values{b.minS(x[0], y[0])}; };
    Value rest = ctx.exchange.reduceStates(layout, {places}, {}, lower).second[0][0];
    for (auto [axis, stride] : llvm::zip(condition.axes, strides)) {
      Value at = b.fold<arith::DivUIOp>(rest, b.integer(i32, stride));
      rest = b.sub(rest, b.mul(at, b.integer(i32, stride)));
      Value wide = b.fold<arith::ExtUIOp>(b.getI64Type(), at);
      coordinates.push_back(b.add(ctx.ranges.lookup(axis).origin, wide));
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

void ReportEmitter::emitPrint(PrintOp op) {
  if (!ctx.records.canReport(op))
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
    if (ctx.domains.restrictsOn(axes).empty())
      continue;
    at.defined = bytes;
    bytes += static_cast<int64_t>(llvm::alignTo(count, 8));
  }
  Value fits, record = ctx.records.takeRecord(bytes, fits);
  auto write = [&] {
    auto word = [&](int64_t offset, Value value) {
      ctx.records.storeReported(value, record, offset, {});
    };
    ctx.records.byFirstThread([&] {
      ctx.records.storeHeader(record, Records::siteOf(op), bytes);
      for (auto [value, at] : llvm::zip(op.getValues(), shown)) {
        Axes axes = axesOf(value.getType());
        if (axes.empty()) {
          word(at.words, ctx.scalar(value));
          continue;
        }
        word(at.words, b.i64(at.data));
        word(at.words + 8, b.i64(at.defined));
        for (auto [d, axis, stride] :
             llvm::enumerate(axes, Records::stridesOf(layoutOf(value.getType())))) {
          int64_t first = at.words + 16 + 24 * static_cast<int64_t>(d);
          word(first, ctx.ranges.lookup(axis).origin);
          word(first + 8, ctx.ranges.lookup(axis).end);
          word(first + 16, b.i64(stride));
        }
      }
    });
    for (auto [value, at] : llvm::zip(op.getValues(), shown))
      if (!axesOf(value.getType()).empty())
        storeShown(ctx.tile(value), record, at.data, at.defined);
    return Values();
  };
  b.branch(fits, write, [] { return Values(); });
}

/// The elements of a tile, row-major, and which of them are inside, if that is asked for.
void ReportEmitter::storeShown(const Tile &tile, Value record, int64_t data, int64_t defined) {
  SmallVector<int64_t> strides = Records::stridesOf(tile.layout);
  Values mask = defined ? ctx.places.domainMask(tile.axes, tile.layout) : Values();
  auto store = [&] {
    for (auto [r, element] : llvm::enumerate(tile.registers)) {
      Index index = ctx.places.linearPlace(tile.layout, static_cast<int64_t>(r), strides);
      Value place = b.fold<arith::ExtUIOp>(
          b.getI64Type(), b.add(index.base, b.integer(b.getI32Type(), index.constant)));
      ctx.records.storeReported(element, record, data, place);
      if (defined)
        ctx.records.storeReported(mask[r] ? mask[r] : b.i1(true), record, defined, place);
    }
    return Values();
  };
  if (Value first = ctx.places.isFirstCopy(tile.layout))
    b.branch(first, store, [] { return Values(); });
  else
    store();
}
