//===- WarpMma.cpp - contractions by one warp's matrix instructions -------===//

#include "codegen/gpu/dialect/WarpMma.h"
#include "codegen/Elementwise.h"
#include "codegen/gpu/dialect/KernelAttributes.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <array>

using namespace mlir;
using namespace tile::ir;
using namespace tile::codegen;
using namespace tile::codegen::gpu;

static constexpr int64_t mmaColumnsOfWarp = 8;

//===-- Instructions ------------------------------------------------------===//

/// Whether all elements are numbers of tf32.
static bool isTf32(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (isa<FloatType>(element) && isNarrowFloat(element))
    return true;
  if (!element.isF32())
    return false;
  if (matchPattern(value, m_AnyZeroFloat()))
    return true;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<RoundTf32Op>(op))
    return true;
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return isTf32(select.getTrueValue()) && isTf32(select.getFalseValue());
  if (isa_and_nonnull<ConvertOp, BroadcastOp, arith::ExtFOp>(op))
    return isTf32(op->getOperand(0));
  return false;
}

std::optional<WarpMma> tile::codegen::gpu::warpMmaOf(DotOp dot) {
  Type sums = getElementTypeOrSelf(dot.getType());
  Type left = getElementTypeOrSelf(dot.getLhs().getType()),
       right = getElementTypeOrSelf(dot.getRhs().getType());
  auto both = [&](auto holds) { return holds(left) && holds(right); };
  auto isF8 = [](Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; };
  Builder builder(dot.getContext());
  if (sums.isF32() && both([&](Type type) { return type.isF16() || isF8(type); }))
    return WarpMma{"m16n8k16", "f16", "f32", builder.getF16Type()};
  if (sums.isF32() && both([](Type type) { return type.isBF16(); }))
    return WarpMma{"m16n8k16", "bf16", "f32", builder.getBF16Type()};
  if (sums.isF32() && isTf32(dot.getLhs()) && isTf32(dot.getRhs()))
    return WarpMma{"m16n8k8", "tf32", "f32", builder.getF32Type(), 16, 8, 1};
  if (sums.isF64() && both([](Type type) { return type.isF64(); }))
    return WarpMma{"m8n8k4", "f64", "f64", builder.getF64Type(), 8, 4, 1};
  if (sums.isInteger(32) && both([](Type type) { return type.isInteger(8); }))
    return WarpMma{"m16n8k32", "s8", "s32", builder.getIntegerType(8), 16, 32, 4};
  return std::nullopt;
}

static int64_t extentOf(Value tile, StringAttr axis) {
  auto type = cast<RankedTensorType>(tile.getType());
  // Layouts cover at least one element.
  return std::max<int64_t>(1,
                           type.getDimSize(llvm::find(axesOf(type), axis) - axesOf(type).begin()));
}

std::optional<WarpDot> tile::codegen::gpu::warpDotOf(DotOp dot) {
  constexpr int64_t leastRows = 16;
  std::optional<WarpMma> mma = warpMmaOf(dot);
  if (!mma || dot->getParentOfType<KernelOp>()->hasAttr(fixedOrderAttrName))
    return std::nullopt;
  for (Value value : {Value(dot.getLhs()), Value(dot.getRhs()), Value(dot.getResult())})
    if (auto type = dyn_cast<RankedTensorType>(value.getType()); !type || !type.hasStaticShape())
      return std::nullopt;
  auto longest = [&](Value own, Value other) {
    StringAttr best;
    for (StringAttr axis : axesOf(own.getType()))
      if (!llvm::is_contained(axesOf(other.getType()), axis) &&
          (!best || extentOf(own, axis) > extentOf(own, best)))
        best = axis;
    return best;
  };
  WarpDot how{*mma, longest(dot.getLhs(), dot.getRhs()), longest(dot.getRhs(), dot.getLhs())};
  if (!how.rows || !how.columns)
    return std::nullopt;
  auto ofRows = [&](StringAttr axis) { return extentOf(dot.getResult(), axis); };
  if (ofRows(how.rows) < leastRows && ofRows(how.columns) > ofRows(how.rows)) {
    std::swap(how.rows, how.columns);
    how.isSwapped = true;
  }
  if (ofRows(how.rows) < leastRows / 2)
    return std::nullopt;
  return how;
}

