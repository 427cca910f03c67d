//===- GraphNames.cpp - reasons in the words of a graph's source ----------===//

#include "ir/fusion/GraphNames.h"
#include "ir/Spelling.h"

using namespace mlir;
using namespace tile::ir;

std::string tile::ir::nameOfTensor(Value tensor, GraphOp graph, GraphShapes &shapes) {
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return graph.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name").str();
  auto result = cast<OpResult>(tensor);
  if (StringRef name = nameOfResult(result); !name.empty())
    return name.str();
  KernelOp kernel = shapes.kernelOf(cast<CallOp>(result.getOwner()));
  return kernel ? kernel.getParamName(outputPosition(kernel, result.getResultNumber())).str()
                : "result";
}

std::string tile::ir::joinNames(ArrayRef<StringRef> names) {
  constexpr size_t most = 4;
  if (names.size() > most)
    return (names.front() + " + … + " + names.back()).str();
  return llvm::join(names, " + ");
}

std::string tile::ir::inWordsOfGraph(StringRef reason, NamedCall first, NamedCall second,
                                     GraphOp graph, GraphShapes &shapes,
                                     llvm::function_ref<std::string(llvm::StringRef)> nameOfOther) {
  if (first.name == second.name)
    for (NamedCall *named : {&first, &second})
      if (std::string value = nameOfTensor(named->call.getResult(0), graph, shapes);
          value != named->name)
        named->name = value + " = " + named->name;
  bool isFirstTold = false;
  auto translate = [&](StringRef word) -> std::string {
    if (word.consume_back(secondMark))
      return second.name;
    // Where both call one kernel the first one comes first.
    StringRef symbol = first.call.getCallee();
    if (word == symbol && (symbol != second.call.getCallee() || !isFirstTold)) {
      isFirstTold = true;
      return first.name;
    }
    if (word == second.call.getCallee())
      return second.name;
    auto [owner, output] = word.rsplit('.');
    if (KernelOp producer = shapes.kernelOf(first.call); producer && owner == symbol)
      for (OpResult result : first.call->getResults())
        if (producer.getParamName(outputPosition(producer, result.getResultNumber())) == output)
          return nameOfTensor(result, graph, shapes);
    return nameOfOther(word);
  };
  SmallVector<StringRef> parts;
  reason.split(parts, '`');
  std::string text;
  for (auto [n, part] : llvm::enumerate(parts)) {
    std::string name = n % 2 == 1 ? translate(part) : "";
    text += (n == 0 ? "" : "`") + (name.empty() ? part.str() : name);
  }
  return text;
}
