#include "runtime/launch/Binding.h"
#include "runtime/base/Text.h"
#include "runtime/launch/Evaluate.h"

#include <algorithm>

namespace tile::runtime {

namespace {

std::string code(std::string_view name) { return "`" + std::string(name) + "`"; }

std::string listOf(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string adviseName(std::string_view unknown, const std::vector<std::string> &known) {
  if (known.empty())
    return "there are none";
  std::vector<std::string_view> candidates(known.begin(), known.end());
  std::string_view near = nearest(unknown, candidates);
  return (near.empty() ? "" : "did you mean " + code(near) + "? ") + "it has " + listOf(known);
}

class Binder {
public:
  explicit Binder(const Signature &signature)
      : signature(signature), values(signature.dims.size()), origins(signature.dims.size()) {}

  Status bindAll(std::span<const std::span<const int64_t>> inputShapes, const DimValues &given) {
    if (Status done = bindGiven(given); !done)
      return done;
    for (size_t p = 0; p < signature.params.size(); ++p)
      if (isInput(p))
        if (Status done = bindBare(p, inputShapes); !done)
          return done;
    if (Status done = bindDefaults(); !done)
      return done;
    for (const std::optional<int64_t> &value : values)
      binding.dims.push_back(*value);
    for (size_t p = 0; p < signature.params.size(); ++p) {
      if (Status done = addShape(p); !done)
        return done;
      if (isInput(p) && signature.params[p].isTensor)
        if (Status done = checkGiven(p, inputShapes[p]); !done)
          return done;
    }
    return {};
  }

  LaunchBinding binding;

private:
  bool isInput(size_t param) const {
    ParamMode mode = signature.params[param].mode;
    return mode == ParamMode::In || mode == ParamMode::InOut;
  }

  /// Takes a value for a dimension; `origin` says where it comes from ("in `x`").
  Status set(uint32_t dim, int64_t value, const std::string &origin) {
    const std::string &name = signature.dims[dim];
    if (value > maxExtent || value < -maxExtent)
      return Error{code(name) + " is " + std::to_string(value) + " " + origin + ", beyond 2^47",
                   ""};
    if (values[dim] && *values[dim] != value)
      return Error{code(name) + " is " + std::to_string(*values[dim]) + " " + origins[dim] +
                       " but " + std::to_string(value) + " " + origin,
                   ""};
    if (!values[dim])
      origins[dim] = origin;
    values[dim] = value;
    return {};
  }

  /// What the caller gave, and what the kernel was specialized for.
  Status bindGiven(const DimValues &given) {
    for (const auto &[name, value] : given) {
      auto found = std::find(signature.dims.begin(), signature.dims.end(), name);
      if (found == signature.dims.end())
        return Error{code(signature.name) + " has no dimension or constant " + code(name),
                     adviseName(name, signature.dims)};
      auto dim = static_cast<uint32_t>(found - signature.dims.begin());
      if (Status done = set(dim, value, "as given by name"); !done)
        return done;
    }
    for (auto [dim, value] : signature.bound)
      if (Status done = set(dim, value, "in this specialized kernel"); !done)
        return done;
    return {};
  }

  Status bindBare(size_t position, std::span<const std::span<const int64_t>> inputShapes) {
    const ParamRule &param = signature.params[position];
    if (position >= inputShapes.size())
      return Error{"no shape is given for " + code(param.name), ""};
    if (!param.isTensor)
      return {};
    std::span<const int64_t> shape = inputShapes[position];
    if (shape.size() != param.shape.size()) {
      std::string declared;
      for (const ExtentRule &extent : param.shape)
        declared += (declared.empty() ? "" : ", ") + extent.text;
      return Error{code(param.name) + " has " + std::to_string(param.shape.size()) +
                       " dimensions, the argument has " + std::to_string(shape.size()),
                   "its shape is [" + declared + "]"};
    }
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] < 0)
        return Error{"an extent of " + code(param.name) + " is " + std::to_string(shape[d]) +
                         ", less than 0",
                     ""};
      if (std::optional<uint32_t> dim = param.shape[d].bareDim())
        if (Status done = set(*dim, shape[d], "in " + code(param.name)); !done)
          return done;
    }
    return {};
  }

  Status bindDefaults() {
    for (uint32_t dim = 0; dim < values.size(); ++dim) {
      auto constant = std::find_if(signature.constants.begin(), signature.constants.end(),
                                   [&](const ConstantRule &rule) { return rule.dim == dim; });
      bool isConstant = constant != signature.constants.end();
      if (!values[dim] && isConstant)
        values[dim] = constant->value;
      if (values[dim])
        continue;
      const std::string &name = signature.dims[dim];
      if (isConstant)
        return Error{"the constant " + code(name) + " of " + code(signature.name) + " has no value",
                     "give it by name, such as " + name + " = 1"};
      return Error{"the dimension " + code(name) + " of " + code(signature.name) +
                       " stands bare in no input shape, so nothing says what it is",
                   "give it by name, such as " + name + " = 1"};
    }
    return {};
  }

