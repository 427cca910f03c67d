//===- BuilderModule.cpp - modules of the C++ API, and calls --------------===//

#include "frontend/builder/BuilderModuleImpl.h"

#include "dsl/BodyElaborator.h"
#include "frontend/builder/BuilderImpl.h"
#include "frontend/fusion/FusionVeto.h"
#include "runtime/tensor/Scalar.h"

#include <cmath>
#include <cstdio>
#include <functional>

using namespace tile;
using namespace tile::detail;

namespace {

Error toError(mlir::Diagnostic &diagnostic) {
  Error error;
  error.message = diagnostic.str();
  if (auto loc = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>()) {
    error.file = loc.getFilename().str();
    error.line = loc.getLine();
    error.column = loc.getColumn();
  }
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    std::string text = note.str();
    if (llvm::StringRef(text).starts_with("hint: "))
      error.hint += (error.hint.empty() ? "" : "; ") + text.substr(6);
    else
      error.notes.push_back(std::move(text));
  }
  return error;
}

Error toError(const dsl::Diagnostic &diagnostic) {
  Error error;
  error.message = diagnostic.message;
  if (diagnostic.file) {
    dsl::SourceFile::Position position = diagnostic.file->position(diagnostic.range.begin);
    error.file = diagnostic.file->name();
    error.line = position.line;
    error.column = position.column;
  }
  for (const dsl::Diagnostic &note : diagnostic.notes)
    error.notes.push_back(note.message);
  for (const std::string &hint : diagnostic.hints)
    error.hint += (error.hint.empty() ? "" : "; ") + hint;
  return error;
}

} // namespace

Collector::Collector(mlir::MLIRContext &context, std::vector<Error> &errors)
    : handler(&context, [&errors](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          errors.push_back(toError(diagnostic));
        return mlir::success();
      }) {}

runtime::Error tile::detail::firstOf(const std::vector<Error> &errors, std::string otherwise) {
  if (errors.empty())
    return {std::move(otherwise), ""};
  Error first = errors.front();
  runtime::Error result{"", std::move(first.hint)};
  first.hint.clear();
  result.message = first.str();
  if (errors.size() > 1)
    result.message += "\n(and " + std::to_string(errors.size() - 1) + " more)";
  return result;
}

std::string Error::str() const {
  std::string text;
  if (!file.empty())
    text = file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": ";
  text += "error: " + message;
  for (const std::string &note : notes)
    text += "\n  note: " + note;
  if (!hint.empty())
    text += "\n  hint: " + hint;
  return text;
}

//===-- Modules -----------------------------------------------------------===//

Module::Impl::Impl() {
  context.loadDialect<ir::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                      mlir::scf::SCFDialect>();
  built = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  std::optional<runtime::Error> problem;
  compiler.cache = runtime::processCache(problem);
  if (problem) // once in a process
    std::fprintf(stderr, "tile: warning: %s; compiled code is not kept\n",
                 problem->message.c_str());
}

dsl::DeclRef Module::Impl::declaration(const std::string &name) const {
  if (!loaded || !loaded->root)
    return {};
  dsl::DiagnosticEngine ambiguity;
  dsl::DeclRef decl = loaded->program.lookup(*loaded->root, name, {}, ambiguity);
  bool isCallable = decl && (decl.decl->kind == dsl::Decl::Kind::Kernel ||
                             decl.decl->kind == dsl::Decl::Kind::Graph);
  return isCallable ? decl : dsl::DeclRef{};
}

std::string Module::Impl::names() const {
  std::string list;
  auto add = [&](std::string_view name) {
    list += (list.empty() ? "`" : ", `") + std::string(name) + "`";
  };
  for (auto kernel : const_cast<Impl *>(this)->built->getOps<ir::KernelOp>())
    add(kernel.getSymName());
  if (loaded && loaded->root)
    for (const dsl::Decl &decl : loaded->root->module.decls)
      if (decl.kind == dsl::Decl::Kind::Kernel || decl.kind == dsl::Decl::Kind::Graph)
        add(decl.name.text);
  return list;
}

static frontend::Device deviceOf(Device device) {
  switch (device) {
  case Device::Cpu:
    return frontend::Device::Cpu;
  case Device::Cuda:
    return frontend::Device::Cuda;
  case Device::Interp:
    return frontend::Device::Interp;
  }
  llvm_unreachable("covered switch");
}