std::string tile::codegen::gpu::whyNoWarpDot(DotOp dot) {
  if (dot->getParentOfType<KernelOp>()->hasAttr(fixedOrderAttrName))
    return "the order of its sums is fixed";
  if (warpMmaOf(dot))
    return "its result is no matrix of at least 8 rows, or of unknown size";
  if (getElementTypeOrSelf(dot.getType()).isF32())
    return "they would round its operands, which are f32; `precision = tf32` or `tf32x3` lets them";
  return "of integers they multiply i8 alone";
}

//===-- Layouts -----------------------------------------------------------===//

namespace {
/// Axes of a tile by what the instruction has there.
struct Steps {
  unsigned rank;
  Layout::Coords along(unsigned axis, int64_t step) const {
    Layout::Coords coords(rank, 0);
    coords[axis] = step;
    return coords;
  }
};
} // namespace

static int64_t powerOfTwoIn(int64_t value) { return value & -value; }

Layout tile::codegen::gpu::sumsLayout(const WarpDot &how, DotOp dot, unsigned warps,
                                      bool alongRows) {
  ArrayRef<StringAttr> axes = axesOf(dot.getType());
  Steps steps{static_cast<unsigned>(axes.size())};
  unsigned rows = llvm::find(axes, how.rows) - axes.begin();
  unsigned columns = llvm::find(axes, how.columns) - axes.begin();
  // What the atom has along each axis when all of it is given away.
  SmallVector<int64_t> covered, atom(axes.size(), 1);
  for (auto [n, axis] : llvm::enumerate(axes)) {
    int64_t unit = n == rows ? how.mma.rows : n == columns ? mmaColumnsOfWarp : 1;
    covered.push_back(llvm::alignTo(extentOf(dot.getResult(), axis), unit));
  }
  auto room = [&](unsigned axis) { return powerOfTwoIn(covered[axis]) / atom[axis]; };
  Layout layout(axes.size());
  layout.addBasis(Part::Register, steps.along(columns, 1));
  if (how.mma.rows == 16)
    layout.addBasis(Part::Register, steps.along(rows, 8));
  for (int64_t step : {2, 4})
    layout.addBasis(Part::Lane, steps.along(columns, step));
  for (int64_t step : {1, 2, 4})
    layout.addBasis(Part::Lane, steps.along(rows, step));
  atom[rows] = how.mma.rows, atom[columns] = mmaColumnsOfWarp;
  // Warps have neighbouring parts of an axis' upper end: the lower bits are a warp's own columns.
  SmallVector<unsigned> ofWarps;
  SmallVector<int64_t> left;
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    left.push_back(room(axis));
  for (unsigned bit = 0; bit < llvm::Log2_32(warps); ++bit) {
    auto isWider = [&] {
      return left[columns] * mmaColumnsOfWarp > left[rows] * how.mma.rows && left[columns] > 1;
    };
    unsigned axis = left[rows] > 1 && (alongRows || !isWider()) ? rows : columns;
    for (unsigned other = 0; left[axis] == 1 && other < axes.size(); ++other)
      if (left[other] > 1)
        axis = other;
    ofWarps.push_back(left[axis] > 1 ? axis : axes.size());
    if (left[axis] > 1)
      left[axis] /= 2;
  }
  // A warp's own columns, then its rows, then the warps.
  for (unsigned axis : {columns, rows})
    for (; left[axis] > 1; left[axis] /= 2, atom[axis] *= 2)
      layout.addBasis(Part::Register, steps.along(axis, atom[axis]));
  for (unsigned axis : ofWarps) {
    bool moves = axis < axes.size();
    layout.addBasis(Part::Warp, moves ? steps.along(axis, atom[axis]) : steps.along(0, 0));
    if (moves)
      atom[axis] *= 2;
  }
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    layout.setRepeat(axis, covered[axis] / atom[axis]);
  return layout;
}

