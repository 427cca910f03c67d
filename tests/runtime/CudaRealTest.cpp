// The driver of this machine. Without one, or without a device, every test here is skipped and says
// why.
#include "CudaRealSupport.h"

#include "runtime/cuda/Assemble.h"
#include "runtime/cuda/Launch.h"
#include "runtime/cuda/TensorMap.h"

#include <algorithm>
#include <chrono>

namespace tile::runtime::cuda::test {
namespace {

using runtime::test::expectError;

/// scale: p[i] *= f for i < n. shared: the block's threads give their numbers round through dynamic
/// shared memory. empty: nothing. store: writes where p points.
const char *const kernels = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 room[];

.visible .entry scale(.param .u64 p, .param .u32 n, .param .f32 f)
{
  .reg .pred %q;
  .reg .b32 %r<6>;
  .reg .b64 %d<4>;
  .reg .f32 %f<3>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [n];
  setp.ge.u32 %q, %r4, %r5;
  @%q ret;
  ld.param.u64 %d1, [p];
  cvta.to.global.u64 %d1, %d1;
  mul.wide.u32 %d2, %r4, 4;
  add.u64 %d3, %d1, %d2;
  ld.param.f32 %f1, [f];
  ld.global.f32 %f2, [%d3];
  mul.f32 %f2, %f2, %f1;
  st.global.f32 [%d3], %f2;
  ret;
}

.visible .entry shared(.param .u64 p, .param .u32 last)
{
  .reg .b32 %r<6>;
  .reg .b64 %d<4>;
  mov.u32 %r1, %tid.x;
  ld.param.u32 %r2, [last];
  mov.u32 %r3, room;
  add.u32 %r3, %r3, %r2;
  shl.b32 %r4, %r1, 2;
  sub.u32 %r3, %r3, %r4;
  st.shared.u32 [%r3], %r1;
  bar.sync 0;
  ld.shared.u32 %r5, [%r3];
  ld.param.u64 %d1, [p];
  cvta.to.global.u64 %d1, %d1;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r5;
  ret;
}

.visible .entry empty() { ret; }

.visible .entry store(.param .u64 p)
{
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [p];
  st.global.u32 [%d1], 7;
  ret;
}
)";

class CudaReal : public CudaRealTest {
protected:
  void SetUp() override {
    CudaRealTest::SetUp();
    if (IsSkipped() || HasFatalFailure())
      return;
    auto loaded = Module::fromPtx(device, kernels);
    ASSERT_TRUE(loaded) << loaded.error().str();
    module = *loaded;
  }
  std::shared_ptr<Function> kernel(const std::string &name) {
    auto found = module->function(name);
    EXPECT_TRUE(found) << found.error().str();
    return *found;
  }

