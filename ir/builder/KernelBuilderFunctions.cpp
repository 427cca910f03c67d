//===- KernelBuilderFunctions.cpp - functions, reductions, dot ------------===//

#include "ir/builder/KernelBuilder.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tile::ir;

//===-- Functions of one float --------------------------------------------===//

template <typename OpT>
static Value makeOp(OpBuilder &builder, Location loc, Value x) {
  return OpT::create(builder, loc, x);
}

/// Functions of the bits of one integer.
static Value bitFunction(OpBuilder &builder, Location loc, StringRef name, Value x) {
  return name == "popcount" ? makeOp<math::CtPopOp>(builder, loc, x)
         : name == "clz"    ? makeOp<math::CountLeadingZerosOp>(builder, loc, x)
         : name == "ctz"    ? makeOp<math::CountTrailingZerosOp>(builder, loc, x)
                            : Value();
}

using UnaryMaker = Value (*)(OpBuilder &, Location, Value);

/// Functions that are one upstream op on floats.
static UnaryMaker floatFunction(StringRef name) {
  return llvm::StringSwitch<UnaryMaker>(name)
      .Case("exp", makeOp<math::ExpOp>)
      .Case("exp2", makeOp<math::Exp2Op>)
      .Case("expm1", makeOp<math::ExpM1Op>)
      .Case("log", makeOp<math::LogOp>)
      .Case("log2", makeOp<math::Log2Op>)
      .Case("log10", makeOp<math::Log10Op>)
      .Case("log1p", makeOp<math::Log1pOp>)
      .Case("sin", makeOp<math::SinOp>)
      .Case("cos", makeOp<math::CosOp>)
      .Case("tan", makeOp<math::TanOp>)
      .Case("tanh", makeOp<math::TanhOp>)
      .Case("erf", makeOp<math::ErfOp>)
      .Case("sqrt", makeOp<math::SqrtOp>)
      .Case("rsqrt", makeOp<math::RsqrtOp>)
      .Case("floor", makeOp<math::FloorOp>)
      .Case("ceil", makeOp<math::CeilOp>)
      .Case("round", makeOp<math::RoundEvenOp>)
      .Case("trunc", makeOp<math::TruncOp>)
      .Default(nullptr);
}

static constexpr StringRef names[] = {
    "abs",  "cdiv",  "ceil",     "clamp",   "clz",   "copysign", "cos",     "ctz",
    "erf",  "exp",   "exp2",     "expdiff", "expm1", "floor",    "fma",     "fmax",
    "fmin", "isinf", "isnan",    "log",     "log10", "log1p",    "log2",    "max",
    "min",  "mulhi", "popcount", "pow",     "round", "rsqrt",    "sigmoid", "sin",
    "sqrt", "tan",   "tanh",     "tdiv",    "trem",  "trunc",    "where"};

ArrayRef<StringRef> KernelBuilder::functionNames() { return names; }
bool KernelBuilder::isFunction(StringRef name) { return llvm::is_contained(names, name); }

/// How many arguments a function takes.
static unsigned arityOf(StringRef name) {
  return llvm::StringSwitch<unsigned>(name)
      .Cases({"cdiv", "copysign", "expdiff", "fmax", "fmin", "max", "min", "mulhi"}, 2)
      .Cases({"pow", "tdiv", "trem"}, 2)
      .Cases({"clamp", "fma", "where"}, 3)
      .Default(1);
}

bool KernelBuilder::reducesOver(const Expr &x, StringRef axis) const {
  bool isDimension = isDim(axis) || llvm::any_of(spec.derivedDims, [&](auto &derived) {
                       return derived.first == axis;
                     });
  return !isDimension || (x.value && llvm::is_contained(axesOf(x.value.getType()),
                                                        StringAttr::get(context(), axis)));
}

Value KernelBuilder::minMax(StringRef function, ElementType type, Value a, Value b) {
  bool isMax = function.ends_with("max");
  if (isFloat(type)) {
    if (function.starts_with("f"))
      return isMax ? Value(arith::MaxNumFOp::create(builder, loc, a, b))
                   : Value(arith::MinNumFOp::create(builder, loc, a, b));
    return isMax ? Value(arith::MaximumFOp::create(builder, loc, a, b))
                 : Value(arith::MinimumFOp::create(builder, loc, a, b));
  }
  if (isUnsigned(type))
    return isMax ? Value(arith::MaxUIOp::create(builder, loc, a, b))
                 : Value(arith::MinUIOp::create(builder, loc, a, b));
  return isMax ? Value(arith::MaxSIOp::create(builder, loc, a, b))
               : Value(arith::MinSIOp::create(builder, loc, a, b));
}

