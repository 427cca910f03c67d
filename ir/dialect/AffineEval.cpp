//===- AffineEval.cpp - affine expressions on numbers ---------------------===//

#include "ir/dialect/AffineEval.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace {
/// Evaluates modulo 2^64, and remembers whether anything wrapped.
class Evaluator {
public:
  Evaluator(ArrayRef<int64_t> dims, ArrayRef<int64_t> syms) : dims(dims), syms(syms) {}

  bool hasWrapped = false;

  int64_t evaluate(AffineExpr expr) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return dims[dim.getPosition()];
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return syms[symbol.getPosition()];
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return constant.getValue();
    auto binary = cast<AffineBinaryOpExpr>(expr);
    int64_t x = evaluate(binary.getLHS()), y = evaluate(binary.getRHS());
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return add(x, y);
    case AffineExprKind::Mul: {
      int64_t product;
      hasWrapped |= llvm::MulOverflow(x, y, product) != 0;
      return product;
    }
    case AffineExprKind::Mod:
      return remainder(x, y);
    case AffineExprKind::FloorDiv:
      return divide(x, y);
    case AffineExprKind::CeilDiv:
      return add(divide(x, y), y != 0 && remainder(x, y) != 0);
    case AffineExprKind::Constant:
    case AffineExprKind::DimId:
    case AffineExprKind::SymbolId:
      break;
    }
    llvm_unreachable("leaves are handled above");
  }

private:
  int64_t add(int64_t x, int64_t y) {
    int64_t sum;
    hasWrapped |= llvm::AddOverflow(x, y, sum) != 0;
    return sum;
  }

  int64_t divide(int64_t x, int64_t y) {
    if (y == 0)
      return 0;
    if (y == -1) {
      int64_t negated;
      hasWrapped |= llvm::SubOverflow<int64_t>(0, x, negated) != 0;
      return negated;
    }
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
  }

  /// x − floor(x / y) · y, which never wraps.
  static int64_t remainder(int64_t x, int64_t y) {
    if (y == 0)
      return x;
    if (y == -1)
      return 0;
    int64_t rest = x % y;
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
  }

  ArrayRef<int64_t> dims, syms;
};
} // namespace

std::optional<int64_t> tile::ir::evaluateAffine(AffineExpr expr, ArrayRef<int64_t> dims,
                                                ArrayRef<int64_t> syms) {
  Evaluator evaluator(dims, syms);
  int64_t value = evaluator.evaluate(expr);
  return evaluator.hasWrapped ? std::nullopt : std::optional(value);
}

int64_t tile::ir::evaluateIndex(AffineExpr expr, ArrayRef<int64_t> dims, ArrayRef<int64_t> syms) {
  return Evaluator(dims, syms).evaluate(expr);
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
