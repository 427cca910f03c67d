// Which code of an artifact runs on a GPU.

#include "runtime/cuda/PtxTarget.h"
#include "runtime/launch/Evaluate.h"
#include "runtime/load/ArtifactState.h"

#include <algorithm>

namespace tile::runtime {

/// "sm_90a, sm_80 and x86-64-v3": what there is code for.
static std::string targetsOf(const KernelData &kernel, const ArtifactData &artifact) {
  std::vector<std::string> names;
  auto add = [&](const std::string &name) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  };
  for (const CudaVariant &variant : kernel.cuda)
    add(variant.code.target);
  for (const VariantData &variant : kernel.variants)
    add(artifact.images[variant.image].cpu);
  std::string text;
  for (size_t n = 0; n < names.size(); ++n)
    text += (n == 0 ? "" : n + 1 == names.size() ? " and " : ", ") + names[n];
  return text;
}

/// Why there is no code for a device, or none for these dimensions.
static Error noCode(const KernelData &kernel, const ArtifactData &artifact,
                    std::span<const int64_t> dims, const cuda::Device &device) {
  const cuda::DeviceProperties &properties = device.properties();
  std::string name = inCode(kernel.signature.name), conditions;
  for (const CudaVariant &variant : kernel.cuda)
    if (cuda::runsOn(*cuda::parseTarget(variant.code.target), properties) &&
        conditions.find("`" + variant.condition + "`") == std::string::npos)
      conditions += (conditions.empty() ? "`" : ", `") + variant.condition + "`";
  if (conditions.empty()) {
    std::string targets = targetsOf(kernel, artifact);
    Result<std::string> fitting = cuda::targetFor(properties.major, properties.minor);
    return {"the artifact has code of " + name + " for " + (targets.empty() ? "nothing" : targets) +
                "; " + properties.label() + " has compute capability " + properties.capability(),
            fitting ? "compile it with --target=" + *fitting + ", too" : fitting.error().message};
  }
  std::string values;
  for (size_t d = 0; d < dims.size(); ++d)
    values += (d ? ", " : "") + kernel.signature.dims[d] + " = " + std::to_string(dims[d]);
  return {"the artifact has no code of " + name + " for " + values + " on " + properties.label() +
              " only where " + conditions,
          "--dim compiles it for a dimension's value"};
}

/// Machine code where the driver takes it, else PTX.
static Result<std::shared_ptr<const cuda::LoadedKernel>>
loadVariant(const CudaVariant &variant, const std::shared_ptr<cuda::Device> &device,
            const std::string &name) {
  std::optional<cuda::PtxTarget> target = cuda::parseTarget(variant.code.target);
  bool isOfGeneration = target && target->major == device->properties().major;
  if (!variant.cubin.empty() && isOfGeneration) {
    CudaCode code = variant.code;
    code.image = variant.cubin;
    if (auto loaded = cuda::LoadedKernel::load(device, code, name))
      return loaded;
  }
  return cuda::LoadedKernel::load(device, variant.code, name);
}

Result<std::shared_ptr<const cuda::LoadedKernel>>
Artifact::State::loaded(uint32_t kernel, std::span<const int64_t> dims,
                        const std::shared_ptr<cuda::Device> &device) {
  const KernelData &what = data.kernels[kernel];
  for (const CudaVariant &variant : what.cuda) {
    std::optional<int64_t> holds = 1; // without a guard
    if (!variant.guard.empty())
      holds = evaluateInteger(variant.guard, dims);
    if (!holds || !*holds ||
        !cuda::runsOn(*cuda::parseTarget(variant.code.target), device->properties()))
      continue;
    std::lock_guard lock(cudaMutex);
    auto &known = loadedKernels[{device->context(), &variant}];
    if (!known) {
      auto loaded = loadVariant(variant, device, what.signature.name);
      if (!loaded)
        return loaded.takeError();
      known = *std::move(loaded);
    }
    return known;
  }
  return noCode(what, data, dims, *device);
}

} // namespace tile::runtime
