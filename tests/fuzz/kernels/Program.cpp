#include "tests/fuzz/kernels/Program.h"

#include <cctype>

using namespace tile::fuzz;

std::string Node::str(unsigned indent) const {
  std::string result;
  if (kind == Kind::Block) {
    for (const Node &child : children)
      result += std::string(4 * indent, ' ') + child.str(indent) + "\n";
    return result;
  }
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '$') {
      result += text[at];
      continue;
    }
    const Node &child = children[static_cast<size_t>(text[++at] - '0')];
    result += child.kind == Kind::Block
                  ? "\n" + child.str(indent + 1) + std::string(4 * indent, ' ')
                  : child.str(indent);
  }
  return result;
}

/// Whether a name stands in a text as a word of its own.
static bool mentions(const std::string &text, const std::string &name) {
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += name.size()) {
    size_t end = at + name.size();
    if ((at == 0 || !isWord(text[at - 1])) && (end == text.size() || !isWord(text[end])))
      return true;
  }
  return false;
}

static std::string declare(const Parameter &parameter) {
  std::string text = parameter.mode == Parameter::Mode::InOut ? "inout " : "";
  text += parameter.name + ": " + parameter.type;
  if (!parameter.isScalar) {
    text += "[";
    for (size_t d = 0; d < parameter.shape.size(); ++d)
      text += (d ? ", " : "") + parameter.shape[d];
    text += "]";
  }
  return text + (parameter.reduce.empty() ? "" : " reduce " + parameter.reduce);
}

std::string Program::str() const {
  std::string text = body.str(), inputs, outputs, head;
  for (auto node = declarations.rbegin(); node != declarations.rend(); ++node)
    if (mentions(text + head, node->type)) // a declaration's type is its name
      head = node->str() + "\n" + head;
  for (const Parameter &parameter : parameters) {
    if (!mentions(text, parameter.name))
      continue;
    bool isInput =
        parameter.mode == Parameter::Mode::In || parameter.mode == Parameter::Mode::InOut;
    std::string &list = isInput ? inputs : outputs;
    list += (list.empty() ? "" : ", ") + declare(parameter);
  }
  // Dimensions that stand alone in no other input are bound by one of their own.
  std::string signature = inputs + outputs + text;
  for (const auto &[name, value] : dims)
    if (mentions(signature, name))
      inputs += (inputs.empty() ? "" : ", ") + ("bind" + name) + ": i8[" + name + "]";
  return head + "kernel k(" + inputs + ") -> (" + outputs + ") {\n    " + body.str(1) + "\n}\n";
}
