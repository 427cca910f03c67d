#include "runtime/cuda/Module.h"
#include "runtime/base/Text.h"
#include "runtime/cuda/Cubin.h"
#include "runtime/cuda/JitLogs.h"
#include "runtime/cuda/PtxTarget.h"

#include <algorithm>

namespace tile::runtime::cuda {

//===-- Modules -----------------------------------------------------------===//

Result<std::shared_ptr<Module>> Module::load(std::shared_ptr<Device> device, const void *image,
                                             bool isPtx, const std::string &what) {
  JitLogs logs;
  CUmodule handle = nullptr;
  CUresult code = device->call(&DriverTable::moduleLoadDataEx, &handle, image,
                               isPtx ? JitLogs::countForPtx : JitLogs::countForCubin,
                               logs.options(), logs.values());
  if (!code)
    return std::shared_ptr<Module>(new Module(std::move(device), handle, logs.info()));
  return logs.error(*device, code,
                    what + " on " + device->properties().label() + " can't be loaded");
}

Result<std::shared_ptr<Module>> Module::fromPtx(std::shared_ptr<Device> device,
                                                std::string_view ptx) {
  Result<std::string> what = describePtx(ptx, device->properties());
  if (!what)
    return what.takeError();
  return load(std::move(device), std::string(ptx).c_str(), true, *what);
}

Result<std::shared_ptr<Module>> Module::fromCubin(std::shared_ptr<Device> device,
                                                  std::span<const std::byte> cubin) {
  // The driver learns from the bytes how many there are, and trusts them.
  if (Status status = checkCubin(cubin); !status)
    return status.takeError();
  return load(std::move(device), cubin.data(), false, "the cubin");
}

Module::~Module() { (void)owner->call(&DriverTable::moduleUnload, handle); }

Result<std::shared_ptr<Function>> Module::function(const std::string &name) {
  CUfunction found = nullptr;
  CUresult code = owner->call(&DriverTable::moduleGetFunction, &found, handle, name.c_str());
  if (code == CUDA_ERROR_NOT_FOUND)
    return Error{"the module has no kernel " + quote(name),
                 "kernels are visible entries of the PTX: `.visible .entry`"};
  if (code)
    return owner->error(code, "kernel " + quote(name) + " can't be found");
  std::shared_ptr<Function> function(
      new Function(shared_from_this(), found, owner->internName(name)));
  if (Status status = function->readAttributes(); !status)
    return status.takeError();
  return function;
}

//===-- Functions ---------------------------------------------------------===//

Status Function::readAttributes() {
  const std::pair<CUfunction_attribute, int *> attributes[] = {
      {CU_FUNC_ATTRIBUTE_NUM_REGS, &known.registers},
      {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &known.localBytes},
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &known.staticSharedBytes},
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &known.maxThreads}};
  for (auto [attribute, value] : attributes)
    if (CUresult code = device().call(&DriverTable::funcGetAttribute, value, attribute, function))
      return device().error(code, "the attributes of kernel " + quote(label) + " can't be read");
  int rest = device().properties().sharedPerBlock - known.staticSharedBytes;
  allowed.store(static_cast<uint64_t>(std::max(rest, 0)), std::memory_order_relaxed);
  return {};
}

Status Function::optIn(uint64_t dynamicBytes) {
  const DeviceProperties &properties = device().properties();
  int most = properties.sharedPerBlockOptIn - known.staticSharedBytes;
  if (most < 0 || dynamicBytes > static_cast<uint64_t>(most))
    return Error{"kernel " + quote(label) + " needs " +
                     std::to_string(dynamicBytes + static_cast<uint64_t>(known.staticSharedBytes)) +
                     " bytes of shared memory a block; " + properties.label() + " has " +
                     std::to_string(properties.sharedPerBlockOptIn),
                 "lower the tile sizes, or the depth of its pipeline"};
  std::lock_guard lock(mutex);
  if (dynamicBytes <= allowed.load(std::memory_order_relaxed))
    return {}; // another thread has asked meanwhile
  // All there is at once: so it is asked once, however the sizes of the launches grow.
  if (CUresult code = device().call(&DriverTable::funcSetAttribute, function,
                                    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most))
    return device().error(code, "kernel " + quote(label) + " can't have " + std::to_string(most) +
                                    " bytes of dynamic shared memory");
  allowed.store(static_cast<uint64_t>(most), std::memory_order_relaxed);
  return {};
}

Status Function::allowLargeClusters() {
  if (allowsLargeClusters.load(std::memory_order_relaxed))
    return {};
  std::lock_guard lock(mutex);
  if (allowsLargeClusters.load(std::memory_order_relaxed))
    return {};
  if (CUresult code = device().call(&DriverTable::funcSetAttribute, function,
                                    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1))
    return device().error(code, "kernel " + quote(label) + " can't have clusters of over 8 blocks");
  allowsLargeClusters.store(true, std::memory_order_relaxed);
  return {};
}

Result<int> Function::blocksPerMultiprocessor(int threads, uint64_t dynamicSharedBytes) {
  if (Status status = allowShared(dynamicSharedBytes); !status)
    return status.takeError();
  int blocks = 0;
  if (CUresult code =
          device().call(&DriverTable::occupancyMaxActiveBlocksPerMultiprocessor, &blocks, function,
                        threads, static_cast<size_t>(dynamicSharedBytes)))
    return device().error(code, "the occupancy of kernel " + quote(label) + " can't be told");
  return blocks;
}

} // namespace tile::runtime::cuda
