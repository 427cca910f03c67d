//===- EqualKernels.cpp - kernels that are equal but for their names ------===//

#include "ir/fusion/EqualKernels.h"

using namespace mlir;
using namespace tile::ir;

namespace {
/// A kernel as a sequence of words, so that equal kernels have equal ones. Attributes and types are
/// unique in a context: their addresses stand for them.
class Writer {
public:
  explicit Writer(KernelOp kernel) : kernel(kernel) {}
  std::vector<const void *> write();

private:
  void add(uintptr_t number) { words.push_back(reinterpret_cast<const void *>(number)); }
  void add(Attribute attribute) { words.push_back(attribute.getAsOpaquePointer()); }
  void addValue(Value value);
  void addOp(Operation &op);

  KernelOp kernel;
  std::vector<const void *> words;
  DenseMap<Value, uintptr_t> values;
};
} // namespace

void Writer::addValue(Value value) {
  values.try_emplace(value, values.size());
  words.push_back(value.getType().getAsOpaquePointer());
}

void Writer::addOp(Operation &op) {
  words.push_back(op.getName().getAsOpaquePointer());
  if (auto dim = dyn_cast<DimOp>(op))
    add(llvm::find(kernel.getDims(), dim.getNameAttr()) - kernel.getDims().begin());
  else
    add(op.getAttrDictionary());
  add(op.getNumOperands());
  for (Value operand : op.getOperands())
    add(values.at(operand));
  add(op.getNumResults());
  for (Value result : op.getResults())
    addValue(result);
  add(op.getNumRegions());
  for (Region &region : op.getRegions()) {
    add(region.getBlocks().size());
    for (Block &block : region) {
      add(block.getNumArguments());
      for (Value argument : block.getArguments())
        addValue(argument);
      add(block.getOperations().size());
      for (Operation &inner : block)
        addOp(inner);
    }
  }
}

std::vector<const void *> Writer::write() {
  Builder builder(kernel.getContext());
  NamedAttrList attrs(kernel->getAttrDictionary());
  attrs.erase(SymbolTable::getSymbolAttrName());
  add(kernel.getDims().size());
  if (!kernel.getConstsAttr())
    attrs.erase(kernel.getDimsAttrName()); // else calls bind constants by name
  SmallVector<Attribute> params;
  for (DictionaryAttr param : kernel.getArgAttrsAttr().getAsRange<DictionaryAttr>()) {
    NamedAttrList nameless(param);
    nameless.erase("tile.name");
    params.push_back(nameless.getDictionary(kernel.getContext()));
  }
  attrs.set(kernel.getArgAttrsAttrName(), builder.getArrayAttr(params));
  add(attrs.getDictionary(kernel.getContext()));
  for (Value param : kernel.getArguments())
    addValue(param);
  for (Operation &op : kernel.getBody().front())
    addOp(op);
  return std::move(words);
}

KernelOp EqualKernels::firstOf(KernelOp kernel) {
  auto [first, isNew] = known.try_emplace(kernel);
  if (isNew)
    first->second = classes.try_emplace(Writer(kernel).write(), kernel).first->second;
  return cast<KernelOp>(first->second);
}
