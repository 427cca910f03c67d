// Runs compiled artifacts: kernels and graphs that `tilec compile --emit=artifact` made. Needs
// neither MLIR nor LLVM, in the program or on the machine.
//
//   Result<Artifact> artifact = Artifact::load("kernels.tileart");
//   if (!artifact) …                                  // artifact.error().str()
//   Result<ArtifactFunction> softmax = artifact->function("softmax");
//   Result<NamedTensors> outputs = softmax->launch({{"x", x}});   // x: a Tensor
//   const Tensor &y = *outputs->at("y");
#pragma once

#include "runtime/Binding.h"
#include "runtime/GraphRun.h"
#include "runtime/Hash.h"
#include "runtime/Tensor.h"

#include <concepts>
#include <map>
#include <memory>

namespace tile::runtime {

/// An argument of a launch: a tensor, which it refers to until the launch is over, or a number.
class LaunchArgument {
public:
  LaunchArgument(const Tensor &tensor) : tensor(&tensor) {}
  LaunchArgument(std::shared_ptr<const Tensor> tensor)
      : tensor(tensor.get()), owner(std::move(tensor)) {}
  template <typename T>
  requires std::integral<T> || std::floating_point<T> LaunchArgument(T number)
      : text(numberText(number)) {}

private:
  friend class ArtifactFunction;
  template <typename T>
  static std::string numberText(T number) {
    if constexpr (std::same_as<T, bool>)
      return number ? "true" : "false";
    else if constexpr (std::integral<T>)
      return std::to_string(number);
    else
      return realText(static_cast<double>(number));
  }
  static std::string realText(double number);

  const Tensor *tensor = nullptr;
  std::shared_ptr<const Tensor> owner;
  /// Of a number: as the language writes it.
  std::string text;
};

struct NamedLaunchArgument {
  std::string name;
  LaunchArgument value;
};

/// Outputs by name, `inout` parameters with their new values among them.
using NamedTensors = std::map<std::string, std::shared_ptr<const Tensor>>;

/// A choice of element types for which a function was compiled.
struct ArtifactInstance {
  /// Its generics: {"T", "f16"}.
  std::vector<std::pair<std::string, std::string>> types;
  const Signature *signature = nullptr;
  bool isGraph = false;
};

/// A kernel or graph of an artifact. Copies are the same; it keeps the artifact's code alive.
/// Launches may come from any thread, also at the same time.
class ArtifactFunction {
public:
  const std::string &name() const;
  std::vector<ArtifactInstance> instances() const;

  /// Runs it on tensors and numbers by parameter name, in any order; constants and dimensions may
  /// be given as well. The instance is the one whose types the tensors have. Arguments are not
  /// changed: an `inout` parameter is copied. Refused, with the reason: arguments that are missing
  /// or unknown, types and shapes that don't fit, what `requires` forbids, and more memory than
  /// there is. The first launch loads the code.
  Result<NamedTensors> launch(const std::vector<NamedLaunchArgument> &arguments) const;
  Result<NamedTensors> operator()(const std::vector<NamedLaunchArgument> &arguments) const {
    return launch(arguments);
  }

  /// The same with everything in order: `inputs` as the instance's signature has them. Outputs
  /// come in the order of the signature.
  struct Outcome {
    std::vector<std::shared_ptr<const Tensor>> outputs;
    /// Of a graph.
    GraphMemory memory;
  };
  Result<Outcome> launchInstance(size_t instance, std::span<const GraphInput> inputs,
                                 const DimValues &dims) const;

private:
  friend class Artifact;
  struct State;
  explicit ArtifactFunction(std::shared_ptr<const State> state) : state(std::move(state)) {}
  Result<size_t> choose(const std::vector<NamedLaunchArgument> &arguments) const;

  std::shared_ptr<const State> state;
};

class Artifact {
public:
  /// Reads and checks a file.
  static Result<Artifact> load(const std::string &path);
  static Result<Artifact> fromBytes(std::span<const std::byte> bytes);

  /// The names that can be called, in their order.
  std::vector<std::string> names() const;
  /// A kernel or graph by name; refused, with the names that there are.
  Result<ArtifactFunction> function(const std::string &name) const;
  Result<ArtifactFunction> kernel(const std::string &name) const { return function(name); }

  /// The hash of the content: the same content has the same, everywhere.
  Hash128 hash() const;
  const ArtifactData &data() const;

private:
  friend class ArtifactFunction;
  struct State;
  explicit Artifact(std::shared_ptr<State> state) : state(std::move(state)) {}
  std::shared_ptr<State> state;
};

} // namespace tile::runtime
