// Measuring on a device, as far as no device is needed: what the fake driver is asked for, in which
// order, and what comes of its answers.

#include "dsl/Elaborator.h"
#include "frontend/bench/Bench.h"
#include "frontend/execute/ExecutionImpl.h"
#include "tests/runtime/CudaFake.h"

using namespace tile;
using namespace tile::frontend;

namespace {

class BenchCuda : public runtime::cuda::test::CudaTest {
protected:
  BenchCuda() {
    dsl::LoadedFile *file = program.load("test.tile", R"(
kernel halves(x: f32[M, N]) -> (y: f32[M, N]) {
    parallel i in tiles(M), j in tiles(N) { y[i, j] = x[i, j] / 2 }
} schedule { i = 16; j = 64 })");
    auto symbol = elaborator.elaborate({&file->module.decls.back(), file}, {});
    EXPECT_EQ(diags.errorCount(), 0u) << diags.print(false);
    executor.emplace(compiler, elaborator.module(), Device::Cuda);
    executor->driver = fake.driver();
    auto tensor =
        std::make_shared<runtime::Tensor>(*runtime::Tensor::create(runtime::DType::F32, {40, 100}));
    auto kernel = cast<ir::KernelOp>(elaborator.module().lookupSymbol(symbol));
    auto made = executor->prepare(kernel, {{tensor}}, {});
    EXPECT_TRUE(bool(made));
    prepared = *std::move(made);
    auto opened = BenchDevice::cuda(*executor->cudaContext());
    EXPECT_TRUE(bool(opened));
    device = *std::move(opened);
  }

  void TearDown() override {
    device.reset();
    prepared.reset();
    executor.reset();
    CudaTest::TearDown();
  }

