// Prepared calls of the C++ API on tensors of a device: bound once, run many times. On a fake
// driver.

#include "frontend/tile/Tile.h"
#include "tests/runtime/CudaFake.h"
#include "tests/runtime/TestSupport.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>

using namespace tile;
using tile::runtime::cuda::test::FakeLaunch;

/// How often memory was taken. AddressSanitizer has operators of its own, which have to stay.
static thread_local size_t numAllocations = 0;
#ifndef __SANITIZE_ADDRESS__
void *operator new(size_t bytes) {
  ++numAllocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
#endif

namespace {

const char *const text = "kernel axpy(x: f32[M], k: f32, d: f32 = 1.0) -> (y: f32[M]) {\n"
                         "    parallel i in tiles(M) {\n"
                         "        y[i] = x[i] * k + d\n"
                         "    }\n"
                         "}\n"
                         "kernel bump(inout x: f32[M]) -> () {\n"
                         "    parallel i in tiles(M) {\n"
                         "        x[i] = x[i] + 1.0\n"
                         "    }\n"
                         "}\n"
                         "kernel sure(x: f32[M]) -> (y: f32[M]) {\n"
                         "    parallel i in tiles(M) {\n"
                         "        assert(x[i] > 0.0, \"positive\")\n"
                         "        y[i] = x[i]\n"
                         "    }\n"
                         "}\n"
                         "kernel take(inout x: f32[M], from: f32[M]) -> () {\n"
                         "    parallel i in tiles(M) {\n"
                         "        x[i] = x[i] + from[i]\n"
                         "    }\n"
                         "}\n"
                         "kernel add(a: f32[M], b: f32[M]) -> (c: f32[M]) {\n"
                         "    parallel i in tiles(M) {\n"
                         "        c[i] = a[i] + b[i]\n"
                         "    }\n"
                         "}\n"
                         "graph twice(x: f32[M]) -> (y: f32[M]) {\n"
                         "    y = axpy(axpy(x, 2.0), 3.0)\n"
                         "}\n";

class ApiCudaTest : public runtime::cuda::test::CudaTest {
protected:
  void SetUp() override {
    fake.play = [](const FakeLaunch &launch) {
      auto at = [&]<typename T>(size_t n, T value) {
        std::memcpy(&value, launch.parameters[n], sizeof value);
        return value;
      };
      auto *x = at(0, static_cast<float *>(nullptr));
      if (launch.kernel == "bump") {
        for (int64_t n = 0; n < at(1, int64_t(0)); ++n)
          x[n] += 1;
        return;
      }
      if (launch.kernel != "axpy")
        return;
      auto *y = at(3, static_cast<float *>(nullptr));
      for (int64_t n = 0; n < at(4, int64_t(0)); ++n)
        y[n] = x[n] * at(1, 0.0f) + at(2, 0.0f);
    };
    gpu.emplace(*runtime::cuda::Stream::create(fake.device()));
  }
  void TearDown() override {
    module = Module(); // with the code that it has loaded
    gpu.reset();
    CudaTest::TearDown();
  }

  static Function function(const Module &module, const std::string &name,
                           FuseMode fuse = FuseMode::Off) {
    Result<Function> compiled = module.compile(name, {.device = Device::Cuda, .fuse = fuse});
    EXPECT_TRUE(compiled) << compiled.error().str();
    return *compiled;
  }
  static Tensor tensor(const std::vector<float> &values) {
    auto result = Tensor::create(f32, {static_cast<int64_t>(values.size())});
    std::memcpy(result->data(), values.data(), result->byteSize());
    return *std::move(result);
  }
  std::vector<float> values(const DeviceTensor &tensor) {
    auto host = gpu->download(tensor);
    EXPECT_TRUE(host);
    std::vector<float> result(static_cast<size_t>(host->numElements()));
    std::memcpy(result.data(), host->data(), host->byteSize());
    return result;
  }
  void refused(const Function &function, const std::vector<NamedDeviceArgument> &arguments,
               const std::string &message) {
    auto call = function.prepare(*gpu, arguments);
    ASSERT_FALSE(call);
    EXPECT_NE(call.error().message.find(message), std::string::npos) << call.error().message;
  }

  Module module = Module::parse(text);
  std::optional<Gpu> gpu;
};

} // namespace

TEST_F(ApiCudaTest, RunsOnWhatTensorsHold) {
  ASSERT_TRUE(module.ok()) << module.errorText();
  auto x = gpu->upload(tensor({1, 2, -3}));
  ASSERT_TRUE(x);
  auto call = function(module, "axpy").prepare(*gpu, {{"x", *x}, {"k", 2.0}});
  ASSERT_TRUE(call) << call.error().str();
  ASSERT_TRUE((*call)());
  EXPECT_EQ(values(call->output("y")), (std::vector<float>{3, 5, -5}));
  ASSERT_TRUE(x->assign(*gpu->stream(), tensor({0, 4, 8})));
  ASSERT_TRUE((*call)());
  EXPECT_EQ(values(call->output("y")), (std::vector<float>{1, 9, 17}));
  // Into a tensor of the caller's.
  auto y = gpu->create(f32, {3});
  auto into = function(module, "axpy").prepare(*gpu, {{"x", *x}, {"k", -1.0}, {"d", 0}, {"y", *y}});
  ASSERT_TRUE(into) << into.error().str();
  ASSERT_TRUE((*into)());
  EXPECT_EQ(values(*y), (std::vector<float>{0, -4, -8}));
  EXPECT_EQ(into->output("y").address(), y->address());
}

TEST_F(ApiCudaTest, RunsAgainWithoutMemory) {
  // The fake's own notes take memory.
  using namespace tile::runtime::cuda;
  static int numLaunches;
  numLaunches = 0;
  DriverTable table = fake.table();
  table.launchKernelEx = [](const CUlaunchConfig *, CUfunction, void **, void **) {
    ++numLaunches;
    return CUDA_SUCCESS;
  };
  auto driver = Driver::fromTable(table, "the quiet one");
  Gpu quiet(*Stream::create(*runtime::cuda::Device::open(*driver)));
  auto x = quiet.upload(tensor(std::vector<float>(100, 1)));
  auto call = function(module, "axpy").prepare(quiet, {{"x", *x}, {"k", 2.0}});
  ASSERT_TRUE(call);
  fake.calls.clear();
  size_t before = numAllocations;
  for (int run = 0; run < 10; ++run)
    ASSERT_TRUE((*call)());
  EXPECT_EQ(numAllocations - before, 0u);
  EXPECT_EQ(numLaunches, 10);
  EXPECT_TRUE(fake.calls.empty()) << fake.calls.front();
}

TEST_F(ApiCudaTest, ChangesInoutInPlace) {
  auto x = gpu->upload(tensor({1, 2}));
  auto call = function(module, "bump").prepare(*gpu, {{"x", *x}});
  ASSERT_TRUE(call) << call.error().str();
  for (int run = 0; run < 3; ++run)
    ASSERT_TRUE((*call)());
  EXPECT_EQ(values(*x), (std::vector<float>{4, 5}));
  EXPECT_EQ(call->output("x").address(), x->address());
}

TEST_F(ApiCudaTest, RunsGraphs) {
  auto x = gpu->upload(tensor({1, 2}));
  auto y = gpu->create(f32, {2});
  auto call = function(module, "twice").prepare(*gpu, {{"x", *x}, {"y", *y}});
  ASSERT_TRUE(call) << call.error().str();
  for (int run = 0; run < 4; ++run) {
    auto input = static_cast<float>(run);
    ASSERT_TRUE(x->assign(*gpu->stream(), tensor({input, -input})));
    ASSERT_TRUE((*call)());
    EXPECT_EQ(values(*y), (std::vector<float>{6 * input + 4, -6 * input + 4}));
  }
  // The caller's tensors are held.
  auto moved = *std::move(call);
  x = gpu->create(f32, {1});
  ASSERT_TRUE(moved());
}

TEST_F(ApiCudaTest, FusesGraphs) {
  auto x = gpu->upload(tensor({1, 2}));
  auto call = function(module, "twice", FuseMode::Exact).prepare(*gpu, {{"x", *x}});
  ASSERT_TRUE(call) << call.error().str();
  ASSERT_TRUE((*call)());
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].kernel, "axpy_axpy");
}