std::optional<SmallVector<Value>> KernelBuilder::operandsOf(StringRef function, ArrayRef<Expr> args,
                                                            ElementType &type) {
  std::optional<ElementType> common = commonType(("`" + function + "`").str(), args);
  if (!common)
    return std::nullopt;
  type = *common;
  SmallVector<Value> values;
  for (const Expr &x : args)
    values.push_back(operandOf(x, type));
  if (!llvm::all_of(values, [](Value value) { return bool(value); }))
    return std::nullopt;
  align(values);
  return values;
}

Expr KernelBuilder::where(ArrayRef<Expr> args) {
  const Expr &condition = args[0];
  if (condition.kind != Expr::Kind::Value || condition.type != ElementType::Bool) {
    error() << "the condition of `where` has to be a bool";
    return {};
  }
  SmallVector<Expr> sides(args.drop_front());
  auto isOfLiterals = [](const Expr &x) { return x.isLiteral() || x.choice; };
  bool staysLiteral = llvm::all_of(sides, isOfLiterals);
  if (staysLiteral) // the type that it meets may be another
    for (ElementType type = holderOf(sides); Expr & side : sides)
      side = adapted(side, type);
  else
    adaptAll(sides);
  ElementType type;
  auto choices = operandsOf("where", sides, type);
  if (!choices)
    return {};
  SmallVector<Value> operands = {condition.value, (*choices)[0], (*choices)[1]};
  align(operands);
  Expr result =
      make(arith::SelectOp::create(builder, loc, operands[0], operands[1], operands[2]), type);
  if (staysLiteral)
    result.choice = std::make_shared<std::array<Expr, 3>>(std::array{args[0], args[1], args[2]});
  return result;
}

Expr KernelBuilder::call(StringRef function, ArrayRef<Expr> given) {
  assert(isFunction(function) && "ask isFunction first");
  if (llvm::any_of(given, [](const Expr &x) { return !x.isValid(); }))
    return {};
  if (given.size() != arityOf(function)) {
    error() << "`" << function << "` takes " << arityOf(function) << " argument"
            << (arityOf(function) == 1 ? "" : "s") << ", not " << given.size();
    return {};
  }
  if (function == "where")
    return where(given);
  if (std::optional<Expr> folded = literalCall(function, given))
    return *folded;
  SmallVector<Expr> args(given);
  adaptAll(args);
  ElementType type;
  auto operands = operandsOf(function, args, type);
  if (!operands)
    return {};
  Expr result =
      isFloat(type) ? floatCall(function, type, *operands) : integerCall(function, type, *operands);
  if (!result.isValid()) {
    auto diagnostic = error() << "`" << function << "` does not apply to " << nameOf(type);
    if (!isFloat(type))
      diagnostic.attachNote(loc) << "hint: cast the argument, as in `f32(…)`";
  }
  return result;
}

Expr KernelBuilder::floatCall(StringRef function, ElementType type, ArrayRef<Value> v) {
  auto splat = [&](double number) {
    return broadcastTo(constant(arithmeticType(type), 0, number), v[0].getType());
  };
  auto compare = [&](arith::CmpFPredicate predicate, Value a, Value b) {
    return Value(arith::CmpFOp::create(builder, loc, predicate, a, b));
  };
  if (UnaryMaker maker = floatFunction(function))
    return make(maker(builder, loc, v[0]), type);
  if (function == "abs")
    return make(math::AbsFOp::create(builder, loc, v[0]), type);
  if (function == "isnan")
    return make(compare(arith::CmpFPredicate::UNO, v[0], v[0]), ElementType::Bool);
  if (function == "isinf") {
    Value magnitude = math::AbsFOp::create(builder, loc, v[0]);
    Value infinity = splat(std::numeric_limits<double>::infinity());
    return make(compare(arith::CmpFPredicate::OEQ, magnitude, infinity), ElementType::Bool);
  }
  if (function == "sigmoid") {
    // 1 / (1 + e) or e / (1 + e) with e = exp(−|x|): nothing overflows before the result is 0.
    Value magnitude = math::AbsFOp::create(builder, loc, v[0]);
    Value power = math::ExpOp::create(builder, loc, arith::NegFOp::create(builder, loc, magnitude));
    Value isNegative = compare(arith::CmpFPredicate::OLT, v[0], splat(0));
    Value above = arith::SelectOp::create(builder, loc, isNegative, power, splat(1));
    Value below = arith::AddFOp::create(builder, loc, splat(1), power);
    // The divisor is from 1 to 2: a reciprocal may stand for the division.
    Value quotient = arith::DivFOp::create(builder, loc, above, below, arith::FastMathFlags::arcp);
    return make(quotient, type);
  }
  if (function == "expdiff") {
    // exp(a − b), and 0 where a = −inf even if b is −inf too.
    Value difference = arith::SubFOp::create(builder, loc, v[0], v[1]);
    Value power = math::ExpOp::create(builder, loc, difference);
    Value isLeast =
        compare(arith::CmpFPredicate::OEQ, v[0], splat(-std::numeric_limits<double>::infinity()));
    return make(arith::SelectOp::create(builder, loc, isLeast, splat(0), power), type);
  }
  if (function == "copysign")
    return make(math::CopySignOp::create(builder, loc, v[0], v[1]), type);
  if (function == "pow")
    return make(math::PowFOp::create(builder, loc, v[0], v[1]), type);
  if (function == "fma")
    return make(math::FmaOp::create(builder, loc, v[0], v[1], v[2]), type);
  if (function == "clamp")
    return make(minMax("min", type, minMax("max", type, v[0], v[1]), v[2]), type);
  if (function == "max" || function == "min" || function == "fmax" || function == "fmin")
    return make(minMax(function, type, v[0], v[1]), type);
  return {};
}

