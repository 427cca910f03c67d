#include "CudaFake.h"
#include "TestSupport.h"

#include "runtime/cuda/Stream.h"

#include <thread>

namespace tile::runtime::cuda::test {
namespace {

using runtime::test::expectError;
using CudaDevice = CudaTest;

TEST_F(CudaDevice, NoDevice) {
  fake.failures = {{"init", CUDA_ERROR_NO_DEVICE}, {"deviceGetCount", static_cast<CUresult>(3)}};
  auto driver = fake.driver(); // there is a driver all the same
  EXPECT_EQ(*Device::count(*driver), 0);
  EXPECT_TRUE(Device::list(*driver)->empty());
  expectError(Device::open(driver), "there is no CUDA device");
  fake.failures = {{"deviceGetCount", CUDA_ERROR_NO_DEVICE}};
  expectError(Device::open(fake.driver()), "there is no CUDA device");
  fake.failures.clear();
  fake.devices.clear();
  expectError(Device::open(fake.driver()), "there is no CUDA device");
}

TEST_F(CudaDevice, HiddenDevices) {
  fake.devices.clear();
  ::setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  auto device = Device::open(fake.driver());
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().hint, "CUDA_VISIBLE_DEVICES is '7', which hides the others");
}

TEST_F(CudaDevice, AnIndexThatIsNotThere) {
  expectError(Device::open(fake.driver(), 1), "no CUDA device 1: this machine shows one, 0");
  fake.devices.resize(3);
  expectError(Device::open(fake.driver(), 3), "no CUDA device 3: this machine shows 3, 0 to 2");
  expectError(Device::open(fake.driver(), -1), "no CUDA device -1: this machine shows 3, 0 to 2");
  EXPECT_EQ(Device::open(fake.driver(), 2).operator*()->properties().index, 2);
}

TEST_F(CudaDevice, Properties) {
  fake.devices.resize(2);
  fake.devices[1].name = "Other";
  fake.devices[1].setCapability(8, 6);
  auto list = Device::list(*fake.driver());
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ(fake.count("devicePrimaryCtxRetain"), 0);
  const DeviceProperties &first = list->front();
  EXPECT_EQ(first.label(), "device 0, Fake 9000,");
  EXPECT_EQ(first.capability(), "9.0");
  EXPECT_TRUE(first.isHopperOrNewer());
  EXPECT_EQ(first.multiprocessors, 132);
  EXPECT_EQ(first.memoryBytes, uint64_t(80) << 30);
  EXPECT_EQ(first.l2Bytes, 50 << 20);
  EXPECT_EQ(first.sharedPerBlock, 49152);
  EXPECT_EQ(first.sharedPerBlockOptIn, 232448);
  EXPECT_EQ(first.sharedPerMultiprocessor, 233472);
  EXPECT_EQ(first.registersPerMultiprocessor, 65536);
  EXPECT_EQ(first.threadsPerBlock, 1024);
  EXPECT_EQ(first.threadsPerMultiprocessor, 2048);
  EXPECT_EQ(first.clockKHz, 1980000);
  EXPECT_TRUE(first.hasMemoryPools);
  // An H100: 5120 bits twice a clock of 2619 MHz are 3.35 TB/s.
  EXPECT_NEAR(first.memoryBandwidth(), 3.352e12, 1e9);
  EXPECT_EQ(
      first.describe(),
      (std::vector<std::string>{
          "compute capability 9.0, --target=sm_90a",
          "132 multiprocessors at 1980 MHz, each with 65536 registers and 228.0 KiB of shared "
          "memory (227.0 KiB a block)",
          "80.0 GiB of memory, 5120 bits at 2619 MHz: 3352 GB/s; 50.0 MiB of L2 cache"}));
  EXPECT_EQ(list->back().label(), "device 1, Other,");
  EXPECT_FALSE(list->back().isHopperOrNewer());
  fake.failures["deviceGetAttribute"] = CUDA_ERROR_INVALID_VALUE;
  auto failed = Device::list(*fake.driver());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message,
            "the properties of CUDA device 0 can't be read: invalid argument "
            "(CUDA_ERROR_INVALID_VALUE)");
}

