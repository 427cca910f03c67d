// Code on a device: modules from PTX or cubins, and the kernels in them.
#pragma once

#include "runtime/cuda/Device.h"

#include <span>
#include <string_view>

namespace tile::runtime::cuda {

class Function;

/// Code that is loaded on a device, until the last that holds it goes.
class Module : public std::enable_shared_from_this<Module> {
public:
  /// Compiles PTX by the driver's own compiler. Errors: PTX for another or a newer device; what the
  /// compiler says. The infoLog has what it reports of each kernel.
  static Result<std::shared_ptr<Module>> fromPtx(std::shared_ptr<Device> device,
                                                 std::string_view ptx);
  /// Loads machine code. Errors: damaged code, or code for another device.
  static Result<std::shared_ptr<Module>> fromCubin(std::shared_ptr<Device> device,
                                                   std::span<const std::byte> cubin);
  ~Module();
  Module(const Module &) = delete;

  Device &device() const { return *owner; }
  /// What the driver said about code that it accepts.
  const std::string &infoLog() const { return log; }

  /// A kernel by its name.
  Result<std::shared_ptr<Function>> function(const std::string &name);

private:
  Module(std::shared_ptr<Device> device, CUmodule handle, std::string log)
      : owner(std::move(device)), handle(handle), log(std::move(log)) {}
  static Result<std::shared_ptr<Module>> load(std::shared_ptr<Device> device, const void *image,
                                              bool isPtx, const std::string &what);

  std::shared_ptr<Device> owner;
  CUmodule handle;
  std::string log;
};

/// What the compiler made of a kernel.
struct FunctionAttributes {
  int registers = 0;
  /// Bytes of local memory a thread has: arrays, and registers that were spilled.
  int localBytes = 0;
  /// Shared memory that its code names; what a launch asks for comes on top.
  int staticSharedBytes = 0;
  /// The most threads that a block of it may have.
  int maxThreads = 0;
};

/// A kernel. Any thread may use it.
class Function {
public:
  Function(const Function &) = delete;

  const char *name() const { return label; }
  CUfunction handle() const { return function; }
  Device &device() const { return module->device(); }
  const FunctionAttributes &attributes() const { return known; }

  /// Afterwards a launch may ask for so much dynamic shared memory: beyond what every block can
  /// have, the driver has to be asked, once. The error, where the device has less, says both
  /// figures.
  Status allowShared(uint64_t dynamicBytes) {
    return dynamicBytes <= allowed.load(std::memory_order_relaxed) ? Status() : optIn(dynamicBytes);
  }
  /// Afterwards clusters of more than 8 blocks may be launched. The driver is asked once.
  Status allowLargeClusters();

  /// How many blocks a multiprocessor runs at a time.
  Result<int> blocksPerMultiprocessor(int threads, uint64_t dynamicSharedBytes);

private:
  friend class Module;
  Function(std::shared_ptr<Module> module, CUfunction function, const char *label)
      : module(std::move(module)), function(function), label(label) {}
  Status readAttributes();
  Status optIn(uint64_t dynamicBytes);

  std::shared_ptr<Module> module;
  CUfunction function;
  const char *label;
  FunctionAttributes known;
  /// Dynamic shared memory that needs no more asking.
  std::atomic<uint64_t> allowed{0};
  std::atomic<bool> allowsLargeClusters{false};
  std::mutex mutex; // of asking
};

} // namespace tile::runtime::cuda
