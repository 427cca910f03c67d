//===- Elementwise.cpp - one element or vector of an elementwise op -------===//

#include "codegen/Elementwise.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;

//===-- Types -------------------------------------------------------------===//

bool tile::codegen::isNarrowFloat(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type && type.getWidth() < 32;
}

Type tile::codegen::registerType(Type element) {
  if (isNarrowFloat(element))
    return IntegerType::get(element.getContext(), cast<FloatType>(element).getWidth());
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  return element;
}

Type tile::codegen::memoryType(Type element) {
  return element.isInteger(1) ? Type(IntegerType::get(element.getContext(), 8))
                              : registerType(element);
}

Value tile::codegen::emitConstant(CodeBuilder &b, TypedAttr value) {
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    value = dense.getSplatValue<TypedAttr>();
  Type type = registerType(value.getType());
  if (auto number = dyn_cast<FloatAttr>(value); number && isNarrowFloat(value.getType()))
    value = b.getIntegerAttr(type, number.getValue().bitcastToAPInt());
  else if (auto index = dyn_cast<IntegerAttr>(value); index && value.getType().isIndex())
    value = b.getI64IntegerAttr(index.getInt());
  return arith::ConstantOp::create(b, value);
}

//===-- Elementwise ops ---------------------------------------------------===//

/// Clones the op onto these operands, with result elements `element`.
static Value cloneOnto(CodeBuilder &b, Operation *op, ArrayRef<Value> operands, Type element) {
  int width = 1;
  for (Value operand : operands)
    width = std::max(width, widthOf(operand));
  OperationState state(b.getLoc(), op->getName().getIdentifier(), operands, lanesOf(element, width),
                       op->getAttrs());
  return b.create(state)->getResult(0);
}

static Value bitCast(CodeBuilder &b, Value value, Type to) {
  return b.bitcast(value, lanesOf(registerType(to), widthOf(value)));
}

/// f64 to f32: toward zero, or so that a second rounding does no harm: what is inexact ends in 1.
static Value roundFromF64(CodeBuilder &b, Value value, bool towardZero) {
  int width = widthOf(value);
  Type f32 = lanesOf(b.getF32Type(), width), i32 = lanesOf(b.getI32Type(), width);
  Value rounded = arith::TruncFOp::create(b, f32, value);
  Value back = arith::ExtFOp::create(b, value.getType(), rounded);
  Value isExact = arith::CmpFOp::create(b, arith::CmpFPredicate::UEQ, back, value);
  Value isLarger = arith::CmpFOp::create(
      b, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, back), math::AbsFOp::create(b, value));
  Value bits = b.bitcast(rounded, i32), one = b.integer(i32, 1);
  Value below = b.select(isLarger, b.sub(bits, one), bits);
  if (towardZero)
    return b.bitcast(below, f32);
  Value odd = b.fold<arith::OrIOp>(below, one);
  return b.bitcast(b.select(isExact, bits, odd), f32);
}

/// The quotient of two f32 is a midpoint between neighbours, and then the f64 product is exact, or
/// is farther from one than the error of the product. 1/y takes no time: it does not vary in the
/// loop.
Value tile::codegen::divideByShared(CodeBuilder &b, Value x, Value y) {
  Type f64 = b.getF64Type(), i64 = b.getI64Type();
  Value divisor = arith::ExtFOp::create(b, f64, y);
  Value inverse = arith::DivFOp::create(b, b.number(f64, 1), divisor);
  // Finite and not 0: else its own rest, so that no product is 0 · ∞ where x / y is not.
  Value magnitude =
      b.fold<arith::AndIOp>(b.bitcast(inverse, i64), b.i64(std::numeric_limits<int64_t>::max()));
  Value isPlain =
      b.compare(arith::CmpIPredicate::ult, b.sub(magnitude, b.i64(1)), b.i64(0x7fefffffffffffff));
  // Below 1/y, so that the rest has its sign.
  Value below = b.bitcast(b.sub(b.bitcast(inverse, i64), b.i64(1)), f64);
  Value high = b.select(isPlain, below, inverse);
  Value rest = math::FmaOp::create(b, arith::NegFOp::create(b, high), divisor, b.number(f64, 1));
  Value low = b.select(isPlain, arith::MulFOp::create(b, rest, high), inverse);
  int width = widthOf(x);
  Value wide = arith::ExtFOp::create(b, lanesOf(f64, width), x);
  Value small = arith::MulFOp::create(b, wide, b.splat(low, width));
  Value quotient = math::FmaOp::create(b, wide, b.splat(high, width), small);
  return arith::TruncFOp::create(b, x.getType(), quotient);
}