frontend::Executor &Module::Impl::executor(mlir::ModuleOp module, Device device,
                                           std::shared_ptr<runtime::cuda::Stream> stream) {
  auto &executor = executors[{module.getOperation(), device, stream.get()}];
  if (!executor) {
    executor = std::make_unique<frontend::Executor>(compiler, module, deviceOf(device));
    executor->stream = std::move(stream);
  }
  return *executor;
}

Module::Module() : impl(std::make_shared<Impl>()) {}
Module::~Module() = default;
Module::Module(Module &&) = default;
Module &Module::operator=(Module &&) = default;

Module Module::load(const std::string &path, std::vector<std::string> folders) {
  std::string reason;
  if (std::optional<std::string> text = dsl::readText(path, reason))
    return parse(*std::move(text), path, std::move(folders));
  Module module;
  module.impl->errors.push_back({"can't read " + path + ": " + reason, "", {}, "", 0, 0});
  return module;
}

Module Module::parse(std::string text, std::string name, std::vector<std::string> folders) {
  Module module;
  Impl &impl = *module.impl;
  impl.loaded = std::make_unique<Loaded>(impl.context, std::move(folders));
  Loaded &loaded = *impl.loaded;
  loaded.root = loaded.program.load(std::move(name), std::move(text));
  if (loaded.diags.errorCount() == 0)
    dsl::checkFile(loaded.program, *loaded.root, loaded.diags);
  for (const dsl::Diagnostic &diagnostic : loaded.diags.diagnostics())
    if (diagnostic.severity == dsl::Diagnostic::Severity::Error)
      impl.errors.push_back(toError(diagnostic));
  return module;
}

//===-- Kernels of modules ------------------------------------------------===//

namespace {
/// Which module a kernel belongs to, for what is said once it is built.
struct Owners {
  std::mutex mutex;
  std::map<uint64_t, std::weak_ptr<Module::Impl>> modules;

  static Owners &global() {
    static Owners owners;
    return owners;
  }
  void add(uint64_t kernel, const std::shared_ptr<Module::Impl> &module) {
    std::lock_guard lock(mutex);
    while (!modules.empty() && modules.begin()->second.expired())
      modules.erase(modules.begin());
    modules[kernel] = module;
  }
  std::shared_ptr<Module::Impl> of(uint64_t kernel) {
    std::lock_guard lock(mutex);
    auto found = modules.find(kernel);
    return found == modules.end() ? nullptr : found->second.lock();
  }
};
} // namespace

void tile::detail::reportOutside(uint64_t kernel, const std::source_location &place) {
  Error error{"this is used while no kernel is being built",
              "values, parameters and statements stand in the function that builds their kernel, "
              "and run on the thread that called `Module::kernel`",
              {},
              place.file_name(),
              place.line(),
              place.column()};
  // `y[i] = exp(x[i])` is one slip.
  static thread_local std::pair<std::string, unsigned> last;
  if (last == std::pair(error.file, error.line))
    return;
  last = {error.file, error.line};
  if (auto module = Owners::global().of(kernel))
    module->errors.push_back(std::move(error));
  else
    std::fprintf(stderr, "%s\n", error.str().c_str());
}

bool Module::kernel(std::string name, const std::function<void(Kernel &)> &build,
                    std::source_location place) {
  held(impl, "Module");
  Collector collector(impl->context, impl->errors);
  mlir::Location loc =
      mlir::FileLineColLoc::get(&impl->context, place.file_name(), place.line(), place.column());
  bool isName = !name.empty() && !llvm::isDigit(name[0]) &&
                llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  if (!isName) {
    mlir::emitError(loc) << "a kernel's name is a word of letters, digits, `_` and `.`; this is `"
                         << name << "`";
    return false;
  }
  if (impl->built->lookupSymbol(name) || impl->declaration(name)) {
    mlir::emitError(loc) << "there is a kernel `" << name << "` already";
    return false;
  }
  if (!build) {
    mlir::emitError(loc) << "the function that builds kernel `" << name << "` is empty";
    return false;
  }
  KernelImpl state(*impl->built, name, place);
  Owners::global().add(state.identity, impl);
  Kernel kernel(state.identity);
  try {
    build(kernel);
  } catch (const std::bad_function_call &) {
    mlir::emitError(loc) << "a function that builds a part of kernel `" << name << "` is empty";
    return false;
  }
  return state.finish(place);
}

const std::vector<Error> &Module::errors() const { return held(impl, "Module").errors; }

std::string Module::errorText() const {
  std::string text;
  for (const Error &error : errors())
    text += error.str() + "\n";
  return text;
}

