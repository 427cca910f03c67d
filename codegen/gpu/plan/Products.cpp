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

bool tile::codegen::gpu::isFetched(const OperandDesc &operand) {
  bool isRounded = operand.value.getDefiningOp<RoundTf32Op>();
  return loadedAs(operand) && getElementTypeOrSelf(operand.value.getType()).isF32() == isRounded;
}

SmallVector<LoadOp> tile::codegen::gpu::boxesOf(const OperandDesc &operand) {
  SmallVector<LoadOp> boxes;
  llvm::copy_if(operand.loads, std::back_inserter(boxes),
                [](LoadOp load) { return axesOf(load.getType()).size() > 1; });
  return boxes;
}

bool tile::codegen::gpu::canCompute(const OperandDesc &operand) {
  auto isHalf = [](Value value) {
    Type element = getElementTypeOrSelf(value.getType());
    return element.isBF16() || element.isF16();
  };
  return operand.source == OperandDesc::Source::Computed && isHalf(operand.value) &&
         llvm::all_of(boxesOf(operand), [&](LoadOp load) { return isHalf(load.getResult()); });
}

Type ProductOperand::element() const {
  LoadOp load = boxes.front().load;
  return load.getSource().getType().getElementType();
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

int64_t Product::elementBytes() const { return rows.element().getIntOrFloatBitWidth() / 8; }

/// Rows of all programs, where they are known and lie in memory as they are; else 0.
static int64_t presentRows(const Product &product) {
  ParallelOp parallel = ForOp(product.loop)->getParentOfType<KernelOp>().getParallel();
  APInt upper;
  for (auto [n, name] : llvm::enumerate(parallel.getNames()))
    if (name == product.axes[0] && !product.rows.isByColumns() &&
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
          hasCoarseSums(rows.element()),
          rows.isComputed() ? static_cast<int64_t>(rows.boxes.size()) : 0};
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
  bool checkLoop(const LoopDesc &described);
  bool checkBody(ForOp loop, DotOp dot);
  bool checkTypes(const ContractionDesc &contraction, DotOp dot);
  bool checkAxes(const LoopDesc &described, DotOp dot);
  bool checkSources(const ProductOperand &rows, const ProductOperand &columns, DotOp dot);
  bool checkComputed(const ProductOperand &rows, DotOp dot);
  bool mayBeEmpty(LoadOp load);
  bool checkOperand(ProductOperand &operand, StringAttr axis);
  bool checkBox(ProductBox &box, StringAttr axis);
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

/// A box of the operand that has `axis` of the result beside the contracted one.
bool Finder::checkBox(ProductBox &box, StringAttr axis) {
  LoadOp load = box.load;
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
  box.isByColumns = inner == axis;
  // All of the dimension is contracted: copies would bring what is outside of the loop's range.
  auto loop = cast<ForOp>(load->getParentOp());
  unsigned along = box.isByColumns ? rank - 2 : rank - 1;
  bool isWhole = isExtentOf(loop.getUpper(), kernel, argument.getArgNumber(), along);
  if (!isWhole || !matchPattern(loop.getLower(), m_Zero()))
    return no(load, "a part of its tensor is contracted");
  return checkRows(load);
}

bool Finder::checkOperand(ProductOperand &operand, StringAttr axis) {
  for (LoadOp load : operand.isComputed() ? boxesOf(operand.desc) : operand.desc.loads)
    operand.boxes.push_back({load});
  return llvm::all_of(operand.boxes, [&](ProductBox &box) { return checkBox(box, axis); });
}

/// All that the loop does is the product, and what it is made of.
bool Finder::checkBody(ForOp loop, DotOp dot) {
  for (Operation &op : loop.getBody().front()) {
    bool isPart = &op == dot || isa<YieldOp, LoadOp>(op) || isMemoryEffectFree(&op);
    if (!isPart || op.getNumRegions() != 0)
      return no(dot, "its operands are not as they are in memory");
  }
  bool isAlone = loop.getYield().getOperand(0) == dot && dot->hasOneUse() &&
                 dot.getAcc() == loop.getCarried()[0] && loop.getCarried()[0].hasOneUse();
  return isAlone || no(dot, "its operands are not as they are in memory");
}

bool Finder::checkTypes(const ContractionDesc &contraction, DotOp dot) {
  constexpr const char *types =
      "its operands are not both of one type, bf16, f16, tf32, i8, f8e4m3 "
      "or f8e5m2";
  Type element = getElementTypeOrSelf(dot.getLhs().getType());
  bool isFull = element.isF32() && !contraction.lhs.value.getDefiningOp<RoundTf32Op>();
  bool isKnown = !isFull && element == getElementTypeOrSelf(dot.getRhs().getType()) &&
                 canMultiply(element, getElementTypeOrSelf(dot.getType()));
  return isKnown || no(dot, types);
}

bool Finder::checkAxes(const LoopDesc &described, DotOp dot) {
  ArrayRef<StringAttr> axes = axesOf(dot.getType());
  StringAttr along = described.ranges.back().name;
  if (axes.size() != 2 || !cast<RankedTensorType>(dot.getType()).hasStaticShape() ||
      dot.getAxisAttr() != along || axisOf(cast<ForOp>(dot->getParentOp()).getSpan()) != along)
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
  return true;
}

/// Whether a tensor may have no element where programs run and something is contracted.
bool Finder::mayBeEmpty(LoadOp load) {
  ParallelOp parallel = kernel.getParallel();
  auto loop = cast<ForOp>(load->getParentOp());
  auto isRun = [&](StringAttr dim) {
    auto isExtent = [&](Value upper) {
      auto op = upper.getDefiningOp<DimOp>();
      return op && op.getNameAttr() == dim;
    };
    return isExtent(loop.getUpper()) || llvm::any_of(parallel.getUpper(), isExtent);
  };
  AffineMap shape = kernel.getParamShape(cast<BlockArgument>(load.getSource()).getArgNumber());
  MemRefType source = load.getSource().getType();
  for (auto [n, extent] : llvm::enumerate(shape.getResults())) {
    auto symbol = dyn_cast<AffineSymbolExpr>(extent);
    bool isSome = source.getDimSize(n) > 0 ||
                  (symbol && isRun(cast<StringAttr>(kernel.getDims()[symbol.getPosition()])));
    if (!isSome)
      return true;
  }
  return false;
}

bool Finder::checkComputed(const ProductOperand &rows, DotOp dot) {
  if (!canCompute(rows.desc))
    return no(dot, "an operand is computed: in registers it has 16-bit floats, as the tensors have "
                   "that it is computed from");
  for (LoadOp load : rows.desc.loads) {
    if (llvm::any_of(load.getDims(),
                     [](Value dim) { return isa<RankedTensorType>(dim.getType()); }))
      return no(load,
                "an operand is computed, and which elements of `" +
                    kernel.getParamName(cast<BlockArgument>(load.getSource()).getArgNumber()) +
                    "` are in it is data");
    if (axesOf(load.getType()).size() < 2)
      continue;
    if (load->getParentOp() != dot->getParentOp())
      return no(load, "an operand is computed from a tile that was read before the loop");
    // Nothing is copied of an empty tensor: no iteration runs then.
    auto isThis = [&](LoadOp other) { return other == load; };
    if (load.getBounds() == BoundsMode::pad && mayBeEmpty(load) &&
        !isZeroOfZeros(rows.desc.value, isThis))
      return no(load, "an operand is computed from a tensor that may be empty");
  }
  return true;
}

/// Where operands come from: the one of rows may be computed.
bool Finder::checkSources(const ProductOperand &rows, const ProductOperand &columns, DotOp dot) {
  for (const ProductOperand *operand : {&rows, &columns}) {
    if (axesOf(operand->desc.value.getType()).size() != 2)
      return no(dot, "an operand has two axes");
    if (isFetched(operand->desc) &&
        operand->desc.loads.front()->getParentOp() == dot->getParentOp())
      continue;
    if (!operand->isComputed() || boxesOf(operand->desc).empty())
      return no(dot, "its operands are not as they are in memory, nor computed from tiles there");
    if (operand == &columns)
      return no(dot, "its right operand is computed, and tensor cores take only the left one from "
                     "registers");
    if (!checkComputed(rows, dot))
      return false;
  }
  return true;
}

bool Finder::checkLoop(const LoopDesc &described) {
  const ContractionDesc &contraction = described.contractions.front();
  DotOp dot = contraction.dot;
  auto loop = dyn_cast<ForOp>(dot->getParentOp());
  if (!loop)
    return no(dot, "no loop adds it up");
  if (!isAlone(loop) || loop.getNumResults() != 1 || loop.getKind() == LoopKind::sequential)
    return no(dot, "the loop around it stands in another one, or does more than add up");
  if (!checkChanged(loop))
    return false;
  SmallVector<StringAttr> all(axesOf(dot.getType()));
  all.push_back(loop.getNameAttr());
  if (!domains.restrictsOn(all).empty())
    return no(dot, "a condition is on its axes");
  if (!checkTypes(contraction, dot) || !checkBody(loop, dot) || !checkAxes(described, dot))
    return false;
  ArrayRef<StringAttr> axes = axesOf(dot.getType());
  Product product{loop, dot, {contraction.lhs, {}}, {contraction.rhs, {}}, {axes[0], axes[1]}};
  if (!llvm::is_contained(axesOf(dot.getLhs().getType()), product.axes[0]))
    std::swap(product.rows, product.columns);
  if (auto splits = dyn_cast_or_null<IntegerAttr>(settingOf(kernel, "split")))
    product.splits = splits.getInt();
  if (!checkSources(product.rows, product.columns, dot) ||
      !checkOperand(product.rows, product.axes[0]) ||
      !checkOperand(product.columns, product.axes[1]) || !checkSizes(product))
    return false;
  found.product = product;
  return true;
}

bool Finder::checkSizes(const Product &product) {
  std::string refusal = refusalOf(product.block(), product.elementBytes(),
                                  product.rows.isByColumns(), product.columns.isByColumns());
  return refusal.empty() || no(DotOp(product.dot), refusal);
}

FoundProduct Finder::find() {
  std::vector<LoopDesc> loops = describeLoops(kernel);
  if (loops.empty() || !checkKernel())
    return found;
  const LoopDesc &first = loops.front();
  if (loops.size() > 1 || first.contractions.size() > 1)
    no(loops.size() > 1 ? loops[1].contractions[0].dot : first.contractions[1].dot,
       "there are several contractions in the kernel");
  else
    (void)checkLoop(first);
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
