//===- RulesProgram.cpp - scalars of the IR as programs of the runtime ----===//

#include "frontend/base/Interface.h"
#include "frontend/execute/Rules.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using runtime::CompareFloat;
using runtime::CompareInt;
using runtime::Instruction;
using runtime::Number;
using runtime::Opcode;

static std::optional<Number> numberOf(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    switch (integer.getWidth()) {
    case 1:
      return Number::I1;
    case 8:
      return Number::I8;
    case 16:
      return Number::I16;
    case 32:
      return Number::I32;
    case 64:
      return Number::I64;
    default:
      return std::nullopt;
    }
  }
  return llvm::TypeSwitch<Type, std::optional<Number>>(type)
      .Case([](Float16Type) { return Number::F16; })
      .Case([](BFloat16Type) { return Number::BF16; })
      .Case([](Float32Type) { return Number::F32; })
      .Case([](Float64Type) { return Number::F64; })
      .Case([](Float8E4M3FNType) { return Number::F8E4M3; })
      .Case([](Float8E5M2Type) { return Number::F8E5M2; })
      .Default([](Type) { return std::nullopt; });
}

static CompareInt comparison(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return CompareInt::Eq;
  case arith::CmpIPredicate::ne:
    return CompareInt::Ne;
  case arith::CmpIPredicate::slt:
    return CompareInt::Slt;
  case arith::CmpIPredicate::sle:
    return CompareInt::Sle;
  case arith::CmpIPredicate::sgt:
    return CompareInt::Sgt;
  case arith::CmpIPredicate::sge:
    return CompareInt::Sge;
  case arith::CmpIPredicate::ult:
    return CompareInt::Ult;
  case arith::CmpIPredicate::ule:
    return CompareInt::Ule;
  case arith::CmpIPredicate::ugt:
    return CompareInt::Ugt;
  case arith::CmpIPredicate::uge:
    return CompareInt::Uge;
  }
  llvm_unreachable("covered");
}

static CompareFloat comparison(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return CompareFloat::False;
  case arith::CmpFPredicate::OEQ:
    return CompareFloat::OEq;
  case arith::CmpFPredicate::OGT:
    return CompareFloat::OGt;
  case arith::CmpFPredicate::OGE:
    return CompareFloat::OGe;
  case arith::CmpFPredicate::OLT:
    return CompareFloat::OLt;
  case arith::CmpFPredicate::OLE:
    return CompareFloat::OLe;
  case arith::CmpFPredicate::ONE:
    return CompareFloat::ONe;
  case arith::CmpFPredicate::ORD:
    return CompareFloat::Ord;
  case arith::CmpFPredicate::UEQ:
    return CompareFloat::UEq;
  case arith::CmpFPredicate::UGT:
    return CompareFloat::UGt;
  case arith::CmpFPredicate::UGE:
    return CompareFloat::UGe;
  case arith::CmpFPredicate::ULT:
    return CompareFloat::ULt;
  case arith::CmpFPredicate::ULE:
    return CompareFloat::ULe;
  case arith::CmpFPredicate::UNE:
    return CompareFloat::UNe;
  case arith::CmpFPredicate::UNO:
    return CompareFloat::Uno;
  case arith::CmpFPredicate::AlwaysTrue:
    return CompareFloat::True;
  }
  llvm_unreachable("covered");
}

//===-- Operations --------------------------------------------------------===//

using Switch = llvm::TypeSwitch<Operation *, std::optional<Opcode>>;

