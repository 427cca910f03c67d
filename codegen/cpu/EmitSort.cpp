//===- EmitSort.cpp - sorts, and the first of what would be sorted --------===//
//
// Each element inside the domain becomes a word, its key before its coordinate (SortWords.h).
//
// A sort packs the words of a line and sorts them. topk keeps the least K, and drops the rest as
// it comes: a word goes into a panel of at least 2 K only where its key is less than the K-th of
// those seen before, which lanes of keys are compared with at once. When the panel is full it is
// sorted, and its first K stay. So each element costs a comparison, and a word that gets in no
// more than a few steps of a sort. Of a line that comes in descending order all would get in: a
// long one is looked at here and there before, for a key that K elements don't exceed.
//
//===----------------------------------------------------------------------===//

#include "codegen/SortKey.h"
#include "codegen/cpu/Lowering.h"
#include "codegen/cpu/SortWords.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using arith::CmpIPredicate;
using Values = CodeBuilder::Values;

/// One sort while it is emitted.
struct BodyLowering::LineSort {
  SortOp op;
  SortWords words;
  Value here, there; // panels of words
  Value capacity;    // of each
  StringAttr vectorAxis;

  StringAttr axis() { return op.getAxisAttr(); }
  StringAttr rank() { return op.getRankAttr(); }
  Axes all() { return axesOf(op.getInput().getType()); }
};

/// Writes the words of lanes whose mask is set (null: of all) one after the other from `at` on, and
/// gives where the next one goes. There has to be room for all lanes.
Value BodyLowering::appendWords(LineSort &line, Value panel, Value at, Value keys, Value mask) {
  Type word = line.words.type(b);
  Value first = b.sub(coordinateOf(line.axis()).value, rangeOf(line.axis()).first);
  for (int lane = 0, width = widthOf(keys); lane < width; ++lane) {
    Value place = b.add(first, b.i64(lane));
    b.store(line.words.make(b, b.lane(keys, lane), place), b.at(panel, at, word));
    // What is outside is overwritten by the next one, or beyond the count.
    Value isInside = mask && widthOf(mask) > 1 ? b.lane(mask, lane) : mask;
    Value one = isInside ? b.fold<arith::ExtUIOp>(b.getI64Type(), isInside) : b.i64(1);
    at = b.add(at, one);
  }
  return at;
}

/// Packs a whole line, and gives how many are inside.
Value BodyLowering::packLine(LineSort &line) {
  bool isPlain = domains.restrictsOn(line.all()).empty() && line.words.bits == 64;
  auto [lo, hi] = rangeOf(line.axis());
  Values packed = nest(line.axis(), line.vectorAxis, b.i64(0), [&, lo = lo](ValueRange count) {
    int width = widthAt(line.axis());
    Value keys = b.splat(emitSortKey(b, target, line.op, emit(line.op.getInput())), width);
    if (!isPlain)
      return Values{appendWords(line, line.here, count[0], keys, domainMask(line.all()))};
    Lanes place = coordinateOf(line.axis());
    place.value = b.sub(place.value, lo);
    Value word = line.words.make(b, keys, materialize(place, width));
    writeElements({line.here, line.words.type(b), {}, {}}, {line.here, place}, width,
                  tailMask(line.all()), word);
    return Values(count);
  });
  return isPlain ? b.sub(hi, lo) : packed[0];
}

/// Sorts the words of a line; the first of them stand where `line.here` is then. Gives how many.
Value BodyLowering::sortLine(LineSort &line) {
  Value count = packLine(line);
  line.here = line.words.sort(b, line.here, line.there, count);
  return count;
}

