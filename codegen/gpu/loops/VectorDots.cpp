//===- VectorDots.cpp - dots of vectors are sums of products --------------===//

#include "codegen/gpu/loops/VectorDots.h"
#include "codegen/gpu/dialect/KernelAttributes.h"
#include "codegen/gpu/loops/ValueFacts.h"
#include "ir/transforms/LongSums.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

/// Elements of the accumulator's type, with the axes of the products.
static Value asFactor(OpBuilder &builder, Location loc, Value operand, Type type) {
  auto tile = cast<RankedTensorType>(operand.getType());
  Type element = getElementTypeOrSelf(type), wide = withElement(tile, element);
  if (isa<FloatType>(element) && tile.getElementType() != element)
    operand = arith::ExtFOp::create(builder, loc, wide, operand);
  else if (tile.getElementType() != element)
    operand = arith::ExtSIOp::create(builder, loc, wide, operand);
  return wide == type ? operand : BroadcastOp::create(builder, loc, type, operand).getResult();
}

static void sumProducts(DotOp dot) {
  OpBuilder builder(dot);
  Location loc = dot.getLoc();
  Type element = getElementTypeOrSelf(dot.getType());
  // One of the two has all the axes there are.
  auto left = cast<RankedTensorType>(dot.getLhs().getType()),
       right = cast<RankedTensorType>(dot.getRhs().getType());
  Type products = withElement(left.getRank() >= right.getRank() ? left : right, element);
  Value x = asFactor(builder, loc, dot.getLhs(), products),
        y = asFactor(builder, loc, dot.getRhs(), products);
  Value product = isa<FloatType>(element) ? arith::MulFOp::create(builder, loc, x, y).getResult()
                                          : arith::MulIOp::create(builder, loc, x, y).getResult();
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> extents;
  for (StringAttr axis : axesOf(products))
    if (axis != dot.getAxisAttr()) {
      axes.push_back(axis);
      extents.push_back(extentOf(products, axis));
    }
  Value sum = ReduceOp::create(builder, loc, tileType(element, axes, extents), CombineKind::add,
                               product, builder.getArrayAttr(dot.getAxisAttr()));
  if (sum.getType() != dot.getType())
    sum = BroadcastOp::create(builder, loc, dot.getType(), sum);
  Value before = dot.getAcc();
  if (!isZero(before))
    sum = isa<FloatType>(element) ? arith::AddFOp::create(builder, loc, before, sum).getResult()
                                  : arith::AddIOp::create(builder, loc, before, sum).getResult();
  dot.replaceAllUsesWith(sum);
  dot.erase();
}

bool tile::codegen::gpu::isOfVectors(DotOp dot) {
  for (auto loop = dot->getParentOfType<ForOp>(); loop; loop = loop->getParentOfType<ForOp>())
    if (loop.getNameAttr() == dot.getAxisAttr())
      return false;
  auto kernel = dot->getParentOfType<KernelOp>();
  bool isMultiplied = false;
  kernel.walk([&](DotOp one) { // itself among them
    isMultiplied |=
        one.getAxisAttr() == dot.getAxisAttr() && !one->use_empty() && isMatrixProduct(one);
  });
  return !isMultiplied && !kernel->hasAttr(fixedOrderAttrName);
}

void tile::codegen::gpu::sumVectorDots(KernelOp kernel) {
  SmallVector<DotOp> dots;
  kernel.walk([&](DotOp dot) { dots.push_back(dot); });
  for (DotOp dot : llvm::reverse(dots)) {
    if (dot->use_empty()) // templates have some
      dot.erase();
    else if (isOfVectors(dot))
      sumProducts(dot);
  }
}