TEST_F(CudaDevice, WhatADriverLeavesOut) {
  auto &attributes = fake.devices[0].attributes;
  attributes.erase(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  attributes.erase(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  attributes.erase(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
  fake.devices[0].setCapability(7, 5);
  auto list = Device::list(*fake.driver());
  ASSERT_TRUE(list) << list.error().str();
  EXPECT_FALSE(list->front().hasMemoryPools);
  EXPECT_EQ(list->front().describe(),
            (std::vector<std::string>{
                "compute capability 7.5, which is not supported: 8.0 is the least",
                "132 multiprocessors, each with 65536 registers and 228.0 KiB of shared memory "
                "(227.0 KiB a block)",
                "80.0 GiB of memory; 50.0 MiB of L2 cache"}));
  attributes.erase(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  EXPECT_FALSE(Device::list(*fake.driver()));
}

TEST(CudaTarget, TheNewestWhoseCodeRunsThere) {
  const std::tuple<int, int, const char *> cases[] = {
      {8, 0, "sm_80"},    {8, 6, "sm_86"},  {8, 7, "sm_86"},  {8, 9, "sm_89"},   {9, 0, "sm_90a"},
      {10, 0, "sm_100a"}, {10, 3, "sm_90"}, {11, 0, "sm_90"}, {12, 0, "sm_120"}, {12, 1, "sm_120"}};
  for (auto [major, minor, target] : cases)
    EXPECT_EQ(*targetFor(major, minor), target) << major << "." << minor;
  expectError(targetFor(7, 5), "compute capability 7.5 are not supported: 8.0 is the least");
  EXPECT_FALSE(targetFor(0, 0));
}

TEST_F(CudaDevice, TheContextIsRetainedAndReleasedOnce) {
  auto device = fake.device();
  auto again = fake.device();
  EXPECT_EQ(fake.leaks(), "2 contexts");
  device.reset();
  EXPECT_EQ(fake.leaks(), "1 contexts");
  // What is made on a device holds it.
  auto stream = Stream::create(again);
  ASSERT_TRUE(stream);
  again.reset();
  EXPECT_EQ(fake.leaks(), "1 contexts, 1 streams");
}

TEST_F(CudaDevice, ADeviceThatIsTaken) {
  fake.failures["devicePrimaryCtxRetain"] = CUDA_ERROR_OUT_OF_MEMORY;
  expectError(Device::open(fake.driver()),
              "device 0, Fake 9000, can't be used: out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
}

TEST_F(CudaDevice, IsCurrentWhereAThreadCalls) {
  fake.devices.resize(2);
  auto first = fake.device(0), second = fake.device(1);
  auto currentOf = [&] {
    CUcontext context = nullptr;
    fake.table().ctxGetCurrent(&context);
    return context;
  };
  // A thread that had none keeps the first.
  EXPECT_EQ(currentOf(), nullptr);
  auto stream = Stream::create(first);
  ASSERT_TRUE(stream);
  EXPECT_EQ(currentOf(), first->context());
  // Another one is put back.
  auto other = Stream::create(second);
  ASSERT_TRUE(other);
  EXPECT_EQ(currentOf(), first->context());
  // No calls where it is current already.
  long before = fake.count("ctxSetCurrent");
  EXPECT_TRUE((*stream)->synchronize());
  EXPECT_EQ(fake.count("ctxSetCurrent"), before);
  bool isRight = false;
  std::thread([&] { isRight = bool((*other)->synchronize()); }).join();
  EXPECT_TRUE(isRight);
}

TEST_F(CudaDevice, AThreadKeepsNoDeadContext) {
  {
    auto device = fake.device();
    ASSERT_TRUE(Stream::create(device));
  }
  CUcontext context = nullptr;
  fake.table().ctxGetCurrent(&context);
  EXPECT_EQ(context, nullptr);
}

TEST_F(CudaDevice, NamesLive) {
  auto device = fake.device();
  std::string name = "softmax";
  const char *kept = device->internName(name);
  name = "other";
  EXPECT_STREQ(kept, "softmax");
  EXPECT_EQ(device->internName("softmax"), kept);
}

} // namespace
} // namespace tile::runtime::cuda::test
