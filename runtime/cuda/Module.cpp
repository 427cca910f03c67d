#include "runtime/cuda/Module.h"
#include "runtime/Text.h"
#include "runtime/cuda/Cubin.h"
#include "runtime/cuda/PtxTarget.h"

#include <algorithm>
#include <cstring>

namespace tile::runtime::cuda {

//===-- Modules -----------------------------------------------------------===//

namespace {

/// What the driver says about code, and the options that ask for it.
class JitLogs {
public:
  /// The first of them serve machine code, too.
  static constexpr unsigned countForCubin = 4, countForPtx = 6;

  CUjit_option *options() { return wanted; }
  void **values() { return given; }
  std::string info() const { return textOf(infoBuffer); }
  std::string errors() const { return textOf(errorBuffer); }

private:
  static constexpr size_t size = 16384;
  /// Numbers stand where the driver wants pointers.
  static void *number(size_t value) { return reinterpret_cast<void *>(value); }

  /// Without blank lines at the end, and without control bytes.
  static std::string textOf(const std::string &buffer) {
    std::string text;
    for (char c : buffer.substr(0, ::strnlen(buffer.data(), size)))
      if (c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20)
        text += c;
    text.erase(text.find_last_not_of(" \t\n") + 1);
    return text;
  }

  std::string infoBuffer = std::string(size, '\0'), errorBuffer = std::string(size, '\0');
  CUjit_option wanted[countForPtx] = {CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                                      CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                      CU_JIT_LOG_VERBOSE,      CU_JIT_GENERATE_LINE_INFO};
  void *given[countForPtx] = {infoBuffer.data(), number(size), errorBuffer.data(),
                              number(size),      number(1),    number(1)};
};

} // namespace

/// What to do about code that the driver doesn't take.
static std::string loadHint(const Device &device, CUresult code) {
  Result<std::string> target = targetFor(device.properties().major, device.properties().minor);
  std::string fitting = target ? *target : "native";
  if (code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
    return "update the NVIDIA driver, which is for CUDA " +
           formatVersion(device.driver().version()) + ", or compile to a cubin";
  if (code == CUDA_ERROR_JIT_COMPILER_NOT_FOUND)
    return "the driver's compiler, libnvidia-ptxjitcompiler.so.1, is missing: reinstall the "
           "NVIDIA driver";
  return "compile it anew for this device: --target=" + fitting;
}

Result<std::shared_ptr<Module>> Module::load(std::shared_ptr<Device> device, const void *image,
                                             bool isPtx, const std::string &what) {
  JitLogs logs;
  CUmodule handle = nullptr;
  CUresult code = device->call(&DriverTable::moduleLoadDataEx, &handle, image,
                               isPtx ? JitLogs::countForPtx : JitLogs::countForCubin,
                               logs.options(), logs.values());
  if (!code)
    return std::shared_ptr<Module>(new Module(std::move(device), handle, logs.info()));
  Error error =
      device->error(code, what + " on " + device->properties().label() + " can't be loaded",
                    loadHint(*device, code));
  if (std::string errors = logs.errors(); !errors.empty())
    error.message += "\n" + errors;
  if (std::string info = logs.info(); !info.empty())
    error.message += "\n" + info;
  return error;
}

Result<std::shared_ptr<Module>> Module::fromPtx(std::shared_ptr<Device> device,
                                                std::string_view ptx) {
  std::optional<PtxTarget> target = parsePtxTarget(ptx);
  std::string what = "code in PTX";
  if (target) {
    if (Status status = checkPtxTarget(*target, device->properties()); !status)
      return status.takeError();
    what += (target->version.empty() ? "" : " " + target->version) + " for " + target->name;
  }
  return load(std::move(device), std::string(ptx).c_str(), true, what);
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
