//===- Inputs.cpp - what `tilec run --in` gives to a kernel or graph ------===//

#include "frontend/cli/Inputs.h"

#include "ir/dialect/AffineEval.h"
#include "ir/dialect/IndexLimits.h"
#include "ir/proofs/Spelling.h"
#include "runtime/tensor/Generate.h"
#include "runtime/tensor/TensorSpec.h"

#include "llvm/ADT/StringExtras.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;
using runtime::DType;
using runtime::Tensor;

std::string tile::frontend::cli::declarationOf(const dsl::Param &param,
                                               const dsl::SourceFile &source) {
  return std::string(source.text().substr(param.range.begin, param.range.end - param.range.begin));
}

//===-- NAME=VALUE --------------------------------------------------------===//

/// Splits NAME=VALUE at the first `=`.
static Outcome<std::pair<std::string, std::string>> splitBinding(const std::string &text,
                                                                 const std::string &form) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Failure::usage({"'" + text + "' is not " + form, ""});
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Outcome<llvm::StringMap<int64_t>>
tile::frontend::cli::parseDims(const std::vector<std::string> &texts) {
  llvm::StringMap<int64_t> dims;
  for (const std::string &text : texts) {
    auto binding = splitBinding(text, "NAME=VALUE, such as M=128");
    if (!binding)
      return binding.takeFailure();
    auto &[name, number] = *binding;
    int64_t value;
    // No launch takes more, and what is planned before one may reckon with it.
    if (llvm::StringRef(number).getAsInteger(10, value) || value > ir::maxExtent ||
        value < -ir::maxExtent)
      return Failure::usage({"the value of dimension '" + name + "' is '" + number + "'",
                             "it is a whole number, at most 2^47 in magnitude"});
    if (!dims.try_emplace(name, value).second)
      return Failure::usage({"dimension '" + name + "' is given twice", ""});
  }
  return dims;
}

static std::string listOf(llvm::ArrayRef<ir::ElementType> types) {
  return llvm::join(llvm::map_range(types, ir::nameOf), ", ");
}

/// Binds a generic, if it may have that type. `origin` says who wants it.
static Outcome<std::monostate> bindType(Session &session, dsl::DeclRef decl,
                                        const dsl::Generic &generic, ir::ElementType type,
                                        const std::string &origin, dsl::TypeBindings &types) {
  std::vector<ir::ElementType> allowed = session.elaborator.alternatives(decl, generic);
  if (allowed.empty())
    return Failure::reported();
  const std::string &name = generic.name.text;
  if (!llvm::is_contained(allowed, type))
    return Failure::usage({"`" + decl.decl->name.text + "` has no instance for " + name + " = " +
                               ir::nameOf(type).str() + " (" + origin + ")",
                           name + " is one of " + listOf(allowed)});
  auto [bound, isNew] = types.try_emplace(name, type);
  if (!isNew && bound->second != type)
    return Failure::usage({name + " is " + ir::nameOf(bound->second).str() + ", but " +
                               ir::nameOf(type).str() + " " + origin,
                           "one call has one type for each generic"});
  return Done{};
}

static const dsl::Generic *findGeneric(const dsl::Decl &decl, const std::string &name) {
  for (const dsl::Generic &generic : decl.generics)
    if (!generic.isConst && generic.name.text == name)
      return &generic;
  return nullptr;
}

Outcome<dsl::TypeBindings>
tile::frontend::cli::parseTypeBindings(Session &session, dsl::DeclRef decl,
                                       const std::vector<std::string> &texts) {
  dsl::TypeBindings types;
  std::vector<std::string> known;
  for (const dsl::Generic &generic : decl.decl->generics)
    if (!generic.isConst)
      known.push_back(generic.name.text);
  for (const std::string &text : texts) {
    auto binding = splitBinding(text, "NAME=TYPE, such as T=bf16");
    if (!binding)
      return binding.takeFailure();
    auto &[name, typeName] = *binding;
    const dsl::Generic *generic = findGeneric(*decl.decl, name);
    if (!generic) {
      std::string has = known.empty() ? "it has no type parameters"
                                      : "its type parameters are " + llvm::join(known, ", ");
      return Failure::usage(
          {"`" + decl.decl->name.text + "` has no type parameter '" + name + "'", has});
    }
    auto type = runtime::parseDType(typeName);
    if (!type)
      return Failure::usage(type.takeError());
    auto done = bindType(session, decl, *generic, *ir::elementTypeNamed(runtime::nameOf(*type)),
                         "by --bind", types);
    if (!done)
      return done.takeFailure();
  }
  return types;
}

