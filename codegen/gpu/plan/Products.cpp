//===- Products.cpp - loops that multiply matrices ------------------------===//

#include "codegen/gpu/plan/Products.h"
#include "codegen/gpu/dialect/Settings.h"
#include "codegen/gpu/dialect/Sites.h"
#include "codegen/gpu/loops/ValueFacts.h"
#include "codegen/gpu/plan/Divisors.h"
#include "ir/proofs/Domain.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

bool tile::codegen::gpu::hasCopiedRows(KernelOp kernel, unsigned number, ArrayRef<int64_t> dims) {
  constexpr int64_t copyBytes = 16;
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[number]);
  int64_t divisor = type.getShape().back();
  if (ShapedType::isDynamic(divisor)) {
    auto symbol = dyn_cast<AffineSymbolExpr>(kernel.getParamShape(number).getResults().back());
    if (!symbol)
      return false;
    unsigned dim = symbol.getPosition();
    divisor = dim < dims.size() && dims[dim] >= 0
                  ? dims[dim]
                  : divisorOfDim(kernel, cast<StringAttr>(kernel.getDims()[dim]));
  }
  return divisor * type.getElementTypeBitWidth() / 8 % copyBytes == 0;
}

/// Whether a bound is all of a parameter's extent along a dimension.
static bool isExtentOf(Value bound, KernelOp kernel, unsigned number, unsigned along) {
  APInt constant;
  if (auto dim = bound.getDefiningOp<DimOp>()) {
    auto symbol = dyn_cast<AffineSymbolExpr>(kernel.getParamShape(number).getResult(along));
    return symbol && kernel.getDims()[symbol.getPosition()] == dim.getNameAttr();
  }
  auto type = cast<MemRefType>(kernel.getArgumentTypes()[number]);
  return matchPattern(bound, m_ConstantInt(&constant)) &&
         constant.getSExtValue() == type.getDimSize(along);
}

LoadOp tile::codegen::gpu::multipliedLoad(Value operand) {
  auto rounded = operand.getDefiningOp<RoundTf32Op>();
  bool isF32 = getElementTypeOrSelf(operand.getType()).isF32();
  if (isF32 != static_cast<bool>(rounded))
    return LoadOp();
  return (rounded ? rounded.getInput() : operand).getDefiningOp<LoadOp>();
}

bool tile::codegen::gpu::isUniform(AffineMap map, ValueRange dims, unsigned count) {
  for (unsigned n = 0; n < count; ++n)
    for (auto [d, dim] : llvm::enumerate(dims))
      if (isa<SpanType>(dim.getType()) && map.getResult(n).isFunctionOfDim(d))
        return false;
  return true;
}

/// Of the result, along one of its axes.
static int64_t extentAlong(const Product &product, StringAttr axis) {
  auto type = cast<RankedTensorType>(ForOp(product.loop).getResult(0).getType());
  return type.getDimSize(llvm::find(axesOf(type), axis) - axesOf(type).begin());
}

namespace {
/// A coordinate: a block of a span, and by how much it begins further on, which is the same in all
/// of the block.
struct Shifted {
  Value span;
  bool isShifted = false;
};
} // namespace

/// None for anything else.
static std::optional<Shifted> shiftedSpan(AffineMap map, unsigned result, ValueRange dims) {
  MLIRContext *context = map.getContext();
  AffineExpr expr = map.getResult(result);
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (!isa<SpanType>(dim.getType()) || !expr.isFunctionOfDim(d))
      continue;
    AffineExpr rest = simplifyAffineExpr(expr - getAffineDimExpr(d, context), map.getNumDims(),
                                         map.getNumSymbols());
    for (auto [other, value] : llvm::enumerate(dims))
      if (isa<SpanType>(value.getType()) && rest.isFunctionOfDim(other))
        return std::nullopt;
    return Shifted{dim, rest != getAffineConstantExpr(0, context)};
  }
  return std::nullopt;
}

int64_t Product::elementBytes() const {
  return LoadOp(rows.load).getSource().getType().getElementTypeBitWidth() / 8;
}

/// Rows of all programs, where they are known and lie in memory as they are; else 0.
static int64_t presentRows(const Product &product) {
  ParallelOp parallel = ForOp(product.loop)->getParentOfType<KernelOp>().getParallel();
  APInt upper;
  for (auto [n, name] : llvm::enumerate(parallel.getNames()))
    if (name == product.axes[0] && !product.rows.isByColumns &&
        matchPattern(parallel.getLower()[n], m_Zero()) &&
        matchPattern(parallel.getUpper()[n], m_ConstantInt(&upper)))
      return std::max<int64_t>(0, upper.getSExtValue());
  return 0;
}

