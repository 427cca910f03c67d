//===- Module.h - builds, loads, compiles and runs kernels ----------------===//
#ifndef TILE_FRONTEND_TILE_MODULE_H
#define TILE_FRONTEND_TILE_MODULE_H

#include "frontend/tile/Fuse.h"
#include "frontend/tile/Kernel.h"

#include <map>

namespace tile::runtime::cuda {
class Gpu;
}

namespace tile {

/// A mistake in a kernel, at its place: a line of C++ for kernels built here, of the file for
/// loaded ones.
struct Error {
  std::string message;
  /// What to do about it; may be empty.
  std::string hint;
  /// What else belongs to it.
  std::vector<std::string> notes;
  /// Empty where no place is known; lines and columns count from 1.
  std::string file;
  unsigned line = 0, column = 0;

  /// "file:line:column: error: message", with a line for each note and the hint.
  std::string str() const;
};

/// What runs kernels. All give the same results: integers exactly, floats within rounding.
enum class Device {
  Cpu,    // vector code, all cores
  Cuda,   // the first NVIDIA GPU: tensors of the host are copied there and back (but see Cuda.h)
  Interp, // the reference interpreter: slow, and checks what it does
};

struct CompileOptions {
  Device device = Device::Cpu;
  /// Type generics by name, where the arguments of the call don't tell them: {{"T", f16}}.
  std::map<std::string, Type> types = {};
  /// Of a graph: whether kernels become one. Which do is decided for the shapes of the first call,
  /// and right for all.
  FuseMode fuse = defaultFuseMode;
  /// Tile sizes by binder, instead of the schedule's.
  std::map<std::string, int64_t> sizes = {};
  /// On the CPU: watches every access, and refuses calls in which one is outside its tensor, reads
  /// what nobody wrote, or meets another program's. Slow; for tests.
  bool sanitize = false;
};

/// An argument of a call: a tensor, which it refers to until the call is over, or a number.
class Argument {
public:
  Argument(const Tensor &tensor) : tensor(&tensor) {}
  Argument(const std::shared_ptr<const Tensor> &tensor) : tensor(tensor.get()), owner(tensor) {}
  template <typename T>
  requires std::integral<T> || std::floating_point<T> Argument(T number)
      : text(numberText(number)) {}

private:
  friend class Function;
  friend class DeviceArgument;
  static std::string numberText(bool number) { return number ? "true" : "false"; }
  template <IntegerLiteral T>
  static std::string numberText(T number) {
    return std::to_string(number);
  }
  static std::string numberText(double number);

  const Tensor *tensor = nullptr;
  std::shared_ptr<const Tensor> owner;
  std::string text;
};

using runtime::cuda::Gpu;
class PreparedCall;
struct NamedDeviceArgument;

struct NamedArgument {
  std::string name;
  Argument value;
};

/// The outputs of a call by name, `inout` parameters with their new values among them.
using Outputs = std::map<std::string, std::shared_ptr<const Tensor>>;

/// A kernel or graph of a module that can be called. Copies are the same function; it keeps its
/// module alive. Calls may come from any thread and run one after the other.
class Function {
public:
  /// Runs it on tensors and numbers by parameter name, in any order; constants and dimensions may
  /// be given as well. Arguments are not changed: an `inout` parameter is copied. Refused, with
  /// the reason: arguments that are missing or unknown, types and shapes that don't fit, what
  /// `requires` forbids, and more memory than there is. The first call with new types compiles, or
  /// takes the code from the cache on disk (docs/artifact.md).
  Result<Outputs> operator()(const std::vector<NamedArgument> &arguments) const;

  /// Binds it to tensors in the memory of a GPU, to be run many times (frontend/tile/Cuda.h).
  Result<PreparedCall> prepare(const Gpu &gpu,
                               const std::vector<NamedDeviceArgument> &arguments) const;

  const std::string &name() const { return symbol; }

private:
  friend class Module;
  struct Impl;
  struct DeviceArguments;
  Function(std::shared_ptr<Impl> impl, std::string symbol)
      : impl(std::move(impl)), symbol(std::move(symbol)) {}
  std::shared_ptr<Impl> impl;
  std::string symbol;
};

/// A set of kernels and graphs: built here, or loaded from `.tile` files.
class Module {
public:
  /// Empty.
  Module();
  ~Module();
  Module(Module &&);
  Module &operator=(Module &&);

  /// Reads and checks a file and all it imports; `import "…"` looks beside it and in `folders`.
  /// What is wrong, unreadable files included, is in `errors`.
  static Module load(const std::string &path, std::vector<std::string> folders = {});
  /// The same for a text; `name` stands in errors.
  static Module parse(std::string text, std::string name = "text.tile",
                      std::vector<std::string> folders = {});

  /// Builds a kernel. False if it has errors; the module then has no such kernel.
  bool kernel(std::string name, const std::function<void(Kernel &)> &build,
              std::source_location place = std::source_location::current());

  bool ok() const { return errors().empty(); }
  /// Of everything so far, in order.
  const std::vector<Error> &errors() const;
  /// All errors as text, a paragraph each.
  std::string errorText() const;
  /// The kernels that were built here as tile IR, before scheduling.
  std::string ir() const;

  /// A kernel or graph by name, ready to be called. Refused if there is none, or if the module
  /// has errors.
  Result<Function> compile(const std::string &name, CompileOptions options = {}) const;

  struct Impl;

private:
  std::shared_ptr<Impl> impl;
};

} // namespace tile

#endif // TILE_FRONTEND_TILE_MODULE_H
