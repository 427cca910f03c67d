//===- InterpreterTiles.cpp - ops that move or reduce tiles ---------------===//

#include "ir/interpreter/InterpreterImpl.h"

#include <cmath>

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::interpreter;

//===-- Making tiles ------------------------------------------------------===//

/// Folding moves constants out of the scope of their axes, so tiles of them wait for their users.
LogicalResult Machine::executeConstant(arith::ConstantOp op) {
  return isa<RankedTensorType>(op.getType()) ? success() : makeConstant(op);
}

LogicalResult Machine::makeConstants(ValueRange operands) {
  for (Value operand : operands) {
    auto op = operand.getDefiningOp<arith::ConstantOp>();
    if (!op || !isa<RankedTensorType>(op.getType()))
      continue;
    auto made = values.find(operand);
    bool isCurrent =
        made != values.end() &&
        llvm::all_of(llvm::zip(made->second.axes, made->second.extents), [&](auto has) {
          return axes.lookup(std::get<0>(has)).count == std::get<1>(has);
        });
    if (!isCurrent && failed(makeConstant(op)))
      return failure();
  }
  return success();
}

/// A constant has an element for every coordinate that its axes have here, whatever is restricted.
LogicalResult Machine::makeConstant(arith::ConstantOp op) {
  Box box;
  if (failed(makeBox(op, axesOf(op.getType()), box)))
    return failure();
  box.defined = nullptr;
  if (auto type = dyn_cast<RankedTensorType>(op.getType()))
    for (auto [name, extent, count] : llvm::zip(box.axes, type.getShape(), box.extents))
      if (extent < count)
        return fail(op, "a constant of " + Twine(extent) + " elements along the axis `" +
                            name.getValue() + "`, which has " + Twine(count) + " here");
  Tile result;
  if (failed(makeTile(op, getElementTypeOrSelf(op.getType()), box, result)))
    return failure();
  auto bitsOf = [](Attribute element) {
    auto number = dyn_cast<FloatAttr>(element);
    return (number ? number.getValue().bitcastToAPInt() : cast<IntegerAttr>(element).getValue())
        .getZExtValue();
  };
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (elements && !elements.isSplat()) {
    SmallVector<uint64_t> position;
    (void)result.forEach([&](int64_t index, ArrayRef<int64_t> lanes) {
      position.assign(lanes.begin(), lanes.end());
      writeInteger(result.number, result.at(index),
                   bitsOf(elements.getValues<Attribute>()[position]));
      return success();
    });
  } else {
    uint64_t bits = bitsOf(elements ? elements.getSplatValue<Attribute>() : op.getValue());
    for (int64_t index = 0; index < result.size; ++index)
      writeInteger(result.number, result.at(index), bits);
  }
  values[op.getResult()] = std::move(result);
  return success();
}

LogicalResult Machine::executeBroadcast(BroadcastOp op) {
  const Tile &input = values.at(op.getInput());
  Tile result;
  if (failed(makeTile(op, op.getType(), result)) || failed(checkDefined(op, input, result)) ||
      failed(makeBounds(op, result, input.bounds != nullptr)))
    return failure();
  Extents strides = input.stridesAlong(result.axes);
  int64_t width = byteWidth(result.number);
  // Along an axis that it gets here, an element's error is the same everywhere.
  bool isRepeated = result.axes.size() > input.axes.size();
  if (result.bounds) {
    result.shareAlong(input.sharedAlong);
    for (StringAttr axis : result.axes)
      if (!llvm::is_contained(input.axes, axis))
        result.shareAlong(axis);
  }
  (void)result.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    int64_t from = offsetOf(position, strides);
    std::memcpy(result.at(index), input.at(from), width);
    if (result.bounds) {
      Bound bound = input.boundAt(from);
      result.setBound(index, isRepeated ? Bound{0, roundUp(bound.total())} : bound);
    }
    return success();
  });
  spreadSums(input, strides, result);
  values[op.getResult()] = std::move(result);
  return success();
}

LogicalResult Machine::executeCoords(CoordsOp op) {
  Tile result;
  if (failed(makeTile(op, op.getType(), result)))
    return failure();
  int64_t origin = axes.at(result.axes[0]).origin;
  (void)result.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    writeInteger(result.number, result.at(index), static_cast<uint64_t>(origin + position[0]));
    return success();
  });
  values[op.getResult()] = std::move(result);
  return success();
}

//===-- Reductions --------------------------------------------------------===//

