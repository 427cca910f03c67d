#include "CudaFake.h"
#include "TestSupport.h"

#include "runtime/cuda/Launch.h"

#include <thread>

namespace tile::runtime::cuda::test {
namespace {

using runtime::test::expectError;

class CudaLaunch : public CudaTest {
protected:
  void open(int device = 0) {
    owner = fake.device(device);
    auto module = Module::fromPtx(owner, ".version 8.0\n.target sm_80\n"
                                         ".entry softmax()\n.entry norm()\n.entry sum()\n");
    ASSERT_TRUE(module) << module.error().str();
    softmax = *(*module)->function("softmax");
    norm = *(*module)->function("norm");
    sum = *(*module)->function("sum");
    stream = *Stream::create(owner);
  }
  void TearDown() override {
    softmax = norm = sum = nullptr;
    stream = nullptr;
    owner = nullptr;
    CudaTest::TearDown();
  }
  static std::string messageOf(const Status &status) {
    return status ? "no error" : status.error().message;
  }

  std::shared_ptr<Device> owner;
  std::shared_ptr<Function> softmax, norm, sum;
  std::shared_ptr<Stream> stream;
};

//===-- What the driver receives ------------------------------------------===//

TEST_F(CudaLaunch, AllOfTheConfiguration) {
  open();
  void *parameters[1] = {nullptr};
  LaunchConfig config{.grid = {4, 6, 8}, .block = {128, 2, 1}, .sharedBytes = 1000};
  ASSERT_TRUE(launch(*softmax, config, *stream, parameters));
  ASSERT_EQ(fake.launches.size(), 1u);
  const FakeLaunch &plain = fake.launches[0];
  EXPECT_EQ(plain.kernel, "softmax");
  const CUlaunchConfig &got = plain.config;
  EXPECT_EQ((Dim3{got.gridDimX, got.gridDimY, got.gridDimZ}), (Dim3{4, 6, 8}));
  EXPECT_EQ((Dim3{got.blockDimX, got.blockDimY, got.blockDimZ}), (Dim3{128, 2, 1}));
  EXPECT_EQ(got.sharedMemBytes, 1000u);
  EXPECT_EQ(got.hStream, stream->handle());
  EXPECT_EQ(plain.parameters, parameters);
  EXPECT_TRUE(plain.attributes.empty());

  config.cluster = {2, 3, 1};
  config.isDependent = true;
  ASSERT_TRUE(launch(*norm, config, *stream, nullptr));
  const auto &attributes = fake.launches[1].attributes;
  ASSERT_EQ(attributes.size(), 2u);
  EXPECT_EQ(attributes[0].id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  auto cluster = attributes[0].value.clusterDim;
  EXPECT_EQ((Dim3{cluster.x, cluster.y, cluster.z}), (Dim3{2, 3, 1}));
  EXPECT_EQ(attributes[1].id, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
  EXPECT_EQ(attributes[1].value.programmaticStreamSerializationAllowed, 1);
  EXPECT_TRUE(fake.attributesSet.empty());
}

TEST_F(CudaLaunch, OneCallOfTheDriver) {
  open();
  ASSERT_TRUE(launch(*softmax, {}, *stream, nullptr));
  fake.calls.clear();
  ASSERT_TRUE(launch(*softmax, {}, *stream, nullptr));
  EXPECT_EQ(fake.calls, std::vector<std::string>{"launchKernelEx"});
}

TEST_F(CudaLaunch, AnEmptyGridLaunchesNothing) {
  open();
  for (Dim3 grid : {Dim3{0, 1, 1}, Dim3{1, 0, 1}, Dim3{1, 1, 0}})
    EXPECT_TRUE(launch(*softmax, {.grid = grid}, *stream, nullptr));
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(CudaLaunch, DependentLaunchesWhereThereAreNone) {
  fake.devices[0].setCapability(8, 0);
  open();
  ASSERT_TRUE(launch(*softmax, {.isDependent = true}, *stream, nullptr));
  EXPECT_TRUE(fake.launches[0].attributes.empty());
}

//===-- Asking once -------------------------------------------------------===//

TEST_F(CudaLaunch, SharedMemoryIsAskedForOnce) {
  open();
  // 1024 bytes are static.
  for (uint32_t bytes : {0u, 49152u - 1024, 49152u - 1023, 100000u, 232448u - 1024, 7u})
    ASSERT_TRUE(launch(*softmax, {.sharedBytes = bytes}, *stream, nullptr));
  using Set = std::vector<std::pair<CUfunction_attribute, int>>;
  Set once = {{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448 - 1024}};
  EXPECT_EQ(fake.attributesSet, once);
  EXPECT_EQ(fake.launches.size(), 6u);
  // Each function by itself.
  ASSERT_TRUE(norm->blocksPerMultiprocessor(128, 100000));
  EXPECT_EQ(fake.attributesSet.size(), 2u);
}

TEST_F(CudaLaunch, MoreSharedMemoryThanThereIs) {
  open();
  auto status = launch(*softmax, {.sharedBytes = 232448 - 1023}, *stream, nullptr);
  expectError(status,
              "kernel 'softmax' needs 232449 bytes of shared memory a block; device 0, Fake "
              "9000, has 232448");
  expectError(launch(*softmax, {.sharedBytes = UINT32_MAX}, *stream, nullptr), "needs 4294968319");
  EXPECT_TRUE(fake.launches.empty() && fake.attributesSet.empty());
  fake.failures["funcSetAttribute"] = CUDA_ERROR_INVALID_VALUE;
  status = launch(*softmax, {.sharedBytes = 60000}, *stream, nullptr);
  EXPECT_EQ(messageOf(status), "kernel 'softmax' can't have 231424 bytes of dynamic shared memory: "
                               "invalid argument (CUDA_ERROR_INVALID_VALUE)");
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(CudaLaunch, LargeClustersAreAskedForOnce) {
  open();
  LaunchConfig config{.grid = {16}, .cluster = {8}};
  ASSERT_TRUE(launch(*softmax, config, *stream, nullptr));
  EXPECT_TRUE(fake.attributesSet.empty());
  config.cluster = {16};
  ASSERT_TRUE(launch(*softmax, config, *stream, nullptr));
  ASSERT_TRUE(launch(*softmax, config, *stream, nullptr));
  using Set = std::vector<std::pair<CUfunction_attribute, int>>;
  EXPECT_EQ(fake.attributesSet, (Set{{CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1}}));
}

//===-- Launches that are refused -----------------------------------------===//

TEST_F(CudaLaunch, WhyItIsRefused) {
  open();
  fake.failures["launchKernelEx"] = CUDA_ERROR_INVALID_VALUE;
  auto refusal = [&](const LaunchConfig &config) {
    auto status = launch(*softmax, config, *stream, nullptr);
    expectError(status, "kernel 'softmax' can't be launched with grid ");
    expectError(status, ": invalid argument (CUDA_ERROR_INVALID_VALUE)");
    return messageOf(status);
  };
  auto expectPart = [&](const LaunchConfig &config, const std::string &part) {
    std::string message = refusal(config);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expectPart({.grid = {7}, .block = {96}, .sharedBytes = 17, .cluster = {7}},
             "grid 7x1x1, block 96x1x1, cluster 7x1x1, 17 bytes of dynamic shared memory: invalid");
  expectPart({.block = {2048}},
             "a block of 2048 threads, and it can have 1024 with its 40 registers");
  expectPart({.block = {0}}, "; a block of no threads:");
  expectPart({.block = {UINT32_MAX, UINT32_MAX, UINT32_MAX}}, "a block of 18446744073709551615");
  expectPart({.grid = {1, 65536}}, "the grid is larger than 2147483647x65535x65535");
  expectPart({.grid = {6}, .cluster = {4}}, "the cluster doesn't divide the grid");
  expectPart({.grid = {6}, .cluster = {0}}, "the cluster doesn't divide the grid");
  expectPart({.grid = {32}, .cluster = {32}}, "a cluster has 16 blocks at most");
  EXPECT_EQ(refusal({}).find(";"), std::string::npos);
}

TEST_F(CudaLaunch, ClustersWhereThereAreNone) {
  fake.devices[0].setCapability(8, 9);
  open();
  fake.failures["launchKernelEx"] = CUDA_ERROR_INVALID_VALUE;
  expectError(launch(*softmax, {.grid = {2}, .cluster = {2}}, *stream, nullptr),
              "clusters need compute capability 9.0; device 0, Fake 9000, has 8.9");
}

TEST_F(CudaLaunch, DifferentDevices) {
  fake.devices.resize(2);
  open();
  auto other = Stream::create(fake.device(1));
  ASSERT_TRUE(other);
  expectError(launch(*softmax, {}, **other, nullptr),
              "kernel 'softmax' is loaded on device 0, and the stream is one of device 1");
  EXPECT_TRUE(fake.launches.empty());
}

//===-- Kernels that fail -------------------------------------------------===//

TEST_F(CudaLaunch, TheOnlyKernelIsAtFault) {
  open();
  ASSERT_TRUE(launch(*norm, {}, *stream, nullptr));
  ASSERT_TRUE(stream->synchronize());
  ASSERT_TRUE(launch(*softmax, {}, *stream, nullptr));
  fake.failures["streamSynchronize"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  auto status = stream->synchronize();
  expectError(status, "kernel 'softmax' has failed: an illegal memory access was encountered "
                      "(CUDA_ERROR_ILLEGAL_ADDRESS)");
  EXPECT_EQ(messageOf(status).find("norm"), std::string::npos);
}

TEST_F(CudaLaunch, OneOfSeveralIsAtFault) {
  open();
  for (Function *function : {softmax.get(), norm.get(), norm.get(), norm.get(), softmax.get()})
    ASSERT_TRUE(launch(*function, {}, *stream, nullptr));
  fake.failures["streamSynchronize"] = CUDA_ERROR_ASSERT;
  EXPECT_EQ(messageOf(stream->synchronize()),
            "device 0, Fake 9000, has failed: device-side assert triggered (CUDA_ERROR_ASSERT); "
            "launched since the last synchronization: 'softmax', 'norm' (3 times), 'softmax'");
}

TEST_F(CudaLaunch, OfManyTheLastAreTold) {
  open();
  for (int n = 0; n < 70; ++n)
    ASSERT_TRUE(launch(n == 69 ? *norm : *softmax, {}, *stream, nullptr));
  fake.failures["streamSynchronize"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  std::string message = messageOf(stream->synchronize());
  EXPECT_NE(message.find("'softmax' (31 times), 'norm' and 38 before them"), std::string::npos)
      << message;
}

TEST_F(CudaLaunch, OtherStreamsAreSuspectsToo) {
  open();
  auto other = *Stream::create(owner), idle = *Stream::create(owner);
  ASSERT_TRUE(launch(*sum, {}, *other, nullptr));
  fake.failures["streamSynchronize"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  auto endsWith = [](const std::string &text, const std::string &end) {
    EXPECT_TRUE(text.ends_with(end)) << text;
  };
  endsWith(messageOf(stream->synchronize()), "; launched on another stream: 'sum'");
  ASSERT_TRUE(launch(*softmax, {}, *stream, nullptr));
  endsWith(messageOf(stream->synchronize()),
           "; launched since the last synchronization: 'softmax'; on other streams 'sum'");
  // Streams that are gone, and those that were waited for, are none.
  other = nullptr;
  endsWith(messageOf(idle->synchronize()), "; launched on another stream: 'softmax'");
}

TEST_F(CudaLaunch, AnEventMarksWhatIsDone) {
  open();
  auto event = Event::create(owner);
  ASSERT_TRUE(event);
  ASSERT_TRUE(launch(*softmax, {}, *stream, nullptr));
  ASSERT_TRUE(event->record(stream));
  ASSERT_TRUE(launch(*norm, {}, *stream, nullptr));
  ASSERT_TRUE(event->synchronize());
  fake.failures["eventSynchronize"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  expectError(event->synchronize(), "kernel 'norm' has failed: an illegal");
}

TEST_F(CudaLaunch, AFaultShowsInAnyLaterCall) {
  open();
  ASSERT_TRUE(launch(*softmax, {}, *stream, nullptr));
  fake.failures["launchKernelEx"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  std::string message = messageOf(launch(*norm, {}, *stream, nullptr));
  EXPECT_TRUE(message.starts_with("kernel 'softmax' has failed: ")) << message;
}

TEST(CudaLaunchLog, CountsFromManyThreads) {
  LaunchLog log;
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&] {
      for (int m = 0; m < 1000; ++m)
        log.add("kernel");
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(log.position(), 4000u);
  EXPECT_EQ(describe(log.open()), "'kernel' (32 times) and 3968 before them");
  log.markDone(3999);
  log.markDone(17); // waits may end in any order
  EXPECT_EQ(describe(log.open()), "'kernel'");
  log.markDone(4000);
  EXPECT_EQ(describe(log.open()), "");
}

} // namespace
} // namespace tile::runtime::cuda::test
