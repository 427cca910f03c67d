//===- KernelBuilderLiterals.cpp - numbers until they meet a type ---------===//
//
// Literals, and what operators and functions make of literals alone, are
// computed here: integers exactly, all else in f64. `literalValue` is where one
// gets a type, and the only place: what does not fit is refused there.
//
//===----------------------------------------------------------------------===//

#include "ir/builder/KernelBuilder.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace tile::ir;

Expr KernelBuilder::literal(WideInteger value) {
  Expr result;
  result.kind = Expr::Kind::Int;
  result.integer = value;
  result.number = static_cast<double>(value);
  result.type = ElementType::I64;
  return result;
}

Expr KernelBuilder::literal(double value) {
  Expr result;
  result.kind = Expr::Kind::Float;
  result.number = value;
  return result;
}

//===-- Types -------------------------------------------------------------===//

Value KernelBuilder::literalValue(const Expr &x, ElementType type) {
  assert(x.isLiteral() && "everything else has a type");
  bool isReal = x.kind == Expr::Kind::Float;
  if (isReal && !isFloat(type)) {
    auto diagnostic = error() << "a float literal does not become " << nameOf(type) << " by itself";
    diagnostic.attachNote(loc) << "hint: write an integer, or round it with `floor` or `round`";
    return {};
  }
  if (TypedAttr number =
          isReal ? attributeOf(context(), type, x.number) : attributeOf(context(), type, x.integer))
    return arith::ConstantOp::create(builder, loc, number);
  auto diagnostic = error() << "the literal " << (isReal ? toString(x.number) : toString(x.integer))
                            << " does not fit in " << nameOf(type);
  if (type == ElementType::F8E4M3)
    diagnostic.attachNote(loc) << "hint: it has no infinities; its greatest number is 448";
  else if (isFloat(type))
    diagnostic.attachNote(loc) << "hint: infinity is written `"
                               << (x.number < 0 ? "-inf`" : "inf`");
  return {};
}

Value KernelBuilder::operandOf(const Expr &x, ElementType type) {
  return x.isLiteral() ? literalValue(x, arithmeticType(type)) : widen(x);
}

Expr KernelBuilder::adapted(Expr x, ElementType type) {
  if (x.isLiteral()) {
    Value value = literalValue(x, type);
    return value ? make(value, type) : Expr();
  }
  if (!x.choice || x.type == type || type == ElementType::Bool ||
      (!isFloat(type) && isFloat(x.type)))
    return x;
  auto &[condition, yes, no] = *x.choice;
  Expr sides[] = {adapted(yes, type), adapted(no, type)};
  if (!sides[0].isValid() || !sides[1].isValid())
    return {};
  return where({condition, sides[0], sides[1]});
}

Expr KernelBuilder::settled(Expr x) {
  if (!x.isLiteral() && !x.choice)
    return x;
  bool isReal = x.kind == Expr::Kind::Float || (x.choice && isFloat(x.type));
  return adapted(x, isReal ? ElementType::F32 : ElementType::I64);
}

/// A type that has a place for all of them, literals and choices: i64 or f32 if that does.
ElementType KernelBuilder::holderOf(ArrayRef<Expr> xs) {
  bool hasReal = false, isLarge = false;
  for (const Expr &x : xs) {
    hasReal |= x.kind == Expr::Kind::Float || (x.choice && isFloat(x.type));
    isLarge |= x.choice && (x.type == ElementType::U64 || x.type == ElementType::F64);
  }
  for (const Expr &x : xs)
    if (x.isLiteral())
      isLarge |= hasReal ? std::isfinite(x.number) && std::isinf(static_cast<float>(x.number))
                         : !fits(x.integer, ElementType::I64);
  if (hasReal)
    return isLarge ? ElementType::F64 : ElementType::F32;
  return isLarge ? ElementType::U64 : ElementType::I64;
}

/// Gives choices of literals the type of the others.
void KernelBuilder::adaptAll(MutableArrayRef<Expr> xs) {
  if (llvm::none_of(xs, [](const Expr &x) { return x.choice; }))
    return;
  std::optional<ElementType> type;
  for (const Expr &x : xs)
    if (x.kind == Expr::Kind::Value && !x.choice && !type)
      type = x.type;
    else if (x.kind == Expr::Kind::Invalid)
      return;
  bool hasFloat = llvm::any_of(xs, [](const Expr &x) {
    return x.kind == Expr::Kind::Float || (x.choice && isFloat(x.type));
  });
  if (!type)
    type = hasFloat ? ElementType::F32 : ElementType::I64;
  for (Expr &x : xs)
    if (x.choice)
      x = adapted(x, *type);
}