/// A key that K elements of a long line don't exceed, plus one, and whether nothing is known of
/// one: of the least keys of lanes of vectors here and there the K-th.
Values BodyLowering::boundOfFirst(LineSort &line, Value most) {
  constexpr int64_t samples = 16;           // vectors, of each part of the line
  constexpr int64_t lengths = 16 * samples; // of a panel: one vector in 16 is looked at, or fewer
  Type word = line.words.type(b), key = b.getIntegerType(line.words.keyBits);
  Value ones = b.integer(key, -1), zero = b.i64(0), one = b.i64(1);
  Values unknown = {b.integer(key, 0), b.i1(true)};
  if (!line.vectorAxis)
    return unknown;
  auto [lo, hi] = rangeOf(line.axis());
  int lanes = lanesAlong(line.axis());
  auto leastOf = [&](Value from, ValueRange state) {
    return level(line.axis(), from, b.add(from, b.i64(lanes)), lanes, state, [&](ValueRange old) {
      Value keys = b.splat(emitSortKey(b, target, line.op, emit(line.op.getInput())), lanes);
      keys = b.select(domainMask(line.all()), keys, b.splat(ones, lanes));
      return Values(1, emitCombine(b, target, CombineKind::umin, key, keys, old[0]));
    });
  };
  auto ofSamples = [&, lo = lo, hi = hi] {
    Value parts = b.fold<arith::DivSIOp>(line.capacity, b.i64(lanes));
    Value step = b.fold<arith::DivSIOp>(b.sub(hi, lo), b.mul(parts, b.i64(samples)));
    b.loop(zero, parts, one, {}, [&](Value part, ValueRange) {
      Value first = b.mul(part, b.i64(samples));
      Value keys = b.loop(zero, b.i64(samples), one, b.splat(ones, lanes),
                          [&](Value sample, ValueRange state) {
                            return leastOf(b.add(lo, b.mul(b.add(first, sample), step)), state);
                          })[0];
      for (int lane = 0; lane < lanes; ++lane) {
        Value place = b.add(b.mul(part, b.i64(lanes)), b.i64(lane));
        b.store(line.words.make(b, b.lane(keys, lane), zero), b.at(line.here, place, word));
      }
      return Values();
    });
    Value sorted = line.words.sort(b, line.here, line.there, b.mul(parts, b.i64(lanes)));
    Value last = b.load(word, b.at(sorted, b.sub(most, one), word), false);
    Value bound = line.words.keyOf(b, last);
    return Values{b.add(bound, b.integer(key, 1)), b.compare(CmpIPredicate::eq, bound, ones)};
  };
  Value isLong = b.compare(CmpIPredicate::sge, b.sub(hi, lo), b.mul(line.capacity, b.i64(lengths)));
  Value isAsked = b.compare(CmpIPredicate::sgt, most, zero);
  return b.branch(
      b.both(isLong, isAsked),
      [&] {
        Values bound;
        apart([&] { bound = ofSamples(); });
        return bound;
      },
      [&] { return unknown; });
}

/// As sortLine, but only the first `most` words are there, if there are as many.
Value BodyLowering::sortFirst(LineSort &line, Value most) {
  Type word = line.words.type(b);
  auto [lo, hi] = rangeOf(line.axis());
  Value end = b.select(b.compare(CmpIPredicate::sgt, most, b.i64(0)), hi, lo);
  Value full = b.sub(line.capacity, b.i64(target.lanes()));
  // How many there are, the key of the K-th, whether there is none yet, and the panels.
  Values bound = boundOfFirst(line, most);
  Values start = {b.i64(0), bound[0], bound[1], line.here, line.there};
  auto takeFirst = [&](Value count, Value here, Value there) -> Values {
    Value sorted = line.words.sort(b, here, there, count);
    Value isHere = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, sorted, here);
    Value last = b.load(word, b.at(sorted, b.sub(most, b.i64(1)), word), false);
    return {most, line.words.keyOf(b, last), b.i1(false), sorted, b.select(isHere, there, here)};
  };
  int lanes = line.vectorAxis ? lanesAlong(line.axis()) : 1;
  Values last = level(line.axis(), lo, end, lanes, start, [&](ValueRange state) {
    int width = widthAt(line.axis());
    Value keys = b.splat(emitSortKey(b, target, line.op, emit(line.op.getInput())), width);
    // Where keys are equal, those seen before come first.
    Value enters = b.either(b.compare(CmpIPredicate::ult, keys, state[1]), state[2]);
    enters = b.splat(b.both(enters, domainMask(line.all())), width);
    auto append = [&] {
      Value count = appendWords(line, state[3], state[0], keys, enters);
      return b.branch(
          b.compare(CmpIPredicate::sgt, count, full),
          [&] { return takeFirst(count, state[3], state[4]); },
          [&] {
            return Values{count, state[1], state[2], state[3], state[4]};
          });
    };
    return b.branch(b.any(enters), append, [&] { return Values(state); });
  });
  line.here = line.words.sort(b, last[3], last[4], last[0]);
  return last[0];
}