  std::shared_ptr<Module> module;
};

TEST_F(CudaReal, Properties) {
  const DeviceProperties &properties = device->properties();
  RecordProperty("device", properties.name);
  EXPECT_GE(properties.major, 7);
  EXPECT_GT(properties.multiprocessors, 0);
  EXPECT_GT(properties.memoryBytes, uint64_t(1) << 30);
  EXPECT_GE(properties.sharedPerBlockOptIn, properties.sharedPerBlock);
  EXPECT_GE(properties.sharedPerMultiprocessor, properties.sharedPerBlockOptIn);
  EXPECT_GE(device->driver().version(), Driver::neededVersion);
  expectError(Device::open(*Driver::open(), 1000), "there is no CUDA device 1000");
}

TEST_F(CudaReal, AKernelRuns) {
  auto scale = kernel("scale");
  EXPECT_GT(scale->attributes().registers, 0);
  EXPECT_EQ(scale->attributes().localBytes, 0);
  EXPECT_GT(*scale->blocksPerMultiprocessor(128, 0), 0);
  std::mt19937_64 engine(runtime::test::freshSeed());
  for (uint32_t n : {1u, 127u, 128u, 100003u}) {
    std::vector<float> data(n);
    for (float &value : data)
      value = static_cast<float>(static_cast<int>(engine() % 2001) - 1000);
    auto buffer = DeviceBuffer::allocate(stream, n * sizeof(float));
    ASSERT_TRUE(buffer) << buffer.error().str();
    expectRight(buffer->fill(0xff));
    expectRight(buffer->upload(std::as_bytes(std::span(data))));
    CUdeviceptr address = buffer->address();
    float factor = 0.25f;
    void *parameters[] = {&address, &n, &factor};
    // A dependent launch of a kernel that doesn't wait is safe behind a copy that has been waited
    // for.
    LaunchConfig config{.grid = {(n + 127) / 128}, .block = {128}, .isDependent = true};
    expectRight(launch(*scale, config, *stream, parameters));
    std::vector<float> back(n);
    expectRight(buffer->download(std::as_writable_bytes(std::span(back))));
    for (uint32_t i = 0; i < n; ++i)
      ASSERT_EQ(back[i], data[i] * factor) << i << " of " << n;
  }
}

TEST_F(CudaReal, ACubinOfPtxRuns) {
  auto code = assemble(*device, kernels);
  ASSERT_TRUE(code) << code.error().str();
  auto loaded = Module::fromCubin(device, code->cubin);
  ASSERT_TRUE(loaded) << loaded.error().str();
  auto store = (*loaded)->function("store");
  ASSERT_TRUE(store) << store.error().str();
  auto buffer = DeviceBuffer::allocate(stream, 4);
  ASSERT_TRUE(buffer);
  CUdeviceptr address = buffer->address();
  void *parameters[] = {&address};
  expectRight(launch(**store, {}, *stream, parameters));
  std::array<std::byte, 4> back;
  expectRight(buffer->download(back));
  EXPECT_EQ(back[0], std::byte(7));
  expectError(Module::fromCubin(device, std::span(code->cubin).first(code->cubin.size() / 2)),
              "is damaged");
}

TEST_F(CudaReal, AllOfTheSharedMemory) {
  auto shared = kernel("shared");
  auto most = static_cast<uint32_t>(device->properties().sharedPerBlockOptIn);
  std::vector<uint32_t> back(256);
  auto buffer = DeviceBuffer::allocate(stream, back.size() * 4);
  ASSERT_TRUE(buffer);
  for (uint32_t bytes : {4096u, most}) {
    CUdeviceptr address = buffer->address();
    uint32_t last = bytes - 4;
    void *parameters[] = {&address, &last};
    expectRight(buffer->fill(0xff));
    LaunchConfig config{.block = {256}, .sharedBytes = bytes};
    expectRight(launch(*shared, config, *stream, parameters));
    expectRight(buffer->download(std::as_writable_bytes(std::span(back))));
    for (uint32_t i = 0; i < back.size(); ++i)
      ASSERT_EQ(back[i], i);
  }
  expectError(launch(*shared, {.sharedBytes = most + 1}, *stream, nullptr),
              std::to_string(most + 1) + " bytes of shared memory a block");
}

TEST_F(CudaReal, ClustersOfAllSizes) {
  if (!device->properties().isHopperOrNewer())
    GTEST_SKIP() << "NOT RUN: " << device->properties().label() << " has no clusters";
  auto empty = kernel("empty");
  for (uint32_t size : {2u, 8u, 16u}) {
    expectRight(launch(*empty, {.grid = {48}, .block = {32}, .cluster = {size}}, *stream, nullptr));
    expectRight(stream->synchronize());
  }
  expectError(launch(*empty, {.grid = {7}, .block = {32}, .cluster = {2}}, *stream, nullptr),
              "the cluster doesn't divide the grid");
  expectRight(stream->synchronize());
}

TEST_F(CudaReal, TensorMaps) {
  if (!device->properties().isHopperOrNewer())
    GTEST_SKIP() << "NOT RUN: " << device->properties().label() << " has no tensor maps";
  auto buffer = DeviceBuffer::allocate(stream, 1 << 20);
  ASSERT_TRUE(buffer);
  TensorMapLayout layout;
  layout.address = buffer->address();
  layout.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  layout.rank = 2;
  layout.extents = {512, 1024};
  layout.strides = {1024};
  layout.box = {64, 128, 1, 1, 1};
  layout.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  TensorMapCache cache(device);
  CUtensorMap first = {}, second = {};
  expectRight(cache.get(layout, first));
  expectRight(cache.get(layout, second));
  EXPECT_EQ(first, second);
  EXPECT_FALSE(first == CUtensorMap());
}

TEST_F(CudaReal, ErrorsOfTheDriver) {
  auto broken = Module::fromPtx(device, ".version 8.0\n.target sm_80\n.address_size 64\n"
                                        ".visible .entry k() { nonsense.u32; ret; }\n");
  expectError(broken, "CUDA_ERROR_INVALID_PTX");
  EXPECT_NE(broken.error().message.find("line 4"), std::string::npos) << broken.error().message;
  expectError(module->function("nothing"), "the module has no kernel 'nothing'");
  expectError(DeviceBuffer::allocate(stream, uint64_t(1) << 46), "out of memory");
  expectError(launch(*kernel("empty"), {.block = {2048}}, *stream, nullptr),
              "a block of 2048 threads");
  expectRight(stream->synchronize()); // none of it is a fault of the device
}

TEST_F(CudaReal, AFaultNamesTheKernel) {
  // In a process of its own: a fault ends the context.
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto fault = [&] {
    CUdeviceptr nowhere = 0x10;
    void *parameters[] = {&nowhere};
    expectRight(launch(*kernel("store"), {}, *stream, parameters));
    Status status = stream->synchronize();
    std::fprintf(stderr, "%s\n", status ? "no error" : status.error().message.c_str());
    std::_Exit(0);
  };
  EXPECT_EXIT(fault(), ::testing::ExitedWithCode(0), "kernel 'store' has failed: .*CUDA_ERROR_");
}

TEST_F(CudaReal, ALaunchCostsLittleMoreThanTheDrivers) {
  auto empty = kernel("empty");
  using Clock = std::chrono::steady_clock;
  auto microseconds = [&](auto launchOne) {
    constexpr int count = 200;
    auto start = Clock::now();
    for (int n = 0; n < count; ++n)
      launchOne();
    double time = std::chrono::duration<double, std::micro>(Clock::now() - start).count() / count;
    expectRight(stream->synchronize());
    return time;
  };
  // One after the other, so that what disturbs one disturbs the other.
  std::vector<double> more;
  const DriverTable &api = device->api();
  for (int n = 0; n < 101; ++n) {
    double bare = microseconds([&] {
      (void)api.launchKernel(empty->handle(), 1, 1, 1, 32, 1, 1, 0, stream->handle(), nullptr,
                             nullptr);
    });
    more.push_back(microseconds([&] { (void)launch(*empty, {.block = {32}}, *stream, nullptr); }) -
                   bare);
  }
  std::nth_element(more.begin(), more.begin() + 50, more.end());
  RecordProperty("microseconds_over_bare_launch", std::to_string(more[50]));
  EXPECT_LE(more[50], 1.0) << "microseconds over a bare cuLaunchKernel";
}

TEST_F(CudaReal, EventsMeasureTime) {
  auto start = Event::create(device), end = Event::create(device);
  ASSERT_TRUE(start && end);
  expectRight(start->record(stream));
  expectRight(launch(*kernel("empty"), {}, *stream, nullptr));
  expectRight(end->record(stream));
  expectRight(end->synchronize());
  auto time = Event::milliseconds(*start, *end);
  ASSERT_TRUE(time) << time.error().str();
  EXPECT_GE(*time, 0);
  EXPECT_LT(*time, 1000);
}

} // namespace
} // namespace tile::runtime::cuda::test