Expr KernelBuilder::integerCall(StringRef function, ElementType type, ArrayRef<Value> v) {
  if (type == ElementType::Bool)
    return {};
  if (function == "abs")
    return isUnsigned(type) ? make(v[0], type)
                            : make(math::AbsIOp::create(builder, loc, v[0]), type);
  if (function == "max" || function == "min")
    return make(minMax(function, type, v[0], v[1]), type);
  if (function == "clamp")
    return make(minMax("min", type, minMax("max", type, v[0], v[1]), v[2]), type);
  if (Value bits = bitFunction(builder, loc, function, v[0]))
    return make(bits, type);
  if (function == "mulhi")
    return make(highProduct(type, v[0], v[1]), type);
  if (function == "tdiv" || function == "trem") {
    bool isSignless = isUnsigned(type);
    return make(
        function == "tdiv"
            ? Value(DivOp::create(builder, loc, v[0].getType(), v[0], v[1], isSignless, true))
            : Value(RemOp::create(builder, loc, v[0].getType(), v[0], v[1], isSignless, true)),
        type);
  }
  if (function == "cdiv") {
    // −((−a) / b) in floor division; for unsigned types (a + b − 1) would wrap,
    // so a / b + (a % b ≠ 0).
    Value quotient =
        DivOp::create(builder, loc, v[0].getType(), v[0], v[1], isUnsigned(type), false);
    Value rest = RemOp::create(builder, loc, v[0].getType(), v[0], v[1], isUnsigned(type), false);
    Value zero = broadcastTo(constant(type, 0, 0), v[0].getType());
    Value inexact = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, rest, zero);
    Value nonZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, v[1], zero);
    Value up = arith::AndIOp::create(builder, loc, inexact, nonZero); // x / 0 stays 0
    Value one = arith::ExtUIOp::create(builder, loc, v[0].getType(), up);
    return make(arith::AddIOp::create(builder, loc, quotient, one), type);
  }
  return {};
}

//===-- Reductions --------------------------------------------------------===//

bool KernelBuilder::isReduction(StringRef name) {
  return llvm::is_contained(ArrayRef<StringRef>{"sum", "prod", "max", "min", "fmax", "fmin", "any",
                                                "all", "xor", "mean", "argmax", "argmin"},
                            name);
}

std::optional<ElementType> KernelBuilder::reducedType(StringRef function, ElementType type) {
  if (function == "any" || function == "all")
    return type == ElementType::Bool ? std::optional(type) : std::nullopt;
  if (function == "xor")
    return isFloat(type) ? std::nullopt : std::optional(type);
  if (function == "sum" || function == "prod")
    return type == ElementType::Bool && function == "prod" ? std::nullopt
                                                           : std::optional(accumulatorType(type));
  if (function == "mean" || function == "fmax" || function == "fmin")
    return isFloat(type) ? std::optional(function == "mean" ? accumulatorType(type) : type)
                         : std::nullopt;
  return type == ElementType::Bool ? std::nullopt : std::optional(type);
}

