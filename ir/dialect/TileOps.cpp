//===- TileOps.cpp - program spaces, loops and accesses of tile kernels ---===//

#include "ir/dialect/TileOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace tile::ir;

/// Types in parentheses, of which there may be none.
static ParseResult parseTypeList(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                        [&] { return parser.parseType(types.emplace_back()); });
}

static void printTypeList(OpAsmPrinter &printer, Operation *, TypeRange types) {
  printer << '(' << types << ')';
}

#define GET_OP_CLASSES
#include "ir/dialect/TileOps.cpp.inc"

//===-- Parallel ----------------------------------------------------------===//

// tile.parallel (%i = tiles "i" %lo to %hi by 64, %b = each "b" %lo to %hi) { … }
// tile.parallel grid (%p = each "p" %lo to %hi) { … }
ParseResult ParallelOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  if (succeeded(parser.parseOptionalKeyword("grid")))
    result.addAttribute(getGridAttrName(result.name), builder.getUnitAttr());
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> lower, upper;
  SmallVector<Attribute> names;
  SmallVector<bool> each;
  SmallVector<int64_t> sizes;
  auto parseBinder = [&]() -> ParseResult {
    OpAsmParser::Argument argument;
    std::string name;
    StringRef kind;
    int64_t size = ShapedType::kDynamic;
    if (parser.parseArgument(argument) || parser.parseEqual() || parser.parseKeyword(&kind))
      return failure();
    if (kind != "tiles" && kind != "each")
      return parser.emitError(parser.getCurrentLocation(), "expected tiles or each");
    if (parser.parseString(&name) || parser.parseOperand(lower.emplace_back()) ||
        parser.parseKeyword("to") || parser.parseOperand(upper.emplace_back()))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("by")) && parser.parseInteger(size))
      return failure();
    bool isEach = kind == "each";
    StringAttr nameAttr = builder.getStringAttr(name);
    argument.type =
        isEach ? Type(builder.getI64Type()) : SpanType::get(builder.getContext(), nameAttr, size);
    arguments.push_back(argument);
    names.push_back(nameAttr);
    each.push_back(isEach);
    sizes.push_back(isEach ? 1 : size);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseBinder) ||
      parser.resolveOperands(lower, builder.getI64Type(), result.operands) ||
      parser.resolveOperands(upper, builder.getI64Type(), result.operands))
    return failure();
  result.addAttribute(getNamesAttrName(result.name), builder.getArrayAttr(names));
  result.addAttribute(getEachAttrName(result.name), builder.getDenseBoolArrayAttr(each));
  result.addAttribute(getSizesAttrName(result.name), builder.getDenseI64ArrayAttr(sizes));
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void ParallelOp::print(OpAsmPrinter &printer) {
  printer << (getGrid() ? " grid (" : " (");
  llvm::interleaveComma(llvm::seq<size_t>(0, getNames().size()), printer, [&](size_t n) {
    printer << getBody().front().getArgument(n) << " = " << (getEach()[n] ? "each " : "tiles ")
            << getNames()[n] << ' ' << getLower()[n] << " to " << getUpper()[n];
    if (!getEach()[n] && !ShapedType::isDynamic(getSizes()[n]))
      printer << " by " << getSizes()[n];
  });
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getNamesAttrName(), getEachAttrName(), getSizesAttrName(), getGridAttrName()});
}

LogicalResult ParallelOp::verify() {
  size_t count = getNames().size();
  if (getLower().size() != count || getUpper().size() != count || getEach().size() != count ||
      getSizes().size() != count || getBody().getNumArguments() != count)
    return emitOpError("has binders of unequal numbers");
  for (size_t n = 0; n < count; ++n) {
    Type type = getBody().getArgument(n).getType();
    auto span = dyn_cast<SpanType>(type);
    if (getEach()[n]
            ? !type.isInteger(64)
            : !span || span.getName() != getNames()[n] || span.getExtent() != getSizes()[n])
      return emitOpError("binder ") << getNames()[n] << " has the wrong argument type";
    if (!ShapedType::isDynamic(getSizes()[n]) && getSizes()[n] <= 0)
      return emitOpError("binder ") << getNames()[n] << " has a size that is not positive";
    if (getGrid() && !getEach()[n])
      return emitOpError("binder ") << getNames()[n] << " of a grid binds no integer";
  }
  return success();
}

