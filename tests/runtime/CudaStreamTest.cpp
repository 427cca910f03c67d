#include "CudaFake.h"
#include "TestSupport.h"

#include "runtime/cuda/DeviceBuffer.h"

namespace tile::runtime::cuda::test {
namespace {

using runtime::test::expectError;

class CudaStream : public CudaTest {
protected:
  std::shared_ptr<Stream> stream() {
    auto made = Stream::create(fake.device());
    EXPECT_TRUE(made) << made.error().str();
    return *made;
  }
  static std::vector<std::byte> randomBytes(size_t size) {
    std::mt19937_64 engine(runtime::test::freshSeed());
    std::vector<std::byte> bytes(size);
    for (std::byte &byte : bytes)
      byte = std::byte(engine());
    return bytes;
  }
};

TEST_F(CudaStream, OursIsDestroyedACallersIsNot) {
  stream();
  EXPECT_EQ(fake.count("streamDestroy"), 1);
  {
    auto wrapped = Stream::wrap(fake.device(), nullptr);
    EXPECT_TRUE(wrapped->synchronize());
  }
  EXPECT_EQ(fake.count("streamDestroy"), 1);
  fake.failures["streamCreate"] = CUDA_ERROR_OUT_OF_MEMORY;
  auto failed = Stream::create(fake.device());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message,
            "a stream can't be made: out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
}

TEST_F(CudaStream, Events) {
  auto device = fake.device();
  auto start = Event::create(device), end = Event::create(device);
  auto plain = Event::create(device, Event::Timing::Off);
  ASSERT_TRUE(start && end && plain);
  EXPECT_EQ(fake.count("eventCreate"), 2);
  EXPECT_EQ(fake.count("eventCreate without timing"), 1);
  auto made = Stream::create(device);
  ASSERT_TRUE(made);
  ASSERT_TRUE(start->record(*made));
  ASSERT_TRUE(end->record(*made));
  ASSERT_TRUE(end->synchronize());
  EXPECT_DOUBLE_EQ(*Event::milliseconds(*start, *end), 1.5);
  EXPECT_TRUE((*made)->wait(*plain));
  EXPECT_EQ(fake.count("streamWaitEvent"), 1);
  fake.failures["eventElapsedTime"] = CUDA_ERROR_NOT_READY;
  expectError(Event::milliseconds(*start, *end),
              "the time between two events can't be told: device not ready (CUDA_ERROR_NOT_READY)");
  *start = *std::move(end); // what is overwritten is destroyed, once
}

TEST_F(CudaStream, BuffersComeAndGoInTheStreamsOrder) {
  auto made = stream();
  fake.calls.clear();
  auto data = randomBytes(1003);
  {
    auto buffer = DeviceBuffer::allocate(made, data.size());
    ASSERT_TRUE(buffer) << buffer.error().str();
    EXPECT_EQ(buffer->size(), data.size());
    ASSERT_TRUE(buffer->fill(0xa5));
    ASSERT_TRUE(buffer->upload(data));
    std::vector<std::byte> back(data.size() - 3);
    ASSERT_TRUE(buffer->download(back, 3));
    EXPECT_TRUE(std::equal(back.begin(), back.end(), data.begin() + 3));
  }
  EXPECT_EQ(fake.calls,
            (std::vector<std::string>{"memAllocAsync", "memsetD8Async", "memcpyHtoDAsync",
                                      "streamSynchronize", "memcpyDtoHAsync", "streamSynchronize",
                                      "memFreeAsync"}));
}

TEST_F(CudaStream, PoisonAndCopiesOnTheDevice) {
  auto made = stream();
  auto first = DeviceBuffer::allocate(made, 100), second = DeviceBuffer::allocate(made, 100);
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(first->fill(0xff));
  ASSERT_TRUE(second->fill(0));
  ASSERT_TRUE(made->copy(second->address() + 10, first->address(), 20));
  std::vector<std::byte> back(100);
  ASSERT_TRUE(second->download(back));
  for (size_t n = 0; n < back.size(); ++n)
    EXPECT_EQ(back[n], std::byte(n >= 10 && n < 30 ? 0xff : 0)) << n;
}

TEST_F(CudaStream, NothingTakesNothing) {
  auto made = stream();
  fake.calls.clear();
  auto buffer = DeviceBuffer::allocate(made, 0);
  ASSERT_TRUE(buffer);
  EXPECT_EQ(buffer->address(), 0u);
  EXPECT_TRUE(buffer->upload({}));
  EXPECT_TRUE(buffer->download({}));
  EXPECT_TRUE(buffer->fill(1));
  EXPECT_TRUE(made->copy(0, 0, 0));
  EXPECT_TRUE(fake.calls.empty());
}

TEST_F(CudaStream, BuffersMove) {
  auto made = stream();
  auto first = DeviceBuffer::allocate(made, 8), second = DeviceBuffer::allocate(made, 16);
  ASSERT_TRUE(first && second);
  CUdeviceptr address = second->address();
  *first = *std::move(second);
  EXPECT_EQ(fake.leaks(), "1 contexts, 1 allocations, 1 streams");
  EXPECT_EQ(first->address(), address);
  EXPECT_EQ(second->address(), 0u);
  DeviceBuffer third(*std::move(first));
  DeviceBuffer &same = third;
  third = std::move(same);
  EXPECT_EQ(third.size(), 16u);
}

TEST_F(CudaStream, BeyondTheEnd) {
  auto made = stream();
  auto buffer = DeviceBuffer::allocate(made, 10);
  ASSERT_TRUE(buffer);
  auto data = randomBytes(11);
  expectError(buffer->upload(data), "11 bytes from 0 on are beyond the end of a buffer of 10");
  expectError(buffer->download(data, UINT64_MAX), "are beyond the end of a buffer of 10");
  expectError(buffer->upload(std::span(data).first(1), 10), "1 bytes from 10 on");
  EXPECT_EQ(fake.count("memcpyHtoDAsync"), 0);
}

TEST_F(CudaStream, OutOfMemory) {
  fake.usedElsewhere = size_t(78) << 30;
  for (bool pools : {true, false}) {
    fake.devices[0].attributes[CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED] = pools;
    auto buffer = DeviceBuffer::allocate(stream(), uint64_t(5) << 30);
    expectError(buffer, "device 0, Fake 9000, has no 5.0 GiB left; 2.0 GiB of 80.0 GiB are free: "
                        "out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
  }
  fake.failures["memGetInfo"] = CUDA_ERROR_INVALID_VALUE;
  auto buffer = DeviceBuffer::allocate(stream(), uint64_t(1) << 63);
  expectError(buffer, "has no 8.0 EiB left: out of memory");
}

TEST_F(CudaStream, DevicesWithoutPools) {
  fake.devices[0].attributes[CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED] = 0;
  auto made = stream();
  { ASSERT_TRUE(DeviceBuffer::allocate(made, 64)); }
  EXPECT_EQ(fake.count("memAlloc"), 1);
  EXPECT_EQ(fake.count("memFree"), 1);
  EXPECT_EQ(fake.count("memAllocAsync") + fake.count("memFreeAsync"), 0);
}

TEST_F(CudaStream, MemoryIsKept) {
  EXPECT_TRUE(fake.device()->keepMemory(uint64_t(3) << 33));
  EXPECT_EQ(fake.memoryKept, uint64_t(3) << 33);
  fake.failures["memPoolSetAttribute"] = CUDA_ERROR_INVALID_VALUE;
  EXPECT_FALSE(fake.device()->keepMemory(1));
  fake.devices[0].attributes[CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED] = 0;
  EXPECT_TRUE(fake.device()->keepMemory(1));
}

TEST_F(CudaStream, FailedCopiesSayWhich) {
  auto made = stream();
  auto buffer = DeviceBuffer::allocate(made, 4);
  ASSERT_TRUE(buffer);
  std::vector<std::byte> data(4);
  for (const char *name :
       {"memcpyHtoDAsync", "memcpyDtoHAsync", "memcpyDtoDAsync", "memsetD8Async"})
    fake.failures[name] = CUDA_ERROR_INVALID_VALUE;
  auto messageOf = [](const Status &status) { return status ? "" : status.error().message; };
  std::string end = " device 0, Fake 9000, failed: invalid argument (CUDA_ERROR_INVALID_VALUE)";
  EXPECT_EQ(messageOf(buffer->upload(data)), "copying to" + end);
  EXPECT_EQ(messageOf(buffer->download(data)), "copying from" + end);
  EXPECT_EQ(messageOf(made->copy(buffer->address(), buffer->address(), 4)), "copying on" + end);
  EXPECT_EQ(messageOf(buffer->fill(0)), "filling memory of" + end);
}

} // namespace
} // namespace tile::runtime::cuda::test