//===-- Specs -------------------------------------------------------------===//

namespace {
class InputReader {
public:
  InputReader(Session &session, dsl::DeclRef decl, ReadInputs mode)
      : session(session), ref(decl), decl(*decl.decl), mode(mode), specs(this->decl.params.size()) {
  }

  Outcome<std::monostate> parse(const std::vector<std::string> &texts);
  Outcome<std::monostate> readTensors();
  Outcome<std::monostate> bindRest();
  Outcome<std::monostate> readScalars();

  Inputs inputs;

private:
  std::string declaration(const dsl::Param &param) {
    return declarationOf(param, ref.file->source);
  }
  std::string allDeclarations() {
    std::string text;
    for (const dsl::Param &param : decl.params)
      text += (text.empty() ? "" : ", ") + declaration(param);
    return "`" + decl.name.text + "` takes " + (text.empty() ? "nothing" : text);
  }
  Outcome<std::monostate> make(size_t position, std::optional<DType> scalarType);

  Session &session;
  dsl::DeclRef ref;
  const dsl::Decl &decl;
  ReadInputs mode;
  std::vector<std::optional<runtime::TensorSpec>> specs;
};
} // namespace

Outcome<std::monostate> InputReader::parse(const std::vector<std::string> &texts) {
  std::vector<std::string> names;
  for (const dsl::Param &param : decl.params)
    names.push_back(param.name.text);
  for (const std::string &text : texts) {
    auto binding = splitBinding(text, "NAME=SPEC, such as x=randn:128x64:f32");
    if (!binding)
      return binding.takeFailure();
    auto &[name, specText] = *binding;
    size_t position = llvm::find(names, name) - names.begin();
    if (position == names.size()) {
      std::string advice = didYouMean(name, names);
      return Failure::usage({"`" + decl.name.text + "` has no input '" + name + "'",
                             advice.empty() ? allDeclarations() : advice});
    }
    if (specs[position])
      return Failure::usage({"input '" + name + "' is given twice", ""});
    auto spec = runtime::parseTensorSpec(specText);
    if (!spec)
      return Failure::usage({"input '" + name + "': " + spec.error().message, spec.error().hint});
    if (const auto *file = std::get_if<runtime::FileSpec>(&*spec))
      inputs.files.push_back(file->path);
    specs[position] = *std::move(spec);
  }
  std::string missing, calls;
  for (size_t n = 0; n < specs.size(); ++n)
    if (!specs[n] && !decl.params[n].defaultValue &&
        !(mode == ReadInputs::GivenOnes && decl.params[n].type.isTensor)) {
      missing += (missing.empty() ? "" : ", ") + declaration(decl.params[n]);
      calls += (calls.empty() ? "" : " ") + ("--in " + names[n] + "=SPEC");
    }
  if (!missing.empty())
    return Failure::usage({"`" + decl.name.text + "` needs " + missing,
                           "add " + calls + "; a SPEC is such as randn:128x64:f32, x.npy or 0.5"});
  inputs.tensors.resize(specs.size());
  inputs.shapes.resize(specs.size());
  return Done{};
}

Outcome<std::monostate> InputReader::make(size_t position, std::optional<DType> scalarType) {
  const dsl::Param &param = decl.params[position];
  const runtime::TensorSpec &spec = *specs[position];
  auto explain = [&](runtime::Error error) {
    error.message = "input '" + param.name.text + "': " + error.message;
    return error;
  };
  bool isNumber = std::holds_alternative<runtime::Scalar>(spec);
  if (isNumber && param.type.isTensor)
    return Failure::usage(
        {"input '" + param.name.text + "' is a tensor, `" + declaration(param) + "`, not a number",
         "full:VALUE:SHAPE:TYPE gives a tensor of equal numbers"});
  if (auto *generator = std::get_if<runtime::GeneratorSpec>(&spec)) {
    if (auto checked = runtime::checkGenerator(*generator); !checked)
      return Failure::usage(explain(checked.takeError()));
    if (mode == ReadInputs::OnlyShapes && param.type.isTensor) {
      inputs.shapes[position] = {generator->type, generator->shape};
      return Done{};
    }
  }
  if (runtime::Status named = runtime::checkName(spec); !named)
    return Failure::usage(explain(named.takeError()));
  auto tensor = runtime::makeTensor(spec, param.name.text, scalarType);
  if (!tensor)
    return isNumber ? Failure::usage(explain(tensor.takeError()))
                    : Failure::environment(explain(tensor.takeError()));
  if (!param.type.isTensor && tensor->rank() != 0)
    return Failure::usage({"input '" + param.name.text + "' is a scalar, `" + declaration(param) +
                               "`, not " + tensor->describe(),
                           ""});
  inputs.shapes[position] = {tensor->dtype(), tensor->shape()};
  inputs.tensors[position] = std::make_shared<Tensor>(*std::move(tensor));
  return Done{};
}