/// True inside the programs of a grid kernel.
static bool isInGrid(Operation *op) {
  auto parallel = op->getParentOfType<ParallelOp>();
  return parallel && parallel.getGrid();
}

//===-- For ---------------------------------------------------------------===//

// %r = tile.for fold %k = "k" %lo to %hi by 64 iter_args(%a = %init : type) { … }
ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringRef kindWord;
  OpAsmParser::Argument span;
  OpAsmParser::UnresolvedOperand lower, upper;
  std::string name;
  int64_t size = ShapedType::kDynamic;
  SMLoc kindLoc = parser.getCurrentLocation();
  if (parser.parseKeyword(&kindWord))
    return failure();
  auto kind = symbolizeLoopKind(kindWord);
  if (!kind)
    return parser.emitError(kindLoc, "expected fold, reassociable or sequential");
  if (parser.parseArgument(span) || parser.parseEqual() || parser.parseString(&name) ||
      parser.parseOperand(lower) || parser.parseKeyword("to") || parser.parseOperand(upper))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("by")) && parser.parseInteger(size))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SmallVector<Type> types;
  StringAttr nameAttr = builder.getStringAttr(name);
  span.type = SpanType::get(builder.getContext(), nameAttr, size);
  arguments.push_back(span);
  auto parseCarried = [&]() -> ParseResult {
    OpAsmParser::Argument argument;
    if (parser.parseArgument(argument) || parser.parseEqual() ||
        parser.parseOperand(inits.emplace_back()) || parser.parseColonType(argument.type))
      return failure();
    arguments.push_back(argument);
    types.push_back(argument.type);
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("iter_args")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseCarried))
    return failure();
  if (parser.resolveOperand(lower, builder.getI64Type(), result.operands) ||
      parser.resolveOperand(upper, builder.getI64Type(), result.operands) ||
      parser.resolveOperands(inits, types, kindLoc, result.operands))
    return failure();
  result.addTypes(types);
  result.addAttribute(getNameAttrName(result.name), nameAttr);
  result.addAttribute(getSizeAttrName(result.name), builder.getI64IntegerAttr(size));
  result.addAttribute(getKindAttrName(result.name), LoopKindAttr::get(builder.getContext(), *kind));
  Region *body = result.addRegion(), *merge = result.addRegion();
  if (parser.parseRegion(*body, arguments) ||
      (succeeded(parser.parseOptionalKeyword("merge")) && parser.parseRegion(*merge)))
    return failure();
  return parser.parseOptionalAttrDictWithKeyword(result.attributes);
}

void ForOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyLoopKind(getKind()) << ' ' << getSpan() << " = " << getNameAttr()
          << ' ' << getLower() << " to " << getUpper();
  if (!ShapedType::isDynamic(getSize()))
    printer << " by " << getSize();
  if (!getInits().empty()) {
    printer << " iter_args(";
    llvm::interleaveComma(llvm::zip(getCarried(), getInits()), printer, [&](auto pair) {
      auto [argument, init] = pair;
      printer << argument << " = " << init << " : " << init.getType();
    });
    printer << ')';
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  if (!getMerge().empty()) {
    printer << " merge ";
    printer.printRegion(getMerge());
  }
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getNameAttrName(), getSizeAttrName(), getKindAttrName()});
}

YieldOp ForOp::getYield() { return cast<YieldOp>(getBody().front().getTerminator()); }

