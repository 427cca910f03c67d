#include "tests/fuzz/graphs/Templates.h"
#include "tests/fuzz/graphs/GraphGenerator.h"

#include <algorithm>
#include <sstream>

using namespace tile::fuzz;

namespace tile::fuzz {

/// Finds tensors for a template, and gives its dims and type a meaning.
class TemplateMaker {
public:
  explicit TemplateMaker(GraphGenerator &generator) : g(generator) {}
  bool run(const Template &of);

private:
  struct Part {
    std::string type, limit;
    std::vector<std::string> shape;
  };
  std::vector<Part> parts(const std::string &text) const;
  std::string extentOf(const std::string &pattern, bool &isBound);
  GraphTensor input(const Part &part);
  double limitOf(const std::string &limit);

  GraphGenerator &g;
  std::string type, sum;
  std::map<char, std::string> dims;
  std::vector<GraphTensor> inputs;
};

std::vector<TemplateMaker::Part> TemplateMaker::parts(const std::string &text) const {
  std::vector<Part> list;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    Part part;
    std::istringstream fields(word);
    std::string shape;
    std::getline(fields, part.type, ':');
    std::getline(fields, shape, ':');
    std::getline(fields, part.limit, ':');
    std::istringstream extents(shape);
    for (std::string extent; std::getline(extents, extent, ',');)
      part.shape.push_back(extent);
    part.type = part.type == "T" ? type : part.type == "$S" ? sum : part.type;
    list.push_back(part);
  }
  return list;
}

/// The graph's extent; bound to a dim of the graph where it is none yet.
std::string TemplateMaker::extentOf(const std::string &pattern, bool &isBound) {
  std::string text;
  for (char c : pattern) {
    if (c < 'A' || c > 'Z') {
      text += c;
      continue;
    }
    if (!dims.count(c)) {
      isBound = false;
      static const std::vector<std::string> names = {"M", "N", "K", "P"};
      dims[c] = g.random.pick(names);
    }
    text += dims[c];
  }
  return text;
}

GraphTensor TemplateMaker::input(const Part &part) {
  std::vector<GraphTensor> all(g.program.inputs);
  for (const GraphCall &call : g.program.calls)
    all.insert(all.end(), call.results.begin(), call.results.end());
  // The last ones first: those that agree with the dims there are.
  size_t skip = g.random.chance(30) ? g.random.below(6) : 0;
  for (auto tensor = all.rbegin(); tensor != all.rend() && !g.random.chance(4); ++tensor) {
    if (tensor->type != part.type || tensor->shape.size() != part.shape.size() || skip-- % 7 != 0)
      continue;
    skip = 0;
    std::map<char, std::string> bound = dims;
    bool fits = true;
    for (size_t d = 0; d < part.shape.size(); ++d) {
      char c = part.shape[d][0];
      bool isDim = c >= 'A' && c <= 'Z';
      fits &= isDim ? bound.try_emplace(c, tensor->shape[d]).first->second == tensor->shape[d]
                    : tensor->shape[d] == part.shape[d];
    }
    if (!fits)
      continue;
    dims = bound;
    return *tensor;
  }
  std::vector<std::string> shape;
  bool isBound = true;
  for (const std::string &extent : part.shape)
    shape.push_back(extentOf(extent, isBound));
  return g.newInput(part.type, shape);
}

double TemplateMaker::limitOf(const std::string &limit) {
  double first = inputs[0].limit, second = inputs.size() > 1 ? inputs[1].limit : 1;
  if (limit == "=") {
    double most = 3;
    for (const GraphTensor &tensor : inputs)
      most = std::max(most, tensor.limit);
    return most;
  }
  if (limit[0] != '+' && limit[0] != '*')
    return std::stod(limit);
  bool isBound = true;
  double terms =
      std::max<double>(1, static_cast<double>(g.valueOf(extentOf(limit.substr(1), isBound))));
  return terms * (limit[0] == '*' ? first * second : first);
}

bool TemplateMaker::run(const Template &of) {
  static const char letters[] = {'E', 'S', 'R'};
  if (std::string(of.values).find(letters[static_cast<int>(g.program.values)]) == std::string::npos)
    return false;
  std::vector<std::string> types = typesOf(of.types);
  types.erase(std::remove_if(types.begin(), types.end(),
                             [&](const std::string &t) {
                               return (t[0] == 'f' && t[1] == '8') ||
                                      (g.isSmooth() && !isFloatType(t));
                             }),
              types.end());
  if (types.empty())
    return false;
  // One that is there, where it can be.
  type = g.random.pick(types);
  for (int tries = 0; tries < 3 && !g.program.calls.empty(); ++tries) {
    const GraphTensor &last = g.program.calls.back().results.front();
    if (std::find(types.begin(), types.end(), last.type) != types.end())
      type = last.type;
  }
  sum = type == "bool" ? "i32" : accumulatorOf(type);
  GraphCall call;
  bool sums = std::string(of.outputs).find_first_of("+*", 3) != std::string::npos;
  for (const Part &part : parts(of.inputs)) {
    GraphTensor tensor = input(part);
    inputs.push_back(sums ? g.small(tensor, 40) : tensor);
    call.operands.push_back(inputs.back().name);
  }
  static const std::vector<std::string> sizes = {"1", "2", "3", "4", "5", "7", "11", "16", "32"};
  std::vector<std::pair<std::string, std::string>> names = {{"T", type}, {"S", sum}};
  for (const char *n : {"1", "2", "3"})
    names.push_back({n, g.random.pick(sizes)});
  names.push_back({"b", "B"});
  names.push_back({"c", "C"});
  call.declaration = fill(of.declaration, names);
  std::string scalar = dims.count('A') ? dims['A'] : "1";
  call.text = fill(of.call, {{"d", scalar}});
  for (const Part &part : parts(of.outputs)) {
    GraphTensor result{"", part.type, {}, {}, limitOf(part.limit)};
    bool isBound = true;
    for (const std::string &extent : part.shape)
      result.shape.push_back(extentOf(extent, isBound));
    call.results.push_back(result);
  }
  return g.add(std::move(call));
}

} // namespace tile::fuzz

bool GraphGenerator::templateCall() {
  return TemplateMaker(*this).run(graphTemplates[random.below(graphTemplates.size())]);
}