/// 512-bit vectors are divided in 16 cycles, multiplied twice as f64 in half of that.
static bool isWorthReciprocal(const TargetInfo &target, ArrayRef<Value> operands) {
  return target.vectorBits == 512 && widthOf(operands[0]) == 16 && widthOf(operands[1]) == 1 &&
         elementOf(operands[0].getType()).isF32();
}

/// extf and truncf; narrow floats come as f32.
static Value emitFloatCast(CodeBuilder &b, const TargetInfo &target, Operation *op, Value value) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  auto truncation = dyn_cast<arith::TruncFOp>(op);
  bool towardZero = truncation && truncation.getRoundingmode() == arith::RoundingMode::toward_zero;
  Type wide = isNarrowFloat(from) ? b.getF32Type() : from;
  Type goal = isNarrowFloat(to) ? b.getF32Type() : to;
  if (from.isF64() && isNarrowFloat(to))
    value = roundFromF64(b, value, /*towardZero=*/false);
  else if (from.isF64() && to.isF32() && towardZero)
    value = roundFromF64(b, value, towardZero);
  else if (wide != goal)
    value = goal.isF64() ? Value(arith::ExtFOp::create(b, lanesOf(goal, widthOf(value)), value))
                         : Value(arith::TruncFOp::create(b, lanesOf(goal, widthOf(value)), value));
  return isNarrowFloat(to) ? roundFromF32(b, target, value, cast<FloatType>(to), towardZero)
                           : value;
}

/// Integers of 32 bits and more to narrow floats, rounded once: what f64 can't hold ends in 1.
static Value emitIntegerToNarrow(CodeBuilder &b, const TargetInfo &target, Value value,
                                 bool isUnsigned, FloatType to) {
  Type type = value.getType();
  if (elementOf(type).isInteger(64)) {
    const int64_t low = 0x7ff;
    auto has = [&](Value bits) {
      return b.compare(arith::CmpIPredicate::ne, bits, b.integer(type, 0));
    };
    Value rest = b.fold<arith::AndIOp>(value, b.integer(type, low));
    Value top = b.fold<arith::AndIOp>(value, b.integer(type, ~low));
    Value sticky = b.fold<arith::OrIOp>(top, b.integer(type, low + 1));
    Value magnitude = isUnsigned ? value : Value(math::AbsIOp::create(b, value));
    Value isLong = has(b.fold<arith::ShRUIOp>(magnitude, b.integer(type, 53)));
    value = b.select(b.both(isLong, has(rest)), sticky, value);
  }
  Type f64 = lanesOf(b.getF64Type(), widthOf(value));
  Value exact = isUnsigned ? Value(arith::UIToFPOp::create(b, f64, value))
                           : Value(arith::SIToFPOp::create(b, f64, value));
  return roundFromF32(b, target, roundFromF64(b, exact, /*towardZero=*/false), to);
}

/// fmax or fmin, where −0 is less than 0. Threads have instructions for that. On vectors, LLVM
/// would compute in f16 where the operands were f16, and that calls fmaxf.
static Value emitMinMaxNumber(CodeBuilder &b, const TargetInfo &target, bool isMax, Value x,
                              Value y) {
  if (target.isThread) {
    StringRef name = isMax ? "llvm.maximumnum" : "llvm.minimumnum";
    return LLVM::CallIntrinsicOp::create(b, x.getType(), b.getStringAttr(name), ValueRange{x, y})
        .getResult(0);
  }
  auto compare = [&](arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  };
  auto better = isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  Value best = b.select(compare(better, y, x), y, x);
  // Equal numbers differ in nothing but the sign of zeros.
  Type bits = lanesOf(b.getIntegerType(elementOf(x.getType()).getIntOrFloatBitWidth()), widthOf(x));
  Value left = b.bitcast(x, bits), right = b.bitcast(y, bits);
  Value either = isMax ? b.fold<arith::AndIOp>(left, right) : b.fold<arith::OrIOp>(left, right);
  best = b.select(compare(arith::CmpFPredicate::OEQ, x, y), b.bitcast(either, x.getType()), best);
  return b.select(compare(arith::CmpFPredicate::UNO, x, x), y, best);
}

