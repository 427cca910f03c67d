//===- Divisors.cpp - what addresses and ends are multiples of ------------===//

#include "codegen/gpu/plan/Divisors.h"
#include "codegen/gpu/dialect/KernelAttributes.h"
#include "codegen/gpu/dialect/TileGpuOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

static constexpr int64_t mostDivisor = 64;

static int64_t powerIn(int64_t value) {
  return value == 0 ? mostDivisor : std::min(mostDivisor, value & -value);
}

int64_t tile::codegen::gpu::divisorOfDim(KernelOp kernel, StringRef name) {
  auto all = kernel->getAttrOfType<DictionaryAttr>(divisorsAttrName);
  auto known = all ? all.getAs<IntegerAttr>(name) : IntegerAttr();
  return known ? powerIn(known.getInt()) : 1;
}

int64_t Divisors::of(Value value) const {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return powerIn(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op)
    return 1;
  if (auto dim = dyn_cast<DimOp>(op))
    return divisorOfDim(kernel, dim.getName());
  auto ofOperand = [&](unsigned n) { return of(op->getOperand(n)); };
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return std::min(ofOperand(0), ofOperand(1));
  if (isa<arith::MulIOp>(op))
    return std::min(mostDivisor, ofOperand(0) * ofOperand(1));
  if (isa<BroadcastOp, ConvertOp>(op))
    return ofOperand(0);
  return 1;
}

int64_t Divisors::ofOrigin(StringAttr axis) const {
  int64_t ofLower = of(domains.boundsOf(axis.getValue()).first);
  if (!domains.isBlock(axis.getValue()))
    return ofLower;
  int64_t size = cast<SpanType>(domains.spanOf(axis.getValue()).getType()).getExtent();
  return std::min(ofLower, powerIn(size));
}

int64_t Divisors::ofEnd(StringAttr axis) const {
  return std::min(ofOrigin(axis), of(domains.boundsOf(axis.getValue()).second));
}

SmallVector<int64_t> Divisors::ofStrides(unsigned parameter) const {
  KernelOp kernel = this->kernel; // a handle, whose methods aren't const
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[parameter]);
  SmallVector<int64_t> divisors(type.getRank());
  ArrayRef<AffineExpr> extents = kernel.getParamShape(parameter).getResults();
  int64_t divisor = 1;
  for (size_t d = divisors.size(); d-- > 0;) {
    divisors[d] = divisor;
    auto symbol = dyn_cast<AffineSymbolExpr>(extents[d]);
    int64_t ofExtent = 1;
    if (!type.isDynamicDim(d))
      ofExtent = powerIn(type.getDimSize(d));
    else if (symbol)
      ofExtent = divisorOfDim(kernel, cast<StringAttr>(kernel.getDims()[symbol.getPosition()]));
    divisor = std::min(mostDivisor, divisor * ofExtent);
  }
  return divisors;
}

/// Whether an expression is the coordinate of a span plus what has no axes, or what such a sum
/// leaves of a modulus: neighbours that begin at a multiple of their number, as the modulus is one,
/// have neighbouring rests.
static bool isPlainIn(AffineExpr expr, unsigned dim) {
  if (auto only = dyn_cast<AffineDimExpr>(expr))
    return only.getPosition() == dim;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Mod)
    return isPlainIn(binary.getLHS(), dim) && !binary.getRHS().isFunctionOfDim(dim);
  if (!binary || expr.getKind() != AffineExprKind::Add)
    return false;
  return (isPlainIn(binary.getLHS(), dim) && !binary.getRHS().isFunctionOfDim(dim)) ||
         (isPlainIn(binary.getRHS(), dim) && !binary.getLHS().isFunctionOfDim(dim));
}

bool Divisors::areNeighbours(const Place &place, unsigned along) {
  return place.map.getNumResults() > 0 && isa<SpanType>(place.dims[along].getType()) &&
         isPlainIn(place.map.getResult(place.innermost), along);
}

int64_t Divisors::ofIndex(AffineExpr expr, const Place &place, unsigned along) const {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) // elsewhere threads have any coordinate
    return dim.getPosition() == along ? ofOrigin(axisOf(place.dims[along])) : 1;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return of(place.syms[symbol.getPosition()]);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return powerIn(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t left = ofIndex(binary.getLHS(), place, along),
          right = ofIndex(binary.getRHS(), place, along);
  if (expr.getKind() == AffineExprKind::Add || expr.getKind() == AffineExprKind::Mod)
    return std::min(left, right);
  return expr.getKind() == AffineExprKind::Mul ? std::min(mostDivisor, left * right) : 1;
}

int64_t Divisors::together(const Place &place, unsigned along) const {
  if (!areNeighbours(place, along))
    return 1;
  return std::min(ofAddress(place, along), ofEnd(axisOf(place.dims[along])));
}

int64_t Divisors::ofAddress(const Place &place, unsigned along) const {
  StringAttr axis = axisOf(place.dims[along]);
  auto usesAxis = [&](AffineExpr expr) {
    for (auto [n, dim] : llvm::enumerate(place.dims)) {
      bool has = isa<SpanType>(dim.getType()) ? axisOf(dim) == axis
                                              : llvm::is_contained(axesOf(dim.getType()), axis);
      if (has && n != along && expr.isFunctionOfDim(n))
        return true;
    }
    return false;
  };
  int64_t most = mostDivisor;
  for (auto [d, expr] : llvm::enumerate(place.map.getResults())) {
    bool isInnermost = d == place.innermost;
    if (usesAxis(expr) || (!isInnermost && expr.isFunctionOfDim(along)))
      return 1;
    if (d <= place.innermost) // behind it lanes that access something have the index 0
      most = std::min(most, isInnermost ? ofIndex(expr, place, along) : place.strides[d]);
  }
  return most;
}
