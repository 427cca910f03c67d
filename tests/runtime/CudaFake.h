// A driver for tests that runs nothing, and knows what it was asked for: a table of functions over
// devices that are made up.
#pragma once

#include "runtime/cuda/Device.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

namespace tile::runtime::cuda::test {

struct FakeDevice {
  std::string name = "Fake 9000";
  std::map<CUdevice_attribute, int> attributes = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 50 << 20},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2619000},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120},
      {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1}};
  size_t memory = size_t(80) << 30;

  void setCapability(int major, int minor) {
    attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = major;
    attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = minor;
  }
};

/// A launch, as the driver received it.
struct FakeLaunch {
  std::string kernel;
  CUlaunchConfig config;
  std::vector<CUlaunchAttribute> attributes;
  void **parameters;
};

/// There is one at a time; its table works as long as it lives.
class FakeDriver {
public:
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver &) = delete;

  // What it answers. Change it before the call.
  int version = 13000;
  std::vector<FakeDevice> devices = {FakeDevice()};
  size_t usedElsewhere = size_t(1) << 30;
  std::map<CUfunction_attribute, int> functionAttributes = {
      {CU_FUNC_ATTRIBUTE_NUM_REGS, 40},
      {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 0},
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1024},
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024}};
  /// What functions of the table return instead of doing anything, by name.
  std::map<std::string, CUresult> failures;
  /// What the compiler says, and gives. It gives a link "cubin of " and the PTX.
  std::string jitErrors, jitInfo;
  CUresult jitResult = CUDA_SUCCESS;
  /// Plays the kernels: device memory is memory of this process.
  std::function<void(const FakeLaunch &)> play;

  // What it was asked for.
  std::vector<std::string> calls;
  std::vector<FakeLaunch> launches;
  std::vector<std::pair<CUfunction_attribute, int>> attributesSet;
  uint64_t memoryKept = 0;
  std::string lastImage;
  unsigned lastJitOptions = 0;
  int numEncoded = 0;

  /// The driver over this fake's table.
  std::shared_ptr<const Driver> driver();
  /// A device of it.
  std::shared_ptr<Device> device(int index = 0);
  const DriverTable &table() const { return functions; }

  /// Does something now, or, while the stream is captured, with each launch of the graph.
  void work(CUstream stream, std::function<void()> what);
  /// How often a function was called.
  long count(const std::string &name) const;
  /// How many nodes of the graphs that there are wait for no other.
  long numRoots() const;
  /// What was made and not given back: "2 allocations, 1 stream". Empty: nothing.
  std::string leaks() const;

private:
  friend struct FakeFunctions;

  struct FakeModule {
    std::set<std::string> kernels;
  };
  struct FakeFunction {
    std::string name;
  };

  DriverTable functions;
  std::map<CUdevice, int> retained;
  std::map<CUdeviceptr, size_t> allocations;
  std::map<CUdeviceptr, CUstream> allocationStreams;
  std::set<CUstream> streams;
  std::map<CUevent, CUstream> events;
  std::map<CUmodule, FakeModule> modules;
  std::map<CUlinkState, std::string> links;
  std::map<CUfunction, FakeFunction> kernels;
  /// What a stream is given while it is captured, and what graphs hold. A node is known by its
  /// number + 1.
  struct Node {
    std::function<void()> work;
    std::vector<CUgraphNode> after;
  };
  struct Capture {
    std::vector<Node> nodes;
    std::vector<CUgraphNode> last;
  };
  std::map<CUstream, Capture> captured;
  std::map<CUgraph, std::vector<Node>> graphs;
  std::map<CUgraphExec, std::vector<Node>> executables;
  uintptr_t nextHandle = 0x1000;
};

/// Looks after the fake: at the end of a test nothing is left of what was made.
class CudaTest : public ::testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(fake.leaks(), ""); }

  FakeDriver fake;
};

} // namespace tile::runtime::cuda::test
