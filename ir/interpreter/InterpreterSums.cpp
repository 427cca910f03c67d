//===- InterpreterSums.cpp - sums of loops, and what they add up ----------===//
//
// What a loop adds up has more digits than its type, and its bound is one of all its
// terms. With other tile sizes other terms are added: where one round adds the sum of a
// block here, smaller blocks add parts of it there, and round each time. So a sum along
// a block's axis keeps its terms as far as the proof of folds follows it
// (ProofsFoldSteps.cpp): through broadcasts, signs, factors, and sums with others.
//
//===----------------------------------------------------------------------===//

#include "ir/interpreter/InterpreterImpl.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace tile::ir;
using namespace tile::ir::interpreter;

//===-- What blocks add up ------------------------------------------------===//

void Tile::addCuts(ArrayRef<StringAttr> names) {
  for (StringAttr name : names)
    if (!llvm::is_contained(cutAlong, name))
      cutAlong.push_back(name);
}

void Machine::noteCuts(ArrayRef<StringAttr> summed, Tile &result) const {
  for (StringAttr name : summed)
    if (axes.at(name).isBlock)
      result.addCuts(name);
}

void interpreter::spreadSums(const Tile &input, const Extents &strides, Tile &result) {
  auto spread = [&](auto &from, auto &to) {
    if (!from)
      return;
    to = std::make_shared<std::decay_t<decltype(*from)>>(result.size);
    (void)result.forEach([&](int64_t index, ArrayRef<int64_t> position) {
      (*to)[index] = (*from)[offsetOf(position, strides)];
      return success();
    });
  };
  if (result.axes.size() == input.axes.size()) { // the same elements in another order
    spread(input.wide, result.wide);
    spread(input.terms, result.terms);
  }
  result.addCuts(input.cutAlong);
  if (!input.cutAlong.empty())
    spread(input.parts ? input.parts : input.terms, result.parts);
}

namespace {
/// The operands of an elementwise op at one coordinate: values, and sums of parts.
struct Operands {
  ArrayRef<const Tile *> tiles;
  int64_t index;

  int64_t at(unsigned n) const { return tiles[n]->axes.empty() ? 0 : index; }
  double value(unsigned n) const { return tiles[n]->asDouble(at(n)); }
  const TermSum *parts(unsigned n) const { return tiles[n]->partsAt(at(n)); }

  void addTo(TermSum &sum, unsigned n, double factor = 1) const {
    if (const TermSum *of = parts(n))
      sum.append(*of, factor);
    else
      sum.add(value(n) * factor, {});
  }
  /// At most one of both is a sum of parts.
  void addProductTo(TermSum &sum, unsigned x, unsigned y) const {
    parts(x) ? addTo(sum, x, value(y)) : addTo(sum, y, value(x));
  }
};
} // namespace

/// Adds up what the result of a linear op is made of; false for others.
static bool addParts(Operation *op, const Operands &operands, TermSum &sum) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<arith::AddFOp, arith::SubFOp>([&](Operation *op) {
        operands.addTo(sum, 0);
        operands.addTo(sum, 1, isa<arith::SubFOp>(op) ? -1 : 1);
        return true;
      })
      .Case([&](arith::NegFOp) {
        operands.addTo(sum, 0, -1);
        return true;
      })
      .Case([&](arith::MulFOp) {
        operands.addProductTo(sum, 0, 1);
        return true;
      })
      .Case([&](arith::DivFOp) {
        operands.addTo(sum, 0, 1 / operands.value(1));
        return true;
      })
      .Case([&](math::FmaOp) {
        operands.addProductTo(sum, 0, 1);
        operands.addTo(sum, 2);
        return true;
      })
      .Default([](Operation *) { return false; });
}

void interpreter::keepParts(Operation *op, ArrayRef<const Tile *> operands, Tile &result) {
  if (!isFloat(result.number) ||
      llvm::all_of(operands, [](const Tile *tile) { return tile->cutAlong.empty(); }))
    return;
  auto parts = std::make_shared<std::vector<TermSum>>(result.size);
  for (int64_t index = 0; index < result.size; ++index)
    if (result.contains(index) && !addParts(op, {operands, index}, (*parts)[index]))
      return;
  for (const Tile *tile : operands)
    result.addCuts(tile->cutAlong);
  result.parts = std::move(parts);
}