ProductBlock Product::block() const {
  return {extentAlong(*this, axes[0]),
          extentAlong(*this, axes[1]),
          static_cast<int64_t>(ForOp(loop).getSize()),
          splits,
          presentRows(*this),
          hasCoarseSums(LoadOp(rows.load).getSource().getType().getElementType())};
}

bool Product::canSend(StoreOp store) const {
  auto kernel = store->getParentOfType<KernelOp>();
  auto argument = dyn_cast<BlockArgument>(store.getTarget());
  AffineMap map = store.getMap();
  unsigned rank = map.getNumResults();
  if (!argument || rank < 2 || rank > 5 || store.getDrops() ||
      axesOf(store.getValue().getType()) != ArrayRef(axes))
    return false;
  Type element = getElementTypeOrSelf(store.getValue().getType());
  unsigned bits = element.getIntOrFloatBitWidth();
  if ((bits != 16 && bits != 32) || !hasCopiedRows(kernel, argument.getArgNumber()))
    return false;
  for (Value dim : llvm::concat<const Value>(store.getDims(), store.getSyms()))
    if (!isa<SpanType>(dim.getType()) && !dim.getType().isInteger(64))
      return false;
  if (!isUniform(map, store.getDims(), rank - 2))
    return false;
  std::array<std::optional<Shifted>, 2> places;
  for (unsigned n = 0; n < 2; ++n)
    places[n] = shiftedSpan(map, rank - 2 + n, store.getDims());
  if (!places[0] || !places[1] || axisOf(places[0]->span) == axisOf(places[1]->span))
    return false;
  // What copies leave out is what is outside of the tensor.
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  ParallelOp parallel = kernel.getParallel();
  for (auto [n, place] : llvm::enumerate(places)) {
    StringAttr axis = axisOf(place->span);
    if (!llvm::is_contained(axes, axis))
      return false;
    Value lower, upper, span = place->span;
    if (auto whole = span.getDefiningOp<AxisOp>()) {
      lower = whole.getLower(), upper = whole.getUpper();
      // All of a block that is no shorter than its axis is stored.
      APInt length;
      if (matchPattern(lower, m_Zero()) && matchPattern(upper, m_ConstantInt(&length)) &&
          length.getSExtValue() ==
              tile.getDimSize(llvm::find(axesOf(tile), axis) - axesOf(tile).begin()))
        continue;
    } else {
      auto number = cast<BlockArgument>(span).getArgNumber();
      lower = parallel.getLower()[number], upper = parallel.getUpper()[number];
    }
    if (place->isShifted || !matchPattern(lower, m_Zero()) ||
        !isExtentOf(upper, kernel, argument.getArgNumber(), rank - 2 + n))
      return false;
  }
  return true;
}

namespace {
class Finder {
public:
  explicit Finder(KernelOp kernel) : kernel(kernel), domains(kernel) {}
  FoundProduct find();

private:
  /// Each true, or false with a reason.
  bool no(Operation *op, const Twine &reason) {
    found.reason = reason.str(), found.op = op;
    return false;
  }
  bool isAlone(Operation *op) const;
  bool checkKernel();
  bool checkChanged(ForOp loop);
  bool checkLoop(ForOp loop, DotOp dot);
  bool checkOperand(ProductOperand &operand, StringAttr axis);
  bool checkRows(LoadOp load);
  bool checkPlaces(LoadOp load);
  bool checkSizes(const Product &product);

  KernelOp kernel;
  Domains domains;
  FoundProduct found;
};
} // namespace

/// Whether the op stands in the programs' body, in no loop or condition of it.
bool Finder::isAlone(Operation *op) const { return isa<ParallelOp>(op->getParentOp()); }

std::string tile::codegen::gpu::whyNoPipeline(KernelOp kernel) {
  if (kernel.isGrid())
    return "programs of a grid may change what is multiplied";
  if (speaks(kernel))
    return "a kernel that asserts or prints runs program after program";
  for (unsigned n = 0; n < kernel.getNumArguments(); ++n)
    if (kernel.getParamMode(n) == ParamMode::Reduce)
      return ("`" + kernel.getParamName(n) + "` is what all programs add up to").str();
  return "";
}