/// Whether the shared errors of the input are one along an axis that the op reduces; the result
/// keeps the other axes.
static bool sharesAlong(const Tile &input, Tile &result) {
  bool shares = false;
  for (StringAttr axis : input.sharedAlong)
    if (llvm::is_contained(result.axes, axis))
      result.shareAlong(axis);
    else
      shares = true;
  return shares;
}

/// result = the sums or products of the elements of `input` in `box`.
static void reduceWide(CombineKind kind, const Tile &input, const Box &box, Tile &result) {
  bool isSum = kind == CombineKind::add;
  std::vector<Wide> sums(result.size, isSum ? 0 : 1);
  std::vector<TermSum> terms(result.bounds && isSum ? result.size : 0);
  std::vector<FactorProduct> factors(result.bounds && !isSum ? result.size : 0);
  Extents strides = result.stridesAlong(input.axes);
  (void)box.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    int64_t into = offsetOf(position, strides);
    double value = readFloat(input.number, input.at(index));
    sums[into] = combineWide(kind, sums[into], value);
    if (!terms.empty()) {
      terms[into].add(value, input.boundAt(index));
      if (const TermSum *of = input.partsAt(index))
        terms[into].cutLast(value, *of);
    }
    if (!factors.empty())
      factors[into].add(value, input.boundAt(index), input.factorsAt(index));
    return success();
  });
  for (int64_t index = 0; index < result.size; ++index)
    writeFloat(result.number, result.at(index), static_cast<double>(sums[index]));
  if (!result.bounds)
    return;
  bool isShared = sharesAlong(input, result);
  for (int64_t index = 0; index < result.size; ++index) {
    auto sum = static_cast<double>(sums[index]);
    result.setBound(index, isSum ? terms[index].finish(result.number, isShared)
                                 : factors[index].finish(result.number, sum));
  }
  if (isSum && !result.cutAlong.empty())
    result.parts = std::make_shared<std::vector<TermSum>>(std::move(terms));
  if (!factors.empty())
    result.factors = std::make_shared<std::vector<FactorProduct>>(std::move(factors));
}

/// Another execution has the greatest of what is off, which lies between the greatest of the upper
/// ends and that of the lower ones; so do others of the least.
static void boundExtreme(CombineKind kind, const Tile &input, const Box &box, Tile &result) {
  Extents strides = result.stridesAlong(input.axes);
  Tile ends[2] = {result, result}; // these have no elements that are missing
  for (Tile &end : ends)
    end.data = std::make_shared<std::vector<char>>(*result.data);
  auto number = result.number;
  for (int64_t index = 0; index < result.size; ++index)
    for (Tile &end : ends)
      writeIdentity(kind, number, end.at(index));
  (void)box.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    int64_t into = offsetOf(position, strides);
    double error = input.boundAt(index).total();
    for (int n : {0, 1}) {
      double moved = n ? error : -error;
      char *end = ends[n].at(into);
      if (isFloat(number))
        writeFloat(number, end,
                   combineFloats(kind, readFloat(number, end),
                                 readFloat(number, input.at(index)) + moved));
      else
        writeInteger(number, end,
                     combineIntegers(kind, readSigned(number, end),
                                     readSigned(number, input.at(index)) +
                                         static_cast<int64_t>(std::clamp(moved, -0x1p62, 0x1p62))));
    }
    return success();
  });
  for (int64_t index = 0; index < result.size; ++index) {
    double value = result.asDouble(index);
    result.setBound(index, ownBound(std::max(distance(ends[0].asDouble(index), value),
                                             distance(ends[1].asDouble(index), value))));
  }
}

static bool isExtreme(CombineKind kind) {
  switch (kind) {
  case CombineKind::max:
  case CombineKind::min:
  case CombineKind::fmax:
  case CombineKind::fmin:
  case CombineKind::umax:
  case CombineKind::umin:
    return true;
  case CombineKind::add:
  case CombineKind::mul:
  case CombineKind::andi:
  case CombineKind::ori:
  case CombineKind::xori:
    return false;
  }
  llvm_unreachable("covered");
}

/// Integers that are off add that up; what else is made of them is open.
static void boundCombination(CombineKind kind, const Tile &input, const Box &box, Tile &result) {
  Extents strides = result.stridesAlong(input.axes);
  (void)box.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    int64_t into = offsetOf(position, strides);
    double error = input.boundAt(index).total();
    if (error > 0)
      result.setBound(into, kind == CombineKind::add
                                ? ownBound(result.boundAt(into).total() + error)
                                : undecided);
    return success();
  });
}

