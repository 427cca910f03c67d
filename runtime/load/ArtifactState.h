// What stands behind artifacts and their functions: for the sources of runtime/load/Artifact.h
// alone.
#pragma once

#include "runtime/cpu/CpuImage.h"
#include "runtime/cuda/PreparedRun.h"
#include "runtime/load/Artifact.h"

#include <deque>
#include <mutex>

namespace tile::runtime {

inline bool isInput(const ParamRule &param) {
  return param.mode == ParamMode::In || param.mode == ParamMode::InOut;
}

/// "`name`", as messages show it.
inline std::string inCode(const std::string &name) { return "`" + name + "`"; }

/// What can be called, with its code, which is loaded when it is first needed. Any thread may use
/// it.
struct Artifact::State {
  ArtifactData data;
  Hash128 hash;
  std::vector<const Signature *> signatures;

  /// The code of a kernel for these dimensions on this processor.
  Result<const CpuEntry *> entry(uint32_t kernel, std::span<const int64_t> dims);
  /// The same on a device: the first variant that the device and its guard allow.
  Result<std::shared_ptr<const cuda::LoadedKernel>>
  loaded(uint32_t kernel, std::span<const int64_t> dims,
         const std::shared_ptr<cuda::Device> &device);

private:
  Result<std::shared_ptr<const CpuImage>> load(uint32_t index);

  std::mutex mutex;
  std::vector<std::shared_ptr<const CpuImage>> images;
  /// Of what was launched; it stays where it is.
  std::map<const VariantData *, CpuEntry> entries;
  std::mutex cudaMutex; // of what follows
  std::map<std::pair<cuda::CUcontext, const CudaVariant *>,
           std::shared_ptr<const cuda::LoadedKernel>>
      loadedKernels;
};

struct ArtifactArguments;

struct ArtifactFunction::State {
  std::shared_ptr<Artifact::State> artifact;
  std::string name;
  std::vector<const EntryData *> entries;

  const Signature &signature(size_t instance) const {
    const EntryData &entry = *entries[instance];
    return entry.isGraph ? artifact->data.graphs[entry.index].signature()
                         : artifact->data.kernels[entry.index].signature;
  }

  Result<Outcome> launchKernel(uint32_t kernel, std::span<const GraphInput> inputs,
                               const DimValues &dims) const;
  Result<Outcome> launchGraph(const GraphPlan &plan, std::span<const GraphInput> inputs,
                              const DimValues &dims) const;
  /// On a GPU: at once, or added to `run`.
  Result<DeviceOutcome> launchOn(const cuda::Gpu &gpu, cuda::PreparedRun *run, size_t instance,
                                 std::span<const GraphInput> inputs, const DimValues &dims,
                                 const ArtifactArguments *given) const;
};

/// The arguments of a launch, by the parameters of what is launched. It must not be moved.
struct ArtifactArguments {
  std::vector<GraphInput> inputs;
  DimValues dims;
  /// By output: where it is to be; null: anywhere.
  std::vector<const PlacedTensor *> outputs;
  std::vector<cuda::DeviceTensor> outputTensors;

  /// `device` is where it is going to run; null: on the processor.
  Status bind(const Signature &signature, const std::vector<NamedLaunchArgument> &given,
              const cuda::Device *device);

private:
  Status checkPlace(const ParamRule &param, const LaunchArgument &argument,
                    const cuda::Device *device) const;
  const PlacedTensor *place(const cuda::DeviceTensor &tensor);
  Status addOutputs(const Signature &signature, const std::vector<NamedLaunchArgument> &given,
                    const cuda::Device *device);

  std::deque<PlacedTensor> places; // what the others point to
};

/// A kernel with its inputs: shapes are bound, requirements hold.
struct BoundKernel {
  LaunchBinding binding;
  /// By parameter; null for outputs.
  std::vector<const GraphInput *> inputs;
  std::vector<uint64_t> scalars;

  static Result<BoundKernel> create(const Signature &signature, std::span<const GraphInput> inputs,
                                    const DimValues &dims);
};

/// The error of a graph that failed. `asserts` says whether a call's assertion did: such an error
/// begins with the assertion's own place.
Error errorOfGraph(const GraphPlan &plan, GraphFailure failure, const std::vector<char> &asserts);

} // namespace tile::runtime
