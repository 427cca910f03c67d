//===- EmitPackedDot.cpp - multiplying packed operands --------------------===//

#include "codegen/cpu/PackedDot.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;
using Values = CodeBuilder::Values;

PackedDot::PackedDot(BodyLowering &lowering, DotOp op, const DotAxes &axes, Buffer *into)
    : lowering(lowering), b(lowering.b), op(op), axes(axes), into(into),
      type(getElementTypeOrSelf(op.getType())), k(op.getAxisAttr()),
      mostLanes(lowering.target.vectorBits / type.getIntOrFloatBitWidth()),
      lanes(std::min(mostLanes, std::max(lowering.fewestLanes, lowering.lanesAlong(axes.column)))) {
  constexpr int64_t maxDepth = 256;
  int64_t all = lowering.extentOf(k);
  if (int known = lowering.lanesAlong(k); known < lowering.target.lanes())
    all = known;
  depth = ShapedType::isDynamic(all) ? maxDepth : std::clamp<int64_t>(all, 1, maxDepth);
  int64_t step = std::max(2, lowering.lanesAlong(k));
  depth = (depth + step - 1) / step * step;
  if (!findRowBuffer()) {
    // One vector more, so that long rows don't all fall into the same sets of the cache.
    pitch = depth < lowering.target.lanes() ? depth : depth + step;
    rowPanel = lowering.newPanel(type, withLast(axes.rows, longRows()), {pitch});
  }
  if (!hasFewRows())
    columnPanel = lowering.newPanel(type, axes.column, {depth}, panelColumns());
}

bool PackedDot::hasFewRows() {
  // For two register tiles packing takes as long as it saves.
  int64_t few = 2 * tileRows(), rows = 1;
  for (StringAttr axis : axes.rows) {
    int64_t extent = lowering.likelyExtentOf(axis);
    if (ShapedType::isDynamic(extent) || extent > few)
      return false;
    rows *= extent;
  }
  bool isWatched = isa<FloatType>(type) && (isRestricted(axes.left) || isRestricted(axes.right));
  return rows <= few && lowering.lanesAlong(axes.column) >= mostLanes && !isWatched;
}

bool PackedDot::isRestricted(Value operand) {
  return !lowering.domains.restrictsOn(axesOf(operand.getType())).empty();
}

/// The last axis of rows that has more than one.
StringAttr PackedDot::longRows() {
  auto isLong = [&](StringAttr axis) { return lowering.likelyExtentOf(axis) != 1; };
  auto found = llvm::find_if(llvm::reverse(axes.rows), isLong);
  return found == axes.rows.rend() ? axes.rows.back() : *found;
}

bool PackedDot::findRowBuffer() {
  Buffer *buffer = lowering.bufferOf(axes.left);
  SmallVector<StringAttr> order(axes.rows);
  order.push_back(k);
  APInt stride;
  bool isZeroOutside = lowering.zeroed.contains(axes.left) || !isRestricted(axes.left);
  bool isWatched = isa<FloatType>(type) && isRestricted(axes.right);
  if (!buffer || ArrayRef(buffer->axes) != ArrayRef(order) || buffer->memory.element != type ||
      !isZeroOutside || isWatched ||
      !matchPattern(buffer->memory.strides[order.size() - 2], m_ConstantInt(&stride)))
    return false;
  rowBuffer = buffer;
  rowPanel = buffer->memory.pointer;
  pitch = stride.getSExtValue();
  return true;
}

//===-- Places ------------------------------------------------------------===//

Value PackedDot::rowPlace(Value row, Value k) {
  Value offset = b.add(b.mul(row, b.i64(pitch)), k);
  if (rowBuffer) // which holds all of k, not a block of it
    offset = b.add(offset, b.sub(kRange.first, lowering.rangeOf(this->k).first));
  return b.at(rowPanel, offset, type);
}

Value PackedDot::columnPlace(Value k, Value column) {
  int64_t columns = panelColumns();
  Value inner = b.fold<arith::AndIOp>(column, b.i64(columns - 1));
  Value panel = b.mul(b.sub(column, inner), b.i64(depth));
  return b.at(columnPanel, b.add(panel, b.add(b.mul(k, b.i64(columns)), inner)), type);
}