LogicalResult Machine::executeReduce(ReduceOp op) {
  const Tile &input = values.at(op.getInput());
  Tile result;
  Box box;
  if (failed(makeTile(op, op.getType(), result)) || failed(makeBox(op, input.axes, box)) ||
      failed(checkDefined(op, input, box)))
    return failure();
  Number number = result.number;
  if (!canCombine(op.getKind(), number))
    return fail(op, "no such combination of this type");
  bool isWide = combinesWide(op.getKind(), number);
  if (failed(makeBounds(op, result, input.bounds || isWide)))
    return failure();
  if (isWide) {
    noteCuts(SmallVector<StringAttr>(op.getAxes().getAsRange<StringAttr>()), result);
    result.addCuts(input.cutAlong);
    reduceWide(op.getKind(), input, box, result);
    settleBounds(result);
    values[op.getResult()] = std::move(result);
    return success();
  }
  for (int64_t index = 0; index < result.size; ++index)
    writeIdentity(op.getKind(), number, result.at(index));
  Extents strides = result.stridesAlong(input.axes);
  (void)box.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    char *sum = result.at(offsetOf(position, strides));
    const char *term = input.at(index);
    if (isFloat(number))
      writeFloat(number, sum,
                 combineFloats(op.getKind(), readFloat(number, sum), readFloat(number, term)));
    else
      writeInteger(
          number, sum,
          combineIntegers(op.getKind(), readSigned(number, sum), readSigned(number, term)));
    return success();
  });
  if (result.bounds && isExtreme(op.getKind()))
    boundExtreme(op.getKind(), input, box, result);
  else if (result.bounds)
    boundCombination(op.getKind(), input, box, result);
  settleBounds(result);
  values[op.getResult()] = std::move(result);
  return success();
}

/// True if an element takes the place of the best before it: it is better, or
/// the first NaN.
static bool isBetter(CombineKind kind, Number number, const char *element, const char *best) {
  if (isFloat(number)) {
    double x = readFloat(number, element), y = readFloat(number, best);
    if (std::isnan(x) || std::isnan(y))
      return !std::isnan(y);
    return kind == CombineKind::max ? x > y : x < y;
  }
  int64_t x = readSigned(number, element), y = readSigned(number, best);
  return x != y && combineIntegers(kind, x, y) == x;
}

/// As far as the farthest element that may be the best in another execution.
static void boundArgReduce(const Tile &input, const Box &box, const Extents &strides, size_t along,
                           int64_t origin, ArrayRef<int64_t> best, Tile &result) {
  (void)box.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    int64_t into = offsetOf(position, strides);
    double error = input.boundAt(index).total() + input.boundAt(best[into]).total();
    if (index == best[into] || error == 0 ||
        !(distance(input.asDouble(index), input.asDouble(best[into])) <= error))
      return success();
    double apart = std::fabs(result.asDouble(into) - double(origin + position[along]));
    result.setBound(into, ownBound(std::max(result.boundAt(into).total(), apart)));
    return success();
  });
}

LogicalResult Machine::executeArgReduce(ArgReduceOp op) {
  const Tile &input = values.at(op.getInput());
  Tile result;
  Box box;
  if (failed(makeTile(op, op.getType(), result)) || failed(makeBox(op, input.axes, box)) ||
      failed(checkDefined(op, input, box)))
    return failure();
  if (isFloat(input.number) && op.getKind() != CombineKind::max && op.getKind() != CombineKind::min)
    return fail(op, "no such order of floats");
  size_t along = llvm::find(box.axes, op.getAxisAttr()) - box.axes.begin();
  int64_t origin = axes.at(op.getAxisAttr()).origin;
  Extents strides = result.stridesAlong(input.axes);
  std::vector<int64_t> best(result.size, -1); // where the best so far stands in the input
  for (int64_t index = 0; index < result.size; ++index)
    writeInteger(result.number, result.at(index), static_cast<uint64_t>(-1));
  (void)box.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    int64_t into = offsetOf(position, strides);
    if (best[into] >= 0 &&
        !isBetter(op.getKind(), input.number, input.at(index), input.at(best[into])))
      return success();
    best[into] = index;
    writeInteger(result.number, result.at(into), static_cast<uint64_t>(origin + position[along]));
    return success();
  });
  if (failed(makeBounds(op, result, input.bounds != nullptr)))
    return failure();
  if (result.bounds)
    boundArgReduce(input, box, strides, along, origin, best, result);
  settleBounds(result);
  values[op.getResult()] = std::move(result);
  return success();
}

