//===- Interface.cpp - what a kernel or graph takes and gives -------------===//

#include "frontend/base/Interface.h"

#include "ir/dialect/AffineEval.h"

#include "ir/proofs/Spelling.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

std::string Port::str() const {
  std::string text = name + ": " + std::string(runtime::nameOf(type));
  return isTensor ? text + "[" + shape + "]" : text;
}

const Port *Interface::input(StringRef name) const {
  for (const Port &port : inputs)
    if (port.name == name)
      return &port;
  return nullptr;
}

StringRef tile::frontend::sourceName(StringRef symbol) { return symbol.split('.').first; }

uint64_t tile::frontend::bitsOf(Attribute number) {
  if (auto real = dyn_cast<FloatAttr>(number))
    return real.getValue().bitcastToAPInt().getZExtValue();
  return cast<IntegerAttr>(number).getValue().zextOrTrunc(64).getZExtValue();
}

static std::string spellShape(AffineMap shape, ArrayAttr dims) {
  SmallVector<StringRef> names(dims.getAsValueRange<StringAttr>());
  return llvm::join(
      llvm::map_range(shape.getResults(),
                      [&](AffineExpr extent) { return ir::formatAffine(extent, names); }),
      ", ");
}

static Port portOf(DictionaryAttr attributes, Type type, unsigned position, ArrayAttr dims) {
  Port port;
  port.position = position;
  if (auto name = attributes.getAs<StringAttr>("tile.name"))
    port.name = name.str();
  if (auto name = attributes.getAs<StringAttr>("tile.type"))
    if (auto known = runtime::parseDType(name.getValue()))
      port.type = *known;
  port.isTensor = isa<ShapedType>(type);
  if (auto shape = attributes.getAs<AffineMapAttr>("tile.shape"))
    port.shape = spellShape(shape.getValue(), dims);
  if (Attribute value = attributes.get("tile.default"))
    port.defaultBits = bitsOf(value);
  return port;
}

static Interface interfaceOfKernel(ir::KernelOp kernel) {
  Interface result{ir::nameInSource(kernel.getSymName()), {}, {}};
  for (auto [position, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    Port port = portOf(kernel.getArgAttrDict(position), type, position, kernel.getDims());
    port.mode = kernel.getParamMode(position);
    if (port.mode == ir::ParamMode::In || port.mode == ir::ParamMode::InOut)
      result.inputs.push_back(port);
    if (port.mode != ir::ParamMode::In)
      result.outputs.push_back(port);
  }
  return result;
}

Interface tile::frontend::interfaceOf(Operation *function) {
  if (auto kernel = dyn_cast<ir::KernelOp>(function))
    return interfaceOfKernel(kernel);
  auto graph = cast<ir::GraphOp>(function);
  Interface result{ir::nameInSource(graph.getSymName()), {}, {}};
  for (auto [position, type] : llvm::enumerate(graph.getArgumentTypes()))
    result.inputs.push_back(
        portOf(graph.getArgAttrDict(position), type, position, graph.getDims()));
  for (auto [position, type] : llvm::enumerate(graph.getResultTypes())) {
    Port port = portOf(graph.getResultAttrDict(position), type, position, graph.getDims());
    port.mode = ir::ParamMode::Out;
    result.outputs.push_back(port);
  }
  return result;
}
