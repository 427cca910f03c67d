#include "runtime/cuda/Device.h"
#include "runtime/artifact/GpuTarget.h"
#include "runtime/base/Text.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tile::runtime::cuda {

//===-- Properties --------------------------------------------------------===//

std::string DeviceProperties::label() const {
  return "device " + std::to_string(index) + ", " + name + ",";
}

std::string DeviceProperties::capability() const {
  return std::to_string(major) + "." + std::to_string(minor);
}

double DeviceProperties::memoryBandwidth() const {
  return 2e3 * memoryClockKHz * (memoryBusBits / 8.0);
}

Result<std::string> targetFor(int major, int minor) {
  if (const GpuTarget *target = GpuTarget::nearest(major, minor))
    return std::string(target->name);
  return Error{"devices of compute capability " + std::to_string(major) + "." +
                   std::to_string(minor) + " are not supported: 8.0 is the least",
               "use a device of the Ampere generation or newer, or --device=cpu"};
}

std::vector<std::string> DeviceProperties::describe() const {
  auto bytes = [](int amount) { return formatBytes(static_cast<uint64_t>(amount)); };
  auto megahertz = [](int kilohertz) {
    return kilohertz ? " at " + std::to_string(kilohertz / 1000) + " MHz" : std::string();
  };
  Result<std::string> target = targetFor(major, minor);
  std::string memory = formatBytes(memoryBytes) + " of memory";
  if (memoryBandwidth() > 0)
    memory += ", " + std::to_string(memoryBusBits) + " bits" + megahertz(memoryClockKHz) + ": " +
              std::to_string(static_cast<int64_t>(memoryBandwidth() / 1e9)) + " GB/s";
  return {"compute capability " + capability() +
              (target ? ", --target=" + *target : ", which is not supported: 8.0 is the least"),
          std::to_string(multiprocessors) + " multiprocessors" + megahertz(clockKHz) +
              ", each with " + std::to_string(registersPerMultiprocessor) + " registers and " +
              bytes(sharedPerMultiprocessor) + " of shared memory (" + bytes(sharedPerBlockOptIn) +
              " a block)",
          memory + "; " + bytes(l2Bytes) + " of L2 cache"};
}

static Result<DeviceProperties> propertiesOf(const Driver &driver, int index, CUdevice device) {
  DeviceProperties result;
  result.index = index;
  const DriverTable &api = driver.api();
  std::array<char, 256> name = {};
  size_t bytes = 0;
  CUresult code = api.deviceGetName(name.data(), static_cast<int>(name.size()) - 1, device);
  if (!code)
    code = api.deviceTotalMem(&bytes, device);
  result.name = name.data();
  result.memoryBytes = bytes;
  const std::pair<CUdevice_attribute, int *> attributes[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &result.major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &result.minor},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &result.multiprocessors},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &result.l2Bytes},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &result.sharedPerBlock},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &result.sharedPerBlockOptIn},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &result.sharedPerMultiprocessor},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &result.registersPerMultiprocessor},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &result.threadsPerBlock},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &result.threadsPerMultiprocessor}};
  for (auto [attribute, value] : attributes)
    if (!code)
      code = api.deviceGetAttribute(value, attribute, device);
  if (code)
    return driver.error(code, "the properties of CUDA device " + std::to_string(index) +
                                  " can't be read");
  // Nothing depends on these: a driver may leave them out.
  int pools = 0;
  const std::pair<CUdevice_attribute, int *> others[] = {
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &result.clockKHz},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &result.memoryClockKHz},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &result.memoryBusBits},
      {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, &pools}};
  for (auto [attribute, value] : others)
    if (api.deviceGetAttribute(value, attribute, device))
      *value = 0;
  result.hasMemoryPools = pools != 0;
  return result;
}

//===-- Finding devices ---------------------------------------------------===//

/// CUDA_VISIBLE_DEVICES is what mostly hides them.
static std::string visibilityHint() {
  const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible ? "CUDA_VISIBLE_DEVICES is " + quote(visible) + ", which hides the others"
                 : "`nvidia-smi -L` lists the devices; --device=cpu runs without one";
}

Result<int> Device::count(const Driver &driver) {
  int count = 0;
  CUresult code = driver.api().deviceGetCount(&count);
  // Where cuInit found no device, some drivers say so again, others that they aren't initialized.
  if (code == CUDA_ERROR_NO_DEVICE || (code && driver.hasNoDevice()))
    return 0;
  if (code)
    return driver.error(code, "the CUDA devices can't be counted");
  return count;
}

Error Device::noDevice() { return {"there is no CUDA device", visibilityHint()}; }

static Result<DeviceProperties> describeDevice(const Driver &driver, int index, CUdevice &handle) {
  if (CUresult code = driver.api().deviceGet(&handle, index))
    return driver.error(code, "CUDA device " + std::to_string(index) + " can't be opened");
  return propertiesOf(driver, index, handle);
}

