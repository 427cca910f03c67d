//===- AffineEval.cpp - affine expressions on numbers ---------------------===//

#include "ir/AffineEval.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

namespace {
std::optional<int64_t> floorDivide(int64_t x, int64_t y) {
  if (y == 0)
    return 0;
  if (y == -1)
    return llvm::checkedSub<int64_t>(0, x);
  int64_t quotient = x / y;
  return quotient - (x % y != 0 && (x < 0) != (y < 0));
}

/// x − floor(x / y) · y, which never overflows.
int64_t floorRemainder(int64_t x, int64_t y) {
  if (y == 0)
    return x;
  if (y == -1)
    return 0;
  int64_t remainder = x % y;
  return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y : remainder;
}

std::optional<int64_t> apply(AffineExprKind kind, int64_t x, int64_t y) {
  switch (kind) {
  case AffineExprKind::Add:
    return llvm::checkedAdd(x, y);
  case AffineExprKind::Mul:
    return llvm::checkedMul(x, y);
  case AffineExprKind::Mod:
    return floorRemainder(x, y);
  case AffineExprKind::FloorDiv:
    return floorDivide(x, y);
  case AffineExprKind::CeilDiv: {
    std::optional<int64_t> quotient = floorDivide(x, y);
    if (quotient && floorRemainder(x, y) != 0 && y != 0)
      return llvm::checkedAdd<int64_t>(*quotient, 1);
    return quotient;
  }
  case AffineExprKind::Constant:
  case AffineExprKind::DimId:
  case AffineExprKind::SymbolId:
    break;
  }
  llvm_unreachable("a leaf is no operation");
}
} // namespace

std::optional<int64_t> tile::ir::evaluateAffine(AffineExpr expr, ArrayRef<int64_t> dims,
                                                ArrayRef<int64_t> syms) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return syms[symbol.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> x = evaluateAffine(binary.getLHS(), dims, syms);
  std::optional<int64_t> y = evaluateAffine(binary.getRHS(), dims, syms);
  if (!x || !y)
    return std::nullopt;
  return apply(expr.getKind(), *x, *y);
}

namespace {
/// Prints expressions in the language's notation.
class Formatter {
public:
  explicit Formatter(ArrayRef<StringRef> names) : names(names) {}

  std::string format(AffineExpr expr) const { return format(expr, Sum); }

private:
  enum Precedence { Sum, Product, Leaf };

  std::string format(AffineExpr expr, Precedence context) const {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return names[symbol.getPosition()].str();
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return std::to_string(constant.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return "d" + std::to_string(dim.getPosition());
    auto binary = cast<AffineBinaryOpExpr>(expr);
    bool isSum = expr.getKind() == AffineExprKind::Add;
    std::string text = isSum ? sum(binary) : product(binary);
    return (isSum ? Sum : Product) < context ? "(" + text + ")" : text;
  }

  std::string sum(AffineBinaryOpExpr expr) const {
    std::string left = format(expr.getLHS(), Sum), right = format(expr.getRHS(), Sum);
    if (right.front() == '-')
      return left + " - " + right.substr(1);
    return left + " + " + right;
  }

  std::string product(AffineBinaryOpExpr expr) const {
    AffineExpr lhs = expr.getLHS(), rhs = expr.getRHS();
    switch (expr.getKind()) {
    case AffineExprKind::FloorDiv:
      return format(lhs, Product) + " / " + format(rhs, Leaf);
    case AffineExprKind::CeilDiv: // not in the language: spell it out
      return "(" + format(lhs, Sum) + " + " + format(rhs, Product) + " - 1) / " + format(rhs, Leaf);
    case AffineExprKind::Mod:
      return format(lhs, Product) + " % " + format(rhs, Leaf);
    default:
      break;
    }
    // The constant, which MLIR keeps on the right, reads better on the left.
    auto constant = dyn_cast<AffineConstantExpr>(rhs);
    if (!constant)
      return format(lhs, Product) + " * " + format(rhs, Leaf);
    if (constant.getValue() == -1)
      return "-" + format(lhs, Leaf);
    return format(rhs, Leaf) + " * " + format(lhs, Leaf);
  }

  ArrayRef<StringRef> names;
};
} // namespace

std::string tile::ir::formatAffine(AffineExpr expr, ArrayRef<StringRef> symbolNames) {
  return Formatter(symbolNames).format(expr);
}