TEST_F(ApiCudaTest, RunsOnHostTensors) {
  // By the driver of this machine, which mostly has none: then it says so.
  auto outputs = function(module, "axpy")({{"x", tensor({1, 2})}, {"k", 2.0}});
  if (outputs)
    EXPECT_EQ(outputs->at("y")->getDouble(1), 5);
  else
    EXPECT_NE(outputs.error().message.find("CUDA"), std::string::npos);
}

TEST_F(ApiCudaTest, LooksForDevicesToPlanAndToRun) {
  runtime::test::Variable driver("TILE_CUDA_DRIVER", FAKE_DRIVER); // it has none
  void *library = ::dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  const int &counted = *static_cast<int *>(::dlsym(library, "tile_fake_times_counted"));
  auto timesOf = [&](const Function &function, const std::vector<NamedArgument> &arguments) {
    int before = counted;
    EXPECT_FALSE(function(arguments));
    return counted - before;
  };
  Tensor x = tensor({1, 2});
  Function kernel = function(module, "axpy", FuseMode::Exact);
  Function graph = function(module, "twice", FuseMode::Exact);
  EXPECT_EQ(timesOf(kernel, {{"x", x}, {"k", 2.0}}), 1);
  EXPECT_EQ(timesOf(graph, {{"x", x}}), 3); // a plan is made, once, and its code looked at
  EXPECT_EQ(timesOf(graph, {{"x", x}}), 1);
  ::dlclose(library);
}