Value PackedDot::resultPlace(Value row, Value column) {
  return b.at(into->memory.pointer, b.add(base, b.add(b.mul(row, rowStride), column)), type);
}

Value PackedDot::rowNumber(llvm::function_ref<Value(StringAttr)> coordinate) {
  Value row = b.i64(0);
  for (StringAttr axis : axes.rows) {
    size_t d = llvm::find(into->axes, axis) - into->axes.begin();
    row = b.add(b.mul(row, into->memory.extents[d]), coordinate(axis));
  }
  return row;
}

/// Where all elements of what is added to are one number, there is no need to write it first.
Value PackedDot::startOf(Value accumulator) {
  auto all = accumulator.getDefiningOp<BroadcastOp>();
  bool isOne = all && axesOf(all.getInput().getType()).empty();
  return isOne && !lowering.bufferOf(accumulator) ? lowering.scalar(all.getInput()) : Value();
}

/// What is there before the current block of k.
Value PackedDot::sumBefore(Value place, int width) {
  Value sum = b.load(lanesOf(type, width), place, false);
  return start ? b.select(isFirst, b.splat(start, width), sum) : sum;
}

//===-- The register tile -------------------------------------------------===//

/// With `clamps`, rows beyond the last are the last one once more: all of them
/// read, compute and write the same.
void PackedDot::registerTile(Value row, Value column, int height, int vectors, Value count,
                             bool clamps) {
  Type vector = lanesOf(type, lanes);
  Value last = b.sub(rowCount, b.i64(1));
  Values sums, places, starts;
  for (int r = 0; r < height; ++r) {
    Value at = b.add(row, b.i64(r));
    if (clamps)
      at = b.minS(at, last);
    for (int v = 0; v < vectors; ++v) {
      places.push_back(resultPlace(at, b.add(column, b.i64(v * lanes))));
      sums.push_back(sumBefore(places.back(), lanes));
    }
    if (clamps || r == 0)
      starts.push_back(rowPlace(at, b.i64(0)));
  }
  // What the next tile adds to is on its way meanwhile. Short rows lie together.
  if (!clamps && lanes == mostLanes)
    for (Value place : places)
      b.prefetch(b.at(place, b.mul(b.i64(height), rowStride), type), CodeBuilder::firstLevel);
  // Pointers go along, so that all addresses are one register and a constant: multiply-adds with
  // an index register in their address are two operations.
  Values carried(sums);
  llvm::append_range(carried, starts);
  carried.push_back(columnPlace(b.i64(0), column));
  carried = b.loop(b.i64(0), count, b.i64(1), carried, [&](Value, ValueRange old) {
    Values next, right;
    ValueRange rows = old.slice(sums.size(), starts.size());
    for (int v = 0; v < vectors; ++v)
      right.push_back(b.load(vector, b.at(old.back(), b.i64(v * lanes), type), false));
    for (int r = 0; r < height; ++r) {
      Value place = clamps ? Value(rows[r]) : b.at(rows[0], b.i64(r * pitch), type);
      Value left = b.splat(b.load(type, place, false), lanes);
      for (int v = 0; v < vectors; ++v)
        next.push_back(emitMultiplyAdd(b, lowering.target, left, right[v], old[r * vectors + v]));
    }
    for (Value row : rows)
      next.push_back(b.at(row, b.i64(1), type));
    next.push_back(b.at(old.back(), b.i64(panelColumns()), type));
    return next;
  });
  carried.resize(sums.size());
  sums = carried;
  for (auto [sum, place] : llvm::zip(sums, places))
    b.store(sum, place);
}

void PackedDot::multiplyPanel(Value column, int vectors, Value count) {
  auto tiles = [&](Value from, Value to, int height, bool clamps) {
    b.loop(from, to, b.i64(height), {}, [&](Value row, ValueRange) {
      registerTile(row, column, height, vectors, count, clamps);
      return Values();
    });
  };
  Value step = b.i64(tileRows());
  Value full = b.mul(b.fold<arith::DivSIOp>(rowCount, step), step);
  tiles(b.i64(0), full, tileRows(), false);
  tiles(full, rowCount, tailRows(), true);
}

