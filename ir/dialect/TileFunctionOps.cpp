//===- TileFunctionOps.cpp - kernels, graphs and what calls them ----------===//

#include "ir/dialect/TileOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace tile::ir;

//===-- Kernel and graph --------------------------------------------------===//

static ParseResult parseFunctionLike(OpAsmParser &parser, OperationState &result,
                                     StringAttr typeName, StringAttr argAttrs,
                                     StringAttr resAttrs) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false, typeName,
                                                  buildType, argAttrs, resAttrs);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseFunctionLike(parser, result, getFunctionTypeAttrName(result.name),
                           getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

ParseResult GraphOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseFunctionLike(parser, result, getFunctionTypeAttrName(result.name),
                           getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void GraphOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

template <typename AttrT>
static AttrT paramAttr(FunctionOpInterface function, unsigned index, StringRef name) {
  return function.getArgAttrOfType<AttrT>(index, name);
}

static StringRef paramString(FunctionOpInterface function, unsigned index, StringRef name) {
  auto attr = paramAttr<StringAttr>(function, index, name);
  return attr ? attr.getValue() : StringRef();
}

StringRef KernelOp::getParamName(unsigned index) { return paramString(*this, index, "tile.name"); }
StringRef KernelOp::getParamType(unsigned index) { return paramString(*this, index, "tile.type"); }
StringRef GraphOp::getParamName(unsigned index) { return paramString(*this, index, "tile.name"); }
StringRef GraphOp::getParamType(unsigned index) { return paramString(*this, index, "tile.type"); }

ParamMode KernelOp::getParamMode(unsigned index) {
  StringRef mode = paramString(*this, index, "tile.mode");
  return mode == "out"      ? ParamMode::Out
         : mode == "inout"  ? ParamMode::InOut
         : mode == "reduce" ? ParamMode::Reduce
                            : ParamMode::In;
}

AffineMap KernelOp::getParamShape(unsigned index) {
  auto shape = paramAttr<AffineMapAttr>(*this, index, "tile.shape");
  return shape ? shape.getValue() : AffineMap();
}

CombineKind KernelOp::getParamReduce(unsigned index) {
  return paramAttr<CombineKindAttr>(*this, index, "tile.reduce").getValue();
}

ParallelOp KernelOp::getParallel() {
  auto parallels = getBody().front().getOps<ParallelOp>();
  return *parallels.begin();
}

bool KernelOp::isGrid() { return getParallel().getGrid(); }

/// The tile.return that ends a block, or null.
static ReturnOp returnOf(Block &block) {
  return block.empty() ? ReturnOp() : dyn_cast<ReturnOp>(block.back());
}

LogicalResult KernelOp::verify() {
  if (getFunctionType().getNumResults() != 0)
    return emitOpError("has results; outputs are memref parameters");
  if (!llvm::hasSingleElement(getBody()))
    return emitOpError("needs a body of one block");
  auto end = returnOf(getBody().front());
  if (!end || end.getNumOperands() != 0)
    return emitOpError("needs a tile.return without values at the end");
  if (!llvm::hasSingleElement(getBody().front().getOps<ParallelOp>()))
    return emitOpError("needs exactly one tile.parallel");
  for (auto [index, type] : llvm::enumerate(getFunctionType().getInputs())) {
    auto memory = dyn_cast<MemRefType>(type);
    if (!memory && !type.isIntOrFloat())
      return emitOpError("parameter ") << index << " is neither a memref nor a number";
    if (!memory)
      continue;
    AffineMap shape = getParamShape(index);
    if (!shape || shape.getNumDims() != 0 || shape.getNumSymbols() != getDims().size() ||
        shape.getNumResults() != memory.getRank())
      return emitOpError("parameter ") << index
                                       << " needs a tile.shape over the kernel's dims, one result "
                                          "a dimension";
    if (getParamMode(index) == ParamMode::Reduce &&
        !paramAttr<CombineKindAttr>(*this, index, "tile.reduce"))
      return emitOpError("reduce parameter ") << index << " needs a tile.reduce";
  }
  return success();
}

namespace {
/// Sees that the axes of tiles are spans in scope.
class AxisScopes {
public:
  LogicalResult verify(Operation *op) {
    if (!isa<arith::ConstantOp>(op)) {
      if (failed(verifyAxes(op, op->getOperandTypes())) ||
          failed(verifyAxes(op, op->getResultTypes())))
        return failure();
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(verify(op, block)))
          return failure();
    return success();
  }

private:
  LogicalResult verify(Operation *op, Block &block) {
    SmallVector<StringAttr> here;
    auto open = [&](Operation *by, ValueRange values) -> LogicalResult {
      for (Value value : values) {
        if (!isa<SpanType>(value.getType()))
          continue;
        StringAttr name = cast<SpanType>(value.getType()).getName();
        if (!all.insert(name).second)
          return by->emitOpError("makes another span ") << name;
        inScope.insert(name);
        here.push_back(name);
      }
      return success();
    };
    if (failed(open(op, block.getArguments())) || failed(verifyAxes(op, block.getArgumentTypes())))
      return failure();
    for (Operation &inner : block)
      if (failed(verify(&inner)) || failed(open(&inner, inner.getResults())))
        return failure();
    for (StringAttr name : here)
      inScope.erase(name);
    return success();
  }

  LogicalResult verifyAxes(Operation *op, TypeRange types) {
    for (Type type : types)
      for (StringAttr axis : axesOf(type))
        if (!inScope.contains(axis))
          return op->emitOpError("has a tile with the axis ") << axis << ", which is not in scope";
    return success();
  }

  llvm::DenseSet<StringAttr> all, inScope;
};
} // namespace

LogicalResult KernelOp::verifyRegions() { return AxisScopes().verify(*this); }

LogicalResult GraphOp::verify() {
  if (!llvm::hasSingleElement(getBody()))
    return emitOpError("needs a body of one block");
  auto end = returnOf(getBody().front());
  if (!end)
    return emitOpError("needs a tile.return at the end");
  if (end.getOperandTypes() != TypeRange(getFunctionType().getResults()))
    return emitOpError("returns other types than its signature says");
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *callee = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  if (!isa_and_nonnull<KernelOp, GraphOp>(callee))
    return emitOpError("callee ") << getCalleeAttr() << " is no kernel or graph";
  unsigned inputs = 0, outputs = 0;
  if (auto kernel = dyn_cast<KernelOp>(callee)) {
    for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i) {
      ParamMode mode = kernel.getParamMode(i);
      inputs += mode == ParamMode::In || mode == ParamMode::InOut;
      outputs += mode != ParamMode::In;
    }
  } else {
    inputs = cast<GraphOp>(callee).getNumArguments();
    outputs = cast<GraphOp>(callee).getFunctionType().getNumResults();
  }
  if (getInputs().size() != inputs || getNumResults() != outputs)
    return emitOpError("passes ") << getInputs().size() << " inputs and takes " << getNumResults()
                                  << " results; " << getCalleeAttr() << " has " << inputs << " and "
                                  << outputs;
  return success();
}

LogicalResult DimOp::verify() {
  Operation *owner = (*this)->getParentOp();
  while (owner && !isa<KernelOp, GraphOp>(owner))
    owner = owner->getParentOp();
  auto dims = owner ? owner->getAttrOfType<ArrayAttr>("dims") : ArrayAttr();
  if (!dims || !llvm::is_contained(dims, getNameAttr()))
    return emitOpError("names no dimension of its kernel");
  return success();
}
