// What a prepared call costs the processor beside a bare cuLaunchKernel of the same kernel with the
// same parameters.
//
//   tile_bench_launch [--fake]     on the first device, or on functions that do nothing
//
// Both are called in turns of 2,000 launches of one program that does next to nothing, between
// synchronizations that aren't timed; medians of 31 turns. The difference is what the runtime adds.

#include "frontend/tile/Tile.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

using namespace tile;
namespace cuda = tile::runtime::cuda;

namespace {

constexpr int launchesPerTurn = 2000, numTurns = 31;
constexpr const char *text = "kernel add(x: f32[M], y: f32[M]) -> (z: f32[M]) {\n"
                             "    parallel i in tiles(M) {\n"
                             "        z[i] = x[i] + y[i]\n"
                             "    }\n"
                             "} schedule { i = 128 }\n"
                             "graph chain(x: f32[M], y: f32[M]) -> (z: f32[M]) {\n"
                             "    z = add(add(add(add(x, y), y), y), y)\n"
                             "}\n";

/// Functions that do nothing: what is left is the runtime's own work.
cuda::CUcontext currentContext = nullptr;
cuda::DriverTable emptyTable() {
  using namespace tile::runtime::cuda;
  DriverTable table;
#define TILE_CUDA_FUNCTION(NAME, SYMBOL, PARAMETERS)                                               \
  table.NAME = [] PARAMETERS { return cuda::CUDA_SUCCESS; };
#include "runtime/cuda/Functions.def"
#undef TILE_CUDA_FUNCTION
  table.driverGetVersion = [](int *version) {
    *version = 13000;
    return cuda::CUDA_SUCCESS;
  };
  table.deviceGetCount = [](int *count) {
    *count = 1;
    return cuda::CUDA_SUCCESS;
  };
  table.deviceGetAttribute = [](int *value, cuda::CUdevice_attribute attribute, cuda::CUdevice) {
    *value = attribute == cuda::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR   ? 0
             : attribute == cuda::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9
                                                                               : 49152;
    return cuda::CUDA_SUCCESS;
  };
  table.devicePrimaryCtxRetain = [](cuda::CUcontext *context, cuda::CUdevice) {
    *context = reinterpret_cast<cuda::CUcontext>(0x100);
    return cuda::CUDA_SUCCESS;
  };
  table.ctxGetCurrent = [](cuda::CUcontext *context) {
    *context = currentContext;
    return cuda::CUDA_SUCCESS;
  };
  table.ctxSetCurrent = [](cuda::CUcontext context) {
    currentContext = context;
    return cuda::CUDA_SUCCESS;
  };
  table.memAllocAsync = [](cuda::CUdeviceptr *address, size_t, cuda::CUstream) {
    static cuda::CUdeviceptr next = 0x10000;
    *address = next += 0x10000;
    return cuda::CUDA_SUCCESS;
  };
  table.funcGetAttribute = [](int *value, cuda::CUfunction_attribute, cuda::CUfunction) {
    *value = 0;
    return cuda::CUDA_SUCCESS;
  };
  table.linkComplete = [](cuda::CUlinkState, void **cubin, size_t *bytes) {
    static char nothing[] = "// .target sm_90a";
    *cubin = nothing;
    *bytes = sizeof nothing;
    return cuda::CUDA_SUCCESS;
  };
  return table;
}

[[noreturn]] void fail(const runtime::Error &error) {
  std::fprintf(stderr, "%s\n", error.str().c_str());
  std::exit(3);
}

template <typename T>
T take(Result<T> result) {
  if (!result)
    fail(result.error());
  return *std::move(result);
}

/// Nanoseconds a launch, one turn.
template <typename Call>
double turn(const Gpu &gpu, Call call) {
  auto start = std::chrono::steady_clock::now();
  for (int n = 0; n < launchesPerTurn; ++n)
    call();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (Status done = gpu.synchronize(); !done)
    fail(done.error());
  return 1e9 * seconds / launchesPerTurn;
}

double medianOf(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void report(const char *what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::printf("%-34s %8.0f ns   (%.0f to %.0f)\n", what, times[times.size() / 2], times.front(),
              times.back());
}

} // namespace

int main(int argc, char **argv) {
  bool isFake = argc > 1 && std::strcmp(argv[1], "--fake") == 0;
  auto driver = take(isFake ? cuda::Driver::fromTable(emptyTable(), "none") : cuda::Driver::open());
  Gpu gpu(take(cuda::Stream::create(take(cuda::Device::open(driver)))));
  Module module = Module::parse(text);
  Tensor host = take(Tensor::create(f32, {100}));
  DeviceTensor x = take(gpu.upload(host)), y = take(gpu.upload(host)),
               z = take(gpu.create(f32, {100}));
  auto prepare = [&](const char *name) {
    return take(take(module.compile(name)).prepare(gpu, {{"x", x}, {"y", y}, {"z", z}}));
  };
  PreparedCall call = prepare("add"), chain = prepare("chain");

  // The bare launch takes what the prepared one takes: it is looked up in a copy of the table.
  static cuda::CUlaunchConfig config;
  static cuda::CUfunction function;
  static std::vector<uint64_t> words;
  cuda::DriverTable table = driver->api();
  table.launchKernelEx = [](const cuda::CUlaunchConfig *given, cuda::CUfunction kernel,
                            void **parameters, void **) {
    config = *given;
    function = kernel;
    for (int n = 0; n < 4; ++n) // x, y, z, M
      words.push_back(*static_cast<uint64_t *>(parameters[n]));
    return cuda::CUDA_SUCCESS;
  };
  {
    Gpu spy(take(cuda::Stream::create(
        take(cuda::Device::open(take(cuda::Driver::fromTable(table, "the same")))))));
    PreparedCall once =
        take(take(module.compile("add")).prepare(spy, {{"x", x}, {"y", y}, {"z", z}}));
    if (Status done = once(); !done)
      fail(done.error());
    std::vector<void *> parameters;
    for (uint64_t &word : words)
      parameters.push_back(&word);
    auto launchKernel = driver->api().launchKernel;
    cuda::CUstream stream = gpu.stream()->handle();
    cuda::CurrentDevice current(gpu.stream()->device());
    auto bare = [&] {
      (void)launchKernel(function, config.gridDimX, 1, 1, config.blockDimX, 1, 1,
                         config.sharedMemBytes, stream, parameters.data(), nullptr);
    };
    auto prepared = [](PreparedCall &what) {
      return [&what] {
        if (Status done = what(); !done)
          fail(done.error());
      };
    };
    std::vector<double> ofBare, ofCall, ofChain;
    for (int n = -2; n < numTurns; ++n) { // two to warm up
      double times[] = {turn(gpu, bare), turn(gpu, prepared(call)), turn(gpu, prepared(chain))};
      if (n < 0)
        continue;
      ofBare.push_back(times[0]);
      ofCall.push_back(times[1]);
      ofChain.push_back(times[2]);
    }
    std::printf("%s\n", gpu.stream()->device().properties().name.c_str());
    report("bare cuLaunchKernel", ofBare);
    report("prepared call of a kernel", ofCall);
    report("prepared call of 4 kernels, a graph", ofChain);
    std::printf("over the bare launch: %.0f ns\n", medianOf(ofCall) - medianOf(ofBare));
  }
  return 0;
}
