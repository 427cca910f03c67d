#include "runtime/cuda/Launch.h"
#include "runtime/base/Text.h"

namespace tile::runtime::cuda {

std::string Dim3::str() const {
  return std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z);
}

//===-- What was wrong ----------------------------------------------------===//

// Off the path of success: the driver is asked first, and says no more than "invalid value".

static std::string why(const Function &function, const LaunchConfig &config) {
  const DeviceProperties &properties = function.device().properties();
  uint64_t threads = config.block.count();
  auto most = static_cast<uint64_t>(function.attributes().maxThreads);
  if (threads == 0)
    return "a block of no threads";
  if (threads > most)
    return "a block of " + std::to_string(threads) + " threads, and it can have " +
           std::to_string(most) + " with its " + std::to_string(function.attributes().registers) +
           " registers a thread";
  constexpr uint32_t mostX = 0x7fffffff, mostYZ = 0xffff;
  if (config.grid.x > mostX || config.grid.y > mostYZ || config.grid.z > mostYZ)
    return "the grid is larger than " + Dim3{mostX, mostYZ, mostYZ}.str();
  if (config.cluster == Dim3())
    return "";
  if (!properties.isHopperOrNewer())
    return "clusters need compute capability 9.0; " + properties.label() + " has " +
           properties.capability();
  if (config.cluster.isEmpty() || config.grid.x % config.cluster.x ||
      config.grid.y % config.cluster.y || config.grid.z % config.cluster.z)
    return "the cluster doesn't divide the grid";
  return config.cluster.count() > 16 ? "a cluster has 16 blocks at most" : "";
}

static Error failure(const Function &function, const LaunchConfig &config, const Stream &stream,
                     CUresult code) {
  std::string what = "kernel " + quote(function.name()) + " can't be launched with grid " +
                     config.grid.str() + ", block " + config.block.str();
  if (!(config.cluster == Dim3()))
    what += ", cluster " + config.cluster.str();
  if (config.sharedBytes)
    what += ", " + std::to_string(config.sharedBytes) + " bytes of dynamic shared memory";
  std::string reason = why(function, config);
  return stream.error(code, what + (reason.empty() ? "" : "; " + reason),
                      "lower the tile sizes or the number of warps");
}

static Error differentDevices(const Function &function, const Stream &stream) {
  return {"kernel " + quote(function.name()) + " is loaded on device " +
              std::to_string(function.device().properties().index) +
              ", and the stream is one of device " +
              std::to_string(stream.device().properties().index),
          "load the kernel on the device that has the tensors, and use a stream of it"};
}

//===-- Launching ---------------------------------------------------------===//

Status launch(Function &function, const LaunchConfig &config, Stream &stream, void **parameters) {
  const Device &device = stream.device();
  if (function.device().context() != device.context())
    return differentDevices(function, stream);
  if (config.grid.isEmpty())
    return {};
  CUlaunchAttribute attributes[2];
  CUlaunchConfig driverConfig = {
      config.grid.x,  config.grid.y,      config.grid.z,   config.block.x, config.block.y,
      config.block.z, config.sharedBytes, stream.handle(), attributes,     0};
  if (!(config.cluster == Dim3())) {
    CUlaunchAttribute &attribute = attributes[driverConfig.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {config.cluster.x, config.cluster.y, config.cluster.z};
    if (config.cluster.count() > 8)
      if (Status status = function.allowLargeClusters(); !status)
        return status;
  }
  if (config.isDependent && device.properties().isHopperOrNewer()) {
    CUlaunchAttribute &attribute = attributes[driverConfig.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  if (Status status = function.allowShared(config.sharedBytes); !status)
    return status;
  if (CUresult code = device.call(&DriverTable::launchKernelEx, &driverConfig, function.handle(),
                                  parameters, static_cast<void **>(nullptr)))
    return failure(function, config, stream, code);
  stream.log().add(function.name());
  return {};
}

} // namespace tile::runtime::cuda