//===-- Operators ---------------------------------------------------------===//

/// A literal, unless finite numbers have left the range of f64.
Expr KernelBuilder::realResult(double value, bool isOverflow) {
  if (!isOverflow)
    return literal(value);
  auto diagnostic = error() << "this result of literals is beyond f64";
  diagnostic.attachNote(loc) << "hint: infinity is written `inf`";
  return {};
}

/// Rounded toward −∞; 0 for a divisor of 0.
static WideInteger floorDivide(WideInteger x, WideInteger y) {
  if (y == 0)
    return 0;
  WideInteger quotient = x / y;
  return quotient * y != x && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

/// x · 2^y; none beyond 128 bits. Counts below 0 shift everything out, as those beyond a width do.
static std::optional<WideInteger> shiftLeft(WideInteger x, WideInteger y) {
  if (y < 0 || x == 0)
    return 0;
  WideInteger result;
  if (y > 126 || __builtin_mul_overflow(x, WideInteger(1) << static_cast<int>(y), &result))
    return std::nullopt;
  return result;
}

/// None where literals don't fold; the operator then refuses them.
std::optional<Expr> KernelBuilder::foldIntegers(Binary op, WideInteger x, WideInteger y) {
  WideInteger result = 0;
  bool isTooLarge = false;
  switch (op) {
  case Binary::Add:
    isTooLarge = __builtin_add_overflow(x, y, &result);
    break;
  case Binary::Sub:
    isTooLarge = __builtin_sub_overflow(x, y, &result);
    break;
  case Binary::Mul:
    isTooLarge = __builtin_mul_overflow(x, y, &result);
    break;
  case Binary::Div:
    result = floorDivide(x, y);
    break;
  case Binary::Rem:
    result = x - floorDivide(x, y) * y;
    break;
  case Binary::Shl: {
    std::optional<WideInteger> shifted = shiftLeft(x, y);
    isTooLarge = !shifted;
    result = shifted.value_or(0);
    break;
  }
  case Binary::Shr:
    result = x >> static_cast<int>(y < 0 || y > 127 ? 127 : y);
    break;
  case Binary::BitAnd:
    result = x & y;
    break;
  case Binary::BitOr:
    result = x | y;
    break;
  case Binary::BitXor:
    result = x ^ y;
    break;
  default:
    return std::nullopt;
  }
  // One bit is left, so that the negative and the magnitude of every literal is one.
  if (isTooLarge || result < -(WideInteger(1) << 126) || result > WideInteger(1) << 126) {
    error() << "this integer of literals is beyond 126 bits";
    return Expr();
  }
  return literal(result);
}

std::optional<Expr> KernelBuilder::foldLiterals(Binary op, const Expr &a, const Expr &b) {
  if (a.kind == Expr::Kind::Int && b.kind == Expr::Kind::Int)
    return foldIntegers(op, a.integer, b.integer);
  bool isFinite = std::isfinite(a.number) && std::isfinite(b.number);
  auto result = [&](double value) {
    bool isPole = op == Binary::Div && b.number == 0;
    return realResult(value, isFinite && std::isinf(value) && !isPole);
  };
  switch (op) {
  case Binary::Add:
    return result(a.number + b.number);
  case Binary::Sub:
    return result(a.number - b.number);
  case Binary::Mul:
    return result(a.number * b.number);
  case Binary::Div:
    return result(a.number / b.number);
  default:
    return std::nullopt;
  }
}

//===-- Functions ---------------------------------------------------------===//

/// Functions of integers that give one.
static std::optional<WideInteger> integerFunction(StringRef name, ArrayRef<WideInteger> v) {
  if (name == "abs")
    return v[0] < 0 ? -v[0] : v[0];
  if (name == "max")
    return std::max(v[0], v[1]);
  if (name == "min")
    return std::min(v[0], v[1]);
  if (name == "clamp")
    return std::min(std::max(v[0], v[1]), v[2]);
  if (name == "tdiv")
    return v[1] == 0 ? 0 : v[0] / v[1];
  if (name == "trem")
    return v[1] == 0 ? v[0] : v[0] % v[1];
  if (name == "cdiv")
    return -floorDivide(-v[0], v[1]);
  return std::nullopt;
}

using RealFunction = double (*)(double);

static RealFunction realFunction(StringRef name) {
  return llvm::StringSwitch<RealFunction>(name)
      .Case("abs", [](double x) { return std::abs(x); })
      .Case("exp", [](double x) { return std::exp(x); })
      .Case("exp2", [](double x) { return std::exp2(x); })
      .Case("expm1", [](double x) { return std::expm1(x); })
      .Case("log", [](double x) { return std::log(x); })
      .Case("log2", [](double x) { return std::log2(x); })
      .Case("log10", [](double x) { return std::log10(x); })
      .Case("log1p", [](double x) { return std::log1p(x); })
      .Case("sin", [](double x) { return std::sin(x); })
      .Case("cos", [](double x) { return std::cos(x); })
      .Case("tan", [](double x) { return std::tan(x); })
      .Case("tanh", [](double x) { return std::tanh(x); })
      .Case("erf", [](double x) { return std::erf(x); })
      .Case("sqrt", [](double x) { return std::sqrt(x); })
      .Case("rsqrt", [](double x) { return 1 / std::sqrt(x); })
      .Case("sigmoid",
            [](double x) {
              double power = std::exp(-std::abs(x));
              return (x < 0 ? power : 1) / (1 + power);
            })
      .Case("floor", [](double x) { return std::floor(x); })
      .Case("ceil", [](double x) { return std::ceil(x); })
      .Case("round", [](double x) { return std::nearbyint(x); })
      .Case("trunc", [](double x) { return std::trunc(x); })
      .Default(nullptr);
}

/// NaN if one is; −0 is below 0.
static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<double>::quiet_NaN();
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}
static double minimum(double a, double b) { return -maximum(-a, -b); }