void PackedDot::multiply(Value count) {
  auto [lo, hi] = lowering.rangeOf(axes.column);
  Value width = b.sub(hi, lo), columns = b.i64(panelColumns());
  Value rest = b.fold<arith::AndIOp>(width, b.i64(panelColumns() - 1));
  Value full = b.sub(width, rest);
  auto panels = [&](Value from, Value to, Value step, int vectors) {
    b.loop(from, to, step, {}, [&](Value column, ValueRange) {
      multiplyPanel(column, vectors, count);
      return Values();
    });
  };
  panels(b.i64(0), full, columns, tileVectors);
  panels(full, width, b.i64(lanes), 1);
}

//===-- Few rows ----------------------------------------------------------===//

void PackedDot::addProducts(Value from, ArrayRef<Value> right) {
  Value column = placeOf(axes.column), first = b.sub(from, kRange.first);
  Value isBlocksFirst = isFirst;
  isFirst = b.both(isFirst, b.compare(CmpIPredicate::eq, first, b.i64(0)));
  b.loop(b.i64(0), rowCount, b.i64(1), {}, [&](Value row, ValueRange) {
    Value place = resultPlace(row, column), sum = sumBefore(place, lanes);
    for (auto [u, value] : llvm::enumerate(right)) {
      Value left = b.load(type, rowPlace(row, b.add(first, b.i64(u))), false);
      sum = emitMultiplyAdd(b, lowering.target, b.splat(left, lanes), value, sum);
    }
    b.store(sum, place);
    return Values();
  });
  isFirst = isBlocksFirst;
}

void PackedDot::multiplyUnpacked(const Side &columns) {
  constexpr int64_t mostAtOnce = 8;
  auto [lo, hi] = lowering.rangeOf(axes.column);
  int64_t likely = lowering.likelyExtentOf(k);
  auto few = static_cast<uint64_t>(std::clamp<int64_t>(likely, 1, mostAtOnce));
  int fewAtOnce = ShapedType::isDynamic(likely) ? mostAtOnce : llvm::bit_floor(few);
  bool isAcross =
      lowering.chooseVectorAxis({k, axes.column}, columns.operand, std::nullopt, nullptr) == k;
  int count = isAcross ? lanes : fewAtOnce;
  Value rest = b.fold<arith::AndIOp>(b.sub(kRange.second, kRange.first), b.i64(count - 1));
  Value full = b.sub(kRange.second, rest);
  // What these loops compute of outer axes alone is theirs: the next one may run where they don't.
  auto loop = [&](Value from, Value to, int step, llvm::function_ref<void(Value)> body) {
    lowering.apart([&] {
      b.loop(from, to, b.i64(step), {}, [&](Value at, ValueRange) {
        body(at);
        return Values();
      });
    });
  };
  // Long rows of the operand, of a few k at once.
  auto along = [&](Value from, Value to, int count) {
    loop(from, to, count, [&](Value from) {
      lowering.level(axes.column, lo, hi, lanes, {}, [&](ValueRange) {
        Values right;
        for (int n = 0; n < count; ++n)
          lowering.at(k, b.add(from, b.i64(n)),
                      [&] { right.push_back(b.splat(element(columns), lanes)); });
        addProducts(from, right);
        return Values();
      });
    });
  };
  if (!isAcross)
    along(kRange.first, full, count);
  else
    loop(lo, hi, lanes, [&](Value column) {
      lowering.rounds({k, kRange.first, full, lanes}, kRange.first, full, {}, {},
                      b.getInsertionBlock(), [&](ValueRange) {
                        Values right = readAcross(columns, lanes, column, {}).first;
                        Value from = lowering.coordinateOf(k).value;
                        lowering.at(axes.column, column, [&] { addProducts(from, right); });
                        return Values();
                      });
    });
  along(full, kRange.second, 1);
}

//===-- Where numbers are infinite ----------------------------------------===//

