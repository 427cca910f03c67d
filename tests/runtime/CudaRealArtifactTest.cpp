// Artifacts on this machine's device: each variant of each kernel (tests/runtime/kernels/
// device.tile) computes what the same artifact computes on the processor.
#include "CudaRealSupport.h"

#include "runtime/load/Artifact.h"

#include <cmath>

namespace tile::runtime::cuda::test {
namespace {

class CudaRealArtifact : public CudaRealTest {
protected:
  void SetUp() override {
    CudaRealTest::SetUp();
    if (IsSkipped())
      return;
    gpu.emplace(stream);
    const char *folder = std::getenv("TILE_TEST_PTX");
    ASSERT_TRUE(folder) << "TILE_TEST_PTX has to name the folder of the tests' code";
    auto loaded = Artifact::load(std::string(folder) + "/device.tileart");
    ASSERT_TRUE(loaded) << loaded.error().str();
    artifact.emplace(*loaded);
    seed = runtime::test::freshSeed();
    engine.seed(seed);
  }

  std::shared_ptr<Tensor> normal(DType type, Shape shape) {
    std::normal_distribution<double> numbers;
    Result<Tensor> tensor = Tensor::create(type, std::move(shape));
    EXPECT_TRUE(tensor);
    for (int64_t n = 0; n < tensor->numElements(); ++n)
      tensor->setDouble(n, numbers(engine));
    return std::make_shared<Tensor>(*std::move(tensor));
  }

  using Inputs = std::vector<std::pair<std::string, std::shared_ptr<Tensor>>>;

  /// On both; floats may differ by so much of their size, or of the greatest of the output.
  void compare(const std::string &name, const Inputs &inputs, double tolerance) {
    Result<ArtifactFunction> function = artifact->function(name);
    ASSERT_TRUE(function) << function.error().str();
    std::vector<NamedLaunchArgument> here, there;
    for (const auto &[input, tensor] : inputs) {
      here.push_back({input, std::shared_ptr<const Tensor>(tensor)});
      Result<DeviceTensor> uploaded = gpu->upload(*tensor);
      ASSERT_TRUE(uploaded) << uploaded.error().str();
      there.push_back({input, *uploaded});
    }
    Result<NamedTensors> expected = function->launch(here);
    ASSERT_TRUE(expected) << expected.error().str();
    Result<NamedDeviceTensors> outputs = function->launch(*gpu, there);
    ASSERT_TRUE(outputs) << outputs.error().str();
    for (const auto &[output, tensor] : *outputs) {
      Result<Tensor> actual = gpu->download(tensor);
      ASSERT_TRUE(actual) << actual.error().str();
      expectNear(*actual, *expected->at(output), tolerance, name + "." + output);
    }
  }

  static void expectNear(const Tensor &actual, const Tensor &expected, double tolerance,
                         const std::string &what) {
    ASSERT_EQ(actual.shape(), expected.shape()) << what;
    double most = 0;
    for (int64_t n = 0; n < expected.numElements(); ++n)
      if (double value = std::fabs(expected.getDouble(n)); std::isfinite(value))
        most = std::max(most, value);
    for (int64_t n = 0; n < expected.numElements(); ++n) {
      double x = actual.getDouble(n), y = expected.getDouble(n);
      bool isEqual = x == y || (std::isnan(x) && std::isnan(y));
      ASSERT_TRUE(isEqual || std::fabs(x - y) <= tolerance * most)
          << what << " of " << expected.describe() << " at " << n << ": " << x << " instead of "
          << y;
    }
  }