std::string Module::ir() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  held(impl, "Module").built->print(stream, mlir::OpPrintingFlags().useLocalScope());
  return text + "\n";
}

//===-- Functions ---------------------------------------------------------===//

/// What no kernel and no graph can be compiled with.
static runtime::Status checkOptions(const CompileOptions &options) {
  for (const auto &[binder, size] : options.sizes)
    if (auto checked = frontend::checkSize(binder, size); !checked) {
      frontend::Failure failure = checked.takeFailure();
      return runtime::Error{std::move(failure.message), std::move(failure.hint)};
    }
  return {};
}

Result<Function> Module::compile(const std::string &name, CompileOptions options) const {
  std::lock_guard lock(held(impl, "Module").mutex);
  if (!ok())
    return firstOf(impl->errors, "");
  if (runtime::Status checked = checkOptions(options); !checked)
    return checked.takeError();
  auto function = std::make_shared<Function::Impl>();
  function->module = impl;
  function->options = std::move(options);
  function->symbol = name;
  if (impl->built->lookupSymbol(name)) {
    if (!function->options.types.empty())
      return runtime::Error{"`" + name + "` has no type `" +
                                function->options.types.begin()->first + "` to bind",
                            "the types of a kernel that is built in C++ are known"};
    return Function(std::move(function), name);
  }
  function->decl = impl->declaration(name);
  if (!function->decl) {
    std::string names = impl->names();
    return runtime::Error{"there is no kernel or graph `" + name + "`",
                          names.empty() ? "the module is empty" : "there are " + names};
  }
  for (const auto &[generic, type] : function->options.types)
    if (llvm::none_of(function->decl.decl->generics, [&](const dsl::Generic &known) {
          return !known.isConst && known.name.text == generic;
        }))
      return runtime::Error{"`" + name + "` has no type `" + generic + "` to bind", ""};
  return Function(std::move(function), name);
}

static ir::ElementType elementType(runtime::DType type) {
  std::string_view name = runtime::nameOf(type);
  return *ir::elementTypeNamed(llvm::StringRef(name.data(), name.size()));
}

/// The symbol of the kernel or graph whose generics are bound to the call's types.
Result<std::string> Function::Impl::instance(TypeOf typeOf) const {
  if (!decl)
    return symbol;
  Loaded &loaded = *module->loaded;
  dsl::DiagnosticEngine diags;
  std::vector<std::optional<ir::ElementType>> types(decl.decl->params.size());
  for (auto [param, type] : llvm::zip(decl.decl->params, types)) {
    if (auto chosen = options.types.find(param.type.element.text); chosen != options.types.end())
      type = elementType(chosen->second);
    if (!type)
      if (std::optional<runtime::DType> given = typeOf(param.name.text))
        type = elementType(*given);
  }
  std::optional<dsl::TypeBindings> bindings =
      dsl::bindGenerics(diags, decl.file->source, decl.decl->name.range, decl, types);
  if (!bindings)
    return firstOf({toError(diags.diagnostics().front())}, "");
  // Of generics that no input has, only the options tell.
  for (const dsl::Generic &generic : decl.decl->generics)
    if (auto chosen = options.types.find(generic.name.text); chosen != options.types.end()) {
      ir::ElementType type = elementType(chosen->second);
      if (!llvm::is_contained(loaded.elaborator.alternatives(decl, generic), type))
        return runtime::Error{"`" + generic.name.text + "` of `" + symbol + "` can't be " +
                                  ir::nameOf(type).str(),
                              ""};
      (*bindings)[generic.name.text] = type;
    }
  size_t before = loaded.diags.diagnostics().size();
  std::string instance = loaded.elaborator.elaborate(decl, *bindings);
  if (!instance.empty())
    return instance;
  std::vector<Error> errors;
  for (const dsl::Diagnostic &diagnostic : llvm::drop_begin(loaded.diags.diagnostics(), before))
    errors.push_back(toError(diagnostic));
  return firstOf(errors, "`" + symbol + "` does not compile");
}

