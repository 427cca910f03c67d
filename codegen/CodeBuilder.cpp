//===- CodeBuilder.cpp - builds low-level loops and vector code -----------===//

#include "codegen/CodeBuilder.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::codegen;

int tile::codegen::widthOf(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? vector.getDimSize(0) : 1;
}
Type tile::codegen::elementOf(Type type) { return getElementTypeOrSelf(type); }
Type tile::codegen::lanesOf(Type element, int width) {
  return width == 1 ? element : Type(VectorType::get({width}, element));
}

//===-- Constants and lanes -----------------------------------------------===//

Value CodeBuilder::i64(int64_t value) { return integer(getI64Type(), value); }
Value CodeBuilder::i1(bool value) { return integer(getI1Type(), value); }

Value CodeBuilder::integer(Type type, int64_t value) {
  TypedAttr scalar = getIntegerAttr(elementOf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    scalar = DenseElementsAttr::get(vector, Attribute(scalar));
  return arith::ConstantOp::create(*this, scalar);
}

Value CodeBuilder::number(Type type, double value) {
  TypedAttr scalar = getFloatAttr(elementOf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    scalar = DenseElementsAttr::get(vector, Attribute(scalar));
  return arith::ConstantOp::create(*this, scalar);
}

Value CodeBuilder::iota(int width) {
  if (width == 1)
    return i64(0);
  SmallVector<int64_t> values = llvm::to_vector(llvm::seq<int64_t>(0, width));
  return arith::ConstantOp::create(*this, getI64VectorAttr(values));
}

Value CodeBuilder::splat(Value scalar, int width) {
  if (widthOf(scalar) == width)
    return scalar;
  auto type = cast<VectorType>(lanesOf(scalar.getType(), width));
  Attribute constant;
  if (matchPattern(scalar, m_Constant(&constant)))
    return arith::ConstantOp::create(*this, DenseElementsAttr::get(type, constant));
  Value empty = LLVM::PoisonOp::create(*this, type);
  Value first = LLVM::InsertElementOp::create(*this, empty, scalar, i64(0));
  return shuffle(first, SmallVector<int32_t>(width, 0));
}

void CodeBuilder::unify(MutableArrayRef<Value> values) {
  int width = 1;
  for (Value value : values)
    width = std::max(width, widthOf(value));
  for (Value &value : values)
    value = splat(value, width);
}

Value CodeBuilder::lane(Value vector, int index) {
  return widthOf(vector) == 1 ? vector
                              : Value(LLVM::ExtractElementOp::create(*this, vector, i64(index)));
}

Value CodeBuilder::lanes(Value vector, int first, int count) {
  if (count == widthOf(vector))
    return vector;
  if (count == 1)
    return lane(vector, first);
  return shuffle(vector, llvm::to_vector(llvm::seq<int32_t>(first, first + count)));
}

Value CodeBuilder::insert(Value vector, Value scalar, int index) {
  return LLVM::InsertElementOp::create(*this, vector, scalar, i64(index));
}

Value CodeBuilder::shuffle(Value vector, ArrayRef<int32_t> lanes) {
  Value poison = LLVM::PoisonOp::create(*this, vector.getType());
  return LLVM::ShuffleVectorOp::create(*this, vector, poison, lanes);
}

/// As `transpose`, of any number of vectors: each result takes lanes from one after the other.
static CodeBuilder::Values interleave(CodeBuilder &b, ArrayRef<Value> rows) {
  int count = static_cast<int>(rows.size()), width = widthOf(rows[0]);
  CodeBuilder::Values result;
  for (int n = 0; n < count; ++n) {
    Value mixed = rows[0];
    for (int from = 0; from < count; ++from) {
      SmallVector<int32_t> lanes;
      for (int l = 0; l < width; ++l) {
        int place = n * width + l;
        bool isOwn = place % count == from, isFirst = from == 0;
        lanes.push_back(isOwn ? (isFirst ? 0 : width) + place / count : isFirst ? -1 : l);
      }
      mixed = LLVM::ShuffleVectorOp::create(b, mixed, rows[from], lanes);
    }
    result.push_back(mixed);
  }
  return result;
}

/// As `transpose`, of as many vectors as they have lanes: first the squares within 128 bits, for
/// which processors have shuffles that need no register of indices, then these as wholes.
static CodeBuilder::Values transposeSquare(CodeBuilder &b, ArrayRef<Value> rows, int unit) {
  int width = static_cast<int>(rows.size()), units = width / unit;
  auto shuffle = [&](Value x, Value y, llvm::function_ref<int(int)> laneOf) {
    SmallVector<int32_t> lanes = llvm::map_to_vector(llvm::seq(0, width), laneOf);
    return LLVM::ShuffleVectorOp::create(b, x, y, lanes);
  };
  SmallVector<CodeBuilder::Values> columns(unit); // each unit's first ones, second ones, and so on
  for (int first = 0; first < width; first += unit) {
    CodeBuilder::Values square(rows.slice(first, unit));
    for (int round = 1; round < unit; round *= 2) {
      CodeBuilder::Values next;
      for (int n = 0; n < unit; ++n)
        next.push_back(shuffle(square[n / 2], square[n / 2 + unit / 2], [&](int l) {
          return l / unit * unit + (n % 2 * unit + l % unit) / 2 + l % 2 * width;
        }));
      square = std::move(next);
    }
    for (auto [values, value] : llvm::zip(columns, square))
      values.push_back(value);
  }
  // One vector gets the even units of two, another one their odd ones.
  for (CodeBuilder::Values &values : columns)
    for (int round = 1; round < units; round *= 2) {
      CodeBuilder::Values next(units);
      for (int n = 0; n < units; ++n)
        next[n % 2 * units / 2 + n / 2] =
            shuffle(values[n / 2 * 2], values[n / 2 * 2 + 1],
                    [&](int l) { return (l / unit * 2 + n % 2) * unit + l % unit; });
      values = std::move(next);
    }
  CodeBuilder::Values result;
  for (int n = 0; n < width; ++n)
    result.push_back(columns[n % unit][n / unit]);
  return result;
}

CodeBuilder::Values CodeBuilder::transpose(Values rows) {
  int count = static_cast<int>(rows.size()), width = widthOf(rows[0]);
  int unit = 128 / static_cast<int>(elementOf(rows[0].getType()).getIntOrFloatBitWidth());
  if (count == width && unit > 1 && width > unit)
    return transposeSquare(*this, rows, unit);
  if (!llvm::isPowerOf2_32(count))
    return interleave(*this, rows);
  // Interleaving halves is a rotation of the bits of (vector, lane): as many as the vector has
  // exchange the two.
  for (int round = 1; round < count; round *= 2) {
    Values next;
    for (int n = 0; n < count; ++n) {
      SmallVector<int32_t> lanes;
      for (int l = 0; l < width; ++l)
        lanes.push_back((n % 2 * width + l) / 2 + l % 2 * width);
      next.push_back(
          LLVM::ShuffleVectorOp::create(*this, rows[n / 2], rows[n / 2 + count / 2], lanes));
    }
    rows = std::move(next);
  }
  return rows;
}

//===-- Integers and conditions -------------------------------------------===//

Value CodeBuilder::add(Value a, Value b) {
  Value v[] = {a, b};
  unify(v);
  return fold<arith::AddIOp>(v[0], v[1]);
}
Value CodeBuilder::sub(Value a, Value b) {
  Value v[] = {a, b};
  unify(v);
  return fold<arith::SubIOp>(v[0], v[1]);
}
Value CodeBuilder::mul(Value a, Value b) {
  Value v[] = {a, b};
  unify(v);
  return fold<arith::MulIOp>(v[0], v[1]);
}
Value CodeBuilder::minS(Value a, Value b) {
  Value v[] = {a, b};
  unify(v);
  return fold<arith::MinSIOp>(v[0], v[1]);
}
Value CodeBuilder::maxS(Value a, Value b) {
  Value v[] = {a, b};
  unify(v);
  return fold<arith::MaxSIOp>(v[0], v[1]);
}

Value CodeBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  Value v[] = {a, b};
  unify(v);
  return fold<arith::CmpIOp>(predicate, v[0], v[1]);
}

Value CodeBuilder::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  Value v[] = {a, b};
  unify(v);
  return fold<arith::AndIOp>(v[0], v[1]);
}