/// Writes what stands at each rank: the coordinate, and the element, which is computed again.
void BodyLowering::writeRanks(LineSort &line, Value count, Buffer *values, Buffer *coordinates) {
  SortOp op = line.op;
  Type type = getElementTypeOrSelf(op.getInput().getType());
  CombineKind missing = op.getDescending()
                            ? (op.getIsUnsigned() ? CombineKind::umax : CombineKind::max)
                            : (op.getIsUnsigned() ? CombineKind::umin : CombineKind::min);
  Value none = emitConstant(b, identityOf(missing, type));
  Value lo = rangeOf(line.axis()).first;
  alongAxis(line.rank(), false, b.i64(0), [&](ValueRange taken) {
    auto read = [&] {
      Value word = b.load(line.words.type(b), b.at(line.here, taken[0], line.words.type(b)), false);
      Value coordinate = b.add(line.words.placeOf(b, word), lo);
      Values found = {coordinate};
      if (values)
        at(line.axis(), coordinate, [&] { found.push_back(emit(op.getInput())); });
      return found;
    };
    auto nothing = [&] {
      Values found = {b.i64(-1)};
      if (values)
        found.push_back(none);
      return found;
    };
    Values found = b.branch(b.compare(CmpIPredicate::slt, taken[0], count), read, nothing);
    if (coordinates)
      writeBuffer(*coordinates, found[0]);
    if (values)
      writeBuffer(*values, found[1]);
    // Along the axis itself the next element goes to the next coordinate that is there.
    Value inside = line.rank() == line.axis() ? domainMask(line.all()) : Value();
    return Values{b.select(inside, b.add(taken[0], b.i64(1)), taken[0])};
  });
}

void BodyLowering::emitSort(SortOp op) {
  StringAttr axis = op.getAxisAttr(), rank = op.getRankAttr();
  Value input = op.getInput();
  Type type = getElementTypeOrSelf(input.getType());
  SmallVector<StringAttr> outer(axesOf(input.getType()));
  llvm::erase(outer, axis);
  Buffer *values = op.getValues().use_empty() ? nullptr : resultBuffer(op.getValues().getType());
  Buffer *coordinates =
      op.getCoordinates().use_empty() ? nullptr : resultBuffer(op.getCoordinates().getType());
  auto extentOf = [&](StringAttr name) {
    return cast<SpanType>(domains.spanOf(name).getType()).getExtent();
  };
  int64_t elements = extentOf(axis), ranks = extentOf(rank);
  bool isKnown = !ShapedType::isDynamic(elements) && !ShapedType::isDynamic(ranks);
  bool sortsAll = rank == axis || (isKnown && ranks >= elements / 4);
  // What is dear to compute is not computed anew when it is written; of a few elements, it is.
  constexpr int dear = 6;
  bool isKept = sortsAll && values && !bufferOf(input) && plan.costOf(input) > dear;
  if (isKept) {
    Buffer *kept = newBuffer(type, axesOf(input.getType()));
    keep(input, kept);
    buffers[input] = kept;
  }
  LineSort line{op, SortWords::of(sortKeyBits(type), elements), {}, {}, {}, {}};
  line.vectorAxis = chooseVectorAxis(axis, input, std::nullopt, nullptr);
  // Half of a panel and more is for words that come and go.
  constexpr int64_t leastPanel = 64;
  int64_t halves = sortsAll ? 1 : 2;
  StringAttr length = sortsAll ? axis : rank;
  Value panel = newPanel(line.words.type(b), length, {2 * halves}, leastPanel);
  Value most;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(prologue);
    most = extentBound(length);
    line.capacity = b.mul(bufferShape(length, leastPanel).back(), b.i64(halves));
  }
  nest(outer, {}, {}, [&](ValueRange) {
    line.here = panel;
    line.there = b.at(panel, line.capacity, line.words.type(b));
    Value count = sortsAll ? sortLine(line) : sortFirst(line, most);
    writeRanks(line, count, values, coordinates);
    return Values();
  });
  if (isKept)
    buffers.erase(input);
  if (values)
    buffers[op.getValues()] = values;
  if (coordinates)
    buffers[op.getCoordinates()] = coordinates;
}
