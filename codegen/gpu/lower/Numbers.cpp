//===- Numbers.cpp - numbers by the GPU's own instructions ----------------===//

#include "codegen/gpu/lower/Numbers.h"
#include "codegen/gpu/dialect/TileGpuOps.h"
#include "codegen/gpu/lower/InlineAsm.h"
#include "ir/transforms/FormFma.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;
using arith::CmpFPredicate;

/// exp(x) = 2^n · 2^f with n = ⌊x · log₂ e⌋ and 0 ≤ f < 1; the hardware has 2^f to 2 ulp. n is
/// taken from [−126, 126] and f is what is left, so that great and small x end in inf, subnormal
/// numbers and 0 by themselves. x · log₂ e is taken in two parts, the second 2⁻²⁶ of the first.
///   (x · log₂ e + 126) / 252 = 0.0057249801 · x + 0.5, saturated to [0, 1]; times 252, rounded
///   down at the 1 of 2²³ · 1.5, gives n + 126 in the low bits.
static Value emitExp(CodeBuilder &b, Value x) {
  static constexpr StringLiteral text =
      "{ .reg .f32 t, n, f; .reg .b32 s; "
      "fma.rn.sat.f32 t, $1, 0f3BBB989D, 0f3F000000; " // 0.0057249801, 0.5
      "fma.rm.f32 n, t, 0f437C0000, 0f4B400001; "      // 252, 1.5 · 2^23 + 1
      "add.rn.f32 f, n, 0fCB40007F; "                  // −(1.5 · 2^23 + 127)
      "neg.f32 f, f; "
      "fma.rn.f32 f, $1, 0f3FB8AA3B, f; " // log₂ e, and the rest of it
      "fma.rn.f32 f, $1, 0f32A57060, f; "
      "ex2.approx.ftz.f32 f, f; "
      "mov.b32 s, n; shl.b32 s, s, 23; mov.b32 t, s; "
      "mul.rn.f32 $0, t, f; }";
  return inlineAsm(b, x.getType(), x, text.str(), "=f,f", /*hasSideEffects=*/false);
}

/// A polynomial for small x, as on CPUs; elsewhere 1 − 2 / (exp(2 |x|) + 1), with the hardware's
/// reciprocal, to 1 ulp of less than 1/4.
static Value emitTanh(CodeBuilder &b, Value x) {
  Type f32 = x.getType();
  auto number = [&](double value) { return b.number(f32, value); };
  auto fma = [&](Value x, Value y, Value z) { return Value(math::FmaOp::create(b, x, y, z)); };
  Value size = math::AbsFOp::create(b, x), square = arith::MulFOp::create(b, x, x);
  Value series = number(tanhTerms[0]);
  for (double term : ArrayRef(tanhTerms).drop_front())
    series = fma(series, square, number(term));
  Value small = fma(arith::MulFOp::create(b, series, square), size, size);
  Value e = emitExp(b, arith::AddFOp::create(b, size, size));
  Value reciprocal = inlineAsm(b, f32, {Value(arith::AddFOp::create(b, e, number(1)))},
                               "rcp.approx.ftz.f32 $0, $1;", "=f,f", /*hasSideEffects=*/false);
  Value large = fma(reciprocal, number(-2), number(1));
  Value isSmall = arith::CmpFOp::create(b, CmpFPredicate::OLT, size, number(smallTanh));
  return math::CopySignOp::create(b, b.select(isSmall, small, large), x);
}