  std::optional<Gpu> gpu;
  std::optional<Artifact> artifact;
  uint64_t seed = 0;
  std::mt19937_64 engine;
};

/// One in each bucket, at both its ends, and rows that begin anywhere.
constexpr int64_t lengths[] = {0,     1,     3,     4,     64,    255,    256,   257,  300,
                               1000,  1023,  1024,  1028,  4095,  4096,   4100,  9999, 16384,
                               16385, 20000, 50257, 65536, 65540, 100000, 100001};

TEST_F(CudaRealArtifact, RowsOfAnyLength) {
  SCOPED_TRACE(seed);
  for (int64_t length : lengths)
    for (DType type : {DType::F32, DType::F16})
      compare("softmax", {{"x", normal(type, {length > 20000 ? 3 : 37, length})}},
              type == DType::F32 ? 2e-6 : 1e-3);
}

TEST_F(CudaRealArtifact, RowsThatBeginAnywhere) {
  SCOPED_TRACE(seed);
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{37, 61},
                               {64, 64},
                               {64, 61},
                               {37, 64},
                               {1, 4096},
                               {1000, 1},
                               {0, 5},
                               {333, 1028}})
    compare("affine",
            {{"x", normal(DType::F32, {rows, columns})},
             {"w", normal(DType::F32, {columns})},
             {"b", normal(DType::F32, {rows})}},
            0);
}

TEST_F(CudaRealArtifact, SumsOverRowsTakeAllTheirLaunches) {
  SCOPED_TRACE(seed);
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{37, 61},
                               {1024, 256},
                               {777, 1000},
                               {5, 20000},
                               {0, 5},
                               {3, 70001}})
    compare(
        "sums",
        {{"x", normal(DType::F32, {rows, columns})}, {"seen", normal(DType::F32, {rows, columns})}},
        2e-5);
}

TEST_F(CudaRealArtifact, OrderAlongRows) {
  SCOPED_TRACE(seed);
  for (int64_t length : {1, 2, 31, 255, 256, 257, 1000, 1023, 1024, 1027, 3001, 4096})
    compare("order", {{"x", normal(DType::F32, {5, length})}}, 0);
  // There is no code for longer rows.
  Result<DeviceTensor> x = gpu->upload(*normal(DType::F32, {2, 100000}));
  runtime::test::expectError(artifact->function("order")->launch(*gpu, {{"x", *x}}),
                             "the artifact has no code of `order` for M = 2, N = 100000");
}

TEST_F(CudaRealArtifact, AssertionsAreErrors) {
  auto x = normal(DType::F32, {9, 100});
  compare("checked", {{"x", x}}, 0);
  x->setDouble(705, -1e6);
  Result<DeviceTensor> onDevice = gpu->upload(*x);
  auto result = artifact->function("checked")->launch(*gpu, {{"x", *onDevice}});
  auto expected = artifact->function("checked")->launch({{"x", *x}});
  ASSERT_FALSE(result);
  ASSERT_FALSE(expected);
  auto untilProgram = [](const std::string &text) { return text.substr(0, text.find(" (in")); };
  EXPECT_EQ(untilProgram(result.error().message), untilProgram(expected.error().message));
}

TEST_F(CudaRealArtifact, GraphsAndPreparedCalls) {
  SCOPED_TRACE(seed);
  for (int64_t length : {61, 1024, 5000})
    compare("twice", {{"x", normal(DType::F32, {37, length})}}, 1e-5);
  auto x = normal(DType::F32, {64, 500});
  Result<DeviceTensor> onDevice = gpu->upload(*x);
  Result<ArtifactCall> call = artifact->function("twice")->prepare(*gpu, {{"x", *onDevice}});
  ASSERT_TRUE(call) << call.error().str();
  for (int round = 0; round < 6; ++round) {
    x = normal(DType::F32, {64, 500});
    ASSERT_TRUE(onDevice->assign(*gpu->stream(), *x));
    ASSERT_TRUE((*call)());
    Result<Tensor> actual = gpu->download(call->output("y"));
    ASSERT_TRUE(actual) << actual.error().str();
    auto expected = artifact->function("twice")->launch({{"x", *x}});
    ASSERT_TRUE(expected) << expected.error().str();
    expectNear(*actual, *expected->at("y"), 1e-5, "prepared");
  }
}

} // namespace
} // namespace tile::runtime::cuda::test
