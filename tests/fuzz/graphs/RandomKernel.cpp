#include "tests/fuzz/graphs/GraphGenerator.h"

using namespace tile::fuzz;

/// A random kernel, computed from results of maps, its first output read by one. Its numbers are as
/// they come.
bool GraphGenerator::randomKernel() {
  if (!isRough())
    return false;
  Program kernel = generate(random.next() >> 16);
  std::string text = kernel.str(), name = "kernel k(";
  size_t head = text.find(name);
  // What it is called with stands in the signature alone: parameters that it doesn't name are gone.
  std::string signature = text.substr(head, text.find(") {", head) - head);
  for (const char *left : {"grid p", "inout ", "assert(", "print(", ".within["})
    if (text.find(left) != std::string::npos)
      return false;
  // Its dims get values of this graph's dims.
  std::map<std::string, std::string> named;
  static const std::vector<std::string> names = {"M", "N", "K", "P"};
  for (const auto &[dim, value] : kernel.dims)
    named[dim] = random.pick(names);
  auto extent = [&](const std::string &text) {
    std::string result;
    for (char c : text) {
      auto found = named.find(std::string(1, c));
      result += found == named.end() ? std::string(1, c) : found->second;
    }
    return text.size() > 1 && !std::isdigit(static_cast<unsigned char>(text[0]))
               ? "(" + result + ")"
               : result;
  };
  GraphCall call;
  std::string arguments;
  auto operand = [&](const GraphTensor &tensor) {
    arguments += (arguments.empty() ? "$" : ", $") + std::to_string(call.operands.size());
    call.operands.push_back(tensor.name);
  };
  for (const Parameter &parameter : kernel.parameters) {
    if (signature.find(parameter.name + ": ") == std::string::npos)
      continue;
    if (parameter.type.starts_with("f8"))
      return false;
    GraphTensor tensor{"", parameter.type, {}, {}, 0};
    for (const std::string &of : parameter.shape)
      tensor.shape.push_back(extent(of));
    if (parameter.mode == Parameter::Mode::In && parameter.isScalar)
      arguments += (arguments.empty() ? "" : ", ") + literal(random, parameter.type);
    else if (parameter.mode == Parameter::Mode::In)
      operand(tensorOf(parameter.type, tensor.shape));
    else
      call.results.push_back(tensor);
  }
  for (const auto &[dim, value] : kernel.dims)
    if (signature.find("bind" + dim + ":") != std::string::npos)
      operand(tensorOf("i8", {named[dim]}));
  if (call.results.empty())
    return false;
  // Its own name, and those of what stands before it, which no other kernel has, nor a copy of
  // this.
  const std::string suffix = "_$K";
  for (const Node &declaration : kernel.declarations) {
    const std::string &of = declaration.type;
    auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (size_t at = 0; (at = text.find(of, at)) != std::string::npos;) {
      bool isWhole = (at == 0 || !isWord(text[at - 1])) &&
                     (at + of.size() >= text.size() || !isWord(text[at + of.size()]));
      if (isWhole)
        text.replace(at, of.size(), of + suffix);
      at += of.size() + (isWhole ? suffix.size() : 0);
    }
  }
  head = text.find(name);
  text.replace(head, name.size(), "kernel $K(");
  call.declaration = text;
  call.text = "$K(" + arguments + ")";
  return add(std::move(call));
}
