//===- EmitDivision.cpp - rows divided by one number each -----------------===//

#include "codegen/gpu/lower/ElementwiseEmitter.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// Whether all are zeros or of a magnitude from 2⁻⁶⁴ to 2⁶⁴; NaN counts as such, too.
static Value areTame(CodeBuilder &b, ValueRange numbers) {
  Type i32 = b.getI32Type();
  Value least, most;
  for (Value x : numbers) {
    // Without the sign, and zero as the greatest.
    Value bits = b.fold<arith::ShLIOp>(b.bitcast(x, i32), b.integer(i32, 1));
    Value order = b.sub(bits, b.integer(i32, 1)), magnitude = math::AbsFOp::create(b, x);
    least = least ? Value(arith::MinUIOp::create(b, least, order)) : order;
    most = most ? Value(arith::MaxNumFOp::create(b, most, magnitude)) : magnitude;
  }
  constexpr uint32_t bound = 0x1F800000; // 2⁻⁶⁴
  return b.both(
      b.compare(CmpIPredicate::uge, least, b.integer(i32, int64_t(2 * bound) - 1)),
      arith::CmpFOp::create(b, CmpFPredicate::ULE, most, b.number(b.getF32Type(), 0x1p+64)));
}

/// Many numerators over one divisor s, each rounded as a division is: with r = 1 / s rounded and q
/// within a unit of x / s, q + (x − q · s) · r is the quotient (P. Markstein, "Computation of
/// Elementary Functions on the IBM RISC System/6000 Processor", 1990). x · r is within two; the
/// same step brings it within one. That needs all steps in the range of normal numbers; elsewhere
/// f64 serves, whose code is shorter than that of divisions. The remainder is taken negative: so
/// that of −0 keeps its sign.
CodeBuilder::Values ElementwiseEmitter::divideAll(ValueRange numerators, Value divisor) {
  auto number = [&](double value) { return b.number(divisor.getType(), value); };
  Value isTame = b.both(arith::CmpFOp::create(b, CmpFPredicate::OGE, divisor, number(0x1p-60)),
                        arith::CmpFOp::create(b, CmpFPredicate::OLE, divisor, number(0x1p+60)));
  return b.branch(
      b.both(isTame, areTame(b, numerators)),
      [&] {
        Value reciprocal = arith::DivFOp::create(b, number(1), divisor);
        Values quotients;
        for (Value x : numerators) {
          Value minus = arith::NegFOp::create(b, x);
          Value q = arith::MulFOp::create(b, x, reciprocal);
          for (int step = 0; step < 2; ++step) {
            Value rest = math::FmaOp::create(b, divisor, q, minus);
            q = math::FmaOp::create(b, arith::NegFOp::create(b, rest), reciprocal, q);
          }
          quotients.push_back(q);
        }
        return quotients;
      },
      [&] { // few ever need it: short code, if slow
        return llvm::map_to_vector<4>(numerators,
                                      [&](Value x) { return divideByShared(b, x, divisor); });
      });
}

bool ElementwiseEmitter::emitRowDivision(Operation *op) {
  constexpr size_t worthwhile = 4;
  Value result = op->getNumResults() == 1 ? op->getResult(0) : Value();
  auto division = dyn_cast<arith::DivFOp>(op);
  // What has code of its own has that with whatever kernels become one.
  if (!division || division.getFastmath() != arith::FastMathFlags::none ||
      axesOf(result.getType()).empty() || !getElementTypeOrSelf(result.getType()).isF32() ||
      axesOf(op->getOperand(0).getType()).empty() || axesOf(op->getOperand(1).getType()).empty())
    return false;
  const Values &above = ctx.tiles[op->getOperand(0)].registers,
               &below = ctx.tiles[op->getOperand(1)].registers;
  llvm::MapVector<Value, SmallVector<size_t>> rows;
  for (auto [r, divisor] : llvm::enumerate(below))
    if (ctx.isInSlice(axesOf(result.getType()), layoutOf(result.getType()), r))
      rows[divisor].push_back(r);
  for (const auto &[divisor, registers] : rows)
    if (registers.size() < worthwhile)
      return false;
  Values quotients = ctx.tiles.lookup(result).registers; // of other slices
  quotients.resize(below.size());
  for (const auto &[divisor, registers] : rows) {
    Values numerators = llvm::map_to_vector(registers, [&](size_t r) { return above[r]; });
    for (auto [r, quotient] : llvm::zip(registers, divideAll(numerators, divisor)))
      quotients[r] = quotient;
  }
  ctx.tiles[result] = {SmallVector<StringAttr>(axesOf(result.getType())),
                       layoutOf(result.getType()), std::move(quotients)};
  return true;
}