Outcome<std::monostate> InputReader::readTensors() {
  for (size_t n = 0; n < specs.size(); ++n) {
    const dsl::Param &param = decl.params[n];
    if (!specs[n] || (!param.type.isTensor && std::holds_alternative<runtime::Scalar>(*specs[n])))
      continue;
    if (auto made = make(n, std::nullopt); !made)
      return made;
    const dsl::Generic *generic = findGeneric(decl, param.type.element.text);
    if (!generic)
      continue;
    auto type = ir::elementTypeNamed(runtime::nameOf(inputs.shapes[n]->type));
    if (auto bound =
            bindType(session, ref, *generic, *type, "by `" + param.name.text + "`", inputs.types);
        !bound)
      return bound;
  }
  return Done{};
}

/// Generics that no tensor binds: f32 where that is allowed, as for literals in a source.
Outcome<std::monostate> InputReader::bindRest() {
  for (const dsl::Generic &generic : decl.generics) {
    if (generic.isConst || inputs.types.count(generic.name.text))
      continue;
    std::vector<ir::ElementType> allowed = session.elaborator.alternatives(ref, generic);
    if (allowed.empty())
      return Failure::reported();
    if (llvm::is_contained(allowed, ir::ElementType::F32))
      inputs.types[generic.name.text] = ir::ElementType::F32;
    else if (allowed.size() == 1)
      inputs.types[generic.name.text] = allowed.front();
    else
      return Failure::usage(
          {"no input says what " + generic.name.text + " of `" + decl.name.text + "` is",
           "add --bind " + generic.name.text + "=TYPE, one of " + listOf(allowed)});
  }
  return Done{};
}

Outcome<std::monostate> InputReader::readScalars() {
  for (size_t n = 0; n < specs.size(); ++n) {
    const dsl::Param &param = decl.params[n];
    if (!specs[n] || inputs.shapes[n])
      continue;
    std::string name = param.type.element.text;
    if (auto bound = inputs.types.find(name); bound != inputs.types.end())
      name = ir::nameOf(bound->second).str();
    auto type = runtime::parseDType(name == "int" ? "i64" : name);
    if (!type)
      continue; // no type: elaboration says so, with its place
    if (auto made = make(n, *type); !made)
      return made;
  }
  return Done{};
}

Outcome<Inputs> tile::frontend::cli::readInputs(Session &session, dsl::DeclRef decl,
                                                const std::vector<std::string> &specs,
                                                const std::vector<std::string> &typeBindings,
                                                ReadInputs mode) {
  InputReader reader(session, decl, mode);
  if (auto parsed = reader.parse(specs); !parsed)
    return parsed.takeFailure();
  auto types = parseTypeBindings(session, decl, typeBindings);
  if (!types)
    return types.takeFailure();
  reader.inputs.types = *std::move(types);
  if (auto done = reader.readTensors(); !done)
    return done.takeFailure();
  if (auto done = reader.bindRest(); !done)
    return done.takeFailure();
  if (auto done = reader.readScalars(); !done)
    return done.takeFailure();
  return std::move(reader.inputs);
}

//===-- Tensors of the shapes that dims give ------------------------------===//

