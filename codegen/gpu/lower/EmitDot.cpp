//===- EmitDot.cpp - contractions without matrix units --------------------===//
//
// Both operands go through shared memory, where each thread finds the rows and
// columns of the elements that it accumulates: all at once, or one part of the
// contracted axis after the other.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/lower/DotEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

DotEmitter::DotEmitter(LoweringContext &context) : Emitter(context, context.b) {
  ctx.onOp<DotOp>([this](DotOp op) { emitDot(op); });
}

SmallVector<DotRow> DotEmitter::rowsOf(const DotOperand &operand, Axes axes, const Layout &layout) {
  SmallVector<DotRow> rows;
  for (int64_t r = 0, count = layout.numRegisters(); r < count; ++r) {
    DotRow row;
    for (auto [n, axis] : llvm::enumerate(operand.tile.axes)) {
      if (static_cast<int>(n) == operand.along)
        continue;
      unsigned position = llvm::find(axes, axis) - axes.begin();
      int64_t constant = layout.ofRegister(r)[position];
      row.key.push_back(constant);
      bool isSum = Places::isAdditive(layout, position);
      Value local = isSum ? ctx.places.threadPlace(layout, position)
                          : ctx.places.localPlace(layout, position, r);
      Value term = b.mul(local, b.integer(b.getI32Type(), operand.strides[n]));
      row.place.base = row.place.base ? b.add(row.place.base, term) : term;
      if (isSum)
        row.place.constant += constant * operand.strides[n];
    }
    rows.push_back(row);
  }
  return rows;
}

Values DotEmitter::multiplyRows(ArrayRef<DotOperand> operands, ArrayRef<SmallVector<DotRow>> rows,
                                Type type, Value count, ValueRange acc) {
  Value zero = isa<FloatType>(type) ? b.number(type, 0) : b.integer(type, 0);
  struct Read {
    Value number, inside;
  };
  auto readRows = [&](const DotOperand &operand, ArrayRef<DotRow> all, Value at) {
    Value step = b.mul(at, b.integer(b.getI32Type(), operand.strides[operand.along]));
    std::map<SmallVector<int64_t, 2>, Read> known;
    SmallVector<Read> result;
    for (const DotRow &row : all) {
      Read &read = known[row.key];
      if (!read.number) {
        Value place = row.place.base ? b.add(row.place.base, step) : step;
        read.number =
            ctx.shared.load(type, ctx.shared.at(operand.base, place, type, row.place.constant));
        if (operand.hasMask)
          read.inside =
              ctx.shared.load(b.getI1Type(), ctx.shared.at(operand.maskBase, place, b.getI8Type(),
                                                           row.place.constant));
      }
      result.push_back(read);
    }
    return result;
  };
  return b.loop(b.i64(0), count, b.i64(1), acc, [&](Value k, ValueRange sums) {
    Value at = b.fold<arith::TruncIOp>(b.getI32Type(), k);
    SmallVector<Read> left = readRows(operands[0], rows[0], at),
                      right = readRows(operands[1], rows[1], at);
    Values next;
    for (auto [sum, x, y] : llvm::zip(sums, left, right)) {
      // Zero times Inf is no contribution either.
      Value both = b.both(x.inside, y.inside);
      Value lhs = b.select(both, x.number, zero), rhs = b.select(both, y.number, zero);
      next.push_back(isa<FloatType>(type) ? Value(math::FmaOp::create(b, lhs, rhs, sum))
                                          : b.add(b.mul(lhs, rhs), sum));
    }
    return next;
  });
}

void DotEmitter::emitDot(DotOp op) {
  SmallVector<DotOperand, 2> operands;
  for (unsigned n : {0, 1}) {
    auto convert = op->getOperand(n).getDefiningOp<ConvertOp>();
    auto copied =
        ctx.operands.stagedOperands.find(convert ? convert.getInput().getDefiningOp() : nullptr);
    bool isCopied = copied != ctx.operands.stagedOperands.end();
    auto resident = ctx.operands.residents.find({op, n});
    bool isResident = resident != ctx.operands.residents.end();
    operands.push_back(ctx.operands.operandOf(op, n, /*hasRegisters=*/!isCopied && !isResident));
    operands.back().isResident = isResident;
    if (isResident)
      operands.back().base = resident->second;
    if (isCopied)
      operands.back().copied = copied->second;
  }
  if (!emitWarpDot(op, operands))
    ctx.bind(op.getResult(), multiplyByThreads(op, operands));
}

Values DotEmitter::multiplyByThreads(DotOp op, MutableArrayRef<DotOperand> operands) {
  Type type = getElementTypeOrSelf(op.getAcc().getType());
  Axes axes = axesOf(op.getType());
  Layout layout = axes.empty() ? Layout(0) : layoutOf(op.getType());
  int64_t covered = coveredBy(operands);
  // As much of the contracted axis at a time as there is room for.
  int64_t chunk = covered;
  auto layOut = [&] {
    int64_t end = 0;
    for (DotOperand &operand : operands) {
      int64_t next = operand.layOut(end, chunk, type, axes, layout);
      end = operand.isResident ? end : next;
    }
    return end;
  };
  for (DotOperand &operand : operands)
    if (operand.copied.slot)
      operand.tile.registers = ctx.operands.readStaged(operand.copied);
  int64_t bytes = layOut();
  while (bytes > mostSharedOfOp && chunk > 1) {
    chunk = static_cast<int64_t>(llvm::PowerOf2Ceil(chunk)) / 2;
    bytes = layOut();
  }
  assert((chunk == covered || !llvm::any_of(operands, [](auto &one) { return one.isResident; })) &&
         "there was room for all of it");
  Value base = ctx.shared.take(bytes);
  SmallVector<SmallVector<DotRow>, 2> rows;
  for (DotOperand &operand : operands) {
    if (!operand.isResident)
      operand.base = ctx.shared.at(base, Value(), b.getI8Type(), operand.start);
    operand.maskBase = ctx.shared.at(base, Value(), b.getI8Type(), operand.maskStart);
    rows.push_back(rowsOf(operand, axes, layout));
  }
  Range range = ctx.ranges.lookup(op.getAxisAttr());
  // This is what the tile has of the axis, which may be whole or a block.
  Value length = b.sub(range.end, range.origin);
  auto contract = [&](Value start, Value count, ValueRange acc) {
    ctx.barriers.meet();
    for (const DotOperand &operand : operands)
      if (!operand.isResident)
        ctx.operands.storeOperand(operand, type, start, chunk);
    ctx.barriers.meet();
    return multiplyRows(operands, rows, type, count, acc);
  };
  Values acc = ctx.flatten(op.getAcc());
  if (chunk == covered)
    acc = contract(Value(), length, acc);
  else
    acc = b.loop(b.i64(0), length, b.i64(chunk), acc, [&](Value start, ValueRange sums) {
      Value count = b.minS(b.sub(length, start), b.i64(chunk));
      return contract(b.fold<arith::TruncIOp>(b.getI32Type(), start), count, sums);
    });
  return acc;
}