static std::optional<Opcode> integerOpcode(Operation *op) {
  return Switch(op)
      .Case([](arith::AddIOp) { return Opcode::Add; })
      .Case([](arith::SubIOp) { return Opcode::Sub; })
      .Case([](arith::MulIOp) { return Opcode::Mul; })
      .Case([](arith::DivSIOp) { return Opcode::DivTrunc; })
      .Case([](arith::FloorDivSIOp) { return Opcode::DivFloor; })
      .Case([](arith::CeilDivSIOp) { return Opcode::DivCeil; })
      .Case([](arith::DivUIOp) { return Opcode::DivUnsigned; })
      .Case([](ir::DivOp div) {
        return div.getIsUnsigned()  ? Opcode::DivUnsigned
               : div.getTruncates() ? Opcode::DivTrunc
                                    : Opcode::DivFloor;
      })
      .Case([](ir::RemOp rem) {
        return rem.getIsUnsigned()  ? Opcode::RemUnsigned
               : rem.getTruncates() ? Opcode::RemTrunc
                                    : Opcode::RemFloor;
      })
      .Case([](arith::AndIOp) { return Opcode::And; })
      .Case([](arith::OrIOp) { return Opcode::Or; })
      .Case([](arith::XOrIOp) { return Opcode::Xor; })
      .Case([](arith::ShLIOp) { return Opcode::ShiftLeft; })
      .Case([](arith::ShRSIOp) { return Opcode::ShiftRight; })
      .Case([](arith::ShRUIOp) { return Opcode::ShiftRightUnsigned; })
      .Case([](arith::MaxSIOp) { return Opcode::Max; })
      .Case([](arith::MinSIOp) { return Opcode::Min; })
      .Case([](arith::MaxUIOp) { return Opcode::MaxUnsigned; })
      .Case([](arith::MinUIOp) { return Opcode::MinUnsigned; })
      .Case([](math::IPowIOp) { return Opcode::Power; })
      .Case([](math::AbsIOp) { return Opcode::Abs; })
      .Case([](math::CtPopOp) { return Opcode::CountOnes; })
      .Case([](math::CountLeadingZerosOp) { return Opcode::LeadingZeros; })
      .Case([](math::CountTrailingZerosOp) { return Opcode::TrailingZeros; })
      .Case([](arith::CmpIOp) { return Opcode::Compare; })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<Opcode> floatOpcode(Operation *op) {
  return Switch(op)
      .Case([](arith::AddFOp) { return Opcode::AddF; })
      .Case([](arith::SubFOp) { return Opcode::SubF; })
      .Case([](arith::MulFOp) { return Opcode::MulF; })
      .Case([](arith::DivFOp) { return Opcode::DivF; })
      .Case([](arith::RemFOp) { return Opcode::RemF; })
      .Case([](arith::MaximumFOp) { return Opcode::Maximum; })
      .Case([](arith::MinimumFOp) { return Opcode::Minimum; })
      .Case([](arith::MaxNumFOp) { return Opcode::MaxNumber; })
      .Case([](arith::MinNumFOp) { return Opcode::MinNumber; })
      .Case([](math::PowFOp) { return Opcode::PowF; })
      .Case([](math::Atan2Op) { return Opcode::Atan2; })
      .Case([](math::CopySignOp) { return Opcode::CopySign; })
      .Case([](math::FmaOp) { return Opcode::MultiplyAdd; })
      .Case([](arith::CmpFOp) { return Opcode::CompareF; })
      .Case([](arith::NegFOp) { return Opcode::NegF; })
      .Case([](math::AbsFOp) { return Opcode::AbsF; })
      .Case([](math::CeilOp) { return Opcode::Ceil; })
      .Case([](math::FloorOp) { return Opcode::Floor; })
      .Case([](math::RoundOp) { return Opcode::Round; })
      .Case([](math::RoundEvenOp) { return Opcode::RoundEven; })
      .Case([](math::TruncOp) { return Opcode::Trunc; })
      .Case([](math::IsFiniteOp) { return Opcode::IsFinite; })
      .Case([](math::IsInfOp) { return Opcode::IsInf; })
      .Case([](math::IsNaNOp) { return Opcode::IsNaN; })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<Opcode> functionOpcode(Operation *op) {
  return Switch(op)
      .Case([](math::SqrtOp) { return Opcode::Sqrt; })
      .Case([](math::RsqrtOp) { return Opcode::Rsqrt; })
      .Case([](math::CbrtOp) { return Opcode::Cbrt; })
      .Case([](math::ExpOp) { return Opcode::Exp; })
      .Case([](math::Exp2Op) { return Opcode::Exp2; })
      .Case([](math::ExpM1Op) { return Opcode::Expm1; })
      .Case([](math::LogOp) { return Opcode::Log; })
      .Case([](math::Log2Op) { return Opcode::Log2; })
      .Case([](math::Log10Op) { return Opcode::Log10; })
      .Case([](math::Log1pOp) { return Opcode::Log1p; })
      .Case([](math::ErfOp) { return Opcode::Erf; })
      .Case([](math::ErfcOp) { return Opcode::Erfc; })
      .Case([](math::SinOp) { return Opcode::Sin; })
      .Case([](math::CosOp) { return Opcode::Cos; })
      .Case([](math::TanOp) { return Opcode::Tan; })
      .Case([](math::AsinOp) { return Opcode::Asin; })
      .Case([](math::AcosOp) { return Opcode::Acos; })
      .Case([](math::AtanOp) { return Opcode::Atan; })
      .Case([](math::SinhOp) { return Opcode::Sinh; })
      .Case([](math::CoshOp) { return Opcode::Cosh; })
      .Case([](math::TanhOp) { return Opcode::Tanh; })
      .Case([](math::AsinhOp) { return Opcode::Asinh; })
      .Case([](math::AcoshOp) { return Opcode::Acosh; })
      .Case([](math::AtanhOp) { return Opcode::Atanh; })
      .Default([](Operation *) { return std::nullopt; });
}

static std::optional<Opcode> castOpcode(Operation *op) {
  return Switch(op)
      .Case<arith::ExtSIOp, arith::TruncIOp>([](auto) { return Opcode::SignExtend; })
      .Case([](arith::ExtUIOp) { return Opcode::ZeroExtend; })
      .Case([](arith::ExtFOp) { return Opcode::FloatToFloat; })
      .Case([](arith::TruncFOp cast) -> std::optional<Opcode> {
        switch (cast.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even)) {
        case arith::RoundingMode::to_nearest_even:
          return Opcode::FloatToFloat;
        case arith::RoundingMode::toward_zero:
          return Opcode::FloatToFloatTowardZero;
        default:
          return std::nullopt;
        }
      })
      .Case([](arith::SIToFPOp) { return Opcode::SignedToFloat; })
      .Case([](arith::UIToFPOp) { return Opcode::UnsignedToFloat; })
      .Case([](ir::FpToIntOp cast) {
        return cast.getIsUnsigned() ? Opcode::FloatToUnsigned : Opcode::FloatToSigned;
      })
      .Case([](arith::BitcastOp) { return Opcode::Bitcast; })
      .Case([](arith::SelectOp) { return Opcode::Select; })
      .Default([](Operation *) { return std::nullopt; });
}

uint32_t ProgramBuilder::push(Instruction instruction) {
  program.push_back(instruction);
  return static_cast<uint32_t>(program.size() - 1);
}

void ProgramBuilder::addScalar(Value value, unsigned param) {
  if (std::optional<Number> type = numberOf(value.getType()))
    positions[value] = push({Opcode::Scalar, *type, {}, param});
}

/// Both halves of a product of twice the width.
LogicalResult ProgramBuilder::addProduct(Operation *op, Opcode high) {
  std::optional<Number> type = numberOf(op->getResult(0).getType());
  if (!type || !positions.count(op->getOperand(0)) || !positions.count(op->getOperand(1)))
    return failure();
  uint32_t x = at(op->getOperand(0)), y = at(op->getOperand(1));
  if (!op->getResult(0).use_empty())
    positions[op->getResult(0)] = push({Opcode::Mul, *type, {x, y, 0}, 0});
  positions[op->getResult(1)] = push({high, *type, {x, y, 0}, 0});
  return success();
}

LogicalResult ProgramBuilder::add(Operation *op) {
  if (isa<arith::MulSIExtendedOp>(op))
    return addProduct(op, Opcode::HighProduct);
  if (isa<arith::MulUIExtendedOp>(op))
    return addProduct(op, Opcode::HighProductUnsigned);
  if (op->getNumResults() != 1)
    return failure();
  std::optional<Number> type = numberOf(op->getResult(0).getType());
  if (!type)
    return failure();
  Instruction instruction{Opcode::Constant, *type, {}, 0};
  if (auto dim = dyn_cast<ir::DimOp>(op)) {
    instruction.opcode = Opcode::Dim;
    instruction.immediate = llvm::find(dims, dim.getNameAttr()) - dims.begin();
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    instruction.immediate = bitsOf(constant.getValue());
  } else {
    std::optional<Opcode> opcode;
    for (auto family : {integerOpcode, floatOpcode, functionOpcode, castOpcode})
      if (!opcode)
        opcode = family(op);
    if (!opcode)
      return failure();
    instruction.opcode = *opcode;
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      instruction.immediate = static_cast<uint64_t>(comparison(compare.getPredicate()));
    if (auto compare = dyn_cast<arith::CmpFOp>(op))
      instruction.immediate = static_cast<uint64_t>(comparison(compare.getPredicate()));
    for (auto [n, operand] : llvm::enumerate(op->getOperands())) {
      auto known = positions.find(operand);
      if (known == positions.end())
        return failure();
      instruction.operands[n] = known->second;
    }
  }
  positions[op->getResult(0)] = push(instruction);
  return success();
}

void ProgramBuilder::addBlockCount(Value lower, Value upper, int64_t size) {
  uint32_t length = push({Opcode::Sub, Number::I64, {at(upper), at(lower), 0}, 0});
  uint32_t divisor = push({Opcode::Constant, Number::I64, {}, static_cast<uint64_t>(size)});
  push({Opcode::DivCeil, Number::I64, {length, divisor, 0}, 0});
}

uint32_t ProgramBuilder::add(AffineExpr expr) {
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return push({Opcode::Dim, Number::I64, {}, symbol.getPosition()});
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return push({Opcode::Constant, Number::I64, {}, static_cast<uint64_t>(constant.getValue())});
  auto binary = cast<AffineBinaryOpExpr>(expr);
  uint32_t left = add(binary.getLHS()), right = add(binary.getRHS());
  Opcode opcode = Opcode::Add;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    break;
  case AffineExprKind::Mul:
    opcode = Opcode::Mul;
    break;
  case AffineExprKind::Mod:
    opcode = Opcode::RemFloor;
    break;
  case AffineExprKind::FloorDiv:
    opcode = Opcode::DivFloor;
    break;
  case AffineExprKind::CeilDiv:
    opcode = Opcode::DivCeil;
    break;
  case AffineExprKind::Constant:
  case AffineExprKind::DimId:
  case AffineExprKind::SymbolId:
    llvm_unreachable("leaves are handled above, and shapes have no dims");
  }
  return push({opcode, Number::I64, {left, right, 0}, 0});
}