bool Finder::checkKernel() {
  std::string reason = whyNoPipeline(kernel);
  return reason.empty() || no(kernel, reason);
}

/// Operands come by copies that wait for no write; and what follows the sums, some columns at a
/// time.
bool Finder::checkChanged(ForOp loop) {
  for (unsigned n = 0; n < kernel.getNumArguments(); ++n)
    if (kernel.getParamMode(n) == ParamMode::InOut && !isReadFirst(kernel.getArgument(n), loop))
      return no(loop, "`" + kernel.getParamName(n) + "` is changed while it is read");
  return true;
}

bool Finder::checkRows(LoadOp load) {
  unsigned number = cast<BlockArgument>(load.getSource()).getArgNumber();
  return hasCopiedRows(kernel, number) ||
         no(load, "rows of `" + kernel.getParamName(number) +
                      "` are not known to begin at multiples of 16 bytes");
}

/// Whether what fetches the operand can compute where its blocks begin.
bool Finder::checkPlaces(LoadOp load) {
  auto isKnown = [](Value value) { return value.getDefiningOp<AxisOp>() || isRepeatable(value); };
  return llvm::all_of(llvm::concat<const Value>(load.getDims(), load.getSyms()), isKnown) ||
         no(load, "where its blocks begin programs compute");
}

/// The operand that has `axis` of the result beside the contracted one.
bool Finder::checkOperand(ProductOperand &operand, StringAttr axis) {
  LoadOp load = operand.load;
  auto argument = dyn_cast<BlockArgument>(load.getSource());
  AffineMap map = load.getMap();
  unsigned rank = map.getNumResults();
  if (!argument || rank < 2 || rank > 5)
    return no(load, "bulk copies take tensors of two to five dimensions");
  if (load.getBounds() == BoundsMode::clamp ||
      (load.getPad() && !matchPattern(load.getPad(), m_AnyZeroFloat()) &&
       !matchPattern(load.getPad(), m_Zero())))
    return no(load, "what is beyond the tensor's end is not zero");
  if (axesOf(load.getType()).size() != 2)
    return no(load, "an operand has two axes");
  // What is contracted begins where its block does, the other axis anywhere.
  auto axisAt = [&](unsigned result) {
    std::optional<Shifted> place = shiftedSpan(map, result, load.getDims());
    return place && (!place->isShifted || axisOf(place->span) == axis) ? axisOf(place->span)
                                                                       : StringAttr();
  };
  StringAttr outer = axisAt(rank - 2), inner = axisAt(rank - 1);
  bool isPlain = outer && inner && outer != inner && isUniform(map, load.getDims(), rank - 2) &&
                 llvm::is_contained(axesOf(load.getType()), axis) &&
                 llvm::all_of(load.getDims(), [](Value dim) {
                   return isa<SpanType>(dim.getType()) || dim.getType().isInteger(64);
                 });
  if (!isPlain)
    return no(load, "its axes are not its tensor's last two dimensions");
  if (!checkPlaces(load))
    return false;
  operand.isByColumns = inner == axis;
  // All of the dimension is contracted: copies would bring what is outside of the loop's range.
  auto loop = cast<ForOp>(load->getParentOp());
  unsigned along = operand.isByColumns ? rank - 2 : rank - 1;
  bool isWhole = isExtentOf(loop.getUpper(), kernel, argument.getArgNumber(), along);
  if (!isWhole || !matchPattern(loop.getLower(), m_Zero()))
    return no(load, "a part of its tensor is contracted");
  return checkRows(load);
}

