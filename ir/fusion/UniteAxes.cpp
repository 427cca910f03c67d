//===- UniteAxes.cpp - whole axes that are the same -----------------------===//

#include "ir/fusion/UniteAxes.h"
#include "ir/transforms/Specialize.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace tile::ir;

AffineExpr tile::ir::traceDims(Value value) {
  MLIRContext *context = value.getContext();
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return getAffineConstantExpr(number.getSExtValue(), context);
  Operation *op = value.getDefiningOp();
  if (auto dim = dyn_cast_or_null<DimOp>(op)) {
    ArrayAttr dims = op->getParentOfType<KernelOp>().getDims();
    return getAffineSymbolExpr(llvm::find(dims, dim.getNameAttr()) - dims.begin(), context);
  }
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp, DivOp>(op))
    return {};
  AffineExpr lhs = traceDims(op->getOperand(0)), rhs = traceDims(op->getOperand(1));
  if (!lhs || !rhs)
    return {};
  if (isa<arith::AddIOp>(op))
    return lhs + rhs;
  if (isa<arith::SubIOp>(op))
    return lhs - rhs;
  if (isa<arith::MulIOp>(op))
    return lhs * rhs;
  auto divisor = dyn_cast<AffineConstantExpr>(rhs);
  auto div = cast<DivOp>(op);
  return divisor && divisor.getValue() > 0 && !div.getTruncates() && !div.getIsUnsigned()
             ? lhs.floorDiv(rhs)
             : AffineExpr();
}

bool tile::ir::isRestricted(KernelOp kernel, StringAttr axis) {
  return kernel
      .walk([&](RestrictOp op) {
        for (Value span : op.getDims())
          if (cast<SpanType>(span.getType()).getName() == axis)
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

int64_t tile::ir::knownExtent(Value lower, Value upper) {
  auto low = dyn_cast_or_null<AffineConstantExpr>(traceDims(lower));
  auto high = dyn_cast_or_null<AffineConstantExpr>(traceDims(upper));
  std::optional<int64_t> extent =
      low && high ? llvm::checkedSub(high.getValue(), low.getValue()) : std::nullopt;
  return extent ? std::max<int64_t>(*extent, 0) : ShapedType::kDynamic;
}

void tile::ir::fixAxes(KernelOp kernel) {
  llvm::StringMap<int64_t> extents;
  kernel.walk([&](AxisOp axis) {
    int64_t extent = knownExtent(axis.getLower(), axis.getUpper());
    if (!ShapedType::isDynamic(extent))
      extents[axis.getSpan().getType().getName()] = extent;
  });
  if (!extents.empty())
    retypeSpans(kernel, extents);
}

/// Whether an op has to do with both axes.
static bool meet(KernelOp kernel, StringAttr a, StringAttr b) {
  return kernel
      .walk([&](Operation *op) {
        bool hasA = false, hasB = false;
        auto see = [&](TypeRange types) {
          for (Type type : types) {
            AxisList axes;
            axes.addFrom(type);
            hasA |= axes.indexOf(a) >= 0;
            hasB |= axes.indexOf(b) >= 0;
          }
        };
        see(op->getOperandTypes());
        see(op->getResultTypes());
        return hasA && hasB ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void tile::ir::renameAxis(KernelOp kernel, StringAttr from, StringAttr to) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](AxesAttr axes) -> std::optional<Attribute> {
    SmallVector<StringAttr> names(axes.getNames());
    llvm::replace(names, from, to);
    return AxesAttr::get(axes.getContext(), names);
  });
  replacer.addReplacement([&](SpanType span) -> std::optional<Type> {
    return span.getName() == from ? SpanType::get(span.getContext(), to, span.getExtent()) : span;
  });
  auto renamed = [&](StringAttr name) { return name == from ? to : name; };
  kernel.walk([&](Operation *op) {
    replacer.replaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                               /*replaceTypes=*/true);
    // A constant's value has its type in it, which no replacer sees.
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
        constant.setValueAttr(DenseElementsAttr::get(cast<ShapedType>(constant.getType()),
                                                     splat.getSplatValue<Attribute>()));
    if (!isa<AlongAxes>(op))
      return;
    for (StringRef attribute : {"axis", "rank"})
      if (auto axis = op->getAttrOfType<StringAttr>(attribute))
        op->setAttr(attribute, renamed(axis));
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      SmallVector<Attribute> axes;
      for (StringAttr axis : reduce.getAxes().getAsRange<StringAttr>())
        axes.push_back(renamed(axis));
      reduce.setAxesAttr(ArrayAttr::get(op->getContext(), axes));
    }
  });
}

void tile::ir::uniteAxes(KernelOp kernel) {
  SmallVector<AxisOp> kept;
  SmallVector<AxisOp> all;
  kernel.walk<WalkOrder::PreOrder>([&](AxisOp op) { all.push_back(op); });
  for (AxisOp op : all) {
    AffineExpr lower = traceDims(op.getLower()), upper = traceDims(op.getUpper());
    StringAttr name = op.getSpan().getType().getName();
    auto isSame = [&](AxisOp other) {
      StringAttr otherName = other.getSpan().getType().getName();
      return other->getBlock()->getParent()->isAncestor(op->getBlock()->getParent()) &&
             traceDims(other.getLower()) == lower && traceDims(other.getUpper()) == upper &&
             other.getSpan().getType().getExtent() == op.getSpan().getType().getExtent() &&
             !isRestricted(kernel, otherName) && !meet(kernel, name, otherName);
    };
    auto *same =
        lower && upper && !isRestricted(kernel, name) ? llvm::find_if(kept, isSame) : kept.end();
    if (same == kept.end()) {
      kept.push_back(op);
      continue;
    }
    renameAxis(kernel, name, same->getSpan().getType().getName());
    op.getSpan().replaceAllUsesWith(same->getSpan());
    op.erase();
  }
}
