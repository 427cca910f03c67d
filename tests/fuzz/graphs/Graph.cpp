#include "tests/fuzz/graphs/Graph.h"

#include <algorithm>
#include <cctype>

using namespace tile::fuzz;

std::string tile::fuzz::fill(const std::string &text,
                             const std::vector<std::pair<std::string, std::string>> &names) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      result += text[at++];
      continue;
    }
    size_t end = at + 1;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])))
      ++end;
    std::string name = text.substr(at + 1, end - at - 1);
    auto found = std::find_if(names.begin(), names.end(),
                              [&](const auto &entry) { return entry.first == name; });
    result += found == names.end() ? text.substr(at, end - at) : found->second;
    at = end;
  }
  return result;
}

const GraphTensor *GraphProgram::find(const std::string &name) const {
  for (const GraphTensor &input : inputs)
    if (input.name == name)
      return &input;
  for (const GraphCall &call : calls)
    for (const GraphTensor &result : call.results)
      if (result.name == name)
        return &result;
  return nullptr;
}

void GraphProgram::dropDead() {
  std::set<std::string> needed(outputs.begin(), outputs.end());
  std::vector<GraphCall> kept;
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    bool isNeeded = std::any_of(call->results.begin(), call->results.end(),
                                [&](const GraphTensor &t) { return needed.count(t.name) != 0; });
    if (!isNeeded)
      continue;
    needed.insert(call->operands.begin(), call->operands.end());
    kept.push_back(*call);
  }
  calls.assign(kept.rbegin(), kept.rend());
}

static std::string declare(const std::string &name, const GraphTensor &tensor) {
  std::string text = name + ": " + tensor.type + "[";
  for (size_t d = 0; d < tensor.shape.size(); ++d)
    text += (d ? ", " : "") + tensor.shape[d];
  return text + "]";
}

/// Names of dims in a text.
static void collectDims(const std::string &text, const std::map<std::string, int64_t> &dims,
                        std::set<std::string> &found) {
  for (size_t at = 0; at < text.size(); ++at)
    if (auto dim = dims.find(text.substr(at, 1)); dim != dims.end())
      found.insert(dim->first);
}

std::string GraphProgram::str() const {
  std::string declarations, params, results, body;
  std::map<std::string, std::string> names; // of declarations, by their text
  std::set<std::string> used(outputs.begin(), outputs.end()), mentioned, bound;
  for (const GraphCall &call : calls) {
    std::vector<std::pair<std::string, std::string>> filled;
    if (!call.declaration.empty()) {
      auto [name, isNew] =
          names.try_emplace(call.declaration, "k" + std::to_string(names.size() + 1));
      filled.push_back({"K", name->second});
      for (unsigned n = 1; n <= 3; ++n) // more of its own
        filled.push_back({"K" + std::to_string(n), name->second + "fgh"[n - 1]});
      if (isNew)
        declarations += fill(call.declaration, filled) + "\n";
    }
    for (size_t n = 0; n < call.operands.size(); ++n)
      filled.push_back({std::to_string(n), call.operands[n]});
    used.insert(call.operands.begin(), call.operands.end());
    std::string left;
    for (const GraphTensor &result : call.results) {
      left += (left.empty() ? "" : ", ") + result.name;
      for (const std::string &extent : result.shape)
        collectDims(extent, dims, mentioned);
    }
    if (call.results.size() > 1)
      left = "(" + left + ")";
    body += "    let " + left + " = " + fill(call.text, filled) + "\n";
  }
  for (size_t n = 0; n < outputs.size(); ++n) {
    const GraphTensor *tensor = find(outputs[n]);
    std::string name = "y" + std::to_string(n);
    results += (results.empty() ? "" : ", ") + declare(name, *tensor);
    body += "    " + name + " = " + outputs[n] + "\n";
  }
  for (const GraphTensor &input : inputs) {
    if (!used.count(input.name))
      continue;
    params += (params.empty() ? "" : ", ") + declare(input.name, input);
    for (const std::string &extent : input.shape) {
      collectDims(extent, dims, mentioned);
      if (dims.count(extent))
        bound.insert(extent);
    }
  }
  for (const std::string &dim : mentioned)
    if (!bound.count(dim))
      params += (params.empty() ? "bind" : ", bind") + dim + ": i8[" + dim + "]";
  return "import std.nn\n\n" + declarations + "\ngraph g(" + params + ") -> (" + results + ") {\n" +
         body + "}\n";
}