void PackedDot::multiplyExactly() {
  SmallVector<StringAttr> places(axes.rows);
  places.push_back(axes.column);
  auto fromStart = [&](StringAttr axis) { return placeOf(axis); };
  lowering.nest(places, StringAttr(), {}, [&](ValueRange) {
    Value row = rowNumber(fromStart), column = placeOf(axes.column);
    Value place = resultPlace(row, column), before = sumBefore(place, 1);
    Values sum = lowering.level(k, kRange.first, kRange.second, 1, before, [&](ValueRange old) {
      Value at = placeOf(k);
      Value left = b.load(type, rowPlace(row, at), false);
      Value right = b.load(type, columnPlace(at, column), false);
      Value next = emitMultiplyAdd(b, lowering.target, left, right, old[0]);
      Value inside = b.both(lowering.restrictMask(axesOf(axes.left.getType())),
                            lowering.restrictMask(axesOf(axes.right.getType())));
      return Values(1, b.select(inside, next, old[0]));
    });
    b.store(sum[0], place);
    return Values();
  });
}

//===-- All of it ---------------------------------------------------------===//

/// Without a block of k, nothing else writes the result.
void PackedDot::fillWhereEmpty() {
  auto [lo, hi] = lowering.rangeOf(k);
  Value isEmpty = b.compare(arith::CmpIPredicate::sge, lo, hi);
  if (matchPattern(isEmpty, m_Zero()))
    return;
  auto fill = [&] {
    lowering.overTile(*into, [&] { lowering.writeBuffer(*into, lowering.emit(op.getAcc())); });
    return Values();
  };
  b.branch(isEmpty, fill, [] { return Values(); });
}

void PackedDot::emit() {
  start = startOf(op.getAcc());
  if (start)
    fillWhereEmpty();
  else if (lowering.bufferOf(op.getAcc()) != into)
    lowering.keep(op.getAcc(), into);
  rowStride = into->memory.strides[into->axes.size() - 2];
  bool isFloat = isa<FloatType>(type);
  SmallVector<StringAttr> otherRows(axes.rows);
  llvm::erase(otherRows, longRows());
  Side rows = {axes.left, k, longRows(), otherRows, isFloat && isRestricted(axes.right)};
  Side columns = {axes.right, axes.column, k, {}, isFloat && isRestricted(axes.left)};
  lowering.nest(axes.outer, StringAttr(), {}, [&](ValueRange) {
    base = b.i64(0);
    for (auto [axis, stride] : llvm::zip(into->axes, into->memory.strides))
      if (llvm::is_contained(axes.outer, axis)) {
        Value index = b.sub(lowering.coordinateOf(axis).value, lowering.rangeOf(axis).first);
        base = b.add(base, b.mul(index, stride));
      }
    Value lastRow = rowNumber([&](StringAttr axis) {
      auto [lo, hi] = lowering.rangeOf(axis);
      return b.sub(b.sub(hi, lo), b.i64(1));
    });
    // Without a row some coordinate above is −1: no row, whatever the others are.
    rowCount = b.add(lastRow, b.i64(1));
    for (StringAttr axis : axes.rows) {
      auto [lo, hi] = lowering.rangeOf(axis);
      rowCount = b.select(b.compare(arith::CmpIPredicate::sge, lo, hi), b.i64(0), rowCount);
    }
    auto [lo, hi] = lowering.rangeOf(k);
    b.loop(lo, hi, b.i64(depth), {}, [&](Value from, ValueRange) {
      kRange = {from, b.add(from, b.minS(b.i64(depth), b.sub(hi, from)))};
      isFirst = b.compare(arith::CmpIPredicate::eq, from, lo);
      Value wildRows = rowBuffer ? Value() : pack(rows);
      if (!columnPanel) {
        multiplyUnpacked(columns);
        return Values();
      }
      Value wildColumns = pack(columns);
      Value isWild = !wildRows      ? wildColumns
                     : !wildColumns ? wildRows
                                    : b.either(wildRows, wildColumns);
      auto fast = [&] {
        multiply(b.sub(kRange.second, kRange.first));
        return Values();
      };
      auto exact = [&] {
        multiplyExactly();
        return Values();
      };
      return isWild ? b.branch(isWild, exact, fast) : fast();
    });
    return Values();
  });
}

void BodyLowering::emitPackedDot(DotOp op, const DotAxes &axes, Buffer *into) {
  PackedDot(*this, op, axes, into).emit();
  buffers[op.getResult()] = into;
}