/// 1 + tanh(x) = 1 / (1/2 + 2^t / 2) with t = −2 x · log₂ e, which loses nothing where tanh is near
/// −1. What t is short of, r, goes into the factor: 2^t / 2 · (1 + r ln 2). Less than 2⁻¹²⁶ is 0,
/// as for −64, which stands for all that is below; of x = inf the factor is 0 by saturation, not
/// NaN.
static Value emitOneAndTanh(CodeBuilder &b, Value x) {
  static constexpr StringLiteral text =
      "{ .reg .f32 x, t, r, e; "
      "max.NaN.f32 x, $1, 0fC2800000; "
      "mul.rn.f32 t, x, 0fC038AA3B; neg.f32 r, t; " // −2 log₂ e, and the rest of it
      "fma.rn.f32 r, x, 0fC038AA3B, r; "
      "fma.rn.f32 r, x, 0fB3257060, r; "
      "fma.rn.sat.f32 r, r, 0f3EB17218, 0f3F000000; " // ln 2 / 2, 1/2
      "ex2.approx.ftz.f32 e, t; "
      "fma.rn.f32 e, e, r, 0f3F000000; "
      "rcp.approx.ftz.f32 $0, e; }";
  return inlineAsm(b, x.getType(), x, text.str(), "=f,f", /*hasSideEffects=*/false);
}

/// x / y for 1 ≤ y ≤ 2: x times the hardware's reciprocal, and one step toward the quotient. The
/// reciprocal is within an ulp; so the step leaves little beside its own rounding.
static Value emitTameQuotient(CodeBuilder &b, Value x, Value y) {
  Value reciprocal = inlineAsm(b, x.getType(), y, "rcp.approx.ftz.f32 $0, $1;", "=f,f",
                               /*hasSideEffects=*/false);
  Value quotient = arith::MulFOp::create(b, x, reciprocal);
  Value rest = math::FmaOp::create(b, arith::NegFOp::create(b, y), quotient, x);
  return math::FmaOp::create(b, rest, reciprocal, quotient);
}

Value tile::codegen::gpu::emitFast(CodeBuilder &b, Operation *op, ValueRange operands) {
  if (operands.empty() || !operands[0].getType().isF32())
    return {};
  if (isa<math::ExpOp>(op))
    return emitExp(b, operands[0]);
  if (isa<math::TanhOp>(op))
    return isAddedToOne(op) ? emitOneAndTanh(b, operands[0]) : emitTanh(b, operands[0]);
  // The instruction alone, to 2 ulp; what is less than 2⁻¹²⁶ is 0.
  auto power = dyn_cast<math::Exp2Op>(op);
  if (power && bitEnumContainsAny(power.getFastmath(), arith::FastMathFlags::afn))
    return inlineAsm(b, operands[0].getType(), operands[0], "ex2.approx.ftz.f32 $0, $1;", "=f,f",
                     /*hasSideEffects=*/false);
  auto division = dyn_cast<arith::DivFOp>(op);
  if (division && bitEnumContainsAny(division.getFastmath(), arith::FastMathFlags::arcp))
    return emitTameQuotient(b, operands[0], operands[1]);
  // The sum is there already, maybe in another layout.
  if (isa<arith::AddFOp>(op))
    for (auto [value, operand] : llvm::zip(op->getOperands(), operands)) {
      Operation *made = value.getDefiningOp();
      while (auto convert = dyn_cast_or_null<ConvertOp>(made))
        made = convert.getInput().getDefiningOp();
      if (isAddedToOne(made))
        return operand;
    }
  return {};
}

/// Functions that are calls of the C library on the CPU.
static bool needsLibrary(Operation *op) {
  if (!isa<math::MathDialect>(op->getDialect()))
    return false;
  if (isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::FloorOp, math::CeilOp, math::RoundOp,
          math::RoundEvenOp, math::TruncOp, math::SqrtOp, math::CopySignOp, math::RsqrtOp,
          math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp>(op))
    return false;
  return isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())) && !hasExpansion(op);
}

std::string tile::codegen::gpu::whyNoNumber(Operation *op) {
  if (!needsLibrary(op))
    return "";
  return ("the GPU backend does not have `" + op->getName().getStringRef() + "` of floats yet")
      .str();
}

Value tile::codegen::gpu::emitNumber(CodeBuilder &b, const TargetInfo &target, Operation *op,
                                     ValueRange operands) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return emitConstant(b, constant.getValue());
  if (Value fast = emitFast(b, op, operands))
    return fast;
  return emitElementwise(b, target, op, llvm::to_vector(operands));
}