std::string Function::Impl::running(mlir::ModuleOp module, const std::string &instance,
                                    const frontend::DeviceDescription *device,
                                    frontend::Executor &executor,
                                    llvm::ArrayRef<std::optional<runtime::PlacedTensor>> inputs,
                                    const llvm::StringMap<int64_t> &dims) const {
  auto graph = llvm::dyn_cast<ir::GraphOp>(module.lookupSymbol(instance));
  if (!graph || options.fuse == FuseMode::Off)
    return instance;
  bool isGpu = options.device == Device::Cuda;
  std::string plannedFor = device ? device->name : isGpu ? "cuda" : "cpu";
  std::string &fused = this->module->fused[{graph, options.fuse, plannedFor, options.sizes}];
  if (!fused.empty())
    return fused;
  llvm::StringMap<int64_t> known = frontend::dimsOfInputs(graph, inputs);
  for (const auto &entry : dims)
    known[entry.getKey()] = entry.getValue();
  frontend::TileSizes sizes;
  sizes.everywhere = options.sizes;
  if (!device)
    device = &frontend::descriptionOf({isGpu ? frontend::Device::Cuda : frontend::Device::Cpu, 0});
  fused = frontend::fuseGraphByCode(module, instance, options.fuse, *device, known, sizes,
                                    this->module->compiler.cache.get(), frontend::codeOn(executor))
              .symbol;
  return fused;
}

/// What is wrong with the arguments of a graph is told of its kernels as they are written.
static frontend::Failure asWritten(frontend::Executor &executor, const std::string &instance,
                                   llvm::ArrayRef<runtime::GraphInput> inputs,
                                   const llvm::StringMap<int64_t> &dims,
                                   frontend::Failure failure) {
  auto see = [](ir::KernelOp, const runtime::KernelLaunch &) -> frontend::Outcome<frontend::Done> {
    return frontend::Done{};
  };
  auto seen = executor.eachLaunch(instance, inputs, dims, see);
  return seen ? std::move(failure) : seen.takeFailure();
}

/// The bits of a number as the parameter's type has them.
Result<uint64_t> tile::detail::bitsOf(const frontend::Port &port, const std::string &text) {
  Result<runtime::Scalar> scalar = runtime::parseScalar(text);
  if (!scalar)
    return scalar.takeError();
  uint64_t bits = 0;
  if (runtime::Status stored = runtime::storeScalar(*scalar, port.type, &bits); !stored)
    return runtime::Error{"`" + port.name + "`: " + stored.error().message, stored.error().hint};
  return bits;
}

/// A tensor that is none would be taken for a number.
runtime::Status Function::Impl::checkTensors(const std::vector<NamedArgument> &arguments) const {
  for (const NamedArgument &argument : arguments) {
    const Tensor *tensor = argument.value.tensor;
    bool isNull = !tensor && argument.value.text.empty();
    if (isNull || (tensor && !tensor->data()))
      return runtime::Error{"the tensor that is given for `" + argument.name + "` " +
                                (isNull ? "is null" : "was moved from"),
                            ""};
  }
  return {};
}

/// The arguments in the order of the interface; what names a dimension goes to `explicitDims`.
Result<frontend::Arguments> Function::Impl::order(const frontend::Interface &interface,
                                                  llvm::ArrayRef<llvm::StringRef> dims,
                                                  const std::vector<NamedArgument> &arguments,
                                                  llvm::StringMap<int64_t> &explicitDims) const {
  frontend::Arguments ordered(interface.inputs.size());
  std::vector<bool> given(ordered.size());
  for (const NamedArgument &argument : arguments) {
    const frontend::Port *port = interface.input(argument.name);
    if (!port && llvm::is_contained(dims, argument.name)) {
      int64_t value;
      if (llvm::StringRef(argument.value.text).getAsInteger(10, value))
        return runtime::Error{"dimension `" + argument.name + "` takes an integer", ""};
      explicitDims[argument.name] = value;
      continue;
    }
    if (!port) {
      std::string inputs;
      for (const frontend::Port &known : interface.inputs)
        inputs += (inputs.empty() ? "" : ", ") + known.str();
      return runtime::Error{"`" + symbol + "` has no input `" + argument.name + "`",
                            "its inputs are " + inputs};
    }
    size_t position = port - interface.inputs.data();
    if (given[position])
      return runtime::Error{"`" + argument.name + "` is given twice", ""};
    given[position] = true;
    if (argument.value.tensor) {
      ordered[position].tensor =
          std::shared_ptr<const Tensor>(argument.value.owner, argument.value.tensor);
      continue;
    }
    if (port->isTensor)
      return runtime::Error{"`" + port->name + "` is a tensor, the argument a number",
                            "it is declared as " + port->str()};
    Result<uint64_t> bits = bitsOf(*port, argument.value.text);
    if (!bits)
      return bits.takeError();
    ordered[position].bits = *bits;
  }
  for (auto [position, port] : llvm::enumerate(interface.inputs)) {
    if (!given[position] && !port.defaultBits)
      return runtime::Error{"`" + symbol + "` needs an argument for `" + port.name + "`",
                            "it is declared as " + port.str()};
    if (!given[position])
      ordered[position].bits = *port.defaultBits;
  }
  return ordered;
}