  /// The calls from now on that matter for times.
  std::vector<std::string> takeCalls() {
    std::vector<std::string> taken;
    for (const std::string &call : fake.calls)
      if (call == "memsetD8Async" || call == "streamWaitEvent" || call == "memcpyDtoDAsync" ||
          call.starts_with("eventRecord") || call.starts_with("eventSync") ||
          call.starts_with("launchKernel"))
        taken.push_back(call.starts_with("launchKernel") ? "launch" : call);
    fake.calls.clear();
    return taken;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  dsl::DiagnosticEngine diags;
  dsl::Program program{diags, {}};
  dsl::Elaborator elaborator{context, program, diags};
  Compiler compiler;
  std::optional<Executor> executor;
  std::unique_ptr<Executor::Prepared> prepared;
  std::unique_ptr<BenchDevice> device;
};

using Calls = std::vector<std::string>;

TEST_F(BenchCuda, launchesStandInTheStreamWhileCachesAreFlushed) {
  auto kernel = device->kernel(*executor, *prepared);
  auto copy = device->copy(1000);
  ASSERT_TRUE(kernel && copy);
  takeCalls();
  Calls one = {"memsetD8Async", "eventRecord", "streamWaitEvent", "eventRecord",
               "launch",        "eventRecord", "eventSynchronize"};
  Calls other = {"memsetD8Async",   "eventRecord", "eventRecord",
                 "memcpyDtoDAsync", "eventRecord", "eventSynchronize"};
  Calls expected;
  for (int round = 0; round < 2; ++round) {
    expected.insert(expected.end(), one.begin(), one.end());
    expected.insert(expected.end(), other.begin(), other.end());
  }
  Contestant *both[] = {kernel->get(), copy->get()};
  ASSERT_TRUE(bool(takeTurns(*device, both, {.rounds = 2, .warmups = 0})));
  EXPECT_EQ(takeCalls(), expected);
  // By the fake's clock.
  EXPECT_EQ((*kernel)->timing.sorted, std::vector<double>(2, 1.5e-3));
  EXPECT_EQ((*kernel)->timing.median(), 1.5e-3);
  EXPECT_EQ((*kernel)->timing.spread(), 0);
}

// A graph is timed as what it becomes: one launch of a CUDA graph, on tensors that are there.
TEST_F(BenchCuda, graphsAreOneLaunch) {
  dsl::LoadedFile *file = program.load("graph.tile", R"(
kernel half(x: f32[M]) -> (y: f32[M]) { parallel i in tiles(M) { y[i] = x[i] / 2 } }
graph thrice(x: f32[M]) -> (y: f32[M]) { y = half(half(half(x))) })");
  std::string symbol = elaborator.elaborate({&file->module.decls.back(), file}, {});
  ASSERT_EQ(diags.errorCount(), 0u) << diags.print(false);
  auto tensor =
      std::make_shared<runtime::Tensor>(*runtime::Tensor::create(runtime::DType::F32, {300}));
  auto graph = device->graph(*executor, symbol, {{tensor}}, {});
  ASSERT_TRUE(bool(graph)) << graph.takeFailure().message;
  EXPECT_EQ(fake.count("graphInstantiate"), 1);
  fake.calls.clear();
  Contestant *one[] = {graph->get()};
  ASSERT_TRUE(bool(takeTurns(*device, one, {.rounds = 2, .warmups = 0, .isWarm = true})));
  EXPECT_EQ(fake.count("graphLaunch"), 2);
  EXPECT_EQ(fake.count("launchKernelEx"), 0);
  EXPECT_EQ(fake.count("memcpyHtoDAsync") + fake.count("memcpyDtoHAsync"), 0);
  EXPECT_EQ((*graph)->timing.sorted, std::vector<double>(2, 1.5e-3));
  // What is wrong is told before anything is measured.
  auto other =
      std::make_shared<runtime::Tensor>(*runtime::Tensor::create(runtime::DType::F32, {3, 3}));
  auto wrong = device->graph(*executor, symbol, {{other}}, {});
  EXPECT_FALSE(bool(wrong));
  fake.failures = {{"memAllocAsync", runtime::cuda::CUDA_ERROR_OUT_OF_MEMORY}};
  auto full = device->graph(*executor, symbol, {{tensor}}, {});
  ASSERT_FALSE(bool(full));
  EXPECT_NE(full.takeFailure().message.find("OUT_OF_MEMORY"), std::string::npos);
  fake.failures.clear();
}

TEST_F(BenchCuda, launchesAreSeenWithoutADevice) {
  dsl::LoadedFile *file = program.load("graph.tile", R"(
kernel half(x: f32[M], k: i32) -> (y: f32[M]) { parallel i in tiles(M) { y[i] = x[i] / 2 } }
graph twice(x: f32[M], k: i32) -> (y: f32[M]) { y = half(half(x, k + 1), k) })");
  std::string symbol = elaborator.elaborate({&file->module.decls.back(), file}, {});
  ASSERT_EQ(diags.errorCount(), 0u) << diags.print(false);
  Executor other(compiler, elaborator.module(), Device::Cuda);
  runtime::PlacedTensor x{runtime::DType::F32, {int64_t(1) << 40}};
  std::vector<runtime::GraphInput> inputs(2);
  inputs[0].placed = &x;
  inputs[1].bits = 7;
  std::vector<uint64_t> scalars;
  fake.calls.clear();
  auto see = [&](ir::KernelOp kernel, const runtime::KernelLaunch &launch) -> Outcome<Done> {
    EXPECT_EQ(kernel.getSymName(), "half");
    EXPECT_EQ(launch.dims, std::vector<int64_t>{x.shape[0]});
    EXPECT_EQ(launch.shapes[0], x.shape);
    EXPECT_EQ(launch.shapes[2], x.shape);
    scalars.push_back(launch.scalars[1]);
    return Done{};
  };
  ASSERT_TRUE(bool(other.eachLaunch(symbol, inputs, {}, see)));
  EXPECT_EQ(scalars, (std::vector<uint64_t>{8, 7}));
  ASSERT_TRUE(bool(other.eachLaunch("half", inputs, {}, see)));
  EXPECT_EQ(scalars.back(), 7u);
  EXPECT_TRUE(fake.calls.empty());
  // What `see` says, and what a run would.
  for (const char *name : {"half", symbol.c_str()}) {
    auto refused = other.eachLaunch(name, inputs, {}, [](auto, auto &) -> Outcome<Done> {
      return Failure::usage({"no", ""});
    });
    ASSERT_FALSE(bool(refused));
    EXPECT_EQ(refused.takeFailure().message, "no");
    auto unknown = other.eachLaunch(name, inputs, {{"Q", 3}}, see);
    ASSERT_FALSE(bool(unknown));
    EXPECT_NE(unknown.takeFailure().message.find("`Q`"), std::string::npos);
  }
}

TEST_F(BenchCuda, warm) {
  auto kernel = device->kernel(*executor, *prepared);
  ASSERT_TRUE(bool(kernel));
  takeCalls();
  Contestant *one[] = {kernel->get()};
  ASSERT_TRUE(bool(takeTurns(*device, one, {.rounds = 1, .warmups = 2, .isWarm = true})));
  Calls run = {"eventRecord", "launch", "eventRecord", "eventSynchronize"}, expected;
  for (int n = 0; n < 3; ++n)
    expected.insert(expected.end(), run.begin(), run.end());
  EXPECT_EQ(takeCalls(), expected);
  EXPECT_EQ((*kernel)->timing.sorted.size(), 1u);
}

TEST_F(BenchCuda, resourcesAndDescription) {
  fake.functionAttributes[runtime::cuda::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = 48;
  auto resources = device->resources(*prepared);
  ASSERT_TRUE(resources && *resources);
  EXPECT_EQ((*resources)->registers, 40);
  EXPECT_EQ((*resources)->spillBytes, 0); // read when the kernel was loaded
  EXPECT_GE((*resources)->sharedBytes, 1024);
  EXPECT_GT((*resources)->occupancy, 0);
  EXPECT_LE((*resources)->occupancy, 1);
  EXPECT_EQ(device->name(), "Fake 9000");
  EXPECT_FALSE(device->description());
}

TEST_F(BenchCuda, faultsAreErrors) {
  auto kernel = device->kernel(*executor, *prepared);
  ASSERT_TRUE(bool(kernel));
  fake.failures["eventSynchronize"] = runtime::cuda::CUDA_ERROR_ILLEGAL_ADDRESS;
  Contestant *one[] = {kernel->get()};
  auto done = takeTurns(*device, one, {.rounds = 1});
  ASSERT_FALSE(done);
  EXPECT_NE(done.takeFailure().message.find("halves"), std::string::npos);
  fake.failures.clear();
}

TEST(Timing, quantiles) {
  Timing timing{{1, 2, 3, 4, 9}};
  EXPECT_EQ(timing.median(), 3);
  EXPECT_EQ(timing.quantile(0.25), 2);
  EXPECT_EQ(timing.quantile(0.75), 4);
  EXPECT_DOUBLE_EQ(timing.spread(), 1.0 / 3);
  Timing even{{1, 2}};
  EXPECT_EQ(even.median(), 1.5);
  Timing single{{7}};
  EXPECT_EQ(single.median(), 7);
  EXPECT_EQ(single.spread(), 0);
}

} // namespace
