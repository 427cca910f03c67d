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
  Formatter(ArrayRef<StringRef> names, llvm::raw_ostream &os) : names(names), os(os) {}

  enum Precedence { Sum, Product, Leaf };

  /// Prints what stands where only `context` or closer may stand.
  void print(AffineExpr expr, Precedence context = Sum) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
      os << names[symbol.getPosition()];
    } else if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      os << constant.getValue();
    } else if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      os << 'd' << dim.getPosition();
    } else {
      bool isSum = expr.getKind() == AffineExprKind::Add;
      bool needsParens = (isSum ? Sum : Product) < context;
      os << (needsParens ? "(" : "");
      isSum ? printSum(cast<AffineBinaryOpExpr>(expr))
            : printProduct(cast<AffineBinaryOpExpr>(expr));
      os << (needsParens ? ")" : "");
    }
  }

private:
  void printSum(AffineBinaryOpExpr expr) {
    print(expr.getLHS());
    if (AffineExpr subtracted = negated(expr.getRHS())) {
      os << " - ";
      print(subtracted, Product);
    } else {
      os << " + ";
      print(expr.getRHS());
    }
  }

  void printProduct(AffineBinaryOpExpr expr) {
    AffineExpr lhs = expr.getLHS(), rhs = expr.getRHS();
    if (AffineExpr positive = negated(expr)) {
      os << '-';
      return print(positive, Leaf);
    }
    if (expr.getKind() == AffineExprKind::CeilDiv) { // not in the language: spell it out
      os << '(';
      print(lhs);
      os << " + ";
      print(rhs, Product);
      os << " - 1) / ";
      return print(rhs, Leaf);
    }
    // A constant factor, which MLIR keeps on the right, reads better on the left.
    bool isProduct = expr.getKind() == AffineExprKind::Mul;
    bool isScaled = isProduct && isa<AffineConstantExpr>(rhs);
    print(isScaled ? rhs : lhs, isScaled ? Leaf : Product);
    os << (isProduct ? " * " : expr.getKind() == AffineExprKind::Mod ? " % " : " / ");
    print(isScaled ? lhs : rhs, Leaf);
  }

  /// The expression without its minus sign, or null if it has none.
  static AffineExpr negated(AffineExpr expr) {
    auto isNegative = [](AffineExpr part) {
      auto constant = dyn_cast<AffineConstantExpr>(part);
      return constant && constant.getValue() < 0 && constant.getValue() != INT64_MIN;
    };
    auto product = dyn_cast<AffineBinaryOpExpr>(expr);
    bool isScaled = expr.getKind() == AffineExprKind::Mul && isNegative(product.getRHS());
    return isNegative(expr) || isScaled ? -expr : AffineExpr();
  }

  ArrayRef<StringRef> names;
  llvm::raw_ostream &os;
};
} // namespace

std::string tile::ir::formatAffine(AffineExpr expr, ArrayRef<StringRef> symbolNames) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Formatter(symbolNames, os).print(expr);
  return text;
}