static CombineKind combineOf(StringRef function, ElementType type) {
  bool ofUnsigned = isUnsigned(type);
  return llvm::StringSwitch<CombineKind>(function)
      .Cases({"sum", "mean"}, CombineKind::add)
      .Case("prod", CombineKind::mul)
      .Cases({"max", "argmax"}, ofUnsigned ? CombineKind::umax : CombineKind::max)
      .Cases({"min", "argmin"}, ofUnsigned ? CombineKind::umin : CombineKind::min)
      .Case("fmax", CombineKind::fmax)
      .Case("fmin", CombineKind::fmin)
      .Case("any", CombineKind::ori)
      .Case("xor", CombineKind::xori)
      .Default(CombineKind::andi);
}

Expr KernelBuilder::reduce(StringRef function, Expr x, ArrayRef<std::string> axisNames) {
  if (!x.isValid())
    return {};
  if (x.isLiteral()) {
    error() << "`" << function << "` of a literal";
    return {};
  }
  Value value = materialize(x);
  SmallVector<StringAttr> reduced;
  for (const std::string &given : axisNames) {
    StringAttr axis = builder.getStringAttr(isDim(given) ? canonicalDim(given) : given);
    if (!llvm::is_contained(axesOf(value.getType()), axis)) {
      auto diagnostic = error() << "`" << function << "` over `" << given
                                << "`, which is no axis of this value";
      diagnostic.attachNote(loc) << "its axes are " << axesText(value.getType());
      return {};
    }
    if (llvm::is_contained(reduced, axis)) {
      error() << "`" << function << "` names axis `" << given << "` twice";
      return {};
    }
    reduced.push_back(axis);
  }
  std::optional<ElementType> type = reducedType(function, x.type);
  if (!type) {
    auto diagnostic = error() << "`" << function << "` does not apply to " << nameOf(x.type);
    if (function == "any" || function == "all")
      diagnostic.attachNote(loc) << "hint: compare first, as in `any(x != 0, …)`";
    else
      diagnostic.attachNote(loc) << "hint: cast first, as in `f32(x)`";
    return {};
  }
  value = convert(value, x.type, isHalf(*type) ? ElementType::F32 : *type);
  AxisList left;
  for (StringAttr axis : axesOf(value.getType()))
    if (!llvm::is_contained(reduced, axis))
      left.add(axis, extentOf(value.getType(), axis.getValue()));
  auto kind = CombineKindAttr::get(context(), combineOf(function, x.type));
  if (function.starts_with("arg")) {
    if (reduced.size() != 1) {
      error() << "`" << function << "` takes one axis";
      return {};
    }
    return make(ArgReduceOp::create(builder, loc, left.tileOf(builder.getI64Type()), kind, value,
                                    reduced[0]),
                ElementType::I64);
  }
  Type resultType = left.tileOf(getElementTypeOrSelf(value.getType()));
  SmallVector<Attribute> reducedAttrs(reduced.begin(), reduced.end());
  Value result =
      ReduceOp::create(builder, loc, resultType, kind, value, builder.getArrayAttr(reducedAttrs));
  if (function != "mean")
    return make(result, *type);
  Value size = convert(countOf(value.getType(), reduced), ElementType::I64, *type);
  Value operands[] = {result, size};
  align(operands);
  return make(arith::DivFOp::create(builder, loc, operands[0], operands[1]), *type);
}

/// How many elements a tile's domain has along axes, per coordinate of those
/// other axes that a condition ties to them.
Value KernelBuilder::countOf(Type tile, ArrayRef<StringAttr> counted) {
  AxisList remaining;
  SmallVector<Value> spans;
  for (StringAttr axis : counted)
    spans.push_back(axes.lookup(axis.getValue()));
  for (ArrayRef<StringAttr> restriction : restrictions) {
    auto inTile = [&](StringAttr axis) { return llvm::is_contained(axesOf(tile), axis); };
    auto isCounted = [&](StringAttr axis) { return llvm::is_contained(counted, axis); };
    if (!llvm::all_of(restriction, inTile) || llvm::none_of(restriction, isCounted))
      continue;
    for (StringAttr axis : restriction)
      if (!isCounted(axis))
        remaining.add(axis, extentOf(tile, axis.getValue()));
  }
  return CountOp::create(builder, loc, remaining.tileOf(builder.getI64Type()), spans);
}

std::string KernelBuilder::axesText(Type tile) {
  if (axesOf(tile).empty())
    return "[]";
  std::string text = "[";
  for (StringAttr axis : axesOf(tile))
    text += (text.size() > 1 ? ", " : "") + axis.str();
  return text + "]";
}