Value tile::codegen::emitElementwise(CodeBuilder &b, const TargetInfo &target, Operation *op,
                                     ArrayRef<Value> given) {
  SmallVector<Value> operands(given);
  b.unify(operands);
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  Type from = op->getNumOperands() ? getElementTypeOrSelf(op->getOperand(0).getType()) : to;
  // Bits move as they are; conversions begin or end in f32.
  if (isa<arith::SelectOp>(op))
    return cloneOnto(b, op, operands, registerType(to));
  if (isa<arith::BitcastOp>(op))
    return bitCast(b, operands[0], to);
  if (isa<arith::IndexCastOp>(op) && registerType(from) == registerType(to))
    return operands[0];
  if (target.hasF16Arithmetic && to.isF16() &&
      isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op)) {
    for (Value &operand : operands)
      operand = b.bitcast(operand, lanesOf(to, widthOf(operand)));
    return bitCast(b, cloneOnto(b, op, operands, to), to);
  }
  for (auto [operand, original] : llvm::zip(operands, op->getOperands()))
    if (Type type = getElementTypeOrSelf(original.getType()); isNarrowFloat(type))
      operand = widenToF32(b, target, operand, cast<FloatType>(type));
  if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    return emitFloatCast(b, target, op, operands[0]);
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) && isNarrowFloat(to) &&
      elementOf(operands[0].getType()).getIntOrFloatBitWidth() >= 32)
    return emitIntegerToNarrow(b, target, operands[0], isa<arith::UIToFPOp>(op),
                               cast<FloatType>(to));
  Value result;
  if (isa<arith::DivFOp>(op) && isWorthReciprocal(target, given))
    result = divideByShared(b, operands[0], given[1]);
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op))
    result = emitMinMaxNumber(b, target, isa<arith::MaxNumFOp>(op), operands[0], operands[1]);
  if (!result)
    result = expandFunction(b, target, op, operands);
  if (!result)
    result =
        cloneOnto(b, op, operands, isNarrowFloat(to) ? Type(b.getF32Type()) : registerType(to));
  return isNarrowFloat(to) ? roundFromF32(b, target, result, cast<FloatType>(to)) : result;
}

int tile::codegen::costOf(Operation *op) {
  if (isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::FloorOp, math::CeilOp, math::RoundEvenOp,
          math::CopySignOp>(op))
    return 1;
  if (op->getDialect()->getNamespace() == math::MathDialect::getDialectNamespace())
    return isa<math::SqrtOp>(op) ? 4 : 16;
  if (isa<arith::DivFOp>(op))
    return 4;
  if (isa<DivOp, RemOp>(op))
    return 8;
  if (isa<PhiloxOp>(op))
    return 20;
  return 1;
}

CodeBuilder::Values
tile::codegen::callApart(CodeBuilder &b, StringRef name, ValueRange arguments,
                         llvm::function_ref<CodeBuilder::Values(ValueRange)> body) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    // The type is known when the results are.
    Type nothing = LLVM::LLVMVoidType::get(b.getContext());
    SmallVector<Type> types(arguments.getTypes());
    function = LLVM::LLVMFuncOp::create(b, name, LLVM::LLVMFunctionType::get(nothing, types),
                                        LLVM::Linkage::Internal);
    b.setInsertionPointToStart(function.addEntryBlock(b));
    CodeBuilder::Values results = body(function.getArguments());
    SmallVector<Type> given(ValueRange(results).getTypes());
    Type type = given.size() == 1 ? given[0]
                                  : Type(LLVM::LLVMStructType::getLiteral(b.getContext(), given));
    Value packed = results[0];
    if (given.size() > 1) {
      packed = LLVM::PoisonOp::create(b, type);
      for (auto [n, result] : llvm::enumerate(results))
        packed = LLVM::InsertValueOp::create(b, packed, result, n);
    }
    LLVM::ReturnOp::create(b, packed);
    function.setFunctionType(LLVM::LLVMFunctionType::get(type, types));
    function.setNoInline(true);
    SmallVector<LLVM::ModRefInfo> none(6, LLVM::ModRefInfo::NoModRef);
    function.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(b.getContext(), none));
  }
  Value called = LLVM::CallOp::create(b, function, arguments).getResult();
  auto type = dyn_cast<LLVM::LLVMStructType>(called.getType());
  if (!type)
    return {called};
  CodeBuilder::Values results;
  for (size_t n = 0; n < type.getBody().size(); ++n)
    results.push_back(LLVM::ExtractValueOp::create(b, called, n));
  return results;
}

//===-- Combinations ------------------------------------------------------===//