llvm::SmallVector<llvm::StringRef> tile::detail::dimsOf(mlir::Operation *function) {
  mlir::ArrayAttr dims;
  if (auto kernel = llvm::dyn_cast<ir::KernelOp>(function))
    dims = kernel.getDims();
  else
    dims = llvm::cast<ir::GraphOp>(function).getDims();
  return llvm::SmallVector<llvm::StringRef>(dims.getAsValueRange<mlir::StringAttr>());
}

Result<Outputs> Function::operator()(const std::vector<NamedArgument> &arguments) const {
  std::lock_guard lock(held(impl, "Function").module->mutex);
  if (runtime::Status given = impl->checkTensors(arguments); !given)
    return given.takeError();
  Result<std::string> instance =
      impl->instance([&](llvm::StringRef name) -> std::optional<runtime::DType> {
        for (const NamedArgument &argument : arguments)
          if (argument.name == name && argument.value.tensor)
            return argument.value.tensor->dtype();
        return std::nullopt;
      });
  if (!instance)
    return instance.takeError();
  std::vector<Error> errors;
  Collector collector(impl->module->context, errors);
  mlir::ModuleOp module =
      impl->decl ? impl->module->loaded->elaborator.module() : *impl->module->built;
  mlir::Operation *function = module.lookupSymbol(*instance);
  frontend::Interface interface = frontend::interfaceOf(function);
  llvm::StringMap<int64_t> dims;
  Result<frontend::Arguments> ordered = impl->order(interface, dimsOf(function), arguments, dims);
  if (!ordered)
    return ordered.takeError();

  frontend::Executor &executor = impl->module->executor(module, impl->options.device);
  executor.sanitizes = impl->options.sanitize && impl->options.device == Device::Cpu;
  executor.sizes = {};
  executor.sizes.everywhere = impl->options.sizes;
  auto kernels = frontend::kernelsOf(module, *instance);
  if (auto checked = executor.sizes.check(kernels); !checked) {
    frontend::Failure failure = checked.takeFailure();
    if (failure.message.empty())
      return firstOf(errors, "`" + symbol + "` failed");
    return runtime::Error{std::move(failure.message), std::move(failure.hint)};
  }
  std::vector<std::optional<runtime::PlacedTensor>> shapes;
  for (const frontend::Argument &argument : *ordered) {
    shapes.emplace_back();
    if (argument.tensor)
      shapes.back() = {argument.tensor->dtype(), argument.tensor->shape()};
  }
  std::string runs = impl->running(module, *instance, /*device=*/nullptr, executor, shapes, dims);
  frontend::Outcome<frontend::Outputs> results = executor.run(runs, *ordered, dims);
  if (!results) {
    frontend::Failure failure = results.takeFailure();
    if (runs != *instance) {
      std::vector<runtime::GraphInput> inputs;
      for (const frontend::Argument &argument : *ordered)
        inputs.push_back({argument.tensor, argument.bits});
      errors.clear();
      failure = asWritten(executor, *instance, inputs, dims, std::move(failure));
    }
    if (failure.message.empty())
      return firstOf(errors, "`" + symbol + "` failed");
    return runtime::Error{std::move(failure.message), std::move(failure.hint)};
  }
  Outputs outputs;
  for (auto [port, tensor] : llvm::zip(interface.outputs, *results)) {
    // An output that is an input itself would end with the caller's tensor.
    bool isArgument = llvm::any_of(*ordered, [&](const frontend::Argument &argument) {
      return argument.tensor && argument.tensor.get() == tensor.get();
    });
    if (isArgument) {
      Result<Tensor> copy = tensor->clone();
      if (!copy)
        return copy.takeError();
      tensor = std::make_shared<const Tensor>(*std::move(copy));
    }
    outputs[port.name] = std::move(tensor);
  }
  return outputs;
}

std::string Argument::numberText(double number) {
  if (std::isnan(number))
    return "nan";
  if (std::isinf(number))
    return number < 0 ? "-inf" : "inf";
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", number);
  // A real stays a real: 2.0 is no integer.
  return std::string(text).find_first_of(".e") == std::string::npos ? std::string(text) + ".0"
                                                                    : text;
}