static LogicalResult verifyMerge(ForOp loop) {
  if (loop.getMerge().empty())
    return success();
  if (loop.getKind() != LoopKind::reassociable)
    return loop.emitOpError("merges, so it has to be reassociable");
  Block &merge = loop.getMerge().front();
  SmallVector<Type> both(loop.getResultTypes());
  llvm::append_range(both, loop.getResultTypes());
  if (!llvm::equal(merge.getArgumentTypes(), both))
    return loop.emitOpError("merges the carried values of two parts");
  if (!merge.mightHaveTerminator() || !isa<YieldOp>(merge.getTerminator()) ||
      merge.getTerminator()->getOperandTypes() != loop.getResultTypes())
    return loop.emitOpError("merges to other types than it carries");
  for (Operation &op : merge.without_terminator())
    if (op.getNumRegions() > 0 || isa<AlongAxes>(op) || !isMemoryEffectFree(&op))
      return op.emitOpError("is no elementwise op, as a merge is made of");
  return success();
}

LogicalResult ForOp::verify() {
  Block &body = getBody().front();
  auto span =
      body.getNumArguments() ? dyn_cast<SpanType>(body.getArgument(0).getType()) : SpanType();
  if (!span || span.getName() != getNameAttr() ||
      span.getExtent() != static_cast<int64_t>(getSize()))
    return emitOpError("needs its span as first block argument");
  if (!body.mightHaveTerminator() || !isa<YieldOp>(body.getTerminator()))
    return emitOpError("needs a tile.yield at the end");
  if (!ShapedType::isDynamic(getSize()) && static_cast<int64_t>(getSize()) <= 0)
    return emitOpError("has a size that is not positive");
  if (isInGrid(*this))
    return emitOpError("has no place in a grid kernel, whose blocks are constant");
  TypeRange inits = getInits().getTypes();
  if (TypeRange(ValueRange(getCarried())) != inits || getResultTypes() != inits ||
      getYield().getOperandTypes() != inits)
    return emitOpError("carries values whose types differ between entry, body and result");
  for (Type type : inits)
    if (llvm::is_contained(axesOf(type), getNameAttr()))
      return emitOpError("carries a value with its own span ") << getNameAttr() << " as an axis";
  return verifyMerge(*this);
}

LogicalResult RestrictOp::verify() {
  IntegerSet set = getConstraint();
  if (set.getNumConstraints() != 1)
    return emitOpError("needs exactly one constraint");
  if (set.getNumDims() != getDims().size() || set.getNumSymbols() != getSyms().size())
    return emitOpError("has another number of operands than its constraint");
  if (getDims().empty())
    return emitOpError("restricts no span");
  // What uses a span outside of a loop would be restricted or not, as one reads it.
  bool isInLoop = isa<ForOp, scf::ForOp>((*this)->getParentOp());
  bool isIts = llvm::any_of(
      getDims(), [&](Value span) { return span.getParentBlock() == (*this)->getBlock(); });
  if (isInLoop && !isIts)
    return emitOpError("restricts spans from outside of its loop");
  return success();
}

//===-- Memory ------------------------------------------------------------===//

static LogicalResult verifyAccess(Operation *op, MemRefType memory, AffineMap map, ValueRange dims,
                                  ValueRange syms) {
  if (map.getNumDims() != dims.size() || map.getNumSymbols() != syms.size())
    return op->emitOpError("has another number of operands than its map");
  if (map.getNumResults() != memory.getRank())
    return op->emitOpError("maps to ") << map.getNumResults() << " indices; the tensor has "
                                       << memory.getRank() << " dimensions";
  return success();
}