Result<std::vector<DeviceProperties>> Device::list(const Driver &driver) {
  Result<int> number = count(driver);
  if (!number)
    return number.takeError();
  std::vector<DeviceProperties> devices;
  for (int index = 0; index < *number; ++index) {
    CUdevice handle;
    Result<DeviceProperties> properties = describeDevice(driver, index, handle);
    if (!properties)
      return properties.takeError();
    devices.push_back(*std::move(properties));
  }
  return devices;
}

Result<std::shared_ptr<Device>> Device::open(std::shared_ptr<const Driver> driver, int index) {
  Result<int> number = count(*driver);
  if (!number)
    return number.takeError();
  if (*number == 0)
    return noDevice();
  if (index < 0 || index >= *number)
    return Error{"there is no CUDA device " + std::to_string(index) + ": this machine shows " +
                     (*number == 1
                          ? "one, 0"
                          : std::to_string(*number) + ", 0 to " + std::to_string(*number - 1)),
                 visibilityHint()};
  CUdevice handle;
  Result<DeviceProperties> properties = describeDevice(*driver, index, handle);
  if (!properties)
    return properties.takeError();
  std::shared_ptr<Device> device(new Device(std::move(driver), *std::move(properties), handle));
  CUcontext context = nullptr;
  if (CUresult code = device->api().devicePrimaryCtxRetain(&context, handle))
    return device->owner->error(code, device->known.label() + " can't be used",
                                "`nvidia-smi` shows who uses it, and its memory");
  device->primary = context;
  return device;
}

Device::~Device() {
  if (!primary)
    return;
  CUcontext current = nullptr;
  (void)api().ctxGetCurrent(&current);
  (void)api().devicePrimaryCtxRelease(handle);
  // A thread that got this context from us must not keep one that is gone. Others may hold it, too.
  unsigned flags = 0;
  int isActive = 0;
  if (current == primary && !api().devicePrimaryCtxGetState(handle, &flags, &isActive) && !isActive)
    (void)api().ctxSetCurrent(nullptr);
}

Status Device::keepMemory(uint64_t bytes) {
  if (!known.hasMemoryPools)
    return {};
  CUmemoryPool pool = nullptr;
  CUresult code = call(&DriverTable::deviceGetDefaultMemPool, &pool, handle);
  if (!code)
    code = call(&DriverTable::memPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                static_cast<void *>(&bytes));
  if (code)
    return error(code, "the memory pool of " + known.label() + " can't be set");
  return {};
}

//===-- Faults of kernels -------------------------------------------------===//

bool isDeviceFault(CUresult code) {
  constexpr CUresult faults[] = {CUDA_ERROR_ECC_UNCORRECTABLE,    CUDA_ERROR_ILLEGAL_ADDRESS,
                                 CUDA_ERROR_LAUNCH_TIMEOUT,       CUDA_ERROR_ASSERT,
                                 CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                                 CUDA_ERROR_MISALIGNED_ADDRESS,   CUDA_ERROR_INVALID_ADDRESS_SPACE,
                                 CUDA_ERROR_INVALID_PC,           CUDA_ERROR_LAUNCH_FAILED};
  return std::find(std::begin(faults), std::end(faults), code) != std::end(faults);
}

Error Device::error(CUresult code, const std::string &what, const std::string &hint,
                    const LaunchLog *own) const {
  if (!isDeviceFault(code))
    return owner->error(code, what, hint);
  LaunchLog::Open mine = own ? own->open() : LaunchLog::Open();
  std::string others;
  uint64_t numOthers = 0;
  {
    std::lock_guard lock(mutex);
    for (const LaunchLog *log : logs)
      if (log != own) {
        LaunchLog::Open open = log->open();
        std::string text = cuda::describe(open);
        others += (others.empty() || text.empty() ? "" : ", ") + text;
        numOthers += open.names.size() + open.earlier;
      }
  }
  // Faults of the hardware aside, a kernel is at fault: the only one, or one of several.
  std::string who = known.label() + " has failed";
  if (mine.names.size() == 1 && !mine.earlier && !numOthers)
    who = "kernel " + quote(mine.names.front()) + " has failed";
  std::string message = who + ": " + owner->describe(code);
  if (mine.names.size() + mine.earlier + numOthers > 1) {
    message += "; launched since the last synchronization: " + cuda::describe(mine);
    if (numOthers)
      message += (mine.names.empty() ? "on other streams " : "; on other streams ") + others;
  } else if (numOthers) {
    message += "; launched on another stream: " + others;
  }
  return {message, "this process can't use the device any more; run it under compute-sanitizer to "
                   "see where it happened"};
}

const char *Device::internName(const std::string &name) {
  std::lock_guard lock(mutex);
  return names.insert(name).first->c_str();
}

void Device::addLog(const LaunchLog *log) {
  std::lock_guard lock(mutex);
  logs.push_back(log);
}

void Device::removeLog(const LaunchLog *log) {
  std::lock_guard lock(mutex);
  logs.erase(std::remove(logs.begin(), logs.end(), log), logs.end());
}

} // namespace tile::runtime::cuda
