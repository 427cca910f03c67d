//===- Philox.cpp - random bits -------------------------------------------===//
//
// Philox4x32-10 (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", SC '11), on scalars and vectors alike. Words
// that the result doesn't need, and rounds that several words share, are LLVM's
// to remove.
//
//===----------------------------------------------------------------------===//

#include "codegen/Elementwise.h"

#include <array>

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

Value tile::codegen::emitPhilox(CodeBuilder &b, PhiloxOp op, ArrayRef<Value> operands) {
  int width = widthOf(operands[0]);
  Type narrow = lanesOf(b.getI32Type(), width), wide = lanesOf(b.getI64Type(), width);
  auto low = [&](Value x) { return b.fold<arith::TruncIOp>(narrow, x); };
  auto high = [&](Value x) { return low(b.fold<arith::ShRUIOp>(x, b.integer(wide, 32))); };
  // Both factors have their upper halves zero, which is the form of a 32-bit product of vectors.
  auto product = [&](Value x, int64_t factor) {
    return b.mul(arith::ExtUIOp::create(b, wide, x), b.integer(wide, factor));
  };
  auto mix = [&](Value x, Value y, Value key) {
    return b.fold<arith::XOrIOp>(b.fold<arith::XOrIOp>(x, y), key);
  };
  auto step = [&](Value key, int64_t by) {
    return b.add(key, b.integer(narrow, static_cast<int32_t>(by)));
  };
  Value seed = operands[0], stream = operands[1], index = operands[2];
  std::array<Value, 4> x = {low(index), high(index), low(stream), high(stream)};
  Value key0 = low(seed), key1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    Value left = product(x[0], 0xd2511f53), right = product(x[2], 0xcd9e8d57);
    x = {mix(high(right), x[1], key0), low(right), mix(high(left), x[3], key1), low(left)};
    key0 = step(key0, 0x9e3779b9);
    key1 = step(key1, 0xbb67ae85);
  }
  return x[op.getWord()];
}
