//===- Philox.cpp - random bits -------------------------------------------===//
//
// Philox4x32-10 (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", SC '11), on scalars and vectors alike. One
// block serves four draws: the backends ask for a block where several of them are
// at hand. Words that nobody needs, and rounds that several blocks share, are
// LLVM's to remove.
//
//===----------------------------------------------------------------------===//

#include "codegen/Elementwise.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

std::array<Value, 4> tile::codegen::emitPhiloxBlock(CodeBuilder &b, Value seed, Value stream,
                                                    Value block) {
  // Scalars are 32 bits. Lanes of vectors have 64, of which the upper half is anything: so a
  // product needs no conversion, and its lower half no instruction.
  int width = std::max({widthOf(seed), widthOf(stream), widthOf(block)});
  bool isWide = width > 1;
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto low = [&](Value x) {
    return isWide ? x : b.fold<arith::TruncIOp>(lanesOf(i32, widthOf(x)), x);
  };
  auto high = [&](Value x) { return low(b.fold<arith::ShRUIOp>(x, b.integer(x.getType(), 32))); };
  auto product = [&](Value x, int64_t factor) {
    Value number = isWide ? b.fold<arith::AndIOp>(x, b.integer(x.getType(), 0xffffffff))
                          : Value(arith::ExtUIOp::create(b, i64, x));
    return b.mul(number, b.integer(number.getType(), factor));
  };
  auto differ = [&](Value x, Value y) {
    Value v[] = {x, y};
    b.unify(v);
    return b.fold<arith::XOrIOp>(v[0], v[1]);
  };
  auto mix = [&](Value x, Value y, Value key) { return differ(differ(y, key), x); };
  auto step = [&](Value key, uint32_t by) {
    return b.add(key, b.integer(key.getType(), isWide ? int64_t(by) : static_cast<int32_t>(by)));
  };
  std::array<Value, 4> x = {low(block), high(block), low(stream), high(stream)};
  Value key0 = low(seed), key1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    Value left = product(x[0], 0xd2511f53), right = product(x[2], 0xcd9e8d57);
    x = {mix(high(right), x[1], key0), low(right), mix(high(left), x[3], key1), low(left)};
    key0 = step(key0, 0x9e3779b9);
    key1 = step(key1, 0xbb67ae85);
  }
  if (isWide)
    for (Value &word : x)
      word = arith::TruncIOp::create(b, lanesOf(i32, width), b.splat(word, width));
  return x;
}

Value tile::codegen::pickWord(CodeBuilder &b, ArrayRef<Value> words, DrawKind kind,
                              unsigned position, Value flipsLow, Value flipsHigh) {
  if (kind != DrawKind::own) {
    position = (position & 2) | (kind == DrawKind::second);
    flipsLow = Value();
  }
  auto choose = [&](Value condition, Value otherwise, Value then) {
    return condition ? b.select(condition, then, otherwise) : otherwise;
  };
  auto ofLow = [&](unsigned place) { return choose(flipsHigh, words[place], words[place ^ 2]); };
  return flipsLow ? choose(flipsLow, ofLow(position), ofLow(position ^ 1)) : ofLow(position);
}

Value tile::codegen::emitPhilox(CodeBuilder &b, PhiloxOp op, ArrayRef<Value> operands) {
  Value index = operands[2];
  auto isSet = [&](int64_t bit) {
    Value masked = b.fold<arith::AndIOp>(index, b.integer(index.getType(), bit));
    return b.compare(arith::CmpIPredicate::ne, masked, b.integer(index.getType(), 0));
  };
  Value block = b.fold<arith::ShRUIOp>(index, b.integer(index.getType(), 2));
  return pickWord(b, emitPhiloxBlock(b, operands[0], operands[1], block), op.getKind(), 0, isSet(1),
                  isSet(2));
}

std::optional<int64_t> tile::codegen::stepAlong(StringAttr axis, Value value,
                                                llvm::function_ref<bool(Operation *)> isMove,
                                                SmallVectorImpl<Value> &rest) {
  Operation *op = value.getDefiningOp();
  if (!llvm::is_contained(axesOf(value.getType()), axis) ||
      isa_and_nonnull<arith::ConstantOp>(op)) {
    rest.push_back(value);
    return 0;
  }
  if (!op)
    return std::nullopt;
  if (isa<CoordsOp>(op))
    return 1;
  if (isa<BroadcastOp>(op) || isMove(op))
    return stepAlong(axis, op->getOperand(0), isMove, rest);
  if (!isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  auto left = stepAlong(axis, op->getOperand(0), isMove, rest),
       right = stepAlong(axis, op->getOperand(1), isMove, rest);
  if (!left || !right)
    return std::nullopt;
  return isa<arith::AddIOp>(op) ? *left + *right : *left - *right;
}

bool tile::codegen::drawsAlong(PhiloxOp op, StringAttr axis,
                               llvm::function_ref<bool(Operation *)> isMove,
                               SmallVectorImpl<Value> &rest) {
  SmallVector<Value> others;
  return stepAlong(axis, op.getIndex(), isMove, rest) == 1 &&
         stepAlong(axis, op.getSeed(), isMove, others) == 0 &&
         stepAlong(axis, op.getStream(), isMove, others) == 0;
}