TEST_F(ApiCudaTest, RefusesWhatDoesNotFit) {
  Function axpy = function(module, "axpy");
  auto x = gpu->upload(tensor({1, 2}));
  auto half = gpu->create(f16, {2});
  auto longer = gpu->create(f32, {3});
  refused(axpy, {{"x", *x}}, "`axpy` needs an argument for `k`");
  refused(axpy, {{"x", 1.0}, {"k", 2.0}}, "`x` is a tensor, the argument a number");
  refused(axpy, {{"x", *half}, {"k", 2.0}},
          "`x` of `axpy` holds f32, the argument is f16[2] on device 0");
  refused(axpy, {{"x", *x}, {"k", *x}}, "`k` of `axpy` is a scalar, the argument is a tensor");
  refused(axpy, {{"x", *x}, {"k", 2.0}, {"y", *longer}},
          "output `y` of `axpy` is f32[2], the tensor given for it is f32[3]");
  refused(axpy, {{"x", *x}, {"k", 2.0}, {"z", 3}}, "`axpy` has no input or output `z`");
  refused(axpy, {{"x", *x}, {"k", 2.0}, {"y", 3}}, "output `y` is a tensor, the argument a number");
  refused(function(module, "twice"), {{"x", *x}, {"y", *longer}},
          "output `y` of `twice` is f32[2], the tensor given for it is f32[3]");
  refused(function(module, "sure"), {{"x", *x}}, "`sure` asserts or prints");
}

TEST_F(ApiCudaTest, RefusesWhatOverlaps) {
  auto x = gpu->upload(tensor(std::vector<float>(16)));
  // Of five elements; tensors begin at multiples of 16 bytes.
  auto part = [&](uint64_t first) {
    return *DeviceTensor::wrap(gpu->stream()->sharedDevice(), x->address() + 16 * first, f32, {5});
  };
  Function axpy = function(module, "axpy"), add = function(module, "add");
  refused(axpy, {{"x", part(0)}, {"k", 2.0}, {"y", part(1)}},
          "`y` of `axpy`, which is written, overlaps `x`: they have 4 bytes in common");
  refused(function(module, "twice"), {{"x", part(2)}, {"y", part(2)}},
          "`y` of `twice`, which is written, overlaps `x`: they have 20 bytes in common");
  refused(function(module, "take"), {{"x", part(1)}, {"from", part(2)}},
          "`x` of `take`, which is written, overlaps `from`: they have 4 bytes in common");
  EXPECT_TRUE(axpy.prepare(*gpu, {{"x", part(0)}, {"k", 2.0}, {"y", part(2)}}));
  // What is only read may be the same.
  EXPECT_TRUE(add.prepare(*gpu, {{"a", part(0)}, {"b", part(0)}}));
}