LogicalResult LoadOp::verify() {
  MemRefType memory = getSource().getType();
  if (failed(verifyAccess(*this, memory, getMap(), getDims(), getSyms())))
    return failure();
  Type expected = mapAxes(getMap(), getDims()).tileOf(memory.getElementType());
  if (withoutLayout(getResult().getType()) != expected)
    return emitOpError("loads ") << expected << ", not " << getResult().getType();
  bool pads = getBounds() == BoundsMode::pad;
  if (pads != static_cast<bool>(getPad()) ||
      (pads && getPad().getType() != memory.getElementType()))
    return emitOpError("needs a pad value of the tensor's element type with `pad`, and only then");
  return success();
}

void LoadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  // An input never changes during a launch; only `inout` reads are ordered.
  Value source = getSource();
  if (auto argument = dyn_cast<BlockArgument>(source))
    if (auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp()))
      if (kernel.getParamMode(argument.getArgNumber()) == ParamMode::In)
        return;
  effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable());
}

template <typename OpT>
static LogicalResult verifyWrite(OpT op) {
  MemRefType memory = op.getTarget().getType();
  if (failed(verifyAccess(op, memory, op.getMap(), op.getDims(), op.getSyms())))
    return failure();
  if (getElementTypeOrSelf(op.getValue().getType()) != memory.getElementType())
    return op.emitOpError("stores another element type than the tensor's");
  AxisList axes = mapAxes(op.getMap(), op.getDims());
  for (StringAttr axis : axesOf(op.getValue().getType()))
    if (axes.indexOf(axis.getValue()) < 0)
      return op.emitOpError("stores a value with axis ") << axis << ", which no index has";
  return success();
}

LogicalResult StoreOp::verify() {
  if (getDrops() && !isInGrid(*this))
    return emitOpError("drops what falls outside, as only grid kernels may");
  return verifyWrite(*this);
}
LogicalResult UpdateOp::verify() { return verifyWrite(*this); }

void StoreOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getTargetMutable());
}
void UpdateOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getTargetMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getTargetMutable());
}

//===-- Atomics -----------------------------------------------------------===//

AxisList AtomicOp::getAxisList() {
  AxisList axes = mapAxes(getMap(), getDims());
  axes.addFrom(getValue().getType());
  if (getExpected())
    axes.addFrom(getExpected().getType());
  return axes;
}

/// Whether the kind has a meaning for elements of this type.
static bool canBeAtomic(AtomicKind kind, Type element) {
  bool isFloat = isa<FloatType>(element);
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (width != 32 && width != 64)
    return false;
  switch (kind) {
  case AtomicKind::add:
  case AtomicKind::max:
  case AtomicKind::min:
  case AtomicKind::exchange:
  case AtomicKind::cas:
    return true;
  case AtomicKind::umax:
  case AtomicKind::umin:
  case AtomicKind::andi:
  case AtomicKind::ori:
  case AtomicKind::xori:
    return !isFloat;
  }
  llvm_unreachable("covered switch");
}

LogicalResult AtomicOp::verify() {
  if (!isInGrid(*this))
    return emitOpError("stands in grid kernels only");
  Type element = getTarget().getType().getElementType();
  if (failed(verifyAccess(*this, getTarget().getType(), getMap(), getDims(), getSyms())))
    return failure();
  if ((getKind() == AtomicKind::cas) != static_cast<bool>(getExpected()))
    return emitOpError("needs an expected value with `cas`, and only then");
  if (getElementTypeOrSelf(getValue().getType()) != element ||
      (getExpected() && getElementTypeOrSelf(getExpected().getType()) != element))
    return emitOpError("takes values of another element type than the tensor's");
  if (!canBeAtomic(getKind(), element))
    return emitOpError("has no `") << stringifyAtomicKind(getKind()) << "` of " << element;
  if (Type expected = getAxisList().tileOf(element);
      withoutLayout(getResult().getType()) != expected)
    return emitOpError("gives ") << expected << ", not " << getResult().getType();
  return success();
}

void AtomicOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getTargetMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getTargetMutable());
  // What it orders may be anywhere.
  if (getOrder() != MemoryOrder::relaxed) {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
}
