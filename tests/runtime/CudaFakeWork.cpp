// What the fake driver does with memory, code and launches.
#include "CudaFakeFunctions.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tile::runtime::cuda::test {

//===-- Memory ------------------------------------------------------------===//

static CUresult allocate(CUdeviceptr *address, size_t bytes, size_t limit,
                         std::map<CUdeviceptr, size_t> &allocations) {
  size_t used = 0;
  for (auto [start, size] : allocations)
    used += size;
  if (bytes > limit - std::min(used, limit))
    return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(std::malloc(bytes));
  allocations[*address] = bytes;
  return CUDA_SUCCESS;
}

void FakeFunctions::fillMemory(DriverTable &table) {
  table.memGetInfo = [](size_t *free, size_t *total) {
    CUresult code = enterContext("memGetInfo");
    *total = currentDevice().memory;
    *free = *total - active->usedElsewhere;
    return code;
  };
  table.memAlloc = [](CUdeviceptr *address, size_t bytes) {
    CUresult code = enterContext("memAlloc");
    return code ? code
                : allocate(address, bytes, currentDevice().memory - active->usedElsewhere,
                           active->allocations);
  };
  table.memFree = [](CUdeviceptr address) {
    EXPECT_EQ(active->allocations.erase(address), 1u);
    std::free(reinterpret_cast<void *>(address));
    return enterContext("memFree");
  };
  table.memAllocAsync = [](CUdeviceptr *address, size_t bytes, CUstream stream) {
    EXPECT_TRUE(isStream(stream));
    CUresult code = enterContext("memAllocAsync");
    if (!code)
      code = allocate(address, bytes, currentDevice().memory - active->usedElsewhere,
                      active->allocations);
    if (!code)
      active->allocationStreams[*address] = stream;
    return code;
  };
  table.memFreeAsync = [](CUdeviceptr address, CUstream stream) {
    EXPECT_EQ(active->allocationStreams.at(address), stream);
    EXPECT_EQ(active->allocations.erase(address), 1u);
    std::free(reinterpret_cast<void *>(address));
    return enterContext("memFreeAsync");
  };
}

void FakeFunctions::fillCopies(DriverTable &table) {
  table.deviceGetDefaultMemPool = [](CUmemoryPool *pool, CUdevice) {
    *pool = newHandle<CUmemoryPool>();
    return enterContext("deviceGetDefaultMemPool");
  };
  table.memPoolSetAttribute = [](CUmemoryPool, CUmemPool_attribute, void *value) {
    active->memoryKept = *static_cast<uint64_t *>(value);
    return enterContext("memPoolSetAttribute");
  };
  table.memcpyHtoDAsync = [](CUdeviceptr to, const void *from, size_t bytes, CUstream) {
    CUresult code = enterContext("memcpyHtoDAsync");
    if (!code)
      std::memcpy(reinterpret_cast<void *>(to), from, bytes);
    return code;
  };
  table.memcpyDtoHAsync = [](void *to, CUdeviceptr from, size_t bytes, CUstream) {
    CUresult code = enterContext("memcpyDtoHAsync");
    if (!code)
      std::memcpy(to, reinterpret_cast<void *>(from), bytes);
    return code;
  };
  table.memcpyDtoDAsync = [](CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    CUresult code = enterContext("memcpyDtoDAsync");
    if (!code)
      active->work(stream, [=] {
        std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
      });
    return code;
  };
  table.memsetD8Async = [](CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
    CUresult code = enterContext("memsetD8Async");
    if (!code)
      active->work(stream, [=] { std::memset(reinterpret_cast<void *>(to), value, bytes); });
    return code;
  };
}

//===-- Modules -----------------------------------------------------------===//

static void writeLog(const std::string &text, void *buffer, void *size) {
  auto room = reinterpret_cast<uintptr_t>(size);
  ASSERT_GT(room, text.size());
  std::memcpy(buffer, text.c_str(), text.size() + 1);
}

