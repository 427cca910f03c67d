// Graphs on a CUDA device keep their tensors there: inputs go there once, results come back once,
// and what is run often becomes a CUDA graph. On a fake driver.

#include "CudaProgram.h"
#include "runtime/cuda/PreparedRun.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::test;
using namespace tile::runtime::cuda;

namespace {

const std::string kernels = "kernel add(x: f32[M], y: f32[M]) -> (z: f32[M]) {\n"
                            "    parallel i in tiles(M) {\n"
                            "        z[i] = x[i] + y[i]\n"
                            "    }\n"
                            "}\n"
                            "kernel scale(x: f32[M], k: f32) -> (y: f32[M]) {\n"
                            "    parallel i in tiles(M) {\n"
                            "        y[i] = x[i] * k\n"
                            "    }\n"
                            "}\n"
                            "kernel bump(inout x: f32[M]) -> () {\n"
                            "    parallel i in tiles(M) {\n"
                            "        x[i] = x[i] + 1.0\n"
                            "    }\n"
                            "}\n";

/// What the kernels do, in C++.
void perform(const FakeLaunch &launch) {
  if (launch.kernel == "add") {
    auto *x = parameter<const float *>(launch, 0), *y = parameter<const float *>(launch, 1);
    auto *z = parameter<float *>(launch, 2);
    for (int64_t n = 0; n < parameter<int64_t>(launch, 3); ++n)
      z[n] = x[n] + y[n];
  } else if (launch.kernel == "scale") {
    auto *x = parameter<const float *>(launch, 0);
    auto k = parameter<float>(launch, 1);
    auto *y = parameter<float *>(launch, 2);
    for (int64_t n = 0; n < parameter<int64_t>(launch, 3); ++n)
      y[n] = x[n] * k;
  } else {
    EXPECT_EQ(launch.kernel, "bump");
    auto *x = parameter<float *>(launch, 0);
    for (int64_t n = 0; n < parameter<int64_t>(launch, 1); ++n)
      x[n] += 1;
  }
}

class CudaGraphTest : public ::testing::Test {
protected:
  void SetUp() override { fake.play = perform; }
  void TearDown() override { EXPECT_EQ(fake.leaks(), ""); }

  std::vector<float> random(size_t count) {
    std::vector<float> values(count);
    for (float &value : values)
      value = static_cast<float>(static_cast<int>(generator() % 2001) - 1000) / 64;
    return values;
  }

  FakeDriver fake;
  std::mt19937 generator{11};
};

} // namespace

TEST_F(CudaGraphTest, CopiesInputsAndResultsOnce) {
  CudaProgram program(
      fake, kernels + "graph g(x: f32[M], y: f32[M], k: f32) -> (s: f32[M], t: f32[M]) {\n"
                      "    let a = add(x, y)\n"
                      "    let b = scale(a, k)\n"
                      "    let c = add(b, x)\n"
                      "    s = scale(c, 0.5)\n"
                      "    t = add(c, a)\n"
                      "}\n");
  for (int64_t extent : {37, 37, 37, 37, 5, 37}) {
    auto count = static_cast<size_t>(extent);
    std::vector<float> x = random(count), y = random(count), s(count), t(count);
    float k = random(1).front();
    for (size_t n = 0; n < count; ++n) {
      float a = x[n] + y[n], c = a * k + x[n];
      s[n] = c * 0.5f;
      t[n] = c + a;
    }
    fake.calls.clear();
    fake.launches.clear();
    uint32_t bits;
    std::memcpy(&bits, &k, sizeof bits);
    auto outputs = program.run({tensorOf(x, {extent}), tensorOf(y, {extent}), {nullptr, bits}});
    ASSERT_TRUE(bool(outputs)) << outputs.takeFailure().message;
    EXPECT_EQ(valuesOf(*(*outputs)[0]), s);
    EXPECT_EQ(valuesOf(*(*outputs)[1]), t);
    EXPECT_EQ(fake.count("memcpyHtoDAsync"), 2);
    EXPECT_EQ(fake.count("memcpyDtoHAsync"), 2);
    EXPECT_EQ(fake.count("memcpyDtoDAsync"), 0);
    EXPECT_EQ(fake.launches.size(), 5u);
  }
}

TEST_F(CudaGraphTest, BecomesACudaGraphWhereItRepeats) {
  CudaProgram program(fake, kernels + "graph g(x: f32[M]) -> (y: f32[M]) {\n"
                                      "    y = scale(add(scale(x, 2.0), x), 3.0)\n"
                                      "}\n");
  for (int run = 0; run < 6; ++run) {
    std::vector<float> x = random(9), y;
    for (float value : x)
      y.push_back((value * 2 + value) * 3);
    fake.calls.clear();
    fake.launches.clear();
    auto outputs = program.run({tensorOf(x, {9})});
    ASSERT_TRUE(bool(outputs));
    EXPECT_EQ(valuesOf(*outputs->front()), y) << run;
    EXPECT_EQ(fake.launches.size(), 3u);
    bool isGraph = run >= int(PreparedRun::runsBeforeGraph);
    EXPECT_EQ(fake.count("graphLaunch"), isGraph) << run;
    EXPECT_EQ(fake.count("graphInstantiate"), run == int(PreparedRun::runsBeforeGraph));
    // Once captured, the kernels are launched by the graph alone.
    if (run > int(PreparedRun::runsBeforeGraph)) {
      EXPECT_EQ(fake.count("launchKernelEx"), 0);
      EXPECT_EQ(fake.count("memAllocAsync"), 0);
    }
  }
}