/// Whether the first registers and the lanes are as the instruction has its sums.
static bool isForSums(const WarpMma &mma, const Layout &layout, unsigned rows, unsigned columns) {
  Steps steps{layout.rank()};
  SmallVector<Layout::Coords> registers{steps.along(columns, 1)}, lanes;
  if (mma.rows == 16)
    registers.push_back(steps.along(rows, 8));
  for (int64_t step : {2, 4})
    lanes.push_back(steps.along(columns, step));
  for (int64_t step : {1, 2, 4})
    lanes.push_back(steps.along(rows, step));
  ArrayRef<Layout::Coords> own = layout.bases(Part::Register);
  return own.take_front(registers.size()) == ArrayRef(registers) &&
         layout.bases(Part::Lane) == ArrayRef(lanes);
}

std::optional<Layout> tile::codegen::gpu::operandLayout(const WarpDot &how, DotOp dot,
                                                        unsigned number, const Layout &sums) {
  ArrayRef<StringAttr> all = axesOf(dot.getType());
  auto positionOf = [](ArrayRef<StringAttr> axes, StringAttr axis) {
    return static_cast<unsigned>(llvm::find(axes, axis) - axes.begin());
  };
  unsigned rows = positionOf(all, how.rows), columns = positionOf(all, how.columns);
  if (!isForSums(how.mma, sums, rows, columns))
    return std::nullopt;
  Value operand = number == 0 ? dot.getLhs() : dot.getRhs();
  ArrayRef<StringAttr> axes = axesOf(operand.getType());
  bool hasRows = (number == 1) == how.isSwapped;
  Steps steps{static_cast<unsigned>(axes.size())};
  unsigned own = positionOf(axes, hasRows ? how.rows : how.columns);
  unsigned along = positionOf(axes, dot.getAxisAttr());
  unsigned ofSums = hasRows ? rows : columns; // the own axis
  int64_t depth = how.mma.depth, word = how.mma.perRegister;
  int64_t covered = llvm::alignTo(extentOf(operand, dot.getAxisAttr()), depth);
  int64_t atom = powerOfTwoIn(covered);
  Layout layout(axes.size());
  for (int64_t step = 1; step < word; step *= 2)
    layout.addBasis(Part::Register, steps.along(along, step));
  if (hasRows && how.mma.rows == 16)
    layout.addBasis(Part::Register, steps.along(own, 8));
  for (int64_t step = 4 * word; step < atom; step *= 2)
    layout.addBasis(Part::Register, steps.along(along, step));
  for (const Layout::Coords &step : sums.bases(Part::Register))
    if (step[ofSums] >= (hasRows ? how.mma.rows : mmaColumnsOfWarp))
      layout.addBasis(Part::Register, steps.along(own, step[ofSums]));
  for (int64_t step : {word, 2 * word})
    layout.addBasis(Part::Lane, steps.along(along, step));
  for (int64_t step : {1, 2, 4})
    layout.addBasis(Part::Lane, steps.along(own, step));
  for (const Layout::Coords &step : sums.bases(Part::Warp)) {
    Layout::Coords moved(axes.size(), 0);
    for (auto [n, axis] : llvm::enumerate(axes))
      if (n != along)
        moved[n] = step[positionOf(all, axis)];
    layout.addBasis(Part::Warp, moved);
  }
  for (auto [n, axis] : llvm::enumerate(axes))
    layout.setRepeat(n, n == along ? covered / atom : sums.repeats()[positionOf(all, axis)]);
  return layout;
}

//===-- Of kernels --------------------------------------------------------===//