  Status addShape(size_t position) {
    const ParamRule &param = signature.params[position];
    Shape &shape = binding.shapes.emplace_back();
    if (!param.isTensor)
      return {};
    for (const ExtentRule &rule : param.shape) {
      std::optional<int64_t> extent = evaluateInteger(rule.program, binding.dims);
      if (!extent)
        return Error{"extent " + code(rule.text) + " of " + code(param.name) + " exceeds 64 bits" +
                         where(rule),
                     ""};
      if (*extent < 0)
        return Error{"extent " + code(rule.text) + " of " + code(param.name) + " is " +
                         std::to_string(*extent) + ", less than 0" + where(rule),
                     ""};
      shape.push_back(*extent);
    }
    return checkBytes(param, shape);
  }

  /// What is empty has no bytes, but its extents take part in indices.
  static Status checkBytes(const ParamRule &param, const Shape &shape) {
    Result<DType> type = parseDType(param.type);
    if (!type)
      return type.takeError();
    int64_t bytes = sizeOf(*type);
    bool fits = true;
    for (int64_t extent : shape)
      fits = fits && !__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes);
    if (fits && bytes <= maxExtent)
      return {};
    std::string extents;
    for (int64_t extent : shape)
      extents += (extents.empty() ? "" : ", ") + std::to_string(extent);
    return Error{code(param.name) + " with shape [" + extents +
                     "] has more bytes than an address space, 2^47",
                 ""};
  }

  Status checkGiven(size_t position, std::span<const int64_t> given) {
    const ParamRule &param = signature.params[position];
    const Shape &expected = binding.shapes[position];
    for (size_t d = 0; d < expected.size(); ++d)
      if (given[d] != expected[d])
        return Error{"dimension " + std::to_string(d) + " of " + code(param.name) + " is " +
                         std::to_string(given[d]) + ", but " + code(param.shape[d].text) + " is " +
                         std::to_string(expected[d]) + where(param.shape[d]),
                     ""};
    return {};
  }

  /// " with K = 127": the dims of a compound expression.
  std::string where(const ExtentRule &rule) const {
    if (rule.bareDim() || rule.isConstant())
      return "";
    std::string text;
    for (uint32_t dim : rule.dims)
      text += (text.empty() ? " with " : ", ") + signature.dims[dim] + " = " +
              std::to_string(*values[dim]);
    return text;
  }

  const Signature &signature;
  std::vector<std::optional<int64_t>> values;
  std::vector<std::string> origins;
};

/// An integer parameter as its type reads the bits; nothing for floats.
std::optional<std::string> formatInteger(const ParamRule &param, uint64_t bits) {
  Result<DType> type = parseDType(param.type);
  if (!type || isFloat(*type))
    return std::nullopt;
  int64_t value = loadInt(*type, &bits);
  return *type == DType::U64 ? std::to_string(static_cast<uint64_t>(value)) : std::to_string(value);
}

/// Scalars that indices are made of are as small as dimensions are.
Status checkScalars(const Signature &signature, std::span<const uint64_t> scalars) {
  for (size_t p = 0; p < signature.params.size() && p < scalars.size(); ++p) {
    const ParamRule &param = signature.params[p];
    auto value = static_cast<int64_t>(scalars[p]);
    if (param.reachesIndex && (value > maxExtent || value < -maxExtent))
      return Error{code(param.name) + " of " + code(signature.name) + " is " +
                       std::to_string(value) +
                       ", beyond 2^47, and takes part in indices or conditions",
                   ""};
  }
  return {};
}

} // namespace

Result<LaunchBinding> bindLaunch(const Signature &signature,
                                 std::span<const std::span<const int64_t>> inputShapes,
                                 const DimValues &given) {
  Binder binder(signature);
  if (Status done = binder.bindAll(inputShapes, given); !done)
    return done.takeError();
  return std::move(binder.binding);
}

Status checkRequires(const Signature &signature, std::span<const int64_t> dims,
                     std::span<const uint64_t> scalars) {
  if (Status done = checkScalars(signature, scalars); !done)
    return done;
  for (const RequireRule &rule : signature.requirements) {
    std::optional<int64_t> holds = evaluateInteger(rule.program, dims, scalars);
    if (holds && *holds)
      continue;
    std::string facts;
    auto add = [&](const std::string &name, const std::string &value) {
      facts += (facts.empty() ? "" : ", ") + name + " = " + value;
    };
    for (uint32_t dim : rule.dims)
      add(signature.dims[dim], std::to_string(dims[dim]));
    for (uint32_t param : rule.scalars)
      if (auto text = formatInteger(signature.params[param], scalars[param]))
        add(signature.params[param].name, *text);
    std::string message = code(signature.name) + " requires " + rule.text;
    if (!facts.empty())
      message += ", but " + facts;
    if (!holds)
      message += facts.empty() ? ", which exceeds 64 bits" : ": that exceeds 64 bits";
    return Error{std::move(message), ""};
  }
  return {};
}

} // namespace tile::runtime