void FakeFunctions::writeLogs(unsigned count, CUjit_option *options, void **values) {
  active->lastJitOptions = count;
  std::map<CUjit_option, void *> given;
  for (unsigned n = 0; n < count; ++n)
    given[options[n]] = values[n];
  writeLog(active->jitErrors, given.at(CU_JIT_ERROR_LOG_BUFFER),
           given.at(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
  writeLog(active->jitInfo, given.at(CU_JIT_INFO_LOG_BUFFER),
           given.at(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES));
}

CUresult FakeFunctions::loadModule(CUmodule *module, const void *image, unsigned count,
                                   CUjit_option *options, void **values) {
  if (CUresult code = enterContext("moduleLoadDataEx"))
    return code;
  writeLogs(count, options, values);
  if (active->jitResult)
    return active->jitResult;
  *module = newHandle<CUmodule>();
  auto &made = active->modules[*module];
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) == 0) {
    made.kernels.insert("of_cubin");
    return CUDA_SUCCESS;
  }
  std::string text = active->lastImage = static_cast<const char *>(image);
  for (size_t at = 0; (at = text.find(".entry ", at)) != std::string::npos;) {
    at += 7;
    made.kernels.insert(text.substr(at, text.find('(', at) - at));
  }
  return CUDA_SUCCESS;
}

void FakeFunctions::fillModules(DriverTable &table) {
  table.moduleLoadDataEx = loadModule;
  table.moduleUnload = [](CUmodule module) {
    EXPECT_EQ(active->modules.erase(module), 1u);
    return enterContext("moduleUnload");
  };
  table.moduleGetFunction = [](CUfunction *function, CUmodule module, const char *name) {
    if (CUresult code = enterContext("moduleGetFunction"))
      return code;
    if (!active->modules.at(module).kernels.count(name))
      return CUDA_ERROR_NOT_FOUND;
    *function = newHandle<CUfunction>();
    active->kernels[*function].name = name;
    return CUDA_SUCCESS;
  };
  table.funcGetAttribute = [](int *value, CUfunction_attribute attribute, CUfunction function) {
    EXPECT_TRUE(active->kernels.count(function));
    *value = active->functionAttributes.at(attribute);
    return enterContext("funcGetAttribute");
  };
  table.funcSetAttribute = [](CUfunction, CUfunction_attribute attribute, int value) {
    CUresult code = enterContext("funcSetAttribute");
    if (!code)
      active->attributesSet.emplace_back(attribute, value);
    return code;
  };
}

void FakeFunctions::fillLinks(DriverTable &table) {
  table.linkCreate = [](unsigned count, CUjit_option *options, void **values, CUlinkState *state) {
    if (CUresult code = enterContext("linkCreate"))
      return code;
    writeLogs(count, options, values);
    *state = newHandle<CUlinkState>();
    active->links[*state];
    return CUDA_SUCCESS;
  };
  table.linkAddData = [](CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                         const char *, unsigned count, CUjit_option *, void **) {
    EXPECT_EQ(type, CU_JIT_INPUT_PTX);
    EXPECT_EQ(count, 0u);
    EXPECT_EQ(static_cast<char *>(data)[bytes - 1], '\0');
    active->links.at(state) = std::string("cubin of ") + static_cast<char *>(data);
    CUresult code = enterContext("linkAddData");
    return code ? code : active->jitResult;
  };
  table.linkComplete = [](CUlinkState state, void **cubin, size_t *bytes) {
    std::string &made = active->links.at(state);
    *cubin = made.data();
    *bytes = made.size();
    return enterContext("linkComplete");
  };
  table.linkDestroy = [](CUlinkState state) {
    EXPECT_EQ(active->links.erase(state), 1u);
    return enterContext("linkDestroy");
  };
}

//===-- Launches ----------------------------------------------------------===//

void FakeFunctions::fillLaunches(DriverTable &table) {
  table.occupancyMaxActiveBlocksPerMultiprocessor = [](int *blocks, CUfunction, int threads,
                                                       size_t) {
    *blocks = 2048 / threads;
    return enterContext("occupancyMaxActiveBlocksPerMultiprocessor");
  };
  table.launchKernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, CUstream, void **,
                          void **) { return enterContext("launchKernel"); };
  table.launchKernelEx = [](const CUlaunchConfig *config, CUfunction function, void **parameters,
                            void **extra) {
    EXPECT_EQ(extra, nullptr);
    CUresult code = enterContext("launchKernelEx");
    if (code)
      return code;
    FakeLaunch launch{active->kernels.at(function).name,
                      *config,
                      {config->attrs, config->attrs + config->numAttrs},
                      parameters};
    active->work(config->hStream, [launch] {
      active->launches.push_back(launch);
      if (active->play)
        active->play(launch);
    });
    return code;
  };
  table.tensorMapEncodeTiled = [](CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,
                                  void *address, const uint64_t *extents, const uint64_t *strides,
                                  const uint32_t *box, const uint32_t *steps, CUtensorMapInterleave,
                                  CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                  CUtensorMapFloatOOBfill fill) {
    // Every argument shows in the map.
    uint64_t parts[] = {static_cast<uint64_t>(type),         rank,
                        reinterpret_cast<uint64_t>(address), static_cast<uint64_t>(swizzle),
                        static_cast<uint64_t>(promotion),    static_cast<uint64_t>(fill)};
    std::copy(std::begin(parts), std::end(parts), map->opaque);
    for (uint32_t n = 0; n < rank; ++n) {
      map->opaque[6 + n] = extents[n] << 32 | box[n] << 8 | steps[n];
      map->opaque[11 + n] = n ? strides[n - 1] : 0;
    }
    ++active->numEncoded;
    return enterContext("tensorMapEncodeTiled");
  };
}