bool Finder::checkLoop(ForOp loop, DotOp dot) {
  if (!isAlone(loop) || loop.getNumResults() != 1 || loop.getKind() == LoopKind::sequential)
    return no(dot, "the loop around it stands in another one, or does more than add up");
  if (!checkChanged(loop))
    return false;
  ArrayRef<StringAttr> axes = axesOf(dot.getType());
  SmallVector<StringAttr> all(axes);
  all.push_back(loop.getNameAttr());
  if (!domains.restrictsOn(all).empty())
    return no(dot, "a condition is on its axes");
  constexpr const char *types =
      "its operands are not both of one type, bf16, f16, tf32, i8, f8e4m3 "
      "or f8e5m2";
  if (getElementTypeOrSelf(dot.getLhs().getType()).isF32() &&
      !dot.getLhs().getDefiningOp<RoundTf32Op>())
    return no(dot, types);
  LoadOp lhs = multipliedLoad(dot.getLhs()), rhs = multipliedLoad(dot.getRhs());
  bool isPlain = lhs && rhs && lhs->getParentOp() == loop && rhs->getParentOp() == loop &&
                 dot.getAcc() == loop.getCarried()[0] && loop.getYield().getOperand(0) == dot &&
                 lhs->hasOneUse() && rhs->hasOneUse() && dot->hasOneUse() &&
                 dot.getLhs().hasOneUse() && dot.getRhs().hasOneUse() &&
                 loop.getCarried()[0].hasOneUse();
  // Loads, what rounds, the dot and the yield.
  bool rounds = getElementTypeOrSelf(dot.getLhs().getType()).isF32();
  if (!isPlain || llvm::range_size(loop.getBody().front()) != (rounds ? 6 : 4))
    return no(dot, "its operands are not as they are in memory");
  Type element = getElementTypeOrSelf(dot.getLhs().getType());
  if (element != getElementTypeOrSelf(dot.getRhs().getType()) ||
      !canMultiply(element, getElementTypeOrSelf(dot.getType())))
    return no(dot, types);
  if (axes.size() != 2 || !cast<RankedTensorType>(dot.getType()).hasStaticShape() ||
      dot.getAxisAttr() != loop.getNameAttr() || axisOf(loop.getSpan()) != loop.getNameAttr())
    return no(dot, "its result has other axes than a matrix");
  // Others may be long, or of unknown length: PlanProgram.h cuts them.
  auto other = kernel.walk([&](AxisOp axis) {
    return llvm::is_contained(axes, axisOf(axis.getSpan())) ? WalkResult::advance()
                                                            : WalkResult::interrupt();
  });
  if (other.wasInterrupted())
    return no(dot, "the kernel works on another whole axis, too");
  // Where the operands' blocks begin both roles know.
  for (StringAttr axis : axes) {
    Value span = domains.spanOf(axis);
    auto whole = span.getDefiningOp<AxisOp>();
    bool isFixed = whole ? matchPattern(whole.getLower(), m_Zero()) &&
                               matchPattern(whole.getUpper(), m_Constant())
                         : isa<ParallelOp>(span.getParentBlock()->getParentOp());
    if (!isFixed)
      return no(dot, "its result goes along a loop, or a whole axis of unknown length");
  }
  Product product{loop, dot, {lhs}, {rhs}, {axes[0], axes[1]}};
  if (!llvm::is_contained(axesOf(lhs.getType()), product.axes[0]))
    std::swap(product.rows, product.columns);
  if (auto splits = dyn_cast_or_null<IntegerAttr>(settingOf(kernel, "split")))
    product.splits = splits.getInt();
  if (!checkOperand(product.rows, product.axes[0]) ||
      !checkOperand(product.columns, product.axes[1]) || !checkSizes(product))
    return false;
  found.product = product;
  return true;
}

bool Finder::checkSizes(const Product &product) {
  std::string refusal = refusalOf(product.block(), product.elementBytes(), product.rows.isByColumns,
                                  product.columns.isByColumns);
  return refusal.empty() || no(DotOp(product.dot), refusal);
}

FoundProduct Finder::find() {
  SmallVector<DotOp> dots;
  kernel.walk([&](DotOp dot) { dots.push_back(dot); });
  if (dots.empty() || !checkKernel())
    return found;
  if (dots.size() > 1) {
    no(dots[1], "there are several contractions in the kernel");
    return found;
  }
  auto loop = dyn_cast<ForOp>(dots[0]->getParentOp());
  if (!loop)
    no(dots[0], "no loop adds it up");
  else
    (void)checkLoop(loop, dots[0]);
  return found;
}

FoundProduct tile::codegen::gpu::findProduct(KernelOp kernel) { return Finder(kernel).find(); }

unsigned tile::codegen::gpu::blocksOf(const Product &product) {
  return product.splits > 1 ? product.splits : blocksOfRows(product.block());
}

Sharing tile::codegen::gpu::sharingOf(const Product &product) {
  return product.splits > 1 ? Sharing::Columns : Sharing::Rows;
}

unsigned tile::codegen::gpu::warpsOf(const Product &product) {
  return multiplyingWarps(product.block().rows);
}