// The fake runs a graph's nodes as late as their dependencies let it: one that lacks a dependency
// reads what isn't there yet, and one that shares memory with a branch beside it spoils that.
TEST_F(CudaGraphTest, BranchesOfACudaGraphWaitForWhatTheyNeed) {
  CudaProgram program(fake, kernels + "graph g(x: f32[M], y: f32[M]) -> (s: f32[M], t: f32[M]) {\n"
                                      "    let a = scale(x, 2.0)\n"
                                      "    let b = scale(bump(scale(a, 3.0)), 5.0)\n"
                                      "    let c = scale(bump(scale(y, 7.0)), 11.0)\n"
                                      "    let d = bump(add(a, y))\n"
                                      "    s = add(b, add(c, d))\n"
                                      "    t = bump(y)\n"
                                      "}\n");
  for (int run = 0; run < 5; ++run) {
    std::vector<float> x = random(35), y = random(35), s, t;
    for (size_t n = 0; n < x.size(); ++n) {
      float a = x[n] * 2, b = (a * 3 + 1) * 5, c = (y[n] * 7 + 1) * 11, d = a + y[n] + 1;
      s.push_back(b + (c + d));
      t.push_back(y[n] + 1);
    }
    fake.calls.clear();
    auto outputs = program.run({tensorOf(x, {35}), tensorOf(y, {35})});
    ASSERT_TRUE(bool(outputs));
    EXPECT_EQ(valuesOf(*(*outputs)[0]), s) << run;
    EXPECT_EQ(valuesOf(*(*outputs)[1]), t) << run;
    EXPECT_EQ(fake.count("graphLaunch"), run >= int(PreparedRun::runsBeforeGraph));
  }
  // `a`, what is made of `y` alone, and `t`'s copy wait for nothing.
  EXPECT_EQ(fake.numRoots(), 3);
}

TEST_F(CudaGraphTest, RunsStepByStepWhereTheDriverMakesNoGraph) {
  for (const char *function : {"streamBeginCapture", "streamUpdateCaptureDependencies",
                               "streamGetCaptureInfo", "streamEndCapture", "graphInstantiate"}) {
    fake.failures = {{function, CUDA_ERROR_INVALID_VALUE}};
    CudaProgram program(fake, kernels + "graph g(x: f32[M]) -> (y: f32[M]) {\n"
                                        "    y = scale(add(scale(x, 2.0), x), 3.0)\n"
                                        "}\n");
    for (int run = 0; run < 5; ++run) {
      auto outputs = program.run({tensorOf({1, -2}, {2})});
      ASSERT_TRUE(bool(outputs)) << function;
      EXPECT_EQ(valuesOf(*outputs->front()), (std::vector<float>{9, -18})) << function;
    }
    EXPECT_EQ(fake.count("graphLaunch"), 0);
  }
}

TEST_F(CudaGraphTest, ChangesCopiesOfWhatIsUsedLater) {
  CudaProgram program(fake, kernels + "graph g(x: f32[M]) -> (y: f32[M], z: f32[M]) {\n"
                                      "    let a = bump(x)\n"
                                      "    let b = bump(bump(a))\n"
                                      "    y = add(a, b)\n"
                                      "    z = x\n"
                                      "}\n");
  std::vector<float> x = random(130), y;
  for (float value : x)
    y.push_back(value + 1 + (value + 3));
  for (int run = 0; run < 4; ++run) {
    auto outputs = program.run({tensorOf(x, {130})});
    ASSERT_TRUE(bool(outputs));
    EXPECT_EQ(valuesOf(*(*outputs)[0]), y);
    EXPECT_EQ(valuesOf(*(*outputs)[1]), x);
  }
}

TEST_F(CudaGraphTest, ShowsWhatNobodyWrites) {
  fake.play = nullptr;
  CudaProgram program(fake, kernels + "graph g(x: f32[M]) -> (y: f32[M]) {\n"
                                      "    y = scale(scale(x, 2.0), 3.0)\n"
                                      "}\n");
  program.executor->poisons = true;
  auto outputs = program.run({tensorOf({1, 2, 3}, {3})});
  ASSERT_TRUE(bool(outputs));
  for (float value : valuesOf(*outputs->front()))
    EXPECT_TRUE(std::isnan(value));
}

TEST_F(CudaGraphTest, TellsTheCallThatFails) {
  CudaProgram program(fake, kernels + "graph g(x: f32[M]) -> (y: f32[M]) {\n"
                                      "    y = scale(scale(x, 2.0), 3.0)\n"
                                      "}\n");
  fake.failures = {{"memAllocAsync", CUDA_ERROR_OUT_OF_MEMORY}};
  auto outputs = program.run({tensorOf({1, 2, 3}, {3})});
  ASSERT_FALSE(bool(outputs));
  Failure failure = outputs.takeFailure();
  EXPECT_EQ(failure.kind, Failure::Kind::Environment);
  EXPECT_NE(failure.message.find("bytes left"), std::string::npos) << failure.message;
  fake.failures.clear();
  fake.usedElsewhere = 0;
  auto empty = program.run({tensorOf({}, {0})});
  ASSERT_TRUE(bool(empty));
  EXPECT_EQ((*empty)[0]->numElements(), 0);
  EXPECT_TRUE(fake.launches.empty());
}