void tile::codegen::gpu::narrowDots(KernelOp kernel) {
  auto narrow = [](Value value) {
    auto wide = value.getDefiningOp<arith::ExtSIOp>();
    bool isNarrow = wide && getElementTypeOrSelf(wide.getIn().getType()).isInteger(8);
    return isNarrow ? Value(wide.getIn()) : Value();
  };
  kernel.walk([&](DotOp dot) {
    Value left = narrow(dot.getLhs()), right = narrow(dot.getRhs());
    if (!left || !right || !getElementTypeOrSelf(dot.getType()).isInteger(32))
      return;
    for (auto [operand, value] : llvm::zip(dot->getOpOperands(), std::array{left, right})) {
      Operation *wide = operand.get().getDefiningOp();
      operand.set(value);
      if (wide->use_empty())
        wide->erase();
    }
  });
}

static SmallVector<std::pair<DotOp, WarpDot>, 0> warpDotsOf(KernelOp kernel) {
  SmallVector<std::pair<DotOp, WarpDot>, 0> dots;
  kernel.walk([&](DotOp dot) {
    if (std::optional<WarpDot> how = warpDotOf(dot))
      dots.emplace_back(dot, *how);
  });
  return dots;
}

SmallVector<GivenLayout, 0> tile::codegen::gpu::layoutsOfDots(KernelOp kernel, unsigned warps) {
  SmallVector<std::pair<DotOp, WarpDot>, 0> dots = warpDotsOf(kernel);
  // What is made of rows stays in the warps that have them: reductions along columns, and sums that
  // another dot contracts.
  bool alongRows = false;
  for (auto &[dot, how] : dots) {
    StringAttr columns = how.columns;
    kernel.walk([&](AlongAxes along) {
      for (Value operand : along.getOperandsAlong())
        alongRows |= along != dot && llvm::is_contained(along.getAxesAlong(), columns) &&
                     axesOf(operand.getType()).size() > 1;
    });
  }
  SmallVector<GivenLayout, 0> given;
  for (auto &[dot, how] : dots)
    given.push_back(
        {SmallVector<StringAttr>(axesOf(dot.getType())), sumsLayout(how, dot, warps, alongRows)});
  return given;
}

/// Registers of all threads for what is read and summed up; a chain of sums has one place.
static int64_t registersForDots(KernelOp kernel) {
  int64_t registers = 0;
  kernel.walk([&](Operation *op) {
    if (!isa<LoadOp, DotOp>(op))
      return;
    auto tile = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    bool isSummed = llvm::any_of(op->getUsers(), [&](Operation *user) {
      auto dot = dyn_cast<DotOp>(user);
      return dot && dot.getAcc() == op->getResult(0);
    });
    if (!tile || !tile.hasStaticShape() || isSummed)
      return;
    int64_t elements = 1; // lanes cover powers of two
    for (int64_t extent : tile.getShape())
      elements *= static_cast<int64_t>(llvm::bit_ceil(static_cast<uint64_t>(extent)));
    registers += elements * std::max(8u, tile.getElementTypeBitWidth()) / 32;
  });
  return registers;
}

unsigned tile::codegen::gpu::warpsForDots(KernelOp kernel) {
  // Of large results each thread has many, so that operands serve often; small ones are in a hurry.
  constexpr int64_t large = 4096, ofLarge = 64, ofSmall = 8, most = 8, mostOfSmall = 4;
  constexpr int64_t mostRegisters = 144;
  int64_t warps = 0;
  for (auto &[dot, how] : warpDotsOf(kernel)) {
    int64_t elements = cast<RankedTensorType>(dot.getType()).getNumElements();
    int64_t good = elements > large ? std::min(most, elements / (32 * ofLarge))
                                    : std::min(mostOfSmall, elements / (32 * ofSmall));
    warps = std::max<int64_t>({warps, 1, good});
  }
  if (warps == 0)
    return 0;
  warps = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(warps)));
  for (int64_t all = registersForDots(kernel); warps < most && all / (32 * warps) > mostRegisters;)
    warps *= 2;
  return static_cast<unsigned>(warps);
}
