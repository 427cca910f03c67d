#include "CudaFakeFunctions.h"

#include <algorithm>
#include <cstring>

namespace tile::runtime::cuda::test {

/// Names of codes that tests look for.
static const std::map<CUresult, std::pair<const char *, const char *>> codes = {
    {CUDA_ERROR_INVALID_VALUE, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {CUDA_ERROR_OUT_OF_MEMORY, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {CUDA_ERROR_NO_DEVICE, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {CUDA_ERROR_INVALID_IMAGE, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
    {CUDA_ERROR_INVALID_PTX, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
    {CUDA_ERROR_NOT_READY, {"CUDA_ERROR_NOT_READY", "device not ready"}},
    {CUDA_ERROR_ILLEGAL_ADDRESS,
     {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
    {CUDA_ERROR_ASSERT, {"CUDA_ERROR_ASSERT", "device-side assert triggered"}},
};

//===-- Devices -----------------------------------------------------------===//

void FakeFunctions::fillDevices(DriverTable &table) {
  table.init = [](unsigned) { return enter("init"); };
  table.driverGetVersion = [](int *version) {
    *version = active->version;
    return enter("driverGetVersion");
  };
  table.getErrorName = [](CUresult code, const char **name) {
    auto known = codes.find(code);
    *name = known == codes.end() ? nullptr : known->second.first;
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  table.getErrorString = [](CUresult code, const char **text) {
    auto known = codes.find(code);
    *text = known == codes.end() ? nullptr : known->second.second;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  table.deviceGetCount = [](int *count) {
    *count = static_cast<int>(active->devices.size());
    return enter("deviceGetCount");
  };
  table.deviceGet = [](CUdevice *device, int index) {
    *device = index;
    return enter("deviceGet");
  };
  table.deviceGetName = [](char *name, int size, CUdevice device) {
    std::strncpy(name, active->devices[static_cast<size_t>(device)].name.c_str(),
                 static_cast<size_t>(size));
    return enter("deviceGetName");
  };
  table.deviceTotalMem = [](size_t *bytes, CUdevice device) {
    *bytes = active->devices[static_cast<size_t>(device)].memory;
    return enter("deviceTotalMem");
  };
  table.deviceGetAttribute = [](int *value, CUdevice_attribute attribute, CUdevice device) {
    CUresult code = enter("deviceGetAttribute");
    const auto &known = active->devices[static_cast<size_t>(device)].attributes;
    auto found = known.find(attribute);
    *value = found == known.end() ? -1 : found->second;
    return code || found != known.end() ? code : CUDA_ERROR_INVALID_VALUE;
  };
  table.devicePrimaryCtxRetain = [](CUcontext *context, CUdevice device) {
    if (CUresult code = enter("devicePrimaryCtxRetain"))
      return code;
    *context = contextOf(device);
    ++active->retained[device];
    return CUDA_SUCCESS;
  };
  table.devicePrimaryCtxRelease = [](CUdevice device) {
    --active->retained[device];
    return enter("devicePrimaryCtxRelease");
  };
  table.devicePrimaryCtxGetState = [](CUdevice device, unsigned *flags, int *isActive) {
    *flags = 0;
    *isActive = active->retained[device] > 0;
    return enter("devicePrimaryCtxGetState");
  };
  table.ctxGetCurrent = [](CUcontext *context) {
    *context = currentContext;
    return CUDA_SUCCESS; // not noted: it is everywhere
  };
  table.ctxSetCurrent = [](CUcontext context) {
    currentContext = context;
    return enter("ctxSetCurrent");
  };
}

//===-- Streams and events ------------------------------------------------===//

void FakeFunctions::fillStreams(DriverTable &table) {
  table.streamCreate = [](CUstream *stream, unsigned flags) {
    if (CUresult code = enterContext("streamCreate"))
      return code;
    EXPECT_EQ(flags, CU_STREAM_NON_BLOCKING);
    *stream = newHandle<CUstream>();
    active->streams.insert(*stream);
    return CUDA_SUCCESS;
  };
  table.streamDestroy = [](CUstream stream) {
    EXPECT_EQ(active->streams.erase(stream), 1u);
    return enterContext("streamDestroy");
  };
  table.streamSynchronize = [](CUstream stream) {
    EXPECT_TRUE(isStream(stream));
    return enterContext("streamSynchronize");
  };
  table.streamWaitEvent = [](CUstream stream, CUevent event, unsigned) {
    EXPECT_TRUE(isStream(stream) && active->events.count(event));
    return enterContext("streamWaitEvent");
  };
  table.eventCreate = [](CUevent *event, unsigned flags) {
    if (CUresult code =
            enterContext(flags == CU_EVENT_DEFAULT ? "eventCreate" : "eventCreate without timing"))
      return code;
    *event = newHandle<CUevent>();
    active->events[*event] = nullptr;
    return CUDA_SUCCESS;
  };
  table.eventDestroy = [](CUevent event) {
    EXPECT_EQ(active->events.erase(event), 1u);
    return enterContext("eventDestroy");
  };
  table.eventRecord = [](CUevent event, CUstream stream) {
    active->events.at(event) = stream;
    return enterContext("eventRecord");
  };
  table.eventSynchronize = [](CUevent event) {
    EXPECT_TRUE(active->events.count(event));
    return enterContext("eventSynchronize");
  };
  table.eventElapsedTime = [](float *milliseconds, CUevent start, CUevent end) {
    *milliseconds = 1.5f;
    CUresult code = enterContext("eventElapsedTime");
    return code || (active->events.at(start) && active->events.at(end)) ? code : invalidHandle;
  };
}

//===-- The fake ----------------------------------------------------------===//

FakeDriver::FakeDriver() {
  EXPECT_EQ(active, nullptr) << "there is one fake driver at a time";
  active = this;
  currentContext = nullptr;
  FakeFunctions::fillDevices(functions);
  FakeFunctions::fillStreams(functions);
  FakeFunctions::fillMemory(functions);
  FakeFunctions::fillCopies(functions);
  FakeFunctions::fillModules(functions);
  FakeFunctions::fillLinks(functions);
  FakeFunctions::fillLaunches(functions);
  FakeFunctions::fillGraphs(functions);
}

FakeDriver::~FakeDriver() { active = nullptr; }

void FakeDriver::work(CUstream stream, std::function<void()> what) {
  auto open = captured.find(stream);
  if (open == captured.end()) {
    what();
    return;
  }
  Capture &capture = open->second;
  capture.nodes.push_back({std::move(what), std::move(capture.last)});
  capture.last = {reinterpret_cast<CUgraphNode>(capture.nodes.size())};
}

long FakeDriver::numRoots() const {
  long roots = 0;
  for (const auto &[handle, nodes] : executables)
    roots += std::count_if(nodes.begin(), nodes.end(),
                           [](const Node &node) { return node.after.empty(); });
  return roots;
}

std::shared_ptr<const Driver> FakeDriver::driver() {
  auto opened = Driver::fromTable(functions, "the fake");
  EXPECT_TRUE(opened) << opened.error().str();
  return *opened;
}

std::shared_ptr<Device> FakeDriver::device(int index) {
  auto opened = Device::open(driver(), index);
  EXPECT_TRUE(opened) << opened.error().str();
  return *opened;
}

long FakeDriver::count(const std::string &name) const {
  return std::count(calls.begin(), calls.end(), name);
}

std::string FakeDriver::leaks() const {
  std::string text;
  auto add = [&](size_t count, const char *what) {
    if (count)
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  for (auto [device, count] : retained)
    add(static_cast<size_t>(count), "contexts");
  add(allocations.size(), "allocations");
  add(streams.size(), "streams");
  add(events.size(), "events");
  add(modules.size(), "modules");
  add(links.size(), "links");
  add(captured.size(), "captures");
  add(graphs.size(), "graphs");
  add(executables.size(), "executable graphs");
  return text;
}

} // namespace tile::runtime::cuda::test