/// What a kernel's tensor is as long as; a failure where a dim is not known.
static Outcome<runtime::Shape> shapeOf(ir::KernelOp kernel, unsigned position,
                                       const dsl::Param &param, const dsl::SourceFile &source,
                                       const llvm::StringMap<int64_t> &dims) {
  mlir::AffineMap map = kernel.getParamShape(position);
  llvm::SmallVector<int64_t> values;
  std::string unknown;
  for (auto [n, dim] : llvm::enumerate(kernel.getDims().getAsValueRange<mlir::StringAttr>())) {
    auto known = dims.find(dim);
    values.push_back(known == dims.end() ? 0 : known->second);
    if (known == dims.end() && map.isFunctionOfSymbol(n))
      unknown += (unknown.empty() ? "" : " ") + ("--dim " + dim + "=VALUE").str();
  }
  std::string needs =
      "`" + ir::nameInSource(kernel.getSymName()) + "` needs " + declarationOf(param, source);
  if (!unknown.empty())
    return Failure::usage({needs, "add --in " + param.name.text + "=SPEC, or " + unknown});
  runtime::Shape shape;
  for (mlir::AffineExpr expr : map.getResults()) {
    std::optional<int64_t> extent = ir::evaluateAffine(expr, {}, values);
    if (!extent || *extent < 0 || *extent > ir::maxExtent)
      return Failure::usage({needs + ", which has no such shape with these dims", ""});
    shape.push_back(*extent);
  }
  return shape;
}

Outcome<std::monostate> Inputs::generateMissing(dsl::DeclRef decl, ir::KernelOp kernel,
                                                const llvm::StringMap<int64_t> &dims) {
  for (const Port &port : interfaceOf(kernel).inputs) {
    auto param = llvm::find_if(
        decl.decl->params, [&](const dsl::Param &param) { return param.name.text == port.name; });
    size_t position = param - decl.decl->params.begin();
    if (!port.isTensor || tensors[position])
      continue;
    runtime::GeneratorSpec spec;
    spec.type = port.type;
    spec.kind = runtime::isFloat(port.type) ? runtime::GeneratorSpec::Kind::Randn
                                            : runtime::GeneratorSpec::Kind::Uniform;
    if (!runtime::isFloat(port.type) && runtime::sizeOf(port.type) > 1)
      return Failure::usage({"what the numbers of `" + port.name + "` mean is not known",
                             "add --in " + port.name + "=SPEC"});
    auto shape = shapeOf(kernel, port.position, *param, decl.file->source, dims);
    if (!shape)
      return shape.takeFailure();
    spec.shape = *std::move(shape);
    auto tensor = runtime::makeTensor(spec, port.name);
    if (!tensor)
      return Failure::environment(
          {"input '" + port.name + "': " + tensor.error().message, tensor.error().hint});
    shapes[position] = {tensor->dtype(), tensor->shape()};
    tensors[position] = std::make_shared<Tensor>(*std::move(tensor));
  }
  return Done{};
}

//===-- Arguments ---------------------------------------------------------===//

/// The bits of a scalar: those of the tensor that was given for it, else its default's.
static Outcome<uint64_t> scalarBits(const Port &port, const Tensor *tensor) {
  if (tensor && tensor->dtype() != port.type)
    return Failure::usage({"input '" + port.name + "' is declared as " + port.str() + ", not " +
                               std::string(runtime::nameOf(tensor->dtype())),
                           ""});
  uint64_t bits = port.defaultBits.value_or(0);
  if (tensor) {
    bits = 0;
    std::memcpy(&bits, tensor->data(), tensor->byteSize());
  }
  return bits;
}

Outcome<Arguments> Inputs::arguments(const Interface &interface) const {
  Arguments result;
  assert(tensors.size() == interface.inputs.size() && "the parameters are the inputs");
  for (auto [port, tensor] : llvm::zip_equal(interface.inputs, tensors)) {
    Argument &argument = result.emplace_back();
    if (port.isTensor) {
      argument.tensor = tensor;
      continue;
    }
    auto bits = scalarBits(port, tensor.get());
    if (!bits)
      return bits.takeFailure();
    argument.bits = *bits;
  }
  return result;
}

Outcome<std::vector<runtime::GraphInput>> Inputs::bindable(const Interface &interface) const {
  std::vector<runtime::GraphInput> result;
  for (auto [port, tensor, shape] : llvm::zip_equal(interface.inputs, tensors, shapes)) {
    runtime::GraphInput &input = result.emplace_back();
    if (!port.isTensor) {
      auto bits = scalarBits(port, tensor.get());
      if (!bits)
        return bits.takeFailure();
      input.bits = *bits;
      continue;
    }
    if (shape->type != port.type)
      return Failure::usage({"input '" + port.name + "' is declared as " + port.str() + ", not " +
                                 runtime::describe(shape->type, shape->shape),
                             ""});
    input.placed = &*shape;
  }
  return result;
}

int64_t Inputs::largestExtent() const {
  int64_t largest = 0;
  for (const auto &tensor : tensors)
    if (tensor)
      for (int64_t extent : tensor->shape())
        largest = std::max(largest, extent);
  return largest;
}
