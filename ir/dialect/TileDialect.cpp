//===- TileDialect.cpp - types and attributes of the tile dialect ---------===//

#include "ir/dialect/TileOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::ir;

#include "ir/dialect/TileAttrInterfaces.cpp.inc"
#include "ir/dialect/TileDialect.cpp.inc"
#include "ir/dialect/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/dialect/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/dialect/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/dialect/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/dialect/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/dialect/TileOps.cpp.inc"
      >();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

namespace {
/// Upstream folds `x ^ x` to a constant of x's type, also where an extent is open: no constant has
/// that. A scalar does the same, broadcast where it is used, since its axes are in scope there.
struct CloseConstant : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, PatternRewriter &rewriter) const override {
    auto tile = dyn_cast<RankedTensorType>(op.getType());
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!tile || tile.hasStaticShape() || !elements || !elements.isSplat())
      return failure();
    auto number = cast<TypedAttr>(elements.getSplatValue<Attribute>());
    Value scalar = arith::ConstantOp::create(rewriter, op.getLoc(), number);
    for (OpOperand &use : llvm::make_early_inc_range(op.getResult().getUses())) {
      Operation *user = use.getOwner();
      rewriter.setInsertionPoint(user);
      Value broadcast = BroadcastOp::create(rewriter, op.getLoc(), tile, scalar);
      rewriter.modifyOpInPlace(user, [&] { use.set(broadcast); });
    }
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void TileDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<CloseConstant>(getContext());
}

/// What names the axes of a tile; null for other types.
static AxesEncoding encodingOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<AxesEncoding>(tensor.getEncoding()) : AxesEncoding();
}

bool tile::ir::isTileValue(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    AxesEncoding axes = encodingOf(type);
    return axes && static_cast<int64_t>(axes.getNames().size()) == tensor.getRank() &&
           tensor.getRank() > 0;
  }
  return type.isIntOrIndexOrFloat();
}

bool tile::ir::isIndexOperand(Type type) {
  if (isa<SpanType>(type))
    return true;
  return isTileValue(type) && isa<IntegerType>(getElementTypeOrSelf(type));
}

ArrayRef<StringAttr> tile::ir::axesOf(Type type) {
  if (AxesEncoding axes = encodingOf(type))
    return axes.getNames();
  return {};
}

int64_t tile::ir::extentOf(Type type, StringRef axis) {
  ArrayRef<StringAttr> axes = axesOf(type);
  auto found = llvm::find_if(axes, [&](StringAttr name) { return name.getValue() == axis; });
  assert(found != axes.end() && "the tile has no such axis");
  return cast<RankedTensorType>(type).getDimSize(found - axes.begin());
}

Type tile::ir::tileType(Type element, ArrayRef<StringAttr> axes, ArrayRef<int64_t> extents) {
  if (axes.empty())
    return element;
  return RankedTensorType::get(extents, element, AxesAttr::get(element.getContext(), axes));
}

Type tile::ir::withoutLayout(Type type) {
  if (ArrayRef<StringAttr> axes = axesOf(type); !axes.empty())
    return tileType(getElementTypeOrSelf(type), axes, cast<RankedTensorType>(type).getShape());
  return type;
}

Type tile::ir::withElement(Type tile, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(tile))
    return RankedTensorType::get(tensor.getShape(), element, tensor.getEncoding());
  return element;
}

void AxisList::add(StringAttr name, int64_t extent) {
  if (llvm::is_contained(names, name))
    return;
  names.push_back(name);
  extents.push_back(extent);
}

void AxisList::addFrom(Type type) {
  if (auto span = dyn_cast<SpanType>(type))
    return add(span.getName(), span.getExtent());
  for (StringAttr axis : axesOf(type))
    add(axis, extentOf(type, axis.getValue()));
}

int AxisList::indexOf(StringRef name) const {
  for (auto [position, axis] : llvm::enumerate(names))
    if (axis.getValue() == name)
      return position;
  return -1;
}

AxisList tile::ir::mapAxes(AffineMap map, ValueRange dims) {
  AxisList axes;
  for (AffineExpr result : map.getResults()) {
    SmallVector<unsigned> positions;
    // Walk the expression left to right, so that `x[i + j]` has axes i, j.
    std::function<void(AffineExpr)> visit = [&](AffineExpr expr) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        return axes.addFrom(dims[dim.getPosition()].getType());
      if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
        visit(binary.getLHS());
        visit(binary.getRHS());
      }
    };
    visit(result);
  }
  return axes;
}