//===-- Sums of loops -----------------------------------------------------===//

/// Whether the innermost loop around `op` computes the value anew each time.
static bool isOfThisIteration(Operation *op, Value value) {
  Operation *loop = op->getParentOp();
  while (loop && !isa<ForOp, scf::ForOp, scf::WhileOp>(loop))
    loop = loop->getParentOp();
  return !loop || loop->isAncestor(value.getParentBlock()->getParentOp());
}

LogicalResult Machine::executeSumStep(Operation *op, unsigned sumSoFar) {
  Tile result;
  if (failed(makeTile(op, op->getResult(0).getType(), result)))
    return failure();
  SmallVector<const Tile *> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(&values.at(operand));
    if (failed(checkDefined(op, *operands.back(), result)))
      return failure();
  }
  result.wide = std::make_shared<std::vector<Wide>>(result.size);
  for (int64_t index = 0; index < result.size; ++index) {
    if (!result.contains(index))
      continue;
    auto operand = [&](unsigned n) {
      return operands[n]->wideAt(operands[n]->axes.empty() ? 0 : index);
    };
    Wide sum = operand(sumSoFar);
    if (isa<arith::SubFOp>(op))
      sum -= operand(1);
    else
      sum += isa<arith::AddFOp>(op) ? operand(1 - sumSoFar) : operand(0) * operand(1);
    (*result.wide)[index] = sum;
    writeFloat(result.number, result.at(index), static_cast<double>(sum));
  }
  if (failed(boundSumStep(op, operands, sumSoFar, result)))
    return failure();
  values[op->getResult(0)] = std::move(result);
  return success();
}

/// Whether backends have one accumulator for what a loop adds up: the CPU for tiles in loops over
/// integers, GPUs for all but what is a sum in each iteration of a loop over a span.
static bool addsInOrder(Operation *op, ArrayRef<unsigned> terms, bool isGpu) {
  Operation *loop = op->getParentOp();
  while (isa_and_nonnull<scf::IfOp>(loop))
    loop = loop->getParentOp();
  bool isOfSpan = isa_and_nonnull<ForOp>(loop);
  if (isGpu)
    return !isOfSpan || terms.size() != 1 || !op->getOperand(terms[0]).getDefiningOp<ReduceOp>();
  return !isOfSpan && isa<RankedTensorType>(op->getResult(0).getType());
}

LogicalResult Machine::boundSumStep(Operation *op, ArrayRef<const Tile *> operands,
                                    unsigned sumSoFar, Tile &result) {
  if (failed(makeBounds(op, result, options.tracksErrors)))
    return failure();
  if (!result.bounds)
    return success();
  result.terms = std::make_shared<std::vector<TermSum>>(result.size);
  SmallVector<unsigned, 2> factors;
  for (unsigned n = 0; n < operands.size(); ++n)
    if (n != sumSoFar)
      factors.push_back(n);
  for (const Tile *operand : operands)
    if (operand->bounds)
      result.shareAlong(operand->axes.empty() ? result.axes
                                              : ArrayRef<StringAttr>(operand->sharedAlong));
  for (const Tile *operand : operands)
    result.addCuts(operand->cutAlong);
  bool isInOrder = addsInOrder(op, factors, options.errorsOfGpu);
  double sign = isa<arith::SubFOp>(op) ? -1 : 1;
  for (int64_t index = 0; index < result.size; ++index) {
    if (!result.contains(index))
      continue;
    Operands all{operands, index};
    auto boundOf = [&](unsigned n) {
      Bound bound = operands[n]->boundAt(all.at(n));
      // What isn't of this iteration alone is off in the same way in the next one.
      return isOfThisIteration(op, op->getOperand(n)) ? bound : Bound{0, roundUp(bound.total())};
    };
    TermSum &terms = (*result.terms)[index];
    terms = operands[sumSoFar]->termsAt(all.at(sumSoFar));
    if (isInOrder)
      terms.addInOrder(1);
    unsigned x = factors.front(), y = factors.back();
    if (x == y) {
      terms.add(sign * all.value(x), boundOf(x));
      if (const TermSum *of = all.parts(x))
        terms.cutLast(sign * all.value(x), *of, sign);
    } else {
      terms.addProduct(all.value(x), boundOf(x), all.value(y), boundOf(y));
      for (auto [part, factor] : {std::pair(x, y), std::pair(y, x)})
        if (const TermSum *of = all.parts(part))
          terms.cutLast(all.value(x) * all.value(y), *of, all.value(factor));
    }
    result.setBound(index, terms.finish(result.number, /*isShared=*/true));
  }
  settleBounds(result);
  return success();
}