Value CodeBuilder::either(Value a, Value b) {
  if (!a || !b)
    return {};
  Value v[] = {a, b};
  unify(v);
  return fold<arith::OrIOp>(v[0], v[1]);
}

Value CodeBuilder::any(Value lanes) {
  return widthOf(lanes) == 1 ? lanes
                             : Value(LLVM::vector_reduce_or::create(*this, getI1Type(), lanes));
}

Value CodeBuilder::select(Value condition, Value a, Value b) {
  if (!condition)
    return a;
  Value v[] = {condition, a, b};
  unify(v);
  return fold<arith::SelectOp>(v[0], v[1], v[2]);
}

Value CodeBuilder::bitcast(Value value, Type type) {
  return value.getType() == type ? value : fold<arith::BitcastOp>(type, value);
}

Value CodeBuilder::floorDiv(Value x, Value y) {
  Value v[] = {x, y};
  unify(v);
  APInt divisor;
  if (matchPattern(v[1], m_ConstantInt(&divisor)) && divisor.isStrictlyPositive()) {
    Type type = v[0].getType();
    if (divisor.isPowerOf2())
      return fold<arith::ShRSIOp>(v[0], integer(type, divisor.logBase2()));
    Value quotient = fold<arith::DivSIOp>(v[0], v[1]);
    Value rest = sub(v[0], mul(quotient, v[1]));
    // −1 where the rest is negative.
    return add(quotient, fold<arith::ShRSIOp>(rest, integer(type, divisor.getBitWidth() - 1)));
  }
  Type type = v[0].getType();
  Value zero = integer(type, 0), one = integer(type, 1), minusOne = integer(type, -1);
  // Divisors 0 and −1 would trap: those quotients are 0 and −x.
  Value isZero = compare(arith::CmpIPredicate::eq, v[1], zero);
  Value isMinusOne = compare(arith::CmpIPredicate::eq, v[1], minusOne);
  Value safe = select(either(isZero, isMinusOne), one, v[1]);
  Value quotient = fold<arith::DivSIOp>(v[0], safe);
  Value rest = sub(v[0], mul(quotient, safe));
  Value inexact = compare(arith::CmpIPredicate::ne, rest, zero);
  Value signsDiffer = compare(arith::CmpIPredicate::slt, fold<arith::XOrIOp>(rest, safe), zero);
  quotient = select(both(inexact, signsDiffer), sub(quotient, one), quotient);
  quotient = select(isMinusOne, sub(zero, v[0]), quotient);
  return select(isZero, zero, quotient);
}

