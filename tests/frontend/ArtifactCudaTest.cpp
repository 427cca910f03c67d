// Artifacts as they are compiled for GPUs, loaded and launched on a fake driver: the text of a
// variant's guard and its program say the same, and the first one that holds runs.

#include "CudaProgram.h"
#include "frontend/artifact/ArtifactBuilder.h"
#include "runtime/load/Artifact.h"
#include "runtime/load/Encoding.h"

#include <regex>

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::test;
using tile::runtime::cuda::Gpu;

namespace {

/// Whether a condition such as "N <= 256, N % 4 == 0" holds.
bool holds(const std::string &condition, int64_t m, int64_t n) {
  std::regex one(R"((\w+) (?:<= (\d+)|% (\d+) == 0))");
  auto begin = std::sregex_iterator(condition.begin(), condition.end(), one);
  bool all = true;
  size_t length = 0;
  for (auto match = begin; match != std::sregex_iterator(); ++match) {
    int64_t value = (*match)[1] == "N" ? n : m;
    all &= (*match)[2].matched ? value <= std::stoll((*match)[2])
                               : value % std::stoll((*match)[3]) == 0;
    length += match->length() + 2;
  }
  EXPECT_EQ(length, condition.empty() ? 0 : condition.size() + 2) << condition;
  return all;
}

class ArtifactCuda : public runtime::cuda::test::CudaTest {
protected:
  /// Of the last kernel of a text.
  std::vector<std::byte> compile(const std::string &text, std::vector<std::string> targets) {
    CudaProgram program(fake, text);
    ArtifactBuilder builder(program.compiler, program.elaborator.module(),
                            {{}, {std::move(targets), false}},
                            [](ir::KernelOp) { return ir::Bindings(); });
    EXPECT_TRUE(builder.add("it", program.symbol, {}));
    auto made = builder.finish();
    EXPECT_TRUE(made) << made.takeFailure().message << program.diags.print(false);
    remarks = program.diags.print(false);
    return made ? runtime::serialize(*made) : std::vector<std::byte>();
  }

  std::string remarks;
};

TEST_F(ArtifactCuda, TheFirstVariantWhoseConditionHoldsRuns) {
  auto artifact = runtime::Artifact::fromBytes(
      compile("kernel norm(x: f32[M, N], w: bf16[N]) -> (y: f32[M, N]) {\n"
              "    parallel i in tiles(M) {\n"
              "        y[i, :] = x[i, :] / sum(x[i, :], N) * f32(w[:])\n"
              "    }\n"
              "}\n",
              {"sm_80", "sm_90a"}));
  ASSERT_TRUE(artifact) << artifact.error().str();
  const std::vector<runtime::CudaVariant> &variants = artifact->data().kernels[0].cuda;
  ASSERT_GT(variants.size(), 8u);
  EXPECT_TRUE(std::is_sorted(variants.begin(), variants.end(), [](const auto &x, const auto &y) {
    return x.code.target > y.code.target;
  }));
  Gpu gpu(*runtime::cuda::Stream::create(fake.device()));
  std::vector<uint64_t> words; // addresses, then the dimensions
  fake.play = [&](const FakeLaunch &launch) {
    words.clear();
    for (size_t n = 0; n < 5; ++n)
      words.push_back(parameter<uint64_t>(launch, n));
  };
  std::set<const runtime::CudaVariant *> ran;
  for (int64_t n : {1, 8, 12, 255, 256, 257, 264, 1000, 1024, 1025, 4096, 4097, 5000, 16384, 16385,
                    20000, 65536, 70000, 70001}) {
    auto x = gpu.create(runtime::DType::F32, {6, n}), w = gpu.create(runtime::DType::BF16, {n});
    auto result = artifact->function("it")->launch(gpu, {{"x", *x}, {"w", *w}});
    ASSERT_TRUE(result) << result.error().str();
    auto expected = std::find_if(variants.begin(), variants.end(), [&](const auto &variant) {
      return holds(variant.condition, 6, n);
    });
    ASSERT_NE(expected, variants.end());
    EXPECT_EQ(expected->code.target, "sm_90a");
    const FakeLaunch &launch = fake.launches.back();
    EXPECT_EQ(launch.config.blockDimX, expected->code.function.threads) << n;
    if (ran.insert(&*expected).second) {
      EXPECT_EQ(fake.lastImage.size(), expected->code.image.size()) << n;
      EXPECT_EQ(
          std::memcmp(fake.lastImage.data(), expected->code.image.data(), fake.lastImage.size()), 0)
          << n;
    }
    EXPECT_EQ(words, (std::vector<uint64_t>{x->address(), w->address(), result->at("y").address(),
                                            6, uint64_t(n)}));
    int64_t rows = expected->schedule[0].second, blocks = expected->code.function.blocks;
    EXPECT_EQ(launch.config.gridDimX, (6 + rows - 1) / rows * blocks) << n;
  }
  EXPECT_EQ(fake.count("moduleLoadDataEx"), static_cast<long>(ran.size()));
  EXPECT_GT(ran.size(), 6u);
  // Rows of f32; of the vector beside them nothing is asked.
  EXPECT_EQ(variants.front().condition, "N <= 256, N % 4 == 0");
}

TEST_F(ArtifactCuda, WhereNothingDependsOnRowsThereIsOneVariant) {
  auto artifact =
      runtime::Artifact::fromBytes(compile("kernel pick(x: f32[M, N], k: i32[M]) -> (y: f32[M]) {\n"
                                           "    parallel i in tiles(M) {\n"
                                           "        y[i] = x.clamp[i, k[i]]\n"
                                           "    }\n"
                                           "}\n",
                                           {"sm_80"}));
  ASSERT_TRUE(artifact) << artifact.error().str();
  ASSERT_EQ(artifact->data().kernels[0].cuda.size(), 1u);
  EXPECT_EQ(artifact->data().kernels[0].cuda[0].condition, "");
}

TEST_F(ArtifactCuda, WhatNeedsALengthHasNoCodeBeyondIt) {
  auto artifact =
      runtime::Artifact::fromBytes(compile("kernel order(x: f32[M, N]) -> (y: f32[M, N]) {\n"
                                           "    parallel i in tiles(M) {\n"
                                           "        y[i, :] = sort(x[i, :], N)\n"
                                           "    }\n"
                                           "} schedule { i = 1 }\n",
                                           {"sm_90a"}));
  ASSERT_TRUE(artifact) << artifact.error().str();
  EXPECT_NE(remarks.find("for sm_90a there is no code of `order` where N exceeds "),
            std::string::npos)
      << remarks;
  Gpu gpu(*runtime::cuda::Stream::create(fake.device()));
  runtime::ArtifactFunction order = *artifact->function("it");
  for (int64_t n : {5, 3000, 3001, 4095, 4096}) // rows that begin anywhere, too
    EXPECT_TRUE(order.launch(gpu, {{"x", *gpu.create(runtime::DType::F32, {3, n})}})) << n;
  runtime::test::expectError(
      order.launch(gpu, {{"x", *gpu.create(runtime::DType::F32, {3, 70000})}}),
      "the artifact has no code of `order` for M = 3, N = 70000");
}

} // namespace
