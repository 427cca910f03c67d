//===- FormFma.cpp - forms multiply-adds, once ----------------------------===//

#include "ir/transforms/FormFma.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;

namespace {
/// The product that may be merged into its addition to `other`, or null.
arith::MulFOp mergeableProduct(Value operand, Value other) {
  auto product = operand.getDefiningOp<arith::MulFOp>();
  // Showing a product must not change what is computed.
  auto computes = [](Operation *user) { return !isa<PrintOp>(user); };
  if (!product || llvm::count_if(product->getUsers(), computes) != 1)
    return {};
  if (other.getDefiningOp() && isa<DotOp, ReduceOp>(other.getDefiningOp()))
    return {};
  return product;
}

void formFma(Operation *op, Value lhs, Value rhs) {
  Type element = getElementTypeOrSelf(lhs.getType());
  if (!element.isF32() && !element.isF64())
    return;
  bool isDifference = isa<arith::SubFOp>(op);
  arith::MulFOp left = mergeableProduct(lhs, rhs);
  arith::MulFOp product = left ? left : mergeableProduct(rhs, lhs);
  if (!product)
    return;
  OpBuilder builder(op);
  Value a = product.getLhs(), b = product.getRhs(), c = left ? rhs : lhs;
  if (isDifference) {
    Value &negated = left ? c : a;
    negated = arith::NegFOp::create(builder, op->getLoc(), negated);
  }
  Value fma = math::FmaOp::create(builder, op->getLoc(), a, b, c);
  op->getResult(0).replaceAllUsesWith(fma);
  op->erase();
  if (product->use_empty())
    product.erase();
}

bool isOne(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return matchPattern(broadcast ? broadcast.getInput() : value, m_OneFloat());
}

constexpr StringLiteral addedToOneAttr = "tile.added_to_one";

void markTanh(arith::AddFOp sum) {
  if (!getElementTypeOrSelf(sum.getType()).isF32())
    return;
  for (unsigned n : {0u, 1u}) {
    auto tanh = sum->getOperand(n).getDefiningOp<math::TanhOp>();
    if (!tanh || !isOne(sum->getOperand(1 - n)))
      continue;
    // Others, of which one may be shown, keep tanh itself.
    OpBuilder builder(tanh);
    builder.setInsertionPointAfter(tanh);
    Operation *own = builder.clone(*tanh);
    own->setAttr(addedToOneAttr, UnitAttr::get(sum.getContext()));
    sum->setOperand(n, own->getResult(0));
    if (tanh->use_empty())
      tanh->erase();
    return;
  }
}
} // namespace

bool tile::ir::isAddedToOne(Operation *tanh) {
  return isa_and_nonnull<math::TanhOp>(tanh) && tanh->hasAttr(addedToOneAttr);
}

static constexpr StringLiteral closedAttr = "tile.fma_formed";

void tile::ir::closeFma(KernelOp kernel) {
  kernel->setAttr(closedAttr, UnitAttr::get(kernel.getContext()));
}

bool tile::ir::hasClosedFma(KernelOp kernel) { return kernel->hasAttr(closedAttr); }

void tile::ir::formFma(KernelOp kernel) {
  if (hasClosedFma(kernel))
    return;
  // In program order, so that a sum of three products always merges the same two.
  SmallVector<Operation *> additions;
  kernel.walk([&](Operation *op) {
    if (isa<arith::AddFOp, arith::SubFOp>(op))
      additions.push_back(op);
  });
  for (Operation *op : additions)
    if (auto sum = dyn_cast<arith::AddFOp>(op))
      markTanh(sum);
  for (Operation *op : additions)
    ::formFma(op, op->getOperand(0), op->getOperand(1));
}
