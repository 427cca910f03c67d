// Runs compiled artifacts: kernels and graphs that `tilec compile --emit=artifact` made. Needs
// neither MLIR nor LLVM, in the program or on the machine.
//
//   Result<Artifact> artifact = Artifact::load("kernels.tileart");
//   if (!artifact) …                                  // artifact.error().str()
//   Result<ArtifactFunction> softmax = artifact->function("softmax");
//   Result<NamedTensors> outputs = softmax->launch({{"x", x}});   // x: a Tensor
//   const Tensor &y = *outputs->at("y");
//
// On a GPU, where the artifact has code for it:
//
//   Result<Gpu> gpu = Gpu::open();
//   Result<DeviceTensor> onGpu = gpu->upload(x);
//   Result<NamedDeviceTensors> outputs = softmax->launch(*gpu, {{"x", *onGpu}});
//   Result<Tensor> y = gpu->download(outputs->at("y"));
#pragma once

#include "runtime/base/Hash.h"
#include "runtime/cuda/Gpu.h"
#include "runtime/launch/Binding.h"
#include "runtime/launch/GraphRun.h"
#include "runtime/tensor/Tensor.h"

#include <concepts>
#include <map>
#include <memory>

namespace tile::runtime {

struct ArtifactArguments;

/// An argument of a launch: a tensor, which it refers to until the launch is over, a tensor of a
/// GPU, or a number.
class LaunchArgument {
public:
  LaunchArgument(const Tensor &tensor) : tensor(&tensor) {}
  LaunchArgument(std::shared_ptr<const Tensor> tensor)
      : tensor(tensor.get()), owner(std::move(tensor)) {}
  LaunchArgument(cuda::DeviceTensor tensor) : onDevice(std::move(tensor)) {}
  template <typename T>
  requires std::integral<T> || std::floating_point<T> LaunchArgument(T number)
      : text(numberText(number)) {}

private:
  friend class ArtifactFunction;
  friend struct ArtifactArguments;
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
  std::optional<DType> dtype() const {
    return tensor     ? std::optional(tensor->dtype())
           : onDevice ? std::optional(onDevice->dtype())
                      : std::nullopt;
  }

  const Tensor *tensor = nullptr;
  std::shared_ptr<const Tensor> owner;
  std::optional<cuda::DeviceTensor> onDevice;
  /// Of a number: as the language writes it.
  std::string text;
};

struct NamedLaunchArgument {
  std::string name;
  LaunchArgument value;
};

/// Outputs by name, `inout` parameters with their new values among them.
using NamedTensors = std::map<std::string, std::shared_ptr<const Tensor>>;
using NamedDeviceTensors = std::map<std::string, cuda::DeviceTensor>;

/// A kernel or graph that is bound to tensors of a GPU: made by ArtifactFunction::prepare. It holds
/// them, and the memory that it needs besides. One thread at a time may use it; it may move.
class ArtifactCall {
public:
  ~ArtifactCall();
  ArtifactCall(ArtifactCall &&) noexcept;
  ArtifactCall &operator=(ArtifactCall &&) noexcept;

  /// Runs it on what its tensors hold now, and doesn't wait. Nothing is looked up and nothing
  /// allocated; a graph becomes a CUDA graph after a few runs. Faults of the kernels show when the
  /// stream is synchronized.
  Status operator()();

  /// An output by its name, which has to be one; the same at each run.
  const cuda::DeviceTensor &output(const std::string &name) const { return outputs().at(name); }
  const NamedDeviceTensors &outputs() const;

private:
  friend class ArtifactFunction;
  struct Impl;
  explicit ArtifactCall(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

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

  /// The same on a GPU, whose tensors the arguments are: on its stream, without waiting; of kernels
  /// that assert or print it waits for the end, since it tells. Outputs may be given, too, as
  /// tensors to be written; the others get memory of their own. Refused besides: tensors that
  /// overlap what is written, tensors of the host or of another device, and a device that the
  /// artifact has no code for. The first launch on a device loads the code, which the driver may
  /// have to compile.
  Result<NamedDeviceTensors> launch(const cuda::Gpu &gpu,
                                    const std::vector<NamedLaunchArgument> &arguments) const;
  /// Binds it to tensors of a GPU, to be run many times. What `launch` refuses is refused here, and
  /// kernels that assert or print. An `inout` parameter of a kernel is changed in place.
  Result<ArtifactCall> prepare(const cuda::Gpu &gpu,
                               const std::vector<NamedLaunchArgument> &arguments) const;

  /// On the processor with everything in order: `inputs` as the instance's signature has them.
  /// Outputs come in the order of the signature.
  struct Outcome {
    std::vector<std::shared_ptr<const Tensor>> outputs;
    /// Of a graph.
    GraphMemory memory;
  };
  Result<Outcome> launchInstance(size_t instance, std::span<const GraphInput> inputs,
                                 const DimValues &dims) const;

  struct DeviceOutcome {
    std::vector<cuda::DeviceTensor> outputs;
    GraphMemory memory;
  };
  /// On a GPU, where the inputs are placed; they are not changed.
  Result<DeviceOutcome> launchInstance(const cuda::Gpu &gpu, size_t instance,
                                       std::span<const GraphInput> inputs,
                                       const DimValues &dims) const;

private:
  friend class Artifact;
  struct State;
  class OnDevice;
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