Value CodeBuilder::floorMod(Value x, Value y) { return sub(x, mul(floorDiv(x, y), y)); }

//===-- Memory ------------------------------------------------------------===//

Type CodeBuilder::ptr() { return LLVM::LLVMPointerType::get(getContext()); }

Value CodeBuilder::at(Value base, Value offset, Type element) {
  Type result = lanesOf(ptr(), widthOf(offset));
  return LLVM::GEPOp::create(*this, result, element, base, ValueRange{offset});
}

void CodeBuilder::prefetch(Value pointer, CacheLevel level) {
  constexpr int read = 0, data = 1;
  LLVM::Prefetch::create(*this, pointer, read, level, data);
}

static unsigned alignmentOf(Type type) {
  Type element = elementOf(type);
  return element.isIntOrFloat() ? std::max(1u, element.getIntOrFloatBitWidth() / 8) : 8;
}

Value CodeBuilder::load(Type type, Value pointer, bool isInvariant) {
  return LLVM::LoadOp::create(*this, type, pointer, alignmentOf(type), /*isVolatile=*/false,
                              /*isNonTemporal=*/false, isInvariant);
}

void CodeBuilder::store(Value value, Value pointer) {
  LLVM::StoreOp::create(*this, value, pointer, alignmentOf(value.getType()));
}

Value CodeBuilder::loadShared(Type type, Value pointer) {
  auto load = LLVM::LoadOp::create(*this, type, pointer, alignmentOf(type));
  load.setOrdering(LLVM::AtomicOrdering::monotonic);
  return load;
}

void CodeBuilder::storeShared(Value value, Value pointer) {
  auto store = LLVM::StoreOp::create(*this, value, pointer, alignmentOf(value.getType()));
  store.setOrdering(LLVM::AtomicOrdering::monotonic);
}

void CodeBuilder::storeStreamed(Value value, Value pointer) {
  unsigned bytes = elementOf(value.getType()).getIntOrFloatBitWidth() / 8 * widthOf(value);
  LLVM::StoreOp::create(*this, value, pointer, bytes, /*isVolatile=*/false,
                        /*isNonTemporal=*/true);
}

//===-- Control flow ------------------------------------------------------===//

Block *CodeBuilder::newBlock(TypeRange types) {
  Block *current = getInsertionBlock(), *block = new Block;
  current->getParent()->getBlocks().insertAfter(current->getIterator(), block);
  block->addArguments(types, SmallVector<Location>(types.size(), getLoc()));
  return block;
}

