//===- EmitDot.cpp - contractions without matrix units --------------------===//
//
// Both operands go through shared memory, where each thread finds the rows and
// columns of the elements that it accumulates.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/Lowering.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

namespace {
/// An operand in shared memory, as numbers of the accumulator's type.
struct Operand {
  Value base, mask; // of the numbers, and of whether they are inside; null: all are
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> strides; // in elements, by axis
};
} // namespace

/// An operand's element as a number of the accumulator's type.
static Value toAccumulator(CodeBuilder &b, const TargetInfo &target, Value value, Type from,
                           Type to) {
  if (auto narrow = dyn_cast<FloatType>(from); narrow && isNarrowFloat(from))
    value = widenToF32(b, target, value, narrow);
  if (value.getType() == to)
    return value;
  if (isa<FloatType>(to))
    return arith::ExtFOp::create(b, to, value);
  return arith::ExtSIOp::create(b, to, value);
}

void KernelLowering::emitDot(DotOp op) {
  Type type = getElementTypeOrSelf(op.getAcc().getType());
  int64_t bytes = type.getIntOrFloatBitWidth() / 8, offset = 0;
  Axes axes = axesOf(op.getType());
  Layout layout = axes.empty() ? Layout(0) : layoutOf(op.getType());
  struct Prepared {
    Operand operand;
    Tile tile;
    Values mask;
    int64_t at = 0, maskAt = 0;
  };
  SmallVector<Prepared, 2> operands;
  auto reserve = [&](int64_t size) {
    int64_t at = offset;
    offset = llvm::alignTo(offset + size, 16);
    return at;
  };
  for (Value value : {op.getLhs(), op.getRhs()}) {
    Prepared &p = operands.emplace_back();
    p.tile = tile(value);
    p.operand.axes = p.tile.axes;
    p.operand.strides.resize(p.tile.axes.size());
    int64_t count = 1;
    for (unsigned axis = p.tile.axes.size(); axis-- > 0;) {
      p.operand.strides[axis] = count;
      // All that the result covers is read, elements or not.
      int64_t extent = p.tile.layout.extent(axis);
      auto found = llvm::find(axes, p.tile.axes[axis]);
      if (found != axes.end())
        extent = std::max(extent, layout.extent(found - axes.begin()));
      count *= extent + (axis + 1 == p.tile.axes.size() ? 1 : 0);
    }
    p.mask = domainMask(p.tile.axes, p.tile.layout);
    p.at = reserve(count * bytes);
    if (!domains.restrictsOn(p.tile.axes).empty())
      p.maskAt = reserve(count);
    else
      p.maskAt = -1;
  }
  Value base = shared(offset);
  auto from = [&](int64_t at) { return sharedAt(base, Value(), b.getI8Type(), at); };
  Value zero = isa<FloatType>(type) ? b.number(type, 0) : b.integer(type, 0);
  barrier();
  for (auto [p, value] : llvm::zip(operands, ValueRange{op.getLhs(), op.getRhs()})) {
    Type element = getElementTypeOrSelf(value.getType());
    p.operand.base = from(p.at);
    p.operand.mask = p.maskAt >= 0 ? from(p.maskAt) : Value();
    for (auto [r, number] : llvm::enumerate(p.tile.registers)) {
      Index place = linearPlace(p.tile.layout, r, p.operand.strides);
      Value inside = b.select(p.mask[r], toAccumulator(b, target, number, element, type), zero);
      storeShared(inside, sharedAt(p.operand.base, place.base, type, place.constant));
      if (p.operand.mask)
        storeShared(p.mask[r] ? p.mask[r] : b.i1(true),
                    sharedAt(p.operand.mask, place.base, b.getI8Type(), place.constant));
    }
  }
  barrier();

  Values acc = flatten(op.getAcc());
  Range range = ranges.lookup(op.getAxisAttr());
  Type i32 = b.getI32Type();
  // Where each register's row or column begins; registers that share one read it once.
  struct Row {
    Index place;
    SmallVector<int64_t, 2> key;
  };
  auto rowsOf = [&](const Operand &operand) {
    SmallVector<Row> rows;
    for (size_t r = 0; r < acc.size(); ++r) {
      Row row;
      for (auto [n, axis] : llvm::enumerate(operand.axes)) {
        if (axis == op.getAxisAttr())
          continue;
        unsigned position = llvm::find(axes, axis) - axes.begin();
        int64_t constant = layout.ofRegister(r)[position];
        row.key.push_back(constant);
        bool isSum = isAdditive(layout, position);
        Value local = isSum ? threadPlace(layout, position) : localPlace(layout, position, r);
        Value term = b.mul(local, b.integer(i32, operand.strides[n]));
        row.place.base = row.place.base ? b.add(row.place.base, term) : term;
        if (isSum)
          row.place.constant += constant * operand.strides[n];
      }
      rows.push_back(row);
    }
    return rows;
  };
  SmallVector<SmallVector<Row>, 2> rows = {rowsOf(operands[0].operand),
                                           rowsOf(operands[1].operand)};
  // Of whole axes and blocks alike: what is in the tile.
  Value length = b.sub(range.end, range.origin);
  acc = b.loop(b.i64(0), length, b.i64(1), acc, [&](Value k, ValueRange sums) {
    Value at = b.fold<arith::TruncIOp>(i32, k);
    struct Read {
      Value number, inside;
    };
    auto readRows = [&](const Operand &operand, ArrayRef<Row> all) {
      unsigned along = llvm::find(operand.axes, op.getAxisAttr()) - operand.axes.begin();
      Value step = b.mul(at, b.integer(i32, operand.strides[along]));
      std::map<SmallVector<int64_t, 2>, Read> known;
      SmallVector<Read> result;
      for (const Row &row : all) {
        Read &read = known[row.key];
        if (!read.number) {
          Value place = row.place.base ? b.add(row.place.base, step) : step;
          read.number = loadShared(type, sharedAt(operand.base, place, type, row.place.constant));
          if (operand.mask)
            read.inside = loadShared(
                b.getI1Type(), sharedAt(operand.mask, place, b.getI8Type(), row.place.constant));
        }
        result.push_back(read);
      }
      return result;
    };
    SmallVector<Read> left = readRows(operands[0].operand, rows[0]),
                      right = readRows(operands[1].operand, rows[1]);
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
  bind(op.getResult(), acc);
}