Value tile::codegen::emitCombine(CodeBuilder &b, const TargetInfo &target, CombineKind kind,
                                 Type element, Value x, Value y) {
  Value v[] = {x, y};
  b.unify(v);
  if (isNarrowFloat(element)) {
    auto narrow = cast<FloatType>(element);
    Value result = emitCombine(b, target, kind, b.getF32Type(), widenToF32(b, target, v[0], narrow),
                               widenToF32(b, target, v[1], narrow));
    return roundFromF32(b, target, result, narrow);
  }
  bool isFloat = isa<FloatType>(element);
  switch (kind) {
  case CombineKind::add:
    return isFloat ? Value(arith::AddFOp::create(b, v[0], v[1]))
                   : Value(arith::AddIOp::create(b, v[0], v[1]));
  case CombineKind::mul:
    return isFloat ? Value(arith::MulFOp::create(b, v[0], v[1]))
                   : Value(arith::MulIOp::create(b, v[0], v[1]));
  case CombineKind::max:
    return isFloat ? Value(arith::MaximumFOp::create(b, v[0], v[1]))
                   : Value(arith::MaxSIOp::create(b, v[0], v[1]));
  case CombineKind::min:
    return isFloat ? Value(arith::MinimumFOp::create(b, v[0], v[1]))
                   : Value(arith::MinSIOp::create(b, v[0], v[1]));
  case CombineKind::umax:
    return arith::MaxUIOp::create(b, v[0], v[1]);
  case CombineKind::umin:
    return arith::MinUIOp::create(b, v[0], v[1]);
  case CombineKind::fmax:
  case CombineKind::fmin:
    return emitMinMaxNumber(b, target, kind == CombineKind::fmax, v[0], v[1]);
  case CombineKind::andi:
    return arith::AndIOp::create(b, v[0], v[1]);
  case CombineKind::ori:
    return arith::OrIOp::create(b, v[0], v[1]);
  case CombineKind::xori:
    return arith::XOrIOp::create(b, v[0], v[1]);
  }
  llvm_unreachable("covered switch");
}

TypedAttr tile::codegen::identityOf(CombineKind kind, Type element) {
  Builder builder(element.getContext());
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    auto least = [&](bool negative) {
      return APFloat::semanticsHasInf(semantics) ? APFloat::getInf(semantics, negative)
                                                 : APFloat::getLargest(semantics, negative);
    };
    switch (kind) {
    case CombineKind::add:
      return builder.getFloatAttr(type, 0.0);
    case CombineKind::mul:
      return builder.getFloatAttr(type, 1.0);
    case CombineKind::max:
    case CombineKind::fmax:
      return builder.getFloatAttr(type, least(true));
    case CombineKind::min:
    case CombineKind::fmin:
      return builder.getFloatAttr(type, least(false));
    case CombineKind::umax:
    case CombineKind::umin:
    case CombineKind::andi:
    case CombineKind::ori:
    case CombineKind::xori:
      break;
    }
    llvm_unreachable("no combination of floats");
  }
  unsigned bits = cast<IntegerType>(element).getWidth();
  switch (kind) {
  case CombineKind::add:
  case CombineKind::umax:
  case CombineKind::ori:
  case CombineKind::xori:
    return builder.getIntegerAttr(element, APInt::getZero(bits));
  case CombineKind::mul:
    return builder.getIntegerAttr(element, APInt(bits, 1));
  case CombineKind::max:
    return builder.getIntegerAttr(element, APInt::getSignedMinValue(bits));
  case CombineKind::min:
    return builder.getIntegerAttr(element, APInt::getSignedMaxValue(bits));
  case CombineKind::umin:
  case CombineKind::andi:
    return builder.getIntegerAttr(element, APInt::getAllOnes(bits));
  case CombineKind::fmax:
  case CombineKind::fmin:
    break;
  }
  llvm_unreachable("no combination of integers");
}

CodeBuilder::Values tile::codegen::emitCombination(CodeBuilder &b, const TargetInfo &target,
                                                   Block &body, ValueRange arguments,
                                                   llvm::function_ref<Value(Value)> scalar) {
  DenseMap<Value, Value> emitted;
  for (auto [argument, value] : llvm::zip(body.getArguments(), arguments))
    emitted[argument] = value;
  auto valueOf = [&](Value value) {
    Value known = emitted.lookup(value);
    return known ? known : scalar(value);
  };
  for (Operation &op : body.without_terminator()) {
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), valueOf);
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      emitted[constant] = emitConstant(b, constant.getValue());
    else
      emitted[op.getResult(0)] = emitElementwise(b, target, &op, operands);
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(), valueOf);
}