CodeBuilder::Values CodeBuilder::loop(Value lo, Value hi, Value step, ValueRange inits,
                                      LoopBody body, bool mayUnroll) {
  // A single round is no loop: in front of one LLVM would gather all constants again and again. It
  // has a block of its own, so that what doesn't vary in it has a place in front, as with a loop.
  APInt from, to, by;
  if (matchPattern(lo, m_ConstantInt(&from)) && matchPattern(hi, m_ConstantInt(&to)) &&
      matchPattern(step, m_ConstantInt(&by)) && from.slt(to) && (to - from).sle(by)) {
    Block *before = getInsertionBlock(), *round = newBlock({});
    setInsertionPointToStart(round);
    Values next = body(lo, inits);
    Block *end = getInsertionBlock();
    setInsertionPointToEnd(before);
    LLVM::BrOp::create(*this, ValueRange(), round);
    setInsertionPointToEnd(end);
    return next;
  }
  // Rotated: one test before, one at the end of each round. The entry's branch
  // comes last: meanwhile code that does not vary in the loop goes before it.
  Block *entry = getInsertionBlock();
  SmallVector<Type> types(1, getI64Type());
  llvm::append_range(types, inits.getTypes());
  Block *head = newBlock(types);
  setInsertionPointToStart(head);
  Value index = head->getArgument(0);
  Values next = body(index, head->getArguments().drop_front());
  Value following = add(index, step);
  Values again(1, following);
  llvm::append_range(again, next);
  Value goesOn = compare(arith::CmpIPredicate::slt, following, hi);
  Block *exit = newBlock(inits.getTypes());
  auto latch = LLVM::CondBrOp::create(*this, goesOn, head, again, exit, next);
  if (!mayUnroll) {
    auto unroll =
        LLVM::LoopUnrollAttr::get(getContext(), getBoolAttr(true), {}, {}, {}, {}, {}, {});
    latch.setLoopAnnotationAttr(LLVM::LoopAnnotationAttr::get(
        getContext(), {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}));
  }

  setInsertionPointToEnd(entry);
  Values first(1, lo);
  llvm::append_range(first, inits);
  Value enters = compare(arith::CmpIPredicate::slt, lo, hi);
  LLVM::CondBrOp::create(*this, enters, head, first, exit, inits);
  setInsertionPointToStart(exit);
  return Values(exit->getArguments());
}

CodeBuilder::Values CodeBuilder::branch(Value condition, Branch then, Branch otherwise) {
  Block *current = getInsertionBlock();
  Block *thenBlock = newBlock({});
  setInsertionPointToStart(thenBlock);
  Values thenValues = then();
  Block *thenEnd = getInsertionBlock();
  Block *elseBlock = newBlock({});
  setInsertionPointToStart(elseBlock);
  Values elseValues = otherwise();
  Block *join = newBlock(ValueRange(thenValues).getTypes());
  LLVM::BrOp::create(*this, elseValues, join);
  setInsertionPointToEnd(thenEnd);
  LLVM::BrOp::create(*this, thenValues, join);
  setInsertionPointToEnd(current);
  LLVM::CondBrOp::create(*this, condition, thenBlock, ValueRange(), elseBlock, ValueRange());
  setInsertionPointToStart(join);
  return Values(join->getArguments());
}

CodeBuilder::Values
CodeBuilder::repeat(ValueRange inits, llvm::function_ref<std::pair<Value, Values>(ValueRange)> head,
                    llvm::function_ref<Values(ValueRange)> body, ArrayRef<Type> resultTypes) {
  // As in `loop`, the entry's branch comes last.
  Block *entry = getInsertionBlock();
  Block *test = newBlock(inits.getTypes());
  setInsertionPointToStart(test);
  auto [goesOn, passed] = head(test->getArguments());
  Block *testEnd = getInsertionBlock();
  Block *round = newBlock(resultTypes);
  setInsertionPointToStart(round);
  Values next = body(round->getArguments());
  LLVM::BrOp::create(*this, next, test);
  Block *exit = newBlock(resultTypes);
  setInsertionPointToEnd(testEnd);
  LLVM::CondBrOp::create(*this, goesOn, round, passed, exit, passed);
  setInsertionPointToEnd(entry);
  LLVM::BrOp::create(*this, inits, test);
  setInsertionPointToStart(exit);
  return Values(exit->getArguments());
}