LogicalResult Machine::executeCount(CountOp op) {
  Tile result;
  if (failed(makeTile(op, op.getType(), result)))
    return failure();
  if (isFloat(result.number))
    return fail(op, "counts are integers");
  SmallVector<StringAttr> names(result.axes);
  for (Type span : op.getSpans().getTypes())
    names.push_back(cast<SpanType>(span).getName());
  Box box;
  if (failed(makeBox(op, names, box)))
    return failure();
  Extents strides = result.stridesAlong(names);
  (void)box.forEach([&](int64_t, ArrayRef<int64_t> position) {
    char *count = result.at(offsetOf(position, strides));
    writeInteger(result.number, count, readUnsigned(result.number, count) + 1);
    return success();
  });
  values[op.getResult()] = std::move(result);
  return success();
}

//===-- Dot ---------------------------------------------------------------===//

namespace {
/// The elements of a tile as numbers to compute with; what does not exist is 0.
template <typename T>
std::vector<T> elementsOf(const Tile &tile) {
  std::vector<T> elements(tile.size);
  for (int64_t index = 0; index < tile.size; ++index)
    if (tile.contains(index))
      elements[index] = std::is_floating_point_v<T>
                            ? static_cast<T>(readFloat(tile.number, tile.at(index)))
                            : static_cast<T>(readSigned(tile.number, tile.at(index)));
  return elements;
}

/// result = acc + Σ lhs · rhs along the axis; floats are rounded once, at the end, and in
/// `result.wide`, if it is there, not at all.
template <typename T>
void contract(const Tile &acc, const Tile &lhs, const Tile &rhs, StringAttr axis, int64_t length,
              Tile &result) {
  std::vector<T> left = elementsOf<T>(lhs), right = elementsOf<T>(rhs);
  Extents leftStrides = lhs.stridesAlong(result.axes), rightStrides = rhs.stridesAlong(result.axes);
  int64_t leftStep = lhs.stridesAlong(axis)[0], rightStep = rhs.stridesAlong(axis)[0];
  bool isWhole = !lhs.defined && !rhs.defined;
  (void)result.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    int64_t i = offsetOf(position, leftStrides), j = offsetOf(position, rightStrides);
    using Sum = std::conditional_t<std::is_floating_point_v<T>, Wide, T>;
    Sum sum;
    if constexpr (std::is_floating_point_v<T>)
      sum = acc.wideAt(index);
    else
      sum = readUnsigned(acc.number, acc.at(index));
    for (int64_t k = 0; k < length; ++k, i += leftStep, j += rightStep)
      if (isWhole || (lhs.contains(i) && rhs.contains(j)))
        sum += static_cast<Sum>(left[i]) * static_cast<Sum>(right[j]);
    if constexpr (std::is_floating_point_v<T>) {
      writeFloat(result.number, result.at(index), static_cast<double>(sum));
      if (result.wide)
        (*result.wide)[index] = sum;
    } else {
      writeInteger(result.number, result.at(index), sum);
    }
    return success();
  });
}
} // namespace

LogicalResult Machine::executeDot(DotOp op) {
  const Tile &lhs = values.at(op.getLhs()), &rhs = values.at(op.getRhs());
  const Tile &acc = values.at(op.getAcc());
  Tile result;
  if (failed(makeTile(op, op.getType(), result)) || failed(checkDefined(op, acc, result)) ||
      failed(checkExtents(op, lhs)) || failed(checkExtents(op, rhs)))
    return failure();
  if (isFloat(lhs.number) != isFloat(result.number) ||
      isFloat(rhs.number) != isFloat(result.number))
    return fail(op, "a dot of floats and integers");
  if (sumSteps.contains(op))
    result.wide = std::make_shared<std::vector<Wide>>(result.size);
  int64_t length = axes.at(op.getAxisAttr()).count;
  if (result.number == Number::F32)
    contract<float>(acc, lhs, rhs, op.getAxisAttr(), length, result);
  else if (result.number == Number::F64)
    contract<double>(acc, lhs, rhs, op.getAxisAttr(), length, result);
  else if (!isFloat(result.number))
    contract<uint64_t>(acc, lhs, rhs, op.getAxisAttr(), length, result);
  else
    return fail(op, "a dot accumulates in f32, f64 or integers");
  bool isOff = lhs.bounds || rhs.bounds || acc.bounds;
  if (failed(makeBounds(op, result, isOff || isFloat(result.number))))
    return failure();
  if (result.bounds)
    boundDot(op, lhs, rhs, acc, result);
  settleBounds(result);
  values[op.getResult()] = std::move(result);
  return success();
}
