//===- TileAlongOps.cpp - ops along axes: scans, sorts, what passes ask ---===//

#include "ir/dialect/TileOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile::ir;

#include "ir/dialect/TileInterfaces.cpp.inc"

//===-- What passes ask ---------------------------------------------------===//

StringRef tile::ir::wordOf(CombineKind kind) {
  switch (kind) {
  case CombineKind::add:
    return "sum";
  case CombineKind::mul:
    return "prod";
  case CombineKind::max:
  case CombineKind::umax:
    return "max";
  case CombineKind::min:
  case CombineKind::umin:
    return "min";
  case CombineKind::fmax:
    return "fmax";
  case CombineKind::fmin:
    return "fmin";
  case CombineKind::andi:
    return "all";
  case CombineKind::ori:
    return "any";
  case CombineKind::xori:
    return "xor";
  }
  llvm_unreachable("all kinds are handled");
}

SmallVector<StringAttr> ReduceOp::getAxesAlong() {
  return llvm::to_vector(getAxes().getAsRange<StringAttr>());
}
SmallVector<Value> ReduceOp::getOperandsAlong() { return {getInput()}; }
StringRef ReduceOp::getWord() { return wordOf(getKind()); }

SmallVector<StringAttr> ArgReduceOp::getAxesAlong() { return {getAxisAttr()}; }
SmallVector<Value> ArgReduceOp::getOperandsAlong() { return {getInput()}; }
StringRef ArgReduceOp::getWord() { return wordOf(getKind()) == "max" ? "argmax" : "argmin"; }
bool ArgReduceOp::needsWholeAxis() { return true; }

SmallVector<StringAttr> DotOp::getAxesAlong() { return {getAxisAttr()}; }
SmallVector<Value> DotOp::getOperandsAlong() { return {getLhs(), getRhs()}; }
StringRef DotOp::getWord() { return "dot"; }

SmallVector<StringAttr> ScanOp::getAxesAlong() { return {getAxisAttr()}; }
SmallVector<Value> ScanOp::getOperandsAlong() { return SmallVector<Value>(getInputs()); }

SmallVector<StringAttr> SortOp::getAxesAlong() { return {getAxisAttr()}; }
SmallVector<Value> SortOp::getOperandsAlong() { return {getInput()}; }
StringRef SortOp::getWord() { return getRankAttr() == getAxisAttr() ? "sort" : "topk"; }
bool SortOp::needsWholeAxis() { return true; }

SmallVector<StringAttr> TakeOp::getAxesAlong() {
  SmallVector<StringAttr> axes;
  for (auto [axis, expr] : llvm::zip(axesOf(getInput().getType()), getMap().getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    Type own = dim ? getDims()[dim.getPosition()].getType() : Type();
    if (!own || cast<SpanType>(own).getName() != axis)
      axes.push_back(axis);
  }
  return axes;
}
SmallVector<Value> TakeOp::getOperandsAlong() { return {getInput()}; }
bool TakeOp::needsWholeAxis() { return true; }

//===-- Scan --------------------------------------------------------------===//

OperandRange ScanOp::getCombined() { return getCombine().front().getTerminator()->getOperands(); }

// %y:2 = tile.scan "cumsum" (%x : type) from (%h : type) over "k" reverse { ^bb0(…): … }
ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  std::string word, axis;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  SmallVector<Type> inputTypes, initTypes;
  auto parseValues = [&](SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                         SmallVectorImpl<Type> &types) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
      return failure(parser.parseOperand(operands.emplace_back()) ||
                     parser.parseColonType(types.emplace_back()));
    });
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseString(&word) || parseValues(inputs, inputTypes) || parser.parseKeyword("from") ||
      parseValues(inits, initTypes) || parser.parseKeyword("over") || parser.parseString(&axis))
    return failure();
  if (inputs.size() != inits.size())
    return parser.emitError(loc, "needs one init for each input");
  Builder &builder = parser.getBuilder();
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    result.addAttribute(getReverseAttrName(result.name), builder.getUnitAttr());
  result.addAttribute(getAxisAttrName(result.name), builder.getStringAttr(axis));
  result.addAttribute(getWordAttrName(result.name), builder.getStringAttr(word));
  result.addTypes(inputTypes);
  result.addTypes(initTypes);
  return failure(parser.parseRegion(*result.addRegion()) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.resolveOperands(inputs, inputTypes, loc, result.operands) ||
                 parser.resolveOperands(inits, initTypes, loc, result.operands));
}

void ScanOp::print(OpAsmPrinter &printer) {
  auto printValues = [&](OperandRange values) {
    printer << '(';
    llvm::interleaveComma(values, printer,
                          [&](Value value) { printer << value << " : " << value.getType(); });
    printer << ')';
  };
  printer << ' ' << getWordAttr() << ' ';
  printValues(getInputs());
  printer << " from ";
  printValues(getInits());
  printer << " over " << getAxisAttr() << (getReverse() ? " reverse " : " ");
  printer.printRegion(getCombine());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getAxisAttrName(), getReverseAttrName(), getWordAttrName()});
}

