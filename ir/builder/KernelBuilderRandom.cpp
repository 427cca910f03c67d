//===- KernelBuilderRandom.cpp - random numbers ---------------------------===//

#include "ir/builder/KernelBuilder.h"

#include <cmath>

using namespace mlir;
using namespace tile::ir;

bool KernelBuilder::isRandom(StringRef name) {
  return name == "rand" || name == "randn" || name == "rand_bits";
}

/// The bounds of a span, axis, `each` binder or integer of a loop.
std::optional<std::pair<Value, Value>> KernelBuilder::boundsOf(const Expr &x) const {
  Value atom;
  if (auto dim = dyn_cast_or_null<AffineDimExpr>(x.form))
    atom = dimAtoms[dim.getPosition()];
  else if (auto symbol = dyn_cast_or_null<AffineSymbolExpr>(x.form))
    atom = symbolAtoms[symbol.getPosition()];
  if (!atom)
    return std::nullopt;
  if (auto axis = atom.getDefiningOp<AxisOp>())
    return std::pair(axis.getLower(), axis.getUpper());
  auto argument = dyn_cast<BlockArgument>(atom);
  if (!argument)
    return std::nullopt;
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (auto parallel = dyn_cast<ParallelOp>(parent))
    return std::pair(parallel.getLower()[number], parallel.getUpper()[number]);
  if (auto loop = dyn_cast<ForOp>(parent); loop && number == 0)
    return std::pair(loop.getLower(), loop.getUpper());
  if (auto count = dyn_cast<scf::ForOp>(parent); count && number == 0)
    return std::pair(count.getLowerBound(), count.getUpperBound());
  return std::nullopt;
}

/// The row-major number of an element of the box that the ranges of the coordinates make. The first
/// range doesn't matter: its coordinate may be any integer.
Value KernelBuilder::linearIndex(StringRef function, ArrayRef<Expr> coordinates) {
  Value index = constant(ElementType::I64, 0, 0);
  auto join = [&](Binary op, Value a, Value b) {
    Value both[] = {a, b};
    align(both);
    return integerBinary(op, ElementType::I64, both[0], both[1]);
  };
  for (auto [n, coordinate] : llvm::enumerate(coordinates)) {
    if (!coordinate.isValid())
      return {};
    auto bounds = boundsOf(coordinate);
    if (n > 0 && !bounds) {
      auto diagnostic = error() << "the length of coordinate " << n + 1 << " of `" << function
                                << "` is not known";
      diagnostic.attachNote(loc) << "hint: all but the first are spans, axes and integers that a "
                                    "binder binds; or give one number, `i * N + j`";
      return {};
    }
    if (!isInteger(coordinate.type)) {
      error() << "the coordinates of `" << function << "` are integers; this is "
              << nameOf(coordinate.type);
      return {};
    }
    Value given = materialize(coordinate);
    if (!given)
      return {};
    Value value = convert(given, coordinate.type, ElementType::I64);
    bool startsAtZero = !bounds || matchPattern(bounds->first, m_Zero());
    if (!startsAtZero)
      value = join(Binary::Sub, value, bounds->first);
    if (n == 0) {
      index = value;
      continue;
    }
    Value length = startsAtZero ? bounds->second : join(Binary::Sub, bounds->second, bounds->first);
    index = join(Binary::Add, join(Binary::Mul, index, length), value);
  }
  return index;
}

Expr KernelBuilder::random(StringRef function, Expr seed, Expr stream, ArrayRef<Expr> coordinates) {
  SmallVector<Value> operands;
  for (auto [what, x] : {std::pair("seed", &seed), std::pair("stream", &stream)}) {
    if (x->isLiteral()) // 64 bits, whether they are signed or not
      *x = castTo(fits(x->integer, ElementType::I64) ? ElementType::I64 : ElementType::U64, *x);
    if (!x->isValid())
      return {};
    if (!isInteger(x->type)) {
      error() << "the " << what << " of `" << function << "` is an integer; this is "
              << nameOf(x->type);
      return {};
    }
    operands.push_back(convert(materialize(*x), x->type, ElementType::I64));
  }
  Value index = linearIndex(function, coordinates);
  if (!index)
    return {};
  operands.push_back(index);
  align(operands);
  auto words = [&](DrawKind kind) -> Value {
    Type type = withElement(operands[2].getType(), builder.getI32Type());
    return PhiloxOp::create(builder, loc, type, kind, operands[0], operands[1], operands[2]);
  };
  if (function == "rand_bits")
    return make(words(DrawKind::own), ElementType::U32);
  // k · 2⁻²⁴ for the upper 24 bits k of a word, or k + 1: both are f32.
  auto fraction = [&](Value bits, bool aboveZero) {
    auto number = [&](int64_t value) {
      return broadcastTo(constant(ElementType::I32, value, 0), bits.getType());
    };
    Value k = arith::ShRUIOp::create(builder, loc, bits, number(8));
    if (aboveZero)
      k = arith::AddIOp::create(builder, loc, k, number(1));
    Type type = withElement(bits.getType(), builder.getF32Type());
    Expr whole = make(arith::SIToFPOp::create(builder, loc, type, k), ElementType::F32);
    return binary(Binary::Mul, whole, literal(std::ldexp(1, -24)));
  };
  if (function == "rand")
    return fraction(words(DrawKind::own), /*aboveZero=*/false);
  // G. E. P. Box, M. E. Muller, "A note on the generation of random normal deviates", 1958.
  // The sine of the odd draw of a pair is the cosine of a quarter turn less, which is exact.
  Expr logarithm = call("log", {fraction(words(DrawKind::first), /*aboveZero=*/true)});
  Expr radius = call("sqrt", {binary(Binary::Mul, logarithm, literal(-2.0))});
  Expr turns = fraction(words(DrawKind::second), /*aboveZero=*/false);
  Expr parity =
      binary(Binary::BitAnd, castTo(ElementType::I32, make(operands[2], ElementType::I64)),
             literal(int64_t(1)));
  Expr quarter = binary(Binary::Mul, castTo(ElementType::F32, parity), literal(0.25));
  turns = binary(Binary::Sub, turns, quarter);
  Expr angle = binary(Binary::Mul, turns, literal(6.283185307179586));
  return binary(Binary::Mul, radius, call("cos", {angle}));
}