//===-- Dots --------------------------------------------------------------===//

static std::vector<double> numbersOf(const Tile &tile) {
  std::vector<double> numbers(tile.size);
  for (int64_t index = 0; index < tile.size; ++index)
    if (tile.contains(index))
      numbers[index] = tile.asDouble(index);
  return numbers;
}

void Machine::boundDot(DotOp op, const Tile &lhs, const Tile &rhs, const Tile &acc, Tile &result) {
  std::vector<double> left = numbersOf(lhs), right = numbersOf(rhs);
  Extents leftStrides = lhs.stridesAlong(result.axes), rightStrides = rhs.stridesAlong(result.axes);
  int64_t leftStep = lhs.stridesAlong(op.getAxisAttr())[0];
  int64_t rightStep = rhs.stridesAlong(op.getAxisAttr())[0];
  int64_t length = axes.at(op.getAxisAttr()).count;
  // A contraction has one accumulator an element. A dot of vectors, or of a matrix and a vector, is
  // a sum like others on the CPU.
  auto hasOwnAxis = [&](const Tile &tile, const Tile &other) {
    return llvm::any_of(tile.axes,
                        [&](StringAttr axis) { return !llvm::is_contained(other.axes, axis); });
  };
  bool isInOrder = options.errorsOfGpu || (hasOwnAxis(lhs, rhs) && hasOwnAxis(rhs, lhs));
  // Matrix units of GPUs cut off what they add, and keep some 13 bits of sums of f8.
  bool isOfF8 = bitWidth(lhs.number) == 8;
  double coarseness = !options.errorsOfGpu ? 1 : isOfF8 ? 0x1p10 : 2;
  bool isShared = result.wide != nullptr;
  for (const Tile *operand : {&lhs, &rhs})
    isShared |= llvm::is_contained(operand->sharedAlong, op.getAxisAttr());
  for (const Tile *operand : {&lhs, &rhs, &acc})
    for (StringAttr axis : operand->sharedAlong)
      if (axis != op.getAxisAttr())
        result.shareAlong(axis);
  noteCuts(op.getAxisAttr(), result);
  result.addCuts(acc.cutAlong);
  auto kept = std::make_shared<std::vector<TermSum>>(result.size);
  (void)result.forEach([&](int64_t index, ArrayRef<int64_t> position) {
    int64_t i = offsetOf(position, leftStrides), j = offsetOf(position, rightStrides);
    TermSum &terms = (*kept)[index];
    terms = acc.termsAt(index);
    if (const TermSum *of = result.wide ? nullptr : acc.partsAt(index))
      terms.append(*of);
    if (isInOrder)
      terms.addInOrder(coarseness);
    for (int64_t k = 0; k < length; ++k, i += leftStep, j += rightStep)
      if (lhs.contains(i) && rhs.contains(j))
        terms.addProduct(left[i], lhs.boundAt(i), right[j], rhs.boundAt(j));
    result.setBound(index, isFloat(result.number) ? terms.finish(result.number, isShared)
                                                  : ownBound(terms.errorAtMost()));
    return success();
  });
  if (result.wide)
    result.terms = kept;
  else if (!result.cutAlong.empty())
    result.parts = kept;
}
