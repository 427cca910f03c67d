// How the fake driver's functions are made: for its own sources.
#pragma once

#include "CudaFake.h"

namespace tile::runtime::cuda::test {

/// The fake there is, and the context that is current in the thread.
inline FakeDriver *active = nullptr;
inline thread_local CUcontext currentContext = nullptr;

inline constexpr auto invalidContext = static_cast<CUresult>(201);
inline constexpr auto invalidHandle = static_cast<CUresult>(400);

/// The functions of the table. Each begins with `enter`, which notes the call.
struct FakeFunctions {
  static CUcontext contextOf(CUdevice device) {
    return reinterpret_cast<CUcontext>(static_cast<uintptr_t>(0xc0 + device));
  }

  static CUresult enter(const char *name) {
    active->calls.emplace_back(name);
    auto failure = active->failures.find(name);
    return failure == active->failures.end() ? CUDA_SUCCESS : failure->second;
  }
  /// For what needs a context that is current in the thread and there.
  static CUresult enterContext(const char *name) {
    CUresult code = enter(name);
    for (auto [device, count] : active->retained)
      if (contextOf(device) == currentContext && count > 0)
        return code;
    return invalidContext;
  }
  static FakeDevice &currentDevice() {
    return active->devices[reinterpret_cast<uintptr_t>(currentContext) - 0xc0];
  }
  template <typename Handle>
  static Handle newHandle() {
    return reinterpret_cast<Handle>(active->nextHandle += 16);
  }

  static void fillDevices(DriverTable &table);
  static void fillStreams(DriverTable &table);
  static void fillMemory(DriverTable &table);
  static void fillCopies(DriverTable &table);
  static void fillModules(DriverTable &table);
  static void fillLinks(DriverTable &table);
  static void fillLaunches(DriverTable &table);
  static void fillGraphs(DriverTable &table);

  static void writeLogs(unsigned count, CUjit_option *options, void **values);
  static CUresult loadModule(CUmodule *module, const void *image, unsigned count,
                             CUjit_option *options, void **values);
  static void playBackwards(const std::vector<FakeDriver::Node> &nodes);
  static bool isStream(CUstream stream) { return !stream || active->streams.count(stream); }
};

} // namespace tile::runtime::cuda::test
