//===- GraphNames.cpp - reasons in the words of a graph's source ----------===//

#include "ir/fusion/GraphNames.h"
#include "ir/dialect/AffineEval.h"
#include "ir/proofs/Spelling.h"
#include "ir/transforms/Specialize.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

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

/// In parentheses if it is an operation, as far as it was not cut.
static std::string asOperand(StringRef expression) {
  int depth = 0;
  bool isOperation = false;
  for (char c : expression) {
    depth += c == '(' || c == '[';
    depth -= c == ')' || c == ']';
    isOperation |= depth == 0 && StringRef(" +-*/%<>=!&|^~?").contains(c);
  }
  return isOperation || depth > 0 ? ("(" + expression + ")").str() : expression.str();
}

std::string tile::ir::indexed(StringRef tensor, StringRef index) {
  return index.empty() ? tensor.str() : asOperand(tensor) + index.str();
}

/// Whether a sum or a product can't stand there without parentheses.
static bool isInExpression(StringRef before, StringRef behind) {
  auto isOperator = [](char c) { return StringRef("+-*/%").contains(c); };
  before = before.rtrim(' '), behind = behind.ltrim(' ');
  return (!before.empty() && isOperator(before.back())) ||
         (!behind.empty() && isOperator(behind.front()));
}

std::string tile::ir::inDimsOfGraph(CallOp call, StringRef text, GraphOp graph,
                                    GraphShapes &shapes) {
  KernelOp kernel = shapes.kernelOf(call);
  SmallVector<StringRef> names(graph.getDims().getAsValueRange<StringAttr>());
  names.resize(shapes.numSymbols(), "?");
  llvm::StringMap<std::string> values;
  llvm::StringSet<> composed;
  for (auto [dim, extent] :
       llvm::zip(kernel.getDims().getAsValueRange<StringAttr>(), shapes.dimsOf(call))) {
    values[dim] = formatAffine(extent, names);
    if (isa<AffineBinaryOpExpr>(extent))
      composed.insert(dim);
  }
  std::string result;
  while (!text.empty()) {
    size_t length = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }).size();
    StringRef word = text.take_front(std::max<size_t>(length, 1));
    text = text.drop_front(word.size());
    auto known = values.find(word);
    std::string value = known == values.end() ? word.str() : known->second;
    bool needsParentheses = composed.contains(word) && isInExpression(result, text);
    result += needsParentheses ? "(" + value + ")" : value;
  }
  return result;
}

/// `result[i, j / extent1]` of a kernel that nobody wrote, with the names of the graph; empty where
/// the kernel has a source that says so, or no such tensor.
static std::string ofMadeKernel(StringRef word, CallOp call, GraphOp graph, GraphShapes &shapes) {
  KernelOp kernel = shapes.kernelOf(call);
  if (!kernel || !(isExpression(call) || isFused(kernel)))
    return "";
  StringRef base = word.take_until([](char c) { return c == '['; });
  std::string behind = inDimsOfGraph(call, word.drop_front(base.size()), graph, shapes);
  for (auto [operand, n] : llvm::zip(call.getInputs(), inputPositions(kernel)))
    if (kernel.getParamName(n) == base && isa<TensorType>(operand.getType()))
      return indexed(nameOfTensor(operand, graph, shapes), behind);
  for (OpResult result : call->getResults())
    if (kernel.getParamName(outputPosition(kernel, result.getResultNumber())) == base)
      return indexed(nameOfTensor(result, graph, shapes), behind);
  bool isDim = llvm::is_contained(kernel.getDims(), StringAttr::get(kernel.getContext(), base));
  return isDim ? inDimsOfGraph(call, word, graph, shapes) : "";
}

std::string tile::ir::joinNames(ArrayRef<StringRef> names) {
  constexpr size_t most = 4;
  if (names.size() == 1)
    return names.front().str();
  if (names.size() > most)
    return asOperand(names.front()) + " + … + " + asOperand(names.back());
  return llvm::join(llvm::map_range(names, asOperand), " + ");
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
    if (std::string name = nameOfOther(word); !name.empty())
      return name;
    for (CallOp call : {second.call, first.call})
      if (std::string name = ofMadeKernel(word, call, graph, shapes); !name.empty())
        return name;
    return "";
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