static std::optional<double> realFunction(StringRef name, ArrayRef<double> v) {
  if (v.size() == 1) {
    RealFunction function = realFunction(name);
    return function ? std::optional(function(v[0])) : std::nullopt;
  }
  if (name == "max")
    return maximum(v[0], v[1]);
  if (name == "min")
    return minimum(v[0], v[1]);
  if (name == "clamp")
    return minimum(maximum(v[0], v[1]), v[2]);
  if (name == "fmax" || name == "fmin") {
    auto better = name == "fmax" ? maximum : minimum;
    return std::isnan(v[0]) ? v[1] : std::isnan(v[1]) ? v[0] : better(v[0], v[1]);
  }
  if (name == "copysign")
    return std::copysign(v[0], v[1]);
  if (name == "pow")
    return std::pow(v[0], v[1]);
  if (name == "fma")
    return std::fma(v[0], v[1], v[2]);
  if (name == "expdiff")
    return std::isinf(v[0]) && v[0] < 0 ? 0 : std::exp(v[0] - v[1]);
  return std::nullopt;
}

/// A function of literals is a literal, and one of a choice of them a choice. None for functions of
/// the bits of a type, and for what is no number.
std::optional<Expr> KernelBuilder::literalCall(StringRef function, ArrayRef<Expr> args) {
  const Expr *chosen = nullptr;
  for (const Expr &x : args) {
    if (!x.isLiteral() && (!x.choice || chosen))
      return std::nullopt;
    chosen = x.isLiteral() ? chosen : &x;
  }
  if (chosen) {
    std::array<Expr, 3> choice = *chosen->choice;
    for (Expr *side : {&choice[1], &choice[2]}) {
      SmallVector<Expr> with(args);
      with[chosen - args.begin()] = *side;
      std::optional<Expr> result = literalCall(function, with);
      if (!result)
        return std::nullopt;
      *side = *result;
    }
    return choice[1].isValid() && choice[2].isValid() ? where(choice) : Expr();
  }
  bool areIntegers = llvm::all_of(args, [](const Expr &x) { return x.kind == Expr::Kind::Int; });
  if (areIntegers)
    if (std::optional<WideInteger> value = integerFunction(
            function, llvm::map_to_vector(args, [](const Expr &x) { return x.integer; })))
      return literal(*value);
  auto numbers = llvm::map_to_vector(args, [](const Expr &x) { return x.number; });
  std::optional<double> value = realFunction(function, numbers);
  if (!value)
    return std::nullopt;
  // Where a function has a pole, infinity is its value.
  bool grows = llvm::is_contained({"exp", "exp2", "expm1", "expdiff", "fma", "pow"}, function) &&
               !(function == "pow" && numbers[0] == 0);
  bool isFinite = llvm::all_of(numbers, [](double x) { return std::isfinite(x); });
  return realResult(*value, grows && isFinite && std::isinf(*value));
}
