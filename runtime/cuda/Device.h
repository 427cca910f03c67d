// CUDA devices: what there is, and one that is opened.
#pragma once

#include "runtime/cuda/Driver.h"
#include "runtime/cuda/LaunchLog.h"

#include <mutex>
#include <set>
#include <vector>

namespace tile::runtime::cuda {

struct DeviceProperties {
  int index = 0;
  /// "NVIDIA H100 80GB HBM3".
  std::string name;
  /// The compute capability: 9 and 0.
  int major = 0, minor = 0;
  int multiprocessors = 0;
  uint64_t memoryBytes = 0;
  int l2Bytes = 0;
  /// Shared memory of a block: what it can have without asking, and what it can ask for.
  int sharedPerBlock = 0, sharedPerBlockOptIn = 0;
  int sharedPerMultiprocessor = 0;
  int registersPerMultiprocessor = 0;
  int threadsPerBlock = 0, threadsPerMultiprocessor = 0;
  /// 0 where the driver doesn't say.
  int clockKHz = 0, memoryClockKHz = 0, memoryBusBits = 0;
  bool hasMemoryPools = false;

  /// Has clusters, tensor maps and dependent launches.
  bool isHopperOrNewer() const { return major >= 9; }
  /// "device 0, NVIDIA H100 80GB HBM3,": how messages begin.
  std::string label() const;
  /// "9.0".
  std::string capability() const;
  /// Bytes a second between memory and chip: two transfers a clock. 0 if a clock isn't known.
  double memoryBandwidth() const;
  /// All that matters for speed, in lines for people, the target among it. Without the name.
  std::vector<std::string> describe() const;
};

/// The target to compile for (GpuTarget): the newest whose code runs there. Those with an "a" run
/// on just that capability; so 10.3 gets sm_90. An error below 8.0.
Result<std::string> targetFor(int major, int minor);

/// A device whose primary context is retained as long as this object lives; everything made on the
/// device holds it.
class Device {
public:
  /// How many devices the driver shows; 0 if there are none.
  static Result<int> count(const Driver &driver);
  /// The error that there are none, with what may hide them.
  static Error noDevice();
  /// What they are. Makes no context.
  static Result<std::vector<DeviceProperties>> list(const Driver &driver);
  /// Errors: there is no device; there is none of this index (with how many there are).
  static Result<std::shared_ptr<Device>> open(std::shared_ptr<const Driver> driver, int index = 0);
  ~Device();
  Device(const Device &) = delete;

  const Driver &driver() const { return *owner; }
  const DriverTable &api() const { return owner->api(); }
  const DeviceProperties &properties() const { return known; }
  CUcontext context() const { return primary; }

  /// Keeps up to so many bytes that buffers gave back for the next ones, instead of giving all back
  /// to the system with each synchronization, which makes the next buffer slow. It is a setting of
  /// the device's pool, which all of the process shares. Without effect on devices without pools.
  Status keepMemory(uint64_t bytes);

  /// Calls a function of the driver with this device's context current.
  template <typename... Parameters, typename... Arguments>
  CUresult call(CUresult (*DriverTable::*function)(Parameters...), Arguments... arguments) const;

  /// The error of a code. A fault of a kernel that ran earlier is told with the kernels that may
  /// have done it, those of `own` first.
  Error error(CUresult code, const std::string &what, const std::string &hint = "",
              const LaunchLog *own = nullptr) const;

  /// The same text, for as long as the device lives.
  const char *internName(const std::string &name);
  /// The logs of the streams there are.
  void addLog(const LaunchLog *log);
  void removeLog(const LaunchLog *log);

private:
  Device(std::shared_ptr<const Driver> driver, DeviceProperties properties, CUdevice handle)
      : owner(std::move(driver)), known(std::move(properties)), handle(handle) {}

  std::shared_ptr<const Driver> owner;
  DeviceProperties known;
  CUdevice handle;
  CUcontext primary = nullptr;
  mutable std::mutex mutex; // of what follows
  std::set<std::string> names;
  std::vector<const LaunchLog *> logs;
};

/// Makes a device's context current in this thread, and another one that was current before it
/// current again at the end. A thread that had none keeps it.
class CurrentDevice {
public:
  explicit CurrentDevice(const Device &device) : device(device) {
    code = device.api().ctxGetCurrent(&before);
    if (!code && before != device.context())
      code = device.api().ctxSetCurrent(device.context());
  }
  ~CurrentDevice() {
    if (before && before != device.context())
      (void)device.api().ctxSetCurrent(before);
  }
  CurrentDevice(const CurrentDevice &) = delete;

  /// Whether that went well.
  CUresult result() const { return code; }

private:
  const Device &device;
  CUcontext before = nullptr;
  CUresult code;
};

template <typename... Parameters, typename... Arguments>
CUresult Device::call(CUresult (*DriverTable::*function)(Parameters...),
                      Arguments... arguments) const {
  CurrentDevice current(*this);
  return current.result() ? current.result() : (api().*function)(arguments...);
}

/// Whether a code says that a kernel that ran earlier has failed, and the context with it.
bool isDeviceFault(CUresult code);

} // namespace tile::runtime::cuda