//===-- Graphs ------------------------------------------------------------===//

/// Of all orders in which a graph may run, the one that is the furthest from that of capture.
void FakeFunctions::playBackwards(const std::vector<FakeDriver::Node> &nodes) {
  std::vector<bool> isDone(nodes.size());
  auto isReady = [&](const FakeDriver::Node &node) {
    return std::all_of(node.after.begin(), node.after.end(), [&](CUgraphNode before) {
      return isDone.at(reinterpret_cast<uintptr_t>(before) - 1);
    });
  };
  for (size_t done = 0; done < nodes.size(); ++done) {
    size_t n = nodes.size() - 1;
    while (isDone[n] || !isReady(nodes[n]))
      --n; // a node comes after earlier ones: one is ready
    nodes[n].work();
    isDone[n] = true;
  }
}

void FakeFunctions::fillGraphs(DriverTable &table) {
  table.streamBeginCapture = [](CUstream stream, CUstreamCaptureMode mode) {
    EXPECT_TRUE(isStream(stream));
    EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    CUresult code = enterContext("streamBeginCapture");
    if (!code) {
      EXPECT_TRUE(active->captured.try_emplace(stream).second);
    }
    return code;
  };
  table.streamEndCapture = [](CUstream stream, CUgraph *graph) {
    auto open = active->captured.find(stream);
    EXPECT_NE(open, active->captured.end());
    CUresult code = enterContext("streamEndCapture");
    *graph = nullptr;
    if (!code) {
      *graph = newHandle<CUgraph>();
      active->graphs[*graph] = std::move(open->second.nodes);
    }
    active->captured.erase(open);
    return code;
  };
  table.streamGetCaptureInfo = [](CUstream stream, CUstreamCaptureStatus *status, uint64_t *,
                                  CUgraph *, const CUgraphNode **nodes, size_t *count) {
    const FakeDriver::Capture &capture = active->captured.at(stream);
    *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    *nodes = capture.last.data();
    *count = capture.last.size();
    return enterContext("streamGetCaptureInfo");
  };
  table.streamUpdateCaptureDependencies = [](CUstream stream, CUgraphNode *nodes, size_t count,
                                             unsigned flags) {
    EXPECT_EQ(flags, unsigned(CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    active->captured.at(stream).last.assign(nodes, nodes + count);
    return enterContext("streamUpdateCaptureDependencies");
  };
  table.graphInstantiate = [](CUgraphExec *executable, CUgraph graph, unsigned long long flags) {
    EXPECT_EQ(flags, 0u);
    CUresult code = enterContext("graphInstantiate");
    if (!code) {
      *executable = newHandle<CUgraphExec>();
      active->executables[*executable] = active->graphs.at(graph);
    }
    return code;
  };
  table.graphLaunch = [](CUgraphExec executable, CUstream stream) {
    EXPECT_TRUE(isStream(stream));
    CUresult code = enterContext("graphLaunch");
    if (!code)
      playBackwards(active->executables.at(executable));
    return code;
  };
  table.graphExecDestroy = [](CUgraphExec executable) {
    EXPECT_EQ(active->executables.erase(executable), 1u);
    return enterContext("graphExecDestroy");
  };
  table.graphDestroy = [](CUgraph graph) {
    EXPECT_EQ(active->graphs.erase(graph), 1u);
    return enterContext("graphDestroy");
  };
}

} // namespace tile::runtime::cuda::test