TEST_F(ApiCudaTest, RefusesTensorsOfAnotherDevice) {
  fake.devices.emplace_back();
  Gpu other(*runtime::cuda::Stream::create(fake.device(1)));
  auto x = other.upload(tensor({1, 2}));
  ASSERT_TRUE(x);
  refused(function(module, "axpy"), {{"x", *x}, {"k", 2.0}},
          "`x` of `axpy` is f32[2] on device 1, and the call runs on device 0");
  // One of several, of a graph, and an output.
  auto own = gpu->upload(tensor({1, 2}));
  ASSERT_TRUE(own);
  refused(function(module, "axpy"), {{"x", *own}, {"k", 2.0}, {"y", *x}},
          "`y` of `axpy` is f32[2] on device 1, and the call runs on device 0");
  refused(function(module, "twice"), {{"x", *x}}, "`x` of `twice` is f32[2] on device 1");
  refused(function(module, "twice"), {{"x", *own}, {"y", *x}},
          "`y` of `twice` is f32[2] on device 1");
  // Where all are on the other device it runs there.
  auto call = function(module, "axpy").prepare(other, {{"x", *x}, {"k", 2.0}});
  EXPECT_TRUE(call) << call.error().str();
  EXPECT_TRUE(fake.launches.empty());
}

//===-- DLPack ------------------------------------------------------------===//

namespace {

/// As in dlpack.h.
struct Managed {
  void *data;
  int32_t deviceType, deviceId, rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t offset;
  void *context;
  void (*deleter)(Managed *);

  DLManagedTensor *get() { return reinterpret_cast<DLManagedTensor *>(this); }
};

struct Shared {
  alignas(16) float memory[12] = {};
  int64_t shape[2] = {3, 4}, strides[2] = {4, 1};
  int deleted = 0;
  Managed managed = {
      memory,  2,  0,    2,
      2,       32, 1,    shape,
      strides, 0,  this, [](Managed *self) {
                       ++static_cast<Shared *>(self->context)->deleted; }};
};

} // namespace

TEST_F(ApiCudaTest, TakesTensorsOfOthers) {
  Shared shared;
  {
    auto tensor = gpu->fromDlpack(shared.managed.get());
    ASSERT_TRUE(tensor) << tensor.error().str();
    EXPECT_EQ(tensor->describe(), "f32[3x4] on device 0");
    EXPECT_EQ(tensor->address(), reinterpret_cast<uintptr_t>(shared.memory));
    DeviceTensor copy = *tensor;
    EXPECT_EQ(shared.deleted, 0);
    // And gives it on.
    auto *given = reinterpret_cast<Managed *>(runtime::cuda::toDlpack(copy));
    EXPECT_EQ(given->data, shared.memory);
    EXPECT_EQ(given->rank, 2);
    EXPECT_EQ(given->shape[1], 4);
    EXPECT_EQ(given->bits, 32);
    auto again = gpu->fromDlpack(given->get());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->shape(), (Shape{3, 4}));
  }
  EXPECT_EQ(shared.deleted, 1);
}

TEST_F(ApiCudaTest, RefusesTensorsOfOthersThatDoNotFit) {
  Shared shared;
  auto refuse = [&](const std::string &message) {
    auto tensor = gpu->fromDlpack(shared.managed.get());
    ASSERT_FALSE(tensor);
    EXPECT_NE(tensor.error().message.find(message), std::string::npos) << tensor.error().message;
    EXPECT_EQ(shared.deleted, 0);
    shared.managed = Shared().managed;
    shared.managed.data = shared.memory;
    shared.managed.shape = shared.shape;
    shared.managed.strides = shared.strides;
    shared.managed.context = &shared;
  };
  shared.managed.deviceType = 1;
  refuse("not in the memory of a CUDA device");
  shared.managed.deviceId = 3;
  refuse("is on device 3, and is needed on device 0");
  shared.managed.code = 5;
  refuse("type code 5 with 32 bits");
  shared.managed.lanes = 4;
  refuse("4 lanes");
  shared.managed.offset = 4;
  refuse("begins 4 bytes behind a multiple of 16");
  std::swap(shared.strides[0], shared.strides[1]);
  refuse("f32[3x4] is not row-major and dense");
}