LogicalResult ScanOp::verify() {
  unsigned count = getInputs().size();
  if (count == 0 || getInits().size() != count || getNumResults() != 2 * count)
    return emitOpError("needs inputs, and as many inits");
  ArrayRef<StringAttr> all = axesOf(getInputs()[0].getType());
  for (unsigned n = 0; n < count; ++n) {
    Type input = getInputs()[n].getType(), init = getInits()[n].getType();
    AxisList left;
    for (StringAttr axis : axesOf(input))
      if (axis != getAxisAttr())
        left.add(axis, extentOf(input, axis.getValue()));
    if (axesOf(input) != all || !llvm::is_contained(all, getAxisAttr()))
      return emitOpError("needs inputs of the same axes, ") << getAxisAttr() << " among them";
    if (withoutLayout(init) != left.tileOf(getElementTypeOrSelf(input)))
      return emitOpError("needs inits of the elements' types, with the axes that are left");
    if (getScanned()[n].getType() != input || getLast()[n].getType() != init)
      return emitOpError("gives states of the types of its inputs and inits");
  }
  return success();
}

/// A region of scalar ops that gives values of these types.
static LogicalResult verifyCombination(Operation *parent, Block &body, TypeRange types) {
  if (!body.mightHaveTerminator() || !isa<CombinedOp>(body.getTerminator()) ||
      body.getTerminator()->getOperandTypes() != types)
    return parent->emitOpError("needs a tile.combined of ") << types << " at the end";
  for (Operation &op : body.without_terminator()) {
    bool isScalar =
        llvm::all_of(op.getResultTypes(), [](Type type) { return axesOf(type).empty(); });
    bool isElement = op.hasTrait<OpTrait::ConstantLike>() ||
                     (op.hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(&op));
    if (!isScalar || !isElement || op.getNumRegions() > 0)
      return op.emitOpError("is no elementwise op on scalars, as a combination is made of");
  }
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  Block &body = getCombine().front();
  SmallVector<Type> elements = llvm::map_to_vector(
      getInits().getTypes(), [](Type type) { return getElementTypeOrSelf(type); });
  SmallVector<Type> arguments(elements);
  arguments.append(elements);
  if (!llvm::equal(body.getArgumentTypes(), arguments))
    return emitOpError("combines the state's parts with the elements, all scalars");
  return verifyCombination(*this, body, elements);
}

//===-- Finish ------------------------------------------------------------===//

LogicalResult FinishOp::verify() {
  auto kernel = cast<KernelOp>((*this)->getParentOp());
  auto argument = dyn_cast<BlockArgument>(getOutput());
  if (!argument || kernel.getParamMode(argument.getArgNumber()) != ParamMode::Reduce)
    return emitOpError("finishes a `reduce` output of its kernel");
  for (FinishOp other : kernel.getBody().front().getOps<FinishOp>())
    if (other != *this && other.getOutput() == getOutput())
      return emitOpError("is not the only one of its output");
  if (kernel.getParallel()->getBlock() != (*this)->getBlock() ||
      (*this)->isBeforeInBlock(kernel.getParallel()))
    return emitOpError("stands behind tile.parallel");
  return success();
}

LogicalResult FinishOp::verifyRegions() {
  Type element = cast<MemRefType>(getOutput().getType()).getElementType();
  if (!llvm::equal(getBody().getArgumentTypes(), ArrayRef<Type>(element)))
    return emitOpError("begins with an element of its output");
  ParallelOp parallel = cast<KernelOp>((*this)->getParentOp()).getParallel();
  for (Operation &op : getBody().front())
    for (Value operand : op.getOperands())
      if (Operation *above = operand.getDefiningOp();
          above && above->getBlock() == parallel->getBlock() && parallel->isBeforeInBlock(above))
        return op.emitOpError("uses what is computed behind tile.parallel");
  return verifyCombination(*this, getBody().front(), element);
}

//===-- Sort --------------------------------------------------------------===//

LogicalResult SortOp::verify() {
  Type input = getInput().getType(), values = getValues().getType();
  ArrayRef<StringAttr> before = axesOf(input), after = axesOf(values);
  Type element = getElementTypeOrSelf(input);
  if (element.isInteger(1))
    return emitOpError("sorts numbers");
  if (!llvm::is_contained(before, getAxisAttr()))
    return emitOpError("sorts along ") << getAxisAttr() << ", which its input has not";
  SmallVector<StringAttr> expected(before);
  llvm::replace(expected, getAxisAttr(), getRankAttr());
  bool isRenamed = getRankAttr() != getAxisAttr();
  if (isRenamed && llvm::is_contained(before, getRankAttr()))
    return emitOpError("gives an axis ") << getRankAttr() << " that its input has already";
  if (after != ArrayRef(expected) || getElementTypeOrSelf(values) != element)
    return emitOpError("gives values with the axis ")
           << getRankAttr() << " in the place of " << getAxisAttr();
  for (StringAttr axis : before)
    if ((axis != getAxisAttr() || !isRenamed) &&
        extentOf(input, axis.getValue()) != extentOf(values, axis.getValue()))
      return emitOpError("resizes axis ") << axis;
  Type places = withElement(withoutLayout(values), IntegerType::get(getContext(), 64));
  if (withoutLayout(getCoordinates().getType()) != places) // each may be held in its own way
    return emitOpError("gives i64 coordinates on the same axes");
  return success();
}

//===-- Take --------------------------------------------------------------===//

LogicalResult TakeOp::verify() {
  Type input = getInput().getType();
  if (getMap().getNumDims() != getDims().size() || getMap().getNumSymbols() != getSyms().size())
    return emitOpError("has another number of operands than its map");
  if (getMap().getNumResults() != axesOf(input).size())
    return emitOpError("maps to ") << getMap().getNumResults() << " coordinates; its input has "
                                   << axesOf(input).size() << " axes";
  Type expected = mapAxes(getMap(), getDims()).tileOf(getElementTypeOrSelf(input));
  if (withoutLayout(getResult().getType()) != expected)
    return emitOpError("takes ") << expected << ", not " << getResult().getType();
  return success();
}
